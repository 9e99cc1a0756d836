/* reranker.c -- probabilities of candidates, and the tree by them. */
/* SPDX-License-Identifier: MIT */
#include "parser/reranker.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

_Static_assert(TRL_SAID == TRL_RERANK_SAID, "numbers of the first stage");

void trl_rerank_scratch_fini(trl_rerank_scratch *s)
{
    trl_rerank_features_fini(&s->x);
    trl_free(s->keys.key);
    trl_free(s->p);
    *s = (trl_rerank_scratch){0};
}

bool trl_rerank_softmax(double *score, size_t n)
{
    double most = -(double)INFINITY, sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        if (!isfinite(score[k]))
            return false;
        most = score[k] > most ? score[k] : most;
    }
    for (size_t k = 0; k < n; k++)
        sum += score[k] = exp(score[k] - most);
    for (size_t k = 0; k < n; k++)
        score[k] /= sum;
    return true;
}

static double weigh(const trl_reranker *r, const trl_rerank_keys *keys, const double *said)
{
    double sum = 0.0;
    for (int k = 0; k < TRL_SAID; k++)
        sum += r->said[k] * said[k];
    for (size_t k = 0; k < keys->n; k++) {
        const uint32_t at = trl_tree_index_find(&r->index, keys->key[k]);
        sum += at == TRL_NO_ID ? 0.0 : (double)r->weight[at];
    }
    return sum;
}

trl_status trl_rerank(const trl_tree_model *m, const trl_words *words, const trl_candidates *c,
                      trl_rerank_scratch *s, trl_error *err)
{
    const trl_reranker *r = &m->reranker;
    trl_status st = TRL_OK;
    if (!s->ready) {
        st = trl_rerank_features_init(&s->x, r->heads, &m->fine.labels, &m->clusters, err);
        s->ready = st == TRL_OK;
    }
    double *p = trl_reserve(s->p, &s->cap, c->n, sizeof *p);
    s->p = p ? p : s->p;
    if (st == TRL_OK && !p)
        st = trl_fail_mem(err);
    s->x.groups = r->groups;
    if (st == TRL_OK)
        st = trl_rerank_sentence(&s->x, words->word, words->n, err);
    for (size_t k = 0; st == TRL_OK && k < c->n; k++) {
        st = trl_rerank_tree(&s->x, &c->list[k].tree, &s->keys, err);
        if (st == TRL_OK)
            p[k] = weigh(r, &s->keys, c->list[k].said);
    }
    if (st == TRL_OK && !trl_rerank_softmax(p, c->n))
        st = trl_fail(err, TRL_ENUMERIC, "the score of a tree is not a number");
    return st;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Adds a tree of probability p to the posteriors of its brackets. */
static void count(const trl_node_list *t, double p, const trl_brackets *b)
{
    for (uint32_t v = 0; v < t->n; v++) {
        const trl_node *x = &t->node[v];
        if (x->child == TRL_NO_NODE)
            continue;
        bool again = false;
        double above = 0.0;
        for (uint32_t u = x->parent;
             u != TRL_NO_NODE && t->node[u].from == x->from && t->node[u].to == x->to;
             u = t->node[u].parent) {
            above += 1.0;
            again = again || t->node[u].label == x->label;
        }
        const size_t cell = trl_cell(x->from, x->to);
        for (uint32_t k = b->first[cell]; k < b->first[cell + 1]; k++)
            if (b->bracket[k].label == x->label) {
                b->bracket[k].p += p;
                b->bracket[k].above += above * p;
                b->bracket[k].any += again ? 0.0 : p;
            }
    }
}

trl_status trl_rerank_tree_of(const trl_tree_model *m, double lambda, trl_candidates *c,
                              const double *p, trl_decoder *d, trl_error *err)
{
    trl_brackets listed = c->brackets; /* the same brackets by the list */
    const size_t n = listed.first[trl_chart_cells(listed.n)];
    listed.bracket = trl_arena_get(&d->arena, n, sizeof *listed.bracket);
    if (!listed.bracket)
        return trl_fail_mem(err);
    for (size_t k = 0; k < n; k++)
        listed.bracket[k] = (trl_bracket){.label = c->brackets.bracket[k].label};
    for (size_t k = 0; k < c->n; k++)
        count(&c->list[k].tree, p[k], &listed);
    trl_brackets_mix(&c->brackets, &listed, m->reranker.share);
    return trl_mbr_tree(&c->brackets, m->fine.state[m->fine.root].base, lambda, &d->result,
                        &d->arena, err);
}
