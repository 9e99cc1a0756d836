/* wapiti_read.c -- Wapiti's model files.
 *
 *     #mdl#TYPE#ACTIVE                 0 maximum entropy, 1 MEMM, 2 CRF; older files: #mdl#ACTIVE
 *     #rdr#PATTERNS/COLUMN/AUTO        largest column used; older files without AUTO
 *     LENGTH:PATTERN,                  a line each
 *     #qrk#LABELS                      then LENGTH:LABEL, each
 *     #qrk#OBSERVATIONS                then LENGTH:NAME, each
 *     NUMBER=WEIGHT                    ACTIVE of them, numbers rising, weights as C's %a
 *
 * Observations have L weights when they start with u, L^2 (label before * L + label) with b, both
 * with *, numbered one after the other.  Without patterns the data has the observations themselves;
 * with AUTO these lack the u.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "foreign/foreign.h"
#include "foreign/hexfloat.h"

typedef struct reader {
    trl_foreign *m;
    trl_cursor at;
    uint64_t type, n_active, n_patterns, column, automatic;
    uint64_t n_names;
    trl_str *name;          /* [n_names] */
    uint64_t *first;        /* [n_names + 1] numbers of their first weights */
    bool merge_transitions; /* all patterns of pairs have no macro */
    trl_template *tpl;      /* NULL: no patterns */
    double *transitions;    /* [L * L]; NULL: none yet */
    size_t current;         /* the observation whose row was begun last */
    size_t begun;           /* its family + 1; 0: none */
} reader;

#define FAIL(r, ...) TRL_TEXT_FAIL((r)->m, &(r)->at, __VA_ARGS__)

/* ---- header ---------------------------------------------------------------------------------- */

static trl_status read_header(reader *r)
{
    trl_cursor *s = &r->at;
    uint64_t x;
    if (!trl_cursor_text(s, "#mdl#"))
        return FAIL(r, "'#mdl#' expected");
    r->type = 2;
    if (trl_cursor_number(s, &x, "#")) {
        r->type = x;
        if (!trl_cursor_number(s, &r->n_active, "\n"))
            return FAIL(r, "the number of weights expected");
    } else if (!trl_cursor_number(s, &r->n_active, "\n"))
        return FAIL(r, "the type of the model expected");
    if (r->type > 2)
        return FAIL(r, "%llu is not a type of model", (unsigned long long)r->type);
    if (!trl_cursor_text(s, "#rdr#") || !trl_cursor_number(s, &r->n_patterns, "/"))
        return FAIL(r, "'#rdr#' and a number of patterns expected");
    if (trl_cursor_number(s, &r->column, "\n"))
        return TRL_OK;
    if (!trl_cursor_number(s, &r->column, "/") || !trl_cursor_number(s, &r->automatic, "\n"))
        return FAIL(r, "the largest column expected");
    return TRL_OK;
}

/* LENGTH:TEXT, */
static trl_status read_string(reader *r, trl_str *out)
{
    trl_cursor *s = &r->at;
    uint64_t n;
    if (!trl_cursor_number(s, &n, ":"))
        return FAIL(r, "the length of a name expected");
    if (n > (uint64_t)(s->end - s->p))
        return FAIL(r, "a name of %llu bytes leaves the file", (unsigned long long)n);
    *out = (trl_str){s->p, (size_t)n};
    if (memchr(out->p, '\0', out->n))
        return FAIL(r, "a NUL byte in a name");
    s->p += n;
    for (const char *lf = out->p; (lf = memchr(lf, '\n', (size_t)(s->p - lf))); lf++, s->row++)
        s->line = lf + 1;
    return trl_cursor_text(s, ",\n") ? TRL_OK : FAIL(r, "',' expected at the end of a name");
}

