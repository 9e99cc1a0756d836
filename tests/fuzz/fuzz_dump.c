/* fuzz_dump.c -- any text as a dump: never a crash; what is read opens, and its dump gives the same
 * bytes again. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static trl_status to_buf(void *ctx, const char *text, size_t n, trl_error *err)
{
    (void)err;
    return trl_buf_add(ctx, text, n) ? TRL_OK : TRL_ENOMEM;
}

static void require(bool good)
{
    if (!good)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_error err = {0};
    unsigned char *bytes = NULL, *again = NULL;
    size_t n, m;
    const trl_status st = trl_model_undump_memory("dump", data, size, &bytes, &n, &err);
    if (st != TRL_OK) {
        require(err.code == st && err.msg[0] && (st != TRL_EPARSE || err.path[0]));
        return 0;
    }
    trl_model *model = NULL;
    trl_buf text = {0};
    require(trl_model_from_memory(bytes, n, &model, &err) == TRL_OK);
    require(trl_model_dump(model, to_buf, &text, &err) == TRL_OK);
    require(trl_model_undump_memory("dump", text.data, text.len, &again, &m, &err) == TRL_OK);
    require(m == n && memcmp(bytes, again, n) == 0);
    trl_buf_fini(&text);
    trl_model_free(model);
    trl_free(bytes);
    trl_free(again);
    return 0;
}
