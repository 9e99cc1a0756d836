/* train_align.c -- EM over a bitext, one direction.
 *
 * Every (source word, target word) of every pair is a cell that knows its entry of t: cell ids are
 * laid out pair by pair, source word by source word, and made without a hash table by going through
 * the sentences of one source word after the other.  Expected counts are whole multiples of 2^-40,
 * so that sums do not depend on the order in which threads add to them; from 2^23 words on the
 * power is a coarser one, so that no sum is beyond 2^63.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include <time.h>

#include "align/direction.h"
#include "base/fail.h"
#include "base/mem.h"

#define PIECE 256 /* pairs of a job */

typedef struct entry {
    uint64_t count;
    float t;
    uint32_t target;
} entry;

typedef struct trainer {
    const trl_side *source, *target;
    size_t n; /* pairs */
    size_t n_source;
    size_t n_words;    /* running target words of pairs that are learnt from */
    double unit;       /* of counts: trl_count_unit(n_words) */
    uint64_t *cell_at; /* [n] first cell of a pair; row j has m cells */
    uint32_t *cell;    /* entry */
    uint64_t *row_end; /* [n_source] entries */
    entry *entry;
    size_t n_entries, entry_cap;
    trl_places places;
    trl_place_counts counts;
    double *log_p;              /* [pieces] */
    trl_place_scratch *scratch; /* [threads] */
    double **block;             /* [threads] t and posterior of a pair */
    size_t *block_cap;
    size_t threads;
} trainer;

/* ---- cells ---------------------------------------------------------------------------------- */

/* occurrence[k]: (pair, place) of source words in the order of words; NULL is word 0, place 0. */
typedef struct occurrence {
    uint32_t pair, place;
} occurrence;

static trl_status list_occurrences(const trainer *t, uint64_t **end_, occurrence **list_,
                                   trl_error *err)
{
    const trl_side *s = t->source;
    uint64_t *end = trl_zalloc(t->n_source + 1, sizeof *end);
    occurrence *list = trl_alloc(s->n_ids + t->n + 1, sizeof *list);
    *end_ = end;
    *list_ = list;
    if (!end || !list)
        return trl_fail_mem(err);
    for (size_t k = 0; k < t->n; k++) {
        const bool fit = trl_sides_fit(s, t->target, k);
        end[1] += fit;
        for (uint64_t q = trl_side_begin(s, k); fit && q < s->end[k]; q++)
            if (s->id[q] + 2 <= t->n_source)
                end[s->id[q] + 2]++;
    }
    for (size_t e = 0; e < t->n_source; e++)
        end[e + 1] += end[e];
    for (size_t k = 0; k < t->n; k++) {
        if (!trl_sides_fit(s, t->target, k))
            continue;
        list[end[0]++] = (occurrence){(uint32_t)k, 0};
        for (uint64_t q = trl_side_begin(s, k), j = 1; q < s->end[k]; q++, j++)
            list[end[s->id[q] + 1]++] = (occurrence){(uint32_t)k, (uint32_t)j};
    }
    return TRL_OK;
}

/* Which words of the row have been seen, and their entries. */
typedef struct marks {
    uint32_t *entry_of;
    uint64_t *seen;
    uint64_t stamp;
} marks;

static trl_status make_row(trainer *t, const occurrence *o, size_t n, const marks *mark,
                           trl_error *err)
{
    for (size_t k = 0; k < n; k++) {
        const size_t m = trl_side_length(t->target, o[k].pair);
        const uint32_t *f = t->target->id + trl_side_begin(t->target, o[k].pair);
        uint32_t *cell = t->cell + t->cell_at[o[k].pair] + o[k].place * m;
        for (size_t i = 0; i < m; i++) {
            if (mark->seen[f[i]] != mark->stamp) {
                entry *grown =
                    trl_reserve(t->entry, &t->entry_cap, t->n_entries + 1, sizeof *grown);
                if (!grown)
                    return trl_fail_mem(err);
                t->entry = grown;
                if (t->n_entries >= UINT32_MAX - 1)
                    return trl_fail(err, TRL_EINVAL, "more than 2^32 - 2 pairs of words");
                mark->seen[f[i]] = mark->stamp;
                mark->entry_of[f[i]] = (uint32_t)t->n_entries;
                grown[t->n_entries++] = (entry){.target = f[i]};
            }
            cell[i] = mark->entry_of[f[i]];
        }
    }
    return TRL_OK;
}

