# parallel.sh -- what the recipes of translation share: text, parsers, trees, translators.  Sourced after common.sh.
#
# --parallel DIR: other text than Europarl, files train.en.gz, train.fr.gz, train.align.gz (or without .gz), dev.en, dev.fr, dev.align.
# --treebank TRAIN DEV: TRAIN for the parsers.  The first half of dev is to develop, the second to test.
text=${parallel:-$data/parallel-en-fr}
lines() { # FILE FIRST LAST
    if [ -e "$1" ]; then cat "$1"; else gzip -dc "$1.gz"; fi | awk -v a="$2" -v b="$3" 'NR >= a && NR <= b'
}
if [ -n "$sample" ]; then
    for l in en fr; do
        lines "$top/corpus/parallel-new.$l" 1 10 >"$work/develop.$l"
        lines "$top/corpus/parallel-new.$l" 11 20 >"$work/test.$l"
    done
    for s in develop test; do "$trellis" align -q -o "$work/$s.align" "$work/$s.en" "$work/$s.fr"; done
    banks=$top/corpus/parallel.mrg
else
    banks=${bank_train:-$data/treebanks/wsj-sample-train.mrg $data/treebanks/masc-train.mrg}
    # shellcheck disable=SC2086
    need $banks "$text/dev.en" "$text/dev.fr" "$text/dev.align"
    half=$(($(wc -l <"$text/dev.en") / 2))
    for l in en fr align; do
        lines "$text/dev.$l" 1 $half >"$work/develop.$l"
        lines "$text/dev.$l" $((half + 1)) $((2 * half)) >"$work/test.$l"
    done
fi

take() { # N: the first N pairs to train, N.en, N.fr, N.align
    local l
    [ ! -e "$work/$1.align" ] || return 0
    for l in en fr; do
        lines "$([ -n "$sample" ] && echo "$top/corpus/parallel" || echo "$text/train").$l" 1 "$1" >"$work/$1.$l"
    done
    if [ -n "$sample" ]; then
        "$trellis" align -q -o "$work/$1.align" "$work/$1.en" "$work/$1.fr"
    else
        lines "$text/train.align" 1 "$1" >"$work/$1.align"
    fi
}

align_own() { # N: our links of the first N pairs, N.own
    [ -e "$work/$1.own" ] || { say "links of $1" && "$trellis" align -q -j "$threads" -o "$work/$1.own" "$work/$1.en" "$work/$1.fr"; }
}

parse_all() { # GRADE N: a parser and the trees of all texts; those of a larger N have those of a smaller one
    local s larger
    # shellcheck disable=SC2086
    [ -e "$work/$1.parser" ] || { say "parser $1" && cat $banks >"$work/bank.mrg" &&
        "$trellis" train -q -j "$threads" --kind tree --grade "$1" $(parser_options "$1") -m "$work/$1.parser" "$work/bank.mrg"; }
    for larger in "$work/$1".[0-9]*.mrg; do
        [ -e "$larger" ] && [ ! -e "$work/$1.$2.mrg" ] && [ "$(basename "$larger" .mrg | sed 's/.*\.//')" -gt "$2" ] &&
            head -n "$(grep -c '[^[:space:]]' "$work/$2.en")" "$larger" >"$work/$1.$2.mrg"
    done
    # shellcheck disable=SC2046
    for s in "$2" develop test; do
        [ -e "$work/$1.$s.mrg" ] || { say "$1: trees of $s" &&
            "$trellis" parse -j "$threads" $(parse_options "$1") -m "$work/$1.parser" -o "$work/$1.$s.mrg" "$work/$s.en" 2>"$work/$1.$s.log"; }
    done
}
# Boosted trees learn from sentences up to 15 words: all of them take hours.
parser_options() { case $1 in boosted) echo "--max-length 15" ;; features) echo "--latent 0" ;; esac; }
# ... and search long ones for long: by default a hundredth of the steps that 'parse' allows itself.
parse_options() { [ "$1" != boosted ] || echo "--max-work ${WORK:-10}"; }

learn() { # NAME GRADE N LINKS [OPTION]...: NAME.model, NAME.log, NAME.time, translations NAME.develop, NAME.test
    local n=$1 g=$2 size=$3 links=$4 s
    shift 4
    [ ! -e "$work/$n.test" ] || return 0
    say "$n"
    local TIMEFORMAT='%R %U %S'
    { time "$trellis" translate -w "$work/$n.model" -j "$threads" --trees "$work/$g.$size.mrg" --links "$work/$size.$links" "$@" \
        "$work/$size.en" "$work/$size.fr" 2>"$work/$n.log"; } 2>"$work/$n.time" || { cat "$work/$n.log" >&2; exit 1; }
    for s in develop test; do
        "$trellis" translate -m "$work/$n.model" -f trees -o "$work/$n.$s" "$work/$g.$s.mrg"
    done
}
title() { case $1 in generative) echo "PCFG" ;; features) echo "CRF-CFG" ;; *) echo "boosted parser" ;; esac; }
cpu() { awk '{ printf "%.0f", $2 + $3 }' "$work/$1.time"; }
features() { sed -n 's/^words: .*inferences, \([0-9]*\) features/\1/p' "$work/$1.log"; }
tuning_loss() { sed -n 's/^tuning: .*loss \(.*\)/\1/p' "$work/$1.log"; }
word_accuracy() { # NAME GRADE SET: of all words, and of those with a choice
    "$trellis" translate -m "$work/$1.model" --score-words --links "$work/$3.align" --trees "$work/$2.$3.mrg" \
        "$work/$3.en" "$work/$3.fr" | awk '$1 == "accuracy" { printf "%s%s", n++ ? " | " : "", $2 }'
}
