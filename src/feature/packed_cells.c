/* packed_cells.c -- cells that are seen, numbered. */
/* SPDX-License-Identifier: MIT */
#include "feature/packed_cells.h"

#include <string.h>

#include "base/mem.h"

#define WIDE 256 /* cells below which it is not worth it */

/* Numbers the cells that rows have; returns how many there are. */
static size_t number_seen(const trl_occurrences *o, size_t n_tokens, uint32_t *place)
{
    size_t n = 0;
    memset(place, 0xff, o->width * sizeof *place);
    for (size_t t = 0; t < n_tokens; t++)
        if (o->gold[t] != TRL_NO_ID)
            place[o->gold[t]] = 0;
    for (size_t c = 0; c < o->width; c++)
        if (place[c] != TRL_NO_ID)
            place[c] = (uint32_t)n++;
    return n;
}

bool trl_pack_cells(trl_occurrences *o, size_t n_tokens)
{
    if (!o->gold || o->cell || o->width <= WIDE)
        return true;
    uint32_t *place = trl_alloc(o->width, sizeof *place);
    if (!place)
        return false;
    const size_t n = number_seen(o, n_tokens, place);
    uint32_t *cell = 4 * n <= 3 * o->width && n > 0 ? trl_alloc(n, sizeof *cell) : NULL;
    if (!cell) {
        trl_free(place);
        return n == 0 || 4 * n > 3 * o->width;
    }
    for (size_t c = 0; c < o->width; c++)
        if (place[c] != TRL_NO_ID)
            cell[place[c]] = (uint32_t)c;
    for (size_t t = 0; t < n_tokens; t++)
        if (o->gold[t] != TRL_NO_ID)
            o->gold[t] = place[o->gold[t]];
    o->cell = cell;
    o->place = place;
    o->full = o->width;
    o->width = n;
    return true;
}

void trl_spread_cells(const trl_packed_row *p, const double *a, const double *b, double *out)
{
    memset(out, 0, p->full * sizeof *out);
    if (a && b)
        for (size_t i = 0; i < p->n; i++)
            out[p->cell[i]] = a[i] + b[i];
    else if (a || b)
        for (size_t i = 0; i < p->n; i++)
            out[p->cell[i]] = (a ? a : b)[i];
}

void trl_collect_cells(const trl_packed_row *p, const double *all, double *out)
{
    for (size_t i = 0; i < p->n; i++)
        out[i] += all[p->cell[i]];
}
