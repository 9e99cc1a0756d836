/* grmm_templates.h -- private: GRMM's list of templates as a model file.
 *
 *     new ACRF.UnigramTemplate (0)
 *     new ACRF.BigramTemplate (0)
 *     new ACRF.PairwiseFactorTemplate (0, 1)
 *     new cc.mallet.grmm.learning.templates.SimilarTokensTemplate (0, true)
 *
 * Label k of a line of data is in column k + 1 (text/grmm.h) and called labelK. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRMM_TEMPLATES_H
#define TRL_GRMM_TEMPLATES_H

#include "graph_model/graph_spec.h"

/* Does the text start with such a line? */
bool trl_grmm_templates_here(const char *text, size_t n);

/* As trl_graph_spec_parse; the text of the result is the model file that the list stands for,
 * the places of labels and factors are those in the list. */
trl_status trl_grmm_templates_parse(const char *name, const char *text, size_t n,
                                    trl_graph_spec **out, trl_error *err);

#endif
