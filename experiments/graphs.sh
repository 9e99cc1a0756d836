# graphs.sh -- what the recipes of graphs share: random parts of a corpus, fits, means over parts.  Sourced after common.sh.

# pick SEED N FILE: N units (separated by empty lines) of FILE, drawn without replacement by a generator of our own:
# every awk draws the same ones.
pick() {
    awk -v seed="$1" -v n="$2" 'BEGIN { RS = ""; s = seed * 7919 + 12345 } { unit[NR] = $0 }
        function draw(m) { s = (s * 16807) % 2147483647; return s % m }
        END {
            for (i = 1; i <= 20; i++) draw(2)
            for (i = 1; i <= NR; i++) order[i] = i
            for (i = 1; i <= n && i <= NR; i++) {
                j = i + draw(NR - i + 1)
                x = order[i]; order[i] = order[j]; order[j] = x
                printf "%s\n\n", unit[order[i]]
            }
        }' "$3"
}

# with_clusters FILE: its word, parts of the path of the word's cluster (in the file $clusters), tag, noun phrase.
with_clusters() {
    awk 'NR == FNR { path[$2] = $1; next }
        NF { c = $1 in path ? path[$1] : "-"; print $1, substr(c, 1, 4), substr(c, 1, 6), substr(c, 1, 10), c, $2, $3; next }
        { print "" }' FS='\t' "$clusters" FS=' ' "$1"
}

# graph_fit NAME MODELFILE TRAIN TEST [OPTION]...: one model; leaves NAME.model, NAME.time (wall and processor
# seconds), runs/NAME.json and NAME.out (TEST tagged, the columns that $columns names).
graph_fit() {
    local n=$1 graph=$2 train=$3 test=$4
    shift 4
    [ ! -e "$work/$n.out" ] || return 0
    say "$n"
    local TIMEFORMAT='%R %U %S'
    { time "$trellis" train -q -j "$threads" --kind graph -t "$graph" -m "$work/$n.model" --json "$work/runs/$n.json" \
        "$@" "$train" 2>"$work/$n.log"; } 2>"$work/$n.time" || { cat "$work/$n.log" >&2; exit 1; }
    tag_with "$n" "$test"
}
tag_with() { # NAME TEST
    "$trellis" tag -m "$work/$1.model" "$2" 2>>"$work/$1.log" | cut -d' ' -f"$columns" >"$work/$1.tmp"
    mv "$work/$1.tmp" "$work/$1.out"
}

# side_by_side FUNCTION ARGUMENT...: FUNCTION of every argument, one after the other in as many lanes as there are processors, each
# training with one thread; with THREADS=N one at a time, with N threads.
side_by_side() {
    local call=$1 lanes lane pids=()
    shift
    lanes=$([ -n "${THREADS-}" ] && echo 1 || nproc)
    [ "$lanes" -eq 1 ] || local threads=1
    for lane in $(seq "$lanes"); do
        (
            shift $((lane - 1 < $# ? lane - 1 : $#))
            while [ $# -gt 0 ]; do
                "$call" "$1"
                shift $((lanes < $# ? lanes : $#))
            done
        ) &
        pids+=($!)
    done
    for lane in "${pids[@]}"; do wait "$lane" || exit 1; done
}

# among METHOD...: those of them that $methods asks for.
among() { for m; do case " $methods " in *" $m "*) echo "$m" ;; esac; done; }

# Means over parts, from a line a part on standard input.
mean() { awk '{ sum += $1 } END { printf "%.'"${1:-2}"'f", NR ? sum / NR : 0 }'; }
deviation() { awk '{ n++; s += $1; q += $1 * $1 } END { v = n > 1 ? (q - s * s / n) / (n - 1) : 0; printf "%.2f", sqrt(v > 0 ? v : 0) }'; }

# paired_t: two-sided p-value of the paired t-test, from lines `a b`, a part each; the density is integrated by
# Simpson's rule.
paired_t() {
    awk '{ d = $2 - $1; n++; s += d; q += d * d }
        function density(x) { return exp(-(df + 1) / 2 * log(1 + x * x / df)) }
        function area(a, b, k,    i, h, sum) {
            h = (b - a) / k
            for (i = 0; i <= k; i++) sum += (i == 0 || i == k ? 1 : i % 2 ? 4 : 2) * density(a + i * h)
            return sum * h / 3
        }
        END {
            df = n - 1
            v = n > 1 ? (q - s * s / n) / df : 0
            if (v <= 0) { print s == 0 ? "1.000" : "-"; exit }
            t = s / n / sqrt(v / n)
            t = t < 0 ? -t : t
            inside = area(0, atan2(t, 1) > 1.56 ? 90 : t, 20000)
            p = 1 - inside / area(0, 2000, 400000)
            printf p < 0.001 ? "%.1e" : "%.3f", p < 0 ? 0 : p
        }'
}
