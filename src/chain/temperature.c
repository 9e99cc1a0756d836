/* temperature.c -- scores divided by a temperature. */
/* SPDX-License-Identifier: MIT */
#include "chain/temperature.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/tagger_parts.h"

trl_status trl_cool_tables(const trl_chain *c, double cool, trl_arena *arena, trl_tables *s,
                           trl_error *err)
{
    size_t width = c->L;
    for (size_t f = 0; f < TRL_FAMILIES; f++, width *= c->L) {
        const double *from = s->row[f];
        if (!from)
            continue;
        double *to = trl_arena_get(arena, s->n, s->step[f] * sizeof *to);
        if (!to)
            return trl_fail_mem(err);
        memset(to, 0, s->n * s->step[f] * sizeof *to);
        for (size_t t = f; t < s->n; t++)
            for (size_t k = 0; k < width; k++)
                to[t * s->step[f] + k] = cool * from[t * s->step[f] + k];
        s->row[f] = to;
    }
    return TRL_OK;
}

trl_status trl_tagger_set_temperature(trl_tagger *t, double temperature, trl_error *err)
{
    if (!(temperature >= 1.0 / TRL_TEMPERATURE_MAX && temperature <= TRL_TEMPERATURE_MAX))
        return trl_fail(err, TRL_EINVAL, "%g is not a temperature", temperature);
    const double cool = 1.0 / temperature;
    const size_t L = t->m->L;
    double some_row = 0.0; /* only says that there are rows */
    trl_tables s = {0};
    trl_status st = t->cooled.L ? TRL_OK : trl_chain_init(&t->cooled, L, t->m->order, err);
    for (size_t f = 0; st == TRL_OK && f <= (size_t)t->m->order; f++) {
        s.row[f] = t->has_rows[f] ? &some_row : NULL;
        if (!t->tables.shared[f])
            continue;
        s.shared[f] = trl_alloc(t->m->family[f].width, sizeof *s.shared[f]);
        for (size_t k = 0; s.shared[f] && k < t->m->family[f].width; k++)
            s.shared[f][k] = cool * t->tables.shared[f][k];
        st = s.shared[f] ? TRL_OK : trl_fail_mem(err);
    }
    if (st == TRL_OK)
        st = trl_chain_prepare(&t->cooled, &s, err);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        trl_free(s.shared[f]);
    if (st == TRL_OK) {
        t->cool = cool;
        t->has_temperature = true;
    }
    return st;
}
