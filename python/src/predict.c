/* predict.c -- many sequences in one call, over threads.
 *
 * Sequences are taken from Python in batches.  While the threads work on one batch, the next one is
 * taken: only that needs the GIL.
 */
/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { BATCH_CELLS = 1 << 18, BATCH_TOKENS = 4096, MOST_THREADS = 64 };

typedef enum what { LABELS, POSTERIOR, MARGINALS, PAIRS, NBEST } what;

static const char *const what_names[] = {"labels", "posterior", "marginals", "pairs", "nbest"};

/* A batch that is being worked on. */
typedef struct job {
    pt_batch batch;
    pt_views views;
    what what;
    size_t n_labels, nbest;
    uint32_t *label; /* [tokens][nbest] */
    double *p;       /* marginals */
    double *score;   /* [sequences][nbest], log_z: [sequences] */
    double *log_z;
    size_t *found; /* [sequences] */
    atomic_size_t next;
    size_t n_threads;
    bool running;
    struct worker {
        struct job *job;
        trl_tagger *tagger;
        pthread_t thread;
        bool started;
        size_t failed; /* sequence + 1 */
        trl_error err;
    } worker[MOST_THREADS];
} job;

static size_t marginals_before(const job *j, size_t k)
{
    const size_t t = j->batch.first[k], l = j->n_labels;
    if (j->what == MARGINALS)
        return t * l;
    size_t n = 0;
    for (size_t s = 0; s < k; s++) {
        const size_t m = j->batch.first[s + 1] - j->batch.first[s];
        n += m ? (m - 1) * l * l : 0;
    }
    return n;
}

static trl_status answer(job *j, trl_tagger *t, size_t k, trl_error *err)
{
    const size_t from = j->batch.first[k];
    double score;
    trl_status st = j->batch.rows ? trl_tagger_set_rows(t, &j->views.rows[k], err)
                                  : trl_tagger_set_items(t, &j->views.items[k], err);
    if (st != TRL_OK)
        return st;
    switch (j->what) {
    case LABELS:
        return trl_tagger_viterbi(t, j->label + from, &score, err);
    case POSTERIOR:
        return trl_tagger_posterior(t, j->label + from, err);
    case MARGINALS:
        return trl_tagger_marginals(t, j->p + marginals_before(j, k), err);
    case PAIRS:
        return trl_tagger_pair_marginals(t, j->p + marginals_before(j, k), err);
    default:
        st = trl_tagger_nbest(t, j->nbest, j->label + from * j->nbest, j->score + k * j->nbest,
                              &j->found[k], err);
        if (st == TRL_OK && trl_tagger_log_z(t, &j->log_z[k], NULL) != TRL_OK)
            j->log_z[k] = Py_NAN; /* scores that are no probabilities */
        return st;
    }
}

static void *work(void *ctx)
{
    struct worker *w = ctx;
    job *j = w->job;
    for (;;) {
        const size_t k = atomic_fetch_add(&j->next, 1);
        if (k >= j->batch.n)
            return NULL;
        if (j->batch.first[k] == j->batch.first[k + 1]) {
            if (j->found)
                j->found[k] = 0;
            continue;
        }
        if (answer(j, w->tagger, k, &w->err) != TRL_OK) {
            w->failed = k + 1;
            atomic_store(&j->next, j->batch.n);
            return NULL;
        }
    }
}

static void free_answers(job *j)
{
    PyMem_RawFree(j->label);
    PyMem_RawFree(j->p);
    PyMem_RawFree(j->score);
    PyMem_RawFree(j->log_z);
    PyMem_RawFree(j->found);
    j->label = NULL;
    j->p = j->score = j->log_z = NULL;
    j->found = NULL;
    pt_views_fini(&j->views);
}

