#!/bin/bash
# piecewise.sh -- Table 1 of Sutton & McCallum, Piecewise training of undirected models (UAI 2005):
# named entities by a linear chain, trained piecewise, by pseudolikelihood, by per-edge
# pseudolikelihood, and exactly.  CoNLL-2002 Spanish stands in for CoNLL-2003 English.
. "$(dirname "$0")/common.sh"

methods='piecewise pseudolikelihood pseudolikelihood-edge likelihood'
grid=${GRID:-0.3162,1,3.162} cold=yes
stop='--optimizer sdca --delta 1e-4'
borrow=nota # the exact likelihood, when that has made it
sizes='1000 4000' few=2000
if [ -n "$sample" ]; then
    train=$(little "$build/corpus/train.ner.txt") held=$(little "$build/corpus/dev.ner.txt")
    test=$(little "$build/corpus/test.ner.txt")
    chunk_train=$(little "$build/corpus/train.chunk.txt") chunk_test=$(little "$build/corpus/test.chunk.txt")
    grid=1,10 stop='--optimizer sdca --max-iter 6' sizes=20 few=30
else
    need "$data/ner-es/train.txt" "$data/conll2000/train.txt"
    chunk_train=$data/conll2000/train.txt chunk_test=$data/conll2000/test.txt
    train=$work/train held=$work/held test=$data/ner-es/dev.txt
    all=$(count "$data/ner-es/train.txt")
    from_to 1 $((${SIZE:-all} < all - 833 ? ${SIZE:-all} : all - 833)) "$data/ner-es/train.txt" >"$train"
    from_to $((all - 832)) "$all" "$data/ner-es/train.txt" >"$held"
fi
sed 's/^\*/u:/' "$templates/ner.template" >"$work/node.template"
cp "$templates/ner.template" "$work/edge.template"
both_sides "$templates/ner.template" >"$work/both.template"

for m in $methods; do
    # shellcheck disable=SC2086
    fit "edge.$m" "$work/edge.template" "$train" "$held" "$test" -- --objective "$m" --decode global $stop
    # shellcheck disable=SC2086
    train_once "both.$m" "$work/both.template" "$train" "$test" --objective "$m" --decode global --c 1 $stop
done

# ---- on what does the order depend?  c = 1 -------------------------------------------------
begun "$train" >"$work/all.begun"
from_to 1 $few "$work/all.begun" >"$work/few.begun"
begun "$test" >"$work/test.begun"
per_source "$templates/ner.template" >"$work/source.template"
from_to 1 $few "$train" >"$work/train.$few"
for m in $methods; do
    for features in edge node source; do
        begun=$([ $features != source ] || echo .begun)
        # shellcheck disable=SC2046,SC2086
        train_once "few.$features.$m" "$work/$features.template" "$work/$([ $begun ] && echo few.begun || echo "train.$few")" \
            "$([ $begun ] && echo "$work/test.begun" || echo "$test")" --objective "$m" --decode global --c 1 $stop \
            $([ $features != source ] || echo --pairs all)
    done
done
for features in edge node; do
    # shellcheck disable=SC2086
    train_once "few.$features.calibrated" "$work/$features.template" "$work/train.$few" "$test" --objective piecewise \
        --calibrate --c 1 $stop
done
# shellcheck disable=SC2086
train_once few.source.calibrated "$work/source.template" "$work/few.begun" "$work/test.begun" --objective piecewise \
    --calibrate --pairs all --c 1 $stop
all=$(count "$train")
smaller=''
for n in $sizes; do
    [ "$n" -lt "$all" ] || continue
    smaller="$smaller $n"
    from_to 1 "$n" "$train" >"$work/train.$n"
    for m in piecewise likelihood; do
        # shellcheck disable=SC2086
        train_once "$m.$n" "$work/edge.template" "$work/train.$n" "$test" --objective $m --decode global --c 1 $stop
    done
done

# ---- other data: noun phrases; c = 1 --------------------------------------------------------
from_to 1 $few "$chunk_train" | np_only /dev/stdin >"$work/np.train"
np_only "$chunk_test" >"$work/np.test"
grep -v '^t$' "$templates/sha-pereira.template" >"$work/np.edge.template"
both_sides "$work/np.edge.template" >"$work/np.both.template"
for features in both edge; do
    for m in $methods; do
        # shellcheck disable=SC2086
        train_once "np.$features.$m" "$work/np.$features.template" "$work/np.train" "$work/np.test" --objective "$m" --decode global --c 1 $stop
    done
done

