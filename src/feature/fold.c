/* fold.c -- finding implications between slots, and folding rows along them.
 *
 * Every slot c is folded into at most one slot p, so that no token counts a row twice; p must have
 * more distinct rows than c, so there are no circles.
 */
/* SPDX-License-Identifier: MIT */
#include "feature/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/simd.h"

#define SLOTS 32 /* considered at most; attributes of further kinds are left alone */
#define UNSET (UINT32_MAX - 2) /* not met yet */
#define NONE (UINT32_MAX - 1)  /* the slot is empty there */
#define MANY UINT32_MAX        /* not always the same */
#define SLACK 16               /* list elements that kernels may prefetch behind the end */

typedef struct finder {
    const trl_design *d;
    const trl_family *f;
    trl_strtab        kinds;
    uint8_t          *slot;    /* [n_hot]; SLOTS: none */
    uint32_t         *implied; /* [n_hot][SLOTS] the row that is on in that slot, or one of above */
    bool              bad[SLOTS];    /* two attributes of it in one token */
    size_t            rows[SLOTS];   /* distinct */
    uint8_t           parent[SLOTS]; /* SLOTS: none */
} finder;

/* ---- slots -------------------------------------------------------------------------- */

static bool number_slots(finder *x, const trl_strtab *names)
{
    for (size_t row = 0; row < x->f->n_hot; row++) {
        const trl_str s = trl_strtab_get(names, x->f->name[row]);
        size_t n = 0;
        while (n < s.n && s.p[n] != '=' && s.p[n] != ':')
            n++;
        const uint32_t id = trl_strtab_add(&x->kinds, s.p, n);
        if (id == TRL_NO_ID)
            return false;
        x->slot[row] = id < SLOTS ? (uint8_t)id : SLOTS;
        if (id < SLOTS)
            x->rows[id]++;
    }
    return true;
}

/* What is on at a token, by slot.  Returns the number of hot rows. */
static size_t at_token(finder *x, size_t tok, uint32_t on[SLOTS])
{
    const trl_family *f = x->f;
    const uint32_t *row = f->dense_row + f->dense_begin[tok];
    const size_t n = (size_t)(f->dense_begin[tok + 1] - f->dense_begin[tok]);
    size_t k = 0;
    for (size_t s = 0; s < SLOTS; s++)
        on[s] = NONE;
    for (; k < n && row[k] < f->n_hot; k++) {
        const uint8_t s = x->slot[row[k]];
        if (s < SLOTS && on[s] != NONE)
            x->bad[s] = true;
        else if (s < SLOTS)
            on[s] = row[k];
    }
    return k;
}

static void find_implied(finder *x)
{
    const trl_family *f = x->f;
    for (size_t t = 0; t < x->d->n_tokens; t++) {
        uint32_t on[SLOTS];
        const size_t k = at_token(x, t, on);
        for (size_t i = 0; i < k; i++) {
            uint32_t *have = x->implied + (size_t)f->dense_row[f->dense_begin[t] + i] * SLOTS;
            for (size_t s = 0; s < SLOTS; s++)
                have[s] = have[s] == UNSET || have[s] == on[s] ? on[s] : MANY;
        }
    }
}

/* ---- choosing ----------------------------------------------------------------------- */

static bool may_fold(const finder *x, size_t c, size_t p)
{
    return c != p && !x->bad[c] && !x->bad[p] && x->rows[p] > x->rows[c];
}

/* For every slot the parent that saves most tokens' additions. */
static bool choose_parents(finder *x)
{
    const trl_family *f = x->f;
    uint64_t saved[SLOTS][SLOTS] = {{0}};
    uint64_t *count = trl_zalloc(f->n_hot, sizeof *count);
    if (!count)
        return false;
    for (uint64_t r = 0; r < f->dense_begin[x->d->n_tokens]; r++)
        if (f->dense_row[r] < f->n_hot)
            count[f->dense_row[r]]++;
    for (size_t row = 0; row < f->n_hot; row++)
        for (size_t s = 0; x->slot[row] < SLOTS && s < SLOTS; s++)
            if (x->implied[row * SLOTS + s] < f->n_hot)
                saved[s][x->slot[row]] += count[row];
    trl_free(count);
    for (size_t c = 0; c < SLOTS; c++) {
        x->parent[c] = SLOTS;
        uint64_t best = x->d->n_tokens / 10; /* less is not worth the trouble */
        for (size_t p = 0; p < SLOTS; p++)
            if (may_fold(x, c, p) && saved[c][p] > best) {
                best = saved[c][p];
                x->parent[c] = (uint8_t)p;
            }
    }
    return true;
}

typedef struct ranked {
    size_t   rank; /* distinct rows of the parent's slot: children's slots have fewer */
    uint32_t parent, child;
} ranked;

static int by_rank(const void *pa, const void *pb)
{
    const ranked *a = pa, *b = pb;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return a->child < b->child ? -1 : a->child > b->child;
}

