/* shrink_options.c -- the options of shrinking by name. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "options/option_table.h"
#include "trellis/shrink.h"

static const trl_shrink_options defaults = {.size = sizeof(trl_shrink_options)};

static trl_status check_bits(const void *options, const char *value, trl_error *err)
{
    (void)options;
    if (strcmp(value, "32") == 0 || strcmp(value, "16") == 0 || strcmp(value, "8") == 0)
        return TRL_OK;
    return trl_fail(err, TRL_EINVAL, "bits '%.60s' is not known: use 32, 16 or 8", value);
}

#define ROW(name_, type_, member, ...)                                                             \
    TRL_OPTION_ROW(trl_shrink_options, name_, type_, member, __VA_ARGS__)

static const trl_option rows[] = {
    ROW("prune", REAL, prune, .value = "X", .above_0 = true, .preset = "none",
        .help = "leave out weights below X in absolute value"),
    ROW("keep", REAL, keep, .value = "SHARE", .above_0 = true, .most = 1.0, .preset = "all",
        .help = "or: keep this share of the weights, the largest ones"),
    ROW("bits", INTEGER, bits, .value = "32|16|8", .preset = "as they are", .check = check_bits,
        .help = "bits of a weight"),
    ROW("fingerprints", FLAG, fingerprints,
        .help = "32 bits of a hash in place of the names of attributes"),
};
#undef ROW

TRL_OPTION_TABLE(trl_shrink_options, trl_shrink_option_table, rows, defaults)
