/* feature_properties.c -- the functions of the dialect, and the table of properties. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "feature/feature_list.h"
#include "text/unicode.h"
#include "text/word_forms.h"

/* In the order of the enumeration.  No name begins with u, b, t or '*': see trl_feature_list_is. */
static const trl_word_function_row functions[] = {
    {"column", TRL_FN_COLUMN, TRL_ARG_COLUMN}, {"lower", TRL_FN_LOWER, TRL_ARG_NONE},
    {"zeros", TRL_FN_ZEROS, TRL_ARG_NONE},     {"prefix", TRL_FN_PREFIX, TRL_ARG_RANGE},
    {"suffix", TRL_FN_SUFFIX, TRL_ARG_RANGE},  {"ngrams", TRL_FN_NGRAMS, TRL_ARG_RANGE},
    {"shape", TRL_FN_SHAPE, TRL_ARG_NONE},     {"short-shape", TRL_FN_SHORT_SHAPE, TRL_ARG_NONE},
    {"case", TRL_FN_CASE, TRL_ARG_NONE},       {"kind", TRL_FN_KIND, TRL_ARG_NONE},
    {"script", TRL_FN_SCRIPT, TRL_ARG_NONE},   {"length", TRL_FN_LENGTH, TRL_ARG_NONE},
    {"has", TRL_FN_HAS, TRL_ARG_CLASS},        {"all", TRL_FN_ALL, TRL_ARG_CLASS},
    {"match", TRL_FN_MATCH, TRL_ARG_REGEX},    {"part", TRL_FN_PART, TRL_ARG_REGEX},
    {"first", TRL_FN_FIRST, TRL_ARG_NONE},     {"last", TRL_FN_LAST, TRL_ARG_NONE},
    {"values", TRL_FN_VALUES, TRL_ARG_NONE},
};

static bool is(trl_str s, const char *word)
{
    return strlen(word) == s.n && memcmp(s.p, word, s.n) == 0;
}

const trl_word_function_row *trl_word_function_find(trl_str name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (is(name, functions[i].name))
            return &functions[i];
    return NULL;
}

#define BIT(class) ((size_t)1 << TRL_CHAR_##class)

static const struct {
    const char *name;
    size_t bits;
} classes[] = {
    {"upper", BIT(UPPER)},
    {"lower", BIT(LOWER)},
    {"letter", BIT(UPPER) | BIT(LOWER) | BIT(LETTER) | BIT(IDEOGRAPH)},
    {"digit", BIT(DIGIT)},
    {"number", BIT(DIGIT) | BIT(NUMBER)},
    {"punctuation", BIT(PUNCTUATION)},
    {"symbol", BIT(SYMBOL)},
    {"mark", BIT(MARK)},
};

size_t trl_class_find(trl_str name)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (is(name, classes[i].name))
            return classes[i].bits;
    return 0;
}

static const char *class_name(size_t bits)
{
    size_t i = 0;
    while (classes[i].bits != bits)
        i++;
    return classes[i].name;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void put_column(const trl_feature_list *l, size_t column, trl_buf *b)
{
    if (column < l->n_column_names && !is(l->column[column], "_"))
        trl_buf_add(b, l->column[column].p, l->column[column].n);
    else if (column == 0)
        trl_buf_str(b, "word");
    else
        trl_buf_fmt(b, "column%zu", column);
}

/* NAME, its argument, and in brackets what it is taken of, unless that is the word. */
static void put_name(const trl_feature_list *l, const trl_property *p, trl_str regex, trl_buf *b)
{
    if (p->fn == TRL_FN_COLUMN) {
        put_column(l, p->arg, b);
        return;
    }
    if (p->fn == TRL_FN_LIST)
        trl_buf_add(b, l->list[p->list].name.p, l->list[p->list].name.n);
    else
        trl_buf_str(b, functions[p->fn].name);
    if (p->fn == TRL_FN_HAS || p->fn == TRL_FN_ALL)
        trl_buf_fmt(b, "-%s", class_name(p->arg));
    else if (p->regex)
        trl_buf_fmt(b, "\"%.*s\"", (int)regex.n, regex.p);
    else if (p->arg)
        trl_buf_fmt(b, "%zu", p->arg);
    if (p->of == TRL_NO_PROPERTY)
        return;
    const trl_property *of = &l->property[p->of];
    if (of->fn == TRL_FN_COLUMN && of->arg == 0)
        return;
    const trl_str inner = trl_strtab_get(&l->names, (uint32_t)p->of);
    trl_buf_ch(b, '(');
    trl_buf_add(b, inner.p, inner.n);
    trl_buf_ch(b, ')');
}

/* What follows from the function and what it is taken of. */
static void complete(const trl_feature_list *l, trl_property *p)
{
    const trl_property *of = p->of == TRL_NO_PROPERTY ? NULL : &l->property[p->of];
    const trl_word_list_kind kind = p->fn == TRL_FN_LIST ? l->list[p->list].kind : TRL_CLUSTERS;
    const bool gazetteer = p->fn == TRL_FN_LIST && kind == TRL_GAZETTEER;
    p->column = p->fn == TRL_FN_COLUMN ? p->arg : of ? of->column : SIZE_MAX;
    p->many = p->fn == TRL_FN_NGRAMS || gazetteer;
    p->test = p->fn == TRL_FN_HAS || p->fn == TRL_FN_ALL || p->fn == TRL_FN_MATCH ||
              p->fn == TRL_FN_FIRST || p->fn == TRL_FN_LAST;
    p->dense = p->fn == TRL_FN_VALUES || (p->fn == TRL_FN_LIST && kind == TRL_VECTORS);
    p->padded = p->fn == TRL_FN_COLUMN ||
                ((p->fn == TRL_FN_LOWER || p->fn == TRL_FN_ZEROS) && of && of->padded);
    p->context = p->fn == TRL_FN_FIRST || p->fn == TRL_FN_LAST || gazetteer || p->dense;
}

static bool add(trl_feature_list *l, const trl_property *p, const trl_buf *name)
{
    const size_t n = l->n_properties;
    trl_property *all = trl_reserve(l->property, &l->property_cap, n + 1, sizeof *all);
    if (all)
        l->property = all;
    trl_scale *scale = trl_reserve(l->scale, &l->scale_cap, n + 1, sizeof *scale);
    if (scale)
        l->scale = scale;
    if (!all || !scale || trl_strtab_add(&l->names, name->data, name->len) == TRL_NO_ID)
        return false;
    all[n] = *p;
    scale[n] = (trl_scale){0};
    l->n_properties++;
    if (p->column != SIZE_MAX && p->column >= l->columns)
        l->columns = p->column + 1;
    l->learns = l->learns || p->dense;
    const size_t scratch = p->regex ? trl_word_regex_scratch(p->regex) : 0;
    l->n_scratch = scratch > l->n_scratch ? scratch : l->n_scratch;
    return true;
}

size_t trl_feature_list_property(trl_feature_list *l, trl_property p, trl_str regex)
{
    trl_buf name = {0};
    put_name(l, &p, regex, &name);
    complete(l, &p);
    size_t k = SIZE_MAX;
    if (!name.failed) {
        const uint32_t id = trl_strtab_find(&l->names, name.data, name.len);
        if (id != TRL_NO_ID) {
            k = id;
            trl_word_regex_free(p.regex);
        } else if (add(l, &p, &name)) {
            k = l->n_properties - 1;
        } else {
            trl_word_regex_free(p.regex);
        }
    } else {
        trl_word_regex_free(p.regex);
    }
    trl_buf_fini(&name);
    return k;
}
