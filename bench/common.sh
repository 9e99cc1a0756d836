# common.sh -- what the sections of run.sh share: running pinned, noting, medians, tables.
# Sourced; expects $work, $core, $cores.

say() { echo "bench: $*" >&2; }

# pinned OUT COMMAND...: on one core; its log goes to $work/log, time and memory to OUT.
pinned() {
    out_=$1
    shift
    taskset -c "$core" "$work/measure" "$out_" "$@" >"$work/log" 2>&1 ||
        { say "failed: $*"; tail -n 5 "$work/log" >&2; exit 1; }
}

pinned_two() {
    out_=$1
    shift
    taskset -c "$cores" "$work/measure" "$out_" "$@" >"$work/log" 2>&1 ||
        { say "failed: $*"; tail -n 5 "$work/log" >&2; exit 1; }
}

# note KEY VALUE: one more measurement.  median KEY: of all of them; nothing when there is none.
note() { [ -z "$2" ] || echo "$2" >>"$work/notes/$1"; }

median() { [ ! -s "$work/notes/$1" ] || middle <"$work/notes/$1"; }

middle() {
    sort -g | awk '{ x[NR] = $1 } END { if (NR) print (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'
}

# note_run KEY OUT: wall time and peak memory of a run.
note_run() {
    note "$1.wall" "$(cut -d' ' -f1 "$2")"
    note "$1.kb" "$(cut -d' ' -f2 "$2")"
}

# cell FORMAT VALUE [FACTOR]: a table cell; a dash when there is no value.
cell() {
    if [ -n "$2" ]; then
        awk -v f="$1" -v x="$2" -v k="${3:-1}" 'BEGIN { printf f, x * k }'
    else
        printf '–'
    fi
}

# ratio OURS THEIRS: how many times theirs is ours.
ratio() {
    if [ -n "$1" ] && [ -n "$2" ]; then
        awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f×", b / a }'
    else
        printf '–'
    fi
}

# ---- what the programs say -----------------------------------------------------------------

# Seconds per iteration, the median of a run but for its first iterations, which have more steps
# of the line search.
seconds_ours() {
    awk -F'[:,]' '/^\{"iteration"/ { if ($2 > 2) print $4 - last; last = $4 }' "$1" | middle
}
seconds_crfsuite() {
    awk '/^Seconds required for this iteration/ { if (++n > 1) print $NF }' "$1" | middle
}
seconds_wapiti() {
    sed -n 's/^ *\[ *\([0-9]*\)\].*time=\([0-9.]*\)s.*/\1 \2/p' "$1" |
        awk '$1 > 1 { print $2 }' | middle
}
seconds_crfpp() { # only a total is given
    awk '/^iter=/ { n++ } /^Done!/ { sub(/Done!/, ""); s = $1 } END { if (n) print s / n }' "$1"
}

# The exact objective at the end of a run of ours.
objective_ours() { sed -n 's/.*"result":.*"objective":\([0-9.e+-]*\).*/\1/p' "$1"; }

# Seconds from start until the objective of ours is at most $2, and the iterations.
ours_until() {
    sed -n 's/^{"iteration":\([0-9]*\),"seconds":\([^,]*\),.*"objective":\([^,]*\),.*/\3 \2 \1/p' "$1" |
        awk -v most="$2" '$1 <= most { print $2, $3; exit }'
}

# The same of CRFsuite: reading, features, iterations.
crfsuite_until() {
    awk -v most="$2" '/^Seconds required:/ && !n { t += $NF } /^Loss:/ { loss = $2 }
        /^Seconds required for this iteration/ { n++; t += $NF
            if (loss <= most) { print t, n; exit } }' "$1"
}
