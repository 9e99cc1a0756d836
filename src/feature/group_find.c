/* group_find.c -- which attributes tokens have in common, and the lists by groups.
 *
 * Tokens are sorted into *classes*: those whose attributes of some kinds (slots) are the same.  With
 * more slots a class shares more, but has fewer tokens.  One slot, the *key* (in practice: the word
 * itself), is chosen on a sample as the one that settles most of the others; then every slot that
 * lowers the number of rows and entries to be added per pass is taken in.  A class is cut into groups of
 * at most TRL_GROUP_BATCH tokens.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/group.h"
#include "feature/kind.h"

#define SLOTS 32          /* kinds considered; attributes of further ones are a token's own */
#define SAMPLE 8192       /* tokens for the choice of the key */
#define SLACK 64          /* list elements that kernels may fetch behind the end */
#define ROW_COST 2        /* of a row beyond its vectors, in entries */
#define WORTH 0.75        /* what may be left of the cost for groups to be useful */
#define ALONE UINT32_MAX  /* a token in no group */

typedef struct finder {
    const trl_design *d;
    const trl_family *f;
    size_t            n, n_slots;
    uint8_t          *slot;         /* [n_attrs]; SLOTS: none */
    uint32_t         *entry_attr;   /* [entries] attribute */
    uint32_t         *at;           /* [n_slots][n] attribute + 1, or 0 */
    uint64_t          cost[SLOTS];  /* of all tokens' attributes of the slot, in entries */
    uint64_t          other;        /* of attributes without slot */
    bool              bad[SLOTS];   /* some token has two */
    bool              taken[SLOTS]; /* classes go by this slot */

    uint32_t *class; /* [n] of each token */
    size_t    n_classes;
    uint64_t *key; /* [mask + 1] hash table of pairs, and the class each became */
    uint32_t *value;
    size_t    mask;
    uint32_t *group; /* [n] by position: the group, or ALONE */
} finder;

static uint64_t cost_of(const finder *x, size_t a)
{
    const trl_family *f = x->f;
    return a < f->n_dense ? f->step / 8 + ROW_COST
                          : f->entry_first[a - f->n_dense + 1] - f->entry_first[a - f->n_dense];
}

/* ---- slots -------------------------------------------------------------------------- */

static bool number_slots(finder *x, const trl_strtab *names)
{
    trl_strtab kinds = {0};
    bool good = true;
    x->slot = trl_alloc(x->f->n_attrs, sizeof *x->slot);
    for (size_t a = 0; x->slot && good && a < x->f->n_attrs; a++) {
        const trl_str kind = trl_kind_of(trl_strtab_get(names, x->f->name[a]));
        uint32_t id = kind.n ? trl_strtab_find(&kinds, kind.p, kind.n) : SLOTS;
        if (id == TRL_NO_ID && kinds.n < SLOTS) {
            id = trl_strtab_add(&kinds, kind.p, kind.n);
            good = id != TRL_NO_ID;
        }
        x->slot[a] = id < SLOTS ? (uint8_t)id : SLOTS;
    }
    x->n_slots = kinds.n;
    trl_strtab_fini(&kinds);
    return x->slot && good;
}

static bool number_entries(finder *x)
{
    const trl_family *f = x->f;
    const size_t sparse = f->n_attrs - f->n_dense;
    x->entry_attr = trl_alloc(f->entry_first[sparse], sizeof *x->entry_attr);
    for (size_t a = 0; x->entry_attr && a < sparse; a++)
        for (uint64_t e = f->entry_first[a]; e < f->entry_first[a + 1]; e++)
            x->entry_attr[e] = (uint32_t)(f->n_dense + a);
    return x->entry_attr;
}

