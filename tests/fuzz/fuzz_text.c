/* fuzz_text.c -- any bytes through the tokeniser and the reader of marks: every byte of the text
 * is in a token or between tokens, in order, or the fault has a place. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "text/tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static void check_gap(trl_str text, size_t from, size_t to)
{
    while (from < to) {
        const trl_char c = trl_char_at(text, from);
        CHECK(c.n && c.class == TRL_CHAR_BLANK);
        from += c.n;
    }
    CHECK(from == to);
}

static void check_tokens(trl_str text, trl_token_options o)
{
    trl_tokenizer *t = NULL;
    trl_error err;
    const trl_token *token;
    size_t n, at = 0;
    CHECK(trl_tokenizer_new(&o, &t, &err) == TRL_OK);
    CHECK(trl_tokenize(t, text, &token, &n, &err) == TRL_OK);
    for (size_t i = 0; i < n; i++) {
        CHECK(token[i].begin >= at && token[i].end > token[i].begin && token[i].end <= text.n);
        CHECK(i > 0 || token[i].starts_sentence);
        check_gap(text, at, token[i].begin);
        CHECK(trl_char_at(text, token[i].begin).class != TRL_CHAR_BLANK);
        at = token[i].end;
    }
    check_gap(text, at, text.n);
    trl_tokenizer_free(t);
}

static void check_reader(const uint8_t *data, size_t size, trl_text_options o)
{
    trl_text_reader *r = NULL;
    trl_error err = {0};
    trl_status st = trl_text_reader_memory("fuzz", data, size, &o, &r, &err);
    if (st != TRL_OK)
        CHECK(st == TRL_EIO || (st == TRL_EPARSE && err.row > 0 && err.col > 0 && err.msg[0]));
    size_t at = 0;
    for (bool more = true; st == TRL_OK && more;) {
        trl_text_rows seq;
        CHECK(trl_text_reader_next(r, &seq, &more, &err) == TRL_OK);
        CHECK(!more || seq.rows.n_tokens > 0);
        for (size_t t = 0; more && t < seq.rows.n_tokens; t++) {
            CHECK(seq.token[t].begin >= at && seq.token[t].end <= seq.text.n);
            at = seq.token[t].end;
            for (size_t c = 0; c < seq.rows.n_columns; c++) {
                const trl_str s = seq.rows.cell[t * seq.rows.n_columns + c];
                CHECK(s.n > 0 && !memchr(s.p, ' ', s.n) && !memchr(s.p, '\n', s.n));
            }
        }
    }
    trl_text_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char columns[] = "word,lower,shape,case,kind,line,field,time,date,name";
    const trl_str text = {(const char *)data, size};
    check_tokens(text, (trl_token_options){0});
    check_tokens(text, (trl_token_options){TRL_GRAIN_FINE, TRL_SENTENCES_LINES});
    check_reader(data, size, (trl_text_options){.columns = columns, .marks = true});
    check_reader(data, size,
                 (trl_text_options){.columns = columns,
                                    .marks = true,
                                    .tokens = {TRL_GRAIN_FINE, TRL_SENTENCES_WHOLE},
                                    .labels = "a,b",
                                    .layers = true});
    return 0;
}
