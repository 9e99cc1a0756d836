/* train_stop_options.h -- rows of the table of options (options.h) of every verb that trains: when
 * to stop.  Included inside the table.
 */
/* SPDX-License-Identifier: MIT */
{.help = "When to stop"}, {TRAIN_OPTION("max-iter")}, {TRAIN_OPTION("epsilon")},
    {TRAIN_OPTION("period")}, {TRAIN_OPTION("delta")},
