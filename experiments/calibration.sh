#!/bin/bash
# calibration.sh -- do probabilities mean what they say?  Reliability of tokens, spans and whole labellings
# before and after a temperature that is fitted on held-out data: a CRF, an MEMM and an averaged perceptron, which has no
# probabilities without one.  CoNLL-2002 Spanish named entities and CoNLL-2000 chunks.
. "$(dirname "$0")/common.sh"

stop='--delta 1e-4'
if [ -n "$sample" ]; then
    sets='ner chunks' stop='--max-iter 6'
    for set in ner chunk; do
        to=$([ $set = ner ] && echo ner || echo chunks)
        for part in train dev test; do cp "$(little "$build/corpus/$part.$set.txt")" "$work/$to.$part"; done
    done
else
    sets='ner chunks'
    need "$data/ner-es/train.txt" "$data/conll2000/train.txt"
    cut_off() { # SET TRAIN TEST HELD: the last HELD sequences of TRAIN are held out
        local all
        all=$(count "$2")
        from_to 1 $((${SIZE:-all} < all - $4 ? ${SIZE:-all} : all - $4)) "$2" >"$work/$1.train"
        from_to $((all - $4 + 1)) "$all" "$2" >"$work/$1.dev"
        cp "$3" "$work/$1.test"
    }
    cut_off ner "$data/ner-es/train.txt" "$data/ner-es/dev.txt" 833
    cut_off chunks "$data/conll2000/train.txt" "$data/conll2000/test.txt" 936
fi
cp "$templates/ner.template" "$work/ner.template"
cp "$templates/sha-pereira.template" "$work/chunks.template"

# one SET NAME OPTION...: trained, tagged; a temperature from the held-out data, tagged again.
one() {
    local set=$1 n=$1.$2
    shift 2
    if [ ! -e "$work/$n.after.json" ]; then
        say "$n"
        # shellcheck disable=SC2086
        "$trellis" train -q -j "$threads" -t "$work/$set.template" -m "$work/$n.before.model" "$@" "$work/$set.train"
        "$trellis" calibrate -m "$work/$n.before.model" -o "$work/$n.after.model" "$work/$set.dev" 2>"$work/$n.temperature"
        for when in before after; do
            "$trellis" tag -m "$work/$n.$when.model" --confidence "$work/$set.test" >"$work/$n.$when.out" 2>/dev/null || continue
            "$trellis" score calibration --json --svg "$work/$n.$when.svg" "$work/$n.$when.out" >"$work/$n.$when.tmp"
            mv "$work/$n.$when.tmp" "$work/$n.$when.json"
        done
    fi
}
for set in $sets; do
    # shellcheck disable=SC2086
    one "$set" crf --objective likelihood $stop
    # shellcheck disable=SC2086
    one "$set" memm --objective memm $stop
    one "$set" perceptron --objective perceptron --max-iter 10
done
cp "$work/ner.crf.before.svg" "$out/calibration-before.svg"
cp "$work/ner.crf.after.svg" "$out/calibration-after.svg"

# number FILE KIND FIELD: of a JSON report; '-' where there is none.
number() {
    [ -e "$1" ] || { echo '-' && return; }
    sed -n 's/.*"'"$2"'": {\([^[]*\).*/\1/p' "$1" | sed -n 's/.*"'"$3"'": \([^,]*\),.*/\1/p' |
        awk -v f="$3" '{ if (f == "accuracy" || f == "confidence") printf "%.2f", 100 * $1; else printf "%.4f", $1 }'
}
row() { # SET NAME WHAT
    local before=$work/$1.$2.before.json after=$work/$1.$2.after.json T
    T=$(sed -n 's/.*temperature \([0-9.e+-]*\) .*/\1/p' "$work/$1.$2.temperature")
    echo "| $3 | $T | $(number "$after" tokens accuracy) | $(number "$before" tokens confidence) | $(number "$after" tokens confidence) |" \
        "$(number "$before" tokens ece) | $(number "$after" tokens ece) | $(number "$before" tokens brier) | $(number "$after" tokens brier) |" \
        "$(number "$before" spans ece) | $(number "$after" spans ece) | $(number "$before" spans brier) | $(number "$after" spans brier) |" \
        "$(number "$before" sequences ece) | $(number "$after" sequences ece) |"
}
{
    echo '# Calibration: reliability before and after a temperature'
    echo
    echo "Answers are labels of tokens, spans with their types (exact probabilities of whole chunks) and whole labellings. ECE: expected calibration"
    echo "error, 10 bins; Brier: mean squared difference of probability and right (1) or wrong (0). T is fitted on the end of the training data, which is"
    echo "left out of training; the test data are seen by nothing. Labels are the same before and after."
    for set in $sets; do
        echo
        [ "$set" = ner ] && echo '## Named entities, CoNLL-2002 Spanish' || echo '## Chunks, CoNLL-2000'
        echo
        echo "$(count "$work/$set.train") sequences to train on, $(count "$work/$set.dev") held out, $(count "$work/$set.test") to test."
        echo
        echo '| model | T | tokens right, % | mean probability, % | after | ECE of tokens | after | Brier | after | ECE of spans | after | Brier | after | ECE of sequences | after |'
        echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|'
        row "$set" crf CRF
        row "$set" memm MEMM
        row "$set" perceptron 'averaged perceptron'
    done
    echo
    echo 'Named entities, CRF, before and after:'
    echo
    echo '![before](calibration-before.svg)'
    echo '![after](calibration-after.svg)'
    echo
    made_by
    notes
} >"$work/page.md"
publish
