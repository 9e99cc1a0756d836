/* dump_lists.h -- private to src/model: word lists and scales in a dump, and the template they
 * belong to. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DUMP_LISTS_H
#define TRL_DUMP_LISTS_H

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/dump_text.h"
#include "model/undump.h"
#include "text/number.h"

trl_status trl_put_lists(trl_printer *p, const trl_feature_list *l, trl_error *err);

trl_status trl_undump_list(trl_undump *u);
trl_status trl_undump_word(trl_undump *u);
trl_status trl_undump_scale(trl_undump *u);

/* Checks the template that was read and gives it what was read for it. */
trl_status trl_undump_template(trl_undump *u);
trl_status trl_undump_lists_give(trl_undump *u);
void trl_undump_lists_fini(trl_undump_lists *x);

#endif
