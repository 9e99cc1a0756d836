/* measure.c -- runs a command and notes its wall time, its peak memory and its processor time.
 *
 *     measure OUT COMMAND ARGUMENT...        OUT gets "seconds kilobytes seconds"
 *
 * The exit status is the command's.
 */
/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: measure OUT COMMAND...\n");
        return 2;
    }
    const double start = now();
    const pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status = 0;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) != child) {
        perror("measure");
        return 1;
    }
    const double seconds = now() - start;
    FILE *f = fopen(argv[1], "w");
    const double processor = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                             1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    if (!f || fprintf(f, "%.4f %ld %.4f\n", seconds, used.ru_maxrss, processor) < 0 ||
        fclose(f) != 0) {
        perror(argv[1]);
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
