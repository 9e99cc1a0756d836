#!/bin/sh
# Trellis beside CRFsuite, Wapiti and CRF++: the same work, one core, one run.
#
#     bench/run.sh [SECTION]...     iteration optimum score tagging memory kernels trees asks; default: all
#
# Prints tables in Markdown on standard output, progress on standard error.  Every measurement is
# repeated, the programs taking turns; tables show medians.  A program that is not there has a
# dash.  From the environment:
#
#     TRELLIS       the program                    (build/trellis)
#     TRELLIS_DATA  folder with conll2000/         (../shared/data)
#     CRFSUITE, WAPITI, CRF_LEARN, CRF_TEST        (found by PATH; "none" leaves one out)
#     CORE, CORES   one core, two cores            (1 and 0,1)
#     REPEAT        repetitions                    (3; with QUICK 1)
#     QUICK=1       fewer iterations, without the slowest peers: 3 minutes instead of 20
#     WORK          folder to work in and to keep  (a new one that is removed)
set -eu
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
trellis=${TRELLIS:-$root/build/trellis}
data=${TRELLIS_DATA:-$root/../shared/data}/conll2000
quick=${QUICK:+1}
repeat=${REPEAT:-$([ -n "$quick" ] && echo 1 || echo 3)}
core=${CORE:-$([ "$(nproc)" -gt 1 ] && echo 1 || echo 0)}
cores=${CORES:-$([ "$(nproc)" -gt 1 ] && echo 0,1 || echo 0)}
[ -x "$trellis" ] || { echo "bench: no program at $trellis: run make first" >&2; exit 1; }
[ -r "$data/train.txt" ] || { echo "bench: no CoNLL-2000 data in $data: set TRELLIS_DATA" >&2; exit 1; }

# The minimum of the objective on the training data, c2 = 1, from runs far beyond the usual end; the
# second with all pairs and padding (7,448,606 features).
optimum_sparse=13139.27
optimum_dense=11369.155

if [ -n "${WORK:-}" ]; then
    work=$WORK
    mkdir -p "$work"
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' INT TERM
fi
rm -rf "$work/notes"
mkdir -p "$work/notes"
. "$here/common.sh"

# peer NAME GIVEN: its path, or nothing.
peer() {
    if [ "$2" = none ]; then return 0; fi
    if [ -n "$2" ]; then command -v "$2" || { say "no program at $2"; exit 1; }; return 0; fi
    command -v "$1" || say "$1 is not there and is left out"
}
crfsuite=$(peer crfsuite "${CRFSUITE:-}")
wapiti=$(peer wapiti "${WAPITI:-}")
crf_learn=$(peer crf_learn "${CRF_LEARN:-}")
crf_test=$(peer crf_test "${CRF_TEST:-}")
[ -z "$quick" ] || crf_learn= crf_test= wapiti=
no_dense=$quick # CRFsuite needs half a minute for all pairs

${CC:-cc} -O2 -o "$work/measure" "$here/measure.c"

# ---- data -----------------------------------------------------------------------------------

make_data() {
    say "making items"
    for set in $1; do
        for part in train test; do
            [ -s "$work/$set.$part" ] ||
                awk -f "$here/items.awk" -v set=$set "$data/$part.txt" >"$work/$set.$part"
        done
    done
    [ -z "$wapiti" ] || awk -F'\t' '{ s = ""; for (i = 2; i <= NF; i++) s = s "u" $i " "
        print NF ? s "b " $1 : "" }' "$work/chunk.train" >"$work/chunk.wapiti"
    # Wapiti decodes its development data after every iteration, or else the training data.
    awk '{ print } NF == 0 { exit }' "$work/chunk.wapiti" >"$work/tiny.wapiti" 2>/dev/null || :
    awk '{ print } NF == 0 { exit }' "$data/train.txt" >"$work/tiny.txt"
    for i in 1 2 3 4 5 6 7 8 9 10; do cat "$work/chunk.test"; done >"$work/chunk.test10"
    for i in 1 2 3 4 5 6 7 8 9 10; do cat "$data/test.txt"; echo; done >"$work/test10.txt"
}

# ---- runs of the programs -------------------------------------------------------------------

