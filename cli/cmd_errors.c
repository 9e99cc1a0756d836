/* cmd_errors.c -- trellis errors: what is wrong in predicted labels or trees. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "message.h"
#include "names.h"
#include "output.h"
#include "ranges.h"
#include "verbs.h"

typedef struct settings {
    const char *to, *columns, *kind;
    bool html, tokens;
    size_t top;
} settings;

static const option options[] = {
    {"html", .type = OPTION_FLAG, OPTION_FIELD(settings, html),
     .help = "write a page in which errors can be chosen by kind and by words"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "FILE", .file = FILE_OUTPUT,
     .fallback = "standard output", .help = "where to write"},
    {"kind", 'k', OPTION_STRING, OPTION_FIELD(settings, kind), .value = "KIND", .fallback = "all",
     .help = "only errors of this kind: type, boundaries, both, missed, extra, tag"},
    {"top", 'n', OPTION_INTEGER, OPTION_FIELD(settings, top), .value = "N",
     .fallback = "20, with --html all", .above_0 = true,
     .help = "list this many errors, the surest first"},
    {"all", 'a', OPTION_FLAG, OPTION_FIELD(settings, tokens),
     .help = "tags: every token with a wrong label, even where labels are of chunks"},
    {"columns", .type = OPTION_STRING, OPTION_FIELD(settings, columns), .value = "G,P",
     .fallback = "the last ones",
     .help = "tags: the column of the label in GOLD, and in OUT, counted from 0"},
    {0},
};

static const char *kind_name(const void *set, size_t k)
{
    return ((const char *const *)set)[k];
}

static const char *const inputs[] = {"tags", "trees", NULL};

/* CLI_DONE, or a refusal that was said. */
static int check(const settings *s, const operands *args, error_files *f, error_choice *c)
{
    const size_t named = args->n > 2;
    f->gold = args->item[named];
    f->out = args->item[named + 1];
    f->tokens = s->tokens;
    if (strcmp(f->gold, "-") == 0 && strcmp(f->out, "-") == 0)
        return message_usage("only one of the files can be standard input");
    if (s->columns && ranges_pair("--columns", s->columns, f->column) != CLI_DONE)
        return CLI_USAGE;
    if (s->columns && (!f->column[0] || !f->column[1]))
        return message_usage("--columns: after the token's, which is column 0");
    c->kind = ERROR_KINDS;
    if (s->kind) {
        const size_t k = name_lookup("kind of errors", "", s->kind, kind_name, error_kind_names);
        if (k == NAME_NOT_FOUND)
            return CLI_USAGE;
        c->kind = (error_kind)k;
    }
    c->top = s->top ? s->top : s->html ? 0 : 20;
    return CLI_DONE;
}

static int print(const settings *s, const error_list *e, const error_choice *c,
                 const error_files *f)
{
    text t = {0};
    output out;
    char title[300];
    const char *slash = strrchr(f->out, '/');
    snprintf(title, sizeof title, "Errors of %s", slash ? slash + 1 : f->out);
    if (s->html)
        errors_html(e, c, title, &t);
    else
        errors_text(e, c, &t);
    int code = CLI_FAILED;
    if (output_open(&out, s->to)) {
        if (!output_text(&out, &t))
            output_discard(&out);
        else if (output_close(&out))
            code = CLI_DONE;
    }
    text_fini(&t);
    return code;
}

static int run(void *settings_, const operands *args)
{
    const settings *s = settings_;
    error_files f = {0};
    error_choice c;
    bool trees = false;
    if (args->n > 2) {
        const size_t k = name_lookup("kind of files", "", args->item[0], kind_name, inputs);
        if (k == NAME_NOT_FOUND) {
            message_hint("two files are compared, GOLD and OUT; before them may stand 'tags' or "
                         "'trees'");
            return CLI_USAGE;
        }
        trees = k == 1;
    }
    int code = check(s, args, &f, &c);
    if (code != CLI_DONE)
        return code;
    if (trees && (s->columns || s->tokens))
        return message_usage("--columns and --all are for tags");
    error_list e = {0};
    trl_error err = {0};
    if ((trees ? errors_read_trees : errors_read_tags)(&e, &f, &err) != TRL_OK) {
        message_error(&err);
        code = CLI_FAILED;
    } else if (e.seen == 0)
        code = message_fail("%s: no sentences", f.gold);
    else {
        errors_sort(&e);
        code = print(s, &e, &c, &f);
    }
    errors_fini(&e);
    return code;
}

const verb verb_errors = {
    .name = "errors",
    .summary = "list what is wrong in predicted labels or trees",
    .usage = "[OPTION]... [tags|trees] GOLD OUT",
    .description =
        "Lists the errors of OUT, which a tagger or parser made of the sentences of GOLD, the\n"
        "surest first: those are errors of the model that no threshold finds, or of the truth.\n"
        "Counts of each kind come before. --html writes a page with the truth beside the\n"
        "prediction, in which kinds of errors can be chosen and words searched.\n"
        "\n"
        "Tags: both files have columns, the word first and the label last. Where OUT is from\n"
        "'trellis tag --marginals', an error is as sure as the least sure label of its words. "
        "Where\n"
        "labels are of chunks (B-X, I-X, O), errors are chunks:\n"
        "\n"
        "  type         the right words, another type\n"
        "  boundaries   other words that overlap, the right type\n"
        "  both         other words that overlap, another type\n"
        "  missed       a chunk of GOLD that no chunk of OUT overlaps\n"
        "  extra        a chunk of OUT that no chunk of GOLD overlaps\n"
        "\n"
        "Otherwise, and with --all, every token with another label is an error of type.\n"
        "\n"
        "Trees: GOLD is a treebank, of which empty elements, function tags and the root TOP are "
        "left\n"
        "out, and OUT what 'trellis parse' printed. Errors are constituents: of type where the "
        "words\n"
        "are right, of boundaries where it crosses one of GOLD, missed or extra otherwise; and "
        "parts of\n"
        "speech (tag). Where OUT is from 'trellis parse --spans', errors are as sure as the "
        "parser\n"
        "is of the constituent, or, where one is missed, that it is not there.\n",
    .examples = "  trellis tag -m ner.model --marginals dev.txt >out.txt\n"
                "  trellis errors dev.txt out.txt\n"
                "  trellis errors --kind missed --html -o errors.html dev.txt out.txt\n"
                "  trellis errors trees dev.mrg parsed.txt\n",
    .options = options,
    .settings_size = sizeof(settings),
    .min_operands = 2,
    .max_operands = 3,
    .operand = "the true labels or trees, and the predicted ones",
    .run = run,
};
