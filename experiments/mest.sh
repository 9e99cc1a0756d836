#!/bin/bash
# mest.sh -- Tables 1 and 2 and Figures 1 to 3 of Smith, Vail & Lafferty, Computationally efficient
# M-estimation of log-linear structure models (ACL 2007): noun phrases of CoNLL-2000 by an HMM, CRF,
# pseudolikelihood, MEMM and M-estimation, with the HMM's features and with Sha & Pereira's.
. "$(dirname "$0")/common.sh"

methods='likelihood pseudolikelihood memm m-estimation'
grid=${GRID:-0.1,0.2154,0.4642,1,2.154,4.642,10,none}
cold=yes # the time of a run is its own
stop='--max-iter 100'
sizes=${SIZES:-250 500 1000 2000 4000} few=2000
same_c='0.1 1 2.154 4.642 10 21.54'
train=$work/train held=$work/held test=$work/test
if [ -n "$sample" ]; then
    grid=1,none stop='--max-iter 5' sizes='30' few=30 same_c=1
    for part in train dev test; do np_only "$(little "$build/corpus/$part.chunk.txt")" >"$work/$part"; done
    held=$work/dev
else
    need "$data/conll2000/train.txt"
    np_only "$data/conll2000/train.txt" >"$work/all"
    np_only "$data/conll2000/test.txt" >"$test"
    all=$(count "$work/all")
    from_to 1 $((all - 900)) "$work/all" >"$train"
    from_to $((all - 899)) "$all" "$work/all" >"$held"
fi
cp "$templates/hmm.template" "$work/hmm.template"
cp "$templates/sha-pereira.template" "$work/ext.template"

# options METHOD FEATURES Q0
options() {
    echo "--objective $1 $stop"
    if [ "$1" = m-estimation ]; then echo "--q0 $3 --q0-cache $work/$2.$3.q0"; fi
}

# ---- Tables 1 and 2 -----------------------------------------------------------------------
train_once hmm "$work/hmm.template" "$train" "$test" --objective hmm --order 2
for features in hmm ext; do
    for m in $methods; do
        # shellcheck disable=SC2046
        fit "$features.$m" "$work/$features.template" "$train" "$held" "$test" -- $(options "$m" "$features" hmm)
    done
done
# The CRF at its optimum, not where 100 iterations leave it.
grid=${grid%,none} fit ext.converged "$work/ext.template" "$train" "$held" "$test" -- --objective likelihood \
    --optimizer sdca ${sample:+--max-iter 5}
for q0 in lu emp; do
    # shellcheck disable=SC2046
    fit "ext.$q0" "$work/ext.template" "$train" "$held" "$test" -- $(options m-estimation ext "$q0")
done
# shellcheck disable=SC2046
fit ext.lu-precision "$work/ext.template" "$train" "$held" "$test" -- $(options m-estimation ext lu) --select precision
for q0 in hmm emp; do
    for c in $same_c; do
        # shellcheck disable=SC2046
        train_once "ext.$q0.c$c" "$work/ext.template" "$train" "$test" $(options m-estimation ext "$q0") --c "$c"
    done
done

# ---- Figure 2: learning curves, c as chosen on all data -----------------------------------
echo "method sentences F1" >"$work/learning.table"
all=$(count "$train")
for n in $sizes; do
    [ "$n" -lt "$all" ] || continue
    from_to 1 "$n" "$train" >"$work/train.$n"
    train_once "hmm.$n" "$work/hmm.template" "$work/train.$n" "$test" --objective hmm --order 2
    echo "HMM $n $(f1 "hmm.$n")" >>"$work/learning.table"
    for m in $methods; do
        c=$(chosen_c "ext.$m")
        # shellcheck disable=SC2046
        train_once "ext.$m.$n" "$work/ext.template" "$work/train.$n" "$test" \
            $(options "$m" ext hmm | sed "s/hmm.q0/hmm.$n.q0/") $([ "$c" = none ] && echo --c2 0 || echo --c "$c")
        echo "$m $n $(f1 "ext.$m.$n")" >>"$work/learning.table"
    done