/* The attribute of an entry; *first: it is that attribute's first one. */
static uint32_t attr_of(const finder *x, const trl_entry *e, bool *first)
{
    const trl_family *f = x->f;
    const uint64_t hot = f->entry_first[f->n_warm - f->n_dense];
    const uint64_t k = e->weight < f->entry_hot_at + hot ? e->weight - f->entry_hot_at
                                                         : e->weight - f->entry_cold_at + hot;
    const uint32_t a = x->entry_attr[k];
    *first = k == f->entry_first[a - f->n_dense];
    return a;
}

static void meet(finder *x, size_t t, uint32_t a)
{
    const uint8_t s = x->slot[a];
    if (s == SLOTS) {
        x->other += cost_of(x, a);
        return;
    }
    uint32_t *at = &x->at[s * x->n + t];
    x->bad[s] |= *at != 0;
    *at = a + 1;
    x->cost[s] += cost_of(x, a);
}

static bool fill_slots(finder *x)
{
    const trl_family *f = x->f;
    x->at = trl_zalloc(x->n_slots * x->n, sizeof *x->at);
    for (size_t t = 0; x->at && t < x->n; t++) {
        for (uint64_t r = f->dense_begin[t]; r < f->dense_begin[t + 1]; r++)
            meet(x, t, f->dense_row[r]);
        for (uint64_t e = f->entry_begin[t]; e < f->entry_begin[t + 1]; e++) {
            bool first;
            const uint32_t a = attr_of(x, &f->entry[e], &first);
            if (first)
                meet(x, t, a);
        }
    }
    return x->at;
}

/* ---- classes ------------------------------------------------------------------------ */

/* The number of distinct pairs among the first n; with `out`, the pairs' numbers, too.  `out` may be a. */
static size_t pair_up(finder *x, size_t n, const uint32_t *a, const uint32_t *b, uint32_t *out)
{
    size_t mask = 15, found = 0;
    while (mask < 2 * n)
        mask = 2 * mask + 1; /* at most x->mask */
    memset(x->key, 0xff, (mask + 1) * sizeof *x->key);
    for (size_t t = 0; t < n; t++) {
        const uint64_t key = (uint64_t)a[t] << 32 | b[t];
        size_t h = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & mask;
        while (x->key[h] != key && x->key[h] != UINT64_MAX)
            h = (h + 1) & mask;
        if (x->key[h] == UINT64_MAX) {
            x->key[h] = key;
            x->value[h] = (uint32_t)found++;
        }
        if (out)
            out[t] = x->value[h];
    }
    return found;
}

/* What slot k, as the key, would save on the sample, by slots that it settles nearly. */
static double settles(finder *x, size_t k, size_t n)
{
    const uint32_t *key = x->at + k * x->n;
    const size_t alone = pair_up(x, n, key, key, NULL);
    double saved = 0.0;
    for (size_t s = 0; s < x->n_slots; s++)
        if (!x->bad[s]) {
            const size_t both = s == k ? alone : pair_up(x, n, key, x->at + s * x->n, NULL);
            if ((double)both <= 1.2 * (double)alone)
                saved += (double)x->cost[s] * (1.0 - (double)both / (double)n);
        }
    return saved;
}

static size_t choose_key(finder *x)
{
    const size_t n = x->n < SAMPLE ? x->n : SAMPLE;
    size_t best = SLOTS;
    double most = 0.0;
    for (size_t k = 0; k < x->n_slots; k++) {
        const double saved = x->bad[k] ? 0.0 : settles(x, k, n);
        if (saved > most) {
            most = saved;
            best = k;
        }
    }
    return best;
}

/* Rows and entries added per pass with m classes: theirs, and the tokens' own. */
static double cost_with(const finder *x, size_t m)
{
    double shared = 0.0, own = (double)x->other;
    for (size_t s = 0; s < x->n_slots; s++)
        *(x->taken[s] ? &shared : &own) += (double)x->cost[s];
    return own + shared * (double)m / (double)x->n;
}

