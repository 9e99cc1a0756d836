/* fingerprints.h -- names of attributes as 32 bits of a hash: from a name to its number, not back.
 *
 * With a four-letter prefix F these are the sections
 *
 *     Fseed   u64: mixed into the hash of a name, so chosen that no two names of the model have the
 *             same bucket and fingerprint
 *     Fbuck   u32[buckets + 1], ascending: where a bucket's entries start; about 8 in each
 *     Fprnt   u32[n] fingerprints, bucket by bucket
 *     Fattr   u32[n] the attribute of each
 *
 * Of a mixed hash the high 32 bits give the bucket, the low 32 the fingerprint.  A name that the
 * model does not have is taken for one of its own with a chance of the entries of its bucket over
 * 2^32, 2e-9.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FINGERPRINTS_H
#define TRL_FINGERPRINTS_H

#include "base/strtab.h"
#include "model/container.h"

/* A view of the sections.  n_buckets 0: there are none. */
typedef struct trl_fingerprints {
    uint64_t seed;
    size_t n_buckets;
    const uint32_t *bucket; /* [n_buckets + 1] */
    const uint32_t *print;  /* [n] */
    const uint32_t *attr;   /* [n] */
} trl_fingerprints;

/* The hash of a name (trl_str_hash) with the seed. */
static inline uint64_t trl_fingerprint_mix(uint64_t seed, uint64_t hash)
{
    uint64_t x = hash ^ seed;
    x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15u;
    return x ^ (x >> 29);
}

static inline size_t trl_fingerprint_bucket(const trl_fingerprints *p, uint64_t mixed)
{
    return (size_t)(((mixed >> 32) * (uint64_t)p->n_buckets) >> 32);
}

/* The attribute of the name with this hash, or TRL_NO_ID. */
uint32_t trl_fingerprints_find(const trl_fingerprints *p, uint64_t hash);

/* Adds the sections for the names, in the order of their numbers.  TRL_EINVAL when no seed was
 * found that keeps them apart (names whose hashes are equal), TRL_ENOMEM. */
trl_status trl_fingerprints_save(const trl_strtab *names, const char *prefix,
                                 trl_container_builder *b, trl_error *err);

bool trl_fingerprints_in(const trl_container *c, const char *prefix);

/* A checked view, valid as long as the container; *n: how many.  TRL_EMODEL. */
trl_status trl_fingerprints_load(trl_fingerprints *p, const char *prefix, const trl_container *c,
                                 size_t *n, trl_error *err);

#endif
