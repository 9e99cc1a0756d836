/* tree_tables.c -- the score table of a local model, for decoding.
 *
 * The log sum is subtracted from every item's score and every unary edge's:
 *
 *     item[A] <- item[A] - log Z(A)        unary_at <- unary_at - log Z(A)       A -> B
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "parser/tree_choose.h"

/* log Z of the items of one cell; 0 for tags. */
static trl_status sum_cell(trl_chooser *c, size_t i, size_t j, double *log_z, trl_error *err)
{
    trl_tree_gather *ga = c->ga;
    const trl_skeleton *s = ga->c->s;
    const size_t cell = trl_cell(i, j);
    for (uint32_t k = s->first[cell]; k < s->first[cell + 1]; k++) {
        const uint32_t a = s->item[k] & TRL_STATE_MASK;
        log_z[k] = 0.0;
        if (ga->f->g->state[a].type == TRL_STATE_TAG)
            continue;
        const trl_status st = trl_chooser_sum(
            c, &(trl_choose_at){a, trl_tree_gather_item(ga, k, i, j), i, j}, &log_z[k], err);
        if (st != TRL_OK)
            return st;
        if (!isfinite(log_z[k]))
            return trl_fail(err, TRL_ENUMERIC, "the probability of a rule is not a number");
    }
    return TRL_OK;
}

static trl_status sum_cells(trl_chooser *c, double *log_z, trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t j = 1; st == TRL_OK && j <= c->ga->c->n; j++)
        for (size_t i = 0; st == TRL_OK && i < j; i++)
            st = sum_cell(c, i, j, log_z, err);
    return st == TRL_OK && c->ga->failed ? trl_fail_mem(err) : st;
}

trl_status trl_tree_local_tables(trl_tree_gather *ga, const trl_expansions *x,
                                 const trl_rule_index *lists, trl_arena *arena, trl_error *err)
{
    const trl_chart *c = ga->c;
    trl_chooser chooser = {0};
    trl_chooser_shared shared = {ga->f, x, lists,
                                 trl_arena_get(arena, c->g->n_states, sizeof *shared.state_sum)};
    double *log_z = trl_arena_get(arena, c->n_items, sizeof *log_z);
    if (!shared.state_sum || !log_z)
        return trl_fail_mem(err);
    trl_chooser_shared_prepare(&shared, ga->t.binary_exp);
    trl_status st = trl_chooser_begin(&chooser, &shared, ga, err);
    if (st == TRL_OK)
        st = sum_cells(&chooser, log_z, err);
    trl_chooser_fini(&chooser);
    if (st != TRL_OK)
        return st;
    for (size_t k = 0; k < c->n_items; k++) {
        const uint32_t a = c->s->item[k] & TRL_STATE_MASK;
        ga->t.item[k] = c->g->state[a].type == TRL_STATE_TAG ? 0.0 : ga->t.item[k] - log_z[k];
    }
    for (size_t e = 0; e < c->n_unary; e++)
        ga->t.unary_at[e] -= log_z[c->unary[e].parent];
    return TRL_OK;
}
