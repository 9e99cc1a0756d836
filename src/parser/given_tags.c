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

/* No tags so far, for n words. */
static trl_status clear(trl_given_tags *t, const trl_given_grammars *g, size_t n, trl_error *err)
{
    const trl_grammar *fine = g->fine, *coarse = g->coarse;
    if (!room(t, n, fine->labels.n, coarse->n_states))
        return trl_fail_mem(err);
    t->n_labels = fine->labels.n;
    for (size_t k = 0; k < n * t->n_labels; k++)
        t->label[k] = -HUGE_VAL;
    for (size_t k = 0; k < n * coarse->n_states; k++)
        t->state[k] = -HUGE_VAL;
    memset(t->given, 0, n);
    t->coarse = (trl_tag_scores){t->given, t->state};
    return TRL_OK;
}

trl_status trl_given_tags_set(trl_given_tags *t, const trl_given_grammars *g, size_t n,
                              const trl_given_list *list, trl_error *err)
{
    t->n = 0;
    if (list->n == 0)
        return TRL_OK;
    trl_status st = clear(t, g, n, err);
    for (size_t k = 0; st == TRL_OK && k < list->n; k++)
        st = set_one(t, g->fine, g->coarse, &list->tag[k], err);
    t->n = st == TRL_OK ? n : 0;
    return st;
}

trl_status trl_given_tags_join(trl_given_tags *t, const trl_given_grammars *g,
                               const trl_given_tags *first, const trl_given_words *others,
                               trl_error *err)
{
    const size_t n = others->n, states = g->coarse->n_states;
    const bool some = first && first->n == n;
    t->n = 0;
    trl_status st = clear(t, g, n, err);
    for (size_t i = 0; st == TRL_OK && some && i < n; i++) {
        if (!first->given[i])
            continue;
        memcpy(t->label + i * t->n_labels, first->label + i * t->n_labels,
               t->n_labels * sizeof *t->label);
        memcpy(t->state + i * states, first->state + i * states, states * sizeof *t->state);
        t->given[i] = 1;
    }
    for (size_t k = 0; st == TRL_OK && k < others->list.n; k++) {
        const trl_given_tag *x = &others->list.tag[k];
        if (!some || !first->given[x->word])
            st = set_one(t, g->fine, g->coarse, x, err);
    }
    t->n = st == TRL_OK ? n : 0;
    return st;
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

/* The score of a label among the tags [from, to) of one word. */
static double listed(const trl_given_list *list, size_t from, size_t to, uint32_t label)
{
    for (size_t k = from; k < to; k++)
        if (list->tag[k].label == label)
            return list->tag[k].score;
    return -HUGE_VAL;
}

void trl_given_list_add(const trl_given_list *list, const trl_grammar *fine, const trl_skeleton *s,
                        double *item)
{
    for (size_t from = 0, to; from < list->n; from = to) {
        const size_t i = list->tag[from].word, cell = trl_cell(i, i + 1);
        for (to = from + 1; to < list->n && list->tag[to].word == i; to++)
            ;
        for (uint32_t x = s->first[cell]; x < s->first[cell + 1]; x++) {
            const trl_state *state = &fine->state[s->item[x] & TRL_STATE_MASK];
            if (state->type == TRL_STATE_TAG)
                item[x] += listed(list, from, to, state->base);
        }
    }
}

static void see_tag(trl_seen *seen, size_t i, uint32_t label)
{
    seen->at[TRL_SEEN_TAG * trl_seen_stride(seen->n) + TRL_SEEN_MARGIN + i] =
        label + TRL_SEEN_FIRST;
}

void trl_given_tags_observe(const trl_given_tags *t, trl_seen *seen)
{
    for (size_t i = 0; i < t->n; i++) {
        const double *score = t->label + i * t->n_labels;
        uint32_t best = 0;
        for (uint32_t l = 1; l < t->n_labels; l++)
            best = score[l] > score[best] ? l : best;
        if (t->given[i])
            see_tag(seen, i, best);
    }
}

void trl_given_list_observe(const trl_given_list *list, trl_seen *seen)
{
    for (size_t from = 0, to; from < list->n; from = to) {
        size_t best = from;
        for (to = from + 1; to < list->n && list->tag[to].word == list->tag[from].word; to++)
            best = list->tag[to].score > list->tag[best].score ? to : best;
        see_tag(seen, list->tag[from].word, list->tag[best].label);
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
