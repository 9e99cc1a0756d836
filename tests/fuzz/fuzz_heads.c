/* fuzz_heads.c -- any bytes as head rules, asked about fixed rules. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "treebank/heads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static const char *const names[] = {"NP", "VP-1", "NN", ",", "CC", "VB", "", "-NONE-", "#", "X=2"};
#define N_NAMES (sizeof names / sizeof *names)

static void ask(const trl_head_rules *h, const trl_head_rules *again)
{
    trl_str label[2 * N_NAMES];
    for (size_t i = 0; i < 2 * N_NAMES; i++)
        label[i] = (trl_str){names[i % N_NAMES], strlen(names[i % N_NAMES])};
    for (size_t parent = 0; parent < N_NAMES; parent++)
        for (size_t from = 0; from < N_NAMES; from++)
            for (size_t n = 1; n <= N_NAMES; n++) {
                const size_t head = trl_head_child(h, label[parent], label + from, n);
                CHECK(head < n);
                CHECK(head == trl_head_child(again, label[parent], label + from, n));
            }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_head_rules *h = NULL, *again = NULL;
    trl_error err = {0};
    const trl_status st = trl_head_rules_parse("fuzz", (const char *)data, size, &h, &err);
    if (st != TRL_OK) {
        CHECK(!h && (st == TRL_EIO || (st == TRL_EPARSE && err.row > 0 && err.col > 0)));
        return 0;
    }
    const trl_str text = trl_head_rules_text(h);
    CHECK(trl_head_rules_parse("again", text.p, text.n, &again, &err) == TRL_OK);
    ask(h, again);
    trl_head_rules_free(h);
    trl_head_rules_free(again);
    return 0;
}
