/* checkpoint.c -- the state of a classifier in training, from which it continues with the same
 * bits.
 *
 * In a checkpoint (train/checkpoint.c) the learner's state is a trl_boost_state and these arrays:
 *
 *     odds         f64[n]              held_h       f64[held-out examples]
 *     nodes        the ensemble        tree ends    u64[n_trees]
 *     points       the path so far
 *     terms        compound features   literals     u32[n_literals]
 *
 * Weights and sums are recomputed from the odds.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_boost/path.h"

typedef struct state {
    double lambda, first_lambda, seconds;
    uint64_t steps, n_grown, applied, best;
    uint64_t n_nodes, n_trees, n_points, n_terms, n_literals;
} state;

uint64_t trl_boost_fingerprint(const trl_boost_path *p)
{
    const trl_trainer *t = &p->t;
    const trl_boost_options *o = t->o;
    const uint64_t number[] = {
        t->n,      t->d->n_features, o->trees,  o->depth,        o->patience,
        o->sample, o->seed,          t->column, o->no_intercept, p->held_out ? p->held_out->n : 0};
    const double real[] = {o->decay, o->lambda_end,   o->min_gain,
                           o->rate,  o->lambda_least, p->held_value};
    uint64_t h = trl_str_hash((const char *)t->v, t->n * sizeof *t->v);
    h = h * 31 + trl_str_hash((const char *)t->d->id, trl_boost_active(t->d) * sizeof *t->d->id);
    h = h * 31 + trl_str_hash((const char *)number, sizeof number);
    return h * 31 + trl_str_hash((const char *)real, sizeof real);
}

bool trl_boost_state_save(const void *path, trl_buf *out)
{
    const trl_boost_path *p = path;
    const trl_trainer *t = &p->t;
    const state s = {.lambda = t->lambda,
                     .first_lambda = p->first_lambda,
                     .seconds = trl_boost_path_seconds(p),
                     .steps = p->steps,
                     .n_grown = p->n_grown,
                     .applied = p->applied,
                     .best = p->best,
                     .n_nodes = t->trees.n_nodes,
                     .n_trees = t->trees.n_trees,
                     .n_points = p->n_points,
                     .n_terms = t->terms.n,
                     .n_literals = t->terms.n_literals};
    trl_buf_add(out, &s, sizeof s);
    trl_buf_add(out, t->odds, t->n * sizeof *t->odds);
    trl_buf_add(out, p->held_h, p->held_out ? p->held_out->n * sizeof *p->held_h : 0);
    trl_buf_add(out, t->trees.node, t->trees.n_nodes * sizeof *t->trees.node);
    trl_buf_add(out, t->trees.tree_end, t->trees.n_trees * sizeof *t->trees.tree_end);
    trl_buf_add(out, p->point, p->n_points * sizeof *p->point);
    trl_buf_add(out, t->terms.term, t->terms.n * sizeof *t->terms.term);
    trl_buf_add(out, t->terms.literal, t->terms.n_literals * sizeof *t->terms.literal);
    return !out->failed;
}

/* ---- back ------------------------------------------------------------------------------------ */

typedef struct bytes {
    const unsigned char *at;
    size_t left;
} bytes;

/* A copy of the next n items of `width` bytes into *out, whose capacity becomes n.  TRL_EMODEL when
 * fewer are left. */
static trl_status take(bytes *b, uint64_t n, size_t width, void **out, size_t *cap, trl_error *err)
{
    if (n > b->left / width)
        return trl_fail(err, TRL_EMODEL, "the checkpoint is damaged");
    void *copy = trl_alloc((size_t)n + 1, width);
    if (!copy)
        return trl_fail_mem(err);
    (void)trl_take(&b->at, &b->left, copy, (size_t)n * width);
    trl_free(*out);
    *out = copy;
    *cap = (size_t)n;
    return TRL_OK;
}

/* Nothing that is used later is trusted: a file can be damaged in a way that no checksum shows. */
static bool sound_numbers(const trl_boost_path *p, const state *s)
{
    const trl_trainer *t = &p->t;
    for (size_t i = 0; i < t->n; i++)
        if (!(t->odds[i] >= 0.0 && isfinite(t->odds[i])))
            return false;
    for (size_t k = 0; k < s->n_points; k++)
        if (p->point[k].trees > s->n_trees)
            return false;
    return s->lambda >= 0.0 && isfinite(s->lambda) && s->first_lambda >= 0.0 &&
           isfinite(s->first_lambda) && s->best < (s->n_points ? s->n_points : 1) &&
           (s->n_points || !s->steps) && s->applied <= s->n_trees;
}

