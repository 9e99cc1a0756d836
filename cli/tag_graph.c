/* tag_graph.c -- labels for sentences and documents by a model of graphs.
 *
 * Graphs are read into slots, a slot for each thread and some more, labelled, and printed in order.
 */
/* SPDX-License-Identifier: MIT */
#include "tag_graph.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "names.h"
#include "output.h"
#include "tag_graph_picture.h"

#define SLOTS 8 /* for each of several threads */

/* One graph: its lines as they were, and its labels. */
typedef struct slot {
    trl_graph_tagger *tagger;
    text lines;   /* with the separator that a line uses at its end */
    size_t *end;  /* [n] of each line in `lines` */
    bool *last;   /* [n] of its sentence */
    text heading; /* before it */
    size_t n, cap;
    uint32_t *label; /* [n][layers] */
    double *p;       /* marginals of all variables */
    size_t label_cap, p_cap;
    trl_graph_answer best, marginals;
    trl_status status;
    trl_error error;
} slot;

typedef struct job {
    const tag_graph_settings *s;
    const trl_graph_model *m;
    trl_graph_model_info info;
    trl_graph_tagger_options options;
    size_t n_labels; /* of all layers together */
    slot *slot;      /* [n_slots] */
    size_t n_slots, n_used, threads;
    atomic_size_t next; /* slot to be labelled */
    output out;
    bool wants_p;          /* marginals, or what stands for them */
    graph_picture picture; /* with style.picture */
    uint64_t n_graphs, n_tokens, inexact, unsettled;
} job;

/* ---- options --------------------------------------------------------------------------------- */

static int check(job *j)
{
    const tag_style *y = &j->s->style;
    if (y->nbest || y->reference || y->decoding != TRL_DECODE_MODEL || y->confidence || y->spans ||
        y->json)
        return message_usage("--nbest, --reference, --decode, --confidence, --spans and --to are "
                             "for models of chains");
    if (y->max_marginals && (y->marginals || y->probability || y->posterior))
        return message_usage("--max-marginals goes without --marginals, --all-marginals, "
                             "--probability and --posterior");
    if (y->max_marginals && y->picture)
        return message_usage("--html and --svg show probabilities, not max-marginals");
    if (!j->info.is_probability && (y->marginals || y->probability || y->posterior))
        return message_fail("%s: a model trained with the objective %s has no probabilities",
                            j->s->model, j->info.objective);
    j->wants_p = y->marginals || y->posterior || y->probability || y->max_marginals ||
                 (y->picture && j->info.is_probability);
    j->options = trl_graph_tagger_options_default();
    if (!isnan(j->s->damping))
        j->options.infer.damping = j->s->damping;
    int code = CLI_DONE;
    if (j->s->method && strcmp(j->s->method, "auto") != 0) {
        j->options.automatic = false;
        j->options.infer.max_cells = trl_infer_options_default().max_cells;
        code = tag_graph_method(j->s->method, &j->options.infer.method);
    }
    return code == CLI_DONE ? tag_graph_known(j->s, j->m, &j->options.known) : code;
}

/* ---- labelling ------------------------------------------------------------------------------- */

static bool room(void **p, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return true;
    if (need > SIZE_MAX / 2 / size)
        return false;
    void *grown = realloc(*p, need * 3 / 2 * size);
    if (!grown)
        return false;
    *p = grown;
    *cap = need * 3 / 2;
    return true;
}

/* Are labels taken variable by variable? */
static bool by_variable(const tag_style *y)
{
    return y->posterior || y->max_marginals;
}

/* The label of largest probability, or max-marginal, of every variable. */
static void take_largest(const job *j, slot *x)
{
    const double *p = x->p;
    for (size_t v = 0; v < x->n * j->info.n_layers; v++) {
        const size_t n = trl_graph_model_layer(j->m, v % j->info.n_layers).n_labels;
        x->label[v] = 0;
        for (size_t k = 1; k < n; k++)
            if (p[k] > p[x->label[v]])
                x->label[v] = (uint32_t)k;
        p += n;
    }
}

static trl_status label(const job *j, slot *x)
{
    const tag_style *y = &j->s->style;
    const bool p = j->wants_p;
    const size_t n = x->n * j->info.n_layers;
    trl_status st = TRL_OK;
    if (!room((void **)&x->label, &x->label_cap, n, sizeof *x->label) ||
        (p && !room((void **)&x->p, &x->p_cap, x->n * j->n_labels, sizeof *x->p)))
        return tag_no_memory(&x->error);
    if (p)
        st = (y->max_marginals ? trl_graph_tagger_max_marginals : trl_graph_tagger_marginals)(
            x->tagger, x->p, &x->marginals, &x->error);
    if (st == TRL_OK && !by_variable(y))
        st = trl_graph_tagger_best(x->tagger, x->label, &x->best, &x->error);
    else if (st == TRL_OK)
        take_largest(j, x);
    return st;
}

