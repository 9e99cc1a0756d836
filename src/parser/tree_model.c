/* tree_model.c -- from a treebank to grammars, lexicons and charts. */
/* SPDX-License-Identifier: MIT */
#include "parser/tree_model.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "parser/borders.h"

/* ---- building -------------------------------------------------------------------------------- */

static trl_status build_grammar(trl_grammar *g, const trl_annotation *a, trl_licence licence,
                                const trl_head_rules *heads, const trl_tree_set *trees,
                                trl_error *err)
{
    trl_status st = trl_grammar_init(g, a, heads, err);
    for (size_t k = 0; st == TRL_OK && k < trees->n; k++)
        st = trl_grammar_add(g, &trees->tree[k], &trees->labels, err);
    return st == TRL_OK ? trl_grammar_finish(g, licence, err) : st;
}

static trl_status build_lexicon(trl_lexicon *x, uint32_t rare, const trl_grammar *g,
                                const trl_head_rules *heads, const trl_tree_set *trees,
                                trl_error *err)
{
    trl_btree b = {0};
    trl_status st = trl_lexicon_init(x, rare, err);
    for (size_t k = 0; st == TRL_OK && k < trees->n; k++) {
        bool known;
        const trl_tree *t = &trees->tree[k];
        st = trl_grammar_encode(g, &(trl_encoded){heads, t, &trees->labels}, &b, &known, NULL, err);
        if (st == TRL_OK && known)
            st = trl_lexicon_add(x, &b, t->word, err);
    }
    trl_btree_fini(&b);
    return st == TRL_OK ? trl_lexicon_finish(x, g, err) : st;
}

static trl_status connect_latent(trl_tree_model *m, trl_error *err)
{
    const trl_strtab *labels = &m->coarse.labels;
    for (size_t k = 0; k < TRL_LATENT_GRAMMARS; k++)
        m->latent[k] =
            (trl_latent){.g = &m->coarse, .x = &m->coarse_lexicon, .pcfg = &m->coarse_pcfg};
    m->latent_label = trl_alloc(labels->n + 1, sizeof *m->latent_label);
    if (!m->latent_label)
        return trl_fail_mem(err);
    for (uint32_t k = 0; k < labels->n; k++) {
        const trl_str name = trl_strtab_get(labels, k);
        m->latent_label[k] = trl_strtab_find(&m->fine.labels, name.p, name.n);
    }
    return TRL_OK;
}

trl_status trl_tree_model_connect(trl_tree_model *m, trl_error *err)
{
    trl_status st = trl_pcfg_init(&m->pcfg, &m->fine, &m->lexicon, err);
    if (st == TRL_OK)
        st = trl_pcfg_init(&m->coarse_pcfg, &m->coarse, &m->coarse_lexicon, err);
    if (st == TRL_OK)
        st = trl_coarse_init(&m->pruner, &m->coarse_pcfg, err);
    if (st == TRL_OK)
        st = trl_coarse_map_init(&m->map, &m->fine, &m->coarse, err);
    if (st == TRL_OK)
        st = trl_corners_init(&m->corners, &m->fine, err);
    if (st == TRL_OK)
        st = trl_span_pruner_init(&m->span_pruner, &m->coarse, err);
    m->coarse_of = trl_alloc(m->fine.n_states, sizeof *m->coarse_of);
    if (st == TRL_OK && !m->coarse_of)
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        trl_grammar_project(&m->fine, &m->coarse, m->coarse_of);
    if (st == TRL_OK)
        st = connect_latent(m, err);
    if (st == TRL_OK)
        st = trl_observer_init(&m->observer, &m->fine, &m->lexicon, m->frequent, err);
    if (st == TRL_OK && m->clusters.view.word.n) {
        m->observer.cluster = trl_tree_cluster_of;
        m->observer.clusters = &m->clusters;
    }
    m->functions.observer = &m->observer;
    if (st == TRL_OK)
        st = trl_expansions_init(&m->expansions, &m->fine, err);
    return st == TRL_OK ? trl_tree_features_init(&m->features, &m->fine, &m->tpl, err) : st;
}

trl_status trl_tree_model_index_rules(trl_tree_model *m, trl_error *err)
{
    trl_rule_index_fini(&m->lists);
    return trl_rule_index_init(&m->lists, &m->features, err);
}

