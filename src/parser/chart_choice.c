/* chart_choice.c -- the tree that a parser chooses from its chart; of several grammars the one with
 * the best mean of what they expect of constituents. */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "parser/chart_parsing.h"

/* Expected brackets are averaged where they choose the tree. */
static bool averages(const trl_parse_options *o)
{
    return o->decode == TRL_PARSE_BRACKETS && o->nbest <= 1 && !o->first_stage;
}

/* A parser for every other grammar; they share the memory that is allowed. */
trl_status trl_chart_add_grammars(trl_chart_parser *p, trl_error *err)
{
    const trl_chart_model *m = p->model;
    trl_status st = TRL_OK;
    if (m->n_more == 0 || !averages(&p->o))
        return TRL_OK;
    p->o.max_bytes /= 1 + m->n_more;
    trl_parse_options o = p->o;
    o.probability = o.spans = false;
    while (st == TRL_OK && p->n_more < m->n_more) {
        st = trl_chart_parser_new(m->more[p->n_more], &o, &p->more[p->n_more], err);
        p->n_more += st == TRL_OK;
    }
    return st;
}

/* What another grammar expects of the sentence, in its decoder's arena.  *has: it has an opinion,
 * as it has a chart within the limits. */
static trl_status opinion(trl_chart_parser *p, const trl_chart_parser *first, trl_brackets *b,
                          bool *has, trl_error *err)
{
    trl_decode_options o;
    bool given = false;
    p->deadline = first->deadline;
    *has = false;
    trl_status st = trl_chart_set_up(p, first->in, &o, &given, err);
    if (st == TRL_EINVAL) /* it does not have a label that is known of the sentence */
        return TRL_OK;
    if (st == TRL_OK)
        st = trl_decode_prepare(&p->d, &p->model->m, first->in->word, first->in->n, &o, err);
    if (st == TRL_OK && !p->d.failure)
        st = trl_decode_brackets(&p->d, b, err);
    *has = st == TRL_OK && !p->d.failure;
    p->tags.n = given ? 0 : p->tags.n;
    return trl_decode_settle(&p->d, st);
}

trl_status trl_chart_average(trl_chart_parser *p, trl_brackets *own, trl_error *err)
{
    trl_brackets b[TRL_MORE_GRAMMARS], mean;
    const trl_brackets *from[1 + TRL_MORE_GRAMMARS] = {own};
    const uint32_t *label[1 + TRL_MORE_GRAMMARS] = {NULL};
    size_t n = 1;
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < p->n_more; k++) {
        bool has;
        st = opinion(p->more[k], p, &b[n - 1], &has, err);
        if (st != TRL_OK || !has)
            continue;
        label[n] = p->model->label_of[k];
        from[n] = &b[n - 1];
        n++;
    }
    if (st != TRL_OK || n == 1)
        return st;
    st = trl_brackets_average(from, label, n, &mean, &p->d.arena, err);
    if (st == TRL_OK)
        *own = mean;
    return st;
}

/* The tree with the best mean of the expected brackets of all grammars. */
static trl_status averaged(trl_chart_parser *p, trl_error *err)
{
    const trl_tree_model *m = &p->model->m;
    trl_brackets b;
    trl_status st = trl_decode_brackets(&p->d, &b, err);
    if (st != TRL_OK || p->d.failure)
        return st;
    st = trl_chart_average(p, &b, err);
    if (st != TRL_OK)
        return st;
    trl_decode_mix_latent(&p->d, &b);
    return trl_mbr_tree(&b, m->fine.state[m->fine.root].base, p->o.lambda, &p->d.result,
                        &p->d.arena, err);
}

trl_status trl_chart_choose(trl_chart_parser *p, trl_error *err)
{
    if (p->o.decode == TRL_PARSE_VITERBI)
        return trl_decode_best(&p->d, &p->model->m, err);
    return p->n_more ? averaged(p, err) : trl_decode_mbr(&p->d, &p->model->m, p->o.lambda, err);
}
