/* scheme_tag.h -- one label of a tag scheme, taken apart. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SCHEME_TAG_H
#define TRL_SCHEME_TAG_H

#include "trellis/scheme.h"

typedef struct trl_scheme_tag {
    char prefix;  /* 'O'; '\0': a label without one */
    trl_str type; /* borrowed from the label */
} trl_scheme_tag;

trl_scheme_tag trl_scheme_tag_of(trl_str label);
bool trl_scheme_same_type(trl_scheme_tag a, trl_scheme_tag b);

/* Whether labels of the scheme have the prefix; and, when both have one, whether c may follow p.
 * Before the first token, and after the last one, stands O. */
bool trl_scheme_has(trl_scheme scheme, trl_scheme_tag c);
bool trl_scheme_follows(trl_scheme scheme, trl_scheme_tag p, trl_scheme_tag c);

#endif
