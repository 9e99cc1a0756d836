#!/bin/bash
# boosting.sh -- Table 1 of Turian, Wellington & Melamed, Scalable discriminative learning for natural language
# parsing and translation (NIPS 2006): the boosted parser beside a PCFG and the CRF-CFG; what its text says of stumps,
# values of states, feature groups and lambda.
#
# SAMPLE=N: examples that choose a split (0: all).  ABLATE=CORPORA: where parts are left out, none: nowhere.
# FOLDS=K: also cross-validation on K stretches of each training file.  KINDS: of what (tags: the treebank's against
# jackknifed ones; costs: shares against the paper's with uniform values; values: those against the paper's with values
# of states; gains: of samples against exact ones).
usual_lengths=15
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/trees.sh"

drawn=${SAMPLE:-2000}
ablate=${ABLATE:-wsj-sample masc}
case $corpora in sample | given) ablate=$corpora ;; esac
trees=()
[ -z "$sample" ] || trees=(--max-iter 4)
words_file=$clusters
[ -e "$words_file" ] || words_file=none

# The training file as it is: the tagger learns from long trees, too.
whole() { # CORPUS
    case $1 in
    given) echo "$bank_train" ;;
    sample) echo "$train" ;;
    *) echo "$data/treebanks/$1-train.mrg" ;;
    esac
}

# metered FILE COMMAND...: its peak of memory in kilobytes into FILE, where GNU time is there.
metered() {
    local to=$1
    shift
    if [ -x /usr/bin/time ]; then /usr/bin/time -f %M -o "$to" "$@"; else "$@"; fi
}

# boosted NAME CORPUS N [OPTION]...: trains, parses words and words with tags.
boosted() { boosted_on "$1" "$(whole "$2")" "${@:3}"; }
boosted_on() { # NAME FILE N [OPTION]...
    local n=$1 from=$2 length=$3
    shift 3
    [ -e "$work/$n.mrg" ] && return
    say "$n"
    local TIMEFORMAT='%R %U %S'
    { time metered "$work/$n.memory" "$trellis" train --kind tree --grade boosted -j "$threads" --max-length "$length" --sample "$drawn" "${trees[@]}" \
        -m "$work/$n.model" "$@" "$from" 2>"$work/$n.log"; } 2>"$work/$n.time" || { cat "$work/$n.log" >&2; exit 1; }
    "$trellis" trees --to tagged "$dev" >"$dev.tagged"
    "$trellis" parse -v -m "$work/$n.model" --input tagged "$dev.tagged" >"$work/$n.tags.mrg" 2>"$work/$n.tags.warnings"
    { time "$trellis" parse -v -m "$work/$n.model" "$words" >"$work/$n.tmp" 2>"$work/$n.warnings"; } 2>"$work/$n.parsetime"
    mv "$work/$n.tmp" "$work/$n.mrg"
}

fits() { # CORPUS N
    # shellcheck disable=SC2046
    tree_fit "$1.$2.generative" --grade generative $(paper_grammar "$2")
    # shellcheck disable=SC2046,SC2086
    tree_fit "$1.$2.default" $(with_clusters) $limit
    boosted "$1.$2.boosted" "$1" "$2"
    [ "$words_file" = none ] || boosted "$1.$2.clusters" "$1" "$2" --clusters "$words_file"
}
each_bank fits

few_groups() { printf 'children[1] label tag\nchildren[-1] label tag\nleft[1] label tag\nright[1] label tag\n'; }
left_out() { # CORPUS N
    few_groups >"$work/few.groups"
    boosted "$1.$2.few" "$1" "$2" -t "$work/few.groups"
    boosted "$1.$2.paper" "$1" "$2" --decode local
    boosted "$1.$2.paper-uniform" "$1" "$2" --decode local --uniform-values
    local k
    for k in 5 20 60; do boosted "$1.$2.trees-$k" "$1" "$2" --max-iter $k; done
    boosted "$1.$2.jackknife" "$1" "$2" --jackknife
    boosted "$1.$2.stumps" "$1" "$2" --stumps --max-iter 2000
    boosted "$1.$2.exact" "$1" "$2" --sample 0
}
if [ "$ablate" != none ]; then
    for n in $lengths; do
        for c in $ablate; do bank "$c" "$n" && left_out "$c" "$n"; done
    done
