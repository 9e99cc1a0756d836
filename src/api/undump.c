/* undump.c -- models from dumps: which kind reads it. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "graph_model/graph_undump.h"
#include "model/model.h"
#include "model/section_text.h"
#include "trellis/file.h"
#include "trellis/model.h"
#include "trellis/parser.h"

/* Is there a line `kind KIND`?  It stands before labels and weights. */
static bool is_kind(trl_str head, const char *kind)
{
    static const char line[] = "\nkind\t";
    const size_t n = sizeof line - 1, k = strlen(kind);
    for (size_t i = 0; i + n <= head.n; i++)
        if (memcmp(head.p + i, line, n) == 0)
            return i + n + k <= head.n && memcmp(head.p + i + n, kind, k) == 0 &&
                   (i + n + k == head.n || head.p[i + n + k] == '\n' || head.p[i + n + k] == '\r');
    return false;
}

static trl_status write_file(const char *path, const void *bytes, size_t n, trl_error *err)
{
    trl_writer *w = NULL;
    trl_status st = trl_writer_open(path, &w, err);
    if (st == TRL_OK)
        st = trl_writer_put(w, bytes, n, err);
    if (st == TRL_OK)
        return trl_writer_commit(w, err);
    trl_writer_abort(w);
    return st;
}

/* A parser's model, which must open; `in` is freed here. */
static trl_status read_parser(trl_input *in, const char *path, unsigned char **out, size_t *size,
                              trl_error *err)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    trl_parse_model *m = NULL;
    char *name = trl_strndup(trl_input_name(in), strlen(trl_input_name(in)));
    trl_status st = trl_sections_undump(in, "tree", &bytes, &n, err);
    if (st == TRL_OK) {
        st = trl_parse_model_from_memory(bytes, n, &m, err);
        if (st == TRL_EMODEL)
            st = trl_fail_where(err, st, name, 0, 0);
    }
    trl_parse_model_free(m);
    trl_free(name);
    if (st == TRL_OK && path)
        st = write_file(path, bytes, n, err);
    if (st == TRL_OK && !path) {
        *out = bytes;
        *size = n;
    } else {
        trl_free(bytes);
    }
    return st;
}

/* `in` is freed here. */
static trl_status read_dump(trl_input *in, const char *path, unsigned char **out, size_t *size,
                            trl_error *err)
{
    trl_str head;
    const trl_status st = trl_input_peek(in, &head, err);
    if (st == TRL_OK)
        return (is_kind(head, "graph")  ? trl_graph_undump
                : is_kind(head, "tree") ? read_parser
                                        : trl_chain_undump)(in, path, out, size, err);
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
