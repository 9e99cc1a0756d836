/* dump_text.h -- how names and numbers look in a dump.
 *
 * A field holds no tab, line end, control character or byte that is not UTF-8: they are written \t,
 * \n, \r or \xHH, a backslash \\.  Everything else stands for itself.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DUMP_TEXT_H
#define TRL_DUMP_TEXT_H

#include "base/buf.h"
#include "trellis/model.h"

/* Text on its way to a trl_write_fn, in large pieces. */
typedef struct trl_printer {
    trl_write_fn write;
    void *ctx;
    trl_buf buf;
} trl_printer;

/* Writes out p->buf when it is large, or in any case when `all`.  What the writer returns, or
 * TRL_ENOMEM when something could not be put there. */
trl_status trl_printer_flush(trl_printer *p, bool all, trl_error *err);

/* Appends the field, escaped; returns its width in characters. */
size_t trl_put_field(trl_buf *b, trl_str s);

/* Appends the number as printf's `format` does in the C locale. */
void trl_put_number(trl_buf *b, const char *format, double x) __attribute__((format(printf, 2, 0)));

/* "what<TAB>field<LF>" */
void trl_put_line(trl_buf *b, const char *what, trl_str field);
/* One for every line of a text, which ends with an LF or is empty. */
void trl_put_lines(trl_buf *b, const char *what, trl_str text);

/* Unescapes n bytes in place; *n becomes what is left.  False: a bad escape, *n its offset. */
bool trl_unescape_field(char *p, size_t *n);

#endif
