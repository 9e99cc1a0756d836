/* table_examples.c -- one example at a time: gather, evaluate, scatter to a sparse vector. */
/* SPDX-License-Identifier: MIT */
#include "train/table_examples.h"

#include "base/fail.h"
#include "base/mem.h"
#include "feature/sparse_lists.h"
#include "train/gradient.h"

typedef struct worker {
    trl_arena arena;
    trl_tables shared; /* adjoints of the shared tables */
} worker;

struct trl_table_examples {
    const trl_design *d;
    const trl_task *task;
    const double *w;
    trl_tables shared; /* scores */
    trl_pair_sets pairs;
    bool has_pairs; /* pairs that depend on the position come as sets */
    worker *worker;
    size_t n_workers;
    size_t wrong; /* of worker 0 */
    double largest;
    trl_sparse_task sparse;
};

static trl_status prepare(void *self, const double *w, trl_error *err)
{
    trl_table_examples *x = self;
    double any = 0.0; /* a non-NULL row says "has rows" */
    trl_tables shape;
    x->w = w;
    trl_gather_shared(x->d, w, x->shared.shared);
    shape = x->shared;
    for (size_t k = 0; k < x->d->n_families; k++)
        shape.row[k] = x->d->family[k].has_rows && !(k == TRL_EDGE && x->has_pairs) ? &any : NULL;
    return trl_task_prepare(x->task, &shape, err);
}

/* ---- sparse scatter -------------------------------------------------------------------------- */

static void add(trl_sparse *out, uint64_t weight, double value)
{
    out->id[out->n] = (uint32_t)weight;
    out->value[out->n++] = value;
}

static bool add_row(const trl_family *f, size_t tok, const double *adjoint, trl_sparse *out)
{
    const uint64_t r0 = f->dense_begin[tok], r1 = f->dense_begin[tok + 1];
    const uint64_t e0 = f->entry_begin[tok], e1 = f->entry_begin[tok + 1];
    trl_entry_walk x = trl_entries_of(f, tok);
    uint64_t n = (r1 - r0) * f->width + (e1 - e0);
    for (uint64_t i = x.i; f->sparse_begin && i < x.end; i++)
        n += f->entry_first[f->sparse[i] + 1] - f->entry_first[f->sparse[i]];
    if (!trl_sparse_room(out, (size_t)n))
        return false;
    for (uint64_t r = r0; r < r1; r++) {
        const size_t row = f->dense_row[r];
        const uint64_t *live = f->live ? f->live + row * f->words : NULL;
        for (size_t c = 0; c < f->width; c++)
            if (!live || (live[c / 64] >> (c % 64) & 1))
                add(out, trl_dense_at(f, row) + c,
                    -(f->dense_value ? f->dense_value[r] : 1.0) * adjoint[c]);
    }
    for (uint64_t e = e0; e < e1; e++)
        add(out, f->entry[e].weight,
            -(f->entry_value ? f->entry_value[e] : 1.0) * adjoint[f->entry[e].cell]);
    while (f->sparse_begin && trl_entry_next(&x))
        add(out, x.entry.weight, -adjoint[x.entry.cell]);
    return true;
}

/* The cells of one position of a view. */
static bool add_cells(const trl_design *d, const trl_pair_part *p, const double *adjoint,
                      trl_sparse *out)
{
    const trl_family *f = &d->family[TRL_EDGE];
    const uint64_t r0 = f->dense_begin[p->token], r1 = f->dense_begin[p->token + 1];
    const uint64_t e0 = f->entry_begin[p->token], e1 = f->entry_begin[p->token + 1];
    if (!trl_sparse_room(out, (size_t)((r1 - r0) * p->n + (e1 - e0))))
        return false;
    for (uint64_t r = r0; r < r1; r++)
        for (size_t i = 0; i < p->n; i++) {
            const size_t c = p->cell[i].from * d->L + p->cell[i].to;
            if (trl_pair_is_live(f, f->dense_row[r], c))
                add(out, trl_dense_at(f, f->dense_row[r]) + c,
                    -(f->dense_value ? f->dense_value[r] : 1.0) * adjoint[i]);
        }
    size_t i = 0;
    for (uint64_t e = e0; e < e1; e++) {
        i = trl_pair_place(p, d->L, f->entry + e, e == e0, i);
        add(out, f->entry[e].weight, -(f->entry_value ? f->entry_value[e] : 1.0) * adjoint[i]);
    }
    return true;
}

static bool scatter_pairs(const trl_design *d, size_t from, const trl_tables *adjoint,
                          trl_sparse *out)
{
    for (size_t t = 1; t < adjoint->n; t++) {
        const trl_pair_part p = trl_pair_part_at(adjoint->chain.pairs, adjoint->chain.set, from, t);
        if (p.n && !add_cells(d, &p, adjoint->chain.set_cell + p.begin, out))
            return false;
    }
    return true;
}

static bool scatter(const trl_design *d, size_t from, const trl_tables *adjoint, trl_sparse *out)
{
    for (size_t k = 0; k < d->n_families; k++) {
        if (k == TRL_EDGE && adjoint->chain.view && !scatter_pairs(d, from, adjoint, out))
            return false;
        const trl_family *f = &d->family[k];
        for (size_t t = 0; adjoint->row[k] && t < adjoint->n; t++)
            if (!add_row(f, from + t, adjoint->row[k] + t * f->step, out))
                return false;
        if (!f->has_constant || !adjoint->shared[k])
            continue;
        if (!trl_sparse_room(out, f->n_constant))
            return false;
        for (size_t i = 0; i < f->n_constant; i++)
            add(out, f->constant_at + i, -adjoint->shared[k][f->constant_cell[i]]);
    }
    return true;
}

