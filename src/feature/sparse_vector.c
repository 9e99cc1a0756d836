/* sparse_vector.c -- room for sparse vectors. */
/* SPDX-License-Identifier: MIT */
#include "feature/sparse_vector.h"

#include "base/mem.h"

bool trl_sparse_room(trl_sparse *s, size_t more)
{
    uint32_t *id = trl_reserve(s->id, &s->cap_id, s->n + more, sizeof *id);
    if (id)
        s->id = id;
    double *value = trl_reserve(s->value, &s->cap_value, s->n + more, sizeof *value);
    if (value)
        s->value = value;
    return id && value;
}

void trl_sparse_fini(trl_sparse *s)
{
    trl_free(s->id);
    trl_free(s->value);
    *s = (trl_sparse){0};
}
