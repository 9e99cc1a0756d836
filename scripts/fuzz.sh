#!/bin/sh
# Runs fuzzers: scripts/fuzz.sh SECONDS PROGRAM...   New inputs stay in build-fuzz/found; an
# input that crashes is build-fuzz/NAME-crash-*: put it into tests/fuzz/corpus/NAME when it is fixed.
set -u
seconds=$1
shift
status=0
for program; do
    name=$(basename "$program")
    name=${name#fuzz_}
    most=4096
    [ "$name" != tree_model ] || most=65536 # the smallest model is larger than that
    [ "$name" != foreign ] || most=16384 # CRFsuite's string tables alone are 4 KB
    mkdir -p "build-fuzz/found/$name"
    set -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len="$most" -print_final_stats=1 \
        -artifact_prefix="build-fuzz/$name-" "build-fuzz/found/$name"
    [ ! -d "tests/fuzz/corpus/$name" ] || set -- "$@" "tests/fuzz/corpus/$name"
    if "$program" "$@" >"build-fuzz/$name.log" 2>&1; then
        echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "build-fuzz/$name.log") runs"
    else
        tail -n 40 "build-fuzz/$name.log"
        echo "$name: failed"
        status=1
    fi
done
exit $status
