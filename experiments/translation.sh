#!/bin/bash
# translation.sh -- Table 2 of the paper on boosted trees: a generative and a discriminative tree transducer.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/parallel.sh"

grades=${GRADES:-generative features}
own=$work/own.align
[ -e "$own" ] || { say links && "$trellis" align -q -j "$threads" -o "$own" "$work/train.en" "$work/train.fr"; }
for g in $grades; do
    parse_all "$g"
    learn "$g.gen" "$g" "$work/train.align" --words generative
    learn "$g.disc" "$g" "$work/train.align"
done
first=${grades%% *}
learn plain.gen "$first" "$work/train.align" --words generative --tune-null 0
learn plain.disc "$first" "$work/train.align" --min-share 0.2 --tune-null 0
learn lost.gen "$first" "$work/train.align" --words generative --drop-lost
learn lost.disc "$first" "$work/train.align" --drop-lost
learn own.gen "$first" "$own" --words generative
learn own.disc "$first" "$own"
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
{
    cat <<END
# Translation

Table 2 of the paper on boosted trees: P, R and F of Turian et al. with exponents 1 and 2, here on the second half of the development pairs; $pairs pairs of Europarl
(English to French) to train, 1,000 of them to tune; the paper has 100,000. Trees of our PCFG (generative) and CRF-CFG (features), trained on the WSJ sample and MASC; alignments as given, or
our own. "Links": the share of linked source words whose link the trees keep. Seconds are processor seconds of the training without aligning and parsing.

| | P, 1 | R, 1 | F, 1 | P, 2 | R, 2 | F, 2 | BLEU | links | seconds |
|---|---|---|---|---|---|---|---|---|---|
| paper: generative | 51.29 | 38.30 | 43.85 | 22.62 | 16.90 | 19.35 | | | |
| paper: discriminative | 62.36 | 39.06 | 48.04 | 28.02 | 17.55 | 21.59 | | | |
END
    for g in $grades; do
        row "trees $g: generative" "$g.gen"
        row "trees $g: discriminative" "$g.disc"
    done
    row "trees $first, NULL not tuned: generative" plain.gen
    row "trees $first, the paper's filter, NULL not tuned: discriminative" plain.disc
    row "trees $first, words without kept links are NULL: generative" lost.gen
    row "trees $first, words without kept links are NULL: discriminative" lost.disc
    row "trees $first, our links: generative" own.gen
    row "trees $first, our links: discriminative" own.disc
    echo
    echo "p by Wilcoxon's signed ranks of sentences, generative against discriminative, F with exponents 1 and 2:"
    echo
    for g in $grades; do echo "- trees $g: $(p_value "$g.gen" "$g.disc")"; done
    echo "- trees $first, NULL not tuned, the paper's filter: $(p_value plain.gen plain.disc)"
    echo "- trees $first, words without kept links are NULL: $(p_value lost.gen lost.disc)"
    echo "- trees $first, our links: $(p_value own.gen own.disc)"
    echo
    made_by
    notes
} >"$work/page.md"
publish
