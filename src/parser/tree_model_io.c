/* tree_model_io.c -- tree models as files of kind "tree".
 *
 *     meta      one `meta` below
 *     template  the feature families as text
 *     weights   f32[n_direct + slots]
 *     root      text: '(' and the label of the root, or '-' for none; missing: '(TOP'
 *     keys      u64[slots]: the key of each slot's feature, 0 for none
 *     prints    u32[slots], with their seed in printby: in place of keys in a shrunk model
 *     featwgt2  i16[slots], or featwgt1, u8[slots]: weights of features in a shrunk model, which
 *               stand for those in featvals (model/weight_bits.h); weights has those of rules alone
 *     spancal   how posteriors of constituents become probabilities (span_calibration.h)
 *     treecal   the same of trees
 *     sieve...  weights of the pruning pass, when it has any (span_pruner.h)
 *     fn...     function labels, when it has any (function_labels.h)
 *     tagger    the file of a chain model, when there is a tagger (word_tagger.h)
 *     latent1   the substates of a grammar beside the parser's, when there is one; latentr1 and
 *               latentp1, its numbers; latent2 ... of a second, up to 8 (chart/latent.h)
 *     r...      the second stage, when there is one (reranker.h)
 *     more1     the file of a parser of another grammar, when there is one (chart_model.h), which
 *               has the clusters of this one; more2: of a third
 *     f?...     the grammar, its lexicon (l?), the coarse ones (c?, k?)
 *
 * Features with weight 0 are left out.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/clusters_io.h"
#include "parser/tree_model.h"

#define LEAST 1e-4 /* a smaller weight does not change a score visibly */

typedef struct meta {
    uint32_t version, grade, frequent, scoring;
    double threshold;
} meta;

/* ---- writing --------------------------------------------------------------------------------- */

static bool active(const trl_tree_model *m, const double *w, uint32_t id)
{
    return fabs(w[m->features.n_direct + id]) >= LEAST;
}

size_t trl_tree_model_active(const trl_tree_model *m, const double *w)
{
    const trl_tree_features *f = &m->features;
    size_t n = 0;
    if (m->grade == TRL_GRADE_GENERATIVE)
        return m->fine.n_binary + m->fine.n_unary;
    if (!w)
        return f->index.n + trl_tree_model_rules(m);
    for (size_t k = 0; k < f->n_direct; k++)
        n += (float)w[k] != 0.0f;
    for (size_t at = 0; at < f->index.n_slots; at++)
        n += f->index.key[at] && active(m, w, f->index.number[at]);
    return n;
}

size_t trl_tree_model_rules(const trl_tree_model *m)
{
    size_t n = 0;
    for (size_t k = 0; k < m->features.n_direct; k++)
        n += m->features.w32[k] != 0.0f;
    return n;
}

static trl_status add_weights(const trl_tree_model *m, const double *w, trl_container_builder *b,
                              trl_error *err)
{
    const trl_tree_index *x = &m->features.index;
    const size_t direct = m->features.n_direct;
    size_t n = 0;
    for (size_t at = 0; at < x->n_slots; at++)
        n += x->key[at] && active(m, w, x->number[at]);
    const size_t slots = trl_tree_slots_for(n);
    uint64_t *key = trl_zalloc(slots, sizeof *key);
    float *weight = trl_zalloc(direct + slots, sizeof *weight);
    if (!key || !weight) {
        trl_free(key);
        trl_free(weight);
        return trl_fail_mem(err);
    }
    for (size_t k = 0; k < direct; k++)
        weight[k] = (float)w[k];
    for (size_t at = 0; at < x->n_slots; at++) {
        if (!x->key[at] || !active(m, w, x->number[at]))
            continue;
        size_t to = trl_tree_hash(x->key[at]) & (slots - 1);
        while (key[to])
            to = (to + 1) & (slots - 1);
        key[to] = x->key[at];
        weight[direct + to] = (float)w[direct + x->number[at]];
    }
    trl_container_builder_give(b, "keys", key, slots * sizeof *key);
    trl_container_builder_give(b, "weights", weight, (direct + slots) * sizeof *weight);
    return TRL_OK;
}

