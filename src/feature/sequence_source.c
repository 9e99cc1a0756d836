/* sequence_source.c -- the sequences of a data set: of its file, its text or its memory. */
/* SPDX-License-Identifier: MIT */
#include "feature/sequence_source.h"

#include "base/fail.h"
#include "feature/dataset_parts.h"

static trl_status open_place(trl_sequence_source *s, const trl_dataset *set, trl_error *err)
{
    const trl_status st =
        set->text.p ? trl_reader_memory(set->place, set->text, set->written, &s->reader, err)
                    : trl_reader_open(set->place, set->written, &s->reader, err);
    if (st == TRL_OK)
        s->format = trl_format_is_rows(trl_reader_format(s->reader)) ? TRL_FORMAT_COLUMNS
                                                                     : TRL_FORMAT_CRFSUITE;
    return st;
}

trl_status trl_sequence_source_open(trl_sequence_source *s, const trl_dataset *set,
                                    const char *name, trl_error *err)
{
    const char *called = trl_dataset_place_or(set, name);
    *s = (trl_sequence_source){
        .cursor = {.set = set, .name = called}, .format = set->format, .name = called};
    return set->place ? open_place(s, set, err) : TRL_OK;
}

trl_status trl_sequence_source_file(trl_sequence_source *s, const char *path, trl_format format,
                                    trl_error *err)
{
    trl_dataset *file = NULL;
    *s = (trl_sequence_source){.name = path};
    trl_status st = trl_dataset_of_file(path, format, &file, err);
    if (st == TRL_OK)
        st = trl_sequence_source_open(s, file, path, err);
    if (st == TRL_OK)
        s->own = file;
    else
        trl_dataset_free(file);
    return st;
}

void trl_sequence_source_fini(trl_sequence_source *s)
{
    trl_reader_free(s->reader);
    trl_dataset_cursor_fini(&s->cursor);
    trl_renumbering_fini(&s->numbers);
    trl_dataset_free(s->own);
}

trl_status trl_sequence_source_rows(trl_sequence_source *s, trl_rows *seq, double *weight,
                                    bool *more, trl_error *err)
{
    *weight = 1.0;
    const trl_status st = s->reader ? trl_reader_rows(s->reader, seq, more, err)
                                    : trl_dataset_cursor_rows(&s->cursor, seq, weight, more, err);
    s->n_taken += st == TRL_OK && *more;
    if (s->reader)
        *weight = trl_reader_weight(s->reader);
    return st;
}

trl_status trl_sequence_source_items(trl_sequence_source *s, trl_items *seq, bool *more,
                                     trl_error *err)
{
    const trl_status st = s->reader ? trl_reader_items(s->reader, seq, more, err)
                                    : trl_dataset_cursor_items(&s->cursor, seq, more, err);
    s->n_taken += st == TRL_OK && *more;
    return st;
}

bool trl_sequence_source_more(const trl_sequence_source *s)
{
    return trl_dataset_cursor_more(&s->cursor);
}

trl_status trl_sequence_source_copy(trl_sequence_source *s, trl_corpus *to, trl_error *err)
{
    if (!s->numbers.attr && !trl_renumbering_init(&s->numbers, trl_dataset_corpus(s->cursor.set)))
        return trl_fail_mem(err);
    s->n_taken++;
    return trl_dataset_cursor_copy(&s->cursor, to, &s->numbers, err);
}
