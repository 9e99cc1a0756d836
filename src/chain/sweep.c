/* sweep.c -- one inference pass over a corpus. */
/* SPDX-License-Identifier: MIT */
#include "chain/sweep.h"

#include "base/fail.h"
#include "base/mem.h"
#include "train/gradient.h"

typedef struct sweep {
    const trl_design *d;
    const double *w;
    trl_sweep_fn visit;
    void *ctx;
    trl_chain chain;
    trl_tables shared;
    trl_arena *arenas; /* [threads] */
    const trl_pool *pool;
} sweep;

static trl_status run_lane(void *ctx, size_t job, size_t worker, trl_error *err)
{
    sweep *s = ctx;
    const trl_design *d = s->d;
    const size_t N = d->n_sequences;
    const size_t end =
        N / TRL_SWEEP_LANES * (job + 1) + N % TRL_SWEEP_LANES * (job + 1) / TRL_SWEEP_LANES;
    size_t seq = N / TRL_SWEEP_LANES * job + N % TRL_SWEEP_LANES * job / TRL_SWEEP_LANES;
    for (trl_arena *arena = &s->arenas[worker]; seq < end; seq++) {
        const size_t from = (size_t)d->first[seq];
        trl_tables scores;
        trl_arena_reset(arena);
        if (!trl_tables_get(d, (size_t)d->first[seq + 1] - from, arena, &scores))
            return trl_fail_mem(err);
        for (size_t f = 0; f < TRL_FAMILIES; f++)
            scores.shared[f] = s->shared.shared[f];
        trl_gather(d, s->w, from, &scores);
        trl_status st = trl_pool_check(s->pool, err);
        if (st == TRL_OK)
            st = s->visit(s->ctx, &(trl_sweep_visit){job, seq, from, &s->chain, &scores, arena},
                          err);
        if (st != TRL_OK)
            return st;
    }
    return TRL_OK;
}

/* Shared scores and the chain that holds them. */
static trl_status prepare(sweep *s, trl_error *err)
{
    static double has_rows; /* any address */
    trl_status st = trl_shared_new(s->d, &s->shared, err);
    if (st == TRL_OK)
        st = trl_chain_init(&s->chain, s->d->L, s->d->order, err);
    if (st != TRL_OK)
        return st;
    trl_gather_shared(s->d, s->w, s->shared.shared);
    trl_tables shape = s->shared;
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        shape.row[f] = s->d->family[f].has_rows ? &has_rows : NULL;
    return trl_chain_prepare(&s->chain, &shape, err);
}

trl_status trl_chain_sweep(const trl_design *d, const double *w, trl_pool *pool, trl_sweep_fn visit,
                           void *ctx, trl_error *err)
{
    sweep s = {.d = d, .w = w, .visit = visit, .ctx = ctx, .pool = pool};
    const size_t threads = trl_pool_threads(pool);
    s.arenas = trl_zalloc(threads, sizeof *s.arenas);
    trl_status st = s.arenas ? prepare(&s, err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_pool_run(pool, TRL_SWEEP_LANES, run_lane, &s, err);
    for (size_t k = 0; s.arenas && k < threads; k++)
        trl_arena_fini(&s.arenas[k]);
    trl_free(s.arenas);
    trl_shared_free(&s.shared);
    trl_chain_fini(&s.chain);
    return st;
}
