/* tree_expect.c -- E_q0[f] of a tree model's features: closed forms, and samples for the rest. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_tree/pcfg_expect.h"
#include "parser/tree_keys.h"
#include "train_tree/tree_mest.h"

/* ---- closed forms ---------------------------------------------------------------------------- */

/* Whether an observation is of the word itself, for a span of one word. */
static bool of_one_word(const trl_observation *s)
{
    switch (s->place) {
    case TRL_PLACE_FIRST:
        return s->offset == 0;
    case TRL_PLACE_END:
        return s->offset == -1;
    case TRL_PLACE_SPAN:
        return s->type != TRL_SEEN_HEAVY;
    }
    return false;
}

/* Whether the family's expectation on words, or on unary rules (over a tag or not), is computed. */
static bool closed(const trl_tree_family *f, bool over_tag)
{
    if (f->attachment == TRL_ATTACH_UNARY && f->n == 0)
        return true;
    if (f->attachment != TRL_ATTACH_WORD &&
        !(f->attachment == TRL_ATTACH_UNARY && (over_tag || f->one_word)))
        return false;
    bool all = true;
    for (size_t s = 0; s < f->n; s++)
        all = all && of_one_word(&f->observation[s]);
    return all;
}

typedef struct expecting {
    const trl_tree_model *m;
    const trl_pcfg_expect *p;
    double *E;
    double weight;    /* of what is being counted */
    void *memory;     /* of seen */
    trl_seen seen[2]; /* a word at the start of a sentence, and after another word */
} expecting;

static bool count_key(void *ctx, uint64_t key)
{
    const expecting *x = ctx;
    const uint32_t id = trl_tree_index_find(&x->m->features.index, key);
    if (id != TRL_NO_ID)
        x->E[x->m->features.n_direct + id] += x->weight;
    return true;
}

/* Families of one attachment on a word at position `at` (0: the first word; 1: any other). */
static void count_word(expecting *x, uint32_t rule, uint32_t state, size_t at, int attachment,
                       double weight)
{
    const trl_tree_features *f = &x->m->features;
    const trl_tree_part part = {rule, state, at, at, at + 1};
    x->weight = weight;
    for (size_t k = 0; weight > 0.0 && k < f->t->n; k++) {
        const trl_tree_family *fam = &f->t->family[k];
        if (fam->attachment != attachment || !closed(fam, true) ||
            (attachment == TRL_ATTACH_UNARY && fam->n == 0))
            continue;
        const uint64_t key = trl_tree_part_key(f, k, &part, &x->seen[at]);
        if (key)
            count_key(x, key);
    }
}

