/* dataset.h -- private: the sequences of a trl_dataset, handed out as a reader would.
 *
 * A data set is kept in memory, or it is a file or a text: its sequences and trees are then read
 * anew by everyone who walks through it (sequence_source.h, trl_dataset_trees), and take no memory.
 * The files of a training are such sets; the ones that callers have are always in memory.
 */
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

/* A data set that is a file, or the bytes of one, where it is; path, name and text are borrowed. It
 * is opened by those who walk through it: TRL_ENOMEM alone. */
trl_status trl_dataset_of_file(const char *path, trl_format format, trl_dataset **out,
                               trl_error *err);
trl_status trl_dataset_of_text(const char *name, trl_str text, trl_format format, trl_dataset **out,
                               trl_error *err);

/* Opens the trees, as trl_treebank_open; name is for messages, where the set is in memory. */
struct trl_treebank;
struct trl_transform;
trl_status trl_dataset_trees(const trl_dataset *d, const char *name,
                             const struct trl_transform *how, struct trl_treebank **out,
                             trl_error *err);

/* The path or name of a set that is a file or a text, else `name`. */
const char *trl_dataset_place_or(const trl_dataset *d, const char *name);

/* Does any sequence of rows begin a document? */
bool trl_dataset_has_documents(const trl_dataset *d);

/* How often sequence k counts. */
double trl_dataset_weight(const trl_dataset *d, size_t k);

#endif
