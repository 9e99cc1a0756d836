/* container.c -- sections in a checksummed file: writing first, then reading. */
/* SPDX-License-Identifier: MIT */
#include "model/container.h"

#include <inttypes.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "model/foreign.h"

#define ALIGN 64u

typedef struct header {
    char magic[8];
    uint32_t version, n_sections;
    uint64_t file_size, body_sum, header_sum;
    char kind[8], zero[16];
} header;

typedef struct entry {
    char tag[8];
    uint64_t offset, size, zero;
} entry;

_Static_assert(sizeof(header) == 64 && sizeof(entry) == 32, "file layout");

struct trl_container {
    trl_mapped map;     /* of a file, or of the copy of unaligned memory */
    const entry *table; /* in the file */
    uint32_t version;
    size_t n;
    const char *base;
    size_t size;
    char kind[9];
    char *path;
};

static bool little_endian(void)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

static uint64_t header_sum(const header *h)
{
    header zeroed = *h;
    zeroed.header_sum = 0;
    return XXH3_64bits(&zeroed, sizeof zeroed);
}

/* Tags and kinds: 1 to 8 printable ASCII characters, then NULs. */
static bool name_ok(const char name[8])
{
    size_t n = 0;
    while (n < 8 && name[n] > ' ' && name[n] <= '~')
        n++;
    for (size_t i = n; i < 8; i++)
        if (name[i])
            return false;
    return n > 0;
}

static bool name_set(char name[8], const char *s)
{
    const size_t n = strnlen(s, 9);
    memset(name, 0, 8);
    if (n <= 8)
        memcpy(name, s, n);
    return n <= 8 && name_ok(name);
}

/* ---- building -------------------------------------------------------------------------------- */

static void add(trl_container_builder *b, const char *tag, const void *bytes, size_t n, void *owned)
{
    trl_section s = {.bytes = bytes, .size = n, .owned = owned};
    trl_status st = name_set(s.tag, tag) && b->n < TRL_CONTAINER_MAX ? TRL_OK : TRL_EINVAL;
    for (size_t i = 0; st == TRL_OK && i < b->n; i++)
        if (memcmp(b->section[i].tag, s.tag, 8) == 0)
            st = TRL_EINVAL;
    trl_section *room = NULL;
    if (st == TRL_OK) {
        room = trl_reserve(b->section, &b->cap, b->n + 1, sizeof *room);
        st = room ? TRL_OK : TRL_ENOMEM;
    }
    if (st != TRL_OK) {
        trl_free(owned);
        b->failed = b->failed ? b->failed : st;
        return;
    }
    b->section = room;
    b->section[b->n++] = s;
}

void trl_container_builder_add(trl_container_builder *b, const char *tag, const void *bytes,
                               size_t n)
{
    add(b, tag, bytes, n, NULL);
}

void trl_container_builder_give(trl_container_builder *b, const char *tag, void *bytes, size_t n)
{
    add(b, tag, bytes, n, bytes);
}

void trl_container_builder_fini(trl_container_builder *b)
{
    for (size_t i = 0; i < b->n; i++)
        trl_free(b->section[i].owned);
    trl_free(b->section);
    *b = (trl_container_builder){0};
}

/* ---- writing: one walk over the bytes, to a hash, a file or memory --------------------------- */

typedef trl_status (*sink_fn)(void *ctx, const void *bytes, size_t n, trl_error *err);

static trl_status to_hash(void *ctx, const void *bytes, size_t n, trl_error *err)
{
    (void)err;
    if (n)
        XXH3_64bits_update(ctx, bytes, n);
    return TRL_OK;
}

static trl_status to_file(void *ctx, const void *bytes, size_t n, trl_error *err)
{
    return trl_writer_put(ctx, bytes, n, err);
}

static trl_status to_memory(void *ctx, const void *bytes, size_t n, trl_error *err)
{
    unsigned char **at = ctx;
    (void)err;
    if (n)
        memcpy(*at, bytes, n);
    *at += n;
    return TRL_OK;
}

