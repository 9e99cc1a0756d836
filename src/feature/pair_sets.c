/* pair_sets.c -- positions told apart by the pair attributes that are on there. */
/* SPDX-License-Identifier: MIT */
#include "feature/pair_sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "num/vexp.h"

#define TABLE_BYTES ((size_t)1 << 21) /* of all tables of exponentials, one way */
#define TABLE_WORK 64                 /* cells of a set over the corpus, in tables: worth one */
#define SLACK_CELLS ((uint64_t)1 << 20)
#define PIECES 64

/* ---- lists of a token ------------------------------------------------------------------------ */

typedef struct list { /* what is on at a token */
    const uint32_t *row;
    const trl_entry *entry;
    const double *row_value, *entry_value; /* NULL: all 1 */
    size_t n_rows, n_entries;
} list;

static list list_of(const trl_family *f, size_t token)
{
    const uint64_t r = f->dense_begin[token], e = f->entry_begin[token];
    return (list){.row = f->dense_row + r,
                  .entry = f->entry + e,
                  .row_value = f->dense_value ? f->dense_value + r : NULL,
                  .entry_value = f->entry_value ? f->entry_value + e : NULL,
                  .n_rows = (size_t)(f->dense_begin[token + 1] - r),
                  .n_entries = (size_t)(f->entry_begin[token + 1] - e)};
}

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    const uint64_t parts[2] = {h, n && bytes ? trl_str_hash(bytes, n) : n};
    return trl_str_hash((const char *)parts, sizeof parts);
}

static uint64_t hash(const list *a)
{
    uint64_t h = mix(0, a->row, a->n_rows * sizeof *a->row);
    h = mix(h, a->entry, a->n_entries * sizeof *a->entry);
    h = mix(h, a->row_value, a->n_rows * sizeof *a->row_value);
    return mix(h, a->entry_value, a->n_entries * sizeof *a->entry_value);
}

static bool same(const list *a, const list *b)
{
    return a->n_rows == b->n_rows && a->n_entries == b->n_entries &&
           (!a->n_rows || memcmp(a->row, b->row, a->n_rows * sizeof *a->row) == 0) &&
           (!a->n_entries || memcmp(a->entry, b->entry, a->n_entries * sizeof *a->entry) == 0) &&
           (!a->n_rows || !a->row_value ||
            memcmp(a->row_value, b->row_value, a->n_rows * sizeof *a->row_value) == 0) &&
           (!a->n_entries || !a->entry_value ||
            memcmp(a->entry_value, b->entry_value, a->n_entries * sizeof *a->entry_value) == 0);
}

/* ---- distinct sets --------------------------------------------------------------------------- */

typedef struct slot { /* of an open hash table */
    uint64_t hash;
    uint32_t set; /* 0: free; the empty set is not looked up */
} slot;

typedef struct found {
    slot *slots;
    size_t mask;
    uint64_t *count; /* [set] positions */
    size_t token_cap, count_cap;
} found;

/* The set of a list, added when new; UINT32_MAX: out of memory. */
static uint32_t number(trl_pair_sets *s, found *x, const trl_family *f, size_t token)
{
    const list a = list_of(f, token);
    if (a.n_rows == 0 && a.n_entries == 0)
        return 0;
    const uint64_t h = hash(&a);
    size_t at = (size_t)h & x->mask;
    for (; x->slots[at].set; at = (at + 1) & x->mask) {
        const list b = list_of(f, s->token[x->slots[at].set]);
        if (x->slots[at].hash == h && same(&a, &b))
            return x->slots[at].set;
    }
    size_t *tokens = trl_reserve(s->token, &x->token_cap, s->n + 1, sizeof *tokens);
    if (tokens)
        s->token = tokens;
    uint64_t *count = trl_reserve(x->count, &x->count_cap, s->n + 1, sizeof *count);
    if (count)
        x->count = count;
    if (!tokens || !count || s->n >= UINT32_MAX - 1)
        return UINT32_MAX;
    x->slots[at] = (slot){h, (uint32_t)s->n};
    tokens[s->n] = token;
    count[s->n] = 0;
    return (uint32_t)s->n++;
}

