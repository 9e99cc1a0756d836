/* undump_weights.c -- the weights of a dump (format: dump.c). */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/undump.h"
#include "text/number.h"

size_t trl_undump_family(trl_str word)
{
    size_t f = 0;
    while (f < TRL_FAMILIES && !(word.n == 4 && memcmp(word.p, trl_family_prefix[f], 4) == 0))
        f++;
    return f;
}

trl_status trl_undump_constant(trl_undump *u)
{
    const size_t f = trl_undump_family(u->field[1]);
    if (f == TRL_NODE || f == TRL_FAMILIES)
        return FAIL_AT(u, 1, "'edge' or 'trip' expected");
    if (u->constant[f] != TRL_NO_ID)
        return FAIL_AT(u, 0, "a second constant attribute");
    if (u->names[f].n > 0)
        return FAIL_AT(u, 0, "'constant' comes before the weights");
    u->constant[f] = trl_strtab_add(&u->names[f], u->field[2].p, u->field[2].n);
    return u->constant[f] == TRL_NO_ID ? trl_fail_mem(u->err) : TRL_OK;
}

trl_status trl_undump_begin(trl_undump *u)
{
    if (u->parts.order == 0)
        return FAIL_AT(u, 0, "a weight before the order");
    if (u->labels.n == 0)
        return FAIL_AT(u, 0, "a weight before the labels");
    if (trl_family_width(u->labels.n, (size_t)u->parts.order) == 0)
        return FAIL_AT(u, 0, "%zu labels are too many for order 2", u->labels.n);
    u->in_weights = true;
    return TRL_OK;
}

/* Goes to the row of the attribute in field 1: the last one, or a new one. */
static trl_status find_row(trl_undump *u, size_t family)
{
    trl_weight_rows *r = &u->parts.rows[family];
    const size_t known = u->names[family].n;
    const uint32_t id = trl_strtab_add(&u->names[family], u->field[1].p, u->field[1].n);
    if (id == TRL_NO_ID)
        return trl_fail_mem(u->err);
    if (r->n > 0 && r->name[r->n - 1] == id)
        return TRL_OK;
    const bool first_constant = id == u->constant[family] && r->constant == TRL_NO_ROW;
    if (id < known && !first_constant) {
        const trl_status st = trl_fail(u->err, TRL_EPARSE, "attribute '%.*s' is repeated",
                                       trl_shown(u->field[1]), u->field[1].p);
        trl_fail_hint(u->err, st, "the weights of an attribute must stand together");
        return trl_undump_at(u, 1, st);
    }
    if (first_constant)
        r->constant = r->n;
    return trl_rows_begin(r, id) ? TRL_OK : trl_fail_mem(u->err);
}

trl_status trl_undump_label(trl_undump *u, size_t k, uint32_t *y)
{
    const trl_str s = u->field[k];
    *y = trl_strtab_find(&u->labels, s.p, s.n);
    if (*y == TRL_NO_ID)
        return FAIL_AT(u, k, "label '%.*s' is not in the list", trl_shown(s), s.p);
    return TRL_OK;
}

trl_status trl_undump_number(trl_undump *u, size_t k, double *x)
{
    const trl_str s = u->field[k];
    const trl_number outcome = trl_number_parse(s.p, s.n, x);
    if (outcome == TRL_NUMBER_BAD)
        return FAIL_AT(u, k, "the weight '%.*s' is not a number", trl_shown(s), s.p);
    if (outcome != TRL_NUMBER_OK || !isfinite(*x))
        return FAIL_AT(u, k, "the weight '%.*s' is too large", trl_shown(s), s.p);
    return TRL_OK;
}

static trl_status read_cell(trl_undump *u, size_t family, uint32_t *cell)
{
    uint64_t c = 0;
    for (size_t k = 2; k < 3 + family; k++) {
        uint32_t y;
        const trl_status st = trl_undump_label(u, k, &y);
        if (st != TRL_OK)
            return st;
        c = c * u->labels.n + y;
    }
    *cell = (uint32_t)c;
    return TRL_OK;
}

trl_status trl_undump_weight(trl_undump *u, size_t family)
{
    const size_t last = u->n_fields - 1;
    double w;
    uint32_t cell = 0;
    trl_status st = u->in_weights ? TRL_OK : trl_undump_begin(u);
    if (st == TRL_OK && family > (size_t)u->parts.order)
        st = FAIL_AT(u, 0, "a triple in a model of order 1");
    if (st == TRL_OK)
        st = read_cell(u, family, &cell);
    if (st != TRL_OK)
        return st;
    const bool exact = u->parts.rows[family].type == TRL_WEIGHT_DOUBLE;
    st = trl_undump_number(u, last, &w);
    if (st == TRL_OK && !exact && !isfinite((float)w))
        st = FAIL_AT(u, last, "the weight '%.*s' is too large", trl_shown(u->field[last]),
                     u->field[last].p);
    if (st != TRL_OK)
        return st;
    bool again;
    st = find_row(u, family);
    if (st != TRL_OK || (exact ? w == 0.0 : (float)w == 0.0f))
        return st;
    if (!trl_rows_insert(&u->parts.rows[family], cell, w, &again))
        return trl_fail_mem(u->err);
    return again ? FAIL_AT(u, 0, "a second weight for the same labels") : TRL_OK;
}
