/* trees.h -- treebanks as columns, for taggers: part of speech, base chunk, named entity.
 *
 * One sentence is read from up to three files:
 *
 *     treebank    the k-th tree, in Penn brackets       (S (NP (NNP Anna) (NNP Berg)) (VP ...
 *     entities    line k, names marked in the text      [PER Anna Berg] sleeps .
 *     documents   a line `NAME FIRST LAST SPLIT` each   garden-spring 91 100 train
 *
 * and becomes one row a word:
 *
 *     Anna    NNP  B-NP  B-PER
 *     Berg    NNP  I-NP  I-PER
 *     sleeps  VBZ  B-VP  O
 *
 * Chunks follow the CoNLL-2000 shared task in spirit; both tag columns are IOB2.  Empty
 * elements (-NONE-) are left out.  A mark is `[TYPE`, a blank, words, and `]` right behind the
 * last one; marks do not nest.  Documents stand in the order of the treebank and cover it: each
 * begins at the sentence (from 1) behind the last one of the document before.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_TREES_H
#define TRELLIS_TREES_H

#include "trellis/sequence.h"

typedef struct trl_tree_columns_options {
    const char *treebank;  /* paths; gzip and zstd are unpacked; "-": standard input */
    const char *entities;  /* NULL: no entity column */
    const char *documents; /* NULL: all sentences; else only those of `split` */
    const char *split;
    bool        chunks; /* a chunk column; default true */
} trl_tree_columns_options;

TRL_API trl_tree_columns_options trl_tree_columns_options_default(void);

/* Belongs to one thread at a time. */
typedef struct trl_tree_columns trl_tree_columns;

/* Opens the files and reads the documents.  The options are not kept.  TRL_EINVAL without a
 * treebank, for documents without split or the reverse, and for a split that no document has;
 * TRL_EPARSE with path:row:col for a bad line of documents; TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_tree_columns_open(const trl_tree_columns_options *o,
                                         trl_tree_columns **out, trl_error *err);
TRL_API void       trl_tree_columns_free(trl_tree_columns *r); /* accepts NULL */

/* The next sentence, never an empty one: word, part of speech, chunk and entity, as opened;
 * *more is false at the end.  Rows are borrowed until the next call; their path and first_row
 * are those of the tree.  Sentences of other splits are checked too.
 * TRL_EPARSE with path:row:col for bad brackets, other words in the entities than in the tree,
 * nested, empty, untyped or unclosed marks, and for files of different length; TRL_EIO;
 * TRL_ENOMEM.  No more calls after a failure. */
TRL_API trl_status trl_tree_columns_next(trl_tree_columns *r, trl_rows *seq, bool *more,
                                         trl_error *err);

#endif
