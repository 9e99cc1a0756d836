/* container.h -- the one file format of models and checkpoints: named sections of bytes.
 *
 * Little-endian; offsets count from the start of the file:
 *
 *     0   8   magic "TRELLIS\x1a"
 *     8   4   u32 format version, 1, or 2: weights in 16 or 8 bits, fingerprints (shrunk models)
 *     12  4   u32 number of sections S, at most TRL_CONTAINER_MAX
 *     16  8   u64 size of the file, a multiple of 64
 *     24  8   u64 XXH3 of everything from byte 64 on
 *     32  8   u64 XXH3 of these 64 bytes, this field taken as zero
 *     40  8   kind of content ("chain", "chkpt", ...), padded with NUL
 *     48  16  zero
 *     64  32S table: tag (8 bytes, padded with NUL), u64 offset, u64 size, u64 zero
 *     ...     sections in the order of the table, each at a multiple of 64, zeros between
 *
 * Every future version keeps the first 40 bytes, so that an old library can say what file it was
 * given.  A reader checks all of this, checksums included, before it returns: one pass over the
 * file.  Afterwards sections are used in place, without a copy.  They hold arrays in memory order,
 * so a big-endian machine can neither write nor open a container: both fail with TRL_EMODEL.  A
 * container is read-only and may be shared by threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CONTAINER_H
#define TRL_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trellis/buf.h"
#include "trellis/status.h"

#define TRL_CONTAINER_VERSION 2u /* the newest that is read; written is 1 unless said */
#define TRL_CONTAINER_MAX 1024u  /* sections */

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct trl_section {
    char tag[8];
    const void *bytes;
    size_t size;
    void *owned; /* released with the builder, or NULL */
} trl_section;

/* What is to be written.  Zero-initialise; release with _fini. */
typedef struct trl_container_builder {
    trl_section *section;
    size_t n, cap;
    trl_status failed; /* the first failure of an add; writing reports it */
    uint32_t version;  /* of the format; 0: 1 */
} trl_container_builder;

/* Adds a section.  `bytes` is borrowed until the builder is released; it is read when the
 * container is written, so it may still be filled after this call.  `tag`: 1 to 8 printable
 * ASCII characters, not yet in use.  A failure is kept and reported by the writing function:
 * TRL_EINVAL (bad or repeated tag, too many sections), TRL_ENOMEM. */
void trl_container_builder_add(trl_container_builder *b, const char *tag, const void *bytes,
                               size_t n);

/* As _add, but `bytes` comes from trl_alloc and now belongs to the builder, even when the
 * call fails. */
void trl_container_builder_give(trl_container_builder *b, const char *tag, void *bytes, size_t n);
void trl_container_builder_fini(trl_container_builder *b);

/* Replaces `path` atomically (see base/file.h).  Reads every section twice, copies none.
 * TRL_EINVAL for a bad kind or a failed add, TRL_EIO, TRL_ENOMEM. */
trl_status trl_container_write(const trl_container_builder *b, const char *kind, const char *path,
                               trl_error *err);

/* The same; where `path` cannot be written, and `rescue` is not NULL, writes there instead.  Still
 * returns the first failure, with a hint that says where the file is now, or that it is lost.
 */
trl_status trl_container_rescue(const trl_container_builder *b, const char *kind, const char *path,
                                const char *rescue, trl_error *err);

/* The same bytes in memory, 64-byte aligned; release them with trl_free. */
trl_status trl_container_to_buffer(const trl_container_builder *b, const char *kind,
                                   unsigned char **out, size_t *size, trl_error *err);

/* The same into a trl_buf, in place of what it held; kept on failure. */
trl_status trl_container_to_buf(const trl_container_builder *b, const char *kind, trl_buf *out,
                                trl_error *err);

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct trl_container trl_container;

/* Reads the file into memory and checks what was read.  `kind`: the kind that is expected, or NULL
 * for any.  TRL_EMODEL, with the path and mostly a hint, when it is not a container, damaged, cut
 * off, of a newer version or of another kind; TRL_EIO; TRL_ENOMEM.  Later changes of the file have
 * no effect. */
trl_status trl_container_open(const char *path, const char *kind, trl_container **out,
                              trl_error *err);

/* The same with the file mapped, its pages shared between processes.  It must not be changed in
 * place while it is open: replace it by rename. */
trl_status trl_container_map(const char *path, const char *kind, trl_container **out,
                             trl_error *err);

/* The same over `bytes`, borrowed until freed; copied when not 64-byte aligned. */
trl_status trl_container_from_memory(const void *bytes, size_t n, const char *kind,
                                     trl_container **out, trl_error *err);
void trl_container_free(trl_container *c); /* accepts NULL */

const char *trl_container_kind(const trl_container *c);
const char *trl_container_path(const trl_container *c); /* for messages */
uint32_t trl_container_version(const trl_container *c);
const void *trl_container_bytes(const trl_container *c); /* of the whole file, 64-byte aligned */
size_t trl_container_size(const trl_container *c);       /* bytes of the file */

/* The section, 64-byte aligned, valid as long as the container.  False: there is none. */
bool trl_container_find(const trl_container *c, const char *tag, const void **bytes, size_t *size);

/* Section k in the order of the file, its bytes as by _find, `owned` NULL.  False: there are not so
 * many. */
bool trl_container_section(const trl_container *c, size_t k, trl_section *out);

/* Adds all sections of a container, which must outlive the builder, but those with the tags `but`,
 * a list that NULL ends; the format's version is that of the container. */
void trl_container_builder_copy(trl_container_builder *b, const trl_container *c,
                                const char *const *but);

/* As _find for an array of items of `width` bytes.  TRL_EMODEL when the section is missing or its
 * size is not a multiple of `width`. */
trl_status trl_container_array(const trl_container *c, const char *tag, size_t width,
                               const void **items, size_t *count, trl_error *err);

/* As _find for a text with one NUL, at its end.  TRL_EMODEL. */
trl_status trl_container_string(const trl_container *c, const char *tag, const char **out,
                                trl_error *err);

/* "damaged model: <message>" with the container's path, for checks of a section's content. */
trl_status trl_container_damaged(const trl_container *c, trl_error *err, const char *what);

#endif
