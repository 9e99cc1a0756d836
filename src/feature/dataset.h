/* dataset.h -- private: the sequences of a trl_dataset, handed out as a reader would. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DATASET_PRIVATE_H
#define TRL_DATASET_PRIVATE_H

#include "feature/corpus.h"
#include "trellis/dataset.h"

/* Walks through a data set, which it borrows.  Set `set` and `name`, all else zero. */
typedef struct trl_dataset_cursor {
    const trl_dataset *set;
    const char *name; /* the path of the views, for messages */
    size_t next;      /* sequence */
    trl_str *text;    /* cells or labels */
    size_t *begin;
    trl_attr *attr;
    size_t text_cap, begin_cap, attr_cap;
} trl_dataset_cursor;

/* As trl_reader_rows and trl_reader_items, of a set of that format or an empty one: the view is
 * valid until the next call.  *weight is how often the sequence counts.  TRL_ENOMEM. */
trl_status trl_dataset_cursor_rows(trl_dataset_cursor *c, trl_rows *seq, double *weight, bool *more,
                                   trl_error *err);
trl_status trl_dataset_cursor_items(trl_dataset_cursor *c, trl_items *seq, bool *more,
                                    trl_error *err);
void trl_dataset_cursor_fini(trl_dataset_cursor *c);

/* For items: adds the next sequence to a corpus, without looking its names up (r: made for it by
 * trl_renumbering_init of trl_dataset_corpus), or, where `to` is NULL, passes it over.  *more is
 * false at the end.  As trl_corpus_add_from. */
trl_status trl_dataset_cursor_copy(trl_dataset_cursor *c, trl_corpus *to, trl_renumbering *r,
                                   trl_error *err);
bool trl_dataset_cursor_more(const trl_dataset_cursor *c);
const trl_corpus *trl_dataset_corpus(const trl_dataset *d);

/* The text of the trees, "" where there are none; borrowed. */
trl_str trl_dataset_brackets(const trl_dataset *d);

/* Does any sequence of rows begin a document? */
bool trl_dataset_has_documents(const trl_dataset *d);

/* How often sequence k counts. */
double trl_dataset_weight(const trl_dataset *d, size_t k);

#endif