static trl_status read_patterns(reader *r)
{
    trl_foreign *m = r->m;
    trl_status st = TRL_OK;
    for (uint64_t k = 0; st == TRL_OK && k < r->n_patterns; k++) {
        trl_str line;
        st = read_string(r, &line);
        if (st != TRL_OK)
            return st;
        if (line.n == 0 || !memchr("ub*UB", line.p[0], 5))
            return FAIL(r, "a pattern that starts with none of u, b, *");
        trl_buf_add(&m->template_text, line.p, line.n);
        trl_buf_ch(&m->template_text, '\n');
        if (m->template_text.failed)
            return trl_fail_mem(m->err);
    }
    r->merge_transitions = true;
    if (r->n_patterns == 0)
        return TRL_OK;
    if (r->column >= UINT32_MAX)
        return FAIL(r, "an impossible column");
    st = trl_foreign_template(m, (size_t)r->column + 1);
    if (st == TRL_OK)
        st = trl_template_parse(m->path, m->template_text.data, m->template_text.len, &r->tpl,
                                m->err);
    if (st == TRL_OK)
        r->merge_transitions = trl_pairs_are_constant(r->tpl);
    return st == TRL_EMODEL ? trl_cursor_fail(m, &r->at, st) : st;
}

/* ---- names ----------------------------------------------------------------------------------- */

static trl_status read_labels(reader *r)
{
    uint64_t n;
    if (!trl_cursor_text(&r->at, "#qrk#") || !trl_cursor_number(&r->at, &n, "\n"))
        return FAIL(r, "'#qrk#' and the number of labels expected");
    trl_status st = n ? TRL_OK : FAIL(r, "it has no labels");
    for (uint64_t k = 0; st == TRL_OK && k < n; k++) {
        trl_str name;
        st = read_string(r, &name);
        if (st == TRL_OK)
            st = trl_foreign_label(r->m, name);
        if (st == TRL_EMODEL)
            st = trl_cursor_fail(r->m, &r->at, st);
    }
    return st;
}

static trl_status need_patterns(const reader *r)
{
    const trl_status st = trl_fail(r->m->err, TRL_EINVAL,
                                   "observations of label pairs, but no patterns to make them");
    trl_fail_hint(r->m->err, st, "attribute lists score single labels here: train with patterns");
    return trl_fail_where(r->m->err, st, r->m->path, r->at.row, 1);
}

static trl_status read_names(reader *r)
{
    const uint64_t L = r->m->labels.n;
    if (!trl_cursor_text(&r->at, "#qrk#") || !trl_cursor_number(&r->at, &r->n_names, "\n"))
        return FAIL(r, "'#qrk#' and the number of observations expected");
    if (r->n_names > (uint64_t)(r->at.end - r->at.p))
        return FAIL(r, "%llu observations are announced, but the file is too short",
                    (unsigned long long)r->n_names);
    r->name = trl_alloc((size_t)r->n_names, sizeof *r->name);
    r->first = trl_alloc((size_t)r->n_names + 1, sizeof *r->first);
    if (!r->name || !r->first)
        return trl_fail_mem(r->m->err);
    r->first[0] = 0;
    for (size_t k = 0; k < r->n_names; k++) {
        const trl_status st = read_string(r, &r->name[k]);
        if (st != TRL_OK)
            return st;
        const char kind = r->name[k].n ? r->name[k].p[0] : '\0';
        if (kind != 'u' && kind != 'b' && kind != '*')
            return FAIL(r, "an observation that starts with none of u, b, *");
        if (kind != 'u' && !r->tpl)
            return need_patterns(r);
        r->first[k + 1] = r->first[k] + (kind != 'b' ? L : 0) + (kind != 'u' ? L * L : 0);
    }
    return TRL_OK;
}

/* ---- weights --------------------------------------------------------------------------------- */

static trl_status add_transition(reader *r, trl_str name, size_t cell, double w)
{
    const size_t L = r->m->labels.n;
    if (!r->transitions)
        r->transitions = trl_zalloc(L * L, sizeof *r->transitions);
    if (!r->transitions)
        return trl_fail_mem(r->m->err);
    r->transitions[cell] += (double)trl_constant_lines(r->tpl, name) * w;
    return TRL_OK;
}

/* The row of observation k in the family: that begun last, or a new one. */
static trl_status find_row(reader *r, size_t k, size_t family)
{
    trl_foreign *m = r->m;
    if (r->begun == family + 1 && r->current == k)
        return TRL_OK;
    trl_str name = r->name[k];
    const bool cut = r->automatic && !r->tpl;
    const size_t known = m->names[family].n;
    const uint32_t id = trl_strtab_add(&m->names[family], name.p + cut, name.n - cut);
    if (id == TRL_NO_ID || !trl_rows_begin(&m->parts.rows[family], id))
        return trl_fail_mem(m->err);
    if (id < known)
        return FAIL(r, "observation '%.*s' again", name.n < 60 ? (int)name.n : 60, name.p);
    r->current = k;
    r->begun = family + 1;
    return TRL_OK;
}

