/* design.c -- compiling a corpus into weight rows, entries and their occurrences. */
/* SPDX-License-Identifier: MIT */
#include "feature/design.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/design_parts.h"
#include "feature/packed_cells.h"
#include "num/simd.h"

/* Occurrences from which a row, or an entry, is worth a copy per lane (train/gradient.c). */
#ifndef HOT_ROW
#define HOT_ROW 24
#define HOT_ENTRY 6
#endif
#define WIDE 256 /* cells of a factor from which all its weights are hot */

static void draft_fini(trl_design_draft *b)
{
    trl_free(b->at);
    trl_free(b->token);
    trl_free(b->high);
    trl_free(b->value);
    trl_free(b->live);
    trl_free(b->new_id);
    trl_cell_marks_fini(&b->marks);
}

/* ---- transposition and counting -------------------------------------------------------------- */

static bool transpose(trl_design_draft *b, const trl_design_options *with)
{
    const trl_occurrences *o = b->o;
    const size_t n_old = o->names.n;
    b->at = trl_zalloc(n_old + 2, sizeof *b->at);
    b->token = trl_alloc(o->n + TRL_DESIGN_SLACK, sizeof *b->token);
    const bool ones = trl_value_list_all_one(&o->values);
    const bool high = with->long_tokens || (uint64_t)b->c->n_tokens > UINT32_MAX;
    b->high = high ? trl_alloc(o->n + TRL_DESIGN_SLACK, sizeof *b->high) : NULL;
    b->value = !ones ? trl_alloc(o->n, sizeof *b->value) : NULL;
    b->live = trl_zalloc(n_old, sizeof *b->live);
    b->new_id = trl_alloc(n_old, sizeof *b->new_id);
    const bool marks = trl_cell_marks_init(&b->marks, b->f->width, b->c, with->min_freq);
    if (!b->at || !b->token || (high && !b->high) || (!ones && !b->value) || !b->live ||
        !b->new_id || !marks)
        return false;
    for (size_t i = 0; i < o->n; i++)
        b->at[o->id[i] + 2]++;
    for (size_t a = 0; a < n_old; a++)
        b->at[a + 2] += b->at[a + 1];
    for (size_t t = 0; t < b->c->n_tokens; t++)
        for (uint64_t i = o->begin[t]; i < o->begin[t + 1]; i++) {
            const uint64_t to = b->at[o->id[i] + 1]++;
            b->token[to] = (uint32_t)t;
            if (b->high)
                b->high[to] = (uint8_t)((uint64_t)t >> 32);
            if (b->value)
                b->value[to] = trl_value_list_at(&o->values, i);
        }
    return true; /* at[a] .. at[a+1] is now attribute a */
}

/* Marks the cells of attribute a that are features; returns their number. */
static uint32_t mark_seen(trl_design_draft *b, size_t a)
{
    const bool any = !(b->marks.least > 0.0);
    int64_t seen = 0;
    trl_cell_marks_next(&b->marks);
    for (uint64_t i = b->at[a]; i < b->at[a + 1] && !(any && (size_t)seen == b->f->width); i++) {
        const uint64_t token = b->token[i] | (b->high ? (uint64_t)b->high[i] << 32 : 0);
        seen += trl_cell_mark_token(&b->marks, &(trl_marked_token){b->c, b->k, (size_t)token},
                                    b->value ? b->value[i] : 1.0);
    }
    return (uint32_t)seen;
}

/* ---- classes --------------------------------------------------------------------------------- */

typedef struct hot_row {
    uint64_t count;
    uint32_t id;
} hot_row;

