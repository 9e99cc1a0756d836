/* feature_read.c -- reading templates in words.
 *
 *     line     = [ declaration | [ "node:" | "edge:" | "triple:" | "both:" ] [ all ] ]
 *     declaration = "columns" NAME ... | ( "gazetteer" | "clusters" | "vectors" ) NAME "PATH"
 * OPTION ... all      = part { "&" part } part     = ( "(" all ")" | property ) [ "at" numbers ]
 *     property = FUNCTION [ argument ] [ "of" property ] | COLUMN | LIST [ numbers ] [ "of"
 * property ] numbers  = range { "," range }          range = N [ ".." N ]
 *
 * A part stands for all its choices (of windows and ranges); `all` for every combination of them.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/feature_list.h"
#include "feature/feature_scan.h"
#include "feature/template.h"

#define MAX_TERMS 8
#define MAX_CHOICES 10000 /* features of one line */
#define MAX_OFFSET 1000

/* One way to read a part: terms that must all have values. */
typedef struct choice {
    size_t n;
    size_t property[MAX_TERMS];
    int64_t offset[MAX_TERMS];
} choice;

typedef struct choices {
    choice *c;
    size_t n, cap;
} choices;

static trl_status add_choice(trl_feature_scan *s, choices *to, const choice *c)
{
    if (to->n == MAX_CHOICES)
        return trl_feature_scan_fail(s, "the line makes more than 10,000 features");
    choice *all = trl_reserve(to->c, &to->cap, to->n + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(s->err);
    to->c = all;
    all[to->n++] = *c;
    return TRL_OK;
}

/* ---- features -------------------------------------------------------------------------------- */

static trl_status read_all(trl_feature_scan *s, choices *out);

/* Every choice at every distance, into `out`. */
static trl_status shift(trl_feature_scan *s, const choices *from, const trl_numbers *at,
                        choices *out)
{
    trl_status st = TRL_OK;
    for (size_t j = 0; st == TRL_OK && j < at->n; j++)
        for (size_t i = 0; st == TRL_OK && i < from->n; i++) {
            choice c = from->c[i];
            for (size_t k = 0; k < c.n; k++)
                c.offset[k] += at->v[j];
            st = add_choice(s, out, &c);
        }
    return st;
}

static trl_status read_group(trl_feature_scan *s, choices *out)
{
    if (++s->depth > TRL_SCAN_DEPTH)
        return trl_feature_scan_fail(s, "brackets are nested too deeply");
    trl_status st = read_all(s, out);
    s->depth--;
    if (st == TRL_OK && !trl_feature_scan_sign(s, ')')) {
        trl_feature_scan_mark(s);
        st = trl_feature_scan_fail(s, "')' is expected");
    }
    return st;
}

static trl_status read_part(trl_feature_scan *s, choices *out)
{
    choices inner = {0};
    trl_properties p;
    trl_status st;
    if (trl_feature_scan_sign(s, '(')) {
        st = read_group(s, &inner);
    } else {
        st = trl_feature_scan_property(s, &p);
        for (size_t i = 0; st == TRL_OK && i < p.n; i++)
            st = add_choice(s, &inner, &(choice){.n = 1, .property = {p.k[i]}});
    }
    trl_numbers at = {.v = {0}, .n = 1};
    if (st == TRL_OK && trl_feature_scan_word(s, "at"))
        st = trl_feature_scan_numbers(s, -MAX_OFFSET, MAX_OFFSET, "a distance", &at);
    if (st == TRL_OK)
        st = shift(s, &inner, &at, out);
    trl_free(inner.c);
    return st;
}

/* Every choice of a with every choice of b. */
static trl_status multiply(trl_feature_scan *s, const choices *a, const choices *b, choices *out)
{
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n; j++) {
            choice c = a->c[i];
            for (size_t k = 0; k < b->c[j].n; k++) {
                if (c.n == MAX_TERMS)
                    return trl_feature_scan_fail(s, "more than %d properties are joined",
                                                 MAX_TERMS);
                c.property[c.n] = b->c[j].property[k];
                c.offset[c.n++] = b->c[j].offset[k];
            }
            const trl_status st = add_choice(s, out, &c);
            if (st != TRL_OK)
                return st;
        }
    return TRL_OK;
}

