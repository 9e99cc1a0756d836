/* items.h -- sequences of ready-made attributes (CRFsuite's IWA format).
 *
 *     LABEL <TAB> attr[:value] <TAB> attr[:value] ...
 *
 * A blank (or all-white) line ends a sequence.  ':' separates a name from its value; no value, or
 * an empty one, is 1.  "\:" and "\\" stand for the two characters in names (labels too); a
 * backslash before anything else, or at the end of a field, is itself.  Empty fields after the
 * label are skipped.  `@weight:V` before the label (a line of its own, or the leading fields of a
 * token's line) is the weight of the whole sequence; the last one counts.  Names are opaque bytes.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ITEMS_H
#define TRL_ITEMS_H

#include "text/input.h"
#include "trellis/sequence.h"

typedef struct trl_item_reader trl_item_reader;

trl_status trl_item_reader_new(trl_input *in, trl_item_reader **out, trl_error *err);
void trl_item_reader_free(trl_item_reader *r); /* accepts NULL */

/* The next sequence, never an empty one.  TRL_EPARSE, with path:row:col, for a value or weight that
 * is not a finite number (or a negative weight), or an empty label or one with a value (an
 * unescaped ':').  Numbers are parsed independently of the locale. */
trl_status trl_items_next(trl_item_reader *r, trl_items *seq, bool *more, trl_error *err);

#endif
