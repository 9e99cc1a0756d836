#!/bin/bash
# defaults.sh -- every structure with every objective it has, nothing but --objective (and --grade) given: held-out score
# and processor seconds.  Chains and graphs: chunks (CoNLL-2000), names (CoNLL-2002 Spanish), universal tags (EWT).
# Trees: the WSJ sample, at most 15 words.
. "$(dirname "$0")/common.sh"
usual_lengths=15
CORPORA=wsj-sample
. "$top/experiments/trees.sh"
size=${SIZE:-2000} # training sentences; SIZE=99999: all, which takes some processor hours
graph_size=${GRAPH_SIZE:-300}

# prepare NAME: NAME.train and NAME.held in the work folder, the label last.
prepare() {
    local train held
    case $1 in
    sample) train=$(little "$build/corpus/train.chunk.txt") held=$(little "$build/corpus/dev.chunk.txt") ;;
    chunks) # it has no development data: the end of the training data
        train=$work/chunks.first held=$work/chunks.last
        from_to 1 8000 "$data/conll2000/train.txt" >"$train"
        from_to 8001 8936 "$data/conll2000/train.txt" >"$held" ;;
    names) train=$data/ner-es/train.txt held=$data/ner-es/dev.txt ;;
    tags)
        train=$work/tags.words held=$work/tags.held.words
        awk 'NF { print $1, $2; next } { print "" }' "$data/pos-ewt/train.txt" >"$train"
        awk 'NF { print $1, $2; next } { print "" }' "$data/pos-ewt/dev.txt" >"$held" ;;
    esac
    from_to 1 "$size" "$train" >"$work/$1.train"
    cp "$held" "$work/$1.held"
    from_to 1 "$graph_size" "$train" >"$work/$1.some"
}

# A chain as a graph: one factor of the text for every label, one for every pair of neighbours, as pieces need it.
graph_of() { # NAME
    local last
    last=$(awk 'NF { print NF - 1; exit }' "$work/$1.train")
    echo "labels y column $last"
    echo "template token"
    awk -v n="$last" 'BEGIN {
        for (c = 0; c < n; c++) for (k = -2; k <= 2; k++) printf "  U%d%d:%%x[%d,%d]\n", c, k + 2, k, c
        for (k = 1; k <= 3; k++) printf "  US%d:%%m[0,0,\"%s$\"]\n", k, substr("...", 1, k)
        print "  UT:%t[0,0,\"^\\u\"]%t[0,0,\"\\d\"]%t[0,0,\"-\"]" }'
    printf 'factor y[i] features token\nfactor y[i-1] y[i] features token\n'
}

# Objectives of a structure, as the program lists them.
objectives() { # chains, trees or graphs
    "$trellis" train --objective help | sed -n "s/^  \([a-z-]*\).* *(.*$1.*)\$/\1/p"
}

score_of() { # NAME: F1 of chunks, or accuracy where labels are no chunks
    local f
    case $1 in *.tags.*) accuracy "$1" ;; *) f=$(f1 "$1"); echo "${f:-0.00}" ;; esac
}

# one NAME TRAIN HELD [OPTION]...: trains, tags; warnings stay in NAME.log.
one() {
    local n=$1 train=$2 held=$3 TIMEFORMAT='%R %U %S'
    shift 3
    [ ! -e "$work/$n.out" ] || return 0
    say "$n"
    { time "$trellis" train -j 1 -m "$work/$n.model" "$@" "$train" 2>"$work/$n.log"; } 2>"$work/$n.time" || return 0
    "$trellis" tag -m "$work/$n.model" "$held" >"$work/$n.tmp" 2>>"$work/$n.log"
    mv "$work/$n.tmp" "$work/$n.out"
}

cell() { # NAME: score, seconds; a mark where it warned
    local warned=
    grep -q '^trellis: warning' "$work/$1.log" && warned=' (w)'
    [ -e "$work/$1.out" ] && echo "$(score_of "$1"), $(seconds "$1")$warned" || echo 'refused'
}

rows() { # STRUCTURE EXTENSION [OPTION]...: a row for every objective
    local kind=$1 ext=$2 objective set row n
    shift 2
    for objective in $(objectives "$kind"); do
        row="| \`$objective\` |"
        for set in $sets; do
            n=$kind.$set.$objective
            if [ "$kind" = graphs ]; then
                graph_of "$set" >"$work/$set.graph"
                one "$n" "$work/$set.$ext" "$work/$set.held" --kind graph -t "$work/$set.graph" --objective "$objective"
            else
                one "$n" "$work/$set.$ext" "$work/$set.held" --objective "$objective"
            fi
            row="$row $(cell "$n") |"
        done
        echo "$row"
    done
}

tree_rows() { # CORPUS N, by each_bank
    local grade objective n warned
    for grade in generative discriminative features boosted; do
        for objective in $(case $grade in discriminative | features) objectives trees ;; *) echo - ;; esac); do
            n=tree.$1.$2.$grade.$objective
            tree_fit "$n" --grade "$grade" $([ "$objective" = - ] || echo --objective "$objective") $limit
            warned=$(grep -q '^trellis: warning' "$work/$n.log" && echo ' (w)' || true)
            echo "| \`--grade $grade\`$([ "$objective" = - ] || echo ", \`$objective\`") | $(tree_f1 "$n"), $(seconds "$n")$warned |"
        done
    done
}

sets='chunks names tags'
if [ -n "$sample" ]; then
    sets=sample
else
    need "$data/conll2000/train.txt" "$data/ner-es/train.txt" "$data/pos-ewt/train.txt"
fi
for set in $sets; do prepare "$set"; done
{
    echo '# Every structure and objective at its defaults'
    echo
    made_by
    echo
    echo "The first $size training sentences."
    echo 'Nothing is given but `--objective` (and `--kind`, `--grade`): the built-in template, the default penalty, optimiser and decoding, one thread.'
    echo 'Held-out score, then processor seconds of the training. Chunks: CoNLL-2000, F1 on the last 936 training sentences; names: CoNLL-2002'
    echo 'Spanish, F1 on its development data; tags: universal tags of EWT, accuracy on its development data. (w): `train` or `tag` warned.'
    echo
    echo '## Chains'
    echo
    echo "| objective | $(echo "$sets" | sed 's/ / | /g') |"
    echo "|---|$(for set in $sets; do printf -- '---|'; done)"
    rows chains train
    echo
    echo '## Graphs'
    echo
    echo "A chain as a graph (words, columns and endings around the token, which the factors of label pairs see, too), the first $graph_size training sentences; the same held-out data."
    echo
    echo "| objective | $(echo "$sets" | sed 's/ / | /g') |"
    echo "|---|$(for set in $sets; do printf -- '---|'; done)"
    rows graphs some
    echo
    echo '## Trees'
    echo
    echo 'The WSJ sample, sentences of at most 15 words, F1 of brackets on the development section (`score trees --gold-tags`).'
    echo
    echo "| grade and objective | F1, seconds |"
    echo '|---|---|'
    each_bank tree_rows
    notes
} >"$work/page.md"
publish
