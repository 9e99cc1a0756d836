/* label_moves.c -- where the labels lead from a state of a product of automata. */
/* SPDX-License-Identifier: MIT */
#include "chain/label_moves.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

void trl_label_moves_fini(trl_label_moves *m)
{
    trl_free(m->of);
    trl_free(m->apart);
    trl_free(m->in);
    trl_free(m->count);
    *m = (trl_label_moves){0};
}

/* Room for all states of the product. */
static bool make_room(trl_label_moves *m, size_t n, size_t L)
{
    trl_state_moves *of = trl_reserve(m->of, &m->of_cap, n, sizeof *of);
    m->of = of ? of : m->of;
    uint16_t *apart = of ? trl_reserve(m->apart, &m->apart_cap, n * L, sizeof *apart) : NULL;
    m->apart = apart ? apart : m->apart;
    uint16_t *in = apart ? trl_reserve(m->in, &m->in_cap, n * L, sizeof *in) : NULL;
    m->in = in ? in : m->in;
    uint32_t *count = in ? trl_reserve(m->count, &m->count_cap, n, sizeof *count) : NULL;
    m->count = count ? count : m->count;
    if (!count)
        return false;
    if (n > m->n) {
        memset(of + m->n, 0, (n - m->n) * sizeof *of);
        memset(count + m->n, 0, (n - m->n) * sizeof *count);
        m->n = n;
    }
    return true;
}

/* The state that most labels lead to, of equals the one of the first label. */
static uint32_t main_state(trl_label_moves *m, const uint32_t *next, size_t L)
{
    uint32_t best = TRL_DEAD;
    for (size_t y = 0; y < L; y++)
        if (next[y] != TRL_DEAD)
            m->count[next[y]]++;
    for (size_t y = 0; y < L; y++)
        if (next[y] != TRL_DEAD && (best == TRL_DEAD || m->count[next[y]] > m->count[best]))
            best = next[y];
    for (size_t y = 0; y < L; y++)
        if (next[y] != TRL_DEAD)
            m->count[next[y]] = 0;
    return best;
}

static void add_in(trl_label_moves *m, uint32_t to, size_t L, uint16_t y)
{
    uint16_t *in = m->in + to * L;
    uint32_t k = 0;
    while (k < m->of[to].n_in && in[k] != y)
        k++;
    if (k == m->of[to].n_in)
        in[m->of[to].n_in++] = y;
}

trl_status trl_label_moves_of(trl_label_moves *m, trl_product *p, const trl_constraint *c,
                              uint32_t q, trl_error *err)
{
    const size_t L = c->set.L;
    if (m->round != p->round) /* the states have other numbers now */
        m->n = 0;
    m->round = p->round;
    if (q < m->n && m->of[q].known)
        return TRL_OK;
    trl_status st = TRL_OK;
    for (uint32_t y = 0, to; y < L && st == TRL_OK; y++)
        st = trl_product_next(p, c, q, y, &to, err);
    if (st != TRL_OK)
        return st;
    if (!make_room(m, p->state.n, L))
        return trl_fail_mem(err);
    const uint32_t *next = p->next + q * L;
    trl_state_moves *x = &m->of[q];
    uint16_t *apart = m->apart + q * L;
    x->to = main_state(m, next, L);
    x->n_away = x->n_no = 0;
    for (size_t y = 0; y < L; y++)
        if (next[y] != TRL_DEAD && next[y] != x->to)
            apart[x->n_away++] = (uint16_t)y;
    for (size_t y = 0; y < L; y++)
        if (next[y] == TRL_DEAD)
            apart[x->n_away + x->n_no++] = (uint16_t)y;
        else
            add_in(m, next[y], L, (uint16_t)y);
    x->known = true;
    return TRL_OK;
}
