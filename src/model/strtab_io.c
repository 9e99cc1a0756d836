/* strtab_io.c -- string tables as sections of a container. */
/* SPDX-License-Identifier: MIT */
#include "model/strtab_io.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

typedef struct section_tags {
    char pool[9], end4[9], end8[9], slot[9];
} section_tags;

static bool make_tags(const char *prefix, section_tags *t)
{
    if (strnlen(prefix, 5) != 4)
        return false;
    const char *const suffix[] = {"pool", "end4", "end8", "slot"};
    char *const tag[] = {t->pool, t->end4, t->end8, t->slot};
    for (size_t i = 0; i < 4; i++) {
        memcpy(tag[i], prefix, 4);
        memcpy(tag[i] + 4, suffix[i], 5);
    }
    return true;
}

static size_t slots_for(size_t n)
{
    size_t slots = 1;
    while ((uint64_t)n * 5 > (uint64_t)slots * 4)
        slots *= 2;
    return slots;
}

static uint32_t *make_slots(const trl_strtab *t, size_t n_slots)
{
    uint32_t *slot = trl_zalloc(n_slots, sizeof *slot);
    for (size_t i = 0; slot && i < t->n; i++) {
        const trl_str s = trl_strtab_get(t, (uint32_t)i);
        size_t k = (size_t)trl_str_hash(s.p, s.n) & (n_slots - 1);
        while (slot[k])
            k = (k + 1) & (n_slots - 1);
        slot[k] = (uint32_t)i + 1;
    }
    return slot;
}

trl_status trl_strtab_save(const trl_strtab *t, const char *prefix, trl_container_builder *b,
                           trl_error *err)
{
    section_tags tag;
    if (!make_tags(prefix, &tag))
        return trl_fail(err, TRL_EINVAL, "'%s' is not a four-letter prefix", prefix);
    const bool narrow = t->pool_len <= UINT32_MAX;
    const size_t n_slots = slots_for(t->n);
    uint32_t *slot = make_slots(t, n_slots);
    uint32_t *end = narrow ? trl_alloc(t->n, sizeof *end) : NULL;
    if (!slot || (narrow && !end)) {
        trl_free(slot);
        trl_free(end);
        return trl_fail_mem(err);
    }
    trl_container_builder_add(b, tag.pool, t->pool, t->pool_len);
    if (narrow) {
        for (size_t i = 0; i < t->n; i++)
            end[i] = (uint32_t)t->end[i];
        trl_container_builder_give(b, tag.end4, end, t->n * sizeof *end);
    } else {
        trl_container_builder_add(b, tag.end8, t->end, t->n * sizeof *t->end);
    }
    trl_container_builder_give(b, tag.slot, slot, n_slots * sizeof *slot);
    return TRL_OK;
}

trl_status trl_strview_load(const trl_container *c, const char *prefix, trl_strview *out,
                            trl_error *err)
{
    section_tags tag;
    if (!make_tags(prefix, &tag))
        return trl_fail(err, TRL_EINVAL, "'%s' is not a four-letter prefix", prefix);
    trl_strview v = {0};
    const void *pool, *ends, *slots;
    size_t pool_size, unused;
    trl_status st = trl_container_array(c, tag.pool, 1, &pool, &pool_size, err);
    if (st == TRL_OK)
        st = trl_container_array(c, tag.slot, sizeof *v.slot, &slots, &v.n_slots, err);
    const bool wide = trl_container_find(c, tag.end8, &ends, &unused);
    if (st == TRL_OK)
        st = trl_container_array(c, wide ? tag.end8 : tag.end4, wide ? 8 : 4, &ends, &v.n, err);
    if (st != TRL_OK)
        return st;
    v.pool = pool;
    v.slot = slots;
    if (wide)
        v.end64 = ends;
    else
        v.end32 = ends;
    if (v.n >= TRL_NO_ID || !trl_strview_check(&v, pool_size))
        return trl_container_damaged(c, err, "a string table is inconsistent");
    *out = v;
    return TRL_OK;
}
