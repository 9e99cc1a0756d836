/* attribute_prefix.h -- groups of attributes, by the prefixes of their names.
 *
 * The attributes that one template line, or one kind of item, makes have names that begin alike:
 * w[0]=the, U03:the, u:w+0:the.  A token has at most one attribute with most prefixes.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ATTRIBUTE_PREFIX_H
#define TRL_ATTRIBUTE_PREFIX_H

#include "base/strtab.h"

/* The prefix of an attribute: its name up to '=' or ':'.  A single letter before ':' is taken
 * together with what follows up to the next '=' or ':', if there is one (u:w+0:the).  Empty: it has
 * none. */
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
