/* viterbi_em.c -- the best derivation of every pair, then counts. */
/* SPDX-License-Identifier: MIT */
#include "train_translate/viterbi_em.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "translate/transducer.h"

#define PIECE 64

/* An item: target words in lo .. hi; its head is a target word, TRL_NO_ID: NULL; `left` of a word's
 * is its place in the target, or TRL_NO_ID. */
typedef trl_interval_item item;

/* A derivation: places in the target sentence, orders of nodes. */
typedef struct derivation {
    uint32_t *place;      /* [n_words] NULL: there is none yet */
    unsigned char *order; /* [n_nodes] */
} derivation;

typedef struct em {
    trl_generative *g;
    const trl_em_text *t;
    derivation *best; /* [pairs] */
    double *cost;     /* [pairs] of the best */
    trl_arena *arena; /* [threads] */
} em;

/* ---- one pair -------------------------------------------------------------------------------- */

typedef struct chart {
    const em *e;
    const trl_source *s;
    const uint32_t *target; /* words of the target sentence */
    trl_interval_chart nodes;
} chart;

static int by_cost(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->left != y->left)
        return x->left < y->left ? -1 : 1;
    return (x->right > y->right) - (x->right < y->right);
}

/* Keeps the cheapest that cover none of the same head that is cheaper, and the empty ones. */
static void prune(trl_interval_cell *c, size_t beam)
{
    size_t kept = 0;
    qsort(c->item, c->n, sizeof *c->item, by_cost);
    for (size_t k = 0; k < c->n; k++) {
        const item x = c->item[k];
        bool beaten = beam && kept >= beam && !trl_interval_empty(&x);
        for (size_t q = 0; q < kept && !beaten; q++) {
            const item *y = &c->item[q];
            beaten =
                y->head == x.head && (trl_interval_empty(y) ||
                                      (!trl_interval_empty(&x) && x.lo <= y->lo && y->hi <= x.hi));
        }
        if (!beaten)
            c->item[kept++] = x;
    }
    c->n = kept;
}

static bool make_word(chart *c, uint32_t v, const trl_link *link, size_t n)
{
    trl_interval_cell *to = &c->nodes.cell[v];
    if (!(to->item = trl_arena_get(c->nodes.arena, n + 1, sizeof *to->item)))
        return false;
    to->item[to->n++] = (item){.lo = 1, .head = TRL_NO_ID, .left = TRL_NO_ID};
    for (size_t k = 0; k < n; k++) {
        const uint32_t at = link[k].target;
        to->item[to->n++] =
            (item){.cost = -TRL_SPURIOUS, .lo = at, .hi = at, .head = c->target[at], .left = at};
    }
    return true;
}

/* What the node pays for its other child and its order. */
static void pay(const void *ctx, uint32_t v, const item pair[2], item *out)
{
    const chart *c = ctx;
    const trl_source *s = c->s;
    const trl_source_node *node = &s->node[v];
    const bool head_left = s->node[node->left].head == node->head;
    const uint32_t other = s->node[head_left ? node->right : node->left].head;
    out->head = pair[!head_left].head;
    out->cost += trl_generative_word_cost(c->e->g, s->word[other], out->head, pair[head_left].head);
    if (out->order != TRL_ORDER_FREE)
        out->cost += trl_generative_order_cost(c->e->g, s, v, out->order == TRL_ORDER_SWAPPED);
}

static uint32_t best_root(const chart *c, double *cost)
{
    const size_t root = c->s->n_nodes - 1;
    const trl_interval_cell *x = &c->nodes.cell[root];
    uint32_t best = 0;
    *cost = HUGE_VAL;
    for (uint32_t k = 0; k < x->n; k++) {
        const double whole =
            x->item[k].cost + trl_generative_word_cost(c->e->g, c->s->word[c->s->node[root].head],
                                                       TRL_ROOT_HEAD, x->item[k].head);
        if (whole < *cost) {
            *cost = whole;
            best = k;
        }
    }
    return best;
}

