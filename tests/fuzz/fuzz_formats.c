/* fuzz_formats.c -- any bytes as CoNLL-U, JSON lines, GRMM's and MALLET's lines: sound sequences
 * or a placed error; CoNLL-U keeps its lines. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "text/conllu.h"
#include "text/grmm.h"
#include "text/jsonl.h"
#include "text/mallet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

typedef struct readers {
    trl_input *in;
    trl_conllu *conllu;
    trl_jsonl *jsonl;
    trl_grmm *grmm;
    trl_mallet *mallet;
} readers;

static void check_rows(const trl_rows *seq, trl_str source, size_t kind)
{
    CHECK(seq->n_tokens > 0 && seq->n_columns > 0 && seq->first_row > 0);
    for (size_t i = 0; i < seq->n_tokens * seq->n_columns; i++) {
        const trl_str s = seq->cell[i];
        CHECK(s.n > 0 && !memchr(s.p, '\0', s.n));
        CHECK(kind != 0 || (s.p >= source.p && s.p + s.n < source.p + source.n));
    }
    CHECK(kind != 0 || source.p[source.n - 1] == '\n');
}

static void check_attributes(const trl_grmm *r, const trl_rows *seq)
{
    const size_t *begin;
    const trl_attr *attr;
    trl_grmm_attributes(r, &begin, &attr);
    for (size_t t = 0; t < seq->n_tokens; t++)
        CHECK(begin[t] <= begin[t + 1]);
    for (size_t a = 0; a < begin[seq->n_tokens]; a++)
        CHECK(attr[a].name.n > 0 && attr[a].value == 1.0);
}

static void check_items(const trl_items *seq)
{
    CHECK(seq->n_tokens > 0 && seq->first_row > 0);
    for (size_t t = 0; t < seq->n_tokens; t++)
        CHECK(seq->label[t].n > 0 && seq->begin[t] <= seq->begin[t + 1]);
    for (size_t a = 0; a < seq->begin[seq->n_tokens]; a++)
        CHECK(seq->attr[a].name.n > 0 && seq->attr[a].value == 1.0);
}

static void run(const uint8_t *data, size_t size, size_t kind)
{
    readers r = {0};
    trl_error err = {0};
    CHECK(trl_input_memory("fuzz", data, size, &r.in, &err) == TRL_OK);
    CHECK(trl_conllu_new(r.in, &r.conllu, &err) == TRL_OK);
    CHECK(trl_jsonl_new(r.in, &r.jsonl, &err) == TRL_OK);
    CHECK(trl_grmm_new(r.in, &r.grmm, &err) == TRL_OK);
    CHECK(trl_mallet_new(r.in, &r.mallet, &err) == TRL_OK);
    for (bool more = true; more;) {
        trl_rows rows;
        trl_items items;
        const trl_status st = kind == 0   ? trl_conllu_next(r.conllu, &rows, &more, &err)
                              : kind == 1 ? trl_jsonl_next(r.jsonl, &rows, &more, &err)
                              : kind == 2 ? trl_grmm_next(r.grmm, &rows, &more, &err)
                                          : trl_mallet_next(r.mallet, &items, &more, &err);
        if (st != TRL_OK) {
            CHECK(st == TRL_EIO || (st == TRL_EPARSE && err.row > 0 && err.col > 0));
            break;
        }
        if (more && kind == 2)
            check_attributes(r.grmm, &rows);
        if (more && kind < 3)
            check_rows(&rows, trl_conllu_source(r.conllu), kind);
        else if (more)
            check_items(&items);
    }
    trl_conllu_free(r.conllu);
    trl_jsonl_free(r.jsonl);
    trl_grmm_free(r.grmm);
    trl_mallet_free(r.mallet);
    trl_input_free(r.in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t kind = 0; kind < 4; kind++)
        run(data, size, kind);
    return 0;
}