static void *worker_main(void *ctx)
{
    job *j = ctx;
    for (size_t k; (k = atomic_fetch_add(&j->next, 1)) < j->n_used;)
        j->slot[k].status = label(j, &j->slot[k]);
    return NULL;
}

static void label_all(job *j)
{
    pthread_t thread[64];
    size_t n = 0;
    atomic_store(&j->next, 0);
    while (n < 64 && n + 1 < j->threads && n + 1 < j->n_used &&
           pthread_create(&thread[n], NULL, worker_main, j) == 0)
        n++;
    worker_main(j);
    while (n)
        pthread_join(thread[--n], NULL);
}

/* ---- printing -------------------------------------------------------------------------------- */

/* LABEL:P, or LABEL~P where P is an estimate. */
static void add_label(const job *j, const slot *x, size_t layer, size_t k, const double *p,
                      text *out)
{
    const trl_str s = trl_graph_model_label(j->m, layer, k);
    text_add(out, s.p, s.n);
    if (!p)
        return;
    text_char(out, x->marginals.exact ? ':' : '~');
    text_fixed6(out, p[k]);
}

static void add_token(const job *j, const slot *x, size_t t, const double **p, text *out)
{
    const bool marginals = j->s->style.marginals;
    const size_t from = t ? x->end[t - 1] : 0;
    const char separator = x->lines.p[x->end[t] - 1];
    text_add(out, x->lines.p + from, x->end[t] - from);
    for (size_t k = 0; k < j->info.n_layers; k++) {
        const size_t n = trl_graph_model_layer(j->m, k).n_labels;
        if (k)
            text_char(out, separator);
        add_label(j, x, k, x->label[t * j->info.n_layers + k], marginals ? *p : NULL, out);
        for (size_t i = 0; j->s->style.all_marginals && i < n; i++) {
            text_char(out, separator);
            add_label(j, x, k, i, *p, out);
        }
        *p += marginals ? n : 0;
    }
    text_str(out, x->last[t] ? "\n\n" : "\n");
}

/* Of all its labels together. */
static double best_probability(const slot *x)
{
    return x->best.score < x->marginals.log_z ? exp(x->best.score - x->marginals.log_z) : 1.0;
}

/* The sentences of a slot, each with the labels of every layer. */
static bool draw_slot(job *j, const slot *x)
{
    const bool known = j->info.is_probability && !by_variable(&j->s->style);
    bool ok = true;
    for (size_t t = 0, from = 0; t < x->n && ok; t++) {
        if (!x->last[t])
            continue;
        ok = graph_picture_add(
            &j->picture, &(graph_sentence){.lines = x->lines.p,
                                           .end = x->end + from,
                                           .from = from ? x->end[from - 1] : 0,
                                           .n = t + 1 - from,
                                           .label = x->label + from * j->info.n_layers,
                                           .p = j->wants_p ? x->p + from * j->n_labels : NULL,
                                           .probability = known ? best_probability(x) : (double)NAN,
                                           .document = from == 0 && x->heading.n > 0});
        from = t + 1;
    }
    return ok || message_memory() == CLI_DONE;
}

static void add_slot(const job *j, const slot *x, text *out)
{
    const double *p = x->p;
    text_add(out, x->heading.p, x->heading.n);
    if (j->s->style.probability && !j->s->style.posterior && x->n)
        text_fmt(out, "# %f%s\n", best_probability(x),
                 x->marginals.log_z_status == TRL_VALUE_EXACT ? "" : " estimate");
    for (size_t t = 0; t < x->n; t++)
        add_token(j, x, t, &p, out);
}

static void count(job *j, const slot *x)
{
    const tag_style *y = &j->s->style;
    const bool alone = by_variable(y), p = j->wants_p;
    const bool exact = (alone || x->best.exact) && (!p || x->marginals.exact);
    const bool settled = (alone || x->best.converged) && (!p || x->marginals.converged);
    j->n_graphs += x->n > 0;
    j->n_tokens += x->n;
    j->inexact += x->n > 0 && !exact;
    j->unsettled += x->n > 0 && !settled;
}

