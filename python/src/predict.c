/* predict.c -- many sequences in one call, over threads.
 *
 * Sequences are taken from Python in batches, names become the model's numbers, and the library
 * labels the batch.  While it works on one batch, the next one is taken: only that needs the GIL.
 *
 * Taking is one thread's work, and of dictionaries most of it.  That thread is one of those that
 * were asked for, and the library has the others, as long as they keep up with it; when it had to
 * wait for them, the library has all for the next batch.
 */
/* SPDX-License-Identifier: MIT */
#include "core.h"

#include "trellis/batch.h"

#include <pthread.h>
#include <stdatomic.h>

enum { BATCH_CELLS = 1 << 20, BATCH_TOKENS = 8192, FEW_TOKENS = 256 };

typedef enum what { LABELS, POSTERIOR, MARGINALS, PAIRS, NBEST } what;

static const char *const what_names[] = {"labels", "posterior", "marginals", "pairs", "nbest"};

/* A batch that is being worked on. */
typedef struct job {
    pt_model *model;
    pt_batch batch;
    pt_views views;
    what what;
    size_t n_labels;
    trl_tag_batch ask;
    double *pairs;
    bool *empty; /* [n] sequences without tokens, which the batch does not have */
    size_t n, empty_cap;
    size_t threads; /* that were asked for */
    pthread_t thread;
    bool running, started;
    atomic_bool done;
    trl_status st;
    trl_error err;
} job;

static size_t pair_cells(const job *j, size_t k)
{
    const size_t n = j->batch.first[k + 1] - j->batch.first[k];
    return n ? (n - 1) * j->n_labels * j->n_labels : 0;
}

/* The library's batches do not have this one: sequence by sequence. */
static trl_status all_pairs(job *j, trl_error *err)
{
    trl_tagger *t = NULL;
    double *p = j->pairs;
    trl_status st = trl_tagger_new(j->model->model, &t, err);
    if (st == TRL_OK)
        st = trl_tagger_set_decoding(t, j->ask.decoding, err);
    for (size_t k = 0; st == TRL_OK && k < j->batch.n; k++) {
        if (j->batch.first[k] == j->batch.first[k + 1])
            continue;
        st = j->batch.rows ? trl_tagger_set_rows(t, &j->views.rows[k], err)
                           : trl_tagger_set_items(t, &j->views.items[k], err);
        if (st == TRL_OK)
            st = trl_tagger_pair_marginals(t, p, err);
        p += pair_cells(j, k);
    }
    trl_tagger_free(t);
    return st;
}

static void *work(void *ctx)
{
    job *j = ctx;
    const pt_batch *b = &j->batch;
    if (j->what == PAIRS) {
        j->st = all_pairs(j, &j->err);
    } else if (b->rows) {
        j->st = trl_tag_rows(j->model->model, j->views.rows, b->n, &j->ask, &j->err);
    } else {
        const trl_numbered_items x = {.n_sequences = b->n,
                                      .first = b->first,
                                      .begin = b->begin,
                                      .attr = b->id,
                                      .value = b->value};
        j->st = trl_tag_numbered(j->model->model, &x, &j->ask, &j->err);
    }
    atomic_store(&j->done, true);
    return NULL;
}

static void free_answers(job *j)
{
    PyMem_RawFree(j->ask.labels);
    PyMem_RawFree(j->ask.scores);
    PyMem_RawFree(j->ask.found);
    PyMem_RawFree(j->ask.log_z);
    PyMem_RawFree(j->ask.marginals);
    PyMem_RawFree(j->pairs);
    j->ask.labels = NULL;
    j->ask.scores = j->ask.log_z = j->ask.marginals = j->pairs = NULL;
    j->ask.found = NULL;
    pt_views_fini(&j->views);
}

