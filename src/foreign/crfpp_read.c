/* crfpp_read.c -- CRF++'s binary models.
 *
 * As the machine that wrote it stores them, little-endian here:
 *
 *     u32 version (100), u32 type (0), double cost factor (crf_test replaces it), u32 weights,
 *     u32 columns without the label, u32 bytes of the dictionary,
 *     u32 bytes of the labels, the labels, each with a NUL,
 *     u32 bytes of the template, its lines, each with a NUL, NULs up to a multiple of four,
 *     dictionary: units of i32 base, u32 check,
 *     float[weights]
 *
 * The dictionary is a double-array trie [Aoe89].  A node is known by its base b; its child by byte
 * c is unit b + c + 1 if that unit's check is b, with the unit's base as the child's own; a key
 * ends at a node whose unit b has the check b and a base -1 - (number of the first weight).  The
 * root's base is that of unit 0.  All keys are found by grouping units by their check.
 *
 * [Aoe89] Aoe. An efficient digital search algorithm by using a double-array structure. 1989.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "foreign/crfpp.h"

#define DAMAGED(m, at, ...) TRL_DAMAGED((m), "CRF++", (at), __VA_ARGS__)
#define FIXED 32 /* bytes before the labels */

typedef struct trie {
    trl_crfpp *c;
    size_t at, n;                     /* units, in the file */
    uint32_t *next_with, *first_with; /* [n] units by check, + 1; 0: no more */
    uint8_t *seen;                    /* [n] */
    trl_buf key;
    struct place {
        uint32_t unit; /* the next sibling to visit, + 1; 0: no more */
        uint32_t base;
    } * stack;
    size_t depth, stack_cap;
} trie;

static int32_t base_of(const trie *t, size_t unit)
{
    return (int32_t)trl_get_u32(t->c->m->file.p + t->at + unit * 8);
}

static uint32_t check_of(const trie *t, size_t unit)
{
    return trl_get_u32(t->c->m->file.p + t->at + unit * 8 + 4);
}

/* Units by their check.  Unit 0 is the root, unused ones have base and check 0. */
static trl_status group(trie *t)
{
    t->next_with = trl_zalloc(t->n, sizeof *t->next_with);
    t->first_with = trl_zalloc(t->n, sizeof *t->first_with);
    t->seen = trl_zalloc(t->n, 1);
    if (!t->next_with || !t->first_with || !t->seen)
        return trl_fail_mem(t->c->m->err);
    for (size_t k = t->n; k-- > 1;) {
        const uint32_t check = check_of(t, k);
        if (check == 0 && base_of(t, k) == 0)
            continue;
        if (check >= t->n || check > k || k - check > 256)
            return DAMAGED(t->c->m, t->at + k * 8, "an impossible unit of the dictionary");
        t->next_with[k] = t->first_with[check];
        t->first_with[check] = (uint32_t)k + 1;
    }
    return TRL_OK;
}

