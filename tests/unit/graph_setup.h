/* graph_setup.h -- trl_train of graphs from a model file, in a folder of the run's own. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_GRAPH_SETUP_H
#define TRL_TEST_GRAPH_SETUP_H

#include "support.h"
#include "train_setup.h"

/* Columns in a file whose path stays valid. */
static inline const char *make_data(uint64_t seed, size_t sentences)
{
    static char path[512];
    snprintf(path, sizeof path, "%s", write_columns("train", seed, sentences));
    return path;
}

static inline void graph_setup(setup *s, const char *train, const char *model_file)
{
    setup_make(s, train);
    s->o.kind = "graph";
    s->o.template_name = "model.graph";
    s->o.template_text = model_file;
    s->o.template_size = strlen(model_file);
    s->o.threads = 1;
}

static inline void train(setup *s)
{
    trl_error err;
    assert_ok(trl_train(&s->o, &s->result, &err));
}

/* For cmocka_run_group_tests: the folder that in_folder names. */
static inline int open_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/trellis-graph-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int close_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

#endif
