/* dataset.h -- labelled sequences or trees in memory, to train from (trl_train_options.data).
 *
 * A data set takes copies: nothing of what is added must outlive the call.  Every name is stored
 * once, an occurrence takes 4 bytes (12 when an attribute has a value other than 1).  All its
 * sequences are of one format, that of the first.  One thread at a time may add; when all is
 * there, any number of trainings may read it at the same time, and none changes it.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_DATASET_H
#define TRELLIS_DATASET_H

#include "trellis/sequence.h"

TRL_BEGIN_DECLS

typedef struct trl_dataset trl_dataset;

/* Empty.  TRL_ENOMEM. */
TRL_API trl_status trl_dataset_new(trl_dataset **out, trl_error *err);
TRL_API void trl_dataset_free(trl_dataset *d); /* accepts NULL */

/* Adds n sequences, all or none: after a failure the set is as it was.  TRL_EINVAL, with a sentence
 * that names the sequence (counted from 1, those added before included) and the token, when
 *
 *     a sequence has no tokens, or is of the other format;
 *     a row has fewer than 2 columns (the last one is the label), or not as many as rows before;
 *     a cell or a label is empty; a cell, a label or a name contains a NUL byte;
 *     there are no labels, or `begin` of items falls;
 *     a value is not finite; a weight is not finite, or negative.
 *
 * TRL_ENOMEM.  Members for messages (path, first_row, line) are not looked at.  A heading that is
 * not empty ("-DOCSTART-\n") says that a document begins with the sequence, for models whose unit
 * is a document; where no sequence has one, each is a document of its own.  Cells and names are
 * opaque bytes: blanks, tabs and line ends are allowed, though column files cannot have them.
 *
 * With trl_train_options.partial, labels say what is known of them ("?", "A|B", "A:0.7|B:0.3"; see
 * docs/partial.md): they are read when a model is trained, not here.
 *
 * weight[k] is how often sequence k counts.  NULL: rows count once, items as often as their own
 * member `weight` says, which is 1 for the usual sequence and must not be left 0. */
TRL_API trl_status trl_dataset_add_rows(trl_dataset *d, const trl_rows *seq, size_t n,
                                        const double *weight, trl_error *err);
TRL_API trl_status trl_dataset_add_items(trl_dataset *d, const trl_items *seq, size_t n,
                                         const double *weight, trl_error *err);

/* Items by the numbers of their names, for callers that meet the same names again and again: the
 * fastest way, as no name is looked up twice.  Numbers are the data set's own. */
typedef struct trl_numbered_items {
    size_t n_sequences;
    const size_t *first;   /* [n_sequences + 1] tokens of sequence k: first[k] .. first[k + 1] */
    const uint32_t *label; /* [tokens] numbers of labels; not needed to be tagged */
    const size_t *begin;   /* [tokens + 1] attributes of token t: begin[t] .. begin[t + 1] */
    const uint32_t *attr;  /* numbers of attributes */
    const double *value;   /* of attributes; NULL: all 1 */
    const double *weight;  /* [n_sequences] how often each counts; NULL: once */
} trl_numbered_items;

/* The numbers of n names of attributes, of n labels: new names get the next ones.  A name that no
 * sequence uses does not get into a model.  TRL_EINVAL for what trl_dataset_add_items refuses, and
 * for a data set of rows; TRL_ENOMEM, after which some of the names may have numbers. */
TRL_API trl_status trl_dataset_number(trl_dataset *d, const trl_str *name, size_t n,
                                      uint32_t *number, trl_error *err);
TRL_API trl_status trl_dataset_number_labels(trl_dataset *d, const trl_str *label, size_t n,
                                             uint32_t *number, trl_error *err);

/* Adds all sequences or none: as trl_dataset_add_items of the same names, to the same bits.
 * TRL_EINVAL also for a number that has not been given out. */
TRL_API trl_status trl_dataset_add_numbered(trl_dataset *d, const trl_numbered_items *batch,
                                            trl_error *err);

/* Adds what a callback gives, one sequence after the other, until it sets *more to false (it is
 * true before each call): all or none.  A status other than TRL_OK ends it with that status.
 * *weight and seq->weight are 1 before each call. */
typedef trl_status (*trl_next_rows_fn)(void *ctx, trl_rows *seq, double *weight, bool *more,
                                       trl_error *err);
typedef trl_status (*trl_next_items_fn)(void *ctx, trl_items *seq, bool *more, trl_error *err);
TRL_API trl_status trl_dataset_fill_rows(trl_dataset *d, trl_next_rows_fn next, void *ctx,
                                         trl_error *err);
TRL_API trl_status trl_dataset_fill_items(trl_dataset *d, trl_next_items_fn next, void *ctx,
                                          trl_error *err);

/* Adds all sequences of a file, as trl_reader_open reads it. */
TRL_API trl_status trl_dataset_read(trl_dataset *d, const char *path, trl_format format,
                                    trl_error *err);

/* The same of the n bytes of a file that the program has, all or none; name is for messages. */
TRL_API trl_status trl_dataset_add_text(trl_dataset *d, const char *name, trl_str text,
                                        trl_format format, trl_error *err);

/* The same into a new data set. */
TRL_API trl_status trl_dataset_from_text(const char *name, trl_str text, trl_format format,
                                         trl_dataset **out, trl_error *err);

/* Trees, for a parser (kind "tree"): those of a file in Penn brackets, plain, gzip or zstd, or of
 * the n bytes of text, all or none (TRL_EPARSE with path:row:col, TRL_EIO); or a tree that the
 * library has read or made.  They are kept as they are, and cleaned when a parser is trained, as
 * those of files are.  A set has trees or sequences: TRL_EINVAL. TRL_ENOMEM. */
struct trl_tree;
TRL_API trl_status trl_dataset_read_trees(trl_dataset *d, const char *path, trl_error *err);
TRL_API trl_status trl_dataset_add_brackets(trl_dataset *d, const char *name, const char *text,
                                            size_t n, trl_error *err);
TRL_API trl_status trl_dataset_add_tree(trl_dataset *d, const struct trl_tree *tree,
                                        trl_error *err);

typedef struct trl_dataset_info {
    trl_format format; /* TRL_FORMAT_GUESS as long as it is empty */
    size_t n_sequences, n_tokens;
    size_t n_columns;        /* of rows, the label's included; 0 for items */
    size_t n_trees, n_words; /* of a set of trees, which has no sequences and no format */
} trl_dataset_info;

TRL_API trl_dataset_info trl_dataset_get_info(const trl_dataset *d);

TRL_END_DECLS

#endif
