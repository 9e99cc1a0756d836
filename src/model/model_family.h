/* model_family.h -- the weights of one kind of factor, as they are in a model file.
 *
 * The sections and their order are described in chain_model.h; graph models have the same for each
 * of their factors.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MODEL_FAMILY_H
#define TRL_MODEL_FAMILY_H

#include "base/strtab.h"
#include "feature/design.h"
#include "model/container.h"
#include "model/fingerprints.h"

#define TRL_NO_ROW SIZE_MAX

/* How weights are stored.  Doubles are of models that other tools trained; 16 and 8 bits of models
 * that were shrunk. */
typedef enum trl_weight_type {
    TRL_WEIGHT_FLOAT,
    TRL_WEIGHT_DOUBLE,
    TRL_WEIGHT_16, /* multiples of a step */
    TRL_WEIGHT_8,  /* numbers of 256 values */
} trl_weight_type;

/* ---- loading --------------------------------------------------------------------------------- */

typedef struct trl_weight_class {
    uint32_t k, first_attr;
    uint64_t first_weight;
} trl_weight_class;

/* One family.  All pointers are into the container. */
typedef struct trl_model_family {
    size_t width, n_attrs;
    trl_strview names;       /* empty where there are fingerprints in their place */
    const uint8_t *tag;      /* [n_slots + 8]; NULL where there are fingerprints */
    trl_fingerprints prints; /* n_buckets 0: there are names */
    uint32_t constant;       /* TRL_NO_ID: none */
    const trl_weight_class *class;
    size_t n_classes;
    trl_weight_type type;
    bool single;             /* scores are sums of floats, rounded after every addition */
    const float *weight;     /* [n_weights]; NULL: of another type, see trl_model_weight */
    const double *exact;     /* [n_weights] of type double, else NULL */
    const int16_t *multiple; /* [n_weights] of 16 bits: of `unit`; else NULL */
    float unit;
    const uint8_t *code;        /* [n_weights] of 8 bits: numbers in `value`; else NULL */
    const float *value;         /* [256] */
    uint64_t n_weights, n_full; /* n_full: weights without cells; they come first */
    size_t cell_size;           /* 1, 2, 4 */
    const void *cell;           /* [n_weights - n_full] */

    /* Attributes with many weights, but not for every cell, follow the full ones: those up to
     * n_wide are also kept as whole rows, for vector loops. */
    /* Not where sums are single: such rows are added weight by weight, and both numbers are 0.
     * Where weights have 16 or 8 bits full rows are kept so, too, and only n_full_attrs is 0. */
    size_t n_full_attrs, n_wide, step; /* step: the width, padded */
    size_t narrow_class;               /* the class of attribute n_wide; 0 when there is none */
    float *wide;                       /* [n_wide - n_full_attrs][step]; owned */
    double *wide_exact;                /* the same where weights are doubles */
} trl_model_family;

/* A checked view of the sections that start with the prefix (four letters); f->width, f->constant
 * and f->single are set before.  Everything that is later used as an index is in range afterwards,
 * weights are finite.  TRL_EMODEL, TRL_ENOMEM. */
trl_status trl_family_load(trl_model_family *f, const char *prefix, const trl_container *c,
                           trl_error *err);

/* Frees what it owns. */
void trl_family_fini(trl_model_family *f);

/* Where the weights of an attribute are: weight[at .. at + k). */
typedef struct trl_weight_row {
    uint64_t at;
    uint32_t k;
} trl_weight_row;

/* As trl_model_row, for attributes of class `from` or a later one. */
static inline trl_weight_row trl_model_row_from(const trl_model_family *f, size_t from,
                                                uint32_t attr)
{
    const trl_weight_class *c = f->class + from; /* the last that starts at or before attr */
    for (size_t n = f->n_classes - from; n > 1;) {
        const size_t half = n / 2;
        c = c[half].first_attr <= attr ? c + half : c;
        n -= half;
    }
    return (trl_weight_row){c->first_weight + (uint64_t)(attr - c->first_attr) * c->k, c->k};
}

static inline trl_weight_row trl_model_row(const trl_model_family *f, uint32_t attr)
{
    return trl_model_row_from(f, 0, attr);
}

