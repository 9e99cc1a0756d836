/* foreign_scenario.h -- models of other tools, imported and exported, for test_alloc. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_FOREIGN_SCENARIO_H
#define TRL_TEST_FOREIGN_SCENARIO_H

#include "trellis/foreign.h"

/* p: the name of a seed of the fuzzer. */
static trl_status do_foreign(const void *p, trl_error *err)
{
    char from[512], to[512];
    trl_model *m = NULL;
    snprintf(from, sizeof from, "tests/fuzz/corpus/foreign/%s", (const char *)p);
    snprintf(to, sizeof to, "%s/imported", folder);
    trl_status st = trl_model_import(from, to, err);
    if (st == TRL_OK)
        st = trl_model_open(to, &m, err);
    if (st == TRL_OK && strcmp(p, "crfsuite") == 0) {
        snprintf(to, sizeof to, "%s/exported", folder);
        st = trl_model_export(m, to, err);
    }
    trl_model_free(m);
    return st;
}

static void fail_foreign(void (*fail_all)(const char *name, scenario_fn run, const void *arg))
{
    static const char *const seeds[] = {"crfsuite",    "crfsuite-dump", "crfpp-a",
                                        "crfpp-b.txt", "wapiti-crf",    "wapiti-raw"};
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++)
        fail_all(seeds[k], do_foreign, seeds[k]);
}

#endif
