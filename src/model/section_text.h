/* section_text.h -- the sections of any model file as text, and back to the same bytes.
 *
 * One fact a line, fields separated by tabs (here shown as blanks), escaped as in dump_text.h.
 * Blank lines and lines that start with '#' are ignored.
 *
 *     trellis-model 1            first: the format and its version
 *     kind tree
 *     last end
 *     format 2                   the file's version, where it is not 1 (container.h)
 *     text settings              the section `settings`: lines of text follow,
 *     line grade features        each with its line end, or, as `rest`, without
 *     strings f0lb 40            a table of 40 strings (strtab_io.h): f0lbpool, f0lbend4, f0lbslot
 *     string NP
 *     numbers f0bin u32 900 3    900 rows of 3 numbers: u32, u64, f32, f64
 *     row 0 12 7 9 # S -> NP VP  row 0, its numbers, and, for people, what it is
 *     bytes meta 24              24 bytes,
 *     row 0 010000000200...      32 a row
 *     end
 *
 * Rows that are all zero may be left out, up to 63 in a row, but the last one is there; they
 * ascend.  Sections stand in the order of the file.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SECTION_TEXT_H
#define TRL_SECTION_TEXT_H

#include "model/container.h"
#include "model/dump_text.h"
#include "text/input.h"

/* What a section holds; one that is not listed is bytes, or a table of strings. */
typedef struct trl_section_type {
    char tag[9];
    char type; /* t: text; u, w: u32, u64; f, d: float, double */
    unsigned width;
} trl_section_type;

typedef struct trl_section_types {
    const trl_section_type *row; /* [n] */
    size_t n;
    /* Appends what row k of a section is, or nothing; NULL: no row is named. */
    void (*name)(void *ctx, const char *tag, size_t k, trl_buf *out);
    void *ctx;
} trl_section_types;

/* Writes all sections.  What `write` returns; TRL_ENOMEM. */
trl_status trl_sections_dump(const trl_container *c, const trl_section_types *types, trl_printer *p,
                             trl_error *err);

/* Reads them from `in`, which is freed here, into the bytes of a container of that kind, whose
 * content is not checked (*out, *size; release with trl_free).  TRL_EPARSE with the place, TRL_EIO,
 * TRL_ENOMEM. */
trl_status trl_sections_undump(trl_input *in, const char *kind, unsigned char **out, size_t *size,
                               trl_error *err);

#define TRL_BYTES_ROW 32 /* bytes in a row */
#define TRL_ROW_GAP 64   /* a line stands for so many rows at most: memory grows with the text */

/* Is row k of n written, `zero` or not? */
static inline bool trl_row_written(size_t k, size_t n, bool zero)
{
    return !zero || k % TRL_ROW_GAP == TRL_ROW_GAP - 1 || k + 1 == n;
}

#endif
