/* fuzz_word_list.c -- any bytes as a gazetteer, clusters or vectors; the first byte chooses. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "feature/word_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const trl_word_list_kind kind = (trl_word_list_kind)(data[0] % 3);
    const bool folded = data[0] / 3 % 2;
    trl_word_list l = {0};
    trl_input *in = NULL;
    trl_error err;
    CHECK(trl_input_memory("fuzz", data + 1, size - 1, &in, &err) == TRL_OK);
    const trl_status st = trl_word_list_read(&l, kind, folded, in, &err);
    CHECK(st == TRL_OK || st == TRL_EPARSE || st == TRL_EIO);
    if (st == TRL_OK) {
        const trl_word_list_view v = trl_word_list_get(&l);
        CHECK(v.key.n > 0 && (kind == TRL_VECTORS) == (v.width > 0));
        for (size_t k = 0; kind != TRL_VECTORS && k < v.key.n; k++)
            CHECK(v.id[k] <= v.name.n);
    }
    trl_word_list_fini(&l);
    trl_input_free(in);
    return 0;
}
