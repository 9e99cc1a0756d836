/* tune_options.c -- the options of tuning and of cross-validation by name. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "options/option_table.h"
#include "trellis/tune.h"

#define FOLDS                                                                                      \
    ROW("documents", FLAG, documents,                                                              \
        .help = "sequences of one document (-DOCSTART-, # newdoc) stay in one fold"),              \
        ROW("groups", STRING, groups, .value = "FILE", .file = TRL_OPTION_INPUT,                   \
            .help = "line N of it names the group of sequence, graph or tree N; a group stays in " \
                    "one fold")

static const trl_cv_options cv_defaults = {.size = sizeof(trl_cv_options), .folds = 5};

#define ROW(name_, type_, member, ...)                                                             \
    TRL_OPTION_ROW(trl_cv_options, name_, type_, member, __VA_ARGS__)

static const trl_option cv_rows[] = {
    ROW("folds", INTEGER, folds, .value = "N", .least = 2.0, .most = HUGE_VAL,
        .help = "parts into which the data are dealt, by the seed"),
    FOLDS,
};
#undef ROW

TRL_OPTION_TABLE(trl_cv_options, trl_cv_option_table, cv_rows, cv_defaults)

static const trl_tune_options tune_defaults = {.size = sizeof(trl_tune_options), .hold_out = 10};

static const char *const measure_names[] = {
    [TRL_TUNE_GUESS] = "guess",         [TRL_TUNE_F1] = "f1",
    [TRL_TUNE_PRECISION] = "precision", [TRL_TUNE_RECALL] = "recall",
    [TRL_TUNE_ACCURACY] = "accuracy",   NULL,
};

#define ROW(name_, type_, member, ...)                                                             \
    TRL_OPTION_ROW(trl_tune_options, name_, type_, member, __VA_ARGS__)

static const trl_option tune_rows[] = {
    ROW("halving", FLAG, halving,
        .help = "all settings run for a few iterations, the best third of them for three times as "
                "many, and so on; the last three run to their end"),
    ROW("folds", INTEGER, folds, .value = "N", .preset = "none", .least = 2.0, .most = HUGE_VAL,
        .help = "score by cross-validation; the model is then trained on all data"),
    FOLDS,
    ROW("hold-out", INTEGER, hold_out, .value = "N", .least = 2.0, .most = HUGE_VAL,
        .help = "without 'dev' and 'folds': one sequence in N is held out"),
    ROW("select", CHOICE, measure, .choices = measure_names,
        .help = "what is compared; guess: F1 of chunks for tags like B-X and O, otherwise "
                "accuracy"),
    ROW("cold", FLAG, cold,
        .help = "start every run from zero, not from the weights of the previous one"),
    ROW("refit", FLAG, refit,
        .help = "train the model once more with what was chosen, held-out data included"),
};
#undef ROW

TRL_OPTION_TABLE(trl_tune_options, trl_tune_option_table, tune_rows, tune_defaults)
