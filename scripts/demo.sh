#!/bin/sh
# `make demo`: three taggers and a parser trained on the sample corpus, scored on its test part, and
# shown at work.
set -eu
BUILD=${BUILD:-build}
trellis=$BUILD/trellis
out=$BUILD/demo
mkdir -p "$out"

say() { printf '\n\033[1m%s\033[0m\n' "$*" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[01]m//g'; fi; }
show() { # a command, printed and run
    printf '$ %s\n' "$*"
    "$@"
}

model() { # TASK WHAT
    say "$2: train on $(grep -c '^$' "$BUILD/corpus/train.$1.txt") sentences, keep the best on the dev set"
    show "$trellis" train -q -t "corpus/templates/$1.template" -d "$BUILD/corpus/dev.$1.txt" \
        -m "$out/$1.trl" "$BUILD/corpus/train.$1.txt"
    "$trellis" tag -m "$out/$1.trl" "$BUILD/corpus/test.$1.txt" >"$out/$1.txt"
}

model pos "Parts of speech"
"$trellis" score tokens "$out/pos.txt" | head -n 2
model chunk "Base phrases"
"$trellis" score chunks "$out/chunk.txt" | head -n 6
model ner "Named entities"
"$trellis" score chunks "$out/ner.txt"

say "A sentence it has not seen, with probabilities"
# the first test sentence of five or more words with a name in it
awk 'BEGIN { RS = ""; FS = "\n" } NF >= 5 && NF <= 12 && /B-PER/ { print; exit }' \
    "$BUILD/corpus/test.ner.txt" >"$out/sentence.txt"
echo "(first line: of the whole; then word, part of speech, phrase, entity, prediction:probability)"
show "$trellis" tag -m "$out/ner.trl" --probability --marginals "$out/sentence.txt"
say "Its three most probable readings, side by side"
"$trellis" tag -m "$out/ner.trl" --nbest 3 "$out/sentence.txt" | awk '
    /^# / { n++; row = 0; p[n] = $3; next }
    NF { row++; word[row] = $1; tag[n, row] = $NF; rows = row }
    END {
        printf "%-16s", "probability"; for (k = 1; k <= n; k++) printf "%-10s", p[k]; print ""
        for (i = 1; i <= rows; i++) {
            printf "%-16s", word[i]; for (k = 1; k <= n; k++) printf "%-10s", tag[k, i]; print ""
        }
    }'

say "Trees: train a parser on $(wc -l <"$BUILD/corpus/train.mrg") trees"
show "$trellis" train -q --kind tree -m "$out/parser.trl" "$BUILD/corpus/train.mrg"
say "A sentence of the test part, parsed and drawn; its three most probable trees"
"$trellis" trees --to words --max-length 12 "$BUILD/corpus/test.mrg" | awk 'NF == 9 { print; exit }' >"$out/words.txt"
show "$trellis" parse -m "$out/parser.trl" --draw "$out/words.txt"
show "$trellis" parse -m "$out/parser.trl" --nbest 3 "$out/words.txt"
say "All of the test part, its brackets counted as EVALB does"
"$trellis" trees --to words "$BUILD/corpus/test.mrg" | "$trellis" parse -m "$out/parser.trl" >"$out/test.mrg" 2>"$out/parse.log"
show "$trellis" score trees --gold-tags "$BUILD/corpus/test.mrg" "$out/test.mrg" | awk '
    /^\$/ { print } /-- All --/ { on = 1; next } on && /^Bracketing|^Complete|crossing/ { print } /len<=/ { exit }'

say "Done"
echo "The models are in $out/*.trl, the tagged test data in $out/*.txt, the parsed in $out/test.mrg."
echo "Next: README.md, or '$trellis help'."
