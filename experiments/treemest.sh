#!/bin/bash
# treemest.sh -- M-estimation with a PCFG as its base distribution, beside the PCFG, the MECFG and the
# CRF-CFG with the same rules and words.  (The M-estimation paper proposes it and has no figures.)
usual_lengths='15 40'
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/trees.sh"

grid=${C2:-0.01 0.1 1 10}
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

g=${GRAMMAR:-}
# shellcheck disable=SC2086
fits() { # CORPUS N
    local grade c2 at=$1.$2
    tree_fit "$at.generative" --grade generative $g
    tree_fit "$at.mecfg" --objective mecfg $g $limit
    for grade in discriminative features; do
        choose "$at" $grade
        c2=$(cat "$work/$at.$grade.c2")
        tree_fit "$at.mest.$grade.$c2" --objective m-estimation --grade $grade --c2 "$c2" $g $limit
        tree_fit "$at.crf.$grade" --grade $grade --no-tagger $g $limit
    done
}
each_bank fits
row() { # TITLE NAME
    [ -e "$work/$2.mrg" ] || return 0
    echo "| $1 | $(cells "$(brackets "$2")") | $(passes "$2") | $(seconds "$2") |"
}
rows() { # CORPUS N
    local grade c2
    row "$(title "$1"), $2: PCFG" "$1.$2.generative"
    row MECFG "$1.$2.mecfg"
    for grade in discriminative features; do
        c2=$(cat "$work/$1.$2.$grade.c2")
        row "M-estimation, $grade, c2 $c2" "$1.$2.mest.$grade.$c2"
        row "CRF-CFG, $grade" "$1.$2.crf.$grade"
    done
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
    each_bank rows
    echo
    made_by
    notes
} >"$work/page.md"
publish
