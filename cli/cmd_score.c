/* cmd_score.c -- trellis score: how good predicted labels are. */
/* SPDX-License-Identifier: MIT */
#include "trellis/score.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "names.h"
#include "output.h"
#include "ranges.h"
#include "score_calibration.h"
#include "score_scheme.h"
#include "score_translation.h"
#include "score_trees.h"
#include "style.h"
#include "verbs.h"

typedef struct settings {
    bool latex, json;
    const char *delimiter, *columns;
    size_t column[2];
    trl_score_options score;
    trl_scheme scheme;
    bool strict;
    tree_score_settings trees;
    calibration_settings calibration;
} settings;

static const char *const scheme_names[] = {"none", "iob1",  "iob2",  "ioe1",
                                           "ioe2", "iobes", "bilou", NULL};

static const option options[] = {
    {"json", .type = OPTION_FLAG, OPTION_FIELD(settings, json),
     .help = "print everything as one JSON object"},
    {.help = "Chunks and tokens"},
    {"latex", 'l', OPTION_FLAG, OPTION_FIELD(settings, latex),
     .help = "chunks: print the table in LaTeX"},
    {"raw", 'r', OPTION_FLAG, OPTION_FIELD(settings, score.raw),
     .help = "labels are types without B- and I-; every token is a chunk of its own"},
    {"scheme", .type = OPTION_CHOICE, OPTION_FIELD(settings, scheme), .choices = scheme_names,
     .fallback = "as conlleval", .help = "chunks: the labels are of this tag scheme"},
    {"strict", .type = OPTION_FLAG, OPTION_FIELD(settings, strict),
     .help = "with --scheme: a chunk counts only if its labels are as the scheme writes them"},
    {"delimiter", 'd', OPTION_STRING, OPTION_FIELD(settings, delimiter), .value = "CHAR",
     .fallback = "runs of spaces and tabs", .help = "separator between columns; '\\t' is a tab"},
    {"columns", .type = OPTION_STRING, OPTION_FIELD(settings, columns), .value = "G,P",
     .fallback = "the last two",
     .help = "the columns of the true and the predicted label, counted from 0"},
    {"outside", 'o', OPTION_STRING, OPTION_FIELD(settings, score.outside), .value = "LABEL",
     .help = "with --raw: the label of tokens outside all chunks"},
    {.help = "Trees"},
    TREE_PARAMS_OPTION(settings, trees),
    {"max-length", 'c', OPTION_INTEGER, OPTION_FIELD(settings, trees.max_length), .value = "N",
     .fallback = "as the parameters say: 40",
     .help = "sentences of at most N words have a summary of their own"},
    {"max-errors", 'e', OPTION_INTEGER, OPTION_FIELD(settings, trees.max_errors), .value = "N",
     .fallback = "as the parameters say: 10", .help = "stop at error number N + 2"},
    TREE_UNLABELLED_OPTION(settings, trees),
    TREE_GOLD_TAGS_OPTION(settings, trees),
    {"functions", .type = OPTION_FLAG, OPTION_FIELD(settings, trees.functions),
     .help = "trees: also a table of function labels (SBJ, TMP) over the brackets that match"},
    {"details", .type = OPTION_FLAG, OPTION_FIELD(settings, trees.details),
     .help = "list every sentence: its words and brackets, as EVALB's -d; translation: its scores"},
    {.help = "Calibration"},
    {"bins", .type = OPTION_INTEGER, OPTION_FIELD(settings, calibration.bins), .value = "N",
     .above_0 = true, .help = "bins of equal width that probabilities are put into"},
    {"svg", .type = OPTION_STRING, OPTION_FIELD(settings, calibration.svg), .value = "FILE",
     .file = FILE_OUTPUT, .help = "draw the share of right answers over probability"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.score = trl_score_options_default(),
                                        .trees = tree_score_defaults(),
                                        .calibration.bins = 10};
}

/* As Perl, which conlleval is written in, would read it between quotes. */
static bool read_delimiter(const char *s, char *out)
{
    if (strcmp(s, "\\t") == 0)
        *out = '\t';
    else if (s[0] && !s[1])
        *out = s[0];
    else
        return false;
    return true;
}

static const char *what_name(const void *set, size_t k)
{
    (void)set;
    static const char *const names[] = {"chunks",      "tokens",      "trees",
                                        "translation", "calibration", NULL};
    return names[k];
}

