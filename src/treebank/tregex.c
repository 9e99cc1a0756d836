/* tregex.c -- what tregex has and tree patterns do not. */
/* SPDX-License-Identifier: MIT */
#include "treebank/tregex.h"

#include <stddef.h>
#include <stdbool.h>
#include <string.h>

static const struct {
    const char *sign, *instead;
} tregex[] = {
    {"$++", "sisters are A $ B; A $ B .. B has one after it"},
    {"$--", "sisters are A $ B; A $ B ,, B has one before it"},
    {"$+", "sisters are A $ B; A $ B . B has one right after it"},
    {"$-", "sisters are A $ B; A $ B , B has one right before it"},
    {"$.", "sisters are A $ B; A $ B . B has one right after it"},
    {"$,", "sisters are A $ B; A $ B , B has one right before it"},
    {"<<,", "B anywhere below is A << B; the first child is A <1 B"},
    {"<<-", "B anywhere below is A << B; the last child is A <- B"},
    {"<<:", "an only child is A <: B"},
    {"<<#", "heads are not searched"},
    {"<#", "heads are not searched"},
    {"<,", "the first child is A <1 B"},
    {"<`", "the last child is A <- B"},
    {">,", "said from above: B <1 A"},
    {">-", "said from above: B <- A"},
    {">:", "said from above: B <: A"},
    {"&", "relations follow one another, and all must hold: NP < DT < NN"},
    {"[", "relations follow one another, and all must hold; A|B is one or the other label"},
    {"?", "a relation that may hold or not changes nothing: leave it out"},
};

const char *trl_tregex_sign(const char *text, const char **instead)
{
    for (size_t k = 0; k < sizeof tregex / sizeof *tregex; k++)
        if (strncmp(text, tregex[k].sign, strlen(tregex[k].sign)) == 0) {
            *instead = tregex[k].instead;
            return tregex[k].sign;
        }
    return NULL;
}

const char *trl_tregex_name(const char *name, size_t n)
{
    const char *equals = memchr(name, '=', n);
    const char next = equals && equals + 1 < name + n ? equals[1] : '\0';
    const bool named = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
    if (n < 2 || (name[0] != '/' && name[0] != '@' && !(named && equals > name)))
        return NULL;
    return name[0] == '/' ? "'*' stands for any text, as in NP*; \"/x/\" in quotes is itself"
           : name[0] == '@'
               ? "NP* has function tags, too, and 'clean' drops them; \"@x\" in quotes is itself"
               : "nodes cannot be named; \"a=b\" in quotes is itself";
}
