/* span_pruner_train.c -- the span pruner's likelihood.
 *
 * loss = log Z(x) - sum over the gold tree's items of their log gains (the PCFG's part is
 * constant); its derivative by a log gain is the item's posterior minus 1 for gold items.
 */
/* SPDX-License-Identifier: MIT */
#include "train_tree/span_pruner_train.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_tree/given_spans.h"

enum { K = TRL_SPAN_PRUNER_CLASSES, TAGS = TRL_SPAN_PRUNER_TAGS };

#define LOST 1e-3f /* posteriors this much below the least that counts are dropped */

struct trl_span_pruner_worker {
    trl_arena arena;
    trl_btree gold;
    trl_given_tags tags;
};

/* Where rows are in the weights; slopes below `least` are left out. */
typedef struct row_part {
    size_t width;
    size_t offset;
    float least;
} row_part;

/* ---- gradient -------------------------------------------------------------------------------- */

static bool add_rows(const uint32_t *row, size_t n, const row_part *x, const float *d,
                     trl_sparse *out)
{
    if (!trl_sparse_room(out, n * x->width))
        return false;
    for (size_t c = 0; c < x->width; c++) {
        if (fabsf(d[c]) < x->least)
            continue;
        for (size_t k = 0; k < n; k++) {
            out->id[out->n] = (uint32_t)(x->offset + row[k] * x->width + c);
            out->value[out->n++] = d[c];
        }
    }
    return true;
}

/* Slopes by span and word; left and right are scratch. */
typedef struct slopes {
    const float *span;
    const float *word;
    float *left;
    float *right;
} slopes;

/* Derivatives by the log gains of spans and words to those by weights. */
static bool scatter(const trl_span_pruner_task *t, const trl_seen *x, const slopes *by,
                    trl_sparse *out)
{
    const trl_span_pruner *s = &t->span_pruner;
    const size_t n = x->n, words = ((size_t)s->span_mask + 1) * K;
    uint32_t row[16];
    bool ok = true;
    memset(by->left, 0, (n + 1) * K * sizeof *by->left);
    memset(by->right, 0, (n + 1) * K * sizeof *by->right);
    for (size_t j = 2; j <= n; j++)
        for (size_t i = 0; i + 1 < j; i++) {
            const float *d = by->span + trl_cell(i, j) * K;
            bool any = false;
            for (size_t c = 0; c < K; c++) {
                by->left[i * K + c] += d[c];
                by->right[j * K + c] += d[c];
                any |= fabsf(d[c]) >= t->least;
            }
            if (!any)
                continue;
            trl_span_pruner_pair(x, i, j, s->span_mask, row);
            ok &= add_rows(row, TRL_SPAN_PRUNER_PAIR, &(row_part){K, 0, t->least}, d, out);
        }
    for (size_t i = 0; i < n; i++) {
        trl_span_pruner_end(x, i, false, s->span_mask, row);
        ok &=
            add_rows(row, TRL_SPAN_PRUNER_END, &(row_part){K, 0, t->least}, by->left + i * K, out);
        trl_span_pruner_end(x, i + 1, true, s->span_mask, row);
        ok &= add_rows(row, TRL_SPAN_PRUNER_END, &(row_part){K, 0, t->least},
                       by->right + (i + 1) * K, out);
        trl_span_pruner_word(x, i, s->word_mask, row);
        ok &= add_rows(row, TRL_SPAN_PRUNER_WORD, &(row_part){TAGS, words, t->least},
                       by->word + i * TAGS, out);
    }
    return ok;
}

/* Posteriors of the items that have gains, by class. */
static void posteriors(const trl_coarse_chart *c, const uint8_t *class_of, float *span, float *word)
{
    const size_t s = c->n_states;
    memset(span, 0, trl_chart_cells(c->n) * K * sizeof *span);
    memset(word, 0, c->n * TAGS * sizeof *word);
    for (size_t j = 1; j <= c->n; j++)
        for (size_t i = 0; i < j; i++) {
            const size_t cell = trl_cell(i, j);
            float *to = j - i == 1 ? word + i * TAGS : span + cell * K;
            if (c->scale[cell] == INT32_MIN)
                continue;
            for (size_t k = 0; k < s; k++)
                to[class_of[k] % (j - i == 1 ? TAGS : K)] +=
                    c->before[cell * s + k] * c->out_before[cell * s + k];
        }
}

