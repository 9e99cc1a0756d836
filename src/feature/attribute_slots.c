/* attribute_slots.c -- numbering the prefixes of attributes. */
/* SPDX-License-Identifier: MIT */
#include "feature/attribute_slots.h"

#include "base/mem.h"
#include "feature/attribute_prefix.h"

#define ROW_COST 2 /* of a row beyond its vectors, in entries */

static trl_str prefix_of(const trl_attribute_slots *x, const trl_strtab *names, size_t a)
{
    return trl_attribute_prefix(trl_strtab_get(names, x->f->name[a]));
}

static bool number_prefixes(const trl_attribute_slots *x, const trl_strtab *names,
                            const uint32_t *listed, size_t n, trl_strtab *prefixes)
{
    for (size_t i = 0; i < n && prefixes->n < TRL_SLOTS; i++) {
        const trl_str prefix = prefix_of(x, names, listed ? listed[i] : i);
        if (prefix.n && trl_strtab_add(prefixes, prefix.p, prefix.n) == TRL_NO_ID)
            return false;
    }
    return true;
}

static bool number_slots(trl_attribute_slots *x, const trl_strtab *names, const uint32_t *listed,
                         size_t n)
{
    trl_strtab prefixes = {0};
    x->slot = trl_alloc(x->f->n_attrs, sizeof *x->slot);
    const bool good =
        x->slot && number_prefixes(x, names, listed, listed ? n : x->f->n_attrs, &prefixes);
    for (size_t a = 0; good && a < x->f->n_attrs; a++) {
        const trl_str prefix = prefix_of(x, names, a);
        const uint32_t id = prefix.n ? trl_strtab_find(&prefixes, prefix.p, prefix.n) : TRL_NO_ID;
        x->slot[a] = id < TRL_SLOTS ? (uint8_t)id : TRL_SLOTS;
    }
    x->n_slots = prefixes.n;
    trl_strtab_fini(&prefixes);
    return good;
}

static bool number_entries(trl_attribute_slots *x)
{
    const trl_family *f = x->f;
    const size_t sparse = f->n_attrs - f->n_dense;
    x->entry_attr = trl_alloc(f->entry_first[sparse], sizeof *x->entry_attr);
    for (size_t a = 0; x->entry_attr && a < sparse; a++)
        for (uint64_t e = f->entry_first[a]; e < f->entry_first[a + 1]; e++)
            x->entry_attr[e] = (uint32_t)(f->n_dense + a);
    return x->entry_attr;
}

bool trl_attribute_slots_init(trl_attribute_slots *x, const trl_design *d, const trl_strtab *names,
                              const uint32_t *listed, size_t n)
{
    *x = (trl_attribute_slots){.d = d, .f = &d->family[TRL_NODE]};
    return number_slots(x, names, listed, n) && number_entries(x);
}

void trl_attribute_slots_fini(trl_attribute_slots *x)
{
    trl_free(x->slot);
    trl_free(x->entry_attr);
    *x = (trl_attribute_slots){0};
}

uint64_t trl_row_cost(const trl_family *f)
{
    return f->step / 8 + ROW_COST;
}

uint64_t trl_attribute_cost(const trl_family *f, size_t a)
{
    return a < f->n_dense ? trl_row_cost(f)
                          : f->entry_first[a - f->n_dense + 1] - f->entry_first[a - f->n_dense];
}
