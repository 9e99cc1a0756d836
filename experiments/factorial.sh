#!/bin/bash
# factorial.sh -- Table 2 of Sutton & McCallum, Piecewise training of undirected models (UAI 2005): tags and noun
# phrases at once by a factorial CRF, trained on five random subsets of 223 sentences of CoNLL-2000; then on all of them.
#
# FULL=no leaves out the run on all sentences, GRID='0.1 1' sets other values of c2, SUBSETS=2 fewer subsets,
# METHODS='piecewise bethe' fewer ways to train.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/graphs.sh"

methods=${METHODS:-piecewise pseudolikelihood pseudolikelihood-edge bethe likelihood trw piecewise-pseudolikelihood}
grid=${GRID:-0.1 0.3162 1}
subsets=${SUBSETS:-5} tuned=2 size=223 held=45 full=${FULL:-yes}
columns=1,7,9 # word, noun phrase, predicted
stop='--optimizer lbfgs'
if [ -n "$sample" ]; then
    corpus=$(little "$build/corpus/train.chunk.txt") heldout=$(little "$build/corpus/test.chunk.txt")
    "$trellis" cluster -q -c 20 -f columns -o "$work/clusters" "$corpus"
    clusters=$work/clusters
    grid=${GRID:-0.3162 1} subsets=2 tuned=1 size=20 held=5 stop='--optimizer lbfgs --max-iter 3'
else
    corpus=$data/conll2000/train.txt heldout=$data/conll2000/test.txt clusters=$data/clusters/bllip-clusters.txt
fi
need "$corpus" "$heldout" "$clusters"
graph=$templates/factorial.graph

np_only "$corpus" | with_clusters /dev/stdin >"$work/all"
np_only "$heldout" | with_clusters /dev/stdin >"$work/test"
cut -d' ' -f1,7 "$work/test" >"$work/gold"
test=$work/gold
for k in $(seq "$subsets"); do
    pick "$k" $size "$work/all" >"$work/subset.$k"
    from_to 1 $((size - held)) "$work/subset.$k" >"$work/part.$k"
    from_to $((size - held + 1)) $size "$work/subset.$k" >"$work/held.$k"
done

title() { # METHOD
    case $1 in
    pseudolikelihood-edge) echo 'per-edge pseudolikelihood' ;;
    bethe) echo 'belief propagation' ;;
    likelihood) echo 'exact likelihood' ;;
    trw) echo 'tree-reweighted' ;;
    *) echo "${1//-/ }" ;;
    esac
}
paper() { # METHOD: its F1 in the paper
    case $1 in piecewise) echo 88.1 ;; pseudolikelihood) echo 84.9 ;; pseudolikelihood-edge) echo 86.5 ;; bethe) echo 86.0 ;; *) echo – ;; esac
}

# ---- fits: c2 by the mean F1 on the held-out part of the first subsets, then every whole subset ---
held_mean() { for k in $(seq $tuned); do f1 "held.$1.$2.$k"; done | mean; } # METHOD C2
choose() { # METHOD
    for c in $grid; do echo "$c $(held_mean "$1" "$c")"; done | sort -k2,2gr -s | head -n 1 >"$work/$1.c2"
}
fit_held() { # METHOD/C2/SUBSET
    local m c k
    IFS=/ read -r m c k <<<"$1"
    # shellcheck disable=SC2086
    graph_fit "held.$m.$c.$k" "$graph" "$work/part.$k" "$work/held.$k" --objective "$m" --c2 "$c" $stop
}
fit_subset() { # [OTHER]/METHOD/SUBSET, with the model file OTHER.graph of the work folder
    local other m k c
    IFS=/ read -r other m k <<<"$1"
    read -r c _ <"$work/$m.c2"
    # shellcheck disable=SC2086
    graph_fit "${other:+$other.}$m.$k" "$([ -z "$other" ] && echo "$graph" || echo "$work/$other.graph")" "$work/subset.$k" "$work/test" \
        --objective "$m" --c2 "$c" $stop
}
# shellcheck disable=SC2046
side_by_side fit_held $(for m in $methods; do for k in $(seq $tuned); do for c in $grid; do echo "$m/$c/$k"; done; done; done)
for m in $methods; do choose "$m"; done
# shellcheck disable=SC2046
side_by_side fit_subset $(for m in $methods; do for k in $(seq "$subsets"); do echo "/$m/$k"; done; done)

# ---- what the order depends on: other factors, other text; c2 as chosen ----------------------------
# node: words score single labels, edges have no text.  words: no clusters.
sed '/^factor/d' "$graph" >"$work/node.graph"
printf '%s\n' 'factor tag[i] features token' 'factor np[i] features token' 'factor tag[i-1] tag[i]' 'factor np[i-1] np[i]' \
    'factor tag[i] np[i]' >>"$work/node.graph"
