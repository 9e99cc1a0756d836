/* parse.c -- the public parser: by charts, or by best-first search with boosted classifiers. */
/* SPDX-License-Identifier: MIT */
#include "trellis/parser.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "options/option_table.h"
#include "parser/chart_model.h"
#include "parser/tree_dump.h"
#include "search/search_parser.h"

/* One of the two. */
struct trl_parse_model {
    trl_chart_model *chart;
    trl_boosted_model *boosted;
};

struct trl_parser {
    trl_chart_parser *chart;
    trl_boosted_parser *boosted;
};

static trl_status from_container(trl_container *c, trl_parse_model **out, trl_error *err)
{
    trl_parse_model *m = trl_zalloc(1, sizeof *m);
    if (!m) {
        trl_container_free(c);
        return trl_fail_mem(err);
    }
    const trl_status st = trl_is_boosted(c) ? trl_boosted_model_from(c, &m->boosted, err)
                                            : trl_chart_model_from(c, &m->chart, err);
    if (st == TRL_OK)
        *out = m;
    else
        trl_free(m);
    return st;
}

trl_status trl_parse_model_open(const char *path, trl_parse_model **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_open(path, "tree", &c, err);
    return st == TRL_OK ? from_container(c, out, err) : st;
}

trl_status trl_parse_model_map(const char *path, trl_parse_model **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_map(path, "tree", &c, err);
    return st == TRL_OK ? from_container(c, out, err) : st;
}

