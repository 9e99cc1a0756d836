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
#     TRELLIS_DATA  folder with conll2000/ and parallel-en-fr/   (../shared/data)
#     XGBOOST       Debian's xgboost                             (found by PATH)
#     FAST_ALIGN    fast_align, built by you                     (none)
#     LIBLINEAR     Debian's liblinear-train                     (found by PATH)
#     LINEAR        build/bench/linear                           (beside TRELLIS)
#     ROUNDS        trees of XGBoost                             (200)
#     PAIRS         pairs of sentences to align                  (100000)
#     TURNS         of both programs, linear                     (3)
set -eu
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
trellis=${TRELLIS:-$here/../build/trellis}
data=${TRELLIS_DATA:-$here/../../shared/data}
xgboost=${XGBOOST:-xgboost}
rounds=${ROUNDS:-200}
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

# Tokens as examples: words, tags, endings and shapes of seven positions, all words of the sentence; is
# the chunk tag I-NP?
examples() { # IN MAP OUT: features are numbered by MAP, which grows when it is empty
    awk -v map="$2" -v out="$3" '
        function at(k) { return k >= 1 && k <= n ? k : 0 }
        function put(name) {
            if (!(name in id)) { if (known) return; id[name] = ++ids; print ids, name > map }
            if (!(name in here)) { here[name]; line = line " " id[name] ":1" }
        }
        function shape(w) { w = substr(w, 1, 4); gsub(/[A-Z]/, "X", w); gsub(/[a-z]/, "x", w); gsub(/[0-9]/, "d", w); return w }
        function flush_sentence(   i, d, k, w) {
            for (i = 1; i <= n; i++) {
                delete here; line = chunk[i] == "I-NP" ? "1" : "0"
                for (d = -3; d <= 3; d++) {
                    k = at(i + d); w = k ? word[k] : "<>"
                    put("w" d "=" tolower(w)); put("p" d "=" (k ? tag[k] : "<>"))
                    put("s" d "=" tolower(substr(w, length(w) - 2))); put("c" d "=" shape(w))
                }
                for (k = 1; k <= n; k++) put("in=" tolower(word[k]))
                print line > out
            }
            n = 0
        }
        BEGIN { while ((getline row < map) > 0) { split(row, part, " "); id[part[2]] = part[1]; known = 1 } close(map) }
        NF == 0 { flush_sentence(); next }
        { n++; word[n] = $1; tag[n] = $2; chunk[n] = $3 }
        END { flush_sentence() }' "$1"
}

bench_boost() {
    echo "boost: making examples" >&2
    examples "$data/conll2000/train.txt" "$work/map" "$work/train.svm"
    examples "$data/conll2000/test.txt" "$work/map" "$work/dev.svm"
    echo
    echo "| | seconds | held-out loss | leaves or compound features |"
    echo "|---|---|---|---|"
    if command -v "$xgboost" >/dev/null; then
        : >"$work/conf"
        s=$(user "$xgboost" "$work/conf" task=train "data=$work/train.svm?format=libsvm" \
            "eval[dev]=$work/dev.svm?format=libsvm" objective=binary:logistic eval_metric=logloss max_depth=6 eta=0.3 \
            tree_method=hist nthread=1 num_round="$rounds" model_out="$work/xgb.json")
        loss=$(sed -n 's/.*dev-logloss:\([0-9.e-]*\).*/\1/p' "$work/log" | sort -g | head -n 1)
        leaves=$(grep -o '"num_nodes":"[0-9]*"' "$work/xgb.json" | awk -F'"' '{ n += ($4 + 1) / 2 } END { print n }')
        echo "| XGBoost, $rounds trees, depth 6, eta 0.3, hist | $s | $loss | $leaves |"
    fi
    for sample in 0 8192 2048; do
        s=$(user "$trellis" boost train -j1 --sample $sample -m "$work/model" -d "$work/dev.svm" "$work/train.svm")
        loss=$(sed -n 's/^held-out *\([0-9.]*\).*/\1/p' "$work/log")
        compound=$(sed -n 's/^compound *\([0-9]*\).*/\1/p' "$work/log")
        echo "| trellis boost, sample $sample, the best of the whole path | $s | $loss | $compound |"
    done
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
