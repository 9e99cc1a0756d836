/* tree_labels.c -- Penn Treebank labels by meaning. */
/* SPDX-License-Identifier: MIT */
#include "treebank/tree_labels.h"

#include <string.h>

typedef struct named {
    const char *name;
    trl_category cat;
} named;

static const named phrases[] = {
    {"NP", TRL_NP},     {"WHNP", TRL_NP},     {"NX", TRL_NX},     {"NML", TRL_NX},
    {"NAC", TRL_NX},    {"QP", TRL_NX},       {"VP", TRL_VP},     {"PP", TRL_PP},
    {"WHPP", TRL_PP},   {"SBAR", TRL_SBAR},   {"ADJP", TRL_ADJP}, {"WHADJP", TRL_ADJP},
    {"ADVP", TRL_ADVP}, {"WHADVP", TRL_ADVP}, {"PRT", TRL_PRT},   {"CONJP", TRL_CONJP},
    {"INTJ", TRL_INTJ}, {"LST", TRL_LST},     {"UCP", TRL_UCP},   {"S", TRL_S},
};

static const named leaves[] = {
    {"MD", TRL_VERB},        {"TO", TRL_INF},    {"VB", TRL_VERB},    {"VBD", TRL_VERB},
    {"VBP", TRL_VERB},       {"VBZ", TRL_VERB},  {"VBG", TRL_VERBAL}, {"VBN", TRL_VERBAL},
    {"IN", TRL_PREP},        {"RP", TRL_PREP},   {"DT", TRL_DET},     {"WDT", TRL_DET},
    {"PDT", TRL_DET},        {"RB", TRL_ADVERB}, {"RBR", TRL_ADVERB}, {"RBS", TRL_ADVERB},
    {"POS", TRL_POSSESSIVE}, {"CC", TRL_COORD},  {"$", TRL_WORD},     {"#", TRL_WORD},
    {"``", TRL_QUOTE},
};

static trl_category look_up(const named *table, size_t n, trl_str s, trl_category otherwise)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(table[i].name) == s.n && memcmp(table[i].name, s.p, s.n) == 0)
            return table[i].cat;
    return otherwise;
}

/* The label up to its function tags and indices: NP of NP-SBJ-1, NP=2 and NP|PP.  A first
 * character is never cut off: -LRB- and -NONE- yield "-LRB" and "-NONE". */
static trl_str bare(trl_str s)
{
    size_t n = 1;
    while (n < s.n && s.p[n] != '-' && s.p[n] != '=' && s.p[n] != '|')
        n++;
    return (trl_str){s.p, n < s.n ? n : s.n};
}

trl_category trl_category_of_leaf(trl_str s)
{
    if (s.n == 6 && memcmp(s.p, "-NONE-", 6) == 0)
        return TRL_EMPTY;
    const trl_category cat = look_up(leaves, sizeof leaves / sizeof *leaves, bare(s), TRL_WORD);
    const unsigned char c = s.n ? (unsigned char)s.p[0] : 'x';
    const bool name = (c | 32) >= 'a' && (c | 32) <= 'z';
    return cat == TRL_WORD && !name && c < 128 && c != '$' && c != '#' ? TRL_PUNCT : cat;
}

trl_category trl_category_of_phrase(trl_str s)
{
    return look_up(phrases, sizeof phrases / sizeof *phrases, bare(s), TRL_CLAUSE);
}
