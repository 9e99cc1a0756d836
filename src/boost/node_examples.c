/* node_examples.c -- examples of a node. */
/* SPDX-License-Identifier: MIT */
#include "boost/node_examples.h"

#include <string.h>

#include "base/rng.h"

#define AHEAD 6     /* rows are fetched so many before they are added */
#define ROWS 256    /* of a piece of work */
#define SHARED 2048 /* rows that several threads add up together */
#define DRAWN 200   /* the same of drawn rows */

/* ---- along a column -------------------------------------------------------------------------- */

typedef struct column {
    const uint32_t *example; /* NULL: all examples */
    size_t n;
} column;

static column column_of(const trl_trainer *t, uint32_t feature)
{
    const uint64_t begin = trl_boost_begin(t->d->column_end, feature);
    return (column){t->d->example + begin, (size_t)(t->d->column_end[feature] - begin)};
}

/* Where the examples of a node are: in the column of the feature that first had its slot; of the
 * root's slot, anywhere. */
static column place_of(const trl_trainer *t, const trl_grown *x)
{
    return x->slot ? column_of(t, t->grown[x->slot].literal / 2) : (column){NULL, t->n};
}

static size_t pieces_of(column c)
{
    return (c.n + TRL_WALK_PIECE - 1) / TRL_WALK_PIECE;
}

/* Where a piece begins: no block of TRL_WEIGHT_BLOCK examples is in two pieces. */
static size_t cut(column c, size_t piece)
{
    size_t k = piece * TRL_WALK_PIECE;
    if (k >= c.n)
        return c.n;
    while (c.example && k && k < c.n &&
           c.example[k] / TRL_WEIGHT_BLOCK == c.example[k - 1] / TRL_WEIGHT_BLOCK)
        k++;
    return k;
}

static void in_pieces(trl_trainer *t, size_t pieces, trl_job_fn fn, void *job)
{
    if (t->pool && pieces > 1)
        trl_pool_run_all(t->pool, pieces, fn, job);
    else
        for (size_t k = 0; k < pieces; k++)
            (void)fn(job, k, 0, NULL);
}

typedef struct walk_job {
    trl_trainer *t;
    column c;
    uint32_t slot, to;
    int64_t step, first; /* of drawing: between two points; the first point */
} walk_job;

/* The examples of the slot in a piece, at found + its begin. */
static trl_status run_find(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const walk_job *j = ctx;
    trl_trainer *t = j->t;
    const column c = j->c;
    const size_t begin = cut(c, piece), end = cut(c, piece + 1);
    uint32_t *found = t->found + begin;
    trl_walk_piece x = {.begin = begin};
    for (size_t k = begin; k < end; k++) { /* n <= k - begin: there is room */
        const uint32_t i = c.example ? c.example[k] : (uint32_t)k;
        found[x.n] = i;
        x.n += t->slot[i] == j->slot;
    }
    for (size_t k = 0; k < x.n; k++) {
        const int64_t w = t->w[found[k]];
        x.total += w;
        x.weight += trl_magnitude(w);
    }
    t->piece[piece] = x;
    return TRL_OK;
}

trl_found trl_found_along(trl_trainer *t, uint32_t slot, uint32_t feature)
{
    walk_job j = {.t = t, .c = column_of(t, feature), .slot = slot};
    trl_found sum = {0};
    t->n_pieces = pieces_of(j.c);
    in_pieces(t, t->n_pieces, run_find, &j);
    for (size_t k = 0; k < t->n_pieces; k++) {
        sum.total += t->piece[k].total;
        sum.weight += t->piece[k].weight;
        sum.count += t->piece[k].n;
    }
    return sum;
}

static trl_status run_move(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const walk_job *j = ctx;
    trl_trainer *t = j->t;
    const trl_walk_piece *x = &t->piece[piece];
    const uint32_t *found = t->found + x->begin;
    for (size_t k = 0; k < x->n; k++)
        t->slot[found[k]] = j->to;
    for (size_t k = 0; t->rest && j->slot == 0 && k < x->n; k++)
        t->rest[found[k] / TRL_WEIGHT_BLOCK] -= trl_magnitude(t->w[found[k]]);
    return TRL_OK;
}

