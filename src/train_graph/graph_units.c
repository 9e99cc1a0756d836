/* graph_units.c -- sentences, or documents of several. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_units.h"

trl_status trl_unit_source_open(trl_unit_source *s, const char *path, const trl_dataset *set,
                                bool document, trl_error *err)
{
    *s = (trl_unit_source){.document = document};
    if (path)
        return trl_sequence_source_open(&s->from, path, TRL_FORMAT_COLUMNS, err);
    s->from = trl_sequence_source_set(set, "<data>");
    return TRL_OK;
}

void trl_unit_source_fini(trl_unit_source *s)
{
    trl_sequence_source_fini(&s->from);
}

static trl_status look_ahead(trl_unit_source *s, trl_error *err)
{
    if (s->has_ahead || s->ended)
        return TRL_OK;
    const trl_status st =
        trl_sequence_source_rows(&s->from, &s->ahead, &s->weight, &s->has_ahead, err);
    s->ended = !s->has_ahead;
    s->n_documents += s->has_ahead && s->ahead.heading.n > 0;
    return st;
}

trl_status trl_unit_source_next(trl_unit_source *s, trl_graph_unit *u, bool *more, trl_error *err)
{
    trl_graph_unit_clear(u);
    trl_status st = look_ahead(s, err);
    while (st == TRL_OK && s->has_ahead) {
        const bool starts = !s->document || s->ahead.heading.n > 0 || !s->from.reader;
        if (u->n_tokens && starts)
            break;
        u->weight = s->weight;
        st = trl_graph_unit_add(u, &s->ahead, err);
        s->has_ahead = false;
        if (st == TRL_OK)
            st = look_ahead(s, err);
    }
    *more = u->n_tokens > 0;
    trl_graph_unit_close(u);
    return st;
}
