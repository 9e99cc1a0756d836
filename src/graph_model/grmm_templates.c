/* grmm_templates.c -- each template becomes a factor that sees the features of the data. */
/* SPDX-License-Identifier: MIT */
#include "graph_model/grmm_templates.h"

#include <string.h>

#include "base/buf.h"
#include "graph_model/spec_scan.h"

typedef enum template_kind { UNIGRAM, BIGRAM, PAIRWISE, SIMILAR, KINDS } template_kind;

static const char *const class_names[KINDS] = {"UnigramTemplate", "BigramTemplate",
                                               "PairwiseFactorTemplate", "SimilarTokensTemplate"};

/* new NAME (label, other, apart, ...) */
typedef struct grmm_template {
    template_kind kind;
    int64_t label, other;
    bool apart;     /* the features of the two tokens are told apart */
    bool all_words; /* not only capitalised ones */
    trl_spec_place at;
} grmm_template;

typedef struct template_list {
    size_t n;
    grmm_template item[TRL_FAMILIES_MAX];
    bool used[TRL_LAYERS_MAX];
    trl_spec_place place[TRL_LAYERS_MAX]; /* where each label is named first */
} template_list;

/* ---- reading --------------------------------------------------------------------------------- */

static void start(trl_spec_scan *s, const char *text, size_t n)
{
    const bool mark = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    s->line = s->p = text + (mark ? 3 : 0);
    s->end = text + n;
    s->row = 1;
}

/* To the next template, past Java's comments; false at the end. */
static bool next_template(trl_spec_scan *s)
{
    while (trl_spec_next(s)) {
        if (s->end - s->p < 2 || memcmp(s->p, "//", 2) != 0)
            return true;
        while (s->p < s->end && *s->p != '\n')
            s->p++;
    }
    return false;
}

bool trl_grmm_templates_here(const char *text, size_t n)
{
    trl_spec_scan s = {0};
    if (n == 0)
        return false;
    start(&s, text, n);
    return next_template(&s) && trl_spec_is(trl_spec_peek(&s), "new");
}

/* new a.b.NAME: the last part of a name says all. */
static trl_status read_class(trl_spec_scan *s, trl_str *name, trl_spec_place *at)
{
    trl_spec_more(s);
    *at = trl_spec_here(s);
    if (!trl_spec_is(trl_spec_word(s), "new"))
        return trl_spec_fail(s, *at, "a template expected, as in new ACRF.BigramTemplate (0)");
    trl_status st;
    do
        st = trl_spec_name(s, "the name of a template", name, at);
    while (st == TRL_OK && trl_spec_take(s, "."));
    return st;
}

static trl_status read_label(trl_spec_scan *s, template_list *list, int64_t *out)
{
    trl_spec_more(s);
    const trl_spec_place at = trl_spec_here(s);
    const trl_status st = trl_spec_number(s, "the number of a label, from 0 on", out);
    if (st != TRL_OK)
        return st;
    if (*out >= TRL_LAYERS_MAX)
        return trl_spec_fail(s, at, "more than %d labels of a token", TRL_LAYERS_MAX);
    if (!list->used[*out])
        list->place[*out] = at;
    list->used[*out] = true;
    return TRL_OK;
}

/* new SimilarTokensTemplate.CapWordsBinner () */
static trl_status read_binner(trl_spec_scan *s, grmm_template *t)
{
    trl_str name;
    trl_spec_place at;
    trl_status st = read_class(s, &name, &at);
    t->all_words = st == TRL_OK && trl_spec_is(name, "WordFeatureBinner");
    if (st == TRL_OK && !t->all_words && !trl_spec_is(name, "CapWordsBinner"))
        st = trl_spec_fail(s, at, "CapWordsBinner or WordFeatureBinner expected, not '%.*s'",
                           TRL_SPEC_CUT(name));
    if (st == TRL_OK)
        st = trl_spec_expect(s, "(", "after the name");
    return st == TRL_OK ? trl_spec_expect(s, ")", "after '('") : st;
}

/* After the label: true or false, features apart; false, not the word alone; which words. */
static trl_status read_similar(trl_spec_scan *s, grmm_template *t)
{
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && trl_spec_take(s, ","); k++) {
        const trl_str word = trl_spec_peek(s);
        const trl_spec_place at = trl_spec_here(s);
        const bool yes = trl_spec_is(word, "true");
        if (trl_spec_is(word, "new"))
            return read_binner(s, t);
        if (k > 1 || (!yes && !trl_spec_is(word, "false")))
            return trl_spec_fail(s, at, "%s expected",
                                 k > 1 ? "')'" : "true, false or new CapWordsBinner ()");
        if (k == 1 && yes)
            return trl_spec_fail(s, at, "edges that see the word alone are not known: false");
        if (k == 0)
            t->apart = yes;
        trl_spec_word(s);
    }
    return st;
}