# ours KEY RUNNER OPTION... FILE: a training run; leaves $work/ours.model and $work/ours.json.
ours() {
    key=$1 runner=$2
    shift 2
    "$runner" "$work/out" "$trellis" train -q -m "$work/ours.model" --json "$work/ours.json" "$@"
    note_run "$key" "$work/out"
    note "$key.s" "$(seconds_ours "$work/ours.json")"
    note "$key.bytes" "$(wc -c <"$work/ours.model")"
}

# theirs KEY OPTION... FILE: CRFsuite; leaves $work/crfsuite.model and the log.
theirs() {
    [ -n "$crfsuite" ] || return 0
    key=$1
    shift
    pinned "$work/out" "$crfsuite" learn -m "$work/crfsuite.model" "$@"
    note_run "$key" "$work/out"
    note "$key.s" "$(seconds_crfsuite "$work/log")"
    note "$key.bytes" "$(wc -c <"$work/crfsuite.model")"
}

run_wapiti() { # KEY ITERATIONS
    [ -n "$wapiti" ] || return 0
    pinned "$work/out" "$wapiti" train -a l-bfgs -t 1 -1 0 -2 2 -w 0 -i "$2" \
        -d "$work/tiny.wapiti" "$work/chunk.wapiti" "$work/wapiti.model"
    note_run "$1" "$work/out"
    note "$1.s" "$(seconds_wapiti "$work/log")"
    note "$1.bytes" "$(wc -c <"$work/wapiti.model")"
}

run_crfpp() { # KEY ITERATIONS
    [ -n "$crf_learn" ] || return 0
    pinned "$work/out" "$crf_learn" -p 1 -c 0.5 -m "$2" "$here/chunk.template" \
        "$data/train.txt" "$work/crfpp.model"
    note_run "$1" "$work/out"
    note "$1.s" "$(seconds_crfpp "$work/log")"
    note "$1.bytes" "$(wc -c <"$work/crfpp.model")"
}

rounds() { seq 1 "$1"; }

# ---- sections -------------------------------------------------------------------------------

all_pairs="--pairs all --transitions all"
their_pairs="-p feature.possible_states=1 -p feature.possible_transitions=1"

iteration_case() { # NAME SET ITERATIONS REPEAT OUR-OPTIONS THEIR-OPTIONS
    for r in $(rounds "$4"); do
        say "$1, round $r"
        ours "it.$1.ours" pinned --optimizer lbfgs --c2 1 --max-iter "$3" $5 "$work/$2.train"
        [ "$1$no_dense" = dense1 ] ||
            theirs "it.$1.crfsuite" -a lbfgs -p c2=1 -p max_iterations="$3" $6 "$work/$2.train"
        ours "it.$1.two" pinned_two -j 2 --optimizer lbfgs --c2 1 --max-iter "$3" $5 \
            "$work/$2.train"
        [ "$1$no_dense" != dense ] || run_wapiti it.dense.wapiti "$3"
    done
    # One run of CRF++ suffices: its iterations take seconds.
    [ "$1" != dense ] || run_crfpp it.dense.crfpp 3
}

iteration_row() { # NAME TEXT
    o=$(median "it.$1.ours.s") c=$(median "it.$1.crfsuite.s") w=$(median "it.$1.wapiti.s")
    p=$(median "it.$1.crfpp.s") two=$(median "it.$1.two.s")
    echo "| $2 | $(cell %.4f "$o") | $(cell %.4f "$two") | $(cell %.3f "$c") | $(cell %.2f "$w")" \
        "| $(cell %.2f "$p") | $(ratio "$o" "$c") | $(ratio "$o" "$w") | $(ratio "$two" "$o") |"
}

iteration_runs() {
    [ -z "${iterated:-}" ] || return 0
    iterated=yes
    n=$([ -n "$quick" ] && echo 6 || echo 12)
    iteration_case sparse chunk "$n" "$repeat" "" ""
    iteration_case pos pos "$n" "$repeat" "" ""
    [ -n "$quick" ] || iteration_case np np "$n" "$repeat" "" ""
    # As many iterations here: the first ones touch the pages of the history for the first time,
    # which takes as long again where a system has to find them.
    iteration_case dense chunk "$n" $(((repeat + 1) / 2)) "$all_pairs" "$their_pairs"
}

