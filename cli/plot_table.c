/* plot_table.c -- points from a table: cells separated by blanks, names in the first row.
 *
 *     method  size  f1         one series for each method, size along x, f1 along y
 *     crf     100   71.2
 *     crf     200   80.1
 *
 * "-", "nan" and "null" are missing numbers.  A '#' before the first row's names is skipped.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "plot.h"

typedef struct table {
    const char *path;
    size_t n_columns, n_rows, n_cells, cap;
    char **cell;   /* [n_rows + 1][n_columns], the names first */
    bool *numeric; /* [n_columns] */
} table;

#define NO_COLUMN SIZE_MAX

static char *cell(const table *t, size_t row, size_t column)
{
    return t->cell[(row + 1) * t->n_columns + column];
}

/* A number, or NaN for a missing one; false: neither. */
static bool number(const char *s, double *out)
{
    *out = (double)NAN;
    if (strcmp(s, "-") == 0 || strcmp(s, "nan") == 0 || strcmp(s, "null") == 0)
        return true;
    if (s[strspn(s, "+-0123456789.eE")])
        return false;
    char *end;
    *out = strtod(s, &end);
    return *end == '\0' && end > s && isfinite(*out);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool add_cell(table *t, char *s)
{
    if (t->n_cells == t->cap) {
        const size_t cap = t->cap ? 2 * t->cap : 256;
        char **grown =
            cap > SIZE_MAX / sizeof *grown ? NULL : realloc(t->cell, cap * sizeof *grown);
        if (!grown) {
            message_memory();
            return false;
        }
        t->cell = grown;
        t->cap = cap;
    }
    t->cell[t->n_cells++] = s;
    return true;
}

/* Cuts line[0 .. n] in place. */
static bool read_row(table *t, char *line, size_t row)
{
    const size_t before = t->n_cells;
    char *s = line;
    s += strspn(s, " \t\r");
    if (before == 0 && *s == '#')
        s += 1 + strspn(s + 1, " \t");
    while (*s) {
        const size_t n = strcspn(s, " \t\r");
        char *next = s + n + strspn(s + n, " \t\r");
        if (before && t->n_cells - before == t->n_columns) {
            message_say("%s:%zu:%zu: more cells than the first row has names", t->path, row,
                        (size_t)(s - line) + 1);
            return false;
        }
        s[n] = '\0';
        if (!add_cell(t, s))
            return false;
        s = next;
    }
    const size_t got = t->n_cells - before;
    if (before == 0)
        t->n_columns = got;
    else if (got && got < t->n_columns) {
        message_say("%s:%zu:%zu: %zu cells, but the first row has %zu names", t->path, row,
                    (size_t)(s - line) + 1, got, t->n_columns);
        return false;
    }
    return true;
}

static bool read_rows(table *t, char *bytes, size_t n)
{
    char *line = bytes, *end = bytes + n;
    if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        line += 3;
    if (strlen(line) != (size_t)(end - line)) {
        message_say("%s: this is neither JSON nor a table: it holds a NUL byte", t->path);
        return false;
    }
    for (size_t row = 1; line < end; row++) {
        char *lf = memchr(line, '\n', (size_t)(end - line));
        if (lf)
            *lf = '\0';
        if (!read_row(t, line, row))
            return false;
        line = lf ? lf + 1 : end;
    }
    if (t->n_cells <= t->n_columns) {
        message_say("%s: the table has no rows", t->path);
        return false;
    }
    t->n_rows = t->n_cells / t->n_columns - 1;
    t->numeric = calloc(t->n_columns, sizeof *t->numeric);
    if (!t->numeric) {
        message_memory();
        return false;
    }
    for (size_t c = 0; c < t->n_columns; c++) {
        t->numeric[c] = true;
        double x;
        for (size_t r = 0; r < t->n_rows; r++)
            t->numeric[c] = t->numeric[c] && number(cell(t, r, c), &x);
    }
    return true;
}

/* ---- which columns --------------------------------------------------------------------------- */

static size_t find(const table *t, const char *name)
{
    for (size_t c = 0; c < t->n_columns; c++)
        if (strcmp(t->cell[c], name) == 0)
            return c;
    return NO_COLUMN;
}

/* The column that was asked for, which must be there (and hold numbers). */
static bool asked(const table *t, const char *name, bool numbers, size_t *out)
{
    *out = find(t, name);
    if (*out == NO_COLUMN)
        message_say("%s:1: there is no column '%s'", t->path, name);
    else if (numbers && !t->numeric[*out])
        message_say("%s: column '%s' holds a value that is not a number", t->path, name);
    else
        return true;
    return false;
}

/* The first column of the kind, or one of the known names. */
static size_t suitable(const table *t, bool numbers, const char *const *names)
{
    for (; names && *names; names++) {
        const size_t c = find(t, *names);
        if (c != NO_COLUMN && t->numeric[c] == numbers)
            return c;
    }
    for (size_t c = 0; c < t->n_columns; c++)
        if (t->numeric[c] == numbers)
            return c;
    return NO_COLUMN;
}

typedef struct columns {
    size_t x, by, n_y;
    size_t *y; /* owned */
} columns;

/* Without --y: the usual name, or every other column of numbers. */
static void guess_y(const table *t, const plot_request *q, columns *c)
{
    static const char *const scores[] = {"score", "f1", "F1", "dev", "accuracy", NULL};
    static const char *const objective[] = {"objective", NULL};
    const char *const *usual = q->type == PLOT_CURVE    ? objective
                               : q->type == PLOT_LABELS ? NULL
                                                        : scores;
    for (; usual && *usual; usual++) {
        const size_t k = find(t, *usual);
        if (k != NO_COLUMN && k != c->x && t->numeric[k]) {
            c->y[c->n_y++] = k;
            return;
        }
    }
    for (size_t k = 0; k < t->n_columns; k++)
        if (t->numeric[k] && k != c->x && k != c->by)
            c->y[c->n_y++] = k;
}

static bool choose(const table *t, const plot_request *q, columns *c)
{
    static const char *const iteration[] = {"iteration", "seconds", NULL};
    static const char *const size[] = {"size", "sequences", "sentences", "tokens", NULL};
    static const char *const seconds[] = {"seconds", "time", NULL};
    static const char *const *const usual[] = {iteration, size, seconds, NULL};
    const bool bars = q->type == PLOT_LABELS;
    *c = (columns){.x = NO_COLUMN, .by = NO_COLUMN};
    c->y = calloc(t->n_columns + q->y.n, sizeof *c->y);
    if (!c->y) {
        message_memory();
        return false;
    }
    if (q->by ? !asked(t, q->by, false, &c->by) : false)
        return false;
    if (!q->by)
        c->by = suitable(t, false, NULL);
    if (q->x ? !asked(t, q->x, !bars, &c->x) : false)
        return false;
    if (!q->x)
        c->x = bars ? c->by : suitable(t, true, usual[q->type]);
    for (; c->n_y < q->y.n; c->n_y++)
        if (!asked(t, q->y.item[c->n_y], true, &c->y[c->n_y]))
            return false;
    if (c->n_y == 0)
        guess_y(t, q, c);
    if (c->x != NO_COLUMN && c->n_y)
        return true;
    message_say("%s: the table does not have enough columns of %s", t->path,
                c->x == NO_COLUMN && bars ? "names" : "numbers");
    return false;
}

/* ---- points ---------------------------------------------------------------------------------- */

static size_t series_of(plot *p, const table *t, const columns *c, size_t row, size_t y,
                        const char *name)
{
    const bool by = c->by != NO_COLUMN && p->type != PLOT_LABELS, several = c->n_y > 1;
    text s = {0};
    if (by)
        text_str(&s, cell(t, row, c->by));
    if (by && several)
        text_str(&s, ", ");
    if (several)
        text_str(&s, t->cell[c->y[y]]);
    if (!by && !several)
        text_str(&s, name);
    text_char(&s, '\0');
    const size_t k = s.failed ? (size_t)-1 : plot_series_of(p, s.p);
    p->failed = p->failed || s.failed;
    text_fini(&s);
    return k;
}

static void add_points(plot *p, const table *t, const columns *c, const char *name)
{
    for (size_t r = 0; r < t->n_rows; r++)
        for (size_t k = 0; k < c->n_y; k++) {
            double x, y;
            if (p->type == PLOT_LABELS)
                x = (double)plot_category_of(p, cell(t, r, c->x));
            else
                number(cell(t, r, c->x), &x);
            number(cell(t, r, c->y[k]), &y);
            plot_add(p, series_of(p, t, c, r, k, name), x, y);
        }
    plot_name(p, &p->x_name, t->cell[c->x]);
    if (c->n_y == 1)
        plot_name(p, &p->y_name, t->cell[c->y[0]]);
}

bool plot_read_table(plot *p, const plot_request *q, const char *path, const char *name,
                     char *bytes, size_t n)
{
    table t = {.path = path};
    columns c = {0};
    const bool ok = read_rows(&t, bytes, n) && choose(&t, q, &c);
    if (ok)
        add_points(p, &t, &c, name);
    free(c.y);
    free(t.cell);
    free(t.numeric);
    return ok;
}
