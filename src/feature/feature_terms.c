/* feature_terms.c -- reading what a feature looks at: functions, columns, lists. */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "feature/feature_scan.h"

#define MAX_LENGTH 100 /* characters of an affix or n-gram, bits of a cluster */
#define MAX_COLUMN 1000000

static trl_status add_property(trl_feature_scan *s, trl_properties *to, trl_property p,
                               trl_str regex)
{
    const size_t k = trl_feature_list_property(s->list, p, regex);
    if (k == SIZE_MAX)
        return trl_fail_mem(s->err);
    if (to->n == sizeof to->k / sizeof *to->k)
        return trl_feature_scan_fail(s, "more than 64 properties at once");
    to->k[to->n++] = k;
    return TRL_OK;
}

size_t trl_feature_scan_column_find(const trl_feature_list *l, trl_str name)
{
    for (size_t i = 0; i < l->n_column_names; i++)
        if (trl_str_same(l->column[i], name))
            return i;
    return trl_str_is(name, "word") ? 0 : SIZE_MAX;
}

size_t trl_feature_scan_list_find(const trl_feature_list *l, trl_str name)
{
    for (size_t i = 0; i < l->n_lists; i++)
        if (trl_str_same(l->list[i].name, name))
            return i;
    return SIZE_MAX;
}

static trl_status unknown(trl_feature_scan *s, trl_str name)
{
    const trl_status st = trl_feature_scan_fail(s, "'%.*s' is not a function, a column or a list",
                                                (int)(name.n < 40 ? name.n : 40), name.p);
    return trl_fail_hint(s->err, st,
                         "functions: word, lower, zeros, prefix, suffix, ngrams, shape, "
                         "short-shape, case, kind, script, length, has, all, match, part, first, "
                         "last, values, column; 'columns' names columns");
}

/* What comes after "of", or the word. */
static trl_status read_of(trl_feature_scan *s, bool needed, trl_properties *of)
{
    of->n = 0;
    if (trl_feature_scan_word(s, "of")) {
        if (++s->depth > TRL_SCAN_DEPTH)
            return trl_feature_scan_fail(s, "'of' is nested too deeply");
        trl_feature_scan_mark(s);
        const char *from = s->mark;
        const trl_status st = trl_feature_scan_property(s, of);
        s->depth--;
        if (st == TRL_OK)
            s->mark = from;
        for (size_t i = 0; st == TRL_OK && i < of->n; i++) {
            const trl_property *p = &s->list->property[of->k[i]];
            if (p->many || p->dense || p->test)
                return trl_feature_scan_fail(s, "nothing can be taken of this: it is not one text");
        }
        return st;
    }
    if (needed) {
        trl_feature_scan_mark(s);
        const trl_status st =
            trl_feature_scan_fail(s, "'of' and a column are expected after 'values'");
        return trl_fail_hint(s->err, st, "'values of column 1', or a name that 'columns' gives");
    }
    return add_property(
        s, of,
        (trl_property){.fn = TRL_FN_COLUMN,
                       .row = s->row,
                       .col = trl_feature_scan_col(s),
                       .of = TRL_NO_PROPERTY,
                       .arg = trl_feature_scan_column_find(s->list, (trl_str){"word", 4})},
        (trl_str){0});
}

/* Every argument of every operand. */
static trl_status combine(trl_feature_scan *s, trl_property p, const trl_properties *of,
                          const trl_numbers *args, trl_properties *out)
{
    trl_status st = TRL_OK;
    for (size_t i = 0; st == TRL_OK && i < of->n; i++)
        for (size_t j = 0; st == TRL_OK && j < args->n; j++) {
            p.of = of->k[i];
            p.arg = (size_t)args->v[j];
            st = add_property(s, out, p, (trl_str){0});
        }
    return st;
}

static trl_status read_class(trl_feature_scan *s, trl_numbers *args)
{
    trl_str name;
    size_t bits = 0;
    trl_feature_scan_mark(s);
    if (trl_feature_scan_any_word(s, &name))
        bits = trl_class_find(name);
    if (!bits) {
        const trl_status st = trl_feature_scan_fail(s, "a class of characters is expected");
        return trl_fail_hint(s->err, st,
                             "upper, lower, letter, digit, number, punctuation, symbol, mark");
    }
    *args = (trl_numbers){.v = {(int64_t)bits}, .n = 1};
    return TRL_OK;
}

