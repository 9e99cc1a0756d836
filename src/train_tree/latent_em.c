/* latent_em.c -- substates of states by splitting and EM. */
/* SPDX-License-Identifier: MIT */
#include "train_tree/latent_em.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define MOST TRL_LATENT_MOST
#define LANES 4
#define NOISE 0.05 /* of halves, of each probability */
/* Tokens that every word has beforehand, with all substates alike. */
#define WORD_TOKENS 3.0

void trl_latent_tree_fini(trl_latent_tree *t)
{
    trl_btree_fini(&t->tree);
    trl_free(t->word);
    *t = (trl_latent_tree){0};
}

trl_latent_options trl_latent_options_default(void)
{
    return (trl_latent_options){.most = TRL_LATENT_MOST,
                                .iterations = 30,
                                .tokens = 100.0,
                                .prior = 5.0,
                                .words = 0.02,
                                .seed = 1};
}

/* Trees are counted in so many parts, whatever the threads. */
typedef struct lane {
    float *count; /* [at.n] */
    trl_latent_scratch scratch;
    double log_likelihood;
} lane;

typedef struct em {
    trl_latent *l; /* its p: of words p(w | T_x) */
    const trl_latent_options *o;
    const trl_latent_tree *tree;
    size_t n;
    trl_pool *pool;
    lane lane[LANES];
    double *total; /* [n_states][MOST]: expected tokens of each substate, of parents and tags */
} em;

/* ---- E --------------------------------------------------------------------------------------- */

static trl_status count_lane(void *ctx, size_t job, size_t worker, trl_error *err)
{
    em *e = ctx;
    lane *a = &e->lane[job];
    (void)worker;
    memset(a->count, 0, e->l->at.n * sizeof *a->count);
    a->log_likelihood = 0.0;
    for (size_t k = job * e->n / LANES; k < (job + 1) * e->n / LANES; k++) {
        const double p = trl_latent_count(e->l, &e->tree[k], &a->scratch, a->count);
        a->log_likelihood += isfinite(p) ? p : 0.0;
        if (k % 1024 == 0 && trl_pool_check(e->pool, err) != TRL_OK)
            return TRL_ECANCEL;
    }
    return TRL_OK;
}

/* Expected counts, in the first lane. */
static trl_status count(em *e, double *log_likelihood, trl_error *err)
{
    const trl_status st = trl_pool_run(e->pool, LANES, count_lane, e, err);
    *log_likelihood = e->lane[0].log_likelihood;
    for (size_t k = 1; k < LANES; k++) {
        *log_likelihood += e->lane[k].log_likelihood;
        for (size_t x = 0; x < e->l->at.n; x++)
            e->lane[0].count[x] += e->lane[k].count[x];
    }
    return st;
}

/* ---- M --------------------------------------------------------------------------------------- */

/* Numbers of one rule or word: n for each substate of the state. */
typedef void (*table_fn)(em *e, uint32_t state, size_t place, size_t n);

static void rule_tables(em *e, table_fn fn)
{
    const trl_grammar *g = e->l->g;
    const trl_latent_layout *at = &e->l->at;
    for (size_t r = 0; r < g->n_binary; r++) {
        const uint32_t a = g->binary[r].parent;
        if (at->binary[r + 1] > at->binary[r])
            fn(e, a, at->binary[r], (at->binary[r + 1] - at->binary[r]) / at->k[a]);
    }
    for (size_t u = 0; u < g->n_unary; u++) {
        const uint32_t a = g->unary[u].parent;
        if (at->unary[u + 1] > at->unary[u])
            fn(e, a, at->unary[u], (at->unary[u + 1] - at->unary[u]) / at->k[a]);
    }
}

static void word_tables(em *e, table_fn fn)
{
    const trl_lexicon *x = e->l->x;
    const trl_latent_layout *at = &e->l->at;
    for (uint32_t w = 0; w < x->word_first[x->words.n]; w++)
        if (at->word[w + 1] > at->word[w])
            fn(e, x->word_tag[w], at->word[w], 1);
    for (uint32_t c = 0; c < x->class_first[x->classes.n]; c++)
        if (at->class_[c + 1] > at->class_[c])
            fn(e, x->class_tag[c], at->class_[c], 1);
}

