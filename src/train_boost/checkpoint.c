/* checkpoint.c -- the state of a classifier in training, from which it continues with the same
 * bits.
 *
 * A container of kind "boostchk":
 *
 *     print   u64 fingerprint of data and options     state   the numbers below
 *     odds    f64[n]                                  heldh   f64[held-out examples]
 *     nodes, treeend   the ensemble                   points  the path so far
 *     terms, literals  compound features
 *
 * Weights and sums are recomputed from the odds.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_boost/path.h"

#define KIND "boostchk"

typedef struct state {
    double lambda, first_lambda, seconds;
    uint64_t n_grown, applied, best, done;
} state;

uint64_t trl_boost_fingerprint(const trl_boost_path *p)
{
    const trl_trainer *t = &p->t;
    const trl_boost_options *o = t->o;
    const uint64_t number[] = {
        t->n,      t->d->n_features, o->trees,  o->depth,        o->patience,
        o->sample, o->seed,          t->column, o->no_intercept, p->held_out ? p->held_out->n : 0};
    const double real[] = {o->decay, o->lambda_end, o->min_gain, p->held_value};
    uint64_t h = trl_str_hash((const char *)t->v, t->n * sizeof *t->v);
    h = h * 31 + trl_str_hash((const char *)t->d->id, trl_boost_active(t->d) * sizeof *t->d->id);
    h = h * 31 + trl_str_hash((const char *)number, sizeof number);
    return h * 31 + trl_str_hash((const char *)real, sizeof real);
}

trl_status trl_boost_checkpoint_write(const trl_boost_path *p, trl_error *err)
{
    const trl_trainer *t = &p->t;
    const state s = {.lambda = t->lambda,
                     .first_lambda = p->first_lambda,
                     .seconds = p->seconds_before + trl_boost_clock() - p->started,
                     .n_grown = p->n_grown,
                     .applied = p->applied,
                     .best = p->best,
                     .done = p->done};
    trl_container_builder b = {0};
    trl_container_builder_add(&b, "print", &p->fingerprint, sizeof p->fingerprint);
    trl_container_builder_add(&b, "state", &s, sizeof s);
    trl_container_builder_add(&b, "odds", t->odds, t->n * sizeof *t->odds);
    trl_container_builder_add(&b, "heldh", p->held_h,
                              p->held_out ? p->held_out->n * sizeof *p->held_h : 0);
    trl_container_builder_add(&b, "nodes", t->trees.node, t->trees.n_nodes * sizeof *t->trees.node);
    trl_container_builder_add(&b, "treeend", t->trees.tree_end,
                              t->trees.n_trees * sizeof *t->trees.tree_end);
    trl_container_builder_add(&b, "points", p->point, p->n_points * sizeof *p->point);
    trl_container_builder_add(&b, "terms", t->terms.term, t->terms.n * sizeof *t->terms.term);
    trl_container_builder_add(&b, "literals", t->terms.literal,
                              t->terms.n_literals * sizeof *t->terms.literal);
    const trl_status st = trl_container_write(&b, KIND, p->checkpoint, err);
    trl_container_builder_fini(&b);
    return st;
}

/* A copy of a section of items of `width` bytes.  A matching fingerprint means that the rest is
 * ours. */
static trl_status copy(const trl_container *c, const char *tag, size_t width, void **out, size_t *n,
                       trl_error *err)
{
    const void *items;
    trl_status st = trl_container_array(c, tag, width, &items, n, err);
    if (st != TRL_OK)
        return st;
    void *p = trl_alloc(*n + 1, width);
    if (!p)
        return trl_fail_mem(err);
    if (*n)
        memcpy(p, items, *n * width);
    trl_free(*out);
    *out = p;
    return TRL_OK;
}

