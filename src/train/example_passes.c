/* example_passes.c -- drawing examples, pass after pass. */
/* SPDX-License-Identifier: MIT */
#include "train/example_passes.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/gradient.h"

/* ---- order ----------------------------------------------------------------------------------- */

static void shuffle(trl_passes *p)
{
    trl_rng rng = p->rng;
    for (size_t i = 0; i < p->n; i++) {
        const size_t j = trl_rng_below(&rng, i + 1);
        p->order[i] = p->order[j];
        p->order[j] = (uint32_t)i;
    }
    p->next = p->order[0];
}

trl_status trl_passes_init(trl_passes *p, uint64_t seed, trl_error *err)
{
    p->n = p->d->n_sequences;
    p->damp = 1.0;
    p->lowest = HUGE_VAL;
    p->rng = trl_rng_seed(seed);
    const bool good = trl_weighted_sampler_init(&p->weights, p->n);
    p->order = trl_alloc(p->n, sizeof *p->order);
    p->past = trl_zalloc(p->period + 1, sizeof *p->past);
    if (!good || !p->order || !p->past)
        return trl_fail_mem(err);
    shuffle(p);
    trl_status st = trl_shared_new(p->d, &p->scores, err);
    if (st == TRL_OK)
        st = trl_shared_new(p->d, &p->adjoint, err);
    if (st == TRL_OK && p->takes_pairs)
        st = trl_task_pairs(p->task, p->d, &p->pairs, &p->has_pairs, err);
    return st;
}

void trl_passes_fini(trl_passes *p)
{
    trl_weighted_sampler_fini(&p->weights);
    trl_free(p->order);
    trl_free(p->past);
    trl_shared_free(&p->scores);
    trl_shared_free(&p->adjoint);
    trl_pair_sets_fini(&p->pairs);
    trl_arena_fini(&p->arena);
}

size_t trl_passes_draw(trl_passes *p)
{
    const size_t now = (size_t)p->next;
    if (p->seen + 1 < p->n)
        p->next = p->order[p->seen + 1];
    else if (trl_rng_unit(&p->rng) < p->uniform || !(p->weights.sum > 0.0))
        p->next = trl_rng_below(&p->rng, p->n);
    else
        p->next = trl_weighted_sampler_find(&p->weights, trl_rng_unit(&p->rng));
    return now;
}

/* ---- tables ---------------------------------------------------------------------------------- */

trl_status trl_passes_tables(trl_passes *p, size_t from, size_t n, trl_tables *s, trl_tables *a,
                             trl_error *err)
{
    const trl_pair_sets *pairs = p->has_pairs ? &p->pairs : NULL;
    if (!trl_tables_get_view(p->d, pairs, from, n, &p->arena, s) ||
        !trl_tables_get_sets(p->d, pairs, from, n, &p->arena, a))
        return trl_fail_mem(err);
    a->chain = s->chain;
    for (size_t k = 0; k < p->d->n_families; k++) {
        s->shared[k] = p->scores.shared[k];
        a->shared[k] = p->adjoint.shared[k];
    }
    trl_shared_clear(p->d, a);
    return TRL_OK;
}

bool trl_passes_keep_shared(trl_passes *p, trl_tables *t)
{
    for (size_t k = 0; k < p->d->n_families; k++) {
        if (!t->shared[k])
            continue;
        double *copy = trl_arena_get(&p->arena, p->d->family[k].step, sizeof *copy);
        if (!copy)
            return false;
        memcpy(copy, t->shared[k], p->d->family[k].step * sizeof *copy);
        t->shared[k] = copy;
    }
    return true;
}

/* ---- passes ---------------------------------------------------------------------------------- */

trl_status trl_passes_run(trl_passes *p, const trl_passes_fns *f, void *self, trl_ending *ending,
                          trl_error *err)
{
    for (bool done = false, stop = false;;) {
        if (!done)
            *ending = stop ? TRL_END_STOPPED : TRL_END_MAX_ITER;
        if (done || stop || p->pass >= (p->max_iter ? p->max_iter : TRL_MOST_PASSES))
            return TRL_OK;
        trl_status st = TRL_OK;
        for (size_t k = 0; st == TRL_OK && k < (p->steps ? p->steps : p->n); k++) {
            st = trl_watcher_check(p->watcher, err);
            if (st == TRL_OK)
                st = f->step(self, err);
        }
        if (st == TRL_OK)
            st = f->end_pass(self, ending, &done, &stop, err);
        if (st != TRL_OK)
            return st;
    }
}

/* ---- state ----------------------------------------------------------------------------------- */

typedef struct saved_head {
    uint64_t n, n_weights, n_tokens, seen, pass, next;
} saved_head;

bool trl_passes_save(const trl_passes *p, const trl_passes_state *own, trl_buf *out)
{
    const saved_head h = {p->n, p->d->n_weights, p->d->n_tokens, p->seen, p->pass, p->next};
    return trl_buf_add(out, &h, sizeof h) &&
           trl_buf_add(out, own->number, own->n_numbers * sizeof *own->number) &&
           trl_buf_add(out, &p->damp, sizeof p->damp) &&
           trl_buf_add(out, &p->lowest, sizeof p->lowest) &&
           trl_buf_add(out, &p->rng, sizeof p->rng) &&
           trl_buf_add(out, own->example, p->n * own->example_size) &&
           trl_buf_add(out, p->past, (p->period + 1) * sizeof *p->past);
}

bool trl_passes_load(trl_passes *p, const trl_passes_state *own, const unsigned char **bytes,
                     size_t *n_bytes)
{
    saved_head h;
    if (!trl_take(bytes, n_bytes, &h, sizeof h) || h.n != p->n || h.n_weights != p->d->n_weights ||
        h.n_tokens != p->d->n_tokens || h.seen > p->n || h.next >= p->n)
        return false;
    p->seen = h.seen;
    p->pass = h.pass;
    p->next = h.next;
    return trl_take(bytes, n_bytes, own->number, own->n_numbers * sizeof *own->number) &&
           trl_take(bytes, n_bytes, &p->damp, sizeof p->damp) &&
           trl_take(bytes, n_bytes, &p->lowest, sizeof p->lowest) &&
           trl_take(bytes, n_bytes, &p->rng, sizeof p->rng) &&
           trl_take(bytes, n_bytes, own->example, p->n * own->example_size) &&
           trl_take(bytes, n_bytes, p->past, (p->period + 1) * sizeof *p->past);
}
