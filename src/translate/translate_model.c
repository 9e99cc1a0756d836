/* translate_model.c -- models of translation in files. */
/* SPDX-License-Identifier: MIT */
#include "translate/translate_model.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/strtab_io.h"

double trl_inference_cost(double h)
{
    return h > 0.0 ? log1p(exp(-h)) : log1p(exp(h)) - h;
}

double trl_null_cost_of(const trl_null_cost *x, double c)
{
    c += x->add;
    return x->most > 0.0 && c > x->most ? x->most : c;
}

void trl_translate_model_fini(trl_translate_model *m)
{
    trl_strtab_fini(&m->names.words);
    trl_strtab_fini(&m->names.labels);
    trl_strtab_fini(&m->targets);
    trl_head_rules_free(m->heads);
    trl_free(m->candidate);
    trl_free(m->candidate_end);
    trl_free(m->total);
    trl_free(m->order);
    trl_boost_model_free(m->boost);
    trl_key_index_fini(&m->index);
    trl_generative_fini(&m->generative);
    trl_container_free(m->file);
    *m = (trl_translate_model){0};
}

trl_status trl_translate_model_base(trl_translate_model *m, trl_error *err)
{
    for (uint32_t w = 0; w < m->names.words.n; w++)
        for (uint64_t k = trl_candidates_begin(m, w); k < m->candidate_end[w]; k++) {
            const trl_candidate *x = &m->candidate[k];
            if (!trl_counts_add(&m->generative.base, (uint64_t)w << 32 | x->target, x->count) ||
                !trl_counts_add(&m->generative.base_total, w, x->count))
                return trl_fail_mem(err);
        }
    return TRL_OK;
}