section_iteration() {
    iteration_runs
    echo "### Seconds per L-BFGS iteration"
    echo
    echo "| CoNLL-2000, c2 = 1 | Trellis | 2 threads | CRFsuite | Wapiti | CRF++ | CRFsuite /" \
        "Trellis | Wapiti / Trellis | 1 / 2 threads |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    iteration_row sparse "chunks, 22 labels, pairs seen"
    iteration_row pos "parts of speech, 44 labels, pairs seen"
    [ -n "$quick" ] || iteration_row np "noun phrases, 3 labels, pairs seen"
    iteration_row dense "chunks, all pairs"
    echo
}

# The fewest passes of sdca after which the exact objective, which stands at the end of the
# record, is at most MOST; looked for from PASSES on, up or down.
sdca_passes() { # MOST PASSES OPTIONS FILE
    n=$2 best= tries=0
    while [ $tries -lt 15 ] && [ "$n" -gt 0 ]; do
        tries=$((tries + 1))
        pinned "$work/out" "$trellis" train -q -m "$work/ours.model" --json "$work/ours.json" \
            --optimizer sdca --c2 1 --max-iter "$n" $3 "$4"
        if awk -v a="$(objective_ours "$work/ours.json")" -v b="$1" 'BEGIN { exit !(a <= b) }'
        then
            best=$n n=$((n - 1))
        elif [ -n "$best" ]; then
            break
        else
            n=$((n + 1))
        fi
    done
    echo "${best:-$n}"
}

optimum_case() { # NAME OPTIMUM ITERATIONS FILE OUR-OPTIONS THEIR-OPTIONS
    most=$(awk -v x="$2" 'BEGIN { printf "%.3f", x * 1.001 }')
    say "$1: passes of sdca to $most"
    sdca=$(sdca_passes "$most" 9 "$5" "$4")
    note "opt.$1.sdca.passes" "$sdca"
    for r in $(rounds "$repeat"); do
        say "$1: to the optimum, round $r"
        ours "opt.$1.sdca" pinned --optimizer sdca --c2 1 --max-iter "$sdca" $5 "$4"
        note "opt.$1.sdca.objective" "$(objective_ours "$work/ours.json")"
        ours "opt.$1.end" pinned --optimizer sdca --c2 1 $5 "$4"
        note "opt.$1.end.objective" "$(objective_ours "$work/ours.json")"
        ours "opt.$1.lbfgs" pinned --optimizer lbfgs --c2 1 --max-iter "$3" $5 "$4"
        reached "opt.$1.lbfgs" $(ours_until "$work/ours.json" "$most")
        [ "$r" = 1 ] && [ -n "$crfsuite" ] || continue # once: a minute or two
        theirs "opt.$1.crfsuite" -a lbfgs -p c2=1 -p max_iterations="$3" $6 "$4"
        reached "opt.$1.crfsuite" $(crfsuite_until "$work/log" "$most")
    done
}

reached() { # KEY [SECONDS PASSES]
    note "$1.until" "${2:-}"
    note "$1.passes" "${3:-}"
}

optimum_row() { # NAME TEXT
    s=$(median "opt.$1.sdca.wall") e=$(median "opt.$1.end.wall") l=$(median "opt.$1.lbfgs.until")
    c=$(median "opt.$1.crfsuite.until")
    echo "| $2 | $(cell '%.2f' "$s") ($(cell %d "$(median "opt.$1.sdca.passes")"))" \
        "| $(cell '%.2f' "$l") ($(cell %d "$(median "opt.$1.lbfgs.passes")"))" \
        "| $(cell '%.1f' "$c") ($(cell %d "$(median "opt.$1.crfsuite.passes")"))" \
        "| $(ratio "$s" "$c") | $(ratio "$l" "$c")" \
        "| $(cell '%.2f' "$e"), $(cell '%.3f' "$(median "opt.$1.end.objective")") |"
}

