/* tree_chunks.h -- base chunks from trees, as columns word, part of speech, IOB2 tag.
 *
 * In the spirit of the CoNLL-2000 shared task [TKSB00]: a chunk is the part of a phrase up to and
 * including its head word; what follows the head makes chunks of its own.  The rules are at the top
 * of tree_chunks.c.  Function tags and indices (NP-SBJ-1) are ignored; words under -NONE- are left
 * out.
 *
 * [TKSB00] Tjong Kim Sang, Buchholz. Introduction to the CoNLL-2000 shared task: chunking.
 *          CoNLL 2000.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_CHUNKS_H
#define TRL_TREE_CHUNKS_H

#include "treebank/brackets.h"
#include "text/columns.h"

typedef struct trl_chunker trl_chunker;

/* `labels`: the table that the trees' labels live in; borrowed, may grow between calls.
 * One chunker per thread.  TRL_ENOMEM. */
trl_status trl_chunker_new(const trl_strtab *labels, trl_chunker **out, trl_error *err);
void trl_chunker_free(trl_chunker *c); /* accepts NULL */

/* The tree's words in three columns.  *out is borrowed from the chunker, the tree and the
 * label table: valid until the next call or until one of them changes.  out->n_tokens is 0
 * when all words are empty elements.  O(nodes), without recursion.  TRL_ENOMEM. */
trl_status trl_chunker_run(trl_chunker *c, const trl_tree *tree, trl_rows *out, trl_error *err);

#endif
