/* cut.c -- linear classifiers of words with the small weights set to 0. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_translate/train_translate.h"

static int by_weight(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Every tree but the intercept: a split, its weight, 0. */
static void drop_light(trl_boost_part *p, double limit)
{
    trl_boost_ensemble *e = &p->own;
    size_t trees = 1;
    for (size_t k = 1; k < e->n_trees; k++) {
        const trl_boost_node *from = e->node + e->tree_end[k - 1];
        if (fabs(from[1].value) < limit)
            continue;
        memmove(e->node + 1 + 3 * (trees - 1), from, 3 * sizeof *from);
        trees++;
    }
    for (size_t k = 0; k < trees; k++)
        e->tree_end[k] = 1 + 3 * k;
    e->n_trees = p->n_trees = p->own_point->trees = trees;
    e->n_nodes = 1 + 3 * (trees - 1);
    p->own_point->compound = p->own_point->atomic = trees - 1;
}

/* The weights of a classifier but the intercept, in w. */
static size_t weights_of(const trl_boost_part *p, double *w)
{
    const trl_boost_ensemble *e = &p->own;
    for (size_t q = 1; q < e->n_trees; q++)
        w[q - 1] = fabs(e->node[e->tree_end[q - 1] + 1].value);
    return e->n_trees - 1;
}

trl_status trl_keep_heaviest(trl_translate_model *m, size_t n_parts, size_t most, trl_error *err)
{
    size_t n = 0, at = 0;
    for (size_t k = 0; k < n_parts; k++)
        n += m->boost->part[k].own.n_trees - 1;
    if (n <= most)
        return TRL_OK;
    double *weight = trl_alloc(n, sizeof *weight);
    if (!weight)
        return trl_fail_mem(err);
    for (size_t k = 0; k < n_parts; k++)
        at += weights_of(&m->boost->part[k], weight + at);
    qsort(weight, n, sizeof *weight, by_weight);
    const double limit = weight[most - 1];
    trl_free(weight);
    for (size_t k = 0; k < n_parts; k++)
        drop_light(&m->boost->part[k], limit);
    return TRL_OK;
}

/* ---- as many as another model's classifiers -------------------------------------------------- */

/* Features by the names of classifiers: count[id]. */
static trl_status count_features(const trl_boost_model *like, trl_strtab *names, uint64_t **count,
                                 trl_error *err)
{
    *count = trl_zalloc(like->n + 1, sizeof **count);
    if (!*count)
        return trl_fail_mem(err);
    for (size_t k = 0; k < like->n; k++) {
        const trl_boost_part *p = &like->part[k];
        const uint32_t id = trl_strtab_add(names, p->name, strlen(p->name));
        if (id == TRL_NO_ID)
            return trl_fail_mem(err);
        (*count)[id] = p->n_points ? p->point[p->best].compound : 0;
    }
    return TRL_OK;
}

static trl_status keep_most(trl_boost_part *p, uint64_t most, trl_error *err)
{
    const size_t n = p->own.n_trees - 1;
    if (n <= most)
        return TRL_OK;
    double *weight = trl_alloc(n, sizeof *weight);
    if (!weight)
        return trl_fail_mem(err);
    (void)weights_of(p, weight);
    qsort(weight, n, sizeof *weight, by_weight);
    drop_light(p, most ? weight[most - 1] : HUGE_VAL);
    trl_free(weight);
    return TRL_OK;
}

trl_status trl_keep_as_many(trl_translate_model *m, size_t n_parts, const trl_boost_model *like,
                            trl_error *err)
{
    trl_strtab names = {0};
    uint64_t *count = NULL;
    trl_status st = count_features(like, &names, &count, err);
    for (size_t k = 0; st == TRL_OK && k < n_parts; k++) {
        trl_boost_part *p = &m->boost->part[k];
        const uint32_t id = trl_strtab_find(&names, p->name, strlen(p->name));
        st = keep_most(p, id == TRL_NO_ID ? 0 : count[id], err);
    }
    trl_free(count);
    trl_strtab_fini(&names);
    return st;
}
