/* boost_path.c -- regularisation paths for people and for 'trellis plot'. */
/* SPDX-License-Identifier: MIT */
#include "boost_path.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "message.h"
#include "output.h"
#include "signals.h"

static void add_words(const trl_boost_progress *now, text *t)
{
    char time[40];
    if (now->classifiers > 1)
        text_fmt(t, "%s (%zu of %zu)  ", now->classifier, now->number + 1, now->classifiers);
    text_fmt(t, "lambda %.4g  trees %" PRIu64, now->lambda, now->trees);
    if (now->point) {
        text_fmt(t, "  compound %" PRIu64 "  objective %.6g  loss %.6g", now->point->compound,
                 now->point->objective, now->point->loss);
        if (isfinite(now->point->held_out))
            text_fmt(t, "  held-out %.6f", now->point->held_out);
    }
    progress_duration(now->seconds, time, sizeof time);
    text_fmt(t, "  time %s", time);
    text_char(t, '\0');
}

/* A log gets a line for each point of the path, a terminal also one that is rewritten. */
bool boost_path_show(void *ctx, const trl_boost_progress *now)
{
    progress *p = ctx;
    const bool stop = signals_noted();
    if (now->note) {
        message_warn("%s", now->note);
        return stop;
    }
    if (p->quiet || (!now->point && (!p->terminal || now->seconds - p->shown < 0.1)))
        return stop;
    text t = {0};
    add_words(now, &t);
    if (t.failed) /* no reason to end a run */
        ;
    else if (now->point)
        message_line("%s", t.p);
    else
        message_status(t.p);
    p->shown = now->seconds;
    text_fini(&t);
    return stop;
}

void boost_path_summary(const trl_boost_model *m, const char *path)
{
    const size_t K = trl_boost_model_classifiers(m);
    uint64_t trees = 0, compound = 0;
    for (size_t k = 0; k < K; k++) {
        const trl_boost_classifier c = trl_boost_model_classifier(m, k);
        trees += c.trees;
        compound += c.point[c.best].compound;
    }
    const trl_boost_classifier c = trl_boost_model_classifier(m, 0);
    const trl_boost_point *best = &c.point[c.best];
    if (K > 1)
        message_line("classifiers  %zu", K);
    else if (isfinite(best->held_out))
        message_line("held-out     %.6f at lambda %.4g, point %zu of %zu", best->held_out,
                     best->lambda, c.best + 1, c.n_points);
    message_line("trees        %" PRIu64, trees);
    message_line("compound     %" PRIu64 " features", compound);
    message_line("model        %s", path);
}

void boost_path_table(const trl_boost_model *m, size_t k, bool head, text *out)
{
    const trl_boost_classifier c = trl_boost_model_classifier(m, k);
    const bool several = trl_boost_model_classifiers(m) > 1;
    if (head)
        text_fmt(out, "%slambda trees compound atomic loss objective held_out kept\n",
                 several ? "class " : "");
    for (size_t i = 0; i < c.n_points; i++) {
        const trl_boost_point *p = &c.point[i];
        if (several)
            text_fmt(out, "%s ", c.name);
        text_fmt(out, "%.6g %" PRIu64 " %" PRIu64 " %" PRIu64 " %.9g %.9g ", p->lambda, p->trees,
                 p->compound, p->atomic, p->loss, p->objective);
        if (isfinite(p->held_out))
            text_fmt(out, "%.9g", p->held_out);
        else
            text_str(out, "0");
        text_fmt(out, " %d\n", i == c.best);
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static void add_real(text *t, const char *name, double x)
{
    text_fmt(t, ",\"%s\":", name);
    text_json_real(t, x);
}

static void add_points(const trl_boost_classifier *c, text *t)
{
    text_char(t, '[');
    for (size_t i = 0; i < c->n_points; i++) {
        const trl_boost_point *p = &c->point[i];
        text_fmt(t, "%s\n{\"iteration\":%zu,\"trees\":%" PRIu64, i ? "," : "", i + 1, p->trees);
        text_fmt(t, ",\"compound\":%" PRIu64 ",\"atomic\":%" PRIu64, p->compound, p->atomic);
        add_real(t, "lambda", p->lambda);
        add_real(t, "seconds", p->seconds);
        add_real(t, "objective", p->objective);
        add_real(t, "loss", p->loss);
        add_real(t, "held_out", p->held_out);
        text_char(t, '}');
    }
    text_char(t, ']');
}

static void add_result(const trl_boost_model *m, text *t)
{
    const trl_boost_classifier c = trl_boost_model_classifier(m, 0);
    const trl_boost_point *p = &c.point[c.best];
    text_fmt(t, "\"result\":{\"trees\":%" PRIu64 ",\"compound\":%" PRIu64 ",\"atomic\":%" PRIu64,
             c.trees, p->compound, p->atomic);
    add_real(t, "lambda", p->lambda);
    add_real(t, "loss", p->loss);
    add_real(t, "objective", p->objective);
    add_real(t, "held_out", p->held_out);
    add_real(t, "seconds", c.point[c.n_points - 1].seconds);
    text_char(t, '}');
}

bool boost_path_record(const trl_boost_model *m, const trl_boost_data *d, const verb *v,
                       const void *settings, const char *path)
{
    const trl_boost_data_info i = trl_boost_data_get_info(d);
    text t = {0};
    output o;
    text_str(&t, "{\"program\":\"trellis " TRL_VERSION "\",\"command\":\"boost\",\n\"options\":");
    options_json(v, settings, &t);
    text_fmt(&t,
             ",\n\"data\":{\"examples\":%zu,\"features\":%zu,\"active\":%" PRIu64
             ",\"classifiers\":%zu},\n\"curve\":",
             i.examples, i.features, i.active, i.classifiers);
    const trl_boost_classifier first = trl_boost_model_classifier(m, 0);
    add_points(&first, &t);
    text_str(&t, ",\n\"paths\":{");
    for (size_t k = 0; k < trl_boost_model_classifiers(m); k++) {
        const trl_boost_classifier c = trl_boost_model_classifier(m, k);
        text_str(&t, k ? "," : "");
        text_json_str(&t, c.name);
        text_char(&t, ':');
        add_points(&c, &t);
    }
    text_str(&t, "},\n");
    add_result(m, &t);
    text_str(&t, "}\n");
    bool ok = output_open(&o, path);
    ok = ok && output_text(&o, &t);
    text_fini(&t);
    return output_close(&o) && ok;
}
