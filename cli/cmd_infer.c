/* cmd_infer.c -- trellis infer: probabilities and best labellings of any factor graph. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "infer_print.h"
#include "message.h"
#include "output.h"
#include "trellis/graph.h"
#include "verbs.h"

typedef struct settings {
    infer_task task;
    infer_form form;
    trl_infer_options infer;
    trl_graph_format format;
    bool info, dot;
    const char *convert, *to;
    size_t failed_case; /* counted from 1; 0: there is one case, or none failed */
} settings;

static const char *const schedules[] = {"flooding", "sequential", "residual", "tree", NULL};
static const char *const graph_formats[] = {"guess", "fg", "uai", NULL};
static const char *const forms[] = {"uai", "table", "json", NULL};
static const char *const orders[] = {"min-fill", "weighted-min-fill", NULL};

static const option options[] = {
    {"task", 't', OPTION_CHOICE, OPTION_FIELD(settings, task), .choices = infer_tasks,
     .help = "PR: log10 of Z; MAR: marginals; MPE: the best labelling"},
    {"method", 'm', OPTION_CHOICE, OPTION_FIELD(settings, infer.method), .choices = infer_methods,
     .help = "how: junction tree, belief propagation, tree-reweighted, mean field, sampling, dual"},
    {"to", .also = "as", .type = OPTION_CHOICE, OPTION_FIELD(settings, form), .choices = forms,
     .help = "form of the answer; --as is the same"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, to), .value = "FILE", .file = FILE_OUTPUT,
     .fallback = "standard output", .help = "where to write"},
    {"format", 'f', OPTION_CHOICE, OPTION_FIELD(settings, format), .choices = graph_formats,
     .help = "of GRAPH; guess: by its first word"},
    {.help = "Instead of an answer"},
    {"info", .type = OPTION_FLAG, OPTION_FIELD(settings, info),
     .help = "print sizes, and the width that exact inference would have; variables observed in "
             "every case count as known"},
    {"dot", .type = OPTION_FLAG, OPTION_FIELD(settings, dot),
     .help = "draw the graph for graphviz"},
    {"convert", .type = OPTION_STRING, OPTION_FIELD(settings, convert), .value = "FILE",
     .file = FILE_OUTPUT, .help = "write the graph to FILE, whose name ends in .fg or .uai"},
    {.help = "exact"},
    {"order", .type = OPTION_CHOICE, OPTION_FIELD(settings, infer.weighted_fill), .choices = orders,
     .help = "which variable is eliminated next"},
    {"max-cells", .type = OPTION_REAL, OPTION_FIELD(settings, infer.max_cells), .value = "N",
     .help = "refuse to use more cells of 8 bytes"},
    {.help = "bp, trw, mf, mplp"},
    {"schedule", 's', OPTION_CHOICE, OPTION_FIELD(settings, infer.schedule), .choices = schedules,
     .help = "of bp and trw: which message is next"},
    {"damping", 'd', OPTION_REAL, OPTION_FIELD(settings, infer.damping), .value = "X",
     .help = "of bp and trw: share of the old message that is kept"},
    {"tolerance", .type = OPTION_REAL, OPTION_FIELD(settings, infer.tolerance), .value = "X",
     .help = "largest change that counts as converged"},
    {"max-updates", 'n', OPTION_INTEGER, OPTION_FIELD(settings, infer.max_updates), .value = "N",
     .fallback = "1000 for each message", .help = "stop after N updates of messages"},
    {"second-start", .type = OPTION_FLAG, OPTION_FIELD(settings, infer.second_start),
     .help = "of bp: messages start once more, from tree-reweighted ones; another fixed point is "
             "added"},
    {.help = "gibbs"},
    {"samples", .type = OPTION_INTEGER, OPTION_FIELD(settings, infer.samples), .value = "N",
     .help = "sweeps that count"},
    {"burn-in", .type = OPTION_INTEGER, OPTION_FIELD(settings, infer.burn_in), .value = "N",
     .help = "sweeps before them"},
    {"seed", .type = OPTION_INTEGER, OPTION_FIELD(settings, infer.seed), .value = "N",
     .help = "of the sampling"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.task = TASK_MAR, .infer = trl_infer_options_default()};
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *end)
{
    const size_t n = strlen(path), k = strlen(end);
    return n > k && strcmp(path + n - k, end) == 0;
}

