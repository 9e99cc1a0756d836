# trees.sh -- what the recipes of trees share: corpora, fits, scores.  Sourced after common.sh.

lengths=${lengths:-${usual_lengths:-15}}
limit=${PASSES:+--max-iter $PASSES}
[ -z "$sample" ] || limit='--max-iter 2'
clusters=${CLUSTERS:-$data/clusters/bllip-clusters.txt}
[ -e "$clusters" ] || [ "$clusters" = none ] || clusters=auto
if [ -n "$sample" ]; then
    corpora=sample clusters=auto
elif [ -n "$bank_train" ]; then
    need "$bank_train" "$bank_dev"
    corpora=given
else
    corpora=${CORPORA:-wsj-sample masc craft}
    for c in $corpora; do need "$data/treebanks/$c-train.mrg" "$data/treebanks/$c-dev.mrg"; done
fi

# bank CORPUS N: sets train, dev (in the work folder, at most N words) and words.
bank() {
    local from=$data/treebanks/$1-train.mrg to=$data/treebanks/$1-dev.mrg
    case $1 in
    given) from=$bank_train to=$bank_dev ;;
    sample) from=$build/corpus/train.mrg to=$build/corpus/dev.mrg ;;
    esac
    train=$work/$1.$2.train dev=$work/$1.$2.dev words=$work/$1.$2.words
    "$trellis" trees --max-length "$2" "$from" >"$train"
    "$trellis" trees --max-length "$2" "$to" >"$dev"
    if [ -n "$sample" ]; then
        head -n 20 "$train" >"$train.few" && mv "$train.few" "$train"
        head -n 10 "$dev" >"$dev.few" && mv "$dev.few" "$dev"
    fi
    "$trellis" trees --to words "$dev" >"$words"
}

# each_bank COMMAND...: bank, then COMMAND... CORPUS N, for every length and corpus.
each_bank() {
    local n c
    for n in $lengths; do
        for c in $corpora; do
            bank "$c" "$n"
            "$@" "$c" "$n"
        done
    done
}

# The paper's grammar for sentences of at most N words.
paper_grammar() { echo "--annotate parents,tags,heads --markov $([ "$1" -le 15 ] && echo 1 || echo 2)"; }
with_clusters() { echo "--clusters $clusters"; }
cluster_source() { case $clusters in auto) echo 'made of the training data' ;; *) basename "$clusters" ;; esac; }

# tree_fit NAME [OPTION]...: trains on $train, parses $words: NAME.model, .time, .log, .mrg, runs/NAME.json.
# The parser alone, as the papers have it: without grammars with substates, unless the options say so.
tree_fit() {
    local n=$1
    shift
    [ -e "$work/$n.mrg" ] && return
    say "$n"
    local TIMEFORMAT='%R %U %S'
    { time "$trellis" train --kind tree --latent 0 -j 1 -m "$work/$n.model" --json "$work/runs/$n.json" "$@" "$train" 2>"$work/$n.log"; } \
        2>"$work/$n.time" || { cat "$work/$n.log" >&2; exit 1; }
    { time "$trellis" parse -m "$work/$n.model" "$words" >"$work/$n.tmp" 2>"$work/$n.warnings"; } 2>"$work/$n.parsetime"
    mv "$work/$n.tmp" "$work/$n.mrg"
}

# brackets NAME: precision recall F1 exact crossing no-crossing, on $dev.
brackets() {
    "$trellis" score trees --gold-tags "$dev" "$work/$1.mrg" | awk -F= '
        /-- All --/ { on = 1 } /-- len/ { on = 0 } !on { next } { sub(/^ */, "", $2) }
        /^Bracketing R/ { r = $2 } /^Bracketing P/ { p = $2 } /^Bracketing F/ { f = $2 }
        /^Complete/ { e = $2 } /^Average cr/ { c = $2 } /^No cr/ { z = $2 }
        END { print p, r, f ~ /nan/ ? "0.00" : f, e, c, z }' # no bracket is right
}
tree_f1() { brackets "$1" | awk '{ print $3 }'; }
passes() { field "$work/runs/$1.json" iterations; }
a_pass() { # processor seconds of one: without the first, which has reading and charts in it
    sed -n 's/^{"iteration":\([0-9]*\),.*"processor":\([0-9.e+-]*\),.*/\1 \2/p' "$work/runs/$1.json" |
        awk 'NR == 1 { a = $2; n = $1 } END { if (NR > 1) printf "%.2f", ($2 - a) / ($1 - n); else print "-" }'
}
before_passes() { # processor seconds until the end of the first pass
    sed -n 's/^{"iteration":1,.*"processor":\([0-9.e+-]*\),.*/\1/p' "$work/runs/$1.json" | awk '{ printf "%.2f", $1 } END { if (!NR) print "-" }'
}
rules() { sed -n 's/^\([0-9]*\) states, \([0-9]*\) binary and \([0-9]*\) unary rules.*/\1 \2 \3/p' "$work/$1.log" | head -n 1; }
unmade() { sed -n 's/^\([0-9]*\) trees cannot be made.*/\1/p' "$work/$1.log" | head -n 1 | grep . || echo 0; }
words_a_second() { awk -v n="$(wc -w <"$words")" '{ printf "%.0f", n / ($2 + $3 + 1e-9) }' "$work/$1.parsetime"; }
fallbacks() { grep -c 'simpler' "$work/$1.warnings" || true; }
tree_pvalue() { # A B: bootstrap of F1
    "$trellis" compare trees --gold-tags -n 2000 --json "$dev" "$work/$1.mrg" "$work/$2.mrg" |
        sed -n 's/.*"bootstrap":{[^}]*"p":\([^,}]*\)}.*/\1/p' | awk '{ printf $1 < 0.001 ? "%.1e" : "%.3f", $1 }'
}
title() { case $1 in given) echo "$bank_train" ;; *) echo "$1" ;; esac; }
cells() { echo "${*// / | }"; } # A B C -> A | B | C
trees_in() { grep -c . "$1"; }
