/* derivation.h -- the score of a derivation, part by part. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DERIVATION_H
#define TRL_DERIVATION_H

#include "base/buf.h"
#include "parser/tree_decode.h"
#include "trellis/parser.h"

/* Memory that is used again; zero-initialise. */
typedef struct trl_parts {
    trl_parse_part *part;
    size_t n, cap;
    size_t *name; /* [n + 1] where each name begins in `names` */
    size_t name_cap;
    trl_buf names;
} trl_parts;

void trl_parts_fini(trl_parts *p);

/* The parts of d->tree, which the chart and its tables hold (trl_decode_best).  TRL_ENOMEM. */
trl_status trl_parts_of(trl_parts *p, trl_decoder *d, const trl_grammar *g, const trl_str *word,
                        trl_error *err);

#endif
