/* graph_train.c -- seconds that a factorial model takes to train, by any objective.
 *
 *     build/bench/graph_train FILE [KEY=VALUE]...
 *
 * FILE has columns as CoNLL-2000: word, tag, chunk.  Two layers of labels, tags and noun phrases
 * (B-NP, I-NP, O): words score both, edges run along each layer and between them.
 *
 *     objective=bethe    likelihood, bethe, trw, piecewise, pseudolikelihood, ...
 *     optimizer=lbfgs    sentences=0 (all)   threads=1   iterations=0 (until it converges)
 *     text=0             1: edges see the words at both ends, too
 *     schedule=tree      flooding, sequential, residual, tree: of belief propagation
 *     tolerance=1e-6     of messages         c2=0.05
 *
 * A line for every iteration: its number, seconds and processor seconds since the start of
 * training, the objective, what did not settle; at the end memory in MB.
 */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/strtab.h"
#include "train_graph/train_graph.h"

enum { WORDS = 512, CHUNKS = 3, ATTRS = 64 * WORDS };
enum { TAG, CHUNK, BETWEEN, TAG_EDGE, CHUNK_EDGE, FAMILIES };

static trl_error err;

static void must(trl_status st)
{
    if (st != TRL_OK) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
}

/* ---- sentences ------------------------------------------------------------------------------- */

typedef struct sentence {
    size_t n;
    char word[WORDS][64];
    uint32_t tag[WORDS], chunk[WORDS];
} sentence;

/* The next sentence with at least a word; false at the end. */
static bool read_sentence(FILE *f, trl_strtab *tags, sentence *s)
{
    char line[256], tag[32], chunk[32];
    for (s->n = 0; s->n < WORDS && fgets(line, sizeof line, f);) {
        if (sscanf(line, "%63s %31s %31s", s->word[s->n], tag, chunk) != 3) {
            if (s->n)
                return true;
            continue;
        }
        s->tag[s->n] = trl_strtab_add(tags, tag, strlen(tag));
        s->chunk[s->n++] = strcmp(chunk, "B-NP") == 0 ? 0 : strcmp(chunk, "I-NP") == 0 ? 1 : 2;
    }
    return s->n > 0;
}

/* ---- features -------------------------------------------------------------------------------- */

typedef struct unrolled {
    trl_graph *g;
    uint32_t n, tables, shared[FAMILIES];
    uint32_t family[5 * WORDS];
    size_t begin[5 * WORDS + 1], n_attrs, used;
    trl_attr attr[ATTRS];
    uint32_t y[2 * WORDS];
    char text[64 * ATTRS];
} unrolled;

static void feature(unrolled *u, const char *name, const char *what)
{
    char *to = u->text + u->used;
    const int n = snprintf(to, 96, "%s=%s", name, what);
    if (n < 0 || n >= 96 || u->used + 96 > sizeof u->text - 96 || u->n_attrs == ATTRS)
        exit(1);
    u->used += (size_t)n;
    u->attr[u->n_attrs++] = (trl_attr){{to, (size_t)n}, 1.0};
}

static const char *word_at(const sentence *s, size_t t, int by)
{
    const long at = (long)t + by;
    return at < 0 || at >= (long)s->n ? "#" : s->word[at];
}

static const char *shape(const char *w)
{
    bool upper = false, lower = false, digit = false;
    for (const char *p = w; *p; p++) {
        upper = upper || isupper((unsigned char)*p);
        lower = lower || islower((unsigned char)*p);
        digit = digit || isdigit((unsigned char)*p);
    }
    return digit                                   ? "digit"
           : upper && !lower                       ? "AA"
           : upper && isupper((unsigned char)w[0]) ? "Aa"
           : strchr(w, '-')                        ? "a-a"
           : lower                                 ? "a"
                                                   : ".";
}

