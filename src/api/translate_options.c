/* translate_options.c -- the options of translation by name: of learning, and of its limits. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "options/option_table.h"
#include "trellis/translate.h"

static const trl_translate_options defaults = {.size = sizeof(trl_translate_options),
                                               .min_count = 3,
                                               .min_share = 0.05,
                                               .tune = SIZE_MAX,
                                               .lambda = 0.5,
                                               .decay = 0.8,
                                               .rate = 0.3,
                                               .sample = 4096,
                                               .c2 = 1.0,
                                               .iterations = 5,
                                               .beam = 40,
                                               .memory = (size_t)1 << 30,
                                               .seed = 1,
                                               .tune_null = 100};

static const char *const words[] = {"boosted", "l2", "frequent", "generative", NULL};

#define ROW(name_, type_, member, ...)                                                             \
    TRL_OPTION_ROW(trl_translate_options, name_, type_, member, __VA_ARGS__)

static const trl_option rows[] = {
    ROW("words", CHOICE, words, .choices = words,
        .help = "classifiers of words: boosted trees, logistic regression, or always the most "
                "frequent translation; generative: words and orders by a lexicalised transducer"),
    ROW("iterations", INTEGER, iterations, .value = "N", .help = "generative: of Viterbi EM"),
    ROW("drop-lost", FLAG, drop_lost,
        .help = "words whose links the trees cannot keep become nothing, as in the paper, instead "
                "of one of the linked words"),
    ROW("min-count", INTEGER, min_count, .value = "N",
        .help = "a translation of a word is a candidate when it occurs N times ..."),
    ROW("min-share", REAL, min_share, .value = "X", .most = 1.0,
        .help = "... and makes up this share of them; the most frequent one always is"),
    ROW("tune", INTEGER, tune, .value = "N", .preset = "a tenth, 1000 at most",
        .help = "pairs that choose lambda and are not trained on"),
    ROW("tune-null", INTEGER, tune_null, .value = "N",
        .help = "with N of them or more, what leaving a word out costs is tuned to the F of their "
                "translations; 0: never"),
    ROW("lambda", REAL, lambda, .value = "X", .above_0 = true,
        .help = "where the path of lambda ends"),
    ROW("decay", REAL, decay, .value = "X", .above_0 = true, .most = 1.0, .below = true,
        .help = "lambda is multiplied by X when no root can be split"),
    ROW("eta", REAL, rate, .value = "X", .above_0 = true, .most = 1.0,
        .help = "the share of the way to its best value that a leaf goes"),
    ROW("sample", INTEGER, sample, .value = "N",
        .help = "choose splits by N examples drawn by weight; 0: all"),
    ROW("c2", REAL, c2, .value = "X", .most = HUGE_VAL, .help = "l2: the quadratic penalty"),
    ROW("no-intercept", FLAG, no_intercept,
        .help = "l2: no intercepts, which are neither penalised nor counted as features"),
    ROW("features", INTEGER, features, .value = "N", .preset = "all",
        .help = "l2: keep the N largest weights"),
    ROW("features-of", STRING, features_of, .value = "FILE", .file = TRL_OPTION_INPUT,
        .help =
            "l2: a model; keep as many weights of every pair of words as it has features of it"),
    ROW("beam", INTEGER, beam, .value = "N",
        .help = "links to permutations: items of a node; 0: all"),
    ROW("bytes", INTEGER, memory, .value = "N",
        .help = "features of a classifier beyond this go to a temporary file"),
    ROW("seed", INTEGER, seed, .value = "N", .help = "of the sampling"),
    ROW("threads", INTEGER, threads, .value = "N",
        .help = "threads, 0 for one per processor; the model does not depend on it"),
    ROW("checkpoint", STRING, checkpoint, .value = "FILE", .file = TRL_OPTION_OUTPUT,
        .help = "keep links, trees and classifiers there as they are finished, for 'resume'"),
    ROW("resume", FLAG, resume, .help = "go on from the checkpoint, to the same model"),
};
#undef ROW

TRL_OPTION_TABLE(trl_translate_options, trl_translate_option_table, rows, defaults)

static const trl_translate_limits limit_defaults = {
    .size = sizeof(trl_translate_limits), .ratio = 16.0, .most = 40, .nbest = 1};

#define ROW(name_, type_, member, ...)                                                             \
    TRL_OPTION_ROW(trl_translate_limits, name_, type_, member, __VA_ARGS__)

static const trl_option limit_rows[] = {
    ROW("nbest", INTEGER, nbest, .value = "N", .above_0 = true, .most = 10000.0,
        .help = "the N best translations"),
    ROW("explain", FLAG, explain, .help = "say what was chosen, and what it costs"),
    ROW("ratio", REAL, ratio, .value = "X", .most = HUGE_VAL,
        .help = "drop what costs more than X times the cheapest of a node; 0: nothing"),
    ROW("items", INTEGER, most, .value = "N", .help = "keep N translations of a node; 0: all"),
};
#undef ROW

TRL_OPTION_TABLE(trl_translate_limits, trl_translate_limit_table, limit_rows, limit_defaults)
