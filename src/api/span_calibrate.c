/* span_calibrate.c -- a parser's probabilities of constituents and trees, fitted on held-out trees.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "parser/span_calibration.h"
#include "trellis/buf.h"
#include "trellis/calibrate.h"
#include "treebank/transform.h"
#include "trellis/parser.h"

/* Of constituents and of trees. */
typedef struct functions {
    trl_span_calibration spans, trees;
} functions;

/* What becomes of that of trees: a second stage has its own, for the trees it chooses, which is the
 * one replaced where there is one. */
typedef enum tree_part { TREES_REPLACED, TREES_KEPT, TREES_NONE } tree_part;

/* Section of the function of the trees that the model chooses. */
static const char *tree_tag(const trl_container *c)
{
    const void *head;
    size_t n;
    return trl_container_find(c, "rmeta", &head, &n) ? TRL_LIST_CALIBRATION_TAG
                                                     : TRL_TREE_CALIBRATION_TAG;
}

/* The bytes of the model with this calibration. */
static trl_status rebuild(const trl_model *m, const functions *f, tree_part part, const char *path,
                          trl_buf *out, trl_error *err)
{
    const char *old[] = {TRL_SPAN_CALIBRATION_TAG, NULL, NULL, NULL};
    trl_container *c = NULL;
    size_t n = 0;
    const void *bytes = trl_model_bytes(m, &n);
    trl_status st = trl_container_from_memory(bytes, n, "tree", &c, err);
    if (st != TRL_OK)
        return st;
    const char *tag = tree_tag(c);
    old[1] = part == TREES_KEPT ? NULL : tag;
    old[2] = part == TREES_NONE ? TRL_TREE_CALIBRATION_TAG : NULL;
    trl_container_builder b = {0};
    trl_container_builder_copy(&b, c, old);
    st = trl_span_calibration_save(&f->spans, TRL_SPAN_CALIBRATION_TAG, &b, err);
    if (st == TRL_OK && part == TREES_REPLACED)
        st = trl_span_calibration_save(&f->trees, tag, &b, err);
    if (st == TRL_OK)
        st = path ? trl_container_write(&b, "tree", path, err)
                  : trl_container_to_buf(&b, "tree", out, err);
    trl_container_builder_fini(&b);
    trl_container_free(c);
    return st;
}

/* ---- outcomes -------------------------------------------------------------------------------- */

typedef struct outcomes {
    trl_span_outcome *x;
    size_t n, cap;
} outcomes;

typedef struct collection {
    outcomes spans, trees; /* trees: those that the parser chooses */
    uint64_t n_trees;
} collection;

static bool add(outcomes *o, double p, bool right)
{
    trl_span_outcome *x = trl_reserve(o->x, &o->cap, o->n + 1, sizeof *x);
    if (!x)
        return false;
    o->x = x;
    x[o->n++] = (trl_span_outcome){p, right};
    return true;
}

static bool same_label(const trl_tree *t, uint32_t node, trl_str label)
{
    const trl_str mine = trl_tree_label(t, node);
    return mine.n == label.n && memcmp(mine.p, label.p, label.n) == 0;
}

static bool in_tree(const trl_tree *t, const trl_span *s)
{
    for (uint32_t k = 0; k < t->n_nodes; k++)
        if (t->node[k].child != TRL_NO_NODE && t->node[k].from == s->from &&
            t->node[k].to == s->to && same_label(t, k, s->label))
            return true;
    return false;
}

/* Every span but the root, which is certain, and the tree. */
static trl_status add_tree(collection *o, trl_parser *p, const trl_tree *gold, trl_error *err)
{
    trl_parse got;
    const trl_parse_input in = {.word = gold->word, .n = gold->n_words};
    const trl_status st = trl_parser_parse(p, &in, &got, err);
    if (st != TRL_OK || got.warning)
        return st;
    const trl_parsed *best = &got.trees[0];
    bool ok = true;
    o->n_trees++;
    for (size_t k = 0; ok && k < got.n_spans; k++) {
        const trl_span *s = &got.spans[k];
        if (s->from != 0 || s->to != gold->n_words || !same_label(&best->tree, 0, s->label))
            ok = add(&o->spans, s->probability, in_tree(gold, s));
    }
    if (ok && !isnan(best->log_probability))
        ok = add(&o->trees, exp(best->log_probability), trl_trees_equal(gold, &best->tree));
    return ok ? TRL_OK : trl_fail_mem(err);
}

static trl_status collect(collection *o, trl_parser *p, const char *path, trl_error *err)
{
    const trl_transform how = trl_transform_clean();
    trl_treebank *bank = NULL;
    trl_status st = trl_treebank_open(path, &how, false, &bank, err);
    for (bool more = true; st == TRL_OK && more;) {
        trl_tree t;
        st = trl_treebank_next(bank, &t, &more, err);
        if (st == TRL_OK && more)
            st = add_tree(o, p, &t, err);
    }
    trl_treebank_free(bank);
    return st;
}

