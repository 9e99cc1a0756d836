#!/bin/bash
# treemest.sh -- M-estimation with a PCFG as its base distribution, beside the PCFG, the MECFG and the
# CRF-CFG with the same rules and words.  (The M-estimation paper proposes it and has no figures.)
usual_lengths='15 40'
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/trees.sh"

limit=${PASSES:+--max-iter $PASSES}
grid=${C2:-0.01 0.1 1 10}
[ -z "$sample" ] || limit='--max-iter 2'
# choose CORPUS.N GRADE: the penalty with the best F1 on every tenth tree of $train, trained on the others.
choose() {
    local c2 f all=$train train=$work/$1.most dev=$work/$1.tenth words=$work/$1.tenth.words
    awk 'NR % 10' "$all" >"$train"
    awk 'NR % 10 == 0' "$all" >"$dev"
    "$trellis" trees --to words "$dev" >"$words"
    # shellcheck disable=SC2086
    for c2 in $grid; do
        tree_fit "$1.tenth.$2.$c2" --objective m-estimation --grade "$2" --c2 "$c2" $g $limit
        f=$(tree_f1 "$1.tenth.$2.$c2")
        echo "$c2 $f"
    done | awk '{ f = $2 + 0 } f > best || NR == 1 { best = f; c2 = $1 } END { print c2 }' >"$work/$1.$2.c2"
}

# shellcheck disable=SC2046,SC2086
for n in $lengths; do
    for c in $corpora; do
        g=${GRAMMAR:-}
        bank "$c" "$n"
        tree_fit "$c.$n.generative" --grade generative $g
        tree_fit "$c.$n.mecfg" --objective mecfg $g $limit
        for grade in discriminative features; do
            choose "$c.$n" $grade
            c2=$(cat "$work/$c.$n.$grade.c2")
            tree_fit "$c.$n.mest.$grade.$c2" --objective m-estimation --grade $grade --c2 "$c2" $g $limit
            tree_fit "$c.$n.crf.$grade" --grade $grade $g $limit
        done
    done
done
row() { # TITLE NAME
    [ -e "$work/$2.mrg" ] || return 0
    echo "| $1 | $(cells "$(brackets "$2")") | $(passes "$2") | $(seconds "$2") |"
}
{
    cat <<END
# M-estimation over a PCFG

The base distribution q0 is the PCFG of the same trees; features of rules and words are added by M-estimation (Smith, Vail &
Lafferty 2007), which needs no parsing in training: the expectations of all features under q0 are solved for once. Beside it the PCFG
itself, the grammar normalised locally (MECFG) and trained globally (CRF-CFG), with the default grammar. There is no table of it in the
paper. The penalty c2 is the best of $grid on every tenth training tree, trained on the others; then all are trained on. Seconds are processor
seconds of that last training, one thread.

| | P | R | F1 | exact | crossing | none crossing | passes | seconds |
|---|---|---|---|---|---|---|---|---|
END
    for n in $lengths; do
        for c in $corpora; do
            bank "$c" "$n"
            row "$(title "$c"), $n: PCFG" "$c.$n.generative"
            row MECFG "$c.$n.mecfg"
            for grade in discriminative features; do
                c2=$(cat "$work/$c.$n.$grade.c2")
                row "M-estimation, $grade, c2 $c2" "$c.$n.mest.$grade.$c2"
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