static void add_total(em *e, uint32_t state, size_t place, size_t n)
{
    const float *c = e->lane[0].count + place;
    for (unsigned x = 0; x < e->l->at.k[state]; x++)
        for (size_t y = 0; y < n; y++)
            e->total[state * MOST + x] += (double)c[x * n + y];
}

static double all_of(const em *e, uint32_t state)
{
    double sum = 0.0;
    for (unsigned x = 0; x < e->l->at.k[state]; x++)
        sum += e->total[state * MOST + x];
    return sum;
}

static void set_rule(em *e, uint32_t state, size_t place, size_t n)
{
    const unsigned k = e->l->at.k[state];
    const float *c = e->lane[0].count + place;
    const double all = all_of(e, state), b = e->o->prior;
    for (size_t y = 0; y < n; y++) {
        double sum = 0.0;
        for (unsigned x = 0; x < k; x++)
            sum += (double)c[x * n + y];
        const double mean = all > 0.0 ? sum / all : 0.0;
        for (unsigned x = 0; x < k; x++) {
            const double own = e->total[state * MOST + x] + b;
            e->l->p[place + x * n + y] =
                (float)(own > 0.0 ? ((double)c[x * n + y] + b * mean) / own : mean);
        }
    }
}

static void set_word(em *e, uint32_t state, size_t place, size_t n)
{
    const unsigned k = e->l->at.k[state];
    const float *c = e->lane[0].count + place;
    const double all = all_of(e, state), share = e->o->words;
    double sum = 0.0;
    (void)n;
    for (unsigned x = 0; x < k; x++)
        sum += (double)c[x];
    const double mean = all > 0.0 ? sum / all : 0.0;
    for (unsigned x = 0; x < k; x++) {
        const double own = e->total[state * MOST + x];
        const double p = own > 0.0 ? (double)c[x] / own : mean;
        e->l->p[place + x] = (float)((1.0 - share) * p + share * mean);
    }
}

static void maximise(em *e)
{
    memset(e->total, 0, e->l->g->n_states * MOST * sizeof *e->total);
    rule_tables(e, add_total);
    word_tables(e, add_total);
    rule_tables(e, set_rule);
    word_tables(e, set_word);
}

static trl_status iterate(em *e, unsigned most, trl_error *err)
{
    trl_status st = TRL_OK;
    for (unsigned k = 0; st == TRL_OK && k < e->o->iterations; k++) {
        double log_likelihood;
        st = count(e, &log_likelihood, err);
        if (st == TRL_OK && e->o->tell)
            e->o->tell(e->o->ctx, most, k, log_likelihood);
        if (st == TRL_OK)
            maximise(e);
    }
    return st;
}

/* ---- splitting ------------------------------------------------------------------------------- */

