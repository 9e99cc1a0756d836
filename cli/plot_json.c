/* plot_json.c -- points from run records (record.h) and score reports ('score --json'). */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "message.h"
#include "plot.h"

/* How fields are called on an axis. */
static const char *axis_name(const char *field)
{
    static const char *const names[][2] = {
        {"iteration", "iteration"},
        {"seconds", "training time, seconds"},
        {"processor", "training, processor seconds"},
        {"dev", "score on dev, %"},
        {"sequences", "training sequences"},
        {"tokens", "training tokens"},
        {"gradient", "norm of the gradient"},
        {"f1", "F1, %"},
        {"precision", "precision, %"},
        {"recall", "recall, %"},
        {"model_bytes", "model, bytes"},
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k][0], field) == 0)
            return names[k][1];
    return field;
}

static const char *first_or(const string_list *list, const char *otherwise)
{
    return list->n ? list->item[0] : otherwise;
}

/* ---- run records ----------------------------------------------------------------------------- */

/* A name may stand for two things: the objective is a setting (likelihood, memm) and a number at
 * the end of the run.  Axes take a number, from the result first; what runs are grouped by is a
 * setting before anything else. */
static double number_of(const json *j, const char *name)
{
    static const char *const parts[] = {"result", "data", "options"};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const double x = json_number(json_get(j, json_get(j, j->value, parts[k]), name));
        if (isfinite(x))
            return x;
    }
    return (double)NAN;
}

static const json_value *setting_of(const json *j, const char *name)
{
    static const char *const parts[] = {"options", "data", "result"};
    const json_value *unknown = NULL; /* null: the c of a run of 'train', say */
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const json_value *v = json_get(j, json_get(j, j->value, parts[k]), name);
        if (v && v->type != JSON_NULL)
            return v;
        unknown = unknown ? unknown : v;
    }
    return unknown;
}

static bool no_field(const char *path, const char *name)
{
    message_say("%s: the record has no value '%s'", path, name);
    if (strcmp(name, "dev") == 0)
        message_hint("'trellis train --dev FILE' scores the model as it learns; or name "
                     "another value by --y");
    return false;
}

static bool read_curve(plot *p, const plot_request *q, const json *j, const char *path,
                       const char *name)
{
    const char *x = q->x ? q->x : "iteration", *y = first_or(&q->y, "objective");
    const json_value *curve = json_get(j, j->value, "curve");
    if (!curve || curve->type != JSON_ARRAY) {
        message_say("%s: the record has no curve", path);
        return false;
    }
    const size_t series = plot_series_of(p, name);
    size_t points = 0;
    const json_value *v = json_first(j, curve);
    for (size_t i = 0; i < curve->n; i++, v = json_next(j, v)) {
        const double px = json_number(json_get(j, v, x)), py = json_number(json_get(j, v, y));
        points += isfinite(px) && isfinite(py);
        plot_add(p, series, px, py);
    }
    plot_name(p, &p->x_name, axis_name(x));
    plot_name(p, &p->y_name, axis_name(y));
    if (points)
        return true;
    v = json_first(j, curve);
    return no_field(path, curve->n && isfinite(json_number(json_get(j, v, x))) ? y : x);
}

/* The series of a run: "c2 = 0.5" or "memm" by an option, or all in one. */
static bool series_name(const plot_request *q, const json *j, const char *path, const char *name,
                        text *out)
{
    const json_value *v = q->by ? setting_of(j, q->by) : NULL;
    if (q->by && !v)
        return no_field(path, q->by);
    if (v && v->type == JSON_STRING)
        text_str(out, v->string);
    else if (v && v->type == JSON_NUMBER)
        text_fmt(out, "%s = %g", q->by, v->number);
    else if (v)
        text_fmt(out, "%s: %s", q->by,
                 v->type == JSON_TRUE    ? "yes"
                 : v->type == JSON_FALSE ? "no"
                                         : "none");
    else if (q->type == PLOT_TIME)
        text_str(out, name);
    text_char(out, '\0');
    return true;
}

