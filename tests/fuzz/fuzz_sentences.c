/* fuzz_sentences.c -- any bytes as sentences to parse, in the format that the first byte chooses.
 */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "trellis/parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static void check_word(trl_str w)
{
    CHECK(w.n > 0);
    for (size_t k = 0; k < w.n; k++)
        CHECK(w.p[k] != 0 && w.p[k] != ' ' && w.p[k] != '\t' && w.p[k] != '\n');
    CHECK(w.n > 1 || (w.p[0] != '(' && w.p[0] != ')'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const trl_sentence_format format = (trl_sentence_format)(data[0] % 4);
    trl_sentence_reader *r = NULL;
    trl_error err = {0};
    uint64_t row = 0;
    CHECK(trl_sentence_reader_memory("fuzz", data + 1, size - 1, format, &r, &err) == TRL_OK);
    for (bool more = true; more;) {
        trl_sentence s;
        const trl_status st = trl_sentence_reader_next(r, &s, &more, &err);
        if (st != TRL_OK) {
            CHECK(st == TRL_EIO || (st == TRL_EPARSE && err.row > 0 && err.col > 0 && err.path[0]));
            break;
        }
        if (!more)
            break;
        CHECK(s.row > row && (s.odd_row == 0) == (s.odd_col == 0) && s.odd_row <= s.row);
        CHECK(s.n == 0 || (s.tag != NULL) == (format == TRL_SENTENCE_TAGGED ||
                                              format == TRL_SENTENCE_TAGGED_COLUMNS));
        CHECK(s.n > 0 || (format != TRL_SENTENCE_COLUMNS && format != TRL_SENTENCE_TAGGED_COLUMNS));
        row = s.row;
        for (size_t k = 0; k < s.n; k++) {
            check_word(s.word[k]);
            CHECK(!s.tag || s.tag[k].n > 0);
        }
    }
    trl_sentence_reader_free(r);
    return 0;
}
