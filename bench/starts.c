/* starts.c -- how long until the first label: the least and the median of many starts,
 * milliseconds.
 *
 *     starts N COMMAND ARGUMENT...     processes, from fork to exit, and their processor time
 *     starts N --model MODEL FILE      in N new processes: from opening the model (a private copy,
 *                                      checked) until the first sequence of FILE has its labels
 */
/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trellis/tagger.h"

#define MOST 10000

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fail(const char *what)
{
    fprintf(stderr, "starts: %s\n", what);
    exit(1);
}

static trl_status tag_first(const trl_model *m, const char *path, trl_error *err)
{
    trl_reader *r = NULL;
    trl_tagger *t = NULL;
    trl_rows rows = {0};
    bool more = false;
    double score;
    uint32_t *labels = NULL;
    trl_status st = trl_reader_open(path, TRL_FORMAT_COLUMNS, &r, err);
    if (st == TRL_OK)
        st = trl_reader_rows(r, &rows, &more, err);
    if (st == TRL_OK)
        st = trl_tagger_new(m, &t, err);
    if (st == TRL_OK)
        st = trl_tagger_set_rows(t, &rows, err);
    labels = malloc((rows.n_tokens + 1) * sizeof *labels);
    if (st == TRL_OK && labels)
        st = trl_tagger_viterbi(t, labels, &score, err);
    free(labels);
    trl_tagger_free(t);
    trl_reader_free(r);
    return st;
}

/* In a new process: wall and processor milliseconds to the pipe. */
static void label_once(const char *model, const char *file, int to)
{
    trl_error err = {0};
    trl_model *m = NULL;
    double ms[2] = {now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID)};
    if (trl_model_open(model, &m, &err) != TRL_OK || tag_first(m, file, &err) != TRL_OK)
        fail(err.msg);
    ms[0] = now(CLOCK_MONOTONIC) - ms[0];
    ms[1] = now(CLOCK_PROCESS_CPUTIME_ID) - ms[1];
    if (write(to, ms, sizeof ms) != sizeof ms)
        fail("cannot write");
    _exit(0);
}

static void run_once(char **command)
{
    const int null = open("/dev/null", O_WRONLY);
    if (null >= 0)
        dup2(null, 1);
    execvp(command[0], command);
    _exit(127);
}

int main(int argc, char **argv)
{
    static double wall[MOST], processor[MOST];
    const int n = argc > 2 ? atoi(argv[1]) : 0;
    int ends[2];
    if (n < 1 || n > MOST || (strcmp(argv[2], "--model") == 0 && argc != 5) || pipe(ends) != 0)
        fail("starts N COMMAND... or starts N --model MODEL FILE");
    const bool library = strcmp(argv[2], "--model") == 0;
    for (int i = 0; i < n; i++) {
        int status = 0;
        struct rusage used;
        const double start = now(CLOCK_MONOTONIC);
        const pid_t child = fork();
        if (child == 0 && library)
            label_once(argv[3], argv[4], ends[1]);
        else if (child == 0)
            run_once(argv + 2);
        if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0)
            fail("a start failed");
        double ms[2] = {now(CLOCK_MONOTONIC) - start,
                        1e3 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                            1e-3 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec)};
        if (library && read(ends[0], ms, sizeof ms) != sizeof ms)
            fail("cannot read");
        wall[i] = ms[0];
        processor[i] = ms[1];
    }
    qsort(wall, (size_t)n, sizeof *wall, by_size);
    qsort(processor, (size_t)n, sizeof *processor, by_size);
    printf("%.3f %.3f %.3f %.3f\n", wall[0], wall[n / 2], processor[0], processor[n / 2]);
    return 0;
}
