/* given_tags.c -- tables of given tags. */
/* SPDX-License-Identifier: MIT */
#include "parser/given_tags.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

void trl_given_tags_fini(trl_given_tags *t)
{
    trl_free(t->label);
    trl_free(t->given);
    trl_free(t->state);
    *t = (trl_given_tags){0};
}

static bool room(trl_given_tags *t, size_t n, size_t n_labels, size_t n_states)
{
    double *label = trl_reserve(t->label, &t->cap_label, (uint64_t)n * n_labels, sizeof *label);
    t->label = label ? label : t->label;
    uint8_t *given = trl_reserve(t->given, &t->cap_given, n, 1);
    t->given = given ? given : t->given;
    double *state = trl_reserve(t->state, &t->cap_state, (uint64_t)n * n_states, sizeof *state);
    t->state = state ? state : t->state;
    return label && given && state;
}

bool trl_grammar_has_tag(const trl_grammar *g, uint32_t label)
{
    for (size_t s = 0; s < g->n_states; s++)
        if (g->state[s].type == TRL_STATE_TAG && g->state[s].base == label)
            return true;
    return false;
}

/* The coarse grammar numbers labels in its own order. */
static trl_status set_one(trl_given_tags *t, const trl_grammar *fine, const trl_grammar *coarse,
                          const trl_given_tag *x, trl_error *err)
{
    const trl_str name = trl_strtab_get(&fine->labels, x->label);
    const uint32_t up = trl_strtab_find(&coarse->labels, name.p, name.n);
    double *score = &t->label[x->word * t->n_labels + x->label];
    if (up == TRL_NO_ID || !trl_grammar_has_tag(fine, x->label) || !trl_grammar_has_tag(coarse, up))
        return trl_fail(err, TRL_EINVAL, "'%.*s' is not a tag of the model", (int)name.n, name.p);
    if (*score > -HUGE_VAL)
        return trl_fail(err, TRL_EINVAL, "word %zu is given the tag '%.*s' twice", x->word + 1,
                        (int)name.n, name.p);
    *score = x->score;
    t->given[x->word] = 1;
    for (size_t s = 0; s < coarse->n_states; s++)
        if (coarse->state[s].type == TRL_STATE_TAG && coarse->state[s].base == up)
            t->state[x->word * coarse->n_states + s] = x->score;
    return TRL_OK;
}

trl_status trl_given_tags_set(trl_given_tags *t, const trl_given_grammars *g, size_t n,
                              const trl_given_list *list, trl_error *err)
{
    const trl_grammar *fine = g->fine, *coarse = g->coarse;
    t->n = 0;
    if (list->n == 0)
        return TRL_OK;
    if (!room(t, n, fine->labels.n, coarse->n_states))
        return trl_fail_mem(err);
    t->n_labels = fine->labels.n;
    for (size_t k = 0; k < n * t->n_labels; k++)
        t->label[k] = -HUGE_VAL;
    for (size_t k = 0; k < n * coarse->n_states; k++)
        t->state[k] = -HUGE_VAL;
    memset(t->given, 0, n);
    for (size_t k = 0; k < list->n; k++) {
        const trl_status st = set_one(t, fine, coarse, &list->tag[k], err);
        if (st != TRL_OK)
            return st;
    }
    t->coarse = (trl_tag_scores){t->given, t->state};
    t->n = n;
    return TRL_OK;
}

void trl_given_tags_add(const trl_given_tags *t, const trl_grammar *fine, const trl_skeleton *s,
                        double *item)
{
    for (size_t i = 0; i < t->n; i++) {
        const size_t cell = trl_cell(i, i + 1);
        for (uint32_t x = s->first[cell]; t->given[i] && x < s->first[cell + 1]; x++) {
            const trl_state *state = &fine->state[s->item[x] & TRL_STATE_MASK];
            if (state->type == TRL_STATE_TAG)
                item[x] += t->label[i * t->n_labels + state->base];
        }
    }
}

void trl_given_tags_keep(const trl_given_tags *t, trl_node *node, size_t n_nodes)
{
    for (size_t v = 0; t->n && v < n_nodes; v++) {
        const double *score = t->label + (size_t)node[v].from * t->n_labels;
        if (node[v].child != TRL_NO_NODE || !t->given[node[v].from] ||
            score[node[v].label] > -HUGE_VAL)
            continue;
        for (uint32_t l = 0; l < t->n_labels; l++)
            if (score[l] > score[node[v].label])
                node[v].label = l;
    }
}
