/* coarse_prune.c -- fine items by the posteriors of the coarse chart. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chart/coarse_parts.h"

static uint32_t marks_of(const trl_coarse_chart *c, size_t at, double threshold)
{
    uint32_t marks = 0;
    if ((double)c->before[at] * (double)c->out_before[at] > threshold)
        marks |= TRL_BEFORE;
    if ((double)c->after[at] * (double)c->out_after[at] > threshold)
        marks |= TRL_AFTER;
    return marks;
}

/* Fine states under the coarse ones that a cell keeps: bits set in any order come out ascending. */
typedef struct state_set {
    uint64_t *bits; /* [n_fine / 64 + 1] */
    uint8_t *marks; /* [n_fine]: TRL_BEFORE, TRL_AFTER, shifted down */
    size_t words;
} state_set;

#define MARKS 30

static uint32_t empty(state_set *f, uint32_t *item)
{
    uint32_t n = 0;
    for (size_t w = 0; w < f->words; w++)
        for (; f->bits[w]; f->bits[w] &= f->bits[w] - 1) {
            const uint32_t state = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(f->bits[w]);
            item[n++] = state | (uint32_t)f->marks[state] << MARKS;
        }
    return n;
}

trl_status trl_coarse_prune(const trl_coarse_chart *c, const trl_coarse_map *m, double threshold,
                            trl_skeleton *fine, trl_arena *arena, trl_error *err)
{
    const size_t cells = trl_chart_cells(c->n), s = c->n_states;
    size_t most = 0;
    for (size_t cell = 0; cell < cells; cell++)
        for (size_t k = 0; c->scale[cell] != TRL_COARSE_UNSET && k < s; k++)
            if (marks_of(c, cell * s + k, threshold))
                most += m->first[k + 1] - m->first[k];
    *fine = (trl_skeleton){.n = c->n,
                           .first = trl_arena_get(arena, cells + 1, sizeof *fine->first),
                           .item = trl_arena_get(arena, most, sizeof *fine->item)};
    state_set kept = {.bits = trl_arena_get(arena, m->n_fine / 64 + 1, sizeof *kept.bits),
                      .marks = trl_arena_get(arena, m->n_fine, 1),
                      .words = m->n_fine / 64 + 1};
    if (!fine->first || !fine->item || !kept.bits || !kept.marks)
        return trl_fail_mem(err);
    memset(kept.bits, 0, kept.words * sizeof *kept.bits);
    uint32_t n = 0;
    for (size_t cell = 0; cell < cells; cell++) {
        fine->first[cell] = n;
        for (size_t k = 0; c->scale[cell] != TRL_COARSE_UNSET && k < s; k++) {
            const uint32_t marks = marks_of(c, cell * s + k, threshold);
            for (uint32_t q = m->first[k]; marks && q < m->first[k + 1]; q++) {
                kept.bits[m->state[q] / 64] |= (uint64_t)1 << m->state[q] % 64;
                kept.marks[m->state[q]] = (uint8_t)(marks >> MARKS);
            }
        }
        n += empty(&kept, fine->item + n);
    }
    fine->first[cells] = n;
    return TRL_OK;
}
