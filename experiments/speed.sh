#!/bin/bash
# speed.sh -- time of a pass over the training data, per objective, beside the CRF's: parts of speech
# with 45 tags (forward-backward is quadratic in them, local objectives are not); and the time to
# convergence of M-estimation beside the CRF's on noun phrases.
. "$(dirname "$0")/common.sh"

few=2 many=32 many_node=102 rounds=5
if [ -n "$sample" ]; then
    few=1 many=3 many_node=3 rounds=1
    pos=$(little "$build/corpus/train.pos.txt") np=$(little "$build/corpus/train.chunk.txt")
    awk 'NF { print $1, $NF, "O"; next } { print "" }' "$pos" >"$work/columns"
else
    need "$data/treebanks/wsj-sample-train.mrg" "$data/conll2000/train.txt"
    pos=$work/pos np=$work/np
    "$trellis" columns --no-chunks "$data/treebanks/wsj-sample-train.mrg" >"$work/pos.all"
    from_to 1 1154 "$work/pos.all" >"$pos"
    awk 'NF { print $1, $2, $3 ~ /-NP$/ ? $3 : "O"; next } { print "" }' "$data/conll2000/train.txt" >"$np"
    cp "$data/conll2000/train.txt" "$work/columns"
fi
awk -f "$top/bench/items.awk" -v set=pos "$work/columns" >"$work/items"
sed 's/^\*/u:/' "$templates/pos.template" >"$work/node.template"
cp "$templates/pos.template" "$work/edge.template"

processor() { # COMMAND...: its processor seconds
    local TIMEFORMAT='%U %S'
    { time "$@" 2>/dev/null; } 2>&1 | awk 'END { print $1 + $2 }'
}

# pass FEATURES NAME OPTION...: milliseconds of the processor for one iteration, one thread: the
# difference of two runs, one of $few iterations, one of $many; one more line of NAME's file, unless it has
# $want already.
pass() {
    local features=$1 n=$2 a b
    shift 2
    [ "$(cat "$work/$features.$n.all" 2>/dev/null | wc -l)" -lt "$want" ] || return 0
    [ "$features" != node ] || local many=$many_node
    say "$features.$n"
    a=$(train_for $few "$features" "$@")
    b=$(train_for $many "$features" "$@")
    awk -v a="$a" -v b="$b" -v n=$((many - few)) 'BEGIN { printf "%.2f\n", 1000 * (b - a) / n }' >>"$work/$features.$n.all"
    sort -n "$work/$features.$n.all" |
        awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }' >"$work/$features.$n.ms"
}
# parts FEATURES NAME OPTION...: the same milliseconds cut in three by a sampling profiler (perf, when
# there is one and it may): gather and scatter of features, the objective, vectors of the optimiser.
parts() {
    local features=$1 n=$2 k
    shift 2
    [ ! -e "$work/$features.$n.parts" ] || return 0
    for k in $few $many; do
        perf record -q -F 4000 -e cpu-clock -o "$work/perf.data" "$trellis" train -q -j 1 \
            --c 1 --epsilon 0 --period 0 --max-iter "$k" -m "$work/model" "$@" $(input "$features") >/dev/null 2>&1 &&
            perf report -i "$work/perf.data" --stdio -q --no-children -F sample,symbol >"$work/perf.$k" 2>/dev/null ||
            return 0
    done
    awk -v n=$((many - few)) 'FNR == 1 { file++ } !NF { next }
        { part = $0 ~ /gather|scatter|implied|token_groups/ ? 1 : $0 ~ /trl_(bf16_|dot|step_to|negate|sum_vec|sum_float|add2|add_to|make_pair|narrow|scale_to|lbfgs|history)|_piece|step_run/ ? 3 : 2
          ms[part] += (file == 1 ? -0.25 : 0.25) * $1 / n }
        END { printf "%.1f %.1f %.1f\n", ms[1], ms[2], ms[3] }' "$work/perf.$few" "$work/perf.$many" >"$work/$features.$n.parts"
}
input() { # FEATURES: template and file
    [ "$1" = items ] && echo "$work/items" || echo "-t $work/$1.template $pos"
}
train_for() { # ITERATIONS FEATURES OPTION...
    local k=$1 features=$2
    shift 2
    processor "$trellis" train -q -j 1 --c 1 --epsilon 0 --period 0 --max-iter "$k" -m "$work/model" "$@" \
        $(input "$features")
}
marginal=marginal:0.2@$([ -z "$sample" ] && echo 20 || echo 2)
fast() { # FEATURES: what is compared, in single precision
    pass "$1" likelihood --objective likelihood --precision single
    pass "$1" memm --objective memm --precision single
    pass "$1" nota-marginal --objective piecewise-nota --nota $marginal --precision single
}
others() { # FEATURES
    local m
    pass "$1" likelihood-double --objective likelihood --precision double
    pass "$1" memm-double --objective memm --precision double
    pass "$1" pseudolikelihood --objective pseudolikelihood --precision single
    for m in pseudolikelihood-edge piecewise; do pass "$1" "$m" --objective "$m" --decode global; done
    pass "$1" nota-all --objective piecewise-nota --nota all
}
want=$rounds
for ((round = 0; round < rounds; round++)); do
    fast node
    pass node pseudolikelihood --objective pseudolikelihood --precision single
