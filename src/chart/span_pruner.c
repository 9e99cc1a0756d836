/* span_pruner.c -- gains of spans and words. */
/* SPDX-License-Identifier: MIT */
#include "chart/span_pruner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chart/chart.h"

/* ---- classes ------------------------------------------------------------------------------------
 */

typedef struct ranked {
    double count;
    uint32_t state;
} ranked;

static int by_count(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->state < y->state ? -1 : x->state > y->state;
}

/* Classes from .. from + n - 1. */
typedef struct class_range {
    uint32_t from;
    uint32_t n;
} class_range;

/* The states of one type get the classes from .. from + n - 1: the most frequent one each, all
 * others the last. */
static void classify(const trl_grammar *g, trl_state_type type, const double *count, ranked *r,
                     const class_range *classes, uint8_t *class_of)
{
    uint32_t from = classes->from;
    uint32_t n = classes->n;
    size_t m = 0;
    for (uint32_t s = 0; s < g->n_states; s++)
        if (g->state[s].type == type)
            r[m++] = (ranked){count[s], s};
    qsort(r, m, sizeof *r, by_count);
    for (size_t k = 0; k < m; k++)
        class_of[r[k].state] = (uint8_t)(from + (k < n ? k : n - 1));
}

trl_status trl_span_pruner_init(trl_span_pruner *s, const trl_grammar *g, trl_error *err)
{
    *s = (trl_span_pruner){.class_of = trl_zalloc(g->n_states, 1)};
    double *count = trl_zalloc(g->n_states, sizeof *count);
    ranked *r = trl_alloc(g->n_states, sizeof *r);
    const bool ok = s->class_of && count && r;
    for (size_t k = 0; ok && k < g->n_binary; k++) {
        count[g->binary[k].parent] += g->binary_count[k];
        count[g->binary[k].left] += g->binary_count[k];
        count[g->binary[k].right] += g->binary_count[k];
    }
    if (ok) {
        classify(g, TRL_STATE_TAG, count, r, &(class_range){0, TRL_SPAN_PRUNER_TAGS}, s->class_of);
        classify(g, TRL_STATE_PHRASE, count, r, &(class_range){0, TRL_SPAN_PRUNER_CLASSES / 2},
                 s->class_of);
        classify(g, TRL_STATE_ACTIVE, count, r,
                 &(class_range){TRL_SPAN_PRUNER_CLASSES / 2, TRL_SPAN_PRUNER_CLASSES / 2},
                 s->class_of);
    }
    trl_free(count);
    trl_free(r);
    if (!ok)
        trl_span_pruner_fini(s);
    return ok ? TRL_OK : trl_fail_mem(err);
}

void trl_span_pruner_fini(trl_span_pruner *s)
{
    trl_free(s->class_of);
    trl_free(s->owned);
    *s = (trl_span_pruner){0};
}

/* ---- features -------------------------------------------------------------------------------- */

static uint32_t mixed(uint64_t h)
{
    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return (uint32_t)(h >> 32);
}

static uint32_t row_of(uint32_t family, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint64_t x = (uint64_t)mixed(((uint64_t)a << 32) | b) << 32 | family;
    return mixed(x ^ ((uint64_t)c << 20) ^ d * 0x9e3779b97f4a7c15u);
}

#define W(p) trl_seen_at(x, TRL_SEEN_WORD, (ptrdiff_t)(p))
#define F(p) trl_seen_at(x, TRL_SEEN_FORM, (ptrdiff_t)(p))
#define T(p) trl_seen_at(x, TRL_SEEN_TAG, (ptrdiff_t)(p))
#define C(p) trl_seen_at(x, TRL_SEEN_CLUSTER, (ptrdiff_t)(p))

void trl_span_pruner_end(const trl_seen *x, size_t at, bool right, uint32_t mask,
                         uint32_t row[TRL_SPAN_PRUNER_END])
{
    const ptrdiff_t p = (ptrdiff_t)at;
    const uint32_t f = right ? TRL_SPAN_PRUNER_END : 0;
    row[0] = row_of(f + 0, W(p - 1), 0, 0, 0) & mask;
    row[1] = row_of(f + 1, W(p), 0, 0, 0) & mask;
    row[2] = row_of(f + 2, F(p - 1), F(p), 0, 0) & mask;
    row[3] = row_of(f + 3, F(p), F(p + 1), 0, 0) & mask;
    row[4] = row_of(f + 4, T(p - 2), T(p - 1), T(p), 0) & mask;
    row[5] = row_of(f + 5, T(p - 1), T(p), T(p + 1), 0) & mask;
    row[6] = row_of(f + 6, T(p), T(p + 1), T(p + 2), 0) & mask;
    row[7] = row_of(f + 7, C(p - 1), C(p), 0, 0) & mask;
    row[8] = row_of(f + 8, F(p - 2), F(p - 1), 0, 0) & mask;
    row[9] = row_of(f + 9, T(p - 1), T(p), 0, 0) & mask;
}

