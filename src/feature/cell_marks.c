/* cell_marks.c -- marking cells that are features. */
/* SPDX-License-Identifier: MIT */
#include "feature/cell_marks.h"

#include "base/mem.h"

bool trl_cell_marks_init(trl_cell_marks *m, size_t width, const trl_corpus *c, double least)
{
    *m = (trl_cell_marks){.least = least, .now = 1};
    m->stamp = trl_zalloc(width, sizeof *m->stamp);
    if (!m->stamp || !(least > 0.0))
        return m->stamp != NULL;
    m->weight = trl_alloc(c->n_tokens, sizeof *m->weight);
    m->sum = trl_alloc(width, sizeof *m->sum);
    m->summed = trl_zalloc(width, sizeof *m->summed);
    if (!m->weight || !m->sum || !m->summed)
        return false;
    for (size_t s = 0; s < c->n_sequences; s++)
        for (uint64_t t = c->first[s]; t < c->first[s + 1]; t++)
            m->weight[t] = c->weight[s];
    return true;
}

void trl_cell_marks_fini(trl_cell_marks *m)
{
    trl_free(m->stamp);
    trl_free(m->weight);
    trl_free(m->sum);
    trl_free(m->summed);
    *m = (trl_cell_marks){0};
}

int trl_cell_mark(trl_cell_marks *m, size_t cell, size_t token, double value)
{
    const bool before = trl_cell_marked(m, cell);
    bool after = true;
    if (m->sum) {
        const double sum = m->summed[cell] == m->now ? m->sum[cell] : 0.0;
        m->sum[cell] = sum + m->weight[token] * value;
        m->summed[cell] = m->now;
        after = m->sum[cell] >= m->least;
    }
    m->stamp[cell] = after ? m->now : 0; /* now is never 0 */
    return (int)after - (int)before;
}