done
for ((round = 0; round < rounds; round++)); do fast items; done
want=1
others node
fast edge
others edge
for features in node items edge; do
    parts $features likelihood --objective likelihood --precision single
    parts $features memm --objective memm --precision single
    [ $features = items ] || # the choice of instances is much longer there than what is measured
        parts $features nota-marginal --objective piecewise-nota --nota $marginal --precision single
done

# converged NAME OPTION...: processor seconds of the optimisation, one thread, one iteration, reading
# and compiling left out; and its iterations.
converged() {
    local n=$1 a b
    shift
    [ ! -e "$work/$n.conv" ] || return 0
    say "$n"
    a=$(processor "$trellis" train -q -j 1 -t "$templates/sha-pereira.template" --c 1 -m "$work/model" "$@" --max-iter 1 "$np")
    b=$(processor "$trellis" train -q -j 1 -t "$templates/sha-pereira.template" --c 1 -m "$work/model" \
        --json "$work/runs/$n.json" "$@" ${sample:+--max-iter 5} "$np")
    awk -v a="$a" -v b="$b" -v n="$(field "$work/runs/$n.json" iterations)" 'BEGIN { printf "%.2f %d\n", b - a, n }' >"$work/$n.conv"
}
converged np.likelihood --objective likelihood
mest() { processor "$trellis" train -q -j 1 -t "$templates/sha-pereira.template" --c 1 --objective m-estimation --max-iter 1 -m "$work/model" "$@" "$np"; }
if [ ! -e "$work/eq0" ]; then
    rm -f "$work/q0"
    first=$(mest --q0-cache "$work/q0") again=$(mest --q0-cache "$work/q0")
    awk -v a="$first" -v b="$again" 'BEGIN { printf "%.2f", a - b }' >"$work/eq0"
fi
converged np.m-estimation --objective m-estimation --q0-cache "$work/q0"

