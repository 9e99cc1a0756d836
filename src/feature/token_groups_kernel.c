/* token_groups_kernel.c -- scores and adjoints of grouped tokens, in floats.
 *
 * Loops run over all occurrences in a batch at once: a loop per token would end after two rows or
 * three entries, mispredicted each time.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "feature/token_groups.h"
#include "num/simd.h"

typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));

#define AHEAD 12 /* rows fetched ahead */
#define FAR 40   /* the same for single weights in gather, most of them not in the cache */

/* Elements of a part of the lists. */
typedef struct run {
    const uint32_t *what;
    const uint16_t *at;
    size_t n;
} run;

TRL_INLINE run run_of(const trl_token_groups *p, size_t batch, enum trl_token_groups_part part)
{
    const size_t from = p->batch[batch].begin[part];
    return (run){p->list[part].what + from, p->list[part].at + from,
                 p->batch[batch + 1].begin[part] - from};
}

/* ---- gather ---------------------------------------------------------------------------------- */

TRL_INLINE void gather_entries(run k, const double *w, float *table)
{
    for (size_t e = 0; e < k.n; e++) {
        __builtin_prefetch(w + k.what[e + FAR]);
        table[k.at[e]] += (float)w[k.what[e]];
    }
}

/* NV = step / 8, or 0: step says. */
TRL_INLINE void gather_hot(const size_t NV, size_t step, run k, const float *hot32, float *table)
{
    step = NV ? 8 * NV : step;
    for (size_t r = 0; r < k.n; r++) {
        const float *row = hot32 + (size_t)k.what[r] * step,
                    *ahead = hot32 + (size_t)k.what[r + AHEAD] * step;
        float *out = table + k.at[r] * step;
        for (size_t c = 0; c < step; c += 16)
            __builtin_prefetch(ahead + c);
        for (size_t c = 0; c < step; c += 8)
            *(v8f *)(out + c) += *(const v8f *)(row + c);
    }
}

/* Cold rows are not padded: what is read beyond falls into the pads. */
TRL_INLINE void gather_cold(const trl_family *f, run k, const double *w, float *table)
{
    for (size_t r = 0; r < k.n; r++) {
        const double *row = w + trl_dense_at(f, k.what[r]);
        const double *ahead = w + trl_dense_at(f, k.what[r + AHEAD]);
        float *out = table + k.at[r] * f->step;
        for (size_t c = 0; c < f->step; c += 8) {
            __builtin_prefetch(ahead + c);
            *(v8f *)(out + c) += __builtin_convertvector(*(const trl_v8 *)(row + c), v8f);
        }
    }
}

TRL_CLONES void trl_token_groups_gather(const trl_token_groups *p, const trl_design *d,
                                        const double *w, const float *hot32, size_t batch,
                                        float *table)
{
    const trl_family *f = &d->family[TRL_NODE];
    const trl_token_groups_batch *b = &p->batch[batch];
    const size_t step = f->step, from = b->position;
    float *shared = table + TRL_TOKEN_GROUPS_BATCH * step;
    memset(table, 0, (b[1].position - from) * step * sizeof *table);
    memset(shared, 0, (b[1].group - b->group) * step * sizeof *table);
    gather_entries(run_of(p, batch, TRL_TOKEN_GROUPS_HOT_ENTRY), w + f->entry_hot_at, table);
    gather_entries(run_of(p, batch, TRL_TOKEN_GROUPS_ENTRY), w + f->entry_hot_at, table);
    const run hot = run_of(p, batch, TRL_TOKEN_GROUPS_HOT_ROW);
    switch (step / 8) {
    case 1:
        gather_hot(1, step, hot, hot32, table);
        break;
    case 2:
        gather_hot(2, step, hot, hot32, table);
        break;
    case 3:
        gather_hot(3, step, hot, hot32, table);
        break;
    case 6:
        gather_hot(6, step, hot, hot32, table);
        break;
    default:
        gather_hot(0, step, hot, hot32, table);
        break;
    }
    gather_cold(f, run_of(p, batch, TRL_TOKEN_GROUPS_COLD_ROW), w, table);
    gather_cold(f, run_of(p, batch, TRL_TOKEN_GROUPS_SINGLETON_ROW), w, table);
    for (size_t k = b->group; k < b[1].group; k++, shared += step)
        for (size_t i = p->first[k] - from; i < p->first[k + 1] - from; i++)
            for (size_t c = 0; c < step; c += 8)
                *(v8f *)(table + i * step + c) += *(const v8f *)(shared + c);
}