static trl_status make_cells(trainer *t, trl_error *err)
{
    uint64_t *end = NULL, total = 0;
    occurrence *list = NULL;
    const size_t F = t->target->words.n + 1;
    uint32_t *entry_of = trl_alloc(F, sizeof *entry_of);
    uint64_t *seen = trl_zalloc(F, sizeof *seen);
    t->cell_at = trl_alloc(t->n + 1, sizeof *t->cell_at);
    t->row_end = trl_alloc(t->n_source, sizeof *t->row_end);
    trl_status st = entry_of && seen && t->cell_at && t->row_end ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < t->n; k++) {
        t->cell_at[k] = total;
        if (!trl_sides_fit(t->source, t->target, k))
            continue;
        total += (trl_side_length(t->source, k) + 1) * trl_side_length(t->target, k);
        t->n_words += trl_side_length(t->target, k);
    }
    t->unit = trl_count_unit(t->n_words);
    if (st == TRL_OK && !(t->cell = trl_alloc(total + 1, sizeof *t->cell)))
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        st = list_occurrences(t, &end, &list, err);
    for (size_t e = 0; st == TRL_OK && e < t->n_source; e++) {
        const uint64_t begin = e ? end[e - 1] : 0; /* after filling, end[e] is where e ends */
        st = make_row(t, list + begin, end[e] - begin, &(marks){entry_of, seen, e + 1}, err);
        t->row_end[e] = t->n_entries;
    }
    trl_free(entry_of);
    trl_free(seen);
    trl_free(end);
    trl_free(list);
    return st;
}

/* ---- E step --------------------------------------------------------------------------------- */

static double *block_of(trainer *t, size_t worker, size_t n)
{
    double *grown = trl_reserve(t->block[worker], &t->block_cap[worker], 2 * n, sizeof *grown);
    if (grown)
        t->block[worker] = grown;
    return grown;
}

static trl_status expect_pair(trainer *t, size_t k, size_t worker, double *log_p, trl_error *err)
{
    const size_t l = trl_side_length(t->source, k), m = trl_side_length(t->target, k);
    if (!trl_sides_fit(t->source, t->target, k))
        return TRL_OK;
    double *p = block_of(t, worker, (l + 1) * m), *posterior, here;
    const uint32_t *cell = t->cell + t->cell_at[k];
    if (!p)
        return trl_fail_mem(err);
    posterior = p + (l + 1) * m;
    for (size_t j = 0; j <= l; j++)
        for (size_t i = 0; i < m; i++)
            p[i * (l + 1) + j] = (double)t->entry[cell[j * m + i]].t;
    if (!trl_places_posterior(&t->places, &(trl_place_pair){l, m, p}, posterior, &here, &t->counts,
                              &t->scratch[worker]))
        return trl_fail_mem(err);
    *log_p += here;
    for (size_t j = 0; j <= l; j++)
        for (size_t i = 0; i < m; i++) {
            const uint64_t x = (uint64_t)(posterior[i * (l + 1) + j] * t->unit + 0.5);
            uint64_t *to = &t->entry[cell[j * m + i]].count;
            if (t->threads > 1)
                __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
            else
                *to += x;
        }
    return TRL_OK;
}

static trl_status run_piece(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    trainer *t = ctx;
    const size_t end = (piece + 1) * PIECE < t->n ? (piece + 1) * PIECE : t->n;
    trl_status st = TRL_OK;
    t->log_p[piece] = 0.0;
    for (size_t k = piece * PIECE; st == TRL_OK && k < end; k++)
        st = expect_pair(t, k, worker, &t->log_p[piece], err);
    return st;
}

static trl_status run_pieces(trl_pool *pool, trainer *t, size_t n, trl_job_fn fn, trl_error *err)
{
    if (pool)
        return trl_pool_run(pool, n, fn, t, err);
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < n; k++)
        st = fn(t, k, 0, err);
    return st;
}

/* ---- M step --------------------------------------------------------------------------------- */

static trl_status run_rows(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    trainer *t = ctx;
    const size_t end = (piece + 1) * PIECE < t->n_source ? (piece + 1) * PIECE : t->n_source;
    for (size_t e = piece * PIECE; e < end; e++) {
        const uint64_t begin = e ? t->row_end[e - 1] : 0;
        double sum = 0.0;
        for (uint64_t x = begin; x < t->row_end[e]; x++)
            sum += (double)t->entry[x].count;
        for (uint64_t x = begin; x < t->row_end[e]; x++) {
            const float p = sum > 0.0 ? (float)((double)t->entry[x].count / sum) : 0.0f;
            t->entry[x].t = p > TRL_ALIGN_FLOOR ? p : TRL_ALIGN_FLOOR;
            t->entry[x].count = 0;
        }
    }
    return TRL_OK;
}

