# common.sh -- what the recipes share: options, data, fits, numbers for the tables.  Sourced.
#
#     experiments/NAME.sh [--sample] [--keep] [--data DIR] [--work DIR] [--out DIR]
#
# --sample  a few seconds on the sample corpus, to see that the recipe works
# --keep    what was trained by an earlier call of the same recipe is not trained again
# --data    the folder of the corpora (default $TRELLIS_DATA)
# --work    models, records, tagged files (default $BUILD/experiments/NAME)
# --out     the page and its plots (default docs/results; with --sample the work folder)
# --treebank TRAIN DEV, --length N: recipes of trees: these files instead of the corpora, sentences of
#           at most N words (may be given again; LENGTHS='15 40' is the same)
#
# --parallel DIR: recipes of translation: this parallel text instead (parallel.sh)
#
# Corpora are read from $TRELLIS_DATA, by default ../shared/data beside the project.  THREADS=N: threads
# of a training run (default: one per processor); models do not depend on it.
set -euo pipefail
export LC_ALL=C
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD:-build}
case $build in /*) ;; *) build=$top/$build ;; esac
trellis=${TRELLIS:-$build/trellis}
data=${TRELLIS_DATA:-$top/../shared/data}
templates=$top/experiments/templates
name=$(basename "$0" .sh)
threads=${THREADS:-0}
sample='' keep='' work='' out='' bank_train='' bank_dev='' parallel='' lengths=${LENGTHS-}
while [ $# -gt 0 ]; do
    case $1 in
    --sample) sample=yes ;;
    --keep) keep=yes ;;
    --data) data=$2 && shift ;;
    --work) work=$2 && shift ;;
    --out) out=$2 && shift ;;
    --treebank) bank_train=$2 bank_dev=$3 && shift 2 ;;
    --parallel) parallel=$2 && shift ;;
    --length) lengths="$lengths $2" && shift ;;
    *) echo "usage: $0 [--sample] [--keep] [--data DIR] [--work DIR] [--out DIR] [--treebank TRAIN DEV] [--length N] [--parallel DIR]" >&2 && exit 2 ;;
    esac
    shift
done
work=${work:-$build/experiments/$name}
out=${out:-$([ -z "$sample" ] && echo "$top/docs/results" || echo "$work")}
[ -n "$keep" ] || rm -rf "$work"
mkdir -p "$work/runs" "$out"
[ -x "$trellis" ] || { echo "no program at $trellis: run make first" >&2; exit 1; }

say() { echo "$name: $*" >&2; }

need() { # FILE...: a corpus that must be there
    local f
    for f; do
        [ -e "$f" ] || { echo "$f is not there: set TRELLIS_DATA to the folder of the corpora" >&2; exit 1; }
    done
}

# Sequences of column files.
count() { awk 'NF { if (!on) n++; on = 1; next } { on = 0 } END { print n + 0 }' "$1"; }
from_to() { # FIRST LAST FILE: sequences, counted from 1
    awk -v a="$1" -v b="$2" 'NF { if (!on) n++; on = 1; if (n >= a && n <= b) print; next }
        { if (on && n >= a && n <= b) print ""; on = 0 }' "$3"
}

# Chunks: noun phrases alone.
np_only() { awk 'NF { print $1, $2, $3 ~ /-NP$/ ? $3 : "O"; next } { print "" }' "$1"; }

# Named entities: a first token "<s>", O, before every sequence, so that every word has a source
# label; and a template with pairs of labels in every line: the next-label classifiers of the papers,
# one per source, with no weight in common.
begun() {
    awk 'NF { if (!on) { for (i = 1; i < NF; i++) printf "<s> "; print "O" } on = 1; print; next }
        { on = 0; print "" }' "$1"
}
per_source() { sed 's/^\*/b:/; s/^u:/b:/' "$1"; }

# both_sides TEMPLATE: and every line with text once more for the token before, with pairs of labels: a
# factor of two labels then sees the text of the first as it sees that of the second.
both_sides() {
    cat "$1"
    awk '/^(\*|u:).*%/ {
        sub(/^(\*|u:)/, "b:left ")
        for (left = ""; match($0, /%[xmt]\[-?[0-9]+,/); $0 = substr($0, RSTART + RLENGTH))
            left = left substr($0, 1, RSTART + 2) substr($0, RSTART + 3, RLENGTH - 4) - 1 ","
        print left $0
    }' "$1"
}

# little FILE: the start of a sample file, in the work folder, for --sample.
little() {
    [ -e "$1" ] || { echo "$1 is not there: run make corpus first" >&2; exit 1; }
    from_to 1 60 "$1" >"$work/little.$(basename "$1")"
    echo "$work/little.$(basename "$1")"
}

