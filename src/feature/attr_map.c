/* attr_map.c -- from attribute names and cells to weights of a design. */
/* SPDX-License-Identifier: MIT */
#include "feature/attr_map.h"

#include "base/fail.h"
#include "base/mem.h"

trl_status trl_attr_map_init(trl_attr_map *m, const trl_corpus *corpus, const trl_design *d,
                             trl_error *err)
{
    *m = (trl_attr_map){.corpus = corpus, .d = d};
    for (size_t f = 0; f < trl_design_built(d); f++) {
        const size_t n = corpus->family[f].names.n;
        m->of_name[f] = trl_alloc(n, sizeof *m->of_name[f]);
        if (!m->of_name[f]) {
            trl_attr_map_fini(m);
            return trl_fail_mem(err);
        }
        for (size_t i = 0; i < n; i++)
            m->of_name[f][i] = TRL_NO_ID;
        for (size_t a = 0; a < d->family[f].n_attrs; a++)
            m->of_name[f][d->family[f].name[a]] = (uint32_t)a;
    }
    return TRL_OK;
}

void trl_attr_map_fini(trl_attr_map *m)
{
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++)
        trl_free(m->of_name[f]);
    *m = (trl_attr_map){0};
}

uint32_t trl_attr_find(const trl_attr_map *m, size_t family, const char *name, size_t n)
{
    const uint32_t id = trl_strtab_find(&m->corpus->family[family].names, name, n);
    return id == TRL_NO_ID ? TRL_NO_ID : m->of_name[family][id];
}

static bool is_live(const trl_family *f, size_t row, size_t cell)
{
    return !f->live || (f->live[row * f->words + cell / 64] >> (cell % 64) & 1);
}

/* The place of `cell` in the ascending list, or n. */
static size_t find_cell(const uint32_t *list, size_t n, size_t cell)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (list[mid] < cell)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && list[lo] == cell ? lo : n;
}

uint64_t trl_attr_weight(const trl_family *f, uint32_t attr, size_t cell)
{
    if (attr < f->n_dense)
        return is_live(f, attr, cell) ? trl_dense_at(f, attr) + cell : TRL_NO_WEIGHT;
    const uint64_t *first = f->entry_first + (attr - f->n_dense);
    const size_t n = (size_t)(first[1] - first[0]);
    const size_t k = find_cell(f->entry_cell + first[0], n, cell);
    return k < n ? trl_entry_at(f, first[0] + k) : TRL_NO_WEIGHT;
}

uint64_t trl_constant_weight(const trl_family *f, size_t cell)
{
    const size_t k = f->has_constant ? find_cell(f->constant_cell, f->n_constant, cell) : 0;
    return f->has_constant && k < f->n_constant ? f->constant_at + k : TRL_NO_WEIGHT;
}

void trl_attr_add(const trl_family *f, uint32_t attr, const double *cell, double *g)
{
    if (attr < f->n_dense) {
        const uint64_t at = trl_dense_at(f, attr);
        for (size_t c = 0; c < f->width; c++)
            if (is_live(f, attr, c))
                g[at + c] += cell[c];
        return;
    }
    const uint64_t *first = f->entry_first + (attr - f->n_dense);
    for (uint64_t e = first[0]; e < first[1]; e++)
        g[trl_entry_at(f, e)] += cell[f->entry_cell[e]];
}

void trl_constant_add(const trl_family *f, const double *cell, double *g)
{
    for (size_t i = 0; i < f->n_constant; i++)
        g[f->constant_at + i] += cell[f->constant_cell[i]];
}
