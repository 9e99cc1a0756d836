/* input.c -- line reading over plain, gzip and zstd byte sources. */
/* SPDX-License-Identifier: MIT */
#include "text/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "text/utf8.h"

#define BLOCK ((size_t)1 << 18)

typedef enum packing { PLAIN, GZIP, ZSTD } packing;

struct trl_input {
    char *name;
    int fd; /* -1: memory */
    bool close_fd;
    bool may_wait; /* a pipe or terminal: neither memory nor a regular file */

    unsigned char *raw; /* bytes of the source not yet unpacked: raw[raw_at .. raw_len) */
    size_t raw_at, raw_len;
    bool raw_end;
    const char *mem; /* memory source, borrowed */
    size_t mem_len;

    packing packing;
    bool packing_known;
    z_stream z;
    bool z_live, z_done;
    ZSTD_DStream *zs;
    bool zs_open; /* inside a frame */

    char *buf; /* unpacked text: buf[at .. len) is unread */
    size_t at, len, cap;
    bool end;
    uint64_t row;
};

/* ---- opening --------------------------------------------------------------------------------- */

static trl_status input_new(const char *name, trl_input **out, trl_error *err)
{
    trl_input *in = trl_zalloc(1, sizeof *in);
    if (in) {
        in->fd = -1;
        in->name = trl_strndup(name, strlen(name));
        in->raw = trl_alloc(BLOCK, 1);
    }
    if (!in || !in->name || !in->raw) {
        trl_input_free(in);
        return trl_fail_mem(err);
    }
    *out = in;
    return TRL_OK;
}

trl_status trl_input_open(const char *path, trl_input **out, trl_error *err)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    trl_input *in = NULL;
    trl_status st = input_new(is_stdin ? "<stdin>" : path, &in, err);
    if (st != TRL_OK)
        return st;
    in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    in->close_fd = !is_stdin;
    struct stat sb;
    const bool known = in->fd >= 0 && fstat(in->fd, &sb) == 0;
    in->may_wait = known && !S_ISREG(sb.st_mode);
    if (known && S_ISDIR(sb.st_mode)) {
        close(in->fd);
        in->fd = -1;
        errno = EISDIR;
    }
    if (in->fd < 0) {
        st = trl_fail(err, TRL_EIO, "cannot open: %s", strerror(errno));
        trl_fail_where(err, st, path, 0, 0);
        trl_input_free(in);
        return st;
    }
    *out = in;
    return TRL_OK;
}

trl_status trl_input_memory(const char *name, const void *bytes, size_t n, trl_input **out,
                            trl_error *err)
{
    trl_status st = input_new(name, out, err);
    if (st == TRL_OK) {
        (*out)->mem = bytes;
        (*out)->mem_len = n;
    }
    return st;
}

void trl_input_free(trl_input *in)
{
    if (!in)
        return;
    if (in->z_live)
        inflateEnd(&in->z);
    ZSTD_freeDStream(in->zs);
    if (in->close_fd && in->fd >= 0)
        close(in->fd);
    trl_free(in->raw);
    trl_free(in->buf);
    trl_free(in->name);
    trl_free(in);
}

const char *trl_input_name(const trl_input *in)
{
    return in->name;
}

trl_status trl_input_line_copy(trl_input *in, trl_arena *text, char **line, size_t *n,
                               trl_error *err)
{
    trl_str s;
    bool more;
    *line = NULL;
    const trl_status st = trl_input_line(in, &s, &more, err);
    if (st != TRL_OK || !more)
        return st;
    char *copy = trl_arena_get(text, (uint64_t)s.n + TRL_LINE_ENDS, 1);
    if (!copy)
        return trl_fail_mem(err);
    if (s.n)
        memcpy(copy, s.p, s.n);
    memset(copy + s.n, '\n', TRL_LINE_ENDS);
    *line = copy;
    *n = s.n;
    return TRL_OK;
}

uint64_t trl_input_row(const trl_input *in)
{
    return in->row;
}

trl_status trl_input_fail(const trl_input *in, trl_error *err, trl_status code, uint64_t col)
{
    return trl_fail_where(err, code, in->name, in->row, col);
}

static trl_status fail_nul(const trl_input *in, uint64_t col, trl_error *err)
{
    trl_fail(err, TRL_EPARSE, "a NUL byte: this is a binary file, not text");
    trl_fail_hint(err, TRL_EPARSE, "of files that are not text only gzip and zstd are unpacked");
    return trl_input_fail(in, err, TRL_EPARSE, col);
}

