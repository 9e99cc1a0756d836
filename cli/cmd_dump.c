/* cmd_dump.c -- trellis dump: a model as text. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "output.h"
#include "trellis/graph_model.h"
#include "trellis/model.h"
#include "trellis/parser.h"
#include "verbs.h"

typedef struct settings {
    size_t top;
    bool info;
    const char *to;
} settings;

static const option options[] = {
    {"top", .type = OPTION_INTEGER, OPTION_FIELD(settings, top), .value = "N", .fallback = "all",
     .help = "only the N largest and smallest weights of every label (for parsers: of rules and of "
             "every feature family), as a table"},
    {"info", 'i', OPTION_FLAG, OPTION_FIELD(settings, info),
     .help = "only what the model is and how it was trained"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "FILE", .file = FILE_OUTPUT,
     .fallback = "standard output", .help = "where to write"},
    {0},
};

static trl_status write_piece(void *ctx, const char *piece, size_t n, trl_error *err)
{
    (void)err; /* the output says itself what is wrong */
    return output_put(ctx, piece, n) ? TRL_OK : TRL_ECANCEL;
}

static void add_info(const trl_model *m, text *t)
{
    const trl_model_info i = trl_model_get_info(m);
    text_fmt(t, "kind %s\norder %d\nobjective %s\nprobabilities %s\nformat %s\n", i.kind, i.order,
             i.objective, i.is_probability ? "yes" : "no",
             i.format == TRL_FORMAT_COLUMNS ? "columns" : "crfsuite");
    text_fmt(t, "columns %zu\nlabels %zu\nattributes %" PRIu64 "\nfeatures %" PRIu64 "\n",
             i.n_columns, i.n_labels, i.n_attributes, i.n_features);
    if (i.temperature > 0.0)
        text_fmt(t, "temperature %.6g\n", i.temperature);
    text_fmt(t, "bytes %" PRIu64 "\n\n%s", i.file_size, i.settings);
    if (t->n && t->p[t->n - 1] != '\n')
        text_char(t, '\n');
}

/* All of a parser. */
static int dump_whole(const settings *s, trl_parse_model *m)
{
    trl_error err = {0};
    output o;
    bool ok = output_open(&o, s->to);
    if (ok) {
        ok = trl_parse_model_dump(m, write_piece, &o, &err) == TRL_OK;
        if (!ok && !o.failed)
            message_error(&err);
        if (ok)
            ok = output_close(&o);
        else
            output_discard(&o);
    }
    trl_parse_model_free(m);
    return ok ? CLI_DONE : CLI_FAILED;
}

/* Sizes and settings of a parser, or a table of its weights. */
static int dump_parser(const settings *s, trl_parse_model *m)
{
    if (!s->top && !s->info)
        return dump_whole(s, m);
    const trl_parse_info i = trl_parse_model_info(m);
    text t = {0};
    trl_buf b = {0};
    trl_error err = {0};
    output o;
    const bool table = s->top && !s->info;
    if (!table) {
        text_fmt(&t, "kind tree\ngrade %s\nstates %zu\nfeatures %zu\n", i.grade, i.n_states,
                 i.n_features);
    } else if (strcmp(i.grade, "generative") == 0)
        message_warn("a generative grammar has no weights");
    bool ok = trl_parse_model_describe(m, table ? s->top : 0, &b, &err) == TRL_OK;
    if (!ok)
        message_error(&err);
    if (b.len)
        text_add(&t, b.data, b.len);
    if (!table)
        text_fmt(&t, "\n%s", i.settings);
    if (ok)
        ok = output_open(&o, s->to);
    if (ok) {
        output_text(&o, &t);
        ok = output_close(&o);
    }
    trl_buf_fini(&b);
    text_fini(&t);
    trl_parse_model_free(m);
    return ok ? CLI_DONE : CLI_FAILED;
}