static bool number_all(trl_pair_sets *s, found *x, const trl_design *d)
{
    size_t size = 16;
    while (size < 2 * d->n_tokens)
        size *= 2;
    x->mask = size - 1;
    x->slots = trl_zalloc(size, sizeof *x->slots);
    s->of = trl_alloc(d->n_tokens, sizeof *s->of);
    s->token = trl_reserve(NULL, &x->token_cap, 1, sizeof *s->token);
    x->count = trl_reserve(NULL, &x->count_cap, 1, sizeof *x->count);
    if (!x->slots || !s->of || !s->token || !x->count)
        return false;
    s->token[0] = 0;
    x->count[0] = 0;
    s->n = 1;
    for (size_t t = 0; t < d->n_tokens; t++) {
        s->of[t] = number(s, x, &d->family[TRL_EDGE], t);
        if (s->of[t] == UINT32_MAX)
            return false;
        x->count[s->of[t]]++;
    }
    return true;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Marks the cells of a token's list in `on`, [words]. */
static void mark_cells(const trl_family *f, size_t token, uint64_t *on)
{
    const list a = list_of(f, token);
    memset(on, 0, f->words * sizeof *on);
    for (size_t r = 0; r < a.n_rows; r++)
        for (size_t k = 0; k < f->words; k++)
            on[k] |= f->live ? f->live[a.row[r] * f->words + k] : ~UINT64_C(0);
    if (f->width % 64)
        on[f->words - 1] &= (UINT64_C(1) << f->width % 64) - 1;
    for (size_t e = 0; e < a.n_entries; e++)
        on[a.entry[e].cell / 64] |= UINT64_C(1) << a.entry[e].cell % 64;
}

/* Sizes of all sets into begin (not yet added up).  False when they are not worth it. */
static bool count_cells(trl_pair_sets *s, const trl_family *f, uint64_t *on)
{
    uint64_t sum = 0, weights = f->n_dense * f->width + f->entry_first[f->n_attrs - f->n_dense];
    s->begin[0] = 0;
    for (size_t k = 1; k < s->n; k++) {
        uint64_t n = 0;
        mark_cells(f, s->token[k], on);
        for (size_t i = 0; i < f->words; i++)
            n += (uint64_t)__builtin_popcountll(on[i]);
        s->begin[k] = n;
        sum += n;
    }
    return sum <= 2 * weights + SLACK_CELLS;
}

typedef struct ranked {
    uint64_t work; /* cells over the corpus */
    uint32_t set;
} ranked;

static int by_work(const void *pa, const void *pb)
{
    const ranked *a = pa, *b = pb;
    if (a->work != b->work)
        return a->work < b->work ? 1 : -1;
    return a->set < b->set ? -1 : a->set > b->set;
}

/* Renumbers: those worth a table first, by falling work; begin is in new numbers and added up. */
static bool rank(trl_pair_sets *s, const found *x, const trl_design *d, size_t tables)
{
    const size_t L = d->L, table = L * ((L + 7) / 8 * 8);
    size_t most = TABLE_BYTES / (table * sizeof(double));
    most = most > tables ? tables : most < 1 ? 1 : most;
    ranked *r = trl_alloc(s->n, sizeof *r);
    uint32_t *now = trl_alloc(s->n, sizeof *now);
    size_t *token = trl_alloc(s->n, sizeof *token);
    const bool good = r && now && token;
    for (size_t k = 0; good && k < s->n; k++)
        r[k] = (ranked){k ? x->count[k] * s->begin[k] : UINT64_MAX, (uint32_t)k};
    if (good) {
        qsort(r, s->n, sizeof *r, by_work);
        uint64_t *size = x->count; /* not needed any more */
        for (size_t k = 0; k < s->n; k++) {
            now[r[k].set] = (uint32_t)k;
            token[k] = s->token[r[k].set];
            size[k] = s->begin[r[k].set];
            if (k < most && r[k].work >= TABLE_WORK * table)
                s->n_tables = k + 1;
        }
        for (size_t k = 0; k < s->n; k++)
            s->begin[k + 1] = (k ? s->begin[k] : (s->begin[0] = 0)) + size[k];
        memcpy(s->token, token, s->n * sizeof *token);
        for (size_t t = 0; t < d->n_tokens; t++)
            s->of[t] = now[s->of[t]];
    }
    trl_free(r);
    trl_free(now);
    trl_free(token);
    return good;
}

static bool list_cells(trl_pair_sets *s, const trl_design *d, uint64_t *on)
{
    const trl_family *f = &d->family[TRL_EDGE];
    const size_t n = (size_t)s->begin[s->n];
    s->cell = trl_alloc(n, sizeof *s->cell);
    s->score = trl_alloc64(n + 8, sizeof *s->score);
    s->factor = trl_alloc64(n + 8, sizeof *s->factor);
    if (!s->cell || !s->score || !s->factor)
        return false;
    for (size_t k = 1; k < s->n; k++) {
        trl_pair_cell *to = s->cell + s->begin[k];
        mark_cells(f, s->token[k], on);
        for (size_t c = 0; c < f->width; c++)
            if (on[c / 64] >> c % 64 & 1)
                *to++ = (trl_pair_cell){(uint16_t)(c / d->L), (uint16_t)(c % d->L)};
    }
    return true;
}

trl_status trl_pair_sets_build(trl_pair_sets *s, const trl_design *d, size_t tables, bool *worth,
                               trl_error *err)
{
    const trl_family *f = &d->family[TRL_EDGE];
    found x = {0};
    *s = (trl_pair_sets){.L = d->L, .n_tables = 1};
    uint64_t *on = trl_alloc(f->words, sizeof *on);
    bool good = on && number_all(s, &x, d);
    s->begin = good ? trl_alloc(s->n + 1, sizeof *s->begin) : NULL;
    good = good && s->begin;
    *worth = good && count_cells(s, f, on);
    if (*worth)
        good = rank(s, &x, d, tables) && list_cells(s, d, on);
    trl_free(x.slots);
    trl_free(x.count);
    trl_free(on);
    if (!good || !*worth) {
        trl_pair_sets_fini(s);
        *worth = false;
    }
    return good ? TRL_OK : trl_fail_mem(err);
}

void trl_pair_sets_fini(trl_pair_sets *s)
{
    trl_free(s->of);
    trl_free(s->token);
    trl_free(s->begin);
    trl_free(s->cell);
    trl_free(s->score);
    trl_free(s->factor);
    *s = (trl_pair_sets){0};
}

/* ---- gather and scatter ---------------------------------------------------------------------- */

/* The place among a set's cells of the list's next entry, *at that of the one before.  An
 * attribute's cells ascend: with one attribute that is the next place at once. */
static size_t next_place(const trl_pair_cell *cell, size_t L, const trl_entry *entry, size_t e,
                         size_t before)
{
    const size_t want = entry[e].cell;
    size_t i = e == 0 || want <= entry[e - 1].cell ? 0 : before + 1;
    while (cell[i].from * L + cell[i].to != want)
        i++;
    return i;
}

static void gather_set(const trl_pair_sets *s, const trl_family *f, const double *w, size_t set)
{
    const size_t n = trl_pair_set_size(s, set), L = s->L;
    const trl_pair_cell *cell = s->cell + s->begin[set];
    const list a = list_of(f, s->token[set]);
    double *score = s->score + s->begin[set];
    memset(score, 0, n * sizeof *score);
    for (size_t r = 0; r < a.n_rows; r++) {
        const double *row = w + trl_dense_at(f, a.row[r]), v = a.row_value ? a.row_value[r] : 1.0;
        for (size_t i = 0; i < n; i++)
            score[i] += v * row[cell[i].from * L + cell[i].to];
    }
    for (size_t e = 0, i = 0; e < a.n_entries; e++) {
        i = next_place(cell, L, a.entry, e, i);
        score[i] += (a.entry_value ? a.entry_value[e] : 1.0) * w[a.entry[e].weight];
    }
    trl_vexp(n, score, 0.0, s->factor + s->begin[set]);
}

typedef struct gather_job {
    const trl_pair_sets *s;
    const trl_design *d;
    const double *w;
} gather_job;

static trl_status gather_piece(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const gather_job *j = ctx;
    for (size_t k = 1 + job; k < j->s->n; k += PIECES)
        gather_set(j->s, &j->d->family[TRL_EDGE], j->w, k);
    return TRL_OK;
}

trl_status trl_pair_sets_gather(trl_pair_sets *s, const trl_design *d, const double *w,
                                trl_pool *pool, trl_error *err)
{
    gather_job j = {s, d, w};
    return trl_pool_run(pool, PIECES, gather_piece, &j, err);
}

size_t trl_pair_set_find(const trl_pair_sets *s, size_t set, uint32_t from, uint32_t to)
{
    const trl_pair_cell *cell = s->cell + s->begin[set];
    const uint64_t want = (uint64_t)from << 16 | to;
    size_t low = 0, high = trl_pair_set_size(s, set);
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const uint64_t here = (uint64_t)cell[mid].from << 16 | cell[mid].to;
        if (here == want)
            return mid;
        low = here < want ? mid + 1 : low;
        high = here < want ? high : mid;
    }
    return SIZE_MAX;
}

