#!/bin/sh
# Do the examples run, and does docs/c-api.md show them as they are?  scripts/check-example.sh BUILD   (the corpus' columns must have been made)
set -eu
BUILD=$1
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
"$BUILD/trellis" train -q --max-iter 15 -t corpus/templates/pos.template -m "$temp/model" \
    "$BUILD/corpus/train.pos.txt"
"$BUILD/examples/tag" "$temp/model" The garden is quiet . >"$temp/out"
cat "$temp/out"
grep -q '^The	DT	0\.[0-9]*$' "$temp/out"
grep -q '^# the whole sentence: [01]\.[0-9]*$' "$temp/out"
printf 'The\nend\n.\n\nYes\n' | "$BUILD/examples/tag" "$temp/model" >"$temp/out"
[ "$(grep -c '^# the whole' "$temp/out")" = 2 ]
if "$BUILD/examples/tag" "$temp/none" x 2>"$temp/err"; then exit 1; fi
grep -q "$temp/none" "$temp/err"

# Programs of docs/c-api.md.
"$BUILD/examples/learn" >"$temp/out"
printf 'a\tDT\ndog\tNN\nfalls\tVB\n' | diff - "$temp/out"
"$BUILD/examples/stop" "$BUILD/corpus/train.pos.txt" "$temp/stopped" >"$temp/out"
grep -q '^stop: the model is written$' "$temp/out"
"$BUILD/trellis" train -q --max-iter 40 -m "$temp/later" "$BUILD/corpus/train.pos.txt"
if cmp -s "$temp/stopped" "$temp/later"; then exit 1; fi # it stopped before
"$BUILD/examples/label" "$temp/stopped" The garden is quiet . >"$temp/out"
grep -q '^The	DT$' "$temp/out"
[ "$(wc -l <"$temp/out")" = 5 ]
"$BUILD/trellis" train -q --kind tree --grade generative --clusters none -m "$temp/parser" \
    "$BUILD/corpus/train.mrg"
"$BUILD/examples/parse" "$temp/parser" The garden is quiet . >"$temp/out"
grep -q '^(.*(DT The) (NN garden).*)$' "$temp/out"
for wrong in "parse $temp/model x" parse "label $temp/parser x" "label $temp/none x" label "stop $temp/none $temp/no" stop; do
    # shellcheck disable=SC2086
    if "$BUILD/examples/"$wrong 2>"$temp/err"; then exit 1; fi
    grep -q '^[a-z]*: .' "$temp/err"
done
for name in label learn parse stop; do
    awk -v start="<!-- examples/$name.c -->" '
        $0 == start { found = 1; next }
        found && /^```c$/ { on = 1; next }
        on && /^```$/ { exit }
        on' docs/c-api.md | diff "examples/$name.c" - || {
        echo "docs/c-api.md does not show examples/$name.c as it is"
        exit 1
    }
done