static int print_report(const settings *s, const trl_score *score, bool tokens, trl_error *err)
{
    char *report = NULL;
    const trl_status st = s->json  ? trl_score_report_json(score, &report, err)
                          : tokens ? trl_score_report_tokens(score, &report, err)
                                   : trl_score_report_chunks(score, s->latex, &report, err);
    if (st != TRL_OK) {
        message_error(err);
        return CLI_FAILED;
    }
    static const char *const bold[] = {"accuracy:", NULL};
    text t = {0};
    text_str(&t, report);
    if (s->json && report[0] && report[strlen(report) - 1] != '\n')
        text_char(&t, '\n');
    trl_text_free(report);
    if (!s->json && !s->latex && style_colour(STDOUT_FILENO))
        style_report(&t, bold);
    return output_print(&t);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const trl_score_row *)a)->name, ((const trl_score_row *)b)->name);
}

/* Is it LABEL:NUMBER, where LABEL is a true label?  `row` is sorted by name. */
static bool has_probability(const char *name, const trl_score_row *row, size_t n)
{
    const char *colon = strrchr(name, ':');
    char label[200];
    const size_t len = colon ? (size_t)(colon - name) : 0;
    if (!len || len >= sizeof label || !colon[1] ||
        colon[1 + strspn(colon + 1, "0123456789.e-")] != '\0')
        return false;
    memcpy(label, name, len);
    label[len] = '\0';
    const trl_score_row key = {.name = label};
    const trl_score_row *found = bsearch(&key, row, n, sizeof *row, by_name);
    return found && found->gold;
}

/* 'trellis tag --marginals' appends probabilities to labels: then nothing is right. */
static void tell_probabilities(const trl_score *score)
{
    const size_t n = trl_score_labels(score, NULL, 0);
    trl_score_row *row = malloc((n + 1) * sizeof *row);
    if (!row) /* a hint less */
        return;
    trl_score_labels(score, row, n);
    uint64_t like = 0, tokens = trl_score_get(score).tokens;
    const char *example = "";
    for (size_t i = 0; i < n; i++)
        if (row[i].predicted && has_probability(row[i].name, row, n)) {
            like += row[i].predicted;
            example = row[i].name;
        }
    if (like >= tokens - tokens / 20)
        message_hint("the last column looks like labels with probabilities: %s; score what "
                     "'trellis tag' writes without --marginals",
                     example);
    free(row);
}

/* One broken chunk among true labels in IOBES changes how all are counted: not in silence. */
static void tell_broken_iobes(const trl_score *score)
{
    trl_score_row row[64];
    const size_t all = trl_score_labels(score, row, 64), n = all < 64 ? all : 64;
    for (size_t i = 0; i < n; i++)
        if (row[i].gold && strncmp(row[i].name, "S-", 2) == 0) {
            message_warn("the true labels have %s, but are not well-formed IOBES: chunks are "
                         "counted as conlleval does, which joins neighbours of one type",
                         row[i].name);
            return;
        }
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    const size_t what = name_lookup("kind of score", "", args->item[0], what_name, NULL);
    if (what == NAME_NOT_FOUND) {
        message_hint("'trellis score chunks FILE', 'trellis score tokens FILE', "
                     "'trellis score trees GOLD TEST', 'trellis score translation GOLD TEST' or "
                     "'trellis score calibration FILE'");
        return CLI_USAGE;
    }
    if (what != 4 && s->calibration.svg)
        return message_usage("--svg is for calibration; 'trellis plot' draws the others' --json");
    if (what == 4)
        return score_calibration(&s->calibration, s->json, args);
    if (what == 3)
        return score_translation(s->json, s->trees.details, args);
    if (what == 2)
        return score_trees(&s->trees, s->json, args);
    if (args->n > 2)
        return message_usage("score %s: unexpected argument '%s'", args->item[0], args->item[2]);
    const bool tokens = what == 1;
    if (s->delimiter && !read_delimiter(s->delimiter, &s->score.delimiter))
        return message_usage("--delimiter: '%s' is not one character", s->delimiter);
    if (s->strict && !s->scheme)
        return message_usage("--strict needs a --scheme");
    if (s->scheme && (tokens || s->score.raw || s->delimiter || s->columns))
        return message_usage("--scheme is for chunks, without --raw, --delimiter and --columns");
    if (s->columns && ranges_pair("--columns", s->columns, s->column) != CLI_DONE)
        return CLI_USAGE;
    if (s->columns && s->column[0] == s->column[1])
        return message_usage("--columns: a column is not scored against itself");
    if (s->latex && (tokens || s->json))
        return message_usage("--latex is for chunks, and does not go with --json");

    trl_error err = {0};
    trl_score *score = NULL;
    trl_status st = trl_score_new(&s->score, &score, &err);
    if (st != TRL_OK) {
        message_error(&err);
        return st == TRL_EINVAL ? CLI_USAGE : CLI_FAILED;
    }
    int code = CLI_FAILED;
    const char *path = args->n > 1 ? args->item[1] : "-";
    trl_score_set_columns(score, s->column[0], s->column[1]);
    st = s->scheme ? score_scheme_file(score, s->scheme, s->strict, path, &err)
                   : trl_score_file(score, path, &err);
    if (st != TRL_OK)
        message_error(&err);
    else if (trl_score_get(score).tokens == 0)
        message_say("%s: nothing to score: there are no tokens in it",
                    strcmp(path, "-") == 0 ? "<stdin>" : path);
    else {
        if (!tokens && !s->score.raw && !trl_score_get(score).iobes)
            tell_broken_iobes(score);
        tell_probabilities(score);
        code = print_report(s, score, tokens, &err);
    }
    trl_score_free(score);
    return code;
}

