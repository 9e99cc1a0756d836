/* stored_adjoints.c -- adjoints of all examples. */
/* SPDX-License-Identifier: MIT */
#include "train/stored_adjoints.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/spill.h"
#include "train/gradient.h"

static size_t row_floats(const trl_stored_adjoints *k, size_t f)
{
    if (!k->d->family[f].has_rows)
        return 0;
    return k->pairs && f == TRL_EDGE ? (size_t)k->cell_first[k->d->n_sequences]
                                     : k->d->n_tokens * k->d->family[f].step;
}

static size_t shared_floats(const trl_stored_adjoints *k, size_t f)
{
    if (trl_shared_is_row(k->d, f))
        return 0;
    return k->d->n_sequences * k->d->family[f].n_constant;
}

static bool count_cells(trl_stored_adjoints *k)
{
    const trl_design *d = k->d;
    k->cell_first = trl_alloc(d->n_sequences + 1, sizeof *k->cell_first);
    if (!k->cell_first)
        return false;
    k->cell_first[0] = 0;
    for (size_t i = 0; i < d->n_sequences; i++)
        k->cell_first[i + 1] =
            k->cell_first[i] + trl_pair_view_room(k->pairs, (size_t)d->first[i],
                                                  (size_t)(d->first[i + 1] - d->first[i]));
    return true;
}

trl_status trl_stored_adjoints_init(trl_stored_adjoints *k, const trl_design *d,
                                    const trl_pair_sets *pairs, trl_error *err)
{
    *k = (trl_stored_adjoints){.d = d, .pairs = pairs};
    trl_spill *before = trl_spill_use(d->spill);
    bool good = !pairs || count_cells(k);
    for (size_t f = 0; good && f < d->n_families; f++) {
        const bool rows = d->family[f].has_rows;
        k->row[f] = rows ? trl_zalloc64(row_floats(k, f), sizeof(float)) : NULL;
        const bool shared = !trl_shared_is_row(d, f);
        k->shared[f] = shared ? trl_zalloc64(shared_floats(k, f), sizeof(float)) : NULL;
        good = good && (!rows || k->row[f]) && (!shared || k->shared[f]);
    }
    trl_spill_use(before);
    if (good)
        return TRL_OK;
    trl_stored_adjoints_fini(k);
    return trl_fail_mem(err);
}

void trl_stored_adjoints_fini(trl_stored_adjoints *k)
{
    trl_free(k->cell_first);
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

/* w += scale A^T of the cells of example i. */
static bool sum_pairs(const trl_stored_adjoints *k, size_t i, double scale, trl_arena *arena,
                      double *w)
{
    const size_t from = (size_t)k->d->first[i], n = (size_t)k->d->first[i + 1] - from;
    const trl_pair_view *v = trl_pair_view_get(k->pairs, from, n, arena);
    if (v)
        trl_pair_view_scatter(v, k->d, from, trl_stored_adjoints_cells(k, i), scale, w);
    return v;
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
        if (!trl_tables_get_sets(d, k->pairs, from, n, arena, &t) ||
            (k->pairs && !sum_pairs(k, i, scale, arena, w)))
            return trl_fail_mem(err);
        for (size_t f = 0; f < d->n_families; f++) {
            const trl_family *fam = &d->family[f];
            const float *row = trl_stored_adjoints_row(k, f, from),
                        *shared = trl_stored_adjoints_shared(k, f, i);
            for (size_t c = 0; t.row[f] && c < n * fam->step; c++)
                t.row[f][c] = (double)row[c];
            for (size_t c = 0; c < fam->n_constant; c++)
                w[fam->constant_at + c] +=
                    scale * (double)(shared ? shared[c] : row[fam->constant_cell[c]]);
        }
        trl_scatter_all(d, from, &t, scale, w);
    }
    return TRL_OK;
}
