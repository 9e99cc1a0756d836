/* train_stop_options.h -- rows of the table of options (options.h) of every verb that trains: when
 * to stop.  Included inside the table.
 */
/* SPDX-License-Identifier: MIT */
{.help = "When to stop"},
    {"max-iter",
     .type = OPTION_INTEGER,
     TRAIN_FIELD(train.max_iter),
     .value = "N",
     .above_0 = true,
     .fallback = "the optimizer's own rule",
     .help = "iterations at most"},
    {"epsilon", .type = OPTION_REAL, TRAIN_FIELD(train.epsilon), .value = "X",
     .help = "stop when gradient norm / weight norm is below X"},
    {"period", .type = OPTION_INTEGER, TRAIN_FIELD(train.period), .value = "N",
     .help = "iterations over which --delta is measured"},
    {"delta", .type = OPTION_REAL, TRAIN_FIELD(train.delta), .value = "X",
     .help = "stop when the objective fell by less than this fraction"},
