/* tag_run.c -- sequences through one printer, or through several threads and back in order. */
/* SPDX-License-Identifier: MIT */
#include "tag_run.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "message.h"
#include "tag_queue.h"

#define PENDING ((size_t)1 << 15)

/* To the output, or to what is held back. */
static bool put(tag_job *j, const char *bytes, size_t n)
{
    if (j->printer[0].style.picture != PICTURE_SVG)
        return output_put(&j->out, bytes, n);
    text_add(&j->held, bytes, n);
    return !j->held.failed || output_text(&j->out, &j->held); /* which says it */
}

static bool hand_over(tag_job *j)
{
    const bool ok =
        j->pending.failed ? output_text(&j->out, &j->pending) : put(j, j->pending.p, j->pending.n);
    j->pending.n = 0;
    return ok;
}

static trl_status tag_one(void *ctx, const tag_sequence *seq, bool *stop, trl_error *err)
{
    tag_job *j = ctx;
    const trl_status st = tag_printer_add(&j->printer[0], seq, &j->pending, err);
    if (st == TRL_OK && j->pending.n >= PENDING)
        *stop = !hand_over(j);
    return st;
}

/* One thread, input that never makes us wait: nothing is copied. */
static bool run_simple(tag_job *j)
{
    trl_error err = {0};
    const trl_status st = tag_input_read(&j->in, tag_one, j, &err);
    const bool ok = hand_over(j);
    if (st != TRL_OK && !j->out.failed) {
        output_flush(&j->out); /* what is right comes before what is wrong */
        message_error(&err);
    }
    return ok && st == TRL_OK;
}

typedef struct reading {
    tag_queue *queue;
    const tag_input *in;
} reading;

static trl_status queue_one(void *ctx, const tag_sequence *seq, bool *stop, trl_error *err)
{
    return tag_queue_fill(ctx, seq, stop, err);
}

static void *reader_main(void *ctx)
{
    reading *r = ctx;
    trl_error err = {0};
    const trl_status st = tag_input_read(r->in, queue_one, r->queue, &err);
    tag_queue_end(r->queue, st, &err);
    return NULL;
}

typedef struct working {
    tag_queue *queue;
    tag_printer *printer;
    pthread_t thread;
} working;

static void *worker_main(void *ctx)
{
    working *w = ctx;
    tag_batch *b;
    while ((b = tag_queue_take(w->queue)) != NULL) {
        for (size_t i = 0; i < b->n && b->status == TRL_OK; i++)
            b->status = tag_printer_add(w->printer, &b->seq[i], &b->out, &b->error);
        tag_queue_give(w->queue, b);
    }
    return NULL;
}

static bool flush_idle(void *out)
{
    return output_flush(out);
}

/* Prints batches as they come.  False: stopped by an error, which has been said. */
static bool print_all(tag_job *j, tag_queue *q)
{
    tag_batch *b;
    while ((b = tag_queue_next(q, flush_idle, &j->out)) != NULL) {
        const bool ok = put(j, b->out.p, b->out.n);
        const trl_status st = b->status;
        if (ok && st != TRL_OK) {
            output_flush(&j->out);
            message_error(&b->error);
        }
        tag_queue_release(q, b);
        if (!ok || st != TRL_OK)
            return false;
    }
    return !j->out.failed;
}

static size_t start_workers(tag_job *j, tag_queue *q, working *w)
{
    size_t n = 0;
    for (; n < j->threads; n++) {
        w[n] = (working){.queue = q, .printer = &j->printer[n]};
        if (pthread_create(&w[n].thread, NULL, worker_main, &w[n]) != 0)
            break; /* those that could be started will do */
    }
    return n;
}

static bool run_threads(tag_job *j)
{
    bool ok = false;
    trl_error err = {0};
    trl_status st = TRL_OK;
    size_t n = 0;
    pthread_t reader;
    tag_queue *q = tag_queue_new(j->threads);
    working *w = calloc(j->threads, sizeof *w);
    reading r = {q, &j->in};
    if (!q || !w) {
        message_memory();
        goto out;
    }
    n = start_workers(j, q, w);
    if (n == 0 || pthread_create(&reader, NULL, reader_main, &r) != 0) {
        message_say("cannot start a thread");
        tag_queue_stop(q);
        goto out;
    }
    ok = print_all(j, q);
    if (!ok)
        tag_queue_stop(q);
    if (tag_queue_ended(q, &st, &err))
        pthread_join(reader, NULL);
    else { /* failed while the reader may be waiting for input that never comes */
        output_discard(&j->out);
        _exit(CLI_FAILED);
    }
    if (ok && st != TRL_OK) {
        ok = false;
        if (output_flush(&j->out))
            message_error(&err);
    }
out:
    for (size_t i = 0; i < n; i++)
        pthread_join(w[i].thread, NULL);
    tag_queue_free(q);
    free(w);
    return ok;
}

bool tag_job_run(tag_job *j)
{
    return j->threads == 1 && tag_input_never_waits(j->in.files) ? run_simple(j) : run_threads(j);
}

bool tag_job_picture(tag_job *j, const char *title)
{
    const tag_picture *x = &j->printer[0].picture;
    text t = {0};
    bool ok = true;
    if (x->as == PICTURE_HTML) {
        tag_picture_begin(x, title, &t);
        ok = output_text(&j->out, &t);
        t.n = 0;
    }
    ok = ok && tag_job_run(j);
    if (x->as == PICTURE_SVG) {
        tag_picture_begin(x, title, &t);
        text_add(&t, j->held.p, j->held.n);
    }
    tag_picture_end(x, &t);
    ok = ok && output_text(&j->out, &t);
    text_fini(&t);
    return ok;
}

trl_status tag_job_init(tag_job *j, const trl_model *m, const tag_style *style, trl_error *err)
{
    trl_status st = TRL_OK;
    j->printer = calloc(j->threads, sizeof *j->printer);
    if (!j->printer)
        return tag_no_memory(err);
    for (size_t i = 0; i < j->threads && st == TRL_OK; i++)
        st = tag_printer_init(&j->printer[i], m, style, err);
    return st;
}

void tag_job_fini(tag_job *j)
{
    for (size_t i = 0; j->printer && i < j->threads; i++)
        tag_printer_fini(&j->printer[i]);
    free(j->printer);
    text_fini(&j->pending);
    text_fini(&j->held);
}

tag_text_counts tag_job_count(const tag_job *j)
{
    tag_text_counts n = {0};
    for (size_t i = 0; i < j->threads; i++) {
        n.sequences += j->printer[i].n_sequences;
        n.tokens += j->printer[i].n_tokens;
        n.attributes += trl_tagger_attributes(j->printer[i].tagger);
        n.unknown += trl_tagger_unknown(j->printer[i].tagger);
        n.free += j->printer[i].n_free;
    }
    return n;
}
