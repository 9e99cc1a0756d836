#!/bin/sh
# Runs the tests of the command line: tests/cli/run.sh [--bless] [CASE]...
#
# A case is a folder cases/NAME with a script `cmd` and what it must give: `stdout`, `stderr`
# and `exit` (no such file: not compared; no `exit`: 0).  The script runs in a copy of its folder
# with TRELLIS set to the program and TZ, locale and terminal to nothing special.  An exit status
# of 77 means: cannot be tried here.  --bless writes what came out as what must come out.
set -u
here=$(cd "$(dirname "$0")" && pwd)
TRELLIS=${TRELLIS:-$here/../../build/trellis}
case $TRELLIS in /*) ;; *) TRELLIS=$PWD/$TRELLIS ;; esac
ROOT=$(cd "$here/../.." && pwd)
LC_ALL=C TERM=dumb
export TRELLIS ROOT LC_ALL TERM
bless=
if [ "${1-}" = --bless ]; then
    bless=yes
    shift
fi
[ -x "$TRELLIS" ] || { echo "no program at $TRELLIS: run make first" >&2; exit 1; }
[ $# -gt 0 ] || set -- $(cd "$here/cases" && ls)

temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
passed=0 failed=0 skipped=0
for name; do
    dir=$here/cases/$name
    work=$temp/$name
    cp -R "$dir" "$work" && rm -f "$work/stdout" "$work/stderr" "$work/exit"
    (cd "$work" && exec timeout 120 sh ./cmd) >"$temp/stdout" 2>"$temp/stderr" </dev/null
    echo $? >"$temp/exit"
    if [ "$(cat "$temp/exit")" = 77 ]; then
        skipped=$((skipped + 1))
        echo "skipped: $name: $(cat "$temp/stderr")"
        continue
    fi
    if [ -n "$bless" ]; then
        fresh=
        [ -e "$dir/stdout" ] || [ -e "$dir/stderr" ] || fresh=yes
        for f in stdout stderr; do
            [ -n "$fresh" ] || [ -e "$dir/$f" ] && cp "$temp/$f" "$dir/$f"
        done
        rm -f "$dir/exit"
        [ "$(cat "$temp/exit")" = 0 ] || cp "$temp/exit" "$dir/exit"
    fi
    good=yes
    for f in stdout stderr; do
        [ -e "$dir/$f" ] || continue
        diff -u "$dir/$f" "$temp/$f" >"$temp/diff" || { good=; cat "$temp/diff"; }
    done
    want=$(cat "$dir/exit" 2>/dev/null || echo 0)
    [ "$(cat "$temp/exit")" = "$want" ] ||
        { good=; echo "exit status $(cat "$temp/exit") instead of $want"; cat "$temp/stderr"; }
    if [ -n "$good" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $name"
    fi
done
[ $skipped = 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
