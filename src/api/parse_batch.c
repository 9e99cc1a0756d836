/* parse_batch.c -- many sentences parsed in one call: a parser for every thread. */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "base/mem.h"
#include "base/pool.h"
#include "trellis/parser.h"

struct trl_parsers {
    trl_pool *pool;
    trl_parser **parser; /* [threads of the pool] */
};

typedef struct batch {
    trl_parser **parser;
    const trl_parse_input *in;
    trl_parsed_fn found;
    void *ctx;
} batch;

trl_status trl_parsers_new(const trl_parse_model *m, const trl_parse_options *o, size_t threads,
                           trl_parsers **out, trl_error *err)
{
    if (!m || !o || !out)
        return trl_fail_null(err);
    trl_parsers *p = trl_zalloc(1, sizeof *p);
    if (p)
        p->pool = trl_pool_new(trl_pool_count(threads));
    const size_t n = p && p->pool ? trl_pool_threads(p->pool) : 0;
    if (n)
        p->parser = trl_zalloc(n, sizeof(trl_parser *));
    trl_status st = n && p->parser ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < n; k++)
        st = trl_parser_new(m, o, &p->parser[k], err);
    if (st == TRL_OK)
        *out = p;
    else
        trl_parsers_free(p);
    return st;
}

void trl_parsers_free(trl_parsers *p)
{
    if (!p)
        return;
    for (size_t k = 0; p->parser && k < trl_pool_threads(p->pool); k++)
        trl_parser_free(p->parser[k]);
    trl_free(p->parser);
    trl_pool_free(p->pool);
    trl_free(p);
}

uint64_t trl_parsers_states(const trl_parsers *p)
{
    uint64_t n = 0;
    for (size_t k = 0; p && k < trl_pool_threads(p->pool); k++)
        n += trl_parser_states(p->parser[k]);
    return n;
}

static trl_status parse_one(void *ctx, size_t job, size_t worker, trl_error *err)
{
    const batch *x = ctx;
    trl_parse found;
    trl_error own = {0};
    const trl_status st = trl_parser_parse(x->parser[worker], &x->in[job], &found, &own);
    const trl_status then = x->found(x->ctx, job, st == TRL_OK ? &found : NULL, &own);
    if (then == TRL_OK || !err)
        return then;
    *err = own;
    err->code = then;
    return trl_fail_number(err, then, "sentence", job);
}

trl_status trl_parsers_run(trl_parsers *p, const trl_parse_input *in, size_t n, trl_parsed_fn found,
                           void *ctx, trl_error *err)
{
    if (!p || (n && !in) || !found)
        return trl_fail_null(err);
    batch x = {.parser = p->parser, .in = in, .found = found, .ctx = ctx};
    return trl_pool_run(p->pool, n, parse_one, &x, err);
}
