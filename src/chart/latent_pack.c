/* latent_pack.c -- numbers of a grammar with substates, without what is next to 0. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chart/latent.h"

/* ---- bytes ----------------------------------------------------------------------------------- */

#define STEPS 8   /* of a factor of two */
#define LARGEST 4 /* 2^4 is the largest number: a word that always has one of 16 substates */

uint8_t trl_latent_code(float p)
{
    const double q = p > 0.0f ? 1.0 + STEPS * (LARGEST - log2((double)p)) : 0.0;
    return q < 1.0 ? p > 0.0f : q > 255.0 ? 0 : (uint8_t)(q + 0.5);
}

void trl_latent_decode(float value[256])
{
    value[0] = 0.0f;
    for (int q = 1; q < 256; q++)
        value[q] = (float)exp2(LARGEST - (q - 1) / (double)STEPS);
}

/* ---- rows ------------------------------------------------------------------------------------ */

void trl_latent_rows_fini(trl_latent_rows *rows)
{
    trl_free(rows->first);
    trl_free(rows->number);
    trl_free(rows->xy);
    trl_free(rows->p);
    *rows = (trl_latent_rows){0};
}

static size_t rows_of(const trl_latent *l, size_t rule)
{
    const trl_binary *b = &l->g->binary[rule];
    const bool seen = l->at.binary[rule + 1] > l->at.binary[rule];
    return seen ? (size_t)l->at.k[b->parent] * l->at.k[b->left] : 0;
}

size_t trl_latent_count_rows(const trl_latent *l)
{
    size_t n = 0;
    for (size_t r = 0; r < l->g->n_binary; r++)
        n += rows_of(l, r);
    return n;
}

size_t trl_latent_rows_size(const trl_latent *l)
{
    return l->rows.number[l->g->n_binary];
}

static bool bit(const uint8_t *bits, size_t k)
{
    return bits[k / 8] >> k % 8 & 1;
}

static size_t bits_set(const uint8_t *bits, size_t n)
{
    size_t sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += bit(bits, k);
    return sum;
}

/* first, number and xy; all but p. */
static void place_rows(trl_latent *l, const uint8_t *bits)
{
    trl_latent_rows *out = &l->rows;
    size_t row = 0, n = 0, number = 0;
    for (size_t r = 0; r < l->g->n_binary; r++) {
        const trl_binary *b = &l->g->binary[r];
        out->first[r] = n;
        out->number[r] = number;
        for (size_t k = 0; k < rows_of(l, r); k++, row++)
            if (bit(bits, row)) {
                out->xy[2 * n] = (uint8_t)(k / l->at.k[b->left]);
                out->xy[2 * n++ + 1] = (uint8_t)(k % l->at.k[b->left]);
                number += trl_latent_row_stride(l->at.k[b->right]);
            }
        number = (number + 15) / 16 * 16; /* whole cache lines */
    }
    out->first[l->g->n_binary] = n;
    out->number[l->g->n_binary] = number;
}

trl_status trl_latent_rows_init(trl_latent *l, const uint8_t *bits, trl_error *err)
{
    trl_latent_rows *out = &l->rows;
    const size_t rules = l->g->n_binary + 1, n = bits_set(bits, trl_latent_count_rows(l));
    out->first = trl_alloc(rules, sizeof *out->first);
    out->number = trl_alloc(rules, sizeof *out->number);
    out->xy = trl_alloc(2 * n + 1, 1);
    if (out->first && out->number && out->xy) {
        place_rows(l, bits);
        out->p = trl_zalloc64(trl_latent_rows_size(l) + 1, sizeof *out->p);
    }
    if (out->p)
        return TRL_OK;
    trl_latent_rows_fini(out);
    return trl_fail_mem(err);
}

/* ---- packing --------------------------------------------------------------------------------- */

#define LEAST 1e-6f /* smaller numbers of binary rules are dropped (docs/parser.md) */

static void round_all(trl_latent *l)
{
    float value[256];
    trl_latent_decode(value);
    for (size_t x = 0; x < l->at.n; x++) {
        const bool small = x < l->at.unary[0] && l->p[x] < LEAST;
        l->p[x] = small ? 0.0f : value[trl_latent_code(l->p[x])];
    }
}

static bool any(const float *p, size_t n)
{
    bool is = false;
    for (size_t k = 0; k < n; k++)
        is = is || p[k] > 0.0f;
    return is;
}

static void mark_rows(const trl_latent *l, uint8_t *bits)
{
    size_t row = 0;
    for (size_t r = 0; r < l->g->n_binary; r++) {
        const size_t nz = l->at.k[l->g->binary[r].right];
        for (size_t k = 0; k < rows_of(l, r); k++, row++)
            if (any(l->p + l->at.binary[r] + k * nz, nz))
                bits[row / 8] |= (uint8_t)(1u << row % 8);
    }
}

static void copy_rows(const trl_latent *l)
{
    const trl_latent_rows *out = &l->rows;
    for (size_t r = 0; r < l->g->n_binary; r++) {
        const size_t nz = l->at.k[l->g->binary[r].right], ny = l->at.k[l->g->binary[r].left];
        float *to = out->p + out->number[r];
        for (size_t k = out->first[r]; k < out->first[r + 1]; k++) {
            const size_t from = out->xy[2 * k] * ny + out->xy[2 * k + 1];
            memcpy(to, l->p + l->at.binary[r] + from * nz, nz * sizeof *to);
            to += trl_latent_row_stride((unsigned)nz);
        }
    }
}

trl_status trl_latent_pack(trl_latent *l, trl_error *err)
{
    const size_t rest = l->at.n - l->at.unary[0];
    round_all(l);
    uint8_t *bits = trl_zalloc(trl_latent_count_rows(l) / 8 + 1, 1);
    float *p = trl_alloc(rest + 1, sizeof *p);
    trl_status st = bits && p ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK) {
        mark_rows(l, bits);
        st = trl_latent_rows_init(l, bits, err);
    }
    if (st == TRL_OK) {
        copy_rows(l);
        memcpy(p, l->p + l->at.unary[0], rest * sizeof *p);
        trl_free(l->p);
        l->p = p;
        p = NULL;
    }
    trl_free(p);
    trl_free(bits);
    return st;
}
