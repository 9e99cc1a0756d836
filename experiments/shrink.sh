#!/bin/bash
# shrink.sh -- size against F1 of shrunk models: chunks (CoNLL-2000).  How much is left out is chosen on a fifth of the training data, with a
# model of the other four; the model of all training data is then shrunk in the same way and tested.
. "$(dirname "$0")/common.sh"

template=$top/bench/chunk.template
if [ -n "$sample" ]; then
    train=$(little "$build/corpus/train.chunk.txt") test=$(little "$build/corpus/test.chunk.txt")
else
    need "$data/conll2000/train.txt" "$data/conll2000/test.txt"
    train=$data/conll2000/train.txt test=$data/conll2000/test.txt
fi
awk 'BEGIN { RS = ""; ORS = "\n\n" } NR % 5' "$train" >"$work/four"
awk 'BEGIN { RS = ""; ORS = "\n\n" } !(NR % 5)' "$train" >"$work/held-out"
train_once part "$template" "$work/four" "$work/held-out"
train_once whole "$template" "$train" "$test"

"$trellis" shrink "$work/part.model" --data "$work/held-out" --max-loss 0.1 -o "$work/chosen.model" >"$work/held-out.table" 2>"$work/log"
bytes=$(wc -c <"$work/chosen.model")
read -r share bits names _ <<<"$(awk -v b="$bytes" '$4 == b { print; exit }' "$work/held-out.table")"
[ "$names" = fingerprints ] && how="--keep $share --bits $bits --fingerprints" || how="--keep $share --bits $bits"

# size NAME: in megabytes, and its share of the whole model's.
size() {
    awk -v b="$(wc -c <"$work/$1.model")" -v a="$(wc -c <"$work/whole.model")" 'BEGIN { printf "%.2f | %.1f", b / 1e6, 100 * b / a }'
}
# small WHAT NAME OPTION...: a row of the table of the test.
small() {
    local what=$1 n=$2
    shift 2
    [ $# = 0 ] || "$trellis" shrink -q "$work/whole.model" "$@" -o "$work/$n.model"
    "$trellis" tag -m "$work/$n.model" "$test" >"$work/$n.out"
    echo "| $what | $(size "$n") | $(f1 "$n") |"
}
{
    echo '# Size against F1'
    echo
    made_by
    echo
    echo 'Chunks of CoNLL-2000, `bench/chunk.template`, likelihood, c2 = 1. The first table is of a model of four fifths of the training data, scored on the other'
    echo "fifth: \`trellis shrink --data\`. The smallest model that loses at most 0.1 F1 there has \`$how\`. The second table is of the model of all"
    echo 'training data, on the test data.'
    echo
    echo '| kept | bits | attributes | bytes | % | F1 | loss |'
    echo '|---:|---:|---|---:|---:|---:|---:|'
    awk 'NR > 1 { print "| " $1 " | " $2 " | " $3 " | " $4 " | " $5 " | " $6 " | " $7 " |" }' "$work/held-out.table"
    echo
    echo '| whole training data, tested | MB | % | F1 |'
    echo '|---|---:|---:|---:|'
    small 'as trained' whole
    small 'half of the weights' half --keep 0.5
    small '16 bits' bits16 --bits 16
    small '8 bits' bits8 --bits 8
    small 'fingerprints' prints --fingerprints
    small 'fingerprints, 16 bits' prints16 --fingerprints --bits 16
    small "chosen: \`$how\`" small $how
    notes
} >"$work/page.md"
publish
