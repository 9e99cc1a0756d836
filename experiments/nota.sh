#!/bin/bash
# nota.sh -- Table 1 of Sutton & McCallum, Fast, piecewise training for discriminative finite-state and
# parsing models (2005): MEMM, CRF and CRF-PT on named entities (exhaustive none-of-the-above
# instances, calibrated) and on parts of speech (instances by marginals after 20 iterations).
# CoNLL-2002 Spanish stands in for CoNLL-2003 English, the WSJ sample for sections of the treebank.
. "$(dirname "$0")/common.sh"

grid=${GRID:-0.3162,1,3.162} few=2000
stop='--delta 1e-4' sdca='--optimizer sdca'
if [ -n "$sample" ]; then
    ner_train=$(little "$build/corpus/train.ner.txt") ner_held=$(little "$build/corpus/dev.ner.txt")
    pos_train=$(little "$build/corpus/train.pos.txt") pos_held=$(little "$build/corpus/dev.pos.txt")
    ner_test=$(little "$build/corpus/test.ner.txt") pos_test=$(little "$build/corpus/test.pos.txt")
    grid=1,10 stop='--max-iter 6' few=30
else
    need "$data/ner-es/train.txt" "$data/treebanks/wsj-sample-train.mrg"
    ner_train=$work/ner.train ner_held=$work/ner.held ner_test=$data/ner-es/dev.txt
    pos_train=$work/pos.train pos_held=$work/pos.held pos_test=$work/pos.test
    all=$(count "$data/ner-es/train.txt")
    from_to 1 $((${SIZE:-all} < all - 833 ? ${SIZE:-all} : all - 833)) "$data/ner-es/train.txt" >"$ner_train"
    from_to $((all - 832)) "$all" "$data/ner-es/train.txt" >"$ner_held"
    for part in train dev test; do
        "$trellis" columns --no-chunks "$data/treebanks/wsj-sample-$part.mrg"
    done >"$work/pos.all"
    from_to 1 1154 "$work/pos.all" >"$pos_train"
    from_to 1155 1554 "$work/pos.all" >"$pos_held"
    from_to 1555 999999 "$work/pos.all" >"$pos_test"
fi
cp "$templates/ner.template" "$work/edge.template"
both_sides "$templates/ner.template" >"$work/both.template"
cp "$templates/pos.template" "$work/pos.template"
cp "$templates/pos-plain.template" "$work/plain.template"

# ---- parts of speech: instances are chosen after 20 iterations of L-BFGS -------------------
cold=yes # sdca starts from zero, as does what chooses instances on its way
pos() { # FEATURES NAME OPTION...
    local f=$1 n=$2
    shift 2
    # shellcheck disable=SC2086
    fit "$f.$n" "$work/$f.template" "$pos_train" "$pos_held" "$pos_test" -- "$@" $stop
}
marginal=marginal:0.2@20
[ -z "$sample" ] || marginal=marginal:0.2@3
for features in plain pos; do
    # shellcheck disable=SC2086
    pos $features memm --objective memm $sdca
    # shellcheck disable=SC2086
    pos $features likelihood --objective likelihood $sdca
    pos $features nota --objective piecewise-nota --nota $marginal
    [ -e "$work/$features.nota-global.out" ] ||
        "$trellis" tag --decode global -m "$work/$features.nota.model" "$pos_test" >"$work/$features.nota-global.out"
done

# ---- named entities -----------------------------------------------------------------------
ner() { # NAME OPTION...: c by the held-out data with edge features, 1 with both sides
    local n=$1
    shift
    # shellcheck disable=SC2086
    borrow=piecewise fit "edge.$n" "$work/edge.template" "$ner_train" "$ner_held" "$ner_test" -- "$@" $sdca $stop
    # shellcheck disable=SC2086
    borrow=piecewise train_once "both.$n" "$work/both.template" "$ner_train" "$ner_test" "$@" --c 1 $sdca $stop
}
ner memm --objective memm
ner likelihood --objective likelihood
ner nota-calibrated --objective piecewise-nota --nota all --calibrate
for features in edge both; do
    c=1
    [ $features = both ] || c=$(chosen_c edge.nota-calibrated)
    # shellcheck disable=SC2086
    train_once "$features.nota" "$work/$features.template" "$ner_train" "$ner_test" \
        --objective piecewise-nota --nota all --c "$c" $sdca $stop
    [ -e "$work/$features.nota-global.out" ] ||
        "$trellis" tag --decode global -m "$work/$features.nota.model" "$ner_test" >"$work/$features.nota-global.out"
done

