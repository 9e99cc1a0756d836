/* fuzz_graph_spec.c -- any bytes as a model file of graphs; what is one is unrolled on fixed text.
 */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "graph_model/grmm_templates.h"
#include "graph_model/unroll.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())
#define COLUMNS 4

static const char *const words[] = {"The", "DT",  "a", "B-NP", "U.S.", "NNP", "^$*?", "I-NP",
                                    "7%",  "CD",  "b", "O",    "The",  "DT",  "a",    "B-NP",
                                    "the", "NNP", "b", "I-NP", "U.S.", "NNP", "a",    "O"};

static void fill(trl_graph_unit *u)
{
    trl_str cell[sizeof words / sizeof *words];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        cell[i] = (trl_str){words[i], strlen(words[i])};
    const trl_rows first = {.n_tokens = 4, .n_columns = COLUMNS, .cell = cell};
    const trl_rows second = {.n_tokens = 2, .n_columns = COLUMNS, .cell = cell + 4 * COLUMNS};
    trl_graph_unit_clear(u);
    CHECK(trl_graph_unit_add(u, &first, NULL) == TRL_OK);
    CHECK(trl_graph_unit_add(u, &second, NULL) == TRL_OK);
    trl_graph_unit_close(u);
}

static void unroll(const trl_graph_spec *s)
{
    trl_graph_unit u = {0};
    trl_unrolled x = {0};
    size_t labels[TRL_LAYERS_MAX];
    for (size_t k = 0; k < TRL_LAYERS_MAX; k++)
        labels[k] = 2;
    fill(&u);
    CHECK(trl_unroll(s, labels, &u, &x, NULL) == TRL_OK);
    const trl_graph_view g = trl_graph_look(x.graph);
    CHECK(g.n_variables == u.n_tokens * s->n_layers && g.n_factors == x.n_factors);
    for (size_t a = 0; a < x.n_factors; a++) {
        CHECK(x.family[a] < s->n_factors && x.begin[a] <= x.begin[a + 1]);
        CHECK(g.scope_at[a + 1] - g.scope_at[a] == s->factor[x.family[a]].n);
    }
    trl_unrolled_fini(&x);
    trl_graph_unit_fini(&u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_graph_spec *s = NULL;
    trl_error err = {0};
    const trl_status st = trl_graph_spec_parse("fuzz", (const char *)data, size, &s, &err);
    if (st != TRL_OK) {
        CHECK(st == TRL_EPARSE && err.msg[0] && err.col <= size + 1 && !s);
        return 0;
    }
    CHECK(trl_grmm_templates_here((const char *)data, size) || s->text_len == size);
    CHECK(s->n_factors > 0);
    if (trl_graph_spec_check(s, "fuzz", COLUMNS, &err) == TRL_OK)
        unroll(s);
    trl_graph_spec_free(s);
    return 0;
}
