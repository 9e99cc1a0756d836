#!/bin/bash
# translation.sh -- Table 2 of the paper on boosted trees: a generative and a discriminative tree transducer.
#
# LARGE='N GRADE...': pairs, and the parsers whose trees are tried (default 100000 generative features), with the given links and with ours.
# SMALL: the same (default 10000 generative features boosted), with the given links; variants with the trees of the first two.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/parallel.sh"

read -r large large_grades <<<"${LARGE:-100000 generative features}"
read -r small small_grades <<<"${SMALL:-10000 generative features boosted}"
[ -z "$sample" ] || large=200 small=150
both() { # NAME GRADE N LINKS [OPTION]...: the two models
    local n=$1
    shift
    learn "$n.gen" "$@" --words generative
    learn "$n.disc" "$@"
}
take "$large"
take "$small"
align_own "$large"
for g in $small_grades; do
    parse_all "$g" "$small"
    both "small.$g" "$g" "$small" align
done
v=$(set -- $small_grades && echo "${2:-$1}")
learn plain.gen "$v" "$small" align --words generative --tune-null 0
learn plain.disc "$v" "$small" align --tune-null 0
learn filter.disc "$v" "$small" align --min-share 0.2
both lost "$v" "$small" align --drop-lost
learn l2.disc "$v" "$small" align --words l2
learn frequent.disc "$v" "$small" align --words frequent
for g in $large_grades; do
    parse_all "$g" "$large"
    both "large.$g" "$g" "$large" align
done
g=${large_grades##* }
both large.own "$g" "$large" own
scores() { # NAME
    "$trellis" score translation "$work/test.fr" "$work/$1.test" 2>/dev/null |
        awk '/^exponent/ { printf "%s%s | %s | %s", n++ ? " | " : "", $3, $4, $5 } /^BLEU/ { printf " | %s", $2 }'
}
kept() { sed -n 's/.*the trees keep \(.*\) %/\1/p' "$work/$1.log"; }
row() { # TITLE NAME
    echo "| $1 | $(scores "$2") | $(kept "$2") | $(cpu "$2") |"
}
p_value() { # NAME NAME: Wilcoxon's, of F with both exponents
    "$trellis" compare translation "$work/test.fr" "$work/$1.test" "$work/$2.test" 2>/dev/null | awk '/^F/ { printf "%s%s", n++ ? ", " : "", $NF }'
}
pair_rows() { # TITLE NAME
    row "$1: generative" "$2.gen"
    row "$1: discriminative" "$2.disc"
}
{
    cat <<END
# Translation

Table 2 of the paper on boosted trees: P, R and F of Turian et al. with exponents 1 and 2, here on the second half of the development pairs; pairs of Europarl
(English to French), 1,000 of them to tune; the paper has 100,000 of its own choice. Trees of our PCFG, CRF-CFG and boosted parser, trained on the WSJ sample and MASC (the
boosted one on sentences up to 15 words); alignments as given, or our own. "Links": the share of linked source words whose link the trees keep. Seconds are processor seconds of
the training without aligning and parsing.

| | P, 1 | R, 1 | F, 1 | P, 2 | R, 2 | F, 2 | BLEU | links | seconds |
|---|---|---|---|---|---|---|---|---|---|
| paper: generative | 51.29 | 38.30 | 43.85 | 22.62 | 16.90 | 19.35 | | | |
| paper: discriminative | 62.36 | 39.06 | 48.04 | 28.02 | 17.55 | 21.59 | | | |
END
    for g in $large_grades; do pair_rows "$large pairs, $(title "$g")" "large.$g"; done
    pair_rows "$large pairs, $(title "${large_grades##* }"), our links" large.own
    for g in $small_grades; do pair_rows "$small pairs, $(title "$g")" "small.$g"; done
    pair_rows "$small pairs, $(title "$v"), NULL not tuned" plain
    row "$small pairs, $(title "$v"), candidates from a fifth on, as in the paper: discriminative" filter.disc
    pair_rows "$small pairs, $(title "$v"), words without kept links are NULL" lost
    row "$small pairs, $(title "$v"): logistic regression for words" l2.disc
    row "$small pairs, $(title "$v"): most frequent words" frequent.disc
    echo
    echo "p by Wilcoxon's signed ranks of sentences, generative against discriminative, F with exponents 1 and 2:"
    echo
    for g in $large_grades; do echo "- $large pairs, $(title "$g"): $(p_value "large.$g.gen" "large.$g.disc")"; done
    echo "- $large pairs, $(title "${large_grades##* }"), our links: $(p_value large.own.gen large.own.disc)"
    for g in $small_grades; do echo "- $small pairs, $(title "$g"): $(p_value "small.$g.gen" "small.$g.disc")"; done
    echo "- $small pairs, $(title "$v"), NULL not tuned: $(p_value plain.gen plain.disc)"
    echo "- $small pairs, $(title "$v"), words without kept links are NULL: $(p_value lost.gen lost.disc)"
    echo
    made_by
    notes
} >"$work/page.md"
publish
