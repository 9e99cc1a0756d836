/* train_penalty_options.h -- rows of the table of options (options.h) of verbs that train once with
 * one penalty.  Included inside the table.
 */
/* SPDX-License-Identifier: MIT */
{.help = "Penalties"}, {TRAIN_OPTION("c1")}, {TRAIN_OPTION("c2")},
    {"c",
     .type = OPTION_REAL,
     TRAIN_FIELD(c),
     .value = "X",
     .above_0 = true,
     .fallback = "as --c2 says",
     .help = "same as --c2 1/(2X): a Gaussian prior of variance X"},