void trl_span_pruner_pair(const trl_seen *x, size_t from, size_t to, uint32_t mask,
                          uint32_t row[TRL_SPAN_PRUNER_PAIR])
{
    const ptrdiff_t i = (ptrdiff_t)from, j = (ptrdiff_t)to;
    const uint32_t n = trl_seen_span(x, TRL_SEEN_LENGTH, from, to);
    row[0] = row_of(20, n, T(i), T(j - 1), 0) & mask;
    row[1] = row_of(21, n, T(i - 1), T(j), 0) & mask;
    row[2] = row_of(22, F(i), F(j - 1), 0, 0) & mask;
    row[3] = row_of(23, F(i - 1), F(j), 0, 0) & mask;
    row[4] = row_of(24, T(i - 1), T(i), T(j - 1), T(j)) & mask;
    row[5] = row_of(25, F(i), F(j), 0, 0) & mask;
    row[6] = row_of(26, F(i - 1), F(j - 1), 0, 0) & mask;
    row[7] = row_of(27, n, F(i), 0, 0) & mask;
    row[8] = row_of(28, trl_seen_span(x, TRL_SEEN_SHAPE, from, to), 0, 0, 0) & mask;
}

void trl_span_pruner_word(const trl_seen *x, size_t at, uint32_t mask,
                          uint32_t row[TRL_SPAN_PRUNER_WORD])
{
    const ptrdiff_t i = (ptrdiff_t)at;
    row[0] = row_of(30, F(i - 1), F(i), 0, 0) & mask;
    row[1] = row_of(31, F(i), F(i + 1), 0, 0) & mask;
    row[2] = row_of(32, T(i - 2), T(i - 1), T(i), 0) & mask;
    row[3] = row_of(33, T(i - 1), T(i), T(i + 1), 0) & mask;
    row[4] = row_of(34, T(i), T(i + 1), T(i + 2), 0) & mask;
    row[5] = row_of(35, trl_seen_at(x, TRL_SEEN_SUFFIX3, i), T(i), 0, 0) & mask;
    row[6] = row_of(36, C(i), 0, 0, 0) & mask;
    row[7] = row_of(37, F(i - 1), T(i), T(i + 1), 0) & mask;
    row[8] = row_of(38, W(i), 0, 0, 0) & mask;
}

/* ---- a sentence ------------------------------------------------------------------------------ */

static void add_rows(const trl_span_pruner *s, bool words, const uint32_t *row, size_t n,
                     float *restrict sum)
{
    const size_t width = words ? TRL_SPAN_PRUNER_TAGS : TRL_SPAN_PRUNER_CLASSES;
    if (s->exact) {
        const size_t from = words ? ((size_t)s->span_mask + 1) * TRL_SPAN_PRUNER_CLASSES : 0;
        for (size_t k = 0; k < n; k++)
            for (size_t c = 0; c < width; c++)
                sum[c] += (float)s->exact[from + row[k] * width + c];
        return;
    }
    int32_t total[TRL_SPAN_PRUNER_TAGS] = {0};
    const int8_t *w = words ? s->word : s->span;
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; c < width; c++)
            total[c] += w[row[k] * width + c];
    for (size_t c = 0; c < width; c++)
        sum[c] += (float)total[c] * s->unit;
}

#define MOST 20.0f /* exp of it leaves room in single precision */

static void exponentiate(size_t n, float *x, float *y)
{
    for (size_t k = 0; k < n; k++) {
        x[k] = x[k] > MOST ? MOST : x[k] < -MOST ? -MOST : x[k];
        y[k] = expf(x[k]);
    }
}

/* Sums of the rows of both ends. */
typedef struct span_ends {
    const float *left;
    const float *right;
} span_ends;

static void fill_span(const trl_span_pruner *s, const trl_seen *x, size_t i, size_t j,
                      const span_ends *ends, float *to)
{
    uint32_t row[TRL_SPAN_PRUNER_PAIR];
    for (size_t c = 0; c < TRL_SPAN_PRUNER_CLASSES; c++)
        to[c] = ends->left[c] + ends->right[c];
    trl_span_pruner_pair(x, i, j, s->span_mask, row);
    add_rows(s, false, row, TRL_SPAN_PRUNER_PAIR, to);
}

