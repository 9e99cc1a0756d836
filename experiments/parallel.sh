# parallel.sh -- what the recipes of translation share: text, parsers, trees, translators.  Sourced after common.sh.
#
# PAIRS=N: the first N pairs of the training text (default 10000).  --parallel DIR: other text, files train.en.gz, train.fr.gz,
# train.align.gz (or without .gz), dev.en, dev.fr, dev.align.  --treebank TRAIN DEV: TRAIN for the parsers.  The first half of dev is to develop,
# the second to test.
pairs=${PAIRS:-10000}
text=${parallel:-$data/parallel-en-fr}
lines() { # FILE FIRST LAST
    if [ -e "$1" ]; then cat "$1"; else gzip -dc "$1.gz"; fi | awk -v a="$2" -v b="$3" 'NR >= a && NR <= b'
}
if [ -n "$sample" ]; then
    for l in en fr; do
        cp "$top/corpus/parallel.$l" "$work/train.$l"
        lines "$top/corpus/parallel-new.$l" 1 10 >"$work/develop.$l"
        lines "$top/corpus/parallel-new.$l" 11 20 >"$work/test.$l"
    done
    for s in train develop test; do "$trellis" align -q -o "$work/$s.align" "$work/$s.en" "$work/$s.fr"; done
    banks=$top/corpus/parallel.mrg
else
    banks=${bank_train:-$data/treebanks/wsj-sample-train.mrg $data/treebanks/masc-train.mrg}
    # shellcheck disable=SC2086
    need $banks "$text/dev.en" "$text/dev.fr" "$text/dev.align"
    half=$(($(wc -l <"$text/dev.en") / 2))
    for l in en fr align; do
        lines "$text/train.$l" 1 "$pairs" >"$work/train.$l"
        lines "$text/dev.$l" 1 $half >"$work/develop.$l"
        lines "$text/dev.$l" $((half + 1)) $((2 * half)) >"$work/test.$l"
    done
fi

pairs=$(wc -l <"$work/train.en")

parse_all() { # GRADE: a parser and the trees of all texts
    local s
    # shellcheck disable=SC2086
    [ -e "$work/$1.parser" ] || { say "parser $1" && cat $banks >"$work/bank.mrg" &&
        "$trellis" train -q -j "$threads" --kind tree --grade "$1" -m "$work/$1.parser" "$work/bank.mrg"; }
    for s in train develop test; do
        [ -e "$work/$1.$s.mrg" ] || { say "$1: trees of $s" &&
            "$trellis" parse -j 2 -m "$work/$1.parser" -o "$work/$1.$s.mrg" "$work/$s.en" 2>"$work/$1.$s.log"; }
    done
}

learn() { # NAME GRADE LINKS [OPTION]...: NAME.model, NAME.log, NAME.time, translations NAME.develop, NAME.test
    local n=$1 g=$2 links=$3 s
    shift 3
    [ ! -e "$work/$n.test" ] || return 0
    say "$n"
    local TIMEFORMAT='%R %U %S'
    { time "$trellis" translate -w "$work/$n.model" -j "$threads" --trees "$work/$g.train.mrg" ${links:+--links "$links"} "$@" \
        "$work/train.en" "$work/train.fr" 2>"$work/$n.log"; } 2>"$work/$n.time" || { cat "$work/$n.log" >&2; exit 1; }
    for s in develop test; do
        "$trellis" translate -m "$work/$n.model" -f trees -o "$work/$n.$s" "$work/$g.$s.mrg"
    done
}
cpu() { awk '{ printf "%.0f", $2 + $3 }' "$work/$1.time"; }
features() { sed -n 's/^words: .*inferences, \([0-9]*\) features/\1/p' "$work/$1.log"; }
tuning_loss() { sed -n 's/^tuning: .*loss \(.*\)/\1/p' "$work/$1.log"; }
word_accuracy() { # NAME GRADE SET: of all words, and of those with a choice
    "$trellis" translate -m "$work/$1.model" --score-words --links "$work/$3.align" --trees "$work/$2.$3.mrg" \
        "$work/$3.en" "$work/$3.fr" | awk '$1 == "accuracy" { printf "%s%s", n++ ? " | " : "", $2 }'
}
