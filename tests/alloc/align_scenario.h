/* align_scenario.h -- word alignment from text to links, for test_alloc.c. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_ALIGN_SCENARIO_H
#define TRL_TEST_ALIGN_SCENARIO_H

#include "trellis/align.h"

static const char align_text[] = "a b ||| x y\nb c ||| y z w\n||| v\nc ||| z\n";

static trl_status do_align(const void *p, trl_error *err)
{
    const trl_align_model *which = p;
    trl_align_options o = trl_align_options_default();
    trl_bitext *b = NULL;
    trl_aligner *a = NULL, *back = NULL;
    trl_buf out = {0};
    char text[512], model[512];
    snprintf(text, sizeof text, "%s/bitext", folder);
    snprintf(model, sizeof model, "%s/model", folder);
    o.model = *which;
    o.ibm1 = o.ibm2 = o.hmm = 2;
    o.threads = 2;
    trl_status st = trl_bitext_read(text, NULL, &b, err);
    if (st == TRL_OK)
        st = trl_aligner_train(b, &o, &a, err);
    if (st == TRL_OK)
        st = trl_aligner_save(a, model, err);
    if (st == TRL_OK)
        st = trl_aligner_open(model, &back, err);
    if (st == TRL_OK)
        st = trl_align(back, b, TRL_GROW_DIAG_FINAL_AND, 2, &out, err);
    trl_buf_fini(&out);
    trl_aligner_free(a);
    trl_aligner_free(back);
    trl_bitext_free(b);
    return st;
}

static void fail_align(void (*fail_all)(const char *name, scenario_fn run, const void *arg))
{
    static const trl_align_model kinds[] = {TRL_ALIGN_IBM2, TRL_ALIGN_HMM};
    for (size_t k = 0; k < 2; k++)
        fail_all("align", do_align, &kinds[k]);
}

#endif
