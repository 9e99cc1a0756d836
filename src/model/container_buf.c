/* container_buf.c -- a container in the buffer of a caller. */
/* SPDX-License-Identifier: MIT */
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
