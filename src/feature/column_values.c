/* column_values.c -- collecting the columns of a corpus. */
/* SPDX-License-Identifier: MIT */
#include "feature/column_values.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

static trl_status start(trl_column_values *c, const trl_rows *seq, trl_error *err)
{
    uint64_t *first = trl_reserve(NULL, &c->first_cap, 1, sizeof *first);
    c->values = trl_zalloc(seq->n_columns, sizeof *c->values);
    c->n_columns = c->values ? seq->n_columns : 0;
    c->first = first;
    if (!first || !c->values)
        return trl_fail_mem(err);
    first[0] = 0;
    return TRL_OK;
}

trl_status trl_column_values_add_rows(trl_column_values *c, const trl_rows *seq, trl_error *err)
{
    if (!c->first) {
        const trl_status st = start(c, seq, err);
        if (st != TRL_OK)
            return st;
    }
    if (seq->n_columns != c->n_columns) {
        trl_fail(err, TRL_EPARSE, "%zu columns where %zu were found before", seq->n_columns,
                 c->n_columns);
        return trl_fail_where(err, TRL_EPARSE, seq->path, seq->first_row, 0);
    }
    const size_t n = seq->n_tokens * c->n_columns, at = c->n_tokens * c->n_columns;
    uint32_t *id = trl_reserve(c->id, &c->id_cap, at + n, sizeof *id);
    if (id)
        c->id = id;
    uint64_t *first = trl_reserve(c->first, &c->first_cap, c->n_sequences + 2, sizeof *first);
    if (first)
        c->first = first;
    if (!id || !first)
        return trl_fail_mem(err);
    for (size_t i = 0; i < n; i++) {
        const trl_str s = seq->cell[i];
        id[at + i] = trl_strtab_add(&c->values[i % c->n_columns], s.p, s.n);
        if (id[at + i] == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    c->n_tokens += seq->n_tokens;
    first[++c->n_sequences] = c->n_tokens;
    return TRL_OK;
}

void trl_column_values_fini(trl_column_values *c)
{
    for (size_t k = 0; k < c->n_columns; k++)
        trl_strtab_fini(&c->values[k]);
    trl_free(c->values);
    trl_free(c->id);
    trl_free(c->first);
    *c = (trl_column_values){0};
}

trl_status trl_column_values_mask(trl_column_values *c, trl_error *err)
{
    for (size_t k = 0; !c->masked && k + 1 < c->n_columns; k++) {
        const uint32_t oov = trl_strtab_add(&c->values[k], TRL_OOV, strlen(TRL_OOV));
        bool *seen = trl_zalloc(c->values[k].n, sizeof *seen);
        if (oov == TRL_NO_ID || !seen) {
            trl_free(seen);
            return trl_fail_mem(err);
        }
        for (size_t t = 0; t < c->n_tokens; t++) {
            uint32_t *id = &c->id[t * c->n_columns + k];
            const uint32_t v = *id;
            if (!seen[v])
                *id = oov;
            seen[v] = true;
        }
        trl_free(seen);
    }
    c->masked = true;
    return TRL_OK;
}

trl_rows trl_column_values_rows(const trl_column_values *c, size_t seq, trl_str *cell)
{
    const size_t from = (size_t)c->first[seq], n = (size_t)c->first[seq + 1] - from;
    for (size_t i = 0; i < n * c->n_columns; i++)
        cell[i] = trl_strtab_get(&c->values[i % c->n_columns], c->id[from * c->n_columns + i]);
    return (trl_rows){.n_tokens = n, .n_columns = c->n_columns, .cell = cell};
}
