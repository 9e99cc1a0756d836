#!/bin/sh
# Do the examples run?  scripts/check-example.sh BUILD   (the corpus' columns must have been made)
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
