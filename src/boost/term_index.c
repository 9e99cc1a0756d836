/* term_index.c -- compound features by the atomic features that decide on them. */
/* SPDX-License-Identifier: MIT */
#include "boost/term_index.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

void trl_boost_term_index_fini(trl_boost_term_index *x)
{
    trl_free(x->base);
    trl_free(x->waiting);
    trl_free(x->waiting_end);
    trl_free(x->rest);
    trl_free(x->absence);
    trl_free(x->taken_back);
    trl_free(x->taken_end);
    *x = (trl_boost_term_index){0};
}

/* ---- building -------------------------------------------------------------------------------- */

/* Literals are ascending: the last one that is not negated belongs to the rarest feature.
 * SIZE_MAX: all are negated. */
static size_t rarest(const uint32_t *literal, size_t n)
{
    while (n-- > 0)
        if (!(literal[n] & 1))
            return n;
    return SIZE_MAX;
}

typedef struct sizes {
    size_t waiting, rest, absences, taken;
} sizes;

/* Sizes of all lists; how many terms wait at or are taken back by feature f into end[f]. */
static sizes count_terms(trl_boost_term_index *x, const trl_boost_terms *terms)
{
    sizes z = {0};
    for (size_t p = 0; p < x->n_parts; p++)
        for (size_t k = 0; k < terms[p].n; k++) {
            const trl_boost_term *t = &terms[p].term[k];
            const uint32_t *literal = terms[p].literal + t->begin;
            const size_t at = rarest(literal, t->n);
            if (at != SIZE_MAX) {
                x->waiting_end[literal[at] / 2]++;
                z.waiting++;
                z.rest += t->n;
                continue;
            }
            z.absences++;
            z.taken += t->n;
            for (size_t q = 0; q < t->n; q++)
                x->taken_end[literal[q] / 2]++;
        }
    return z;
}

/* Counts to begins: filling a list moves each up to its end. */
static void to_begins(uint64_t *end, size_t n)
{
    uint64_t sum = 0;
    for (size_t f = 0; f < n; f++) {
        const uint64_t count = end[f];
        end[f] = sum;
        sum += count;
    }
}

/* The other literals in the order in which they are likely to fail: rare features first that must
 * be there, then frequent ones that must not. */
static size_t order_rest(const uint32_t *literal, size_t n, size_t trigger, uint32_t *rest)
{
    size_t m = 0;
    for (size_t q = n; q-- > 0;)
        if (q != trigger && !(literal[q] & 1))
            rest[m++] = literal[q];
    for (size_t q = 0; q < n; q++)
        if (literal[q] & 1)
            rest[m++] = literal[q];
    return m;
}

static void fill(trl_boost_term_index *x, const trl_boost_terms *terms)
{
    size_t n_rest = 0;
    for (uint32_t p = 0; p < x->n_parts; p++)
        for (size_t k = 0; k < terms[p].n; k++) {
            const trl_boost_term *t = &terms[p].term[k];
            const uint32_t *literal = terms[p].literal + t->begin;
            const size_t at = rarest(literal, t->n);
            if (at != SIZE_MAX) {
                uint32_t *rest = x->rest + n_rest;
                const size_t m = order_rest(literal, t->n, at, rest);
                const uint32_t begin = (uint32_t)n_rest, end = (uint32_t)(n_rest + m);
                x->waiting[x->waiting_end[literal[at] / 2]++] = (trl_boost_waiting){
                    t->theta, p, m ? rest[0] : literal[at], m ? begin + 1 : begin, end};
                n_rest = end;
                continue;
            }
            x->base[p] += t->theta;
            for (size_t q = 0; q < t->n; q++)
                x->taken_back[x->taken_end[literal[q] / 2]++] = (uint32_t)x->n_absences;
            x->absence[x->n_absences++] = (trl_boost_absence){t->theta, p};
        }
}

