#!/bin/bash
# piecewise.sh -- Table 1 of Sutton & McCallum, Piecewise training of undirected models (UAI 2005):
# named entities by a linear chain, trained piecewise, by pseudolikelihood, by per-edge
# pseudolikelihood, and exactly.  CoNLL-2002 Spanish stands in for CoNLL-2003 English.
. "$(dirname "$0")/common.sh"

methods='piecewise pseudolikelihood pseudolikelihood-edge likelihood'
grid=${GRID:-0.1,1,10}
stop='--delta 1e-4'
if [ -n "$sample" ]; then
    train=$(little "$build/corpus/train.ner.txt") held=$(little "$build/corpus/dev.ner.txt")
    test=$(little "$build/corpus/test.ner.txt")
    grid=1,10 stop='--max-iter 6'
else
    need "$data/ner-es/train.txt"
    train=$work/train held=$work/held test=$data/ner-es/dev.txt
    all=$(count "$data/ner-es/train.txt")
    from_to 1 $((${SIZE:-all} < all - 833 ? ${SIZE:-all} : all - 833)) "$data/ner-es/train.txt" >"$train"
    from_to $((all - 832)) "$all" "$data/ner-es/train.txt" >"$held"
fi
sed 's/^\*/u:/' "$templates/ner.template" >"$work/node.template"
cp "$templates/ner.template" "$work/edge.template"

for features in edge node; do
    for m in $methods; do
        # shellcheck disable=SC2086
        fit "$features.$m" "$work/$features.template" "$train" "$held" "$test" -- --objective "$m" $stop
    done
done

row() { # TITLE METHOD PAPER
    local e n
    e=$(prf "edge.$2") n=$(prf "node.$2")
    echo "| $1 | $3 | ${e// / | } | $(chosen_c "edge.$2") | ${n##* } | $(chosen_c "node.$2") | $(seconds "edge.$2") |"
}
p_row() { # TITLE METHOD
    echo "| $1 | $(pvalue mcnemar edge.piecewise "edge.$2") | $(pvalue bootstrap edge.piecewise "edge.$2") | $(pvalue mcnemar node.piecewise "node.$2") | $(pvalue bootstrap node.piecewise "node.$2") |"
}
{
    cat <<END
# Piecewise training of a linear chain

Table 1 of Sutton & McCallum, *Piecewise training of undirected models* (UAI 2005): named entities. The paper
has CoNLL-2003 English (testa); here it is CoNLL-2002 Spanish, $(count "$train") sentences for training, $(count "$held") (the last
ones of the training file) for the choice of c, $(count "$test") (testa) for the test. All decode by Viterbi. "Edge"
features see both labels of an edge and the text, as the paper's do; "node" features see one label, pairs of
labels come without text (\`experiments/templates/ner.template\`).

| training | paper F1 | precision | recall | F1 | c | F1, node features | c | processor seconds, all c |
|---|---|---|---|---|---|---|---|---|
END
    row 'piecewise' piecewise 91.2
    row 'pseudolikelihood' pseudolikelihood 84.7
    row 'per-edge pseudolikelihood' pseudolikelihood-edge 89.7
    row 'exact likelihood' likelihood 89.9
    cat <<END

Is the difference from piecewise more than chance? (p-values; McNemar on sentences, bootstrap on F1)

| against piecewise | McNemar, edge | bootstrap, edge | McNemar, node | bootstrap, node |
|---|---|---|---|---|
END
    p_row 'pseudolikelihood' pseudolikelihood
    p_row 'per-edge pseudolikelihood' pseudolikelihood-edge
    p_row 'exact likelihood' likelihood
    cat <<END

![held-out F1 against c](piecewise-c.svg)

c from {$grid} by held-out F1, runs warm-started from strong to weak penalties, L-BFGS until ten iterations
gain less than 1e-4 of the objective.
$(made_by)
END
} >"$work/page.md"
notes >>"$work/page.md"

for m in $methods; do
    awk -v m="$m" 'NR == 1 { if (m == "piecewise") print "method", $1, $3; next } $1 != "-" { print m, $1, $3 }' "$work/edge.$m.table"
done >"$work/c.table"
"$trellis" plot -k learning -x c -y score --log-x --marks both --title 'named entities, edge features' \
    -o "$out/piecewise-c.svg" "$work/c.table"
mv "$work/page.md" "$out/piecewise.md"
cat "$out/piecewise.md"