/* All features with a closed form that have tag t over the word seen[]. */
static void count_tag(expecting *x, uint32_t t, double p)
{
    const trl_grammar *g = &x->m->fine;
    const trl_pcfg_expect *q = x->p;
    const double first = q->first_before[t], rest = q->before[t] - first;
    count_word(x, TRL_NO_ID, t, 0, TRL_ATTACH_WORD, p * first);
    count_word(x, TRL_NO_ID, t, 1, TRL_ATTACH_WORD, p * rest);
    for (uint32_t u = g->by_child[t]; u < g->by_child[t + 1]; u++) {
        const uint32_t a = g->unary[u].parent;
        count_word(x, u, a, 0, TRL_ATTACH_UNARY, p * q->unary[u] * q->first_after[a]);
        count_word(x, u, a, 1, TRL_ATTACH_UNARY,
                   p * q->unary[u] * (q->after[a] - q->first_after[a]));
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
        const bool over_tag = g->state[g->unary[u].child].type == TRL_STATE_TAG;
        const trl_tree_part part = {u, g->unary[u].parent, 0, 0, over_tag ? 1 : 2};
        x->weight = x->p->after[part.state] * x->p->unary[u];
        x->E[u0 + u] += x->weight;
        x->E[p0 + g->unary[u].plain] += x->weight;
        for (size_t k = 0; k < f->t->n; k++) {
            const trl_tree_family *fam = &f->t->family[k];
            const uint64_t key = fam->attachment == TRL_ATTACH_UNARY && fam->n == 0
                                     ? trl_tree_part_key(f, k, &part, NULL)
                                     : 0;
            if (key)
                count_key(x, key);
        }
    }
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Counts are whole numbers, whose sum is exact in any order: the result does not depend on the
 * number of threads. */

typedef struct sampler { /* of one thread */
    trl_btree tree;
    uint32_t *id;
    trl_str *word;
    void *memory;
    trl_tree_keys keys;
    double *count; /* [features of the index] */
    size_t rejected;
} sampler;

typedef struct sampling {
    const trl_tree_model *m;
    const trl_pcfg_expect *p;
    const trl_tree_expect_options *o;
    sampler *sampler; /* [threads] */
} sampling;

static bool sampled(const trl_tree_family *f, bool over_tag)
{
    return !closed(f, over_tag);
}

static trl_status start_sampler(sampler *s, const trl_tree_model *m, size_t max_words,
                                trl_error *err)
{
    if (s->count)
        return TRL_OK;
    s->id = trl_alloc(max_words, sizeof *s->id);
    s->word = trl_alloc(max_words, sizeof *s->word);
    s->memory = trl_alloc(trl_seen_size(max_words), 1);
    s->count = trl_zalloc(m->features.index.n, sizeof *s->count);
    return s->id && s->word && s->memory && s->count ? TRL_OK : trl_fail_mem(err);
}

static void sampler_fini(sampler *s)
{
    trl_btree_fini(&s->tree);
    trl_tree_keys_fini(&s->keys);
    trl_free(s->id);
    trl_free(s->word);
    trl_free(s->memory);
    trl_free(s->count);
}

static trl_status sample_block(void *ctx, size_t block, size_t worker, trl_error *err)
{
    const sampling *a = ctx;
    sampler *s = &a->sampler[worker];
    trl_rng rng = trl_sample_rng(a->o->seed, block);
    trl_seen seen;
    const size_t left = a->o->samples - block * TRL_SAMPLE_BLOCK,
                 n_trees = left < TRL_SAMPLE_BLOCK ? left : TRL_SAMPLE_BLOCK;
    trl_status st = start_sampler(s, a->m, a->o->max_words, err);
    for (size_t k = 0; st == TRL_OK && k < n_trees; k++) {
        st = trl_pcfg_sample(a->p, &rng, &(trl_pcfg_draw){a->o->max_words, s->id, &s->rejected},
                             &s->tree, err);
        if (st != TRL_OK)
            break;
        const size_t n = s->tree.node[0].to;
        for (size_t i = 0; i < n; i++)
            s->word[i] = trl_strtab_get(&a->m->lexicon.words, s->id[i]);
        trl_observe(&a->m->observer, s->word, n, s->memory, &seen);
        st = trl_tree_keys_of(&a->m->features, &s->tree, &seen, sampled, &s->keys, err);
        for (size_t i = 0; st == TRL_OK && i < s->keys.n; i++)
            s->count[s->keys.id[i]] += 1.0;
    }
    return st;
}

/* Adds the mean counts of families without a closed form to E. */
static trl_status sample(const trl_tree_model *m, const trl_pcfg_expect *p,
                         const trl_tree_expect_options *o, double *E, size_t *rejected,
                         trl_error *err)
{
    const size_t threads = trl_pool_threads(o->pool);
    sampling a = {m, p, o, trl_zalloc(threads, sizeof *a.sampler)};
    if (!a.sampler)
        return trl_fail_mem(err);
    const trl_status st = trl_pool_run(
        o->pool, (o->samples + TRL_SAMPLE_BLOCK - 1) / TRL_SAMPLE_BLOCK, sample_block, &a, err);
    for (size_t k = 0; st == TRL_OK && k < m->features.index.n; k++) {
        double sum = 0.0;
        for (size_t w = 0; w < threads; w++)
            sum += a.sampler[w].count ? a.sampler[w].count[k] : 0.0;
        E[m->features.n_direct + k] += sum / (double)o->samples;
    }
    for (size_t w = 0; w < threads; w++) {
        *rejected += a.sampler[w].rejected;
        sampler_fini(&a.sampler[w]);
    }
    trl_free(a.sampler);
    return st;
}

/* ---- all of it ------------------------------------------------------------------------------- */

trl_status trl_tree_expect(const trl_tree_model *m, const trl_tree_expect_options *o, double *E,
                           trl_tree_expect_report *report, trl_error *err)
{
    trl_pcfg_expect p;
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
        st = sample(m, &p, o, E, &report->rejected, err);
    trl_free(x.memory);
    trl_pcfg_expect_fini(&p);
    return st;
}
