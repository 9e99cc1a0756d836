/* fuzz_plot_json.c -- any bytes as a record or a report for every kind of plot: never a crash; all
 * points that are kept are finite and belong to a series, a bar also to a category.
 */
/* SPDX-License-Identifier: MIT */
#include <stdarg.h>

#include "../../cli/json.c"
#include "../../cli/plot.c"
#include "../../cli/plot_json.c"
#include "../../cli/text.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The readers' messages: they must name the file. */
void message_say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *path = va_arg(ap, const char *);
    va_end(ap);
    if (!path || strcmp(path, "fuzz") != 0)
        abort();
}

void message_hint(const char *fmt, ...)
{
    (void)fmt;
}

int message_memory(void)
{
    return 1;
}

/* Files and tables are not part of this. */
bool plot_read_table(plot *p, const plot_request *q, const char *path, const char *name,
                     char *bytes, size_t n)
{
    (void)p, (void)q, (void)path, (void)name, (void)bytes, (void)n;
    abort();
}

static void check(plot *p)
{
    for (size_t s = 0; s < p->n_series; s++)
        for (size_t k = 0; k < p->series[s].n; k++) {
            const double x = p->series[s].x[k], y = p->series[s].y[k];
            if (!isfinite(x) || !isfinite(y) || !p->series[s].name ||
                (p->type == PLOT_LABELS && !(x >= 0.0 && x < (double)p->n_categories)))
                abort();
        }
    plot_sort(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const plot_type kinds[] = {PLOT_CURVE, PLOT_LEARNING, PLOT_TIME, PLOT_LABELS};
    char *bytes = malloc(size + 1);
    if (!bytes)
        return 0;
    for (int k = 0; k < 8; k++) {
        plot p = {.type = kinds[k % 4], .y_min = (double)NAN, .y_max = (double)NAN};
        const plot_request q = {.type = p.type, .by = k / 4 ? "c2" : NULL, .types = k == 3};
        if (size)
            memcpy(bytes, data, size); /* the reader may change them */
        bytes[size] = '\0';
        (void)plot_read_json(&p, &q, "fuzz", "name", bytes, size);
        check(&p);
        plot_fini(&p);
    }
    free(bytes);
    return 0;
}
