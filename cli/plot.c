/* plot.c -- series, axes with round numbers, and finding out what a file is. */
/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

#define TOO_LARGE 1e300 /* sums and differences must stay finite */

/* ---- memory ---------------------------------------------------------------------------------- */

void plot_fini(plot *p)
{
    for (size_t k = 0; k < p->n_series; k++) {
        free(p->series[k].name);
        free(p->series[k].x);
        free(p->series[k].y);
    }
    for (size_t k = 0; k < p->n_categories; k++)
        free(p->category[k]);
    free(p->series);
    free(p->category);
    free(p->title);
    free(p->x_name);
    free(p->y_name);
    *p = (plot){0};
}

/* Room for one element more; NULL: out of memory. */
static void *grow(void *p, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return p;
    const size_t more = *cap ? 2 * *cap : 16;
    void *grown = more > SIZE_MAX / size ? NULL : realloc(p, more * size);
    if (grown)
        *cap = more;
    return grown;
}

/* The length of the well-formed UTF-8 character at s that can be shown; 0: none. */
static size_t shown_length(const unsigned char *s)
{
    const size_t n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] < 0x20 || s[0] == 0x7f || (s[0] >= 0x80 && s[0] < 0xc2) || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++) /* stops at the NUL */
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    const bool control = s[0] == 0xc2 && s[1] < 0xa0;
    const bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    const bool outside = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f) ||
                         (s[0] == 0xef && s[1] == 0xbf && s[2] > 0xbd);
    return control || overlong || outside ? 0 : n;
}

/* Neither a terminal nor XML takes every byte: what cannot be shown becomes '?'. */
static char *copy(const char *s)
{
    char *c = malloc(strlen(s) + 1);
    if (!c)
        return NULL;
    strcpy(c, s);
    for (char *at = c; *at;) {
        const size_t n = shown_length((const unsigned char *)at);
        if (n == 0)
            *at = '?';
        at += n ? n : 1;
    }
    return c;
}

size_t plot_series_of(plot *p, const char *name)
{
    char *c = copy(name);
    for (size_t k = 0; c && k < p->n_series; k++)
        if (strcmp(p->series[k].name, c) == 0) {
            free(c);
            return k;
        }
    plot_series *s = c ? grow(p->series, p->n_series, &p->cap_series, sizeof *s) : NULL;
    if (!s) {
        p->failed = true;
        free(c);
        return (size_t)-1;
    }
    p->series = s;
    s[p->n_series] = (plot_series){.name = c};
    return p->n_series++;
}

size_t plot_category_of(plot *p, const char *name)
{
    char *c = copy(name);
    for (size_t k = 0; c && k < p->n_categories; k++)
        if (strcmp(p->category[k], c) == 0) {
            free(c);
            return k;
        }
    char **all = c ? grow(p->category, p->n_categories, &p->cap_categories, sizeof *all) : NULL;
    if (!all) {
        p->failed = true;
        free(c);
        return (size_t)-1;
    }
    p->category = all;
    all[p->n_categories] = c;
    return p->n_categories++;
}

void plot_add(plot *p, size_t series, double x, double y)
{
    if (series >= p->n_series || !(fabs(x) < TOO_LARGE && fabs(y) < TOO_LARGE))
        return;
    plot_series *s = &p->series[series];
    size_t cap = s->cap;
    double *xs = grow(s->x, s->n, &cap, sizeof *xs);
    if (xs)
        s->x = xs;
    double *ys = xs ? grow(s->y, s->n, &s->cap, sizeof *ys) : NULL;
    if (!ys) {
        p->failed = true;
        return;
    }
    s->y = ys;
    s->x[s->n] = x;
    s->y[s->n++] = y;
}

void plot_name(plot *p, char **where, const char *name)
{
    if (*where || !name)
        return;
    *where = copy(name);
    p->failed = p->failed || !*where;
}