static int make_room(job *j)
{
    const size_t tokens = j->batch.n_tokens, n = j->batch.n;
    bool good = true;
    if (j->what == MARGINALS || j->what == PAIRS)
        good = (j->p = PyMem_RawCalloc(marginals_before(j, n) + 1, sizeof *j->p)) != NULL;
    else
        good = (j->label = PyMem_RawCalloc(tokens * j->nbest + 1, sizeof *j->label)) != NULL;
    if (j->what == NBEST)
        good = good && (j->score = PyMem_RawCalloc(n * j->nbest + 1, sizeof *j->score)) &&
               (j->log_z = PyMem_RawCalloc(n + 1, sizeof *j->log_z)) &&
               (j->found = PyMem_RawCalloc(n + 1, sizeof *j->found));
    if (good)
        return pt_views_make(&j->views, &j->batch);
    free_answers(j);
    PyErr_NoMemory();
    return -1;
}

/* Starts the threads; when none can be started, finish does the work. */
static int start(job *j)
{
    if (make_room(j) < 0)
        return -1;
    atomic_store(&j->next, 0);
    for (size_t k = 0; k < j->n_threads; k++) {
        struct worker *w = &j->worker[k];
        w->failed = 0;
        w->started = j->n_threads > 1 && pthread_create(&w->thread, NULL, work, w) == 0;
    }
    j->running = true;
    return 0;
}

static PyObject *nbest_list(const pt_model *m, const job *j, size_t k)
{
    const size_t n = j->batch.first[k + 1] - j->batch.first[k];
    PyObject *list = PyList_New((Py_ssize_t)j->found[k]);
    for (size_t r = 0; list && r < j->found[k]; r++) {
        PyObject *labels = pt_label_list(m, j->label + j->batch.first[k] * j->nbest + r * n, n);
        PyObject *row = labels ? Py_BuildValue("(Ndd)", labels, j->score[k * j->nbest + r],
                                               j->score[k * j->nbest + r] - j->log_z[k])
                               : NULL;
        if (!row)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)r, row);
    }
    return list;
}

static int collect(const pt_model *m, const job *j, PyObject *out)
{
    int st = 0;
    size_t p = 0;
    for (size_t k = 0; st == 0 && k < j->batch.n; k++) {
        const size_t from = j->batch.first[k], n = j->batch.first[k + 1] - from, l = j->n_labels;
        const size_t cells = j->what == MARGINALS ? n * l : n ? (n - 1) * l * l : 0;
        PyObject *a = j->what == NBEST ? nbest_list(m, j, k)
                      : j->what == MARGINALS || j->what == PAIRS
                          ? pt_doubles(j->p + p, cells)
                          : pt_label_list(m, j->label + from, n);
        p += cells;
        st = a ? PyList_Append(out, a) : -1;
        Py_XDECREF(a);
    }
    return st;
}

/* The failure of the first sequence, as an exception. */
static int raise_first(const job *j)
{
    const struct worker *first = NULL;
    for (size_t k = 0; k < j->n_threads; k++)
        if (j->worker[k].failed && (!first || j->worker[k].failed < first->failed))
            first = &j->worker[k];
    if (!first)
        return 0;
    trl_error err = first->err;
    snprintf(err.msg, sizeof err.msg, "sequence %llu: %.280s",
             (unsigned long long)(j->batch.before + first->failed), first->err.msg);
    pt_raise(&err);
    return -1;
}

/* Waits for the threads and adds the answers to out (NULL: throws them away). */
static int finish(const pt_model *m, job *j, PyObject *out)
{
    if (!j->running)
        return 0;
    Py_BEGIN_ALLOW_THREADS if (!j->worker[0].started && out) work(&j->worker[0]);
    for (size_t k = 0; k < j->n_threads; k++)
        if (j->worker[k].started)
            pthread_join(j->worker[k].thread, NULL);
    Py_END_ALLOW_THREADS j->running = false;
    int st = out ? raise_first(j) : 0;
    if (st == 0 && out)
        st = collect(m, j, out);
    free_answers(j);
    return st;
}

/* ---- the call -------------------------------------------------------------------------------- */

static size_t threads_for(Py_ssize_t asked)
{
    long n = asked > 0 ? (long)asked : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (size_t)n;
}

