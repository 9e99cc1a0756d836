/* score_translation.h -- trellis score translation and trellis compare translation. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_SCORE_TRANSLATION_H
#define CLI_SCORE_TRANSLATION_H

#include "options.h"
#include "trellis/translation.h"

/* trellis score translation GOLD [TEST]; the exit code. */
int score_translation(bool json, bool details, const operands *args);

/* trellis compare translation: path has GOLD, A and B; the exit code. */
int compare_translation(const trl_bootstrap_options *o, bool json, const char *const *path);

#endif
