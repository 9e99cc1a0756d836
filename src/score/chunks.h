/* chunks.h -- where a chunk begins and ends in a sequence of tags: conlleval's rules, and IOBES.
 *
 * A tag is PREFIX-TYPE, cut at its first hyphen; a tag without one is all prefix.  The rules
 * look at two neighbouring tags only, accept every sequence, and serve IOB1, IOB2, IOE1, IOE2
 * and '[' ']' alike [TKSV99, sec. 2]:
 *
 *     a chunk ends between p and c     p is '[' or ']', or
 *                                      p c is one of  B B, B O, I B, I O, E E, E I, E O, or
 *                                      p is not O or '.', and the types differ
 *     a chunk starts between p and c   c is '[' or ']', or
 *                                      p c is one of  B B, I B, O B, O I, E E, E I, O E, or
 *                                      c is not O or '.', and the types differ
 *
 * In these rules S, like any other prefix, is nothing special: it starts and ends chunks only by
 * its type.  Nor does E B of one type end a chunk.  So in IOBES conlleval takes neighbours of one
 * type for one chunk.  The rules for IOBES are the same, with
 *
 *     a chunk ends between p and c     p is E or S, or c is S and p is not O or '.'
 *     a chunk starts between p and c   c is S, or p is E or S and c is not O or '.'
 *
 * added.  They are meant for taggings whose gold standard is well-formed IOBES; all others,
 * including those with ill-formed S and E, are counted as conlleval does.
 *
 * [TKSV99] Tjong Kim Sang, Veenstra. Representing text chunks. EACL 1999.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHUNKS_H
#define TRL_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strtab.h"

typedef enum trl_tag_prefix {
    TRL_TAG_O,
    TRL_TAG_B,
    TRL_TAG_I,
    TRL_TAG_E,
    TRL_TAG_S,       /* special in IOBES only */
    TRL_TAG_DOT,     /* "." */
    TRL_TAG_BRACKET, /* "[" or "]": a chunk of its own */
    TRL_TAG_OTHER,
} trl_tag_prefix;

typedef struct trl_tag {
    trl_tag_prefix prefix;
    uint32_t type; /* the caller's number for the type; equal types, equal numbers */
} trl_tag;

/* Cuts the tag; the parts are borrowed from it.  The type "0" reads as "", since conlleval takes it
 * for false. */
void trl_tag_split(trl_str tag, trl_str *prefix, trl_str *type);

trl_tag_prefix trl_tag_prefix_of(trl_str prefix);

typedef enum trl_chunk_rule { TRL_RULE_CONLLEVAL, TRL_RULE_IOBES, TRL_N_RULES } trl_chunk_rule;

/* Does a chunk end (start) between the neighbours `prev` and `cur`?  Ends of the sequence
 * are an O with the type "". */
bool trl_chunk_ends(trl_chunk_rule rule, trl_tag prev, trl_tag cur);
bool trl_chunk_starts(trl_chunk_rule rule, trl_tag prev, trl_tag cur);

/* May `cur` follow `prev` in well-formed IOBES, where every chunk is S or B I* E?  Ask for both
 * ends of a sequence, too. */
bool trl_iobes_follows(trl_tag prev, trl_tag cur);

#endif
