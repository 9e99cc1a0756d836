/* latent_kernel.h -- one rule and the substates of its states (latent.h).
 *
 * table[x][y][z] for a parent of nx substates and children of ny and nz; a unary rule has ny 1 and
 * left[0] 1.  Powers of two up to TRL_LATENT_MOST.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LATENT_KERNEL_H
#define TRL_LATENT_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "chart/latent.h"
#include "num/simd.h"

typedef struct trl_latent_rule {
    const float *table;
    unsigned nx, ny, nz;
} trl_latent_rule;

/* up[x] += f sum over y, z of table[x][y][z] left[y] right[z] */
void trl_latent_up(const trl_latent_rule *r, const float *left, const float *right, float f,
                   float *up);

/* out_left[y] += sum over x, z of up[x] table[x][y][z] right[z], likewise out_right */
void trl_latent_down(const trl_latent_rule *r, const float *up, const float *left,
                     const float *right, float *out_left, float *out_right);

/* The rows of a packed table (latent.h), ascending. */
typedef struct trl_latent_row_list {
    const uint8_t *xy; /* [n][2] */
    const float *p;    /* [n][trl_latent_row_stride(nz)], 0 from nz on */
    size_t n;
    unsigned nx, ny, nz;
} trl_latent_row_list;

/* As trl_latent_up and trl_latent_down.  */
void trl_latent_rows_up(const trl_latent_row_list *r, const float *left, const float *right,
                        float f, float *up);
void trl_latent_rows_down(const trl_latent_row_list *r, const float *up, const float *left,
                          const float *right, float *out_left, float *out_right);

/* count[x][y][z] += f up[x] table[x][y][z] left[y] right[z] */
void trl_latent_uses(const trl_latent_rule *r, const float *up, const float *left,
                     const float *right, float f, float *count);

#endif
