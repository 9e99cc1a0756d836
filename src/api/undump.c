/* undump.c -- models from dumps: which kind reads it. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "graph_model/graph_undump.h"
#include "model/model.h"
#include "trellis/model.h"

/* Is there a line `kind graph`?  It stands before labels and weights. */
static bool is_graph(trl_str head)
{
    static const char line[] = "\nkind\tgraph";
    const size_t n = sizeof line - 1;
    for (size_t i = 0; i + n <= head.n; i++)
        if (memcmp(head.p + i, line, n) == 0)
            return i + n == head.n || head.p[i + n] == '\n' || head.p[i + n] == '\r';
    return false;
}

/* `in` is freed here. */
static trl_status read_dump(trl_input *in, const char *path, unsigned char **out, size_t *size,
                            trl_error *err)
{
    trl_str head;
    const trl_status st = trl_input_peek(in, &head, err);
    if (st == TRL_OK)
        return (is_graph(head) ? trl_graph_undump : trl_chain_undump)(in, path, out, size, err);
    trl_input_free(in);
    return st;
}

trl_status trl_model_undump(const char *dump_path, const char *model_path, trl_error *err)
{
    if (!dump_path || !model_path)
        return trl_fail_null(err);
    trl_input *in = NULL;
    const trl_status st = trl_input_open(dump_path, &in, err);
    return st == TRL_OK ? read_dump(in, model_path, NULL, NULL, err) : st;
}

trl_status trl_model_undump_buf(const char *name, const char *text, size_t n, trl_buf *out,
                                trl_error *err)
{
    if (!name || (!text && n) || !out)
        return trl_fail_null(err);
    trl_input *in = NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;
    trl_status st = trl_input_memory(name, text, n, &in, err);
    if (st == TRL_OK)
        st = read_dump(in, NULL, &bytes, &size, err);
    if (st != TRL_OK)
        return st;
    trl_buf_fini(out);
    *out = (trl_buf){.data = (char *)bytes, .len = size, .cap = size};
    return TRL_OK;
}
