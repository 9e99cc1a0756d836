/* parser.c -- the public parser. */
/* SPDX-License-Identifier: MIT */
#include "trellis/parser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/session.h"
#include "chart/constrain.h"
#include "chart/kbest.h"
#include "parser/tree_decode.h"
#include "parser/tree_dump.h"

/* ---- models -------------------------------------------------------------------------------------
 */

struct trl_parse_model {
    trl_container *file;
    trl_tree_model m;
    trl_strtab labels; /* as they are shown: m.fine.labels with the treebank's own root */
    char *settings;
    uint64_t size;
};

/* The root is label 0.  Should its own label be that of an inner node, too, it stays TOP. */
static trl_status show_labels(trl_parse_model *m, trl_error *err)
{
    const trl_strtab *from = &m->m.fine.labels;
    const trl_str root = {m->m.root.label, strlen(m->m.root.label)};
    const bool own = trl_strtab_find(from, root.p, root.n) == TRL_NO_ID;
    for (uint32_t k = 0; k < from->n; k++) {
        const trl_str s = k == 0 && own ? root : trl_strtab_get(from, k);
        if (trl_strtab_add(&m->labels, s.p, s.n) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

static trl_status from_container(trl_container *c, trl_parse_model **out, trl_error *err)
{
    const void *text = "";
    size_t n = 0;
    trl_parse_model *m = trl_zalloc(1, sizeof *m);
    trl_container_find(c, "settings", &text, &n);
    char *settings = m ? trl_strndup(text, n) : NULL;
    if (!settings) {
        trl_container_free(c);
        trl_free(m);
        return trl_fail_mem(err);
    }
    m->file = c;
    m->settings = settings;
    trl_status st = trl_tree_model_load(&m->m, c, err);
    if (st == TRL_OK)
        st = show_labels(m, err);
    if (st == TRL_OK)
        *out = m;
    else
        trl_parse_model_free(m);
    return st;
}

trl_status trl_parse_model_open(const char *path, trl_parse_model **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_open(path, "tree", &c, err);
    return st == TRL_OK ? from_container(c, out, err) : st;
}

trl_status trl_parse_model_map(const char *path, trl_parse_model **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_map(path, "tree", &c, err);
    return st == TRL_OK ? from_container(c, out, err) : st;
}

trl_status trl_parse_model_from_memory(const void *bytes, size_t n, trl_parse_model **out,
                                       trl_error *err)
{
    trl_container *c = NULL;
    const trl_status st = trl_container_from_memory(bytes, n, "tree", &c, err);
    return st == TRL_OK ? from_container(c, out, err) : st;
}

void trl_parse_model_free(trl_parse_model *m)
{
    if (!m)
        return;
    trl_tree_model_fini(&m->m);
    trl_strtab_fini(&m->labels);
    trl_container_free(m->file);
    trl_free(m->settings);
    trl_free(m);
}

bool trl_parse_model_has(const trl_parse_model *m, trl_str label)
{
    return trl_strtab_find(&m->labels, label.p, label.n) != TRL_NO_ID;
}

trl_parse_info trl_parse_model_info(const trl_parse_model *m)
{
    static const char *const grades[] = {"generative", "discriminative", "features"};
    return (trl_parse_info){.grade = grades[m->m.grade],
                            .settings = m->settings,
                            .n_states = m->m.fine.n_states,
                            .n_binary = m->m.fine.n_binary,
                            .n_unary = m->m.fine.n_unary,
                            .n_words = m->m.lexicon.words.n,
                            .n_features = m->m.features.n_direct + m->m.features.index.n};
}

trl_status trl_parse_model_describe(const trl_parse_model *m, size_t top, trl_buf *out,
                                    trl_error *err)
{
    const void *text = "";
    size_t n = 0;
    if (top == 0)
        return trl_tree_dump_sizes(&m->m, out, err);
    trl_container_find(m->file, "template", &text, &n);
    return m->m.grade == TRL_GRADE_GENERATIVE
               ? TRL_OK
               : trl_tree_dump_top(&m->m, (trl_str){text, n}, top, out, err);
}

/* ---- parsers -------------------------------------------------------------------------------- */

#define MOST_TREES 10000 /* of one sentence: memory grows with words times trees */

struct trl_parser {
    const trl_parse_model *model;
    trl_parse_options o;
    trl_decoder d;
    trl_kbest best;
    trl_parsed *parsed;
    size_t cap_parsed;
    trl_node **node; /* of each parsed tree, owned */
    size_t *cap_node;
    size_t n_slots;
    trl_span *span;
    size_t n_span, cap_span;
    trl_constraint *known;
    size_t n_known, cap_known;
};

trl_parse_options trl_parse_options_default(void)
{
    return (trl_parse_options){.lambda = TRL_LAMBDA,
                               .mix = TRL_MIX,
                               .max_seconds = 10.0,
                               .max_bytes = (size_t)2 << 30,
                               .prune = -1.0};
}

trl_status trl_parser_new(const trl_parse_model *m, const trl_parse_options *o, trl_parser **out,
                          trl_error *err)
{
    if (!(o->lambda >= 0.0 && o->lambda < 1.0))
        return trl_fail(err, TRL_EINVAL, "lambda is at least 0 and below 1, not %g", o->lambda);
    if (!(o->mix >= 0.0 && o->mix <= 1.0))
        return trl_fail(err, TRL_EINVAL, "mix is 0 to 1, not %g", o->mix);
    if (!(o->max_seconds >= 0.0) || !(o->prune < 1.0))
        return trl_fail(err, TRL_EINVAL,
                        "a time limit is not negative, a pruning threshold below 1");
    if (o->nbest > MOST_TREES)
        return trl_fail(err, TRL_EINVAL, "at most %d best trees can be had", MOST_TREES);
    if (o->probability && !o->viterbi && o->nbest <= 1) {
        trl_fail(err, TRL_EINVAL,
                 "the tree with the best expected brackets has no probability: it need "
                 "not be one of the grammar");
        return trl_fail_hint(err, TRL_EINVAL, "set viterbi, or nbest to 2 or more");
    }
    trl_parser *p = trl_zalloc(1, sizeof *p);
    const size_t slots = o->nbest > 1 ? o->nbest : 1;
    if (p) {
        p->model = m;
        p->o = *o;
        p->n_slots = slots;
        p->parsed = trl_zalloc(slots, sizeof *p->parsed);
        p->node = trl_zalloc(slots, sizeof *p->node);
        p->cap_node = trl_zalloc(slots, sizeof *p->cap_node);
    }
    if (!p || !p->parsed || !p->node || !p->cap_node) {
        trl_parser_free(p);
        return trl_fail_mem(err);
    }
    *out = p;
    return TRL_OK;
}

void trl_parser_free(trl_parser *p)
{
    if (!p)
        return;
    for (size_t k = 0; p->node && k < p->n_slots; k++)
        trl_free(p->node[k]);
    trl_decoder_fini(&p->d);
    trl_kbest_fini(&p->best);
    trl_free(p->parsed);
    trl_free(p->node);
    trl_free(p->cap_node);
    trl_free(p->span);
    trl_free(p->known);
    trl_free(p);
}

/* ---- one sentence --------------------------------------------------------------------------- */

/* Without its root: for treebanks that have none.  Only where it has one child. */
static void drop_root(trl_node **node, size_t *n_nodes)
{
    if ((*node)[0].child != 1 || (*node)[1].next != TRL_NO_NODE)
        return;
    ++*node;
    --*n_nodes;
    for (size_t k = 0; k < *n_nodes; k++) {
        trl_node *v = &(*node)[k];
        v->parent = k ? v->parent - 1 : TRL_NO_NODE;
        v->child -= v->child != TRL_NO_NODE;
        v->next -= v->next != TRL_NO_NODE;
    }
}

static void keep_tree(trl_parser *p, size_t at, trl_node *node, size_t n_nodes, const trl_str *word,
                      size_t n, double log_probability)
{
    if (p->model->m.root.bare)
        drop_root(&node, &n_nodes);
    p->parsed[at] = (trl_parsed){.tree = {.n_nodes = n_nodes,
                                          .n_words = n,
                                          .node = node,
                                          .word = word,
                                          .labels = &p->model->labels},
                                 .log_probability = log_probability};
}

/* To nine digits: what differs in rounding alone is a tie. */
static int by_probability(const void *a, const void *b)
{
    const trl_span *x = a, *y = b;
    const double p = rint(1e9 * x->probability), q = rint(1e9 * y->probability);
    if (p != q)
        return p < q ? 1 : -1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? 1 : -1;
    const size_t n = x->label.n < y->label.n ? x->label.n : y->label.n;
    const int c = memcmp(x->label.p, y->label.p, n);
    return c ? c : x->label.n < y->label.n ? -1 : x->label.n > y->label.n;
}

#define LEAST_SPAN 0.01

static trl_status keep_spans(trl_parser *p, trl_error *err)
{
    trl_brackets b;
    trl_chart *c = &p->d.chart;
    trl_chart_outside(c, &p->d.tables, NULL);
    if (c->late)
        return TRL_OK;
    const trl_status st = trl_chart_brackets(c, &b, &p->d.arena, err);
    if (st != TRL_OK)
        return st;
    for (size_t j = 1; j <= c->n; j++)
        for (size_t i = 0; i < j; i++)
            for (uint32_t k = b.first[trl_cell(i, j)]; k < b.first[trl_cell(i, j) + 1]; k++) {
                const double q = b.bracket[k].any;
                if (q < LEAST_SPAN)
                    continue;
                trl_span *s = trl_reserve(p->span, &p->cap_span, p->n_span + 1, sizeof *s);
                if (!s)
                    return trl_fail_mem(err);
                p->span = s;
                const trl_str label = trl_strtab_get(&p->model->labels, b.bracket[k].label);
                s[p->n_span++] = (trl_span){label, i, j, q < 1.0 ? q : 1.0}; /* 1 + rounding */
            }
    if (p->n_span)
        qsort(p->span, p->n_span, sizeof *p->span, by_probability);
    return TRL_OK;
}

/* log P of the tree that d->node holds: the derivation's own when it came from the chart. */
static trl_status many(trl_parser *p, const trl_str *word, size_t n, double log_z, size_t *made,
                       trl_error *err)
{
    const trl_tree_model *m = &p->model->m;
    trl_status st =
        trl_chart_kbest(&p->d.chart, &p->d.tables, p->o.nbest, &p->best, &p->d.arena, err);
    if (st == TRL_OK)
        st = trl_kbest_distinct(&p->best, &m->fine, NULL, err);
    for (size_t k = 0; st == TRL_OK && k < p->best.n && k < p->n_slots; k++) {
        size_t nodes = 0;
        st = trl_grammar_decode(&m->fine, &p->best.tree[k], &p->node[k], &nodes, &p->cap_node[k],
                                err);
        if (st == TRL_OK)
            keep_tree(p, k, p->node[k], nodes, word, n, p->best.score[k] - log_z);
        *made = k + 1;
    }
    return st;
}

static trl_status one(trl_parser *p, const trl_str *word, size_t n, double log_z, size_t *made,
                      trl_error *err)
{
    const trl_tree_model *m = &p->model->m;
    const bool viterbi = p->o.viterbi;
    const trl_status st =
        viterbi ? trl_decode_best(&p->d, m, err) : trl_decode_mbr(&p->d, m, p->o.lambda, err);
    if (st != TRL_OK || p->d.n_nodes == 0)
        return st;
    keep_tree(p, 0, p->d.node, p->d.n_nodes, word, n,
              p->o.probability ? p->d.chart.log_z - log_z : (double)NAN);
    *made = 1;
    return TRL_OK;
}

/* Whatever needs sums comes first: the best tree overwrites them. */
static trl_status decode(trl_parser *p, const trl_str *word, size_t n, size_t *made, trl_error *err)
{
    trl_status st = TRL_OK;
    double log_z = (double)NAN;
    if (p->o.spans || p->o.nbest > 1 || p->o.probability) {
        st = trl_chart_inside(&p->d.chart, &p->d.tables, err);
        log_z = p->d.chart.log_z;
        if (st != TRL_OK || !isfinite(log_z)) {
            p->d.failure = p->d.chart.late ? "time ran out" : trl_no_tree;
            return st;
        }
    }
    if (p->o.spans)
        st = keep_spans(p, err);
    if (p->d.chart.late)
        p->d.failure = "time ran out";
    if (st != TRL_OK || p->d.failure)
        return st;
    return p->o.nbest > 1 ? many(p, word, n, log_z, made, err) : one(p, word, n, log_z, made, err);
}

/* ---- what is known beforehand --------------------------------------------------------------- */

static trl_status translate(trl_parser *p, const trl_known *known, size_t n_known, size_t n,
                            trl_error *err)
{
    trl_constraint *list = trl_reserve(p->known, &p->cap_known, n_known, sizeof *list);
    if (!list)
        return trl_fail_mem(err);
    p->known = list;
    p->n_known = n_known;
    for (size_t k = 0; k < n_known; k++) {
        const trl_known *x = &known[k];
        const size_t to = x->kind == TRL_KNOWN_TAG ? x->from + 1 : x->to;
        const trl_strtab *labels = &p->model->labels;
        if (x->from >= to || to > n)
            return trl_fail(err, TRL_EINVAL, "words %zu to %zu are not in a sentence of %zu words",
                            x->from + 1, to, n);
        list[k] = (trl_constraint){TRL_CONSTRAIN_SPAN, x->from, to, TRL_NO_ID};
        if (x->kind == TRL_KNOWN_NO_CONSTITUENT)
            list[k].kind = TRL_CONSTRAIN_NOT;
        else if (x->kind == TRL_KNOWN_TAG || x->label.n)
            list[k].kind = x->kind == TRL_KNOWN_TAG ? TRL_CONSTRAIN_TAG : TRL_CONSTRAIN_LABEL;
        if (list[k].kind == TRL_CONSTRAIN_TAG || list[k].kind == TRL_CONSTRAIN_LABEL) {
            list[k].label = trl_strtab_find(labels, x->label.p, x->label.n);
            if (list[k].label == TRL_NO_ID)
                return trl_fail(err, TRL_EINVAL, "the model has no label '%.*s'", (int)x->label.n,
                                x->label.p);
        }
    }
    return TRL_OK;
}

static trl_status apply_known(void *ctx, trl_skeleton *s, bool *complete, trl_arena *arena,
                              trl_error *err)
{
    const trl_parser *p = ctx;
    return trl_constrain(&p->model->m.fine, p->known, p->n_known, s, complete, arena, err);
}

/* The simpler tree keeps at least the tags that are known. */
static trl_status simpler(trl_parser *p, const trl_str *word, size_t n, size_t n_known,
                          double deadline, trl_error *err)
{
    bool only_tags = true;
    for (size_t k = 0; k < n_known; k++)
        only_tags = only_tags && p->known[k].kind == TRL_CONSTRAIN_TAG;
    const trl_status st =
        trl_decode_fallback(&p->d, &p->model->m, word, n, deadline, only_tags, err);
    if (st != TRL_OK)
        return st;
    for (size_t k = 0; k < n_known; k++)
        for (size_t v = 0; p->known[k].kind == TRL_CONSTRAIN_TAG && v < p->d.n_nodes; v++)
            if (p->d.node[v].child == TRL_NO_NODE && p->d.node[v].from == p->known[k].i)
                p->d.node[v].label = p->known[k].label;
    if (n_known && p->d.failure == trl_no_tree)
        p->d.failure = "no tree agrees with what is known of it";
    keep_tree(p, 0, p->d.node, p->d.n_nodes, word, n, (double)NAN);
    return TRL_OK;
}

trl_status trl_parser_parse(trl_parser *p, const trl_str *word, size_t n, const trl_known *known,
                            size_t n_known, trl_parse *out, trl_error *err)
{
    const trl_tree_model *m = &p->model->m;
    const double deadline = p->o.max_seconds > 0.0 ? trl_clock() + p->o.max_seconds : 0.0;
    trl_decode_options o = {.mix = p->o.viterbi || p->o.nbest > 1 ? 0.0 : p->o.mix,
                            .threshold = p->o.prune >= 0.0 ? p->o.prune : m->threshold,
                            .deadline = deadline,
                            .max_bytes = p->o.max_bytes};
    size_t made = 0;
    if (n == 0)
        return trl_fail(err, TRL_EINVAL, "a sentence without words has no tree");
    trl_status st = n_known ? translate(p, known, n_known, n, err) : TRL_OK;
    if (st != TRL_OK)
        return st;
    do {
        made = p->n_span = 0;
        st = trl_decode_prepare(&p->d, m, m->binary_exp, m->unary, word, n, &o,
                                n_known ? apply_known : NULL, p, err);
        if (st == TRL_OK && !p->d.failure)
            st = decode(p, word, n, &made, err);
        const trl_status settled = trl_decode_settle(&p->d, st);
        made = settled == st ? made : 0;
        st = settled;
    } while (st == TRL_OK && made == 0 && trl_decode_relax(&p->d, n, &o));
    if (st == TRL_OK && made == 0) {
        p->n_span = 0;
        st = simpler(p, word, n, n_known, deadline, err);
        made = 1;
    }
    if (st != TRL_OK)
        return st;
    *out = (trl_parse){.n_trees = made,
                       .trees = p->parsed,
                       .n_spans = p->n_span,
                       .spans = p->span,
                       .warning = p->d.failure};
    return TRL_OK;
}