/* Taking in every slot that lowers the cost; false: memory, or (*useful) not worth it. */
static bool make_classes(finder *x, bool *useful)
{
    x->mask = 15;
    while (x->mask < 2 * x->n)
        x->mask = 2 * x->mask + 1;
    uint32_t *next = trl_alloc(x->n, sizeof *next);
    x->key = trl_alloc(x->mask + 1, sizeof *x->key);
    x->value = trl_alloc(x->mask + 1, sizeof *x->value);
    x->class = trl_alloc(x->n, sizeof *x->class);
    const bool good = next && x->key && x->value && x->class;
    const double without = cost_with(x, 0);
    const size_t key = good ? choose_key(x) : SLOTS;
    if (key < SLOTS) {
        const uint32_t *at = x->at + key * x->n;
        x->taken[key] = true;
        x->n_classes = pair_up(x, x->n, at, at, x->class);
    }
    for (size_t s = 0; key < SLOTS && s < x->n_slots; s++) {
        if (s == key || x->bad[s])
            continue;
        const double before = cost_with(x, x->n_classes);
        const size_t m = pair_up(x, x->n, x->class, x->at + s * x->n, next);
        x->taken[s] = true;
        if (cost_with(x, m) < before) {
            x->n_classes = m;
            memcpy(x->class, next, x->n * sizeof *next);
        } else {
            x->taken[s] = false;
        }
    }
    *useful = key < SLOTS && cost_with(x, x->n_classes) < WORTH * without;
    trl_free(next);
    return good;
}

/* ---- order -------------------------------------------------------------------------- */

/* Positions: class by class, tokens that are alone in theirs at the end. */
static bool order_tokens(finder *x, trl_group *p)
{
    uint32_t *count = trl_zalloc(x->n_classes, sizeof *count);
    uint32_t *start = trl_alloc(x->n_classes, sizeof *start);
    p->token = trl_alloc(x->n, sizeof *p->token);
    x->group = trl_alloc(x->n, sizeof *x->group);
    p->first = trl_alloc(x->n / 2 + 2, sizeof *p->first);
    const bool good = count && start && p->token && x->group && p->first;
    uint32_t at = 0;
    for (size_t t = 0; good && t < x->n; t++)
        count[x->class[t]]++;
    for (int pass = 0; good && pass < 2; pass++)
        for (size_t c = 0; c < x->n_classes; c++) {
            if ((count[c] == 1) != (pass == 1))
                continue;
            start[c] = at;
            for (uint32_t i = 0; i < count[c]; i++, at++) {
                /* a last group of one token is a little dear, and not worth more code */
                if (pass == 0 && i % TRL_GROUP_BATCH == 0)
                    p->first[p->n_groups++] = at;
                x->group[at] = pass == 0 ? (uint32_t)p->n_groups - 1 : ALONE;
            }
            if (pass == 0)
                p->first[p->n_groups] = at;
        }
    for (size_t t = 0; good && t < x->n; t++)
        p->token[start[x->class[t]]++] = (uint32_t)t;
    trl_free(count);
    trl_free(start);
    return good;
}

/* Whole groups to a batch, as many as it has room for. */
static bool make_batches(trl_group *p)
{
    size_t k = 0, i = 0;
    p->batch = trl_alloc(p->n_groups + p->n / TRL_GROUP_BATCH + 2, sizeof *p->batch);
    while (p->batch && i < p->n) {
        const size_t from = i, groups = k;
        p->batch[p->n_batches++] = (trl_group_batch){.position = (uint32_t)i, .group = (uint32_t)k};
        while (k < p->n_groups && p->first[k + 1] - from <= TRL_GROUP_BATCH &&
               k - groups < TRL_GROUP_BATCH / 2)
            i = p->first[++k];
        if (k == p->n_groups && k == groups)
            i = p->n - from <= TRL_GROUP_BATCH ? p->n : from + TRL_GROUP_BATCH;
    }
    if (p->batch)
        p->batch[p->n_batches] =
            (trl_group_batch){.position = (uint32_t)p->n, .group = (uint32_t)p->n_groups};
    return p->batch;
}

