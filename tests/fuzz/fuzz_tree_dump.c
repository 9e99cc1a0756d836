/* fuzz_tree_dump.c -- any text as the dump of a parser: never a crash; what is read opens, and its
 * dump gives the same bytes again. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "trellis/model.h"
#include "trellis/parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static trl_status to_buf(void *ctx, const char *text, size_t n, trl_error *err)
{
    (void)err;
    return trl_buf_add(ctx, text, n) ? TRL_OK : TRL_ENOMEM;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] = "trellis-model\t1\nkind\ttree\n";
    trl_error err = {0};
    trl_buf text = {0}, model = {0}, again = {0};
    trl_buf_add(&text, head, sizeof head - 1);
    CHECK(trl_buf_add(&text, data, size));
    const trl_status st = trl_model_undump_buf("dump", text.data, text.len, &model, &err);
    if (st == TRL_OK) {
        trl_parse_model *m = NULL;
        CHECK(trl_parse_model_from_memory(model.data, model.len, &m, &err) == TRL_OK);
        text.len = 0;
        CHECK(trl_parse_model_dump(m, to_buf, &text, &err) == TRL_OK);
        trl_parse_model_free(m);
        CHECK(trl_model_undump_buf("dump", text.data, text.len, &again, &err) == TRL_OK);
        CHECK(again.len == model.len && memcmp(again.data, model.data, model.len) == 0);
    } else {
        CHECK(err.code == st && err.msg[0] && err.path[0]);
    }
    trl_buf_fini(&text);
    trl_buf_fini(&model);
    trl_buf_fini(&again);
    return 0;
}