/* Weight number f, of observation k. */
static trl_status add_weight(reader *r, size_t k, uint64_t f, double w)
{
    const size_t L = r->m->labels.n;
    size_t cell = (size_t)(f - r->first[k]);
    const bool pair = r->name[k].p[0] == 'b' || cell >= L;
    if (pair && r->name[k].p[0] == '*')
        cell -= L;
    if (pair && r->merge_transitions)
        return add_transition(r, r->name[k], cell, w);
    const size_t family = pair ? TRL_EDGE : TRL_NODE;
    const trl_status st = find_row(r, k, family);
    if (st != TRL_OK)
        return st;
    return trl_rows_add(&r->m->parts.rows[family], (uint32_t)cell, w) ? TRL_OK
                                                                      : trl_fail_mem(r->m->err);
}

static trl_status read_weights(reader *r)
{
    size_t k = 0;
    uint64_t last = 0, f;
    trl_status st = TRL_OK;
    for (uint64_t i = 0; st == TRL_OK && i < r->n_active; i++) {
        trl_str line;
        double w;
        if (!trl_cursor_number(&r->at, &f, "="))
            return FAIL(r, "weight %llu of %llu expected", (unsigned long long)i + 1,
                        (unsigned long long)r->n_active);
        const trl_cursor here = r->at;
        if (f >= r->first[r->n_names] || (i > 0 && f <= last))
            return FAIL(r, "weight number %llu does not exist or is out of order",
                        (unsigned long long)f);
        if (!trl_cursor_line(&r->at, &line) || !trl_hexfloat_parse(line.p, line.n, &w)) {
            r->at = here;
            return FAIL(r, "a weight is not a finite number");
        }
        while (f >= r->first[k + 1])
            k++;
        if (w != 0.0)
            st = add_weight(r, k, f, w);
        last = f;
    }
    if (st == TRL_OK && r->at.p != r->at.end)
        st = FAIL(r, "text after the last of %llu weights", (unsigned long long)r->n_active);
    return st;
}

static trl_status add_transitions(reader *r)
{
    trl_foreign *m = r->m;
    trl_weight_rows *rows = &m->parts.rows[TRL_EDGE];
    const size_t cells = r->transitions ? m->labels.n * m->labels.n : 0;
    if (!r->merge_transitions)
        return TRL_OK;
    const uint32_t name = trl_strtab_add(&m->names[TRL_EDGE], "b", 1);
    rows->constant = 0;
    if (name == TRL_NO_ID || !trl_rows_begin(rows, name))
        return trl_fail_mem(m->err);
    for (size_t k = 0; k < cells; k++)
        if (!isfinite(r->transitions[k]))
            return FAIL(r, "the weight of a transition is too large");
        else if (r->transitions[k] != 0.0 && !trl_rows_add(rows, (uint32_t)k, r->transitions[k]))
            return trl_fail_mem(m->err);
    return TRL_OK;
}

static trl_status read_all(reader *r)
{
    trl_status st = read_header(r);
    if (st == TRL_OK)
        st = read_patterns(r);
    if (st == TRL_OK)
        st = read_labels(r);
    if (st == TRL_OK)
        st = read_names(r);
    if (st == TRL_OK)
        st = read_weights(r);
    if (st == TRL_OK)
        st = add_transitions(r);
    return st;
}

trl_status trl_read_wapiti(trl_foreign *m)
{
    reader r = {.m = m, .at = trl_cursor_begin(m->file)};
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        m->parts.rows[f].type = TRL_WEIGHT_DOUBLE;
    const trl_status st = read_all(&r);
    if (r.type == 1) {
        m->parts.is_local = true;
        m->parts.objective = "memm";
    }
    trl_template_free(r.tpl);
    trl_free(r.transitions);
    trl_free(r.name);
    trl_free(r.first);
    return st;
}
