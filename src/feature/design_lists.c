/* design_lists.c -- what is on at every token, and where every rare attribute is on. */
/* SPDX-License-Identifier: MIT */
#include "feature/design_parts.h"

#include <string.h>

#include "base/mem.h"

#define MANY 8 /* entries of an attribute, on average, from which attributes are listed instead */

/* Forgets occurrences with the value 0, and values at all where every other one is 1. */
static void drop_zeros(trl_design_draft *b)
{
    uint64_t n = 0, i = 0;
    bool ones = true;
    for (size_t a = 0; a < b->o->names.n; a++) {
        const uint64_t end = b->at[a + 1];
        for (b->at[a] = n; i < end; i++)
            if (b->value[i] != 0.0) {
                ones = ones && b->value[i] == 1.0;
                b->token[n] = b->token[i];
                if (b->high)
                    b->high[n] = b->high[i];
                b->value[n++] = b->value[i];
            }
    }
    b->at[b->o->names.n] = n;
    if (ones) {
        trl_free(b->value);
        b->value = NULL;
    }
}

typedef struct list_sizes {
    uint64_t rows, sparse, entries; /* sparse: attributes, which have so many entries */
} list_sizes;

/* Sizes of the token-major lists, and their begin arrays.  The occurrences have new ids from here
 * on. */
static bool count_token_lists(trl_design_draft *b, list_sizes *size)
{
    trl_family *f = b->f;
    const size_t n = b->c->n_tokens;
    f->dense_begin = trl_alloc(n + 1, sizeof *f->dense_begin);
    f->entry_begin = trl_alloc(n + 1, sizeof *f->entry_begin);
    f->sparse_begin = trl_alloc(n + 1, sizeof *f->sparse_begin);
    if (!f->dense_begin || !f->entry_begin || !f->sparse_begin)
        return false;
    *size = (list_sizes){0};
    for (size_t t = 0; t < n; t++) {
        f->dense_begin[t] = size->rows;
        f->sparse_begin[t] = size->sparse;
        f->entry_begin[t] = size->entries;
        for (uint64_t i = b->o->begin[t]; i < b->o->begin[t + 1]; i++) {
            const bool off = trl_value_list_at(&b->o->values, i) == 0.0;
            const uint32_t a = b->o->id[i] = off ? TRL_DESIGN_DROPPED : b->new_id[b->o->id[i]];
            if (a < f->n_dense) {
                size->rows++;
            } else if (a != TRL_DESIGN_DROPPED) {
                size->sparse++;
                size->entries +=
                    f->entry_first[a - f->n_dense + 1] - f->entry_first[a - f->n_dense];
            }
        }
    }
    f->dense_begin[n] = size->rows;
    f->sparse_begin[n] = size->sparse;
    f->entry_begin[n] = size->entries;
    return true;
}

/* Attributes are listed, or their entries; the other list is empty. */
static void choose_list(trl_design_draft *b, list_sizes *size)
{
    trl_family *f = b->f;
    const bool hot = f->n_hot == f->n_dense && f->n_warm == f->n_attrs;
    if (b->chain || !hot || b->value || size->entries == 0 || size->entries < MANY * size->sparse) {
        trl_free(f->sparse_begin);
        f->sparse_begin = NULL;
        return;
    }
    memset(f->entry_begin, 0, (b->c->n_tokens + 1) * sizeof *f->entry_begin);
    size->entries = 0;
}

/* One token's rows and entries, or sparse attributes, of the attributes row[0] .. row[1], sparse[0]
 * .. sparse[1].  Hot ones go first, so that scatter stops at the first cold one; singletons last.
 */