void trl_pair_set_row(const trl_pair_sets *s, size_t set, double *row)
{
    memset(row, 0, s->L * s->L * sizeof *row);
    for (uint64_t i = s->begin[set]; i < s->begin[set + 1]; i++)
        row[s->cell[i].from * s->L + s->cell[i].to] = s->score[i];
}

/* For one set, whose cells' adjoints come in their order. */
static void scatter_set(const trl_pair_sets *s, const trl_design *d, size_t set,
                        const double *adjoint, double *g)
{
    const trl_family *f = &d->family[TRL_EDGE];
    const size_t n = trl_pair_set_size(s, set), L = s->L;
    const trl_pair_cell *cell = s->cell + s->begin[set];
    const list a = list_of(f, s->token[set]);
    for (size_t r = 0; r < a.n_rows; r++) { /* dead cells receive garbage, as always */
        double *row = g + trl_dense_at(f, a.row[r]), v = a.row_value ? a.row_value[r] : 1.0;
        for (size_t i = 0; i < n; i++)
            row[cell[i].from * L + cell[i].to] += v * adjoint[i];
    }
    for (size_t e = 0, i = 0; e < a.n_entries; e++) {
        i = next_place(cell, L, a.entry, e, i);
        g[a.entry[e].weight] += (a.entry_value ? a.entry_value[e] : 1.0) * adjoint[i];
    }
}

void trl_pair_sets_scatter(const trl_design *d, const trl_tables *adjoint, double *g)
{
    const double *cells = adjoint->chain.set_cell;
    for (size_t t = 1; t < adjoint->n; t++) {
        const size_t n = trl_pair_cells_at(adjoint, t);
        if (n)
            scatter_set(adjoint->chain.pairs, d, adjoint->chain.set[t], cells, g);
        cells += n;
    }
}

void trl_pair_sets_scatter_tables(const trl_design *d, const trl_tables *adjoint, double *g)
{
    const trl_pair_sets *s = adjoint->chain.pairs;
    for (size_t k = 1; k < s->n_tables; k++) {
        const trl_pair_cell *cell = s->cell + s->begin[k];
        double *table = adjoint->chain.set_table + k * s->L * s->L;
        /* in place: the i-th cell comes from a place that is not before i */
        for (size_t i = 0; i < trl_pair_set_size(s, k); i++)
            table[i] = table[cell[i].from * s->L + cell[i].to];
        scatter_set(s, d, k, table, g);
    }
}