static trl_status read_all(trl_feature_scan *s, choices *out)
{
    choices left = {0};
    trl_status st = read_part(s, &left);
    while (st == TRL_OK && trl_feature_scan_sign(s, '&')) {
        choices right = {0}, both = {0};
        st = read_part(s, &right);
        if (st == TRL_OK)
            st = multiply(s, &left, &right, &both);
        trl_free(right.c);
        trl_free(left.c);
        left = both;
    }
    for (size_t i = 0; st == TRL_OK && i < left.n; i++)
        st = add_choice(s, out, &left.c[i]);
    trl_free(left.c);
    return st;
}

/* What comes before the value of term k. */
static void put_term(trl_feature_list *l, const choice *c, size_t k)
{
    const trl_property *p = &l->property[c->property[k]];
    const trl_str name = trl_strtab_get(&l->names, (uint32_t)c->property[k]);
    if (k > 0)
        trl_buf_ch(&l->text, '&');
    trl_buf_add(&l->text, name.p, name.n);
    if (c->offset[k])
        trl_buf_fmt(&l->text, "[%+lld]", (long long)c->offset[k]);
    if (!p->test)
        trl_buf_ch(&l->text, p->dense ? '.' : '=');
}

static trl_status add_feature(trl_feature_scan *s, const choice *c, int cliques)
{
    trl_feature_list *l = s->list;
    trl_feature *feature =
        trl_reserve(l->feature, &l->feature_cap, l->n_features + 1, sizeof *feature);
    if (feature)
        l->feature = feature;
    trl_feature_term *term = trl_reserve(l->term, &l->term_cap, l->n_terms + c->n, sizeof *term);
    if (term)
        l->term = term;
    if (!feature || !term)
        return trl_fail_mem(s->err);
    l->feature[l->n_features++] = (trl_feature){cliques, l->n_terms, c->n};
    for (size_t k = 0; k < c->n; k++) {
        const size_t from = l->text.len;
        put_term(l, c, k);
        l->term[l->n_terms++] =
            (trl_feature_term){c->property[k], c->offset[k], from, l->text.len - from};
    }
    return l->text.failed ? trl_fail_mem(s->err) : TRL_OK;
}

static trl_status read_features(trl_feature_scan *s, int cliques)
{
    choices all = {0};
    trl_status st = TRL_OK;
    if (trl_feature_scan_at_end(s)) /* a marker alone */
        return add_feature(s, &(choice){0}, cliques);
    st = read_all(s, &all);
    if (st == TRL_OK && !trl_feature_scan_at_end(s)) {
        trl_feature_scan_mark(s);
        st = trl_feature_scan_fail(s, "the end of the line, '&' or 'at' is expected here");
    }
    for (size_t i = 0; st == TRL_OK && i < all.n; i++)
        st = add_feature(s, &all.c[i], cliques);
    trl_free(all.c);
    return st;
}

/* ---- declarations ---------------------------------------------------------------------------- */

/* Names that mean something already. */
static trl_status check_name(trl_feature_scan *s, trl_str name)
{
    const bool taken =
        trl_word_function_find(name) || trl_feature_scan_list_find(s->list, name) != SIZE_MAX ||
        trl_str_is(name, "of") || trl_str_is(name, "at") ||
        (trl_feature_scan_column_find(s->list, name) != SIZE_MAX && !trl_str_is(name, "word"));
    return taken ? trl_feature_scan_fail(s, "the name '%.*s' is taken",
                                         (int)(name.n < 40 ? name.n : 40), name.p)
                 : TRL_OK;
}

static trl_status read_columns(trl_feature_scan *s)
{
    trl_feature_list *l = s->list;
    trl_str name;
    if (l->n_properties || l->n_column_names)
        return trl_feature_scan_fail(s, "'columns' comes once, before all features");
    for (trl_feature_scan_mark(s); trl_feature_scan_any_word(s, &name); trl_feature_scan_mark(s)) {
        const trl_status st = trl_str_is(name, "_") ? TRL_OK : check_name(s, name);
        if (st != TRL_OK)
            return st;
        trl_str *all = trl_reserve(l->column, &l->column_cap, l->n_column_names + 1, sizeof *all);
        if (!all)
            return trl_fail_mem(s->err);
        l->column = all;
        all[l->n_column_names++] = name;
    }
    return trl_feature_scan_at_end(s)
               ? TRL_OK
               : trl_feature_scan_fail(s, "the name of a column is expected");
}

