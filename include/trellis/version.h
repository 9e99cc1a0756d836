/* version.h -- which Trellis this is.  The one place of the number: everything else takes it from
 * here. */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_VERSION_H
#define TRELLIS_VERSION_H

#include "trellis/status.h"

TRL_BEGIN_DECLS

/* Of the headers a program was compiled with. */
#define TRL_VERSION_MAJOR 0
#define TRL_VERSION_MINOR 1
#define TRL_VERSION_PATCH 0

/* Of the library it runs with, as "0.1.0"; a static string. */
TRL_API const char *trl_version(void);

TRL_END_DECLS

#endif
