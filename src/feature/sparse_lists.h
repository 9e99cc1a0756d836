/* sparse_lists.h -- private: the sparse attributes of each token, where they have many entries.
 *
 * A factor of two tags with text has a thousand entries a token.  Listed one by one they are most
 * of a design's memory, and are read from there in every pass; the entries of an attribute are in a
 * cache.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SPARSE_LISTS_H
#define TRL_SPARSE_LISTS_H

#include "feature/design.h"
#include "num/simd.h"

/* The entries of a token one by one, whichever list it has: for (trl_entry_walk x =
 * trl_entries_of(f, tok); trl_entry_next(&x);) ...  Lists without attributes are read directly
 * where time matters. */
typedef struct trl_entry_walk {
    const trl_family *f;
    uint64_t i, end;   /* list elements to come */
    uint64_t e, e_end; /* entries of the last attribute to come */
    trl_entry entry;
    double value;
} trl_entry_walk;

static inline trl_entry_walk trl_entries_of(const trl_family *f, size_t tok)
{
    const uint64_t *begin = f->sparse_begin ? f->sparse_begin : f->entry_begin;
    return (trl_entry_walk){.f = f, .i = begin[tok], .end = begin[tok + 1], .value = 1.0};
}

static inline bool trl_entry_next(trl_entry_walk *x)
{
    const trl_family *f = x->f;
    if (!f->sparse_begin) {
        if (x->i == x->end)
            return false;
        x->entry = f->entry[x->i];
        x->value = f->entry_value ? f->entry_value[x->i] : 1.0;
        x->i++;
        return true;
    }
    while (x->e == x->e_end) {
        if (x->i == x->end)
            return false;
        const uint32_t a = f->sparse[x->i++];
        x->e = f->entry_first[a];
        x->e_end = f->entry_first[a + 1];
    }
    x->entry = trl_entry_of(f->entry_hot_at + x->e, f->entry_cell[x->e]);
    x->e++;
    return true;
}

/* The weights, of a type, of sparse attribute a (less n_dense) to the cells of a row of scores. The
 * cells of an attribute differ: no addition waits for another. */
#define TRL_SPARSE_GATHER(NAME, TYPE)                                                              \
    TRL_INLINE void NAME(const trl_family *f, uint32_t a, const TYPE *w, double *out)              \
    {                                                                                              \
        const uint64_t e0 = f->entry_first[a], n = f->entry_first[a + 1] - e0;                     \
        const uint32_t *cell = f->entry_cell + e0;                                                 \
        const TYPE *weight = w + f->entry_hot_at + e0;                                             \
        uint64_t e = 0;                                                                            \
        for (; e + 4 <= n; e += 4) {                                                               \
            const double x0 = out[cell[e]] + (double)weight[e];                                    \
            const double x1 = out[cell[e + 1]] + (double)weight[e + 1];                            \
            const double x2 = out[cell[e + 2]] + (double)weight[e + 2];                            \
            const double x3 = out[cell[e + 3]] + (double)weight[e + 3];                            \
            out[cell[e]] = x0;                                                                     \
            out[cell[e + 1]] = x1;                                                                 \
            out[cell[e + 2]] = x2;                                                                 \
            out[cell[e + 3]] = x3;                                                                 \
        }                                                                                          \
        for (; e < n; e++)                                                                         \
            out[cell[e]] += (double)weight[e];                                                     \
    }

/* The reverse: g += scale * adjoint; V8 is a vector of eight of the type. */
#define TRL_SPARSE_SCATTER(NAME, TYPE, V8)                                                         \
    TRL_INLINE void NAME(const trl_family *f, uint32_t a, const TYPE *adj, TYPE scale, TYPE *g)    \
    {                                                                                              \
        const uint64_t e0 = f->entry_first[a], n = f->entry_first[a + 1] - e0;                     \
        const uint32_t *cell = f->entry_cell + e0;                                                 \
        TYPE *to = g + f->entry_hot_at + e0;                                                       \
        uint64_t e = 0;                                                                            \
        for (; e + 8 <= n; e += 8) {                                                               \
            const V8 x = {adj[cell[e]],     adj[cell[e + 1]], adj[cell[e + 2]], adj[cell[e + 3]],  \
                          adj[cell[e + 4]], adj[cell[e + 5]], adj[cell[e + 6]], adj[cell[e + 7]]}; \
            *(V8 *)(to + e) += scale * x;                                                          \
        }                                                                                          \
        for (; e < n; e++)                                                                         \
            to[e] += scale * adj[cell[e]];                                                         \
    }

typedef float trl_sparse_v8f __attribute__((vector_size(32), aligned(4), may_alias));

TRL_SPARSE_GATHER(trl_sparse_gather, double)
TRL_SPARSE_GATHER(trl_sparse_gather32, float)
TRL_SPARSE_SCATTER(trl_sparse_scatter, double, trl_v8)
TRL_SPARSE_SCATTER(trl_sparse_scatter32, float, trl_sparse_v8f)

#endif
