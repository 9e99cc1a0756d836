/* coarse_rules.c -- the rules of the pruning pass, by whether the children are tags. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chart/coarse.h"

static bool is_tag(const trl_grammar *g, uint32_t s)
{
    return g->state[s].type == TRL_STATE_TAG;
}

/* Numbers the children on one side that are not tags. */
static size_t number_children(const trl_grammar *g, bool right, uint32_t *place, uint32_t *list)
{
    size_t n = 0;
    for (uint32_t s = 0; s < g->n_states; s++)
        place[s] = TRL_NO_ID;
    for (size_t r = 0; r < g->n_binary; r++) {
        const uint32_t s = right ? g->binary[r].right : g->binary[r].left;
        if (!is_tag(g, s) && place[s] == TRL_NO_ID) {
            place[s] = (uint32_t)n;
            list[n++] = s;
        }
    }
    return n;
}

static int by_left(const void *a, const void *b)
{
    const trl_coarse_rule *x = a, *y = b;
    if (x->left != y->left)
        return x->left < y->left ? -1 : 1;
    if (x->right != y->right)
        return x->right < y->right ? -1 : 1;
    return x->parent < y->parent ? -1 : x->parent > y->parent;
}

static int by_right(const void *a, const void *b)
{
    const trl_coarse_rule *x = a, *y = b;
    if (x->right != y->right)
        return x->right < y->right ? -1 : 1;
    return by_left(a, b);
}

static int by_parent(const void *a, const void *b)
{
    const trl_coarse_rule *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return by_left(a, b);
}

static int by_left_and_parent(const void *a, const void *b)
{
    const trl_coarse_rule *x = a, *y = b;
    return x->left != y->left ? (x->left < y->left ? -1 : 1) : by_parent(a, b);
}

static int by_right_and_parent(const void *a, const void *b)
{
    const trl_coarse_rule *x = a, *y = b;
    return x->right != y->right ? (x->right < y->right ? -1 : 1) : by_parent(a, b);
}

static void index_rules(const trl_coarse_rule *r, size_t n, bool right, size_t states,
                        uint32_t *first)
{
    memset(first, 0, (states + 1) * sizeof *first);
    for (size_t k = 0; k < n; k++)
        first[(right ? r[k].right : r[k].left) + 1]++;
    for (size_t s = 0; s < states; s++)
        first[s + 1] += first[s];
}

/* Rules with a tag once more, by tag and parent. */
static void index_by_parent(trl_coarse_rule *to, const trl_coarse_rule *from, size_t n, bool right,
                            size_t states, uint32_t *first)
{
    if (n)
        memcpy(to, from, n * sizeof *to);
    qsort(to, n, sizeof *to, right ? by_right_and_parent : by_left_and_parent);
    memset(first, 0, (states * states + 1) * sizeof *first);
    for (size_t k = 0; k < n; k++)
        first[(right ? to[k].right : to[k].left) * states + to[k].parent + 1]++;
    for (size_t s = 0; s < states * states; s++)
        first[s + 1] += first[s];
}

static void sort_rules(trl_coarse *c, const uint32_t *lp, const uint32_t *rp)
{
    const trl_grammar *g = c->pcfg->g;
    size_t tn = 0, nt = 0, tt = 0;
    for (size_t k = 0; k < g->n_binary; k++) {
        const trl_binary *b = &g->binary[k];
        const bool lt = is_tag(g, b->left), rt = is_tag(g, b->right);
        const trl_coarse_rule r = {b->parent, lt ? b->left : lp[b->left],
                                   rt ? b->right : rp[b->right], (float)c->pcfg->binary_exp[k]};
        if (lt && rt)
            c->tt[tt++] = r;
        else if (lt)
            c->tn[tn++] = r;
        else if (rt)
            c->nt[nt++] = r;
        else
            c->nn[c->n_nn++] = r;
    }
    qsort(c->nn, c->n_nn, sizeof *c->nn, by_parent);
    qsort(c->tn, tn, sizeof *c->tn, by_left);
    qsort(c->tt, tt, sizeof *c->tt, by_left);
    qsort(c->nt, nt, sizeof *c->nt, by_right);
    memset(c->nn_first, 0, (c->n_states + 1) * sizeof *c->nn_first);
    for (size_t k = 0; k < c->n_nn; k++) {
        c->nn_first[c->nn[k].parent + 1]++;
        c->nn_place[k] = (uint32_t)(c->nn[k].left * c->stride + c->nn[k].right);
        c->nn_p[k] = c->nn[k].p;
    }
    for (size_t s = 0; s < c->n_states; s++)
        c->nn_first[s + 1] += c->nn_first[s];
    index_rules(c->tn, tn, false, c->n_states, c->tn_first);
    index_rules(c->tt, tt, false, c->n_states, c->tt_first);
    index_rules(c->nt, nt, true, c->n_states, c->nt_first);
    index_by_parent(c->tn_up, c->tn, tn, false, c->n_states, c->tn_up_first);
    index_by_parent(c->tt_up, c->tt, tt, false, c->n_states, c->tt_up_first);
    index_by_parent(c->nt_up, c->nt, nt, true, c->n_states, c->nt_up_first);
}

