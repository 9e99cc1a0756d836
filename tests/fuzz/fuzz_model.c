/* fuzz_model.c -- any bytes as a model: never a crash; what opens can be used, dumped,
 * described.
 *
 * Magic, size and checksums are put right first, so that the checks after them are reached.
 */
/* SPDX-License-Identifier: MIT */
#include "model_bytes.h"
#include "use_model.h"

#include "trellis/shrink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static trl_status count(void *ctx, const char *text, size_t n, trl_error *err)
{
    (void)text;
    (void)err;
    *(size_t *)ctx += n;
    return TRL_OK;
}

/* What can be shrunk can be opened. */
static void shrink(const trl_model *m)
{
    static const trl_shrink_options how[] = {
        {.size = sizeof *how, .keep = 0.5, .bits = 16, .fingerprints = true},
        {.size = sizeof *how, .prune = 0.1, .bits = 8}};
    trl_buf bytes = {0};
    trl_error err;
    for (size_t k = 0; k < 2; k++) {
        trl_model *small = NULL;
        if (trl_model_shrink(m, &how[k], &bytes, NULL, &err) != TRL_OK)
            continue; /* fingerprints already, or weights beyond a float */
        require(trl_model_from_memory(bytes.data, bytes.len, &small, &err) == TRL_OK);
        tag(small);
        trl_model_free(small);
    }
    trl_buf_fini(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n;
    unsigned char *p = model_bytes(data, size, "chain", &n);
    if (!p)
        return 0;
    trl_error err = {0};
    trl_model *m = NULL;
    if (trl_model_from_memory(p, n, &m, &err) == TRL_OK) {
        size_t written = 0;
        tag(m);
        const bool named = trl_chain_need_names(trl_model_chain(m), &err) == TRL_OK;
        const trl_status st = trl_model_dump(m, count, &written, &err);
        require(named ? st == TRL_OK && written > 0 : st == TRL_EINVAL);
        require(trl_model_dump_top(m, 3, count, &written, &err) == st);
        shrink(m);
        trl_model_free(m);
    } else {
        require(err.code == TRL_EMODEL && err.msg[0] && err.path[0]);
    }
    trl_free(p);
    return 0;
}
