#!/bin/bash
# self-training.sh -- what raw text teaches a parser (--raw-text, --self-train): folds of treebanks with raw text of
# their kind or another, and treebanks of another kind than the sentences to be parsed, with raw text of that kind.
#
# FOLDS=K (3).
usual_lengths=25
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/trees.sh"

folds=${FOLDS:-3}
[ -z "$sample" ] || folds=2
n=${lengths## }
n=${n%% *}

# raw NAME: the file of a raw text, one sentence a line.
words_of() { awk 'NF { printf "%s%s", s, $1; s = " "; next } s { print ""; s = "" } END { if (s) print "" }' "$1"; }
raw() {
    local to=$work/$1.raw
    [ -s "$to" ] || case $1 in
    conll2000) words_of "$data/conll2000/train.txt" >"$to" ;;
    pos-ewt) words_of "$data/pos-ewt/train.txt" >"$to" ;;
    sample) "$trellis" trees --to words "$build/corpus/test.mrg" >"$to" ;;
    *) "$trellis" trees --to words "$data/treebanks/$1-train.mrg" >"$to" ;;
    esac
    echo "$to"
}
raw_name() {
    case $1 in
    conll2000) echo 'CoNLL-2000 (news)' ;;
    pos-ewt) echo 'English web text' ;;
    *) echo "$1" ;;
    esac
}

# folds_of CORPUS NAME OPTION...: F1 of every fold, a line each, in $work/CORPUS.NAME.f1
folds_of() {
    local c=$1 to=$work/$1.$2.f1
    [ ! -s "$to" ] || return 0
    say "$1, $2"
    shift 2
    bank "$c" "$n"
    awk -v all="$(trees_in "$train")" -v k="$folds" '{ print int((NR - 1) * k / all) }' "$train" >"$work/$c.groups"
    # shellcheck disable=SC2046,SC2086
    "$trellis" cv -q -k "$folds" -j "$threads" --kind tree --latent 0 --groups "$work/$c.groups" $(with_clusters) $limit "$@" "$train" >"$work/cv"
    awk 'NR == 1 { sub(/held out/, "held-out"); for (i = 1; i <= NF; i++) if ($i == "f1") f = i } $1 ~ /^[0-9]+$/ { print $f }' "$work/cv" >"$to.new"
    mv "$to.new" "$to"
}

# other FROM TO RAW: parsers of the treebanks FROM (joined by +) for the development section of TO, at most 40 words.
other() {
    local t to=$work/$1.$2 files=''
    for t in ${1//+/ }; do files="$files $data/treebanks/$t-train.mrg"; done
    # shellcheck disable=SC2086
    cat $files >"$to.train"
    train=$to.train dev=$to.dev words=$to.words
    "$trellis" trees --max-length 40 "$data/treebanks/$2-dev.mrg" | awk -v every="$([ "$2" = craft ] && echo 8 || echo 1)" 'NR % every == 1 || every == 1' >"$dev"
    "$trellis" trees --to words "$dev" >"$words"
    # shellcheck disable=SC2046,SC2086
    {
        tree_fit "$1.$2.alone" --max-length "$n" $(with_clusters) $limit
        tree_fit "$1.$2.self" --max-length "$n" $(with_clusters) $limit --raw-text "$(raw "$3")" --self-train
    }
}

pairs='masc:pos-ewt masc:conll2000 wsj-sample:conll2000 wsj-sample:masc'
others='masc:wsj-sample:conll2000 wsj-sample:masc:masc masc+wsj-sample:craft:craft'
case $corpora in sample | given) pairs=$corpora:$([ -n "$sample" ] && echo sample || echo conll2000) others='' ;; esac
for p in $pairs; do
    c=${p%%:*}
    folds_of "$c" alone
    folds_of "$c" "${p##*:}" --raw-text "$(raw "${p##*:}")" --self-train
done
for p in $others; do
    IFS=: read -r from to text <<<"$p"
    other "$from" "$to" "$text"
done

mean() { awk '{ s += $1 } END { printf "%.2f", s / NR }' "$work/$1.f1"; }
{
    cat <<END
# Parsers that learn from raw text

\`trellis train --kind tree --raw-text FILE --self-train\`: a first parser, learnt from the treebank, parses raw text, of which as many words are taken as the treebank has, and
its trees are learnt from as well. Sentences of at most $n words, treebank and raw text; F1 by EVALB's rules, gold tags on the leaves, own tags in parsing. Clusters: $(cluster_source).

$folds-fold cross-validation, folds of neighbouring trees; the difference within a fold, its standard deviation, and in how many folds it is a loss:

| treebank | raw text | without | with | difference | deviation | losses |
|---|---|---|---|---|---|---|
END
    for p in $pairs; do
        c=${p%%:*} t=${p##*:}
        echo "| $(title "$c") | $(raw_name "$t") | $(mean "$c.alone") | $(mean "$c.$t") | $(paste "$work/$c.$t.f1" "$work/$c.alone.f1" | awk '{ n++; d = $1 - $2; s += d; ss += d * d; below += d < 0 }
            END { m = s / n; v = n > 1 ? (ss - s * m) / (n - 1) : 0; printf "%+.2f | %.2f | %d of %d", m, sqrt(v > 0 ? v : 0), below, n }') |"
    done
    if [ -n "$others" ]; then
        cat <<'END'

Sentences of another kind than the treebank, at most 40 words, raw text of their kind (of a treebank its training sentences without trees), one run each:

| treebank | sentences parsed | raw text | without | with |
|---|---|---|---|---|
END
        for p in $others; do
            IFS=: read -r from to text <<<"$p"
            dev=$work/$from.$to.dev words=$work/$from.$to.words
            echo "| $from | $to, development section ($(trees_in "$dev")) | $(raw_name "$text") | $(tree_f1 "$from.$to.alone") | $(tree_f1 "$from.$to.self") |"
        done
    fi
    echo
    made_by
    notes
} >"$work/page.md"
publish
