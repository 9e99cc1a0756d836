/* label_seen.c -- which labels follow which in labelled data. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/label_rules.h"

/* Label k of the sequence; labels that the model does not have cannot be given, so that what
 * stands around them was not seen either: TRL_OUTSIDE. */
static uint32_t label_at(const trl_constraint *c, const trl_rows *rows, const trl_items *items,
                         size_t k)
{
    return trl_constraint_label(c,
                                rows ? rows->cell[(k + 1) * rows->n_columns - 1] : items->label[k]);
}

static void add_sequence(const trl_constraint *c, const trl_rows *rows, const trl_items *items,
                         bool *seen)
{
    const size_t L = c->set.L, n = rows ? rows->n_tokens : items->n_tokens;
    size_t before = L;
    for (size_t k = 0; k < n; k++) {
        const uint32_t y = label_at(c, rows, items, k);
        if (y != TRL_OUTSIDE && before != TRL_OUTSIDE)
            seen[before * (L + 1) + y] = true;
        before = y;
    }
    if (before != TRL_OUTSIDE)
        seen[before * (L + 1) + L] = true;
}

static trl_status read_all(trl_constraint *c, trl_reader *r, bool *seen, trl_error *err)
{
    const bool is_rows = trl_format_is_rows(trl_reader_format(r));
    trl_status st = TRL_OK;
    for (bool more = true; st == TRL_OK;) {
        trl_rows rows;
        trl_items items;
        st = is_rows ? trl_reader_rows(r, &rows, &more, err)
                     : trl_reader_items(r, &items, &more, err);
        if (st != TRL_OK || !more)
            break;
        if (is_rows || items.label)
            add_sequence(c, is_rows ? &rows : NULL, is_rows ? NULL : &items, seen);
    }
    return st;
}

trl_status trl_constraint_seen(trl_constraint *c, const char *path, trl_format format,
                               trl_error *err)
{
    trl_reader *r = NULL;
    if (!c || !path)
        return trl_fail_null(err);
    if (format == TRL_FORMAT_GRMM)
        return trl_fail(err, TRL_EINVAL, "GRMM's data are for graphs, not for chains");
    const size_t L = c->set.L;
    bool *seen = trl_zalloc((L + 1) * (L + 1), sizeof *seen);
    if (!seen)
        return trl_fail_mem(err);
    trl_status st = trl_reader_open(path, format, &r, err);
    if (st == TRL_OK)
        st = read_all(c, r, seen, err);
    trl_reader_free(r);
    if (st == TRL_OK)
        st = trl_constraint_only(c, seen, err);
    trl_free(seen);
    if (st == TRL_EINVAL) {
        trl_fail_hint(err, st, "the last column of %s should have the labels of the model", path);
    }
    return st;
}
