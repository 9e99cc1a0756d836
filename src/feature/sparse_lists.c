/* sparse_lists.c -- from lists of entries to lists of attributes. */
/* SPDX-License-Identifier: MIT */
#include "feature/sparse_lists.h"

#include "base/mem.h"

#define MANY 8 /* entries of an attribute, on average, from which attributes are listed instead */
#define NO_ATTRIBUTE UINT32_MAX

/* For each entry the attribute that it is the first of, less n_dense; NULL: out of memory. */
static uint32_t *first_of(const trl_family *f)
{
    const size_t sparse = f->n_attrs - f->n_dense, n = (size_t)f->entry_first[sparse];
    uint32_t *attr = trl_alloc(n + 1, sizeof *attr);
    for (size_t e = 0; attr && e < n; e++)
        attr[e] = NO_ATTRIBUTE;
    for (size_t a = 0; attr && a < sparse; a++)
        if (f->entry_first[a] < f->entry_first[a + 1])
            attr[f->entry_first[a]] = (uint32_t)a;
    return attr;
}

static bool fill(trl_family *f, size_t n_tokens, const uint32_t *attr, uint64_t n_attrs)
{
    uint64_t at = 0;
    f->sparse_begin = trl_alloc(n_tokens + 1, sizeof *f->sparse_begin);
    f->sparse = trl_alloc((size_t)n_attrs, sizeof *f->sparse);
    if (!f->sparse_begin || !f->sparse)
        return false;
    for (size_t t = 0; t < n_tokens; t++) {
        f->sparse_begin[t] = at;
        for (uint64_t e = f->entry_begin[t]; e < f->entry_begin[t + 1]; e++) {
            const uint32_t a = attr[f->entry[e].weight - f->entry_hot_at];
            if (a != NO_ATTRIBUTE)
                f->sparse[at++] = a;
        }
    }
    f->sparse_begin[n_tokens] = at;
    return true;
}

bool trl_sparse_lists_build(trl_family *f, size_t n_tokens)
{
    const bool hot = f->n_hot == f->n_dense && f->n_warm == f->n_attrs;
    const uint64_t n = f->entry_begin ? f->entry_begin[n_tokens] : 0;
    uint64_t n_attrs = 0;
    if (!hot || f->entry_value || n == 0)
        return true;
    uint32_t *attr = first_of(f);
    if (!attr)
        return false;
    for (uint64_t e = 0; e < n; e++)
        n_attrs += attr[f->entry[e].weight - f->entry_hot_at] != NO_ATTRIBUTE;
    const bool good = n < MANY * n_attrs || fill(f, n_tokens, attr, n_attrs);
    trl_free(attr);
    return good;
}
