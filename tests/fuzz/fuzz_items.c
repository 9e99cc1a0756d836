/* fuzz_items.c -- any bytes through the attribute reader: sound items or a placed error. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "text/items.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static bool is_finite(double v)
{
    return v - v == 0.0;
}

static void check_items(const trl_items *seq, uint64_t last_row, uint64_t row)
{
    CHECK(seq->n_tokens > 0 && seq->path && seq->begin[0] == 0);
    CHECK(seq->first_row > last_row && seq->first_row + seq->n_tokens - 1 <= row);
    CHECK(is_finite(seq->weight) && seq->weight >= 0.0);
    for (size_t t = 0; t < seq->n_tokens; t++) {
        const trl_str label = seq->label[t];
        CHECK(label.n > 0 && !memchr(label.p, '\t', label.n) && !memchr(label.p, '\n', label.n));
        CHECK(seq->begin[t] <= seq->begin[t + 1]);
        for (size_t i = seq->begin[t]; i < seq->begin[t + 1]; i++) {
            const trl_attr *a = &seq->attr[i];
            CHECK(is_finite(a->value));
            CHECK(!memchr(a->name.p, '\t', a->name.n) && !memchr(a->name.p, '\n', a->name.n));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_input *in = NULL;
    trl_item_reader *r = NULL;
    trl_error err;
    CHECK(trl_input_memory("fuzz", data, size, &in, &err) == TRL_OK);
    CHECK(trl_item_reader_new(in, &r, &err) == TRL_OK);
    uint64_t last_row = 0;
    for (;;) {
        trl_items seq;
        bool more = false;
        const trl_status st = trl_items_next(r, &seq, &more, &err);
        if (st != TRL_OK) {
            CHECK(st == err.code && err.msg[0] && err.path[0]);
            CHECK(st == TRL_EIO || (err.row > last_row && err.col > 0));
            break;
        }
        if (!more)
            break;
        check_items(&seq, last_row, trl_input_row(in));
        last_row = seq.first_row + seq.n_tokens - 1;
    }
    trl_item_reader_free(r);
    trl_input_free(in);
    return 0;
}
