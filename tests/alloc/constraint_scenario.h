/* constraint_scenario.h -- tagging under constraints, for test_alloc. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_CONSTRAINT_SCENARIO_H
#define TRL_TEST_CONSTRAINT_SCENARIO_H

#include "trellis/constraint.h"

/* Every kind of rule, and every answer. */
static trl_status constrained_answers(trl_tagger *t, const trl_model *m, trl_error *err)
{
    static const trl_attr attr[1] = {{{"a", 1}, 1.0}};
    static const size_t begin[4] = {0, 1, 1, 1};
    const trl_items seq = {.n_tokens = 3, .begin = begin, .attr = attr, .weight = 1.0};
    trl_allowed_list *known = NULL;
    uint32_t y[6];
    double p[27], x[2];
    size_t found;
    trl_status st = trl_allowed_list_memory("known", "1 1 !B-X\n", 9, m, &known, err);
    if (st == TRL_OK)
        st = trl_tagger_set_items(t, &seq, err);
    if (st == TRL_OK)
        st = trl_allowed_list_apply(known, 1, t, err);
    if (st == TRL_OK)
        st = trl_tagger_viterbi(t, y, x, err);
    if (st == TRL_OK)
        st = trl_tagger_nbest(t, 2, y, x, &found, err);
    if (st == TRL_OK)
        st = trl_tagger_posterior(t, y, err);
    if (st == TRL_OK)
        st = trl_tagger_pair_marginals(t, p, err);
    if (st == TRL_OK)
        st = trl_tagger_span(t, 1, 2, (trl_str){"X", 1}, p, err);
    trl_allowed_list_free(known);
    return st;
}

static trl_status do_constraints(const void *arg, trl_error *err)
{
    static const char dump[] =
        "trellis-model\t1\nkind\tchain\nobjective\tlikelihood\nprobability\tyes\norder\t1\n"
        "columns\t0\nsetting\trule scheme iob2\nlabel\tO\nlabel\tB-X\nlabel\tI-X\n"
        "node\ta\tO\t0.5\nnode\ta\tI-X\t0.25\n";
    static const char *const rule[] = {"scheme iob2",   "follow <s> O|I-X",
                                       "max-spans X=1", "pattern (O|B-X){1,3} .*",
                                       "require O B-X", "forbid I-X O"};
    trl_buf bytes = {0};
    trl_model *m = NULL;
    trl_constraint *c = NULL;
    trl_tagger *t = NULL;
    (void)arg;
    trl_status st = trl_model_undump_buf("dump", dump, sizeof dump - 1, &bytes, err);
    if (st == TRL_OK)
        st = trl_model_from_copy(bytes.data, bytes.len, &m, err);
    if (st == TRL_OK)
        st = trl_constraint_new(m, &c, err);
    for (size_t k = 0; k < sizeof rule / sizeof *rule && st == TRL_OK; k++)
        st = trl_constraint_rule(c, (trl_str){rule[k], strlen(rule[k])}, err);
    if (st == TRL_OK)
        st = trl_tagger_new(m, &t, err);
    for (int k = 0; k < 2 && st == TRL_OK; k++) { /* the model's own rules first */
        st = constrained_answers(t, m, err);
        if (st == TRL_OK)
            st = trl_tagger_constrain(t, c, err);
    }
    trl_tagger_free(t);
    trl_constraint_free(c);
    trl_model_free(m);
    trl_buf_fini(&bytes);
    return st;
}

#endif