static trl_status read_list(trl_feature_scan *s, trl_word_list_kind kind)
{
    trl_feature_list *l = s->list;
    trl_named_list x = {.kind = kind, .row = s->row};
    trl_feature_scan_mark(s);
    trl_status st = TRL_OK;
    if (!trl_feature_scan_any_word(s, &x.name)) {
        st = trl_feature_scan_fail(s, "the name of the list is expected");
        return trl_fail_hint(s->err, st, "gazetteer places \"places.txt\" folded");
    }
    if (trl_str_is(x.name, "word") || trl_str_is(x.name, "_"))
        return trl_feature_scan_fail(s, "the name '%.*s' is taken", (int)x.name.n, x.name.p);
    st = check_name(s, x.name);
    if (st == TRL_OK)
        st = trl_feature_scan_string(s, "the path of a file", &x.path);
    if (st == TRL_OK && x.path.n == 0)
        return trl_feature_scan_fail(s, "the path is empty");
    x.col = trl_feature_scan_col(s);
    for (bool more = true; st == TRL_OK && more;) {
        more = trl_feature_scan_word(s, "folded");
        x.folded = x.folded || more;
        if (!more && kind == TRL_GAZETTEER)
            x.all = (more = trl_feature_scan_word(s, "all")) || x.all;
    }
    if (st == TRL_OK && !trl_feature_scan_at_end(s)) {
        trl_feature_scan_mark(s);
        return trl_feature_scan_fail(s, kind == TRL_GAZETTEER
                                            ? "'folded', 'all' or the end of the line"
                                              " is expected here"
                                            : "'folded' or the end of the line is "
                                              "expected here");
    }
    trl_named_list *all = NULL;
    if (st == TRL_OK && l->n_lists == 20)
        return trl_feature_scan_fail(s, "more than 20 lists");
    if (st == TRL_OK) {
        all = trl_reserve(l->list, &l->list_cap, l->n_lists + 1, sizeof *all);
        if (!all)
            return trl_fail_mem(s->err);
        l->list = all;
        all[l->n_lists++] = x;
    }
    return st;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int cliques;
} markers[] = {{"node", TRL_ON_LABEL},
               {"edge", TRL_ON_PAIR},
               {"triple", TRL_ON_TRIPLE},
               {"both", TRL_ON_LABEL | TRL_ON_PAIR}};

static trl_status read_line(trl_feature_scan *s)
{
    trl_feature_scan_mark(s);
    if (trl_feature_scan_word(s, "columns"))
        return read_columns(s);
    if (trl_feature_scan_word(s, "gazetteer"))
        return read_list(s, TRL_GAZETTEER);
    if (trl_feature_scan_word(s, "clusters"))
        return read_list(s, TRL_CLUSTERS);
    if (trl_feature_scan_word(s, "vectors"))
        return read_list(s, TRL_VECTORS);
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++)
        if (trl_feature_scan_marker(s, markers[i].name))
            return read_features(s, markers[i].cliques);
    return read_features(s, TRL_ON_LABEL);
}

bool trl_feature_list_is(trl_str text)
{
    static const char *const others[] = {"word", "columns", "gazetteer", "clusters", "vectors"};
    trl_feature_scan s = {.end = text.p + text.n};
    trl_str word;
    for (const char *at = trl_feature_scan_begin(text); at < s.end;) {
        at = trl_feature_scan_line(&s, at);
        if (trl_feature_scan_at_end(&s))
            continue;
        if (trl_feature_scan_marker(&s, "node") || trl_feature_scan_marker(&s, "edge") ||
            trl_feature_scan_sign(&s, '('))
            return true;
        if (!trl_feature_scan_any_word(&s, &word))
            return false;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            if (trl_str_is(word, others[i]))
                return true;
        return trl_word_function_find(word) != NULL;
    }
    return false;
}

trl_status trl_feature_list_read(const char *name, trl_str text, trl_feature_list **out,
                                 trl_error *err)
{
    trl_feature_list *l = trl_zalloc(1, sizeof *l);
    if (!l)
        return trl_fail_mem(err);
    trl_feature_scan s = {.list = l, .name = name, .end = text.p + text.n, .err = err};
    trl_status st = TRL_OK;
    for (const char *at = trl_feature_scan_begin(text); st == TRL_OK && at < s.end;) {
        at = trl_feature_scan_line(&s, at);
        st = trl_feature_scan_check(&s);
        if (st == TRL_OK && !trl_feature_scan_at_end(&s))
            st = read_line(&s);
    }
    if (st != TRL_OK) {
        trl_feature_list_free(l);
        return st;
    }
    *out = l;
    return TRL_OK;
}
