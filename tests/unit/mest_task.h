/* mest_task.h -- a small M-estimation task, its objective by definition, its optimum by L-BFGS. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_MEST_TASK_H
#define TRL_TEST_MEST_TASK_H

#include "chain/chain.h"
#include "mest/obj_mest.h"
#include "tiny_q0.h"
#include "train/gradient.h"
#include "train/lbfgs.h"

#define FEATURES "u\nb\n*w0=%x[0,0]\nuw-1=%x[-1,0]\nut=%x[0,1] %x[1,1]\n"
#define SECOND "u\nb\nt\n*w0=%x[0,0]\ntt=%x[0,1]\nut=%x[-1,1] %x[0,1]\n"

typedef struct task {
    tiny t;
    trl_hmm h;
    size_t n; /* weights */
    double *E, *w, *g;
    trl_pool *pool;
    trl_mest *m;
} task;

static inline void make(task *k, trl_rng *rng, int order, bool all_pairs, size_t sequences)
{
    trl_error err;
    char *text = tiny_text(rng, sequences, 6, 3);
    *k = (task){0};
    tiny_cells(text, &k->t.columns);
    free(text);
    const trl_design_options o = {
        .order = order, .all_pairs = all_pairs, .all_transitions = all_pairs};
    tiny_compile(&k->t, order == 2 ? SECOND : FEATURES, &o);
    k->n = (size_t)k->t.design.n_weights;
    const size_t room = trl_design_alloc(&k->t.design);
    k->E = calloc(room, sizeof(double));
    k->w = calloc(room, sizeof(double));
    k->g = calloc(room, sizeof(double));
    k->pool = trl_pool_new(1);
    assert_true(k->E && k->w && k->g && k->pool);
    assert_ok(trl_q0_train(&k->h, TRL_Q0_HMM, order,
                           &(trl_q0_data){&k->t.columns, k->t.corpus.label, 3}, &err));
    const trl_expect_data x = tiny_data(&k->t);
    const trl_sample_options sample = trl_sample_options_default();
    assert_ok(trl_q0_expect(&(trl_q0_model){TRL_Q0_HMM, &k->h}, &x, &sample, k->E, NULL, &err));
    assert_ok(trl_mest_new(&k->t.design, &k->t.corpus, k->E, k->pool, &k->m, &err));
}

static inline void drop(task *k)
{
    trl_mest_free(k->m);
    trl_pool_free(k->pool);
    trl_hmm_fini(&k->h);
    tiny_fini(&k->t);
    free(k->E);
    free(k->w);
    free(k->g);
}

/* w . f of a labelling, by score tables. */
static inline double score(const task *k, const double *w, size_t seq, const uint32_t *y)
{
    trl_error err;
    const trl_design *d = &k->t.design;
    const size_t from = (size_t)d->first[seq], n = (size_t)d->first[seq + 1] - from;
    trl_arena arena = {0};
    trl_chain chain;
    trl_tables s, shared;
    assert_ok(trl_chain_init(&chain, d->L, d->order, &err));
    assert_ok(trl_shared_new(d, &shared, &err));
    assert_true(trl_tables_get(d, n, &arena, &s));
    trl_gather_shared(d, w, shared.shared);
    trl_gather(d, w, from, &s);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        s.shared[f] = shared.shared[f];
    assert_ok(trl_chain_prepare(&chain, &s, &err));
    const double x = trl_chain_score(&chain, &s, y);
    trl_shared_free(&shared);
    trl_chain_fini(&chain);
    trl_arena_fini(&arena);
    return x;
}

/* The objective by its definition. */
static inline double objective(const task *k, const double *w, double c2)
{
    const trl_corpus *c = &k->t.corpus;
    double sum = 0.0, total = 0.0, rest = 0.0;
    for (size_t s = 0; s < c->n_sequences; s++) {
        total += c->weight[s];
        sum += c->weight[s] * exp(-score(k, w, s, c->label + c->first[s]));
    }
    for (size_t i = 0; i < k->n; i++)
        rest += w[i] * k->E[i] + c2 * w[i] * w[i];
    return sum / total + rest;
}

/* Random weights on features, 0 elsewhere. */
static inline void random_weights(const task *k, trl_rng *rng, double size, double *w)
{
    for (size_t i = 0; i < k->n; i++)
        w[i] = size * (trl_rng_unit(rng) - 0.5);
    trl_clear_dead(&k->t.design, w);
    for (size_t f = 0; f <= (size_t)k->t.design.order; f++) { /* pads of hot rows */
        const trl_family *fam = &k->t.design.family[f];
        for (size_t a = 0; a < fam->n_hot; a++)
            for (size_t c = fam->width; c < fam->step; c++)
                w[trl_dense_at(fam, a) + c] = 0.0;
    }
}

static inline double norm(size_t n, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* The objective with a fixed c2, as L-BFGS takes it. */
typedef struct penalised {
    trl_mest *m;
    double c2;
} penalised;

static inline trl_status eval_penalised(void *self, const double *x, double *g, double *F,
                                        trl_error *err)
{
    const penalised *p = self;
    return trl_mest_eval(p->m, x, p->c2, g, F, err);
}

static inline void minimise(task *k, double c2)
{
    trl_error err;
    penalised p = {k->m, c2};
    const trl_function f = {.self = &p, .n = k->n, .eval = eval_penalised};
    const trl_lbfgs_options o = {.memory = 8, .max_iter = 3000, .epsilon = 1e-9};
    trl_ending ending;
    memset(k->w, 0, k->n * sizeof *k->w);
    assert_ok(
        trl_lbfgs(&f, &o, &(trl_descent){.pool = k->pool, .x = k->w, .ending = &ending}, &err));
    assert_true(ending == TRL_END_CONVERGED || ending == TRL_END_NO_STEP);
}

#endif
