/* latent_kernel.c -- sums over the substates of a rule's states, for every number of the last ones. */
/* SPDX-License-Identifier: MIT */
#include "chart/latent_kernel.h"

TRL_INLINE void up_of(const trl_latent_rule *r, unsigned nz, const float *left, const float *right,
                      float f, float *up)
{
    const float *t = r->table;
    for (unsigned x = 0; x < r->nx; x++) {
        float sum = 0.0f;
        for (unsigned y = 0; y < r->ny; y++, t += nz) {
            float dot = 0.0f;
#pragma omp simd reduction(+ : dot)
            for (unsigned z = 0; z < nz; z++)
                dot += t[z] * right[z];
            sum += dot * left[y];
        }
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

TRL_INLINE void down_of(const trl_latent_rule *r, unsigned nz, const float *up, const float *left,
                        const float *right, float *out_left, float *out_right, float *count,
                        float f)
{
    const float *t = r->table;
    float sum[16] = {0};
    for (unsigned x = 0; x < r->nx; x++) {
        for (unsigned y = 0; y < r->ny; y++, t += nz) {
            const float both = up[x] * left[y];
            float dot = 0.0f;
#pragma omp simd reduction(+ : dot)
            for (unsigned z = 0; z < nz; z++) {
                dot += t[z] * right[z];
                sum[z] += both * t[z];
            }
            out_left[y] += up[x] * dot;
            if (!count)
                continue;
#pragma omp simd
            for (unsigned z = 0; z < nz; z++)
                count[z] += f * both * t[z] * right[z];
            count += nz;
        }
    }
    for (unsigned z = 0; z < nz; z++)
        out_right[z] += sum[z];
}

TRL_CLONES void trl_latent_down(const trl_latent_rule *r, const float *up, const float *left,
                                const float *right, float *out_left, float *out_right, float *count,
                                float f)
{
    switch (r->nz) {
    case 1:
        down_of(r, 1, up, left, right, out_left, out_right, count, f);
        break;
    case 2:
        down_of(r, 2, up, left, right, out_left, out_right, count, f);
        break;
    case 4:
        down_of(r, 4, up, left, right, out_left, out_right, count, f);
        break;
    case 8:
        down_of(r, 8, up, left, right, out_left, out_right, count, f);
        break;
    default:
        down_of(r, 16, up, left, right, out_left, out_right, count, f);
    }
}
