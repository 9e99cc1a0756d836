/* option_table.h -- a table of options over a struct: set, read and compare members by name. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_OPTION_TABLE_H
#define TRL_OPTION_TABLE_H

#include "trellis/options.h"

typedef struct trl_option_row {
    trl_option option;
    /* Of a string: is there such a thing?  NULL: anything, or one of the choices. */
    trl_status (*check)(const void *options, const char *value, trl_error *err);
} trl_option_row;

typedef struct trl_option_table {
    const trl_option_row *row;
    size_t n;
    const void *defaults; /* a struct as it is before anything is set */
} trl_option_table;

#define TRL_OPTION_MEMBER(type, member)                                                            \
    .at = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* NULL: there is none of that name. */
const trl_option *trl_option_find(const trl_option_table *t, const char *name);

/* Every message begins with the option's name as the table has it.  value NULL: the default. */
trl_status trl_option_set(const trl_option_table *t, void *options, const char *name,
                          const char *value, trl_error *err);

/* Appends the value as trl_option_set takes it; nothing for a string that is not given and a number
 * that stands for a default in words. */
trl_status trl_option_get(const trl_option_table *t, const void *options, const char *name,
                          trl_buf *out, trl_error *err);

/* Is it other than the default? */
bool trl_option_is_set(const trl_option_table *t, const trl_option *o, const void *options);

#endif