done
echo "HMM $all $(f1 hmm)" >>"$work/learning.table"
for m in $methods; do echo "$m $all $(f1 "ext.$m")" >>"$work/learning.table"; done

# ---- what local models see of the text to the right; c = 1, converged ---------------------
from_to 1 $few "$train" >"$work/train.few"
grep -v '[wt]+[12]' "$work/ext.template" >"$work/left.template"
for m in likelihood pseudolikelihood memm; do
    for f in ext left; do
        train_once "few.$f.$m" "$work/$f.template" "$work/train.few" "$test" --objective $m --optimizer sdca --c 1 \
            ${sample:+--max-iter 5}
    done
done
[ -e "$work/few.ext.memm-global.out" ] ||
    "$trellis" tag --decode global -m "$work/few.ext.memm.model" "$test" >"$work/few.ext.memm-global.out"
grep -v '^t$' "$work/ext.template" >"$work/order1.template"
train_once few.order1.memm "$work/order1.template" "$work/train.few" "$test" --objective memm --order 1 --optimizer sdca --c 1 \
    ${sample:+--max-iter 5}

# ---- Figure 1: time of a run; the expectations of q0, once --------------------------------
per_run() { # NAME: mean over its runs
    for f in "$work/runs/$1"/*.json; do field "$f" processor; done |
        awk -v all="$(seconds "$1")" -v n="$(($(wc -l <"$work/$1.table") - 1))" \
            '{ s += $1 } END { printf "%.2f", NR ? s / NR : all / n }'
}
expectations() { # seconds of E_q0[f] alone, as training reports them
    rm -f "$work/once.q0"
    "$trellis" train -t "$work/$1.template" --objective m-estimation --q0 "$2" --q0-cache "$work/once.q0" --c 1 \
        --max-iter 1 -m "$work/once.model" "$train" 2>&1 | sed -n 's/^expectations under q0.*: \([0-9.]* [a-z]*\).*/\1/p'
}
{
    echo "method seconds"
    echo "HMM $(seconds hmm)"
    for m in m-estimation memm pseudolikelihood likelihood; do echo "$m $(per_run "ext.$m")"; done
} >"$work/seconds.table"