trl_status trl_translate_model_index(trl_translate_model *m, trl_error *err)
{
    for (uint32_t f = 0; f < m->boost->names.n; f++) {
        uint64_t key;
        if (trl_word_key_of(&m->names, trl_strview_get(&m->boost->names, f), &key) &&
            trl_key_index_add(&m->index, key, f) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The counts of derivations as two sections. */
static trl_status add_generative(const trl_translate_model *m, trl_container_builder *b,
                                 trl_error *err)
{
    const trl_generative *g = &m->generative;
    if (!m->is_generative)
        return TRL_OK;
    trl_bilexical *word = trl_alloc(g->triple.index.n + 1, sizeof *word);
    uint64_t *order = trl_alloc(2 * g->order.index.n + 1, sizeof *order);
    if (!word || !order) {
        trl_free(word);
        trl_free(order);
        return trl_fail_mem(err);
    }
    for (size_t k = 0; k < g->triple.index.n; k++) {
        const uint64_t context = g->context.key[g->triple.key[k] >> 32];
        word[k] = (trl_bilexical){(uint32_t)(context >> 32), (uint32_t)context,
                                  (uint32_t)g->triple.key[k], g->triple.count[k]};
    }
    for (size_t k = 0; k < g->order.index.n; k++) {
        order[2 * k] = g->order.key[k];
        order[2 * k + 1] = g->order.count[k];
    }
    trl_container_builder_give(b, "bilex", word, g->triple.index.n * sizeof *word);
    trl_container_builder_give(b, "gorder", order, 2 * g->order.index.n * sizeof *order);
    return TRL_OK;
}

trl_status trl_translate_model_save(const trl_translate_model *m, const char *path, trl_error *err)
{
    trl_container_builder b = {0};
    unsigned char *boost = NULL;
    size_t n_boost = 0;
    const size_t n_words = m->names.words.n, n_labels = m->names.labels.n;
    const trl_str heads = trl_head_rules_text(m->heads);
    const size_t n_candidates = n_words ? m->candidate_end[n_words - 1] : 0;
    trl_status st = m->boost->n ? trl_boost_model_bytes(m->boost, &boost, &n_boost, err) : TRL_OK;
    if (st == TRL_OK)
        st = trl_strtab_save(&m->names.words, "word", &b, err);
    if (st == TRL_OK)
        st = trl_strtab_save(&m->names.labels, "labl", &b, err);
    if (st == TRL_OK)
        st = trl_strtab_save(&m->targets, "targ", &b, err);
    if (st == TRL_OK)
        st = add_generative(m, &b, err);
    trl_container_builder_add(&b, "settings", m->settings, strlen(m->settings) + 1);
    trl_container_builder_add(&b, "heads", heads.p, heads.n);
    trl_container_builder_add(&b, "cand", m->candidate, n_candidates * sizeof *m->candidate);
    trl_container_builder_add(&b, "candend", m->candidate_end, n_words * sizeof *m->candidate_end);
    if (m->total)
        trl_container_builder_add(&b, "total", m->total, n_words * sizeof *m->total);
    trl_container_builder_add(&b, "null", &m->null, sizeof m->null);
    trl_container_builder_add(&b, "order", m->order, n_labels * sizeof *m->order);
    if (n_boost)
        trl_container_builder_add(&b, "boost", boost, n_boost);
    if (m->parser.n)
        trl_container_builder_add(&b, "parser", m->parser.p, m->parser.n);
    if (st == TRL_OK)
        st = trl_container_write(&b, TRL_TRANSLATE_KIND, path, err);
    trl_container_builder_fini(&b);
    trl_free(boost);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static trl_str bytes_of(const trl_container *c, const char *tag)
{
    const void *p = "";
    size_t n = 0;
    trl_container_find(c, tag, &p, &n);
    return (trl_str){p, n};
}

static trl_status load_table(const trl_container *c, const char *prefix, trl_strtab *t,
                             trl_error *err)
{
    trl_strview v;
    const trl_status st = trl_strview_load(c, prefix, &v, err);
    for (uint32_t k = 0; st == TRL_OK && k < v.n; k++) {
        const trl_str s = trl_strview_get(&v, k);
        const uint32_t id = trl_strtab_add(t, s.p, s.n);
        if (id == TRL_NO_ID)
            return trl_fail_mem(err);
        if (id != k)
            return trl_container_damaged(c, err, "a name is there twice");
    }
    return st;
}

/* A copy of an array with `n` items of `width` bytes. */
static trl_status load_array(const trl_container *c, const char *tag, size_t n, size_t width,
                             void **out, trl_error *err)
{
    const void *from;
    size_t count;
    const trl_status st = trl_container_array(c, tag, width, &from, &count, err);
    if (st != TRL_OK)
        return st;
    if (count != n)
        return trl_container_damaged(c, err, "a table has another size than its names");
    if (!(*out = trl_alloc(n, width)))
        return trl_fail_mem(err);
    if (n)
        memcpy(*out, from, n * width);
    return TRL_OK;
}

static bool is_classifier(const trl_translate_model *m, uint32_t k)
{
    return k == TRL_NO_ID || k < m->boost->n;
}

static trl_status check_tables(const trl_translate_model *m, trl_error *err)
{
    const size_t n_words = m->names.words.n;
    uint64_t last = 0;
    for (size_t w = 0; w < n_words; w++) {
        if (m->candidate_end[w] < last)
            return trl_container_damaged(m->file, err, "the ends of candidates go back");
        last = m->candidate_end[w];
    }
    for (size_t k = 0; k < last; k++) {
        const trl_candidate *x = &m->candidate[k];
        if ((x->target != TRL_NO_ID && x->target >= m->targets.n) ||
            !is_classifier(m, x->classifier))
            return trl_container_damaged(m->file, err, "a candidate is out of range");
    }
    for (size_t k = 0; k < m->names.labels.n; k++)
        if (!is_classifier(m, m->order[k].classifier))
            return trl_container_damaged(m->file, err, "an order has no classifier");
    return TRL_OK;
}

static trl_status load_tables(trl_translate_model *m, trl_error *err)
{
    const trl_container *c = m->file;
    const void *unused;
    size_t size;
    void *p = NULL;
    trl_status st = load_array(c, "candend", m->names.words.n, sizeof *m->candidate_end, &p, err);
    if (st != TRL_OK)
        return st;
    m->candidate_end = p;
    const size_t n = m->names.words.n ? m->candidate_end[m->names.words.n - 1] : 0;
    if ((st = load_array(c, "cand", n, sizeof *m->candidate, &p, err)) != TRL_OK)
        return st;
    m->candidate = p;
    if ((st = load_array(c, "order", m->names.labels.n, sizeof *m->order, &p, err)) != TRL_OK)
        return st;
    m->order = p;
    if (trl_container_find(c, "total", &unused, &size)) {
        if ((st = load_array(c, "total", m->names.words.n, sizeof *m->total, &p, err)) != TRL_OK)
            return st;
        m->total = p;
    }
    return check_tables(m, err);
}

static bool is_target(const trl_translate_model *m, uint32_t x)
{
    return x == TRL_NO_ID || x < m->targets.n;
}

static trl_status load_generative(trl_translate_model *m, trl_error *err)
{
    const void *words, *orders;
    size_t n, n_orders;
    if (!trl_container_find(m->file, "bilex", &words, &n))
        return TRL_OK;
    m->is_generative = true;
    trl_status st = trl_container_array(m->file, "bilex", sizeof(trl_bilexical), &words, &n, err);
    if (st == TRL_OK)
        st = trl_container_array(m->file, "gorder", 2 * sizeof(uint64_t), &orders, &n_orders, err);
    if (st == TRL_OK)
        st = trl_translate_model_base(m, err);
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        const trl_bilexical *x = (const trl_bilexical *)words + k;
        const uint32_t pair[2] = {x->head, x->target};
        if (x->word >= m->names.words.n || !is_target(m, x->target) ||
            (x->head != TRL_ROOT_HEAD && !is_target(m, x->head)))
            return trl_container_damaged(m->file, err, "a pair of words is out of range");
        if (!trl_generative_add_word(&m->generative, x->word, pair, x->count))
            st = trl_fail_mem(err);
    }
    for (size_t k = 0; st == TRL_OK && k < n_orders; k++) {
        const uint64_t *x = (const uint64_t *)orders + 2 * k;
        if (x[1] > UINT32_MAX)
            return trl_container_damaged(m->file, err, "a count is out of range");
        if (!trl_counts_add(&m->generative.order, x[0], (uint32_t)x[1]))
            st = trl_fail_mem(err);
    }
    return st;
}

static trl_status load_null(trl_translate_model *m, trl_error *err)
{
    const void *p;
    size_t n;
    if (!trl_container_find(m->file, "null", &p, &n))
        return TRL_OK;
    if (n != sizeof m->null)
        return trl_container_damaged(m->file, err, "the cost of NULL has another size");
    memcpy(&m->null, p, n);
    if (!(m->null.add >= 0.0 && isfinite(m->null.add) && m->null.most >= 0.0))
        return trl_container_damaged(m->file, err, "the cost of NULL is negative");
    return TRL_OK;
}

/* There may be no classifier at all. */
static trl_status load_boost(trl_translate_model *m, trl_str bytes, trl_error *err)
{
    if (bytes.n)
        return trl_boost_model_from_memory(bytes.p, bytes.n, &m->boost, err);
    m->boost = trl_zalloc(1, sizeof *m->boost);
    return m->boost ? TRL_OK : trl_fail_mem(err);
}

trl_status trl_translate_model_load(trl_translate_model *m, trl_container *c, trl_error *err)
{
    m->file = c;
    const trl_str heads = bytes_of(c, "heads"), boost = bytes_of(c, "boost");
    m->parser = bytes_of(c, "parser");
    trl_status st = trl_container_string(c, "settings", &m->settings, err);
    if (st == TRL_OK)
        st = trl_head_rules_parse(trl_container_path(c), heads.p, heads.n, &m->heads, err);
    if (st == TRL_EPARSE)
        st = trl_container_damaged(c, err, "its rules cannot be read");
    if (st == TRL_OK)
        st = load_table(c, "word", &m->names.words, err);
    if (st == TRL_OK)
        st = load_table(c, "labl", &m->names.labels, err);
    if (st == TRL_OK)
        st = load_table(c, "targ", &m->targets, err);
    if (st == TRL_OK)
        st = load_boost(m, boost, err);
    if (st == TRL_OK)
        st = load_tables(m, err);
    if (st == TRL_OK)
        st = load_generative(m, err);
    if (st == TRL_OK)
        st = load_null(m, err);
    return st == TRL_OK ? trl_translate_model_index(m, err) : st;
}
