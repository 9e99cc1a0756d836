/* store.h -- memory for much data that is written once: on the heap up to a budget, then in a file.
 *
 * Beyond the budget blocks lie in an unlinked temporary file (in $TMPDIR, or /tmp) that is mapped:
 * the system keeps in memory what is used and writes the rest out.  All blocks live until _free.
 * Safe for threads.
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

/* Whether it was the file that had no room when trl_store_get last returned NULL. */
bool trl_store_file_full(const trl_store *s);

/* Bytes handed out, and of them those in the file. */
size_t trl_store_bytes(const trl_store *s, size_t *in_file);

#endif