/* Everything after the header: the table and the sections, each padded to ALIGN. */
static trl_status emit_body(const trl_container_builder *b, const entry *table, sink_fn sink,
                            void *ctx, trl_error *err)
{
    static const char zeros[ALIGN];
    size_t n = b->n * sizeof *table;
    trl_status st = sink(ctx, table, n, err);
    for (size_t i = 0; st == TRL_OK; i++) {
        st = sink(ctx, zeros, (ALIGN - n % ALIGN) % ALIGN, err);
        if (st != TRL_OK || i == b->n)
            break;
        n = b->section[i].size;
        st = sink(ctx, b->section[i].bytes, n, err);
    }
    return st;
}

/* Places the sections.  False: the file would not fit into 63 bits. */
static bool place(const trl_container_builder *b, entry *table, uint64_t *file_size)
{
    uint64_t at = sizeof(header) + b->n * sizeof *table;
    at += (ALIGN - at % ALIGN) % ALIGN;
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t size = b->section[i].size;
        if (size > (uint64_t)INT64_MAX - ALIGN - at)
            return false;
        memcpy(table[i].tag, b->section[i].tag, 8);
        table[i].offset = at;
        table[i].size = size;
        at += size;
        at += (ALIGN - at % ALIGN) % ALIGN;
    }
    *file_size = at;
    return true;
}

/* Fills the header and *table (to be freed). */
static trl_status prepare(const trl_container_builder *b, const char *kind, header *h,
                          entry **table, trl_error *err)
{
    if (!little_endian())
        return trl_fail(err, TRL_EMODEL, "models cannot be written on big-endian machines");
    *h = (header){.version = b->version ? b->version : 1u, .n_sections = (uint32_t)b->n};
    memcpy(h->magic, TRL_MAGIC, 8);
    if (!name_set(h->kind, kind))
        return trl_fail(err, TRL_EINVAL, "'%s' is not a valid name for a kind of model", kind);
    if (b->failed == TRL_ENOMEM)
        return trl_fail_mem(err);
    if (b->failed)
        return trl_fail(err, b->failed,
                        "a section has a bad or repeated tag, or there are "
                        "more than %u",
                        TRL_CONTAINER_MAX);
    entry *t = trl_zalloc(b->n, sizeof *t);
    if (!t)
        return trl_fail_mem(err);
    if (!place(b, t, &h->file_size)) {
        trl_free(t);
        return trl_fail(err, TRL_EINVAL, "the model is too large");
    }
    XXH3_state_t hash;
    XXH3_64bits_reset(&hash);
    (void)emit_body(b, t, to_hash, &hash, err);
    h->body_sum = XXH3_64bits_digest(&hash);
    h->header_sum = header_sum(h);
    *table = t;
    return TRL_OK;
}

trl_status trl_container_write(const trl_container_builder *b, const char *kind, const char *path,
                               trl_error *err)
{
    header h;
    entry *table = NULL;
    trl_writer *w = NULL;
    trl_status st = prepare(b, kind, &h, &table, err);
    if (st != TRL_OK)
        return trl_fail_where(err, st, path, 0, 0);
    st = trl_writer_open(path, &w, err);
    if (st == TRL_OK)
        st = trl_writer_put(w, &h, sizeof h, err);
    if (st == TRL_OK)
        st = emit_body(b, table, to_file, w, err);
    trl_free(table);
    if (st == TRL_OK)
        return trl_writer_commit(w, err);
    trl_writer_abort(w);
    return st;
}

trl_status trl_container_rescue(const trl_container_builder *b, const char *kind, const char *path,
                                const char *rescue, trl_error *err)
{
    trl_error second;
    const trl_status st = trl_container_write(b, kind, path, err);
    if (st != TRL_EIO || !rescue)
        return st;
    if (trl_container_write(b, kind, rescue, &second) == TRL_OK)
        return trl_fail_hint(err, st, "the trained model was saved as %s: move it from there",
                             rescue);
    return trl_fail_hint(err, st,
                         "it could not be saved as %s either (%s): the trained weights are lost",
                         rescue, second.msg);
}

