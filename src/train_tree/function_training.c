/* function_training.c -- function labels as a sparse task. */
/* SPDX-License-Identifier: MIT */
#include "train_tree/function_training.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* Chosen by cross-validation (docs/parser.md). */
#define PASSES 12
#define ETA 0.3
#define C2 0.1
#define BATCH 10

#define COUNTERS ((size_t)1 << 22) /* of features, by hash: once or more often */

/* ---- features -------------------------------------------------------------------------------- */

/* While features are numbered. */
typedef struct numbering {
    trl_function_task *t;
    const trl_tree_set *trees;
    trl_function_reader reader;
    uint64_t *set; /* [labels or features][width]: sets of classes */
    size_t width;
    uint8_t *seen; /* [COUNTERS] */
} numbering;

static void set_add(const numbering *x, size_t row, uint32_t class)
{
    x->set[row * x->width + class / 64] |= UINT64_C(1) << class % 64;
}

static bool set_has(const numbering *x, size_t row, uint32_t class)
{
    return x->set[row * x->width + class / 64] >> class % 64 & 1;
}

static bool has_any(const numbering *x, size_t k)
{
    const trl_tree *t = &x->trees->tree[k];
    for (size_t v = 1; v < t->n_nodes; v++)
        if (x->trees->function[k][v])
            return true;
    return false;
}

/* A phrase whose category has function labels. */
static bool is_open(const numbering *x, const trl_tree *t, size_t v)
{
    bool some = false;
    if (v == 0 || t->node[v].child == TRL_NO_NODE)
        return false;
    for (uint32_t c = 1; c < x->trees->functions.n && !some; c++)
        some = set_has(x, t->node[v].label, c);
    return some;
}

/* Which classes each category has. */
static trl_status list_categories(numbering *x, trl_error *err)
{
    const trl_tree_set *s = x->trees;
    x->width = (s->functions.n + 63) / 64;
    x->set = trl_zalloc(s->labels.n * x->width, sizeof *x->set);
    x->seen = trl_zalloc(COUNTERS, 1);
    if (!x->set || !x->seen)
        return trl_fail_mem(err);
    for (size_t k = 0; k < s->n; k++)
        for (size_t v = 1; has_any(x, k) && v < s->tree[k].n_nodes; v++)
            if (s->tree[k].node[v].child != TRL_NO_NODE)
                set_add(x, s->tree[k].node[v].label, s->function[k][v]);
    return TRL_OK;
}

/* Notes the features of a node: how often they occur. */
static trl_status count_node(numbering *x, size_t k, uint32_t v, trl_error *err)
{
    (void)k;
    const trl_status st = trl_function_read(&x->reader, v, err);
    for (size_t i = 0; st == TRL_OK && i < x->reader.n; i++) {
        const trl_str s = trl_function_feature(&x->reader, i);
        uint8_t *n = &x->seen[trl_str_hash(s.p, s.n) % COUNTERS];
        *n = *n < 2 ? *n + 1 : 2;
    }
    return st;
}

/* Keeps a node with the features that occur twice, and its category. */
static trl_status keep_node(numbering *x, size_t k, uint32_t v, trl_error *err)
{
    trl_function_task *t = x->t;
    trl_status st = trl_function_read(&x->reader, v, err);
    trl_function_node *node = trl_reserve(t->node, &t->cap_nodes, t->n_nodes + 1, sizeof *node);
    t->node = node ? node : t->node;
    uint32_t *id =
        trl_reserve(t->feature, &t->cap_features, t->n_features + x->reader.n, sizeof *id);
    t->feature = id ? id : t->feature;
    if (st != TRL_OK || !node || !id)
        return st == TRL_OK ? trl_fail_mem(err) : st;
    node += t->n_nodes++;
    *node = (trl_function_node){.first = t->n_features, .class = x->trees->function[k][v]};
    for (size_t i = 0; i < x->reader.n; i++) {
        const trl_str s = trl_function_feature(&x->reader, i);
        if (i && x->seen[trl_str_hash(s.p, s.n) % COUNTERS] < 2)
            continue;
        const uint32_t new = trl_strtab_add(&t->f->own_feature, s.p, s.n);
        if (new == TRL_NO_ID)
            return trl_fail_mem(err);
        id[t->n_features++] = new;
        node->n++;
    }
    return TRL_OK;
}

