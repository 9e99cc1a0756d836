/* crfpp.h -- private: what CRF++'s binary and text models have in common.
 *
 * Both list labels, template lines and a dictionary from attribute names to the number of their
 * first weight: L weights for names that start with U, else L^2 (label before * L + label).  The
 * binary has floats, and crf_test adds them up as floats, in the order of the template; the text
 * is converted to that before use, so its weights are rounded to floats here, too.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CRFPP_H
#define TRL_CRFPP_H

#include "foreign/foreign.h"

typedef struct trl_crfpp {
    trl_foreign *m;
    uint64_t n_weights;
    uint64_t columns;    /* of the data, without the label */
    const float *weight; /* [n_weights] */
    bool cr;             /* the template's lines end with a CR, and so do all names */
    trl_template *tpl;
    float *transitions;     /* [L * L] sums of the lines without a macro; NULL: none yet */
    bool merge_transitions; /* all B lines are such lines */
} trl_crfpp;

/* One line of the template. */
trl_status trl_crfpp_line(trl_crfpp *c, trl_str line);

/* Labels and template are complete: attributes may come.  `tpl` is NULL before. */
trl_status trl_crfpp_begin(trl_crfpp *c);

/* An attribute and the number of its first weight.  TRL_EMODEL, without a place, when it cannot be
 * right. */
trl_status trl_crfpp_attribute(trl_crfpp *c, trl_str name, uint64_t first);

/* All attributes have come. */
trl_status trl_crfpp_end(trl_crfpp *c);
void trl_crfpp_fini(trl_crfpp *c);

#endif
