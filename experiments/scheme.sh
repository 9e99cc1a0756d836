#!/bin/bash
# scheme.sh -- F1 and ill-formed labels with and without a tag scheme at tagging time, for best labellings and
# for labels by their marginals: names (CoNLL-2002 Spanish) and chunks (CoNLL-2000).
. "$(dirname "$0")/common.sh"

iterations=40
if [ -n "$sample" ]; then
    sets="names:$build/corpus/train.ner.txt:$build/corpus/test.ner.txt chunks:$build/corpus/train.chunk.txt:$build/corpus/test.chunk.txt"
    iterations=10
else
    need "$data/ner-es/train.txt" "$data/conll2000/train.txt"
    sets="names:$data/ner-es/train.txt:$data/ner-es/dev.txt chunks:$data/conll2000/train.txt:$data/conll2000/test.txt"
fi

# FILE: sequences that are not well-formed.
ill_formed() {
    "$trellis" convert --from columns --to columns --validate iob2 "$1" 2>&1 >/dev/null |
        sed -n 's|^trellis: \([0-9]*\) sequence.* iob2$|\1|p' | tail -n 1 || true
}

mkdir -p "$work" "$out"
page=$out/scheme.md
{
    echo '# Tag schemes at tagging time'
    echo
    echo "Made by \`experiments/scheme.sh\`: L-BFGS, $iterations iterations, c2 = 1. A sequence is ill-formed when a label does not follow the one"
    echo 'before it in iob2, or may not start it; F1 is conlleval'"'"'s, which counts ill-formed chunks, too.'
    echo
    echo '| data | objective | labels | F1 | ill-formed | F1, `--scheme iob2` | ill-formed |'
    echo '|---|---|---|---:|---:|---:|---:|'
} >"$page"
for set in $sets; do
    IFS=: read -r kind train test <<<"$set"
    template=$templates/ner.template
    [ "$kind" = chunks ] && template=$top/bench/chunk.template
    for objective in likelihood memm; do
        model=$work/$kind.$objective.model
        [ -n "$keep" ] && [ -e "$model" ] ||
            "$trellis" train -q -t "$template" -m "$model" --objective "$objective" --optimizer lbfgs --max-iter $iterations "$train"
        for how in best posterior; do
            row="| $kind | $objective | $how"
            for scheme in none iob2; do
                tagged=$work/$kind.$objective.$how.$scheme
                "$trellis" tag -m "$model" $([ $how = best ] || echo --posterior) --scheme $scheme "$test" >"$tagged"
                f1=$("$trellis" score chunks "$tagged" | sed -n 's/.*FB1: *//p' | head -n 1)
                bad=$(ill_formed "$tagged")
                row="$row | $f1 | ${bad:-0}"
            done
            echo "$row |" >>"$page"
        done
    done
done
cat "$page"
