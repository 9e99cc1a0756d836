/* fuzz_resume.c -- damaged checkpoints, caches of expectations and starting models, with checksums
 * that are right: training from them works or is refused, and never crashes.
 *
 * The first byte chooses the run, every further four bytes change one byte of the file that a run
 * of the same data wrote: section, two bytes of offset in it, what to flip.
 */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file.h"
#include "trellis/boost.h"
#include "trellis/train.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHECKPOINT, CACHE, INIT };

static const struct kind {
    const char *kind, *objective, *optimizer;
    int what;
    bool dev;
} kinds[] = {
    {"chain", "likelihood", "lbfgs", CHECKPOINT, true},
    {"chain", "likelihood", "sag", CHECKPOINT, false},
    {"chain", "likelihood", "sdca", CHECKPOINT, false},
    {"chain", "likelihood", "sgd", CHECKPOINT, true},
    {"chain", "likelihood", "asgd", CHECKPOINT, false},
    {"chain", "perceptron", "perceptron", CHECKPOINT, false},
    {"chain", "m-estimation", "dual", CHECKPOINT, false},
    {"chain", "m-estimation", "lbfgs", CACHE, false},
    {"chain", "likelihood", "lbfgs", INIT, false},
    {"tree", "likelihood", "adagrad", CHECKPOINT, false},
    {"tree", "likelihood", "lbfgs", INIT, false},
    {"boost", "", "", CHECKPOINT, true},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static char folder[64], columns[96], trees[96], examples[96], model[96], file[96];
static unsigned char *whole[KINDS]; /* the files as training writes them */
static size_t whole_size[KINDS];

static void clean_up(void)
{
    remove(columns);
    remove(trees);
    remove(examples);
    remove(model);
    remove(file);
    rmdir(folder);
}

static void put(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        abort();
}

static void start(void)
{
    static const char rows[] = "the D\ndog N\nbarks V\n\na D\ncat N\n\nthe D\ncat N\nsees V\na D\n"
                               "dog N\n\n";
    static const char bank[] = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n"
                               "(S (NP (DT a) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog))))\n";
    static const char answers[] = "1 0 2 3\n-1 1 2\n1 0 3\n-1 2 4\n1 1 3 4\n-1 0 4\n1 0 1\n-1 3\n";
    snprintf(folder, sizeof folder, "/tmp/trellis-fuzz-XXXXXX");
    if (!mkdtemp(folder))
        abort();
    snprintf(columns, sizeof columns, "%s/columns", folder);
    snprintf(trees, sizeof trees, "%s/trees", folder);
    snprintf(examples, sizeof examples, "%s/examples", folder);
    snprintf(model, sizeof model, "%s/model", folder);
    snprintf(file, sizeof file, "%s/file", folder);
    put(columns, rows, sizeof rows - 1);
    put(trees, bank, sizeof bank - 1);
    put(examples, answers, sizeof answers - 1);
    atexit(clean_up);
}

static trl_status boost(bool read, trl_error *err)
{
    const char *const path = examples;
    trl_boost_read_options how = trl_boost_read_options_default();
    trl_boost_options o = trl_boost_options_default();
    trl_boost_data *d = NULL, *held_out = NULL;
    trl_boost_model *m = NULL;
    how.format = TRL_BOOST_LIBSVM;
    o.threads = 1;
    o.trees = 12;
    o.checkpoint = file;
    o.checkpoint_every = 3;
    o.resume = read;
    trl_status st = trl_boost_read(&path, 1, &how, &d, err);
    how.like = d;
    if (st == TRL_OK)
        st = trl_boost_read(&path, 1, &how, &held_out, err);
    if (st == TRL_OK)
        st = trl_boost_train(d, held_out, &o, &m, err);
    trl_boost_model_free(m);
    trl_boost_data_free(held_out);
    trl_boost_data_free(d);
    return st;
}

/* First a run that writes the file, then one that reads it. */
static trl_status train(const struct kind *k, bool read, trl_error *err)
{
    const bool tree = strcmp(k->kind, "tree") == 0;
    if (strcmp(k->kind, "boost") == 0)
        return boost(read, err);
    const char *const path = tree ? trees : columns;
    trl_train_options o = trl_train_options_default();
    o.kind = k->kind;
    o.objective = k->objective;
    o.optimizer = k->optimizer;
    o.train = &path;
    o.n_train = 1;
    o.dev = k->dev ? columns : NULL;
    o.threads = 1;
    o.max_iter = 2;
    o.batch = tree || strcmp(k->optimizer, "sgd") != 0 ? 0 : 2;
    o.model = model;
    if (tree) {
        o.grade = "discriminative";
        o.clusters = "none";
    }
    if (k->what == CHECKPOINT) {
        o.checkpoint = file;
        o.checkpoint_every = 1;
        o.resume = read;
    } else if (k->what == CACHE) {
        o.q0_cache = file;
    } else if (read) {
        o.init = file;
    } else {
        o.model = file;
    }
    return trl_train(&o, NULL, err);
}

static void make(size_t at)
{
    trl_error err = {0};
    trl_mapped m;
    remove(file);
    if (train(&kinds[at], false, &err) != TRL_OK || trl_read_file(file, &m, &err) != TRL_OK) {
        fprintf(stderr, "%zu: %s\n", at, err.msg);
        abort();
    }
    whole[at] = malloc(m.size);
    if (!whole[at])
        abort();
    memcpy(whole[at], m.data, m.size);
    whole_size[at] = m.size;
    trl_unmap(&m);
}

static void change(unsigned char *p, const uint8_t edit[4])
{
    uint32_t n;
    uint64_t offset, size;
    memcpy(&n, p + 12, 4);
    const unsigned char *entry = p + 64 + 32 * (size_t)(n ? edit[0] % n : 0);
    memcpy(&offset, entry + 8, 8);
    memcpy(&size, entry + 16, 8);
    if (n && size)
        p[offset + ((size_t)edit[1] * 256 + edit[2]) % size] ^= edit[3];
}

static void put_right(unsigned char *p, size_t n)
{
    uint64_t sum = XXH3_64bits(p + 64, n - 64);
    memcpy(p + 24, &sum, 8);
    memset(p + 32, 0, 8);
    sum = XXH3_64bits(p, 64);
    memcpy(p + 32, &sum, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_error err = {0};
    if (size == 0)
        return 0;
    if (!folder[0])
        start();
    const size_t at = data[0] % KINDS;
    if (!whole[at])
        make(at);
    unsigned char *copy = malloc(whole_size[at]);
    if (!copy)
        return 0;
    memcpy(copy, whole[at], whole_size[at]);
    for (size_t k = 1; k + 4 <= size; k += 4)
        change(copy, data + k);
    put_right(copy, whole_size[at]);
    put(file, copy, whole_size[at]);
    const trl_status st = train(&kinds[at], true, &err);
    if (st != TRL_OK && (err.code != st || !err.msg[0]))
        abort();
    if (size == 1 && st != TRL_OK) /* nothing was changed */
        abort();
    free(copy);
    return 0;
}
