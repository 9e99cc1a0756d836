/* tag_sure_options.h -- rows of the table of options of 'trellis tag': how sure the labels are. */
/* SPDX-License-Identifier: MIT */
{"confidence", .type = OPTION_FLAG, OPTION_FIELD(settings, style.confidence),
 .help = "print before each sequence the probability of the labelling and the entropy of all, and "
         "after each label four columns: its probability, the entropy of the token, the "
         "probabilities of its span and of the span's boundaries"},
    {"spans", .type = OPTION_FLAG, OPTION_FIELD(settings, style.spans),
     .help = "print, instead of tokens, a line FROM-TO TYPE P BOUNDARIES for each chunk found"},
    {"spans-above",
     .type = OPTION_REAL,
     OPTION_FIELD(settings, style.above),
     .value = "P",
     .above_0 = true,
     .fallback = "only those found",
     .help = "the same for all spans whose probability is at least P"},
