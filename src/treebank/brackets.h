/* brackets.h -- constituency trees in Penn brackets: (S (NP (NNP Kim)) (VP (VBZ sleeps)))
 *
 *     tree := '(' label tree ... ')'  |  '(' label word ')'
 *
 * A tree may spread over any number of lines and a line may hold any number of trees.  White
 * space is blank, TAB, VT, FF, CR and the line end; labels and words are any other bytes but
 * brackets.  The outermost label alone may be missing: ( (S ...)).  Nesting is limited by
 * memory only: nothing here recurses.  Several words in one node, (NN New York), which
 * published treebanks do contain, are read as one word with blanks in it.
 *
 * Trees are those of trellis/trees.h.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BRACKETS_H
#define TRL_BRACKETS_H

#include "base/buf.h"
#include "base/strtab.h"
#include "text/input.h"
#include "trellis/trees.h"

typedef struct trl_bracket_reader trl_bracket_reader;

/* Reads trees from `in`, adding their labels to `labels`; both are borrowed and must outlive
 * the reader.  TRL_ENOMEM. */
trl_status trl_bracket_reader_new(trl_input *in, trl_strtab *labels, trl_bracket_reader **out,
                                  trl_error *err);
void trl_bracket_reader_free(trl_bracket_reader *r); /* accepts NULL */

/* Trees read after this call have their `source`: the text from bracket to bracket, line ends as
 * LF. */
void trl_bracket_reader_keep_source(trl_bracket_reader *r);

/* After this call a line that begins with '(' begins a tree.  A tree that is still open there and
 * began in the first column is TRL_EPARSE; after any broken tree the lines up to the next such line
 * are dropped.  For treebanks that indent the continuation lines of a tree, or have none. */
void trl_bracket_reader_resync(trl_bracket_reader *r);

/* The next tree, borrowed until the next call; *more is false at the end of the input.  Memory is
 * reused: nothing is allocated after the largest tree.  TRL_EPARSE, with path:row:col (bytes,
 * 1-based), for a word or a closing bracket where a tree is expected, a node without label or
 * without words, a tree after a word, or an input that ends inside a tree (the place is then that
 * tree's opening bracket); TRL_EIO; TRL_ENOMEM.  After TRL_EPARSE the rest of the line is dropped,
 * and the next call continues with the next line. */
trl_status trl_bracket_reader_next(trl_bracket_reader *r, trl_tree *tree, bool *more,
                                   trl_error *err);

/* Appends the tree on one line, without a line end.  A one-line tree with single blanks is
 * written back byte for byte.  Brackets inside a word (no reader yields them, raw text does)
 * become -LRB- and -RRB-.  False: out of memory. */
bool trl_tree_write(const trl_tree *tree, const trl_strtab *labels, trl_buf *out);

/* The same for a single word. */
void trl_write_word(trl_str word, trl_buf *out);

#endif