/* Goes down to the node with this base. */
static trl_status push(trie *t, int32_t base)
{
    if (base <= 0 || (size_t)base >= t->n || t->seen[base])
        return DAMAGED(t->c->m, t->at, "the dictionary is not a tree");
    struct place *all = trl_reserve(t->stack, &t->stack_cap, t->depth + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(t->c->m->err);
    t->stack = all;
    t->seen[base] = 1;
    all[t->depth++] = (struct place){t->first_with[base], (uint32_t)base};
    return TRL_OK;
}

/* Visits the next child of the node on top. */
static trl_status step(trie *t)
{
    struct place *top = &t->stack[t->depth - 1];
    if (top->unit == 0) {
        t->depth--;
        t->key.len -= t->depth > 0;
        return TRL_OK;
    }
    const uint32_t unit = top->unit - 1;
    const int32_t base = base_of(t, unit);
    top->unit = t->next_with[unit];
    if (unit != top->base) {
        if (!trl_buf_ch(&t->key, (char)(unsigned char)(unit - top->base - 1)))
            return trl_fail_mem(t->c->m->err);
        return push(t, base);
    }
    if (base >= 0)
        return DAMAGED(t->c->m, t->at + (size_t)unit * 8, "a key without a number");
    const trl_status st = trl_crfpp_attribute(t->c, (trl_str){t->key.data, t->key.len},
                                              (uint64_t)(-((int64_t)base) - 1));
    return st == TRL_EMODEL ? trl_foreign_damaged(t->c->m, "CRF++", t->at + (size_t)unit * 8, st)
                            : st;
}

static trl_status read_keys(trl_crfpp *c, size_t at, size_t n)
{
    trie t = {.c = c, .at = at, .n = n};
    trl_status st = n ? group(&t) : DAMAGED(c->m, at, "it has no dictionary");
    if (st == TRL_OK)
        st = push(&t, base_of(&t, 0));
    while (st == TRL_OK && t.depth > 0)
        st = step(&t);
    trl_free(t.next_with);
    trl_free(t.first_with);
    trl_free(t.seen);
    trl_free(t.stack);
    trl_buf_fini(&t.key);
    return st;
}

/* ---- the head -------------------------------------------------------------------------------- */

/* A block of strings, each with a NUL, after its u32 size at *at; goes to its end. */
static trl_status read_block(trl_foreign *m, size_t *at, trl_str *out)
{
    if (!trl_has(m->file, *at, 4) || !trl_has(m->file, *at + 4, trl_get_u32(m->file.p + *at)))
        return DAMAGED(m, *at, "the file ends in its labels or template");
    *out = (trl_str){m->file.p + *at + 4, trl_get_u32(m->file.p + *at)};
    *at += 4 + out->n;
    return out->n && out->p[out->n - 1] == '\0' ? TRL_OK
                                                : DAMAGED(m, *at, "labels or template do not end");
}

static trl_status read_labels(trl_crfpp *c, trl_str block)
{
    trl_status st = TRL_OK;
    for (size_t at = 0; st == TRL_OK && at < block.n;) {
        const size_t n = strlen(block.p + at);
        st = trl_foreign_label(c->m, (trl_str){block.p + at, n});
        at += n + 1;
    }
    return st;
}

static trl_status read_template(trl_crfpp *c, trl_str block)
{
    trl_status st = TRL_OK;
    for (size_t at = 0; st == TRL_OK && at < block.n;) {
        const size_t n = strlen(block.p + at);
        if (n)
            st = trl_crfpp_line(c, (trl_str){block.p + at, n});
        at += n + 1;
    }
    return st;
}

static trl_status read_head(trl_crfpp *c, size_t *at)
{
    trl_foreign *m = c->m;
    trl_str labels, lines;
    if (m->file.n < FIXED)
        return DAMAGED(m, m->file.n, "the file ends in its header");
    c->n_weights = trl_get_u32(m->file.p + 16);
    c->columns = trl_get_u32(m->file.p + 20);
    *at = 28;
    trl_status st = read_block(m, at, &labels);
    if (st == TRL_OK)
        st = read_block(m, at, &lines);
    if (st != TRL_OK)
        return st;
    st = read_labels(c, labels);
    if (st == TRL_OK)
        st = read_template(c, lines);
    if (st == TRL_OK)
        st = trl_crfpp_begin(c);
    return st == TRL_EMODEL ? trl_foreign_damaged(m, "CRF++", 28, st) : st;
}

static trl_status read_all(trl_crfpp *c, float **weights)
{
    trl_foreign *m = c->m;
    size_t at;
    trl_status st = read_head(c, &at);
    if (st != TRL_OK)
        return st;
    const size_t n_units = trl_get_u32(m->file.p + 24);
    if (n_units % 8 || !trl_has(m->file, at, n_units) ||
        m->file.n - at - n_units != c->n_weights * 4)
        return DAMAGED(m, 24, "dictionary and %llu weights do not fill the file",
                       (unsigned long long)c->n_weights);
    *weights = trl_alloc((size_t)c->n_weights, sizeof **weights);
    if (!*weights)
        return trl_fail_mem(m->err);
    for (size_t k = 0; k < c->n_weights; k++)
        (*weights)[k] = trl_get_float(m->file.p + at + n_units + k * 4);
    c->weight = *weights;
    st = read_keys(c, at, n_units / 8);
    return st == TRL_OK ? trl_crfpp_end(c) : st;
}

trl_status trl_read_crfpp(trl_foreign *m)
{
    trl_crfpp c = {.m = m};
    float *weights = NULL;
    const trl_status st = read_all(&c, &weights);
    trl_crfpp_fini(&c);
    trl_free(weights);
    return st;
}
