/* default_template.h -- the templates used when none is given. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DEFAULT_TEMPLATE_H
#define TRL_DEFAULT_TEMPLATE_H

#include <stddef.h>

/* Text for data of n_columns columns, the label included: words in a window, affixes, capitals and
 * digits; with a second column its values and their n-grams too.  A static string. */
const char *trl_default_template(size_t n_columns);

#endif
