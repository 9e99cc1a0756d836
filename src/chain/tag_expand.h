/* tag_expand.h -- private: the attributes of template lines, without branches on their lengths.
 *
 * Nearly all lines are made of literal text and plain cells near the position, and nearly all of
 * both are short.  The cells of a sequence (and what stands for those outside of it) are copied
 * once into slots of SLOT bytes; an attribute is then assembled by copying whole slots and
 * advancing by the length in use.  All other lines go through trl_template_expand.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TAG_EXPAND_H
#define TRL_TAG_EXPAND_H

#include "feature/template.h"

typedef struct trl_expander trl_expander;

/* Borrows the template.  TRL_ENOMEM. */
trl_status trl_expander_new(const trl_template *tpl, trl_expander **out, trl_error *err);
void trl_expander_free(trl_expander *x); /* accepts NULL */

/* Sets the sequence, borrowed until the next one; it has every column the template uses.  False:
 * out of memory. */
bool trl_expander_set(trl_expander *x, const trl_rows *seq);

/* Appends what line k makes at a position, as trl_template_expand does. */
bool trl_expander_put(trl_expander *x, size_t k, size_t pos, trl_buf *out);

#endif
