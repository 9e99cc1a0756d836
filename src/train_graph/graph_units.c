/* graph_units.c -- sentences, or documents of several. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_units.h"

#include "base/fail.h"

trl_status trl_unit_source_open(trl_unit_source *s, const char *path, const trl_dataset *set,
                                const trl_graph_spec *spec, trl_error *err)
{
    *s = (trl_unit_source){.document = spec->document};
    if (path)
        return trl_sequence_source_file(
            &s->from, path, spec->attributes ? TRL_FORMAT_GRMM : TRL_FORMAT_COLUMNS, err);
    if (spec->attributes)
        return trl_fail(err, TRL_EINVAL,
                        "features attributes are those of a file of GRMM's format");
    s->alone = !trl_dataset_has_documents(set);
    return trl_sequence_source_open(&s->from, set, "<data>", err);
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

static trl_status add_ahead(trl_unit_source *s, trl_graph_unit *u, trl_error *err)
{
    const size_t *begin;
    const trl_attr *attr;
    trl_status st = trl_graph_unit_add(u, &s->ahead, err);
    trl_reader_attributes(s->from.reader, &begin, &attr);
    for (size_t t = 0; st == TRL_OK && begin && t < s->ahead.n_tokens; t++)
        if (begin[t + 1] > begin[t])
            st = trl_graph_unit_attributes(u, t, attr + begin[t], begin[t + 1] - begin[t], err);
    return st;
}

trl_status trl_unit_source_next(trl_unit_source *s, trl_graph_unit *u, bool *more, trl_error *err)
{
    trl_graph_unit_clear(u);
    trl_status st = look_ahead(s, err);
    while (st == TRL_OK && s->has_ahead) {
        const bool starts = !s->document || s->ahead.heading.n > 0 || s->alone;
        if (u->n_tokens && starts)
            break;
        u->weight = s->weight;
        st = add_ahead(s, u, err);
        s->has_ahead = false;
        if (st == TRL_OK)
            st = look_ahead(s, err);
    }
    *more = u->n_tokens > 0;
    trl_graph_unit_close(u);
    return st;
}
