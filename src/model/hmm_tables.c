/* hmm_tables.c -- hidden Markov models as score tables. */
/* SPDX-License-Identifier: MIT */
#include "model/hmm.h"

#include <math.h>
#include <string.h>

#include "num/simd.h"

static double log_or(double p, double floor)
{
    return p > 0.0 ? log(p) : floor;
}

void trl_hmm_add_shared(const trl_hmm *h, double floor, double *const shared[TRL_FAMILIES])
{
    const size_t L = h->L, contexts = h->order == 2 ? L * L : L; /* without START */
    double *to = shared[trl_hmm_shared_family(h)];
    for (size_t c = 0; c < contexts; c++)
        for (size_t y = 0; y < L; y++)
            to[c * L + y] += log_or(h->next[c * (L + 1) + y], floor);
}

bool trl_hmm_need_rows(const trl_hmm *h, trl_arena *arena, trl_tables *t)
{
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        if (t->row[f] || !trl_hmm_has_rows(h, f))
            continue;
        t->step[f] = trl_padded(f == TRL_NODE ? h->L : h->L * h->L);
        t->row[f] = trl_arena_get(arena, t->n, t->step[f] * sizeof(double));
        if (!t->row[f])
            return false;
        memset(t->row[f], 0, t->n * t->step[f] * sizeof(double));
    }
    return true;
}

/* Order 2: the transition to the second token and STOP. */
static void add_pairs(const trl_hmm *h, double floor, const trl_tables *t)
{
    const size_t L = h->L, n = t->n;
    for (size_t i = 0; n >= 2 && i < L; i++)
        for (size_t j = 0; j < L; j++) {
            t->row[TRL_EDGE][t->step[TRL_EDGE] + i * L + j] +=
                log_or(trl_hmm_next(h, L, i, j), floor);
            t->row[TRL_EDGE][(n - 1) * t->step[TRL_EDGE] + i * L + j] +=
                log_or(trl_hmm_next(h, i, j, L), floor);
        }
}

void trl_hmm_add_rows(const trl_hmm *h, double floor, const uint32_t *value, const trl_tables *t)
{
    const size_t L = h->L, n = t->n;
    for (size_t k = 0; k < n; k++) {
        double *node = t->row[TRL_NODE] + k * t->step[TRL_NODE];
        for (size_t c = 0; c < h->n_columns; c++) {
            const double *e = h->column[c].log_p + value[k * h->n_columns + c] * L;
            for (size_t y = 0; y < L; y++)
                node[y] += e[y];
        }
    }
    double *first = t->row[TRL_NODE], *last = first + (n - 1) * t->step[TRL_NODE];
    for (size_t y = 0; y < L; y++) {
        first[y] += log_or(h->start[y], floor);
        if (h->order == 1 || n == 1)
            last[y] += log_or(trl_hmm_next(h, L, y, L), floor);
    }
    if (h->order == 2)
        add_pairs(h, floor, t);
}