/* By insertion: points mostly come in order. */
void plot_sort(plot *p)
{
    for (size_t k = 0; k < p->n_series; k++) {
        plot_series *s = &p->series[k];
        for (size_t i = 1; i < s->n; i++) {
            const double x = s->x[i], y = s->y[i];
            size_t at = i;
            for (; at > 0 && s->x[at - 1] > x; at--) {
                s->x[at] = s->x[at - 1];
                s->y[at] = s->y[at - 1];
            }
            s->x[at] = x;
            s->y[at] = y;
        }
    }
}

size_t plot_width(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

/* ---- axes ------------------------------------------------------------------------------------ */

void plot_value(double v, char out[PLOT_VALUE])
{
    const double a = fabs(v);
    snprintf(out, PLOT_VALUE, a >= 1e5 || (a != 0.0 && a < 0.1) ? "%.3g" : "%.1f", v);
}

/* 12000 -> 12,000; as many digits as the distance of ticks needs. */
static void tick_label(double v, double step, char out[24])
{
    if (v != 0.0 && (fabs(v) >= 1e7 || fabs(v) < 1e-4 || step < 1e-6)) {
        const double digits = 1.0 + floor(log10(fabs(v)) + 1e-9) - floor(log10(step) + 1e-9);
        snprintf(out, 24, "%.*g", (int)fmin(fmax(digits, 1.0), 15.0), v);
        return;
    }
    int decimals = 0;
    for (double s = step; decimals < 6 && fabs(s - round(s)) > 1e-6 * s; s *= 10.0)
        decimals++;
    char plain[24];
    snprintf(plain, sizeof plain, "%.*f", decimals, v == 0.0 ? 0.0 : v);
    const char *digits = plain + (plain[0] == '-');
    const size_t whole = strcspn(digits, ".");
    size_t k = 0;
    if (plain[0] == '-')
        out[k++] = '-';
    for (size_t i = 0; digits[i] && k < 22; i++) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0)
            out[k++] = ',';
        out[k++] = digits[i];
    }
    out[k] = '\0';
}

static void add_tick(plot_axis *a, double v, double step)
{
    if (a->n == MAX_TICKS)
        return;
    a->tick[a->n] = v;
    tick_label(v, step, a->label[a->n++]);
}

/* 1, 2 or 5 times a power of 10, the smallest that leaves at most `target` intervals. */
static double round_step(double range, size_t target)
{
    const double raw = range / (double)target, unit = pow(10.0, floor(log10(raw)));
    static const double steps[] = {1.0, 2.0, 5.0};
    for (size_t k = 0; k < 3; k++)
        if (steps[k] * unit >= raw * (1.0 - 1e-9))
            return steps[k] * unit;
    return 10.0 * unit;
}

static void linear_ticks(plot_axis *a, size_t target, bool whole)
{
    const double step = round_step(a->high - a->low, target);
    if (whole) {
        a->low = step * floor(a->low / step + 1e-9);
        a->high = step * ceil(a->high / step - 1e-9);
    }
    const double slack = 1e-9 * (a->high - a->low);
    for (double k = ceil((a->low - slack) / step); k * step <= a->high + slack; k += 1.0)
        add_tick(a, k * step, step);
}

static void log_ticks(plot_axis *a, size_t target)
{
    const double decades = log10(a->high / a->low);
    const int first = (int)floor(log10(a->low)), last = (int)ceil(log10(a->high));
    const int stride = 1 + (int)(decades / (double)(target + 1));
    static const double minor[] = {1.0, 2.0, 5.0};
    if (decades < 0.7) { /* too little for powers */
        linear_ticks(a, target, false);
        return;
    }
    for (int e = first; e <= last; e += stride)
        for (size_t k = 0; k < (decades < 2.5 ? 3 : 1); k++) {
            const double v = minor[k] * pow(10.0, e);
            if (v >= a->low * (1.0 - 1e-9) && v <= a->high * (1.0 + 1e-9))
                add_tick(a, v, fmin(v, 1.0));
        }
}

plot_axis plot_axis_make(double min, double max, bool log, size_t target, bool whole)
{
    plot_axis a = {.log = log, .low = min, .high = max};
    if (!(max - min > 1e-12 * fmax(fabs(min), fabs(max)))) { /* one value: some room around it */
        const double room = min == 0.0 ? 1.0 : 0.05 * fabs(min);
        a.low = min - room;
        a.high = max + room;
    }
    if (log)
        log_ticks(&a, target);
    else
        linear_ticks(&a, target, whole);
    return a;
}