/* Rows of the first family that are not all 0, and the largest number in them. */
static size_t count_rows(const trl_family *f, const trl_tables *adjoint, double *largest)
{
    size_t n = 0;
    *largest = 0.0;
    for (size_t t = 0; adjoint->row[0] && t < adjoint->n; t++) {
        const double *row = adjoint->row[0] + t * f->step;
        bool any = false;
        for (size_t c = 0; c < f->width; c++) {
            any |= row[c] != 0.0;
            *largest = row[c] > *largest ? row[c] : *largest;
        }
        n += any;
    }
    return n;
}

/* ---- one example ----------------------------------------------------------------------------- */

static trl_status evaluate(void *self, size_t example, size_t number, double *loss, trl_sparse *out,
                           trl_error *err)
{
    trl_table_examples *x = self;
    worker *w = &x->worker[number];
    const size_t from = (size_t)x->d->first[example];
    const size_t n = (size_t)x->d->first[example + 1] - from;
    trl_tables scores, adjoint;
    double value = 0.0;
    trl_arena_reset(&w->arena);
    const trl_pair_sets *pairs = x->has_pairs ? &x->pairs : NULL;
    if (!trl_tables_get_view(x->d, pairs, from, n, &w->arena, &scores) ||
        !trl_tables_get_sets(x->d, pairs, from, n, &w->arena, &adjoint))
        return trl_fail_mem(err);
    adjoint.chain = scores.chain;
    trl_shared_clear(x->d, &w->shared);
    for (size_t k = 0; k < x->d->n_families; k++) {
        scores.shared[k] = x->shared.shared[k];
        adjoint.shared[k] = w->shared.shared[k];
    }
    trl_gather(x->d, x->w, from, &scores);
    if (scores.chain.view) {
        trl_pair_view_gather(x->d, x->w, from, &scores);
        trl_pair_view_ready(scores.chain.view);
    }
    const trl_example e = {example, number, &w->arena, 0};
    const trl_status st = x->task->evaluate(x->task->self, &e, &scores, &adjoint, &value, err);
    trl_task_finish(x->task, number, &adjoint);
    if (adjoint.chain.view)
        trl_pair_view_keep(adjoint.chain.view, &adjoint);
    *loss = -value;
    if (number == 0)
        x->wrong = st == TRL_OK ? count_rows(&x->d->family[0], &adjoint, &x->largest) : 0;
    if (st != TRL_OK || !out)
        return st;
    return scatter(x->d, from, &adjoint, out) ? TRL_OK : trl_fail_mem(err);
}

/* ---- lifetime -------------------------------------------------------------------------------- */

trl_status trl_table_examples_new(const trl_learner *l, trl_pool *pool, trl_table_examples **out,
                                  trl_error *err)
{
    const size_t threads = trl_pool_threads(pool);
    if (threads > TRL_LANES_MAX)
        return trl_fail(err, TRL_EINVAL, "this optimizer runs in up to %d threads, not %zu",
                        TRL_LANES_MAX, threads);
    if (l->n_weights > UINT32_MAX) { /* ids of sparse vectors have 32 bits */
        const trl_status st =
            trl_fail(err, TRL_EINVAL, "this optimizer has up to 4,294,967,295 features, not %llu",
                     (unsigned long long)l->n_weights);
        return trl_fail_hint(err, st, "lbfgs, owlqn, sgd, asgd and sdca have no such limit");
    }
    trl_table_examples *x = trl_zalloc(1, sizeof *x);
    if (!x)
        return trl_fail_mem(err);
    x->d = l->design;
    x->task = l->task;
    x->n_workers = threads;
    x->worker = trl_zalloc(threads, sizeof *x->worker);
    x->sparse = (trl_sparse_task){x, x->d->n_sequences, l->n_weights, prepare, evaluate, NULL};
    trl_status st = x->worker ? trl_shared_new(x->d, &x->shared, err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_task_pairs(x->task, x->d, &x->pairs, &x->has_pairs, err);
    for (size_t k = 0; st == TRL_OK && k < threads; k++)
        st = trl_shared_new(x->d, &x->worker[k].shared, err);
    if (st != TRL_OK) {
        trl_table_examples_free(x);
        return st;
    }
    *out = x;
    return TRL_OK;
}

void trl_table_examples_free(trl_table_examples *x)
{
    for (size_t k = 0; x && x->worker && k < x->n_workers; k++) {
        trl_arena_fini(&x->worker[k].arena);
        trl_shared_free(&x->worker[k].shared);
    }
    if (x) {
        trl_free(x->worker);
        trl_shared_free(&x->shared);
        trl_pair_sets_fini(&x->pairs);
    }
    trl_free(x);
}

size_t trl_table_examples_wrong(const trl_table_examples *x, double *weight)
{
    *weight = x->largest;
    return x->wrong;
}

const trl_sparse_task *trl_table_examples_task(const trl_table_examples *x)
{
    return &x->sparse;
}
