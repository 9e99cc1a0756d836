/* tampered.h -- containers with a wrong byte but right checksums. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TAMPERED_H
#define TRL_TEST_TAMPERED_H

#include "support.h"

#include "base/mem.h"
#include "base/rng.h"
#include "model/container.h"

/* The same sections again, one bit of one of them turned; a small chance of a cut-off end. */
static inline trl_container *tamper(const trl_container_builder *b, trl_rng *r,
                                    unsigned char **bytes)
{
    trl_error err;
    trl_container_builder copy = {0};
    trl_container *c = NULL;
    size_t size, at = (size_t)(trl_rng_u64(r) >> 33) % b->n;
    while (b->section[at].size == 0)
        at = (at + 1) % b->n;
    for (size_t i = 0; i < b->n; i++) {
        const trl_section *s = &b->section[i];
        char tag[9] = {0};
        memcpy(tag, s->tag, 8);
        unsigned char *p = trl_alloc(s->size, 1);
        assert_non_null(p);
        if (s->size)
            memcpy(p, s->bytes, s->size);
        size_t n = s->size;
        if (i == at) {
            const size_t k = (size_t)(trl_rng_u64(r) >> 33) % n;
            p[k] ^= (unsigned char)(1u << (trl_rng_u64(r) >> 61));
            if (trl_rng_u64(r) >> 60 == 0)
                n = k & ~(size_t)3;
        }
        trl_container_builder_give(&copy, tag, p, n);
    }
    assert_ok(trl_container_to_buffer(&copy, "test", bytes, &size, &err));
    assert_ok(trl_container_from_memory(*bytes, size, "test", &c, &err));
    trl_container_builder_fini(&copy);
    return c;
}

#endif
