/* chain_notes.c -- labels that are notes, and costs: what they go with (docs/partial.md). */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/partial_lattice.h"
#include "train_chain/chain_training.h"
#include "train_chain/label_costs.h"

#define MOST_DRAWS 65536.0 /* combinations of soft labels around one run of unknown ones */

typedef bool (*property)(const trl_objective *o);

static bool takes_notes(const trl_objective *o)
{
    return o->kinds & TRL_KIND_CHAIN && trl_chain_objective_partial(o);
}

static bool takes_token_weights(const trl_objective *o)
{
    return takes_notes(o) && o->by_token;
}

static bool takes_costs(const trl_objective *o)
{
    return o->kinds & TRL_KIND_CHAIN && o->takes_costs;
}

/* TRL_EINVAL, naming the objectives that have it. */
static trl_status refuse(const trl_chain_training *j, const char *what, property has,
                         trl_error *err)
{
    char list[200];
    size_t n = 0;
    for (size_t k = 0; trl_objective_at(k) && n < sizeof list; k++)
        if (has(trl_objective_at(k)))
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "",
                                  trl_objective_at(k)->name);
    const trl_status st =
        trl_fail(err, TRL_EINVAL, "%s not go with the objective %s", what, j->objective->name);
    return trl_fail_hint(err, st, "use one of %s", list);
}

trl_status trl_chain_training_check_notes(const trl_chain_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    if (o->partial && !takes_notes(j->objective))
        return refuse(j, "partial labels do", takes_notes, err);
    if (o->cost && !j->objective->takes_costs)
        return refuse(j, "costs do", takes_costs, err);
    if ((o->partial || o->cost) && j->optimizer && j->optimizer->plain_labels) {
        const trl_status st = trl_fail(
            err, TRL_EINVAL, "%s not go with the optimizer %s, whose dual has no place for it",
            o->partial ? "partial labels do" : "costs do", j->optimizer->name);
        return trl_fail_hint(err, st, "use lbfgs, sgd or adagrad");
    }
    return TRL_OK;
}

/* Sequences in which more combinations of soft labels would have to be tried than is sensible. */
static trl_status check_draws(const trl_chain_training *j, trl_error *err)
{
    const trl_corpus *c = &j->corpus;
    const trl_label_notes *x = c->notes;
    for (size_t s = 0; x->soft && x->partial && s < c->n_sequences; s++) {
        const size_t from = (size_t)c->first[s], n = (size_t)c->first[s + 1] - from;
        const double draws = trl_partial_draws(x, x->of + from, n, j->order);
        if (draws <= MOST_DRAWS)
            continue;
        const trl_status st =
            trl_fail(err, TRL_EINVAL,
                     "sequence %zu: soft labels next to unknown ones have %.3g combinations, more "
                     "than %.0f",
                     s + 1, draws, MOST_DRAWS);
        return trl_fail_hint(err, st, "make some of them sets (A|B) or unknown (?)");
    }
    return TRL_OK;
}

/* Labels that no token is known to have are learnt from sets alone: perhaps they are misspelt. */
static trl_status warn_unseen(const trl_chain_training *j, trl_error *err)
{
    const trl_label_notes *x = j->corpus.notes;
    const size_t L = j->corpus.labels.n;
    bool *seen = trl_zalloc(L, sizeof *seen);
    if (!seen)
        return trl_fail_mem(err);
    for (size_t k = 0; k < x->texts.n; k++)
        for (size_t i = x->begin[k]; i < x->begin[k + 1]; i++)
            if (x->kind[k] != TRL_LABEL_SET)
                seen[x->label[i]] = true;
    for (size_t y = 0; y < L; y++)
        if (!seen[y]) {
            char note[200];
            const trl_str name = trl_strtab_get(&j->corpus.labels, (uint32_t)y);
            snprintf(note, sizeof note, "label '%.*s' is in sets of labels only",
                     (int)(name.n < 80 ? name.n : 80), name.p);
            trl_chain_training_report(j, "warning", note);
        }
    trl_free(seen);
    return TRL_OK;
}

trl_status trl_chain_training_take_notes(trl_chain_training *j, trl_error *err)
{
    trl_label_notes *x = j->corpus.notes;
    trl_status st = TRL_OK;
    if (x && j->corpus.labels.n == 0)
        return trl_fail(err, TRL_EINVAL, "no label is known: every token of the data has a ?");
    if (x)
        st = trl_label_notes_close(x, j->corpus.labels.n, err);
    if (st == TRL_OK && x && x->weights && !j->objective->by_token)
        st = refuse(j, "weights of tokens do", takes_token_weights, err);
    if (st == TRL_OK && x)
        st = check_draws(j, err);
    if (st == TRL_OK && x)
        st = warn_unseen(j, err);
    if (st == TRL_OK && j->o->cost)
        st = trl_label_costs_read(&j->costs, j->o->cost, &j->corpus, err);
    return st;
}