/* ---- scatter --------------------------------------------------------------------------------- */

TRL_INLINE void scatter_hot(const size_t NV, size_t step, run k, const float *table, float *hot32)
{
    step = NV ? 8 * NV : step;
    for (size_t r = 0; r < k.n; r++) {
        float *row = hot32 + (size_t)k.what[r] * step,
              *ahead = hot32 + (size_t)k.what[r + AHEAD] * step;
        const float *adj = table + k.at[r] * step;
        for (size_t c = 0; c < step; c += 16)
            __builtin_prefetch(ahead + c, 1);
        for (size_t c = 0; c < step; c += 8)
            *(v8f *)(row + c) += *(const v8f *)(adj + c);
    }
}

static double finish_singletons(const trl_family *f, run k, const double *w, const float *table,
                                const trl_token_groups_sums *s)
{
    double sum = 0.0;
    for (size_t r = 0; r < k.n; r++) {
        const uint64_t at = trl_dense_at(f, k.what[r]);
        const float *adj = table + k.at[r] * f->step;
        for (size_t c = 0; c < f->width; c++) {
            s->g[at + c] = s->a * w[at + c] - (double)adj[c];
            sum += w[at + c] * w[at + c];
        }
    }
    return sum;
}

/* Groups' adjoints: the sums of their tokens'. */
TRL_INLINE void add_up(const trl_token_groups *p, const trl_token_groups_batch *b, size_t step,
                       float *table)
{
    float *shared = table + TRL_TOKEN_GROUPS_BATCH * step;
    for (size_t k = b->group; k < b[1].group; k++, shared += step)
        for (size_t c = 0; c < step; c += 8) {
            v8f sum = {0};
            for (size_t i = p->first[k] - b->position; i < p->first[k + 1] - b->position; i++)
                sum += *(const v8f *)(table + i * step + c);
            *(v8f *)(shared + c) = sum;
        }
}

TRL_CLONES double trl_token_groups_scatter(const trl_token_groups *p, const trl_design *d,
                                           const double *w, size_t batch, float *table,
                                           const trl_token_groups_sums *s)
{
    const trl_family *f = &d->family[TRL_NODE];
    const size_t step = f->step;
    add_up(p, &p->batch[batch], step, table);
    const run hot = run_of(p, batch, TRL_TOKEN_GROUPS_HOT_ROW);
    switch (step / 8) {
    case 1:
        scatter_hot(1, step, hot, table, s->hot32);
        break;
    case 2:
        scatter_hot(2, step, hot, table, s->hot32);
        break;
    case 3:
        scatter_hot(3, step, hot, table, s->hot32);
        break;
    case 6:
        scatter_hot(6, step, hot, table, s->hot32);
        break;
    default:
        scatter_hot(0, step, hot, table, s->hot32);
        break;
    }
    const run entry = run_of(p, batch, TRL_TOKEN_GROUPS_HOT_ENTRY);
    double *at = s->hot + f->entry_hot_at;
    for (size_t e = 0; e < entry.n; e++) {
        __builtin_prefetch(at + entry.what[e + AHEAD], 1);
        at[entry.what[e]] += (double)table[entry.at[e]];
    }
    const run cold = run_of(p, batch, TRL_TOKEN_GROUPS_ENTRY);
    float *stream = s->entry + p->batch[batch].begin[TRL_TOKEN_GROUPS_ENTRY];
    for (size_t e = 0; e < cold.n; e++)
        stream[e] = table[cold.at[e]];
    const run rows = run_of(p, batch, TRL_TOKEN_GROUPS_COLD_ROW);
    for (size_t r = 0; r < rows.n; r++)
        memcpy(s->rows + (p->batch[batch].begin[TRL_TOKEN_GROUPS_COLD_ROW] + r) * step,
               table + rows.at[r] * step, step * sizeof *table);
    return finish_singletons(f, run_of(p, batch, TRL_TOKEN_GROUPS_SINGLETON_ROW), w, table, s);
}

void trl_token_groups_entries(const trl_token_groups *p, const float *stream, size_t from,
                              size_t to, double *g)
{
    for (size_t i = from; i < to; i++) {
        double sum = 0.0;
        for (uint64_t k = p->entry_begin[i]; k < p->entry_begin[i + 1]; k++) {
            __builtin_prefetch(stream + p->entry_at[k + FAR]);
            sum += (double)stream[p->entry_at[k]];
        }
        g[i] = sum;
    }
}
