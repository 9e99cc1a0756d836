/* sequence_source.h -- private: the sequences of a data set, one after the other.
 *
 * The one way in: trainings read their data from it, whether the set is a file or in memory, and
 * sets in memory are filled from those that are files (dataset_fill.c).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SEQUENCE_SOURCE_H
#define TRL_SEQUENCE_SOURCE_H

#include "feature/dataset.h"

typedef struct trl_sequence_source {
    trl_reader *reader; /* of a file or text; NULL: a data set in memory */
    trl_dataset *own;   /* freed with the source, or NULL */
    trl_dataset_cursor cursor;
    trl_format format;       /* TRL_FORMAT_GUESS: an empty data set */
    const char *name;        /* for messages; borrowed */
    uint64_t n_taken;        /* sequences */
    trl_renumbering numbers; /* of a data set of items: see trl_sequence_source_copy */
} trl_sequence_source;

/* Of a data set, which is borrowed; name is for messages, where it is in memory.  As
 * trl_reader_open where it is a file.  After a failure nothing is held; fini may follow. */
trl_status trl_sequence_source_open(trl_sequence_source *s, const trl_dataset *set,
                                    const char *name, trl_error *err);

/* Of a data set that is that file, made and freed with the source. */
trl_status trl_sequence_source_file(trl_sequence_source *s, const char *path, trl_format format,
                                    trl_error *err);
void trl_sequence_source_fini(trl_sequence_source *s);

/* As trl_reader_rows and trl_reader_items.  *weight: how often the sequence counts. */
trl_status trl_sequence_source_rows(trl_sequence_source *s, trl_rows *seq, double *weight,
                                    bool *more, trl_error *err);
trl_status trl_sequence_source_items(trl_sequence_source *s, trl_items *seq, bool *more,
                                     trl_error *err);

/* Of a data set of items: adds the next sequence to the corpus by its numbers, to the same bits as
 * by names; NULL: passes it over. */
bool trl_sequence_source_more(const trl_sequence_source *s);
trl_status trl_sequence_source_copy(trl_sequence_source *s, trl_corpus *to, trl_error *err);

#endif
