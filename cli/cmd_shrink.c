/* cmd_shrink.c -- trellis shrink: a smaller model, and what it costs on held-out data. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "held_out.h"
#include "held_out_trees.h"
#include "message.h"
#include "names.h"
#include "output.h"
#include "trellis/graph_model.h"
#include "trellis/shrink.h"
#include "verbs.h"

static const int bit_numbers[] = {32, 16, 8};
static const double shares[] = {1.0, 0.5, 0.25, 0.1, 0.05};

typedef struct settings {
    trl_shrink_options shrink;
    const char *model, *to, *data;
    double max_loss;
    trl_format format;
    bool quiet;
} settings;

#define SHRINK_OPTION(name) OPTION_LIBRARY(name, trl_shrink_option_table, settings, shrink)

static option options[] = {
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "MODEL",
     .file = FILE_OUTPUT, .fallback = "none, with --data",
     .help = "where to write the shrunk model"},
    {SHRINK_OPTION("prune")},
    {SHRINK_OPTION("keep")},
    {SHRINK_OPTION("bits")},
    {SHRINK_OPTION("fingerprints")},
    {.help = "Choosing by held-out data"},
    {"data", .type = OPTION_STRING, OPTION_FIELD(settings, data), .value = "FILE",
     .file = FILE_INPUT, .fallback = "none",
     .help = "labelled data: print a table of size against score for what is not given above"},
    {"format", 'f', OPTION_CHOICE, OPTION_FIELD(settings, format), .choices = format_names,
     .fallback = "the model's", .help = "format of the data"},
    {"max-loss", .type = OPTION_REAL, OPTION_FIELD(settings, max_loss), .value = "X",
     .help = "write the smallest model whose score is at most X points below"},
    {"quiet", 'q', OPTION_FLAG, OPTION_FIELD(settings, quiet), .help = "say nothing"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.shrink = trl_shrink_options_default(), .max_loss = 0.1};
}

/* The message, with the model's path where it has none. */
static int fail(const settings *s, trl_error *err)
{
    if (!err->path[0])
        snprintf(err->path, sizeof err->path, "%s", s->model);
    message_error(err);
    return CLI_FAILED;
}

/* ---- one model ------------------------------------------------------------------------------- */

/* Of a parser: what it had, and what is left. */
static void report_parser(const trl_parse_info *i, uint64_t size, const trl_shrink_options *o,
                          const trl_shrink_report *r)
{
    message_line("%" PRIu64 " bytes of %" PRIu64 ", %" PRIu64 " weights of %zu, %" PRIu64
                 " of them of features",
                 r->bytes, size, r->weights, i->n_features, r->attributes);
    if (o->fingerprints)
        message_line("features have no names any more: one that the model does not know is taken "
                     "for one of its own with a chance of 5e-10, and its weights cannot be listed");
}

static void say_cost(const trl_shrink_options *o)
{
    if (o->fingerprints)
        message_line("attributes have no names any more: one that the model does not know is taken "
                     "for one of its own with a chance of 2e-9, and it cannot be dumped");
}

static void report(const trl_model *m, const trl_shrink_options *o, const trl_shrink_report *r)
{
    const trl_model_info i = trl_model_get_info(m);
    message_line("%" PRIu64 " bytes of %" PRIu64 ", %" PRIu64 " weights of %" PRIu64 ", %" PRIu64
                 " attributes of %" PRIu64,
                 r->bytes, i.file_size, r->weights, i.n_features, r->attributes, i.n_attributes);
    say_cost(o);
}

static int write_parser(const settings *s, const trl_model *m, const trl_shrink_options *o)
{
    trl_error err = {0};
    trl_shrink_report r;
    trl_parse_model *parser = NULL;
    trl_buf bytes = {0};
    output out;
    bool ok = false;
    trl_status st = trl_parse_model_of(m, &parser, &err);
    if (st == TRL_OK)
        st = trl_parse_model_shrink(parser, o, &bytes, &r, &err);
    if (st == TRL_OK && output_open(&out, s->to)) {
        ok = output_put(&out, bytes.data, bytes.len);
        ok = output_close(&out) && ok;
    }
    if (ok && !s->quiet) {
        const trl_parse_info i = trl_parse_model_info(parser);
        report_parser(&i, trl_model_get_info(m).file_size, o, &r);
    }
    trl_buf_fini(&bytes);
    trl_parse_model_free(parser);
    return st != TRL_OK ? fail(s, &err) : ok ? CLI_DONE : CLI_FAILED;
}