trl_status trl_tree_model_build(trl_tree_model *m, const trl_tree_model_options *o,
                                const trl_head_rules *heads, const trl_tree_set *trees,
                                trl_error *err)
{
    static const trl_annotation none = {0};
    *m = (trl_tree_model){.grade = o->grade,
                          .scoring = o->scoring,
                          .threshold = o->threshold,
                          .frequent = o->frequent,
                          .root = trees->root};
    trl_status st = TRL_OK;
    if (o->template_text)
        st = trl_tree_template_parse(&m->tpl, o->template_name, o->template_text, o->template_size,
                                     err);
    const char *clusters = o->clusters ? o->clusters : "none";
    if (st == TRL_OK && o->shared_clusters)
        st = trl_tree_clusters_share(&m->clusters, o->shared_clusters, err);
    else if (st == TRL_OK && strcmp(clusters, "auto") == 0)
        st = m->tpl.clusters
                 ? trl_tree_clusters_make(&m->clusters, trees, o->raw_text, o->pool, err)
                 : TRL_OK;
    else if (st == TRL_OK && strcmp(clusters, "none") != 0)
        st = trl_tree_clusters_read(&m->clusters, clusters, err);
    if (st == TRL_OK)
        st = build_grammar(&m->fine, &o->annotation, o->licence, heads, trees, err);
    if (st == TRL_OK)
        st = build_grammar(&m->coarse, &none,
                           o->licence == TRL_RULES_SMOOTHED ? o->licence : TRL_RULES_SEEN, NULL,
                           trees, err);
    if (st == TRL_OK)
        st = build_lexicon(&m->lexicon, o->rare, &m->fine, heads, trees, err);
    if (st == TRL_OK)
        st = build_lexicon(&m->coarse_lexicon, o->rare, &m->coarse, NULL, trees, err);
    return st == TRL_OK ? trl_tree_model_connect(m, err) : st;
}

void trl_tree_model_fini(trl_tree_model *m)
{
    trl_tree_features_fini(&m->features);
    trl_function_labels_fini(&m->functions);
    trl_rule_index_fini(&m->lists);
    trl_expansions_fini(&m->expansions);
    trl_observer_fini(&m->observer);
    trl_tree_clusters_fini(&m->clusters);
    trl_span_pruner_fini(&m->span_pruner);
    trl_reranker_fini(&m->reranker);
    trl_word_tagger_fini(&m->tagger);
    for (size_t k = 0; k < m->n_latent; k++)
        trl_latent_fini(&m->latent[k]);
    trl_free(m->latent_label);
    trl_free(m->coarse_of);
    trl_coarse_map_fini(&m->map);
    trl_corners_fini(&m->corners);
    trl_coarse_fini(&m->pruner);
    trl_pcfg_fini(&m->pcfg);
    trl_pcfg_fini(&m->coarse_pcfg);
    trl_lexicon_fini(&m->lexicon);
    trl_lexicon_fini(&m->coarse_lexicon);
    trl_grammar_fini(&m->fine);
    trl_grammar_fini(&m->coarse);
    trl_free(m->binary_exp);
    trl_free(m->unary);
    *m = (trl_tree_model){0};
}

/* ---- a sentence ------------------------------------------------------------------------------ */

/* Which cells of a very long sentence are tried: short spans, those that start or end it, and those
 * between borders of clauses. */
static trl_status choose_cells(const trl_str *word, size_t n, uint8_t **keep, trl_arena *arena,
                               trl_error *err)
{
    *keep = NULL;
    if (n <= TRL_LONG_SENTENCE)
        return TRL_OK;
    *keep = trl_arena_get(arena, trl_chart_cells(n), 1);
    uint8_t *border = trl_arena_get(arena, n + 1, 1);
    if (!*keep || !border)
        return trl_fail_mem(err);
    for (size_t i = 0; i <= n; i++)
        border[i] = i == 0 || i == n || trl_border(word, n, i) >= TRL_CLAUSE_BORDER;
    for (size_t j = 1; j <= n; j++)
        for (size_t i = 0; i < j; i++)
            (*keep)[trl_cell(i, j)] =
                j - i <= TRL_LONG_SPAN || i == 0 || j == n || (border[i] && border[j]);
    return TRL_OK;
}

