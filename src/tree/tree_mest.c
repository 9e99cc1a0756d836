/* tree_mest.c -- M-estimation on trees: the loss of a gold tree, and E_q0[f]. */
/* SPDX-License-Identifier: MIT */
#include "tree/tree_mest.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tree/pcfg_expect.h"
#include "tree/tree_features.h"
#include "tree/tree_mecfg.h"

/* ---- the loss -------------------------------------------------------------------------------------- */

/* exp(-w . f) / n; infinite when that overflows, which a line search takes for a failed step. */
static trl_status loss(const trl_tree_task *t, const trl_tree_example *e, trl_tree_worker *w,
                       bool adjoint, double *value, trl_error *err)
{
    trl_status st = trl_tree_local_gather(t, e, w, adjoint, err);
    if (st != TRL_OK)
        return st;
    const double score = trl_tree_gather_tree(&w->gather, &e->gold, 0.0);
    *value = exp(-score) / (double)t->n_examples;
    if (isnan(score))
        return trl_fail(err, TRL_ENUMERIC, "the score of a tree is not a number");
    if (adjoint && isfinite(*value))
        trl_tree_gather_tree(&w->gather, &e->gold, -*value);
    return TRL_OK;
}

const trl_tree_objective trl_tree_mest = {"m-estimation", "mest", true, loss};

static trl_status eval(void *self, const double *x, double *g, double *F, trl_error *err)
{
    const trl_mest_function *f = self;
    const trl_status st = f->inner.eval(f->inner.self, x, g, F, err);
    if (st != TRL_OK)
        return st;
    double sum = 0.0;
    for (size_t k = 0; k < f->inner.n; k++) {
        sum += f->E[k] * x[k];
        g[k] += f->E[k];
    }
    *F += sum;
    return TRL_OK;
}

trl_function trl_tree_mest_function(trl_mest_function *f)
{
    return (trl_function){f, f->inner.n, eval};
}

/* ---- closed forms ---------------------------------------------------------------------------------- */

/* Whether a sight is of the word itself, for a span of one word. */
static bool of_one_word(const trl_sight *s)
{
    switch (s->place) {
    case TRL_PLACE_FIRST: return s->offset == 0;
    case TRL_PLACE_END: return s->offset == -1;
    case TRL_PLACE_SPAN: return s->kind != TRL_SEEN_HEAVY;
    }
    return false;
}

/* Whether the family's expectation on words, or on unary rules (over a tag or not), is computed. */
static bool closed(const trl_tree_family *f, bool over_tag)
{
    if (f->hang == TRL_HANG_UNARY && f->n == 0)
        return true;
    if (f->hang != TRL_HANG_WORD && !(f->hang == TRL_HANG_UNARY && (over_tag || f->one_word)))
        return false;
    bool all = true;
    for (size_t s = 0; s < f->n; s++)
        all = all && of_one_word(&f->sight[s]);
    return all;
}

typedef struct expecting {
    const trl_tree_model  *m;
    const trl_pcfg_expect *p;
    double                *E;
    double                 weight;   /* of what is being counted */
    void                  *memory;   /* of seen */
    trl_seen               seen[2];  /* a word at the start of a sentence, and behind another */
} expecting;

static bool count_key(void *ctx, uint64_t key)
{
    const expecting *x = ctx;
    const uint32_t id = trl_tree_index_find(&x->m->features.index, key);
    if (id != TRL_NO_ID)
        x->E[x->m->features.n_direct + id] += x->weight;
    return true;
}

/* Families of one hang on a word at position `at` (0: the first word; 1: any other). */
static void count_word(expecting *x, uint32_t rule, uint32_t state, size_t at, int hang, double weight)
{
    const trl_tree_features *f = &x->m->features;
    const trl_tree_part part = {rule, state, at, at, at + 1};
    x->weight = weight;
    for (size_t k = 0; weight > 0.0 && k < f->t->n; k++) {
        const trl_tree_family *fam = &f->t->family[k];
        if (fam->hang != hang || !closed(fam, true) || (hang == TRL_HANG_UNARY && fam->n == 0))
            continue;
        const uint64_t key = trl_tree_part_key(f, k, &part, &x->seen[at]);
        if (key)
            count_key(x, key);
    }
}

/* Everything of closed form that has tag t over the word seen[]. */
static void count_tag(expecting *x, uint32_t t, double p)
{
    const trl_grammar *g = &x->m->fine;
    const trl_pcfg_expect *q = x->p;
    const double first = q->first_before[t], rest = q->before[t] - first;
    count_word(x, TRL_NO_ID, t, 0, TRL_HANG_WORD, p * first);
    count_word(x, TRL_NO_ID, t, 1, TRL_HANG_WORD, p * rest);
    for (uint32_t u = g->by_child[t]; u < g->by_child[t + 1]; u++) {
        const uint32_t a = g->unary[u].parent;
        count_word(x, u, a, 0, TRL_HANG_UNARY, p * q->unary[u] * q->first_after[a]);
        count_word(x, u, a, 1, TRL_HANG_UNARY, p * q->unary[u] * (q->after[a] - q->first_after[a]));
    }
}

