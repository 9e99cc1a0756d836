/* pcfg.c -- probabilities of rules by relative frequency. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "grammar/lexicon.h"

static double log_share(const trl_grammar *g, uint32_t parent, double count, double smooth)
{
    const double all = g->parent_count[parent] + smooth * (double)g->parent_unseen[parent];
    return log((count > 0.0 ? count : smooth) / all);
}

void trl_pcfg_rules(const trl_grammar *g, double smooth, double *binary_logp, double *unary_logp)
{
    for (size_t r = 0; r < g->n_binary; r++)
        binary_logp[r] = log_share(g, g->binary[r].parent, g->binary_count[r], smooth);
    for (size_t r = 0; r < g->n_unary; r++)
        unary_logp[r] = log_share(g, g->unary[r].parent, g->unary_count[r], smooth);
}
