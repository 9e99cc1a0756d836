/* fuzz_template.c -- any bytes as a template, of any dialect, expanded on fixed rows. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "feature/feature_expand.h"
#include "feature/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())
#define COLUMNS 4

static const char *const words[] = {"The",
                                    "DT",
                                    "a",
                                    "B-NP",
                                    "U.S.",
                                    "NNP",
                                    "^$*?",
                                    "I-NP",
                                    "7%",
                                    "CD",
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                    "\xc3\xa9"};

static void expand_all(const trl_template *t, const trl_rows *seq)
{
    trl_buf out = {0};
    for (size_t pos = 0; pos < seq->n_tokens; pos++)
        for (size_t k = 0; k < trl_template_count(t); k++) {
            const size_t before = out.len;
            CHECK(trl_template_cliques(t, k) != 0);
            CHECK(trl_template_expand(t, k, seq, pos, &out) && !out.failed);
            CHECK(out.len > before && out.len <= out.cap);
            CHECK(memchr("ubtUBT*", out.data[before], 7));
            if (out.len > 1u << 20)
                out.len = 0;
        }
    trl_buf_fini(&out);
}

/* Features in words; lists of words are empty, real values not there. */
static void expand_features(const trl_template *t, const trl_rows *seq)
{
    trl_feature_list *l = trl_template_list(t);
    trl_feature_expander *x = NULL;
    trl_names out = {0};
    trl_error err;
    CHECK(trl_feature_expander_new(l, &x, &err) == TRL_OK);
    const trl_status learnt = trl_feature_learn(l, x, seq, &err);
    CHECK(learnt == TRL_OK || (learnt == TRL_EPARSE && l->learns));
    trl_feature_list_learned(l);
    const trl_status st = trl_feature_expander_set(x, seq, &err);
    CHECK(st == learnt);
    for (size_t pos = 0; st == TRL_OK && pos < seq->n_tokens; pos++)
        for (size_t k = 0; k < l->n_features; k++) {
            trl_names_clear(&out);
            CHECK(trl_template_cliques(t, k) != 0);
            CHECK(trl_feature_expander_put(x, k, pos, &out));
            for (size_t i = 0; i < out.n; i++)
                CHECK(out.name[i].n > 0 && out.name[i].at + out.name[i].n <= out.text.len);
        }
    trl_names_fini(&out);
    trl_feature_expander_free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_str cell[sizeof words / sizeof *words];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        cell[i] = (trl_str){words[i], strlen(words[i])};
    const trl_rows seq = {.n_tokens = 3, .n_columns = COLUMNS, .cell = cell};
    trl_template *t = NULL;
    trl_error err;
    const trl_status st = trl_template_parse("fuzz", (const char *)data, size, &t, &err);
    if (st != TRL_OK) {
        CHECK(st == TRL_EPARSE && err.row > 0 && err.col > 0 && err.col <= size + 1 && !t);
        return 0;
    }
    CHECK(trl_template_text(t).n == size);
    const size_t columns = trl_template_columns(t);
    uint64_t row = 1, col = 1;
    if (columns > 0)
        trl_template_place(t, columns - 1, &row, &col);
    CHECK(row > 0 && col > 0);
    trl_template_place(t, columns, &row, &col);
    CHECK(row == 0 && col == 0);
    if (columns <= COLUMNS && trl_template_list(t))
        expand_features(t, &seq);
    else if (columns <= COLUMNS)
        expand_all(t, &seq);
    trl_template_free(t);
    return 0;
}
