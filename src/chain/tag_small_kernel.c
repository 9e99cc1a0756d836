/* tag_small_kernel.c -- looking up and adding in models that were shrunk: fingerprints in place of
 * names, weights in 16 and 8 bits. */
/* SPDX-License-Identifier: MIT */
#include "chain/tag_kernel.h"

/* Stages: hash -> bucket; bucket -> fingerprints; fingerprint -> attribute. */
void trl_tag_fetch_prints(const trl_fingerprints *p, trl_tag_key *key, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        key[i].hash = trl_fingerprint_mix(p->seed, trl_str_hash(key[i].p, key[i].n));
        key[i].at = trl_fingerprint_bucket(p, key[i].hash);
        __builtin_prefetch(&p->bucket[key[i].at]);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t from = p->bucket[key[i].at], to = p->bucket[key[i].at + 1];
        key[i].at = from;
        key[i].k = (uint32_t)(to - from);
        __builtin_prefetch(&p->print[from]);
        __builtin_prefetch(&p->print[to]); /* perhaps on the next line */
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t print = (uint32_t)key[i].hash;
        size_t at = key[i].at;
        const size_t to = at + key[i].k;
        while (at < to && p->print[at] != print)
            at++;
        key[i].at = at < to ? at : SIZE_MAX;
        if (at < to)
            __builtin_prefetch(&p->attr[at]);
    }
}

/* out[cell] += value * w; CELL(j) is the cell of weight j. */
#define ADD(CELL)                                                                                  \
    do {                                                                                           \
        if (f->code)                                                                               \
            for (size_t j = 0; j < k; j++)                                                         \
                out[CELL] += value * (double)f->value[f->code[first + j]];                         \
        else                                                                                       \
            for (size_t j = 0; j < k; j++)                                                         \
                out[CELL] += value * (double)((float)f->multiple[first + j] * f->unit);            \
    } while (0)

void trl_tag_add_small(const trl_model_family *f, const trl_tag_key *key, double *out)
{
    const uint64_t first = key->first;
    const size_t k = key->k;
    const double value = key->value;
    TRL_TAG_CELLS(ADD);
}