/* Subtracts the gold items and adds up their log gains. */
static double take_gold(const trl_btree *b, const trl_gains *g, float *span, float *word)
{
    double score = 0.0;
    for (size_t x = 0; x < b->n; x++) {
        const trl_bnode *n = &b->node[x];
        const bool tag = n->to - n->from == 1;
        if (n->left != TRL_NO_NODE && n->right == TRL_NO_NODE)
            continue;
        const size_t at = tag ? (size_t)n->from * TAGS + g->class_of[n->state]
                              : trl_cell(n->from, n->to) * K + g->class_of[n->state];
        score += (double)(tag ? g->log_word[at] : g->log_span[at]);
        *(tag ? word + at : span + at) -= 1.0f;
    }
    return score;
}

/* The spans that the trees of the sum may have; *keep is NULL: any. */
static trl_status may_have(const trl_span_pruner_task *t, struct trl_span_pruner_worker *w,
                           size_t n, const uint8_t **keep, trl_error *err)
{
    *keep = NULL;
    if (t->most == 0 || n <= t->most)
        return TRL_OK;
    uint8_t *may = trl_arena_get(&w->arena, trl_chart_cells(n), 1);
    if (!may)
        return trl_fail_mem(err);
    trl_given_spans(&w->gold, n, t->most, may);
    *keep = may;
    return TRL_OK;
}

static trl_status evaluate(void *self, size_t example, size_t worker, double *loss, trl_sparse *out,
                           trl_error *err)
{
    const trl_span_pruner_task *t = self;
    struct trl_span_pruner_worker *w = &t->worker[worker];
    const trl_tree *tree = &t->trees->tree[example];
    const size_t n = tree->n_words;
    bool known;
    trl_seen x;
    trl_gains gains;
    trl_coarse_chart chart = {0};
    *loss = 0.0;
    trl_arena_reset(&w->arena);
    trl_status st =
        trl_grammar_encode(t->coarse->pcfg->g, &(trl_encoded){NULL, tree, &t->trees->labels},
                           &w->gold, &known, NULL, err);
    if (st != TRL_OK || !known)
        return st;
    void *memory = trl_arena_get(&w->arena, trl_seen_size(n), 1);
    float *span = trl_arena_get(&w->arena, trl_chart_cells(n) * K, sizeof *span);
    float *word = trl_arena_get(&w->arena, n * TAGS, sizeof *word);
    float *left = trl_arena_get(&w->arena, (n + 1) * K, sizeof *left);
    float *right = trl_arena_get(&w->arena, (n + 1) * K, sizeof *right);
    if (!memory || !span || !word || !left || !right)
        return trl_fail_mem(err);
    trl_observe(t->observer, tree->word, n, memory, &x);
    if (t->tags)
        trl_given_list_observe(&t->tags[example], &x);
    const uint8_t *keep;
    st = may_have(t, w, n, &keep, err);
    if (st == TRL_OK)
        st = trl_span_pruner_gains(&t->span_pruner, &x, &gains, &w->arena, err);
    if (st == TRL_OK && t->tags)
        st = trl_given_tags_set(&w->tags, &(trl_given_grammars){t->fine, t->coarse->pcfg->g}, n,
                                &t->tags[example], err);
    if (st == TRL_OK)
        st =
            trl_coarse_run(t->coarse, &(trl_words){tree->word, n},
                           &(trl_coarse_how){.keep = keep,
                                             .gains = &gains,
                                             .least = t->least * LOST,
                                             .tags = t->tags && w->tags.n ? &w->tags.coarse : NULL},
                           &chart, &w->arena, err);
    if (st != TRL_OK || !isfinite(chart.log_z))
        return st;
    if (t->hook && !t->done[example]) {
        t->done[example] = 1;
        st = t->hook->chart(t->hook->self, example, worker, &chart, &gains, err);
        if (st != TRL_OK)
            return st;
    }
    posteriors(&chart, t->span_pruner.class_of, span, word);
    *loss = chart.log_z - take_gold(&w->gold, &gains, span, word);
    return !out || scatter(t, &x,
                           &(slopes){.span = span, .word = word, .left = left, .right = right}, out)
               ? TRL_OK
               : trl_fail_mem(err);
}

