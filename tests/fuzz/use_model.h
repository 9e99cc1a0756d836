/* use_model.h -- tagging three tokens with whatever model a fuzzer has opened. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_USE_MODEL_H
#define TESTS_FUZZ_USE_MODEL_H

#include <stdlib.h>

#include "model/model.h"
#include "trellis/tagger.h"

static void require(bool good)
{
    if (!good)
        abort();
}

#define TOKENS 3

/* Three tokens: the first names of the model, and others. */
static void set_sequence(trl_tagger *t, const trl_model *m)
{
    const trl_strview *names = &trl_model_chain(m)->family[TRL_NODE].names;
    const trl_str some[] = {names->n > 0 ? trl_strview_get(names, 0) : (trl_str){"a", 1},
                            names->n > 1 ? trl_strview_get(names, 1) : (trl_str){"b", 1},
                            {"the", 3}};
    const trl_model_info info = trl_model_get_info(m);
    trl_str cell[TOKENS * 8];
    trl_attr attr[TOKENS * 3];
    static const size_t begin[] = {0, 3, 6, 9};
    trl_error err;
    for (size_t i = 0; i < TOKENS * 8; i++)
        cell[i] = some[i % 3];
    for (size_t i = 0; i < TOKENS * 3; i++)
        attr[i] = (trl_attr){some[i % 3], (double)i - 3.0};
    const trl_rows rows = {.n_tokens = TOKENS, .n_columns = 8, .cell = cell};
    const trl_items items = {.n_tokens = TOKENS, .begin = begin, .attr = attr};
    const trl_status st = info.format == TRL_FORMAT_COLUMNS ? trl_tagger_set_rows(t, &rows, &err)
                                                            : trl_tagger_set_items(t, &items, &err);
    require(st == TRL_OK || st == TRL_EPARSE);
}

static void tag(const trl_model *m)
{
    const trl_model_info info = trl_model_get_info(m);
    trl_tagger *t = NULL;
    trl_error err;
    uint32_t labels[TOKENS * 2];
    double x[TOKENS * 64], score[2], log_z;
    size_t found;
    if (info.n_labels > 64)
        return; /* L^3 tables: possible, but too much for a fuzzer */
    if (trl_tagger_new(m, &t, &err) == TRL_EMODEL)
        return; /* a rule that it keeps is none */
    require(t != NULL);
    set_sequence(t, m);
    if (trl_tagger_viterbi(t, labels, score, &err) == TRL_OK) {
        for (size_t i = 0; i < TOKENS; i++)
            require(labels[i] < info.n_labels);
        require(trl_tagger_score(t, labels, score, &err) == TRL_OK);
        require(trl_tagger_nbest(t, 2, labels, score, &found, &err) == TRL_OK && found >= 1);
        if (info.is_probability) {
            (void)trl_tagger_marginals(t, x, &err);
            (void)trl_tagger_log_z(t, &log_z, &err);
        }
    }
    trl_tagger_free(t);
}

#endif
