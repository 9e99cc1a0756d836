/* tune_scenario.h -- tuning; cross-validation of chains, graphs and trees. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TUNE_SCENARIO_H
#define TRL_TEST_TUNE_SCENARIO_H

#include "trellis/cv.h"
#include "trellis/tune.h"

typedef struct tune_arg {
    const char *data, *template_text; /* a name in the folder */
    bool search;                      /* over objectives, by folds */
} tune_arg;

static trl_status do_tune(const void *p, trl_error *err)
{
    const tune_arg *a = p;
    static const double grid[] = {0.5, 5.0};
    trl_tune_options o = trl_tune_options_default();
    trl_train_options t = trl_train_options_default();
    char data[512], model[512];
    const char *train[1] = {data};
    snprintf(data, sizeof data, "%s", in_folder(a->data));
    snprintf(model, sizeof model, "%s", in_folder("model"));
    o.train = &t;
    t.train = train;
    t.n_train = 1;
    t.template_text = a->template_text;
    t.template_size = a->template_text ? strlen(a->template_text) : 0;
    t.max_iter = 2;
    t.model = model;
    o.grid = grid;
    o.n_grid = 2;
    o.hold_out = 2;
    o.refit = true;
    static const char *const objectives[] = {"likelihood", "memm"};
    if (a->search) {
        o.objectives = objectives;
        o.n_objectives = 2;
        o.folds = 2;
        o.halving = true;
    }
    return trl_tune(&o, NULL, err);
}

typedef struct cv_arg {
    const char *kind, *path, *template_text, *groups, *scheme;
    bool documents;
} cv_arg;

static trl_status cv_labels(void *ctx, const trl_cv_labels *labels, trl_error *err)
{
    (void)err;
    *(size_t *)ctx += labels->n_tokens;
    return TRL_OK;
}

static trl_status do_cv(const void *p, trl_error *err)
{
    const cv_arg *a = p;
    size_t n = 0;
    trl_train_options t = trl_train_options_default();
    trl_cv_options o = trl_cv_options_default();
    trl_cv_result result;
    t.kind = a->kind;
    t.grade = strcmp(a->kind, "tree") == 0 ? "generative" : t.grade;
    t.train = &a->path;
    t.n_train = 1;
    t.template_text = a->template_text;
    t.template_size = a->template_text ? strlen(a->template_text) : 0;
    t.scheme = a->scheme;
    t.max_iter = 1;
    t.threads = 1;
    o.train = &t;
    o.folds = 2;
    o.documents = a->documents;
    o.groups = a->groups;
    o.on_labels = cv_labels;
    o.ctx = &n;
    return trl_cv(&o, &result, err);
}

static void fail_cv(void (*try)(const char *name, scenario_fn run, const void *arg),
                    const char *where)
{
    static const struct {
        const char *name, *text;
    } file[] = {{"cv-rows", "-DOCSTART-\n\na B-X\nb O\n\na B-X\n\n-DOCSTART-\n\nb O\na B-X\n\n"},
                {"cv-trees", "(S (NP (D a) (N b)) (V c))\n(S (N d) (V e))\n"},
                {"cv-groups", "one\ntwo\none\n"}};
    char path[3][256];
    for (size_t k = 0; k < 3; k++) {
        snprintf(path[k], sizeof path[k], "%s/%s", where, file[k].name);
        FILE *f = fopen(path[k], "w");
        assert_non_null(f);
        fputs(file[k].text, f);
        fclose(f);
    }
    const cv_arg run[] = {
        {.kind = "chain", .path = path[0], .template_text = "U:%x[0,0]\n", .documents = true},
        {.kind = "chain", .path = path[0], .groups = path[2], .scheme = "iob2"},
        {.kind = "graph", .path = path[0], .template_text = "labels y column 1\nfactor a: y[i]\n"},
        {.kind = "tree", .path = path[1]}};
    for (size_t k = 0; k < sizeof run / sizeof *run; k++)
        try("cross-validation", do_cv, &run[k]);
}

#endif