/* ---- lists -------------------------------------------------------------------------- */

/* What token t has in common with its group, or else what it has of its own. */
static void list_token(const finder *x, trl_group *p, size_t t, bool own, bool shared, uint64_t *r,
                       uint64_t *e)
{
    const trl_family *f = x->f;
    for (uint64_t i = f->dense_begin[t]; i < f->dense_begin[t + 1]; i++) {
        const uint8_t s = x->slot[f->dense_row[i]];
        if (s < SLOTS && x->taken[s] ? shared : own)
            p->row[(*r)++] = f->dense_row[i];
    }
    for (uint64_t i = f->entry_begin[t]; i < f->entry_begin[t + 1]; i++) {
        bool first;
        const uint8_t s = x->slot[attr_of(x, &f->entry[i], &first)];
        if (s < SLOTS && x->taken[s] ? shared : own)
            p->packed[(*e)++] = (uint32_t)((f->entry[i].weight - f->entry_hot_at) << p->bits) |
                                f->entry[i].cell;
    }
}

static bool make_lists(const finder *x, trl_group *p)
{
    const trl_family *f = x->f;
    const size_t n = p->n + p->n_groups;
    uint64_t r = 0, e = 0;
    p->row_begin = trl_alloc(n + 1, sizeof *p->row_begin);
    p->entry_begin = trl_alloc(n + 1, sizeof *p->entry_begin);
    /* what a group's first token leaves to the group would be there without groups, too */
    p->row = trl_alloc64((size_t)f->dense_begin[x->n] + SLACK, sizeof *p->row);
    p->packed = trl_alloc64((size_t)f->entry_begin[x->n] + SLACK, sizeof *p->packed);
    if (!p->row_begin || !p->entry_begin || !p->row || !p->packed)
        return false;
    for (size_t i = 0; i < n; i++) {
        p->row_begin[i] = r;
        p->entry_begin[i] = e;
        if (i < p->n)
            list_token(x, p, p->token[i], true, x->group[i] == ALONE, &r, &e);
        else
            list_token(x, p, p->token[p->first[i - p->n]], false, true, &r, &e);
    }
    p->row_begin[n] = r;
    p->entry_begin[n] = e;
    memset(p->row + r, 0, SLACK * sizeof *p->row);
    memset(p->packed + e, 0, SLACK * sizeof *p->packed);
    return true;
}

/* ---- streams ------------------------------------------------------------------------ */

/* Counts become places: begin[k] where the list of number k starts. */
static void prefix_sums(size_t n, uint64_t *begin)
{
    uint64_t total = 0;
    for (size_t k = 0; k <= n; k++) {
        const uint64_t here = begin[k];
        begin[k] = total;
        total += here;
    }
}

/* Back by one after all lists were filled: begin[k] is the end of list k, the beginning of k + 1. */
static void shift_back(size_t n, uint64_t *begin)
{
    memmove(begin + 1, begin, n * sizeof *begin);
    begin[0] = 0;
}

/* Goes through the streams: counts into cold_begin and rows_begin, or, with `fill`, puts places into
 * the lists that start there.  Batches learn where they start. */
static void walk_streams(const finder *x, trl_group *p, bool fill)
{
    const trl_family *f = x->f;
    const uint32_t end = (uint32_t)(x->d->n_hot_weights - f->entry_hot_at);
    uint32_t cold = 0, row = 0;
    size_t batch = 0;
    for (size_t v = 0; v < p->n + p->n_groups; v++) {
        const int groups = v >= p->n;
        batch = v == p->n ? 0 : batch;
        for (; batch < p->n_batches && (groups ? p->n + p->batch[batch].group
                                               : p->batch[batch].position) <= v;
             batch++) {
            p->batch[batch].cold[groups] = cold;
            p->batch[batch].row[groups] = row;
        }
        for (uint64_t e = p->entry_begin[v]; e < p->entry_begin[v + 1]; e++) {
            const uint32_t k = p->packed[e] >> p->bits;
            if (k < end)
                continue;
            if (fill)
                p->cold_at[p->cold_begin[k - end]++] = cold;
            else
                p->cold_begin[k - end]++;
            cold++;
        }
        for (uint64_t r = p->row_begin[v + 1]; r > p->row_begin[v]; r--) { /* as scatter does */
            const uint32_t k = p->row[r - 1];
            if (k < f->n_hot || k >= f->lone_row)
                continue;
            if (fill)
                p->rows_at[p->rows_begin[k - f->n_hot]++] = row;
            else
                p->rows_begin[k - f->n_hot]++;
            row++;
        }
    }
    p->n_cold = cold;
    p->n_rows = row;
}

