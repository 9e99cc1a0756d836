/* train_options.c -- the options of training by name: the one table of them. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/train_options.h"
#include "base/fail.h"
#include "options/option_table.h"
#include "train/memory_plan.h"
#include "train/objectives.h"
#include "train/optimizers.h"

static const trl_train_options defaults = {.size = sizeof(trl_train_options),
                                           .kind = "chain",
                                           .objective = "likelihood",
                                           .c2 = TRL_USUAL,
                                           .epsilon = 1e-5,
                                           .period = 10,
                                           .delta = 1e-5,
                                           .memory = 6,
                                           .seed = 1,
                                           .checkpoint_every = 10,
                                           .grade = "features",
                                           .annotate = "parents,tags,heads",
                                           .clusters = "auto",
                                           .prune = 1e-4,
                                           .chart_memory = 4096,
                                           .latent = 3,
                                           .tolerance = 1e-6,
                                           .max_cells = 134217728.0,
                                           .pa_type = 1,
                                           .pa_c = 1.0,
                                           .error_sensitive = 1,
                                           .averaging = 1,
                                           .variance = 1.0,
                                           .gamma = 1.0};

/* ---- values ---------------------------------------------------------------------------------- */

static const char *const kind_names[] = {"chain", "tree", "graph", NULL};
static const char *const inference_names[] = {"exact", "bp", "mplp", NULL};
static const char *const schedule_names[] = {"flooding", "sequential", "residual", "tree", NULL};
static const char *const grade_names[] = {"generative", "discriminative", "features", "boosted",
                                          NULL};
static const char *const format_names[] = {"guess",  "columns", "crfsuite", "conllu",
                                           "mallet", "jsonl",   "grmm",     NULL};
static const char *const seen_or_all[] = {"seen", "all", NULL};
static const char *const decode_names[] = {"local", "global", NULL};
static const char *const scheme_names[] = {"iob1", "iob2",  "ioe",   "ioe1",
                                           "ioe2", "iobes", "bilou", NULL};
static const char *const precision_names[] = {"single", "double", NULL};

/* What no kind of model has is refused at once; whether this kind has it is known at the end. */
static trl_kind kind_of(const trl_train_options *o)
{
    return strcmp(o->kind, "tree") == 0    ? TRL_KIND_TREE
           : strcmp(o->kind, "graph") == 0 ? TRL_KIND_GRAPH
                                           : TRL_KIND_CHAIN;
}

static trl_status check_objective(const void *options, const char *value, trl_error *err)
{
    const trl_objective *found = trl_objective_find(value);
    return found ? TRL_OK : trl_objective_choose(value, kind_of(options), &found, err);
}

static trl_status check_optimizer(const void *options, const char *value, trl_error *err)
{
    return trl_optimizer_known(value, kind_of(options), err);
}

