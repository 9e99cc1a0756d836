/* score.h -- how good predicted tags are: chunks as conlleval counts them, and tokens. */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_SCORE_H
#define TRELLIS_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trellis/status.h"

typedef struct trl_score_options {
    char        delimiter; /* -d: between columns; ' ' means a run of blanks */
    const char *outside;   /* -o: the tag outside all chunks; "O" */
    bool        raw;       /* -r: every tag is a chunk type of its own, no B- and I- */
} trl_score_options;

TRL_API trl_score_options trl_score_options_default(void);

/* Counts grow while sequences are fed; all strings are borrowed only during the call. */
typedef struct trl_score trl_score;

TRL_API trl_status trl_score_new(const trl_score_options *options, trl_score **out,
                                 trl_error *err);
TRL_API void       trl_score_free(trl_score *s); /* accepts NULL */

/* One sequence of n gold and predicted tags (NUL-terminated).  TRL_ENOMEM. */
TRL_API trl_status trl_score_add(trl_score *s, size_t n, const char *const *gold,
                                 const char *const *predicted, trl_error *err);

/* Reads a column file (path, "-" for standard input) whose last two columns are gold and
 * predicted tag.  TRL_EPARSE with the place for a line with too few columns; TRL_EIO. */
TRL_API trl_status trl_score_file(trl_score *s, const char *path, trl_error *err);

/* One row of the per-type or per-label table. */
typedef struct trl_score_row {
    const char *name; /* borrowed from the score */
    uint64_t    correct, gold, predicted;
    double      precision, recall, f1; /* percent, 0 when undefined */
} trl_score_row;

typedef struct trl_score_totals {
    uint64_t tokens, correct_tokens;       /* conlleval's accuracy */
    uint64_t sequences, correct_sequences; /* all tags right */
    uint64_t gold, predicted, correct;     /* chunks */
    double   accuracy, precision, recall, f1; /* percent */
} trl_score_totals;

TRL_API trl_score_totals trl_score_get(const trl_score *s);

/* Rows sorted by name: chunk types, or labels of single tokens.  Returns their number;
 * writes at most cap of them. */
TRL_API size_t trl_score_chunks(const trl_score *s, trl_score_row *rows, size_t cap);
TRL_API size_t trl_score_labels(const trl_score *s, trl_score_row *rows, size_t cap);

/* Whole reports, allocated with malloc and NUL-terminated; the caller frees *text with
 * trl_text_free.  `chunks`: conlleval's output to the byte (`latex`: its -l table).
 * `tokens`: accuracy, per-label precision, recall and F1, and the most frequent confusions.
 * `json`: both, as one JSON object. */
TRL_API trl_status trl_score_report_chunks(const trl_score *s, bool latex, char **text,
                                           trl_error *err);
TRL_API trl_status trl_score_report_tokens(const trl_score *s, char **text, trl_error *err);
TRL_API trl_status trl_score_report_json(const trl_score *s, char **text, trl_error *err);
TRL_API void       trl_text_free(char *text); /* accepts NULL */

#endif
