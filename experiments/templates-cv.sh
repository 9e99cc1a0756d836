#!/bin/bash
# templates-cv.sh -- what each line of the templates that are built in is worth: cross-validated on a part of the
# training data, all lines and all but one, the same folds.
. "$(dirname "$0")/common.sh"

if [ -n "$sample" ]; then
    ner=$build/corpus/train.ner.txt chunk=$build/corpus/train.chunk.txt pos=$build/corpus/train.pos.txt
    n=30 limit=2
else
    ner=$data/ner-es/train.txt chunk=$data/conll2000/train.txt pos=$data/pos-ewt/train.txt
    n=600 limit=
fi
need "$ner" "$chunk" "$pos"

folds() { # TEMPLATE COLUMN: the measure of each fold
    "$trellis" cv -q -k 5 --seed 1 --threads 1 --optimizer asgd ${limit:+--max-iter $limit} -t "$1" "$work/part" |
        awk -v c="$2" '$1 ~ /^[0-9]+$/ { print $c }'
}

# mean and standard deviation over folds of $1, and of $1 less $2.
spread() {
    paste "$1" "$2" | awk '{ n++; a += $1; aa += $1 * $1; d = $1 - $2; b += d; bb += d * d }
        function sd(s, ss) { v = (ss - s * s / n) / (n - 1); return v > 0 ? sqrt(v) : 0 }
        END { printf "%.2f ± %.2f | %+.2f ± %.2f", a / n, sd(a, aa), b / n, sd(b, bb) }'
}

rows() { # TEMPLATE COLUMN DATA
    local line text
    awk -v n="$n" '{ print } NF == 0 && ++s == n { exit }' "$3" >"$work/part"
    say "$1"
    folds "$top/templates/$1" "$2" >"$work/all"
    echo "| \`$1\` | all | $(spread "$work/all" "$work/all" | sed 's/|.*/| –/') |"
    grep -n . "$top/templates/$1" | grep -v -e ':#' -e ':columns ' -e ':edge:' | cut -d: -f1 | while read -r line; do
        text=$(sed -n "${line}p" "$top/templates/$1")
        say "$1 without '$text'"
        sed "${line}d" "$top/templates/$1" >"$work/less"
        folds "$work/less" "$2" >"$work/without"
        echo "| | without \`$text\` | $(spread "$work/without" "$work/all") |"
    done
}

{
    cat <<END
# What the lines of the built-in templates are worth

Five-fold cross-validation on the first $n sequences of the training data (ner-es, CoNLL-2000, pos-ewt), \`--optimizer asgd\`, other
options at their defaults: F1 of chunks (\`ner\`, \`chunk\`) or right tokens (\`pos\`), mean and standard deviation over folds; then the difference to all lines, fold by
fold. No held-out section is looked at.

| template | lines | score | difference |
|---|---|---|---|
$(rows ner 7 "$ner")
$(rows chunk 7 "$chunk")
$(rows pos 3 "$pos")

$(made_by)
END
    notes
} >"$work/page.md"
publish
