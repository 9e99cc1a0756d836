/* cmd_compare.c -- trellis compare: is one tagging, or one parser, really better? */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "output.h"
#include "ranges.h"
#include "score_translation.h"
#include "score_trees.h"
#include "style.h"
#include "verbs.h"

typedef compare_settings settings;

static const char *const by_names[] = {"guess", "f1", "accuracy", NULL};

static const option options[] = {
    {"score", 's', OPTION_CHOICE, OPTION_FIELD(settings, by), .choices = by_names,
     .help = "what the bootstrap tests; guess: f1 for trees and chunk tags"},
    {"columns", .type = OPTION_STRING, OPTION_FIELD(settings, columns), .value = "G,P",
     .fallback = "the last ones",
     .help = "tags: the column of the label in GOLD, and in A and B, counted from 0"},
    {"resamples", 'n', OPTION_INTEGER, OPTION_FIELD(settings, bootstrap.resamples), .value = "N",
     .help = "resamples of the bootstrap"},
    {"seed", .type = OPTION_INTEGER, OPTION_FIELD(settings, bootstrap.seed), .value = "N",
     .help = "seed of the resampling"},
    {"confidence", .type = OPTION_REAL, OPTION_FIELD(settings, bootstrap.confidence), .value = "X",
     .help = "confidence level of the intervals"},
    {"json", .type = OPTION_FLAG, OPTION_FIELD(settings, json),
     .help = "print everything as one JSON object"},
    {.help = "Trees"},
    TREE_PARAMS_OPTION(settings, trees),
    TREE_UNLABELLED_OPTION(settings, trees),
    TREE_GOLD_TAGS_OPTION(settings, trees),
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ =
        (settings){.bootstrap = trl_bootstrap_options_default(), .trees = tree_score_defaults()};
}

static const measure_name names[2][TRL_MEASURES] = {
    {[TRL_ACCURACY] = {"accuracy", "accuracy"},
     [TRL_SENTENCES] = {"sentence accuracy", "sentence_accuracy"},
     [TRL_PRECISION] = {"precision", "precision"},
     [TRL_RECALL] = {"recall", "recall"},
     [TRL_F1] = {"F1", "f1"}},
    {[TRL_ACCURACY] = {"tagging accuracy", "tagging"},
     [TRL_SENTENCES] = {"complete match", "exact"},
     [TRL_PRECISION] = {"precision", "precision"},
     [TRL_RECALL] = {"recall", "recall"},
     [TRL_F1] = {"F1", "f1"}},
};

const measure_name *compare_measures(const settings *s)
{
    return names[s->of_trees];
}

trl_measure compare_decisive(const settings *s, const trl_comparison *r)
{
    const bool f1 = s->by == BY_F1 || (s->by == BY_GUESS && r->chunk_tags);
    return f1 ? TRL_F1 : TRL_ACCURACY;
}

/* ---- a table --------------------------------------------------------------------------------- */

void compare_add_p(text *t, double p)
{
    if (p < 1e-4)
        text_fmt(t, "  %8.1e", p);
    else
        text_fmt(t, "  %8.4f", p);
}

/* Green for a gain and red for a loss that chance hardly makes; narrow: no intervals. */
static void add_difference(const trl_bootstrap *d, const settings *s, text *t)
{
    char shown[24];
    snprintf(shown, sizeof shown, "%+8.2f", d->difference);
    const bool sure = d->p <= 1.0 - s->bootstrap.confidence;
    text_char(t, ' ');
    style_add(t, s->colour && sure, d->difference > 0.0 ? STYLE_GOOD : STYLE_BAD, shown);
    if (!s->narrow)
        text_fmt(t, "   [%+6.2f, %+6.2f]", d->low, d->high);
}

static void add_scores(const settings *s, const trl_comparison *r, text *t)
{
    const bool chunks = r->chunk_tags || s->by == BY_F1;
    char interval[24];
    snprintf(interval, sizeof interval, "%g %% interval", 100.0 * s->bootstrap.confidence);
    text_fmt(t, "%-18s %8s %8s %8s", "", "A", "B", "B - A");
    if (!s->narrow)
        text_fmt(t, "   %-16s", interval);
    text_fmt(t, "  %8s\n", "p");
    for (int k = 0; k < (chunks ? TRL_MEASURES : TRL_PRECISION); k++) {
        text_fmt(t, "%-18s %8.2f %8.2f", compare_measures(s)[k].shown, r->score[0][k],
                 r->score[1][k]);
        add_difference(&r->difference[k], s, t);
        compare_add_p(t, r->difference[k].p);
        text_char(t, '\n');
    }
}

