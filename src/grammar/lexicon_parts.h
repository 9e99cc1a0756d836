/* lexicon_parts.h -- what the files of the lexicon share; not for others. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LEXICON_PARTS_H
#define TRL_LEXICON_PARTS_H

#include "grammar/lexicon.h"

#define TRL_LEXICON_UNSEEN 0.5 /* tokens of a variant of a tag that was not seen */

/* Counts by base tag; "base" below is an index into these arrays. */
typedef struct trl_lexicon_bases {
    size_t n_tags;     /* tag states with tokens */
    uint32_t *tag;     /* [n_tags], ascending */
    uint32_t *base_of; /* [n_states]: of a tag in tag[], else TRL_NO_ID */
    size_t n_bases;
    double *total;                    /* [n_bases]: tokens */
    double *unseen;                   /* [n_bases]: of them, those of variants not seen */
    uint32_t *word_first, *word_base; /* as word_first, word_tag of the lexicon */
    double *word_count;
    uint32_t *class_first, *class_base;
    double *class_count;
} trl_lexicon_bases;

/* Makes x->bases.  Every tag listed for a word or class must have tokens.  TRL_ENOMEM. */
trl_status trl_lexicon_make_bases(trl_lexicon *x, const trl_grammar *g, trl_error *err);
void trl_lexicon_free_bases(trl_lexicon_bases *b); /* accepts NULL */

/* ---- sparse rows of counts ------------------------------------------------------------------- */

typedef struct trl_row_entry {
    uint32_t row, column;
    double count;
} trl_row_entry;

/* Sorts the entries, adds up equal ones and makes rows of them: row r is column[first[r] ..
 * first[r+1]-1], ascending.  False: out of memory, nothing was made. */
bool trl_make_rows(trl_row_entry *entry, size_t n, size_t n_rows, uint32_t **first,
                   uint32_t **column, double **count);

#endif
