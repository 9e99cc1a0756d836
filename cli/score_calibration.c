/* score_calibration.c -- do probabilities mean what they say? */
/* SPDX-License-Identifier: MIT */
#include "score_calibration.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "output.h"
#include "plot.h"
#include "style.h"
#include "trellis/reliability.h"

static const char *const names[TRL_N_RELIABLE] = {"tokens", "spans", "boundaries", "sequences"};

static const char *const of_trees[] = {"constituents", "trees"};

typedef struct report {
    trl_reliability r[TRL_N_RELIABLE];
    const char *name[TRL_N_RELIABLE];
} report;

static void add_table(const trl_reliability *r, const char *name, text *out)
{
    const trl_reliability_totals t = trl_reliability_get(r);
    text_fmt(out, "%s: %" PRIu64 ", %.2f%% right, mean probability %.2f%%\n", name, t.n,
             100.0 * t.accuracy, 100.0 * t.confidence);
    text_fmt(out, "Brier score %.5f; expected calibration error %.5f, largest %.5f\n\n", t.brier,
             t.ece, t.largest);
    text_str(out, "  probability     number      mean     right\n");
    for (size_t k = 0; k < r->n_bins; k++) {
        const trl_reliability_bin *b = &r->bin[k];
        if (b->n)
            text_fmt(out, "  %.2f - %.2f %10" PRIu64 " %8.2f%% %8.2f%%\n",
                     (double)k / (double)r->n_bins, (double)(k + 1) / (double)r->n_bins, b->n,
                     100.0 * b->sum / (double)b->n, 100.0 * (double)b->right / (double)b->n);
    }
    text_char(out, '\n');
}

static void add_json(const trl_reliability *r, const char *name, text *out)
{
    const trl_reliability_totals t = trl_reliability_get(r);
    const struct {
        const char *name;
        double value;
    } field[] = {{"accuracy", t.accuracy},
                 {"confidence", t.confidence},
                 {"brier", t.brier},
                 {"ece", t.ece},
                 {"largest", t.largest}};
    bool first = true;
    text_json_str(out, name);
    text_fmt(out, ": {\"n\": %" PRIu64 ", \"right\": %" PRIu64, t.n, t.right);
    for (size_t k = 0; k < sizeof field / sizeof *field; k++) {
        text_fmt(out, ", \"%s\": ", field[k].name);
        text_json_real(out, field[k].value);
    }
    text_str(out, ", \"bins\": [");
    for (size_t k = 0; k < r->n_bins; k++) {
        const trl_reliability_bin *b = &r->bin[k];
        if (!b->n)
            continue;
        text_fmt(out, "%s{\"from\": %.6g, \"to\": %.6g, \"n\": %" PRIu64 ", \"confidence\": ",
                 first ? "" : ", ", (double)k / (double)r->n_bins,
                 (double)(k + 1) / (double)r->n_bins, b->n);
        text_json_real(out, b->sum / (double)b->n);
        text_str(out, ", \"accuracy\": ");
        text_json_real(out, (double)b->right / (double)b->n);
        text_char(out, '}');
        first = false;
    }
    text_str(out, "]}");
}

/* ---- the plot -------------------------------------------------------------------------------- */

static void fill_plot(const report *x, plot *p)
{
    *p = (plot){.type = PLOT_CURVE, .marks = MARKS_BOTH, .y_min = 0.0, .y_max = 1.0};
    plot_name(p, &p->title, "reliability");
    plot_name(p, &p->x_name, "probability");
    plot_name(p, &p->y_name, "share of right answers");
    for (size_t i = 0; i < TRL_N_RELIABLE; i++) {
        if (!x->name[i])
            continue;
        const size_t series = plot_series_of(p, x->name[i]);
        for (size_t k = 0; k < x->r[i].n_bins; k++) {
            const trl_reliability_bin *b = &x->r[i].bin[k];
            if (b->n)
                plot_add(p, series, b->sum / (double)b->n, (double)b->right / (double)b->n);
        }
    }
    const size_t ideal = plot_series_of(p, "ideal");
    plot_add(p, ideal, 0.0, 0.0);
    plot_add(p, ideal, 1.0, 1.0);
    plot_sort(p);
}

static bool write_svg(const plot *p, const char *path)
{
    output o;
    text t = {0};
    bool ok = plot_svg(p, 0, 0, &t) && output_open(&o, path);
    if (ok) {
        output_text(&o, &t);
        ok = output_close(&o);
    }
    text_fini(&t);
    return ok;
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool read_files(report *x, const operands *args)
{
    trl_error err = {0};
    const bool trees = args->n == 3;
    const trl_status st =
        trees ? trl_reliability_parses(args->item[1], args->item[2], &x->r[0], &x->r[1], &err)
              : trl_reliability_file(args->n > 1 ? args->item[1] : "-", x->r, &err);
    if (st != TRL_OK) {
        message_error(&err);
        return false;
    }
    bool any = false;
    for (size_t i = 0; i < (trees ? 2 : TRL_N_RELIABLE); i++) {
        const bool there = trl_reliability_get(&x->r[i]).n > 0;
        x->name[i] = !there ? NULL : trees ? of_trees[i] : names[i];
        any = any || there;
    }
    if (!any)
        message_say("nothing to score: there are no probabilities in it");
    return any;
}

static int print(const report *x, const plot *p, bool json)
{
    text t = {0};
    bool ok = true;
    text_str(&t, json ? "{" : "");
    for (size_t i = 0, n = 0; i < TRL_N_RELIABLE; i++) {
        if (!x->name[i])
            continue;
        text_str(&t, json && n++ ? ", " : "");
        (json ? add_json : add_table)(&x->r[i], x->name[i], &t);
    }
    text_str(&t, json ? "}\n" : "");
    if (!json) {
        const plot_terminal how = {.height = 14, .width = style_width(STDOUT_FILENO, 80)};
        ok = plot_text(p, &how, &t);
    }
    if (ok)
        return output_print(&t);
    text_fini(&t);
    return CLI_FAILED;
}

int score_calibration(const calibration_settings *s, bool json, const operands *args)
{
    if (s->bins < 1 || s->bins > TRL_RELIABILITY_BINS)
        return message_usage("--bins %zu: 1 to %d", s->bins, TRL_RELIABILITY_BINS);
    report *x = calloc(1, sizeof *x);
    if (!x)
        return message_memory();
    for (size_t i = 0; i < TRL_N_RELIABLE; i++)
        x->r[i].n_bins = s->bins;
    int code = CLI_FAILED;
    if (read_files(x, args)) {
        plot p;
        fill_plot(x, &p);
        if (p.failed)
            message_memory();
        else if (!s->svg || write_svg(&p, s->svg))
            code = print(x, &p, json);
        plot_fini(&p);
    }
    free(x);
    return code;
}
