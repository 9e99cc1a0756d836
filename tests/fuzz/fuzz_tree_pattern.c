/* fuzz_tree_pattern.c -- any bytes as a pattern, searched for in fixed trees. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "trellis/trees.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static const char trees[] = "(S (NP (DT the) (NN cat)) (VP (VBZ sits) ($ $)))\n(X a)\n"
                            "(A (A (A (A a))) (B (A b) (C c) (A a)))";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    trl_tree_pattern *p = NULL;
    trl_error err = {0};
    CHECK(text);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    const trl_status st = trl_tree_pattern_parse(text, &p, &err);
    if (st != TRL_OK)
        CHECK(!p && st == TRL_EPARSE && err.col > 0 && err.col <= strlen(text) + 1);
    else {
        trl_treebank *bank = NULL;
        trl_tree t;
        bool more = true;
        CHECK(trl_treebank_memory(&(trl_text){"fuzz", trees, sizeof trees - 1}, NULL, false, &bank,
                                  NULL) == TRL_OK);
        while (trl_treebank_next(bank, &t, &more, NULL) == TRL_OK && more) {
            size_t n;
            uint32_t first;
            CHECK(trl_tree_pattern_match(p, &t, &n, &first, NULL) == TRL_OK);
            CHECK(n <= t.n_nodes + t.n_words && (n > 0) == (first < t.n_nodes));
        }
        trl_treebank_free(bank);
        trl_tree_pattern_free(p);
    }
    free(text);
    return 0;
}
