/* tree_dump.h -- the content of a tree model, for people. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_DUMP_H
#define TRL_TREE_DUMP_H

#include "base/buf.h"
#include "model/dump_text.h"
#include "parser/tree_model.h"

/* Appends how large grammars and lexicon are, one `name number` a line.  TRL_ENOMEM. */
trl_status trl_tree_dump_sizes(const trl_tree_model *m, trl_buf *out, trl_error *err);

/* Appends the `top` largest and smallest weights of rules and of every feature family, given by the
 * template `families`.  m is a model read from a file, not a generative one.  What cannot be named,
 * because a key has too few bits for it, is shown as a number after '#'.  TRL_ENOMEM. */
trl_status trl_tree_dump_top(const trl_tree_model *m, trl_str families, size_t top, trl_buf *out,
                             trl_error *err);

/* tree_names.c: one feature in words: its class (which takes a pass over the grammar's rules), and
 * its observations, after blanks.  cls and seen as in its key. */
void trl_tree_name_class(const trl_tree_model *m, size_t family, uint32_t cls, trl_buf *out);
void trl_tree_name_seen(const trl_tree_model *m, size_t family, uint64_t seen, trl_buf *out);
void trl_tree_name_binary(const trl_grammar *g, uint32_t rule, bool plain, trl_buf *out);
void trl_tree_name_unary(const trl_grammar *g, uint32_t rule, bool plain, trl_buf *out);

/* tree_text.c: the whole file as text that loads back (model/section_text.h), with states, rules
 * and features of m in words; m NULL: without.  TRL_ENOMEM, or what p's writer returns. */
trl_status trl_tree_text(const trl_container *c, const trl_tree_model *m, trl_printer *p,
                         trl_error *err);

#endif
