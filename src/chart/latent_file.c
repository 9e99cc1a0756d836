/* latent_file.c -- a grammar with substates of states in a model file. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chart/latent.h"

static const char *const substates_tag[TRL_LATENT_GRAMMARS] = {
    "latent1", "latent2", "latent3", "latent4", "latent5", "latent6", "latent7", "latent8"};
static const char *const rows_tag[TRL_LATENT_GRAMMARS] = {
    "latentr1", "latentr2", "latentr3", "latentr4", "latentr5", "latentr6", "latentr7", "latentr8"};
static const char *const numbers_tag[TRL_LATENT_GRAMMARS] = {
    "latentp1", "latentp2", "latentp3", "latentp4", "latentp5", "latentp6", "latentp7", "latentp8"};

bool trl_latent_stored(size_t number, const trl_container *c)
{
    const void *unused;
    size_t n;
    return trl_container_find(c, substates_tag[number], &unused, &n);
}

static size_t bytes_of_bits(const trl_latent *l)
{
    return (trl_latent_count_rows(l) + 7) / 8;
}

static void mark_rows(const trl_latent *l, uint8_t *bits)
{
    size_t row = 0;
    for (size_t r = 0; r < l->g->n_binary; r++) {
        const trl_binary *b = &l->g->binary[r];
        const size_t ny = l->at.k[b->left];
        for (size_t k = l->rows.first[r]; k < l->rows.first[r + 1]; k++) {
            const size_t at = row + l->rows.xy[2 * k] * ny + l->rows.xy[2 * k + 1];
            bits[at / 8] |= (uint8_t)(1u << at % 8);
        }
        row += l->at.binary[r + 1] > l->at.binary[r] ? l->at.k[b->parent] * ny : 0;
    }
}

static size_t numbers_of_rows(const trl_latent *l)
{
    size_t n = 0;
    for (size_t r = 0; r < l->g->n_binary; r++)
        n += (l->rows.first[r + 1] - l->rows.first[r]) * l->at.k[l->g->binary[r].right];
    return n;
}

/* Calls fn for every number of a row, the k-th of a file. */
static void each_number(const trl_latent *l, void (*fn)(void *ctx, size_t k, float *p), void *ctx)
{
    size_t k = 0;
    for (size_t r = 0; r < l->g->n_binary; r++) {
        const unsigned nz = l->at.k[l->g->binary[r].right];
        float *p = l->rows.p + l->rows.number[r];
        for (size_t row = l->rows.first[r]; row < l->rows.first[r + 1]; row++) {
            for (unsigned z = 0; z < nz; z++)
                fn(ctx, k++, p + z);
            p += trl_latent_row_stride(nz);
        }
    }
}

static void code_number(void *ctx, size_t k, float *p)
{
    ((uint8_t *)ctx)[k] = trl_latent_code(*p);
}

typedef struct decoding {
    const uint8_t *code;
    const float *value; /* [256] */
} decoding;

static void decode_number(void *ctx, size_t k, float *p)
{
    const decoding *d = ctx;
    *p = d->value[d->code[k]];
}

trl_status trl_latent_save(const trl_latent *l, size_t number, trl_container_builder *b,
                           trl_error *err)
{
    const size_t n = numbers_of_rows(l), rest = l->at.n - l->at.unary[0];
    uint8_t *bits = trl_zalloc(bytes_of_bits(l) + 1, 1), *code = trl_alloc(n + rest + 1, 1);
    if (!bits || !code) {
        trl_free(bits);
        trl_free(code);
        return trl_fail_mem(err);
    }
    mark_rows(l, bits);
    each_number(l, code_number, code);
    for (size_t x = 0; x < rest; x++)
        code[n + x] = trl_latent_code(l->p[x]);
    trl_container_builder_add(b, substates_tag[number], l->at.k, l->g->n_states);
    trl_container_builder_give(b, rows_tag[number], bits, bytes_of_bits(l));
    trl_container_builder_give(b, numbers_tag[number], code, n + rest);
    return TRL_OK;
}

static bool sane_substates(const uint8_t *k, const trl_grammar *g)
{
    bool sane = k[g->root] == 1;
    for (size_t s = 0; s < g->n_states; s++)
        sane = sane && k[s] > 0 && k[s] <= TRL_LATENT_MOST && (k[s] & (k[s] - 1)) == 0;
    return sane;
}

static trl_status load_numbers(trl_latent *l, size_t number, const trl_container *c, trl_error *err)
{
    const char *incomplete = "its grammar with substates is incomplete";
    const void *bits, *codes;
    size_t n;
    if (!trl_container_find(c, rows_tag[number], &bits, &n))
        return trl_fail_hint(
            err, trl_container_damaged(c, err, "its grammar with substates has no rows"),
            "it may have been written by an earlier Trellis: train it again");
    if (n != bytes_of_bits(l))
        return trl_container_damaged(c, err, incomplete);
    const trl_status st = trl_latent_rows_init(l, bits, err);
    if (st != TRL_OK)
        return st;
    const size_t packed = numbers_of_rows(l), rest = l->at.n - l->at.unary[0];
    if (!trl_container_find(c, numbers_tag[number], &codes, &n) || n != packed + rest)
        return trl_container_damaged(c, err, incomplete);
    float value[256];
    trl_latent_decode(value);
    l->p = trl_alloc(rest + 1, sizeof *l->p);
    each_number(l, decode_number, &(decoding){codes, value});
    for (size_t x = 0; l->p && x < rest; x++)
        l->p[x] = value[((const uint8_t *)codes)[packed + x]];
    return l->p ? TRL_OK : trl_fail_mem(err);
}

trl_status trl_latent_load(trl_latent *l, size_t number, const trl_container *c, trl_error *err)
{
    const void *substates;
    size_t n;
    if (!trl_container_find(c, substates_tag[number], &substates, &n) || n != l->g->n_states ||
        !sane_substates(substates, l->g))
        return trl_container_damaged(c, err, "the substates of its grammar make no sense");
    uint8_t *k = trl_alloc(n, 1);
    if (k)
        memcpy(k, substates, n);
    const trl_status st = trl_latent_layout_init(&l->at, l->g, l->x, k, err);
    return st == TRL_OK ? load_numbers(l, number, c, err) : st;
}
