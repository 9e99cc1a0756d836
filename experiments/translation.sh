#!/bin/bash
# translation.sh -- Table 2 of the paper on boosted trees: a generative and a discriminative tree transducer.
#
# LARGE='N GRADE...': pairs, and the parsers whose trees are tried (default 100000 features generative), with the given links and, for the
#     first parser, with ours; LARGE=none: no such rows.
# SMALL: the same (default 10000 features generative boosted); variants with the trees of the first.
# WORDS: learners of words (default 'generative boosted l2'); small pairs with the trees of the first parser have all. l2, which takes longest,
#     learns from large pairs with the trees of the first parser and the given links alone.
# LINKS: of LARGE: align (as given), own (ours) or, the default, 'align own'.
# WORK: millions of steps that the boosted parser may search for a sentence (default 10).
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/parallel.sh"

read -r large large_grades <<<"${LARGE:-100000 features generative}"
[ "$large" != none ] || large='' large_grades=''
read -r small small_grades <<<"${SMALL:-10000 features generative boosted}"
[ -z "$sample" ] || large=${large:+200} small=150
[ "$large" != "$small" ] || { echo "LARGE and SMALL have the same number of pairs: LARGE=none leaves the first rows out" >&2 && exit 2; }
first=${small_grades%% *}
list=$work/rows # a line for every row: name, the row it is compared with or -, title
: >"$list"
model() { # NAME AGAINST TITLE GRADE N LINKS [OPTION]...
    local n=$1
    echo "$n $2 $3" >>"$list"
    shift 3
    learn "$n" "$@"
}
title_of() { # WORDS
    case $1 in boosted) echo discriminative ;; l2) echo discriminative, words by logistic regression ;; *) echo "$1" ;; esac
}
models() { # NAME TITLE GRADE N LINKS WORDS...: one for every learner of words
    local n=$1 title=$2 grade=$3 size=$4 links=$5 w
    shift 5
    parse_all "$grade" "$size"
    [ "$links" != own ] || align_own "$size"
    for w; do
        model "$n.$w" "$([ "$w" = generative ] && echo - || echo "$n.generative")" "$title: $(title_of "$w")" "$grade" "$size" "$links" --words "$w"
    done
}
[ -z "$large" ] || take "$large"
take "$small"
all="generative boosted l2"
words=${WORDS:-$all}
links=${LINKS:-align own}
fewer=${words/l2/}
# shellcheck disable=SC2086
for g in $large_grades; do
    [ "$links" = own ] || models "large.$g" "$large pairs, $(title "$g")" "$g" "$large" align $([ "$g" = "${large_grades%% *}" ] && echo "$words" || echo "$fewer")
done
g=${large_grades%% *}
# shellcheck disable=SC2086
[ -z "$large" ] || [ "$links" = align ] || models large.own "$large pairs, $(title "$g"), our links" "$g" "$large" own $fewer
# shellcheck disable=SC2086
for g in $small_grades; do
    models "small.$g" "$small pairs, $(title "$g")" "$g" "$small" align $([ "$g" = "$first" ] && echo "$all" || echo "$words")
done
# shellcheck disable=SC2086
models small.own "$small pairs, $(title "$first"), our links" "$first" "$small" own $all
base="$small pairs, $(title "$first")" to=small.$first.generative
model frequent $to "$base: most frequent words" "$first" "$small" align --words frequent
model filter $to "$base: discriminative, candidates from a fifth on, as in the paper" "$first" "$small" align --min-share 0.2
model plain.generative - "$base, NULL not tuned: generative" "$first" "$small" align --words generative --tune-null 0
model plain.boosted plain.generative "$base, NULL not tuned: discriminative" "$first" "$small" align --tune-null 0
model lost.generative - "$base, words without kept links are NULL: generative" "$first" "$small" align --words generative --drop-lost
model lost.boosted lost.generative "$base, words without kept links are NULL: discriminative" "$first" "$small" align --drop-lost

scores() { # NAME
    "$trellis" score translation "$work/test.fr" "$work/$1.test" 2>/dev/null |
        awk '/^exponent/ { printf "%s%s | %s | %s", n++ ? " | " : "", $3, $4, $5 } /^BLEU/ { printf " | %s", $2 }'
}
kept() { sed -n 's/.*the trees keep \(.*\) %/\1/p' "$work/$1.log"; }
p_values() { # NAME AGAINST: Wilcoxon's of F with both exponents, then those of the bootstrap
    [ "$2" != - ] && [ -e "$work/$2.test" ] || { echo "- | - | - | -" && return; }
    "$trellis" compare translation "$work/test.fr" "$work/$2.test" "$work/$1.test" 2>/dev/null |
        awk '/^F/ { w = w $NF " | "; b = b (b == "" ? "" : " | ") $(NF - 1) } END { print w b }'
}
{
    cat <<END
# Translation

Table 2 of the paper on boosted trees: P, R and F of Turian et al. with exponents 1 and 2, here on the second half of the development pairs; pairs of Europarl
(English to French), 1,000 of them to tune; the paper has 100,000 of its own choice. Trees of our PCFG, CRF-CFG and boosted parser, trained on the WSJ sample and MASC (the
boosted one on sentences up to 15 words, and searching no longer than ${WORK:-10} million steps a sentence); alignments as given, or our own. p of the difference of F to the generative model of the same trees and links, exponents 1 and 2: W by Wilcoxon's
signed ranks of sentences, B by a bootstrap of them (10,000 samples). "Links": the share of linked source words whose link the trees keep. Seconds are processor seconds of
the training without aligning and parsing.

| | P, 1 | R, 1 | F, 1 | P, 2 | R, 2 | F, 2 | BLEU | W, 1 | W, 2 | B, 1 | B, 2 | links | seconds |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
| paper: generative | 51.29 | 38.30 | 43.85 | 22.62 | 16.90 | 19.35 | | | | | | | |
| paper: discriminative | 62.36 | 39.06 | 48.04 | 28.02 | 17.55 | 21.59 | | < 0.001 | < 0.001 | | | | |
END
    while read -r n against title; do
        echo "| $title | $(scores "$n") | $(p_values "$n" "$against") | $(kept "$n") | $(cpu "$n") |"
    done <"$list"
    echo
    echo "Classifiers of words, their inferences (examples) and features:"
    echo
    while read -r n against title; do
        case $title in *discriminative*) echo "- $title: $(sed -n 's/^words: [0-9]* candidates, //p' "$work/$n.log"); tuning loss $(tuning_loss "$n")" ;; esac
    done <"$list"
    echo
    made_by
    notes
} >"$work/page.md"
publish