void trl_found_move(trl_trainer *t, uint32_t from, uint32_t to)
{
    walk_job j = {.t = t, .slot = from, .to = to};
    in_pieces(t, t->n_pieces, run_move, &j);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Pieces of `from`, each at its begin, one after the other into t->work. */
static void put_together(trl_trainer *t, const uint32_t *from, size_t pieces)
{
    t->n_work = 0;
    for (size_t k = 0; k < pieces; k++) {
        const trl_walk_piece *x = &t->piece[k];
        memmove(t->work + t->n_work, from + x->begin, x->n * sizeof *from);
        t->n_work += x->n;
    }
}

void trl_list_examples(trl_trainer *t, const trl_grown *x)
{
    walk_job j = {.t = t, .c = place_of(t, x), .slot = x->slot};
    const size_t pieces = pieces_of(j.c);
    in_pieces(t, pieces, run_find, &j);
    put_together(t, t->found, pieces);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Systematic sampling: points a step apart on the line of all weights, the first at random.  An
 * example that k points hit stands for k steps of weight. */
typedef struct sampling {
    int64_t step, next, at; /* next: the next point; at: the end of the weights so far */
    int64_t total;          /* sampled */
    uint32_t *work;
    size_t n;
} sampling;

/* At the place `at` of the line. */
static sampling sample_from(const walk_job *j, int64_t at, uint32_t *work)
{
    const int64_t before = at > j->first ? (at - j->first + j->step - 1) / j->step : 0;
    return (sampling){.step = j->step, .next = j->first + before * j->step, .at = at, .work = work};
}

static void pass(trl_trainer *t, sampling *s, uint32_t i)
{
    s->at += trl_magnitude(t->w[i]);
    if (s->next >= s->at)
        return;
    const int64_t hits = (s->at - s->next - 1) / s->step + 1;
    s->next += hits * s->step;
    t->drawn[i] = t->w[i] < 0 ? -hits * s->step : hits * s->step;
    s->total += t->drawn[i];
    s->work[s->n++] = i;
}

/* A piece of the root's slot, whose weights are known by blocks: those that no point hits are
 * passed over. */
static void draw_rest(trl_trainer *t, sampling *s, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at += TRL_WEIGHT_BLOCK) {
        const int64_t weight = t->rest[at / TRL_WEIGHT_BLOCK];
        if (s->next >= s->at + weight) {
            s->at += weight;
            continue;
        }
        const size_t stop = end - at < TRL_WEIGHT_BLOCK ? end : at + TRL_WEIGHT_BLOCK;
        for (size_t i = at; i < stop; i++)
            if (t->slot[i] == 0)
                pass(t, s, (uint32_t)i);
    }
}

/* The weight of a piece, before it is drawn from. */
static trl_status run_weigh(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    const walk_job *j = ctx;
    if (j->c.example)
        return run_find(ctx, piece, worker, err);
    const size_t begin = cut(j->c, piece), end = cut(j->c, piece + 1);
    trl_walk_piece x = {.begin = begin};
    for (size_t at = begin; at < end; at += TRL_WEIGHT_BLOCK)
        x.weight += j->t->rest[at / TRL_WEIGHT_BLOCK];
    j->t->piece[piece] = x;
    return TRL_OK;
}

/* After which `at` of the piece is set: what was found becomes what is drawn, at the same place of
 * t->work. */
static trl_status run_draw(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const walk_job *j = ctx;
    trl_trainer *t = j->t;
    trl_walk_piece *x = &t->piece[piece];
    sampling s = sample_from(j, x->at, t->work + x->begin);
    if (!j->c.example)
        draw_rest(t, &s, x->begin, cut(j->c, piece + 1));
    for (size_t k = 0; j->c.example && s.next < x->at + x->weight && k < x->n; k++)
        pass(t, &s, t->found[x->begin + k]);
    x->n = s.n;
    x->total = s.total;
    return TRL_OK;
}

int64_t trl_draw_examples(trl_trainer *t, const trl_grown *x, uint64_t seed)
{
    trl_rng rng = trl_rng_seed(seed);
    walk_job j = {.t = t,
                  .c = place_of(t, x),
                  .slot = x->slot,
                  .step = x->weight / (int64_t)t->o->sample + 1};
    j.first = (int64_t)trl_rng_below64(&rng, (uint64_t)j.step);
    const size_t pieces = pieces_of(j.c);
    const bool together = t->pool && pieces > 1;
    int64_t at = 0, total = 0;
    if (together)
        in_pieces(t, pieces, run_weigh, &j);
    for (size_t k = 0; k < pieces; k++) {
        if (!together)
            (void)run_weigh(&j, k, 0, NULL);
        t->piece[k].at = at;
        at += t->piece[k].weight;
        if (!together)
            (void)run_draw(&j, k, 0, NULL);
    }
    if (together)
        in_pieces(t, pieces, run_draw, &j);
    for (size_t k = 0; k < pieces; k++)
        total += t->piece[k].total;
    put_together(t, t->work, pieces);
    return total;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct rows_job {
    trl_trainer *t;
    const uint32_t *example;
    size_t n;
    int64_t sign;
    size_t ranges;                   /* of features */
    uint64_t visited[TRL_POOL_MOST]; /* by worker */
} rows_job;

/* Worker 0 adds to the sums, others to arrays of their own. */
static trl_status run_rows(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)err;
    rows_job *j = ctx;
    trl_trainer *t = j->t;
    const size_t end = (piece + 1) * ROWS < j->n ? (piece + 1) * ROWS : j->n;
    int64_t *side = worker ? t->side + (worker - 1) * t->sums.n_blocks * TRL_SUMS_BLOCK : NULL;
    uint64_t visited = 0;
    for (size_t k = piece * ROWS; k < end; k++) {
        const uint32_t i = j->example[k];
        const uint64_t begin = trl_boost_begin(t->d->row_end, i), n = t->d->row_end[i] - begin;
        const uint32_t *id = t->d->id + begin;
        const int64_t w = j->sign * t->w[i];
        visited += n;
        if (!side)
            trl_sums_add(&t->sums, id, n, w);
        else
            for (uint64_t q = 0; q < n; q++)
                side[id[q]] += w;
    }
    j->visited[worker] += visited;
    return TRL_OK;
}

/* In parallel where that is worth adding up. */
void trl_add_listed(trl_trainer *t, int64_t sign)
{
    rows_job j = {.t = t, .example = t->work, .n = t->n_work, .sign = sign};
    const size_t n = (t->n_work + ROWS - 1) / ROWS, width = t->sums.n_blocks * TRL_SUMS_BLOCK;
    const bool together = t->side && n > 1 && t->n_work >= SHARED;
    for (size_t k = 0; !together && k < n; k++)
        (void)run_rows(&j, k, 0, NULL);
    if (together)
        trl_pool_run_all(t->pool, n, run_rows, &j);
    for (size_t k = 0; together && k + 1 < trl_pool_threads(t->pool); k++)
        trl_sums_take(&t->sums, t->side + k * width);
    for (size_t k = 0; k < TRL_POOL_MOST; k++)
        t->visited += j.visited[k];
}

/* The row of an example that is added soon; rows of a sample lie far apart. */
static void fetch_row(const trl_trainer *t, uint32_t i)
{
    const uint64_t begin = trl_boost_begin(t->d->row_end, i), end = t->d->row_end[i];
    for (uint64_t k = begin; k < end; k += 16)
        __builtin_prefetch(&t->d->id[k]);
}

/* The first of n ascending features that is at least `a`. */
static size_t first_at_least(const uint32_t *id, size_t n, uint32_t a)
{
    size_t low = 0;
    while (low < n) {
        const size_t middle = low + (n - low) / 2;
        if (id[middle] < a)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Of all rows the features of a range: ranges share no block of sums. */
static trl_status run_drawn(void *ctx, size_t range, size_t worker, trl_error *err)
{
    (void)err;
    rows_job *j = ctx;
    trl_trainer *t = j->t;
    const bool from_first = range == 0, to_last = range + 1 == j->ranges;
    uint64_t visited = 0;
    for (size_t k = 0; k < j->n; k++) {
        const uint32_t i = j->example[k];
        const uint64_t begin = trl_boost_begin(t->d->row_end, i), n = t->d->row_end[i] - begin;
        const uint32_t *id = t->d->id + begin;
        if (k + AHEAD < j->n)
            fetch_row(t, j->example[k + AHEAD]);
        const size_t first = from_first ? 0 : first_at_least(id, n, t->range[range]);
        const size_t end = to_last ? n : first_at_least(id, n, t->range[range + 1]);
        trl_sums_add(&t->sums, id + first, end - first, j->sign * t->drawn[i]);
        visited += end - first;
    }
    j->visited[worker] += visited;
    return TRL_OK;
}

void trl_add_drawn(trl_trainer *t, const uint32_t *example, size_t n, int64_t sign)
{
    rows_job j = {.t = t, .example = example, .n = n, .sign = sign};
    j.ranges = t->pool && n >= DRAWN ? t->n_ranges : 1;
    in_pieces(t, j.ranges, run_drawn, &j);
    for (size_t k = 0; k < TRL_POOL_MOST; k++)
        t->visited += j.visited[k];
}