static int prepare(pt_model *m, job *j, size_t threads, trl_decoding how)
{
    trl_error err = {0};
    for (size_t k = 0; k < threads; k++) {
        struct worker *w = &j->worker[k];
        w->job = j;
        w->tagger = pt_model_tagger(m, &err);
        if (!w->tagger || trl_tagger_set_decoding(w->tagger, how, &err) != TRL_OK) {
            pt_raise(&err);
            return -1;
        }
        j->n_threads = k + 1;
    }
    return 0;
}

static void job_fini(pt_model *m, job *j)
{
    for (size_t k = 0; k < MOST_THREADS; k++)
        if (j->worker[k].tagger)
            pt_model_give_back(m, j->worker[k].tagger);
    pt_batch_fini(&j->batch);
}

static int run(pt_model *m, job pair[2], PyObject *xs, PyObject *out)
{
    const size_t cells = BATCH_CELLS / (pair[0].n_labels * pair[0].nbest + 1);
    const size_t most = cells < 1 ? 1 : cells < BATCH_TOKENS ? cells : BATCH_TOKENS;
    int st = 0, now = 0, more = 1;
    uint64_t before = 0;
    while (st == 0 && more) {
        job *j = &pair[now];
        pt_batch_reset(&j->batch);
        j->batch.before = before;
        while (st == 0 && more && j->batch.n_tokens < most && j->batch.n < 4 * BATCH_TOKENS) {
            PyObject *x = PyIter_Next(xs);
            more = x != NULL;
            st = x ? pt_batch_add(&j->batch, x, NULL) : PyErr_Occurred() ? -1 : 0;
            Py_XDECREF(x);
        }
        before += j->batch.n;
        if (st == 0 && j->batch.n)
            st = start(j);
        if (st == 0) /* the one before has had time meanwhile */
            st = finish(m, &pair[1 - now], out);
        if (st == 0)
            st = PyErr_CheckSignals();
        now = 1 - now;
    }
    for (int k = 0; k < 2; k++, now = 1 - now)
        if (finish(m, &pair[now], st == 0 ? out : NULL) < 0)
            st = -1;
    return st;
}

static int parse_what(const char *name, what *out)
{
    for (size_t k = 0; k < sizeof what_names / sizeof *what_names; k++)
        if (strcmp(name, what_names[k]) == 0) {
            *out = (what)k;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "there is no answer '%.100s'", name);
    return -1;
}

PyObject *pt_predict(pt_model *self, PyObject *args, PyObject *kw)
{
    static char *words[] = {"X", "what", "n", "threads", "decode", NULL};
    PyObject *x;
    const char *name = "labels", *decode = "model";
    Py_ssize_t n = 1, threads = 0;
    what asked;
    trl_decoding how;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O|snns", words, &x, &name, &n, &threads, &decode) ||
        parse_what(name, &asked) < 0 || pt_decoding(decode, &how) < 0)
        return NULL;
    if (n < 1 || n > 100000)
        return PyErr_Format(PyExc_ValueError, "n is between 1 and 100000, not %zd", n);
    const trl_model_info info = trl_model_get_info(self->model);
    job *pair = PyMem_RawCalloc(2, sizeof *pair);
    PyObject *out = pair ? PyList_New(0) : PyErr_NoMemory();
    PyObject *xs = out ? PyObject_GetIter(x) : NULL;
    pt_names own = {0}, *names = pt_model_names(self, &own);
    int st = xs ? 0 : -1;
    for (int k = 0; pair && k < 2; k++) {
        pair[k].batch.names = names;
        pair[k].batch.rows = info.format == TRL_FORMAT_COLUMNS;
        pair[k].what = asked;
        pair[k].n_labels = info.n_labels;
        pair[k].nbest = asked == NBEST ? (size_t)n : 1;
        if (st == 0)
            st = prepare(self, &pair[k], threads_for(threads), how);
    }
    if (st == 0)
        st = run(self, pair, xs, out);
    for (int k = 0; pair && k < 2; k++)
        job_fini(self, &pair[k]);
    pt_model_names_done(self, names, &own);
    PyMem_RawFree(pair);
    Py_XDECREF(xs);
    if (st < 0)
        Py_CLEAR(out);
    return out;
}
