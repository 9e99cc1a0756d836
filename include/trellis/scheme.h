/* scheme.h -- tag schemes: chunks as labels of their tokens.
 *
 *     iob1   I-X inside, B-X at the start of a chunk right after one of its type
 *     iob2   B-X at every start, I-X after it
 *     ioe1   I-X inside, E-X at the end of a chunk right before one of its type
 *     ioe2   E-X at every end, I-X before it
 *     iobes  B-X I-X E-X, and S-X for a chunk of one token
 *     bilou  the same with L-X and U-X for E-X and S-X
 *
 * O is outside in all of them [TKSV99].
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_SCHEME_H
#define TRELLIS_SCHEME_H

#include "trellis/sequence.h"

TRL_BEGIN_DECLS

typedef enum trl_scheme {
    TRL_SCHEME_NONE = 0, /* labels that are not chunks */
    TRL_SCHEME_IOB1,
    TRL_SCHEME_IOB2,
    TRL_SCHEME_IOE1,
    TRL_SCHEME_IOE2,
    TRL_SCHEME_IOBES,
    TRL_SCHEME_BILOU,
} trl_scheme;

typedef struct trl_chunk {
    size_t begin, end; /* tokens [begin, end) */
    trl_str type;      /* borrowed from a label */
} trl_chunk;

/* The chunks of n labels, of whichever scheme: B, S and U start one, E, L, S and U end one, and so
 * does a change of type; a label without a hyphen, but for O, is a chunk of one token.  Any labels
 * will do.  Fills chunk[0 .. answer), at most n. */
TRL_API size_t trl_chunks_of(const trl_str *label, size_t n, trl_chunk *chunk);

/* Does `label` go on with the chunk of the label right before it?  All that trl_chunks_of goes by.
 */
TRL_API bool trl_chunk_continues(trl_str before, trl_str label);

/* The prefixes of n tokens with these chunks, in order: 'O', or what stands before "-TYPE". */
TRL_API void trl_scheme_prefixes(trl_scheme scheme, const trl_chunk *chunk, size_t n_chunks,
                                 char *prefix, size_t n);

/* Are the labels well-formed?  TRL_EPARSE when they are not: *at is the token, err has no place.
 * Everything is well-formed in TRL_SCHEME_NONE. */
TRL_API trl_status trl_scheme_check(trl_scheme scheme, const trl_str *label, size_t n, size_t *at,
                                    trl_error *err);

/* The same from token *next on, which then is where to go on after the fault: until TRL_OK, for all
 * faults of a sequence.  Begin with 0. */
TRL_API trl_status trl_scheme_check_next(trl_scheme scheme, const trl_str *label, size_t n,
                                         size_t *next, size_t *at, trl_error *err);

TRL_API const char *trl_scheme_name(trl_scheme scheme);

TRL_END_DECLS

#endif
