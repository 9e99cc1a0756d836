/* tag_queue.c -- the ring of batches. */
/* SPDX-License-Identifier: MIT */
#include "tag_queue.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_TOKENS 2048 /* a batch with as many is full */
#define BLOCK_BYTES ((size_t)1 << 18)

struct tag_block {
    tag_block *next;
    size_t cap, used;
    max_align_t bytes[];
};

struct tag_queue {
    pthread_mutex_t lock;
    pthread_cond_t work, ready, space; /* for workers, printer, reader */
    tag_batch *batch;                  /* [n], number k at k % n */
    size_t n;
    uint64_t fill, take, next; /* numbers: being filled, to be taken, to be printed */
    bool ended, stop;
    trl_status status; /* how the reader ended */
    trl_error error;
};

tag_queue *tag_queue_new(size_t threads)
{
    tag_queue *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->n = 2 * threads + 2;
    q->batch = calloc(q->n, sizeof *q->batch);
    if (!q->batch) {
        free(q);
        return NULL;
    }
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->work, NULL);
    pthread_cond_init(&q->ready, NULL);
    pthread_cond_init(&q->space, NULL);
    return q;
}

void tag_queue_free(tag_queue *q)
{
    if (!q)
        return;
    for (size_t k = 0; k < q->n; k++) {
        tag_batch *b = &q->batch[k];
        while (b->blocks) {
            tag_block *next = b->blocks->next;
            free(b->blocks);
            b->blocks = next;
        }
        free(b->seq);
        text_fini(&b->out);
    }
    free(q->batch);
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->work);
    pthread_cond_destroy(&q->ready);
    pthread_cond_destroy(&q->space);
    free(q);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void *batch_alloc(tag_batch *b, size_t n)
{
    while (b->block && b->block->cap - b->block->used < n && b->block->next)
        b->block = b->block->next;
    if (!b->block || b->block->cap - b->block->used < n) {
        const size_t cap = n > BLOCK_BYTES ? n : BLOCK_BYTES;
        tag_block *fresh = malloc(sizeof *fresh + cap);
        if (!fresh)
            return NULL;
        *fresh = (tag_block){.cap = cap};
        if (b->block)
            b->block->next = fresh;
        else
            b->blocks = fresh;
        b->block = fresh;
    }
    void *p = (char *)b->block->bytes + b->block->used;
    const size_t align = sizeof(max_align_t);
    const size_t whole = (n + align - 1) / align * align;
    const size_t rest = b->block->cap - b->block->used;
    b->block->used += whole < rest ? whole : rest;
    return p;
}

static char *put(char **at, const char *p, size_t n)
{
    char *to = *at;
    if (n)
        memcpy(to, p, n);
    *at += n;
    return to;
}

/* The bytes of token t that are copied: its line up to the last cell, or, where cells do not lie in
 * lines, the cells. */
static size_t token_bytes(const tag_sequence *seq, size_t t)
{
    const trl_rows *from = seq->rows;
    const trl_str *cell = from->cell + t * from->n_columns, *last = cell + from->n_columns - 1;
    size_t n = 0;
    if (seq->source.n)
        return 0;
    if (from->line)
        return (size_t)(last->p - from->line[t]) + last->n;
    for (; cell <= last; cell++)
        n += cell->n;
    return n;
}

/* The line of token t: in the copy of all lines, or a copy of its own. */
static const char *copy_line(const tag_sequence *seq, size_t t, const char *source, char **at)
{
    const trl_rows *from = seq->rows;
    if (seq->source.n)
        return source + (from->line[t] - seq->source.p);
    return from->line ? put(at, from->line[t], token_bytes(seq, t)) : NULL;
}