/* Labels and prints what is in the slots. */
static bool flush(job *j)
{
    label_all(j);
    bool ok = true;
    for (size_t k = 0; k < j->n_used && ok; k++) {
        slot *x = &j->slot[k];
        text out = {0};
        if (x->n && x->status != TRL_OK) {
            output_flush(&j->out);
            message_error(&x->error);
            ok = false;
        } else {
            count(j, x);
            if (j->s->style.picture)
                ok = draw_slot(j, x);
            else
                add_slot(j, x, &out);
            ok = ok && output_text(&j->out, &out);
        }
        text_fini(&out);
    }
    j->n_used = 0;
    return ok && (j->threads > 1 || output_flush(&j->out));
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The lines -DOCSTART- before a sequence, an empty line after each. */
static void add_heading(const trl_rows *rows, text *out)
{
    for (size_t i = 0; i < rows->heading.n; i++) {
        text_char(out, rows->heading.p[i]);
        if (rows->heading.p[i] == '\n')
            text_char(out, '\n');
    }
}

/* A line and a separator as it has. */
static void keep_line(slot *x, const trl_rows *rows, size_t t)
{
    const trl_str last = rows->cell[(t + 1) * rows->n_columns - 1];
    const size_t n = (size_t)(last.p - rows->line[t]) + last.n;
    text_add(&x->lines, rows->line[t], n);
    text_char(&x->lines, memchr(rows->line[t], '\t', n) ? '\t' : ' ');
}

/* Of GRMM's data the word and the labels: features vary in number, and would not be columns. */
static void keep_labels(slot *x, const trl_rows *rows, size_t t)
{
    for (size_t c = 0; c < rows->n_columns; c++) {
        const trl_str s = rows->cell[t * rows->n_columns + c];
        text_add(&x->lines, s.p, s.n);
        text_char(&x->lines, ' ');
    }
}

static trl_status add_sentence(slot *x, const trl_reader *r, const trl_rows *rows, trl_error *err)
{
    const size_t *begin;
    const trl_attr *attr;
    size_t cap = x->cap;
    if (!room((void **)&x->end, &cap, x->n + rows->n_tokens, sizeof *x->end) ||
        !room((void **)&x->last, &x->cap, x->n + rows->n_tokens, sizeof *x->last))
        return tag_no_memory(err);
    trl_reader_attributes(r, &begin, &attr);
    for (size_t t = 0; t < rows->n_tokens; t++) {
        if (begin)
            keep_labels(x, rows, t);
        else
            keep_line(x, rows, t);
        x->end[x->n] = x->lines.n;
        x->last[x->n++] = t + 1 == rows->n_tokens;
    }
    return x->lines.failed ? tag_no_memory(err)
                           : trl_graph_tagger_add_items(x->tagger, rows, begin, attr, err);
}

static slot *next_slot(job *j)
{
    slot *x = &j->slot[j->n_used++];
    x->n = x->lines.n = x->heading.n = 0;
    x->status = TRL_OK;
    trl_graph_tagger_clear(x->tagger);
    return x;
}

static bool read_file(job *j, const char *path)
{
    trl_reader *r = NULL;
    trl_error err = {0};
    trl_rows rows;
    slot *x = NULL;
    bool more = true, ok = true;
    const trl_format format = j->info.attributes ? TRL_FORMAT_GRMM : TRL_FORMAT_COLUMNS;
    trl_status st = trl_reader_open(path, format, &r, &err);
    while (st == TRL_OK && ok && more) {
        st = trl_reader_rows(r, &rows, &more, &err);
        if (st != TRL_OK)
            break;
        if (!x || !j->info.document || rows.heading.n || !more) {
            if (j->n_used == j->n_slots || (!more && j->n_used))
                ok = flush(j);
            x = ok ? next_slot(j) : NULL;
        }
        if (x)
            add_heading(&rows, &x->heading);
        if (x && more)
            st = add_sentence(x, r, &rows, &err);
        if (st != TRL_OK)
            x->n = 0; /* those before are printed */
    }
    ok = ok && flush(j);
    if (st != TRL_OK && ok) {
        output_flush(&j->out);
        message_error(&err);
    }
    trl_reader_free(r);
    return ok && st == TRL_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void report(const job *j)
{
    uint64_t attributes = 0, unknown = 0;
    for (size_t k = 0; k < j->n_slots; k++) {
        attributes += trl_graph_tagger_attributes(j->slot[k].tagger);
        unknown += trl_graph_tagger_unknown(j->slot[k].tagger);
    }
    if (j->n_graphs == 0)
        message_warn("no sequences in the input");
    if (attributes && attributes == unknown)
        message_warn("the model knows nothing of what is in the input");
    if (j->inexact)
        message_say("%" PRIu64 " of %" PRIu64 " graphs: %s, %" PRIu64 " of them from messages that "
                    "did not converge",
                    j->inexact, j->n_graphs,
                    j->s->style.marginals || j->s->style.posterior || j->s->style.probability
                        ? "probabilities are estimates, marked ~"
                        : "labels that need not be the best",
                    j->unsettled);
    if (j->s->verbose)
        message_say("%" PRIu64 " graphs, %" PRIu64 " tokens; %" PRIu64 " of %" PRIu64
                    " attributes unknown to the model were ignored",
                    j->n_graphs, j->n_tokens, unknown, attributes);
}

static bool open_slots(job *j)
{
    trl_error err = {0};
    j->threads = j->s->threads;
    j->n_slots = j->threads > 1 ? SLOTS * j->threads : 1;
    j->slot = calloc(j->n_slots, sizeof *j->slot);
    if (!j->slot)
        return message_memory() == CLI_DONE;
    for (size_t k = 0; k < j->n_slots; k++)
        if (trl_graph_tagger_new(j->m, &j->options, &j->slot[k].tagger, &err) != TRL_OK) {
            message_error(&err);
            return false;
        }
    return true;
}

static void close_slots(job *j)
{
    for (size_t k = 0; j->slot && k < j->n_slots; k++) {
        slot *x = &j->slot[k];
        trl_graph_tagger_free(x->tagger);
        text_fini(&x->lines);
        text_fini(&x->heading);
        free(x->end);
        free(x->last);
        free(x->label);
        free(x->p);
    }
    free(j->slot);
}

static bool write_picture(job *j)
{
    text whole = {0};
    graph_picture_finish(&j->picture, j->s->title, &whole);
    const bool ok = output_text(&j->out, &whole);
    text_fini(&whole);
    return ok;
}

static int tag_files(const tag_graph_settings *s, const trl_graph_model *m, const operands *args)
{
    job j = {.s = s, .m = m, .info = trl_graph_model_get_info(m)};
    int code = check(&j);
    if (code != CLI_DONE)
        return code;
    for (size_t k = 0; k < j.info.n_layers; k++)
        j.n_labels += trl_graph_model_layer(m, k).n_labels;
    if (s->style.picture && !graph_picture_init(&j.picture, s->style.picture, m))
        code = message_memory();
    bool ok = code == CLI_DONE && open_slots(&j) && output_open(&j.out, s->to);
    const bool opened = ok;
    if (ok && args->n == 0)
        ok = read_file(&j, "-");
    for (size_t i = 0; ok && i < args->n; i++)
        ok = read_file(&j, args->item[i]);
    if (ok && s->style.picture)
        ok = write_picture(&j);
    if (opened && !ok)
        output_discard(&j.out);
    else if (opened)
        ok = output_close(&j.out);
    if (ok)
        report(&j);
    close_slots(&j);
    graph_picture_fini(&j.picture);
    return ok ? CLI_DONE : CLI_FAILED;
}

int tag_graph_run(const tag_graph_settings *s, trl_model *m, bool raw, trl_format format,
                  const operands *args)
{
    trl_error err = {0};
    trl_graph_model *graph = NULL;
    int code = CLI_FAILED;
    const trl_status st = trl_graph_model_of(m, &graph, &err);
    const bool grmm = st == TRL_OK && trl_graph_model_get_info(graph).attributes;
    const bool other =
        format != TRL_FORMAT_GUESS && format != (grmm ? TRL_FORMAT_GRMM : TRL_FORMAT_COLUMNS);
    if (st != TRL_OK)
        message_error(&err);
    else if (raw || other)
        message_say("%s: %s", s->model,
                    grmm ? "this model of graphs reads GRMM's data (-f grmm)"
                         : "a model of graphs reads columns");
    else
        code = tag_files(s, graph, args);
    trl_graph_model_free(graph);
    trl_model_free(m);
    return code;
}

int tag_graph_unused(const tag_graph_settings *s, trl_format format)
{
    if (format == TRL_FORMAT_GRMM)
        return message_usage("--format grmm is for models of graphs");
    return s->method || s->known || s->style.max_marginals || !isnan(s->damping)
               ? message_usage("--method, --known, --max-marginals and --damping are for models of "
                               "graphs")
               : CLI_DONE;
}