# ---- the page -----------------------------------------------------------------------------
row() { # TITLE NAME PAPER-P PAPER-R PAPER-F
    local s c=- t p=-
    s=$(prf "$2")
    [ ! -e "$work/$2.table" ] || c=$(chosen_c "$2")
    if [ -e "$work/$2.table" ]; then t=$(per_run "$2"); else t=$(seconds "$2"); fi
    if [ "${6-}" ]; then p=$(pvalue mcnemar "$6" "$2"); fi
    echo "| $1 | $3 | $4 | $5 | ${s// / | } | $c | $t | $p |"
}
c_row() { # C
    local h e
    h=$(prf "ext.hmm.c$1") e=$(prf "ext.emp.c$1")
    echo "| $1 | ${h// / | } | ${e// / | } |"
}
few_row() { # TITLE METHOD
    local a b
    a=$(prf "few.ext.$2") b=$(prf "few.left.$2")
    echo "| $1 | ${a// / | } | ${b// / | } |"
}
head='| | paper: precision | recall | F1 | ours: precision | recall | F1 | c | processor seconds a run | McNemar p |
|---|---|---|---|---|---|---|---|---|---|'
{
    cat <<END
# M-estimation

Tables 1 and 2 and Figures 1 to 3 of Smith, Vail & Lafferty, *Computationally efficient M-estimation of log-linear
structure models* (ACL 2007): noun phrases of CoNLL-2000, labels B, I, O, second order, $(count "$train") sentences for
training, the last $(count "$held") of the training file for the choice of c, $(count "$test") for the test. c from {$grid}
by held-out F1; every run from zero, L-BFGS until ten iterations gain less than 1e-5, or 100
iterations as in the paper (M-estimation: its dual, to its optimum), which without penalty is early stopping. Features: \`experiments/templates/hmm.template\` and
\`sha-pereira.template\`.

## Table 1: training methods

HMM features; p-values are against the HMM:

$head
END
    row HMM hmm 85.60 88.68 87.11
    row CRF hmm.likelihood 90.40 89.56 89.98 hmm
    row pseudolikelihood hmm.pseudolikelihood 80.31 81.37 80.84 hmm
    row MEMM hmm.memm 86.03 88.62 87.31 hmm
    row M-estimation hmm.m-estimation 85.57 88.65 87.08 hmm
    cat <<END

Extended features; p-values are against the line above (the CRF against the CRF with HMM features, pseudolikelihood against the
CRF of 100 iterations). "To convergence": by
SDCA instead of 100 iterations of L-BFGS, the same grid but for "none":

$head
END
    row CRF ext.likelihood 94.04 93.68 93.86 hmm.likelihood
    row 'CRF, to convergence' ext.converged - - - ext.likelihood
    row pseudolikelihood ext.pseudolikelihood 91.88 91.79 91.83 ext.likelihood
    row MEMM ext.memm 90.89 92.15 91.51 ext.pseudolikelihood
    row M-estimation ext.m-estimation 88.88 90.42 89.64 ext.memm
    cat <<END

MEMM and pseudolikelihood trade places with what the features see to the right of a label ($few sentences for training, c = 1,
to convergence; "left": without the lines of words and tags at +1 and +2):

| | extended: precision | recall | F1 | left: precision | recall | F1 |
|---|---|---|---|---|---|---|
$(few_row CRF likelihood)
$(few_row pseudolikelihood pseudolikelihood)
$(few_row MEMM memm)

The same MEMM in order 1 has F1 $(f1 few.order1.memm); that of order 2 decoded as if it were a CRF $(f1 few.ext.memm-global).

M-estimation with extended features against the HMM: McNemar p = $(pvalue mcnemar hmm ext.m-estimation), bootstrap of F1
p = $(pvalue bootstrap hmm ext.m-estimation).

## Table 2: base distributions

$head
END
    row 'HMM' ext.m-estimation 88.88 90.42 89.64
    row 'l.u., by F1' ext.lu 72.91 57.56 64.33 ext.m-estimation
    row 'l.u., by precision' ext.lu-precision 84.40 37.68 52.10 ext.m-estimation
    row 'emp.' ext.emp 84.38 89.43 86.83 ext.m-estimation
    cat <<END

HMM and empirical text with the same c:

| c | HMM: precision | recall | F1 | emp.: precision | recall | F1 |
|---|---|---|---|---|---|---|
$(for c in $same_c; do c_row "$c"; done)

## Figures

Processor seconds of one training run (mean over all c; all threads added up; reading the data included). The
expectations of the extended features under q0 are part of the first run and kept for the others: HMM
$(expectations ext hmm), l.u. $(expectations ext lu), emp. $(expectations ext emp) (wall).

![time of a run](mest-time.svg)

Learning curves on the test data, c as chosen with all training data:

![learning curves](mest-learning.svg)

Held-out F1 against the processor time of each run, one point for each c:

![accuracy against time](mest-accuracy-time.svg)

$(made_by)
END
    notes
} >"$work/page.md"
"$trellis" plot -k labels --title 'training, extended features: processor seconds' -o "$out/mest-time.svg" "$work/seconds.table"
"$trellis" plot -k learning -x sentences -y F1 --log-x --marks both --title 'noun phrases: F1 on test' \
    -o "$out/mest-learning.svg" "$work/learning.table"
"$trellis" plot -k time -x processor --by objective --log-x --title 'noun phrases: held-out F1' -o "$out/mest-accuracy-time.svg" \
    "$work"/runs/ext.likelihood/*.json "$work"/runs/ext.pseudolikelihood/*.json "$work"/runs/ext.memm/*.json \
    "$work"/runs/ext.m-estimation/*.json
publish
