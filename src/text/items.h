/* items.h -- sequences of ready-made attributes (CRFsuite's IWA format).
 *
 *     LABEL <TAB> attr[:value] <TAB> attr[:value] ...
 *
 * A blank line ends a sequence.  ':' separates a name from its value (default 1), "\:" and
 * "\\" stand for the two characters in names, labels included.  `@weight:V` before the label
 * (a line of its own, or the leading fields of a token's line) weighs the whole sequence.
 * A name without escapes is borrowed as it is; names are opaque bytes.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ITEMS_H
#define TRL_ITEMS_H

#include "text/input.h"

typedef struct trl_attr {
    trl_str name;
    double  value;
} trl_attr;

/* One sequence; everything is borrowed from the reader until its next call. */
typedef struct trl_items {
    size_t          n_tokens;
    const trl_str  *label; /* [n_tokens] */
    const size_t   *begin; /* [n_tokens + 1] into attr */
    const trl_attr *attr;
    double          weight; /* 1 unless the input says otherwise; finite, >= 0 */
    const char     *path;
    uint64_t        first_row;
} trl_items;

typedef struct trl_item_reader trl_item_reader;

trl_status trl_item_reader_new(trl_input *in, trl_item_reader **out, trl_error *err);
void       trl_item_reader_free(trl_item_reader *r); /* accepts NULL */

/* The next sequence, never an empty one.  TRL_EPARSE, with path:row:col, for a value or weight
 * that is no finite number (or a negative weight), an empty label, or a lone escape at the end
 * of a field.  Numbers are parsed independently of the locale. */
trl_status trl_items_next(trl_item_reader *r, trl_items *seq, bool *more, trl_error *err);

#endif
