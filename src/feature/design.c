/* design.c -- compiling a corpus into weight rows, entries and their occurrences. */
/* SPDX-License-Identifier: MIT */
#include "feature/design.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/cell_marks.h"
#include "num/simd.h"

/* Occurrences from which a row, or an entry, is worth a copy per lane (train/gradient.c). */
#ifndef HOT_ROW
#define HOT_ROW 24
#define HOT_ENTRY 6
#endif
#define SLACK 16 /* list elements that kernels may prefetch past the end */
#define DROPPED UINT32_MAX

/* A family while it is being compiled. */
typedef struct draft {
    const trl_corpus *c;
    trl_occurrences *o;
    trl_family *f;
    size_t k;             /* family number */
    uint64_t *at;         /* [n_old + 1] into tokens: the transposed lists */
    uint32_t *token;      /* by attribute, ascending */
    double *value;        /* parallel to token, or NULL */
    uint32_t *live;       /* [n_old] number of live cells; 0: dropped */
    uint32_t *new_id;     /* [n_old], or DROPPED */
    trl_cell_marks marks; /* of the current attribute */
} draft;

static void draft_fini(draft *b)
{
    trl_free(b->at);
    trl_free(b->token);
    trl_free(b->value);
    trl_free(b->live);
    trl_free(b->new_id);
    trl_cell_marks_fini(&b->marks);
}

/* ---- transposition and counting -------------------------------------------------------------- */

static bool transpose(draft *b, double min_freq)
{
    const trl_occurrences *o = b->o;
    const size_t n_old = o->names.n;
    b->at = trl_zalloc(n_old + 2, sizeof *b->at);
    b->token = trl_alloc(o->n + SLACK, sizeof *b->token);
    b->value = o->value ? trl_alloc(o->n, sizeof *b->value) : NULL;
    b->live = trl_zalloc(n_old, sizeof *b->live);
    b->new_id = trl_alloc(n_old, sizeof *b->new_id);
    const bool marks = trl_cell_marks_init(&b->marks, b->f->width, b->c, min_freq);
    if (!b->at || !b->token || (o->value && !b->value) || !b->live || !b->new_id || !marks)
        return false;
    for (size_t i = 0; i < o->n; i++)
        b->at[o->id[i] + 2]++;
    for (size_t a = 0; a < n_old; a++)
        b->at[a + 2] += b->at[a + 1];
    for (size_t t = 0; t < b->c->n_tokens; t++)
        for (uint64_t i = o->begin[t]; i < o->begin[t + 1]; i++) {
            const uint64_t to = b->at[o->id[i] + 1]++;
            b->token[to] = (uint32_t)t;
            if (b->value)
                b->value[to] = o->value[i];
        }
    return true; /* at[a] .. at[a+1] is now attribute a */
}