static bool sound_terms(const trl_boost_path *p, const state *s)
{
    const trl_boost_terms *t = &p->t.terms;
    for (size_t k = 0; k < s->n_terms; k++)
        if (t->term[k].begin > s->n_literals || t->term[k].n > s->n_literals - t->term[k].begin)
            return false;
    for (size_t k = 0; k < s->n_literals; k++)
        if (t->literal[k] / 2 >= p->t.d->n_features)
            return false;
    return s->n_terms < UINT32_MAX;
}

static trl_status check(const trl_boost_path *p, const state *s, trl_error *err)
{
    const trl_boost_ensemble *e = &p->t.trees;
    const trl_boost_run run = {e->node, (size_t)s->n_nodes, e->tree_end, (size_t)s->n_trees};
    bool sound;
    const trl_status st = trl_boost_check_trees(&run, p->t.d->n_features, &sound, err);
    if (st != TRL_OK)
        return st;
    sound = sound && (s->n_trees ? e->tree_end[s->n_trees - 1] : 0) == s->n_nodes &&
            sound_numbers(p, s) && sound_terms(p, s);
    return sound ? TRL_OK : trl_fail(err, TRL_EMODEL, "the checkpoint is damaged");
}

static trl_status load_arrays(trl_boost_path *p, const state *s, bytes *b, trl_error *err)
{
    trl_trainer *t = &p->t;
    const size_t held = p->held_out ? p->held_out->n : 0;
    void *node = NULL, *end = NULL, *point = NULL, *term = NULL, *literal = NULL;
    trl_status st = TRL_OK;
    if (!trl_take(&b->at, &b->left, t->odds, t->n * sizeof *t->odds) ||
        !trl_take(&b->at, &b->left, p->held_h, held * sizeof *p->held_h))
        st = trl_fail(err, TRL_EMODEL, "the checkpoint belongs to another run");
    if (st == TRL_OK)
        st = take(b, s->n_nodes, sizeof *t->trees.node, &node, &t->trees.node_cap, err);
    if (st == TRL_OK)
        st = take(b, s->n_trees, sizeof *t->trees.tree_end, &end, &t->trees.tree_cap, err);
    if (st == TRL_OK)
        st = take(b, s->n_points, sizeof *p->point, &point, &p->point_cap, err);
    if (st == TRL_OK)
        st = take(b, s->n_terms, sizeof *t->terms.term, &term, &t->terms.cap, err);
    if (st == TRL_OK)
        st = take(b, s->n_literals, sizeof *t->terms.literal, &literal, &t->terms.literal_cap, err);
    t->trees.node = node;
    t->trees.tree_end = end;
    p->point = point;
    t->terms.term = term;
    t->terms.literal = literal;
    if (st == TRL_OK && b->left)
        st = trl_fail(err, TRL_EMODEL, "the checkpoint is damaged");
    return st == TRL_OK ? check(p, s, err) : st;
}

trl_status trl_boost_state_load(void *path, const void *bytes_, size_t size, trl_error *err)
{
    trl_boost_path *p = path;
    trl_trainer *t = &p->t;
    bytes b = {bytes_, size};
    state s;
    if (!trl_take(&b.at, &b.left, &s, sizeof s))
        return trl_fail(err, TRL_EMODEL, "the checkpoint belongs to another run");
    const trl_status st = load_arrays(p, &s, &b, err);
    if (st != TRL_OK)
        return st;
    t->trees.n_nodes = (size_t)s.n_nodes;
    t->trees.n_trees = (size_t)s.n_trees;
    t->terms.n = (size_t)s.n_terms;
    t->terms.n_literals = (size_t)s.n_literals;
    p->n_points = p->scored = p->told = (size_t)s.n_points;
    if (!trl_boost_terms_index(&t->terms))
        return trl_fail_mem(err);
    p->first_lambda = s.first_lambda;
    p->seconds_before = s.seconds;
    p->steps = s.steps;
    p->n_grown = s.n_grown;
    p->applied = s.applied;
    p->best = (size_t)s.best;
    trl_trainer_weigh(t);
    trl_trainer_set_lambda(t, s.lambda);
    return TRL_OK;
}
