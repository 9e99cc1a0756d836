/* sequence.h -- sequences of tokens from a caller or a reader.
 *
 * All pointers are borrowed.  From a reader they are valid until its next call; from a caller,
 * for the duration of the call.  Strings are opaque bytes with a length, no terminator.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_SEQUENCE_H
#define TRELLIS_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trellis/status.h"

TRL_BEGIN_DECLS

typedef struct trl_str {
    const char *p;
    size_t n;
} trl_str;

#define TRL_STR(literal) ((trl_str){literal, sizeof(literal) - 1}) /* TRL_STR("text"), in C */

/* Tokens in columns (CoNLL, CRF++, Wapiti). */
typedef struct trl_rows {
    size_t n_tokens, n_columns;
    const trl_str *cell;     /* [n_tokens][n_columns] */
    const char *path;        /* for messages; NULL when not from a file */
    uint64_t first_row;      /* line of the first token; tokens are on consecutive lines */
    const char *const *line; /* [n_tokens] where each line starts; NULL when not known */
    trl_str heading;         /* the lines -DOCSTART- ... before the sequence, an LF after each */
} trl_rows;

/* Tokens as ready-made attributes (CRFsuite). */
typedef struct trl_attr {
    trl_str name;
    double value;
} trl_attr;

typedef struct trl_items {
    size_t n_tokens;
    const trl_str *label; /* [n_tokens]; NULL when there are none */
    const size_t *begin;  /* [n_tokens + 1] into attr */
    const trl_attr *attr;
    double weight; /* 1 unless the input says otherwise; finite, >= 0 */
    const char *path;
    uint64_t first_row; /* line of the first token */
} trl_items;

typedef enum trl_format {
    TRL_FORMAT_GUESS = 0, /* by the first lines */
    TRL_FORMAT_COLUMNS,
    TRL_FORMAT_CRFSUITE,
    TRL_FORMAT_CONLLU, /* rows: see trl_conllu_columns; never guessed, nor are the next ones */
    TRL_FORMAT_MALLET, /* items: FEATURE ... LABEL, blanks between (MALLET's SimpleTagger) */
    TRL_FORMAT_JSONL, /* rows: {"tokens": [...], "columns": [[...], ...], "labels": [...]} a line */
    TRL_FORMAT_GRMM,  /* rows of a word and labels, and attributes: LABEL ... ---- FEATURE ... */
} trl_format;

/* Are its sequences rows, or items? */
static inline bool trl_format_is_rows(trl_format f)
{
    return f == TRL_FORMAT_COLUMNS || f == TRL_FORMAT_CONLLU || f == TRL_FORMAT_JSONL ||
           f == TRL_FORMAT_GRMM;
}

/* The columns of a row of CoNLL-U, words alone, and their names up to a NULL: form, lemma, xpos,
 * feats, head, deprel, deps, misc, id and, last, where labels stand, upos. */
#define TRL_CONLLU_COLUMNS 10
TRL_API const char *const *trl_conllu_columns(void);

/* Reads sequences from a file, plain, gzip or zstd ("-": standard input). */
typedef struct trl_reader trl_reader;

/* TRL_EIO when the file cannot be opened, TRL_ENOMEM. */
TRL_API trl_status trl_reader_open(const char *path, trl_format format, trl_reader **out,
                                   trl_error *err);

/* The bytes of a file that the program has, borrowed until the reader is freed. */
TRL_API trl_status trl_reader_memory(const char *name, trl_str bytes, trl_format format,
                                     trl_reader **out, trl_error *err);
TRL_API void trl_reader_free(trl_reader *r); /* accepts NULL */

/* The format: as given, or as guessed (never TRL_FORMAT_GUESS). */
TRL_API trl_format trl_reader_format(const trl_reader *r);

/* The next sequence, never an empty one, in the member that fits the format; *more is false at the
 * end, where seq->heading has the lines after the last sequence.  A line whose first column is
 * -DOCSTART- is not a token: it ends a sequence, as an empty line does.  TRL_EPARSE with
 * path:row:col for malformed input, TRL_EIO, TRL_ENOMEM. */
TRL_API trl_status trl_reader_rows(trl_reader *r, trl_rows *seq, bool *more, trl_error *err);
TRL_API trl_status trl_reader_items(trl_reader *r, trl_items *seq, bool *more, trl_error *err);

/* How often the last sequence of rows counts: 1 unless the input says otherwise, in columns by a
 * line
 * @weight:NUMBER before the first token, in JSON lines by "weight": NUMBER.  Items have a member.
 */
TRL_API double trl_reader_weight(const trl_reader *r);

/* Of the last sequence: all its lines, comments, ranges and empty nodes too, an LF after each, in
 * which its cells lie, when the format is CoNLL-U, else nothing; and the line of its token t. */
TRL_API trl_str trl_reader_source(const trl_reader *r);
TRL_API uint64_t trl_reader_row(const trl_reader *r, size_t t);

/* The attributes of the last sequence of rows, where the format has both (GRMM): those of token t
 * are attr[begin[t]] .. attr[begin[t + 1] - 1].  Otherwise both are NULL. */
TRL_API void trl_reader_attributes(const trl_reader *r, const size_t **begin,
                                   const trl_attr **attr);

/* A sequence read in the wrong format is still a sequence, with nonsense labels.  This guesses what
 * it looks like, for messages. */
typedef enum trl_look {
    TRL_LOOK_RIGHT,      /* like the format it was read as */
    TRL_LOOK_COLUMNS,    /* items: no attributes, and labels of several words */
    TRL_LOOK_ITEMS,      /* columns: a label, and attributes NAME=VALUE, NAME[0]... or NAME:1 */
    TRL_LOOK_UNLABELLED, /* either: attributes alone, without a label before them */
} trl_look;

TRL_API trl_look trl_rows_look(const trl_rows *seq);
TRL_API trl_look trl_items_look(const trl_items *seq);

TRL_END_DECLS

#endif
