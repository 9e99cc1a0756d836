/* fuzz_tree_template.c -- any bytes as feature families of tree models, asked for keys of fixed
 * parts. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "parser/tree_features.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())
#define WORDS 4

/* Every part that can be over words i .. j-1; what is asked for must lie in the sentence's margins.
 */
static void ask(const trl_tree_features *f, const trl_seen *seen)
{
    for (size_t k = 0; k < f->t->n; k++)
        for (size_t j = 1; j <= WORDS; j++)
            for (size_t i = 0; i < j; i++) {
                const trl_tree_family *fam = &f->t->family[k];
                CHECK(fam->part < TRL_PARTS && fam->n <= TRL_OBSERVATIONS &&
                      fam->width <= TRL_OBSERVATIONS);
                const trl_tree_part p = {0, 0, i, j - 1, j};
                const uint64_t key = trl_tree_part_key(f, k, &p, seen);
                CHECK(key == 0 || key >> 56 == k + 1);
                CHECK(key == 0 || !fam->one_word || j - i == 1);
            }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint32_t at[TRL_SEEN_TYPES * (WORDS + 2 * TRL_SEEN_MARGIN)];
    static uint8_t shape[WORDS];
    trl_state state = {0};
    trl_binary binary = {0};
    trl_unary unary = {0};
    trl_grammar g = {.state = &state,
                     .n_states = 1,
                     .n_plain = 1,
                     .binary = &binary,
                     .n_binary = 1,
                     .n_plain_binary = 1,
                     .unary = &unary,
                     .n_unary = 1,
                     .n_plain_unary = 1};
    uint8_t marks = TRL_RIGHT_PP | TRL_LEFT_VERB | TRL_RIGHT_VERB;
    const trl_seen seen = {WORDS, at, shape};
    trl_tree_template t = {0};
    trl_error err = {0};
    for (size_t k = 0; k < sizeof at / sizeof *at; k++)
        at[k] = (uint32_t)(k % 5);
    const trl_status st = trl_tree_template_parse(&t, "fuzz", (const char *)data, size, &err);
    CHECK(t.n <= TRL_TREE_FAMILIES);
    CHECK(st == TRL_OK || (st == TRL_EPARSE && err.row > 0 && err.col > 0 && err.col <= size + 1));
    const trl_tree_features f = {.g = &g, .t = &t, .rule_marks = &marks};
    ask(&f, &seen);
    return 0;
}
