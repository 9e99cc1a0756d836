/* latent_posteriors.c -- the chart of the grammar with substates, over what pruning has left. */
/* SPDX-License-Identifier: MIT */
#include "parser/latent_posteriors.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

/* Coarse items of a cell, ascending: those that its fine items are projected to. */
static uint32_t project_cell(const trl_tree_model *m, const trl_skeleton *fine, size_t cell,
                             uint32_t *marks, uint32_t *item)
{
    uint32_t n = 0;
    for (uint32_t x = fine->first[cell]; x < fine->first[cell + 1]; x++) {
        const uint32_t s = m->coarse_of[fine->item[x] & TRL_STATE_MASK];
        uint32_t at = n;
        if (s == TRL_NO_ID)
            continue;
        if (!marks[s]) { /* insert */
            for (; at > 0 && item[at - 1] > s; at--)
                item[at] = item[at - 1];
            item[at] = s;
            n++;
        }
        marks[s] |= fine->item[x] & ~TRL_STATE_MASK;
    }
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t s = item[k];
        item[k] |= marks[s];
        marks[s] = 0;
    }
    return n;
}

static trl_status project(const trl_tree_model *m, const trl_skeleton *fine, trl_skeleton *out,
                          trl_arena *arena, trl_error *err)
{
    const size_t cells = trl_chart_cells(fine->n);
    uint32_t *marks = trl_arena_get(arena, m->coarse.n_states, sizeof *marks);
    uint32_t n = 0;
    *out = (trl_skeleton){.n = fine->n,
                          .first = trl_arena_get(arena, cells + 1, sizeof *out->first),
                          .item = trl_arena_get(arena, fine->first[cells] + 1, sizeof *out->item)};
    if (!marks || !out->first || !out->item)
        return trl_fail_mem(err);
    memset(marks, 0, m->coarse.n_states * sizeof *marks);
    for (size_t cell = 0; cell < cells; cell++) {
        out->first[cell] = n;
        n += project_cell(m, fine, cell, marks, out->item + n);
    }
    out->first[cells] = n;
    return TRL_OK;
}

#define STEPS 8.0 /* of a chart of numbers, in the time of one with vectors of substates */

/* Posteriors of a chart, by several grammars. */
typedef struct sums {
    double *after, *before, *unary;
    uint8_t *dead; /* [items]: the first of them has nearly no use for it */
    size_t n;      /* grammars */
} sums;

static bool sums_init(sums *s, const trl_chart *c, trl_arena *arena)
{
    s->after = trl_arena_get(arena, c->n_items, sizeof *s->after);
    s->before = trl_arena_get(arena, c->n_items, sizeof *s->before);
    s->unary = trl_arena_get(arena, c->n_unary, sizeof *s->unary);
    s->dead = trl_arena_get(arena, c->n_items, 1);
    if (!s->after || !s->before || !s->unary || !s->dead)
        return false;
    memset(s->after, 0, c->n_items * sizeof *s->after);
    memset(s->before, 0, c->n_items * sizeof *s->before);
    memset(s->unary, 0, c->n_unary * sizeof *s->unary);
    return true;
}

#define LITTLE 1e-3 /* posterior by the first grammar of what the others leave out */

static void add(sums *s, const trl_chart *c)
{
    for (size_t x = 0; x < c->n_items; x++) {
        if (s->n == 0)
            s->dead[x] = c->after[x] < LITTLE && c->out_before[x] < LITTLE;
        s->after[x] += c->after[x];
        s->before[x] += c->out_before[x];
    }
    for (size_t e = 0; e < c->n_unary; e++)
        s->unary[e] += c->unary_exp[e];
    s->n++;
}

static void divide(const sums *s, trl_chart *c)
{
    for (size_t x = 0; x < c->n_items; x++) {
        c->after[x] = s->after[x] / (double)s->n;
        c->out_before[x] = s->before[x] / (double)s->n;
        c->before[x] = c->out_after[x] = 1.0;
    }
    for (size_t e = 0; e < c->n_unary; e++)
        c->unary_exp[e] = s->unary[e] / (double)s->n;
}

/* The mean of what all grammars say of a chart, in its place; s->n is 0 where none has a tree. */
static trl_status ask_all(const trl_tree_model *m, const trl_latent_question *x, trl_chart *c,
                          sums *s, trl_arena *arena, trl_error *err)
{
    const trl_tag_scores *tags = x->tags && x->tags->n ? &x->tags->coarse : NULL;
    trl_status st = sums_init(s, c, arena) ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < m->n_latent; k++) {
        const trl_latent_sentence by = {x->words, tags, s->n ? s->dead : NULL};
        st = trl_latent_chart(&m->latent[k], &by, c, arena, err);
        if (st == TRL_OK && isfinite(c->log_z))
            add(s, c);
    }
    if (st == TRL_OK && s->n)
        divide(s, c);
    return st;
}

trl_status trl_latent_posteriors(const trl_tree_model *m, const trl_latent_question *x,
                                 trl_brackets *out, trl_arena *arena, trl_error *err)
{
    trl_skeleton s;
    trl_chart c;
    sums all = {0};
    *out = (trl_brackets){0};
    if (m->n_latent == 0)
        return TRL_OK;
    trl_status st = project(m, x->fine, &s, arena, err);
    if (st == TRL_OK)
        st = trl_chart_init(&c, &m->coarse, &s, arena, err);
    const double steps = STEPS * (double)m->n_latent;
    if (st == TRL_OK && x->max_work > 0.0 && steps * trl_chart_work(&c) > x->max_work)
        return TRL_OK;
    if (st == TRL_OK)
        st = ask_all(m, x, &c, &all, arena, err);
    if (st == TRL_OK && all.n)
        st = trl_chart_brackets(&c, out, arena, err);
    for (size_t k = 0; st == TRL_OK && out->n && k < out->first[trl_chart_cells(out->n)]; k++)
        out->bracket[k].label = m->latent_label[out->bracket[k].label];
    return st;
}
