/* reliability_trees.c -- probabilities of constituents against true trees. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "score/reliability.h"
#include "text/number.h"

typedef struct spans_file {
    trl_input *in;
    trl_treebank *gold;
    trl_tree tree; /* of this sentence; valid while `open` */
    bool open;     /* inside a sentence's block */
    uint64_t n;    /* sentences */
    trl_reliability *r;
} spans_file;

/* FROM-TO LABEL P, from 1. */
typedef struct span_line {
    uint64_t from, to;
    trl_str label;
    double p;
} span_line;

static bool read_count(trl_str s, uint64_t *x)
{
    *x = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || *x > UINT32_MAX)
            return false;
        *x = 10 * *x + (uint64_t)(s.p[i] - '0');
    }
    return s.n > 0;
}

static bool read_span(trl_str line, span_line *x)
{
    const char *end = line.p + line.n;
    const char *blank = memchr(line.p, ' ', line.n);
    const char *dash = blank ? memchr(line.p, '-', (size_t)(blank - line.p)) : NULL;
    const char *last = end;
    while (last > line.p && last[-1] != ' ')
        last--;
    if (!dash || last - 1 <= blank)
        return false;
    x->label = (trl_str){blank + 1, (size_t)(last - 1 - (blank + 1))};
    return read_count((trl_str){line.p, (size_t)(dash - line.p)}, &x->from) &&
           read_count((trl_str){dash + 1, (size_t)(blank - dash - 1)}, &x->to) && x->from >= 1 &&
           x->from <= x->to && x->label.n > 0 &&
           trl_number_parse(last, (size_t)(end - last), &x->p) == TRL_NUMBER_OK && x->p >= 0.0 &&
           x->p <= 1.0;
}

static bool in_tree(const trl_tree *t, const span_line *x)
{
    for (uint32_t k = 0; k < t->n_nodes; k++) {
        const trl_str label = trl_tree_label(t, k);
        if (t->node[k].child != TRL_NO_NODE && t->node[k].from + 1 == x->from &&
            t->node[k].to == x->to && label.n == x->label.n &&
            memcmp(label.p, x->label.p, label.n) == 0)
            return true;
    }
    return false;
}

static trl_status uneven(const spans_file *f, bool more_trees, trl_error *err)
{
    const trl_status st = trl_fail(err, TRL_EINVAL, "%s true trees than parsed sentences (%llu)",
                                   more_trees ? "more" : "fewer", (unsigned long long)f->n);
    return trl_input_fail(f->in, err, st, 0);
}

/* The first line of a sentence: its tree, which is not looked at. */
static trl_status begin(spans_file *f, trl_error *err)
{
    bool more = false;
    const trl_status st = trl_treebank_next(f->gold, &f->tree, &more, err);
    if (st == TRL_OK && !more)
        return uneven(f, false, err);
    f->open = true;
    f->n++;
    return st;
}

static trl_status read_line(spans_file *f, trl_str line, trl_error *err)
{
    span_line x = {0};
    if (line.n == 0) {
        f->open = false;
        return TRL_OK;
    }
    if (!f->open)
        return begin(f, err);
    if (!read_span(line, &x)) {
        const trl_status st = trl_fail(err, TRL_EPARSE, "FROM-TO LABEL PROBABILITY expected");
        trl_fail_hint(err, st, "a sentence is its tree, its spans, and an empty line");
        return trl_input_fail(f->in, err, st, 0);
    }
    if (x.to > f->tree.n_words) {
        const trl_status st =
            trl_fail(err, TRL_EPARSE, "the true tree of sentence %llu has %zu words",
                     (unsigned long long)f->n, f->tree.n_words);
        return trl_input_fail(f->in, err, st, 0);
    }
    trl_reliability_add(f->r, x.p, in_tree(&f->tree, &x));
    return TRL_OK;
}

trl_status trl_reliability_read_spans(trl_input *in, trl_treebank *gold, trl_reliability *r,
                                      trl_error *err)
{
    spans_file f = {.in = in, .gold = gold, .r = r};
    trl_status st = TRL_OK;
    for (bool more = true; st == TRL_OK && more;) {
        trl_str line;
        st = trl_input_line(in, &line, &more, err);
        if (st == TRL_OK && more)
            st = read_line(&f, line, err);
    }
    bool more = false;
    if (st == TRL_OK)
        st = trl_treebank_next(gold, &f.tree, &more, err);
    return st == TRL_OK && more ? uneven(&f, true, err) : st;
}

trl_status trl_reliability_trees(const char *gold, const char *spans, trl_reliability *r,
                                 trl_error *err)
{
    if (!gold || !spans || !r)
        return trl_fail_null(err);
    trl_transform how = trl_transform_clean();
    how.drop_duplicates = true;
    trl_treebank *bank = NULL;
    trl_input *in = NULL;
    trl_status st = trl_treebank_open(gold, &how, false, &bank, err);
    if (st == TRL_OK)
        st = trl_input_open(spans, &in, err);
    if (st == TRL_OK)
        st = trl_reliability_read_spans(in, bank, r, err);
    trl_input_free(in);
    trl_treebank_free(bank);
    return st;
}