static trl_status add_root(const trl_tree_root *root, trl_container_builder *b, trl_error *err)
{
    const size_t n = root->bare ? 0 : strlen(root->label);
    char *text = trl_zalloc(1 + n, 1);
    if (!text)
        return trl_fail_mem(err);
    text[0] = root->bare ? '-' : '(';
    memcpy(text + 1, root->label, n);
    trl_container_builder_give(b, "root", text, 1 + n);
    return TRL_OK;
}

trl_status trl_tree_model_save(const trl_tree_model *m, const double *w, trl_str template_text,
                               trl_container_builder *b, trl_error *err)
{
    meta *head = trl_zalloc(1, sizeof *head);
    if (!head)
        return trl_fail_mem(err);
    *head = (meta){1, (uint32_t)m->grade, m->observer.frequent, (uint32_t)m->scoring, m->threshold};
    trl_container_builder_give(b, "meta", head, sizeof *head);
    trl_container_builder_add(b, "template", template_text.p, template_text.n);
    trl_status st = trl_span_calibration_save(&m->spans, TRL_SPAN_CALIBRATION_TAG, b, err);
    if (st == TRL_OK)
        st = trl_span_calibration_save(&m->trees, TRL_TREE_CALIBRATION_TAG, b, err);
    if (st == TRL_OK)
        st = add_root(&m->root, b, err);
    if (st == TRL_OK && m->grade != TRL_GRADE_GENERATIVE)
        st = add_weights(m, w, b, err);
    if (st == TRL_OK && m->clusters.owned)
        st = trl_clusters_save(m->clusters.owned, b, err);
    if (st == TRL_OK)
        st = trl_span_pruner_save(&m->span_pruner, b, err);
    for (size_t k = 0; st == TRL_OK && k < m->n_latent; k++)
        st = trl_latent_save(&m->latent[k], k, b, err);
    if (st == TRL_OK)
        st = trl_reranker_save(&m->reranker, b, err);
    if (m->tagger.model) {
        size_t n;
        const void *bytes = trl_model_bytes(m->tagger.model, &n);
        trl_container_builder_add(b, "tagger", bytes, n);
    }
    if (st == TRL_OK)
        st = trl_function_labels_save(&m->functions, b, err);
    if (st == TRL_OK)
        st = trl_grammar_save(&m->fine, "f0", b, err);
    if (st == TRL_OK)
        st = trl_lexicon_save(&m->lexicon, "l0", b, err);
    if (st == TRL_OK)
        st = trl_grammar_save(&m->coarse, "c0", b, err);
    if (st == TRL_OK)
        st = trl_lexicon_save(&m->coarse_lexicon, "k0", b, err);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Keys of features, or fingerprints in their place. */
static trl_status load_keys(trl_tree_index *x, const trl_container *c, trl_error *err)
{
    const void *keys, *seed;
    size_t n;
    const bool prints = trl_container_find(c, "prints", &keys, &n);
    trl_status st =
        trl_container_array(c, prints ? "prints" : "keys",
                            prints ? sizeof *x->print : sizeof *x->key, &keys, &x->n_slots, err);
    if (st == TRL_OK && prints)
        st = trl_container_array(c, "printby", sizeof x->seed, &seed, &n, err);
    if (st != TRL_OK)
        return st;
    if (x->n_slots == 0 || (x->n_slots & (x->n_slots - 1)) || x->n_slots > UINT32_MAX ||
        (prints && n != 1))
        return trl_container_damaged(c, err, "weights and features do not match");
    x->key = prints ? NULL : keys;
    x->print = prints ? keys : NULL;
    if (prints)
        memcpy(&x->seed, seed, sizeof x->seed);
    for (size_t k = 0; k < x->n_slots; k++)
        x->n += prints ? x->print[k] != 0 : x->key[k] != 0;
    if (x->n == x->n_slots)
        return trl_container_damaged(c, err, "the table of features is full");
    return TRL_OK;
}

/* Weights of features in 16 or 8 bits; false: they are floats. */
static bool load_bits(trl_tree_features *f, const trl_container *c, bool *good)
{
    const void *bits, *values;
    size_t n = 0, n_values = 0;
    const bool wide = trl_container_find(c, TRL_TREE_BITS "wgt2", &bits, &n);
    if (!wide && !trl_container_find(c, TRL_TREE_BITS "wgt1", &bits, &n))
        return false;
    *good = trl_container_find(c, TRL_TREE_BITS "vals", &values, &n_values) &&
            n == f->index.n_slots * (wide ? sizeof *f->multiple : sizeof *f->code) &&
            n_values == (wide ? 1 : 256) * sizeof *f->value;
    if (!*good)
        return true;
    f->value = values;
    f->multiple = wide ? bits : NULL;
    f->code = wide ? NULL : bits;
    f->unit = wide ? f->value[0] : 0.0f;
    for (size_t k = 0; k < n_values / sizeof *f->value; k++)
        *good = *good && isfinite(f->value[k]);
    *good = *good && isfinite(f->unit * (float)INT16_MIN);
    return true;
}

static trl_status load_weights(trl_tree_model *m, const trl_container *c, trl_error *err)
{
    trl_tree_features *f = &m->features;
    const void *weights;
    size_t n;
    bool good = true;
    f->index = (trl_tree_index){0};
    trl_status st = load_keys(&f->index, c, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "weights", sizeof(float), &weights, &n, err);
    if (st != TRL_OK)
        return st;
    const bool bits = load_bits(f, c, &good);
    if (!good || n != f->n_direct + (bits ? 0 : f->index.n_slots))
        return trl_container_damaged(c, err, "weights and features do not match");
    for (size_t k = 0; k < n; k++)
        if (!isfinite(((const float *)weights)[k]))
            return trl_container_damaged(c, err, "a weight is not a number");
    f->w32 = weights;
    m->binary_exp = trl_alloc64(m->fine.n_binary, sizeof *m->binary_exp);
    m->unary = trl_alloc64(m->fine.n_unary, sizeof *m->unary);
    if (!m->binary_exp || !m->unary)
        return trl_fail_mem(err);
    trl_tree_model_shared(m, m->binary_exp, m->unary);
    return TRL_OK;
}

static trl_status load_tagger(trl_tree_model *m, const trl_container *c, trl_error *err)
{
    const void *bytes;
    size_t n;
    if (!trl_container_find(c, "tagger", &bytes, &n))
        return TRL_OK;
    return trl_word_tagger_open(&m->tagger, (trl_str){bytes, n},
                                &(trl_given_grammars){&m->fine, &m->coarse}, &m->clusters.view,
                                err);
}

static trl_status load_parts(trl_tree_model *m, const trl_container *c,
                             const trl_tree_clusters *lender, trl_error *err)
{
    trl_status st = lender && !trl_clusters_stored(c)
                        ? trl_tree_clusters_share(&m->clusters, lender, err)
                        : trl_tree_clusters_load(&m->clusters, c, err);
    if (st == TRL_OK)
        st = trl_grammar_load(&m->fine, "f0", c, err);
    if (st == TRL_OK)
        st = trl_lexicon_load(&m->lexicon, "l0", &m->fine, c, err);
    if (st == TRL_OK)
        st = trl_grammar_load(&m->coarse, "c0", c, err);
    if (st == TRL_OK)
        st = trl_lexicon_load(&m->coarse_lexicon, "k0", &m->coarse, c, err);
    if (st == TRL_OK)
        st = trl_tree_model_connect(m, err);
    if (st == TRL_OK)
        st = trl_function_labels_load(&m->functions, c, err);
    if (st == TRL_OK)
        st = trl_span_pruner_load(&m->span_pruner, c, err);
    while (st == TRL_OK && m->n_latent < TRL_LATENT_GRAMMARS && trl_latent_stored(m->n_latent, c)) {
        const size_t k = m->n_latent++;
        st = trl_latent_load(&m->latent[k], k, c, err);
    }
    if (st == TRL_OK)
        st = load_tagger(m, c, err);
    return st == TRL_OK ? trl_reranker_load(&m->reranker, c, err) : st;
}

static trl_status load_root(trl_tree_root *root, const trl_container *c, trl_error *err)
{
    const void *bytes;
    size_t n;
    *root = (trl_tree_root){"TOP", false};
    if (!trl_container_find(c, "root", &bytes, &n))
        return TRL_OK; /* an older file */
    const char *text = bytes;
    root->bare = n == 1 && text[0] == '-';
    bool sane = root->bare || (n > 0 && text[0] == '(' && n <= sizeof root->label);
    for (size_t k = 1; sane && k < n; k++)
        sane = text[k] > ' ' && text[k] != '(' && text[k] != ')';
    if (!sane)
        return trl_container_damaged(c, err, "its root is not a label");
    if (!root->bare) {
        memset(root->label, 0, sizeof root->label);
        memcpy(root->label, text + 1, n - 1);
    }
    return TRL_OK;
}

trl_status trl_tree_model_load(trl_tree_model *m, const trl_container *c,
                               const trl_tree_clusters *lender, trl_error *err)
{
    *m = (trl_tree_model){0};
    const void *bytes, *text;
    size_t n, size;
    meta head;
    if (!trl_container_find(c, "meta", &bytes, &n) || n != sizeof head ||
        !trl_container_find(c, "template", &text, &size))
        return trl_container_damaged(c, err, "its header is missing");
    memcpy(&head, bytes, sizeof head);
    if (head.version != 1 || head.grade > TRL_GRADE_FEATURES || head.scoring > TRL_SCORING_PIECES ||
        !(head.threshold >= 0.0))
        return trl_container_damaged(c, err, "its header makes no sense");
    if (head.scoring == TRL_SCORING_OLD)
        return trl_container_damaged(
            c, err, "it is a MECFG or PT-CFG of an earlier version: train it again");
    m->grade = (trl_grade)head.grade;
    m->scoring = (trl_tree_scoring)head.scoring;
    m->threshold = head.threshold;
    m->frequent = head.frequent;
    trl_status st = trl_tree_template_parse(&m->tpl, "<template>", text, size, err);
    if (st != TRL_OK)
        return trl_container_damaged(c, err, "its template cannot be read");
    const bool pieces = m->scoring == TRL_SCORING_LOCAL || m->scoring == TRL_SCORING_PIECES;
    if (pieces && !trl_tree_template_splitless(&m->tpl))
        return trl_container_damaged(c, err, "its template looks at splits");
    st = load_root(&m->root, c, err);
    if (st == TRL_OK)
        st = trl_span_calibration_load(&m->spans, TRL_SPAN_CALIBRATION_TAG, c, err);
    if (st == TRL_OK)
        st = trl_span_calibration_load(&m->trees, TRL_TREE_CALIBRATION_TAG, c, err);
    if (st == TRL_OK)
        st = load_parts(m, c, lender, err);
    if (st == TRL_OK && m->grade != TRL_GRADE_GENERATIVE)
        st = load_weights(m, c, err);
    if (st == TRL_OK && m->scoring == TRL_SCORING_LOCAL && m->features.index.print)
        st = trl_container_damaged(c, err, "it has fingerprints and is a MECFG or PT-CFG");
    else if (st == TRL_OK && m->scoring == TRL_SCORING_LOCAL)
        st = trl_tree_model_index_rules(m, err);
    if (st != TRL_OK)
        trl_tree_model_fini(m);
    return st;
}
