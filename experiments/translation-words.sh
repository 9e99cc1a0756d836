#!/bin/bash
# translation-words.sh -- word classifiers of Wellington, Turian & Melamed (2006) and of the paper on boosted trees: boosted trees, logistic
# regression, the same cut to as many features, and the most frequent translation.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/parallel.sh"

g=${GRADE:-generative} # whose trees
n=${PAIRS:-10000}
take "$n"
pairs=$(wc -l <"$work/$n.en")
parse_all $g "$n"
paper="--min-share 0.2 --tune-null 0" # its filter
# shellcheck disable=SC2086
learn boosted $g "$n" align $paper
for c in ${C2:-0.5 2}; do learn "l2.$c" $g "$n" align $paper --words l2 --c2 "$c"; done
best=$(for c in ${C2:-0.5 2}; do echo "$(tuning_loss "l2.$c") $c"; done | sort -n | awk 'NR == 1 { print $2 }')
learn cut $g "$n" align $paper --words l2 --c2 "$best" --features "$(features boosted)"
learn frequent $g "$n" align $paper --words frequent
row() { # TITLE NAME
    echo "| $1 | $(word_accuracy "$2" $g develop) | $(word_accuracy "$2" $g test) | $(features "$2") | $(cpu "$2") |"
}
{
    cat <<END
# Word classifiers

How often the best candidate of a source word is the word that it is linked to, or NULL where it has no link; $pairs pairs of Europarl (English to French), given
alignments, trees of our $(title "$g"). The paper has 10,000 pairs of its own choice and GIZA++. All words of the text count, also those that were never seen
(always wrong). "With a choice": the word has several candidates and the right one is among them. Seconds are processor seconds of the training, orders of nodes included.
c2 of the logistic regression was chosen by the loss of the tuning pairs: $best of ${C2:-0.5 2}.

| | all words, develop | with a choice | all words, test | with a choice | features | seconds |
|---|---|---|---|---|---|---|
| paper: boosted trees | 54 | | | | 38.7K | |
| paper: logistic regression | 54 | | | | 6.5M | |
| paper: logistic regression, as many features | 45 | | | | 38.7K | |
| paper: most frequent translation | 48 | | | | | |
END
    row 'boosted trees' boosted
    row 'logistic regression' "l2.$best"
    row 'logistic regression, as many features' cut
    row 'most frequent translation' frequent
    echo
    grep -h '^words:' "$work/boosted.log" | sed 's/^words: \(.*\), [0-9]* features/\1 of words with several candidates./'
    echo
    made_by
    notes
} >"$work/page.md"
publish
