/* fuzz_reliability.c -- any bytes as tagged tokens with probabilities, and as spans of trees. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "score/reliability.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static void check(const trl_reliability *r)
{
    const trl_reliability_totals t = trl_reliability_get(r);
    CHECK(t.right <= t.n && t.brier >= 0.0 && t.brier <= 1.0);
    CHECK(t.ece >= 0.0 && t.ece <= t.largest + 1e-9 && t.largest <= 1.0);
}

static void read_tagged(const uint8_t *data, size_t size)
{
    trl_input *in = NULL;
    trl_error err = {0};
    static trl_reliability r[TRL_N_RELIABLE];
    memset(r, 0, sizeof r);
    for (size_t k = 0; k < TRL_N_RELIABLE; k++)
        r[k].n_bins = 7;
    if (trl_input_memory("fuzz", data, size, &in, &err) != TRL_OK)
        return;
    const trl_status st = trl_reliability_read(in, r, &err);
    CHECK(st == TRL_OK || st == TRL_EIO || (st == TRL_EPARSE && err.row > 0));
    for (size_t k = 0; k < TRL_N_RELIABLE; k++)
        check(&r[k]);
    trl_input_free(in);
}

static void read_spans(const uint8_t *data, size_t size)
{
    static const char gold[] = "(S (NP (A a) (B b)) (VP (C c)))\n(S (A a))\n";
    trl_input *in = NULL;
    trl_treebank *bank = NULL;
    trl_error err = {0};
    trl_reliability r = {.n_bins = 3};
    if (trl_input_memory("fuzz", data, size, &in, &err) == TRL_OK &&
        trl_treebank_memory(&(trl_text){.name = "gold", .p = gold, .n = sizeof gold - 1}, NULL,
                            false, &bank, &err) == TRL_OK) {
        const trl_status st = trl_reliability_read_parses(in, bank, &r, &r, &err);
        CHECK(st == TRL_OK || st == TRL_EIO || st == TRL_EINVAL ||
              (st == TRL_EPARSE && err.row > 0));
        check(&r);
    }
    trl_treebank_free(bank);
    trl_input_free(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_tagged(data, size);
    read_spans(data, size);
    return 0;
}