/* One allocation: the struct, its arrays, then all text. */
static bool copy_rows(tag_batch *b, const tag_sequence *seq, tag_sequence *out)
{
    const trl_rows *from = seq->rows;
    const size_t T = from->n_tokens, C = from->n_columns, n_path = strlen(from->path) + 1;
    size_t n_text = n_path + from->heading.n + seq->source.n;
    for (size_t t = 0; t < T; t++)
        n_text += token_bytes(seq, t);
    trl_rows *to =
        batch_alloc(b, sizeof *to + T * C * sizeof *to->cell + T * sizeof *to->line + n_text);
    if (!to)
        return false;
    trl_str *cell = (trl_str *)(to + 1);
    const char **line = (const char **)(cell + T * C);
    char *at = (char *)(line + T);
    const char *source = put(&at, seq->source.p, seq->source.n);
    for (size_t t = 0; t < T; t++) {
        const trl_str *old = from->cell + t * C;
        line[t] = copy_line(seq, t, source, &at);
        for (size_t c = 0; c < C; c++)
            cell[t * C + c] = (trl_str){line[t] ? line[t] + (old[c].p - from->line[t])
                                                : put(&at, old[c].p, old[c].n),
                                        old[c].n};
    }
    *to = *from;
    to->cell = cell;
    to->line = from->line ? line : NULL;
    to->heading.p = put(&at, from->heading.p, from->heading.n);
    to->path = put(&at, from->path, n_path);
    *out = (tag_sequence){.rows = to, .source = {source, seq->source.n}, .number = seq->number};
    return true;
}

static bool copy_items(tag_batch *b, const tag_sequence *seq, tag_sequence *out)
{
    const trl_items *from = seq->items;
    const size_t T = from->n_tokens, A = from->begin[T], n_path = strlen(from->path) + 1;
    size_t n_text = n_path;
    for (size_t t = 0; t < T; t++)
        n_text += from->label ? from->label[t].n : 0;
    for (size_t a = 0; a < A; a++)
        n_text += from->attr[a].name.n;
    trl_items *to = batch_alloc(b, sizeof *to + A * sizeof *to->attr + T * sizeof *to->label +
                                       (T + 1) * sizeof *to->begin + n_text);
    if (!to)
        return false;
    trl_attr *attr = (trl_attr *)(to + 1);
    trl_str *label = (trl_str *)(attr + A);
    size_t *begin = (size_t *)(label + T);
    char *at = (char *)(begin + T + 1);
    for (size_t a = 0; a < A; a++) {
        const trl_str name = from->attr[a].name;
        attr[a] = (trl_attr){{put(&at, name.p, name.n), name.n}, from->attr[a].value};
    }
    for (size_t t = 0; from->label && t < T; t++)
        label[t] = (trl_str){put(&at, from->label[t].p, from->label[t].n), from->label[t].n};
    memcpy(begin, from->begin, (T + 1) * sizeof *begin);
    *to = *from;
    to->attr = attr;
    to->begin = begin;
    to->label = from->label ? label : NULL;
    to->path = put(&at, from->path, n_path);
    *out = (tag_sequence){.items = to, .number = seq->number};
    return true;
}

static bool batch_add(tag_batch *b, const tag_sequence *seq)
{
    if (b->n == b->cap) {
        const size_t cap = b->cap ? 2 * b->cap : 64;
        tag_sequence *grown = realloc(b->seq, cap * sizeof *grown);
        if (!grown)
            return false;
        b->seq = grown;
        b->cap = cap;
    }
    if (seq->rows ? !copy_rows(b, seq, &b->seq[b->n]) : !copy_items(b, seq, &b->seq[b->n]))
        return false;
    b->n++;
    b->n_tokens += seq->rows ? seq->rows->n_tokens : seq->items->n_tokens;
    return true;
}

static void batch_clear(tag_batch *b)
{
    for (tag_block *k = b->blocks; k; k = k->next)
        k->used = 0;
    b->block = b->blocks;
    b->n = b->n_tokens = 0;
    b->out.n = 0;
    b->status = TRL_OK;
    b->state = BATCH_FREE;
}

/* ---- the ring: all under the lock ------------------------------------------------------------ */

static tag_batch *at(tag_queue *q, uint64_t number)
{
    return &q->batch[number % q->n];
}

/* A batch that the reader may add to: a fresh one, or the one with the right number.  After a
 * round of the ring its slot may still hold an older one, full and open. */
