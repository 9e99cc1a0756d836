/* train_model_options.h -- rows of the table of options (options.h) of every verb that trains: the
 * model and its training.  Included inside the table; TRAIN_CHAINS_ONLY leaves out what is for
 * trees.
 */
/* SPDX-License-Identifier: MIT */
{.help = "Model"}, {TRAIN_OPTION("kind")},
#ifndef TRAIN_CHAINS_ONLY
    {TRAIN_OPTION("grade")}, {TRAIN_OPTION("sample")}, {TRAIN_OPTION("stumps")},
    {TRAIN_OPTION("uniform-values")}, {TRAIN_OPTION("jackknife")}, {TRAIN_OPTION("annotate")},
    {TRAIN_OPTION("markov")}, {TRAIN_OPTION("strict")}, {TRAIN_OPTION("relaxed")},
    {TRAIN_OPTION("rerank")}, {TRAIN_OPTION("grammars")}, {TRAIN_OPTION("latent")},
    {TRAIN_OPTION("no-tagger")}, {TRAIN_OPTION("functions")}, {TRAIN_OPTION("max-length")},
    {TRAIN_OPTION("clusters"),
     .help = "trees: word clusters, as 'trellis cluster' writes them; auto: made from the training "
             "data; none"},
    {TRAIN_OPTION("raw-text")}, {TRAIN_OPTION("self-train")}, {TRAIN_OPTION("head-rules")},
    {TRAIN_OPTION("prune")}, {TRAIN_OPTION("pruner")}, {TRAIN_OPTION("chart-memory")},
#endif
    {TRAIN_OPTION("order")}, {TRAIN_OPTION("pairs")}, {TRAIN_OPTION("transitions")},
    {TRAIN_OPTION("partial")}, {TRAIN_OPTION("scheme")}, {TRAIN_OPTION("rules")},
    {TRAIN_OPTION("min-count")}, {TRAIN_OPTION("min-freq")},

    {.help = "Training"}, {TRAIN_OPTION("objective"), .table = help_objectives},
    {TRAIN_OPTION("nota")}, {TRAIN_OPTION("calibrate")}, {TRAIN_OPTION("decode")},
    {TRAIN_OPTION("q0")}, {TRAIN_OPTION("q0-cache")}, {TRAIN_OPTION("q0-mask")},
    {TRAIN_OPTION("q0-samples")}, {TRAIN_OPTION("optimizer"), .table = help_optimizers},
    {TRAIN_OPTION("inference")}, {TRAIN_OPTION("schedule")}, {TRAIN_OPTION("damping")},
    {TRAIN_OPTION("tolerance")}, {TRAIN_OPTION("max-updates")}, {TRAIN_OPTION("keep-messages")},
    {TRAIN_OPTION("second-start")}, {TRAIN_OPTION("max-cells")}, {TRAIN_OPTION("cost")},
    {TRAIN_OPTION("precision")}, {TRAIN_OPTION("memory")}, {TRAIN_OPTION("eta")},
    {TRAIN_OPTION("batch")}, {TRAIN_OPTION("pa-type")}, {TRAIN_OPTION("pa-c")},
    {TRAIN_OPTION("error-sensitive")}, {TRAIN_OPTION("averaging")}, {TRAIN_OPTION("variance")},
    {TRAIN_OPTION("gamma")}, {TRAIN_OPTION("seed")},
    {"max-memory",
     .type = OPTION_STRING,
     TRAIN_FIELD(max_memory),
     .value = "SIZE",
     .fallback = "the machine's",
     .help = "stop when more memory is needed, as for input without end: 500M, 4G; none"},
    {TRAIN_OPTION("memory-limit")}, {TRAIN_OPTION("threads"), .letter = 'j'},
