/* words.h -- one sentence in one call: from words to labels, or to a tree.
 *
 * For small programs.  Those that have many sentences make a tagger (tagger.h) or a parser
 * (parser.h) once, or hand over all at once (batch.h).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_WORDS_H
#define TRELLIS_WORDS_H

#include "trellis/buf.h"
#include "trellis/model.h"

TRL_BEGIN_DECLS

/* The best labels of n words, label[n], borrowed from the model, whose template must do with words
 * alone.  TRL_EINVAL for a model of another kind or without a template and for n of 0, TRL_EPARSE
 * when a column is missing, TRL_ECONFLICT, TRL_ENOMEM; label is then not changed. */
TRL_API trl_status trl_tag_words(const trl_model *m, const char *const *word, size_t n,
                                 trl_str *label, trl_error *err);

/* Appends the best tree of n words in brackets, on a line, to out.  TRL_EINVAL for a model of
 * another kind, and as trl_parser_parse; out is then not changed. */
TRL_API trl_status trl_parse_words(const trl_model *m, const char *const *word, size_t n,
                                   trl_buf *out, trl_error *err);

TRL_END_DECLS

#endif
