/* reliability_trees.c -- probabilities of constituents and trees against true trees. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/buf.h"
#include "score/reliability.h"
#include "text/number.h"
#include "treebank/transform.h"

typedef struct spans_file {
    trl_input *in;
    trl_treebank *gold;
    trl_tree tree;              /* of this sentence; valid while `open` */
    bool open;                  /* inside a sentence's block */
    bool apart;                 /* there are empty lines after sentences */
    uint64_t n;                 /* sentences */
    trl_reliability *r, *trees; /* or NULL */
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

/* Of another sentence than the true tree. */
static trl_status other_words(const spans_file *f, const trl_tree *t, trl_error *err)
{
    const trl_status st = trl_fail(err, TRL_EPARSE, "a tree of %zu words, the true one has %zu",
                                   t->n_words, f->tree.n_words);
    trl_fail_hint(err, st, "both files must have the same sentences in the same order");
    return trl_input_fail(f->in, err, st, 0);
}

/* P, a tab and a tree: an answer.  "-": it has none. */
static trl_status add_tree(const spans_file *f, trl_str line, const char *tab, trl_error *err)
{
    double p;
    const size_t n = (size_t)(tab - line.p);
    if (!f->trees || (n == 1 && line.p[0] == '-'))
        return TRL_OK;
    if (trl_number_parse(line.p, n, &p) != TRL_NUMBER_OK || !(p >= 0.0 && p <= 1.0)) {
        const trl_status st = trl_fail(err, TRL_EPARSE, "'%.*s' is no probability from 0 to 1",
                                       n < 40 ? (int)n : 40, line.p);
        return trl_input_fail(f->in, err, st, 0);
    }
    const trl_transform how = trl_transform_clean();
    const trl_text text = {"a tree", tab + 1, (size_t)(line.p + line.n - (tab + 1))};
    trl_treebank *bank = NULL;
    trl_tree t;
    bool more = false;
    trl_status st = trl_treebank_memory(&text, &how, false, &bank, err);
    if (st == TRL_OK)
        st = trl_treebank_next(bank, &t, &more, err);
    if (st == TRL_EPARSE)
        trl_input_fail(f->in, err, st, 0);
    if (st == TRL_OK && more && t.n_words != f->tree.n_words)
        st = other_words(f, &t, err);
    else if (st == TRL_OK && more)
        trl_reliability_add(f->trees, p, trl_trees_equal(&t, &f->tree));
    trl_treebank_free(bank);
    return st;
}

/* A line with a tree: the first of a sentence, or one more. */
static trl_status read_tree(spans_file *f, trl_str line, trl_error *err)
{
    const char *tab = memchr(line.p, '\t', line.n);
    if (!f->open) {
        bool more = false;
        const trl_status st = trl_treebank_next(f->gold, &f->tree, &more, err);
        if (st != TRL_OK)
            return st;
        if (!more)
            return uneven(f, false, err);
        f->open = f->apart;
        f->n++;
    }
    return tab ? add_tree(f, line, tab, err) : TRL_OK;
}

static trl_status read_line(spans_file *f, trl_str line, trl_error *err)
{
    span_line x = {0};
    if (line.n == 0) {
        f->open = false;
        return TRL_OK;
    }
    const char *tab = memchr(line.p, '\t', line.n);
    if (!f->open || (tab && tab + 1 < line.p + line.n && tab[1] == '('))
        return read_tree(f, line, err);
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
    if (f->r)
        trl_reliability_add(f->r, x.p, in_tree(&f->tree, &x));
    return TRL_OK;
}

/* Lines are kept until it is known whether empty ones part sentences. */
static trl_status read_kept(spans_file *f, const trl_buf *k, trl_error *err)
{
    trl_status st = TRL_OK;
    uint64_t row = 0;
    for (size_t at = 0; st == TRL_OK && at < k->len; row++) {
        const char *p = k->data + at, *end = memchr(p, '\n', k->len - at);
        st = read_line(f, (trl_str){p, (size_t)(end - p)}, err);
        at += (size_t)(end - p) + 1;
    }
    if (st != TRL_OK && err && err->row)
        err->row = row; /* the input is further on */
    return st;
}

/* Reads until the first empty line, or the end. */
static trl_status look_ahead(spans_file *f, trl_buf *k, bool *more, trl_error *err)
{
    trl_status st = TRL_OK;
    for (*more = true; st == TRL_OK && *more && !f->apart;) {
        trl_str line;
        st = trl_input_line(f->in, &line, more, err);
        if (st != TRL_OK || !*more)
            break;
        f->apart = line.n == 0 && k->len > 0;
        if (!trl_buf_add(k, line.p, line.n) || !trl_buf_add(k, "\n", 1))
            st = trl_fail_mem(err);
    }
    return st;
}

trl_status trl_reliability_read_parses(trl_input *in, trl_treebank *gold,
                                       trl_reliability *constituents, trl_reliability *trees,
                                       trl_error *err)
{
    spans_file f = {.in = in, .gold = gold, .r = constituents, .trees = trees};
    trl_buf kept = {0};
    bool more = false;
    trl_status st = look_ahead(&f, &kept, &more, err);
    if (st == TRL_OK)
        st = read_kept(&f, &kept, err);
    while (st == TRL_OK && more) {
        trl_str line;
        st = trl_input_line(in, &line, &more, err);
        if (st == TRL_OK && more)
            st = read_line(&f, line, err);
    }
    trl_buf_fini(&kept);
    if (st == TRL_OK)
        st = trl_treebank_next(gold, &f.tree, &more, err);
    return st == TRL_OK && more ? uneven(&f, true, err) : st;
}

trl_status trl_reliability_trees(const char *gold, const char *spans, trl_reliability *r,
                                 trl_error *err)
{
    return r ? trl_reliability_parses(gold, spans, r, NULL, err) : trl_fail_null(err);
}

trl_status trl_reliability_parses(const char *gold, const char *parsed,
                                  trl_reliability *constituents, trl_reliability *trees,
                                  trl_error *err)
{
    if (!gold || !parsed)
        return trl_fail_null(err);
    const trl_transform how = trl_transform_clean();
    trl_treebank *bank = NULL;
    trl_input *in = NULL;
    trl_status st = trl_treebank_open(gold, &how, false, &bank, err);
    if (st == TRL_OK)
        st = trl_input_open(parsed, &in, err);
    if (st == TRL_OK)
        st = trl_reliability_read_parses(in, bank, constituents, trees, err);
    trl_input_free(in);
    trl_treebank_free(bank);
    return st;
}
