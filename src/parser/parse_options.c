/* parse_options.c -- the options of parsing by name. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "options/option_table.h"
#include "parser/tree_decode.h"
#include "trellis/parser.h"

static const trl_parse_options defaults = {.size = sizeof(trl_parse_options),
                                           .lambda = TRL_LAMBDA,
                                           .mix = TRL_MIX,
                                           .latent = TRL_LATENT_SHARE,
                                           .max_work = TRL_MAX_WORK,
                                           .max_bytes = (size_t)2 << 30,
                                           .prune = -1.0};

#define MOST_TREES 10000 /* of one sentence: memory grows with words times trees */

static const char *const decode_names[] = {"brackets", "tree", "viterbi", NULL};

#define ROW(name_, type_, member, ...)                                                             \
    TRL_OPTION_ROW(trl_parse_options, name_, type_, member, __VA_ARGS__)

static const trl_option rows[] = {
    ROW("decode", CHOICE, decode, .choices = decode_names,
        .help = "which tree: the one with the best expected constituents, which is best by F1; "
                "the most probable one; or that of the most probable derivation, which is found "
                "fastest (a tree may have several derivations, by annotation)"),
    ROW("lambda", REAL, lambda, .value = "X", .most = 1.0, .below = true,
        .help = "take constituents that are more probable than this: higher for precision, lower "
                "for recall"),
    ROW("mix", REAL, mix, .value = "X", .most = 1.0,
        .help = "weight of the pruner in the probabilities, 0 to 1; without a span pruner it has "
                "no effect"),
    ROW("latent", REAL, latent, .value = "X", .most = 1.0,
        .help = "weight of the grammars with substates, where the model has any (train 'latent')"),
    ROW("nbest", INTEGER, nbest, .value = "N", .most = MOST_TREES,
        .help = "the N most probable trees"),
    ROW("probability", FLAG, probability, .help = "also the probability of the tree"),
    ROW("spans", FLAG, spans, .help = "also the probabilities of labelled spans"),
    ROW("no-rerank", FLAG, first_stage,
        .help = "by the first stage alone, where the model has a second one (train 'rerank')"),
    ROW("no-functions", FLAG, no_functions,
        .help = "labels without function tags, also where the model has them"),
    ROW("beam", INTEGER, beam, .value = "N", .preset = "no limit",
        .help = "boosted parsers: look at N states after each number of inferences; faster, and "
                "no longer exact"),
    ROW("max-work", REAL, max_work, .value = "MILLIONS", .most = HUGE_VAL,
        .help = "steps for one sentence, counted before they are made; above, a simpler tree is "
                "made, on any machine the same; 0: no limit"),
    ROW("max-time", REAL, max_seconds, .value = "SECONDS", .preset = "no limit", .most = HUGE_VAL,
        .help = "for one sentence; then a simpler tree is made, so that the output depends on how "
                "busy the machine is"),
    ROW("max-bytes", INTEGER, max_bytes, .value = "N",
        .help = "of memory for one sentence; 0: no limit"),
    ROW("prune", REAL, prune, .value = "X", .preset = "the model's", .least = -HUGE_VAL,
        .most = 1.0, .below = true,
        .help = "leave out of the chart what a coarse grammar finds less likely"),
};
#undef ROW

TRL_OPTION_TABLE(trl_parse_options, trl_parse_option_table, rows, defaults)
