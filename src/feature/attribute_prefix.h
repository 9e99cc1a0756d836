/* attribute_prefix.h -- which attributes are of one kind, by their names.
 *
 * Attributes that a template's one line, or one kind of item, made have names that begin alike:
 * w[0]=the, U03:the, u:w+0:the.  A token has at most one attribute of most kinds.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ATTRIBUTE_PREFIX_H
#define TRL_ATTRIBUTE_PREFIX_H

#include "base/strtab.h"

/* The kind of an attribute: its name up to '=' or ':'.  A single letter before ':' is taken
 * together with what follows up to the next of them, if there is one (u:w+0:the).  Empty: it is of
 * no kind. */
static inline trl_str trl_attribute_prefix(trl_str name)
{
    size_t n = name.n > 1 && name.p[1] == ':' ? 2 : 0;
    while (n < name.n && name.p[n] != '=' && name.p[n] != ':')
        n++;
    if (n == name.n)
        n = name.n > 1 && name.p[1] == ':' ? 1 : 0;
    name.n = n;
    return name;
}

#endif
