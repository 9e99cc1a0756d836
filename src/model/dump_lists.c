/* dump_lists.c -- word lists and scales of a template in words, as lines of a dump.
 *
 *     word-list gazetteer 0        kind (gazetteer, clusters, vectors) and numbers of a vector
 *     word KEY NAME                an entry of the list before: of a gazetteer (without NAME: the
 *                                  beginning of a phrase), of clusters, and
 *     word KEY "0.1 -2 ..."        of vectors: numbers separated by blanks
 *     scale PROPERTY D MEAN FACTOR dimension D of a property with real values, from 0 on
 */
/* SPDX-License-Identifier: MIT */
#include "model/dump_lists.h"

static const char *const kinds[] = {"gazetteer", "clusters", "vectors"};

static void put_entry(trl_buf *b, const trl_word_list_view *v, uint32_t k)
{
    trl_buf_str(b, "word\t");
    trl_put_field(b, trl_strview_get(&v->key, k));
    if (v->vector) {
        for (size_t d = 0; d < v->width; d++) {
            trl_buf_ch(b, d ? ' ' : '\t');
            trl_put_number(b, "%.9g", (double)v->vector[(size_t)k * v->width + d]);
        }
    } else if (v->id[k]) {
        trl_buf_ch(b, '\t');
        trl_put_field(b, trl_strview_get(&v->name, v->id[k] - 1));
    }
    trl_buf_ch(b, '\n');
}

