#!/bin/sh
# make check, check-san, check-tsan and portability-quick, each in any case, then the sum of all:
# scripts/test-all.sh MAKE...
set -u
[ $# -gt 0 ] || set -- make
BUILD=${BUILD:-build}
status=0
passed=0 failed=0
mkdir -p "$BUILD/tests"
rm -f "$BUILD/tests/result" "$BUILD-san/tests/result" "$BUILD-tsan/tests/result" \
    build-port/tests/result "$BUILD/tests/total"
for variant in "check:$BUILD" "check-san:$BUILD-san" "check-tsan:$BUILD-tsan" \
    "portability-quick:build-port"; do
    echo "---- make ${variant%:*}"
    "$@" --no-print-directory "${variant%:*}" || status=1
    if [ -e "${variant#*:}/tests/result" ]; then
        read -r p _ f _ <"${variant#*:}/tests/result"
    else
        p=0 f=1 # it did not even build
    fi
    passed=$((passed + p)) failed=$((failed + f))
done
echo "---- all"
echo "$passed passed, $failed failed" | tee "$BUILD/tests/total"
exit $status
