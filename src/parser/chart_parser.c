/* chart_parser.c -- parsing by charts. */
/* SPDX-License-Identifier: MIT */
#include "trellis/parser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "parser/chart_parsing.h"
#include "treebank/transform.h"

/* ---- parsers --------------------------------------------------------------------------------- */

trl_status trl_chart_parser_new(const trl_chart_model *m, const trl_parse_options *o,
                                trl_chart_parser **out, trl_error *err)
{
    if (!m->is_probability && (o->probability || o->spans))
        return trl_fail(err, TRL_EINVAL,
                        "the scores of a perceptron are not probabilities: it has none to give");
    trl_chart_parser *p = trl_zalloc(1, sizeof *p);
    if (p) {
        p->model = m;
        p->o = *o;
        p->parsed = trl_zalloc(o->nbest > 1 ? o->nbest : 1, sizeof *p->parsed);
    }
    trl_status st = p && p->parsed ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_chart_add_grammars(p, err);
    if (st == TRL_OK)
        *out = p;
    else
        trl_chart_parser_free(p);
    return st;
}

void trl_chart_parser_free(trl_chart_parser *p)
{
    if (!p)
        return;
    for (size_t k = 0; k < p->n_more; k++)
        trl_chart_parser_free(p->more[k]);
    trl_decoder_fini(&p->d);
    trl_nbest_fini(&p->best);
    trl_tree_sum_fini(&p->sum);
    trl_candidates_fini(&p->candidates);
    trl_rerank_scratch_fini(&p->rerank);
    trl_free(p->parsed);
    trl_free(p->spans.span);
    trl_free(p->known);
    trl_parts_fini(&p->parts);
    trl_function_chooser_fini(&p->functions);
    trl_given_tags_fini(&p->tags);
    trl_free(p);
}

/* ---- one sentence ---------------------------------------------------------------------------- */

/* A tree of the sentence. */
typedef struct found_tree {
    trl_node *node;
    size_t n_nodes;
    double log_probability;
} found_tree;

/* Labels become those with function tags. */
static trl_status add_functions(trl_chart_parser *p, const found_tree *found, const trl_str *word,
                                size_t n, trl_error *err)
{
    const trl_tree_model *m = &p->model->m;
    const trl_tree tree = {.n_nodes = found->n_nodes,
                           .n_words = n,
                           .node = found->node,
                           .word = word,
                           .labels = &m->fine.labels};
    const trl_status st = trl_function_choose(&m->functions, &tree, &p->functions, err);
    for (size_t v = 0; st == TRL_OK && v < found->n_nodes; v++) {
        const size_t row = found->node[v].label * m->functions.class.n;
        found->node[v].label = p->model->with_function[row + p->functions.class[v]];
    }
    return st;
}

static trl_status keep_tree(trl_chart_parser *p, size_t at, const found_tree *found,
                            const trl_str *word, size_t n, trl_error *err)
{
    trl_node *node = found->node;
    if (p->model->with_function && !p->o.no_functions) {
        const trl_status st = add_functions(p, found, word, n, err);
        if (st != TRL_OK)
            return st;
    }
    size_t n_nodes = found->n_nodes;
    double log_probability = found->log_probability;
    if (p->model->m.root.bare)
        trl_drop_root(&node, &n_nodes);
    p->parsed[at] = (trl_parsed){.tree = {.n_nodes = n_nodes,
                                          .n_words = n,
                                          .node = node,
                                          .word = word,
                                          .labels = &p->model->labels},
                                 .log_probability = log_probability};
    return TRL_OK;
}

/* What is told of a constituent over n words; the root is certain. */
static double told(const trl_chart_parser *p, const trl_bracket *b, size_t n)
{
    const trl_tree_model *m = &p->model->m;
    const bool root = n == p->d.chart.n && b->label == m->fine.state[m->fine.root].base;
    return root ? b->any : trl_span_calibrated(&m->spans, b->any);
}

/* Where grammars with substates were asked, constituents have the mean that chooses the tree. */
static trl_status keep_spans(trl_chart_parser *p, trl_error *err)
{
    trl_brackets b;
    trl_chart *c = &p->d.chart;
    trl_chart_outside(c, &p->d.tables, NULL);
    if (c->late)
        return TRL_OK;
    const trl_status st = trl_chart_brackets(c, &b, &p->d.arena, err);
    if (st == TRL_OK)
        trl_decode_mix_all(&p->d, &b);
    for (size_t j = 1; st == TRL_OK && j <= c->n; j++)
        for (size_t i = 0; i < j; i++)
            for (uint32_t k = b.first[trl_cell(i, j)]; k < b.first[trl_cell(i, j) + 1]; k++)
                b.bracket[k].any = told(p, &b.bracket[k], j - i);
    return st == TRL_OK ? trl_span_list_fill(&p->spans, &b, &p->model->labels, err) : st;
}