# ---- one classifier per source label, as in the paper; c = 1 ------------------------------
from_to 1 $few "$ner_train" | begun /dev/stdin >"$work/few.begun"
begun "$ner_test" >"$work/test.begun"
per_source "$templates/ner.template" >"$work/source.template"
per_source "$work/both.template" | awk '!seen[substr($0, index($0, "%"))]++' >"$work/source-both.template" # no attribute twice
for features in source source-both; do
    source_once() { # NAME OPTION...
        local n=$1
        shift
        # shellcheck disable=SC2086
        train_once "$features.$n" "$work/$features.template" "$work/few.begun" "$work/test.begun" --pairs all --c 1 "$@" $sdca $stop
    }
    source_once memm --objective memm
    source_once likelihood --objective likelihood
    source_once nota --objective piecewise-nota --nota all
    source_once nota-calibrated --objective piecewise-nota --nota all --calibrate
    source_once memm-calibrated --objective memm --calibrate
    [ -e "$work/$features.nota-global.out" ] ||
        "$trellis" tag --decode global -m "$work/$features.nota.model" "$work/test.begun" >"$work/$features.nota-global.out"
done

# ---- the page -----------------------------------------------------------------------------
on_train() { # NAME TRAIN: F1 of the model on its own training data
    [ -e "$work/$1.train.out" ] || "$trellis" tag -m "$work/$1.model" "$2" >"$work/$1.train.out"
}
ner_row() { # TITLE NAME PAPER-TRAIN PAPER-TEST
    local e b
    on_train "edge.$2" "$ner_train"
    on_train "both.$2" "$ner_train"
    e=$(prf "edge.$2") b=$(prf "both.$2")
    echo "| $1 | $3 | $4 | $(f1 "both.$2.train") | ${b// / | } | $(seconds "both.$2") | $(f1 "edge.$2.train") | ${e// / | } | $(chosen_c "edge.$2") | $(seconds "edge.$2") |"
}
source_row() { # TITLE NAME
    echo "| $1 | $(f1 "source-both.$2") | $(f1 "source.$2") |"
}
pos_row() { # TITLE NAME PAPER-TRAIN PAPER-TEST
    on_train "plain.$2" "$pos_train"
    on_train "pos.$2" "$pos_train"
    echo "| $1 | $3 | $4 | $(accuracy "plain.$2.train") | $(accuracy "plain.$2") | $(chosen_c "plain.$2") | $(seconds "plain.$2") | $(accuracy "pos.$2.train") | $(accuracy "pos.$2") | $(chosen_c "pos.$2") | $(seconds "pos.$2") |"
}
p_row() { # TITLE A B: named entities, both sides and edge
    echo "| $1 | $(pvalue mcnemar "both.$2" "both.$3") | $(pvalue bootstrap "both.$2" "both.$3") | $(pvalue mcnemar "edge.$2" "edge.$3") | $(pvalue bootstrap "edge.$2" "edge.$3") |"
}
t_row() { # TITLE A B: parts of speech
    echo "| $1 | $(pvalue paired_t "plain.$2" "plain.$3") | $(pvalue mcnemar "plain.$2" "plain.$3") | $(pvalue paired_t "pos.$2" "pos.$3") | $(pvalue mcnemar "pos.$2" "pos.$3") |"
}
{
    test=$ner_test
    cat <<END
# None-of-the-above instances (CRF-PT)

Table 1 of Sutton & McCallum, *Fast, piecewise training for discriminative finite-state and parsing models* (2005): a
model trained like an MEMM, with extra instances that teach a wrong source label to vote for nothing.

## Named entities

The paper has CoNLL-2003 English (testa); here it is CoNLL-2002 Spanish, $(count "$ner_train") sentences for training, $(count "$ner_held")
(the last ones of the training file) for the choice of c, $(count "$ner_test") (testa) for the test. "Edge" features see source
label, target label and the text around the target (\`experiments/templates/ner.template\`), "both sides" the same text around
the source as well: every line of the template once more, a token to the left; c = 1 with these. CRF-PT as in the
paper: all wrong sources have an instance, one multiplier per source label is fitted by the global likelihood, decoding is global.

| | paper: training F1 | test F1 | both sides: training F1 | precision | recall | F1 | processor seconds | edge: training F1 | precision | recall | F1 | c | processor seconds, all c |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
END
    ner_row MEMM memm 99.89 88.90
    ner_row CRF likelihood 99.95 89.87
    ner_row 'CRF-PT, calibrated' nota-calibrated 99.82 90.47
    cat <<END

The same c without calibration, and decoded the other way (F1 on the test data):

| CRF-PT, all instances | both sides | edge features |
|---|---|---|
| decoded locally, NOTA dropped | $(f1 both.nota) | $(f1 edge.nota) |
| decoded globally | $(f1 both.nota-global) | $(f1 edge.nota-global) |
| calibrated, globally | $(f1 both.nota-calibrated) | $(f1 edge.nota-calibrated) |

| p-values | McNemar, both sides | bootstrap of F1 | McNemar, edge | bootstrap of F1 |
|---|---|---|---|---|
END
    p_row 'CRF against MEMM' memm likelihood
    p_row 'CRF-PT against MEMM' memm nota-calibrated
    p_row 'CRF-PT against CRF' likelihood nota-calibrated
    p_row 'CRF-PT, local, against MEMM' memm nota
    p_row 'CRF-PT, local, against CRF' likelihood nota
    p_row 'CRF-PT, global, uncalibrated, against MEMM' memm nota-global
    cat <<END

The paper's MEMM is one classifier per source label, with no weight in common. So here, with $few sentences for training
and c = 1: every line of the template with pairs of labels, weights for all pairs, seen or not.

| one classifier per source | both sides | edge |
|---|---|---|
$(source_row MEMM memm)
$(source_row 'MEMM, calibrated, decoded globally' memm-calibrated)
$(source_row 'CRF-PT, decoded locally' nota)
$(source_row 'CRF-PT, decoded globally' nota-global)
$(source_row 'CRF-PT, calibrated, decoded globally' nota-calibrated)
$(source_row CRF likelihood)

$(test=$work/test.begun
    for f in source-both source; do
        echo "McNemar, $([ $f = source ] && echo edge || echo both sides), CRF-PT decoded locally against MEMM: $(pvalue mcnemar $f.memm $f.nota); against the CRF: $(pvalue mcnemar $f.likelihood $f.nota)."
    done)
END
    test=$pos_test
    cat <<END

## Parts of speech

The first 1,154 sentences of the WSJ sample for training ($(count "$pos_train") here), the next $(count "$pos_held") for the choice of c, the other
$(count "$pos_test") for the test; $(awk 'NF { print $NF }' "$pos_train" | sort -u | wc -l) tags in training. Two sets of features: plain, words and capitals, which bring the models near the paper's
accuracy (\`experiments/templates/pos-plain.template\`), and rich, with prefixes and suffixes (\`pos.template\`). CRF-PT as in the
paper: 20 iterations as an MEMM, then an instance for every wrong source with a marginal above 0.2; local decoding.
Every run starts from zero.

| | paper: training accuracy | test accuracy | plain: training accuracy | test accuracy | c | processor seconds, all c | rich: training accuracy | test accuracy | c | processor seconds, all c |
|---|---|---|---|---|---|---|---|---|---|---|
END
    pos_row MEMM memm 99.1 88.1
    pos_row CRF likelihood 99.8 88.1
    pos_row CRF-PT nota 99.08 88.8
    cat <<END

CRF-PT decoded globally: $(accuracy plain.nota-global) with plain features, $(accuracy pos.nota-global) with rich ones.

| p-values | plain: paired t on wrong tags a sentence | McNemar | rich: paired t | McNemar |
|---|---|---|---|---|
END
    t_row 'CRF against MEMM' memm likelihood
    t_row 'CRF-PT against MEMM' memm nota
    t_row 'CRF-PT against CRF' likelihood nota
    cat <<END

![held-out F1 against c](nota-ner.svg)

![held-out accuracy against c](nota-pos.svg)

c from {$grid} by the held-out score; every run from zero; SDCA (CRF-PT of parts of speech: L-BFGS, which can go on
after the choice of instances) until ten passes move the objective by less than 1e-4 of it.
$(made_by)
END
    notes
} >"$work/page.md"

curves() { # PREFIX NAME...
    local p=$1 n
    shift
    echo "method c score"
    for n; do awk -v m="$n" 'NR > 1 && $1 != "-" { print m, $1, $3 }' "$work/$p.$n.table"; done
}
curves edge memm likelihood nota-calibrated >"$work/ner.table"
curves plain memm likelihood nota >"$work/plain.table"
"$trellis" plot -k learning -x c -y score --log-x --marks both --title 'named entities: held-out F1' -o "$out/nota-ner.svg" "$work/ner.table"
"$trellis" plot -k learning -x c -y score --log-x --marks both --title 'parts of speech, plain features: held-out accuracy' -o "$out/nota-pos.svg" "$work/plain.table"
publish