# ---- fits ---------------------------------------------------------------------------------
# fit NAME FILES... -- [OPTION]...   files: template train held-out test; the grid is in $grid.
# Leaves NAME.model, NAME.table (of the grid), NAME.time (wall and processor seconds of the whole
# grid), NAME.out (the test data tagged), NAME.key (a number for all it was made of) and
# runs/NAME/c-*.json.  What another recipe made of the same is taken over: $borrow names it.
take_over() { # NAME KEY RECORDS EXTENSION...
    local n=$1 key=$2 records=$3 from=$build/experiments/${borrow-} e
    shift 3
    if [ -z "${borrow-}" ] || [ -e "$work/$n.out" ] || [ ! -e "$from/$n.out" ] ||
        [ "$key" != "$(cat "$from/$n.key" 2>/dev/null)" ]; then
        return 0
    fi
    say "$n: as in $borrow"
    for e in model time key "$@"; do cp "$from/$n.$e" "$work/"; done
    cp -r "$from/runs/$records" "$work/runs/"
    cp "$from/$n.out" "$work/"
}
fit() {
    local n=$1 template=$2 train=$3 held=$4 test=$5 key
    shift 6
    key=$({ cat "$template" "$train" "$held" "$test"; echo "$grid ${cold-} $*"; } | cksum)
    take_over "$n" "$key" "$n" table
    if [ ! -e "$work/$n.out" ]; then
        say "$n"
        local TIMEFORMAT='%R %U %S'
        { time "$trellis" tune -q -j "$threads" -t "$template" -m "$work/$n.model" -d "$held" -g "$grid" \
            --records "$work/runs/$n" ${cold:+--cold} "$@" "$train" >"$work/$n.table"; } 2>"$work/$n.time" ||
            { cat "$work/$n.time" >&2; exit 1; }
        "$trellis" tag -m "$work/$n.model" "$test" >"$work/$n.tmp"
        echo "$key" >"$work/$n.key"
        mv "$work/$n.tmp" "$work/$n.out"
    fi
}

# train_once NAME TEMPLATE TRAIN TEST [OPTION]...: one model, no grid.
train_once() {
    local n=$1 template=$2 train=$3 test=$4 key
    shift 4
    key=$({ cat "$template" "$train" "$test"; echo "$*"; } | cksum)
    take_over "$n" "$key" "$n.json"
    if [ ! -e "$work/$n.out" ]; then
        say "$n"
        local TIMEFORMAT='%R %U %S'
        { time "$trellis" train -q -j "$threads" -t "$template" -m "$work/$n.model" --json "$work/runs/$n.json" \
            "$@" "$train"; } 2>"$work/$n.time" || { cat "$work/$n.time" >&2; exit 1; }
        "$trellis" tag -m "$work/$n.model" "$test" >"$work/$n.tmp"
        echo "$key" >"$work/$n.key"
        mv "$work/$n.tmp" "$work/$n.out"
    fi
}

# ---- numbers ------------------------------------------------------------------------------
field() { sed -n 's/.*[{,]"'"$2"'":\([^,}]*\).*/\1/p' "$1" | tail -n 1; } # RECORD NAME: in its result
best_row() { awk 'NR > 1 && $3 != "-" && (best == "" || $3 > best) { best = $3; row = $0 } END { print row }' "$work/$1.table"; }
chosen_c() { best_row "$1" | awk '{ print $1 == "-" ? "none" : $1 }'; }
held_score() { best_row "$1" | awk '{ print $3 }'; }
seconds() { awk 'END { printf "%.1f", $2 + $3 }' "$work/$1.time"; } # of the processor, whole grid
wall() { awk 'END { printf "%.1f", $1 }' "$work/$1.time"; }
prf() { # NAME: precision recall F1 on the test data
    "$trellis" score chunks "$work/$1.out" |
        sed -n '2s/.*precision: *\([0-9.]*\)%; recall: *\([0-9.]*\)%; FB1: *\([0-9.]*\).*/\1 \2 \3/p'
}
f1() { prf "$1" | awk '{ print $3 }'; }
accuracy() { "$trellis" score tokens "$work/$1.out" | sed -n 's/^accuracy: *\([0-9.]*\)%.*/\1/p'; }

# pvalue TEST A B: mcnemar, paired_t, wilcoxon or bootstrap, of B against A on the test data.
pvalue() {
    "$trellis" compare --json "$test" "$work/$2.out" "$work/$3.out" |
        sed -n 's/.*"'"$1"'":{[^}]*"p":\([^,}]*\)}.*/\1/p' | awk '{ printf $1 < 0.001 ? "%.1e" : "%.3f", $1 }'
}

# How and where: a sentence for the page.
made_by() {
    local cpu
    cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)
    echo "Made by \`${C2:+C2=$C2 }${SIZE:+SIZE=$SIZE }${GRID:+GRID=$GRID }${LARGE:+LARGE='$LARGE' }${SMALL:+SMALL='$SMALL' }${WORDS:+WORDS='$WORDS' }${LINKS:+LINKS=$LINKS }${GRADE:+GRADE=$GRADE }${ABLATE:+ABLATE='$ABLATE' }${FOLDS:+FOLDS=$FOLDS }$([ "${CLUSTERS-}" != none ] || echo 'CLUSTERS=none ')make experiment-$name\`, $("$trellis" --version), $(nproc) processors (${cpu:-unknown}), load"
    echo "average at its end $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown)."
    [ -z "$sample" ] || echo "This is the sample run: the numbers mean nothing."
}

# What was found, kept by hand in experiments/notes/NAME.md, goes to the end of the page.
notes() {
    if [ -z "$sample" ] && [ -e "$top/experiments/notes/$name.md" ]; then
        echo
        cat "$top/experiments/notes/$name.md"
    fi
}

# The page that was written to $work goes to its place, and is shown.
publish() {
    mv "$work/page.md" "$out/$name.md"
    cat "$out/$name.md"
}
