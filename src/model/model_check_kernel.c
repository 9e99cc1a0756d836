/* model_check_kernel.c -- every number of a section, once. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "model/model_check.h"

/* All bits of the exponent set: infinite or NaN. */
bool trl_all_finite(const float *x, size_t n)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !bad;
}

/* In the cells' own type, so that a vector holds as many as can be. */
#define LARGEST(type)                                                                              \
    do {                                                                                           \
        const type *cell = cells;                                                                  \
        type max = 0;                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            max = cell[i] > max ? cell[i] : max;                                                   \
        return max;                                                                                \
    } while (0)

uint32_t trl_largest_cell(const void *cells, size_t size, size_t n)
{
    if (size == 1)
        LARGEST(uint8_t);
    else if (size == 2)
        LARGEST(uint16_t);
    else
        LARGEST(uint32_t);
}

bool trl_all_below(const uint32_t *x, size_t n, uint32_t limit)
{
    uint32_t bad = 0;
    for (size_t k = 0; k < n; k++)
        bad |= x[k] >= limit;
    return !bad;
}
