#!/bin/sh
# trellis boost beside XGBoost, trellis align beside fast_align, word classifiers by logistic regression beside
# liblinear: the same data, one thread.
#
#     bench/boost.sh [boost] [align] [linear]
#
# Prints tables in Markdown; times are processor seconds of the whole program, reading included.  A
# program that is not there is left out.  From the environment:
#
#     TRELLIS       the program                                  (build/trellis)
#     TRELLIS_DATA  folder with treebanks/ and parallel-en-fr/   (../shared/data)
#     PYTHON        one that has Debian's python3-xgboost        (/usr/bin/python3)
#     BANK, LABEL   boost: the treebank, the label               (masc, NP)
#     TREES         boost: grown to count visits of features     (40)
#     FAST_ALIGN    fast_align, built by you                     (none)
#     LIBLINEAR     Debian's liblinear-train                     (found by PATH)
#     LINEAR        build/bench/linear                           (beside TRELLIS)
#     PAIRS         pairs of sentences to align                  (100000)
#     TURNS         of both programs, boost (medians) and linear (3)
set -eu
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
trellis=${TRELLIS:-$here/../build/trellis}
data=${TRELLIS_DATA:-$here/../../shared/data}
python=${PYTHON:-/usr/bin/python3}
bank=${BANK:-masc}
label=${LABEL:-NP}
label_examples=$(dirname "$trellis")/bench/label_examples
visits=$(dirname "$trellis")/bench/boost_visits
liblinear=${LIBLINEAR:-liblinear-train}
linear=${LINEAR:-$(dirname "$trellis")/bench/linear}
pairs=${PAIRS:-100000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# user COMMAND...: its processor seconds; what it says goes to $work/log.
user() {
    { command time -f '%U %S' -o "$work/time" "$@" >"$work/log" 2>&1; } ||
        { tail -n 5 "$work/log" >&2; exit 1; }
    awk '{ print $1 + $2 }' "$work/time"
}

# xgb DEPTH: XGBoost in rounds until its held-out loss rises; round, loss, seconds, of which reading, leaves.
xgb() { "$python" "$here/xgboost_path.py" "$work/train.svm" "$work/dev.svm" 1000 "$1" 0.3 2>"$work/log" || { tail -n 5 "$work/log" >&2; exit 1; }; }

# path_point LOSS: the first point of the path in $work/path.json whose held-out loss is at most LOSS: its training
# seconds, loss, compound features; LOSS best: the best point.
path_point() {
    sed -n 's/.*"compound":\([0-9]*\),.*"seconds":\([0-9.e+-]*\),.*"held_out":\([0-9.e+-]*\)}.*/\2 \3 \1/p' "$work/path.json" |
        awk -v loss="$1" '
            loss == "best" { if (!n++ || $2 < least) { least = $2; best = $0 } next }
            $2 <= loss && !n++ { best = $0 }
            END { print n ? best : "- - -" }'
}

# reaches LOSS TITLE: a row for the point that has LOSS; reading is what the whole run took without its training.
reaches() {
    # shellcheck disable=SC2046
    set -- "$1" "$2" $(path_point "$1")
    [ "$3" != - ] || { echo "| $2 | - | - | not reached | - |"; return; }
    last=$(sed -n 's/.*"result":.*"seconds":\([0-9.e+-]*\).*/\1/p' "$work/path.json")
    echo "$seconds $last $3 $4 $5" | awk -v title="$2" '{ read = $1 - $2; printf "| %s | %.2f | %.2f | %.6f | %d |\n", title, $3 + read, read, $4, $5 }'
}

# medians: rows `| title | seconds | reading | ...`, some titles several times, to one row a title.
medians() {
    awk -F' [|] ' '
        function median(list,   n, x, a, b, t) {
            n = split(list, x, " ")
            for (a = 2; a <= n; a++) { t = x[a]; for (b = a - 1; b >= 1 && x[b] + 0 > t + 0; b--) x[b + 1] = x[b]; x[b + 1] = t }
            return n ? x[int((n + 1) / 2)] : ""
        }
        !($1 in all) { title[++n] = $1 }
        { all[$1] = all[$1] " " $2; read[$1] = read[$1] " " $3; rest[$1] = $4 " | " $5 }
        END { for (k = 1; k <= n; k++) { t = title[k]; print t " | " median(all[t]) " | " median(read[t]) " | " rest[t] } }'
}

# Both programs once: rows of the table.
boost_turn() {
    losses=
    if "$python" -c 'import xgboost' 2>/dev/null; then
        for depth in 6 12; do
            # shellcheck disable=SC2046
            set -- $(xgb $depth)
            echo "| XGBoost, hist, eta 0.3, depth $depth, $1 rounds | $3 | $4 | $2 | $5 |"
            losses="$losses $2"
        done
    fi
    for how in 2000:1 2000:0.3; do
        seconds=$(user "$trellis" boost train -j1 --sample "${how%:*}" --rate "${how#*:}" --json "$work/path.json" -m "$work/model" -d "$work/dev.svm" "$work/train.svm")
        title="trellis boost --sample ${how%:*} --rate ${how#*:}"
        for loss in $losses; do reaches "$loss" "$title, until $loss"; done
        reaches best "$title, its best"
        echo "| $title, to the end of its path | $seconds | - | - | - |"
    done
}

# One label of a boosted parser: is an item with it right?  Spans of all states of the derivations of a treebank.
bench_boost() {
    for tool in "$label_examples" "$visits"; do
        [ -x "$tool" ] || { echo "bench/boost.sh: no program at $tool: run make $tool first" >&2; exit 1; }
    done
    "$label_examples" "$label" 15 "$data/treebanks/$bank-train.mrg" "$data/treebanks/$bank-dev.mrg" "$work/train.svm" "$work/dev.svm"
    turn=1
    while [ $turn -le "${TURNS:-3}" ]; do
        boost_turn >>"$work/turns"
        turn=$((turn + 1))
    done
    echo
    echo "| $bank, at most 15 words, $label; medians of ${TURNS:-3} turns | seconds | of which reading | held-out loss | leaves or compound features |"
    echo "|---|---|---|---|---|"
    medians <"$work/turns"
    echo
    "$visits" "$work/train.svm" "${TREES:-40}"
}

bench_align() {
    for side in en fr; do zcat "$data/parallel-en-fr/train.$side.gz" | sed -n "1,${pairs}p" >"$work/$side"; done
    paste "$work/en" "$work/fr" | sed 's/\t/ ||| /' >"$work/both"
    echo
    echo "| one direction, $pairs pairs | processor seconds an iteration |"
    echo "|---|---|"
    # the difference of 4 and 2 iterations is that of two; trellis trains as many of IBM 1 before the HMM
    if [ -n "${FAST_ALIGN:-}" ]; then
        a=$(user "$FAST_ALIGN" -i "$work/both" -d -o -v -I 2)
        b=$(user "$FAST_ALIGN" -i "$work/both" -d -o -v -I 4)
        echo "| fast_align | $(echo "$a $b" | awk '{ print ($2 - $1) / 2 }') |"
    fi
    for kind in ibm1 ibm2 hmm; do
        a=$(user "$trellis" align -q -j1 -k $kind -n 2 -s forward -o "$work/out" "$work/en" "$work/fr")
        b=$(user "$trellis" align -q -j1 -k $kind -n 4 -s forward -o "$work/out" "$work/en" "$work/fr")
        d=$(echo "$a $b" | awk '{ print ($2 - $1) / 2 }')
        [ $kind = ibm1 ] && first=$d
        [ $kind = ibm1 ] && echo "| trellis align, IBM 1 | $d |" ||
            echo "| trellis align, $kind | $(echo "$d $first" | awk '{ print $1 - $2 }') |"
    done
}

# Places of the word "the" in 30,000 pairs: the words around it, all words of the sentence; is it linked to "la"?
word_examples() {
    for side in en fr align; do zcat "$data/parallel-en-fr/train.$side.gz" | sed -n 1,30000p >"$work/$side"; done
    paste "$work/en" "$work/fr" "$work/align" | awk -F'\t' '
        function put(name) {
            if (!(name in id)) id[name] = ++ids
            if (!(id[name] in here)) { here[id[name]]; list[++n_list] = id[name] }
        }
        function sort_list(   a, b, x) {
            for (a = 2; a <= n_list; a++) { x = list[a]; for (b = a - 1; b >= 1 && list[b] > x; b--) list[b + 1] = list[b]; list[b + 1] = x }
        }
        {
            n = split($1, word, " "); split($2, target, " "); k = split($3, link, " "); delete to
            for (q = 1; q <= k; q++) { split(link[q], at, "-"); to[at[1] + 1] = to[at[1] + 1] " " target[at[2] + 1] }
            for (i = 1; i <= n; i++) {
                if (word[i] != "the") continue
                delete here; n_list = 0
                for (d = -2; d <= 2; d++) put("w" d "=" (i + d >= 1 && i + d <= n ? word[i + d] : ""))
                for (q = 1; q <= n; q++) put("in=" word[q])
                sort_list(); line = (to[i] " " ~ / la /) ? 1 : 0
                for (q = 1; q <= n_list; q++) line = line " " list[q] ":1"
                print line
            }
        }'
}

objective() { "$linear" "$@" | sed 's/.*objective //'; }

bench_linear() {
    [ -x "$linear" ] || { echo "bench/boost.sh: no program at $linear: run make build/bench/linear first" >&2; exit 1; }
    word_examples >"$work/the.svm"
    echo
    echo "| c2 | turn | trellis, seconds | objective | liblinear, seconds | objective | liblinear -e 0.001, seconds | objective |"
    echo "|---|---|---|---|---|---|---|---|"
    for c2 in 0.1 1 10; do
        cost=$(echo "$c2" | awk '{ print 1 / (2 * $1) }')
        turn=1
        while [ $turn -le "${TURNS:-3}" ]; do
            line="| $c2 | $turn | $(user "$linear" "$c2" "$work/the.svm") | $(objective "$c2" "$work/the.svm")"
            for e in 0.01 0.001; do
                s=- o=-
                if command -v "$liblinear" >/dev/null; then # -B 10: the penalty on the intercept is a hundredth of that on weights; ours has none
                    s=$(user "$liblinear" -q -s 0 -c "$cost" -B 10 -e $e "$work/the.svm" "$work/liblinear.model")
                    o=$(objective "$c2" "$work/the.svm" "$work/liblinear.model")
                fi
                line="$line | $s | $o"
            done
            echo "$line |"
            turn=$((turn + 1))
        done
    done
}

[ $# -gt 0 ] || set -- boost align linear
for section; do
    case $section in
    boost) bench_boost ;;
    align) bench_align ;;
    linear) bench_linear ;;
    *) echo "bench/boost.sh: no section '$section': boost, align, linear" >&2; exit 2 ;;
    esac
done