const verb verb_score = {
    .name = "score",
    .summary = "compare predicted labels or trees with true ones",
    .usage = "[OPTION]... KIND [GOLD] [TEST]",
    .description =
        "KIND is chunks, tokens, trees, translation or calibration.\n"
        "\n"
        "Reads columns whose last two are the true and the predicted label, from FILE or\n"
        "standard input, and prints how well they agree.\n"
        "\n"
        "'chunks' counts spans (noun phrases, names) and prints what conlleval prints, to\n"
        "the byte; a chunk is right when its first and last token and its type are.  Labels\n"
        "are O, B-TYPE and I-TYPE, or IOBES; -l, -r, -d and -o are conlleval's options.\n"
        "One thing differs: conlleval takes neighbours of one type in IOBES (S-PER S-PER, or\n"
        "E-PER B-PER) for one chunk.  Here they are two, if all true labels are well-formed\n"
        "IOBES; if they are not, all is counted as conlleval does.\n"
        "With --scheme chunks are those of that tag scheme (iob1, iob2, ioe1, ioe2, iobes,\n"
        "bilou), touching ones of one type told apart; with --strict ill-formed ones, such as an\n"
        "I-X after O in iob2, are not chunks, true or predicted. Labels are rewritten as IOBES "
        "for\n"
        "that, and accuracy is of the rewritten ones.\n"
        "'tokens' counts single labels: accuracy, precision, recall and F1 of every label,\n"
        "and the most frequent confusions.\n"
        "\n"
        "'trees' compares the brackets of two files with a tree a line, in Penn brackets, and\n"
        "prints what EVALB prints, to the byte, without its limits of length and size; -p, -c\n"
        "and -e are its options.  A blank line in TEST is a sentence without a parse.  A\n"
        "sentence whose words differ is an error and left out of the scores; since words are\n"
        "deleted by their tags, a wrong tag of a comma is enough.  With --gold-tags there are\n"
        "no such errors.\n"
        "\n"
        "'translation' compares two files with a sentence a line, words separated by blanks: "
        "precision,\n"
        "recall and F of Turian et al. for exponents 1 and 2 (words matched one to one, longer "
        "runs\n"
        "worth more), and BLEU.  An empty line in TEST is a sentence without a translation.\n"
        "\n"
        "'calibration' asks whether probabilities mean what they say: of answers given with 0.8,\n"
        "are 80 % right?  It reads what 'trellis tag --confidence' (or --marginals) printed of "
        "data\n"
        "that have their labels, or true trees and what 'trellis parse' printed with --spans,\n"
        "--probability or --nbest, and shows for tokens, spans, boundaries, sequences, or for\n"
        "constituents and trees, the Brier score, the expected calibration error and a table and\n"
        "plot of the share of right answers over probability.\n",
    .examples = "  trellis tag -m chunk.model test.txt | trellis score chunks\n"
                "  trellis score tokens --json tagged.txt\n"
                "  trellis score chunks --columns 2,4 two-layers.txt\n"
                "  trellis score trees --gold-tags gold.trees parsed.trees\n"
                "  trellis score translation reference.fr translated.fr\n"
                "  trellis tag -m chunk.model --confidence test.txt | trellis score calibration\n",
    .options = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 1,
    .max_operands = 3,
    .operand = "the kind of score: chunks, tokens, trees, translation or calibration",
    .run = run,
};
