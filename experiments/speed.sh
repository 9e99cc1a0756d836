#!/bin/bash
# speed.sh -- time of a pass over the training data, per objective, beside the CRF's: parts of speech
# with 45 tags (forward-backward is quadratic in them, local objectives are not); and the time to
# convergence of M-estimation beside the CRF's on noun phrases.
. "$(dirname "$0")/common.sh"

passes=24 after=12
if [ -n "$sample" ]; then
    passes=6 after=3
    pos=$(little "$build/corpus/train.pos.txt") np=$(little "$build/corpus/train.chunk.txt")
else
    need "$data/treebanks/wsj-sample-train.mrg" "$data/conll2000/train.txt"
    pos=$work/pos np=$work/np
    "$trellis" columns --no-chunks "$data/treebanks/wsj-sample-train.mrg" >"$work/pos.all"
    from_to 1 1154 "$work/pos.all" >"$pos"
    awk 'NF { print $1, $2, $3 ~ /-NP$/ ? $3 : "O"; next } { print "" }' "$data/conll2000/train.txt" >"$np"
fi
sed 's/^\*/u:/' "$templates/pos.template" >"$work/node.template"
cp "$templates/pos.template" "$work/edge.template"

# pass FEATURES NAME OPTION...: milliseconds of the fastest of the later iterations, one thread.
# The fastest, because other work on the machine only ever makes one slower.
pass() {
    local features=$1 n=$2
    shift 2
    say "$features.$n"
    "$trellis" train -q -j 1 -t "$work/$features.template" --c 1 --epsilon 0 --period 0 --max-iter $passes \
        --json "$work/runs/$features.$n.json" -m "$work/model" "$@" "$pos"
    sed -n 's/.*{"iteration":[0-9]*,"seconds":\([^,]*\),.*/\1/p' "$work/runs/$features.$n.json" |
        tail -n $after | awk 'NR > 1 { d = $1 - last; if (best == "" || (d > 0 && d < best)) best = d } { last = $1 }
            END { printf "%.2f\n", 1000 * best }' >"$work/$features.$n.ms"
}
marginal=marginal:0.2@$((passes / 4))
for features in node edge; do
    pass $features likelihood --objective likelihood
    pass $features likelihood-double --objective likelihood --precision double
    for m in memm pseudolikelihood pseudolikelihood-edge piecewise; do pass $features "$m" --objective "$m"; done
    pass $features nota-all --objective piecewise-nota --nota all
    pass $features nota-marginal --objective piecewise-nota --nota $marginal
done

# converged NAME OPTION...: seconds of optimisation, reading and compiling left out.
converged() {
    local n=$1
    shift
    say "$n"
    "$trellis" train -t "$templates/sha-pereira.template" --c 1 -m "$work/model" "$@" "$np" 2>"$work/$n.log"
    awk '$1 == "compiled" { from = $(NF - 1) } /^iteration/ { n = $2; for (i = 1; i < NF; i++) if ($i == "time") to = $(i + 1) }
        /^expectations/ { sub(/.*: /, ""); e = $1 " " $2 } /^time/ { total = $2 + ($3 == "min" ? 59 * $2 + $4 : 0) }
        END { printf "%.2f %d %s\n", total - from, n, e == "" ? "-" : e }' "$work/$n.log" >"$work/$n.conv"
}
converged np.likelihood --objective likelihood ${sample:+--max-iter 5}
rm -f "$work/q0"
converged np.first --objective m-estimation --q0-cache "$work/q0"
converged np.m-estimation --objective m-estimation --q0-cache "$work/q0"

row() { # TITLE NAME
    awk -v t="$1" -v f="$(cat "$work/node.$2.ms")" -v F="$(cat "$work/node.likelihood.ms")" \
        -v g="$(cat "$work/edge.$2.ms")" -v G="$(cat "$work/edge.likelihood.ms")" \
        'BEGIN { printf "| %s | %.1f | %.2f | %.1f | %.2f |\n", t, f, f / F, g, g / G }'
}
{
    cat <<END
# Time of a pass

Parts of speech, $(count "$pos") sentences, $(awk 'NF' "$pos" | wc -l) tokens, $(awk 'NF { print $NF }' "$pos" | sort -u | wc -l) tags, one thread: milliseconds of the
fastest L-BFGS iteration among the last $after of $passes (value, gradient and update), and its ratio to the CRF's. "Node" features
see a label and the text; "edge" features also pairs of labels and the text (\`experiments/templates/pos.template\`).

| objective | node features, ms | ratio | edge features, ms | ratio |
|---|---|---|---|---|
END
    row 'CRF' likelihood
    row 'CRF, in double precision' likelihood-double
    row 'MEMM' memm
    row 'CRF-PT, by marginals' nota-marginal
    row 'CRF-PT, all' nota-all
    row 'pseudolikelihood' pseudolikelihood
    row 'per-edge pseudolikelihood' pseudolikelihood-edge
    row 'piecewise' piecewise
    read -r crf n _ <"$work/np.likelihood.conv"
    read -r mest k _ <"$work/np.m-estimation.conv"
    read -r _ _ eq0 <"$work/np.first.conv"
    cat <<END

Noun phrases, extended features, order 2, $(count "$np") sentences, c = 1, all threads, reading and compiling left out: the CRF
converges in $crf s ($n iterations), M-estimation in $mest s ($k iterations) once the expectations are cached, which is $(awk -v a="$crf" -v b="$mest" 'BEGIN { printf "%.0f", a / b }')
times as fast. The expectations take $eq0, once.

$(made_by)
END
    notes
} >"$work/page.md"
mv "$work/page.md" "$out/speed.md"
cat "$out/speed.md"