/* A row of the tests; narrow: without what it looks at. */
static void add_row(const settings *s, const char *const cell[3], double p, text *t)
{
    text_fmt(t, "%-20s ", cell[0]);
    if (!s->narrow)
        text_fmt(t, "%-30s ", cell[1]);
    text_fmt(t, "%-15s", cell[2]);
    compare_add_p(t, p);
    text_char(t, '\n');
}

static void add_test(const settings *s, const char *const cell[3], const trl_test *test, text *t)
{
    char statistic[40];
    snprintf(statistic, sizeof statistic, "%s = %.5g", cell[2], test->statistic);
    add_row(s, (const char *[]){cell[0], cell[1], statistic}, test->p, t);
}

static void add_tests(const settings *s, const trl_comparison *r, text *t)
{
    char of[60], how[40];
    text_fmt(t, "\n%-*s  %8s\n", s->narrow ? 36 : 67, "test of B against A", "p");
    snprintf(of, sizeof of, "%" PRIu64 " right in A alone, %" PRIu64 " in B", r->only_a, r->only_b);
    const bool exact = r->mcnemar.exact;
    add_test(s,
             (const char *[]){exact ? "McNemar, exact" : "McNemar", of, exact ? "fewer" : "chi2"},
             &r->mcnemar, t);
    snprintf(of, sizeof of, "%.3f, %.3f errors a sentence", r->errors[0], r->errors[1]);
    add_test(s, (const char *[]){"paired t", of, "t"}, &r->t, t);
    snprintf(of, sizeof of, "%zu sentences differ", r->wilcoxon.n);
    const char *name = r->wilcoxon.exact ? "Wilcoxon, exact" : "Wilcoxon signed rank";
    add_test(s, (const char *[]){name, of, "W+"}, &r->wilcoxon, t);
    const trl_measure by = compare_decisive(s, r);
    snprintf(of, sizeof of, "%s, %" PRIu64 " resamples", compare_measures(s)[by].shown,
             s->bootstrap.resamples);
    snprintf(how, sizeof how, "d = %+.2f", r->difference[by].difference);
    add_row(s, (const char *[]){"paired bootstrap", of, how}, r->difference[by].p, t);
}