typedef trl_status (*node_fn)(numbering *x, size_t k, uint32_t v, trl_error *err);

/* All open nodes of the trees with function labels, in order. */
static trl_status each_node(numbering *x, node_fn fn, bool examples, trl_error *err)
{
    trl_function_task *t = x->t;
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < x->trees->n; k++) {
        const trl_tree *tree = &x->trees->tree[k];
        if (!has_any(x, k))
            continue;
        st = trl_cancel_check(x->trees->cancel, err);
        if (st == TRL_OK)
            st = trl_function_reader_begin(&x->reader, tree, err);
        for (uint32_t v = 1; st == TRL_OK && v < tree->n_nodes; v++)
            if (is_open(x, tree, v))
                st = fn(x, k, v, err);
        if (st != TRL_OK || !examples)
            continue;
        size_t *end = trl_reserve(t->end, &t->cap_end, t->sparse.n_examples + 1, sizeof *end);
        if (!end)
            return trl_fail_mem(err);
        t->end = end;
        end[t->sparse.n_examples++] = t->n_nodes;
    }
    return st;
}

/* A weight for every class that a feature was seen with. */
static trl_status list_weights(numbering *x, trl_error *err)
{
    trl_function_task *t = x->t;
    trl_function_labels *f = t->f;
    const size_t n = f->own_feature.n;
    trl_free(x->set);
    x->set = trl_zalloc(n * x->width, sizeof *x->set);
    f->own_first = trl_zalloc(n + 1, sizeof *f->own_first);
    if (!x->set || !f->own_first)
        return trl_fail_mem(err);
    for (size_t k = 0; k < t->n_nodes; k++)
        for (size_t i = 0; i < t->node[k].n; i++)
            set_add(x, t->feature[t->node[k].first + i], t->node[k].class);
    uint32_t total = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t w = 0; w < x->width; w++)
            total += (uint32_t)__builtin_popcountll(x->set[k * x->width + w]);
    f->own_of = trl_alloc(total, sizeof *f->own_of);
    f->own_weight = trl_zalloc(total, sizeof *f->own_weight);
    if (!f->own_of || !f->own_weight)
        return trl_fail_mem(err);
    total = 0;
    for (size_t k = 0; k < n; k++) {
        for (uint32_t c = 0; c < x->trees->functions.n; c++)
            if (set_has(x, k, c))
                f->own_of[total++] = c;
        f->own_first[k + 1] = total;
    }
    t->sparse.n_weights = total;
    return TRL_OK;
}