static void count_words(expecting *x)
{
    const trl_pcfg_expect *q = x->p;
    const trl_strtab *words = &x->m->lexicon.words;
    char *half = (char *)x->memory + (trl_seen_size(1) + 63) / 64 * 64;
    for (uint32_t t = 0; t < x->m->fine.n_states; t++)
        for (uint32_t k = q->word_first[t]; k < q->word_first[t + 1]; k++) {
            const trl_str w = trl_strtab_get(words, q->word[k]), two[2] = {w, w};
            trl_observe(&x->m->observer, two, 1, x->memory, &x->seen[0]);
            trl_observe(&x->m->observer, two, 2, half, &x->seen[1]);
            count_tag(x, t, q->word_p[k]);
        }
}

static void count_rules(expecting *x)
{
    const trl_grammar *g = &x->m->fine;
    const trl_tree_features *f = &x->m->features;
    const size_t plain = g->n_binary, u0 = plain + g->n_plain_binary, p0 = u0 + g->n_unary;
    for (size_t r = 0; r < g->n_binary; r++) {
        const double e = x->p->before[g->binary[r].parent] * x->p->binary[r];
        x->E[r] += e;
        x->E[plain + g->binary[r].plain] += e;
    }
    for (uint32_t u = 0; u < g->n_unary; u++) {
        const bool over_tag = g->state[g->unary[u].child].kind == TRL_STATE_TAG;
        const trl_tree_part part = {u, g->unary[u].parent, 0, 0, over_tag ? 1 : 2};
        x->weight = x->p->after[part.state] * x->p->unary[u];
        x->E[u0 + u] += x->weight;
        x->E[p0 + g->unary[u].plain] += x->weight;
        for (size_t k = 0; k < f->t->n; k++) {
            const trl_tree_family *fam = &f->t->family[k];
            const uint64_t key = fam->hang == TRL_HANG_UNARY && fam->n == 0
                                     ? trl_tree_part_key(f, k, &part, NULL)
                                     : 0;
            if (key)
                count_key(x, key);
        }
    }
}

/* ---- samples --------------------------------------------------------------------------------------- */

/* Families without a closed form on a drawn tree. */
static void count_tree(expecting *x, const trl_btree *tree, const trl_seen *seen)
{
    const trl_grammar *g = &x->m->fine;
    const trl_tree_features *f = &x->m->features;
    for (size_t k = 0; k < tree->n; k++) {
        const trl_bnode *n = &tree->node[k];
        const bool unary = n->left != TRL_NO_NODE && n->right == TRL_NO_NODE;
        const bool over_tag = unary && g->state[tree->node[n->left].state].kind == TRL_STATE_TAG;
        const trl_tree_part part = trl_tree_node_part(tree, k);
        for (size_t at = 0; at < f->t->n; at++)
            if (!closed(&f->t->family[at], over_tag))
                trl_tree_node_keys(f, at, n, part, seen, count_key, x);
    }
}

typedef struct sampling {
    trl_btree tree;
    uint32_t *id;
    trl_str  *word;
    void     *memory;
} sampling;

static trl_status sample(expecting *x, const trl_tree_expect_options *o, sampling *s,
                         trl_tree_expect_report *report, trl_error *err)
{
    trl_rng rng = trl_rng_seed(o->seed);
    trl_seen seen;
    s->id = trl_alloc(o->max_words, sizeof *s->id);
    s->word = trl_alloc(o->max_words, sizeof *s->word);
    s->memory = trl_alloc(trl_seen_size(o->max_words), 1);
    if (!s->id || !s->word || !s->memory)
        return trl_fail_mem(err);
    for (size_t k = 0; k < o->samples; k++) {
        const trl_status st = trl_pcfg_sample(x->p, &rng, o->max_words, &s->tree, s->id,
                                              &report->rejected, err);
        if (st != TRL_OK)
            return st;
        const size_t n = s->tree.node[0].to;
        for (size_t i = 0; i < n; i++)
            s->word[i] = trl_strtab_get(&x->m->lexicon.words, s->id[i]);
        trl_observe(&x->m->observer, s->word, n, s->memory, &seen);
        x->weight = 1.0 / (double)o->samples;
        count_tree(x, &s->tree, &seen);
    }
    return TRL_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------- */

trl_status trl_tree_expect(const trl_tree_model *m, const trl_tree_expect_options *o, double *E,
                           trl_tree_expect_report *report, trl_error *err)
{
    trl_pcfg_expect p;
    sampling s = {0};
    memset(E, 0, trl_tree_weights(&m->features) * sizeof *E);
    *report = (trl_tree_expect_report){0};
    trl_status st = trl_pcfg_expect_init(&p, &m->pcfg, &m->expansions, err);
    if (st != TRL_OK)
        return st;
    expecting x = {.m = m, .p = &p, .E = E};
    x.memory = trl_alloc((trl_seen_size(1) + 63) / 64 * 64 + trl_seen_size(2), 1);
    st = x.memory ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK) {
        count_rules(&x);
        count_words(&x);
    }
    report->mass = p.mass;
    report->length = p.length;
    for (size_t k = 0; k < m->tpl.n; k++)
        report->sampled += !closed(&m->tpl.family[k], false);
    if (st == TRL_OK && report->sampled && o->samples)
        st = sample(&x, o, &s, report, err);
    trl_btree_fini(&s.tree);
    trl_free(s.id);
    trl_free(s.word);
    trl_free(s.memory);
    trl_free(x.memory);
    trl_pcfg_expect_fini(&p);
    return st;
}