/* Adds the log gains of the span pruner to the scores of items. */
static void add_gains(const trl_tree_model *m, const trl_gains *g, const trl_skeleton *s,
                      double *score)
{
    for (size_t j = 1; j <= s->n; j++)
        for (size_t i = 0; i < j; i++) {
            const size_t cell = trl_cell(i, j);
            const float *gain = j - i == 1 ? g->log_word + i * TRL_SPAN_PRUNER_TAGS
                                           : g->log_span + cell * TRL_SPAN_PRUNER_CLASSES;
            for (uint32_t x = s->first[cell]; x < s->first[cell + 1]; x++) {
                const uint32_t state = s->item[x] & TRL_STATE_MASK, up = m->coarse_of[state];
                const bool tag = m->fine.state[state].type == TRL_STATE_TAG;
                if (up != TRL_NO_ID && tag == (j - i == 1))
                    score[x] += (double)gain[g->class_of[up]];
            }
        }
}

/* What the span pruner gains, and how much is kept. */
typedef struct fine_pruning {
    const trl_gains *gains;
    const trl_pruning *p;
} fine_pruning;

/* Second step: the PCFG of the fine grammar over what the coarse one left.  Where it has no tree
 * the skeleton is unchanged. */
static trl_status prune_finely(const trl_tree_model *m, const trl_str *word,
                               const fine_pruning *how, trl_skeleton *s, trl_arena *arena,
                               trl_error *err)
{
    trl_chart c;
    trl_tree_tables t;
    const trl_skeleton all = *s;
    trl_status st = trl_chart_init(&c, &m->fine, &all, arena, err);
    c.deadline = how->p->deadline;
    c.max_work = how->p->max_work;
    if (st == TRL_OK)
        st = trl_tree_pcfg_tables(m, word, &c, &t, arena, err);
    if (st == TRL_OK && how->gains)
        add_gains(m, how->gains, &all, t.item);
    if (st == TRL_OK && how->p->tags)
        trl_given_tags_add(how->p->tags, &m->fine, &all, t.item);
    if (st == TRL_OK)
        st = trl_chart_inside(&c, &t, err);
    if (st != TRL_OK || !isfinite(c.log_z))
        return st;
    trl_chart_outside(&c, &t, NULL);
    if (c.late)
        return TRL_OK;
    if (how->p->pruner_posteriors)
        st = trl_chart_brackets(&c, how->p->pruner_posteriors, arena, err);
    return st == TRL_OK ? trl_prune_chart(&c, how->p->threshold, s, arena, err) : st;
}

#define LOST 1e-3f /* posteriors this much below the threshold are dropped */

static double coarse_threshold(const trl_pruning *p)
{
    return p->coarse > 0.0 ? p->coarse : p->threshold;
}

static trl_status find_gains(const trl_tree_model *m, const trl_pruned_sentence *s, trl_gains *out,
                             trl_arena *arena, trl_error *err)
{
    trl_seen seen;
    void *memory = trl_arena_get(arena, trl_seen_size(s->n), 1);
    if (!memory)
        return trl_fail_mem(err);
    trl_observe(&m->observer, s->word, s->n, memory, &seen);
    if (m->tagger.model && s->p->tags)
        trl_given_tags_observe(s->p->tags, &seen);
    return trl_span_pruner_gains(&m->span_pruner, &seen, out, arena, err);
}

/* Adds gold items, and drops what cannot be part of a tree. */
static trl_status finish_skeleton(const trl_tree_model *m, const trl_pruning *p, trl_skeleton *s,
                                  bool *complete, trl_arena *arena, trl_error *err)
{
    *complete = true;
    const trl_status st = p->gold ? trl_skeleton_add_tree(s, p->gold, arena, err) : TRL_OK;
    return st == TRL_OK && p->filter ? trl_filter(&m->fine, s, complete, arena, err) : st;
}

trl_status trl_tree_skeleton_of(const trl_tree_model *m, const trl_skeleton_source *from,
                                trl_skeleton *s, bool *complete, trl_arena *arena, trl_error *err)
{
    trl_status st =
        trl_coarse_prune(from->coarse, &m->map, coarse_threshold(from->p), s, arena, err);
    if (st == TRL_OK)
        st = trl_corner_filter(&m->corners, &m->fine, s, arena, err);
    if (st == TRL_OK && from->p->threshold > 0.0)
        st = prune_finely(m, from->word, &(fine_pruning){from->gains, from->p}, s, arena, err);
    return st == TRL_OK ? finish_skeleton(m, from->p, s, complete, arena, err) : st;
}

