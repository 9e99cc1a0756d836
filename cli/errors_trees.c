/* errors_trees.c -- the true trees and those of a parser, which may have spans below them. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "tag_print.h"

/* A line FROM-TO LABEL P of 'trellis parse --spans'. */
typedef struct sure_span {
    size_t tree; /* from 0 */
    size_t begin, end;
    size_t label, n_label; /* in `words` */
    double p;
} sure_span;

/* A parser's output: the trees, line by line as they were, and the spans. */
typedef struct parser_file {
    text trees, words;
    sure_span *span;
    size_t n_spans, cap;
    size_t n_trees;
    long depth; /* of brackets, after the last line */
} parser_file;

static trl_status fail_trees(trl_error *err, const char *path, uint64_t row, const char *what)
{
    *err = (trl_error){.code = TRL_EPARSE, .row = row};
    snprintf(err->path, sizeof err->path, "%s", strcmp(path, "-") == 0 ? "<stdin>" : path);
    snprintf(err->msg, sizeof err->msg, "%s", what);
    snprintf(err->hint, sizeof err->hint,
             "the files must have trees of the same sentences, in the same order");
    return TRL_EPARSE;
}

/* ---- the parser's output --------------------------------------------------------------------- */

/* FROM-TO LABEL P, of the tree before it. */
static bool read_span(parser_file *f, const trl_sentence *line, trl_error *err, trl_status *st)
{
    char place[40], number[40];
    size_t from, to;
    int used = 0;
    sure_span s = {.tree = f->n_trees - 1};
    if (f->depth || f->n_trees == 0 || line->n != 3 || line->word[0].n >= sizeof place ||
        line->word[2].n >= sizeof number)
        return false;
    snprintf(place, sizeof place, "%.*s", (int)line->word[0].n, line->word[0].p);
    snprintf(number, sizeof number, "%.*s", (int)line->word[2].n, line->word[2].p);
    if (sscanf(place, "%zu-%zu%n", &from, &to, &used) != 2 || place[used] || from < 1 ||
        to < from || sscanf(number, "%lf%n", &s.p, &used) != 1 || number[used] ||
        !(s.p >= 0.0 && s.p <= 1.0))
        return false;
    if (f->n_spans == f->cap) {
        const size_t cap = f->cap ? 2 * f->cap : 256;
        sure_span *grown = realloc(f->span, cap * sizeof *grown);
        if (!grown) {
            *st = tag_no_memory(err);
            return true;
        }
        f->span = grown;
        f->cap = cap;
    }
    s.begin = from - 1;
    s.end = to;
    s.label = f->words.n;
    s.n_label = line->word[1].n;
    text_add(&f->words, line->word[1].p, line->word[1].n);
    f->span[f->n_spans++] = s;
    return true;
}

/* A bracket alone, before a root without a label, was taken for a word. */
static bool is_bracket(trl_str w)
{
    return w.n == 5 && memcmp(w.p, "-LRB-", 5) == 0;
}

static bool opens(trl_str w)
{
    return is_bracket(w) || (w.n && w.p[0] == '(');
}

/* A line of a tree; before it may stand its probability. */
static void read_tree_line(parser_file *f, const trl_sentence *line)
{
    size_t from = f->depth == 0 && line->n > 1 && !opens(line->word[0]) && opens(line->word[1]);
    const bool starts = f->depth == 0 && from < line->n;
    for (size_t i = from; i < line->n; i++) {
        trl_str w = line->word[i];
        if (i == from && starts && is_bracket(w))
            w = (trl_str){"(", 1};
        text_add(&f->trees, w.p, w.n);
        text_char(&f->trees, ' ');
        for (size_t k = 0; k < w.n; k++)
            f->depth += (w.p[k] == '(') - (w.p[k] == ')');
    }
    f->n_trees += starts;
}