/* Marks the cells of attribute a that are features; returns their number. */
static uint32_t mark_seen(draft *b, size_t a)
{
    const bool any = !(b->marks.least > 0.0);
    int64_t seen = 0;
    trl_cell_marks_next(&b->marks);
    for (uint64_t i = b->at[a]; i < b->at[a + 1] && !(any && (size_t)seen == b->f->width); i++)
        seen += trl_cell_mark_token(&b->marks, &(trl_marked_token){b->c, b->k, b->token[i]},
                                    b->value ? b->value[i] : 1.0);
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
static bool is_dense(const draft *b, uint32_t live)
{
    if (live == b->f->width)
        return true;
    if (b->k != TRL_NODE)
        return (size_t)live * 4 >= b->f->width;
    return live >= 2 + b->f->step / 8;
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

static part part_of(const draft *b, size_t a)
{
    const uint64_t count = b->at[a + 1] - b->at[a];
    const bool always = b->k != TRL_NODE;
    if (is_dense(b, b->live[a]))
        return always || count >= HOT_ROW ? HOT_DENSE : count > 1 ? COLD_DENSE : SINGLETON_DENSE;
    return always || count >= HOT_ENTRY ? HOT_SPARSE : count > 1 ? COLD_SPARSE : SINGLETON_SPARSE;
}

/* Decides for every attribute what it becomes, and numbers them: hot rows by falling count, the
 * rest as first seen. */
static bool classify(draft *b, const trl_design_options *o)
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
        b->new_id[a] = DROPPED;
        if (p == HOT_DENSE)
            hot[h++] = (hot_row){b->at[a + 1] - b->at[a], (uint32_t)a};
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

static bool live_rows(draft *b, uint64_t *n_dead)
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

static bool entry_cells(draft *b)
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

static bool constant_cells(draft *b, const trl_design_options *o)
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

/* ---- occurrences ----------------------------------------------------------------------------- */

/* Sizes of the token-major lists, and their begin arrays.  The occurrences have new ids from here
 * on. */
static bool count_token_lists(draft *b, uint64_t *n_rows, uint64_t *n_entries)
{
    trl_family *f = b->f;
    const size_t n = b->c->n_tokens;
    f->dense_begin = trl_alloc(n + 1, sizeof *f->dense_begin);
    f->entry_begin = trl_alloc(n + 1, sizeof *f->entry_begin);
    if (!f->dense_begin || !f->entry_begin)
        return false;
    *n_rows = *n_entries = 0;
    for (size_t t = 0; t < n; t++) {
        f->dense_begin[t] = *n_rows;
        f->entry_begin[t] = *n_entries;
        for (uint64_t i = b->o->begin[t]; i < b->o->begin[t + 1]; i++) {
            const uint32_t a = b->o->id[i] = b->new_id[b->o->id[i]];
            if (a < f->n_dense)
                ++*n_rows;
            else if (a != DROPPED)
                *n_entries += f->entry_first[a - f->n_dense + 1] - f->entry_first[a - f->n_dense];
        }
    }
    f->dense_begin[n] = *n_rows;
    f->entry_begin[n] = *n_entries;
    return true;
}

/* One token's rows and entries of the attributes row[0] .. row[1], sparse[0] .. sparse[1].  Hot
 * ones go first, so that scatter stops at the first cold one; singletons last. */
static void fill_token(draft *b, size_t t, const size_t row[2], const size_t sparse[2], uint64_t *r,
                       uint64_t *e)
{
    trl_family *f = b->f;
    for (uint64_t i = b->o->begin[t]; i < b->o->begin[t + 1]; i++) {
        const uint32_t a = b->o->id[i];
        if (a >= row[0] && a < row[1]) {
            if (f->dense_value)
                f->dense_value[*r] = b->o->value[i];
            f->dense_row[(*r)++] = a;
        } else if (a >= sparse[0] && a < sparse[1]) {
            for (uint64_t k = f->entry_first[a - f->n_dense];
                 k < f->entry_first[a - f->n_dense + 1]; k++) {
                if (f->entry_value)
                    f->entry_value[*e] = b->o->value[i];
                /* entry numbers for now; place_weights makes them weights */
                f->entry[(*e)++] = (trl_entry){(uint32_t)k, f->entry_cell[k]};
            }
        }
    }
}

static bool token_lists(draft *b)
{
    trl_family *f = b->f;
    uint64_t n_rows, n_entries;
    if (!count_token_lists(b, &n_rows, &n_entries))
        return false;
    f->has_rows = n_rows + n_entries > 0 || b->k == TRL_NODE;
    f->dense_row = trl_alloc64(n_rows + SLACK, sizeof *f->dense_row);
    f->entry = trl_alloc64(n_entries + SLACK, sizeof *f->entry);
    if (!f->dense_row || !f->entry)
        return false;
    memset(f->dense_row + n_rows, 0, SLACK * sizeof *f->dense_row);
    memset(f->entry + n_entries, 0, SLACK * sizeof *f->entry);
    if (b->o->value) {
        f->dense_value = trl_alloc(n_rows, sizeof *f->dense_value);
        f->entry_value = trl_alloc(n_entries, sizeof *f->entry_value);
        if (!f->dense_value || !f->entry_value)
            return false;
    }
    const size_t row[] = {0, f->n_hot, f->singleton_row, f->n_dense};
    const size_t sparse[] = {f->n_dense, f->n_warm, f->singleton_attr, f->n_attrs};
    for (size_t t = 0; t < b->c->n_tokens; t++) {
        uint64_t r = f->dense_begin[t], e = f->entry_begin[t];
        for (size_t k = 0; k < 3; k++)
            fill_token(b, t, row + k, sparse + k, &r, &e);
    }
    return true;
}

/* The tokens of cold attributes, in their order. */
static bool attribute_lists(draft *b)
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
    f->token = trl_alloc64(total + SLACK, sizeof *f->token);
    f->token_value = b->value ? trl_alloc(total, sizeof *f->token_value) : NULL;
    if (!f->token || (b->value && !f->token_value))
        return false;
    memset(f->token + total, 0, SLACK * sizeof *f->token);
    for (size_t c = 0; c < f->n_cold; c++) {
        const uint64_t from = b->at[f->name[trl_cold_attr(f, c)]], to = f->token_begin[c];
        const size_t len = (size_t)(f->token_begin[c + 1] - to);
        memcpy(f->token + to, b->token + from, len * sizeof *f->token);
        if (b->value)
            memcpy(f->token_value + to, b->value + from, len * sizeof *f->token_value);
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool build_family(trl_design *d, trl_corpus *c, size_t k, const trl_design_options *o,
                         uint64_t *n_dead)
{
    trl_family *f = &d->family[k];
    f->width = c->family[k].width ? c->family[k].width : d->L;
    for (size_t i = 0; i < k && !c->family[k].width; i++)
        f->width *= d->L;
    f->step = trl_padded(f->width);
    f->words = (f->width + 63) / 64;
    draft b = {.c = c, .o = &c->family[k], .f = f, .k = k};
    const bool good = transpose(&b, o->min_freq) && classify(&b, o) && live_rows(&b, n_dead) &&
                      entry_cells(&b) && constant_cells(&b, o) && token_lists(&b) &&
                      (k != TRL_NODE || attribute_lists(&b));
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

/* Turns the entry numbers in the tokens' lists into weights. */
static void resolve_entries(trl_design *d)
{
    for (size_t k = 0; k < trl_design_built(d); k++) {
        trl_family *f = &d->family[k];
        for (uint64_t e = 0; e < f->entry_begin[d->n_tokens]; e++)
            f->entry[e].weight = (uint32_t)trl_entry_at(f, f->entry[e].weight);
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
    if (c->n_tokens > UINT32_MAX - 64)
        return trl_fail(err, TRL_EINVAL, "%zu tokens are more than 4,294,967,231", c->n_tokens);
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
    if (d->family[TRL_NODE].cold_at > UINT32_MAX - 64) {
        trl_design_fini(d);
        return trl_fail(err, TRL_EINVAL, "more than 4,294,967,231 sparse features");
    }
    resolve_entries(d);
    return TRL_OK;
}

void trl_design_fini(trl_design *d)
{
    for (size_t k = 0; k < d->n_families; k++) {
        trl_family *f = &d->family[k];
        void *const blocks[] = {f->name,          f->entry_first, f->entry_cell,  f->live,
                                f->constant_cell, f->dense_begin, f->dense_row,   f->dense_value,
                                f->entry_begin,   f->entry,       f->entry_value, f->token_begin,
                                f->token,         f->token_value};
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
            trl_free(blocks[i]);
    }
    trl_free(d->dead);
    *d = (trl_design){0};
}
