/* fuzz_graph_model.c -- any bytes as a graph model: never a crash; what opens can label text, and
 * its dump is a model again.
 *
 * Magic, size and checksums are put right first, so that the checks after them are reached.
 */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "model_bytes.h"

#include "base/buf.h"
#include "trellis/graph_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

/* Three tokens of as many columns as the model was trained on. */
static void label(const trl_graph_model *m)
{
    enum { TOKENS = 3, COLUMNS_MAX = 40 };
    static const trl_str word[TOKENS] = {{"the", 3}, {"Dog", 3}, {"Dog", 3}};
    const trl_graph_model_info info = trl_graph_model_get_info(m);
    trl_graph_tagger_options o = trl_graph_tagger_options_default();
    trl_str cell[TOKENS * COLUMNS_MAX];
    uint32_t y[TOKENS * 64];
    trl_graph_tagger *t = NULL;
    trl_graph_answer answer;
    trl_error err = {0};
    if (info.n_columns > COLUMNS_MAX || info.attributes || info.n_layers > 64)
        return;
    for (size_t k = 0; k < TOKENS * info.n_columns; k++)
        cell[k] = word[k / info.n_columns];
    o.infer.max_cells = 10000.0;
    o.infer.max_updates = 1000;
    CHECK(trl_graph_tagger_new(m, &o, &t, &err) == TRL_OK);
    const trl_rows rows = {.n_tokens = TOKENS, .n_columns = info.n_columns, .cell = cell};
    if (trl_graph_tagger_add(t, &rows, &err) == TRL_OK) {
        const trl_status st = trl_graph_tagger_best(t, y, &answer, &err);
        CHECK(st == TRL_OK || (err.code == st && err.msg[0]));
        for (size_t v = 0; st == TRL_OK && v < TOKENS * info.n_layers; v++)
            CHECK(y[v] < trl_graph_model_layer(m, v % info.n_layers).n_labels);
    }
    trl_graph_tagger_free(t);
}

static trl_status to_buf(void *ctx, const char *text, size_t n, trl_error *err)
{
    (void)err;
    return trl_buf_add(ctx, text, n) ? TRL_OK : TRL_ENOMEM;
}

/* A dump is read, or refused with a place: a file made by hand may hold what no dump can say, such
 * as two factors of one name. */
static void dump(const trl_graph_model *m)
{
    trl_buf text = {0}, model = {0};
    trl_error err = {0};
    CHECK(trl_graph_model_dump(m, 2, to_buf, &text, &err) == TRL_OK);
    text.len = 0;
    CHECK(trl_graph_model_dump(m, 0, to_buf, &text, &err) == TRL_OK);
    const trl_status st = trl_model_undump_buf("dump", text.data, text.len, &model, &err);
    CHECK(st == TRL_OK || (err.code == TRL_EPARSE && err.path[0]));
    if (st == TRL_OK) {
        trl_graph_model *again = NULL;
        CHECK(trl_graph_model_from_memory(model.data, model.len, &again, &err) == TRL_OK);
        trl_graph_model_free(again);
    }
    trl_buf_fini(&text);
    trl_buf_fini(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n;
    unsigned char *p = model_bytes(data, size, "graph", &n);
    if (!p)
        return 0;
    trl_error err = {0};
    trl_graph_model *m = NULL;
    if (trl_graph_model_from_memory(p, n, &m, &err) == TRL_OK) {
        label(m);
        dump(m);
        trl_graph_model_free(m);
    } else {
        CHECK(err.code == TRL_EMODEL && err.msg[0] && err.path[0]);
    }
    trl_free(p);
    return 0;
}
