#!/bin/bash
# treemest.sh -- M-estimation with a PCFG as its base distribution, beside the PCFG, the MECFG and the
# CRF-CFG with the same rules and words.  (The M-estimation paper proposes it and has no figures.)
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/trees.sh"

limit=${PASSES:+--max-iter $PASSES}
[ -z "$sample" ] || limit='--max-iter 2'
# shellcheck disable=SC2046,SC2086
for n in $lengths; do
    for c in $corpora; do
        g=${GRAMMAR:-}
        bank "$c" "$n"
        tree_fit "$c.$n.generative" --grade generative $g
        tree_fit "$c.$n.mecfg" --objective mecfg $g $limit
        for grade in discriminative features; do
            for c2 in ${C2:-0.01 0.1 1}; do
                tree_fit "$c.$n.mest.$grade.$c2" --objective m-estimation --grade $grade --c2 $c2 $g $limit
            done
            tree_fit "$c.$n.crf.$grade" --grade $grade $g $limit
        done
    done
done
row() { # TITLE NAME
    [ -e "$work/$2.mrg" ] || return 0
    echo "| $1 | $(cells "$(brackets "$2")") | $(passes "$2") | $(seconds "$2") |"
}
{
    cat <<'END'
# M-estimation over a PCFG

The base distribution q0 is the PCFG of the same trees; features of rules and words are added by M-estimation (Smith, Vail &
Lafferty 2007), which needs no parsing in training: the expectations of all features under q0 are solved for once. Beside it the PCFG
itself, the grammar normalised locally (MECFG) and trained globally (CRF-CFG), with the default grammar. There is no table of it in the
paper. Seconds are processor seconds of the whole training, one thread.

| | P | R | F1 | exact | crossing | none crossing | passes | seconds |
|---|---|---|---|---|---|---|---|---|
END
    for n in $lengths; do
        for c in $corpora; do
            bank "$c" "$n"
            row "$(title "$c"), $n: PCFG" "$c.$n.generative"
            row MECFG "$c.$n.mecfg"
            for grade in discriminative features; do
                for c2 in ${C2:-0.01 0.1 1}; do row "M-estimation, $grade, c2 $c2" "$c.$n.mest.$grade.$c2"; done
                row "CRF-CFG, $grade" "$c.$n.crf.$grade"
            done
        done
    done
    echo
    made_by
    notes
} >"$work/page.md"
mv "$work/page.md" "$out/treemest.md"
cat "$out/treemest.md"
