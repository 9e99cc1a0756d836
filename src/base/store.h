/* store.h -- memory for large data that is written once: on the heap up to a budget, then in a
 * file.
 *
 * Beyond the budget, blocks lie in a mapped, unlinked temporary file (in $TMPDIR, or /tmp): the
 * system keeps in memory what is in use and writes the rest to disk. All blocks live until _free.
 * Thread-safe.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_STORE_H
#define TRL_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "trellis/status.h"

typedef struct trl_store trl_store;

/* TRL_ENOMEM. */
trl_status trl_store_new(size_t budget, trl_store **out, trl_error *err);
void trl_store_free(trl_store *s); /* accepts NULL */

/* 8-byte aligned, uninitialised; NULL when neither memory nor file has room. */
void *trl_store_get(trl_store *s, size_t bytes);

/* True when trl_store_get last returned NULL because the file had no room. */
bool trl_store_file_full(const trl_store *s);

/* Bytes handed out in all, and how many of them are in the file. */
size_t trl_store_bytes(const trl_store *s, size_t *in_file);

#endif
