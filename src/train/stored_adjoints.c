/* stored_adjoints.c -- adjoints of all examples. */
/* SPDX-License-Identifier: MIT */
#include "train/stored_adjoints.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/gradient.h"

static size_t row_floats(const trl_stored_adjoints *k, size_t f)
{
    return k->row[f] ? k->d->n_tokens * k->d->family[f].step : 0;
}

static size_t shared_floats(const trl_stored_adjoints *k, size_t f)
{
    return k->d->n_sequences * k->d->family[f].n_constant;
}

trl_status trl_stored_adjoints_init(trl_stored_adjoints *k, const trl_design *d, trl_error *err)
{
    bool good = true;
    *k = (trl_stored_adjoints){.d = d};
    for (size_t f = 0; f < d->n_families; f++) {
        const bool rows = d->family[f].has_rows;
        k->row[f] = rows ? trl_zalloc(d->n_tokens * d->family[f].step, sizeof(float)) : NULL;
        k->shared[f] = trl_zalloc(shared_floats(k, f), sizeof(float));
        good = good && (!rows || k->row[f]) && k->shared[f];
    }
    if (good)
        return TRL_OK;
    trl_stored_adjoints_fini(k);
    return trl_fail_mem(err);
}

void trl_stored_adjoints_fini(trl_stored_adjoints *k)
{
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++) {
        trl_free(k->row[f]);
        trl_free(k->shared[f]);
    }
    *k = (trl_stored_adjoints){0};
}

bool trl_stored_adjoints_save(const trl_stored_adjoints *k, trl_buf *out)
{
    bool good = true;
    for (size_t f = 0; good && f < k->d->n_families; f++)
        good = trl_buf_add(out, k->row[f], row_floats(k, f) * sizeof(float)) &&
               trl_buf_add(out, k->shared[f], shared_floats(k, f) * sizeof(float));
    return good;
}

bool trl_stored_adjoints_load(trl_stored_adjoints *k, const unsigned char **p, size_t *n)
{
    bool good = true;
    for (size_t f = 0; good && f < k->d->n_families; f++)
        good = trl_take(p, n, k->row[f], row_floats(k, f) * sizeof(float)) &&
               trl_take(p, n, k->shared[f], shared_floats(k, f) * sizeof(float));
    return good;
}

trl_status trl_stored_adjoints_sum(const trl_stored_adjoints *k, double scale, trl_arena *arena,
                                   double *w, trl_error *err)
{
    const trl_design *d = k->d;
    memset(w, 0, (size_t)d->n_weights * sizeof *w);
    for (size_t i = 0; i < d->n_sequences; i++) {
        trl_tables t;
        const size_t from = (size_t)d->first[i], n = (size_t)d->first[i + 1] - from;
        trl_arena_reset(arena);
        if (!trl_tables_get(d, n, arena, &t))
            return trl_fail_mem(err);
        for (size_t f = 0; f < d->n_families; f++) {
            const trl_family *fam = &d->family[f];
            const float *row = trl_stored_adjoints_row(k, f, from),
                        *shared = trl_stored_adjoints_shared(k, f, i);
            for (size_t c = 0; t.row[f] && c < n * fam->step; c++)
                t.row[f][c] = (double)row[c];
            for (size_t c = 0; c < fam->n_constant; c++)
                w[fam->constant_at + c] += scale * (double)shared[c];
        }
        trl_scatter_all(d, from, &t, scale, w);
    }
    return TRL_OK;
}