section_optimum() {
    optimum_case sparse $optimum_sparse 125 "$work/chunk.train" "" ""
    [ -n "$quick" ] ||
        optimum_case dense $optimum_dense 125 "$work/padded.train" "$all_pairs" "$their_pairs"
    echo "### Seconds from start to within 0.1 % of the optimum (passes over the data)"
    echo
    echo "Reading and features included. sdca: the whole process, model written; lbfgs: until the"
    echo "objective is there. Optima: $optimum_sparse and $optimum_dense. Last column: sdca until it"
    echo "stops by itself, model written, and where."
    echo
    echo "| chunks, c2 = 1 | Trellis sdca | Trellis lbfgs | CRFsuite lbfgs | CRFsuite / sdca |" \
        "CRFsuite / lbfgs | sdca to its end |"
    echo "| --- | --- | --- | --- | --- | --- | --- |"
    optimum_row sparse "pairs seen"
    [ -n "$quick" ] || optimum_row dense "all pairs, with padding"
    echo
}

f1_of() { "$trellis" score chunks "$1" | sed -n 's/.*FB1: *\([0-9.]*\).*/\1/p' | head -n 1; }

score_ours() { # KEY OPTION...
    key_=$1
    shift
    ours "$key_" pinned "$@" "$work/chunk.train"
    "$trellis" tag -r -m "$work/ours.model" "$work/chunk.test" >"$work/tagged"
    note "$key_.f1" "$(f1_of "$work/tagged")"
}

score_theirs() { # KEY OPTION...
    [ -n "$crfsuite" ] || return 0
    key_=$1
    shift
    theirs "$key_" "$@" "$work/chunk.train"
    "$crfsuite" tag -r -m "$work/crfsuite.model" "$work/chunk.test" >"$work/tagged"
    note "$key_.f1" "$(f1_of "$work/tagged")"
}

score_row() { # KEY TEXT
    [ -s "$work/notes/$1.wall" ] || return 0
    echo "| $2 | $(cell %.2f "$(median "$1.wall")") | $(cell %.2f "$(median "$1.f1")") |"
}

# Chooses c2 for six passes of sdca, which is what a second and a half allow, by FB1 on the last 936
# sentences of the training data, trained on the others.
passes=6
choose() {
    awk -v a="$work/held.train" -v b="$work/held.dev" '{ print > (n < 8000 ? a : b) }
        NF == 0 { n++ }' "$work/chunk.train"
    for c2 in 0.25 0.5 1 2; do
        pinned "$work/out" "$trellis" train -q -m "$work/ours.model" --json "$work/ours.json" \
            --optimizer sdca --c2 $c2 --max-iter $passes --dev "$work/held.dev" "$work/held.train"
        echo "$c2 $(sed -n "s/^{\"iteration\":$passes,[^}]*\"dev\":\([0-9.]*\).*/\1/p" "$work/ours.json")"
    done | sort -k2,2gr | awk '{ printf "%s%s: %.2f", n++ ? ", " : $1 " ", $1, $2 }'
}

section_score() {
    say "choosing c2 on held-out data"
    read -r c2 held <<EOF
$(choose)
EOF
    say "c2 $c2; held-out FB1 $held"
    for r in $(rounds "$repeat"); do
        say "score against time, round $r"
        score_ours sc.sdca --optimizer sdca --c2 "$c2" --max-iter "$passes"
        score_ours sc.sdca9 --optimizer sdca --c2 1 --max-iter 9
        score_ours sc.asgd --optimizer asgd --c2 1 --max-iter 8
        score_ours sc.perceptron --objective perceptron --max-iter 10
        [ "$r" -le 2 ] || continue
        for n in $([ -n "$quick" ] && echo 5 || echo 3 5 10); do
            score_theirs sc.pa$n -a pa -p max_iterations=$n
            score_theirs sc.ap$n -a ap -p max_iterations=$n
        done
    done
    echo "### Test FB1 against seconds from start to the written model"
    echo
    echo "The c2 of the first row was chosen on the last 936 sentences of the training data, by FB1 after" \
        "$passes passes over the others ($held)."
    echo
    echo "| chunks, pairs seen | seconds | FB1 |"
    echo "| --- | --- | --- |"
    score_row sc.sdca "Trellis sdca, c2 = $c2, $passes passes"
    score_row sc.sdca9 "Trellis sdca, c2 = 1, 9 passes"
    score_row sc.asgd "Trellis asgd, c2 = 1, 8 passes"
    score_row sc.perceptron "Trellis perceptron, 10 passes"
    for n in 3 5 10; do score_row sc.pa$n "CRFsuite pa, $n passes"; done
    for n in 3 5 10; do score_row sc.ap$n "CRFsuite ap, $n passes"; done
    echo
}