static trl_status read_kind(trl_spec_scan *s, grmm_template *t)
{
    trl_str name;
    const trl_status st = read_class(s, &name, &t->at);
    if (st != TRL_OK)
        return st;
    while (t->kind < KINDS && !trl_spec_is(name, class_names[t->kind]))
        t->kind++;
    if (t->kind < KINDS)
        return TRL_OK;
    trl_spec_fail(s, t->at, "the template '%.*s' is not known", TRL_SPEC_CUT(name));
    return trl_fail_hint(s->err, TRL_EPARSE, "%s, %s, %s and %s are", class_names[UNIGRAM],
                         class_names[BIGRAM], class_names[PAIRWISE], class_names[SIMILAR]);
}

static trl_status read_template(trl_spec_scan *s, template_list *list)
{
    grmm_template t = {0};
    trl_status st = read_kind(s, &t);
    if (st == TRL_OK)
        st = trl_spec_expect(s, "(", "after the name of a template");
    if (st == TRL_OK)
        st = read_label(s, list, &t.label);
    if (st == TRL_OK && t.kind == PAIRWISE) {
        st = trl_spec_expect(s, ",", "between two labels");
        if (st == TRL_OK)
            st = read_label(s, list, &t.other);
        if (st == TRL_OK && t.label == t.other)
            st = trl_spec_fail(s, t.at, "two labels expected, not the same twice");
    }
    if (st == TRL_OK && t.kind == SIMILAR)
        st = read_similar(s, &t);
    if (st == TRL_OK)
        st = trl_spec_expect(s, ")", "after the arguments");
    if (st != TRL_OK)
        return st;
    trl_spec_take(s, ";");
    for (size_t k = 0; k < list->n; k++)
        if (list->item[k].kind == t.kind && list->item[k].label == t.label &&
            list->item[k].other == t.other)
            return trl_spec_fail(s, t.at, "the same template twice");
    if (list->n == TRL_FAMILIES_MAX)
        return trl_spec_fail(s, t.at, "more than %d templates", TRL_FAMILIES_MAX);
    list->item[list->n++] = t;
    return TRL_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* GRMM's edge of two neighbours sees the first of them. */
static void write_factor(const grmm_template *t, trl_buf *out)
{
    const int a = (int)t->label, b = (int)t->other;
    switch (t->kind) {
    case UNIGRAM:
        trl_buf_fmt(out, "factor label%d[i] features attributes\n", a);
        break;
    case BIGRAM:
        trl_buf_fmt(out, "factor label%d[i-1] label%d[i] features attributes at i-1\n", a, a);
        break;
    case PAIRWISE:
        trl_buf_fmt(out, "factor label%d[i] label%d[i] features attributes\n", a, b);
        break;
    case SIMILAR:
    case KINDS:
        trl_buf_fmt(out, "factor similar%d: label%d[i] label%d[j]\n", a, a, a);
        trl_buf_fmt(out, "  where %%x[i,0] = %%x[j,0] and %s and j-i > 1\n",
                    t->all_words ? "%x[i,0] != \"_\"" : "%t[i,0,\"^\\u\\a*$\"]");
        trl_buf_fmt(out, "  features attributes at i, j %s\n", t->apart ? "apart" : "pooled");
        break;
    }
}

static void write_list(const template_list *list, trl_buf *out)
{
    for (int k = 0; k < TRL_LAYERS_MAX; k++)
        if (list->used[k])
            trl_buf_fmt(out, "labels label%d column %d\n", k, k + 1);
    for (size_t k = 0; k < list->n; k++)
        write_factor(&list->item[k], out);
}

static void set_places(const template_list *list, trl_graph_spec *x)
{
    for (size_t k = 0; k < x->n_layers; k++) {
        const trl_spec_place at = list->place[x->layer[k].column - 1];
        x->layer[k].row = at.row;
        x->layer[k].col = at.col;
    }
    for (size_t k = 0; k < x->n_factors; k++) {
        x->factor[k].row = list->item[k].at.row;
        x->factor[k].col = list->item[k].at.col;
    }
}

trl_status trl_grmm_templates_parse(const char *name, const char *text, size_t n,
                                    trl_graph_spec **out, trl_error *err)
{
    trl_spec_scan s = {.name = name, .err = err};
    template_list list = {0};
    trl_buf b = {0};
    trl_status st = TRL_OK;
    start(&s, text, n);
    while (st == TRL_OK && next_template(&s))
        st = read_template(&s, &list);
    if (st == TRL_OK) {
        write_list(&list, &b);
        st = b.failed ? trl_fail_mem(err) : trl_graph_spec_parse(name, b.data, b.len, out, err);
    }
    if (st == TRL_OK)
        set_places(&list, *out);
    trl_buf_fini(&b);
    return st;
}