sed '/%x\[.*,[1-4]\]/d' "$graph" >"$work/words.graph"
few=$(among piecewise pseudolikelihood pseudolikelihood-edge likelihood)
# shellcheck disable=SC2046
side_by_side fit_subset $(for m in $few; do for g in node words; do for k in $(seq "$subsets"); do echo "$g/$m/$k"; done; done; done)

# ---- all sentences: belief propagation from the piecewise weights, the exact likelihood from its own ---
whole=$(among piecewise bethe likelihood)
if [ "$full" = yes ]; then
    for m in $whole; do
        read -r c _ <"$work/$m.c2"
        case $m in
        piecewise) start='--optimizer auto' ;;
        bethe) start="--memory 20 --init $work/all.piecewise.model --keep-messages" ;;
        likelihood) start="--memory 20 --init $work/all.$(among bethe | grep . || echo piecewise).model" ;;
        *) start= ;;
        esac
        # shellcheck disable=SC2086
        graph_fit "all.$m" "$graph" "$work/all" "$work/test" --objective "$m" --c2 "$c" $stop $start
    done
fi

# ---- the page --------------------------------------------------------------------------------------
scores() { for k in $(seq "$subsets"); do f1 "$1.$k"; done; } # NAME: F1, a line a subset
against() { # METHOD METHOD
    case " $methods " in *" $1 "*) paste -d' ' <(scores "$1") <(scores "$2") | paired_t ;; *) echo – ;; esac
}
spent() { for k in $(seq "$subsets"); do seconds "$1.$k"; echo; done | mean 1; } # processor seconds of a subset
iterations() { for k in $(seq "$subsets"); do field "$work/runs/$1.$k.json" iterations; done | mean 0; }
row() { # METHOD
    echo "| $(title "$1") | $(paper "$1") | $(scores "$1" | mean) | $(scores "$1" | deviation) | $(against piecewise "$1") | $(against bethe "$1") | $(cut -d' ' -f1 "$work/$1.c2") | $(iterations "$1") | $(spent "$1") |"
}
other() { # METHOD
    echo "| $(title "$1") | $(scores "$1" | mean) | $(scores "words.$1" | mean) | $(scores "node.$1" | mean) |"
}
ending() { sed -n 's/.*"ending":"\([^"]*\)".*/\1/p' "$work/runs/$1.json" | tail -n 1; }
whole_row() { # METHOD
    echo "| $(title "$1") | $(f1 "all.$1") | $(pvalue mcnemar all.piecewise "all.$1") | $(pvalue bootstrap all.piecewise "all.$1") | $(field "$work/runs/all.$1.json" iterations) | $(seconds "all.$1") | $(wall "all.$1") | $(ending "all.$1") |"
}
{
    cat <<END
# Training a factorial CRF

Table 2 of Sutton & McCallum, *Piecewise training of undirected models* (UAI 2005): tags and noun phrases of CoNLL-2000 at once,
$subsets random subsets of $size sentences, F1 of noun phrases on the $(count "$work/test") test sentences. The model is
\`experiments/templates/factorial.graph\`: edges along the tags, along the noun phrases and between the two at every word; each sees the text of both its ends (words,
endings, shapes, and Brown clusters of the words in place of the paper's lexicons and Brill tags); there are no factors of one label. c2
from {$grid} by the mean F1 on the last $held sentences of the first $tuned subsets, trained on their others; then all $size. Every run from
zero, L-BFGS with its usual rule to stop; labels by max-product or exactly.

| training | paper F1 | F1 | deviation | p against piecewise | p against BP | c2 | iterations | processor seconds |
|---|---|---|---|---|---|---|---|---|
END
    for m in $methods; do row "$m"; done
    cat <<END

Means over the subsets; deviation: of the $subsets values; p: paired t-test over the subsets; seconds of the processor: one subset.

## On what the order depends

The same subsets and c2. "Words": without clusters. "Labels": the text scores single labels, edges have none (with clusters).

| training | F1 | words | labels |
|---|---|---|---|
END
    for m in $few; do other "$m"; done
    if [ "$full" = yes ]; then
        cat <<END

## All $(count "$work/all") sentences

c2 as above; piecewise training by \`--optimizer auto\`, the others by L-BFGS with 20 pairs of vectors and its usual rule to stop; belief propagation starts from the piecewise weights and keeps its messages, the exact likelihood starts from its weights (seconds are without those of the start). p against piecewise.

| training | F1 | McNemar | bootstrap | iterations | processor seconds | seconds on the wall | ended |
|---|---|---|---|---|---|---|---|
END
        for m in $whole; do whole_row "$m"; done
    fi
    cat <<END

$(made_by)
END
} >"$work/page.md"
notes >>"$work/page.md"
publish
