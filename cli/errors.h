/* errors.h -- what is wrong in predicted labels or trees: found, counted, listed, as a page.
 *
 * An error is a chunk, a token or a constituent of the one side or of both:
 *
 *     type         the same words, another type or label
 *     boundaries   overlapping words, the same type; of trees: crossing brackets
 *     both         overlapping words, another type
 *     missed       in the truth alone
 *     extra        in the prediction alone
 *     tag          of trees: a part of speech
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_ERRORS_H
#define CLI_ERRORS_H

#include <string.h>

#include "text.h"
#include "trellis/parser.h"
#include "trellis/sequence.h"

typedef enum error_kind {
    ERROR_TYPE,
    ERROR_BOUNDARIES,
    ERROR_BOTH,
    ERROR_MISSED,
    ERROR_EXTRA,
    ERROR_TAG,
    ERROR_KINDS,
} error_kind;

extern const char *const error_kind_names[]; /* up to a NULL */

/* Words [begin, end) with a type; empty: there is nothing on this side. */
typedef struct error_span {
    size_t begin, end;
    trl_str type;
    double p; /* how sure the prediction is; NaN: not known */
} error_span;

typedef struct error_sentence {
    uint64_t number, row; /* in the truth: from 1; its first line */
    trl_str *word;        /* [n] */
    size_t n;
} error_sentence;

typedef struct error_item {
    error_kind kind;
    size_t sentence; /* its index */
    error_span gold, predicted;
    double p; /* of what was predicted there */
} error_item;

typedef struct error_list {
    struct error_block *block; /* memory of the strings */
    error_sentence *sentence;
    size_t n_sentences, sentence_cap; /* those with errors */
    error_item *item;
    size_t n, cap;
    uint64_t seen, words;            /* sentences and words read */
    uint64_t gold, predicted, right; /* chunks, tokens or constituents */
    uint64_t count[ERROR_KINDS];
    bool probabilities; /* any were there */
    const char *unit;   /* "chunks", "tokens", "constituents" */
} error_list;           /* zero-initialise */

/* A sentence with its words, both sides, and, of missed ones, how sure the words are. */
typedef struct error_sides {
    uint64_t number, row;
    const trl_str *word;
    size_t n;
    const error_span *gold, *predicted; /* borrowed */
    size_t n_gold, n_predicted;
    const double *p; /* [n] of the predicted label of each word, or NULL */
} error_sides;

static inline bool errors_same_text(trl_str a, trl_str b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static inline bool errors_same_words(const error_span *a, const error_span *b)
{
    return a->begin == b->begin && a->end == b->end;
}

/* errors.c.  Chunks of one side never overlap.  False: no memory. */
bool errors_add_chunks(error_list *e, const error_sides *s);
bool errors_add(error_list *e, const error_sides *s, const error_item *item); /* copies strings */
void errors_sort(error_list *e); /* the surest first; without probabilities as they came */
void errors_fini(error_list *e);

/* errors_read.c.  Read both files; the error says what is wrong and where. */
typedef struct error_files {
    const char *gold, *out;
    size_t column[2]; /* of tags; both 0: the last ones */
    bool tokens;      /* every token counts, whatever its label */
} error_files;

trl_status errors_read_tags(error_list *e, const error_files *f, trl_error *err);
trl_status errors_read_trees(error_list *e, const error_files *f, trl_error *err);

/* errors_print.c.  At most `top` errors (0: all) of a kind (ERROR_KINDS: of any). */
typedef struct error_choice {
    error_kind kind;
    size_t top;
} error_choice;

void errors_text(const error_list *e, const error_choice *c, text *out);
void errors_html(const error_list *e, const error_choice *c, const char *title, text *out);

#endif
