/* design.h -- the sparse linear map from weights to score tables, compiled for speed.
 *
 * Gather is scores = A w, scatter is gradient = A^T adjoint, A the (huge, sparse) matrix that says
 * which weights are on at which cell of which position.  This is where a training pass spends its
 * time, so A is laid out by how often and how densely an attribute is used:
 *
 *     dense row    an attribute with many live labels: `width` weights back to back, added to
 *                  a table row as vectors.  Cells that are not features ("dead") stay 0: their
 *                  gradient is masked.  Hot rows are padded, so that each vector is one cache
 *                  line; the pads are dead too.
 *     entry        one weight of an attribute with few labels, compiled into the token's own list
 *                  as (weight, cell): one indirection, no attribute in between.
 *     constant     an attribute that is on everywhere: the shared tables.
 *
 * Weight vector:   [ constants | hot rows | hot entries ][ cold entries | cold rows ]
 *                    <----- hot: n_hot_weights ---------->
 *
 * Scatter of a whole corpus goes two ways.  Hot weights are scattered token by token, into one
 * buffer per shard (reduced in order: the same bits with any number of threads).  Cold ones
 * (rare attributes: most weights, few occurrences) are summed attribute by attribute from the
 * table of all node adjoints, each weight written once, by one thread.
 *
 * A design is read-only after trl_design_build and may be shared by threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DESIGN_H
#define TRL_DESIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "feature/corpus.h"
#include "feature/tables.h"

/* As large as two numbers of 32 bits, with room for more weights than those could number. */
#define TRL_WEIGHT_BITS 38
#define TRL_CELL_BITS 26
#define TRL_SPARSE_MAX ((UINT64_C(1) << TRL_WEIGHT_BITS) - 64)

typedef struct trl_entry {
    uint64_t weight : TRL_WEIGHT_BITS, cell : TRL_CELL_BITS;
} trl_entry;

static inline trl_entry trl_entry_of(uint64_t weight, uint32_t cell)
{
    return (trl_entry){weight & ((UINT64_C(1) << TRL_WEIGHT_BITS) - 1),
                       cell & ((UINT32_C(1) << TRL_CELL_BITS) - 1)};
}

typedef struct trl_family {
    size_t width, step;           /* cells of a table row; padded */
    const uint32_t *cell, *place; /* of a packed family (packed_cells.h), else NULL; the corpus' */
    size_t full;                  /* cells of its factors */

    /* Attributes are numbered hot dense, cold dense, hot sparse, cold sparse; the constant one
     * has no number.  Parts are given by their ends. */
    size_t n_hot, n_dense, n_warm, n_attrs; /* n_warm: end of hot sparse */
    /* From here on a (cold) dense, or sparse, attribute is a singleton: on at one token only.  They
     * come after all others. */
    size_t singleton_row, singleton_attr;
    uint32_t *name;                       /* [n_attrs] id in the corpus' name table */
    uint64_t hot_at, cold_at;             /* first weight of hot and of cold dense rows */
    uint64_t entry_hot_at, entry_cold_at; /* first weight of hot and of cold entries */
    uint64_t *entry_first;                /* [n_attrs - n_dense + 1] entry numbers */
    uint32_t *entry_cell;                 /* [number of entries] */
    uint64_t *live; /* [n_dense][words] bits of live cells; NULL: all are live */
    size_t words;   /* 64-bit words per dense row */

    bool has_constant;
    uint64_t constant_at;
    size_t n_constant;       /* live cells of the constant attribute */
    uint32_t *constant_cell; /* [n_constant], ascending */

    /* Token-major: what is on at each token. */
    bool has_rows;         /* any non-constant attribute at all */
    uint64_t *dense_begin; /* [n_tokens + 1] */
    uint32_t *dense_row;   /* attribute numbers */
    double *dense_value;   /* NULL: all 1 */
    uint64_t *entry_begin; /* [n_tokens + 1] */
    trl_entry *entry;
    double *entry_value; /* NULL: all 1 */
    /* Where attributes have many entries each (of a graph's families that are all hot, without
     * values): the sparse attributes on at each token, less n_dense, and no list of entries has
     * any.  Entries are read from entry_cell, which is small enough for a cache; there are a
     * thousand a token (sparse_lists.h).  NULL: not such a family. */
    uint64_t *sparse_begin; /* [n_tokens + 1] */
    uint32_t *sparse;

    /* Attribute-major, family 0 only: where each cold attribute (dense, then sparse) is on. */
    size_t n_cold;
    uint64_t *token_begin; /* [n_cold + 1] */
    uint32_t *token;       /* their lower 32 bits, see trl_token_at */
    uint8_t *token_high;   /* the others; NULL: all 0 */
    double *token_value;   /* NULL: all 1 */
} trl_family;

typedef struct trl_design {
    size_t L, n_tokens, n_sequences; /* labels of chains; rows of every family; examples */
    int order;                       /* of chains */
    const uint64_t *first;           /* [n_sequences + 1], borrowed from the corpus */
    uint64_t n_weights, n_hot_weights;
    uint64_t n_live; /* weights that are features */
    uint64_t *dead;  /* weights that are not */
    size_t n_dead;
    struct trl_spill *spill; /* for what training adds that is as large as the lists, borrowed;
                                NULL: the heap */
    size_t n_families;
    trl_family family[TRL_FAMILIES_MAX];
} trl_design;

