/* strtab_io.h -- string tables as sections of a container.
 *
 * With the prefix "labl" (exactly four characters) a table becomes the sections
 *
 *     lablpool   the strings back to back
 *     lablend4   u32[n] ends, pools below 4 GiB; else lablend8, u64[n]
 *     lablslot   u32[slots]: the smallest power of two that keeps the load <= 0.8
 *
 * exactly as base/strtab.h lays them out, so that a mapped table is used in place.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_STRTAB_IO_H
#define TRL_STRTAB_IO_H

#include "base/strtab.h"
#include "model/container.h"

/* Adds the table to the builder.  The pool (and 64-bit ends) are borrowed: `t` must not
 * change until the container is written.  Cost: hashes every string once.
 * TRL_EINVAL for a prefix of another length, TRL_ENOMEM; the builder is then as it was. */
trl_status trl_strtab_save(const trl_strtab *t, const char *prefix, trl_container_builder *b,
                           trl_error *err);

/* A checked view of a stored table, valid as long as the container.  O(strings + slots).
 * TRL_EMODEL when sections are missing or a look-up could leave them; *out is then untouched. */
trl_status trl_strview_load(const trl_container *c, const char *prefix, trl_strview *out,
                            trl_error *err);

#endif
