/* evidence.c -- files of observed labels. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "graph/graph_scan.h"

typedef struct evidence_number {
    uint64_t value, row, col;
} evidence_number;

typedef struct evidence_numbers {
    const trl_graph *g;
    const char *name;
    evidence_number *p;
    size_t n, cap;
} evidence_numbers;

static trl_status read_numbers(trl_graph_scan *s, evidence_numbers *to, trl_error *err)
{
    for (;;) {
        /* Checks whether there is a word, which must then be a number. */
        trl_graph_scan before = *s;
        bool more;
        trl_status st = trl_scan_word(s, &more, err);
        if (st != TRL_OK || !more)
            return st;
        const uint64_t row = s->row, col = s->col;
        before.line = s->line;
        before.at = col - 1;
        *s = before;
        evidence_number *p = trl_reserve(to->p, &to->cap, to->n + 1, sizeof *p);
        if (!p)
            return trl_fail_mem(err);
        to->p = p;
        p[to->n].row = row;
        p[to->n].col = col;
        st = trl_scan_count(s, "a whole number from 0", UINT32_MAX, &p[to->n].value, err);
        if (st != TRL_OK)
            return st;
        to->n++;
    }
}

/* The end of a case that starts at `from`; SIZE_MAX when the numbers do not suffice. */
static size_t case_end(const evidence_numbers *x, size_t from)
{
    return from < x->n && x->p[from].value <= (x->n - from - 1) / 2
               ? from + 1 + 2 * (size_t)x->p[from].value
               : SIZE_MAX;
}

static bool is_counted(const evidence_numbers *x)
{
    size_t at = 1;
    for (uint64_t k = 0; k < x->p[0].value; k++)
        if ((at = case_end(x, at)) == SIZE_MAX)
            return false;
    return at == x->n;
}

static trl_status fail_at(const evidence_numbers *x, size_t i, trl_error *err)
{
    const evidence_number *p = &x->p[i < x->n ? i : x->n - 1];
    return trl_fail_where(err, TRL_EPARSE, x->name, p->row, p->col);
}

static trl_status fill_case(const evidence_numbers *x, size_t from, uint32_t *label, trl_error *err)
{
    const trl_graph *g = x->g;
    for (size_t i = from + 1; i < from + 1 + 2 * (size_t)x->p[from].value; i += 2) {
        const uint64_t v = x->p[i].value, y = x->p[i + 1].value;
        if (v >= g->n_variables) {
            trl_fail(err, TRL_EPARSE, "there is no variable %" PRIu64 ": the graph has %zu", v,
                     g->n_variables);
            return fail_at(x, i, err);
        }
        if (y >= g->labels[v]) {
            trl_fail(err, TRL_EPARSE,
                     "variable %" PRIu64 " has no label %" PRIu64 ": they are 0 to %u", v, y,
                     g->labels[v] - 1);
            return fail_at(x, i + 1, err);
        }
        if (label[v] != TRL_UNOBSERVED && label[v] != y) {
            trl_fail(err, TRL_EPARSE, "variable %" PRIu64 " was observed as %u already", v,
                     label[v]);
            return fail_at(x, i + 1, err);
        }
        label[v] = (uint32_t)y;
    }
    return TRL_OK;
}

static trl_status make_cases(const evidence_numbers *x, trl_evidence *out, trl_error *err)
{
    const size_t n = x->g->n_variables;
    const bool one = case_end(x, 0) == x->n, counted = is_counted(x);
    if (!one && !counted) {
        trl_fail(err, TRL_EPARSE, "%zu numbers are not evidence", x->n);
        trl_fail_hint(err, TRL_EPARSE,
                      "expected: n variable label ..., n pairs in all; or the number of "
                      "cases, then each in this form");
        return fail_at(x, x->n - 1, err);
    }
    const bool alone = x->n > 1 && x->p[1].row > x->p[0].row;
    out->counted = counted && (!one || (alone && x->p[0].value > 0));
    out->n_cases = out->counted ? (size_t)x->p[0].value : 1;
    out->label =
        n && out->n_cases > SIZE_MAX / n ? NULL : trl_alloc(n * out->n_cases, sizeof *out->label);
    if (!out->label)
        return trl_fail_mem(err);
    for (size_t i = 0; i < n * out->n_cases; i++)
        out->label[i] = TRL_UNOBSERVED;
    size_t at = out->counted ? 1 : 0;
    trl_status st = TRL_OK;
    for (size_t k = 0; k < out->n_cases && st == TRL_OK; k++, at = case_end(x, at))
        st = fill_case(x, at, out->label + k * n, err);
    return st;
}

static trl_status read_evidence(trl_input *in, const trl_graph *g, trl_evidence *out,
                                trl_error *err)
{
    trl_graph_scan s = {.in = in, .row = 1, .col = 1};
    evidence_numbers x = {.g = g, .name = trl_input_name(in)};
    trl_evidence e = {0};
    trl_status st = read_numbers(&s, &x, err);
    if (st == TRL_OK && x.n == 0) {
        trl_fail(err, TRL_EPARSE, "the evidence is empty");
        trl_fail_hint(err, TRL_EPARSE, "a 0 says that nothing was observed");
        st = trl_fail_where(err, TRL_EPARSE, x.name, 1, 1);
    }
    if (st == TRL_OK)
        st = make_cases(&x, &e, err);
    trl_free(x.p);
    if (st == TRL_OK)
        *out = e;
    else
        trl_evidence_fini(&e);
    return st;
}

trl_status trl_evidence_read(const char *path, const trl_graph *g, trl_evidence *out,
                             trl_error *err)
{
    if (!path || !g || !out)
        return trl_fail_null(err);
    trl_input *in = NULL;
    trl_status st = trl_input_open(path, &in, err);
    if (st == TRL_OK)
        st = read_evidence(in, g, out, err);
    trl_input_free(in);
    return st;
}

trl_status trl_evidence_read_memory(const trl_text *text, const trl_graph *g, trl_evidence *out,
                                    trl_error *err)
{
    if (!text || !text->name || (!text->p && text->n) || !g || !out)
        return trl_fail_null(err);
    trl_input *in = NULL;
    trl_status st = trl_input_memory(text->name, text->p, text->n, &in, err);
    if (st == TRL_OK)
        st = read_evidence(in, g, out, err);
    trl_input_free(in);
    return st;
}

void trl_evidence_fini(trl_evidence *e)
{
    if (!e)
        return;
    trl_free(e->label);
    *e = (trl_evidence){0};
}