static void fill_token(trl_design_draft *b, size_t t, const size_t row[2], const size_t sparse[2],
                       uint64_t *r, uint64_t *e)
{
    trl_family *f = b->f;
    for (uint64_t i = b->o->begin[t]; i < b->o->begin[t + 1]; i++) {
        const uint32_t a = b->o->id[i];
        if (a >= row[0] && a < row[1]) {
            if (f->dense_value)
                f->dense_value[*r] = trl_value_list_at(&b->o->values, i);
            f->dense_row[(*r)++] = a;
        } else if (f->sparse && a >= sparse[0] && a < sparse[1]) {
            f->sparse[(*e)++] = (uint32_t)(a - f->n_dense);
        } else if (a >= sparse[0] && a < sparse[1]) {
            for (uint64_t k = f->entry_first[a - f->n_dense];
                 k < f->entry_first[a - f->n_dense + 1]; k++) {
                if (f->entry_value)
                    f->entry_value[*e] = trl_value_list_at(&b->o->values, i);
                /* entry numbers for now; place_weights makes them weights */
                f->entry[(*e)++] = trl_entry_of(k, f->entry_cell[k]);
            }
        }
    }
}

bool trl_design_token_lists(trl_design_draft *b)
{
    trl_family *f = b->f;
    list_sizes n;
    if (b->value)
        drop_zeros(b);
    if (!count_token_lists(b, &n))
        return false;
    f->has_rows = n.rows + n.entries > 0 || b->k == TRL_NODE;
    choose_list(b, &n);
    f->dense_row = trl_alloc64(n.rows + TRL_DESIGN_SLACK, sizeof *f->dense_row);
    f->entry = trl_alloc64(n.entries + TRL_DESIGN_SLACK, sizeof *f->entry);
    f->sparse = f->sparse_begin ? trl_alloc(n.sparse, sizeof *f->sparse) : NULL;
    if (!f->dense_row || !f->entry || (f->sparse_begin && !f->sparse))
        return false;
    memset(f->dense_row + n.rows, 0, TRL_DESIGN_SLACK * sizeof *f->dense_row);
    memset(f->entry + n.entries, 0, TRL_DESIGN_SLACK * sizeof *f->entry);
    if (b->value) {
        f->dense_value = trl_alloc(n.rows, sizeof *f->dense_value);
        f->entry_value = trl_alloc(n.entries, sizeof *f->entry_value);
        if (!f->dense_value || !f->entry_value)
            return false;
    }
    const size_t row[] = {0, f->n_hot, f->singleton_row, f->n_dense};
    const size_t sparse[] = {f->n_dense, f->n_warm, f->singleton_attr, f->n_attrs};
    for (size_t t = 0; t < b->c->n_tokens; t++) {
        uint64_t r = f->dense_begin[t], e = f->sparse ? f->sparse_begin[t] : f->entry_begin[t];
        for (size_t k = 0; k < 3; k++)
            fill_token(b, t, row + k, sparse + k, &r, &e);
    }
    return true;
}

/* The tokens of cold attributes, in their order. */
bool trl_design_attribute_lists(trl_design_draft *b)
{
    trl_family *f = b->f;
    uint64_t total = 0;
    f->n_cold = (f->n_dense - f->n_hot) + (f->n_attrs - f->n_warm);
    f->token_begin = trl_alloc(f->n_cold + 1, sizeof *f->token_begin);
    if (!f->token_begin)
        return false;
    for (size_t c = 0; c < f->n_cold; c++) {
        const uint32_t old = f->name[trl_cold_attr(f, c)];
        f->token_begin[c] = total;
        total += b->at[old + 1] - b->at[old];
    }
    f->token_begin[f->n_cold] = total;
    f->token = trl_alloc64(total + TRL_DESIGN_SLACK, sizeof *f->token);
    f->token_value = b->value ? trl_alloc(total, sizeof *f->token_value) : NULL;
    f->token_high = b->high ? trl_zalloc(total + TRL_DESIGN_SLACK, sizeof *f->token_high) : NULL;
    if (!f->token || (b->value && !f->token_value) || (b->high && !f->token_high))
        return false;
    memset(f->token + total, 0, TRL_DESIGN_SLACK * sizeof *f->token);
    for (size_t c = 0; c < f->n_cold; c++) {
        const uint64_t from = b->at[f->name[trl_cold_attr(f, c)]], to = f->token_begin[c];
        const size_t len = (size_t)(f->token_begin[c + 1] - to);
        memcpy(f->token + to, b->token + from, len * sizeof *f->token);
        if (b->high)
            memcpy(f->token_high + to, b->high + from, len * sizeof *f->token_high);
        if (b->value)
            memcpy(f->token_value + to, b->value + from, len * sizeof *f->token_value);
    }
    return true;
}
