/* label_automaton.c -- automata that are written down directly: counted spans, a bigram. */
/* SPDX-License-Identifier: MIT */
#include "chain/label_automaton.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* ---- labels ---------------------------------------------------------------------------------- */

bool trl_label_continues(const trl_label_set *s, size_t i, size_t j)
{
    const trl_scheme_tag a = s->tag[i], b = s->tag[j];
    if (a.prefix == 'O' || b.prefix == 'O' || !trl_scheme_same_type(a, b))
        return false;
    if (!a.prefix || !b.prefix)
        return i == j;
    return (a.prefix == 'B' || a.prefix == 'I') && b.prefix != 'B' && b.prefix != 'S' &&
           b.prefix != 'U';
}

bool trl_label_is_of(const trl_label_set *s, size_t y, trl_str type)
{
    const trl_scheme_tag c = s->tag[y];
    return c.prefix != 'O' && c.type.n == type.n &&
           (type.n == 0 || memcmp(c.type.p, type.p, type.n) == 0);
}

/* ---- lifetime -------------------------------------------------------------------------------- */

trl_status trl_automaton_init(trl_label_automaton *a, size_t n, size_t L, trl_error *err)
{
    *a = (trl_label_automaton){.n_states = n, .L = L};
    a->next = trl_alloc(n, L * sizeof *a->next);
    a->final = trl_zalloc(n, sizeof *a->final);
    if (!a->next || !a->final) {
        trl_automaton_fini(a);
        return trl_fail_mem(err);
    }
    memset(a->next, 0xff, n * L * sizeof *a->next);
    return TRL_OK;
}

void trl_automaton_fini(trl_label_automaton *a)
{
    trl_free(a->next);
    trl_free(a->final);
    *a = (trl_label_automaton){0};
}

bool trl_automaton_accepts(const trl_label_automaton *a, const uint32_t *y, size_t n)
{
    uint32_t q = 0;
    for (size_t t = 0; t < n; t++) {
        q = a->next[q * a->L + y[t]];
        if (q == TRL_DEAD)
            return false;
    }
    return a->final[q];
}

bool trl_automaton_trim(trl_label_automaton *a, trl_status *st, trl_error *err)
{
    bool *live = trl_alloc(a->n_states, sizeof *live);
    *st = live ? TRL_OK : trl_fail_mem(err);
    if (!live)
        return false;
    memcpy(live, a->final, a->n_states * sizeof *live);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t q = a->n_states; q-- > 0;)
            for (size_t y = 0; y < a->L && !live[q]; y++) {
                const uint32_t to = a->next[q * a->L + y];
                changed |= live[q] = to != TRL_DEAD && live[to];
            }
    }
    for (size_t k = 0; k < a->n_states * a->L; k++)
        if (a->next[k] != TRL_DEAD && !live[a->next[k]])
            a->next[k] = TRL_DEAD;
    const bool good = live[0];
    trl_free(live);
    return good;
}

/* ---- spans ----------------------------------------------------------------------------------- */

/* State 0: none so far.  With k of them, 3k - 2: the last one goes on with I-X and the like, after
 * B-X or I-X; 3k - 1: it goes on with a bare X, after one; 3k: it is over. */
static uint32_t spans_next(const trl_label_set *s, uint32_t q, size_t y, size_t most)
{
    const char prefix = s->tag[y].prefix;
    const bool goes_on =
        prefix ? q % 3 == 1 && prefix != 'B' && prefix != 'S' && prefix != 'U' : q % 3 == 2;
    const size_t k = (q + 2) / 3 + !goes_on;
    if (k > most)
        return TRL_DEAD;
    return (uint32_t)(!prefix ? 3 * k - 1 : prefix == 'B' || prefix == 'I' ? 3 * k - 2 : 3 * k);
}

trl_status trl_automaton_max_spans(trl_label_automaton *a, const trl_label_set *s, trl_str type,
                                   size_t most, trl_error *err)
{
    const trl_status st = trl_automaton_init(a, 3 * most + 1, s->L, err);
    if (st != TRL_OK)
        return st;
    for (uint32_t q = 0; q < a->n_states; q++) {
        a->final[q] = true;
        for (size_t y = 0; y < s->L; y++)
            a->next[q * s->L + y] =
                trl_label_is_of(s, y, type) ? spans_next(s, q, y, most) : (q + 2) / 3 * 3;
    }
    return TRL_OK;
}

trl_status trl_automaton_bigram(trl_label_automaton *a, size_t L, uint32_t first, uint32_t second,
                                trl_error *err)
{
    enum { NOWHERE, AFTER_FIRST, FOUND };
    const trl_status st = trl_automaton_init(a, 3, L, err);
    if (st != TRL_OK)
        return st;
    a->final[FOUND] = true;
    for (uint32_t y = 0; y < L; y++) {
        const uint32_t none = y == first ? AFTER_FIRST : NOWHERE;
        a->next[NOWHERE * L + y] = none;
        a->next[AFTER_FIRST * L + y] = y == second ? FOUND : none;
        a->next[FOUND * L + y] = FOUND;
    }
    return TRL_OK;
}
