/* cluster.c -- trl_cluster: from text files to a file of clusters. */
/* SPDX-License-Identifier: MIT */
#include "trellis/cluster.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "cluster/brown.h"

#define TELL_EVERY 0.05 /* seconds between two reports */

trl_cluster_options trl_cluster_options_default(void)
{
    return (trl_cluster_options){.column = 1, .clusters = 1000, .min_count = 1};
}

typedef struct job {
    const trl_cluster_options *o;
    trl_bigrams b;
    trl_pool *pool;
    double start, told;
    double loop_start; /* when reading ended */
} job;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static trl_status check_options(const trl_cluster_options *o, trl_error *err)
{
    if (o->n_text == 0 || !o->output)
        return trl_fail(err, TRL_EINVAL, "a text and an output file are needed");
    if (o->clusters == 0 || o->clusters >= (size_t)1 << 20)
        return trl_fail(err, TRL_EINVAL, "between 1 and %zu clusters, not %zu",
                        ((size_t)1 << 20) - 1, o->clusters);
    if (o->columns && o->column == 0)
        return trl_fail(err, TRL_EINVAL, "columns are counted from 1");
    return TRL_OK;
}

static trl_status read_text(job *j, trl_error *err)
{
    const trl_cluster_options *o = j->o;
    trl_status st = TRL_OK;
    for (size_t i = 0; st == TRL_OK && i < o->n_text; i++) {
        trl_input *in = NULL;
        st = trl_input_open(o->text[i], &in, err);
        if (st == TRL_OK)
            st = o->columns ? trl_bigrams_columns(&j->b, in, o->column - 1, err)
                            : trl_bigrams_text(&j->b, in, err);
        trl_input_free(in);
    }
    const bool single = !o->columns && j->b.tokens > 1 && j->b.tokens == j->b.sentences;
    if (st == TRL_OK)
        st = trl_bigrams_finish(&j->b, o->min_count, err);
    if (st == TRL_EINVAL && single)
        trl_fail_hint(err, st, "no line has more than one word: -f columns reads one word a line");
    return st;
}

static bool report(job *j, const char *stage, size_t done, size_t total, double left)
{
    const trl_cluster_options *o = j->o;
    const trl_cluster_progress p = {
        .stage = stage,
        .done = done,
        .total = total,
        .tokens = j->b.tokens,
        .words = j->b.word.n,
        .pairs = j->b.n_pairs,
        .left_out = j->b.left_out,
        .seconds = now() - j->start,
        .seconds_left = left,
    };
    return o->progress && o->progress(o->progress_ctx, &p);
}

static bool on_step(void *ctx, bool tree, size_t done, size_t total, double work)
{
    job *j = ctx;
    const double t = now();
    if (t - j->told < TELL_EVERY)
        return false;
    j->told = t;
    const double left = work > 0.01 ? (t - j->loop_start) * (1.0 - work) / work : (double)NAN;
    return report(j, tree ? "tree" : "words", done, total, left);
}

static trl_status start_threads(job *j, trl_error *err)
{
    const size_t threads = trl_pool_count(j->o->threads);
    if (threads > 1 && !(j->pool = trl_pool_new(threads)))
        return trl_fail(err, TRL_ENOMEM, "cannot start %zu threads", threads);
    return TRL_OK;
}

/* Words are ranked by count, so that filling clusters in their order sorts every one. */
static trl_status write_clusters(const job *j, const trl_brown *r, trl_error *err)
{
    const trl_bigrams *b = &j->b;
    const size_t V = b->word.n;
    uint32_t *order = trl_alloc(V, sizeof *order);
    size_t *at = trl_zalloc(r->C + 1, sizeof *at);
    trl_writer *file = NULL;
    trl_buf line = {0};
    trl_status st = order && at ? trl_writer_open(j->o->output, &file, err) : trl_fail_mem(err);
    if (st != TRL_OK)
        goto out;
    for (size_t a = 0; a < V; a++)
        at[r->cluster[a] + 1]++;
    for (size_t c = 0; c < r->C; c++)
        at[c + 1] += at[c];
    for (size_t a = 0; a < V; a++)
        order[at[r->cluster[a]]++] = (uint32_t)a;
    for (size_t i = 0; st == TRL_OK && i < V; i++) {
        const uint32_t a = order[i];
        const trl_str path = r->path[r->cluster[a]], word = trl_strtab_get(&b->word, a);
        line.len = 0;
        trl_buf_add(&line, path.p, path.n);
        trl_buf_ch(&line, '\t');
        trl_buf_add(&line, word.p, word.n);
        trl_buf_fmt(&line, "\t%" PRIu64 "\n", b->count[a]);
        st = line.failed ? trl_fail_mem(err) : trl_writer_put(file, line.data, line.len, err);
    }
    if (st == TRL_OK) {
        st = trl_writer_commit(file, err);
        file = NULL;
    }
out:
    trl_writer_abort(file);
    trl_buf_fini(&line);
    trl_free(order);
    trl_free(at);
    return st;
}

trl_status trl_cluster(const trl_cluster_options *o, trl_cluster_result *result, trl_error *err)
{
    if (!o)
        return trl_fail_null(err);
    job j = {.o = o, .start = now()};
    trl_brown r = {0};
    trl_status st = check_options(o, err);
    if (st == TRL_OK)
        st = read_text(&j, err);
    if (st == TRL_OK && report(&j, "read", 0, j.b.word.n, (double)NAN))
        st = trl_fail(err, TRL_ECANCEL, "stopped");
    if (st == TRL_OK)
        st = start_threads(&j, err);
    j.loop_start = j.told = now();
    if (st == TRL_OK)
        st = trl_brown_run(&j.b, o->clusters, j.pool, &(trl_brown_report){on_step, &j}, &r, err);
    if (st == TRL_OK)
        st = write_clusters(&j, &r, err);
    if (st == TRL_OK)
        *result = (trl_cluster_result){
            .sentences = j.b.sentences,
            .tokens = j.b.tokens,
            .words = j.b.word.n,
            .left_out = j.b.left_out,
            .pairs = j.b.n_pairs,
            .clusters = r.C,
            .information = r.information,
            .word_information = r.word_information,
            .seconds = now() - j.start,
        };
    trl_brown_fini(&r);
    trl_pool_free(j.pool);
    trl_bigrams_fini(&j.b);
    return st;
}