# tag_case KEY SMALL LARGE COMMAND...: the command gets the file last; LARGE is ten times SMALL.
tag_case() {
    key_=$1 small=$2 large=$3
    shift 3
    pinned "$work/out" "$@" "$small"
    note "$key_.one" "$(cut -d' ' -f1 "$work/out")"
    pinned "$work/out" "$@" "$large"
    note "$key_.ten" "$(cut -d' ' -f1 "$work/out")"
}

tag_row() { # KEY TEXT BASE
    one=$(median "$1.one") ten=$(median "$1.ten")
    [ -n "$ten" ] || return 0
    echo "$one $ten $(median "$3.one") $(median "$3.ten")" | awk -v n="$tokens" -v t="$2" '{
        rate = $2 > $1 ? 9 * n / ($2 - $1) : 0; base = 9 * n / ($4 - $3)
        printf "| %s | %.3f | %d | %d | %.1f× |\n", t, $1, 10 * n / $2, rate, base / rate }'
}

section_tagging() {
    tokens=$(awk 'NF { n++ } END { print n }' "$data/test.txt")
    say "models to tag with"
    ours tag.m pinned --optimizer lbfgs --max-iter 5 "$work/chunk.train"
    mv "$work/ours.model" "$work/items.model"
    ours tag.m pinned --optimizer lbfgs --max-iter 3 --pairs all -t "$here/chunk.template" \
        "$data/train.txt"
    mv "$work/ours.model" "$work/columns.model"
    theirs tag.t -a lbfgs -p c2=1 -p max_iterations=5 "$work/chunk.train"
    [ -s "$work/crfpp.model" ] || run_crfpp tag.p 1
    [ -z "$wapiti" ] || pinned "$work/out" "$wapiti" train -a l-bfgs -t 1 -1 0 -2 2 -w 0 -i 2 \
        -d "$work/tiny.txt" -p "$here/chunk.template" "$data/train.txt" "$work/columns.wapiti"
    for r in $(rounds "$repeat"); do
        say "tagging, round $r"
        tag_case tag.ours "$work/chunk.test" "$work/chunk.test10" \
            "$trellis" tag -m "$work/items.model" -o /dev/null
        [ -z "$crfsuite" ] || tag_case tag.crfsuite "$work/chunk.test" "$work/chunk.test10" \
            "$crfsuite" tag -m "$work/crfsuite.model"
        tag_case tag.columns "$data/test.txt" "$work/test10.txt" \
            "$trellis" tag -m "$work/columns.model" -o /dev/null
        [ -z "$crf_test" ] || tag_case tag.crfpp "$data/test.txt" "$work/test10.txt" \
            "$crf_test" -m "$work/crfpp.model" -o /dev/null
        [ -z "$wapiti" ] || tag_case tag.wapiti "$data/test.txt" "$work/test10.txt" \
            "$wapiti" label -c -m "$work/columns.wapiti"
    done
    echo "### Tagging, $tokens tokens and ten times as many"
    echo
    echo "| | seconds, whole process | tokens/s, ten times the data | without start-up |" \
        "Trellis is faster by |"
    echo "| --- | --- | --- | --- | --- |"
    tag_row tag.ours "Trellis, from items" tag.ours
    tag_row tag.crfsuite "CRFsuite, from items" tag.ours
    tag_row tag.columns "Trellis, from columns, all pairs" tag.columns
    tag_row tag.crfpp "CRF++, from columns" tag.columns
    tag_row tag.wapiti "Wapiti, from columns" tag.columns
    echo
}

memory_row() { # KEY TEXT
    [ -s "$work/notes/$1.kb" ] || return 0
    echo "| $2 | $(cell %.0f "$(median "$1.kb")" 0.001024) | $(cell %.1f "$(median "$1.bytes")" 1e-6) |"
}