static void clear_counts(trainer *t)
{
    const size_t L = TRL_ALIGN_LONGEST + 1;
    if (t->counts.place)
        memset(t->counts.place, 0, t->places.n_places * sizeof *t->counts.place);
    memset(t->counts.jump, 0, TRL_JUMPS * sizeof *t->counts.jump);
    memset(t->counts.from, 0, L * L * sizeof *t->counts.from);
}

static double seconds_now(void)
{
    struct timespec x;
    clock_gettime(CLOCK_MONOTONIC, &x);
    return (double)x.tv_sec + 1e-9 * (double)x.tv_nsec;
}

static trl_status iterate(trainer *t, const trl_direction_options *o, const char *model,
                          size_t number, trl_error *err)
{
    const double start = seconds_now();
    const size_t pieces = (t->n + PIECE - 1) / PIECE;
    clear_counts(t);
    trl_status st = run_pieces(o->pool, t, pieces, run_piece, err);
    if (st == TRL_OK)
        st = run_pieces(o->pool, t, (t->n_source + PIECE - 1) / PIECE, run_rows, err);
    if (st != TRL_OK)
        return st;
    trl_places_update(&t->places, &t->counts);
    double log_p = 0.0;
    for (size_t k = 0; k < pieces; k++)
        log_p += t->log_p[k];
    const trl_align_progress p = {o->name,
                                  model,
                                  number,
                                  log_p,
                                  exp(-log_p / (double)(t->n_words ? t->n_words : 1)),
                                  seconds_now() - start};
    if (o->o->progress && o->o->progress(o->o->progress_ctx, &p))
        return trl_fail(err, TRL_ECANCEL, "stopped");
    return TRL_OK;
}

/* ---- stages --------------------------------------------------------------------------------- */

/* Uniform places for every pair of lengths in the text. */
static trl_status start_ibm2(trainer *t, trl_error *err)
{
    enum { L = TRL_ALIGN_LEARNT + 1 };
    trl_places *p = &t->places;
    for (size_t k = 0; k < t->n; k++) {
        const size_t l = trl_side_length(t->source, k), m = trl_side_length(t->target, k);
        if (l == 0 || m == 0 || l >= L || m >= L || p->place_at[l * L + m] != UINT32_MAX)
            continue;
        p->place_at[l * L + m] = (uint32_t)p->n_places;
        p->n_places += (l + 1) * m;
    }
    p->place = trl_alloc(p->n_places + 1, sizeof *p->place);
    t->counts.place = trl_alloc(p->n_places + 1, sizeof *t->counts.place);
    if (!p->place || !t->counts.place)
        return trl_fail_mem(err);
    for (size_t l = 1; l < L; l++)
        for (size_t m = 1; m < L; m++)
            for (size_t x = 0; p->place_at[l * L + m] != UINT32_MAX && x < (l + 1) * m; x++)
                p->place[p->place_at[l * L + m] + x] = 1.0 / (double)(l + 1);
    return TRL_OK;
}

static trl_status run_stages(trainer *t, const trl_direction_options *o, trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t k = 0; k < t->n_entries; k++)
        t->entry[k].t = 1.0f / (float)(t->target->words.n + 1); /* uniform: any constant will do */
    for (size_t k = 1; st == TRL_OK && k <= o->o->ibm1; k++)
        st = iterate(t, o, "IBM 1", k, err);
    if (st == TRL_OK && o->o->model == TRL_ALIGN_IBM2) {
        t->places.model = TRL_ALIGN_IBM2;
        st = start_ibm2(t, err);
        for (size_t k = 1; st == TRL_OK && k <= o->o->ibm2; k++)
            st = iterate(t, o, "IBM 2", k, err);
    }
    if (st == TRL_OK && o->o->model == TRL_ALIGN_HMM) {
        t->places.model = TRL_ALIGN_HMM;
        for (size_t k = 1; st == TRL_OK && k <= o->o->hmm; k++)
            st = iterate(t, o, "HMM", k, err);
    }
    return st;
}

