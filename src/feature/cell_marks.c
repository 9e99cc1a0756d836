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

static int mark(trl_cell_marks *m, size_t cell, size_t token, double value)
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

/* The cell of the gold labels at a token. */
static size_t gold_cell(const trl_marked_token *at)
{
    const trl_corpus *c = at->corpus;
    if (c->family[at->family].gold)
        return c->family[at->family].gold[at->token];
    const uint32_t *y = c->label + at->token;
    const size_t L = c->labels.n;
    size_t cell = y[0];
    if (at->family >= 1)
        cell += L * y[-1];
    if (at->family >= 2)
        cell += L * L * y[-2];
    return cell;
}

/* The cells that `back` more tokens before and the token itself allow; `cell` and `share` are those
 * of the labels chosen so far. */
static int mark_notes(trl_cell_marks *m, const trl_marked_token *at, size_t back, size_t cell,
                      double share)
{
    const trl_label_notes *x = at->corpus->notes;
    const trl_label_note note = trl_label_note_of(x, x->of[at->token - back]);
    int change = 0;
    for (size_t k = 0; k < note.n; k++) {
        const size_t next = cell * at->corpus->labels.n + note.label[k];
        const double part = note.p ? share * note.p[k] : share;
        change += back ? mark_notes(m, at, back - 1, next, part) : mark(m, next, at->token, part);
    }
    return change;
}

int trl_cell_mark_token(trl_cell_marks *m, const trl_marked_token *at, double value)
{
    const trl_label_notes *x = at->corpus->notes;
    if (!x)
        return mark(m, gold_cell(at), at->token, value);
    bool known = true;
    for (size_t d = 0; d <= at->family; d++) {
        const trl_label_kind kind = (trl_label_kind)x->kind[x->of[at->token - d]];
        if (kind == TRL_LABEL_ANY)
            return 0;
        known &= kind == TRL_LABEL_ONE;
    }
    return known ? mark(m, gold_cell(at), at->token, value)
                 : mark_notes(m, at, at->family, 0, value);
}