static int make_room(job *j)
{
    const size_t tokens = j->batch.n_tokens, n = j->batch.n, best = j->ask.nbest;
    size_t cells = 0;
    bool good = true;
    for (size_t k = 0; j->what == PAIRS && k < n; k++)
        cells += pair_cells(j, k);
    if (j->what == PAIRS)
        good = (j->pairs = PyMem_RawCalloc(cells + 1, sizeof *j->pairs)) != NULL;
    else if (j->what == MARGINALS)
        good =
            (j->ask.marginals = PyMem_RawCalloc(tokens * j->n_labels + 1, sizeof(double))) != NULL;
    else
        good = (j->ask.labels = PyMem_RawCalloc(tokens * best + 1, sizeof(uint32_t))) != NULL;
    if (j->what == NBEST)
        good = good && (j->ask.scores = PyMem_RawCalloc(n * best + 1, sizeof(double))) &&
               (j->ask.found = PyMem_RawCalloc(n + 1, sizeof(size_t))) &&
               (!trl_model_get_info(j->model->model).is_probability ||
                (j->ask.log_z = PyMem_RawCalloc(n + 1, sizeof(double))));
    if (good && (j->batch.rows || j->what == PAIRS))
        return pt_views_make(&j->views, &j->batch);
    if (good)
        return 0;
    free_answers(j);
    PyErr_NoMemory();
    return -1;
}

/* What the model calls the names that it was not asked about yet. */
static void number_names(const trl_model *m, pt_names *t)
{
    for (; t->numbered < t->n; t->numbered++)
        t->name[t->numbered].number =
            trl_model_find_attribute(m, TRL_SCOPE_LABEL, t->name[t->numbered].s);
}

/* Starts a thread; where that is not worth it, or not possible, finish does the work.  `threads`
 * are for the library. */
static int start(job *j, size_t threads)
{
    if (!j->batch.rows && j->what != PAIRS) {
        number_names(j->model->model, j->batch.names);
        pt_batch_number(&j->batch);
    }
    if (make_room(j) < 0)
        return -1;
    const bool few = j->batch.n_tokens <= FEW_TOKENS; /* threads take longer to start */
    j->ask.threads = few ? 1 : threads;
    atomic_store(&j->done, false);
    j->started =
        !few && j->threads > 1 && j->batch.n && pthread_create(&j->thread, NULL, work, j) == 0;
    j->running = true;
    return 0;
}