/* Words and shapes from two before to two after, and endings. */
static void word_features(unrolled *u, const sentence *s, size_t t)
{
    static const char *const word[] = {"w-2", "w-1", "w", "w+1", "w+2"};
    static const char *const look[] = {"s-2", "s-1", "s", "s+1", "s+2"};
    const size_t n = strlen(s->word[t]);
    for (int by = -2; by <= 2; by++) {
        feature(u, word[by + 2], word_at(s, t, by));
        feature(u, look[by + 2], shape(word_at(s, t, by)));
    }
    for (size_t k = 1; k <= 3 && k <= n; k++)
        feature(u, k == 1 ? "e1" : k == 2 ? "e2" : "e3", s->word[t] + n - k);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static const size_t *widths(const trl_strtab *tags)
{
    static size_t w[FAMILIES];
    const size_t T = tags->n;
    w[TAG] = T, w[CHUNK] = CHUNKS, w[BETWEEN] = T * CHUNKS;
    w[TAG_EDGE] = T * T, w[CHUNK_EDGE] = CHUNKS * CHUNKS;
    return w;
}

/* Factors of a template without text share a table. */
static void add(unrolled *u, uint32_t family, size_t cells, size_t n, const uint32_t *v)
{
    const bool text = u->n_attrs > u->begin[u->n];
    uint32_t table = u->shared[family];
    if (text || table == UINT32_MAX) {
        must(trl_graph_add_table(u->g, cells, NULL, &err));
        table = u->tables++;
    }
    if (!text)
        u->shared[family] = table;
    must(trl_graph_add_factor(u->g, n, v, table, &err));
    u->family[u->n++] = family;
    u->begin[u->n] = u->n_attrs;
}

static void edge_text(unrolled *u, const sentence *s, size_t t, bool text)
{
    if (!text)
        return;
    feature(u, "w-1", word_at(s, t, -1));
    feature(u, "w", word_at(s, t, 0));
}

static void unroll(unrolled *u, const sentence *s, const size_t *width, bool text)
{
    u->n = u->tables = 0;
    u->n_attrs = u->used = u->begin[0] = 0;
    memset(u->shared, 0xff, sizeof u->shared);
    must(trl_graph_new(&u->g, &err));
    for (uint32_t t = 0; t < s->n; t++) {
        must(trl_graph_add_variable(u->g, (uint32_t)width[TAG], &err));
        must(trl_graph_add_variable(u->g, CHUNKS, &err));
        u->y[2 * t] = s->tag[t];
        u->y[2 * t + 1] = s->chunk[t];
    }
    for (uint32_t t = 0; t < s->n; t++) {
        const uint32_t v[] = {2 * t, 2 * t + 1};
        word_features(u, s, t);
        add(u, TAG, width[TAG], 1, v);
        word_features(u, s, t);
        add(u, CHUNK, CHUNKS, 1, v + 1);
        edge_text(u, s, t, text);
        add(u, BETWEEN, width[BETWEEN], 2, v);
        if (t == 0)
            continue;
        edge_text(u, s, t, text);
        add(u, TAG_EDGE, width[TAG_EDGE], 2, (uint32_t[]){v[0] - 2, v[0]});
        edge_text(u, s, t, text);
        add(u, CHUNK_EDGE, width[CHUNK_EDGE], 2, (uint32_t[]){v[1] - 2, v[1]});
    }
}

typedef struct settings {
    size_t sentences;
    bool text;
    trl_train_options o;
    trl_infer_options infer;
} settings;

static void load(trl_graph_corpus *c, const char *path, const settings *x)
{
    static sentence s;
    static unrolled u;
    trl_strtab tags = {0};
    FILE *f = fopen(path, "r");
    if (!f)
        exit(1);
    while (read_sentence(f, &tags, &s))
        ;
    rewind(f);
    const size_t *width = widths(&tags);
    must(trl_graph_corpus_init(c, width, FAMILIES, &err));
    for (size_t k = BETWEEN; k < FAMILIES; k++)
        must(trl_corpus_set_constant(&c->corpus, k, &err));
    while (read_sentence(f, &tags, &s) && (!x->sentences || c->n < x->sentences)) {
        unroll(&u, &s, width, x->text);
        const trl_graph_case one = {.graph = u.g,
                                    .family = u.family,
                                    .begin = u.begin,
                                    .attr = u.attr,
                                    .y = u.y,
                                    .weight = 1.0};
        must(trl_graph_corpus_add(c, &one, &err));
    }
    fclose(f);
    trl_strtab_fini(&tags);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static double clock_of(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double start[2];

static bool report(void *ctx, const trl_progress *p)
{
    (void)ctx;
    if (strcmp(p->stage, "iteration") == 0)
        printf("%4llu %9.2f s %9.2f s of the processor %14.4f %s\n",
               (unsigned long long)p->iteration, clock_of(CLOCK_MONOTONIC) - start[0],
               clock_of(CLOCK_PROCESS_CPUTIME_ID) - start[1], p->objective, p->note ? p->note : "");
    fflush(stdout);
    return false;
}

static trl_infer_schedule schedule_of(const char *name)
{
    static const char *const names[] = {"flooding", "sequential", "residual", "tree"};
    static const trl_infer_schedule all[] = {TRL_SCHEDULE_FLOODING, TRL_SCHEDULE_SEQUENTIAL,
                                             TRL_SCHEDULE_RESIDUAL, TRL_SCHEDULE_TREE};
    for (size_t k = 0; k < 4; k++)
        if (strcmp(name, names[k]) == 0)
            return all[k];
    exit(1);
}

static bool is(const char *text, const char *key, const char **value)
{
    const size_t n = strlen(key);
    *value = text + n + 1;
    return strncmp(text, key, n) == 0 && text[n] == '=';
}

static void set(settings *x, const char *text)
{
    const char *v;
    if (is(text, "objective", &v))
        x->o.objective = v;
    else if (is(text, "optimizer", &v))
        x->o.optimizer = v;
    else if (is(text, "sentences", &v))
        x->sentences = strtoul(v, NULL, 10);
    else if (is(text, "threads", &v))
        x->o.threads = strtoul(v, NULL, 10);
    else if (is(text, "iterations", &v))
        x->o.max_iter = strtoul(v, NULL, 10);
    else if (is(text, "text", &v))
        x->text = *v == '1';
    else if (is(text, "schedule", &v))
        x->infer.schedule = schedule_of(v);
    else if (is(text, "tolerance", &v))
        x->infer.tolerance = strtod(v, NULL);
    else if (is(text, "c2", &v))
        x->o.c2 = strtod(v, NULL);
    else
        exit(1);
}

int main(int argc, char **argv)
{
    static trl_graph_corpus corpus;
    static trl_graph_training t;
    trl_train_result r;
    struct rusage use;
    settings x = {.o = trl_train_options_default(), .infer = trl_infer_options_default()};
    if (argc < 2)
        return 1;
    x.o.objective = "bethe";
    x.o.threads = 1, x.o.c2 = 0.05, x.o.progress = report;
    x.infer.schedule = TRL_SCHEDULE_TREE;
    x.infer.tolerance = 1e-6;
    for (int k = 2; k < argc; k++)
        set(&x, argv[k]);
    load(&corpus, argv[1], &x);
    must(trl_graph_training_init(&t, &corpus, &x.o, &x.infer, &err));
    start[0] = clock_of(CLOCK_MONOTONIC), start[1] = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    must(trl_graph_training_run(&t, &r, &err));
    getrusage(RUSAGE_SELF, &use);
    printf("%s: %zu sentences, %zu weights, %llu iterations, %.2f s, %.2f s of the processor, %ld "
           "MB: %s\n",
           x.o.objective, corpus.n, t.learner.n_weights, (unsigned long long)r.iterations,
           clock_of(CLOCK_MONOTONIC) - start[0], clock_of(CLOCK_PROCESS_CPUTIME_ID) - start[1],
           use.ru_maxrss / 1024, r.ending);
    trl_graph_training_fini(&t);
    trl_graph_corpus_fini(&corpus);
    return 0;
}
