/* linear.c -- logistic regression of word classifiers, beside liblinear's.
 *
 *     build/bench/linear C2 FILE [MODEL]
 *
 * FILE: examples, `1` or `0` and features `n:1` from 1 on, as LIBSVM reads them.  Minimises the sum
 * of ln(1 + exp(-y h)) + C2 ||w||^2, the intercept apart, and prints processor seconds of the fit
 * and the objective.  MODEL, written by liblinear (-s 0 -c 1/(2 C2) -B b) for the same FILE: prints
 * the objective of its weights instead.
 */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "train_translate/learn.h"

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "linear: %s\n", what);
    exit(1);
}

typedef struct examples {
    size_t n, n_features, n_active, row_cap, cap;
    size_t *end;
    uint32_t *feature;
    signed char *y;
} examples;

static void add_line(examples *x, char *line)
{
    if (x->n == x->row_cap) {
        x->row_cap = 2 * x->row_cap + 1000;
        x->end = realloc(x->end, x->row_cap * sizeof *x->end);
        x->y = realloc(x->y, x->row_cap);
        must(x->end && x->y, "out of memory");
    }
    char *at = line;
    x->y[x->n] = strtol(line, &at, 10) == 1 ? 1 : -1;
    for (char *next;; at = next) {
        const unsigned long f = strtoul(at, &next, 10);
        if (next == at)
            break;
        must(f > 0 && *next == ':', "this is no example");
        next += strcspn(next, " \n");
        if (x->n_active == x->cap) {
            x->cap = 2 * x->cap + 1000;
            must((x->feature = realloc(x->feature, x->cap * sizeof *x->feature)) != NULL,
                 "out of memory");
        }
        x->feature[x->n_active++] = (uint32_t)f - 1;
        x->n_features = f > x->n_features ? f : x->n_features;
    }
    x->end[x->n++] = x->n_active;
}

static void read_examples(examples *x, const char *path)
{
    static char line[1 << 16];
    FILE *f = fopen(path, "r");
    must(f != NULL, "cannot open the examples");
    while (fgets(line, sizeof line, f))
        add_line(x, line);
    fclose(f);
    must(x->n > 0, "there are no examples");
}

/* Weights of the label 1; those of the intercept are times the bias. */
static void read_model(const char *path, double *w, size_t n)
{
    char line[256];
    double bias = -1.0, sign = 1.0;
    FILE *f = fopen(path, "r");
    must(f != NULL, "cannot open the model");
    while (fgets(line, sizeof line, f) && strncmp(line, "w\n", 3) != 0) {
        sscanf(line, "bias %lf", &bias);
        if (strncmp(line, "label ", 6) == 0)
            sign = atoi(line + 6) == 1 ? 1.0 : -1.0;
    }
    must(bias > 0.0, "the model has no bias: train with -B");
    for (size_t k = 0; k <= n; k++) {
        must(fscanf(f, "%lf", &w[k]) == 1, "the model has another number of features");
        w[k] *= k == n ? sign * bias : sign;
    }
    fclose(f);
}

int main(int argc, char **argv)
{
    examples x = {0};
    trl_error err;
    must(argc == 3 || argc == 4, "usage: linear C2 FILE [MODEL]");
    read_examples(&x, argv[2]);
    const trl_linear_problem p = {x.n, x.n_features, x.end, x.feature, x.y, atof(argv[1]), false};
    double *w = trl_alloc64(x.n_features + 65, sizeof *w),
           *g = trl_alloc64(x.n_features + 65, sizeof *g);
    must(w && g, "out of memory");
    const clock_t start = clock();
    if (argc == 4)
        read_model(argv[3], w, x.n_features);
    else
        must(trl_linear_fit(&p, w, &err) == TRL_OK, "the fit failed");
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("examples %zu features %zu seconds %.3f objective %.4f\n", x.n, x.n_features,
           argc == 4 ? 0.0 : seconds, trl_linear_objective(&p, w, g));
    trl_free(w);
    trl_free(g);
    free(x.end);
    free(x.feature);
    free(x.y);
    return 0;
}
