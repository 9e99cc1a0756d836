/* score.h -- how good predicted tags are: chunks as conlleval counts them, and tokens.
 *
 *     precision = correct / predicted     recall = correct / gold
 *     F1 = 2 precision recall / (precision + recall)
 *
 * all in percent, and 0 where they would divide by zero.  A chunk is correct when it has the
 * same first and last token and the same type in both taggings.  Tags are bytes; sorting is
 * by byte.  A score belongs to one thread at a time.
 *
 * Chunks start and end as in conlleval, with one exception: when all gold tags are well-formed
 * IOBES (every chunk S-x, or B-x I-x... E-x), S is a whole chunk and no chunk continues after E or
 * S, so that chunks of one type may be adjacent.  conlleval joins them.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_SCORE_H
#define TRELLIS_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trellis/status.h"

TRL_BEGIN_DECLS

typedef struct trl_score_options {
    char delimiter;      /* -d: between columns; ' ' means a run of spaces and tabs */
    const char *outside; /* -o: the tag outside all chunks, beside "O"; only with raw */
    bool raw;            /* -r: every token is a chunk, its tag the type, no B- and I- */
} trl_score_options;

/* ' ', "O", false. */
TRL_API trl_score_options trl_score_options_default(void);

/* Counts grow as sequences are added; all strings are borrowed only during the call. */
typedef struct trl_score trl_score;

/* TRL_EINVAL for a NULL `outside` or a line end or NUL as delimiter; TRL_ENOMEM. */
TRL_API trl_status trl_score_new(const trl_score_options *options, trl_score **out, trl_error *err);
TRL_API void trl_score_free(trl_score *s); /* accepts NULL */

/* One sequence of n gold and predicted tags (NUL-terminated); n = 0 adds nothing.
 * TRL_ENOMEM: nothing was counted. */
TRL_API trl_status trl_score_add(trl_score *s, size_t n, const char *const *gold,
                                 const char *const *predicted, trl_error *err);

/* The columns of gold and predicted tag in files that are read from now on, counted from 0; both 0
 * (the default): the last two. */
TRL_API void trl_score_set_columns(trl_score *s, size_t gold, size_t predicted);

/* Reads a column file (path, "-" for standard input, gzip and zstd unpacked) whose last two columns
 * (or as set) are gold and predicted tag.  A sequence ends at an empty line, at a line
 * whose first column is -X- (as conlleval has it) or -DOCSTART- (which conlleval counts as a
 * token), and with the file. The line with a probability that 'trellis tag --probability' writes
 * before a sequence ("# 0.98", or @probability, a tab and a number) is skipped.  Every other line
 * must have as many columns as the first one of the file.  TRL_EPARSE with path:row:col for fewer
 * than two columns, for one too many or too few (col: the byte where it starts or should have
 * started) or for a NUL in a tag; TRL_EIO; TRL_ENOMEM.  On failure the lines before the bad one
 * have been counted. */
TRL_API trl_status trl_score_file(trl_score *s, const char *path, trl_error *err);

/* One row of the per-type or per-label table. */
typedef struct trl_score_row {
    const char *name; /* borrowed from the score */
    uint64_t correct, gold, predicted;
    double precision, recall, f1;
} trl_score_row;

typedef struct trl_score_totals {
    uint64_t tokens, correct_tokens;       /* conlleval's accuracy */
    uint64_t sequences, correct_sequences; /* all tags right; empty sequences do not count */
    uint64_t gold, predicted, correct;     /* chunks */
    double accuracy, sequence_accuracy, precision, recall, f1;
    bool iobes;        /* chunks are counted as IOBES: all gold tags are well-formed */
    bool broken_iobes; /* gold has tags S-TYPE, but is not well-formed: all chunks are counted as
                          conlleval does, which joins neighbours of one type */
} trl_score_totals;

TRL_API trl_score_totals trl_score_get(const trl_score *s);

/* Rows sorted by name: chunk types, or labels of single tokens.  Returns their number;
 * writes the first cap of them.  Labels are whole tags compared letter for letter, where
 * conlleval's accuracy takes some for the same ("B", "B-" and "B-0"; with raw, the outside
 * tag and "O"). */
TRL_API size_t trl_score_chunks(const trl_score *s, trl_score_row *rows, size_t cap);
TRL_API size_t trl_score_labels(const trl_score *s, trl_score_row *rows, size_t cap);

typedef struct trl_score_confusion {
    const char *gold, *predicted; /* two different labels, borrowed from the score */
    uint64_t count;
} trl_score_confusion;

/* Most frequent first, then by gold and predicted name.  Returns the number of different
 * confusions; writes the first cap of them. */
TRL_API size_t trl_score_confusions(const trl_score *s, trl_score_confusion *rows, size_t cap);

/* Whole reports, NUL-terminated; the caller frees *text with trl_text_free.  Numbers have a
 * decimal point whatever the locale.  TRL_ENOMEM: *text is untouched.
 * `chunks`: conlleval's output to the byte (`latex`: its -l table), also in that the type ""
 * is listed twice when it occurs in both taggings.
 * `tokens`: accuracy, per-label precision, recall and F1, and the most frequent confusions.
 * `json`: both, and all confusions, as one JSON object on one line.  Bytes of a name that
 * are not UTF-8 become U+FFFD. */
TRL_API trl_status trl_score_report_chunks(const trl_score *s, bool latex, char **text,
                                           trl_error *err);
TRL_API trl_status trl_score_report_tokens(const trl_score *s, char **text, trl_error *err);
TRL_API trl_status trl_score_report_json(const trl_score *s, char **text, trl_error *err);
TRL_API void trl_text_free(char *text); /* accepts NULL */

TRL_END_DECLS

#endif
