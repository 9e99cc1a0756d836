/* fuzz_known.c -- any bytes as what is known of sentences. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "trellis/known.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static void check_item(const trl_known *x)
{
    CHECK(x->from < x->to);
    CHECK(x->type != TRL_KNOWN_TAG || (x->to == x->from + 1 && x->label.n > 0));
    CHECK(x->type != TRL_KNOWN_NO_CONSTITUENT || x->label.n == 0);
    for (size_t i = 0; i < x->label.n; i++)
        CHECK(x->label.p[i] != 0 && x->label.p[i] != ' ' && x->label.p[i] != '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_known_list *list = NULL;
    trl_error err = {0};
    const trl_status st = trl_known_list_memory("fuzz", data, size, &list, &err);
    if (st != TRL_OK) {
        CHECK(st == TRL_EIO || (st == TRL_EPARSE && err.row > 0 && err.col > 0 && err.path[0]));
        CHECK(!list);
        return 0;
    }
    uint64_t last = 0, last_row = 0, sentence, row;
    for (size_t k = 0; trl_known_list_item(list, k, &sentence, &row); k++) {
        size_t n, at = 0;
        CHECK(sentence > last || (sentence == last && row > last_row));
        const trl_known *some = trl_known_list_of(list, sentence, &n);
        CHECK(n > 0);
        for (; at < n; at++)
            check_item(&some[at]);
        last = sentence;
        last_row = row;
    }
    size_t none;
    CHECK(!trl_known_list_of(list, last + 1, &none) && none == 0);
    trl_known_list_free(list);
    return 0;
}