trl_status trl_tree_skeleton(const trl_tree_model *m, const trl_pruned_sentence *x, trl_skeleton *s,
                             bool *complete, trl_arena *arena, trl_error *err)
{
    trl_coarse_chart coarse;
    uint8_t *keep;
    trl_gains gains, *with = m->span_pruner.span ? &gains : NULL;
    *complete = false;
    if (x->p->pruner_posteriors)
        *x->p->pruner_posteriors = (trl_brackets){0};
    trl_status st = choose_cells(x->word, x->n, &keep, arena, err);
    if (st == TRL_OK && with)
        st = find_gains(m, x, with, arena, err);
    if (st == TRL_OK)
        st = trl_coarse_run(
            &m->pruner, &(trl_words){x->word, x->n},
            &(trl_coarse_how){keep, with, x->p->deadline, LOST * (float)coarse_threshold(x->p),
                              x->p->tags && x->p->tags->n ? &x->p->tags->coarse : NULL},
            &coarse, arena, err);
    if (st != TRL_OK)
        return st;
    if (isfinite(coarse.log_z))
        return trl_tree_skeleton_of(
            m, &(trl_skeleton_source){.word = x->word, .coarse = &coarse, .gains = with, .p = x->p},
            s, complete, arena, err);
    if (!x->p->gold)
        return TRL_OK;
    st = trl_skeleton_full(&(trl_words_grammar){&m->fine, &m->lexicon}, &(trl_words){x->word, x->n},
                           s, NULL, arena, err);
    return st == TRL_OK ? finish_skeleton(m, x->p, s, complete, arena, err) : st;
}

/* log p(word | tag) of tag items added to their scores. */
static trl_status add_words(const trl_tree_model *m, const trl_str *word, const trl_chart *c,
                            double *item, trl_arena *arena, trl_error *err)
{
    const trl_grammar *g = &m->fine;
    uint32_t *tags = trl_arena_get(arena, g->n_states, sizeof *tags);
    double *logp = trl_arena_get(arena, g->n_states, sizeof *logp);
    if (!tags || !logp)
        return trl_fail_mem(err);
    for (size_t i = 0; i < c->n; i++) {
        const size_t k = trl_lexicon_tags(&m->lexicon, g, trl_lexicon_word(&m->lexicon, word[i]),
                                          trl_lexicon_class(&m->lexicon, word[i], i), tags, logp);
        const size_t cell = trl_cell(i, i + 1);
        size_t at = 0;
        for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++) {
            const uint32_t state = c->s->item[x] & TRL_STATE_MASK;
            while (at < k && tags[at] < state)
                at++;
            item[x] += at < k && tags[at] == state ? logp[at] : -100.0;
        }
    }
    return TRL_OK;
}

trl_status trl_tree_pcfg_tables(const trl_tree_model *m, const trl_str *word, const trl_chart *c,
                                trl_tree_tables *t, trl_arena *arena, trl_error *err)
{
    *t = (trl_tree_tables){.binary_exp = m->pcfg.binary_exp,
                           .unary = m->pcfg.unary,
                           .item = trl_arena_get(arena, c->n_items, sizeof *t->item),
                           .unary_at = trl_arena_get(arena, c->n_unary, sizeof *t->unary_at),
                           .n_classes = 1,
                           .edge_class = m->pcfg.no_class};
    if (!t->item || !t->unary_at)
        return trl_fail_mem(err);
    memset(t->item, 0, c->n_items * sizeof *t->item);
    memset(t->unary_at, 0, c->n_unary * sizeof *t->unary_at);
    return add_words(m, word, c, t->item, arena, err);
}

void trl_tree_model_shared(const trl_tree_model *m, double *binary_exp, double *unary)
{
    trl_tree_shared(&m->features, binary_exp, unary);
    if (m->scoring != TRL_SCORING_PCFG)
        return;
    for (size_t r = 0; r < m->fine.n_binary; r++)
        binary_exp[r] *= m->pcfg.binary_exp[r];
    for (size_t u = 0; u < m->fine.n_unary; u++)
        unary[u] += m->pcfg.unary[u];
}

trl_status trl_tree_model_tables(const trl_tree_model *m, const trl_str *word,
                                 const trl_gather_source *x, trl_tree_gather *ga, trl_arena *arena,
                                 trl_error *err)
{
    trl_status st = trl_tree_gather_scores(ga, x, arena, err);
    if (st == TRL_OK && m->scoring == TRL_SCORING_LOCAL)
        st = trl_tree_local_tables(ga, &m->expansions, &m->lists, arena, err);
    if (st == TRL_OK && m->scoring != TRL_SCORING_GLOBAL)
        st = add_words(m, word, x->c, ga->t.item, arena, err);
    return st;
}