static PyObject *nbest_list(const job *j, size_t k)
{
    const size_t from = j->batch.first[k], n = j->batch.first[k + 1] - from, best = j->ask.nbest;
    const double log_z = j->ask.log_z ? j->ask.log_z[k] : Py_NAN;
    PyObject *list = PyList_New(0);
    for (size_t r = 0; list && n && r < j->ask.found[k]; r++) {
        const double score = j->ask.scores[k * best + r];
        PyObject *labels = pt_label_list(j->model, j->ask.labels + best * from + r * n, n);
        PyObject *row = labels ? Py_BuildValue("(Ndd)", labels, score, score - log_z) : NULL;
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *answer_of(const job *j, size_t k, const double **pairs)
{
    const size_t from = j->batch.first[k], n = j->batch.first[k + 1] - from, l = j->n_labels;
    switch (j->what) {
    case NBEST:
        return nbest_list(j, k);
    case MARGINALS:
        return pt_doubles(j->ask.marginals + from * l, n * l);
    case PAIRS: {
        const double *p = *pairs;
        *pairs += pair_cells(j, k);
        return pt_doubles(p, pair_cells(j, k));
    }
    default:
        return pt_label_list(j->model, j->ask.labels + from, n);
    }
}

static int collect(const job *j, PyObject *out)
{
    int st = 0;
    const double *pairs = j->pairs;
    for (size_t i = 0, k = 0; st == 0 && i < j->n; i++) {
        const bool numbers = j->what == MARGINALS || j->what == PAIRS;
        PyObject *a = !j->empty[i] ? answer_of(j, k++, &pairs)
                      : numbers    ? pt_doubles(NULL, 0)
                                   : PyList_New(0);
        st = a ? PyList_Append(out, a) : -1;
        Py_XDECREF(a);
    }
    return st;
}

/* Waits for the answers and adds them to out (NULL: throws them away). */
static int finish(job *j, PyObject *out)
{
    if (!j->running)
        return 0;
    Py_BEGIN_ALLOW_THREADS if (j->started) pthread_join(j->thread, NULL);
    else if (out) work(j);
    Py_END_ALLOW_THREADS j->running = false;
    int st = 0;
    if (out && j->st != TRL_OK) {
        pt_raise(&j->err);
        st = -1;
    } else if (out) {
        st = collect(j, out);
    }
    free_answers(j);
    return st;
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Takes sequences until the batch is full; 0 when there are no more, -1 with an exception. */
static int fill(job *j, PyObject *xs, size_t most)
{
    while (j->batch.n_tokens < most && j->n < 4 * BATCH_TOKENS) {
        PyObject *x = PyIter_Next(xs);
        if (!x)
            return PyErr_Occurred() ? -1 : 0;
        const int st = pt_batch_add(&j->batch, x, NULL);
        Py_DECREF(x);
        if (st < 0 || pt_reserve(&j->empty, &j->empty_cap, j->n + 1, sizeof *j->empty) < 0)
            return -1;
        pt_batch *b = &j->batch;
        j->empty[j->n] = b->first[b->n - 1] == b->first[b->n];
        if (j->empty[j->n++]) {
            b->n--;
            b->before++;
        }
    }
    return 1;
}

static int run(job pair[2], PyObject *xs, PyObject *out)
{
    const size_t l = pair[0].n_labels;
    const size_t cells = pair[0].what == PAIRS ? l * l : l * pair[0].ask.nbest;
    const size_t fit = BATCH_CELLS / (cells + 1);
    const size_t most = fit < 1 ? 1 : fit < BATCH_TOKENS ? fit : BATCH_TOKENS;
    const size_t threads = pair[0].threads;
    int st = 0, now = 0, more = 1;
    bool late = false; /* the library was slower than the thread that takes sequences */
    uint64_t before = 0;
    while (st == 0 && more) {
        job *j = &pair[now];
        pt_batch_reset(&j->batch);
        j->batch.before = before;
        j->n = 0;
        more = fill(j, xs, most);
        before += j->n;
        if (more < 0)
            st = -1;
        job *last = &pair[1 - now];
        if (last->running && last->started)
            late = !atomic_load(&last->done);
        if (st == 0 && j->n)
            st = start(j, more && !late && threads > 1 ? threads - 1 : threads);
        if (st == 0) /* it has had time meanwhile */
            st = finish(last, out);
        if (st == 0)
            st = PyErr_CheckSignals();
        now = 1 - now;
    }
    for (int k = 0; k < 2; k++, now = 1 - now)
        if (finish(&pair[now], st == 0 ? out : NULL) < 0)
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

static void prepare(job *j, pt_model *m, pt_names *names)
{
    const trl_model_info info = trl_model_get_info(m->model);
    j->model = m;
    j->batch.names = names;
    j->batch.rows = info.format == TRL_FORMAT_COLUMNS;
    j->n_labels = info.n_labels;
    j->ask = trl_tag_batch_default();
}

PyObject *pt_predict(pt_model *self, PyObject *args, PyObject *kw)
{
    static char *words[] = {"X", "what", "n", "threads", "decode", NULL};
    PyObject *x;
    const char *name = "labels", *decode = "model";
    Py_ssize_t n = 1, threads = 1;
    what asked;
    trl_decoding how;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O|snns", words, &x, &name, &n, &threads, &decode) ||
        parse_what(name, &asked) < 0 || pt_decoding(decode, &how) < 0)
        return NULL;
    if (n < 1 || n > 100000 || threads < 1)
        return PyErr_Format(PyExc_ValueError, "n is between 1 and 100000, threads at least 1");
    PyObject *xs = PyObject_GetIter(x), *out = xs ? PyList_New(0) : NULL;
    job pair[2] = {{0}};
    pt_names own = {0}, *names = pt_model_names(self, &own);
    for (int k = 0; k < 2; k++) {
        prepare(&pair[k], self, names);
        pair[k].what = asked;
        pair[k].threads = (size_t)threads;
        pair[k].ask.decoding = how;
        pair[k].ask.posterior = asked == POSTERIOR;
        pair[k].ask.nbest = asked == NBEST ? (size_t)n : 1;
    }
    const int st = out ? run(pair, xs, out) : -1;
    for (int k = 0; k < 2; k++) {
        pt_batch_fini(&pair[k].batch);
        PyMem_RawFree(pair[k].empty);
    }
    pt_model_names_done(self, names, &own);
    Py_XDECREF(xs);
    if (st < 0)
        Py_CLEAR(out);
    return out;
}
