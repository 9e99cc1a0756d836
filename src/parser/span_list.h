/* span_list.h -- labelled spans with their probabilities, most probable first. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SPAN_LIST_H
#define TRL_SPAN_LIST_H

#include "base/strtab.h"
#include "chart/mbr.h"
#include "trellis/parser.h"

/* Memory is used again from sentence to sentence.  Zero-initialise; release with trl_free(span). */
typedef struct trl_span_list {
    trl_span *span;
    size_t n, cap;
} trl_span_list;

/* The brackets with a label, of at least 0.01, in the order of trl_parse.spans.  Labels are
 * borrowed from the table.  TRL_ENOMEM. */
trl_status trl_span_list_fill(trl_span_list *l, const trl_brackets *b, const trl_strtab *labels,
                              trl_error *err);

#endif