static void add_graph_info(const trl_graph_model *m, text *t)
{
    const trl_graph_model_info i = trl_graph_model_get_info(m);
    text_fmt(t, "kind graph\nobjective %s\nprobabilities %s\nunit %s\ncolumns %zu\n", i.objective,
             i.is_probability ? "yes" : "no", i.document ? "document" : "sentence", i.n_columns);
    for (size_t k = 0; k < i.n_layers; k++)
        text_fmt(t, "labels %s %zu\n", trl_graph_model_layer(m, k).name,
                 trl_graph_model_layer(m, k).n_labels);
    text_fmt(t,
             "factors %zu\nattributes %" PRIu64 "\nfeatures %" PRIu64 "\nbytes %" PRIu64 "\n\n%s",
             i.n_factors, i.n_attributes, i.n_features, i.file_size, i.settings);
}

static int dump_graph(const settings *s, trl_model *model)
{
    trl_error err = {0};
    trl_graph_model *m = NULL;
    output o;
    int code = CLI_FAILED;
    trl_status st = trl_graph_model_of(model, &m, &err);
    if (st != TRL_OK)
        message_error(&err);
    else if (output_open(&o, s->to)) {
        text t = {0};
        if (s->info)
            add_graph_info(m, &t);
        else
            st = trl_graph_model_dump(m, s->top, write_piece, &o, &err);
        if (st == TRL_OK && s->info)
            output_text(&o, &t);
        if (st != TRL_OK && !o.failed)
            message_error(&err);
        if (st != TRL_OK)
            output_discard(&o);
        else if (output_close(&o))
            code = CLI_DONE;
        text_fini(&t);
    }
    trl_graph_model_free(m);
    trl_model_free(model);
    return code;
}

static int run(void *settings_, const operands *args)
{
    const settings *s = settings_;
    trl_error err = {0};
    trl_model *m = NULL;
    trl_status st = trl_model_open(args->item[0], &m, &err);
    trl_parse_model *parser = NULL;
    if (st == TRL_OK && strcmp(trl_model_get_info(m).kind, "tree") == 0) {
        trl_model_free(m);
        st = trl_parse_model_open(args->item[0], &parser, &err);
        if (st == TRL_OK)
            return dump_parser(s, parser);
    }
    if (st != TRL_OK) {
        message_error(&err);
        return CLI_FAILED;
    }
    if (strcmp(trl_model_get_info(m).kind, "graph") == 0)
        return dump_graph(s, m);
    output o;
    int code = CLI_FAILED;
    if (!output_open(&o, s->to))
        goto out;
    if (s->info) {
        text t = {0};
        add_info(m, &t);
        output_text(&o, &t);
        text_fini(&t);
    } else if (s->top)
        st = trl_model_dump_top(m, s->top, write_piece, &o, &err);
    else
        st = trl_model_dump(m, write_piece, &o, &err);
    if (st != TRL_OK && !err.path[0])
        snprintf(err.path, sizeof err.path, "%s", args->item[0]);
    if (st != TRL_OK && !o.failed)
        message_error(&err);
    if (st != TRL_OK)
        output_discard(&o);
    else if (output_close(&o))
        code = CLI_DONE;
out:
    trl_model_free(m);
    return code;
}

const verb verb_dump = {
    .name = "dump",
    .summary = "print a model as text",
    .usage = "[OPTION]... MODEL",
    .description =
        "Prints a model as text, from which 'trellis load' makes the same model again, bit\n"
        "for bit; or a table of its largest weights, to see what it has learnt.  --info has, for a "
        "parser, the sizes of grammar and lexicon, too.\n",
    .examples = "  trellis dump --top 10 chunk.model\n"
                "  trellis dump chunk.model | trellis load - -m copy.model\n",
    .options = options,
    .settings_size = sizeof(settings),
    .min_operands = 1,
    .max_operands = 1,
    .operand = "a model",
    .run = run,
};
