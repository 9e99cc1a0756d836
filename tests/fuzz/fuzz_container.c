/* fuzz_container.c -- any bytes: never a crash; what opens can be written back the same.
 *
 * The first byte chooses: even, the rest is a file as it is; odd, its checksums and size are put
 * right first, so that the checks after them are reached. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "model/strtab_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_right(unsigned char *p, size_t n)
{
    const uint64_t size = n;
    uint64_t sum = XXH3_64bits(p + 64, n - 64);
    memcpy(p, "TRELLIS\x1a", 8);
    memcpy(p + 16, &size, 8);
    memcpy(p + 24, &sum, 8);
    memset(p + 32, 0, 8);
    sum = XXH3_64bits(p, 64);
    memcpy(p + 32, &sum, 8);
}

static void use(const trl_container *c)
{
    trl_error err;
    trl_strview v;
    if (trl_strview_load(c, "labl", &v, &err) != TRL_OK)
        return;
    for (uint32_t i = 0; i < v.n && i < 1000; i++) {
        const trl_str s = trl_strview_get(&v, i);
        const uint32_t id = trl_strview_find(&v, s.p, s.n, trl_str_hash(s.p, s.n));
        if (id != TRL_NO_ID && id >= v.n)
            abort();
    }
}

/* The sections named in the table, through a builder, must open again. */
static void write_back(const trl_container *c, const unsigned char *p)
{
    trl_container_builder b = {0};
    trl_container *again = NULL;
    unsigned char *out = NULL;
    uint32_t n;
    size_t out_size;
    memcpy(&n, p + 12, 4);
    for (uint32_t i = 0; i < n; i++) {
        char tag[9] = {0};
        const void *bytes;
        size_t len;
        memcpy(tag, p + 64 + 32 * (size_t)i, 8);
        if (!trl_container_find(c, tag, &bytes, &len))
            abort();
        trl_container_builder_add(&b, tag, bytes, len);
    }
    const char *kind = trl_container_kind(c);
    if (trl_container_to_buffer(&b, kind, &out, &out_size, NULL) != TRL_OK ||
        trl_container_from_memory(out, out_size, kind, &again, NULL) != TRL_OK)
        abort();
    trl_container_free(again);
    trl_container_builder_fini(&b);
    trl_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const size_t n = size - 1;
    unsigned char *p = trl_alloc(n, 1);
    if (!p)
        return 0;
    memcpy(p, data + 1, n);
    if (data[0] % 2 && n >= 64)
        put_right(p, n);
    trl_error err;
    trl_container *c = NULL;
    if (trl_container_from_memory(p, n, NULL, &c, &err) == TRL_OK) {
        use(c);
        write_back(c, p);
        trl_container_free(c);
    } else if (err.code != TRL_EMODEL || !err.msg[0] || !err.path[0]) {
        abort();
    }
    trl_free(p);
    return 0;
}
