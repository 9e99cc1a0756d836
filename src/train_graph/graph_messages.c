/* graph_messages.c -- two halves of messages, and which of them counts. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_messages.h"

#include <float.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

trl_status trl_graph_messages_init(trl_graph_messages *m, trl_infer_plan *const *plan, size_t n,
                                   trl_error *err)
{
    *m = (trl_graph_messages){.n = n};
    m->at = trl_zalloc(n + 1, sizeof *m->at);
    m->filled = trl_zalloc(n + 1, 1);
    m->side = trl_zalloc(n + 1, 1);
    bool ok = m->at && m->filled && m->side;
    for (size_t k = 0; ok && k < n; k++)
        m->at[k + 1] = m->at[k] + trl_infer_plan_info(plan[k]).n_numbers;
    for (size_t h = 0; ok && h < 2; h++)
        ok = (m->half[h] = trl_alloc(m->at[n] + 1, sizeof(float))) != NULL;
    if (ok)
        return TRL_OK;
    trl_graph_messages_fini(m);
    return trl_fail_mem(err);
}

void trl_graph_messages_fini(trl_graph_messages *m)
{
    trl_free(m->at);
    trl_free(m->half[0]);
    trl_free(m->half[1]);
    trl_free(m->filled);
    trl_free(m->side);
    *m = (trl_graph_messages){0};
}

bool trl_graph_messages_get(const trl_graph_messages *m, size_t k, trl_arena *arena,
                            const double **out)
{
    const size_t at = m->at[k], n = m->at[k + 1] - at;
    *out = NULL;
    if (!(m->filled[k] & TRL_MESSAGES_KEPT))
        return true;
    double *to = trl_arena_get(arena, n, sizeof *to);
    for (size_t i = 0; to && i < n; i++)
        to[i] = (double)m->half[m->side[k]][at + i];
    *out = to;
    return to != NULL;
}

void trl_graph_messages_put(trl_graph_messages *m, size_t k, const double *from, size_t n)
{
    float *to = m->half[1 - m->side[k]] + m->at[k];
    if (n != m->at[k + 1] - m->at[k])
        return;
    for (size_t i = 0; i < n; i++) {
        const float x = (float)from[i];
        to[i] = from[i] > 0.0 && x < FLT_MIN ? FLT_MIN : x; /* 0 would forbid a label */
    }
    m->filled[k] |= TRL_MESSAGES_NEXT;
}

void trl_graph_messages_turn(trl_graph_messages *m)
{
    for (size_t k = 0; k < m->n; k++)
        if (m->filled[k] & TRL_MESSAGES_NEXT) {
            m->side[k] ^= 1;
            m->filled[k] = TRL_MESSAGES_KEPT;
        }
}

bool trl_graph_messages_save(const trl_graph_messages *m, trl_buf *out)
{
    bool ok = true;
    for (size_t k = 0; ok && k < m->n; k++) {
        const unsigned char kept = m->filled[k] & TRL_MESSAGES_KEPT;
        ok = trl_buf_add(out, &kept, 1);
    }
    for (size_t k = 0; ok && k < m->n; k++)
        if (m->filled[k] & TRL_MESSAGES_KEPT)
            ok = trl_buf_add(out, m->half[m->side[k]] + m->at[k],
                             (m->at[k + 1] - m->at[k]) * sizeof(float));
    return ok;
}

bool trl_graph_messages_load(trl_graph_messages *m, const void *bytes, size_t size)
{
    const unsigned char *kept = bytes, *p = kept + m->n, *end = kept + size;
    if (size < m->n)
        return false;
    for (size_t k = 0; k < m->n; k++) {
        const size_t n = (m->at[k + 1] - m->at[k]) * sizeof(float);
        if (kept[k] > 1 || (kept[k] && (size_t)(end - p) < n))
            return false;
        m->filled[k] = kept[k] ? TRL_MESSAGES_KEPT : 0;
        m->side[k] = 0;
        for (size_t i = 0; kept[k] && i < m->at[k + 1] - m->at[k]; i++, p += sizeof(float)) {
            float *to = &m->half[0][m->at[k] + i];
            memcpy(to, p, sizeof *to);
            if (!(*to >= 0.0F && *to <= FLT_MAX))
                return false;
        }
    }
    return p == end;
}
