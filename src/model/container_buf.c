/* container_buf.c -- a container in the buffer of a caller, and texts from one. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/buf.h"
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
