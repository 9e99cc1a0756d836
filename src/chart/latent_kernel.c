/* latent_kernel.c -- sums over the substates of a rule's states, for every number of the last ones.
 */
/* SPDX-License-Identifier: MIT */
#include "chart/latent_kernel.h"

#include <string.h>

TRL_INLINE void up_of(const trl_latent_rule *r, unsigned nz, const float *left, const float *right,
                      float f, float *up)
{
    const float *t = r->table;
    for (unsigned x = 0; x < r->nx; x++) {
        float row[16] = {0}, sum = 0.0f;
        for (unsigned y = 0; y < r->ny; y++, t += nz)
#pragma omp simd
            for (unsigned z = 0; z < nz; z++)
                row[z] += left[y] * t[z];
#pragma omp simd reduction(+ : sum)
        for (unsigned z = 0; z < nz; z++)
            sum += row[z] * right[z];
        up[x] += f * sum;
    }
}

TRL_CLONES void trl_latent_up(const trl_latent_rule *r, const float *left, const float *right,
                              float f, float *up)
{
    switch (r->nz) {
    case 1:
        up_of(r, 1, left, right, f, up);
        break;
    case 2:
        up_of(r, 2, left, right, f, up);
        break;
    case 4:
        up_of(r, 4, left, right, f, up);
        break;
    case 8:
        up_of(r, 8, left, right, f, up);
        break;
    default:
        up_of(r, 16, left, right, f, up);
    }
}

/* The table, its first index summed over with up[x], then goes both ways. */
TRL_INLINE void down_of(const trl_latent_rule *r, unsigned nz, const float *up, const float *left,
                        const float *right, float *out_left, float *out_right)
{
    const float *t = r->table;
    float sum[16][16];
    for (unsigned y = 0; y < r->ny; y++)
        for (unsigned z = 0; z < nz; z++)
            sum[y][z] = up[0] * t[y * nz + z];
    for (unsigned x = 1; x < r->nx; x++) {
        t += r->ny * nz;
        for (unsigned y = 0; y < r->ny; y++)
#pragma omp simd
            for (unsigned z = 0; z < nz; z++)
                sum[y][z] += up[x] * t[y * nz + z];
    }
    for (unsigned y = 0; y < r->ny; y++) {
        float dot = 0.0f;
#pragma omp simd reduction(+ : dot)
        for (unsigned z = 0; z < nz; z++)
            dot += sum[y][z] * right[z];
        out_left[y] += dot;
#pragma omp simd
        for (unsigned z = 0; z < nz; z++)
            out_right[z] += sum[y][z] * left[y];
    }
}

TRL_INLINE void count_of(const trl_latent_rule *r, unsigned nz, const float *up, const float *left,
                         const float *right, float f, float *count)
{
    const float *t = r->table;
    float both[16][16];
    for (unsigned y = 0; y < r->ny; y++)
        for (unsigned z = 0; z < nz; z++)
            both[y][z] = f * left[y] * right[z];
    for (unsigned x = 0; x < r->nx; x++)
        for (unsigned y = 0; y < r->ny; y++, t += nz, count += nz)
#pragma omp simd
            for (unsigned z = 0; z < nz; z++)
                count[z] += up[x] * t[z] * both[y][z];
}

TRL_CLONES void trl_latent_down(const trl_latent_rule *r, const float *up, const float *left,
                                const float *right, float *out_left, float *out_right)
{
    switch (r->nz) {
    case 1:
        down_of(r, 1, up, left, right, out_left, out_right);
        break;
    case 2:
        down_of(r, 2, up, left, right, out_left, out_right);
        break;
    case 4:
        down_of(r, 4, up, left, right, out_left, out_right);
        break;
    case 8:
        down_of(r, 8, up, left, right, out_left, out_right);
        break;
    default:
        down_of(r, 16, up, left, right, out_left, out_right);
    }
}

TRL_CLONES void trl_latent_uses(const trl_latent_rule *r, const float *up, const float *left,
                                const float *right, float f, float *count)
{
    switch (r->nz) {
    case 1:
        count_of(r, 1, up, left, right, f, count);
        break;
    case 2:
        count_of(r, 2, up, left, right, f, count);
        break;
    case 4:
        count_of(r, 4, up, left, right, f, count);
        break;
    case 8:
        count_of(r, 8, up, left, right, f, count);
        break;
    default:
        count_of(r, 16, up, left, right, f, count);
    }
}

/* ---- packed tables --------------------------------------------------------------------------- */

typedef float v16f __attribute__((vector_size(64), aligned(4), may_alias));
typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));

#define LINE __attribute__((aligned(64)))

TRL_INLINE float sum8(v8f v)
{
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

TRL_INLINE float sum16(v16f v)
{
    v8f half[2];
    memcpy(half, &v, sizeof half);
    return sum8(half[0] + half[1]);
}

#define KERNELS(WIDTH)                                                                             \
    TRL_INLINE void rows_up##WIDTH(const trl_latent_row_list *r, const float *left,                \
                                   const float *right, float f, float *up)                         \
    {                                                                                              \
        const v##WIDTH##f to = *(const v##WIDTH##f *)right;                                        \
        const v##WIDTH##f *t = (const v##WIDTH##f *)r->p;                                          \
        for (size_t k = 0; k < r->n;) {                                                            \
            const unsigned x = r->xy[2 * k];                                                       \
            v##WIDTH##f row = left[r->xy[2 * k + 1]] * t[k];                                       \
            for (k++; k < r->n && r->xy[2 * k] == x; k++)                                          \
                row += left[r->xy[2 * k + 1]] * t[k];                                              \
            up[x] += f * sum##WIDTH(row * to);                                                     \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    TRL_INLINE void rows_down##WIDTH(const trl_latent_row_list *r, const float *up,                \
                                     const float *left, const float *right, float *out_left,       \
                                     float *out_right)                                             \
    {                                                                                              \
        const v##WIDTH##f by = *(const v##WIDTH##f *)right;                                        \
        const v##WIDTH##f *t = (const v##WIDTH##f *)r->p;                                          \
        v##WIDTH##f sum[TRL_LATENT_MOST] LINE, *out = (v##WIDTH##f *)out_right, all = *out;        \
        for (unsigned y = 0; y < r->ny; y++)                                                       \
            sum[y] = (v##WIDTH##f){0};                                                             \
        for (size_t k = 0; k < r->n; k++)                                                          \
            sum[r->xy[2 * k + 1]] += up[r->xy[2 * k]] * t[k];                                      \
        for (unsigned y = 0; y < r->ny; y++) {                                                     \
            out_left[y] += sum##WIDTH(sum[y] * by);                                                \
            all += left[y] * sum[y];                                                               \
        }                                                                                          \
        *out = all;                                                                                \
    }

KERNELS(8)
KERNELS(16)

TRL_CLONES void trl_latent_rows_up(const trl_latent_row_list *r, const float *left,
                                   const float *right, float f, float *up)
{
    if (trl_latent_row_stride(r->nz) == 8)
        rows_up8(r, left, right, f, up);
    else
        rows_up16(r, left, right, f, up);
}

TRL_CLONES void trl_latent_rows_down(const trl_latent_row_list *r, const float *up,
                                     const float *left, const float *right, float *out_left,
                                     float *out_right)
{
    if (trl_latent_row_stride(r->nz) == 8)
        rows_down8(r, up, left, right, out_left, out_right);
    else
        rows_down16(r, up, left, right, out_left, out_right);
}
