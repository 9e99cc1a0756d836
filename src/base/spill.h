/* spill.h -- large blocks of one run: on the heap up to a budget, beyond it in files.
 *
 * While a thread uses a spill, requests of mem.h for TRL_SPILL_LARGE bytes or more belong to it.
 * Those that exceed the budget get a mapped temporary file of their own, which has no name (in
 * $TMPDIR, or /tmp): the system keeps in memory what is in use and can write the rest to disk, and
 * nothing is left when the process ends in whatever way.  Blocks are used and freed like all others
 * (trl_free), by any thread, whether the spill is in use or not.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SPILL_H
#define TRL_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trellis/status.h"

#define TRL_SPILL_LARGE ((size_t)1 << 20)

typedef struct trl_spill trl_spill;

/* TRL_ENOMEM. */
trl_status trl_spill_new(uint64_t budget, trl_spill **out, trl_error *err);
void trl_spill_free(trl_spill *s); /* accepts NULL; its blocks have been freed */

/* From now on this thread uses s (NULL: none); returns what it used before. */
trl_spill *trl_spill_use(trl_spill *s);

/* How much may be on the heap.  Blocks that are there stay. */
void trl_spill_set_budget(trl_spill *s, uint64_t budget);

/* Bytes on the heap and in files. */
void trl_spill_bytes(const trl_spill *s, uint64_t *on_heap, uint64_t *in_files);

/* TRL_EIO with the number of bytes when a file had no room or could not be made since the last
 * call; else TRL_OK. */
trl_status trl_spill_check(trl_spill *s, trl_error *err);

/* ---- for mem.c ------------------------------------------------------------------------------- */

/* Does this thread use one, and is that many bytes for it? */
bool trl_spill_takes(size_t bytes);

/* Aligned to 4096 bytes, zeroed if asked; NULL: no room. */
void *trl_spill_get(size_t bytes, bool zero);

/* The size of a block, 0 when p is none; releases it, false when p is none. */
size_t trl_spill_size(const void *p);
bool trl_spill_release(void *p);

#endif