static double brier(const trl_span_calibration *s, const outcomes *o)
{
    double sum = 0.0;
    for (size_t k = 0; k < o->n; k++) {
        const double d = trl_span_calibrated(s, o->x[k].p) - (o->x[k].right ? 1.0 : 0.0);
        sum += d * d;
    }
    return o->n ? sum / (double)o->n : 0.0;
}

static void fill(const trl_span_calibration *f, const outcomes *o, uint64_t n_trees,
                 trl_span_fit *out)
{
    *out = (trl_span_fit){.n = f->n,
                          .before = brier(&(trl_span_calibration){0}, o),
                          .after = brier(f, o),
                          .trees = n_trees,
                          .spans = o->n};
    for (size_t k = 0; k < f->n; k++) {
        out->p[k] = f->knot[k].p;
        out->share[k] = f->knot[k].share;
    }
}

/* ---- entry ----------------------------------------------------------------------------------- */

/* The parser of the model without calibration, with what it needs. */
static trl_status fit(const trl_model *m, const char *trees, collection *o, functions *f,
                      trl_error *err)
{
    trl_parse_options options = trl_parse_options_default();
    options.spans = options.probability = true;
    trl_buf bytes = {0};
    trl_parse_model *raw = NULL;
    trl_parser *p = NULL;
    *f = (functions){0};
    trl_status st = rebuild(m, f, TREES_NONE, NULL, &bytes, err);
    if (st == TRL_OK)
        st = trl_parse_model_from_memory(bytes.data, bytes.len, &raw, err);
    if (st == TRL_OK)
        st = trl_parser_new(raw, &options, &p, err);
    if (st == TRL_OK)
        st = collect(o, p, trees, err);
    if (st == TRL_OK && !trl_span_calibration_fit(o->spans.x, o->spans.n, &f->spans)) {
        st = trl_fail(err, TRL_EINVAL, "there are no constituents to fit probabilities on");
        trl_fail_where(err, st, trees, 0, 0);
    }
    if (st == TRL_OK)
        trl_tree_calibration_fit(o->trees.x, o->trees.n, &f->trees);
    trl_parser_free(p);
    trl_parse_model_free(raw);
    trl_buf_fini(&bytes);
    return st;
}

trl_status trl_parse_fit_find(const trl_model *m, const char *trees, trl_parse_fit *out,
                              trl_error *err)
{
    if (!m || !trees || !out)
        return trl_fail_null(err);
    collection o = {0};
    functions f;
    const trl_status st = fit(m, trees, &o, &f, err);
    if (st == TRL_OK) {
        fill(&f.spans, &o.spans, o.n_trees, &out->span);
        fill(&f.trees, &o.trees, o.n_trees, &out->tree);
    }
    trl_free(o.spans.x);
    trl_free(o.trees.x);
    return st;
}

trl_status trl_span_fit_find(const trl_model *m, const char *trees, trl_span_fit *out,
                             trl_error *err)
{
    trl_parse_fit both;
    if (!out)
        return trl_fail_null(err);
    const trl_status st = trl_parse_fit_find(m, trees, &both, err);
    if (st == TRL_OK)
        *out = both.span;
    return st;
}

/* From 0 to 1; `below`: at most p. */
static trl_status take(const trl_span_fit *fit, bool below, trl_span_calibration *s, trl_error *err)
{
    const size_t n = fit->n;
    bool sane = n >= 2 && n <= TRL_SPAN_KNOTS;
    *s = (trl_span_calibration){.n = n};
    for (size_t k = 0; sane && k < n; k++) {
        sane = fit->share[k] >= 0.0 && fit->share[k] <= (below ? fit->p[k] : 1.0) &&
               (k == 0 ? fit->p[k] == 0.0
                       : fit->p[k] > fit->p[k - 1] && fit->share[k] >= fit->share[k - 1]);
        s->knot[k].p = fit->p[k];
        s->knot[k].share = fit->share[k];
    }
    if (sane && fit->p[n - 1] == 1.0)
        return TRL_OK;
    return trl_fail(err, TRL_EINVAL,
                    below ? "a calibration of trees ascends from 0 to 1 and is at most p"
                          : "a calibration ascends from 0 to 1");
}

trl_status trl_model_save_span_fit(const trl_model *m, const trl_span_fit *fit, const char *path,
                                   trl_error *err)
{
    functions f = {0};
    if (!m || !path)
        return trl_fail_null(err);
    const trl_status st = fit ? take(fit, false, &f.spans, err) : TRL_OK;
    return st == TRL_OK ? rebuild(m, &f, TREES_KEPT, path, NULL, err) : st;
}

trl_status trl_model_save_parse_fit(const trl_model *m, const trl_parse_fit *fit, const char *path,
                                    trl_error *err)
{
    functions f = {0};
    if (!m || !path)
        return trl_fail_null(err);
    trl_status st = fit ? take(&fit->span, false, &f.spans, err) : TRL_OK;
    if (st == TRL_OK && fit && fit->tree.n)
        st = take(&fit->tree, true, &f.trees, err);
    return st == TRL_OK ? rebuild(m, &f, fit ? TREES_REPLACED : TREES_NONE, path, NULL, err) : st;
}
