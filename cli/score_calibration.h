/* score_calibration.h -- trellis score calibration: tables, plots and JSON of reliability. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_SCORE_CALIBRATION_H
#define CLI_SCORE_CALIBRATION_H

#include <stdbool.h>

#include "options.h"

typedef struct calibration_settings {
    size_t bins;
    const char *svg;
} calibration_settings;

/* args: 'calibration', then a tagged file, or true trees and a file of spans.  The exit code. */
int score_calibration(const calibration_settings *s, bool json, const operands *args);

#endif
