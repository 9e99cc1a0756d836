/* dump.c -- models as text: which kind writes it. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "model/model.h"
#include "trellis/graph_model.h"
#include "trellis/model.h"
#include "trellis/parser.h"

typedef struct receiver {
    trl_write_fn write;
    void *ctx;
} receiver;

static trl_status dump_graph(const trl_model *model, size_t top, receiver to, trl_error *err)
{
    trl_graph_model *m = NULL;
    trl_status st = trl_graph_model_of(model, &m, err);
    if (st == TRL_OK)
        st = trl_graph_model_dump(m, top, to.write, to.ctx, err);
    trl_graph_model_free(m);
    return st;
}

static trl_status dump_parser(const trl_model *model, receiver to, trl_error *err)
{
    trl_parse_model *m = NULL;
    trl_status st = trl_parse_model_of(model, &m, err);
    if (st == TRL_OK)
        st = trl_parse_model_dump(m, to.write, to.ctx, err);
    trl_parse_model_free(m);
    return st;
}

static bool is_kind(const trl_model *m, const char *kind)
{
    return strcmp(trl_model_get_info(m).kind, kind) == 0;
}

trl_status trl_model_dump(const trl_model *m, trl_write_fn write, void *ctx, trl_error *err)
{
    if (!m || !write)
        return trl_fail_null(err);
    const receiver to = {write, ctx};
    return is_kind(m, "graph")  ? dump_graph(m, 0, to, err)
           : is_kind(m, "tree") ? dump_parser(m, to, err)
                                : trl_chain_dump(m, write, ctx, err); /* refuses others */
}

trl_status trl_model_dump_top(const trl_model *m, size_t top, trl_write_fn write, void *ctx,
                              trl_error *err)
{
    if (!m || !write)
        return trl_fail_null(err);
    return is_kind(m, "graph") ? dump_graph(m, top ? top : 1, (receiver){write, ctx}, err)
                               : trl_chain_dump_top(m, top, write, ctx, err);
}

static trl_status append(void *ctx, const char *text, size_t n, trl_error *err)
{
    return trl_buf_add(ctx, text, n) ? TRL_OK : trl_fail_mem(err);
}

trl_status trl_model_dump_buf(const trl_model *m, trl_buf *out, trl_error *err)
{
    if (!m || !out)
        return trl_fail_null(err);
    return trl_model_dump(m, append, out, err);
}
