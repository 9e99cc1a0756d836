/* align_options.c -- the options of word alignment by name. */
/* SPDX-License-Identifier: MIT */
#include "options/option_table.h"
#include "trellis/align.h"

static const trl_align_options defaults = {.size = sizeof(trl_align_options),
                                           .model = TRL_ALIGN_HMM,
                                           .ibm1 = 5,
                                           .ibm2 = 5,
                                           .hmm = 5,
                                           .null = 0.2};

static const char *const kinds[] = {"ibm1", "ibm2", "hmm", NULL};

#define ROW(name_, type_, member, ...)                                                             \
    TRL_OPTION_ROW(trl_align_options, name_, type_, member, __VA_ARGS__)

static const trl_option rows[] = {
    ROW("kind", CHOICE, model, .choices = kinds, .help = "the model that is trained, after IBM 1"),
    ROW("ibm1", INTEGER, ibm1, .value = "N", .help = "iterations of EM for IBM 1"),
    ROW("ibm2", INTEGER, ibm2, .value = "N", .help = "iterations of EM for IBM 2"),
    ROW("hmm", INTEGER, hmm, .value = "N", .help = "iterations of EM for the hidden Markov model"),
    ROW("null", REAL, null, .value = "P", .above_0 = true, .most = 1.0, .below = true,
        .help = "hmm: probability that a word has no counterpart"),
    ROW("forward-only", FLAG, forward_only, .help = "target words choose; no reverse direction"),
    ROW("threads", INTEGER, threads, .value = "N",
        .help = "threads, 0 for one per processor; the result does not depend on it"),
};
#undef ROW

TRL_OPTION_TABLE(trl_align_options, trl_align_option_table, rows, defaults)