static void add_table(const settings *s, const trl_comparison *r, text *t)
{
    text_fmt(t, "%" PRIu64 " sentences, %" PRIu64 " %s", r->sentences, r->tokens,
             s->of_trees ? "words" : "tokens");
    if (r->chunk_tags)
        text_fmt(t, ", %" PRIu64 " %s", r->chunks, s->of_trees ? "brackets" : "chunks");
    if (s->left_out)
        text_fmt(t, "; left out: %" PRIu64, s->left_out);
    text_str(t, "\n\n");
    add_scores(s, r, t);
    add_tests(s, r, t);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void key_real(text *t, const char *key, double x)
{
    text_fmt(t, "\"%s\":", key);
    text_json_real(t, x);
}

static void json_test(text *t, const char *name, const trl_test *test)
{
    text_fmt(t, ",\"%s\":{", name);
    key_real(t, "statistic", test->statistic);
    text_fmt(t, ",\"n\":%zu,\"exact\":%s,", test->n, test->exact ? "true" : "false");
    key_real(t, "p", test->p);
    text_char(t, '}');
}

static void add_json(const settings *s, const trl_comparison *r, text *t)
{
    text_fmt(t, "{\"sentences\":%" PRIu64 ",", r->sentences);
    if (s->of_trees)
        text_fmt(t, "\"left_out\":%" PRIu64 ",\"words\":%" PRIu64 ",\"brackets\":", s->left_out,
                 r->tokens);
    else
        text_fmt(t, "\"tokens\":%" PRIu64 ",\"chunks\":", r->tokens);
    if (r->chunk_tags)
        text_fmt(t, "%" PRIu64, r->chunks);
    else
        text_str(t, "null");
    text_str(t, ",\"scores\":{");
    for (int k = 0; k < TRL_MEASURES; k++) {
        const trl_bootstrap *d = &r->difference[k];
        text_fmt(t, "%s\"%s\":{", k ? "," : "", compare_measures(s)[k].key);
        key_real(t, "a", r->score[0][k]);
        text_char(t, ',');
        key_real(t, "b", r->score[1][k]);
        text_char(t, ',');
        key_real(t, "difference", d->difference);
        text_char(t, ',');
        key_real(t, "low", d->low);
        text_char(t, ',');
        key_real(t, "high", d->high);
        text_char(t, ',');
        key_real(t, "p", d->p);
        text_char(t, '}');
    }
    text_fmt(t, "},\"confidence\":%g,\"only_a\":%" PRIu64 ",\"only_b\":%" PRIu64,
             s->bootstrap.confidence, r->only_a, r->only_b);
    text_str(t, ",\"errors_per_sentence\":{");
    key_real(t, "a", r->errors[0]);
    text_char(t, ',');
    key_real(t, "b", r->errors[1]);
    text_char(t, '}');
    json_test(t, "mcnemar", &r->mcnemar);
    json_test(t, "paired_t", &r->t);
    json_test(t, "wilcoxon", &r->wilcoxon);
    const trl_measure by = compare_decisive(s, r);
    text_fmt(t, ",\"bootstrap\":{\"score\":\"%s\",\"resamples\":%" PRIu64 ",\"seed\":%" PRIu64,
             compare_measures(s)[by].key, s->bootstrap.resamples, s->bootstrap.seed);
    text_char(t, ',');
    key_real(t, "p", r->difference[by].p);
    text_str(t, "}}\n");
}

/* ---- the verb -------------------------------------------------------------------------------- */

static const char *kind_name(const void *set, size_t k)
{
    (void)set;
    static const char *const kinds[] = {"tags", "trees", "translation", NULL};
    return kinds[k];
}

/* The kind may be missing before the files. */
static bool is_kind(const char *word, size_t *kind)
{
    for (*kind = 0; kind_name(NULL, *kind); ++*kind)
        if (strcmp(kind_name(NULL, *kind), word) == 0)
            return true;
    return false;
}

static int check(settings *s, const operands *args)
{
    size_t kind;
    s->named = args->n > 3 && is_kind(args->item[0], &kind);
    const bool named = s->named;
    if (args->n > 3 && !named && access(args->item[0], F_OK) != 0) {
        message_say("%s is neither a file nor a kind of files", args->item[0]);
        message_hint("at least three files are compared, GOLD, A and B; before them may stand "
                     "'tags', 'trees' or 'translation'");
        return CLI_USAGE;
    }
    if (named) {
        s->of_trees = kind == 1;
        s->of_translation = kind == 2;
        if (s->of_translation && args->n > 4)
            return message_usage("compare translation compares two translations at a time");
    } else if (strcmp(args->item[0], "translation") == 0)
        return message_usage(
            "compare translation needs three files: references, and two translations");
    else if (strcmp(args->item[0], "trees") == 0)
        return message_usage("compare trees needs three files: the true trees, and two parses");
    size_t from_stdin = 0;
    for (size_t i = named; i < args->n; i++)
        from_stdin += strcmp(args->item[i], "-") == 0;
    if (from_stdin > 1)
        return message_usage("only one of the files can be standard input");
    if (s->columns && ranges_pair("--columns", s->columns, s->column) != CLI_DONE)
        return CLI_USAGE;
    if (s->columns && (s->of_trees || s->of_translation || !s->column[0] || !s->column[1]))
        return message_usage("--columns: of tags, and after the token's, which is column 0");
    if (s->bootstrap.resamples == 0 || s->bootstrap.resamples > 100000000)
        return message_usage("--resamples: between 1 and 100000000");
    if (!(s->bootstrap.confidence > 0.0 && s->bootstrap.confidence < 1.0))
        return message_usage("--confidence: between 0 and 1, such as 0.95");
    return CLI_DONE;
}

trl_status compare_read(settings *s, trl_compare *c, const char *const *path, trl_error *err)
{
    trl_compare_set_columns(c, s->column[0], s->column[1]);
    if (!s->of_trees)
        return trl_compare_files(c, &(trl_compare_paths){path[0], path[1], path[2]}, err);
    const trl_parseval_options o = tree_score_options(&s->trees);
    const trl_status st = trl_compare_trees(c, &o, &(trl_compare_paths){path[0], path[1], path[2]},
                                            &s->left_out, err);
    if (st == TRL_OK && s->left_out)
        message_warn("sentences left out: %" PRIu64 " (no parse, or not the same words); "
                     "'trellis score trees' lists them",
                     s->left_out);
    return st;
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    const int bad = check(s, args);
    if (bad != CLI_DONE)
        return bad;
    const char *const *path = (const char *const *)args->item + s->named;
    const size_t files = args->n - s->named;
    if (s->of_translation)
        return compare_translation(&s->bootstrap, s->json, path);
    if (files > 3)
        return compare_many(s, path, files);
    trl_error err = {0};
    trl_compare *c = NULL;
    trl_comparison r;
    trl_status st = trl_compare_new(&c, &err);
    if (st == TRL_OK)
        st = compare_read(s, c, path, &err);
    int code = CLI_FAILED;
    if (st == TRL_OK && trl_compare_sentences(c) == 0)
        message_say("%s: no sentences", path[0]);
    else if (st == TRL_OK && (st = trl_compare_run(c, &s->bootstrap, &r, &err)) == TRL_OK) {
        text t = {0};
        if (r.broken_iobes)
            message_warn("the true labels " BROKEN_IOBES);
        if (s->json)
            add_json(s, &r, &t);
        else {
            s->colour = style_colour(STDOUT_FILENO);
            s->narrow = style_width(STDOUT_FILENO, 80) < 76;
            add_table(s, &r, &t);
        }
        code = output_print(&t);
    }
    if (st != TRL_OK)
        message_error(&err);
    trl_compare_free(c);
    return code;
}

const verb verb_compare = {
    .name = "compare",
    .summary = "test whether one tagging or parser is better than another",
    .usage = "[OPTION]... [tags|trees|translation] GOLD A B [C]...",
    .description =
        "Compares two taggings of the same sentences and says whether their difference is\n"
        "more than chance.  The files have columns with the label last: the true label in\n"
        "GOLD, the predicted ones in A and B, as 'trellis tag' writes them for GOLD.\n"
        "\n"
        "The unit is the sentence.  McNemar's test looks at the sentences that only one of\n"
        "the two got wholly right; the paired t-test and Wilcoxon's signed rank test look at\n"
        "the number of wrong labels in each sentence; the bootstrap resamples the sentences and "
        "looks at the score.  All p-values are two-sided, and\n"
        "differences are B - A.  Beside each score stands the interval of its difference,\n"
        "and the p-value of its bootstrap.\n"
        "\n"
        "Wilcoxon's test is exact when at most 50 sentences differ and no two by the same\n"
        "number of labels.  With such ties, which are usual, it is the normal approximation,\n"
        "corrected for them, even with a handful of sentences: look at McNemar's then.\n"
        "\n"
        "With 'trees' the files hold a tree a line, and brackets are counted as 'trellis "
        "score\n"
        "trees' does.  A sentence is wholly right when all brackets are; its errors are the "
        "missing and the extra brackets.  Sentences without a parse, or with other "
        "words,\n"
        "in A or B are left out of both; --gold-tags keeps those with mistagged commas.\n"
        "\n"
        "With three systems and more every pair is compared: the difference, its interval, the\n"
        "p-value of the bootstrap, and the same corrected after Holm, as one of many tests is\n"
        "easily significant by chance. Below the level of --confidence the corrected value\n"
        "says that the difference is real; the chance that this is wrong of any pair is at most\n"
        "that level.\n"
        "\n"
        "With 'translation' the files hold a sentence a line, scored as 'trellis score\n"
        "translation' does; the bootstrap looks at the scores of the whole, Wilcoxon's test at\n"
        "those of the sentences.\n",
    .examples = "  trellis tag -m crf.model test.txt >crf.txt\n"
                "  trellis tag -m memm.model test.txt >memm.txt\n"
                "  trellis compare test.txt memm.txt crf.txt\n"
                "  trellis compare test.txt memm.txt crf.txt hmm.txt\n"
                "  trellis compare trees --gold-tags gold.trees a.trees b.trees\n",
    .options = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 3,
    .max_operands = (size_t)-1,
    .operand = "three files: the true labels, and two taggings",
    .run = run,
};
