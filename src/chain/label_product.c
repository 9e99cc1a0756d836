/* label_product.c -- the product of automata over labels, state by state as it is needed. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/label_lattice.h"

#define UNKNOWN (UINT32_MAX - 1)

void trl_product_fini(trl_product *p)
{
    trl_tuples_fini(&p->state);
    trl_free(p->next);
    trl_free(p->work);
    *p = (trl_product){0};
}

/* The number of the tuple in p->work; its transitions are unknown when it is new. */
static trl_status put(trl_product *p, size_t L, uint32_t *q, trl_error *err)
{
    const size_t n = p->state.n;
    uint32_t *next = trl_reserve(p->next, &p->next_cap, (n + 1) * L, sizeof *next);
    if (!next)
        return trl_fail_mem(err);
    p->next = next;
    if (!trl_tuples_put(&p->state, p->work, q))
        return trl_fail_mem(err);
    for (size_t y = 0; p->state.n > n && y < L; y++)
        next[n * L + y] = UNKNOWN;
    return TRL_OK;
}

trl_status trl_product_start(trl_product *p, const trl_lattice_ask *ask, uint32_t *q,
                             trl_error *err)
{
    const trl_constraint *c = ask->c;
    const size_t width = c->n_automata ? c->n_automata : 1;
    uint32_t *work = trl_reserve(p->work, &p->work_cap, width, sizeof *work);
    if (!work)
        return trl_fail_mem(err);
    p->work = work;
    if (p->state.width != width) { /* another constraint, or the first */
        trl_tuples_fini(&p->state);
        trl_tuples_init(&p->state, width);
        p->round++;
    }
    if (p->state.n > c->max_states) { /* of many sequences */
        trl_tuples_clear(&p->state);
        p->round++;
    }
    work[0] = TRL_DEAD;
    for (size_t k = 0; k < c->n_automata; k++)
        work[k] = ask->tracked[k] ? 0 : TRL_DEAD;
    return put(p, c->set.L, q, err);
}

trl_status trl_product_next(trl_product *p, const trl_constraint *c, uint32_t q, uint32_t y,
                            uint32_t *to, trl_error *err)
{
    const size_t L = c->set.L;
    *to = p->next[q * L + y];
    if (*to != UNKNOWN)
        return TRL_OK;
    const uint32_t *from = trl_tuples_at(&p->state, q);
    p->work[0] = TRL_DEAD;
    bool dead = false;
    for (size_t k = 0; k < c->n_automata && !dead; k++) {
        const trl_label_automaton *a = &c->automaton[k];
        p->work[k] = from[k] == TRL_DEAD ? TRL_DEAD : a->next[from[k] * L + y];
        dead = from[k] != TRL_DEAD && p->work[k] == TRL_DEAD;
    }
    const trl_status st = dead ? TRL_OK : put(p, L, to, err);
    if (st == TRL_OK)
        p->next[q * L + y] = *to = dead ? TRL_DEAD : *to;
    return st;
}

bool trl_product_final(const trl_product *p, const trl_constraint *c, uint32_t q)
{
    const uint32_t *at = trl_tuples_at(&p->state, q);
    for (size_t k = 0; k < c->n_automata; k++)
        if (at[k] != TRL_DEAD && !c->automaton[k].final[at[k]])
            return false;
    return true;
}