static trl_status copy_classes(trl_function_labels *f, const trl_strtab *from, trl_error *err)
{
    for (uint32_t c = 0; c < from->n; c++) {
        const trl_str s = trl_strtab_get(from, c);
        if (trl_strtab_add(&f->own_class, s.p, s.n) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

static trl_status number_features(trl_function_task *t, const trl_tree_set *trees, trl_error *err)
{
    trl_function_labels *f = t->f;
    numbering x = {.t = t, .trees = trees, .reader = {.heads = f->heads, .observer = f->observer}};
    trl_status st = list_categories(&x, err);
    if (st == TRL_OK)
        st = each_node(&x, count_node, false, err);
    if (st == TRL_OK)
        st = each_node(&x, keep_node, true, err);
    if (st == TRL_OK)
        st = list_weights(&x, err);
    if (st == TRL_OK)
        st = copy_classes(f, &trees->functions, err);
    trl_function_reader_fini(&x.reader);
    trl_free(x.set);
    trl_free(x.seen);
    if (st != TRL_OK)
        return st;
    f->class = trl_strtab_view(&f->own_class);
    f->feature = trl_strtab_view(&f->own_feature);
    f->first = f->own_first;
    f->of = f->own_of;
    f->weight = f->own_weight;
    return TRL_OK;
}

/* ---- the task -------------------------------------------------------------------------------- */

/* Scores become probabilities, of classes that the category does not have 0; -log p(gold). */
static double normalise(const trl_function_scores *s, size_t n_classes, uint32_t gold, double *p)
{
    double most = -HUGE_VAL, sum = 0.0;
    for (size_t k = 0; k < s->n; k++)
        most = fmax(most, s->score[s->class[k]]);
    memset(p, 0, n_classes * sizeof *p);
    for (size_t k = 0; k < s->n; k++)
        sum += p[s->class[k]] = exp(s->score[s->class[k]] - most);
    for (size_t k = 0; k < s->n; k++)
        p[s->class[k]] /= sum;
    return most + log(sum) - s->score[gold];
}

static bool add_gradient(const trl_function_task *t, const trl_function_node *v, const double *p,
                         trl_sparse *out)
{
    const trl_function_labels *f = t->f;
    for (size_t i = 0; i < v->n; i++) {
        const uint32_t id = t->feature[v->first + i], from = f->first[id], to = f->first[id + 1];
        if (!trl_sparse_room(out, to - from))
            return false;
        for (uint32_t x = from; x < to; x++) {
            const double d = p[f->of[x]] - (f->of[x] == v->class);
            if (d == 0.0)
                continue;
            out->id[out->n] = x;
            out->value[out->n++] = d;
        }
    }
    return true;
}

static trl_status evaluate(void *self, size_t example, size_t worker, double *loss, trl_sparse *out,
                           trl_error *err)
{
    const trl_function_task *t = self;
    const size_t n = t->f->class.n;
    double *p = t->score + (2 * worker + 1) * n;
    trl_function_scores s = {.score = t->score + 2 * worker * n};
    *loss = 0.0;
    for (size_t k = example ? t->end[example - 1] : 0; k < t->end[example]; k++) {
        const trl_function_node *v = &t->node[k];
        trl_function_score(t->f, t->feature + v->first, v->n, &s);
        *loss += normalise(&s, n, v->class, p);
        if (out && !add_gradient(t, v, p, out))
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

static trl_status prepare(void *self, const double *w, trl_error *err)
{
    (void)err;
    const trl_function_task *t = self;
    t->f->exact = w;
    return TRL_OK;
}

trl_status trl_function_task_init(trl_function_task *t, const trl_tree_set *trees,
                                  trl_function_labels *f, size_t workers, trl_error *err)
{
    *t = (trl_function_task){.f = f};
    t->sparse = (trl_sparse_task){.self = t, .prepare = prepare, .evaluate = evaluate};
    if (trees->functions.n < 2)
        return trl_fail(err, TRL_EINVAL, "the trees have no function labels to learn");
    trl_status st = number_features(t, trees, err);
    t->score = trl_alloc(2 * workers * trees->functions.n, sizeof *t->score);
    if (st == TRL_OK && !t->score)
        st = trl_fail_mem(err);
    if (st != TRL_OK)
        trl_function_task_fini(t);
    return st;
}

void trl_function_task_fini(trl_function_task *t)
{
    trl_free(t->feature);
    trl_free(t->node);
    trl_free(t->end);
    trl_free(t->score);
    *t = (trl_function_task){0};
}

trl_status trl_function_train(trl_function_labels *f, const trl_tree_set *trees, trl_pool *pool,
                              uint64_t seed, trl_error *err)
{
    const trl_sparse_options o = {.adaptive = true,
                                  .averaged = true,
                                  .c2 = C2,
                                  .eta = ETA,
                                  .batch = BATCH,
                                  .max_iter = PASSES,
                                  .seed = seed};
    trl_ending ending;
    trl_function_task t;
    trl_status st = trl_function_task_init(&t, trees, f, trl_pool_threads(pool), err);
    if (st != TRL_OK)
        return st;
    double *w = trl_zalloc(t.sparse.n_weights + 64, sizeof *w);
    st = w ? trl_sparse_train(&t.sparse, &o,
                              &(trl_descent){.pool = pool, .x = w, .ending = &ending}, err)
           : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < t.sparse.n_weights; k++)
        f->own_weight[k] = (float)w[k];
    f->exact = NULL;
    trl_free(w);
    trl_function_task_fini(&t);
    return st;
}
