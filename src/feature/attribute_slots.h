/* attribute_slots.h -- private: attributes by their prefixes, and those that are on at a token.
 *
 * Rows that are implied (implied_rows.h) and tokens that have much in common (token_groups.h) are
 * found by looking at the same thing: attributes of one prefix (attribute_prefix.h) make a *slot*,
 * and a token has one of them, or none.  Slots where a token has two are of no use for either.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ATTRIBUTE_SLOTS_H
#define TRL_ATTRIBUTE_SLOTS_H

#include "feature/design.h"

#define TRL_SLOTS 32 /* at most; attributes of further prefixes are in none */

typedef struct trl_attribute_slots {
    const trl_design *d;  /* borrowed */
    const trl_family *f;  /* its family 0 */
    size_t n_slots;       /* at most TRL_SLOTS */
    uint8_t *slot;        /* [n_attrs]; TRL_SLOTS: none */
    uint32_t *entry_attr; /* [entries] the attribute of each */
} trl_attribute_slots;

/* Slots in the order in which prefixes come up in listed[0 .. n), or (NULL) among all attributes;
 * attributes of other prefixes are in none.  `names` are the family's.  False: out of memory; _fini
 * in any case. */
bool trl_attribute_slots_init(trl_attribute_slots *x, const trl_design *d, const trl_strtab *names,
                              const uint32_t *listed, size_t n);
void trl_attribute_slots_fini(trl_attribute_slots *x);

/* What it costs to add a row, or an attribute's row or entries, to a table of scores, in entries.
 */
uint64_t trl_row_cost(const trl_family *f);
uint64_t trl_attribute_cost(const trl_family *f, size_t a);

/* The attribute of an entry; *first: it is that attribute's first one. */
static inline uint32_t trl_entry_attribute(const trl_attribute_slots *x, const trl_entry *e,
                                           bool *first)
{
    const trl_family *f = x->f;
    const uint64_t hot = f->entry_first[f->n_warm - f->n_dense];
    const uint64_t k = e->weight < f->entry_hot_at + hot ? e->weight - f->entry_hot_at
                                                         : e->weight - f->entry_cold_at + hot;
    const uint32_t a = x->entry_attr[k];
    *first = k == f->entry_first[a - f->n_dense];
    return a;
}

/* The attributes of a token, one after the other:
 *
 *     for (trl_token_attributes k = trl_attributes_at(x, t); trl_attributes_next(x, &k);)
 *         k.attr ...
 */
typedef struct trl_token_attributes {
    uint64_t row, row_end, entry, entry_end;
    uint32_t attr;
} trl_token_attributes;

static inline trl_token_attributes trl_attributes_at(const trl_attribute_slots *x, size_t t)
{
    const trl_family *f = x->f;
    return (trl_token_attributes){f->dense_begin[t], f->dense_begin[t + 1], f->entry_begin[t],
                                  f->entry_begin[t + 1], 0};
}

static inline bool trl_attributes_next(const trl_attribute_slots *x, trl_token_attributes *k)
{
    if (k->row < k->row_end) {
        k->attr = x->f->dense_row[k->row++];
        return true;
    }
    while (k->entry < k->entry_end) {
        bool first;
        k->attr = trl_entry_attribute(x, &x->f->entry[k->entry++], &first);
        if (first)
            return true;
    }
    return false;
}

#endif