static bool list_pairs(finder *x, trl_fold *fold)
{
    size_t n = 0, cap = 0;
    ranked *list = NULL;
    for (size_t row = 0; row < x->f->n_hot; row++)
        for (size_t s = 0; s < SLOTS; s++) {
            const uint32_t child = x->implied[row * SLOTS + s];
            if (child >= x->f->n_hot || x->parent[s] >= SLOTS || x->parent[s] != x->slot[row])
                continue;
            ranked *grown = trl_reserve(list, &cap, n + 1, sizeof *list);
            if (!grown) {
                trl_free(list);
                return false;
            }
            list = grown;
            list[n++] = (ranked){x->rows[x->slot[row]], (uint32_t)row, child};
        }
    if (n)
        qsort(list, n, sizeof *list, by_rank);
    fold->pair = trl_alloc(n, sizeof *fold->pair);
    for (size_t i = 0; fold->pair && i < n; i++)
        fold->pair[i] = (trl_fold_pair){list[i].parent, list[i].child};
    fold->n_pairs = n;
    trl_free(list);
    return fold->pair != NULL;
}

/* Is `row` added through its parent at a token where `on` is on? */
static bool is_folded(const finder *x, uint32_t row, const uint32_t on[SLOTS])
{
    const uint8_t s = x->slot[row];
    if (s >= SLOTS || x->parent[s] >= SLOTS)
        return false;
    const uint32_t p = on[x->parent[s]];
    return p < x->f->n_hot && x->implied[(size_t)p * SLOTS + s] == row;
}

static bool shorten_lists(finder *x, trl_fold *fold)
{
    const trl_family *f = x->f;
    const size_t n = x->d->n_tokens;
    uint64_t at = 0;
    fold->begin = trl_alloc(n + 1, sizeof *fold->begin);
    fold->row = trl_alloc64((size_t)f->dense_begin[n] + SLACK, sizeof *fold->row);
    if (!fold->begin || !fold->row)
        return false;
    for (size_t t = 0; t < n; t++) {
        uint32_t on[SLOTS];
        (void)at_token(x, t, on);
        fold->begin[t] = at;
        for (uint64_t r = f->dense_begin[t]; r < f->dense_begin[t + 1]; r++)
            if (f->dense_row[r] >= f->n_hot || !is_folded(x, f->dense_row[r], on))
                fold->row[at++] = f->dense_row[r];
    }
    fold->begin[n] = at;
    memset(fold->row + at, 0, SLACK * sizeof *fold->row);
    return true;
}

trl_status trl_fold_build(trl_fold *fold, const trl_design *d, const trl_strtab *names,
                          trl_error *err)
{
    *fold = (trl_fold){0};
    finder x = {.d = d, .f = &d->family[TRL_NODE]};
    if (x.f->dense_value || x.f->n_hot == 0)
        return TRL_OK;
    x.slot = trl_alloc(x.f->n_hot, sizeof *x.slot);
    x.implied = trl_alloc(x.f->n_hot, SLOTS * sizeof *x.implied);
    bool good = x.slot && x.implied && number_slots(&x, names);
    for (size_t i = 0; good && i < x.f->n_hot * SLOTS; i++)
        x.implied[i] = UNSET;
    if (good) {
        find_implied(&x);
        good = choose_parents(&x) && list_pairs(&x, fold);
    }
    if (good && fold->n_pairs)
        good = shorten_lists(&x, fold);
    trl_strtab_fini(&x.kinds);
    trl_free(x.slot);
    trl_free(x.implied);
    if (!good) {
        trl_fold_fini(fold);
        return trl_fail_mem(err);
    }
    return TRL_OK;
}

void trl_fold_fini(trl_fold *fold)
{
    trl_free(fold->pair);
    trl_free(fold->begin);
    trl_free(fold->row);
    *fold = (trl_fold){0};
}

/* ---- use ---------------------------------------------------------------------------- */

static void add_row(size_t step, const double *from, double *to)
{
    for (size_t c = 0; c < step; c += 8)
        *(trl_v8 *)(to + c) += *(const trl_v8 *)(from + c);
}

void trl_fold_forward(const trl_fold *fold, const trl_design *d, const double *w, double *hot)
{
    const trl_family *f = &d->family[TRL_NODE];
    memcpy(hot, w + f->hot_at, f->n_hot * f->step * sizeof *hot);
    for (size_t i = 0; i < fold->n_pairs; i++)
        add_row(f->step, hot + fold->pair[i].child * f->step,
                hot + fold->pair[i].parent * f->step);
}

void trl_fold_backward(const trl_fold *fold, const trl_design *d, double *g)
{
    const trl_family *f = &d->family[TRL_NODE];
    double *hot = g + f->hot_at;
    for (size_t i = fold->n_pairs; i-- > 0;)
        add_row(f->step, hot + fold->pair[i].parent * f->step,
                hot + fold->pair[i].child * f->step);
}