static bool fillable(tag_queue *q)
{
    const tag_batch *b = at(q, q->fill);
    return b->state == BATCH_FREE || (b->state == BATCH_OPEN && b->number == q->fill);
}

trl_status tag_queue_fill(tag_queue *q, const tag_sequence *seq, bool *stop, trl_error *err)
{
    trl_status st = TRL_OK;
    pthread_mutex_lock(&q->lock);
    if (fillable(q) && at(q, q->fill)->n_tokens >= BATCH_TOKENS)
        q->fill++;
    while (!q->stop && !fillable(q))
        pthread_cond_wait(&q->space, &q->lock);
    *stop = q->stop;
    if (!q->stop) {
        tag_batch *b = at(q, q->fill);
        b->state = BATCH_OPEN;
        b->number = q->fill;
        if (!batch_add(b, seq))
            st = tag_no_memory(err);
        pthread_cond_signal(&q->work);
    }
    pthread_mutex_unlock(&q->lock);
    return st;
}

void tag_queue_end(tag_queue *q, trl_status st, const trl_error *err)
{
    pthread_mutex_lock(&q->lock);
    q->ended = true;
    q->status = st;
    if (st != TRL_OK)
        q->error = *err;
    pthread_cond_broadcast(&q->work);
    pthread_cond_signal(&q->ready);
    pthread_mutex_unlock(&q->lock);
}

tag_batch *tag_queue_take(tag_queue *q)
{
    tag_batch *b = NULL;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        b = at(q, q->take);
        if (q->stop || (b->state == BATCH_OPEN && b->n))
            break;
        if (q->ended) {
            b = NULL;
            break;
        }
        pthread_cond_wait(&q->work, &q->lock);
    }
    if (q->stop)
        b = NULL;
    if (b) {
        b->state = BATCH_TAKEN;
        if (q->take == q->fill)
            q->fill++;
        q->take++;
    }
    pthread_mutex_unlock(&q->lock);
    return b;
}

void tag_queue_give(tag_queue *q, tag_batch *b)
{
    pthread_mutex_lock(&q->lock);
    b->state = BATCH_READY;
    pthread_cond_signal(&q->ready);
    pthread_mutex_unlock(&q->lock);
}

/* Something is still to come for the printer. */
static bool more_to_print(tag_queue *q)
{
    const tag_batch *b = at(q, q->next);
    return !q->ended || b->state == BATCH_TAKEN || (b->state == BATCH_OPEN && b->n);
}

tag_batch *tag_queue_next(tag_queue *q, bool (*idle)(void *ctx), void *ctx)
{
    tag_batch *b = NULL;
    pthread_mutex_lock(&q->lock);
    const bool wait = at(q, q->next)->state != BATCH_READY;
    pthread_mutex_unlock(&q->lock);
    if (wait && !idle(ctx))
        return NULL;
    pthread_mutex_lock(&q->lock);
    while (at(q, q->next)->state != BATCH_READY && more_to_print(q))
        pthread_cond_wait(&q->ready, &q->lock);
    if (at(q, q->next)->state == BATCH_READY)
        b = at(q, q->next++);
    pthread_mutex_unlock(&q->lock);
    return b;
}

void tag_queue_release(tag_queue *q, tag_batch *b)
{
    pthread_mutex_lock(&q->lock);
    batch_clear(b);
    pthread_cond_signal(&q->space);
    pthread_mutex_unlock(&q->lock);
}

void tag_queue_stop(tag_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->stop = true;
    pthread_cond_broadcast(&q->work);
    pthread_cond_broadcast(&q->space);
    pthread_mutex_unlock(&q->lock);
}

bool tag_queue_ended(tag_queue *q, trl_status *st, trl_error *err)
{
    pthread_mutex_lock(&q->lock);
    const bool ended = q->ended;
    *st = q->status;
    if (ended && q->status != TRL_OK)
        *err = q->error;
    pthread_mutex_unlock(&q->lock);
    return ended;
}