/* A log probability, NaN where there is none; rounding above 0 becomes 0.  As it is told. */
static double log_share(const trl_chart_parser *p, double score, double log_z)
{
    const double log_p = score - log_z;
    return trl_log_calibrated(&p->model->m.trees, log_p > 0.0 ? 0.0 : log_p);
}

static trl_status many(trl_chart_parser *p, const trl_str *word, size_t n, double log_z,
                       size_t *made, trl_error *err)
{
    const size_t want = p->o.nbest > 1 ? p->o.nbest : 1;
    trl_status st = trl_chart_nbest(&p->d.chart, &p->d.tables, &(trl_nbest_want){want, log_z},
                                    &p->best, &p->d.arena, err);
    if (st != TRL_OK)
        return st;
    if (p->best.n == 0)
        trl_decode_note_failure(&p->d);
    p->sure = p->best.sure;
    for (size_t k = 0; st == TRL_OK && k < p->best.n; k++)
        st = keep_tree(p, k,
                       &(found_tree){p->best.tree[k].node, p->best.tree[k].n,
                                     log_share(p, p->best.tree[k].score, log_z)},
                       word, n, err);
    *made = p->best.n;
    return st;
}

static trl_status one(trl_chart_parser *p, const trl_str *word, size_t n, double log_z,
                      size_t *made, trl_error *err)
{
    trl_decoder *d = &p->d;
    double score = NAN;
    trl_status st = trl_chart_choose(p, err);
    if (st != TRL_OK || d->result.n == 0)
        return st;
    if (p->o.probability)
        st =
            trl_chart_tree_sum(&d->chart, &d->tables, &(trl_node_list){d->result.node, d->result.n},
                               &p->sum, &score, err);
    if (st != TRL_OK)
        return st;
    *made = 1;
    return keep_tree(p, 0, &(found_tree){d->result.node, d->result.n, log_share(p, score, log_z)},
                     word, n, err);
}

/* ---- the second stage ------------------------------------------------------------------------ */

/* The log of a probability by the list, as it is told. */
static double told_of_list(const trl_chart_parser *p, double probability)
{
    return trl_log_calibrated(&p->model->m.reranker.trees, log(probability));
}

/* The trees of the list by the second stage, most probable first; of equals the earlier. */
static trl_status keep_listed(trl_chart_parser *p, const trl_words *words, size_t *made,
                              trl_error *err)
{
    trl_status st = TRL_OK;
    const trl_candidates *c = &p->candidates;
    const size_t want = p->o.nbest > 1 ? p->o.nbest : 1;
    double *left = p->rerank.p;
    for (*made = 0; st == TRL_OK && *made < want && *made < c->n; (*made)++) {
        size_t best = 0;
        for (size_t k = 1; k < c->n; k++)
            best = left[k] > left[best] ? k : best;
        const trl_candidate *t = &c->list[best];
        st = keep_tree(p, *made, &(found_tree){t->node, t->tree.n, told_of_list(p, left[best])},
                       words->word, words->n, err);
        left[best] = -1.0; /* taken */
    }
    return st;
}

/* The log probability that the list gives a tree. */
static double listed_log_p(const trl_chart_parser *p, const trl_node_list *t)
{
    for (size_t k = 0; k < p->candidates.n; k++)
        if (trl_same_tree(&p->candidates.list[k].tree, t))
            return told_of_list(p, p->rerank.p[k]);
    return -(double)INFINITY;
}

static trl_status second_stage(trl_chart_parser *p, const trl_words *words, size_t *made,
                               trl_error *err)
{
    const trl_tree_model *m = &p->model->m;
    const size_t most = p->o.nbest > m->reranker.n ? p->o.nbest : m->reranker.n;
    trl_status st = trl_candidates_of(&p->candidates, &p->d, m, most, err);
    if (st != TRL_OK || p->candidates.n == 0)
        return st;
    st = trl_rerank(m, words, &p->candidates, &p->rerank, err);
    if (st != TRL_OK)
        return st;
    if (p->o.nbest > 1 || p->o.decode == TRL_PARSE_TREE)
        return keep_listed(p, words, made, err);
    st = trl_chart_average(p, &p->candidates.brackets, err);
    if (st != TRL_OK)
        return st;
    trl_decode_mix_latent(&p->d, &p->candidates.brackets);
    st = trl_rerank_tree_of(m, p->o.lambda, &p->candidates, p->rerank.p, &p->d, err);
    if (st != TRL_OK)
        return st;
    const trl_node_list tree = {p->d.result.node, p->d.result.n};
    const double log_p = p->o.probability ? listed_log_p(p, &tree) : (double)NAN;
    *made = 1;
    return keep_tree(p, 0, &(found_tree){p->d.result.node, tree.n, log_p}, words->word, words->n,
                     err);
}

/* ---- any sentence ---------------------------------------------------------------------------- */

