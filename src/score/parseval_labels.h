/* parseval_labels.h -- labels as numbers, with what the parameters say about each. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PARSEVAL_LABELS_H
#define TRL_PARSEVAL_LABELS_H

#include "score/parseval_params.h"

typedef struct trl_label_info {
    uint32_t bare; /* the label up to its first '-' or '=': NP of NP-SBJ, "" of -NONE- */
    bool word_deleted, bracket_deleted, no_length, quote;
} trl_label_info;

typedef struct trl_label_table {
    const trl_parseval_params *params; /* whose names are the first labels, with their ids */
    trl_strtab names;
    trl_label_info *info; /* [n_info] */
    size_t n_info, cap_info;
} trl_label_table;

/* `params` is borrowed.  TRL_ENOMEM. */
trl_status trl_label_table_init(trl_label_table *t, const trl_parseval_params *params,
                                trl_error *err);
void trl_label_table_fini(trl_label_table *t);

/* The number of a label, TRL_NO_ID when memory ran out. */
uint32_t trl_label_id(trl_label_table *t, trl_str label);

/* Are two labels the same, or taken for the same?  Only a direct EQ_LABEL counts. */
bool trl_label_equal(const trl_label_table *t, uint32_t a, uint32_t b);

bool trl_word_equal(const trl_label_table *t, trl_str a, trl_str b);

#endif
