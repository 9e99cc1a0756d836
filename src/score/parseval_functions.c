/* parseval_functions.c -- function labels counted over matched brackets [BC00].
 *
 * [BC00] Blaheta, Charniak. Assigning function tags to parsed text. NAACL 2000.
 */
/* SPDX-License-Identifier: MIT */
#include "score/parseval_functions.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "treebank/label.h"

void trl_function_counts_fini(trl_function_counts *c)
{
    trl_strtab_fini(&c->names);
    trl_free(c->count);
    *c = (trl_function_counts){0};
}

void trl_function_counts_reset(trl_function_counts *c)
{
    if (c->count)
        memset(c->count, 0, c->names.n * sizeof *c->count);
    c->brackets = c->exact = 0;
}

/* What follows the category. */
static trl_str functions_of(const trl_side_pair *pair, const trl_bracket *b)
{
    const trl_str s = trl_strtab_get(&pair->labels->names, b->label);
    const size_t n = trl_label_category(s).n;
    return (trl_str){s.p + n, s.n - n};
}

static bool add_names(trl_function_counts *c, const trl_side_pair *pair, const trl_side *side)
{
    for (size_t i = 0; i < side->n_brackets; i++) {
        trl_str rest = functions_of(pair, &side->bracket[i]);
        for (trl_str f = trl_label_function(&rest); f.n; f = trl_label_function(&rest)) {
            const size_t before = c->names.n;
            trl_function_count *count = trl_reserve(c->count, &c->cap, before + 1, sizeof *count);
            c->count = count ? count : c->count;
            if (!count || trl_strtab_add(&c->names, f.p, f.n) == TRL_NO_ID)
                return false;
            if (c->names.n > before)
                c->count[before] = (trl_function_count){0};
        }
    }
    return true;
}

trl_status trl_function_counts_room(trl_function_counts *c, const trl_side_pair *pair,
                                    trl_error *err)
{
    return add_names(c, pair, pair->gold) && add_names(c, pair, pair->test) ? TRL_OK
                                                                            : trl_fail_mem(err);
}

static bool contains(trl_str rest, trl_str what)
{
    for (trl_str f = trl_label_function(&rest); f.n; f = trl_label_function(&rest))
        if (trl_label_is(f, what.p, what.n))
            return true;
    return false;
}

/* Counts what one of the labels has (a label repeated in it once); how many the other lacks. */
static size_t add_side(trl_function_counts *c, trl_str mine, trl_str other, bool gold)
{
    trl_str rest = mine;
    size_t missing = 0;
    for (trl_str f = trl_label_function(&rest); f.n; f = trl_label_function(&rest)) {
        trl_function_count *n = &c->count[trl_strtab_find(&c->names, f.p, f.n)];
        const bool both = contains(other, f);
        if (contains(rest, f))
            continue;
        missing += !both;
        n->match += gold && both;
        *(gold ? &n->gold : &n->test) += 1;
    }
    return missing;
}

void trl_function_counts_add(trl_function_counts *c, const trl_side_pair *pair)
{
    for (size_t i = 0; i < pair->gold->n_brackets; i++) {
        const trl_bracket *b = &pair->gold->bracket[i];
        if (!b->matched)
            continue;
        const trl_str g = functions_of(pair, b);
        const trl_str t = functions_of(pair, &pair->test->bracket[b->partner]);
        const size_t missing = add_side(c, g, t, true) + add_side(c, t, g, false);
        c->brackets++;
        c->exact += missing == 0;
    }
}

/* ---- results --------------------------------------------------------------------------------- */

static bool precedes(const trl_function_counts *c, uint32_t a, uint32_t b)
{
    if (c->count[a].gold != c->count[b].gold)
        return c->count[a].gold > c->count[b].gold;
    if (c->count[a].test != c->count[b].test)
        return c->count[a].test > c->count[b].test;
    return a < b;
}

/* Number k of the most frequent; TRL_NO_ID: there are fewer. */
static uint32_t ranked(const trl_function_counts *c, size_t k)
{
    for (uint32_t a = 0; a < c->names.n; a++) {
        size_t before = 0;
        for (uint32_t b = 0; b < c->names.n; b++)
            before += b != a && precedes(c, b, a);
        if (before == k)
            return a;
    }
    return TRL_NO_ID;
}

bool trl_function_counts_get(const trl_function_counts *c, size_t k, trl_parseval_function *out)
{
    trl_function_count n = {0};
    const uint32_t id = k ? ranked(c, k - 1) : TRL_NO_ID;
    if (k && (id == TRL_NO_ID || c->count[id].gold + c->count[id].test == 0))
        return false;
    for (size_t i = 0; k == 0 && i < c->names.n; i++) {
        n.gold += c->count[i].gold;
        n.test += c->count[i].test;
        n.match += c->count[i].match;
    }
    if (k)
        n = c->count[id];
    *out = (trl_parseval_function){.label = k ? trl_strtab_get(&c->names, id) : (trl_str){"", 0},
                                   .gold = n.gold,
                                   .test = n.test,
                                   .match = n.match,
                                   .brackets = c->brackets,
                                   .exact = c->exact};
    const double match = 100.0 * (double)n.match;
    out->recall = n.gold ? match / (double)n.gold : 0.0;
    out->precision = n.test ? match / (double)n.test : 0.0;
    out->f1 = n.gold + n.test ? 2.0 * match / (double)(n.gold + n.test) : 0.0;
    return true;
}
