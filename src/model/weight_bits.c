/* weight_bits.c -- weights in 16 and 8 bits. */
/* SPDX-License-Identifier: MIT */
#include "model/weight_bits.h"

#include <math.h>

#include "base/fail.h"
#include "base/mem.h"

#define VALUES 256
#define HALF (VALUES / 2)
#define POWER 1.5 /* steps are finer near 0, where most weights are */

trl_weight_type trl_weight_bits_type(int bits, size_t n)
{
    if (bits == 16 && n > 2)
        return TRL_WEIGHT_16;
    return bits == 8 && n > VALUES * sizeof(float) / 3 + 1 ? TRL_WEIGHT_8 : TRL_WEIGHT_FLOAT;
}

/* ---- 16 bits --------------------------------------------------------------------------------- */

static void to_multiples(const float *w, size_t n, int16_t *q, float *unit)
{
    float max = 0.0f;
    for (size_t i = 0; i < n; i++)
        max = fabsf(w[i]) > max ? fabsf(w[i]) : max;
    *unit = max / (float)INT16_MAX;
    for (size_t i = 0; i < n; i++) {
        const float x = *unit > 0.0f ? rintf(w[i] / *unit) : 0.0f;
        q[i] = (int16_t)fminf(fmaxf(x, (float)-INT16_MAX), (float)INT16_MAX);
    }
}

/* ---- 8 bits ---------------------------------------------------------------------------------- */

/* Ascending: HALF values from the smallest weight to below 0, as many from 0 to the largest. */
static void make_values(const float *w, size_t n, float *value)
{
    double least = 0.0, most = 0.0;
    for (size_t i = 0; i < n; i++) {
        least = (double)w[i] < least ? (double)w[i] : least;
        most = (double)w[i] > most ? (double)w[i] : most;
    }
    for (size_t k = 0; k < HALF; k++) {
        value[k] = (float)(least * pow((double)(HALF - k) / HALF, POWER));
        value[HALF + k] = (float)(most * pow((double)k / (HALF - 1), POWER));
    }
}

/* The nearest value. */
static uint8_t nearest(const float *value, float w)
{
    size_t lo = 0, hi = VALUES - 1;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (w - value[mid] > value[mid + 1] - w)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (uint8_t)lo;
}

static void to_codes(const float *w, size_t n, uint8_t *code, float *value)
{
    make_values(w, n, value);
    for (size_t i = 0; i < n; i++)
        code[i] = nearest(value, w[i]);
}

trl_status trl_weight_bits_save(const float *w, size_t n, trl_weight_type type, const char *prefix,
                                trl_container_builder *b, trl_error *err)
{
    const bool wide = type == TRL_WEIGHT_16;
    char tag[9];
    const size_t n_values = wide ? 1 : VALUES;
    float *value = trl_alloc(n_values, sizeof *value);
    void *bits = trl_alloc(n, wide ? sizeof(int16_t) : sizeof(uint8_t));
    if (!value || !bits) {
        trl_free(value);
        trl_free(bits);
        return trl_fail_mem(err);
    }
    if (wide)
        to_multiples(w, n, bits, value);
    else
        to_codes(w, n, bits, value);
    trl_container_builder_give(b, trl_family_tag(prefix, wide ? "wgt2" : "wgt1", tag), bits,
                               n * (wide ? sizeof(int16_t) : sizeof(uint8_t)));
    trl_container_builder_give(b, trl_family_tag(prefix, "vals", tag), value,
                               n_values * sizeof *value);
    return TRL_OK;
}