trl_status trl_put_lists(trl_printer *p, const trl_feature_list *l, trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t i = 0; st == TRL_OK && i < l->n_lists; i++) {
        const trl_word_list_view *v = &l->list[i].view;
        trl_buf_fmt(&p->buf, "word-list\t%s\t%zu\n", kinds[l->list[i].kind], v->width);
        for (size_t k = 0; st == TRL_OK && k < v->key.n; k++) {
            put_entry(&p->buf, v, (uint32_t)k);
            st = trl_printer_flush(p, false, err);
        }
    }
    for (size_t k = 0; st == TRL_OK && k < l->n_properties; k++)
        for (size_t d = 0; d < l->scale[k].width; d++) {
            trl_buf_str(&p->buf, "scale\t");
            trl_put_field(&p->buf, trl_strtab_get(&l->names, (uint32_t)k));
            trl_buf_fmt(&p->buf, "\t%zu\t", d);
            trl_put_number(&p->buf, "%.17g", l->scale[k].mean[d]);
            trl_buf_ch(&p->buf, '\t');
            trl_put_number(&p->buf, "%.17g", l->scale[k].factor[d]);
            trl_buf_ch(&p->buf, '\n');
        }
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool is(trl_str s, const char *word)
{
    return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

trl_status trl_undump_list(trl_undump *u)
{
    trl_undump_lists *x = &u->lists;
    double width;
    size_t kind = 0;
    while (kind < 3 && !is(u->field[1], kinds[kind]))
        kind++;
    if (kind == 3)
        return FAIL_AT(u, 1, "'gazetteer', 'clusters' or 'vectors' expected");
    const trl_status st = trl_undump_number(u, 2, &width);
    if (st != TRL_OK)
        return st;
    if (!(width >= 0 && width <= 65536) || width != (double)(size_t)width ||
        (width > 0) != (kind == TRL_VECTORS))
        return FAIL_AT(u, 2, "a number of numbers expected");
    trl_named_list *all = trl_reserve(x->list, &x->cap, x->n + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(u->err);
    x->list = all;
    all[x->n++] =
        (trl_named_list){.kind = (trl_word_list_kind)kind, .own = {.width = (size_t)width}};
    return TRL_OK;
}

static trl_status read_vector(trl_undump *u, trl_word_list *l)
{
    float *row = trl_alloc(l->width, sizeof *row);
    if (!row)
        return trl_fail_mem(u->err);
    size_t n = 0, at = 0;
    const trl_str s = u->field[2];
    bool good = true;
    while (good && at <= s.n) {
        const char *blank = memchr(s.p + at, ' ', s.n - at);
        const size_t len = blank ? (size_t)(blank - s.p) - at : s.n - at;
        double v = 0.0;
        good = n < l->width && trl_number_parse(s.p + at, len, &v) == TRL_NUMBER_OK &&
               isfinite((float)v);
        if (good)
            row[n++] = (float)v;
        at += len + 1;
    }
    trl_status st =
        good && n == l->width ? TRL_OK : FAIL_AT(u, 2, "%zu numbers expected", l->width);
    if (st == TRL_OK && !trl_word_list_add(l, u->field[1], (trl_str){0}, row))
        st = trl_fail_mem(u->err);
    trl_free(row);
    return st;
}

trl_status trl_undump_word(trl_undump *u)
{
    if (u->lists.n == 0)
        return FAIL_AT(u, 0, "a word without a list");
    trl_named_list *x = &u->lists.list[u->lists.n - 1];
    const size_t want = x->kind == TRL_GAZETTEER && u->n_fields == 2 ? 2 : 3;
    if (u->n_fields != want)
        return FAIL_AT(u, 0, "%zu fields, separated by tabs, where %zu are expected", u->n_fields,
                       want);
    if (trl_strtab_find(&x->own.key, u->field[1].p, u->field[1].n) != TRL_NO_ID)
        return FAIL_AT(u, 1, "a word for the second time");
    if (x->kind == TRL_VECTORS)
        return read_vector(u, &x->own);
    const trl_str name = want == 3 ? u->field[2] : (trl_str){0};
    return trl_word_list_add(&x->own, u->field[1], name, NULL) ? TRL_OK : trl_fail_mem(u->err);
}

/* Kept as text until the template is known. */
trl_status trl_undump_scale(trl_undump *u)
{
    trl_undump_scale_line x = {.row = trl_input_row(u->in)};
    double d = 0.0;
    trl_status st = trl_undump_number(u, 2, &d);
    if (st == TRL_OK)
        st = trl_undump_number(u, 3, &x.mean);
    if (st == TRL_OK)
        st = trl_undump_number(u, 4, &x.factor);
    if (st == TRL_OK && !(d >= 0 && d < 65536 && d == (double)(size_t)d))
        return FAIL_AT(u, 2, "the number of a dimension expected");
    if (st != TRL_OK)
        return st;
    x.d = (size_t)d;
    x.property = trl_strtab_add(&u->lists.scaled, u->field[1].p, u->field[1].n);
    trl_undump_scale_line *all =
        trl_reserve(u->lists.scale, &u->lists.scale_cap, u->lists.n_scales + 1, sizeof *all);
    if (all)
        u->lists.scale = all;
    if (!all || x.property == TRL_NO_ID)
        return trl_fail_mem(u->err);
    all[u->lists.n_scales++] = x;
    return TRL_OK;
}

static trl_status misfit(trl_undump *u, uint64_t row, const char *what)
{
    return trl_fail_where(u->err, trl_fail(u->err, TRL_EPARSE, "%s", what), trl_input_name(u->in),
                          row, 0);
}

/* Dimensions come in order, those of a property together. */
static trl_status give_scales(trl_undump *u, trl_feature_list *l)
{
    const trl_undump_lists *x = &u->lists;
    for (size_t i = 0, end; i < x->n_scales; i = end) {
        const trl_undump_scale_line *s = &x->scale[i];
        const trl_str name = trl_strtab_get(&x->scaled, s->property);
        const uint32_t k = trl_strtab_find(&l->names, name.p, name.n);
        for (end = i; end < x->n_scales && x->scale[end].property == s->property; end++)
            if (x->scale[end].d != end - i)
                return misfit(u, x->scale[end].row, "dimensions come in order");
        if (k == TRL_NO_ID || !l->property[k].dense || l->scale[k].width)
            return misfit(u, s->row, "the template has no such property, or it has its scale");
        if (l->property[k].fn == TRL_FN_LIST && end - i != l->list[l->property[k].list].own.width)
            return misfit(u, s->row, "scales and vectors differ in width");
        if (!trl_scale_init(&l->scale[k], end - i))
            return trl_fail_mem(u->err);
        for (size_t d = 0; d < end - i; d++) {
            l->scale[k].mean[d] = s[d].mean;
            l->scale[k].factor[d] = s[d].factor;
        }
    }
    return TRL_OK;
}

trl_status trl_undump_lists_give(trl_undump *u)
{
    trl_feature_list *l = u->tpl ? trl_template_list(u->tpl) : NULL;
    trl_undump_lists *x = &u->lists;
    if ((l ? l->n_lists : 0) != x->n || (!l && x->n_scales))
        return misfit(u, u->template_row, "lists of words differ from the template");
    for (size_t i = 0; i < x->n; i++) {
        if (l->list[i].kind != x->list[i].kind || x->list[i].own.key.n == 0)
            return misfit(u, u->template_row, "lists of words differ from the template");
        l->list[i].own = x->list[i].own;
        x->list[i].own = (trl_word_list){0};
        l->list[i].view = trl_word_list_get(&l->list[i].own);
    }
    return l ? give_scales(u, l) : TRL_OK;
}

void trl_undump_lists_fini(trl_undump_lists *x)
{
    for (size_t i = 0; i < x->n; i++)
        trl_word_list_fini(&x->list[i].own);
    trl_free(x->list);
    trl_free(x->scale);
    trl_strtab_fini(&x->scaled);
}

trl_status trl_undump_template(trl_undump *u)
{
    trl_error why = {0};
    const char *name = trl_input_name(u->in);
    if (u->parts.n_columns == 0) {
        if (u->template_text.len == 0)
            return trl_undump_lists_give(u);
        const trl_status st = trl_fail(u->err, TRL_EPARSE, "a template, but 0 columns");
        return trl_fail_where(u->err, st, name, u->template_row, 0);
    }
    trl_status st =
        trl_template_parse(name, u->template_text.data, u->template_text.len, &u->tpl, &why);
    const size_t columns = st == TRL_OK ? trl_template_columns(u->tpl) : 0;
    if (st == TRL_EPARSE) {
        trl_fail(u->err, st, "in the template: %s", why.msg);
        return trl_fail_where(u->err, st, name, u->template_row + why.row - 1, 0);
    }
    if (st == TRL_OK && columns > u->parts.n_columns) {
        st = trl_fail(u->err, TRL_EPARSE, "the template uses %zu columns, there are %llu", columns,
                      (unsigned long long)u->parts.n_columns);
        return trl_fail_where(u->err, st, name, u->template_row, 0);
    }
    if (st != TRL_OK)
        return trl_fail_mem(u->err);
    u->parts.features = trl_template_list(u->tpl);
    return trl_undump_lists_give(u);
}
