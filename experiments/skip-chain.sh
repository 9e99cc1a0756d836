#!/bin/bash
# skip-chain.sh -- Table 3 of Sutton & McCallum, Piecewise training of undirected models (UAI 2005): speakers and places of
# seminar announcements by a skip-chain CRF, ten random halves of 485 messages, F1 of tokens.
#
# HALVES=3 fewer halves, C2=1 another penalty, METHODS='chain piecewise' fewer ways to train ('bethe': from the chain's weights,
# after 'chain'; 'bethe-zero': from zero).
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/graphs.sh"

methods=${METHODS:-chain piecewise pseudolikelihood pseudolikelihood-edge bethe bethe-zero}
halves=${HALVES:-10} c2=${C2:-0.5}
columns=1,10,11 # word, role, predicted
stop='--optimizer lbfgs'
# Messages have several fixed points where many equal words are joined; once they are met, the objective is nearly a ridge, and
# L-BFGS would spend most of its time on its last thousandth.
messages_from='--keep-messages --second-start --delta 5e-4 --period 5'
if [ -n "$sample" ]; then
    # names of the sample corpus for roles, ten sentences a message
    corpus=$(little "$build/corpus/train.ner.txt")
    mkdir -p "$work/messages"
    for k in 1 2 3 4 5 6; do
        from_to $((10 * k - 9)) $((10 * k)) "$corpus" | sed 's/-PER$/-speaker/; s/-LOC$/-location/; s/-TIME$/-stime/; s/-ORG$/-etime/' |
            cut -d' ' -f1,4 >"$work/sentences"
        "$trellis" convert --from columns --to marks "$work/sentences" >"$work/messages/$k.txt"
    done
    set -- "$work"/messages/*
    halves=2 stop='--optimizer lbfgs --max-iter 15'
else
    need "$data/seminars/train" "$data/seminars/test"
    set -- "$data"/seminars/train/* "$data"/seminars/test/*
fi
messages=$#
graph=$templates/skip-chain.graph
sed '/^factor skip/,$d' "$graph" >"$work/chain.graph"

# A message a unit of awk: its lines, without the empty ones inside.  Labels without B- and I-.
"$trellis" convert --from marks --tokens fine --sentences whole --labels speaker,location,stime,etime \
    -c word,lower,shape,case,line,field,time,date,name "$@" >"$work/raw"
awk '$1 == "-DOCSTART-" { if (n++) print ""; next } NF { sub(/^[BI]-/, "", $NF); print }' "$work/raw" >"$work/messages.txt"
documents() { awk 'NF && !on { print "-DOCSTART-\n"; on = 1 } !NF { on = 0 } { print }' "$1"; }
for k in $(seq "$halves"); do
    pick "$k" "$messages" "$work/messages.txt" >"$work/order"
    from_to 1 $((messages / 2)) "$work/order" | documents /dev/stdin >"$work/train.$k"
    from_to $((messages / 2 + 1)) "$messages" "$work/order" | documents /dev/stdin >"$work/test.$k"
done

for k in $(seq "$halves"); do
    for m in $methods; do
        how="--objective $m" model=$graph
        case $m in
        chain) how='--objective likelihood' model=$work/chain.graph ;;
        bethe) how="--objective bethe $messages_from --init $work/chain.$k.model" ;;
        bethe-zero) how="--objective bethe $messages_from" ;;
        esac
        # shellcheck disable=SC2086
        graph_fit "$m.$k" "$model" "$work/train.$k" "$work/test.$k" $how --c2 "$c2" $stop
    done
done

# ---- the page --------------------------------------------------------------------------------------
token_f1() { # NAME ROLE
    "$trellis" score tokens --json "$work/$1.out" | grep -o '"'"$2"'":{[^}]*}' | sed -n 's/.*"f1":\([^,}]*\).*/\1/p' | head -n 1
}
scores() { for k in $(seq "$halves"); do token_f1 "$1.$k" "$2"; done; } # METHOD ROLE: a line a half
against() { # METHOD METHOD ROLE
    case " $methods " in *" $1 "*) paste -d' ' <(scores "$1" "$3") <(scores "$2" "$3") | paired_t ;; *) echo – ;; esac
}
spent() { for k in $(seq "$halves"); do seconds "$1.$k"; echo; done | mean 1; }
iterations() { for k in $(seq "$halves"); do field "$work/runs/$1.$k.json" iterations; done | mean 0; }
title() { # METHOD
    case $1 in
    chain) echo 'linear chain, exact' ;;
    pseudolikelihood-edge) echo 'per-edge pseudolikelihood' ;;
    bethe) echo 'belief propagation, from the chain' ;;
    bethe-zero) echo 'belief propagation, from zero' ;;
    *) echo "$1" ;;
    esac
}
paper() { # METHOD
    case $1 in
    piecewise) echo '87.7 / 75.4' ;;
    pseudolikelihood) echo '67.1 / 25.5' ;;
    pseudolikelihood-edge) echo '76.9 / 69.3' ;;
    bethe) echo '86.6 / 78.2' ;;
    *) echo – ;;
    esac
}
row() { # METHOD
    echo "| $(title "$1") | $(paper "$1") | $(scores "$1" location | mean) | $(scores "$1" speaker | mean) | $(scores "$1" location | deviation) / $(scores "$1" speaker | deviation) | $(against piecewise "$1" location) / $(against piecewise "$1" speaker) | $(against chain "$1" location) / $(against chain "$1" speaker) | $(iterations "$1") | $(spent "$1") |"
}
{
    cat <<END
# Training a skip-chain CRF

Table 3 of Sutton & McCallum, *Piecewise training of undirected models* (UAI 2005): $messages seminar announcements, $(grep -c '[^ ]' "$work/messages.txt") tokens,
$halves random halves for training, the others for the test; F1 of tokens. The model is \`experiments/templates/skip-chain.graph\`: a chain of a message's tokens and edges between
equal capitalised words; every edge sees the text of its ends. c2 = $c2 for all. L-BFGS with its usual rule to stop; belief
propagation with two starts of its messages (\`--second-start\`) until 5 iterations gain less than 0.05 %.

| training | paper location / speaker | location | speaker | deviations | p against piecewise | p against the chain | iterations | processor seconds |
|---|---|---|---|---|---|---|---|---|
END
    for m in $methods; do row "$m"; done
    cat <<END

Means over the halves; deviations of their values; p: paired t-test over the halves (they overlap, so that it is a rough guide); seconds
of the processor: one half; belief propagation from the chain without the chain's own seconds.

$(made_by)
END
} >"$work/page.md"
notes >>"$work/page.md"
publish