trl_status trl_parse_model_from_memory(const void *bytes, size_t n, trl_parse_model **out,
                                       trl_error *err)
{
    if ((!bytes && n) || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_from_memory(bytes, n, "tree", &c, err);
    return st == TRL_OK ? from_container(c, out, err) : st;
}

trl_status trl_parse_model_of(const trl_model *m, trl_parse_model **out, trl_error *err)
{
    if (!m || !out)
        return trl_fail_null(err);
    size_t n;
    const void *bytes = trl_model_bytes(m, &n);
    const char *kind = trl_model_get_info(m).kind;
    if (strcmp(kind, "tree") != 0)
        return trl_fail(err, TRL_EINVAL, "the model is of kind '%s', not a parser's", kind);
    return trl_parse_model_from_memory(bytes, n, out, err);
}

void trl_parse_model_free(trl_parse_model *m)
{
    if (!m)
        return;
    trl_chart_model_free(m->chart);
    trl_boosted_model_free(m->boosted);
    trl_free(m);
}

bool trl_parse_model_has(const trl_parse_model *m, trl_str label)
{
    if (!m || (!label.p && label.n))
        return false;
    return m->chart ? trl_chart_model_has(m->chart, label)
                    : trl_strtab_find(&m->boosted->labels, label.p, label.n) != TRL_NO_ID;
}

bool trl_parse_model_has_tag(const trl_parse_model *m, trl_str tag)
{
    return trl_parse_model_has(m, tag) && (!m->chart || trl_chart_model_has_tag(m->chart, tag));
}

trl_parse_info trl_parse_model_info(const trl_parse_model *m)
{
    if (!m)
        return (trl_parse_info){.grade = "", .settings = ""};
    return m->chart ? trl_chart_model_info(m->chart) : trl_boosted_model_info(m->boosted);
}

trl_status trl_parse_model_describe(const trl_parse_model *m, size_t top, trl_buf *out,
                                    trl_error *err)
{
    if (!m || !out)
        return trl_fail_null(err);
    return m->chart ? trl_chart_model_describe(m->chart, top, out, err)
                    : trl_boosted_model_describe(m->boosted, top, out, err);
}

trl_status trl_parse_model_dump(const trl_parse_model *m, trl_write_fn write, void *ctx,
                                trl_error *err)
{
    if (!m || !write)
        return trl_fail_null(err);
    trl_printer p = {.write = write, .ctx = ctx};
    const trl_status st = trl_tree_text(m->chart ? m->chart->file : m->boosted->file,
                                        m->chart ? &m->chart->m : NULL, &p, err);
    trl_buf_fini(&p.buf);
    return st;
}

trl_status trl_parse_model_shrink(const trl_parse_model *m, const trl_shrink_options *options,
                                  trl_buf *out, trl_shrink_report *report, trl_error *err)
{
    if (!m || !options || !out)
        return trl_fail_null(err);
    if (m->chart)
        return trl_chart_model_shrink(m->chart, options, out, report, err);
    trl_fail(err, TRL_EINVAL, "a boosted parser cannot be shrunk: its trees have few splits");
    return trl_fail_hint(err, TRL_EINVAL, "a larger 'lambda' in training makes it smaller");
}

trl_status trl_parser_new(const trl_parse_model *m, const trl_parse_options *options,
                          trl_parser **out, trl_error *err)
{
    trl_parse_options o;
    if (!m || !options || !out)
        return trl_fail_null(err);
    trl_parser *p = trl_zalloc(1, sizeof *p);
    if (!p)
        return trl_fail_mem(err);
    trl_status st = trl_options_take(trl_parse_option_table(), options, &o, err);
    if (st == TRL_OK)
        st = m->chart ? trl_chart_parser_new(m->chart, &o, &p->chart, err)
                      : trl_boosted_parser_new(m->boosted, &o, &p->boosted, err);
    if (st == TRL_OK)
        *out = p;
    else
        trl_free(p);
    return st;
}

void trl_parser_free(trl_parser *p)
{
    if (!p)
        return;
    trl_chart_parser_free(p->chart);
    trl_boosted_parser_free(p->boosted);
    trl_free(p);
}

uint64_t trl_parser_states(const trl_parser *p)
{
    return p && p->boosted ? trl_boosted_parser_states(p->boosted) : 0;
}

/* A tree with an empty word could not be read again. */
static trl_status check_words(const trl_parse_input *in, trl_error *err)
{
    for (size_t k = 0; k < in->n; k++)
        if (in->word[k].n == 0)
            return trl_fail(err, TRL_EINVAL, "word %zu is empty", k + 1);
    return TRL_OK;
}

trl_status trl_parser_parse(trl_parser *p, const trl_parse_input *in, trl_parse *out,
                            trl_error *err)
{
    if (!p || !in || !out || (in->n && !in->word) || (in->n_known && !in->known) ||
        (in->n_tags && !in->tags))
        return trl_fail_null(err);
    if (!p->chart && in->n_tags)
        return trl_fail(err, TRL_EINVAL, "a boosted parser takes no tags with weights");
    trl_status st = check_words(in, err);
    if (!p->chart)
        return st == TRL_OK ? trl_boosted_parser_parse(p->boosted, in, out, err) : st;
    if (st == TRL_OK && in->n_tags)
        st = trl_chart_parser_tags(p->chart, in->n, in->tags, in->n_tags, err);
    if (st == TRL_OK)
        st = trl_chart_parser_parse(p->chart, in, out, err);
    (void)trl_chart_parser_tags(p->chart, 0, NULL, 0, NULL);
    return st;
}

trl_status trl_parser_parse_tags(trl_parser *p, const trl_parse_input *in,
                                 const trl_weighted_tag *tags, size_t n_tags, trl_parse *out,
                                 trl_error *err)
{
    if (!in)
        return trl_fail_null(err);
    trl_parse_input with = *in;
    with.tags = tags;
    with.n_tags = n_tags;
    return trl_parser_parse(p, &with, out, err);
}

trl_status trl_parser_derive(trl_parser *p, const trl_parse_input *in, trl_parse *tree,
                             trl_derived *out, trl_error *err)
{
    if (!p || !in || !tree || !out || (in->n && !in->word) || (in->n_known && !in->known))
        return trl_fail_null(err);
    const trl_status st = check_words(in, err);
    if (st != TRL_OK)
        return st;
    return p->chart ? trl_chart_parser_derive(p->chart, in, tree, out, err)
                    : trl_boosted_parser_derive(p->boosted, in, tree, out, err);
}