double plot_axis_at(const plot_axis *a, double v)
{
    return a->log ? log10(v / a->low) / log10(a->high / a->low) : (v - a->low) / (a->high - a->low);
}

typedef struct range {
    double min, max;
} range;

static void extend(range *r, double v)
{
    r->min = fmin(r->min, v);
    r->max = fmax(r->max, v);
}

static bool check_log(bool log, const range *r, const char *shown)
{
    if (!log || r->min > 0.0)
        return true;
    message_say("%s: there are values that are not above 0", shown);
    return false;
}

bool plot_axes(const plot *p, size_t x_target, size_t y_target, plot_axis *x, plot_axis *y)
{
    range rx = {HUGE_VAL, -HUGE_VAL}, ry = rx;
    for (size_t k = 0; k < p->n_series; k++)
        for (size_t i = 0; i < p->series[k].n; i++) {
            extend(&rx, p->series[k].x[i]);
            extend(&ry, p->series[k].y[i]);
        }
    if (rx.min > rx.max) {
        message_say("there is nothing to plot");
        return false;
    }
    if (isfinite(p->y_min))
        ry.min = p->y_min;
    else if (p->type == PLOT_LABELS)
        ry.min = fmin(0.0, ry.min);
    if (isfinite(p->y_max))
        ry.max = p->y_max;
    else if (p->type == PLOT_LABELS && ry.max > 50.0 && ry.max <= 100.0)
        ry.max = 100.0; /* percent */
    const bool given = isfinite(p->y_min) && isfinite(p->y_max);
    if (ry.min > ry.max || (ry.min == ry.max && given) || ry.max - ry.min > TOO_LARGE) {
        message_say("the range of y is empty or too large");
        return false;
    }
    if (!check_log(p->log_x, &rx, "--log-x") || !check_log(p->log_y, &ry, "--log-y"))
        return false;
    if (!p->log_x && rx.min > 0.0 && rx.min < 0.25 * rx.max)
        rx.min = 0.0;
    const bool whole = !isfinite(p->y_min) && !isfinite(p->y_max);
    *x = plot_axis_make(rx.min, rx.max, p->log_x, x_target, false);
    *y = plot_axis_make(ry.min, ry.max, p->log_y, y_target, whole);
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool read_whole(const char *path, text *t)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    char block[65536];
    size_t n;
    while (f && (n = fread(block, 1, sizeof block, f)) > 0)
        text_add(t, block, n);
    const bool ok = f && !ferror(f);
    const int why = errno;
    if (f && !standard)
        fclose(f);
    if (ok)
        text_char(t, '\0');
    if (!ok || t->failed) {
        message_say("%s: cannot read: %s", path, t->failed ? "out of memory" : strerror(why));
        return false;
    }
    t->n--;
    return true;
}

/* "runs/crf.json" -> "crf". */
static void base_name(const char *path, text *out)
{
    const char *slash = strrchr(path, '/'), *s = slash ? slash + 1 : path;
    const char *dot = strrchr(s, '.');
    text_add(out, s, dot && dot > s ? (size_t)(dot - s) : strlen(s));
    text_char(out, '\0');
}

bool plot_read(plot *p, const plot_request *q, const char *path, size_t number)
{
    text t = {0}, name = {0};
    bool ok = read_whole(path, &t);
    if (number < q->labels.n)
        text_add(&name, q->labels.item[number], strlen(q->labels.item[number]) + 1);
    else
        base_name(path, &name);
    p->failed = p->failed || name.failed;
    if (ok && !p->failed) {
        const char *s = t.p;
        s += strncmp(s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        s += strspn(s, " \t\r\n");
        ok = *s == '{' ? plot_read_json(p, q, path, name.p, t.p, t.n)
                       : plot_read_table(p, q, path, name.p, t.p, t.n);
    }
    if (ok && p->failed) {
        message_memory();
        ok = false;
    }
    text_fini(&t);
    text_fini(&name);
    return ok;
}
