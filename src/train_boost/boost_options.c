/* boost_options.c -- the options of boosting by name. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "options/option_table.h"
#include "trellis/boost.h"

static const trl_boost_options defaults = {.size = sizeof(trl_boost_options),
                                           .decay = 0.8,
                                           .lambda_end = 0.0001,
                                           .min_gain = 0.1,
                                           .rate = 1.0,
                                           .patience = 5,
                                           .seed = 1,
                                           .checkpoint_every = 100};

#define ROW(name_, type_, member, ...)                                                             \
    TRL_OPTION_ROW(trl_boost_options, name_, type_, member, __VA_ARGS__)

static const trl_option rows[] = {
    ROW("sample", INTEGER, sample, .value = "N",
        .help = "choose splits by N examples drawn by weight; 0: by all, exactly"),
    ROW("depth", INTEGER, depth, .value = "N", .preset = "no limit",
        .help = "splits from the root of a tree to a leaf at most"),
    ROW("trees", INTEGER, trees, .value = "N", .preset = "no limit",
        .help = "of a classifier at most"),
    ROW("min-gain", REAL, min_gain, .value = "X", .most = HUGE_VAL,
        .help = "a split adds more than X lambda to the gain"),
    ROW("rate", REAL, rate, .value = "X", .above_0 = true, .most = 1.0,
        .help = "leaves go this share of the way to their best value: less than 1 takes more "
                "trees, and is often better on new data"),
    ROW("decay", REAL, decay, .value = "X", .above_0 = true, .most = 1.0, .below = true,
        .help = "lambda is multiplied by X when no root can be split"),
    ROW("lambda-end", REAL, lambda_end, .value = "X", .least = 1e-9, .most = 1.0, .below = true,
        .help = "end when lambda is below X times the first"),
    ROW("lambda-least", REAL, lambda_least, .value = "X", .most = HUGE_VAL,
        .help = "end when lambda is below X"),
    ROW("patience", INTEGER, patience, .value = "N",
        .help = "end after N points without a smaller held-out loss; 0: never"),
    ROW("no-intercept", FLAG, no_intercept,
        .help = "nothing but compound features, as in the paper"),
    ROW("seed", INTEGER, seed, .value = "N", .help = "of the sampling"),
    ROW("threads", INTEGER, threads, .value = "N",
        .help = "threads, 0 for one per processor; the result does not depend on it"),
    ROW("checkpoint", STRING, checkpoint, .value = "FILE", .file = TRL_OPTION_OUTPUT,
        .help = "keep the state there, for 'resume'; classifier K > 0 in FILE.K"),
    ROW("checkpoint-every", INTEGER, checkpoint_every, .value = "N", .above_0 = true,
        .help = "steps: a tree, or a smaller lambda, is one"),
    ROW("resume", FLAG, resume, .help = "go on from the checkpoint, to the same model"),
};
#undef ROW

TRL_OPTION_TABLE(trl_boost_options, trl_boost_option_table, rows, defaults)
