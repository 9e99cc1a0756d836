#!/bin/bash
# Builds Trellis with other compilers and for other machines and runs the unit tests there.
#
#     scripts/portability.sh [--quick] [TARGET]...
#
#     clang   this machine, clang
#     i386    32-bit x86 (i686-linux-gnu-gcc); the programs run here
#     musl    this machine, musl's C library (musl-gcc)
#     arm64   aarch64-linux-gnu-gcc; the programs run under qemu-aarch64
#
# All of them without TARGET.  --quick runs the tests of QUICK below where a target emulates, so
# that CI can afford it.  A target whose compiler or emulator is not installed is skipped by name
# (`scripts/deps.sh --portability` installs them all); so is one whose libraries cannot be had.
# Other targets' libraries are built from source: scripts/portability-libs.sh.
#
# Prints what failed and, last, `N passed, N failed`, which also goes to build-port/tests/result.
set -u
cd "$(dirname "$0")/.." || exit 1
QUICK="test_base test_pool test_vexp test_number test_matrix_kernel test_single_kernel test_chain \
test_chain_single test_objectives test_gradient test_container test_oracle_crf test_oracle_sample \
test_tree_chart test_grammar_io test_tag_kernel"
jobs=$(nproc)
make=${MAKE:-make}
quick=
passed=0 failed=0

skip() { # TARGET REASON
    echo "skipped: $1: $2"
}

have() { # TARGET TOOL PACKAGE
    command -v "$2" >/dev/null 2>&1 && return
    skip "$1" "$2 is not installed (Debian: $3)"
    return 1
}

# Builds and runs the unit tests; what is linked statically runs anywhere.
try() { # TARGET CC RUNNER [MAKE-ARGUMENT]...
    local target=$1 cc=$2 runner=$3 dir=build-port/$1 tests p f
    shift 3
    echo "---- $target: $cc"
    tests=$(cd tests/unit && ls test_*.c | sed 's/\.c$//')
    if [ -n "$quick" ] && [ -n "$runner" ]; then
        tests=$(for p in $QUICK; do [ ! -f "tests/unit/$p.c" ] || echo "$p"; done)
    fi
    rm -f "$dir/tests/result"
    # shellcheck disable=SC2046,SC2086
    if ! "$make" --no-print-directory -s -j"$jobs" CC="$cc" BUILD="$dir" "$@" "$dir/trellis" \
        $(printf " $dir/tests/%s" $tests) >"$dir.log" 2>&1; then
        grep -A6 -E 'error|undefined' "$dir.log" | head -n 40
        echo "failed: $target does not build (all of it: $dir.log)"
        failed=$((failed + 1))
        return
    fi
    # shellcheck disable=SC2086
    BUILD=$dir RUNNER=$runner UNITS=$tests scripts/check.sh unit
    read -r p _ f _ <"$dir/tests/result" || p=0 f=1
    passed=$((passed + p)) failed=$((failed + f))
}

# A target whose libraries come from source.  Warnings stay warnings there: 32 bits have their own.
cross() { # TARGET CC RUNNER
    local libs=$PWD/build-port/$1/libs why
    if ! why=$(scripts/portability-libs.sh "$2" "$libs" 2>&1); then
        skip "$1" "$(echo "$why" | tail -n 1)"
        return
    fi
    CPPFLAGS="-isystem $libs/include" LDFLAGS="-L$libs/lib" try "$1" "$2" "$3" PIE=-static WERROR=
}

run() { # TARGET
    case $1 in
    clang) have clang clang clang && try clang clang "" WERROR=1 ;;
    i386) have i386 i686-linux-gnu-gcc "gcc-i686-linux-gnu libc6-dev-i386-cross" &&
        cross i386 i686-linux-gnu-gcc "" ;;
    musl) have musl musl-gcc musl-tools && cross musl musl-gcc "" ;;
    arm64) have arm64 aarch64-linux-gnu-gcc "gcc-aarch64-linux-gnu libc6-dev-arm64-cross" &&
        have arm64 qemu-aarch64 qemu-user && cross arm64 aarch64-linux-gnu-gcc qemu-aarch64 ;;
    *)
        echo "no such target: $1 (there are clang, i386, musl and arm64)" >&2
        exit 2
        ;;
    esac
}

if [ "${1-}" = --quick ]; then
    quick=yes
    shift
fi
[ $# -gt 0 ] || set -- clang i386 musl arm64
mkdir -p build-port/tests
for target; do
    run "$target"
done
echo "$passed passed, $failed failed" | tee build-port/tests/result
[ $failed = 0 ]
