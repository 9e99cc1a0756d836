/* strtab.h -- interned byte strings: string <-> dense id, built in memory or mapped.
 *
 * Layout (the same in memory and in a model file, so that a mapped file can be used as it is):
 *
 *     pool    all strings back to back, no terminators
 *     end     end[i] = where string i ends in pool; it starts at end[i-1] (0 for i = 0)
 *     slot    open addressing, power of two, linear probing: id + 1, or 0 when empty
 *
 * Strings are opaque bytes: no encoding, NUL allowed.  The hash is XXH3 (64 bits); the same
 * on every machine.  A view is read-only and may be shared by threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_STRTAB_H
#define TRL_STRTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trellis/sequence.h"

#define TRL_NO_ID UINT32_MAX

/* A borrowed, read-only table.  Exactly one of end32 and end64 is set when n > 0. */
typedef struct trl_strview {
    size_t n; /* strings; at most 2^32 - 2 */
    const char *pool;
    const uint32_t *end32; /* [n], pools below 4 GiB */
    const uint64_t *end64; /* [n], larger pools */
    const uint32_t *slot;  /* [n_slots] */
    size_t n_slots;        /* power of two, > n */
} trl_strview;

uint64_t trl_str_hash(const char *p, size_t n);

trl_str trl_strview_get(const trl_strview *v, uint32_t id);

/* The id, or TRL_NO_ID.  `hash` must be trl_str_hash(p, n). */
uint32_t trl_strview_find(const trl_strview *v, const char *p, size_t n, uint64_t hash);

/* True when every offset and every slot is in range: call it once on a mapped table.
 * A table that passes can be looked up safely whatever bytes it holds. */
bool trl_strview_check(const trl_strview *v, size_t pool_size);

typedef struct trl_strtab {
    char *pool;
    size_t pool_len, pool_cap;
    uint64_t *end; /* [n] */
    size_t n, cap;
    uint32_t *slot;
    uint32_t *tag; /* [n_slots] high hash bits, so that most probes need no string compare */
    size_t n_slots;
} trl_strtab; /* zero-initialise */

/* The id of the string, added when new.  TRL_NO_ID: out of memory or 2^32 - 2 strings; the
 * table is then as it was. */
uint32_t trl_strtab_add(trl_strtab *t, const char *p, size_t n);

/* The same for n <= TRL_STRTAB_MANY strings, whose memory is fetched in parallel: several times
 * faster for large tables.  False where trl_strtab_add returns TRL_NO_ID; some may have been
 * added. */
#define TRL_STRTAB_MANY 32
bool trl_strtab_add_many(trl_strtab *t, const trl_str *s, size_t n, uint32_t *id);

/* Like trl_strtab_add but never adds. */
uint32_t trl_strtab_find(const trl_strtab *t, const char *p, size_t n);
trl_str trl_strtab_get(const trl_strtab *t, uint32_t id);

/* Keeps the strings old[0..n), in that order, as ids 0..n-1 (`old` holds distinct current
 * ids).  False: out of memory, table unchanged. */
bool trl_strtab_select(trl_strtab *t, const uint32_t *old, size_t n);

/* A view of the table as it stands; valid until it changes. */
trl_strview trl_strtab_view(const trl_strtab *t);
void trl_strtab_fini(trl_strtab *t);

#endif