section_memory() {
    iteration_runs
    echo "### Peak memory of L-BFGS training, and size of the model"
    echo
    echo "| | memory, MB | model, MB |"
    echo "| --- | --- | --- |"
    memory_row it.sparse.ours "chunks, pairs seen: Trellis"
    memory_row it.sparse.crfsuite "chunks, pairs seen: CRFsuite"
    memory_row it.dense.ours "chunks, all pairs: Trellis"
    memory_row it.dense.crfsuite "chunks, all pairs: CRFsuite"
    memory_row it.dense.wapiti "chunks, all pairs: Wapiti"
    memory_row it.dense.crfpp "chunks, all pairs: CRF++"
    echo
}

section_kernels() {
    make -s -C "$root" build/bench/kernels || { say "no kernels"; return 0; }
    say "kernels"
    taskset -c "$core" "$root/build/bench/kernels" >"$work/kernels.json"
    echo "### Kernels: beside the plain loops that test them"
    echo
    echo "| kernel | size | ns a call | plain, ns | faster by | GFlop/s | GB/s |"
    echo "| --- | --- | --- | --- | --- | --- | --- |"
    sed 's/[{}"]//g; s/\([:,]\) /\1/g' "$work/kernels.json" | awk -F'[:,]' '{
        for (i = 1; i < NF; i += 2) v[$i] = $(i + 1)
        printf "| %s | %s | %.1f | %.1f | %.1f× | %.1f | %.1f |\n", v["kernel"], v["size"],
            v["ns"], v["plain_ns"], v["plain_ns"] / v["ns"], v["gflops"], v["gbytes"] }'
    echo
}

# Trees: charts alone, then training and parsing of the WSJ sample up to 40 words.
section_trees() {
    local bank=${data%/*}/treebanks/wsj-sample k
    [ -r "$bank-train.mrg" ] && make -s -C "$root" build/bench/trees || { say "no trees"; return 0; }
    say "trees"
    echo "### Trees: WSJ sample, at most 40 words, one thread"
    echo
    echo '```'
    taskset -c "$core" "$root/build/bench/trees" "$bank-train.mrg" "$bank-dev.mrg" 40
    "$trellis" trees --to words --max-length 40 "$bank-dev.mrg" >"$work/trees.words"
    "$trellis" trees --max-length 40 "$bank-dev.mrg" >"$work/trees.gold"
    taskset -c "$core" "$trellis" train --kind tree --threads 1 --max-length 40 \
        -m "$work/trees.model" "$bank-train.mrg" 2>&1 | grep -E '^(compiled|iteration|time) '
    taskset -c "$core" "$root/build/bench/trees" "$bank-train.mrg" "$bank-dev.mrg" 40 "$work/trees.model" | grep '^edge'
    for k in 1 2 3; do
        taskset -c "$core" "$trellis" parse -v -m "$work/trees.model" "$work/trees.words" 2>&1 \
            >"$work/trees.out" | tail -n 1
    done
    "$trellis" score trees --gold-tags "$work/trees.gold" "$work/trees.out" | grep -m 1 FMeasure
    echo '```'
    echo
}

. "$here/asks.sh"

[ $# -gt 0 ] || set -- iteration optimum score tagging memory kernels trees asks
for name; do
    case $name in
    iteration | optimum | score | tagging | memory | kernels | trees | asks) ;;
    *) say "no section '$name': iteration optimum score tagging memory kernels trees asks"; exit 2 ;;
    esac
done
begun=$(date +%s)
np=$([ -n "$quick" ] || echo np)
sets=chunk
case " $* " in *" iteration "* | *" memory "*) sets="$sets pos $np" ;; esac
case " $* " in *" optimum "*) sets="$sets padded" ;; esac
make_data "$sets"
echo "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), core $core;" \
    "$("$trellis" --version)$(git -C "$root" rev-parse --short HEAD 2>/dev/null | sed 's/^/, commit /');" \
    "medians of $repeat."
echo
for name; do "section_$name"; done
say "took $(($(date +%s) - begun)) s"
