/* search_examples.c -- gold derivations to examples. */
/* SPDX-License-Identifier: MIT */
#include "train_search/search_examples.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/pool.h"

#define WHOLE 0x80000000u
#define PARTS 8                  /* of the trees, for each thread */
#define LEAST ((size_t)32 << 20) /* bytes of memory for each part */

/* Neighbouring trees, of which one thread makes examples.  Features have numbers of their own, in
 * order of appearance; those of all parts are put together afterwards. */
typedef struct maker {
    const trl_search_source *s;
    const trl_key_index *like; /* keys to the features of s->like; NULL: all count */
    size_t from, to;           /* trees */
    trl_boost_raw raw;
    trl_search_row *row; /* [raw.n] */
    size_t row_cap;
    uint64_t n_states, n_examples;
    trl_key_index index; /* keys to features, in order of appearance */
    uint64_t *key;       /* [index.n] the reverse */
    size_t key_cap;
    uint32_t *seen; /* [features] the row it was last seen in, + 1 */
    size_t seen_cap;
    trl_forest forest;
    trl_feature_keys keys;
    uint32_t *word, *order, *item, *root;
    uint32_t (*path)[TRL_PATHS];
    size_t word_cap, order_cap, item_cap, root_cap, path_cap;
} maker;

static void maker_fini(maker *m)
{
    trl_boost_raw_fini(&m->raw);
    trl_free(m->row);
    trl_key_index_fini(&m->index);
    trl_free(m->key);
    trl_free(m->seen);
    trl_forest_fini(&m->forest);
    trl_free(m->keys.key);
    trl_free(m->word);
    trl_free(m->path);
    trl_free(m->order);
    trl_free(m->item);
    trl_free(m->root);
    *m = (maker){0};
}

/* ---- one row --------------------------------------------------------------------------------- */

/* The feature of a key; TRL_NO_ID: there is none (and `like` allows no new one). */
static trl_status feature_of(maker *m, uint64_t key, uint32_t *out, trl_error *err)
{
    const size_t n = m->index.n;
    if (m->like) {
        *out = trl_key_index_find(m->like, key);
        return TRL_OK;
    }
    *out = trl_key_index_add(&m->index, key, (uint32_t)n);
    if (*out == TRL_NO_ID || n >= TRL_BOOST_MAX_FEATURES)
        return trl_fail_mem(err);
    if (*out < n)
        return TRL_OK;
    uint64_t *all = trl_reserve(m->key, &m->key_cap, n + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(err);
    m->key = all;
    all[n] = key;
    const size_t had = m->seen_cap;
    uint32_t *seen = trl_reserve(m->seen, &m->seen_cap, n + 1, sizeof *seen);
    if (!seen)
        return trl_fail_mem(err);
    m->seen = seen;
    for (size_t k = had; k < m->seen_cap; k++)
        seen[k] = 0;
    return TRL_OK;
}

static trl_status add_row(maker *m, trl_search_row row, trl_error *err)
{
    const size_t n = m->raw.n + 1;
    trl_search_row *rows = trl_reserve(m->row, &m->row_cap, n, sizeof *rows);
    if (!rows || n >= UINT32_MAX)
        return trl_fail_mem(err);
    m->row = rows;
    rows[n - 1] = row;
    for (size_t k = 0; k < m->keys.n; k++) {
        uint32_t f;
        const trl_status st = feature_of(m, m->keys.key[k], &f, err);
        if (st != TRL_OK)
            return st;
        if (f == TRL_NO_ID || m->seen[f] == n)
            continue;
        m->seen[f] = (uint32_t)n;
        if (!trl_boost_raw_id(&m->raw, f))
            return trl_boost_no_room(m->raw.store, err);
    }
    return trl_boost_raw_row(&m->raw) ? TRL_OK : trl_fail_mem(err);
}

/* ---- one tree -------------------------------------------------------------------------------- */

static trl_status add_state(maker *m, const trl_partial_parse *s, trl_inference gold,
                            trl_error *err)
{
    const trl_span_view v = {&m->s->model->groups, &m->s->model->names, &m->forest, m->word,
                             (const uint32_t(*)[TRL_PATHS])m->path};
    uint32_t spans = 0;
    for (size_t first = 0; first <= s->newest; first++)
        spans += (uint32_t)(s->n - first);
    for (uint32_t first = 0; first <= s->newest; first++)
        for (uint32_t last = first; last < s->n; last++) {
            const bool right = first == gold.first && last == gold.last;
            const bool whole = first == 0 && last + 1 == s->n;
            if (!trl_span_features(&v, s, first, last, &m->keys))
                return trl_fail_mem(err);
            const trl_status st = add_row(
                m, (trl_search_row){right ? gold.label : TRL_NO_ID, spans | (whole ? WHOLE : 0)},
                err);
            if (st != TRL_OK)
                return st;
        }
    m->n_states++;
    m->n_examples += (uint64_t)spans * (m->s->model->names.n_phrases - 1) + 1;
    return TRL_OK;
}

static bool make_room(maker *m, const trl_tree *t)
{
    uint32_t *word = trl_reserve(m->word, &m->word_cap, t->n_words, sizeof *word);
    m->word = word ? word : m->word;
    uint32_t *order = trl_reserve(m->order, &m->order_cap, t->n_nodes, sizeof *order);
    m->order = order ? order : m->order;
    uint32_t *item = trl_reserve(m->item, &m->item_cap, t->n_nodes, sizeof *item);
    m->item = item ? item : m->item;
    uint32_t *root = trl_reserve(m->root, &m->root_cap, t->n_words, sizeof *root);
    m->root = root ? root : m->root;
    uint32_t(*path)[TRL_PATHS] = trl_reserve(m->path, &m->path_cap, t->n_words, sizeof *path);
    m->path = path ? path : m->path;
    return word && order && item && root && path;
}

static trl_status add_tree(maker *m, size_t at, trl_error *err)
{
    const trl_tree *t = &m->s->trees->tree[at];
    const trl_search_names *names = &m->s->model->names;
    if (!make_room(m, t) || !trl_forest_start(&m->forest, t->n_words, m->s->tag[at]))
        return trl_fail_mem(err);
    for (size_t k = 0; k < t->n_words; k++) {
        m->word[k] = trl_strtab_find(&names->words, t->word[k].p, t->word[k].n);
        trl_search_paths(names, t->word[k], m->path[k]);
    }
    for (size_t v = 0; v < t->n_nodes; v++)
        if (t->node[v].child == TRL_NO_NODE)
            m->item[v] = t->node[v].from;
    trl_partial_parse s = trl_partial_start(&m->forest, 0, m->root);
    const size_t n = trl_derivation(t, m->order);
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        trl_inference gold = trl_inference_of(t, m->order[k], m->item, &s);
        gold.label = m->s->label[gold.label];
        if (gold.label == TRL_NO_ID)
            break; /* held out, with a label that was never seen */
        st = add_state(m, &s, gold, err);
        const uint32_t item =
            trl_forest_add(&m->forest, &s, gold, m->s->model->heads, &names->labels);
        if (st == TRL_OK && item == TRL_NO_ID)
            st = trl_fail_mem(err);
        if (st != TRL_OK)
            break;
        m->item[m->order[k]] = item;
        s = trl_partial_after(&s, gold.first, gold.last, item, m->root);
    }
    return st;
}