static bool make_streams(const finder *x, trl_group *p)
{
    const trl_family *f = x->f;
    const size_t rows = f->lone_row - f->n_hot;
    const size_t entries = (size_t)(f->entry_first[f->n_attrs - f->n_dense] -
                                    f->entry_first[f->n_warm - f->n_dense]);
    p->cold_begin = trl_zalloc(entries + 1, sizeof *p->cold_begin);
    p->rows_begin = trl_zalloc(rows + 1, sizeof *p->rows_begin);
    if (!p->cold_begin || !p->rows_begin)
        return false;
    walk_streams(x, p, false);
    p->cold_at = trl_alloc(p->n_cold, sizeof *p->cold_at);
    p->rows_at = trl_alloc(p->n_rows + SLACK, sizeof *p->rows_at);
    if (!p->cold_at || !p->rows_at)
        return false;
    memset(p->rows_at + p->n_rows, 0, SLACK * sizeof *p->rows_at);
    prefix_sums(entries, p->cold_begin);
    prefix_sums(rows, p->rows_begin);
    walk_streams(x, p, true);
    shift_back(entries, p->cold_begin);
    shift_back(rows, p->rows_begin);
    p->rows = *x->d;
    p->rows.family[TRL_NODE].token_begin = p->rows_begin;
    p->rows.family[TRL_NODE].token = p->rows_at;
    return true;
}

/* ---- the whole ---------------------------------------------------------------------- */

static void finder_fini(finder *x)
{
    trl_free(x->slot);
    trl_free(x->entry_attr);
    trl_free(x->at);
    trl_free(x->class);
    trl_free(x->key);
    trl_free(x->value);
    trl_free(x->group);
}

void trl_group_fini(trl_group *p)
{
    trl_free(p->token);
    trl_free(p->first);
    trl_free(p->batch);
    trl_free(p->row_begin);
    trl_free(p->entry_begin);
    trl_free(p->row);
    trl_free(p->packed);
    trl_free(p->cold_begin);
    trl_free(p->cold_at);
    trl_free(p->rows_begin);
    trl_free(p->rows_at);
    *p = (trl_group){0};
}

trl_status trl_group_build(trl_group *p, const trl_design *d, const trl_strtab *names, bool *useful,
                           trl_error *err)
{
    const trl_family *f = &d->family[TRL_NODE];
    finder x = {.d = d, .f = f, .n = d->n_tokens};
    *p = (trl_group){.n = d->n_tokens};
    *useful = false;
    while (f->width > (size_t)1 << p->bits)
        p->bits++;
    if (f->dense_value || f->entry_value || x.n > UINT32_MAX / 2 ||
        f->cold_at - f->entry_hot_at > UINT32_MAX >> p->bits)
        return TRL_OK;
    bool good = number_slots(&x, names) && number_entries(&x) && fill_slots(&x) &&
                make_classes(&x, useful);
    if (good && *useful)
        good = order_tokens(&x, p) && make_batches(p) && make_lists(&x, p) && make_streams(&x, p);
    finder_fini(&x);
    if (!good || !*useful)
        trl_group_fini(p);
    return good ? TRL_OK : trl_fail_mem(err);
}