static trl_status read_parser(parser_file *f, const char *path, trl_error *err)
{
    trl_sentence_reader *r = NULL;
    trl_status st = trl_sentence_reader_open(path, TRL_SENTENCE_WORDS, &r, err);
    for (bool more = true; st == TRL_OK;) {
        trl_sentence line;
        st = trl_sentence_reader_next(r, &line, &more, err);
        if (st != TRL_OK || !more)
            break;
        if (!read_span(f, &line, err, &st))
            read_tree_line(f, &line);
        text_char(&f->trees, '\n');
    }
    if (st == TRL_OK && (f->trees.failed || f->words.failed))
        st = tag_no_memory(err);
    trl_sentence_reader_free(r);
    return st;
}

/* ---- constituents ---------------------------------------------------------------------------- */

typedef struct tree_side {
    trl_treebank *bank;
    const char *path;
    trl_tree tree;
    bool more;
    error_span *span; /* [n] the constituents */
    bool *used;       /* [n] has its like on the other side */
    trl_str *tag;     /* [n_words] */
    size_t n, cap;
} tree_side;

static bool collect(tree_side *s)
{
    const trl_tree *t = &s->tree;
    if (t->n_nodes > s->cap) {
        free(s->span);
        free(s->used);
        free(s->tag);
        s->cap = 2 * t->n_nodes;
        s->span = malloc(s->cap * sizeof *s->span);
        s->used = malloc(s->cap * sizeof *s->used);
        s->tag = malloc(s->cap * sizeof *s->tag);
    }
    if (!s->span || !s->used || !s->tag)
        return false;
    s->n = 0;
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const trl_node *node = &t->node[i];
        const trl_str label = trl_tree_label(t, i);
        if (node->child == TRL_NO_NODE) {
            s->tag[node->from] = label;
            continue;
        }
        s->used[s->n] = false;
        s->span[s->n++] = (error_span){node->from, node->to, label, (double)NAN};
    }
    return true;
}

static bool cross(const error_span *a, const error_span *b)
{
    return (a->begin < b->begin && b->begin < a->end && a->end < b->end) ||
           (b->begin < a->begin && a->begin < b->end && b->end < a->end);
}