static trl_status check_size(const void *options, const char *value, trl_error *err)
{
    uint64_t bytes;
    (void)options;
    return trl_size_read(value, &bytes)
               ? TRL_OK
               : trl_fail(err, TRL_EINVAL,
                          "memory-limit: '%s' is not a size: use 500M, 4G or the "
                          "like",
                          value);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define CHAIN TRL_KIND_CHAIN
#define TREE TRL_KIND_TREE
#define GRAPH TRL_KIND_GRAPH
#define ALL (TRL_KIND_CHAIN | TRL_KIND_TREE | TRL_KIND_GRAPH)

#define ROW(name_, type_, member, kinds_, ...)                                                     \
    TRL_OPTION_ROW(trl_train_options, name_, type_, member, .kinds = (kinds_), __VA_ARGS__)

#define CHECKED(check_, name_, member, kinds_, ...)                                                \
    ROW(name_, STRING, member, kinds_, .check = (check_), __VA_ARGS__)

static const trl_option rows[] = {
#define GROUP .group = "Files"
    ROW("model", STRING, model, ALL, GROUP, .value = "MODEL", .file = TRL_OPTION_OUTPUT,
        .help = "where to write the model"),
    ROW("format", CHOICE, format, CHAIN | GRAPH, GROUP, .choices = format_names,
        .help = "format of the training data"),
    ROW("dev", STRING, dev, ALL, GROUP, .value = "FILE", .file = TRL_OPTION_INPUT,
        .help = "data to score every iteration on; the best model is kept"),
    ROW("hold-out", INTEGER, hold_out, ALL, GROUP, .value = "N", .above_0 = true, .preset = "none",
        .help = "leave one sequence or tree in N of the training data out"),
    ROW("init", STRING, init, ALL, GROUP, .value = "MODEL", .file = TRL_OPTION_INPUT,
        .help =
            "start from the weights of this model, as far as its features are those of the data"),
    ROW("checkpoint", STRING, checkpoint, ALL, GROUP, .value = "FILE", .file = TRL_OPTION_OUTPUT,
        .help = "save the state of the run here from time to time"),
    ROW("checkpoint-every", INTEGER, checkpoint_every, ALL, GROUP, .value = "N", .above_0 = true,
        .help = "iterations between checkpoints"),
    ROW("keep-going", FLAG, keep_going, TREE, GROUP,
        .help = "trees: leave broken ones out, with a warning each; a line that begins with '(' "
                "begins a tree then"),
    ROW("resume", FLAG, resume, ALL, GROUP,
        .help = "go on from the checkpoint as if the run had never ended; where there is none yet, "
                "start afresh"),
#undef GROUP

#define GROUP .group = "Model"
    ROW("kind", STRING, kind, ALL, GROUP, .value = "KIND", .choices = kind_names,
        .help = "the structure of the model: chain (labels of tokens), tree (a parser) or graph "
                "(several "
                "variables and factors of a model file)"),
    ROW("grade", STRING, grade, TREE, GROUP, .value = "NAME", .choices = grade_names,
        .help = "trees: generative (a PCFG), discriminative (rules and words), features, or "
                "boosted (boosted decision trees and best-first search)"),
    ROW("sample", INTEGER, sample, TREE, GROUP, .value = "N", .preset = "all: exact",
        .help = "boosted: choose splits by N examples, drawn by weight"),
    ROW("stumps", FLAG, stumps, TREE, GROUP, .help = "boosted: trees of a single split"),
    ROW("uniform-values", FLAG, uniform_values, TREE, GROUP,
        .help = "boosted, decode local: every example counts the same, instead of every state"),
    ROW("jackknife", FLAG, jackknife, TREE, GROUP,
        .help = "boosted: learn with the tags of taggers that did not see the tree, instead of "
                "those of the treebank"),
    ROW("annotate", STRING, annotate, TREE, GROUP, .value = "LIST",
        .help =
            "trees: what states know: parents, tags (parents of tags, too), heads (of VPs); none"),
    ROW("markov", INTEGER, markov, TREE, GROUP, .value = "N", .most = 2,
        .help = "trees: what is remembered inside long rules: 0 nothing, 1 the first child, 2 also "
                "the last"),
    ROW("strict", FLAG, strict, TREE, GROUP,
        .help = "trees: rules only as they were seen (the default, except for 'grade' features "
                "with the span pruner, which also has rules never seen, made of labels seen in "
                "the same places)"),
    ROW("relaxed", FLAG, relaxed, TREE, GROUP,
        .help = "trees: rules also under other parents than seen"),
    ROW("rerank", INTEGER, rerank, TREE, GROUP, .value = "N", .most = 1000, .preset = "none",
        .help = "trees: learn a second stage, too, that chooses among the N most probable trees "
                "by features of whole trees; takes about three times as long"),
    ROW("grammars", INTEGER, grammars, TREE, GROUP, .value = "N", .most = 3, .preset = "1",
        .help =
            "trees: learn parsers of N grammars, 2 or 3, that differ in annotation, and average "
            "what they expect of constituents; takes about twice as long"),
    ROW("latent", INTEGER, latent, TREE, GROUP, .value = "N", .most = 8,
        .help = "trees: learn N generative grammars with substates, too, and average what they "
                "expect of constituents with what the parser does; from 500 trees on"),
    ROW("no-tagger", FLAG, no_tagger, TREE, GROUP,
        .help = "trees: no tagger of words, whose probabilities of tags count in the choice of "
                "the tree"),
    ROW("functions", FLAG, functions, TREE, GROUP,
        .help = "trees: learn function labels (NP-SBJ, PP-TMP), which parsed trees then have"),
    ROW("max-length", INTEGER, max_length, TREE, GROUP, .value = "N", .above_0 = true,
        .preset = "any",
        .help = "trees: of sentences of more words, longer constituents are given, not learnt; "
                "without the span pruner such sentences are left out"),
    ROW("clusters", STRING, clusters, TREE, GROUP, .value = "FILE", .file = TRL_OPTION_INPUT,
        .help = "trees: file of word clusters; auto: made from the training data; none"),
    ROW("raw-text", STRING, raw_text, TREE, GROUP, .value = "FILE", .file = TRL_OPTION_INPUT,
        .preset = "none",
        .help = "trees: text of the kind to be parsed, a sentence a line, words separated by "
                "blanks: clusters are made of its words, too"),
    ROW("self-train", FLAG, self_train, TREE, GROUP,
        .help = "trees: a first parser parses the raw text, and its trees are learnt from, too, "
                "up to as many words as the treebank has"),
    ROW("head-rules", STRING, head_rules, TREE, GROUP, .value = "FILE", .file = TRL_OPTION_INPUT,
        .preset = "built in", .help = "trees: which child is the head"),
    ROW("prune", REAL, prune, TREE, GROUP, .value = "X", .most = 1,
        .help = "trees: leave out of the charts what a coarse grammar finds less likely"),
    ROW("pruner", STRING, pruner, TREE, GROUP, .value = "P",
        .preset = "spans for 'grade' features by charts",
        .help = "trees: 'spans', a PCFG that also looks at the words around every span,\n"
                "or 'pcfg'"),
    ROW("chart-memory", INTEGER, chart_memory, TREE, GROUP, .value = "MB",
        .help = "trees: charts beyond it are kept in a temporary file"),
    ROW("order", INTEGER, order, CHAIN, GROUP, .value = "N", .above_0 = true, .least = 1, .most = 2,
        .preset = "what the template asks for",
        .help = "features of label pairs (1) or also triples (2)"),
    ROW("pairs", CHOICE, all_pairs, ALL, GROUP, .choices = seen_or_all,
        .help = "features for attribute and label seen together, or all"),
    ROW("transitions", CHOICE, all_transitions, CHAIN | GRAPH, GROUP, .choices = seen_or_all,
        .help = "features for label sequences seen in the data, or all"),
    ROW("partial", FLAG, partial, CHAIN, GROUP,
        .help = "labels say what is known of them: '?' nothing, 'A|B' one of these, 'A:0.7|B:0.3' "
                "with these probabilities, '...@2' and the token counts twice"),
    ROW("scheme", STRING, scheme, CHAIN, GROUP, .value = "NAME", .choices = scheme_names,
        .help = "the tag scheme of the labels, which the model keeps: all that it gives is "
                "well-formed, and training labels that are not are refused"),
    ROW("rules", STRING, rules, CHAIN, GROUP, .value = "FILE", .file = TRL_OPTION_INPUT,
        .help = "rules about labels that the model keeps, one a line"),
    ROW("min-count", INTEGER, min_count, CHAIN | GRAPH, GROUP, .value = "N",
        .help = "drop attributes that occur less often"),
    ROW("min-freq", REAL, min_freq, CHAIN | GRAPH, GROUP, .value = "X", .most = HUGE_VAL,
        .help = "drop features, attribute with label and label pairs, whose values sum to less in "
                "the data (CRFsuite's feature.minfreq)"),
#undef GROUP

#define GROUP .group = "Training"
    CHECKED(check_objective, "objective", objective, ALL, GROUP, .value = "NAME",
            .help = "what is optimised"),
    ROW("nota", STRING, nota, CHAIN | TREE, GROUP, .value = "SET", .preset = "marginal:0.2@20",
        .help = "piecewise-nota: wrong sources with an instance: all, sample:P, marginal:THETA@K; "
                "for trees (pt-cfg) wrong edges: score:DELTA@K (default score:15@10)"),
    ROW("calibrate", FLAG, calibrate, CHAIN, GROUP,
        .help =
            "piecewise-nota, piecewise, piecewise-pseudolikelihood, memm: fit one multiplier per "
            "source label by the global likelihood, and decode globally; piecewise and "
            "piecewise-pseudolikelihood do so unless 'decode' is given"),
    ROW("decode", STRING, decode, CHAIN | TREE, GROUP, .value = "HOW", .choices = decode_names,
        .preset = "what suits the objective",
        .help = "how the model decodes: local (label by label, each given those before; for trees "
                "rule by rule, of boosted parsers inference by inference) or global"),
    ROW("q0", STRING, q0, CHAIN | TREE, GROUP, .value = "NAME", .preset = "hmm, for items emp",
        .help = "m-estimation: the base distribution: hmm, lu (locally uniform), emp (the HMM's "
                "labels on the training data); for trees always pcfg"),
    ROW("q0-cache", STRING, q0_cache, CHAIN, GROUP, .value = "FILE", .file = TRL_OPTION_OUTPUT,
        .help = "m-estimation: keep the expectations under q0 here, for runs with another c2"),
    ROW("q0-mask", FLAG, q0_mask, CHAIN, GROUP,
        .help = "m-estimation: features see first occurrences as out of vocabulary, as q0 does"),
    ROW("q0-samples", INTEGER, q0_samples, CHAIN | TREE, GROUP, .value = "N", .above_0 = true,
        .preset = "100000, for trees 30000",
        .help = "m-estimation: sequences or trees drawn for template lines without a closed form"),
    CHECKED(check_optimizer, "optimizer", optimizer, ALL, GROUP, .value = "NAME",
            .preset = "what suits the objective",
            .help = "how it is optimised; auto: what takes the least processor time"),
    ROW("cost", STRING, cost, CHAIN, GROUP, .value = "COSTS",
        .help = "likelihood, perceptron: what wrong labels cost, as GOLD:WRONG=X or GOLD=X with "
                "commas between, '*' for any label; without an '=', a file of these"),
    CHECKED(check_size, "memory-limit", memory_limit, CHAIN | GRAPH, GROUP, .value = "SIZE",
            .preset = "none",
            .help = "keep what the data take beyond SIZE (500M, 4G) in temporary files, in $TMPDIR "
                    "or /tmp; the model is the same"),
    ROW("precision", STRING, precision, CHAIN, GROUP, .value = "NAME", .choices = precision_names,
        .preset = "single, but double when 'delta' is below 1e-6",
        .help = "for likelihood, memm, piecewise-nota and pseudolikelihood: single (faster) or "
                "double"),
    ROW("inference", STRING, inference, GRAPH, GROUP, .value = "NAME", .choices = inference_names,
        .preset = "exact", .help = "graphs: how the perceptron finds the best labels"),
    ROW("schedule", STRING, schedule, GRAPH, GROUP, .value = "NAME", .choices = schedule_names,
        .preset = "sequential", .help = "graphs, bethe and trw: the order of messages"),
    ROW("damping", REAL, damping, GRAPH, GROUP, .value = "X", .most = 0.999,
        .help = "graphs, bethe and trw: the share of old messages that is kept"),
    ROW("tolerance", REAL, tolerance, GRAPH, GROUP, .value = "X", .above_0 = true,
        .help = "graphs, bethe and trw: the change of messages that counts as converged"),
    ROW("max-updates", INTEGER, max_updates, GRAPH, GROUP, .value = "N", .above_0 = true,
        .preset = "100 of each", .help = "graphs, bethe and trw: messages sent in a graph at most"),
    ROW("keep-messages", FLAG, keep_messages, GRAPH, GROUP,
        .help = "graphs, bethe and trw: messages start from those of the iteration before"),
    ROW("second-start", FLAG, second_start, GRAPH, GROUP,
        .help = "graphs, bethe: messages start once more, from tree-reweighted ones; another "
                "fixed point is added to the first"),
    ROW("max-cells", REAL, max_cells, GRAPH, GROUP, .value = "N", .above_0 = true, .preset = "2^27",
        .help = "graphs: refuse exact inference that needs larger tables"),
    ROW("memory", INTEGER, memory, ALL, GROUP, .value = "N", .least = 1, .most = 32,
        .help = "lbfgs: pairs of vectors remembered"),
    ROW("eta", REAL, eta, ALL, GROUP, .value = "X", .above_0 = true,
        .preset = "calibrated, for trees 0.1, by the perceptron 1, boosted 0.3",
        .help = "sgd, asgd, adagrad: first gain; boosted: the share of its best step that a leaf "
                "takes"),
    ROW("pa-type", INTEGER, pa_type, CHAIN, GROUP, .value = "N", .least = 0, .most = 2,
        .help = "pa: 0 without slack, 1 PA-I, 2 PA-II"),
    ROW("pa-c", REAL, pa_c, CHAIN, GROUP, .value = "X", .above_0 = true,
        .help = "pa: aggressiveness, the largest step of PA-I"),
    ROW("error-sensitive", INTEGER, error_sensitive, CHAIN, GROUP, .value = "0|1", .least = 0,
        .most = 1, .help = "pa: 1 a sequence costs the root of its wrong labels, 0 it costs 1"),
    ROW("averaging", INTEGER, averaging, CHAIN, GROUP, .value = "0|1", .least = 0, .most = 1,
        .help = "pa: 1 the mean of all weights, 0 the last ones"),
    ROW("variance", REAL, variance, CHAIN, GROUP, .value = "X", .above_0 = true,
        .help = "arow: variance of every weight at the start"),
    ROW("gamma", REAL, gamma, CHAIN, GROUP, .value = "X", .above_0 = true,
        .help = "arow: how little a mistake changes"),
    ROW("batch", INTEGER, batch, ALL, GROUP, .value = "N", .above_0 = true,
        .preset = "15, for asgd and the perceptron 1",
        .help = "sgd, asgd, perceptron, adagrad: sequences per step"),
    ROW("seed", INTEGER, seed, ALL, GROUP, .value = "N",
        .help = "seed of the random order of sequences"),
    ROW("threads", INTEGER, threads, ALL, GROUP, .value = "N",
        .help = "threads, 0 for one per processor; the result does not depend on it"),
#undef GROUP

#define GROUP .group = "Penalties"
    ROW("c1", REAL, c1, ALL, GROUP, .value = "X", .most = HUGE_VAL,
        .help = "adds X times the sum of absolute weights"),
    ROW("c2", REAL, c2, ALL, GROUP, .value = "X", .most = HUGE_VAL,
        .preset = "1, for m-estimation of chains 0.25, for trees by the likelihood 2, "
                  "of the discriminative grade 0.1",
        .help = "adds X times the sum of squared weights"),
#undef GROUP

#define GROUP .group = "When to stop"
    ROW("max-iter", INTEGER, max_iter, ALL, GROUP, .value = "N", .above_0 = true,
        .preset = "the optimizer's own rule", .help = "iterations at most"),
    ROW("epsilon", REAL, epsilon, ALL, GROUP, .value = "X", .most = HUGE_VAL,
        .help = "stop when gradient norm / weight norm is below X"),
    ROW("period", INTEGER, period, ALL, GROUP, .value = "N", .most = 60,
        .help = "iterations over which 'delta' is measured"),
    ROW("delta", REAL, delta, ALL, GROUP, .value = "X", .most = HUGE_VAL,
        .help = "stop when the objective fell by less than this fraction"),
    ROW("patience", INTEGER, patience, ALL, GROUP, .value = "N", .above_0 = true, .preset = "never",
        .help = "stop after N iterations without a better 'dev' score"),
#undef GROUP
};

TRL_OPTION_TABLE(trl_train_options, trl_train_option_table, rows, defaults)

trl_status trl_train_options_set(trl_train_options *o, const char *name, const char *value,
                                 trl_error *err)
{
    return trl_options_set(trl_train_option_table(), o, name, value, err);
}

trl_status trl_train_options_get(const trl_train_options *o, const char *name, trl_buf *out,
                                 trl_error *err)
{
    return trl_options_get(trl_train_option_table(), o, name, out, err);
}

trl_status trl_train_options_take(const trl_train_options *o, trl_train_options *out,
                                  trl_error *err)
{
    return trl_options_copy(trl_train_option_table(), o, out, err);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* "chains and graphs". */
static const char *kinds_plural(unsigned kinds, char text[40])
{
    static const trl_kind all[] = {TRL_KIND_CHAIN, TRL_KIND_TREE, TRL_KIND_GRAPH};
    size_t n = 0;
    text[0] = '\0';
    for (size_t k = 0; k < 3; k++)
        if (kinds & all[k])
            n += (size_t)snprintf(text + n, 40 - n, "%s%s", n ? " and " : "",
                                  trl_kind_plural(all[k]));
    return text;
}

/* An option without effect is refused: its user expects one. */
trl_status trl_train_options_check_kind(const trl_train_options *o, trl_kind kind, trl_error *err)
{
    char text[40];
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const trl_option *x = &rows[k];
        if (!(x->kinds & kind) && trl_option_is_set(trl_train_option_table(), x, o))
            return trl_fail(err, TRL_EINVAL, "%s goes with models of %s, not of %s", x->name,
                            kinds_plural(x->kinds, text), trl_kind_plural(kind));
    }
    return TRL_OK;
}