trl_status trl_input_check_text(const trl_input *in, trl_str line, trl_error *err)
{
    const char *nul = line.n ? memchr(line.p, '\0', line.n) : NULL;
    return nul ? fail_nul(in, (uint64_t)(nul - line.p) + 1, err) : TRL_OK;
}

trl_status trl_input_check_utf8(const trl_input *in, trl_str line, trl_error *err)
{
    size_t at = 0;
    while (at < line.n && (unsigned char)(line.p[at] - 1) < 0x7f) /* ASCII, but NUL */
        at++;
    for (size_t n; at < line.n; at += n) {
        uint32_t code;
        n = trl_utf8_next(line.p + at, line.n - at, &code);
        if (n)
            continue;
        const trl_status st =
            trl_fail(err, TRL_EPARSE, "byte 0x%02x is not UTF-8", (unsigned char)line.p[at]);
        trl_fail_hint(err, st, "convert the text to UTF-8 first, as with iconv -f latin1 -t utf8");
        return trl_input_fail(in, err, st, at + 1);
    }
    return trl_input_check_text(in, line, err);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static trl_status raw_fill(trl_input *in, trl_error *err)
{
    if (in->raw_at < in->raw_len || in->raw_end)
        return TRL_OK;
    in->raw_at = in->raw_len = 0;
    if (in->fd < 0) {
        const size_t n = in->mem_len < BLOCK ? in->mem_len : BLOCK;
        if (n) { /* in->mem may be NULL */
            memcpy(in->raw, in->mem, n);
            in->mem += n;
            in->mem_len -= n;
        }
        in->raw_len = n;
    } else {
        ssize_t n;
        do
            n = read(in->fd, in->raw, BLOCK);
        while (n < 0 && errno == EINTR);
        if (n < 0) {
            const trl_status st = trl_fail(err, TRL_EIO, "cannot read: %s", strerror(errno));
            return trl_input_fail(in, err, st, 0);
        }
        in->raw_len = (size_t)n;
    }
    in->raw_end = in->raw_len == 0;
    return TRL_OK;
}

static trl_status damaged(const trl_input *in, const char *what, trl_error *err)
{
    const trl_status st = trl_fail(err, TRL_EIO, "damaged or cut off %s data", what);
    return trl_input_fail(in, err, st, 0);
}

/* Recognises the compression by the first bytes, once, and sets up its unpacker. */
static trl_status find_packing(trl_input *in, trl_error *err)
{
    const unsigned char *p = in->raw + in->raw_at;
    const size_t n = in->raw_len - in->raw_at;
    in->packing_known = true;
    if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b) {
        in->packing = GZIP;
        if (inflateInit2(&in->z, 15 + 16) != Z_OK)
            return trl_fail_mem(err);
        in->z_live = true;
    } else if (n >= 4 && p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd) {
        in->packing = ZSTD;
        in->zs = ZSTD_createDStream();
        if (!in->zs)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

static trl_status unpack_gzip(trl_input *in, char *out, size_t room, size_t *made, trl_error *err)
{
    if (in->raw_end && in->raw_at == in->raw_len)
        return in->z_done ? TRL_OK : damaged(in, "gzip", err);
    if (in->z_done) { /* a further member: gzip files may be concatenated */
        if (inflateReset(&in->z) != Z_OK)
            return damaged(in, "gzip", err);
        in->z_done = false;
    }
    in->z.next_in = in->raw + in->raw_at;
    in->z.avail_in = (uInt)(in->raw_len - in->raw_at);
    in->z.next_out = (unsigned char *)out;
    in->z.avail_out = (uInt)room;
    const int rc = inflate(&in->z, Z_NO_FLUSH);
    if (rc == Z_MEM_ERROR)
        return trl_fail_mem(err);
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
        return damaged(in, "gzip", err);
    in->z_done = rc == Z_STREAM_END;
    in->raw_at = in->raw_len - in->z.avail_in;
    *made = room - in->z.avail_out;
    return TRL_OK;
}

static trl_status unpack_zstd(trl_input *in, char *out, size_t room, size_t *made, trl_error *err)
{
    if (in->raw_end && in->raw_at == in->raw_len)
        return in->zs_open ? damaged(in, "zstd", err) : TRL_OK;
    ZSTD_inBuffer src = {in->raw, in->raw_len, in->raw_at};
    ZSTD_outBuffer dst = {out, room, 0};
    const size_t rc = ZSTD_decompressStream(in->zs, &dst, &src);
    if (ZSTD_isError(rc))
        return damaged(in, "zstd", err);
    in->zs_open = rc != 0;
    in->raw_at = src.pos;
    *made = dst.pos;
    return TRL_OK;
}

static trl_status unpack(trl_input *in, char *out, size_t room, size_t *made, trl_error *err)
{
    *made = 0;
    switch (in->packing) {
    case GZIP:
        return unpack_gzip(in, out, room, made, err);
    case ZSTD:
        return unpack_zstd(in, out, room, made, err);
    case PLAIN:
        break;
    }
    const size_t n = in->raw_len - in->raw_at;
    *made = n < room ? n : room;
    memcpy(out, in->raw + in->raw_at, *made);
    in->raw_at += *made;
    return TRL_OK;
}

/* Adds at least one byte of text to buf, or sets end. */
static trl_status text_fill(trl_input *in, trl_error *err)
{
    if (in->at > 0) {
        memmove(in->buf, in->buf + in->at, in->len - in->at);
        in->len -= in->at;
        in->at = 0;
    }
    char *buf = trl_reserve(in->buf, &in->cap, in->len + BLOCK, 1);
    if (!buf)
        return trl_fail_mem(err);
    in->buf = buf;
    for (size_t made = 0; made == 0;) {
        trl_status st = raw_fill(in, err);
        if (st == TRL_OK && !in->packing_known)
            st = find_packing(in, err);
        if (st == TRL_OK)
            st = unpack(in, in->buf + in->len, BLOCK, &made, err);
        if (st != TRL_OK)
            return st;
        in->len += made;
        if (made == 0 && in->raw_end) {
            in->end = true;
            return TRL_OK;
        }
    }
    return TRL_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Reads no more than it needs to decide: a pipe may begin with a line of one letter and then pause.
 */
static trl_status skip_mark(trl_input *in, trl_error *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    while (in->len - in->at < 3 && !in->end) {
        if (in->len > in->at && memcmp(in->buf + in->at, mark, in->len - in->at) != 0)
            return TRL_OK;
        const trl_status st = text_fill(in, err);
        if (st != TRL_OK)
            return st;
    }
    if (in->len - in->at >= 3 && memcmp(in->buf + in->at, mark, 3) == 0)
        in->at += 3;
    return TRL_OK;
}

trl_status trl_input_line(trl_input *in, trl_str *line, bool *more, trl_error *err)
{
    trl_status st = TRL_OK;
    if (in->row == 0 && in->at == 0)
        st = skip_mark(in, err);
    size_t seen = 0; /* bytes of the line searched so far */
    while (st == TRL_OK) {
        const char *from = in->buf + in->at, *lf = NULL;
        if (in->len - in->at > seen)
            lf = memchr(from + seen, '\n', in->len - in->at - seen);
        if (lf || (in->end && in->len > in->at)) {
            size_t n = lf ? (size_t)(lf - from) : in->len - in->at;
            in->at += n + (lf != NULL);
            if (n && from[n - 1] == '\r')
                n--;
            *line = (trl_str){from, n};
            *more = true;
            in->row++;
            return TRL_OK;
        }
        if (in->end) {
            *more = false;
            return TRL_OK;
        }
        const char *nul = NULL;
        if (in->len - in->at > seen)
            nul = memchr(from + seen, '\0', in->len - in->at - seen);
        if (nul) { /* at once: the rest may be endless and without a line end */
            in->row++;
            in->at = in->len; /* whoever reads on after errors is at the end */
            in->end = true;
            return fail_nul(in, (uint64_t)(nul - from) + 1, err);
        }
        seen = in->len - in->at;
        st = text_fill(in, err);
    }
    return st;
}

/* A read error is left to the next line, which meets it again. */
bool trl_input_ready(trl_input *in, bool (*whole)(trl_str unread))
{
    while (in->may_wait && !in->end) {
        trl_error err;
        struct pollfd p = {.fd = in->fd, .events = POLLIN};
        if (in->len > in->at && whole((trl_str){in->buf + in->at, in->len - in->at}))
            return true;
        if (poll(&p, 1, 0) == 0)
            return false;
        if (in->packing != PLAIN || text_fill(in, &err) != TRL_OK)
            return true;
    }
    return true;
}

trl_status trl_input_peek(trl_input *in, trl_str *head, trl_error *err)
{
    trl_status st = TRL_OK;
    if (in->row == 0 && in->at == 0)
        st = skip_mark(in, err);
    *head = (trl_str){in->buf ? in->buf + in->at : "", in->len - in->at};
    return st;
}

trl_status trl_input_all(trl_input *in, trl_str *text, trl_error *err)
{
    trl_status st = TRL_OK;
    while (st == TRL_OK && !in->end)
        st = text_fill(in, err);
    *text = (trl_str){in->buf ? in->buf + in->at : "", in->len - in->at};
    in->at = in->len;
    return st;
}
