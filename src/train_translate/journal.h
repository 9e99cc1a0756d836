/* journal.h -- the checkpoint of a run of many separate results: a file to which each result is
 * added as it is finished, and from which a later run takes those that it need not make again.
 *
 *     header   u64 mark, u64 print        of the data and options that must not change
 *     record   u64 kind << 48 | number, u64 size, u64 check (of the bytes), the bytes, 0 to 7 zeros
 *
 * A process may be killed at any moment: a last record that is not whole, or one whose check is
 * wrong, is dropped with all after it, and made again.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_JOURNAL_H
#define TRL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "trellis/status.h"

typedef struct trl_journal trl_journal;

/* Which result; `number` tells those of a kind apart. */
typedef enum trl_record {
    TRL_RECORD_LINKS = 1, /* all, in Pharaoh's format */
    TRL_RECORD_PARSES,    /* trees of a piece of the source text */
    TRL_RECORD_CORPUS,    /* u64, the print of the corpus */
    TRL_RECORD_TASK,      /* classifiers of a word or of a label */
    TRL_RECORD_EM         /* derivations after an iteration */
} trl_record;

/* With `resume` the records of the file, if there is one, are read; else it is begun anew.
 * TRL_EMODEL: the file is none, or of other data or options; TRL_EIO; TRL_ENOMEM. */
trl_status trl_journal_open(const char *path, uint64_t print, bool resume, trl_journal **out,
                            trl_error *err);
void trl_journal_free(trl_journal *j); /* accepts NULL */

/* The bytes of a record that was there when the journal was opened, or NULL; 8-byte aligned,
 * borrowed.  j NULL: NULL. */
const void *trl_journal_find(const trl_journal *j, trl_record kind, size_t number, size_t *size);

/* Adds a record, unless j is NULL.  Threads may call it.  After a failure (a full disk) nothing is
 * added any more, and the run continues: trl_journal_warning says why, NULL: all is well. */
void trl_journal_add(trl_journal *j, trl_record kind, size_t number, const void *bytes, size_t n);
const char *trl_journal_warning(const trl_journal *j);

#endif