fi

# ---- folds --------------------------------------------------------------------------------
# fold CORPUS N K: sets train (whole trees of all but stretch K), dev, words: its trees of at most N words.
folds=${FOLDS:-0}
kinds=${KINDS:-tags costs}
fold() {
    local all=$work/$1.all n
    [ -e "$all" ] || "$trellis" trees "$(whole "$1")" >"$all"
    n=$(trees_in "$all")
    fold_train=$work/$1.fold-$3.all dev=$work/$1.$2.fold-$3.dev words=$work/$1.$2.fold-$3.words
    awk -v n="$n" -v k="$3" -v K="$folds" 'int((NR - 1) * K / n) + 1 != k' "$all" >"$fold_train"
    awk -v n="$n" -v k="$3" -v K="$folds" 'int((NR - 1) * K / n) + 1 == k' "$all" >"$dev.all"
    "$trellis" trees --max-length "$2" "$dev.all" >"$dev"
    "$trellis" trees --to words "$dev" >"$words"
}
fold_names() { # of the kinds that are compared
    echo default
    case $kinds in *tags*) echo jackknife ;; esac
    case $kinds in *costs* | *values*) echo paper-uniform ;; esac
    case $kinds in *values*) echo paper ;; esac
    case $kinds in *gains*) echo exact ;; esac
}
cross_validate() { # CORPUS N
    local k which
    for ((k = 1; k <= folds; k++)); do
        fold "$1" "$2" "$k"
        for which in $(fold_names); do
            case $which in
            default) set -- "$1" "$2" ;;
            jackknife) set -- "$1" "$2" --jackknife ;;
            paper-uniform) set -- "$1" "$2" --decode local --uniform-values ;;
            paper) set -- "$1" "$2" --decode local ;;
            exact) set -- "$1" "$2" --sample 0 ;;
            esac
            boosted_on "$1.$2.fold-$k.$which" "$fold_train" "$2" "${@:3}"
            set -- "$1" "$2"
        done
    done
}
[ "$folds" = 0 ] || each_bank cross_validate

# ---- numbers ------------------------------------------------------------------------------
counted() { # NAME: states, spans, examples, atomic features
    sed -n 's/^\([0-9]*\) states, \([0-9]*\) spans of them, \([0-9]*\) examples, \([0-9]*\) features.*/\1 \2 \3 \4/p' "$work/$1.log" | head -n 1
}
compound() { sed -n 's/^features .* of which \([0-9]*\) are not 0.*/\1/p' "$work/$1.log" | tail -n 1; }
slowest() { # the classifier that took longest, its processor seconds; all classifiers
    sed -n 's/^\([^ ]*\): lambda .*, \([0-9.]*\) s of the processor.*/\1 \2/p' "$work/$1.log" |
        awk '{ t[$1] = $2 } END { for (k in t) { n++; s += t[k]; if (t[k] > most) { most = t[k]; which = k } }
            printf "%s %.0f | %d, %.0f", which, most, n, s }'
}
states() { sed -n 's/^\([0-9]*\) states looked at, \([0-9.]*\) a word.*/\1/p' "$work/$1.warnings" | awk -v n="$(trees_in "$dev")" '{ printf "%.0f", $1 / n }'; }
bounds_met() { awk -v n="$(grep -c 'met its limit' "$work/$1.warnings" || true)" -v all="$(trees_in "$dev")" 'BEGIN { printf "%d of %d", n, all }'; }
prf_of() { brackets "$1" | awk '{ print $1, $2, $3 }'; }
speed() { words_a_second "$1"; }

row() { # TITLE NAME
    [ -e "$work/$2.mrg" ] || return 0
    echo "| $1 | $(cells "$(prf_of "$2")") | $(tree_f1 "$2.tags") | $(states "$2") | $(bounds_met "$2") | $(speed "$2") | $(compound "$2") | $(seconds "$2") |"
}
plain() { # TITLE NAME
    [ -e "$work/$2.mrg" ] || return 0
    echo "| $1 | $(cells "$(prf_of "$2")") | | | | $(speed "$2") | | $(seconds "$2") |"
}
head='| | P | R | F1 | F1, tags given | states a sentence | bounds met | words/s | compound features | processor seconds |
|---|---|---|---|---|---|---|---|---|---|'
# Figures of docs/parser.md, measured beforehand on the same section.
peers() { # CORPUS N
    [ "$1.$2" = craft.15 ] || return 0
    cat <<'T'
| BLLIP | | | 88.8 | | | | | | |
| Berkeley | | | 87.7 | | | | | | |
| Stanford | | | 83.2 | | | | | | |
T
}

