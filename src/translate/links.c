/* links.c -- reading Pharaoh's format. */
/* SPDX-License-Identifier: MIT */
#include "translate/links.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"

void trl_links_fini(trl_links *l)
{
    trl_free(l->link);
    trl_free(l->end);
    *l = (trl_links){0};
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The digits at *p; false: there are none, or too many. */
static bool take_number(const char **p, const char *end, uint32_t *out)
{
    uint64_t x = 0;
    const char *start = *p;
    while (*p < end && **p >= '0' && **p <= '9' && x < UINT32_MAX)
        x = 10 * x + (uint64_t)(*(*p)++ - '0');
    *out = (uint32_t)x;
    return *p > start && x < UINT32_MAX;
}

static trl_status add_link(trl_links *l, trl_link x, trl_error *err)
{
    trl_link *grown = trl_reserve(l->link, &l->link_cap, l->n_links + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    l->link = grown;
    grown[l->n_links++] = x;
    return TRL_OK;
}

static int by_words(const void *a, const void *b)
{
    const trl_link *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

/* Ends the line whose links begin at `begin`. */
static trl_status end_line(trl_links *l, size_t begin, trl_error *err)
{
    uint64_t *ends = trl_reserve(l->end, &l->end_cap, l->n + 1, sizeof *ends);
    if (!ends)
        return trl_fail_mem(err);
    l->end = ends;
    const size_t n = l->n_links - begin;
    if (n)
        qsort(l->link + begin, n, sizeof *l->link, by_words);
    size_t kept = begin;
    for (size_t k = begin; k < begin + n; k++)
        if (kept == begin || by_words(&l->link[k], &l->link[kept - 1]) != 0)
            l->link[kept++] = l->link[k];
    l->n_links = kept;
    ends[l->n++] = kept;
    return TRL_OK;
}

trl_status trl_links_add(trl_links *l, const trl_input *in, trl_str line, size_t n, size_t m,
                         trl_error *err)
{
    const char *p = line.p, *end = line.p + line.n;
    const size_t begin = l->n_links;
    trl_status st = TRL_OK;
    while (st == TRL_OK) {
        while (p < end && blank(*p))
            p++;
        if (p == end)
            return end_line(l, begin, err);
        const char *start = p;
        trl_link x;
        if (!take_number(&p, end, &x.source) || p == end || *p++ != '-' ||
            !take_number(&p, end, &x.target) || (p < end && !blank(*p))) {
            for (p = start; p < end && p < start + 40 && !blank(*p);)
                p++;
            trl_fail(err, TRL_EPARSE, "'%.*s' is no link", (int)(p - start), start);
            st = trl_input_fail(in, err, TRL_EPARSE, (uint64_t)(start - line.p) + 1);
            trl_fail_hint(err, st, "a line has links like 0-0 1-2, separated by blanks");
        } else if (x.source >= n || x.target >= m) {
            trl_fail(err, TRL_EPARSE, "link %u-%u: the sentences have %zu and %zu words", x.source,
                     x.target, n, m);
            st = trl_input_fail(in, err, TRL_EPARSE, (uint64_t)(start - line.p) + 1);
            trl_fail_hint(err, st, "words are counted from 0, source word first");
        } else {
            st = add_link(l, x, err);
        }
    }
    l->n_links = begin;
    return st;
}
