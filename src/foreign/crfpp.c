/* crfpp.c -- attributes of CRF++ models, from their dictionary into rows. */
/* SPDX-License-Identifier: MIT */
#include "foreign/crfpp.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

trl_status trl_crfpp_line(trl_crfpp *c, trl_str line)
{
    trl_buf *text = &c->m->template_text;
    const bool cr = line.n && line.p[line.n - 1] == '\r';
    if (line.n == 0 || (line.p[0] != 'U' && line.p[0] != 'B'))
        return trl_fail(c->m->err, TRL_EMODEL, "a template line that starts with neither U nor B");
    if (text->len && cr != c->cr)
        return trl_fail(c->m->err, TRL_EMODEL, "template lines with and without a CR at the end");
    c->cr = cr;
    trl_buf_add(text, line.p, line.n - cr);
    trl_buf_ch(text, '\n');
    return text->failed ? trl_fail_mem(c->m->err) : TRL_OK;
}

trl_status trl_crfpp_begin(trl_crfpp *c)
{
    trl_foreign *m = c->m;
    const size_t L = m->labels.n;
    trl_status st = L ? trl_foreign_template(m, (size_t)c->columns)
                      : trl_fail(m->err, TRL_EMODEL, "it has no labels");
    if (st == TRL_OK && m->template_text.len == 0)
        st = trl_fail(m->err, TRL_EMODEL, "it has no template");
    if (st == TRL_OK)
        st = trl_template_parse(m->path, m->template_text.data, m->template_text.len, &c->tpl,
                                m->err);
    if (st == TRL_OK)
        c->merge_transitions = trl_pairs_are_constant(c->tpl);
    m->parts.single = true;
    return st;
}

/* Plain transitions become one table; where several lines make them their sum. */
static trl_status merge(trl_crfpp *c, trl_str name, const float *w, size_t n)
{
    if (!c->transitions)
        c->transitions = trl_zalloc(n, sizeof *c->transitions);
    if (!c->transitions)
        return trl_fail_mem(c->m->err);
    for (size_t lines = trl_constant_lines(c->tpl, name); lines > 0; lines--)
        for (size_t k = 0; k < n; k++)
            c->transitions[k] += w[k];
    return TRL_OK;
}

static trl_status add_row(trl_crfpp *c, size_t family, trl_str name, const float *w, size_t n)
{
    trl_foreign *m = c->m;
    trl_strtab *names = &m->names[family];
    const size_t known = names->n;
    const uint32_t id = trl_strtab_add(names, name.p, name.n);
    if (id == TRL_NO_ID || !trl_rows_begin(&m->parts.rows[family], id))
        return trl_fail_mem(m->err);
    if (id < known)
        return trl_fail(m->err, TRL_EMODEL, "attribute '%.*s' again",
                        name.n < 60 ? (int)name.n : 60, name.p);
    for (size_t k = 0; k < n; k++)
        if (w[k] != 0.0f && !trl_rows_add(&m->parts.rows[family], (uint32_t)k, (double)w[k]))
            return trl_fail_mem(m->err);
    return TRL_OK;
}

trl_status trl_crfpp_attribute(trl_crfpp *c, trl_str name, uint64_t first)
{
    const size_t L = c->m->labels.n;
    if (name.n == 0)
        return trl_fail(c->m->err, TRL_EMODEL, "an attribute without a name");
    const size_t family = name.p[0] == 'U' ? TRL_NODE : TRL_EDGE;
    const size_t n = family == TRL_NODE ? L : L * L;
    if (first > c->n_weights || n > c->n_weights - first)
        return trl_fail(c->m->err, TRL_EMODEL, "the weights of attribute '%.*s' do not exist",
                        name.n < 60 ? (int)name.n : 60, name.p);
    if (c->cr && name.p[name.n - 1] != '\r')
        return TRL_OK; /* no line can make it */
    name.n -= c->cr;
    for (size_t k = 0; k < n; k++)
        if (!isfinite(c->weight[first + k]))
            return trl_fail(c->m->err, TRL_EMODEL, "a weight is not finite");
    if (family == TRL_NODE || !c->merge_transitions)
        return add_row(c, family, name, c->weight + first, n);
    return merge(c, name, c->weight + first, n);
}

trl_status trl_crfpp_end(trl_crfpp *c)
{
    trl_foreign *m = c->m;
    if (!c->merge_transitions)
        return TRL_OK;
    m->parts.rows[TRL_EDGE].constant = 0;
    return add_row(c, TRL_EDGE, (trl_str){"B", 1}, c->transitions,
                   c->transitions ? m->labels.n * m->labels.n : 0);
}

void trl_crfpp_fini(trl_crfpp *c)
{
    trl_template_free(c->tpl);
    trl_free(c->transitions);
}
