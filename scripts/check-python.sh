#!/bin/bash
# The tests of the Python package: scripts/check-python.sh tests|leaks BUILD
#
#     tests    builds it with BUILD/libtrellis.a and runs python/tests
#     leaks    (BUILD made with SAN=1) runs python/tests/exercise.py with the address sanitizer: no error,
#              no block lost by the extension module
#
# The last line of `tests` is `N passed, N failed`.  Skipped, with a word, where Python's headers or pytest
# are missing.  PYTHON=program chooses another interpreter.
set -u
kind=$1 BUILD=$2
mkdir -p "$BUILD/tests"
PYTHON=${PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
export BUILD PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$PWD/$BUILD/python

skip() {
    echo "skipped: python: $1"
    [ "$kind" != tests ] || echo "0 passed, 0 failed"
    exit 0
}
include=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_paths()["include"])' 2>/dev/null) ||
    skip "there is no $PYTHON"
[ -e "$include/Python.h" ] || skip "Python.h is missing (python3-dev)"

build() { ${MAKE:-make} --no-print-directory BUILD="$BUILD" "$@" "$BUILD/python/built"; }

case $kind in
tests)
    "$PYTHON" -c 'import pytest' 2>/dev/null || skip "pytest is missing (python3-pytest)"
    build || exit 1
    log=$BUILD/tests/python.log
    "$PYTHON" -X faulthandler -m pytest -q -rs -p no:cacheprovider python/tests >"$log" 2>&1
    status=$?
    cat "$log"
    sed -n 's/^SKIPPED \[[0-9]*\] \(.*\)/skipped: python: \1/p' "$log"
    last=$(tail -n 1 "$log")
    count() { printf '%s' "$last" | sed -n "s/.*\\b\\([0-9][0-9]*\\) $1.*/\\1/p" | grep . || echo 0; }
    echo "$(count passed) passed, $(($(count failed) + $(count error))) failed"
    exit $status
    ;;
leaks)
    build SAN=1 || exit 1
    asan=$(${CC:-gcc} -print-file-name=libasan.so)
    [ -e "$asan" ] || skip "there is no libasan.so to preload"
    log=$BUILD/tests/python-leaks.log
    LD_PRELOAD=$asan PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0 \
        LSAN_OPTIONS=exitcode=0:max_leaks=0 \
        "$PYTHON" -S python/tests/exercise.py >"$log" 2>&1
    status=$?
    if [ $status != 0 ] || ! grep -q '^exercised$' "$log"; then
        tail -n 60 "$log"
        exit 1
    fi
    # Python itself loses some blocks at its end; a stack that goes through our module is ours.
    awk 'BEGIN { RS = ""; n = 0 } /leak of/ && / in (pt_|trl_)|_core\./ { print $0 "\n"; n++ } END { exit n > 0 }' "$log"
    ;;
esac
