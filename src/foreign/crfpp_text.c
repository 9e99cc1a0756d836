/* crfpp_text.c -- CRF++'s text models, what 'crf_learn -t' writes.
 *
 *     version: 100                      header, up to an empty line; maxid and xsize are needed
 *     cost-factor: 1
 *     maxid: WEIGHTS
 *     xsize: COLUMNS WITHOUT THE LABEL
 *
 *     LABEL                             a line each, up to an empty line
 *
 *     TEMPLATE LINE                     a line each, up to an empty line
 *
 *     NUMBER NAME                       the dictionary, up to an empty line
 *
 *     WEIGHT                            a line each
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "foreign/crfpp.h"
#include "text/number.h"

typedef struct reader {
    trl_crfpp c;
    trl_cursor at, here; /* after the line; at its start, for messages */
    trl_str line;
} reader;

#define FAIL(r, ...)                                                                               \
    trl_cursor_fail((r)->c.m, &(r)->here, trl_fail((r)->c.m->err, TRL_EPARSE, __VA_ARGS__))

/* A failure without a place gets that of the line. */
static trl_status placed(reader *r, trl_status st)
{
    return st == TRL_EMODEL ? trl_cursor_fail(r->c.m, &r->here, st) : st;
}

/* The next line, as it is but for its LF; *more is false at an empty one. */
static trl_status next(reader *r, const char *what, bool *more)
{
    r->here = r->at;
    if (!trl_cursor_line(&r->at, &r->line))
        return FAIL(r, "the file ends in its %s", what);
    *more = r->line.n > 0;
    return TRL_OK;
}

static trl_status read_header(reader *r)
{
    bool more;
    trl_status st;
    r->c.n_weights = r->c.columns = 0;
    while ((st = next(r, "header", &more)) == TRL_OK && more) {
        trl_cursor s = trl_cursor_begin(r->line);
        if (trl_cursor_text(&s, "maxid: "))
            trl_cursor_number(&s, &r->c.n_weights, "");
        else if (trl_cursor_text(&s, "xsize: "))
            trl_cursor_number(&s, &r->c.columns, "");
    }
    if (st == TRL_OK && (r->c.n_weights == 0 || r->c.columns == 0))
        st = FAIL(r, "the header does not say maxid and xsize");
    /* every weight has a line: what is announced and cannot be there is not made room for */
    if (st == TRL_OK &&
        (r->c.columns > UINT32_MAX || r->c.n_weights > (uint64_t)(r->at.end - r->at.p)))
        st = FAIL(r, "%llu weights are announced, but the file is too short",
                  (unsigned long long)r->c.n_weights);
    return st;
}

static trl_status read_names(reader *r)
{
    bool more;
    trl_status st;
    while ((st = next(r, "labels", &more)) == TRL_OK && more) {
        st = placed(r, trl_foreign_label(r->c.m, r->line));
        if (st != TRL_OK)
            return st;
    }
    while (st == TRL_OK && (st = next(r, "template", &more)) == TRL_OK && more)
        st = placed(r, trl_crfpp_line(&r->c, r->line));
    return st == TRL_OK ? placed(r, trl_crfpp_begin(&r->c)) : st;
}

/* Passes over the dictionary, then reads the weights. */
static trl_status read_weights(reader *r, float *w)
{
    bool more;
    trl_status st;
    double x;
    while ((st = next(r, "dictionary", &more)) == TRL_OK && more)
        continue;
    for (uint64_t k = 0; st == TRL_OK && k < r->c.n_weights; k++) {
        st = next(r, "weights", &more);
        if (st != TRL_OK)
            return st;
        if (trl_number_parse(r->line.p, r->line.n, &x) != TRL_NUMBER_OK || !isfinite((float)x))
            return FAIL(r, "a weight is not a finite number");
        w[k] = (float)x;
    }
    r->here = r->at;
    if (st == TRL_OK && trl_cursor_line(&r->at, &r->line))
        st = FAIL(r, "more than %llu weights", (unsigned long long)r->c.n_weights);
    return st;
}

static trl_status read_dictionary(reader *r)
{
    bool more;
    trl_status st;
    while ((st = next(r, "dictionary", &more)) == TRL_OK && more) {
        trl_cursor s = trl_cursor_begin(r->line);
        uint64_t first;
        if (!trl_cursor_number(&s, &first, " "))
            return FAIL(r, "a number and a name expected");
        st = placed(r, trl_crfpp_attribute(&r->c, (trl_str){s.p, (size_t)(s.end - s.p)}, first));
        if (st != TRL_OK)
            return st;
    }
    return st;
}

static trl_status read_all(reader *r, float **w)
{
    trl_status st = read_header(r);
    if (st == TRL_OK)
        st = read_names(r);
    if (st != TRL_OK)
        return st;
    *w = trl_alloc((size_t)r->c.n_weights, sizeof **w);
    if (!*w)
        return trl_fail_mem(r->c.m->err);
    r->c.weight = *w;
    const trl_cursor dictionary = r->at; /* names need the weights, which come after them */
    st = read_weights(r, *w);
    r->at = dictionary;
    if (st == TRL_OK)
        st = read_dictionary(r);
    return st == TRL_OK ? trl_crfpp_end(&r->c) : st;
}

trl_status trl_read_crfpp_text(trl_foreign *m)
{
    reader r = {.c = {.m = m}, .at = trl_cursor_begin(m->file)};
    float *w = NULL;
    r.here = r.at;
    const trl_status st = read_all(&r, &w);
    trl_crfpp_fini(&r.c);
    trl_free(w);
    return st;
}
