/* score_scenario.h -- scores of tags and trees, and comparisons, for test_alloc.c, whose folder
 * they read from. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_SCORE_SCENARIO_H
#define TRL_TEST_SCORE_SCENARIO_H

#include "trellis/reliability.h"
#include "trellis/translation.h"

static trl_status do_score(const void *p, trl_error *err)
{
    (void)p;
    static const char *const gold[] = {"B-X", "I-X", "O"}, *const guess[] = {"B-X", "O", "B-Y"};
    const trl_score_options o = trl_score_options_default();
    trl_score *s = NULL;
    char *text = NULL, path[512];
    snprintf(path, sizeof path, "%s/tagged", folder);
    trl_status st = trl_score_new(&o, &s, err);
    if (st == TRL_OK)
        st = trl_score_add(s, 3, gold, guess, err);
    if (st == TRL_OK)
        st = trl_score_file(s, path, err);
    for (int k = 0; k < 4 && st == TRL_OK; k++) {
        st = k == 0   ? trl_score_report_chunks(s, false, &text, err)
             : k == 1 ? trl_score_report_chunks(s, true, &text, err)
             : k == 2 ? trl_score_report_tokens(s, &text, err)
                      : trl_score_report_json(s, &text, err);
        if (st == TRL_OK)
            trl_text_free(text);
    }
    trl_score_free(s);
    return st;
}

static trl_status do_reliability(const void *p, trl_error *err)
{
    (void)p;
    static trl_reliability r[TRL_N_RELIABLE];
    char path[512];
    for (size_t k = 0; k < TRL_N_RELIABLE; k++)
        r[k] = (trl_reliability){.n_bins = 10};
    snprintf(path, sizeof path, "%s/sure", folder);
    return trl_reliability_file(path, r, err);
}

static trl_status do_translation(const void *p, trl_error *err)
{
    (void)p;
    char gold[512], test[512];
    trl_translation *a = NULL, *b = NULL;
    trl_bootstrap_options o = trl_bootstrap_options_default();
    trl_translation_comparison r;
    o.resamples = 3;
    snprintf(gold, sizeof gold, "%s/marks", folder);
    snprintf(test, sizeof test, "%s/documents", folder);
    trl_status st = trl_translation_files(gold, gold, &a, err);
    if (st == TRL_OK)
        st = trl_translation_files(gold, test, &b, err);
    if (st == TRL_OK)
        st = trl_translation_compare(a, b, &o, &r, err);
    trl_translation_free(a);
    trl_translation_free(b);
    return st;
}

static trl_status do_parseval(const void *p, trl_error *err)
{
    (void)p;
    trl_parseval_options o = trl_parseval_options_default();
    trl_parseval *s = NULL;
    char *text = NULL, params[512], gold[512], test[512];
    snprintf(params, sizeof params, "%s/params", folder);
    snprintf(gold, sizeof gold, "%s/trees", folder);
    snprintf(test, sizeof test, "%s/parses", folder);
    o.params = params;
    trl_status st = trl_parseval_new(&o, &s, err);
    if (st == TRL_OK)
        st = trl_parseval_files(s, gold, test, err);
    if (st == TRL_OK)
        st = trl_parseval_report(s, &text, err);
    if (st == TRL_OK) {
        trl_text_free(text);
        st = trl_parseval_report_json(s, &text, err);
    }
    if (st == TRL_OK)
        trl_text_free(text);
    trl_parseval_free(s);
    return st;
}

static trl_status do_compare(const void *p, trl_error *err)
{
    (void)p;
    const trl_parseval_options o = trl_parseval_options_default();
    const trl_bootstrap_options b = {.resamples = 3, .confidence = 0.5};
    trl_compare *c = NULL;
    trl_comparison r;
    uint64_t left_out;
    char gold[512], a[512];
    snprintf(gold, sizeof gold, "%s/trees", folder);
    snprintf(a, sizeof a, "%s/others", folder);
    trl_status st = trl_compare_new(&c, err);
    if (st == TRL_OK)
        st = trl_compare_trees(c, &o, &(trl_compare_paths){gold, a, gold}, &left_out, err);
    if (st == TRL_OK)
        st = trl_compare_run(c, &b, &r, err);
    trl_compare_free(c);
    return st;
}

#endif
