/* known.h -- a file of constraints on the trees of sentences.
 *
 *     3 2-5 NP     words 2 to 5 of sentence 3 are an NP; '*' any constituent, '!' none
 *     3 4 =NN      word 4 has the tag NN
 *
 * One per line, in any order; empty lines and lines that begin with '#' are ignored.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_KNOWN_H
#define TRELLIS_KNOWN_H

#include "trellis/parser.h"

TRL_BEGIN_DECLS

typedef struct trl_known_list trl_known_list;

/* "-" is standard input; gzip and zstd are unpacked.  TRL_EIO, TRL_EPARSE with its place,
 * TRL_ENOMEM. */
TRL_API trl_status trl_known_list_read(const char *path, trl_known_list **out, trl_error *err);
TRL_API trl_status trl_known_list_memory(const char *name, const void *bytes, size_t n,
                                         trl_known_list **out, trl_error *err);
TRL_API void trl_known_list_free(trl_known_list *k); /* accepts NULL */

/* The constraints of one sentence, counted from 1, in the order of the file; borrowed.  NULL list:
 * none. */
TRL_API const trl_known *trl_known_list_of(const trl_known_list *k, uint64_t sentence, size_t *n);

/* The sentence and the row in the file of item k, by sentence; false when there are fewer. */
TRL_API bool trl_known_list_item(const trl_known_list *list, size_t k, uint64_t *sentence,
                                 uint64_t *row);

TRL_END_DECLS

#endif
