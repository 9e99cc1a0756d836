/* tag_kernel.h -- private: from attribute names to score rows, many names at a time.
 *
 * A look-up touches five places that depend on each other and are rarely in cache: tag, slot,
 * end of the name, the name, its weights.  So names go through in blocks, stage by stage, and
 * each stage fetches what the next one reads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TAG_KERNEL_H
#define TRL_TAG_KERNEL_H

#include "model/chain_model.h"

#define TRL_TAG_BLOCK 256 /* 16 KB of keys; the fetched lines stay in L2 */

/* One attribute in the pipeline, 64 bytes.  The caller fills the first group. */
typedef struct trl_tag_key {
    const char *p; /* the name */
    size_t n;
    double value;
    size_t row; /* position in the sequence */

    uint64_t hash; /* of the name */
    size_t at;     /* its first slot by tag; then where its cells are */
    union {
        const float *weight; /* of its first cell */
        const double *exact; /* the same where weights are doubles and k is 0 */
        uint64_t first;      /* its number, where weights are added one by one or are no floats */
    };
    uint32_t id;
    uint32_t k; /* number of weights; 0: a whole row */
} trl_tag_key;

/* rows[key.row * f->step + cell] += value * weight for each key (at most TRL_TAG_BLOCK); pads
 * may receive garbage.  Returns how many keys the model does not know. */
size_t trl_tag_add(const trl_model_family *f, trl_tag_key *key, size_t n, double *rows);

/* The same for keys whose ids are filled in instead of names; TRL_NO_ID: not known. */
size_t trl_tag_add_numbers(const trl_model_family *f, trl_tag_key *key, size_t n, double *rows);

/* tag_small_kernel.c: the stages of a look-up where the model has fingerprints in place of names; a
 * key's `at` is afterwards the number of its entry, SIZE_MAX where there is none. */
void trl_tag_fetch_prints(const trl_fingerprints *p, trl_tag_key *key, size_t n);

/* rows[...] += value * weight for the weights number first .. first + k of one key, in 16 or 8
 * bits.
 */
void trl_tag_add_small(const trl_model_family *f, const trl_tag_key *key, double *out);

/* tag_exact_kernel.c, for families whose weights are doubles or whose sums are single: adds the n
 * keys' weights number first .. first + k one by one, or, of doubles, the row where k is 0. */
void trl_tag_add_exact(const trl_model_family *f, const trl_tag_key *key, size_t n, double *rows);

/* ADD(CELL) for the k weights, from number `first` on, of an attribute of the family f, where CELL
 * is the cell of weight j: all in order, or listed in 1, 2 or 4 bytes. */
#define TRL_TAG_CELLS(ADD)                                                                         \
    do {                                                                                           \
        const void *all = f->cell;                                                                 \
        const uint64_t at = first - f->n_full; /* of a listed one */                               \
        if (k == f->width)                                                                         \
            ADD(j);                                                                                \
        else if (f->cell_size == 1)                                                                \
            ADD(((const uint8_t *)all + at)[j]);                                                   \
        else if (f->cell_size == 2)                                                                \
            ADD(((const uint16_t *)all + at)[j]);                                                  \
        else                                                                                       \
            ADD(((const uint32_t *)all + at)[j]);                                                  \
    } while (0)

#endif