/* The first span of a tree; they are in order. */
static size_t first_span(const parser_file *f, size_t tree)
{
    size_t low = 0, high = f->n_spans;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (f->span[middle].tree < tree)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How probable the parser found it: 0 where it is not among the tree's spans, NaN without any. */
static double given(const parser_file *f, size_t tree, const error_span *s)
{
    const size_t first = first_span(f, tree);
    for (size_t k = first; k < f->n_spans && f->span[k].tree == tree; k++) {
        const sure_span *x = &f->span[k];
        if (x->begin == s->begin && x->end == s->end &&
            errors_same_text((trl_str){f->words.p + x->label, x->n_label}, s->type))
            return x->p;
    }
    return first < f->n_spans && f->span[first].tree == tree ? 0.0 : (double)NAN;
}

/* ---- errors ---------------------------------------------------------------------------------- */

typedef struct tree_reading {
    error_list *e;
    parser_file file;
    tree_side side[2];
    size_t number; /* of the tree, from 0 */
} tree_reading;

static void match(tree_side *gold, tree_side *out)
{
    for (size_t i = 0; i < out->n; i++)
        for (size_t k = 0; k < gold->n && !out->used[i]; k++)
            if (!gold->used[k] && errors_same_words(&gold->span[k], &out->span[i]) &&
                errors_same_text(gold->span[k].type, out->span[i].type))
                gold->used[k] = out->used[i] = true;
}

static bool add_extra(tree_reading *r, const error_sides *s, const error_span *x)
{
    tree_side *gold = &r->side[0];
    error_item item = {.kind = ERROR_EXTRA, .predicted = *x, .p = given(&r->file, r->number, x)};
    for (size_t k = 0; k < gold->n; k++)
        if (!gold->used[k] && errors_same_words(&gold->span[k], x)) {
            gold->used[k] = true;
            item.kind = ERROR_TYPE;
            item.gold = gold->span[k];
            return errors_add(r->e, s, &item);
        }
    for (size_t k = 0; k < gold->n; k++)
        if (cross(&gold->span[k], x)) {
            item.kind = ERROR_BOUNDARIES;
            item.gold = gold->span[k];
            break;
        }
    return errors_add(r->e, s, &item);
}

static bool add_tags(tree_reading *r, const error_sides *s)
{
    bool ok = true;
    for (size_t i = 0; i < s->n && ok; i++)
        if (!errors_same_text(r->side[0].tag[i], r->side[1].tag[i]))
            ok = errors_add(r->e, s,
                            &(error_item){.kind = ERROR_TAG,
                                          .gold = {i, i + 1, r->side[0].tag[i], (double)NAN},
                                          .predicted = {i, i + 1, r->side[1].tag[i], (double)NAN},
                                          .p = (double)NAN});
    return ok;
}

static bool add_tree(tree_reading *r, const error_sides *s)
{
    tree_side *gold = &r->side[0], *out = &r->side[1];
    bool ok = true;
    match(gold, out);
    for (size_t i = 0; i < out->n && ok; i++)
        if (out->used[i])
            r->e->right++;
        else
            ok = add_extra(r, s, &out->span[i]);
    for (size_t k = 0; k < gold->n && ok; k++)
        if (!gold->used[k])
            ok = errors_add(r->e, s,
                            &(error_item){.kind = ERROR_MISSED,
                                          .gold = gold->span[k],
                                          .p = 1.0 - given(&r->file, r->number, &gold->span[k])});
    return ok && add_tags(r, s);
}

static trl_status compare_trees(tree_reading *r, trl_error *err)
{
    tree_side *gold = &r->side[0], *out = &r->side[1];
    const trl_tree *a = &gold->tree, *b = &out->tree;
    bool equal = a->n_words == b->n_words;
    for (size_t i = 0; equal && i < a->n_words; i++)
        equal = errors_same_text(a->word[i], b->word[i]);
    if (!equal)
        return fail_trees(err, out->path, b->row, "this tree has other words than the true one");
    if (!collect(gold) || !collect(out))
        return tag_no_memory(err);
    const error_sides s = {
        .number = r->number + 1, .row = a->row, .word = a->word, .n = a->n_words};
    r->e->seen++;
    r->e->words += a->n_words;
    r->e->gold += gold->n;
    r->e->predicted += out->n;
    return add_tree(r, &s) ? TRL_OK : tag_no_memory(err);
}

static trl_status read_pairs(tree_reading *r, trl_error *err)
{
    for (trl_status st = TRL_OK;; r->number++) {
        for (int k = 0; k < 2 && st == TRL_OK; k++)
            st = trl_treebank_next(r->side[k].bank, &r->side[k].tree, &r->side[k].more, err);
        if (st != TRL_OK || (!r->side[0].more && !r->side[1].more))
            return st;
        const tree_side *longer = &r->side[r->side[0].more ? 0 : 1];
        st = r->side[0].more == r->side[1].more ? compare_trees(r, err)
                                                : fail_trees(err, longer->path, longer->tree.row,
                                                             "the other file has no such tree");
        if (st != TRL_OK)
            return st;
    }
}

trl_status errors_read_trees(error_list *e, const error_files *f, trl_error *err)
{
    tree_reading r = {.e = e, .side = {{.path = f->gold}, {.path = f->out}}};
    trl_transform how = trl_transform_clean();
    how.root = "";
    trl_status st = read_parser(&r.file, f->out, err);
    if (st == TRL_OK)
        st = trl_treebank_open(f->gold, &how, false, &r.side[0].bank, err);
    if (st == TRL_OK)
        st = trl_treebank_memory(&(trl_text){strcmp(f->out, "-") == 0 ? "<stdin>" : f->out,
                                             r.file.trees.p, r.file.trees.n},
                                 &how, false, &r.side[1].bank, err);
    if (st == TRL_OK)
        st = read_pairs(&r, err);
    e->unit = "constituents";
    e->probabilities = r.file.n_spans > 0;
    for (int k = 0; k < 2; k++) {
        trl_treebank_free(r.side[k].bank);
        free(r.side[k].span);
        free(r.side[k].used);
        free(r.side[k].tag);
    }
    text_fini(&r.file.trees);
    text_fini(&r.file.words);
    free(r.file.span);
    return st;
}