trl_status trl_coarse_init(trl_coarse *c, const trl_pcfg *p, trl_error *err)
{
    const trl_grammar *g = p->g;
    const size_t s = g->n_states, b = g->n_binary;
    *c = (trl_coarse){.pcfg = p, .n_states = s};
    uint32_t *lp = trl_alloc(s, sizeof *lp), *rp = trl_alloc(s, sizeof *rp);
    c->left = trl_alloc(s, sizeof *c->left);
    c->right = trl_alloc(s, sizeof *c->right);
    c->nn = trl_alloc(b, sizeof *c->nn);
    c->tn = trl_alloc(b, sizeof *c->tn);
    c->nt = trl_alloc(b, sizeof *c->nt);
    c->tt = trl_alloc(b, sizeof *c->tt);
    c->nn_first = trl_alloc(s + 1, sizeof *c->nn_first);
    c->tn_first = trl_alloc(s + 1, sizeof *c->tn_first);
    c->nt_first = trl_alloc(s + 1, sizeof *c->nt_first);
    c->tt_first = trl_alloc(s + 1, sizeof *c->tt_first);
    c->nn_place = trl_alloc(b, sizeof *c->nn_place);
    c->nn_p = trl_alloc(b, sizeof *c->nn_p);
    c->tn_up = trl_alloc(b, sizeof *c->tn_up);
    c->nt_up = trl_alloc(b, sizeof *c->nt_up);
    c->tt_up = trl_alloc(b, sizeof *c->tt_up);
    c->tn_up_first = trl_alloc(s * s + 1, sizeof *c->tn_up_first);
    c->nt_up_first = trl_alloc(s * s + 1, sizeof *c->nt_up_first);
    c->tt_up_first = trl_alloc(s * s + 1, sizeof *c->tt_up_first);
    c->unary = trl_alloc(g->n_unary, sizeof *c->unary);
    c->unary_parent = trl_alloc(g->n_unary, sizeof *c->unary_parent);
    const bool ok = lp && rp && c->left && c->right && c->nn && c->tn && c->nt && c->tt &&
                    c->nn_first && c->tn_first && c->nt_first && c->tt_first && c->unary &&
                    c->nn_place && c->nn_p && c->tn_up && c->nt_up && c->tt_up && c->tn_up_first &&
                    c->nt_up_first && c->tt_up_first && c->unary_parent;
    if (ok) {
        c->n_left = number_children(g, false, lp, c->left);
        c->n_right = number_children(g, true, rp, c->right);
        c->stride = (c->n_right + 15) & ~(size_t)15;
        sort_rules(c, lp, rp);
        for (size_t u = 0; u < g->n_unary; u++) {
            c->unary[u] = (float)exp(p->unary[u]);
            c->unary_parent[u] = g->unary[u].parent;
        }
    }
    trl_free(lp);
    trl_free(rp);
    if (!ok)
        trl_coarse_fini(c);
    return ok ? TRL_OK : trl_fail_mem(err);
}

void trl_coarse_fini(trl_coarse *c)
{
    trl_free(c->left);
    trl_free(c->right);
    trl_free(c->nn);
    trl_free(c->tn);
    trl_free(c->nt);
    trl_free(c->tt);
    trl_free(c->nn_first);
    trl_free(c->tn_first);
    trl_free(c->nt_first);
    trl_free(c->tt_first);
    trl_free(c->nn_place);
    trl_free(c->nn_p);
    trl_free(c->tn_up);
    trl_free(c->nt_up);
    trl_free(c->tt_up);
    trl_free(c->tn_up_first);
    trl_free(c->nt_up_first);
    trl_free(c->tt_up_first);
    trl_free(c->unary);
    trl_free(c->unary_parent);
    *c = (trl_coarse){0};
}