/* What needs sums comes first: the best tree overwrites them. */
static trl_status decode(trl_chart_parser *p, const trl_str *word, size_t n, size_t *made,
                         trl_error *err)
{
    trl_status st = TRL_OK;
    double log_z = (double)NAN;
    const bool best = p->o.nbest > 1 || p->o.decode == TRL_PARSE_TREE;
    const bool second = trl_chart_has_second_stage(p);
    if (p->model->is_probability && (p->o.spans || (!second && (best || p->o.probability)))) {
        st = trl_chart_inside(&p->d.chart, &p->d.tables, err);
        log_z = p->d.chart.log_z;
        if (st != TRL_OK || !isfinite(log_z)) {
            trl_decode_note_failure(&p->d);
            return st;
        }
    }
    if (p->o.spans)
        st = keep_spans(p, err);
    if (p->d.chart.late)
        p->d.failure = trl_time_ran_out;
    if (st != TRL_OK || p->d.failure)
        return st;
    if (second)
        return second_stage(p, &(trl_words){word, n}, made, err);
    return best ? many(p, word, n, log_z, made, err) : one(p, word, n, log_z, made, err);
}

/* ---- with its fallback ------------------------------------------------------------------------
 */

/* The fallback tree keeps at least the known tags. */
static trl_status simpler(trl_chart_parser *p, const trl_str *word, size_t n, size_t n_known,
                          double deadline, trl_error *err)
{
    bool only_tags = true;
    for (size_t k = 0; k < n_known; k++)
        only_tags = only_tags && p->known[k].type == TRL_CONSTRAIN_TAG;
    const trl_status st =
        trl_decode_fallback(&p->d, &p->model->m, &(trl_words){word, n}, deadline, only_tags, err);
    if (st != TRL_OK)
        return st;
    for (size_t k = 0; k < n_known; k++)
        for (size_t v = 0; p->known[k].type == TRL_CONSTRAIN_TAG && v < p->d.result.n; v++)
            if (p->d.result.node[v].child == TRL_NO_NODE &&
                p->d.result.node[v].from == p->known[k].i)
                p->d.result.node[v].label = p->known[k].label;
    trl_given_tags_keep(&p->tags, p->d.result.node, p->d.result.n);
    if ((n_known || p->tags.n) && p->d.failure == trl_no_tree)
        p->d.failure = "no tree agrees with what is known of it";
    return keep_tree(p, 0, &(found_tree){p->d.result.node, p->d.result.n, (double)NAN}, word, n,
                     err);
}

trl_status trl_chart_parser_parse(trl_chart_parser *p, const trl_parse_input *in, trl_parse *out,
                                  trl_error *err)
{
    if (!p || !out || (in->n && !in->word) || (in->n_known && !in->known))
        return trl_fail_null(err);
    const trl_tree_model *m = &p->model->m;
    bool given = false;
    trl_decode_options o;
    size_t made = 0;
    if (in->n == 0)
        return trl_fail(err, TRL_EINVAL, "a sentence without words has no tree");
    p->in = in;
    p->deadline = p->o.max_seconds > 0.0 ? trl_clock() + p->o.max_seconds : 0.0;
    trl_status st = trl_chart_set_up(p, in, &o, &given, err);
    if (st != TRL_OK)
        return st;
    do {
        made = p->spans.n = 0;
        p->sure = true;
        st = trl_decode_prepare(&p->d, m, in->word, in->n, &o, err);
        if (st == TRL_OK && !p->d.failure)
            st = decode(p, in->word, in->n, &made, err);
        const trl_status settled = trl_decode_settle(&p->d, st);
        made = settled == st ? made : 0;
        st = settled;
    } while (st == TRL_OK && made == 0 && trl_decode_relax(&p->d, in->n, &o));
    if (st == TRL_OK && made == 0) {
        p->spans.n = 0;
        st = simpler(p, in->word, in->n, in->n_known, p->deadline, err);
        made = 1;
    }
    p->tags.n = given ? 0 : p->tags.n;
    if (st != TRL_OK)
        return st;
    *out = (trl_parse){.n_trees = made,
                       .trees = p->parsed,
                       .n_spans = p->spans.n,
                       .spans = p->spans.span,
                       .sure = p->sure,
                       .warning = p->d.failure};
    return TRL_OK;
}

trl_status trl_chart_parser_derive(trl_chart_parser *p, const trl_parse_input *in, trl_parse *tree,
                                   trl_derived *out, trl_error *err)
{
    const trl_parse_options asked = p->o;
    p->o.decode = TRL_PARSE_VITERBI;
    p->o.nbest = 1;
    p->o.probability = p->o.spans = false;
    trl_status st = trl_chart_parser_parse(p, in, tree, err);
    p->o = asked;
    *out = (trl_derived){0};
    if (st != TRL_OK || tree->warning)
        return st;
    st = trl_parts_of(&p->parts, &p->d, &p->model->m.fine, in->word, err);
    if (st == TRL_OK)
        *out = (trl_derived){p->parts.part, p->parts.n, p->d.chart.log_z};
    return st;
}
