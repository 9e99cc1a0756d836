/* constraint_scenario.h -- tagging under constraints, for test_alloc. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_CONSTRAINT_SCENARIO_H
#define TRL_TEST_CONSTRAINT_SCENARIO_H

#include "trellis/constraint.h"
#include "trellis/dataset.h"
#include "trellis/train.h"

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

/* Training that keeps rules. */
static trl_status train_with_rules(trl_error *err)
{
    static const trl_str label[] = {{"O", 1}, {"B-X", 3}, {"I-X", 3}};
    static const trl_str cell[] = {{"a", 1}, {"O", 1}, {"b", 1}, {"B-X", 3}};
    static const trl_attr attr[1] = {{{"a", 1}, 1.0}};
    static const size_t begin[4] = {0, 1, 1, 1};
    static const trl_items items = {3, label, begin, attr, 1.0, NULL, 0};
    static const trl_rows rows = {.n_tokens = 2, .n_columns = 2, .cell = cell};
    trl_status st = TRL_OK;
    for (int k = 0; k < 2 && st == TRL_OK; k++) {
        trl_dataset *d = NULL;
        trl_buf model = {0};
        trl_train_options o = trl_train_options_default();
        st = trl_dataset_new(&d, err);
        if (st == TRL_OK)
            st = k == 0 ? trl_dataset_add_items(d, &items, 1, NULL, err)
                        : trl_dataset_add_rows(d, &rows, 1, NULL, err);
        o.data = d;
        o.model_out = &model;
        o.scheme = "iob2";
        o.rules = in_folder("rules");
        o.max_iter = 2;
        o.threads = 1;
        if (st == TRL_OK)
            st = trl_train(&o, NULL, err);
        trl_buf_fini(&model);
        trl_dataset_free(d);
    }
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
    if (st == TRL_OK)
        st = train_with_rules(err);
    trl_tagger_free(t);
    trl_constraint_free(c);
    trl_model_free(m);
    trl_buf_fini(&bytes);
    return st;
}

#endif