trl_status trl_span_pruner_gains(const trl_span_pruner *s, const trl_seen *x, trl_gains *out,
                                 trl_arena *arena, trl_error *err)
{
    enum { K = TRL_SPAN_PRUNER_CLASSES, T = TRL_SPAN_PRUNER_TAGS };
    const size_t n = x->n, spans = trl_chart_cells(n) * K, ends = (n + 1) * K;
    float *left = trl_arena_get(arena, ends, sizeof *left);
    float *right = trl_arena_get(arena, ends, sizeof *right);
    *out = (trl_gains){s->class_of, trl_arena_get(arena, spans, sizeof(float)),
                       trl_arena_get(arena, spans, sizeof(float)),
                       trl_arena_get(arena, n * T, sizeof(float)),
                       trl_arena_get(arena, n * T, sizeof(float))};
    if (!left || !right || !out->log_span || !out->span || !out->log_word || !out->word)
        return trl_fail_mem(err);
    memset(left, 0, ends * sizeof *left);
    memset(right, 0, ends * sizeof *right);
    memset(out->log_word, 0, n * T * sizeof *out->log_word);
    uint32_t row[16];
    for (size_t i = 0; i < n; i++) {
        trl_span_pruner_end(x, i, false, s->span_mask, row);
        add_rows(s, false, row, TRL_SPAN_PRUNER_END, left + i * K);
        trl_span_pruner_end(x, i + 1, true, s->span_mask, row);
        add_rows(s, false, row, TRL_SPAN_PRUNER_END, right + (i + 1) * K);
        trl_span_pruner_word(x, i, s->word_mask, row);
        add_rows(s, true, row, TRL_SPAN_PRUNER_WORD, out->log_word + i * T);
    }
    for (size_t j = 1; j <= n; j++)
        for (size_t i = 0; i < j; i++)
            fill_span(s, x, i, j, &(span_ends){left + i * K, right + j * K},
                      out->log_span + trl_cell(i, j) * K);
    exponentiate(spans, out->log_span, out->span);
    exponentiate(n * T, out->log_word, out->word);
    return TRL_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

trl_status trl_span_pruner_round(trl_span_pruner *s, const double *w, uint32_t span_mask,
                                 uint32_t word_mask, trl_error *err)
{
    const size_t n = trl_span_pruner_weights(span_mask, word_mask);
    double most = 1e-6;
    for (size_t k = 0; k < n; k++)
        most = fabs(w[k]) > most ? fabs(w[k]) : most;
    s->owned = trl_alloc64(n, 1);
    if (!s->owned)
        return trl_fail_mem(err);
    s->unit = (float)(most / 127.0);
    for (size_t k = 0; k < n; k++)
        s->owned[k] = (int8_t)lrint(w[k] / (double)s->unit);
    s->span = s->owned;
    s->word = s->owned + ((size_t)span_mask + 1) * TRL_SPAN_PRUNER_CLASSES;
    s->span_mask = span_mask;
    s->word_mask = word_mask;
    s->exact = NULL;
    return TRL_OK;
}

typedef struct head {
    uint32_t span_mask, word_mask;
    float unit;
    uint32_t zero;
} head;

trl_status trl_span_pruner_save(const trl_span_pruner *s, trl_container_builder *b, trl_error *err)
{
    if (!s->span)
        return TRL_OK;
    head *h = trl_zalloc(1, sizeof *h);
    if (!h)
        return trl_fail_mem(err);
    *h = (head){s->span_mask, s->word_mask, s->unit, 0};
    trl_container_builder_give(b, "sieve", h, sizeof *h);
    trl_container_builder_add(b, "sieverow", s->span,
                              trl_span_pruner_weights(s->span_mask, s->word_mask));
    return TRL_OK;
}

static bool is_mask(uint32_t x)
{
    return (x & (x + 1)) == 0 && x < (1u << 28);
}

trl_status trl_span_pruner_load(trl_span_pruner *s, const trl_container *c, trl_error *err)
{
    const void *bytes, *rows;
    size_t n, size;
    head h;
    if (!trl_container_find(c, "sieve", &bytes, &n))
        return TRL_OK;
    if (n != sizeof h || !trl_container_find(c, "sieverow", &rows, &size))
        return trl_container_damaged(c, err, "its span pruner is incomplete");
    memcpy(&h, bytes, sizeof h);
    if (!is_mask(h.span_mask) || !is_mask(h.word_mask) || !(h.unit > 0.0f) || !(h.unit < 1.0f) ||
        size != trl_span_pruner_weights(h.span_mask, h.word_mask))
        return trl_container_damaged(c, err, "its span pruner is invalid");
    s->span = rows;
    s->word = s->span + ((size_t)h.span_mask + 1) * TRL_SPAN_PRUNER_CLASSES;
    s->span_mask = h.span_mask;
    s->word_mask = h.word_mask;
    s->unit = h.unit;
    return TRL_OK;
}