trl_status trl_container_to_buffer(const trl_container_builder *b, const char *kind,
                                   unsigned char **out, size_t *size, trl_error *err)
{
    header h;
    entry *table = NULL;
    trl_status st = prepare(b, kind, &h, &table, err);
    if (st != TRL_OK)
        return st;
    unsigned char *bytes = NULL;
    if (h.file_size <= SIZE_MAX)
        bytes = trl_alloc64((size_t)h.file_size, 1);
    if (bytes) {
        unsigned char *at = bytes;
        (void)to_memory(&at, &h, sizeof h, err);
        (void)emit_body(b, table, to_memory, &at, err);
        *out = bytes;
        *size = (size_t)h.file_size;
    } else {
        st = trl_fail_mem(err);
    }
    trl_free(table);
    return st;
}

/* ---- reading: checks ------------------------------------------------------------------------- */

static trl_status check_header(const unsigned char *p, size_t n, header *h, trl_error *err)
{
    if (n < 8 || memcmp(p, TRL_MAGIC, 8) != 0)
        return trl_not_a_model(p, n, err);
    if (!little_endian())
        return trl_fail(err, TRL_EMODEL, "models cannot be read on big-endian machines");
    if (n < sizeof *h)
        return trl_fail(err, TRL_EMODEL, "the model is cut off after %zu bytes", n);
    memcpy(h, p, sizeof *h);
    if (header_sum(h) != h->header_sum)
        return trl_fail(err, TRL_EMODEL, "the model is damaged: wrong checksum of its header");
    if (h->version > TRL_CONTAINER_VERSION) {
        trl_fail(err, TRL_EMODEL,
                 "the model has format version %" PRIu32 ", this library reads up to %u",
                 h->version, TRL_CONTAINER_VERSION);
        return trl_fail_hint(err, TRL_EMODEL, "it was written by a newer Trellis: upgrade");
    }
    if (h->file_size > n) {
        trl_fail(err, TRL_EMODEL, "the model is cut off: %zu bytes of %" PRIu64, n, h->file_size);
        return trl_fail_hint(err, TRL_EMODEL, "copy or download it again");
    }
    if (h->file_size < n)
        return trl_fail(err, TRL_EMODEL, "the model is damaged: %" PRIu64 " bytes follow its end",
                        n - h->file_size);
    static const char zero[sizeof h->zero];
    if (h->version == 0 || h->file_size % ALIGN || h->n_sections > TRL_CONTAINER_MAX ||
        h->n_sections * sizeof(entry) > n - sizeof *h || !name_ok(h->kind) ||
        memcmp(h->zero, zero, sizeof zero) != 0)
        return trl_fail(err, TRL_EMODEL, "the model is damaged: impossible header");
    if (XXH3_64bits(p + sizeof *h, n - sizeof *h) != h->body_sum) {
        trl_fail(err, TRL_EMODEL, "the model is damaged: wrong checksum");
        return trl_fail_hint(err, TRL_EMODEL, "copy or download it again");
    }
    return TRL_OK;
}

/* In order, aligned, inside the file, after the table and each other, tags distinct. */
static bool table_ok(const entry *table, size_t n, uint64_t file_size)
{
    uint64_t at = sizeof(header) + n * sizeof *table;
    for (size_t i = 0; i < n; i++) {
        const entry *e = &table[i];
        if (!name_ok(e->tag) || e->zero || e->offset % ALIGN || e->offset < at ||
            e->offset > file_size || e->size > file_size - e->offset)
            return false;
        at = e->offset + e->size;
        for (size_t j = 0; j < i; j++)
            if (memcmp(table[j].tag, e->tag, 8) == 0)
                return false;
    }
    return true;
}

static trl_status other_kind(const trl_container *c, const char *kind, trl_error *err)
{
    trl_fail(err, TRL_EMODEL, "the file is of kind '%s', expected is '%s'", c->kind, kind);
    if (strcmp(c->kind, "chkpt") == 0)
        trl_fail_hint(err, TRL_EMODEL,
                      "it is a checkpoint: resume training from it to get a model");
    else if (strcmp(c->kind, "chain") == 0)
        trl_fail_hint(err, TRL_EMODEL, "it is a tagger's: 'trellis tag' uses it");
    return TRL_EMODEL;
}

