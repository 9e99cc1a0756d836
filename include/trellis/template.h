/* template.h -- the templates that come with the library, by name.
 *
 * A template makes features of columns; its text is an option of training (template_text in
 * trellis/train.h) and is kept in the model.  docs/templates.md says how to write one.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_TEMPLATE_H
#define TRELLIS_TEMPLATE_H

#include "trellis/status.h"

TRL_BEGIN_DECLS

typedef struct trl_shipped_template {
    const char *name; /* "ner", "pos", ... */
    const char *text;
} trl_shipped_template;

/* All of them, up to one whose name is NULL.  Static. */
TRL_API const trl_shipped_template *trl_shipped_templates(void);

/* The text of the one of that name; NULL: there is none.  Static. */
TRL_API const char *trl_shipped_template_find(const char *name);

TRL_END_DECLS

#endif