typedef struct trl_design_options {
    int order;            /* of chains 1 or 2: the families up to it; others have all they list */
    bool all_pairs;       /* every attribute with every label, not only seen pairs */
    bool all_transitions; /* the same for the constant attributes */
    uint64_t all_cells;   /* families (bits) whose attributes have all cells, constant or not */
    size_t min_count;     /* attributes with fewer occurrences are dropped; 0, 1: none */
    double min_freq;      /* above 0: features of a lower frequency (cell_marks.h), including
                             transitions, are dropped, and so are all unseen ones: all_pairs and
                             all_transitions then have no effect */
    bool long_tokens;     /* token_high also where 32 bits are enough: for tests */
} trl_design_options;

#define TRL_TOKEN_BITS 40
#define TRL_TOKENS_MAX ((UINT64_C(1) << TRL_TOKEN_BITS) - 64)

/* Compiles the corpus, packs its wide families (packed_cells.h) and frees its occurrence lists,
 * which are no longer needed; names, labels, sequences, cells and weights stay and must outlive the
 * design.  TRL_ENOMEM; TRL_EINVAL when the corpus is empty or has more than 2^40 - 64 tokens, 2^32
 * - 64 sequences, 2^38 - 64 sparse features or, in sparse attributes, 2^26 cells.  Occurrences,
 * list entries and weights as a whole are counted by 64 bits.  After a failure the corpus is only
 * good for fini. */
trl_status trl_design_build(trl_design *d, trl_corpus *c, const trl_design_options *o,
                            trl_error *err);
void trl_design_fini(trl_design *d);

/* Families that can have weights: those of a chain end with its order. */
static inline size_t trl_design_built(const trl_design *d)
{
    return d->order ? (size_t)d->order + 1 : d->n_families;
}

/* Doubles in a weight vector with room for kernels that overshoot a row. */
static inline size_t trl_design_alloc(const trl_design *d)
{
    return (size_t)d->n_weights + 64;
}

/* The first weight of a dense row. */
static inline uint64_t trl_dense_at(const trl_family *f, size_t row)
{
    return row < f->n_hot ? f->hot_at + row * f->step : f->cold_at + (row - f->n_hot) * f->width;
}

/* The weight of entry number e (as in entry_first). */
static inline uint64_t trl_entry_at(const trl_family *f, uint64_t e)
{
    const uint64_t hot = f->entry_first[f->n_warm - f->n_dense];
    return e < hot ? f->entry_hot_at + e : f->entry_cold_at + (e - hot);
}

/* The weight of the first singleton entry: singletons are the last entries. */
static inline uint64_t trl_singleton_entry_at(const trl_family *f)
{
    return trl_entry_at(f, f->entry_first[f->singleton_attr - f->n_dense]);
}

/* Token number r of the attribute-major lists. */
static inline size_t trl_token_at(const trl_family *f, uint64_t r)
{
    const uint64_t high = f->token_high ? (uint64_t)f->token_high[r] << 32 : 0;
    return (size_t)(high | f->token[r]);
}

/* The attribute number of cold attribute c < n_cold. */
static inline size_t trl_cold_attr(const trl_family *f, size_t c)
{
    const size_t dense = f->n_dense - f->n_hot;
    return c < dense ? f->n_hot + c : f->n_warm + (c - dense);
}

/* The factor's own cell of a cell of the family, and the reverse: TRL_NO_ID is not a feature. */
static inline size_t trl_own_cell(const trl_family *f, size_t cell)
{
    return f->cell ? f->cell[cell] : cell;
}

static inline size_t trl_cell_place(const trl_family *f, size_t own)
{
    return f->place ? f->place[own] : own;
}

/* ---- gather ---------------------------------------------------------------------------------- */

/* Shared tables: out[f], f below n_families, has room for padded(width) doubles where family f has
 * a constant. */
void trl_gather_shared(const trl_design *d, const double *w, double *const *out);

/* Rows of the tokens from .. from + t->n - 1 into t->row[f], for every family that has rows
 * (t->step[f] = family[f].step).  Pads of the rows receive garbage. */
void trl_gather(const trl_design *d, const double *w, size_t from, const trl_tables *t);

/* ---- scatter --------------------------------------------------------------------------------- */

/* g += A^T adjoint for the shared tables (a NULL shared table adds nothing). */
void trl_scatter_shared(const trl_design *d, const trl_tables *adjoint, double *g);

/* The weights of the cold attributes c0 .. c1-1 (below n_cold of family 0), overwritten, from the
 * node adjoints of all tokens, [n_tokens][step].  They are floats: a rare attribute adds up a few
 * of them, with a relative error of 6e-8 each, and the table is half as large to read. */
void trl_scatter_cold(const trl_design *d, const float *node, size_t c0, size_t c1, double *g);

/* Everything token-major, scaled, live cells only: g += scale A^T adjoint for one example. */
void trl_scatter_all(const trl_design *d, size_t from, const trl_tables *adjoint, double scale,
                     double *g);

void trl_clear_dead(const trl_design *d, double *g);

#endif
