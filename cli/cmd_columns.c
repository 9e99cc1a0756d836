/* cmd_columns.c -- trellis columns: tagging data from a treebank. */
/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "output.h"
#include "trellis/trees.h"
#include "verbs.h"

typedef struct settings {
    trl_tree_columns_options columns;
    bool no_chunks;
    const char *to;
} settings;

static const option options[] = {
    {"entities", 'e', OPTION_STRING, OPTION_FIELD(settings, columns.entities), .value = "FILE",
     .file = FILE_INPUT, .help = "the same sentences, names marked: adds a column of entities"},
    {"documents", 'd', OPTION_STRING, OPTION_FIELD(settings, columns.documents), .value = "FILE",
     .file = FILE_INPUT, .help = "how the treebank is divided: NAME FIRST LAST SPLIT a line"},
    {"split", 's', OPTION_STRING, OPTION_FIELD(settings, columns.split), .value = "NAME",
     .help = "only the documents of this split"},
    {"no-chunks", .type = OPTION_FLAG, OPTION_FIELD(settings, no_chunks),
     .help = "leave the chunk column out"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "FILE", .file = FILE_OUTPUT,
     .fallback = "standard output", .help = "where to write"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.columns = trl_tree_columns_options_default()};
}

static bool put_rows(output *o, const trl_rows *rows)
{
    const trl_str *cell = rows->cell;
    for (size_t i = 0; i < rows->n_tokens; i++)
        for (size_t k = 0; k < rows->n_columns; k++, cell++) {
            output_put(o, cell->p, cell->n);
            output_put(o, k + 1 < rows->n_columns ? " " : "\n", 1);
        }
    return output_put(o, "\n", 1);
}

static trl_status put_all(trl_tree_columns *r, output *o, trl_error *err)
{
    for (;;) {
        trl_rows rows;
        bool more;
        const trl_status st = trl_tree_columns_next(r, &rows, &more, err);
        if (st != TRL_OK || !more || !put_rows(o, &rows))
            return st;
    }
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    trl_error err = {0};
    trl_tree_columns *r = NULL;
    s->columns.treebank = args->item[0];
    s->columns.chunks = !s->no_chunks;
    if (!s->columns.documents != !s->columns.split)
        return message_usage("--documents and --split belong together");
    trl_status st = trl_tree_columns_open(&s->columns, &r, &err);
    if (st != TRL_OK) {
        message_error(&err);
        return CLI_FAILED;
    }
    output o;
    int code = CLI_FAILED;
    if (!output_open(&o, s->to))
        goto out;
    st = put_all(r, &o, &err);
    if (st != TRL_OK) {
        message_error(&err);
        output_discard(&o);
    } else if (output_close(&o)) {
        code = CLI_DONE;
    }
out:
    trl_tree_columns_free(r);
    return code;
}

const verb verb_columns = {
    .name = "columns",
    .summary = "make tagging data from a treebank",
    .usage = "[OPTION]... TREEBANK",
    .description =
        "Prints the words of a treebank (Penn brackets) one a line, each with its part of\n"
        "speech and its base chunk, and an empty line after every sentence. Chunks are IOB2 tags, "
        "in the spirit of the CoNLL-2000 shared task.\n"
        "\n"
        "With --entities a column of named entities is added, IOB2 too. Line k of that file has\n"
        "the words of tree k, names marked by their type:\n"
        "\n"
        "  [PER Anna Berg] met us in [LOC Graz] .\n"
        "\n"
        "With --documents and --split only a part is printed. Documents stand in the order of\n"
        "the treebank and cover it; its sentences are counted from 1:\n"
        "\n"
        "  garden-spring 91 100 train\n",
    .examples = "  trellis columns treebank.mrg\n"
                "  trellis columns -e names.txt -d docs.txt -s train -o train.txt treebank.mrg\n",
    .options = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 1,
    .max_operands = 1,
    .operand = "a treebank",
    .run = run,
};