static trl_status build(trl_boost_term_index *x, const trl_boost_terms *terms, trl_error *err)
{
    x->base = trl_zalloc(x->n_parts + 1, sizeof *x->base);
    x->waiting_end = trl_zalloc(x->n_features + 1, sizeof *x->waiting_end);
    x->taken_end = trl_zalloc(x->n_features + 1, sizeof *x->taken_end);
    if (!x->base || !x->waiting_end || !x->taken_end)
        return trl_fail_mem(err);
    const sizes z = count_terms(x, terms);
    if (z.rest >= TRL_NO_ID || z.absences >= TRL_NO_ID)
        return trl_fail(err, TRL_EMODEL, "the classifiers have too many compound features");
    x->waiting = trl_alloc(z.waiting + 1, sizeof *x->waiting);
    x->rest = trl_alloc(z.rest + 1, sizeof *x->rest);
    x->absence = trl_alloc(z.absences + 1, sizeof *x->absence);
    x->taken_back = trl_alloc(z.taken + 1, sizeof *x->taken_back);
    if (!x->waiting || !x->rest || !x->absence || !x->taken_back)
        return trl_fail_mem(err);
    to_begins(x->waiting_end, x->n_features);
    to_begins(x->taken_end, x->n_features);
    fill(x, terms);
    return TRL_OK;
}

trl_status trl_boost_term_index_make(const trl_boost_model *m, trl_boost_term_index *out,
                                     trl_error *err)
{
    trl_boost_terms *terms = trl_zalloc(m->n + 1, sizeof *terms);
    trl_boost_term_index x = {.n_parts = m->n, .n_features = m->names.n};
    trl_status st = terms ? TRL_OK : trl_fail_mem(err);
    for (size_t p = 0; st == TRL_OK && p < m->n; p++)
        st = trl_boost_part_terms(&m->part[p], &terms[p], err);
    if (st == TRL_OK)
        st = build(&x, terms, err);
    for (size_t p = 0; terms && p < m->n; p++)
        trl_boost_terms_fini(&terms[p]);
    trl_free(terms);
    if (st == TRL_OK)
        *out = x;
    else
        trl_boost_term_index_fini(&x);
    return st;
}

/* ---- scores ---------------------------------------------------------------------------------- */

bool trl_boost_present_init(trl_boost_present *s, const trl_boost_term_index *x)
{
    s->holds = trl_alloc(2 * x->n_features + 1, 1);
    s->seen = trl_zalloc(x->n_absences + 1, sizeof *s->seen);
    if (!s->holds || !s->seen) {
        trl_boost_present_fini(s);
        return false;
    }
    for (size_t k = 0; k < 2 * x->n_features; k++)
        s->holds[k] = k & 1;
    return true;
}

void trl_boost_present_fini(trl_boost_present *s)
{
    trl_free(s->holds);
    trl_free(s->seen);
    *s = (trl_boost_present){0};
}

static void take_back(const trl_boost_term_index *x, trl_boost_present *s, uint32_t f, double *h)
{
    for (uint64_t k = trl_boost_begin(x->taken_end, f); k < x->taken_end[f]; k++) {
        const uint32_t a = x->taken_back[k];
        if (s->seen[a] == s->now)
            continue;
        s->seen[a] = s->now;
        h[x->absence[a].part] -= x->absence[a].theta;
    }
}

static void add_waiting(const trl_boost_term_index *x, const unsigned char *holds, uint32_t f,
                        double *h)
{
    for (uint64_t k = trl_boost_begin(x->waiting_end, f); k < x->waiting_end[f]; k++) {
        const trl_boost_waiting *w = &x->waiting[k];
        if (!holds[w->literal])
            continue;
        uint32_t q = w->begin;
        while (q < w->end && holds[x->rest[q]])
            q++;
        if (q == w->end)
            h[w->part] += w->theta;
    }
}

void trl_boost_scores(const trl_boost_term_index *x, trl_boost_present *s, uint32_t *feature,
                      size_t n, double *h)
{
    size_t m = 0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t f = feature[k];
        if (s->holds[2 * (size_t)f])
            continue;
        s->holds[2 * (size_t)f] = 1;
        s->holds[2 * (size_t)f + 1] = 0;
        feature[m++] = f;
    }
    if (++s->now == 0) {
        memset(s->seen, 0, x->n_absences * sizeof *s->seen);
        s->now = 1;
    }
    memcpy(h, x->base, x->n_parts * sizeof *h);
    for (size_t k = 0; k < m; k++)
        take_back(x, s, feature[k], h);
    for (size_t k = 0; k < m; k++)
        add_waiting(x, s->holds, feature[k], h);
    for (size_t k = 0; k < m; k++) {
        s->holds[2 * (size_t)feature[k]] = 0;
        s->holds[2 * (size_t)feature[k] + 1] = 1;
    }
}
