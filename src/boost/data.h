/* data.h -- sparse binary examples by rows and by columns, shared by all classifiers over them.
 *
 *     row     features of an example, ascending:  id[row_end[i-1] .. row_end[i])
 *     column  examples with a feature, ascending: example[column_end[a-1] .. column_end[a])
 *
 * Features are numbered by falling count, equals by first appearance: sums over the features of
 * rows then mostly touch the same few cache lines.  Both arrays come from a trl_store, so that they
 * are in a mapped file when they exceed a budget.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BOOST_DATA_H
#define TRL_BOOST_DATA_H

#include "base/pool.h"
#include "base/store.h"
#include "base/strtab.h"
#include "model/container.h"
#include "text/input.h"
#include "trellis/boost.h"

/* A literal is a feature and a sign in 32 bits. */
#define TRL_BOOST_MAX_FEATURES ((size_t)1 << 31)

/* v[i] = y b of every example for classifier k; 0: it does not take part. */
typedef void (*trl_boost_fill_fn)(const void *ctx, size_t k, double *v);

typedef struct trl_boost_answers {
    char *name;
    const signed char *y;
    const double *value;    /* NULL: all 1 */
    trl_boost_fill_fn fill; /* instead of y and value; or NULL */
    const void *ctx;
} trl_boost_answers;

struct trl_boost_data {
    size_t n, n_features;
    const uint64_t *row_end;    /* [n] */
    const uint32_t *id;         /* [row_end[n-1]] */
    const uint64_t *column_end; /* [n_features] */
    const uint32_t *example;    /* [row_end[n-1]] */

    bool named;         /* else the names of features are their numbers */
    trl_strtab names;   /* id = feature; empty when they were read like other data */
    trl_strtab classes; /* of answers read from files; class 1 of a binary problem is +1 */
    bool binary;
    uint32_t *class_of;         /* [n] TRL_NO_ID: no answer; NULL for data from memory */
    double *value;              /* [n] likewise */
    trl_boost_answers *answers; /* [n_answers] of data from memory */
    size_t n_answers, answers_cap;

    uint64_t *own_rows, *own_columns;
    trl_store *store;
    trl_container *cache;         /* where rows lie, or NULL */
    const trl_boost_data *like;   /* whose names are used, or NULL */
    const trl_boost_model *model; /* whose features these are, or NULL */
};

static inline uint64_t trl_boost_begin(const uint64_t *end, size_t k)
{
    return k ? end[k - 1] : 0;
}

static inline uint64_t trl_boost_active(const trl_boost_data *d)
{
    return trl_boost_begin(d->row_end, d->n);
}

size_t trl_boost_columns(const trl_boost_data *d);
const char *trl_boost_column_name(const trl_boost_data *d, size_t k, char *scratch, size_t cap);

/* As trl_boost_data_answer, with answers and values that are computed: for many classifiers over
 * the same examples.  `ctx` is borrowed. */
trl_status trl_boost_data_answer_by(trl_boost_data *d, trl_str name, trl_boost_fill_fn fill,
                                    const void *ctx, trl_error *err);

/* v[i] = y b of every example for classifier k; 0: it does not take part. */
void trl_boost_fill(const trl_boost_data *d, size_t k, double *v);

/* The feature's name, or its number, written into scratch[24]. */
trl_str trl_boost_feature_name(const trl_boost_data *d, uint32_t a, char *scratch);

/* ---- building -------------------------------------------------------------------------------- */

#define TRL_BOOST_RAW_BLOCK ((size_t)1 << 18) /* ids of a block */

/* Rows as they come in, in blocks of a store of their own. */
typedef struct trl_boost_raw {
    trl_store *store;
    uint32_t **block;
    size_t n_blocks, block_cap;
    size_t used; /* of the last block */
    uint64_t *row_end;
    size_t n, row_cap;
    uint32_t *feature; /* [n_ids] of each id, if rows are renumbered; NULL: ids are features */
    size_t n_ids;
} trl_boost_raw;

static inline uint32_t trl_boost_raw_at(const trl_boost_raw *r, uint64_t k)
{
    return r->block[k / TRL_BOOST_RAW_BLOCK][k % TRL_BOOST_RAW_BLOCK];
}

bool trl_boost_raw_id(trl_boost_raw *r, uint32_t id);
bool trl_boost_raw_row(trl_boost_raw *r); /* ends a row */
void trl_boost_raw_fini(trl_boost_raw *r);

/* What examples are built of. */
typedef struct trl_boost_rows {
    trl_boost_raw *raw; /* [n] the rows of each follow those of the one before */
    size_t n;
    size_t n_features;
    bool renumber;  /* features, and their names, are sorted by falling count */
    size_t memory;  /* bytes before a file is used */
    trl_pool *pool; /* NULL: the caller alone */
} trl_boost_rows;

/* Rows and columns of `d`, the same with any number of threads.  The raw rows are released.
 * TRL_ENOMEM, TRL_EIO (no room in the file). */
trl_status trl_boost_build(trl_boost_data *d, const trl_boost_rows *x, trl_error *err);

/* Columns of rows that are there.  TRL_ENOMEM, TRL_EIO. */
trl_status trl_boost_build_columns(trl_boost_data *d, trl_pool *pool, trl_error *err);

/* The store returned NULL: TRL_ENOMEM, or TRL_EIO when its file has no room. */
trl_status trl_boost_no_room(const trl_store *s, trl_error *err);

/* Reads one input.  `d` holds names and classes, `raw` the rows. */
typedef struct trl_boost_text {
    const trl_boost_read_options *o;
    trl_boost_data *d;
    trl_boost_raw raw;
    trl_strview names, classes; /* of `like` or `model`: fixed */
    bool fixed;
    uint64_t *seen; /* [names] the row a feature was last seen in, 1-based */
    size_t seen_cap, class_cap, value_cap;
    trl_str *token; /* of a row */
    uint32_t *token_id;
    size_t n_tokens, token_cap, token_id_cap;
    uint32_t *numbered; /* [feature number of libsvm] its id + 2; 1: no id; 0: not looked up yet */
    size_t numbered_cap;
} trl_boost_text;

/* Class (TRL_NO_ID: no answer) and value of the row that is ended next.  TRL_ENOMEM. */
trl_status trl_boost_text_answer(trl_boost_text *t, uint32_t id, double value, trl_error *err);

trl_status trl_boost_text_read(trl_boost_text *t, trl_input *in, trl_error *err);
void trl_boost_text_fini(trl_boost_text *t); /* all but `d` */

#endif