/* The cost of a derivation under the present model. */
static double cost_of(const chart *c, const derivation *d)
{
    const trl_source *s = c->s;
    double cost = 0.0;
    for (size_t v = 0; v < s->n_nodes; v++) {
        if (v < s->n_words) {
            cost -= d->place[v] == TRL_NO_ID ? 0.0 : TRL_SPURIOUS;
            continue;
        }
        const trl_source_node *node = &s->node[v];
        const bool head_left = s->node[node->left].head == node->head;
        const uint32_t other = s->node[head_left ? node->right : node->left].head;
        const uint32_t h = d->place[node->head], o = d->place[other];
        cost += trl_generative_word_cost(c->e->g, s->word[other], h == TRL_NO_ID ? h : c->target[h],
                                         o == TRL_NO_ID ? o : c->target[o]);
        if (d->order[v] != TRL_ORDER_FREE)
            cost += trl_generative_order_cost(c->e->g, s, v, d->order[v] == TRL_ORDER_SWAPPED);
    }
    const uint32_t head = s->node[s->n_nodes - 1].head, h = d->place[head];
    return cost + trl_generative_word_cost(c->e->g, s->word[head], TRL_ROOT_HEAD,
                                           h == TRL_NO_ID ? h : c->target[h]);
}

static bool read_out(const chart *c, uint32_t root, derivation *d)
{
    const trl_source *s = c->s;
    if (!d->place) {
        if (!(d->place = trl_alloc(s->n_words * sizeof *d->place + s->n_nodes, 1)))
            return false;
        d->order = (unsigned char *)(d->place + s->n_words);
    }
    return trl_interval_read(&c->nodes, root, d->place, d->order);
}

static trl_status derive(em *e, size_t k, trl_arena *arena, trl_error *err)
{
    const trl_source *s = &e->t->corpus->pair[k].source;
    const trl_side *side = &e->t->text->side[1];
    const trl_links *l = e->t->links;
    chart c = {.e = e, .s = s, .target = side->id + trl_side_begin(side, k)};
    bool room = trl_interval_start(&c.nodes, s, arena);
    uint64_t first = trl_links_begin(l, k);
    for (uint32_t v = 0; room && v < s->n_nodes; v++) {
        if (v >= s->n_words) {
            room = trl_interval_join(&c.nodes, v, pay, &c);
            if (room)
                prune(&c.nodes.cell[v], e->t->beam);
            continue;
        }
        uint64_t last = first;
        while (last < l->end[k] && l->link[last].source == v)
            last++;
        room = make_word(&c, v, l->link + first, last - first);
        first = last;
    }
    if (!room)
        return trl_fail_mem(err);
    double cost;
    const uint32_t root = best_root(&c, &cost);
    const double before = e->best[k].place ? cost_of(&c, &e->best[k]) : HUGE_VAL;
    if (cost < before && !read_out(&c, root, &e->best[k]))
        return trl_fail_mem(err);
    e->cost[k] = (cost < before ? cost : before) + TRL_SPURIOUS * (double)trl_side_length(side, k);
    return TRL_OK;
}

