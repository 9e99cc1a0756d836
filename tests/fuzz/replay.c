/* replay.c -- feeds a fuzz target everything in its corpus, without a fuzzer.
 *
 *     replay_NAME [FILE]...      no file: all of tests/fuzz/corpus/NAME, of the folder
 *                                $TRELLIS_FUZZ_CORPUS/NAME when that is set
 *
 * Linked with one fuzz_NAME.c.  A target aborts when it finds something; the name of the file
 * is printed before it is tried. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input is copied to a block of exactly its size, so that ASan sees any step beyond. */
static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    long n = -1;
    if (f && fseek(f, 0, SEEK_END) == 0)
        n = ftell(f);
    uint8_t *data = n >= 0 ? malloc(n ? (size_t)n : 1) : NULL;
    const int good =
        data && fseek(f, 0, SEEK_SET) == 0 && fread(data, 1, (size_t)n, f) == (size_t)n;
    printf("%s%s\n", path, good ? "" : ": cannot be read");
    fflush(stdout);
    if (good) {
        LLVMFuzzerTestOneInput(data, (size_t)n);
        for (long k = 0; k < n && n <= 4096; k += 1 + n / 64) /* cut short, too */
            LLVMFuzzerTestOneInput(data, (size_t)k);
    }
    free(data);
    if (f)
        fclose(f);
    return good ? 0 : 1;
}

static int replay_folder(const char *dir)
{
    DIR *d = opendir(dir);
    int failed = 0, n = 0;
    if (!d) {
        printf("%s cannot be read\n", dir);
        return 1;
    }
    for (struct dirent *e; (e = readdir(d));) {
        char path[2048];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        failed += replay(path);
        n++;
    }
    closedir(d);
    printf("%d files\n", n);
    return failed || n == 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed += replay(argv[i]);
    if (argc > 1)
        return failed != 0;
    const char *name = strstr(argv[0], "replay_"), *root = getenv("TRELLIS_FUZZ_CORPUS");
    char dir[1024];
    if (!name)
        return 2;
    snprintf(dir, sizeof dir, "%s/%s", root && *root ? root : "tests/fuzz/corpus",
             name + strlen("replay_"));
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    return replay_folder(dir);
}