table() { # CORPUS N
    echo
    echo "## $(title "$1"), at most $2 words: $(trees_in "$train") trees, $(trees_in "$dev") held out"
    echo
    echo "$head"
    [ "$2" -gt 15 ] || cat <<'T'
| paper, WSJ: Turian and Melamed 2005 | 87.80 | 86.47 | 87.13 | | | | | | |
| Bikel 2004 | 88.75 | 87.85 | 88.30 | | | | | | |
| boosted | 89.55 | 89.26 | 89.40 | | | | | | up to 5 days a classifier |
T
    peers "$1" "$2"
    plain 'PCFG' "$1.$2.generative"
    plain 'CRF-CFG' "$1.$2.default"
    row 'boosted' "$1.$2.boosted"
    row "boosted, clusters of $(basename "$words_file")" "$1.$2.clusters"
    row 'every gain exact' "$1.$2.exact"
    row 'stumps, at most 2000 a classifier' "$1.$2.stumps"
    row 'four feature groups' "$1.$2.few"
    row 'costs and values as in the paper (`--decode local`)' "$1.$2.paper"
    row 'its costs, uniform values (`--uniform-values`)' "$1.$2.paper-uniform"
    row 'learnt with jackknifed tags (`--jackknife`)' "$1.$2.jackknife"
    local k
    for k in 5 20 60; do row "at most $k trees a classifier" "$1.$2.trees-$k"; done
    [ -e "$work/$1.$2.boosted.mrg" ] || return 0
    set -- $(counted "$1.$2.boosted") "$1.$2.boosted"
    echo
    echo "$1 states, $2 spans, $3 examples (the paper: 40 million), $4 atomic features (1.1 million)."
    echo "Slowest classifier and its processor seconds; classifiers, seconds of all: $(slowest "$5"). Peak of memory in training: $(awk 'NR == 1 && /^[0-9]+$/ { printf "%.0f MB", $1 / 1024 }' "$work/$5.memory" 2>/dev/null)."
}
# Each way's F1 over the folds, and the differences from the default within a fold: means (deviations).
fold_table() { # CORPUS N
    local k which f
    echo
    echo "## $(title "$1"), at most $2 words: $folds stretches of the training file, each parsed by what was learnt from the others"
    echo
    echo '| | F1 of each | mean | difference | F1 of each, tags given | mean | difference |'
    echo '|---|---|---|---|---|---|---|'
    for which in $(fold_names); do
        for ((k = 1; k <= folds; k++)); do
            fold "$1" "$2" "$k"
            for f in default "$which"; do echo "$(tree_f1 "$1.$2.fold-$k.$f") $(tree_f1 "$1.$2.fold-$k.$f.tags")"; done | paste - -
        done | awk -v which="$which" '
            function spread(s, q, n) { return n > 1 && q > s * s / n ? sqrt((q - s * s / n) / (n - 1)) : 0 }
            { for (c = 1; c <= 2; c++) { x = $(c + 2); d = x - $c; each[c] = each[c] (NR > 1 ? ", " : "") x
                s[c] += x; D[c] += d; Q[c] += d * d } }
            END { printf "| %s |", which
                for (c = 1; c <= 2; c++) printf " %s | %.2f | %+.2f (%.2f) |", each[c], s[c] / NR, D[c] / NR, spread(D[c], Q[c], NR)
                print "" }'
    done
}
{
    echo "# Boosted parsing"
    echo
    echo "Table 1 of Turian, Wellington and Melamed 2007, and what its text says of parts that are left out. Words alone, tags by the"
    echo "parser's own tagger, which learns from all trees of the training file; P, R, F1 as \`trellis score trees --gold-tags\` counts. Splits are chosen by $drawn examples."
    made_by
    each_bank table
    [ "$folds" = 0 ] || each_bank fold_table
    notes
} >"$work/page.md"
publish