static trl_status derive_piece(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    em *e = ctx;
    const trl_translate_corpus *c = e->t->corpus;
    trl_status st = TRL_OK;
    for (size_t k = piece * PIECE; st == TRL_OK && k < c->n && k < (piece + 1) * PIECE; k++)
        if (!c->pair[k].held && c->pair[k].source.n_words)
            st = derive(e, k, &e->arena[worker], err);
    return st;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool count_pair(em *e, size_t k)
{
    const trl_source *s = &e->t->corpus->pair[k].source;
    const derivation *d = &e->best[k];
    const trl_side *side = &e->t->text->side[1];
    const uint32_t *target = side->id + trl_side_begin(side, k);
    bool room = true;
    for (size_t v = s->n_words; room && v <= s->n_nodes; v++) {
        const bool root = v == s->n_nodes;
        const trl_source_node *node = &s->node[root ? v - 1 : v];
        const bool head_left = !root && s->node[node->left].head == node->head;
        const uint32_t word =
            root ? node->head : s->node[head_left ? node->right : node->left].head;
        const uint32_t h = d->place[node->head], o = d->place[word];
        const uint32_t pair[2] = {root             ? TRL_ROOT_HEAD
                                  : h == TRL_NO_ID ? h
                                                   : target[h],
                                  o == TRL_NO_ID ? o : target[o]};
        room = trl_generative_add_word(e->g, s->word[word], pair, 1);
        if (room && !root && d->order[v] != TRL_ORDER_FREE)
            room = trl_generative_add_order(e->g, s, v, d->order[v] == TRL_ORDER_SWAPPED, 1);
    }
    return room;
}

/* Minus the log of the priors, up to a constant: of contexts without counts nothing changes. */
static double prior_cost(const trl_generative *g)
{
    double sum = 0.0;
    for (size_t k = 0; k < g->context.index.n; k++) /* as if no target had counts */
        sum -= TRL_BILEXICAL_PRIOR *
               log(TRL_BILEXICAL_PRIOR / (g->context.count[k] + TRL_BILEXICAL_PRIOR));
    for (size_t k = 0; k < g->triple.index.n; k++) {
        const uint32_t context = (uint32_t)(g->triple.key[k] >> 32);
        const uint32_t target = (uint32_t)g->triple.key[k];
        const uint32_t word = (uint32_t)(g->context.key[context] >> 32);
        const double null = target == TRL_NO_ID ? 0.5 : 0.0;
        const uint64_t pair = (uint64_t)word << 32 | target;
        const double base =
            (trl_counts_get(&g->base, pair) + null) / (trl_counts_get(&g->base_total, word) + 0.5);
        /* log p - log(K p0 / (c + K)), beyond what was summed above */
        sum -=
            TRL_BILEXICAL_PRIOR * base *
            log((g->triple.count[k] + TRL_BILEXICAL_PRIOR * base) / (TRL_BILEXICAL_PRIOR * base));
    }
    for (size_t k = 0; k < g->order.index.n; k++) { /* once for both orders of a key */
        const uint64_t key = g->order.key[k];
        const double c = g->order.count[k], other = trl_counts_get(&g->order, key ^ 1);
        const bool both = trl_key_index_find(&g->order.index, key ^ 1) != TRL_NO_ID;
        sum -= log((c + 1.0) / (c + other + 2.0));
        if (!both)
            sum -= log((other + 1.0) / (c + other + 2.0));
        sum -= (both ? 1.0 : 2.0) * log(2.0); /* 0 without counts */
    }
    return sum;
}

trl_status trl_em_start(trl_generative *g, const trl_em_text *t, trl_error *err)
{
    const trl_translate_corpus *c = t->corpus;
    for (size_t k = 0; k < c->n; k++) {
        const trl_translate_pair *p = &c->pair[k];
        for (size_t i = 0; !p->held && i < p->source.n_words; i++)
            if (!trl_counts_add(&g->base, (uint64_t)p->source.word[i] << 32 | p->target[i], 1) ||
                !trl_counts_add(&g->base_total, p->source.word[i], 1))
                return trl_fail_mem(err);
    }
    return TRL_OK;
}

static trl_status count_all(em *e, trl_error *err)
{
    trl_generative_clear(e->g);
    for (size_t k = 0; k < e->t->corpus->n; k++)
        if (e->best[k].place && !count_pair(e, k))
            return trl_fail_mem(err);
    return TRL_OK;
}

static trl_status iterate(em *e, double *objective, trl_error *err)
{
    const trl_translate_corpus *c = e->t->corpus;
    const trl_status st =
        trl_pool_run(e->t->pool, (c->n + PIECE - 1) / PIECE, derive_piece, e, err);
    if (st != TRL_OK)
        return st;
    if (objective) {
        *objective = prior_cost(e->g);
        for (size_t k = 0; k < c->n; k++)
            *objective += e->cost[k];
    }
    return count_all(e, err);
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* Places and orders of all pairs that have some, back to back. */
static trl_status keep_derivations(const em *e, size_t iteration, trl_error *err)
{
    trl_buf bytes = {0};
    if (!e->t->journal)
        return TRL_OK;
    for (size_t k = 0; k < e->t->corpus->n; k++) {
        const trl_source *s = &e->t->corpus->pair[k].source;
        if (e->best[k].place) /* one block */
            trl_buf_add(&bytes, e->best[k].place, s->n_words * sizeof(uint32_t) + s->n_nodes);
    }
    const bool room = !bytes.failed;
    if (room)
        trl_journal_add(e->t->journal, TRL_RECORD_EM, iteration, bytes.data, bytes.len);
    trl_buf_fini(&bytes);
    return room ? TRL_OK : trl_fail_mem(err);
}

static bool sound_derivation(const em *e, size_t k)
{
    const trl_source *s = &e->t->corpus->pair[k].source;
    const size_t n = trl_side_length(&e->t->text->side[1], k);
    const derivation *d = &e->best[k];
    for (size_t i = 0; i < s->n_words; i++)
        if (d->place[i] != TRL_NO_ID && d->place[i] >= n)
            return false;
    for (size_t v = 0; v < s->n_nodes; v++)
        if (d->order[v] > TRL_ORDER_SWAPPED)
            return false;
    return true;
}

/* The last iteration that the journal has; *done: how many iterations that is. */
static trl_status take_derivations(em *e, size_t iterations, size_t *done, trl_error *err)
{
    size_t left = 0;
    const unsigned char *p = NULL;
    for (size_t k = 0; k < iterations; k++) {
        const void *found = trl_journal_find(e->t->journal, TRL_RECORD_EM, k, &left);
        if (!found)
            break;
        p = found;
        *done = k + 1;
    }
    if (!p)
        return TRL_OK;
    (void)trl_journal_find(e->t->journal, TRL_RECORD_EM, *done - 1, &left);
    bool sound = true;
    for (size_t k = 0; sound && k < e->t->corpus->n; k++) {
        const trl_translate_pair *pair = &e->t->corpus->pair[k];
        const size_t bytes = pair->source.n_words * sizeof(uint32_t) + pair->source.n_nodes;
        if (pair->held || !pair->source.n_words)
            continue;
        if (!(e->best[k].place = trl_alloc(bytes, 1)))
            return trl_fail_mem(err);
        e->best[k].order = (unsigned char *)(e->best[k].place + pair->source.n_words);
        sound = trl_take(&p, &left, e->best[k].place, bytes) && sound_derivation(e, k);
    }
    if (!sound || left)
        return trl_fail(err, TRL_EMODEL, "a record of the checkpoint belongs to another run");
    return count_all(e, err);
}

trl_status trl_viterbi_em(trl_generative *g, const trl_em_text *t, size_t iterations,
                          double *objective, trl_error *err)
{
    const size_t n = t->corpus->n, threads = trl_pool_threads(t->pool);
    em e = {g, t, trl_zalloc(n, sizeof *e.best), trl_zalloc(n, sizeof *e.cost),
            trl_zalloc(threads, sizeof *e.arena)};
    trl_status st = e.best && e.cost && e.arena ? TRL_OK : trl_fail_mem(err);
    size_t done = 0;
    if (st == TRL_OK)
        st = take_derivations(&e, iterations, &done, err);
    for (size_t k = 0; objective && k < done; k++)
        objective[k] = NAN;
    for (size_t k = done; st == TRL_OK && k < iterations; k++) {
        st = iterate(&e, objective ? &objective[k] : NULL, err);
        if (st == TRL_OK)
            st = keep_derivations(&e, k, err);
    }
    for (size_t k = 0; e.best && k < n; k++)
        trl_free(e.best[k].place);
    for (size_t k = 0; e.arena && k < threads; k++)
        trl_arena_fini(&e.arena[k]);
    trl_free(e.best);
    trl_free(e.cost);
    trl_free(e.arena);
    return st;
}