static trl_status start(trainer *t, const trl_bitext *b, int from, const trl_direction_options *o,
                        trl_error *err)
{
    const size_t L = TRL_ALIGN_LONGEST + 1, M = TRL_ALIGN_LEARNT + 1;
    t->source = &b->side[from];
    t->target = &b->side[1 - from];
    t->n = t->source->n;
    t->n_source = t->source->words.n + 1;
    t->threads = o->pool ? trl_pool_threads(o->pool) : 1;
    t->places.null = o->o->null;
    t->places.jump = trl_alloc(TRL_JUMPS, sizeof *t->places.jump);
    t->places.place_at = trl_alloc(M * M, sizeof *t->places.place_at);
    t->counts.jump = trl_alloc(TRL_JUMPS, sizeof *t->counts.jump);
    t->counts.from = trl_alloc(L * L, sizeof *t->counts.from);
    t->log_p = trl_alloc(t->n / PIECE + 1, sizeof *t->log_p);
    t->scratch = trl_zalloc(t->threads, sizeof *t->scratch);
    t->block = trl_zalloc(t->threads, sizeof *t->block);
    t->block_cap = trl_zalloc(t->threads, sizeof *t->block_cap);
    if (!t->places.jump || !t->places.place_at || !t->counts.jump || !t->counts.from || !t->log_p ||
        !t->scratch || !t->block || !t->block_cap)
        return trl_fail_mem(err);
    for (size_t k = 0; k < M * M; k++)
        t->places.place_at[k] = UINT32_MAX;
    for (size_t d = 0; d < TRL_JUMPS; d++) /* jumps of one word are the most likely at first */
        t->places.jump[d] = 1.0 / (1.0 + fabs((double)d - (double)TRL_ALIGN_LONGEST - 1.0));
    return make_cells(t, err);
}

static void trainer_fini(trainer *t)
{
    for (size_t k = 0; t->scratch && k < t->threads; k++)
        trl_place_scratch_fini(&t->scratch[k]);
    for (size_t k = 0; t->block && k < t->threads; k++)
        trl_free(t->block[k]);
    void *all[] = {t->cell_at,     t->cell,         t->row_end,         t->entry,
                   t->places.jump, t->places.place, t->places.place_at, t->counts.place,
                   t->counts.jump, t->counts.from,  t->log_p,           t->scratch,
                   t->block,       t->block_cap};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        trl_free(all[k]);
}

static void sort_row(entry *x, size_t n, entry *spare);

/* Keeps what is above the floor, rows sorted by target word. */
static trl_status keep(trl_direction *d, trainer *t, trl_error *err)
{
    size_t widest = 0, kept = 0;
    for (size_t e = 0; e < t->n_source; e++) {
        const uint64_t begin = e ? t->row_end[e - 1] : 0;
        widest = t->row_end[e] - begin > widest ? t->row_end[e] - begin : widest;
    }
    for (size_t k = 0; k < t->n_entries; k++)
        kept += t->entry[k].t > TRL_ALIGN_FLOOR;
    entry *spare = trl_alloc(widest + 1, sizeof *spare);
    d->own_end = trl_alloc(t->n_source, sizeof *d->own_end);
    d->own_target = trl_alloc(kept + 1, sizeof *d->own_target);
    d->own_t = trl_alloc(kept + 1, sizeof *d->own_t);
    if (!spare || !d->own_end || !d->own_target || !d->own_t) {
        trl_free(spare);
        return trl_fail_mem(err);
    }
    size_t at = 0;
    for (size_t e = 0; e < t->n_source; e++) {
        const uint64_t begin = e ? t->row_end[e - 1] : 0;
        sort_row(t->entry + begin, t->row_end[e] - begin, spare);
        for (uint64_t x = begin; x < t->row_end[e]; x++)
            if (t->entry[x].t > TRL_ALIGN_FLOOR) {
                d->own_target[at] = t->entry[x].target;
                d->own_t[at++] = t->entry[x].t;
            }
        d->own_end[e] = at;
    }
    trl_free(spare);
    d->n_source = t->n_source;
    d->row_end = d->own_end;
    d->target = d->own_target;
    d->t = d->own_t;
    d->places = t->places;
    t->places = (trl_places){0};
    return TRL_OK;
}

/* Merge sort: rows are mostly short, and target words mostly ascend already. */
static void sort_row(entry *x, size_t n, entry *spare)
{
    if (n < 2)
        return;
    const size_t half = n / 2;
    sort_row(x, half, spare);
    sort_row(x + half, n - half, spare);
    if (x[half - 1].target < x[half].target)
        return;
    memcpy(spare, x, half * sizeof *x);
    for (size_t a = 0, b = half, to = 0; a < half; to++)
        x[to] = b < n && x[b].target < spare[a].target ? x[b++] : spare[a++];
}

trl_status trl_direction_train(trl_direction *d, const trl_bitext *b, int from,
                               const trl_direction_options *o, trl_error *err)
{
    trainer t = {0};
    trl_status st = start(&t, b, from, o, err);
    if (st == TRL_OK)
        st = run_stages(&t, o, err);
    if (st == TRL_OK)
        st = keep(d, &t, err);
    trainer_fini(&t);
    return st;
}
