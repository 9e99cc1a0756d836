/* fuzz_foreign.c -- any bytes as a model of CRFsuite, CRF++ or Wapiti: an error with path, reason
 * and hint, or a model that opens, tags, and comes back from its dump and its export. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/model.h"
#include "trellis/foreign.h"
#include "trellis/tagger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good)
{
    if (!good)
        abort();
}

#define TOKENS 3

static void tag(const trl_model *m)
{
    const trl_model_info info = trl_model_get_info(m);
    const trl_strview *names = &trl_model_chain(m)->family[TRL_NODE].names;
    const trl_str some[] = {names->n ? trl_strview_get(names, 0) : (trl_str){"a", 1}, {"the", 3}};
    trl_str cell[TOKENS * 8];
    trl_attr attr[TOKENS * 2];
    static const size_t begin[] = {0, 2, 4, 6};
    trl_tagger *t = NULL;
    trl_error err = {0};
    uint32_t y[TOKENS];
    double score;
    for (size_t i = 0; i < TOKENS * 8; i++)
        cell[i] = some[i % 2];
    for (size_t i = 0; i < TOKENS * 2; i++)
        attr[i] = (trl_attr){some[i % 2], 1.0 + (double)i};
    const trl_rows rows = {.n_tokens = TOKENS, .n_columns = 8, .cell = cell};
    const trl_items items = {.n_tokens = TOKENS, .begin = begin, .attr = attr};
    if (info.n_labels > 64)
        return;
    require(trl_tagger_new(m, &t, &err) == TRL_OK);
    const trl_status st = info.n_columns ? trl_tagger_set_rows(t, &rows, &err)
                                         : trl_tagger_set_items(t, &items, &err);
    require(st == TRL_OK || st == TRL_EPARSE);
    if (st == TRL_OK && trl_tagger_viterbi(t, y, &score, &err) == TRL_OK)
        for (size_t i = 0; i < TOKENS; i++)
            require(y[i] < info.n_labels);
    trl_tagger_free(t);
}

/* There and back. */
static void check_export(const trl_model *m)
{
    trl_error err = {0};
    trl_buf file = {0}, back = {0}, again = {0};
    trl_model *copy = NULL;
    if (trl_model_export_buf(m, &file, &err) != TRL_OK) {
        require(err.code == TRL_EINVAL && err.msg[0]);
        return;
    }
    require(trl_model_import_buf("file", file.data, file.len, &back, &err) == TRL_OK);
    require(trl_model_from_memory(back.data, back.len, &copy, &err) == TRL_OK);
    require(trl_model_get_info(copy).n_features == trl_model_get_info(m).n_features);
    require(trl_model_export_buf(copy, &again, &err) == TRL_OK);
    require(again.len == file.len && memcmp(again.data, file.data, file.len) == 0);
    trl_model_free(copy);
    trl_buf_fini(&file);
    trl_buf_fini(&back);
    trl_buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_error err = {0};
    trl_buf out = {0}, text = {0}, loaded = {0};
    trl_model *m = NULL;
    const trl_status st = trl_model_import_buf("fuzz", data, size, &out, &err);
    if (st != TRL_OK) {
        require(st == err.code && err.msg[0] && out.len == 0);
        require(st == TRL_ENOMEM || strcmp(err.path, "fuzz") == 0);
        return 0;
    }
    require(trl_model_from_memory(out.data, out.len, &m, &err) == TRL_OK);
    require(trl_model_dump_buf(m, &text, &err) == TRL_OK);
    require(trl_model_undump_buf("dump", text.data, text.len, &loaded, &err) == TRL_OK);
    require(loaded.len == out.len && memcmp(loaded.data, out.data, out.len) == 0);
    tag(m);
    check_export(m);
    trl_model_free(m);
    trl_buf_fini(&out);
    trl_buf_fini(&text);
    trl_buf_fini(&loaded);
    return 0;
}
