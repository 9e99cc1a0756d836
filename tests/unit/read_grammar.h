/* read_grammar.h -- grammars of test trees. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_READ_GRAMMAR_H
#define TRL_TEST_READ_GRAMMAR_H

#include "random_tree.h"

#include "grammar/grammar.h"

static trl_head_rules *heads;

/* Set-up and tear-down of a group of tests. */
static inline int read_heads(void **state)
{
    (void)state;
    trl_error err;
    assert_ok(trl_head_rules_read(NULL, &heads, &err));
    return 0;
}

static inline int free_heads(void **state)
{
    (void)state;
    trl_head_rules_free(heads);
    return 0;
}

#define N_SWITCHES 24

static inline trl_annotation switches(unsigned k)
{
    return (trl_annotation){.parents = k & 1,
                            .tag_parents = (k & 2) != 0,
                            .head_tags = (k & 4) != 0,
                            .markov = (int)(k / 8)};
}

static inline void build(trl_grammar *g, const trl_annotation *a, const tree_list *l,
                         trl_licence licence)
{
    trl_error err;
    assert_ok(trl_grammar_init(g, a, heads, &err));
    for (size_t i = 0; i < l->n; i++)
        assert_ok(trl_grammar_add(g, &l->tree[i], &l->labels, &err));
    assert_ok(trl_grammar_finish(g, licence, &err));
}

static inline const char *name_of(const trl_grammar *g, uint32_t state)
{
    static char text[4][256];
    static int turn;
    const trl_str s = trl_strtab_get(&g->names, state);
    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof text[turn], "%.*s", (int)s.n, s.p);
    return text[turn];
}

#endif
