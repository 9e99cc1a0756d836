#!/bin/bash
# templates.sh -- the templates that are built in, default options: names, chunks and parts of speech. Names
# and parts of speech are tagged from words alone.
. "$(dirname "$0")/common.sh"

if [ -n "$sample" ]; then
    ner="$build/corpus/train.ner.txt $build/corpus/test.ner.txt" limit=5
    chunk="$build/corpus/train.chunk.txt $build/corpus/test.chunk.txt"
    pos="$build/corpus/train.pos.txt $build/corpus/test.pos.txt"
else
    ner="$data/ner-es/train.txt $data/ner-es/dev.txt" limit=
    chunk="$data/conll2000/train.txt $data/conll2000/test.txt"
    pos="$data/pos-ewt/train.txt $data/pos-ewt/dev.txt"
fi
need $ner $chunk $pos

seconds() { # COMMAND...: its processor seconds, in user mode
    local TIMEFORMAT=%U
    { time "$@" 2>/dev/null >"$work/out"; } 2>&1
}

row() { # TEMPLATE SCORE TRAIN TEST
    local train tag n score
    say "$1"
    [ -n "$keep" ] && [ -e "$work/$1.model" ] && train=- ||
        train=$(seconds "$trellis" train -q --threads 1 ${limit:+--max-iter $limit} -t "$top/templates/$1" -m "$work/$1.model" "$3")
    tag=$(seconds "$trellis" tag -m "$work/$1.model" --threads 1 "$4")
    n=$(awk 'NF { n++ } END { print n }' "$4")
    score=$("$trellis" score "$2" "$work/out" | sed -n 's/.*FB1: *\([0-9.]*\)$/F1 \1/p; s/^accuracy: *\([0-9.]*\)%  (.*/accuracy \1/p' | head -n 1)
    echo "| \`$1\` | $n | $score | $train | $tag | $(($(stat -c %s "$work/$1.model") / 1000000)) |"
}

{
    cat <<END
# Templates that are built in

\`-t ner\` on ner-es and \`-t pos\` on pos-ewt, from words alone, and \`-t chunk\` on CoNLL-2000, from words and tags: trained with default
options and one thread, tagged and scored on the held-out part. Seconds of the processor (user), of tagging with reading text and model.
What each line of the templates is worth: [templates-cv.md](templates-cv.md).

| template | tokens tagged | score | training, s | tagging, s | model, MB |
|---|---|---|---|---|---|
$(row ner chunks $ner)
$(row chunk chunks $chunk)
$(row pos tokens $pos)

$(made_by)
END
    notes
} >"$work/page.md"
publish
