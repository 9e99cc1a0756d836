#!/bin/bash
# partial.sh -- named entities (CoNLL-2002 Spanish) with half of the labels hidden: the marginal likelihood of what is left
# beside "what is unknown is O", beside leaving out unknown tokens, beside leaving out sentences with one, and beside all labels.
. "$(dirname "$0")/common.sh"

template=$templates/ner.template iterations=60
if [ -n "$sample" ]; then
    train=$(little "$build/corpus/train.ner.txt") held=$(little "$build/corpus/test.ner.txt") iterations=4
else
    need "$data/ner-es/train.txt"
    train=$data/ner-es/train.txt held=$data/ner-es/dev.txt
fi

# hide SHARE FILE: the labels of so many tokens become ?, by a generator of the recipe's own (awk's are not all the same).
hide() {
    awk -v share="$1" 'BEGIN { x = 12345 }
        NF { x = (x * 16807) % 2147483647; if (x < share * 2147483647) $NF = "?" } { print }' "$2"
}
hide 0.5 "$train" >"$work/half"
sed 's/ ?$/ O/' "$work/half" >"$work/as-o"
awk '!/ \?$/' "$work/half" >"$work/tokens"
awk 'BEGIN { RS = ""; ORS = "\n\n" } !/ \?(\n|$)/' "$work/half" >"$work/sentences"
hide 0.1 "$train" >"$work/tenth"
awk 'BEGIN { RS = ""; ORS = "\n\n" } !/ \?(\n|$)/' "$work/tenth" >"$work/tenth-sentences"
sed 's/ ?$/ O/' "$work/tenth" >"$work/tenth-as-o"
awk '!/ \?$/' "$work/tenth" >"$work/tenth-tokens"

row() { # WHAT FILE OPTION...: a row of the table
    local what=$1 file=$2 run=$work/runs/$(basename "$2").$(($# - 2)) seconds
    shift 2
    if [ "$(count "$file")" = 0 ]; then
        echo "| $what | 0 | 0 | - | - | - | - | - |"
        return
    fi
    if [ ! -e "$run.row" ]; then
        say "$what"
        TIMEFORMAT=%U
        seconds=$({ time "$trellis" train -q -j 1 --format columns -t "$template" --max-iter $iterations "$@" -m "$run.model" "$file" 2>/dev/null; } 2>&1)
        "$trellis" tag -m "$run.model" "$held" 2>/dev/null | "$trellis" score chunks - >"$run.score"
        awk -v what="$what" -v n="$(count "$file")" -v t="$(awk 'NF { t++ } END { print t + 0 }' "$file")" -v s="$seconds" '/^accuracy/ {
            gsub(/[%;]/, "")
            printf "| %s | %d | %d | %s | %s | %s | %s | %.1f |\n", what, n, t, $2, $4, $6, $8, s }' "$run.score" >"$run.row"
    fi
    cat "$run.row"
}
head='| | sentences | tokens | accuracy | precision | recall | F1 | processor seconds |
|---|---|---|---|---|---|---|---|'
{
    cat <<'END'
# Half of the labels hidden

CoNLL-2002 Spanish named entities, trained on the training data, tested on testa. Every label is hidden with probability 1/2 (below: 1/10), token by
token. `experiments/templates/ner.template`, the likelihood, c2 = 1, L-BFGS, 60 iterations; made by `experiments/partial.sh`.

END
    echo "$head"
    row 'all labels known' "$train"
    row 'half hidden: marginal likelihood (`--partial`)' "$work/half" --partial
    row '..., weights for all labels (`--pairs all`)' "$work/half" --partial --pairs all
    row 'unknown is O' "$work/as-o"
    row 'unknown tokens left out' "$work/tokens"
    row 'sentences with an unknown token left out' "$work/sentences"
    printf '\nOne label in ten hidden:\n\n%s\n' "$head"
    row 'marginal likelihood (`--partial`)' "$work/tenth" --partial
    row 'unknown is O' "$work/tenth-as-o"
    row 'unknown tokens left out' "$work/tenth-tokens"
    row 'sentences with an unknown token left out' "$work/tenth-sentences"
    [ ! -e "$top/experiments/notes/partial.md" ] || { echo && cat "$top/experiments/notes/partial.md"; }
} >"$work/page"
cp "$work/page" "$out/partial.md"
cat "$out/partial.md"