row() { # TITLE METHOD PAPER
    local e b
    e=$(prf "edge.$2") b=$(prf "both.$2")
    echo "| $1 | $3 | ${b// / | } | $(seconds "both.$2") | ${e// / | } | $(chosen_c "edge.$2") | $(seconds "edge.$2") |"
}
few_row() { # TITLE METHOD
    echo "| $1 | $(f1 "few.edge.$2") | $(f1 "few.node.$2") | $(f1 "few.source.$2") |"
}
np_row() { # TITLE METHOD
    local e b
    e=$(prf "np.edge.$2") b=$(prf "np.both.$2")
    echo "| $1 | ${b// / | } | ${e// / | } |"
}
size_row() { # SENTENCES PIECEWISE EXACT
    echo "$1 $(f1 "$2") $(f1 "$3")" | awk '{ printf "| %d | %.2f | %.2f | %+.2f |\n", $1, $2, $3, $2 - $3 }'
}
p_row() { # TITLE METHOD
    echo "| $1 | $(pvalue mcnemar both.piecewise "both.$2") | $(pvalue bootstrap both.piecewise "both.$2") | $(pvalue mcnemar edge.piecewise "edge.$2") | $(pvalue bootstrap edge.piecewise "edge.$2") |"
}
{
    cat <<END
# Piecewise training of a linear chain

Table 1 of Sutton & McCallum, *Piecewise training of undirected models* (UAI 2005): named entities. The paper
has CoNLL-2003 English (testa); here it is CoNLL-2002 Spanish, $(count "$train") sentences for training, $(count "$held") (the last
ones of the training file) for the choice of c, $(count "$test") (testa) for the test. All decode by Viterbi. "Edge"
features see both labels of an edge and the text around the second (\`experiments/templates/ner.template\`), "both sides" the
same text around the first as well: every line of the template once more, a token to the left; c = 1 with these, for all methods.

| training | paper F1 | both sides: precision | recall | F1 | processor seconds | edge: precision | recall | F1 | c | processor seconds, all c |
|---|---|---|---|---|---|---|---|---|---|---|
END
    row 'piecewise' piecewise 91.2
    row 'pseudolikelihood' pseudolikelihood 84.7
    row 'per-edge pseudolikelihood' pseudolikelihood-edge 89.7
    row 'exact likelihood' likelihood 89.9
    cat <<END

Is the difference from piecewise more than chance? (p-values; McNemar on sentences, bootstrap on F1)

| against piecewise | McNemar, both sides | bootstrap | McNemar, edge | bootstrap |
|---|---|---|---|---|
END
    p_row 'pseudolikelihood' pseudolikelihood
    p_row 'per-edge pseudolikelihood' pseudolikelihood-edge
    p_row 'exact likelihood' likelihood
    cat <<END

![held-out F1 against c](piecewise-c.svg)

Edge features: c from {$grid} by held-out F1. Every run from zero, SDCA until ten passes move the objective by less than 1e-4 of it.

## On what the order depends

F1 on the test data, $few sentences for training, c = 1. "Node" features see one label, pairs of labels come
without text. "Per source": every line of the template with pairs of labels
(81 weights for every attribute, seen or not), one classifier per source label as the papers describe them.
Calibrated: one multiplier per source label, by the likelihood.

| training | edge features | node features | per source |
|---|---|---|---|
END
    few_row piecewise piecewise
    few_row 'piecewise, calibrated' calibrated
    few_row pseudolikelihood pseudolikelihood
    few_row 'per-edge pseudolikelihood' pseudolikelihood-edge
    few_row 'exact likelihood' likelihood
    cat <<END

Edge features, c = 1 (the last line: c as chosen):

| sentences | piecewise | exact | difference |
|---|---|---|---|
END
    {
        for n in $smaller; do size_row "$n" "piecewise.$n" "likelihood.$n"; done
        [ $few -ge "$all" ] || size_row $few few.edge.piecewise few.edge.likelihood
        size_row "$(count "$train")" edge.piecewise edge.likelihood
    } | sort -k 2n
    cat <<END

Noun phrases of CoNLL-2000, $few sentences for training, c = 1, the features of Sha & Pereira without triples of labels:

| training | both sides: precision | recall | F1 | edge: precision | recall | F1 |
|---|---|---|---|---|---|---|
END
    np_row piecewise piecewise
    np_row pseudolikelihood pseudolikelihood
    np_row 'per-edge pseudolikelihood' pseudolikelihood-edge
    np_row 'exact likelihood' likelihood
    cat <<END

$(made_by)
END
} >"$work/page.md"
notes >>"$work/page.md"

for m in $methods; do
    awk -v m="$m" 'NR == 1 { if (m == "piecewise") print "method", $1, $3; next } $1 != "-" { print m, $1, $3 }' "$work/edge.$m.table"
done >"$work/c.table"
"$trellis" plot -k learning -x c -y score --log-x --marks both --title 'named entities, edge features' \
    -o "$out/piecewise-c.svg" "$work/c.table"
publish
