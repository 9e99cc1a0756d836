#!/bin/bash
# Runs kinds of tests and counts: BUILD=dir scripts/check.sh KIND...
#
#     unit replay alloc    test programs in $BUILD/tests
#     cli                  tests/cli/run.sh with $BUILD/trellis
#     layers format man example bench docs install abi
#     python python-leaks  python/tests, and the same calls with the address sanitizer
#
# UNITS="test_a test_b" restricts unit to these; RUNNER=program runs test programs (an emulator).
# Programs run side by side, one per processor.  Prints what failed, what was skipped with its name,
# how many of those, and, last, `N passed, N failed`, which also goes to $BUILD/tests/result.  Exit status 1 when anything failed.
set -u
BUILD=${BUILD:-build}
export RUNNER=${RUNNER-}
logs=$BUILD/tests/logs
mkdir -p "$logs"
rm -f "$logs"/* "$BUILD/tests/result"
passed=0 failed=0 skipped=0

add() { # NAME PASSED FAILED LOG
    passed=$((passed + $2)) failed=$((failed + $3))
    if [ "$3" != 0 ]; then
        cat "$4"
        echo "failed: $1"
    else
        local names # tests of a cmocka program, or lines of the program's own
        names=$(sed -n "s/^\[  SKIPPED \] \([^0-9].*\)/skipped: $1: \1/p; /^skipped: /p" "$4" | sort -u)
        [ -z "$names" ] || echo "$names"
        skipped=$((skipped + $(printf '%s' "$names" | grep -c '')))
        printf '%-28s %4d passed\n' "$1" "$2"
    fi
}

# A cmocka program counts its tests; one that dies counts as one more failure.
add_program() { # NAME LOG STATUS
    local good bad
    good=$(grep -ac '^\[       OK \]' "$2") bad=$(grep -ac '^\[  FAILED  \] [^0-9]' "$2")
    bad=$((bad / 2)) # each is listed again at the end
    if ! grep -aq '^\[=' "$2"; then
        good=1 bad=0 # no cmocka: the exit status is all there is
    fi
    if [ "$3" != 0 ] && [ "$bad" = 0 ]; then
        bad=1
        [ "$good" != 1 ] || good=0
    fi
    add "$1" "$good" "$bad" "$2"
}

run_programs() { # PROGRAM...
    # shellcheck disable=SC2016
    printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} sh -c \
        'n=$(basename "$1"); timeout 900 $RUNNER "$1" >"$2/$n" 2>&1; echo $? >"$2/$n.status"' _ {} "$logs"
    local p n
    for p; do
        n=$(basename "$p")
        add_program "$n" "$logs/$n" "$(cat "$logs/$n.status")"
    done
}

run_step() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$logs/$name" 2>&1; then
        add "$name" 1 0 "$logs/$name"
    else
        add "$name" 0 1 "$logs/$name"
    fi
}

# The programs of the sources there are: one left from a file that is gone does not count.
programs() { # FROM-FOLDER FROM-PREFIX TO-PREFIX
    local f
    for f in "$1/$2"*.c; do
        f=${f##*/"$2"}
        echo "$BUILD/tests/$3${f%.c}"
    done
}

for kind; do
    case $kind in
    unit)
        # shellcheck disable=SC2046,SC2086
        run_programs $(if [ -n "${UNITS-}" ]; then printf "$BUILD/tests/%s\n" $UNITS
            else programs tests/unit test_ test_; fi)
        ;;
    replay) run_programs $(programs tests/fuzz fuzz_ replay_) ;;
    alloc) run_programs "$BUILD/tests/test_alloc" ;;
    cli)
        TRELLIS=$BUILD/trellis tests/cli/run.sh >"$logs/cli" 2>&1
        status=$?
        counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$logs/cli" | tail -1)
        [ -n "$counts" ] || counts="0 1"
        [ $status = 0 ] || [ "${counts#* }" != 0 ] || counts="${counts% *} 1"
        # shellcheck disable=SC2086
        add "command line" $counts "$logs/cli"
        ;;
    layers)
        run_step layers scripts/check-layers.sh . "$BUILD"
        run_step layers-self-test scripts/check-layers.sh --self-test
        ;;
    format) run_step format scripts/check-format.sh ;;
    man) run_step man sh -c "'$BUILD/trellis' help --man | diff -u man/trellis.1 -" ;;
    example) run_step example scripts/check-example.sh "$BUILD" ;;
    bench) # that they run; what they measure is not tested
        run_step bench-trees "$BUILD/bench/trees" "$BUILD/corpus/train.mrg" "$BUILD/corpus/dev.mrg" 12
        run_step bench-kernels "$BUILD/bench/kernels"
        run_step bench-graph "$BUILD/bench/graph"
        ;;
    docs)
        run_step references scripts/check-references.sh
        if [ -x scripts/check-docs.sh ]; then run_step docs scripts/check-docs.sh; fi
        ;;
    python) # builds it first: it is not needed for the rest
        scripts/check-python.sh tests "$BUILD" >"$logs/python" 2>&1
        status=$?
        counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$logs/python" | tail -1)
        [ -n "$counts" ] || counts="0 1"
        [ $status = 0 ] || [ "${counts#* }" != 0 ] || counts="${counts% *} 1"
        # shellcheck disable=SC2086
        add python $counts "$logs/python"
        ;;
    python-leaks) run_step python-leaks scripts/check-python.sh leaks "$BUILD" ;;
    abi)
        run_step abi scripts/check-abi.sh "$BUILD"
        run_step abi-self-test scripts/check-abi.sh --self-test "$BUILD"
        ;;
    install) run_step install scripts/check-install.sh "$BUILD" ;;
    *)
        echo "no such kind of test: $kind" >&2
        exit 2
        ;;
    esac
done
[ $skipped = 0 ] || echo "$skipped skipped: named above"
echo "$passed passed, $failed failed" | tee "$BUILD/tests/result"
[ $failed = 0 ]