static int check(const settings *s, const operands *args)
{
    const trl_infer_method m = s->infer.method;
    if (args->n > 1 && strcmp(args->item[0], "-") == 0 && strcmp(args->item[1], "-") == 0)
        return message_usage("only one of the files can be standard input");
    if (s->info + s->dot + (s->convert != NULL) > 1)
        return message_usage("--info, --dot and --convert exclude each other");
    if (args->n > 1 && (s->dot || s->convert))
        return message_usage("--dot and --convert take no evidence");
    if (s->convert && !ends_in(s->convert, ".fg") && !ends_in(s->convert, ".uai"))
        return message_usage("--convert %s: the name ends neither in .fg nor in .uai", s->convert);
    if (s->info || s->dot || s->convert)
        return CLI_DONE;
    if (s->task == TASK_MPE && (m == TRL_INFER_TRW || m == TRL_INFER_MEAN_FIELD))
        return message_usage("%s finds marginals; for --task MPE take exact, bp, mplp or gibbs",
                             infer_methods[m]);
    if (s->task != TASK_MPE && m == TRL_INFER_MPLP)
        return message_usage(
            "mplp finds the best labelling; for --task %s take exact, bp, trw or mf",
            infer_tasks[s->task]);
    if (s->task == TASK_PR && m == TRL_INFER_GIBBS)
        return message_usage("gibbs has no log Z; for --task PR take exact, bp, trw or mf");
    return CLI_DONE;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* What is to be known of an answer that is not exact. */
static void report(const settings *s, const trl_infer_result *r)
{
    const char *name = infer_methods[s->infer.method];
    if (s->infer.method == TRL_INFER_EXACT)
        return;
    if (s->infer.method == TRL_INFER_GIBBS)
        message_say("gibbs: %" PRIu64 " sweeps", r->iterations);
    else if (r->converged)
        message_say("%s: converged; iterations: %" PRIu64 ", updates: %" PRIu64, name,
                    r->iterations, r->updates);
    else
        message_warn("%s did not converge; iterations: %" PRIu64 ", updates: %" PRIu64
                     ", largest change: %.2g",
                     name, r->iterations, r->updates, r->change);
    if (s->task == TASK_PR)
        message_say("%s: log Z: %s", name, infer_value_status(r->log_z_status));
    else if (s->task == TASK_MAR)
        message_say("%s: probabilities: %s", name, r->exact_marginals ? "exact" : "estimates");
    else if (s->infer.method == TRL_INFER_MPLP)
        message_say("mplp: score %.10g, bound %.10g: %s", r->score, r->bound,
                    r->exact ? "exact" : "not proven to be the best");
    else
        message_say("%s: score %.10g: %s", name, r->score,
                    r->exact ? "exact" : "not proven to be the best");
}

/* One case; evidence may be NULL. */
static trl_status answer(settings *s, const trl_graph *g, const uint32_t *evidence,
                         infer_printer *printer, text *t, trl_error *err)
{
    const trl_graph_view look = trl_graph_look(g);
    trl_infer_plan *plan = NULL;
    trl_infer_work *work = NULL;
    trl_infer_result r;
    bool *observed = calloc(look.n_variables + 1, sizeof *observed);
    if (!observed) {
        t->failed = true;
        return TRL_OK;
    }
    for (size_t v = 0; evidence && v < look.n_variables; v++)
        observed[v] = evidence[v] != TRL_UNOBSERVED;
    s->infer.observed = observed;
    const trl_infer_input in = {.evidence = evidence};
    trl_status st = trl_infer_plan_new(g, &s->infer, &plan, err);
    if (st == TRL_OK)
        st = trl_infer_work_new(&work, err);
    if (st == TRL_OK)
        st = s->task == TASK_MPE ? trl_infer_best(plan, &in, work, &r, err)
                                 : trl_infer_marginals(plan, &in, work, &r, err);
    if (st == TRL_OK) {
        infer_print_case(printer, &look, &r, t);
        report(s, &r);
    }
    trl_infer_plan_free(plan);
    trl_infer_work_free(work);
    free(observed);
    return st;
}

static trl_status answer_all(settings *s, const trl_graph *g, const trl_evidence *e, text *t,
                             trl_error *err)
{
    const size_t n = trl_graph_look(g).n_variables;
    infer_printer p = {.task = s->task,
                       .form = s->form,
                       .method = s->infer.method,
                       .cases = e->label ? e->n_cases : 1,
                       .counted = e->counted};
    trl_status st = TRL_OK;
    infer_print_head(&p, t);
    for (size_t k = 0; k < p.cases && st == TRL_OK; k++)
        st = answer(s, g, e->label ? e->label + k * n : NULL, &p, t, err);
    infer_print_tail(&p, t);
    s->failed_case = st != TRL_OK && p.cases > 1 ? p.done + 1 : 0;
    return st;
}

/* Which variables are observed in every case; NULL: out of memory. */
static bool *always_observed(size_t n_variables, const trl_evidence *e)
{
    bool *observed = calloc(n_variables + 1, sizeof *observed);
    for (size_t v = 0; observed && e->label && v < n_variables; v++) {
        observed[v] = true;
        for (size_t k = 0; k < e->n_cases && observed[v]; k++)
            observed[v] = e->label[k * n_variables + v] != TRL_UNOBSERVED;
    }
    return observed;
}

static trl_status info(settings *s, const trl_graph *g, const trl_evidence *e, text *t,
                       trl_error *err)
{
    const trl_graph_view look = trl_graph_look(g);
    trl_infer_plan *plan = NULL;
    bool *observed = always_observed(look.n_variables, e);
    if (!observed) {
        t->failed = true;
        return TRL_OK;
    }
    s->infer.method = TRL_INFER_EXACT;
    s->infer.observed = observed;
    const trl_status st = trl_infer_plan_new(g, &s->infer, &plan, err);
    free(observed);
    if (st != TRL_OK && st != TRL_EINVAL)
        return st;
    const trl_infer_info sizes = trl_infer_plan_info(plan);
    infer_print_info(&look, plan ? &sizes : NULL, err->msg, s->form, t);
    trl_infer_plan_free(plan);
    return TRL_OK;
}

/* The graph as text of another form. */
static trl_status redraw(const settings *s, const trl_graph *g, text *t, trl_error *err)
{
    trl_buf b = {0};
    const trl_status st =
        s->dot ? trl_graph_dot(g, &b, err)
               : trl_graph_write(g, ends_in(s->convert, ".fg") ? TRL_GRAPH_FG : TRL_GRAPH_UAI, &b,
                                 err);
    if (st == TRL_OK)
        text_add(t, b.data, b.len);
    trl_buf_fini(&b);
    return st;
}

static int write_text(const settings *s, text *t)
{
    output o;
    const bool ok =
        output_open(&o, s->convert ? s->convert : s->to) && output_text(&o, t) && output_close(&o);
    return ok ? CLI_DONE : CLI_FAILED;
}

static void message_impossible(const settings *s, const char *path, const trl_error *err)
{
    if (s->failed_case)
        message_say("%s: case %zu: %s", path, s->failed_case, err->msg);
    else
        message_say("%s: %s", path, err->msg);
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    int code = check(s, args);
    if (code != CLI_DONE)
        return code;
    trl_error err = {0};
    trl_graph *g = NULL;
    trl_evidence e = {0};
    text t = {0};
    trl_status st = trl_graph_read(args->item[0], s->format, 0, &g, &err);
    if (st == TRL_OK && args->n > 1)
        st = trl_evidence_read(args->item[1], g, &e, &err);
    if (st == TRL_OK)
        st = s->info                ? info(s, g, &e, &t, &err)
             : s->dot || s->convert ? redraw(s, g, &t, &err)
                                    : answer_all(s, g, &e, &t, &err);
    if (st == TRL_OK) {
        code = write_text(s, &t);
    } else {
        if (!err.path[0] && st == TRL_ENUMERIC) /* which file made it impossible */
            message_impossible(s, args->item[args->n - 1], &err);
        else
            message_error(&err);
        code = CLI_FAILED;
    }
    text_fini(&t);
    trl_evidence_fini(&e);
    trl_graph_free(g);
    return code;
}

const verb verb_infer = {
    .name = "infer",
    .summary = "probabilities and best labellings of a factor graph",
    .usage = "[OPTION]... GRAPH [EVIDENCE]",
    .description =
        "Reads a factor graph in libDAI's format (.fg) or that of the UAI evaluations (.uai,\n"
        "MARKOV or BAYES) and answers one of the evaluations' tasks: PR, the log10 of the sum\n"
        "over all labellings; MAR, the marginal distribution of every variable; MPE, the best\n"
        "labelling. EVIDENCE says which labels were observed: 'n variable label ...', or the\n"
        "number of cases and then one of these for each.\n"
        "\n"
        "exact builds a junction tree and says what it would cost before it starts. The others\n"
        "are for graphs that are too wide for that:\n"
        "\n"
        "  bp     loopy belief propagation, max-product for MPE; exact without cycles\n"
        "  trw    tree-reweighted belief propagation; converged, log Z is an upper bound\n"
        "  mf     mean field; log Z is a lower bound\n"
        "  gibbs  sampling; no log Z\n"
        "  mplp   MPE with a bound no labelling exceeds; equal, the labelling is proven\n"
        "\n"
        "What stands on standard error says whether messages converged and what log Z is worth.\n"
        "Budgets count updates, so that nothing runs for ever and every run gives the same\n"
        "bits.\n",
    .examples = "  trellis infer grid.uai\n"
                "  trellis infer --task PR --method trw --damping 0.5 grid.uai seen.evid\n"
                "  trellis infer --task MPE --method mplp --to json grid.fg\n"
                "  trellis infer --info grid.uai\n"
                "  trellis infer --convert grid.fg grid.uai\n",
    .options = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 1,
    .max_operands = 2,
    .operand = "a factor graph",
    .run = run,
};
