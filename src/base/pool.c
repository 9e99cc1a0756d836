/* pool.c -- worker threads over an atomic job counter.
 *
 * A round is open while there are jobs to take.  Workers come to it as they wake, and the caller
 * waits for those that came, not for those that were still asleep when the last job was done: a
 * round of short jobs costs what it costs without them.  Where rounds follow each other closely,
 * workers look out for the next one for a while before they sleep, and so does the caller for those
 * that are at work: to wake a thread takes longer than such a round.
 */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/mem.h"

#define LOOKS 2000 /* for a round before a worker sleeps: about 50 microseconds */

typedef struct worker {
    trl_pool *pool;
    size_t index;
    pthread_t thread;
    trl_error err;     /* of the job that failed */
    size_t failed_job; /* SIZE_MAX when none */
} worker;

struct trl_pool {
    size_t threads;  /* the caller is worker 0 */
    worker *workers; /* [threads] */
    size_t started;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    atomic_size_t round;   /* written under the lock, as the next */
    atomic_size_t running; /* workers in it, without the caller */
    bool open;             /* the round has jobs; guarded by lock */
    bool quit;             /* likewise */
    bool awake;
    trl_job_fn fn;
    void *ctx;
    size_t n_jobs;
    const trl_cancel *cancel; /* or NULL */
    bool to_the_end;          /* this round is not cancelled */
    atomic_size_t next;
    atomic_bool stop;
};

static void work_through(worker *w)
{
    trl_pool *p = w->pool;
    while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
        const size_t job = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        if (job >= p->n_jobs)
            return;
        trl_status st = p->to_the_end ? TRL_OK : trl_cancel_check(p->cancel, &w->err);
        if (st == TRL_OK)
            st = p->fn(p->ctx, job, w->index, &w->err);
        if (st != TRL_OK) {
            w->err.code = st;
            w->failed_job = job;
            atomic_store_explicit(&p->stop, true, memory_order_relaxed);
        }
    }
}

static void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

/* Until there is a round after `seen`, or the time is up. */
static void look_out(const trl_pool *p, size_t seen)
{
    for (int k = 0; k < LOOKS && atomic_load_explicit(&p->round, memory_order_relaxed) == seen; k++)
        relax();
}

static void *worker_main(void *arg)
{
    worker *w = arg;
    trl_pool *p = w->pool;
    size_t seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while ((!p->open || p->round == seen) && !p->quit)
            pthread_cond_wait(&p->work, &p->lock);
        if (p->quit)
            break;
        seen = p->round;
        p->running++;
        pthread_mutex_unlock(&p->lock);
        work_through(w);
        pthread_mutex_lock(&p->lock);
        if (--p->running == 0)
            pthread_cond_signal(&p->done);
        if (p->awake && !p->quit && p->round == seen) {
            pthread_mutex_unlock(&p->lock);
            look_out(p, seen);
            pthread_mutex_lock(&p->lock);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

trl_pool *trl_pool_new(size_t threads)
{
    if (threads == 0)
        threads = 1;
    if (threads > TRL_POOL_MOST)
        threads = TRL_POOL_MOST;
    trl_pool *p = trl_zalloc(1, sizeof *p);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->threads = threads;
    p->started = 1;
    p->workers = trl_zalloc(threads, sizeof *p->workers);
    if (!p->workers) {
        trl_pool_free(p);
        return NULL;
    }
    for (size_t i = 0; i < threads; i++)
        p->workers[i] = (worker){.pool = p, .index = i, .failed_job = SIZE_MAX};
    for (size_t i = 1; i < threads; i++, p->started++) {
        if (pthread_create(&p->workers[i].thread, NULL, worker_main, &p->workers[i]))
            break; /* go on with the threads that could be started */
    }
    p->threads = p->started;
    return p;
}

void trl_pool_free(trl_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 1; p->workers && i < p->started; i++)
        pthread_join(p->workers[i].thread, NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    trl_free(p->workers);
    trl_free(p);
}

size_t trl_pool_count(size_t asked)
{
    if (asked)
        return asked;
#ifdef CPU_COUNT
    cpu_set_t may;
    if (sched_getaffinity(0, sizeof may, &may) == 0)
        return (size_t)CPU_COUNT(&may);
#endif
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (size_t)n : 1;
}

size_t trl_pool_threads(const trl_pool *p)
{
    return p->threads;
}

void trl_pool_stay_awake(trl_pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->awake = p->threads <= trl_pool_count(0);
    pthread_mutex_unlock(&p->lock);
}

void trl_pool_cancel_by(trl_pool *p, const trl_cancel *cancel)
{
    p->cancel = cancel;
}

trl_status trl_pool_check(const trl_pool *p, trl_error *err)
{
    return p ? trl_cancel_check(p->cancel, err) : TRL_OK;
}

void trl_pool_run_all(trl_pool *p, size_t n_jobs, trl_job_fn fn, void *ctx)
{
    for (size_t k = 0; !p && k < n_jobs; k++)
        (void)fn(ctx, k, 0, NULL);
    if (!p)
        return;
    p->to_the_end = true;
    (void)trl_pool_run(p, n_jobs, fn, ctx, NULL);
    p->to_the_end = false;
}

trl_status trl_pool_run(trl_pool *p, size_t n_jobs, trl_job_fn fn, void *ctx, trl_error *err)
{
    p->fn = fn;
    p->ctx = ctx;
    p->n_jobs = n_jobs;
    atomic_store(&p->next, 0);
    atomic_store(&p->stop, false);
    const bool shared = p->threads > 1 && n_jobs > 1;
    if (shared) {
        pthread_mutex_lock(&p->lock);
        p->round++;
        p->open = true;
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
    }
    work_through(&p->workers[0]);
    if (shared) {
        pthread_mutex_lock(&p->lock);
        p->open = false;
        if (p->awake && p->running) {
            pthread_mutex_unlock(&p->lock);
            for (int k = 0; k < LOOKS && atomic_load(&p->running); k++)
                relax();
            pthread_mutex_lock(&p->lock);
        }
        while (p->running)
            pthread_cond_wait(&p->done, &p->lock);
        pthread_mutex_unlock(&p->lock);
    }
    worker *first = NULL;
    for (size_t i = 0; i < p->threads; i++) {
        worker *w = &p->workers[i];
        if (w->failed_job != SIZE_MAX && (!first || w->failed_job < first->failed_job))
            first = w;
    }
    if (!first)
        return TRL_OK;
    const trl_status st = first->err.code;
    if (err)
        *err = first->err;
    for (size_t i = 0; i < p->threads; i++)
        p->workers[i].failed_job = SIZE_MAX;
    return st;
}
