/* project.c -- matching attributes by name. */
/* SPDX-License-Identifier: MIT */
#include "feature/project.h"

#include "base/fail.h"
#include "base/mem.h"

#define SLACK 16 /* list elements that kernels may prefetch past the end */

/* number[i]: the design's attribute for the other corpus' name i, or TRL_NO_ID. */
static uint32_t *match_names(const trl_family *f, const trl_strtab *train, const trl_strtab *other)
{
    uint32_t *of_name = trl_alloc(train->n, sizeof *of_name);
    uint32_t *number = of_name ? trl_alloc(other->n, sizeof *number) : NULL;
    if (number) {
        for (size_t i = 0; i < train->n; i++)
            of_name[i] = TRL_NO_ID;
        for (size_t a = 0; a < f->n_attrs; a++)
            of_name[f->name[a]] = (uint32_t)a;
        for (size_t i = 0; i < other->n; i++) {
            const trl_str s = trl_strtab_get(other, (uint32_t)i);
            const uint32_t id = trl_strtab_find(train, s.p, s.n);
            number[i] = id == TRL_NO_ID ? TRL_NO_ID : of_name[id];
        }
    }
    trl_free(of_name);
    return number;
}

/* Counts (fill false) or fills the lists of all tokens. */
static void token_lists(trl_family *f, const trl_occurrences *o, const uint32_t *number,
                        size_t n_tokens, bool fill)
{
    uint64_t r = 0, e = 0;
    for (size_t t = 0; t < n_tokens; t++) {
        f->dense_begin[t] = r;
        f->entry_begin[t] = e;
        for (int hot = 1; hot >= 0; hot--) /* hot rows first, as gather expects */
            for (uint64_t i = o->begin[t]; i < o->begin[t + 1]; i++) {
                const uint32_t a = number[o->id[i]];
                const double v = trl_value_list_at(&o->values, i);
                if (a < f->n_dense && (a < f->n_hot) == hot) {
                    if (fill) {
                        f->dense_row[r] = a;
                        f->dense_value[r] = v;
                    }
                    r++;
                } else if (a >= f->n_dense && a != TRL_NO_ID && hot) {
                    for (uint64_t k = f->entry_first[a - f->n_dense];
                         k < f->entry_first[a - f->n_dense + 1]; k++, e++)
                        if (fill) {
                            f->entry[e] = trl_entry_of(trl_entry_at(f, k), f->entry_cell[k]);
                            f->entry_value[e] = v;
                        }
                }
            }
    }
    f->dense_begin[n_tokens] = r;
    f->entry_begin[n_tokens] = e;
}

static bool project_family(const trl_family *from, const trl_strtab *names,
                           const trl_occurrences *o, size_t n_tokens, trl_family *f)
{
    *f = *from;
    f->dense_row = NULL;
    f->dense_value = f->entry_value = NULL;
    f->entry = NULL;
    f->sparse_begin = NULL; /* values are listed, entry by entry */
    f->sparse = NULL;
    f->dense_begin = trl_alloc(n_tokens + 1, sizeof *f->dense_begin);
    f->entry_begin = trl_alloc(n_tokens + 1, sizeof *f->entry_begin);
    uint32_t *number = match_names(from, names, &o->names);
    bool good = f->dense_begin && f->entry_begin && number;
    if (good) {
        token_lists(f, o, number, n_tokens, false);
        f->dense_row = trl_zalloc(f->dense_begin[n_tokens] + SLACK, sizeof *f->dense_row);
        f->dense_value = trl_alloc(f->dense_begin[n_tokens], sizeof *f->dense_value);
        f->entry = trl_alloc(f->entry_begin[n_tokens] + SLACK, sizeof *f->entry);
        f->entry_value = trl_alloc(f->entry_begin[n_tokens], sizeof *f->entry_value);
        good = f->dense_row && f->dense_value && f->entry && f->entry_value;
    }
    if (good)
        token_lists(f, o, number, n_tokens, true);
    trl_free(number);
    return good;
}

trl_status trl_design_project(const trl_design *d, const trl_corpus *train, trl_corpus *other,
                              trl_design *out, trl_error *err)
{
    *out = *d;
    out->n_tokens = other->n_tokens;
    out->n_sequences = other->n_sequences;
    out->first = other->first;
    for (size_t k = 0; k < d->n_families; k++)
        out->family[k] = (trl_family){0};
    for (size_t k = 0; k < trl_design_built(d); k++) {
        if (!project_family(&d->family[k], &train->family[k].names, &other->family[k],
                            other->n_tokens, &out->family[k])) {
            trl_projection_fini(out);
            return trl_fail_mem(err);
        }
        trl_occurrences_fini(&other->family[k]);
    }
    return TRL_OK;
}

void trl_projection_fini(trl_design *out)
{
    for (size_t k = 0; k < out->n_families; k++) {
        trl_family *f = &out->family[k];
        trl_free(f->dense_begin);
        trl_free(f->dense_row);
        trl_free(f->dense_value);
        trl_free(f->entry_begin);
        trl_free(f->entry);
        trl_free(f->entry_value);
    }
    *out = (trl_design){0};
}