static trl_status read_regex(trl_feature_scan *s, trl_property p, trl_properties *out)
{
    trl_str text;
    size_t at;
    trl_status st = trl_feature_scan_string(s, "a regular expression", &text);
    trl_properties of;
    if (st == TRL_OK)
        st = read_of(s, false, &of);
    for (size_t i = 0; st == TRL_OK && i < of.n; i++) {
        st = trl_word_regex_new(text, &p.regex, &at, s->err);
        if (st == TRL_EPARSE)
            return trl_feature_scan_fail_at(s, st, text.p + at);
        p.of = of.k[i];
        if (st == TRL_OK)
            st = add_property(s, out, p, text);
    }
    return st;
}

static trl_status read_function(trl_feature_scan *s, const trl_word_function_row *f, trl_property p,
                                trl_properties *out)
{
    trl_numbers args = {.v = {0}, .n = 1};
    trl_properties of = {.k = {TRL_NO_PROPERTY}, .n = 1};
    trl_status st = TRL_OK;
    p.fn = f->fn;
    if (f->argument == TRL_ARG_REGEX)
        return read_regex(s, p, out);
    if (f->argument == TRL_ARG_RANGE)
        st = trl_feature_scan_numbers(s, 1, MAX_LENGTH, "a number of characters", &args);
    else if (f->argument == TRL_ARG_COLUMN)
        st = trl_feature_scan_numbers(s, 0, MAX_COLUMN, "the number of a column", &args);
    else if (f->argument == TRL_ARG_CLASS)
        st = read_class(s, &args);
    const bool alone = p.fn == TRL_FN_COLUMN || p.fn == TRL_FN_FIRST || p.fn == TRL_FN_LAST;
    if (st == TRL_OK && !alone)
        st = read_of(s, p.fn == TRL_FN_VALUES, &of);
    for (size_t i = 0; st == TRL_OK && p.fn == TRL_FN_VALUES && i < of.n; i++)
        if (s->list->property[of.k[i]].fn != TRL_FN_COLUMN)
            return trl_feature_scan_fail(s, "values are those of a column");
    return st == TRL_OK ? combine(s, p, &of, &args, out) : st;
}

static trl_status read_list_use(trl_feature_scan *s, trl_property p, trl_properties *out)
{
    trl_numbers args = {.v = {0}, .n = 1};
    trl_properties of;
    trl_status st = TRL_OK;
    if (s->list->list[p.list].kind == TRL_CLUSTERS && trl_feature_scan_number_is_next(s))
        st = trl_feature_scan_numbers(s, 1, MAX_LENGTH, "a number of bits", &args);
    if (st == TRL_OK)
        st = read_of(s, false, &of);
    return st == TRL_OK ? combine(s, p, &of, &args, out) : st;
}

trl_status trl_feature_scan_property(trl_feature_scan *s, trl_properties *out)
{
    trl_str name;
    out->n = 0;
    trl_feature_scan_mark(s);
    if (!trl_feature_scan_any_word(s, &name)) {
        const trl_status st =
            trl_feature_scan_fail(s, "what the feature looks at is expected here");
        return trl_fail_hint(s->err, st, "'word', 'suffix 3', 'shape of lower', ...");
    }
    trl_property p = {.of = TRL_NO_PROPERTY, .row = s->row, .col = trl_feature_scan_col(s)};
    const size_t column = trl_feature_scan_column_find(s->list, name);
    if (column != SIZE_MAX) {
        p.fn = TRL_FN_COLUMN;
        p.arg = column;
        return add_property(s, out, p, (trl_str){0});
    }
    const trl_word_function_row *f = trl_word_function_find(name);
    if (f)
        return read_function(s, f, p, out);
    p.fn = TRL_FN_LIST;
    p.list = trl_feature_scan_list_find(s->list, name);
    return p.list == SIZE_MAX ? unknown(s, name) : read_list_use(s, p, out);
}
