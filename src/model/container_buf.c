/* container_buf.c -- a container in the buffer of a caller; its sections as arrays, texts, and as
 * those of another. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "model/container.h"

trl_status trl_container_to_buf(const trl_container_builder *b, const char *kind, trl_buf *out,
                                trl_error *err)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    const trl_status st = trl_container_to_buffer(b, kind, &bytes, &n, err);
    if (st == TRL_OK) {
        trl_buf_fini(out);
        *out = (trl_buf){.data = (char *)bytes, .len = n, .cap = n};
    }
    return st;
}

trl_status trl_container_string(const trl_container *c, const char *tag, const char **out,
                                trl_error *err)
{
    const void *text;
    size_t n;
    const trl_status st = trl_container_array(c, tag, 1, &text, &n, err);
    if (st != TRL_OK)
        return st;
    if (n == 0 || memchr(text, '\0', n) != (const char *)text + n - 1)
        return trl_container_damaged(c, err, "a text does not end");
    *out = text;
    return TRL_OK;
}

trl_status trl_container_array(const trl_container *c, const char *tag, size_t width,
                               const void **items, size_t *count, trl_error *err)
{
    size_t size;
    trl_status st = TRL_OK;
    if (!trl_container_find(c, tag, items, &size))
        st = trl_fail(err, TRL_EMODEL, "the model has no section '%s'", tag);
    else if (size % width)
        st = trl_fail(err, TRL_EMODEL,
                      "section '%s' of the model has %zu bytes, which is not a multiple "
                      "of %zu",
                      tag, size, width);
    else
        *count = size / width;
    return st == TRL_OK ? st : trl_fail_where(err, st, trl_container_path(c), 0, 0);
}

trl_status trl_container_damaged(const trl_container *c, trl_error *err, const char *what)
{
    const trl_status st = trl_fail(err, TRL_EMODEL, "damaged model: %s", what);
    return trl_fail_where(err, st, trl_container_path(c), 0, 0);
}

void trl_container_builder_copy(trl_container_builder *b, const trl_container *c,
                                const char *const *but)
{
    trl_section s;
    b->version = trl_container_version(c);
    for (size_t k = 0; trl_container_section(c, k, &s); k++) {
        char tag[sizeof s.tag + 1] = {0};
        memcpy(tag, s.tag, sizeof s.tag);
        const char *const *out = but;
        while (*out && strcmp(tag, *out) != 0)
            out++;
        if (!*out)
            trl_container_builder_add(b, tag, s.bytes, s.size);
    }
}
