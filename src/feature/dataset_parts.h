/* dataset_parts.h -- private: the data set, and the checks that its parts share. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DATASET_PARTS_H
#define TRL_DATASET_PARTS_H

#include "feature/column_values.h"
#include "feature/corpus.h"
#include "feature/dataset.h"

struct trl_dataset {
    trl_format format;
    trl_column_values rows;
    trl_corpus items;
    double *weight; /* [sequences] of rows; items have theirs in the corpus */
    bool *document; /* [sequences] of rows: a document begins with it */
    size_t weight_cap, document_cap;
    trl_buf brackets; /* trees, as they were given; a set has trees or sequences */
    size_t n_trees, n_words;
    const char *place;  /* of a file or text, borrowed, when the set is that; else NULL */
    trl_str text;       /* p is NULL: a file */
    trl_format written; /* the format of the file or text, perhaps to be guessed */
};

/* Where a check failed: numbers from 1, 0 where it does not apply. */
typedef struct trl_dataset_place {
    size_t sequence, token, column;
} trl_dataset_place;

/* TRL_EINVAL, with the place before `what`. */
trl_status trl_dataset_bad(const trl_dataset_place *at, const char *what, trl_error *err);

/* What is wrong with a name ("contains a NUL byte"), or NULL. */
const char *trl_dataset_fault(trl_str s);
trl_status trl_dataset_check_weight(const trl_dataset_place *at, double weight, trl_error *err);

/* All sequences are of one format. */
trl_status trl_dataset_check_format(const trl_dataset *d, trl_format format, trl_error *err);

/* The corpus as it was when it had so many sequences and tokens. */
void trl_dataset_take_back_items(trl_corpus *c, size_t n_sequences, size_t n_tokens);
void trl_dataset_take_back_rows(trl_dataset *d, size_t n_sequences, size_t n_tokens);

#endif
