/* fingerprints.c -- names as 32 bits of a hash: made, checked, looked up. */
/* SPDX-License-Identifier: MIT */
#include "model/fingerprints.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/model_check.h"

#define PER_BUCKET 8
#define SEEDS 64 /* tried: one is nearly always enough */

static const char *tag_of(const char *prefix, const char *suffix, char tag[9])
{
    memcpy(tag, prefix, 4);
    memcpy(tag + 4, suffix, 5);
    return tag;
}

uint32_t trl_fingerprints_find(const trl_fingerprints *p, uint64_t hash)
{
    const uint64_t mixed = trl_fingerprint_mix(p->seed, hash);
    const size_t bucket = trl_fingerprint_bucket(p, mixed);
    for (uint32_t k = p->bucket[bucket]; k < p->bucket[bucket + 1]; k++)
        if (p->print[k] == (uint32_t)mixed)
            return p->attr[k];
    return TRL_NO_ID;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* All of a table; arrays as in trl_fingerprints, but not const. */
typedef struct table {
    trl_fingerprints view;
    size_t n;
    uint64_t *hash; /* [n] of the names */
    uint32_t *bucket, *print, *attr;
} table;

/* Fills the table for the view's seed.  False: two names look the same. */
static bool fill(table *t)
{
    const size_t buckets = t->view.n_buckets;
    memset(t->bucket, 0, (buckets + 1) * sizeof *t->bucket);
    for (size_t i = 0; i < t->n; i++) {
        const uint64_t mixed = trl_fingerprint_mix(t->view.seed, t->hash[i]);
        t->bucket[trl_fingerprint_bucket(&t->view, mixed)]++;
    }
    uint32_t end = 0; /* of each bucket; filled from the end, so that starts remain */
    for (size_t k = 0; k <= buckets; k++)
        end = t->bucket[k] += end;
    for (size_t i = t->n; i-- > 0;) {
        const uint64_t mixed = trl_fingerprint_mix(t->view.seed, t->hash[i]);
        const uint32_t at = --t->bucket[trl_fingerprint_bucket(&t->view, mixed)];
        t->print[at] = (uint32_t)mixed;
        t->attr[at] = (uint32_t)i;
    }
    for (size_t k = 0; k < buckets; k++)
        for (uint32_t a = t->bucket[k]; a < t->bucket[k + 1]; a++)
            for (uint32_t b = a + 1; b < t->bucket[k + 1]; b++)
                if (t->print[a] == t->print[b])
                    return false;
    return true;
}

static void table_fini(table *t)
{
    trl_free(t->hash);
    trl_free(t->bucket);
    trl_free(t->print);
    trl_free(t->attr);
}

static trl_status make(table *t, const trl_strtab *names, trl_error *err)
{
    t->n = names->n;
    t->view.n_buckets = t->n / PER_BUCKET + 1;
    t->hash = trl_alloc(t->n, sizeof *t->hash);
    t->bucket = trl_alloc(t->view.n_buckets + 1, sizeof *t->bucket);
    t->print = trl_alloc(t->n, sizeof *t->print);
    t->attr = trl_alloc(t->n, sizeof *t->attr);
    if (!t->hash || !t->bucket || !t->print || !t->attr)
        return trl_fail_mem(err);
    for (size_t i = 0; i < t->n; i++) {
        const trl_str s = trl_strtab_get(names, (uint32_t)i);
        t->hash[i] = trl_str_hash(s.p, s.n);
    }
    for (uint64_t k = 0; k < SEEDS; k++) {
        t->view.seed = k * 0xd1342543de82ef95u;
        if (fill(t))
            return TRL_OK;
    }
    return trl_fail(err, TRL_EINVAL,
                    "two attributes have the same hash: no fingerprints are told "
                    "apart");
}

trl_status trl_fingerprints_save(const trl_strtab *names, const char *prefix,
                                 trl_container_builder *b, trl_error *err)
{
    table t = {0};
    char tag[9];
    uint64_t *seed = trl_alloc(1, sizeof *seed);
    const trl_status st = seed ? make(&t, names, err) : trl_fail_mem(err);
    if (st != TRL_OK) {
        trl_free(seed);
        table_fini(&t);
        return st;
    }
    *seed = t.view.seed;
    trl_container_builder_give(b, tag_of(prefix, "seed", tag), seed, sizeof *seed);
    trl_container_builder_give(b, tag_of(prefix, "buck", tag), t.bucket,
                               (t.view.n_buckets + 1) * sizeof *t.bucket);
    trl_container_builder_give(b, tag_of(prefix, "prnt", tag), t.print, t.n * sizeof *t.print);
    trl_container_builder_give(b, tag_of(prefix, "attr", tag), t.attr, t.n * sizeof *t.attr);
    trl_free(t.hash);
    return TRL_OK;
}

/* ---- loading --------------------------------------------------------------------------------- */

bool trl_fingerprints_in(const trl_container *c, const char *prefix)
{
    char tag[9];
    const void *bytes;
    size_t n;
    return trl_container_find(c, tag_of(prefix, "prnt", tag), &bytes, &n);
}

/* Buckets cover the entries, attributes exist. */
static bool check(const trl_fingerprints *p, size_t n)
{
    if (p->bucket[0] != 0 || p->bucket[p->n_buckets] != n)
        return false;
    bool good = true;
    for (size_t k = 0; k < p->n_buckets; k++)
        good &= p->bucket[k] <= p->bucket[k + 1];
    return good && trl_all_below(p->attr, n, (uint32_t)n);
}

trl_status trl_fingerprints_load(trl_fingerprints *p, const char *prefix, const trl_container *c,
                                 size_t *n, trl_error *err)
{
    char tag[9];
    const void *seed, *bucket, *print, *attr;
    size_t n_seeds, n_buckets, n_attrs;
    trl_status st =
        trl_container_array(c, tag_of(prefix, "seed", tag), sizeof p->seed, &seed, &n_seeds, err);
    if (st == TRL_OK)
        st = trl_container_array(c, tag_of(prefix, "buck", tag), sizeof *p->bucket, &bucket,
                                 &n_buckets, err);
    if (st == TRL_OK)
        st = trl_container_array(c, tag_of(prefix, "prnt", tag), sizeof *p->print, &print, n, err);
    if (st == TRL_OK)
        st = trl_container_array(c, tag_of(prefix, "attr", tag), sizeof *p->attr, &attr, &n_attrs,
                                 err);
    if (st != TRL_OK)
        return st;
    if (n_seeds != 1 || n_buckets < 2 || n_buckets > UINT32_MAX || n_attrs != *n || *n >= TRL_NO_ID)
        return trl_container_damaged(c, err, "impossible fingerprints of names");
    *p = (trl_fingerprints){
        .n_buckets = n_buckets - 1, .bucket = bucket, .print = print, .attr = attr};
    memcpy(&p->seed, seed, sizeof p->seed);
    return check(p, *n) ? TRL_OK
                        : trl_container_damaged(c, err, "impossible fingerprints of names");
}