static trl_status prepare(void *self, const double *w, trl_error *err)
{
    (void)err;
    trl_span_pruner_task *t = self;
    t->span_pruner.exact = w;
    return TRL_OK;
}

static size_t size(const void *self, size_t example)
{
    const trl_span_pruner_task *t = self;
    return t->trees->tree[example].n_words;
}

/* ---- the task -------------------------------------------------------------------------------- */

trl_status trl_span_pruner_task_init(trl_span_pruner_task *t, const trl_span_pruner_data *data,
                                     unsigned span_bits, unsigned word_bits, size_t n_workers,
                                     trl_error *err)
{
    *t = (trl_span_pruner_task){.coarse = data->c,
                                .observer = data->o,
                                .trees = data->trees,
                                .tags = data->tags,
                                .fine = data->fine,
                                .most = data->most,
                                .least = 1e-3f,
                                .n_workers = n_workers};
    trl_status st = trl_span_pruner_init(&t->span_pruner, data->c->pcfg->g, err);
    t->worker = trl_zalloc(n_workers, sizeof *t->worker);
    t->done = trl_zalloc(data->trees->n, 1);
    if (st == TRL_OK && (!t->worker || !t->done))
        st = trl_fail_mem(err);
    if (st != TRL_OK) {
        trl_span_pruner_task_fini(t);
        return st;
    }
    t->span_pruner.span_mask = (uint32_t)(((size_t)1 << span_bits) - 1);
    t->span_pruner.word_mask = (uint32_t)(((size_t)1 << word_bits) - 1);
    t->sparse = (trl_sparse_task){
        t,
        data->trees->n,
        trl_span_pruner_weights(t->span_pruner.span_mask, t->span_pruner.word_mask),
        prepare,
        evaluate,
        size};
    return TRL_OK;
}

void trl_span_pruner_task_fini(trl_span_pruner_task *t)
{
    for (size_t k = 0; t->worker && k < t->n_workers; k++) {
        trl_arena_fini(&t->worker[k].arena);
        trl_btree_fini(&t->worker[k].gold);
        trl_given_tags_fini(&t->worker[k].tags);
    }
    trl_free(t->worker);
    trl_free(t->done);
    trl_span_pruner_fini(&t->span_pruner);
    *t = (trl_span_pruner_task){0};
}

/* ---- training -------------------------------------------------------------------------------- */

trl_status trl_span_pruner_train(trl_span_pruner *s, const trl_span_pruner_data *data,
                                 const trl_span_pruner_options *options, trl_pool *pool,
                                 const trl_span_pruner_watch *watch, trl_error *err)
{
    const trl_sparse_options so = {.adaptive = true,
                                   .averaged = options->passes > 1,
                                   .c2 = options->c2,
                                   .eta = options->eta,
                                   .batch = options->batch,
                                   .max_iter = options->passes,
                                   .seed = options->seed};
    trl_ending ending;
    trl_span_pruner_task t;
    trl_status st = trl_span_pruner_task_init(&t, data, options->span_bits, options->word_bits,
                                              trl_pool_threads(pool), err);
    if (st != TRL_OK)
        return st;
    t.hook = watch->hook;
    double *w = trl_zalloc(t.sparse.n_weights, sizeof *w);
    st = w ? trl_sparse_train(
                 &t.sparse, &so,
                 &(trl_descent){.pool = pool, .watcher = watch->watcher, .x = w, .ending = &ending},
                 err)
           : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_span_pruner_round(s, w, t.span_pruner.span_mask, t.span_pruner.word_mask, err);
    trl_free(w);
    trl_span_pruner_task_fini(&t);
    return st;
}