static trl_status check(trl_container *c, const unsigned char *p, size_t n, const char *kind,
                        trl_error *err)
{
    header h;
    const trl_status st = check_header(p, n, &h, err);
    if (st != TRL_OK)
        return st;
    c->base = (const char *)p;
    c->size = n;
    c->table = (const void *)(p + sizeof h);
    c->n = h.n_sections;
    c->version = h.version;
    memcpy(c->kind, h.kind, 8);
    if (!table_ok(c->table, c->n, n))
        return trl_fail(err, TRL_EMODEL, "the model is damaged: impossible section table");
    return kind && strcmp(kind, c->kind) != 0 ? other_kind(c, kind, err) : TRL_OK;
}

/* ---- reading: objects ------------------------------------------------------------------------ */

static trl_status container_new(const char *path, trl_container **out, trl_error *err)
{
    trl_container *c = trl_zalloc(1, sizeof *c);
    if (c)
        c->path = trl_strndup(path, strlen(path));
    if (!c || !c->path) {
        trl_free(c);
        return trl_fail_mem(err);
    }
    *out = c;
    return TRL_OK;
}

typedef trl_status (*load_fn)(const char *path, trl_mapped *out, trl_error *err);

static trl_status open_by(load_fn load, const char *path, const char *kind, trl_container **out,
                          trl_error *err)
{
    trl_container *c = NULL;
    trl_status st = container_new(path, &c, err);
    if (st == TRL_OK)
        st = load(path, &c->map, err);
    if (st == TRL_OK) {
        st = check(c, c->map.data, c->map.size, kind, err);
        if (st != TRL_OK)
            trl_fail_where(err, st, path, 0, 0);
    }
    if (st == TRL_OK)
        *out = c;
    else
        trl_container_free(c);
    return st;
}

trl_status trl_container_open(const char *path, const char *kind, trl_container **out,
                              trl_error *err)
{
    return open_by(trl_read_file, path, kind, out, err);
}

trl_status trl_container_map(const char *path, const char *kind, trl_container **out,
                             trl_error *err)
{
    return open_by(trl_map_file, path, kind, out, err);
}

trl_status trl_container_from_memory(const void *bytes, size_t n, const char *kind,
                                     trl_container **out, trl_error *err)
{
    trl_container *c = NULL;
    const unsigned char *p = bytes;
    trl_status st = container_new("<memory>", &c, err);
    if (st == TRL_OK && n && (uintptr_t)bytes % ALIGN) {
        unsigned char *copy = trl_alloc64(n, 1);
        if (copy) {
            memcpy(copy, bytes, n);
            c->map = (trl_mapped){.data = copy, .size = n};
            p = copy;
        } else {
            st = trl_fail_mem(err);
        }
    }
    if (st == TRL_OK) {
        st = check(c, p, n, kind, err);
        if (st != TRL_OK)
            trl_fail_where(err, st, c->path, 0, 0);
    }
    if (st == TRL_OK)
        *out = c;
    else
        trl_container_free(c);
    return st;
}

void trl_container_free(trl_container *c)
{
    if (!c)
        return;
    trl_unmap(&c->map);
    trl_free(c->path);
    trl_free(c);
}

const char *trl_container_kind(const trl_container *c)
{
    return c->kind;
}

uint32_t trl_container_version(const trl_container *c)
{
    return c->version;
}

const void *trl_container_bytes(const trl_container *c)
{
    return c->base;
}

size_t trl_container_size(const trl_container *c)
{
    return c->size;
}

const char *trl_container_path(const trl_container *c)
{
    return c->path;
}

bool trl_container_find(const trl_container *c, const char *tag, const void **bytes, size_t *size)
{
    char name[8];
    if (!name_set(name, tag))
        return false;
    for (size_t i = 0; i < c->n; i++) {
        if (memcmp(c->table[i].tag, name, 8) == 0) {
            *bytes = c->base + c->table[i].offset;
            *size = (size_t)c->table[i].size;
            return true;
        }
    }
    return false;
}

bool trl_container_section(const trl_container *c, size_t k, trl_section *out)
{
    if (k >= c->n)
        return false;
    *out = (trl_section){.bytes = c->base + c->table[k].offset, .size = (size_t)c->table[k].size};
    memcpy(out->tag, c->table[k].tag, sizeof out->tag);
    return true;
}