static bool read_run(plot *p, const plot_request *q, const json *j, const char *path,
                     const char *name)
{
    const char *x = q->x ? q->x : q->type == PLOT_TIME ? "seconds" : "sequences";
    const char *y = first_or(&q->y, "dev");
    const double px = number_of(j, x), py = number_of(j, y);
    if (!isfinite(px) || !isfinite(py))
        return no_field(path, isfinite(px) ? y : x);
    text t = {0};
    const bool ok = series_name(q, j, path, name, &t);
    if (t.failed)
        p->failed = true;
    else if (ok)
        plot_add(p, plot_series_of(p, t.p), px, py);
    text_fini(&t);
    plot_name(p, &p->x_name, axis_name(x));
    plot_name(p, &p->y_name, axis_name(y));
    return ok;
}

/* ---- score reports --------------------------------------------------------------------------- */

static bool looks_like_chunks(const json *j, const json_value *labels)
{
    if (!labels || labels->type != JSON_OBJECT)
        return false;
    const json_value *v = json_first(j, labels);
    bool any = false;
    for (size_t i = 0; i < labels->n; i++, v = json_next(j, v)) {
        const bool tagged = v->key[0] && strchr("BIES", v->key[0]) && v->key[1] == '-';
        if (!tagged && strcmp(v->key, "O") != 0)
            return false;
        any = any || tagged;
    }
    return any;
}

typedef struct bar {
    const char *name;
    double gold, value;
} bar;

static int by_gold(const void *va, const void *vb)
{
    const bar *a = va, *b = vb;
    if (a->gold != b->gold)
        return a->gold > b->gold ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* How often the label is there; labels of which that is not known come last. */
static double gold_of(const json *j, const json_value *label)
{
    const double n = json_number(json_get(j, label, "gold"));
    return isnan(n) ? -1.0 : n;
}

static bool read_score(plot *p, const plot_request *q, const json *j, const char *path,
                       const char *name)
{
    const json_value *labels = json_get(j, j->value, "labels");
    const json_value *types = json_get(j, json_get(j, j->value, "chunks"), "types");
    const bool chunks = q->types || (!q->whole_tags && looks_like_chunks(j, labels));
    const json_value *rows = chunks ? types : labels;
    const char *y = first_or(&q->y, "f1");
    if (!rows || rows->type != JSON_OBJECT || rows->n == 0) {
        message_say("%s: the report has no %s", path, chunks ? "chunks" : "labels");
        return false;
    }
    bar *bars = calloc(rows->n, sizeof *bars);
    const size_t series = plot_series_of(p, name);
    if (!bars) {
        p->failed = true;
        return true;
    }
    const json_value *v = json_first(j, rows);
    for (size_t i = 0; i < rows->n; i++, v = json_next(j, v))
        bars[i] = (bar){v->key, gold_of(j, v), json_number(json_get(j, v, y))};
    qsort(bars, rows->n, sizeof *bars, by_gold);
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        plot_add(p, series, (double)plot_category_of(p, bars[i].name), bars[i].value);
        n += isfinite(bars[i].value) ? 1 : 0;
    }
    free(bars);
    plot_name(p, &p->y_name, axis_name(y));
    plot_name(p, &p->x_name, chunks ? "chunk type" : "label");
    return n > 0 || no_field(path, y);
}

/* ---- which of them --------------------------------------------------------------------------- */

bool plot_read_json(plot *p, const plot_request *q, const char *path, const char *name, char *bytes,
                    size_t n)
{
    json j = {0};
    bool ok = json_parse(&j, path, bytes, n);
    if (ok) {
        const bool run = json_get(&j, j.value, "result") != NULL;
        const bool score = json_get(&j, j.value, "labels") != NULL;
        if (q->type == PLOT_LABELS ? !score : !run) {
            message_say("%s: this is not a %s", path,
                        q->type == PLOT_LABELS ? "score report" : "record of a run");
            message_hint(q->type == PLOT_LABELS ? "'trellis score --json' writes one"
                                                : "'trellis train --json FILE' writes one");
            ok = false;
        } else if (q->by && (q->type == PLOT_CURVE || q->type == PLOT_LABELS)) {
            message_say(
                "%s: --by groups runs of --kind learning or time; here every file is a series",
                path);
            message_hint("--label NAME, once for each file, names them");
            ok = false;
        } else if (q->type == PLOT_LABELS)
            ok = read_score(p, q, &j, path, name);
        else if (q->type == PLOT_CURVE)
            ok = read_curve(p, q, &j, path, name);
        else
            ok = read_run(p, q, &j, path, name);
    }
    json_fini(&j);
    return ok;
}
