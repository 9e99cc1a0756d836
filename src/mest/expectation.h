/* expectation.h -- E_q0[f] for every feature of a design, exactly.
 *
 *     E_q0[f] = sum over all (x, y) of q0(x, y) f(x, y)        expected count per sequence
 *
 * A template line is a window of cells (template_window.h); an attribute is one way to fill it, and
 * its row of scores by label is a path sum (window.h).  The possible fillings are read from the
 * training data: every distinct tuple of macro texts of every line, sorted, so that windows share
 * their partial products.
 *
 * Two lines that differ only in what their macros read (bags of words) can make the same attribute:
 * it then has the sum of both expectations, over all tuples that either line makes.  The only
 * inexact attributes are those that coincide: two lines with different literal text, or two tuples
 * of one line ("%x[0,0]%x[1,0]" on a, bc and ab, c), that make the same attribute count only as far
 * as they occur in the data.
 *
 * Cost: one look-up per line and token, two sparse matrix-vector products per distinct tuple and
 * row.  One thread.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_EXPECTATION_H
#define TRL_EXPECTATION_H

#include "base/cancel.h"
#include "model/hmm.h"
#include "feature/design.h"

/* The training data; everything is borrowed. */
typedef struct trl_expect_data {
    const trl_template *tpl; /* NULL for items */
    const trl_corpus *corpus;
    const trl_design *design; /* of the corpus */
    const trl_column_values
        *columns; /* the same sequences; masked if the corpus was made from masked ones */
    const trl_cancel *cancel; /* or NULL: asked all along; then TRL_ECANCEL */
} trl_expect_data;

/* Adds to E (trl_design_alloc doubles; the caller starts with zeros) the expectations of the
 * lines with a window and of the constant attributes.  left_over [lines of the template] is set
 * for lines that have none: sample them (sample_q0.h).
 * TRL_EINVAL when a line reads a column that the HMM does not emit, or there is no template;
 * TRL_ENUMERIC, TRL_ENOMEM. */
trl_status trl_expect_exact(const trl_expect_data *x, const trl_hmm *q0, double *E, bool *left_over,
                            trl_error *err);

/* Adds to E the expectations of q0(y | x) on the training data [SVL07, equation 16]:
 *
 *     E[f] = sum_i (weight_i / sum weight) E_{q0(y | x_i)}[f(x_i, y)]
 *
 * in one forward-backward pass, for any features.  `value` [n_tokens][columns]: the HMM's values.
 * TRL_ENUMERIC when a sequence is impossible under the HMM, TRL_ENOMEM. */
trl_status trl_expect_empirical(const trl_expect_data *x, const trl_hmm *q0, const uint32_t *value,
                                double *E, trl_error *err);

#endif