static int write_model(const settings *s, const trl_model *m, const trl_shrink_options *o)
{
    trl_error err = {0};
    trl_shrink_report r;
    if (strcmp(trl_model_get_info(m).kind, "tree") == 0)
        return write_parser(s, m, o);
    if (trl_model_shrink_file(m, o, s->to, &r, &err) != TRL_OK)
        return fail(s, &err);
    if (!s->quiet)
        report(m, o, &r);
    return CLI_DONE;
}

/* A model of graphs: fewer weights, and nothing else. */
static int write_graph(const settings *s, const trl_model *m)
{
    trl_error err = {0};
    trl_shrink_report r;
    trl_graph_model *graph = NULL;
    if (s->data)
        return message_fail("--data tries models of chains, not of graphs: give --prune or --keep");
    trl_status st = trl_graph_model_of(m, &graph, &err);
    if (st == TRL_OK)
        st = trl_graph_model_shrink(graph, &s->shrink, s->to, &r, &err);
    if (st == TRL_OK && !s->quiet) {
        const trl_graph_model_info i = trl_graph_model_get_info(graph);
        message_line("%" PRIu64 " bytes of %" PRIu64 ", %" PRIu64 " weights of %" PRIu64, r.bytes,
                     i.file_size, r.weights, i.n_features);
    }
    trl_graph_model_free(graph);
    return st == TRL_OK ? CLI_DONE : fail(s, &err);
}

static int refuse(const char *model, const char *kind)
{
    message_say("%s: the model is of kind '%s'; only chains, graphs and parsers can be shrunk",
                model, kind);
    return CLI_FAILED;
}

/* ---- all that there are ---------------------------------------------------------------------- */

typedef struct choice {
    trl_shrink_options options;
    trl_shrink_report report;
    double score;
    bool found;
} choice;

typedef struct search {
    const settings *s;
    const trl_model *m;
    trl_parse_model *parser; /* of m, or NULL */
    held_out data;
    double before;
    choice best;
    text table;
} search;

static void add_row(search *x, const choice *c)
{
    const trl_shrink_options *o = &c->options;
    if (o->prune > 0.0)
        text_fmt(&x->table, "%10.4g", o->prune);
    else
        text_fmt(&x->table, "%10.4g", o->keep > 0.0 ? o->keep : 1.0);
    text_fmt(&x->table, "  %4d  %-12s  %10" PRIu64 "  %6.1f  %7.2f  %+6.2f\n", o->bits,
             o->fingerprints ? "fingerprints"
             : x->parser     ? "keys"
                             : "names",
             c->report.bytes,
             100.0 * (double)c->report.bytes / (double)trl_model_get_info(x->m).file_size, c->score,
             c->score - x->before);
}

static trl_status score_model(const search *x, const trl_model *m, double *score, trl_error *err)
{
    return x->parser ? held_out_trees_score(m, x->s->data, score, err)
                     : held_out_score(m, &x->data, score, err);
}

/* Makes the model, scores it and keeps it in mind where it is the smallest that is good enough. */
static trl_status try_one(search *x, const trl_shrink_options *o, trl_error *err)
{
    choice c = {.options = *o, .found = true};
    trl_buf bytes = {0};
    trl_model *small = NULL;
    trl_status st = x->parser ? trl_parse_model_shrink(x->parser, o, &bytes, &c.report, err)
                              : trl_model_shrink(x->m, o, &bytes, &c.report, err);
    if (st == TRL_OK)
        st = trl_model_from_memory(bytes.data, bytes.len, &small, err);
    if (st == TRL_OK)
        st = score_model(x, small, &c.score, err);
    trl_model_free(small);
    trl_buf_fini(&bytes);
    if (st != TRL_OK)
        return st;
    add_row(x, &c);
    if (c.score >= x->before - x->s->max_loss - 1e-9 &&
        (!x->best.found || c.report.bytes < x->best.report.bytes))
        x->best = c;
    return TRL_OK;
}

static trl_status try_all(search *x, trl_error *err)
{
    const settings *s = x->s;
    const bool pruned = s->shrink.prune > 0.0 || s->shrink.keep > 0.0;
    trl_status st = score_model(x, x->m, &x->before, err);
    text_fmt(&x->table, "%10s  bits  %-12s  %10s       %%  %7s    loss\n",
             s->shrink.prune > 0.0 ? "prune" : "keep", x->parser ? "features" : "attributes",
             "bytes", x->parser || held_out_has_chunks(x->m) ? "F1" : "correct");
    const trl_shrink_report own = {.bytes = trl_model_get_info(x->m).file_size};
    if (st == TRL_OK)
        add_row(x, &(choice){.options = {.bits = 32}, .report = own, .score = x->before});
    for (size_t k = 0; st == TRL_OK && k < (pruned ? 1 : sizeof shares / sizeof *shares); k++)
        for (int b = 0; st == TRL_OK && b < 3; b++)
            for (int f = s->shrink.fingerprints; st == TRL_OK && f < 2; f++) {
                trl_shrink_options o = s->shrink;
                o.keep = pruned ? o.keep : shares[k];
                o.bits = bit_numbers[b];
                o.fingerprints = f;
                const bool same = !pruned && k == 0 && b == 0 && f == 0; /* the first row */
                if (!same && (s->shrink.bits == 0 || s->shrink.bits == o.bits))
                    st = try_one(x, &o, err);
            }
    return st;
}