/* A number of 0 .. 1 that depends on its place and the seed alone. */
static double random_of(uint64_t seed, uint64_t place)
{
    uint64_t x = (place + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* What becomes of one table: substates of before and now. */
typedef struct halves {
    const uint8_t *k;  /* [n_states] */
    const float *from; /* of before */
    float *to;         /* of now */
    uint64_t seed;
} halves;

/* One table of a state and up to two children (TRL_NO_ID: none); returns its size of before. */
static size_t split_table(const halves *h, const uint8_t *now, const uint32_t state[3], size_t from,
                          size_t to)
{
    unsigned old[3], new[3];
    for (int c = 0; c < 3; c++) {
        old[c] = state[c] == TRL_NO_ID ? 1 : h->k[state[c]];
        new[c] = state[c] == TRL_NO_ID ? 1 : now[state[c]];
    }
    const float share = (float)(old[1] * old[2]) / (float)(new[1] * new[2]);
    float *out = h->to + to;
    for (unsigned x = 0; x < new[0]; x++)
        for (unsigned y = 0; y < new[1]; y++)
            for (unsigned z = 0; z < new[2]; z++, out++) {
                const size_t at =
                    ((size_t)(x * old[0] / new[0]) * old[1] + y * old[1] / new[1]) * old[2] +
                    z * old[2] / new[2];
                const double noise =
                    1.0 + NOISE * (2.0 * random_of(h->seed, (uint64_t)(out - h->to)) - 1.0);
                *out = h->from[from + at] * share * (float)noise;
            }
    return (size_t)old[0] * old[1] * old[2];
}

static void split_tables(const trl_latent *l, const trl_latent_layout *was, const halves *h)
{
    const trl_grammar *g = l->g;
    const trl_lexicon *x = l->x;
    const trl_latent_layout *at = &l->at;
    for (size_t r = 0; r < g->n_binary; r++)
        if (at->binary[r + 1] > at->binary[r])
            split_table(h, at->k,
                        (uint32_t[]){g->binary[r].parent, g->binary[r].left, g->binary[r].right},
                        was->binary[r], at->binary[r]);
    for (size_t u = 0; u < g->n_unary; u++)
        if (at->unary[u + 1] > at->unary[u])
            split_table(h, at->k, (uint32_t[]){g->unary[u].parent, g->unary[u].child, TRL_NO_ID},
                        was->unary[u], at->unary[u]);
    for (uint32_t w = 0; w < x->word_first[x->words.n]; w++)
        if (at->word[w + 1] > at->word[w])
            split_table(h, at->k, (uint32_t[]){x->word_tag[w], TRL_NO_ID, TRL_NO_ID}, was->word[w],
                        at->word[w]);
    for (uint32_t c = 0; c < x->class_first[x->classes.n]; c++)
        if (at->class_[c + 1] > at->class_[c])
            split_table(h, at->k, (uint32_t[]){x->class_tag[c], TRL_NO_ID, TRL_NO_ID},
                        was->class_[c], at->class_[c]);
}

static double tokens_of(const trl_latent *l, uint32_t s)
{
    return l->g->state[s].type == TRL_STATE_TAG ? l->x->state_count[s] : l->g->parent_count[s];
}

static trl_status room(em *e, trl_error *err)
{
    for (size_t k = 0; k < LANES; k++) {
        trl_free(e->lane[k].count);
        e->lane[k].count = trl_alloc(e->l->at.n, sizeof *e->lane[k].count);
        if (!e->lane[k].count)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

/* Twice as many substates, up to `most`, of all states with enough tokens.  *more: there are any.
 */
static trl_status split(em *e, unsigned most, bool *more, trl_error *err)
{
    trl_latent *l = e->l;
    const size_t n = l->g->n_states;
    trl_latent_layout was = l->at;
    uint8_t *k = trl_alloc(n, 1);
    *more = false;
    for (uint32_t s = 0; k && s < n; s++) {
        const bool enough = tokens_of(l, s) >= e->o->tokens * 2.0 * was.k[s];
        k[s] = s != l->g->root && enough && was.k[s] * 2u <= most ? was.k[s] * 2 : was.k[s];
        *more = *more || k[s] > was.k[s];
    }
    trl_status st = trl_latent_layout_init(&l->at, l->g, l->x, k, err);
    float *p = st == TRL_OK ? trl_alloc(l->at.n, sizeof *p) : NULL;
    if (st == TRL_OK && !p)
        st = trl_fail_mem(err);
    if (st == TRL_OK) {
        split_tables(l, &was, &(halves){was.k, e->l->p, p, e->o->seed + most});
        trl_free(e->l->p);
        e->l->p = p;
        st = room(e, err);
    }
    trl_latent_layout_fini(&was);
    return st;
}

/* ---- the grammar ----------------------------------------------------------------------------- */

/* Rules of the trees share with those never seen as the PCFG has them. */
static void finish_rules(em *e)
{
    const trl_latent *l = e->l;
    const trl_grammar *g = l->g;
    for (size_t r = 0; r < g->n_binary; r++) {
        const uint32_t a = g->binary[r].parent;
        const double all = g->parent_count[a] + 0.1 * (double)g->parent_unseen[a];
        const float f = (float)(all_of(e, a) / all);
        for (size_t x = l->at.binary[r]; x < l->at.binary[r + 1]; x++)
            e->l->p[x] *= f < 1.0f ? f : 1.0f;
    }
    for (size_t u = 0; u < g->n_unary; u++) {
        const uint32_t a = g->unary[u].parent;
        const double all = g->parent_count[a] + 0.1 * (double)g->parent_unseen[a];
        const float f = (float)(all_of(e, a) / all);
        for (size_t x = l->at.unary[u]; x < l->at.unary[u + 1]; x++)
            e->l->p[x] *= f < 1.0f ? f : 1.0f;
    }
}

/* p(w | T_x) becomes p(x | T, w) / p(x | T). */
static void finish_word(em *e, uint32_t state, size_t place, size_t n)
{
    const unsigned k = e->l->at.k[state];
    const double all = all_of(e, state);
    double mean = 0.0, tokens = 0.0;
    (void)n;
    for (unsigned x = 0; x < k; x++) {
        mean += all > 0.0 ? e->total[state * MOST + x] / all * (double)e->l->p[place + x] : 0.0;
        tokens += (double)e->lane[0].count[place + x];
    }
    for (unsigned x = 0; x < k; x++) {
        const double ratio = mean > 0.0 ? (double)e->l->p[place + x] / mean : 1.0;
        e->l->p[place + x] = (float)((tokens * ratio + WORD_TOKENS) / (tokens + WORD_TOKENS));
    }
}

static trl_status start(em *e, trl_error *err)
{
    trl_latent *l = e->l;
    size_t most = 0;
    uint8_t *k = trl_alloc(l->g->n_states, 1);
    if (k)
        memset(k, 1, l->g->n_states);
    trl_status st = trl_latent_layout_init(&l->at, l->g, l->x, k, err);
    e->l->p = st == TRL_OK ? trl_alloc(l->at.n, sizeof *e->l->p) : NULL;
    e->total = trl_alloc(l->g->n_states * MOST, sizeof *e->total);
    if (st != TRL_OK || !e->l->p || !e->total)
        return st != TRL_OK ? st : trl_fail_mem(err);
    for (size_t x = 0; x < l->at.n; x++)
        e->l->p[x] = 0.5f;
    for (size_t x = 0; x < e->n; x++)
        most = e->tree[x].tree.n > most ? e->tree[x].tree.n : most;
    for (size_t x = 0; x < LANES; x++) {
        trl_latent_scratch *a = &e->lane[x].scratch;
        a->in = trl_alloc(most, sizeof *a->in);
        a->out = trl_alloc(most, sizeof *a->out);
        if (!a->in || !a->out)
            return trl_fail_mem(err);
    }
    return room(e, err);
}

static void fini(em *e)
{
    for (size_t k = 0; k < LANES; k++) {
        trl_free(e->lane[k].count);
        trl_free(e->lane[k].scratch.in);
        trl_free(e->lane[k].scratch.out);
    }
    trl_free(e->total);
}

trl_status trl_latent_learn(trl_latent *l, const trl_latent_tree *tree, size_t n,
                            const trl_latent_options *o, trl_pool *pool, trl_error *err)
{
    em e = {.l = l, .o = o, .tree = tree, .n = n, .pool = pool};
    double unused;
    bool more = true;
    trl_status st = start(&e, err);
    if (st == TRL_OK)
        st = count(&e, &unused, err); /* of one substate: how often there is what */
    if (st == TRL_OK)
        maximise(&e);
    for (unsigned most = 2; st == TRL_OK && more && most <= o->most; most *= 2) {
        st = split(&e, most, &more, err);
        if (st == TRL_OK)
            st = iterate(&e, most, err);
    }
    if (st == TRL_OK) {
        finish_rules(&e);
        word_tables(&e, finish_word);
        st = trl_latent_pack(l, err);
    }
    fini(&e);
    if (st != TRL_OK)
        trl_latent_fini(l);
    return st;
}