static int by_count(const void *pa, const void *pb)
{
    const hot_row *a = pa, *b = pb;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* A dense row costs step / 8 vector operations, an entry a few scalar ones. */
static bool is_dense(const trl_design_draft *b, uint32_t live)
{
    if (live == b->f->width)
        return true;
    if (b->k != TRL_NODE)
        return (size_t)live * 4 >= b->f->width;
    return live >= 2 + b->f->step / 8;
}

/* Tokens at which attribute a has a value other than 0: the others decide what is a feature, and
 * have no part in any score. */
static uint64_t tokens_on(const trl_design_draft *b, size_t a)
{
    uint64_t n = b->at[a + 1] - b->at[a];
    for (uint64_t i = b->at[a]; b->value && i < b->at[a + 1]; i++)
        n -= b->value[i] == 0.0;
    return n;
}

/* The part an attribute goes to, in the order of their numbers. */
typedef enum part {
    HOT_DENSE,
    COLD_DENSE,
    SINGLETON_DENSE,
    HOT_SPARSE,
    COLD_SPARSE,
    SINGLETON_SPARSE,
    PARTS
} part;

/* Cold weights need a copy of all adjoints of the family, which is small for the labels of a chain
 * and the largest thing of all for a factor with thousands of cells. */
static bool all_hot(const trl_design_draft *b)
{
    return b->k != TRL_NODE || (b->o->width && b->f->width > WIDE);
}

static part part_of(const trl_design_draft *b, size_t a)
{
    const uint64_t count = tokens_on(b, a);
    const bool always = all_hot(b), single = count == 1 && b->at[a + 1] - b->at[a] == 1;
    if (is_dense(b, b->live[a]))
        return always || count >= HOT_ROW ? HOT_DENSE : single ? SINGLETON_DENSE : COLD_DENSE;
    return always || count >= HOT_ENTRY ? HOT_SPARSE : single ? SINGLETON_SPARSE : COLD_SPARSE;
}

/* Decides for every attribute what it becomes, and numbers them: hot rows by falling count, the
 * rest as first seen. */
static bool classify(trl_design_draft *b, const trl_design_options *o)
{
    trl_family *f = b->f;
    const size_t n_old = b->o->names.n, min = o->min_count ? o->min_count : 1;
    size_t size[PARTS] = {0}, next[PARTS], h = 0;
    for (size_t a = 0; a < n_old; a++) {
        if (a != b->o->constant && b->at[a + 1] - b->at[a] >= min)
            b->live[a] = (o->all_pairs || (o->all_cells >> b->k & 1)) && !(o->min_freq > 0.0)
                             ? (uint32_t)f->width
                             : mark_seen(b, a);
        if (b->live[a])
            size[part_of(b, a)]++;
    }
    f->n_hot = next[COLD_DENSE] = size[HOT_DENSE];
    f->singleton_row = next[SINGLETON_DENSE] = f->n_hot + size[COLD_DENSE];
    f->n_dense = next[HOT_SPARSE] = f->singleton_row + size[SINGLETON_DENSE];
    f->n_warm = next[COLD_SPARSE] = f->n_dense + size[HOT_SPARSE];
    f->singleton_attr = next[SINGLETON_SPARSE] = f->n_warm + size[COLD_SPARSE];
    f->n_attrs = f->singleton_attr + size[SINGLETON_SPARSE];
    hot_row *hot = trl_alloc(f->n_hot, sizeof *hot);
    f->name = trl_alloc(f->n_attrs, sizeof *f->name);
    if (!hot || !f->name) {
        trl_free(hot);
        return false;
    }
    for (size_t a = 0; a < n_old; a++) {
        const part p = b->live[a] ? part_of(b, a) : PARTS;
        b->new_id[a] = TRL_DESIGN_DROPPED;
        if (p == HOT_DENSE)
            hot[h++] = (hot_row){tokens_on(b, a), (uint32_t)a};
        else if (p != PARTS)
            f->name[b->new_id[a] = (uint32_t)next[p]++] = (uint32_t)a;
    }
    qsort(hot, f->n_hot, sizeof *hot, by_count);
    for (size_t i = 0; i < f->n_hot; i++)
        f->name[b->new_id[hot[i].id] = (uint32_t)i] = hot[i].id;
    trl_free(hot);
    return true;
}

/* ---- live cells ------------------------------------------------------------------------------ */

static bool live_rows(trl_design_draft *b, uint64_t *n_dead)
{
    trl_family *f = b->f;
    uint64_t dead = 0;
    for (size_t a = 0; a < f->n_dense; a++)
        dead += f->width - b->live[f->name[a]];
    *n_dead += dead;
    if (dead == 0)
        return true;
    f->live = trl_zalloc(f->n_dense * f->words, sizeof *f->live);
    if (!f->live)
        return false;
    for (size_t a = 0; a < f->n_dense; a++) {
        mark_seen(b, f->name[a]);
        const bool all = b->live[f->name[a]] == f->width;
        for (size_t c = 0; c < f->width; c++)
            if (all || trl_cell_marked(&b->marks, c))
                f->live[a * f->words + c / 64] |= (uint64_t)1 << (c % 64);
    }
    return true;
}

static bool entry_cells(trl_design_draft *b)
{
    trl_family *f = b->f;
    const size_t n = f->n_attrs - f->n_dense;
    f->entry_first = trl_alloc(n + 1, sizeof *f->entry_first);
    if (!f->entry_first)
        return false;
    f->entry_first[0] = 0;
    for (size_t a = 0; a < n; a++)
        f->entry_first[a + 1] = f->entry_first[a] + b->live[f->name[f->n_dense + a]];
    f->entry_cell = trl_alloc(f->entry_first[n], sizeof *f->entry_cell);
    if (!f->entry_cell)
        return false;
    for (size_t a = 0; a < n; a++) {
        uint64_t e = f->entry_first[a];
        mark_seen(b, f->name[f->n_dense + a]);
        for (size_t c = 0; e < f->entry_first[a + 1]; c++)
            if (trl_cell_marked(&b->marks, c))
                f->entry_cell[e++] = (uint32_t)c;
    }
    return true;
}

static bool constant_cells(trl_design_draft *b, const trl_design_options *o)
{
    trl_family *f = b->f;
    f->has_constant = b->o->constant != TRL_NO_ID;
    if (!f->has_constant)
        return true;
    trl_cell_marks_next(&b->marks);
    const bool all = (o->all_transitions || (o->all_cells >> b->k & 1)) && !(o->min_freq > 0.0);
    size_t seen = 0; /* never falls: weights are not negative */
    for (size_t s = 0; s < b->c->n_sequences; s++)
        for (uint64_t t = b->c->first[s] + (b->o->gold ? 0 : b->k); t < b->c->first[s + 1]; t++)
            if (!b->o->gold || b->o->gold[t] != TRL_NO_ID)
                seen +=
                    (size_t)trl_cell_mark_token(&b->marks, &(trl_marked_token){b->c, b->k, t}, 1.0);
    f->n_constant = all ? f->width : seen;
    f->constant_cell = trl_alloc(f->n_constant, sizeof *f->constant_cell);
    if (!f->constant_cell)
        return false;
    size_t n = 0;
    for (size_t c = 0; c < f->width; c++)
        if (all || trl_cell_marked(&b->marks, c))
            f->constant_cell[n++] = (uint32_t)c;
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Of the family's attributes, or its constant, are all cells features? */
static bool has_all_cells(size_t k, const trl_design_options *o)
{
    return (o->all_pairs || o->all_transitions || (o->all_cells >> k & 1)) && !(o->min_freq > 0.0);
}

static bool build_family(trl_design *d, trl_corpus *c, size_t k, const trl_design_options *o,
                         uint64_t *n_dead)
{
    trl_family *f = &d->family[k];
    if (!has_all_cells(k, o) && !trl_pack_cells(&c->family[k], c->n_tokens))
        return false;
    f->cell = c->family[k].cell;
    f->place = c->family[k].place;
    f->full = c->family[k].full;
    f->width = c->family[k].width ? c->family[k].width : d->L;
    for (size_t i = 0; i < k && !c->family[k].width; i++)
        f->width *= d->L;
    f->step = trl_padded(f->width);
    f->words = (f->width + 63) / 64;
    trl_design_draft b = {.c = c, .o = &c->family[k], .f = f, .k = k, .chain = d->order > 0};
    const bool good = transpose(&b, o) && classify(&b, o) && live_rows(&b, n_dead) &&
                      entry_cells(&b) && constant_cells(&b, o) && trl_design_token_lists(&b) &&
                      (k != TRL_NODE || trl_design_attribute_lists(&b));
    draft_fini(&b);
    return good;
}

/* Gives every part its place in the weight vector. */
static void place_weights(trl_design *d)
{
    uint64_t at = 0;
    for (size_t k = 0; k < trl_design_built(d); k++) {
        trl_family *f = &d->family[k];
        f->constant_at = at;
        f->hot_at = trl_padded((size_t)f->constant_at + f->n_constant);
        f->entry_hot_at = f->hot_at + f->n_hot * f->step;
        at = f->entry_hot_at + f->entry_first[f->n_warm - f->n_dense];
    }
    d->n_hot_weights = at;
    trl_family *node = &d->family[TRL_NODE];
    node->entry_cold_at = at;
    at += node->entry_first[node->n_attrs - node->n_dense] -
          node->entry_first[node->n_warm - node->n_dense];
    node->cold_at = at;
    d->n_weights = at + (node->n_dense - node->n_hot) * node->width;
}

/* Do weights and cells of entries have room in their bits? */
static trl_status check_entries(const trl_design *d, trl_error *err)
{
    if (d->family[TRL_NODE].cold_at > TRL_SPARSE_MAX)
        return trl_fail(err, TRL_EINVAL, "%llu sparse features are more than 274,877,906,880",
                        (unsigned long long)d->family[TRL_NODE].cold_at);
    for (size_t k = 0; k < trl_design_built(d); k++) {
        const trl_family *f = &d->family[k];
        if (f->n_attrs > f->n_dense && f->width > (size_t)1 << TRL_CELL_BITS)
            return trl_fail(err, TRL_EINVAL,
                            "%zu ways to label a factor that sees text are more than 67,108,864",
                            f->width);
    }
    return TRL_OK;
}

/* Turns the entry numbers in the tokens' lists into weights. */
static void resolve_entries(trl_design *d)
{
    for (size_t k = 0; k < trl_design_built(d); k++) {
        trl_family *f = &d->family[k];
        for (uint64_t e = 0; e < f->entry_begin[d->n_tokens]; e++)
            f->entry[e] = trl_entry_of(trl_entry_at(f, f->entry[e].weight), f->entry[e].cell);
    }
}

static bool is_live(const trl_family *f, size_t row, size_t cell)
{
    return !f->live || (f->live[row * f->words + cell / 64] >> (cell % 64) & 1);
}

/* Dead cells of dense rows.  Pads need no listing: adjoints' pads are 0. */
static bool list_dead(trl_design *d, uint64_t n_dead)
{
    d->dead = trl_alloc(n_dead, sizeof *d->dead);
    if (!d->dead)
        return false;
    for (size_t k = 0; k < trl_design_built(d); k++) {
        const trl_family *f = &d->family[k];
        d->n_live +=
            f->n_constant + f->n_dense * f->width + f->entry_first[f->n_attrs - f->n_dense];
        for (size_t a = 0; f->live && a < f->n_dense; a++)
            for (size_t c = 0; c < f->width; c++)
                if (!is_live(f, a, c))
                    d->dead[d->n_dead++] = trl_dense_at(f, a) + c;
    }
    d->n_live -= n_dead;
    return true;
}

trl_status trl_design_build(trl_design *d, trl_corpus *c, const trl_design_options *o,
                            trl_error *err)
{
    *d = (trl_design){.L = c->labels.n,
                      .n_tokens = c->n_tokens,
                      .n_sequences = c->n_sequences,
                      .order = o->order,
                      .n_families = c->n_families,
                      .first = c->first};
    if (c->n_tokens == 0)
        return trl_fail(err, TRL_EINVAL, "there is nothing to learn from: no tokens");
    if ((uint64_t)c->n_tokens > TRL_TOKENS_MAX)
        return trl_fail(err, TRL_EINVAL, "%zu tokens are more than 1,099,511,627,712", c->n_tokens);
    if (c->n_sequences > UINT32_MAX - 64)
        return trl_fail(err, TRL_EINVAL, "%zu sequences are more than 4,294,967,231",
                        c->n_sequences);
    uint64_t n_dead = 0;
    bool good = true;
    for (size_t k = 0; k < trl_design_built(d) && good; k++) {
        good = build_family(d, c, k, o, &n_dead);
        trl_occurrences_fini(&c->family[k]);
    }
    if (good) {
        place_weights(d);
        good = list_dead(d, n_dead);
    }
    if (!good) {
        trl_design_fini(d);
        return trl_fail_mem(err);
    }
    trl_status st = check_entries(d, err);
    if (st != TRL_OK) {
        trl_design_fini(d);
        return st;
    }
    resolve_entries(d);
    return TRL_OK;
}

void trl_design_fini(trl_design *d)
{
    for (size_t k = 0; k < d->n_families; k++) {
        trl_family *f = &d->family[k];
        void *const blocks[] = {f->name,          f->entry_first, f->entry_cell,   f->live,
                                f->constant_cell, f->dense_begin, f->dense_row,    f->dense_value,
                                f->entry_begin,   f->entry,       f->entry_value,  f->token_begin,
                                f->token,         f->token_value, f->sparse_begin, f->sparse,
                                f->token_high};
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
            trl_free(blocks[i]);
    }
    trl_free(d->dead);
    *d = (trl_design){0};
}