static trl_status run_part(void *ctx, size_t part, size_t worker, trl_error *err)
{
    (void)worker;
    maker *m = (maker *)ctx + part;
    trl_status st = TRL_OK;
    if (m->like && !(m->seen = trl_zalloc(m->s->like->n_features + 1, sizeof *m->seen)))
        st = trl_fail_mem(err);
    for (size_t k = m->from; st == TRL_OK && k < m->to; k++)
        if (m->s->use[k] == m->s->want)
            st = add_tree(m, k, err);
    return st;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* v[i] = y b for the classifier of a label. */
static void fill(const void *ctx, size_t label, double *v)
{
    const trl_search_examples *x = ctx;
    for (size_t i = 0; i < x->n_rows; i++) {
        const trl_search_row *r = &x->row[i];
        const uint64_t spans = r->spans & ~WHOLE;
        const uint64_t others = spans * (x->n_labels - 1); /* and TOP, without the right one */
        if (label == TRL_SEARCH_TOP && !(r->spans & WHOLE))
            v[i] = 0.0;
        else if (r->label == label)
            v[i] = x->uniform ? 1.0 : 0.5;
        else
            v[i] = x->uniform ? -1.0 : -0.5 / (double)(others ? others : 1);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

/* The parts of all trees, and what is common to them. */
typedef struct assembly {
    trl_search_examples *x;
    const trl_search_source *s;
    trl_pool *pool;
    maker *part; /* [n] */
    trl_boost_raw *raw;
    size_t n;
    trl_key_index index; /* keys to features, as in `like` or in order of appearance */
} assembly;

static void assembly_fini(assembly *a)
{
    for (size_t k = 0; a->part && k < a->n; k++)
        maker_fini(&a->part[k]);
    for (size_t k = 0; a->raw && k < a->n; k++)
        trl_boost_raw_fini(&a->raw[k]);
    trl_free(a->part);
    trl_free(a->raw);
    trl_key_index_fini(&a->index);
    trl_pool_free(a->pool);
}

/* Features as another set of examples numbers them. */
static trl_status index_like(assembly *a, trl_error *err)
{
    const trl_boost_data *like = a->s->like;
    for (uint32_t f = 0; f < like->n_features; f++) {
        uint64_t key;
        if (trl_feature_key_of(&a->s->model->groups, &a->s->model->names,
                               trl_strtab_get(&like->names, f), &key) &&
            trl_key_index_add(&a->index, key, f) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

static trl_status start(assembly *a, trl_error *err)
{
    const trl_search_source *s = a->s;
    const size_t threads = s->threads ? s->threads : 1, room = s->memory / LEAST;
    a->n = threads > 1 ? PARTS * threads : 1;
    a->n = a->n > s->trees->n ? s->trees->n : a->n;
    a->n = a->n > room ? room : a->n;
    a->n = a->n ? a->n : 1;
    a->pool = trl_pool_new(threads);
    a->part = trl_zalloc(a->n, sizeof *a->part);
    a->raw = trl_zalloc(a->n, sizeof *a->raw);
    trl_status st = a->pool && a->part && a->raw ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < a->n; k++) {
        maker *m = &a->part[k];
        *m = (maker){.s = s,
                     .like = s->like ? &a->index : NULL,
                     .from = s->trees->n * k / a->n,
                     .to = s->trees->n * (k + 1) / a->n};
        st = trl_store_new(s->memory / a->n, &m->raw.store, err);
    }
    return st == TRL_OK && s->like ? index_like(a, err) : st;
}

/* Features in the order in which they appear in all trees, and their names. */
static trl_status name_features(assembly *a, maker *m, trl_boost_data *d, trl_error *err)
{
    trl_buf name = {0};
    trl_status st = TRL_OK;
    m->raw.n_ids = m->index.n;
    m->raw.feature = trl_alloc(m->index.n + 1, sizeof *m->raw.feature);
    if (!m->raw.feature)
        return trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < m->raw.n_ids; k++) {
        const size_t n = a->index.n;
        const uint32_t f = trl_key_index_add(&a->index, m->key[k], (uint32_t)n);
        m->raw.feature[k] = f;
        name.len = 0;
        if (f == TRL_NO_ID || n >= TRL_BOOST_MAX_FEATURES ||
            (f == n &&
             (!trl_feature_key_name(&a->s->model->groups, &a->s->model->names, m->key[k], &name) ||
              trl_strtab_add(&d->names, name.data, name.len) != n)))
            st = trl_fail_mem(err);
    }
    trl_buf_fini(&name);
    return st;
}

/* Rows of all parts, whose room is given back. */
static trl_status collect(assembly *a, trl_boost_data *d, trl_error *err)
{
    trl_search_examples *x = a->x;
    size_t at = 0;
    if (x->n_rows >= UINT32_MAX || !(x->row = trl_alloc(x->n_rows, sizeof *x->row)))
        return trl_fail_mem(err);
    for (size_t k = 0; k < a->n; k++) {
        maker *m = &a->part[k];
        if (m->raw.n)
            memcpy(x->row + at, m->row, m->raw.n * sizeof *m->row);
        at += m->raw.n;
        const trl_status st = a->s->like ? TRL_OK : name_features(a, m, d, err);
        if (st != TRL_OK)
            return st;
        a->raw[k] = m->raw;
        m->raw = (trl_boost_raw){0};
        maker_fini(m);
    }
    return TRL_OK;
}

static trl_status build(assembly *a, trl_boost_data *d, trl_error *err)
{
    const trl_search_source *s = a->s;
    trl_search_examples *x = a->x;
    d->like = s->like;
    d->named = !s->like;
    trl_status st = collect(a, d, err);
    const trl_boost_rows rows = {.raw = a->raw,
                                 .n = a->n,
                                 .n_features = s->like ? s->like->n_features : a->index.n,
                                 .renumber = !s->like,
                                 .memory = s->memory,
                                 .pool = a->pool};
    if (st == TRL_OK)
        st = trl_boost_build(d, &rows, err);
    for (uint32_t k = 0; st == TRL_OK && k < x->n_labels; k++) {
        const trl_str name = trl_strtab_get(&s->model->names.labels, k);
        st = trl_boost_data_answer_by(d, name, fill, x, err);
    }
    return st;
}

trl_status trl_search_examples_make(trl_search_examples *x, const trl_search_source *s,
                                    trl_error *err)
{
    assembly a = {.x = x, .s = s};
    x->uniform = s->uniform;
    x->n_labels = s->model->names.n_phrases;
    trl_status st = start(&a, err);
    if (st == TRL_OK)
        st = trl_pool_run(a.pool, a.n, run_part, a.part, err);
    for (size_t k = 0; st == TRL_OK && k < a.n; k++) {
        x->n_rows += a.part[k].raw.n;
        x->n_states += a.part[k].n_states;
        x->n_examples += a.part[k].n_examples;
    }
    if (st == TRL_OK && x->n_rows) {
        x->data = trl_zalloc(1, sizeof *x->data);
        st = x->data ? build(&a, x->data, err) : trl_fail_mem(err);
    }
    assembly_fini(&a);
    return st;
}

void trl_search_examples_fini(trl_search_examples *x)
{
    trl_boost_data_free(x->data);
    trl_free(x->row);
    *x = (trl_search_examples){0};
}