static trl_status read_arrays(trl_boost_path *p, const trl_container *c, trl_error *err)
{
    trl_trainer *t = &p->t;
    size_t n_odds = 0, n_held = 0;
    void *odds = NULL, *held = NULL, *node = NULL, *end = NULL, *point = NULL, *term = NULL,
         *literal = NULL;
    trl_status st = copy(c, "odds", sizeof *t->odds, &odds, &n_odds, err);
    if (st == TRL_OK)
        st = copy(c, "heldh", sizeof *p->held_h, &held, &n_held, err);
    if (st == TRL_OK && (n_odds != t->n || n_held != (p->held_out ? p->held_out->n : 0)))
        st = trl_container_damaged(c, err, "it is of other examples");
    if (st == TRL_OK)
        st = copy(c, "nodes", sizeof *t->trees.node, &node, &t->trees.n_nodes, err);
    if (st == TRL_OK)
        st = copy(c, "treeend", 8, &end, &t->trees.n_trees, err);
    if (st == TRL_OK)
        st = copy(c, "points", sizeof *p->point, &point, &p->n_points, err);
    if (st == TRL_OK)
        st = copy(c, "terms", sizeof *t->terms.term, &term, &t->terms.n, err);
    if (st == TRL_OK)
        st = copy(c, "literals", 4, &literal, &t->terms.n_literals, err);
    if (st == TRL_OK) {
        memcpy(t->odds, odds, t->n * sizeof *t->odds);
        if (n_held)
            memcpy(p->held_h, held, n_held * sizeof *p->held_h);
        t->trees.node = node, t->trees.node_cap = t->trees.n_nodes;
        t->trees.tree_end = end, t->trees.tree_cap = t->trees.n_trees;
        p->point = point, p->point_cap = p->n_points;
        t->terms.term = term, t->terms.cap = t->terms.n;
        t->terms.literal = literal, t->terms.literal_cap = t->terms.n_literals;
        node = end = point = term = literal = NULL;
    } else {
        t->trees.n_nodes = t->trees.n_trees = p->n_points = t->terms.n = t->terms.n_literals = 0;
    }
    void *left[] = {odds, held, node, end, point, term, literal};
    for (size_t k = 0; k < sizeof left / sizeof *left; k++)
        trl_free(left[k]);
    return st;
}

static trl_status read_state(trl_boost_path *p, const trl_container *c, trl_error *err)
{
    const void *print, *bytes;
    size_t n_print, n;
    if (!trl_container_find(c, "print", &print, &n_print) || n_print != sizeof p->fingerprint ||
        memcmp(print, &p->fingerprint, n_print) != 0) {
        trl_status st =
            trl_fail(err, TRL_EMODEL, "this checkpoint is of a run with other data or options");
        trl_fail_where(err, st, trl_container_path(c), 0, 0);
        return trl_fail_hint(err, st, "without --resume training starts anew");
    }
    state s;
    if (!trl_container_find(c, "state", &bytes, &n) || n != sizeof s)
        return trl_container_damaged(c, err, "it has no state");
    memcpy(&s, bytes, n);
    const trl_status st = read_arrays(p, c, err);
    if (st != TRL_OK)
        return st;
    if (!trl_boost_terms_index(&p->t.terms))
        return trl_fail_mem(err);
    p->first_lambda = s.first_lambda;
    p->seconds_before = s.seconds;
    p->n_grown = s.n_grown;
    p->applied = s.applied;
    p->best = s.best;
    p->done = s.done;
    trl_trainer_weigh(&p->t);
    trl_trainer_set_lambda(&p->t, s.lambda);
    return TRL_OK;
}

trl_status trl_boost_checkpoint_read(trl_boost_path *p, bool *found, trl_error *err)
{
    trl_container *c = NULL;
    *found = false;
    if (access(p->checkpoint, F_OK) != 0)
        return TRL_OK;
    trl_status st = trl_container_open(p->checkpoint, KIND, &c, err);
    if (st == TRL_OK)
        st = read_state(p, c, err);
    trl_container_free(c);
    *found = st == TRL_OK;
    return st;
}