row() { # TITLE NAME
    awk -v t="$1" -v f="$(cat "$work/node.$2.ms")" -v F="$(cat "$work/node.likelihood.ms")" \
        -v g="$(cat "$work/edge.$2.ms")" -v G="$(cat "$work/edge.likelihood.ms")" \
        'function r(x, y) { return y > 0 ? sprintf("%.2f", x / y) : "?" }
         BEGIN { printf "| %s | %.1f | %s | %.1f | %s |\n", t, f, r(f, F), g, r(g, G) }'
}
tags=$(awk 'NF { print $NF }' "$pos" | sort -u | wc -l)
items_row() { # TITLE NAME
    awk -v t="$1" -v f="$(cat "$work/items.$2.ms")" -v F="$(cat "$work/items.likelihood.ms")" \
        'BEGIN { printf("| %s | %.1f | %s |\n", t, f, (F > 0) ? sprintf("%.2f", f / F) : "?") }'
}
parts_row() { # TITLE NAME: of $features
    local f
    f=$(cat "$work/$features.$2.parts" 2>/dev/null || echo - - -)
    echo "| $1 | $features | ${f// / | } |"
}
{
    cat <<END
# Time of a pass

Parts of speech, $(count "$pos") sentences, $(awk 'NF' "$pos" | wc -l) tokens, $tags tags, one thread: milliseconds of the
processor for one L-BFGS iteration (value, gradient and update; the mean of $((many - few)) iterations, with node features $((many_node - few)); CRF, MEMM, CRF-PT by marginals
and pseudolikelihood with node features, and the second table: medians of $rounds such means, taken in turns; all others once, and good to a third at best), and its ratio to the CRF's. Single precision where nothing else is said and there is one
(CRF of order 1, MEMM, CRF-PT by marginals, pseudolikelihood). "Node" features
see a label and the text; "edge" features also pairs of labels and the text (\`experiments/templates/pos.template\`), which is
the papers' form: their features are functions of both labels and the text, and the CRF has a table of $tags x $tags scores to
fill, and to go through, for every token. With node features pairs of labels have one table for all tokens: what is left of the CRF
is products of a matrix and a vector.

| objective | node features, ms | ratio | edge features, ms | ratio |
|---|---|---|---|---|
END
    row 'CRF' likelihood
    row 'CRF, in double precision' likelihood-double
    row 'MEMM' memm
    row 'MEMM, in double precision' memm-double
    row 'CRF-PT, by marginals' nota-marginal
    row 'CRF-PT, all' nota-all
    row 'pseudolikelihood' pseudolikelihood
    row 'per-edge pseudolikelihood' pseudolikelihood-edge
    row 'piecewise' piecewise
    cat <<END

The same for CoNLL-2000's parts of speech, $(count "$work/items") sentences, $(awk 'NF' "$work/items" | wc -l) tokens, with the attributes of \`bench/items.awk\` (words
and pairs of words around, affixes, shape): more than ten times as many weights, which do not fit into the caches any more.

| objective | ms | ratio |
|---|---|---|
END
    items_row 'CRF' likelihood
    items_row 'MEMM' memm
    items_row 'CRF-PT, by marginals' nota-marginal
    cat <<END

Where it goes, in milliseconds an iteration, by samples of the processor's clock (\`perf\`; - where there is none): scores gathered
and gradients scattered; the objective itself, inference included; the vectors of L-BFGS. MEMM and CRF-PT with node
features take tokens with the same word side by side ([objectives](../objectives.md)), and gather and scatter what these
have in common once.

| objective | features | gather, scatter | objective | L-BFGS |
|---|---|---|---|---|
END
    for features in node items edge; do
        parts_row 'CRF' likelihood
        parts_row 'MEMM' memm
        [ $features = items ] || parts_row 'CRF-PT, by marginals' nota-marginal
    done
    read -r crf n <"$work/np.likelihood.conv"
    read -r mest k <"$work/np.m-estimation.conv"
    cat <<END

Noun phrases, extended features, order 2, $(count "$np") sentences, c = 1, one thread, processor seconds, reading and compiling left out:
the CRF converges in $crf s ($n iterations), M-estimation in $mest s ($k iterations) once the expectations are
cached: a factor of $(awk -v a="$crf" -v b="$mest" 'BEGIN { if (b > 0) printf "%.0f", a / b; else printf "?" }'). The expectations take $(cat "$work/eq0") s, once.

$(made_by)
END
    notes
} >"$work/page.md"
publish
