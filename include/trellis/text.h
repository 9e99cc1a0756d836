/* text.h -- raw text as tokens and sentences.
 *
 * One tokeniser for all languages and all of the project: it keeps byte offsets, so that the text
 * between tokens, line ends included, is never lost.  docs/text.md says what a token is.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_TEXT_H
#define TRELLIS_TEXT_H

#include "trellis/buf.h"
#include "trellis/sequence.h"

TRL_BEGIN_DECLS

typedef enum trl_grain {
    TRL_GRAIN_WORDS = 0, /* URLs, numbers, abbreviations and hyphenated words are one token */
    TRL_GRAIN_FINE,      /* runs of letters, digits and '_'; every other character alone */
} trl_grain;

typedef enum trl_sentence_rule {
    TRL_SENTENCES_SPLIT = 0, /* at final punctuation and at empty lines */
    TRL_SENTENCES_LINES,     /* every line is one */
    TRL_SENTENCES_WHOLE,     /* the whole text is one */
} trl_sentence_rule;

typedef enum trl_token_kind {
    TRL_TOKEN_WORD = 0,
    TRL_TOKEN_NUMBER,       /* starts with a digit and has no letters: 1,000.50 3:30 10/12/94 */
    TRL_TOKEN_LINK,         /* URL, e-mail address, @name, #topic */
    TRL_TOKEN_ABBREVIATION, /* with its full stop */
    TRL_TOKEN_PUNCTUATION,
    TRL_TOKEN_SYMBOL, /* currencies, mathematics, pictographs; what is not text */
} trl_token_kind;

typedef struct trl_token {
    size_t begin, end; /* bytes of the text: [begin, end) */
    size_t line;       /* of the text, from 0 */
    trl_token_kind kind;
    bool starts_sentence;
} trl_token;

typedef struct trl_token_options {
    trl_grain grain;
    trl_sentence_rule sentences;
} trl_token_options;

typedef struct trl_tokenizer trl_tokenizer;

/* options: NULL for all zero.  TRL_EINVAL, TRL_ENOMEM. */
TRL_API trl_status trl_tokenizer_new(const trl_token_options *options, trl_tokenizer **out,
                                     trl_error *err);
TRL_API void trl_tokenizer_free(trl_tokenizer *t); /* accepts NULL */

/* The tokens of a text: in order, none empty, none overlapping, and what lies between them is
 * white space.  Any bytes will do: one that is not UTF-8 is a token of its own.  *token is borrowed
 * until the next call.  TRL_ENOMEM. */
TRL_API trl_status trl_tokenize(trl_tokenizer *t, trl_str text, const trl_token **token, size_t *n,
                                trl_error *err);

/* ---- documents ------------------------------------------------------------------------------ */

/* A text file as rows of tokens, one sentence after the other.
 *
 * Marks are <NAME> and </NAME>, a name being letters, digits, '-' and '_', a letter first.  Those
 * that are labels must be closed and make a last column, IOB2: B-NAME, I-NAME, O.  A token that a
 * mark cuts belongs to the side that has more of it. */
typedef struct trl_text_options {
    trl_token_options tokens;
    const char *columns; /* comma between: see trl_text_columns; NULL: word */
    bool marks;          /* the text has inline marks */
    const char *labels;  /* the marks that are labels, comma between; NULL: all but `ignored` */
    const char *ignored; /* marks taken out, closed or not; NULL: sentence,paragraph */
    bool layers;         /* one column for each of `labels`, which may then overlap */
} trl_text_options;

typedef struct trl_text_rows {
    trl_rows rows;          /* neither path nor line */
    const trl_token *token; /* [rows.n_tokens] offsets into `text` */
    trl_str text;           /* the whole document, without its marks */
} trl_text_rows;

typedef struct trl_text_column {
    const char *name, *help;
} trl_text_column;

/* What `columns` may name, up to a NULL name. */
TRL_API const trl_text_column *trl_text_columns(void);

/* Appends what a column says of a word alone: word, lower, shape or case.  TRL_EINVAL for other
 * names, TRL_ENOMEM. */
TRL_API trl_status trl_text_column_of(const char *name, trl_str word, trl_buf *out, trl_error *err);

typedef struct trl_text_reader trl_text_reader;

/* The whole file is read (plain, gzip, zstd; "-": standard input).  TRL_EINVAL for options that are
 * not right; TRL_EPARSE with path:row:col for bytes that are not UTF-8, marks not closed or
 * overlapping; TRL_EIO, TRL_ENOMEM. */
TRL_API trl_status trl_text_reader_open(const char *path, const trl_text_options *options,
                                        trl_text_reader **out, trl_error *err);
TRL_API trl_status trl_text_reader_memory(const char *name, const void *bytes, size_t n,
                                          const trl_text_options *options, trl_text_reader **out,
                                          trl_error *err);
TRL_API void trl_text_reader_free(trl_text_reader *r); /* accepts NULL */

/* The next sentence, never an empty one; borrowed until the next call, the text until the reader is
 * freed.  *more is false at the end.  TRL_ENOMEM. */
TRL_API trl_status trl_text_reader_next(trl_text_reader *r, trl_text_rows *seq, bool *more,
                                        trl_error *err);

/* So far: marks whose ends lie inside tokens, and marks that got no token at all. */
TRL_API void trl_text_reader_marks(const trl_text_reader *r, size_t *cut, size_t *lost);

TRL_END_DECLS

#endif
