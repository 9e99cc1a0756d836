#!/bin/bash
# skip-chain.sh -- Table 3 of Sutton & McCallum, Piecewise training of undirected models (UAI 2005): speakers and places of
# seminar announcements by a skip-chain CRF, ten random halves of 485 messages, F1 of tokens.
#
# HALVES=3 fewer halves, C2=1 this penalty, GRID='0.1 1' other penalties to choose from, METHODS='chain piecewise' fewer ways to train
# ('bethe': from the chain's weights, after 'chain'; 'bethe-zero': from zero).
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/graphs.sh"

methods=${METHODS:-chain piecewise pseudolikelihood pseudolikelihood-edge bethe bethe-zero}
halves=${HALVES:-10} drawings='11 12' grid=${C2:-${GRID:-0.02 0.05 0.1 0.2 0.5}} held=62
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
    halves=2 drawings=11 grid=${C2:-${GRID:-0.5 2}} held=1 stop='--optimizer lbfgs --max-iter 15'
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

token_f1() { # NAME ROLE
    "$trellis" score tokens --json "$work/$1.out" | grep -o '"'"$2"'":{[^}]*}' | sed -n 's/.*"f1":\([^,}]*\).*/\1/p' | head -n 1
}
fit_way() { # PREFIX WAY SUFFIX C2 TRAIN TEST
    local how="--objective $2" model=$graph
    case $2 in
    chain) how='--objective likelihood' model=$work/chain.graph ;;
    bethe) how="--objective bethe $messages_from --init $work/$1chain.$3.model" ;;
    bethe-zero) how="--objective bethe $messages_from" ;;
    esac
    # shellcheck disable=SC2086
    graph_fit "$1$2.$3" "$model" "$5" "$6" $how --c2 "$4" $stop
}

# ---- c2, the same for all: by the mean F1 of the roles, over ways and drawings, on messages held out of the training halves of further drawings
tuned=$(among chain piecewise bethe)
for k in $drawings; do
    pick "$k" $((messages / 2)) "$work/messages.txt" >"$work/order"
    from_to 1 $((messages / 2 - held)) "$work/order" | documents /dev/stdin >"$work/part.$k"
    from_to $((messages / 2 - held + 1)) $((messages / 2)) "$work/order" | documents /dev/stdin >"$work/held.$k"
done
case $grid in
*' '*)
    fit_held() { # C2.DRAWING
        for m in $tuned; do fit_way held. "$m" "$1" "${1%.*}" "$work/part.${1##*.}" "$work/held.${1##*.}"; done
    }
    # shellcheck disable=SC2046
    side_by_side fit_held $(for c in $grid; do for k in $drawings; do echo "$c.$k"; done; done)
    ;;
esac
held_scores() { for k in $drawings; do token_f1 "held.$1.$2.$k" "$3"; done; } # WAY C2 ROLE: a line a drawing
held_mean() { # C2
    for m in $tuned; do held_scores "$m" "$1" location && held_scores "$m" "$1" speaker; done | mean
}
c2=$grid
case $grid in *' '*) c2=$(for c in $grid; do echo "$c $(held_mean "$c")"; done | sort -k2,2gr -s | head -n 1 | cut -d' ' -f1) ;; esac

# ---- the halves -------------------------------------------------------------------------------------
fit_half() { # K
    for m in $methods; do fit_way '' "$m" "$1" "$c2" "$work/train.$1" "$work/test.$1"; done
}
# shellcheck disable=SC2046
side_by_side fit_half $(seq "$halves")

# ---- the page --------------------------------------------------------------------------------------
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
edges_row() { # ROLE: means over the halves of what skip-edges.awk prints
    for k in $(seq "$halves"); do awk -v role="$1" -f "$top/experiments/skip-edges.awk" "$work/chain.$k.out"; done |
        awk -v role="$1" '{ for (i = 1; i <= 11; i++) s[i] += $i; n++ }
            END {
                for (i = 1; i <= 11; i++) s[i] /= n
                printf "| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f %% | %.2f | %.2f | %.2f |\n", role, s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11]
            }'
}
held_row() { # C2
    echo -n "| $1 |"
    for m in $tuned; do
        echo -n " $(held_scores "$m" "$1" location | mean) / $(held_scores "$m" "$1" speaker | mean) ($(held_scores "$m" "$1" location | deviation) / $(held_scores "$m" "$1" speaker | deviation)) |"
    done
    echo " $(held_mean "$1") |"
}
{
    cat <<END
# Training a skip-chain CRF

Table 3 of Sutton & McCallum, *Piecewise training of undirected models* (UAI 2005): $messages seminar announcements, $(grep -c '[^ ]' "$work/messages.txt") tokens,
$halves random halves for training, the others for the test; F1 of tokens. The model is \`experiments/templates/skip-chain.graph\`: a chain of a message's tokens and edges between
equal capitalised words; every edge sees the text of its ends. c2 = $c2 for all (below). L-BFGS with its usual rule to stop; belief
propagation with two starts of its messages (\`--second-start\`) until 5 iterations gain less than 0.05 %.

| training | paper location / speaker | location | speaker | deviations | p against piecewise | p against the chain | iterations | processor seconds |
|---|---|---|---|---|---|---|---|---|
END
    for m in $methods; do row "$m"; done
    cat <<END

Means over the halves; deviations of their values; p: paired t-test over the halves (they overlap, so that it is a rough guide); seconds
of the processor: one half; belief propagation from the chain without the chain's own seconds.
END
    case " $methods " in
    *' chain '*)
        cat <<END

## What edges between equal words can tell

Of the chain's labels, means over the halves, by \`experiments/skip-edges.awk\`. Joined: the same capitalised word occurs elsewhere in the message. Told: one of those tokens has the
same true label, and the chain has that right; an edge that makes its ends agree can correct no others. "Pairs agree": of joined pairs with the label at one end at least, those with it at both. F1 of the chain; if every told
token were right, that is, by an oracle that knows where to agree; if equal words all took the label that the chain gives to most of them.

| | tokens | missed | joined | told | wrong | joined | told | pairs agree | F1 of the chain | oracle | always agree |
|---|---|---|---|---|---|---|---|---|---|---|---|
END
        edges_row location
        edges_row speaker
        ;;
    esac
    case $grid in
    *' '*)
        cat <<END

## The penalty

F1 of location / speaker on $held messages held out of the training half, trained on its others, mean of $(wc -w <<<"$drawings") further drawings (their deviations); the mean of all of a line chooses.

| c2 |$(for m in $tuned; do echo -n " $(title "$m") |"; done) mean |
|---|$(for m in $tuned; do echo -n "---|"; done)---|
END
        for c in $grid; do held_row "$c"; done
        ;;
    esac
    echo
    made_by
} >"$work/page.md"
notes >>"$work/page.md"
publish
