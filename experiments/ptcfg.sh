#!/bin/bash
# ptcfg.sh -- Table 2 of Sutton & McCallum, Fast, piecewise training for discriminative finite-state and
# parsing models (2005): a PCFG, the same grammar normalised locally
# (MECFG), with none-of-the-above instances (PT-CFG), and trained globally (CRF-CFG).
usual_lengths='15 40'
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/trees.sh"

# shellcheck disable=SC2046,SC2086
fits() { # CORPUS N
    local g at=$1.$2
    g=$(paper_grammar "$2")
    tree_fit "$at.generative" --grade generative $g
    tree_fit "$at.mecfg" --objective mecfg $g $limit
    tree_fit "$at.ptcfg" --objective pt-cfg $g $limit
    tree_fit "$at.crf" --grade discriminative $g $limit
    tree_fit "$at.features" --strict --no-tagger $(with_clusters) $g $limit
}
each_bank fits
instances() { sed -n 's/^\([0-9]*\) none-of-the-above instances.*/\1/p' "$work/$1.log" | tail -n 1 | grep . || echo 0; }
row() { # TITLE NAME
    echo "| $1 | $(instances "$2") | $(cells "$(brackets "$2" | cut -d ' ' -f 1-3)") | $(passes "$2") | $(seconds "$2") | $(words_a_second "$2") |"
}
rows() { # CORPUS N
    row "$(title "$1"), $2: generative" "$1.$2.generative"
    row MECFG "$1.$2.mecfg"
    row PT-CFG "$1.$2.ptcfg"
    row 'CRF-CFG, discriminative' "$1.$2.crf"
    row 'CRF-CFG, feature-based' "$1.$2.features"
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
    each_bank rows
    echo
    made_by
    notes
} >"$work/page.md"
publish
