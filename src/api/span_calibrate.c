/* span_calibrate.c -- a parser's probabilities of constituents, fitted on held-out trees. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "parser/span_calibration.h"
#include "trellis/buf.h"
#include "trellis/calibrate.h"
#include "trellis/parser.h"

/* The bytes of the model with this calibration (NULL: none). */
static trl_status rebuild(const trl_model *m, const trl_span_calibration *s, const char *path,
                          trl_buf *out, trl_error *err)
{
    trl_container *c = NULL;
    size_t n = 0;
    const void *bytes = trl_model_bytes(m, &n);
    trl_status st = trl_container_from_memory(bytes, n, "tree", &c, err);
    if (st != TRL_OK)
        return st;
    trl_container_builder b = {0};
    trl_container_builder_copy(&b, c, TRL_SPAN_CALIBRATION_TAG);
    if (s)
        st = trl_span_calibration_save(s, &b, err);
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
    uint64_t trees;
} outcomes;

static bool in_tree(const trl_tree *t, const trl_span *s)
{
    for (uint32_t k = 0; k < t->n_nodes; k++) {
        const trl_str label = trl_tree_label(t, k);
        if (t->node[k].child != TRL_NO_NODE && t->node[k].from == s->from &&
            t->node[k].to == s->to && label.n == s->label.n &&
            memcmp(label.p, s->label.p, label.n) == 0)
            return true;
    }
    return false;
}

/* Every span but the root, which is certain. */
static trl_status add_tree(outcomes *o, trl_parser *p, const trl_tree *gold, trl_error *err)
{
    trl_parse got;
    const trl_parse_input in = {.word = gold->word, .n = gold->n_words};
    const trl_status st = trl_parser_parse(p, &in, &got, err);
    if (st != TRL_OK || got.warning)
        return st;
    const trl_str root = trl_tree_label(&got.trees[0].tree, 0);
    o->trees++;
    for (size_t k = 0; k < got.n_spans; k++) {
        const trl_span *s = &got.spans[k];
        if (s->from == 0 && s->to == gold->n_words && s->label.n == root.n &&
            memcmp(s->label.p, root.p, root.n) == 0)
            continue;
        trl_span_outcome *x = trl_reserve(o->x, &o->cap, o->n + 1, sizeof *x);
        if (!x)
            return trl_fail_mem(err);
        o->x = x;
        x[o->n++] = (trl_span_outcome){s->probability, in_tree(gold, s)};
    }
    return TRL_OK;
}

static trl_status collect(outcomes *o, trl_parser *p, const char *path, trl_error *err)
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
    return sum / (double)o->n;
}

static void fill(const trl_span_calibration *s, const outcomes *o, trl_span_fit *out)
{
    *out = (trl_span_fit){.n = s->n,
                          .before = brier(&(trl_span_calibration){0}, o),
                          .after = brier(s, o),
                          .trees = o->trees,
                          .spans = o->n};
    for (size_t k = 0; k < s->n; k++) {
        out->p[k] = s->knot[k].p;
        out->share[k] = s->knot[k].share;
    }
}

/* ---- entry ----------------------------------------------------------------------------------- */

trl_status trl_span_fit_find(const trl_model *m, const char *trees, trl_span_fit *out,
                             trl_error *err)
{
    if (!m || !trees || !out)
        return trl_fail_null(err);
    trl_parse_options options = trl_parse_options_default();
    options.spans = true;
    trl_buf bytes = {0};
    trl_parse_model *raw = NULL;
    trl_parser *p = NULL;
    outcomes o = {0};
    trl_span_calibration s;
    trl_status st = rebuild(m, NULL, NULL, &bytes, err);
    if (st == TRL_OK)
        st = trl_parse_model_from_memory(bytes.data, bytes.len, &raw, err);
    if (st == TRL_OK)
        st = trl_parser_new(raw, &options, &p, err);
    if (st == TRL_OK)
        st = collect(&o, p, trees, err);
    if (st == TRL_OK && !trl_span_calibration_fit(o.x, o.n, &s)) {
        st = trl_fail(err, TRL_EINVAL, "there are no constituents to fit probabilities on");
        trl_fail_where(err, st, trees, 0, 0);
    }
    if (st == TRL_OK)
        fill(&s, &o, out);
    trl_parser_free(p);
    trl_parse_model_free(raw);
    trl_buf_fini(&bytes);
    trl_free(o.x);
    return st;
}

trl_status trl_model_save_span_fit(const trl_model *m, const trl_span_fit *fit, const char *path,
                                   trl_error *err)
{
    if (!m || !path)
        return trl_fail_null(err);
    if (!fit)
        return rebuild(m, NULL, path, NULL, err);
    trl_span_calibration s = {.n = fit->n};
    bool sane = fit->n >= 2 && fit->n <= TRL_SPAN_KNOTS;
    for (size_t k = 0; sane && k < fit->n; k++) {
        sane = fit->share[k] >= 0.0 && fit->share[k] <= 1.0 &&
               (k == 0 ? fit->p[k] == 0.0
                       : fit->p[k] > fit->p[k - 1] && fit->share[k] >= fit->share[k - 1]);
        s.knot[k].p = fit->p[k];
        s.knot[k].share = fit->share[k];
    }
    if (!sane || fit->p[fit->n - 1] != 1.0)
        return trl_fail(err, TRL_EINVAL, "a calibration ascends from 0 to 1");
    return rebuild(m, &s, path, NULL, err);
}
