#!/bin/bash
# log-z.sh -- how far log Z and marginals of belief propagation, tree-reweighted, mean field and the bound of piecewise training
# are from the exact ones, on the graphs of the factorial CRF of factorial.sh: all test sentences, models of its first subset.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/graphs.sh"

graph=$templates/factorial.graph
columns=1,7,9 size=223 stop='--optimizer lbfgs'
program=$build/bench/log_z
if [ -n "$sample" ]; then
    corpus=$(little "$build/corpus/train.chunk.txt") heldout=$(little "$build/corpus/test.chunk.txt")
    "$trellis" cluster -q -c 20 -f columns -o "$work/clusters" "$corpus"
    clusters=$work/clusters size=20 stop='--optimizer lbfgs --max-iter 10'
else
    corpus=$data/conll2000/train.txt heldout=$data/conll2000/test.txt clusters=$data/clusters/bllip-clusters.txt
fi
need "$corpus" "$heldout" "$clusters"
[ -x "$program" ] || { echo "no program at $program: run make experiment-log-z" >&2; exit 1; }
np_only "$corpus" | with_clusters /dev/stdin >"$work/all"
np_only "$heldout" | with_clusters /dev/stdin >"$work/test"
pick 1 $size "$work/all" >"$work/subset"
for m in piecewise likelihood; do
    # shellcheck disable=SC2086
    graph_fit "$m" "$graph" "$work/subset" "$work/test" --objective $m --c2 0.3162 $stop
    [ -e "$work/$m.table" ] || "$program" "$work/$m.model" "$work/test" >"$work/$m.table"
done

rows() { # METHOD
    awk 'BEGIN { title["exact"] = "exact"; title["bp"] = "belief propagation"; title["trw"] = "tree-reweighted"
            title["mf"] = "mean field"; title["piecewise"] = "piecewise bound" }
        { p = $1 == "piecewise" ? "–" : $5; worst = $1 == "piecewise" ? "–" : $6
          printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", title[$1], $2, $3, $4, $8, p, worst, $7, $9 }' "$work/$1.table"
}
{
    cat <<END
# How far from exact

The factorial CRF of [factorial](factorial.md), trained on its first subset of $size sentences with c2 = 0.3162, on the $(count "$work/test") test sentences: log Z less the exact one
(natural logarithms; junction tree), and half the sum of distances of the probabilities of a variable. Messages to a change of 1e-8, damping 0.5 for
tree-reweighted; milliseconds of the processor for a graph, its plan included.

END
    for m in piecewise likelihood; do
        cat <<END
Weights by $([ $m = piecewise ] && echo 'piecewise training' || echo 'the exact likelihood'):

| method | log Z: mean difference | mean distance | largest | graphs below exact | probabilities: mean distance | largest of one | not converged | ms |
|---|---|---|---|---|---|---|---|---|
END
        rows $m
        echo
    done
    made_by
} >"$work/page.md"
notes >>"$work/page.md"
publish
