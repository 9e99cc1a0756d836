/* fuzz_columns.c -- any bytes through the column reader: sound rows or a placed error. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "text/columns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static void check_rows(const trl_rows *seq, uint64_t last_row, uint64_t row)
{
    CHECK(seq->n_tokens > 0 && seq->n_columns > 0 && seq->path);
    CHECK(seq->first_row > last_row && seq->first_row + seq->n_tokens - 1 <= row);
    for (size_t t = 0; t < seq->n_tokens; t++) {
        uint64_t free_from = 1;
        for (size_t c = 0; c < seq->n_columns; c++) {
            const trl_str s = seq->cell[t * seq->n_columns + c];
            const uint64_t col = trl_rows_col(seq, t, c);
            CHECK(s.n > 0 && col >= free_from);
            free_from = col + s.n + 1;
            for (size_t i = 0; i < s.n; i++)
                CHECK(!memchr(" \t\n", s.p[i], 4)); /* nor a NUL */
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_input *in = NULL;
    trl_columns *r = NULL;
    trl_error err;
    CHECK(trl_input_memory("fuzz", data, size, &in, &err) == TRL_OK);
    CHECK(trl_columns_new(in, &r, &err) == TRL_OK);
    uint64_t last_row = 0;
    size_t n_columns = 0;
    for (;;) {
        trl_rows seq;
        bool more = false;
        const trl_status st = trl_columns_next(r, &seq, &more, &err);
        if (st != TRL_OK) {
            CHECK(st == err.code && err.msg[0] && err.path[0]);
            CHECK(st == TRL_EIO || (err.row > last_row && err.col > 0));
            break;
        }
        if (!more)
            break;
        check_rows(&seq, last_row, trl_input_row(in));
        CHECK(n_columns == 0 || n_columns == seq.n_columns);
        n_columns = seq.n_columns;
        last_row = seq.first_row + seq.n_tokens - 1;
    }
    trl_columns_free(r);
    trl_input_free(in);
    return 0;
}