static int choose(const settings *s, const trl_model *m)
{
    const char *file = s->data;
    const operands files = {.item = &file, .n = 1};
    search x = {.s = s, .m = m, .data = {&files, s->format}};
    trl_error err = {0};
    trl_status st = TRL_OK;
    if (strcmp(trl_model_get_info(m).kind, "tree") == 0)
        st = trl_parse_model_of(m, &x.parser, &err);
    if (st == TRL_OK)
        st = try_all(&x, &err);
    trl_parse_model_free(x.parser);
    if (st != TRL_OK) {
        text_fini(&x.table);
        return fail(s, &err);
    }
    int code = output_print(&x.table);
    if (code != CLI_DONE || !s->to)
        return code;
    if (!x.best.found)
        return message_fail("none of them loses at most %g points: nothing was written",
                            s->max_loss);
    return write_model(s, m, &x.best.options);
}

static int check(const settings *s)
{
    if (s->shrink.prune > 0.0 && s->shrink.keep > 0.0)
        return message_usage("--prune and --keep exclude each other");
    if (!(s->max_loss >= 0.0))
        return message_usage("--max-loss is 0 or more");
    if (!s->to && !s->data)
        return message_usage("shrink needs --output, --data or both");
    if (s->to && strcmp(s->to, "-") == 0)
        return message_usage("a model cannot be written to standard output");
    if (s->data && strcmp(s->data, "-") == 0)
        return message_usage("the data are read more than once: standard input will not do");
    if (!s->data && s->shrink.prune == 0.0 && s->shrink.keep == 0.0 && s->shrink.bits == 0 &&
        !s->shrink.fingerprints)
        return message_usage("nothing to do: --prune, --keep, --bits, --fingerprints or --data");
    return CLI_DONE;
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    trl_error err = {0};
    trl_model *m = NULL;
    int code = check(s);
    s->model = args->item[0];
    if (code != CLI_DONE)
        return code;
    if (s->to && !output_check(s->to))
        return CLI_FAILED;
    if (trl_model_open(args->item[0], &m, &err) != TRL_OK) {
        message_error(&err);
        return CLI_FAILED;
    }
    const char *kind = trl_model_get_info(m).kind;
    if (strcmp(kind, "graph") == 0)
        code = write_graph(s, m);
    else if (strcmp(kind, "chain") != 0 && strcmp(kind, "tree") != 0)
        code = refuse(args->item[0], kind);
    else if (s->data)
        code = choose(s, m);
    else
        code = write_model(s, m, &s->shrink);
    trl_model_free(m);
    return code;
}

const verb verb_shrink = {
    .name = "shrink",
    .summary = "make a model smaller",
    .usage = "[OPTION]... MODEL [-o SMALLER]",
    .description =
        "Writes a chain model with fewer weights (--prune, --keep), with 16 or 8 bits a weight\n"
        "(--bits), or with 32 bits of a hash in place of the name of every attribute\n"
        "(--fingerprints), or all of these. The new model is used as any other is.\n"
        "\n"
        "Names and their index are most of a file. Without them an attribute that the model\n"
        "does not know is taken for one of its own with a chance of 2e-9, and the model can no\n"
        "longer be dumped, explained or exported. Plain transitions are never pruned.\n"
        "\n"
        "With --data prints what every combination of the options that are not given takes and\n"
        "how it scores (F1 of chunks, or the accuracy of tokens); with --output as well, writes\n"
        "the smallest that loses at most --max-loss points.\n"
        "\n"
        "A model of graphs can be pruned. A parser's features can have all of this done to them,\n"
        "its rules stay as they are; --data is then a treebank, and the score F1 of brackets.\n"
        "Boosted parsers, boosted trees and aligners are refused.\n",
    .examples = "  trellis shrink chunk.model --keep 0.25 --bits 8 --fingerprints -o small.model\n"
                "  trellis shrink chunk.model --data dev.txt\n"
                "  trellis shrink chunk.model --data dev.txt --max-loss 0.1 -o small.model\n"
                "  trellis shrink parser.model --keep 0.25 --bits 8 -o small.model\n",
    .options = options,
    .library_rows = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 1,
    .max_operands = 1,
    .operand = "a model",
    .run = run,
};
