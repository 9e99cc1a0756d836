/* tag_exact_kernel.c -- adding the weights of imported models as the tools that trained them do: in
 * the order of the attributes, doubles, or floats rounded after every addition. */
/* SPDX-License-Identifier: MIT */
#include "chain/tag_kernel.h"

/* out[cell] += value * w for the weights of a key; CELL(j) is the cell of weight j.  A double sum
 * of two floats, rounded to a float, is their float sum: 53 bits are more than twice 24. */
#define ADD(CELL)                                                                                  \
    do {                                                                                           \
        if (f->exact)                                                                              \
            for (size_t j = 0; j < k; j++)                                                         \
                out[CELL] += value * f->exact[first + j];                                          \
        else                                                                                       \
            for (size_t j = 0; j < k; j++)                                                         \
                out[CELL] = (double)(float)(out[CELL] + value * trl_model_weight(f, first + j));   \
    } while (0)

void trl_tag_add_exact(const trl_model_family *f, const trl_tag_key *key, size_t n, double *rows)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t first = key[i].first;
        const size_t k = key[i].k;
        const double value = key[i].value;
        double *out = rows + key[i].row * f->step;
        if (f->exact && k == 0)
            for (size_t j = 0; j < f->width; j++)
                out[j] += value * key[i].exact[j];
        else
            TRL_TAG_CELLS(ADD);
    }
}