/* The cell of weight number `at` of the row. */
static inline uint32_t trl_model_cell(const trl_model_family *f, trl_weight_row row, uint64_t at)
{
    if (row.k == f->width)
        return (uint32_t)(at - row.at);
    at -= f->n_full;
    switch (f->cell_size) {
    case 1:
        return ((const uint8_t *)f->cell)[at];
    case 2:
        return ((const uint16_t *)f->cell)[at];
    default:
        return ((const uint32_t *)f->cell)[at];
    }
}

/* Weight number `at` of the family. */
static inline double trl_model_weight(const trl_model_family *f, uint64_t at)
{
    if (f->weight)
        return (double)f->weight[at];
    if (f->multiple)
        return (double)((float)f->multiple[at] * f->unit);
    return f->code ? (double)f->value[f->code[at]] : f->exact[at];
}

/* The attribute with this name, by its fingerprint where the model has no names; TRL_NO_ID: none.
 */
uint32_t trl_family_find(const trl_model_family *f, trl_str name);

/* The byte in `tag` for a name with this hash. */
static inline uint8_t trl_name_tag(uint64_t hash)
{
    const uint8_t tag = (uint8_t)(hash >> 56);
    return tag ? tag : 1;
}

/* ---- saving ---------------------------------------------------------------------------------- */

/* The weights of one family, row by row in the order that the file keeps.  Zero-initialise. */
typedef struct trl_weight_rows {
    const trl_strtab *names;
    size_t n;
    uint32_t *name;  /* [n] ids in names */
    uint64_t *first; /* [n + 1] into cell and weight */
    uint32_t *cell;  /* ascending in each row */
    trl_weight_type type;
    float *weight;   /* of type float */
    double *exact;   /* of type double */
    size_t constant; /* its row, or TRL_NO_ROW */
    size_t name_cap, first_cap, cell_cap, weight_cap, exact_cap;
} trl_weight_rows;

/* Starts a row; weights added from now on belong to it.  False: out of memory. */
bool trl_rows_begin(trl_weight_rows *r, uint32_t name);

/* Adds a weight, which its type can hold, to the last row. */
bool trl_rows_add(trl_weight_rows *r, uint32_t cell, double weight);

/* As trl_rows_add, keeping the cells of the row in order.  *again: the row has a weight for the
 * cell already, and nothing was added. */
bool trl_rows_insert(trl_weight_rows *r, uint32_t cell, double weight, bool *again);

void trl_weight_rows_fini(trl_weight_rows *r);

/* The rows of a design's family with weights w; those that are 0 as a float are left out.
 * TRL_ENUMERIC for a weight beyond a float's range, TRL_ENOMEM. */
trl_status trl_family_collect(const trl_occurrences *names, const trl_family *f, const double *w,
                              trl_weight_rows *rows, trl_error *err);

/* All pointers are borrowed; the builder borrows the names from `sorted`, which is filled here. */
typedef struct trl_family_part {
    const trl_weight_rows *rows;
    const char *prefix; /* four letters */
    uint64_t width;
    trl_strtab *sorted;
    uint32_t *constant; /* its number in the file; untouched when there is none */
    int bits;           /* of weights of type float: 16, 8, or 0: floats */
    bool fingerprints;  /* in place of names */
} trl_family_part;

trl_status trl_family_save(const trl_family_part *p, trl_container_builder *b, trl_error *err);

/* tag = the prefix and four more letters. */
const char *trl_family_tag(const char *prefix, const char *suffix, char tag[9]);

/* ---- warm starts ----------------------------------------------------------------------------- */

#define TRL_TRANSFER_MAX 8 /* variables of a factor */

/* All pointers are borrowed. */
typedef struct trl_family_transfer {
    const trl_model_family *from;
    const trl_family *to;
    const trl_strtab *names;                                 /* of the design's attributes */
    size_t n;                                                /* variables of a factor */
    size_t n_from[TRL_TRANSFER_MAX], n_to[TRL_TRANSFER_MAX]; /* their labels */
    const uint32_t *label[TRL_TRANSFER_MAX]; /* [n_from] the design's number, or TRL_NO_ID */
    double *w;
} trl_family_transfer;

/* Sets the weights whose attribute and labels the model has, by name; the others stay.  Returns how
 * many were set. */
uint64_t trl_family_read_weights(const trl_family_transfer *x);

#endif
