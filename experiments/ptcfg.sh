#!/bin/bash
# ptcfg.sh -- Table 2 of Sutton & McCallum, Fast, piecewise training for discriminative finite-state and
# parsing models (2005): a PCFG, the same grammar normalised locally
# (MECFG), with none-of-the-above instances (PT-CFG), and trained globally (CRF-CFG).
usual_lengths='15 40'
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/trees.sh"

limit=${PASSES:+--max-iter $PASSES}
[ -z "$sample" ] || limit='--max-iter 2'
# shellcheck disable=SC2046,SC2086
for n in $lengths; do
    for c in $corpora; do
        g=$(paper_grammar "$n")
        bank "$c" "$n"
        tree_fit "$c.$n.generative" --grade generative $g
        tree_fit "$c.$n.mecfg" --objective mecfg $g $limit
        tree_fit "$c.$n.ptcfg" --objective pt-cfg $g $limit
        tree_fit "$c.$n.crf" --grade discriminative $g $limit
        tree_fit "$c.$n.features" --strict $(with_clusters) $g $limit
    done
done
instances() { sed -n 's/^\([0-9]*\) none-of-the-above instances.*/\1/p' "$work/$1.log" | tail -n 1 | grep . || echo 0; }
row() { # TITLE NAME
    echo "| $1 | $(instances "$2") | $(cells "$(brackets "$2" | cut -d ' ' -f 1-3)") | $(passes "$2") | $(seconds "$2") | $(words_a_second "$2") |"
}
{
    cat <<'END'
# Piecewise training of a grammar

Table 2 of Sutton & McCallum, *Fast, piecewise training for discriminative finite-state and parsing models* (2005): labelled precision and recall,
sentences of at most 15 words; here also of at most 40. The paper has sections 2 to 21 and 22 of the Penn Treebank; other treebanks stand in for
it. MECFG normalises every expansion of a constituent on its own and trains without parsing; PT-CFG then parses the training data and adds wrong
constituents of nearly the best score as none-of-the-above instances. Their features are first and last word and short lengths of spans, as
in the paper; words below tags come from the PCFG's lexicon. CRF-CFG is trained globally, with rules and words (discriminative) or with all features. Seconds are processor seconds of
the whole training, one thread.

| | NOTA instances | P | R | F1 | passes | seconds | words/s |
|---|---|---|---|---|---|---|---|
| paper: generative | | 81.7 | 83.1 | 82.4 | | | |
| MECFG | 0 | 81.4 | 82.7 | 82.0 | | | |
| PT-CFG | 1564827 | 81.7 | 83.2 | 82.4 | | 16560 | |
| CRF-CFG | | | | | | 259200 (estimated) | |
END
    for n in $lengths; do
        for c in $corpora; do
            bank "$c" "$n"
            row "$(title "$c"), $n: generative" "$c.$n.generative"
            row MECFG "$c.$n.mecfg"
            row PT-CFG "$c.$n.ptcfg"
            row 'CRF-CFG, discriminative' "$c.$n.crf"
            row 'CRF-CFG, feature-based' "$c.$n.features"
        done
    done
    echo
    made_by
    notes
} >"$work/page.md"
mv "$work/page.md" "$out/ptcfg.md"
cat "$out/ptcfg.md"
