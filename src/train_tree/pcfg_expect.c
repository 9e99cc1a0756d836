/* pcfg_expect.c -- inside and outside systems of a PCFG; trees drawn from the root down. */
/* SPDX-License-Identifier: MIT */
#include "train_tree/pcfg_expect.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define SWEEPS 200000
#define PRECISION 1e-15 /* relative change at which iteration stops */
#define INFINITE 1e9    /* expected numbers above this count as infinite */

/* ---- words by tag ---------------------------------------------------------------------------- */

static trl_status words_by_tag(trl_pcfg_expect *p, trl_error *err)
{
    const trl_lexicon *x = p->x;
    const size_t n = p->g->n_states, pairs = x->word_first[x->words.n];
    p->word_first = trl_zalloc(n + 2, sizeof *p->word_first);
    p->word = trl_alloc(pairs, sizeof *p->word);
    p->word_p = trl_alloc(pairs, sizeof *p->word_p);
    p->word_sum = trl_alloc(pairs, sizeof *p->word_sum);
    if (!p->word_first || !p->word || !p->word_p || !p->word_sum)
        return trl_fail_mem(err);
    for (size_t k = 0; k < pairs; k++)
        p->word_first[x->word_tag[k] + 2]++;
    for (size_t t = 2; t < n + 2; t++)
        p->word_first[t] += p->word_first[t - 1];
    for (uint32_t w = 0; w < x->words.n; w++)
        for (uint32_t k = x->word_first[w]; k < x->word_first[w + 1]; k++) {
            const uint32_t at = p->word_first[x->word_tag[k] + 1]++;
            p->word[at] = w;
            p->word_p[at] = x->word_tag_count[k];
        }
    for (size_t t = 0; t < n; t++) {
        double all = 0.0, sum = 0.0;
        for (uint32_t k = p->word_first[t]; k < p->word_first[t + 1]; k++)
            all += p->word_p[k];
        for (uint32_t k = p->word_first[t]; k < p->word_first[t + 1]; k++) {
            p->word_p[k] /= all;
            p->word_sum[k] = sum += p->word_p[k];
        }
    }
    return TRL_OK;
}

/* ---- inside ---------------------------------------------------------------------------------- */

/* One sweep; the largest relative change. */
static double inside_sweep(trl_pcfg_expect *p, const trl_pcfg *pcfg)
{
    const trl_grammar *g = p->g;
    double change = 0.0;
    for (uint32_t a = 0; a < g->n_states; a++) {
        double b = g->state[a].type == TRL_STATE_TAG && p->word_first[a] < p->word_first[a + 1];
        for (uint32_t k = p->e->binary_first[a]; k < p->e->binary_first[a + 1]; k++) {
            const trl_binary *r = &g->binary[p->e->binary[k]];
            b += pcfg->binary_exp[p->e->binary[k]] * p->in_after[r->left] * p->in_after[r->right];
        }
        double s = b;
        for (uint32_t k = p->e->unary_first[a]; k < p->e->unary_first[a + 1]; k++)
            s += exp(pcfg->unary[p->e->unary[k]]) * p->in_before[g->unary[p->e->unary[k]].child];
        change = fmax(change, s > 0.0 ? fabs(s - p->in_after[a]) / s : 0.0);
        change = fmax(change, b > 0.0 ? fabs(b - p->in_before[a]) / b : 0.0);
        p->in_before[a] = b;
        p->in_after[a] = s;
    }
    return change;
}

static trl_status solve_inside(trl_pcfg_expect *p, const trl_pcfg *pcfg, trl_error *err)
{
    const trl_grammar *g = p->g;
    size_t sweep = 0;
    while (inside_sweep(p, pcfg) > PRECISION && sweep < SWEEPS)
        sweep++;
    p->mass = p->in_after[g->root];
    if (!(p->mass > 0.0) || !isfinite(p->mass) || sweep == SWEEPS)
        return trl_fail(err, TRL_ENUMERIC,
                        p->mass > 0.0 ? "the mass of the grammar's trees does not converge"
                                      : "the grammar has no finite tree");
    for (size_t a = 0; a < g->n_states; a++)
        p->stay[a] = p->in_after[a] > 0.0 ? p->in_before[a] / p->in_after[a] : 0.0;
    for (size_t r = 0; r < g->n_binary; r++) {
        const trl_binary *b = &g->binary[r];
        const double z = p->in_before[b->parent];
        p->binary[r] =
            z > 0.0 ? pcfg->binary_exp[r] * p->in_after[b->left] * p->in_after[b->right] / z : 0.0;
    }
    for (size_t u = 0; u < g->n_unary; u++) {
        const double z = p->in_after[g->unary[u].parent];
        p->unary[u] = z > 0.0 ? exp(pcfg->unary[u]) * p->in_before[g->unary[u].child] / z : 0.0;
    }
    return TRL_OK;
}

/* ---- outside --------------------------------------------------------------------------------- */

/* Binary rules by right child. */
typedef struct by_right {
    uint32_t *first, *rule;
} by_right;

static bool index_right(const trl_grammar *g, by_right *x)
{
    x->first = trl_zalloc(g->n_states + 2, sizeof *x->first);
    x->rule = trl_alloc(g->n_binary, sizeof *x->rule);
    if (!x->first || !x->rule)
        return false;
    for (size_t r = 0; r < g->n_binary; r++)
        x->first[g->binary[r].right + 2]++;
    for (size_t s = 2; s < g->n_states + 2; s++)
        x->first[s] += x->first[s - 1];
    for (uint32_t r = 0; r < g->n_binary; r++)
        x->rule[x->first[g->binary[r].right + 1]++] = r;
    return true;
}

static double outside_sweep(const trl_pcfg_expect *p, const by_right *right, double *before,
                            double *after)
{
    const trl_grammar *g = p->g;
    double change = 0.0;
    for (uint32_t s = 0; s < g->n_states; s++) {
        double a = s == g->root;
        for (uint32_t r = g->by_left[s]; r < g->by_left[s + 1]; r++)
            a += before[g->binary[r].parent] * p->binary[r];
        for (uint32_t k = right ? right->first[s] : 0; right && k < right->first[s + 1]; k++)
            a += before[g->binary[right->rule[k]].parent] * p->binary[right->rule[k]];
        after[s] = a;
        double b = a * p->stay[s];
        for (uint32_t u = g->by_child[s]; u < g->by_child[s + 1]; u++)
            b += after[g->unary[u].parent] * p->unary[u];
        change = fmax(change, b > 0.0 ? fabs(b - before[s]) / b : 0.0);
        before[s] = b;
        if (!(b < INFINITE))
            return (double)NAN;
    }
    return change;
}

static trl_status solve_outside(const trl_pcfg_expect *p, const by_right *right, double *before,
                                double *after, trl_error *err)
{
    double change = 1.0;
    for (size_t sweep = 0; sweep < SWEEPS && change > PRECISION; sweep++)
        change = outside_sweep(p, right, before, after);
    return change <= PRECISION
               ? TRL_OK
               : trl_fail(err, TRL_ENUMERIC, "the trees of the PCFG have no finite expected size");
}

/* ---- all of it ------------------------------------------------------------------------------- */

static trl_status solve(trl_pcfg_expect *p, const trl_pcfg *pcfg, trl_error *err)
{
    by_right right = {0};
    trl_status st = words_by_tag(p, err);
    if (st == TRL_OK)
        st = solve_inside(p, pcfg, err);
    if (st == TRL_OK && !index_right(p->g, &right))
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        st = solve_outside(p, &right, p->before, p->after, err);
    if (st == TRL_OK)
        st = solve_outside(p, NULL, p->first_before, p->first_after, err);
    trl_free(right.first);
    trl_free(right.rule);
    for (size_t s = 0; s < p->g->n_states; s++)
        p->length += p->g->state[s].type == TRL_STATE_TAG ? p->before[s] : 0.0;
    return st;
}

trl_status trl_pcfg_expect_init(trl_pcfg_expect *p, const trl_pcfg *pcfg, const trl_expansions *e,
                                trl_error *err)
{
    const trl_grammar *g = pcfg->g;
    const size_t n = g->n_states;
    *p = (trl_pcfg_expect){.g = g, .x = pcfg->x, .e = e};
    double *block = trl_zalloc(7 * n + g->n_binary + g->n_unary, sizeof *block);
    if (!block)
        return trl_fail_mem(err);
    p->in_before = block;
    p->in_after = block + n;
    p->before = block + 2 * n;
    p->after = block + 3 * n;
    p->first_before = block + 4 * n;
    p->first_after = block + 5 * n;
    p->stay = block + 6 * n;
    p->binary = block + 7 * n;
    p->unary = p->binary + g->n_binary;
    const trl_status st = solve(p, pcfg, err);
    if (st != TRL_OK)
        trl_pcfg_expect_fini(p);
    return st;
}

void trl_pcfg_expect_fini(trl_pcfg_expect *p)
{
    trl_free(p->in_before);
    trl_free(p->word_first);
    trl_free(p->word);
    trl_free(p->word_p);
    trl_free(p->word_sum);
    *p = (trl_pcfg_expect){0};
}

/* ---- drawing --------------------------------------------------------------------------------- */

typedef struct waiting { /* a node to be made */
    uint32_t state, above;
    bool after, right;
} waiting;

/* Draws the expansion of `a`: a binary rule, a unary rule, or neither (a word). */
static uint32_t draw_rule(const trl_pcfg_expect *p, trl_rng *rng, uint32_t a, bool after,
                          bool *unary)
{
    double u = trl_rng_unit(rng);
    *unary = false;
    if (after && u >= p->stay[a]) {
        u -= p->stay[a];
        *unary = true;
        uint32_t last = TRL_NO_ID;
        for (uint32_t k = p->e->unary_first[a]; k < p->e->unary_first[a + 1]; k++) {
            if (!(p->unary[p->e->unary[k]] > 0.0))
                continue;
            last = p->e->unary[k];
            if (u < p->unary[last])
                return last;
            u -= p->unary[last];
        }
        if (last != TRL_NO_ID)
            return last; /* rounding */
        *unary = false;
    }
    uint32_t last = TRL_NO_ID;
    u = trl_rng_unit(rng);
    for (uint32_t k = p->e->binary_first[a]; k < p->e->binary_first[a + 1]; k++) {
        if (!(p->binary[p->e->binary[k]] > 0.0))
            continue;
        last = p->e->binary[k];
        if (u < p->binary[last])
            return last;
        u -= p->binary[last];
    }
    return last;
}

static uint32_t draw_word(const trl_pcfg_expect *p, trl_rng *rng, uint32_t tag)
{
    const double u = trl_rng_unit(rng);
    uint32_t lo = p->word_first[tag], hi = p->word_first[tag + 1] - 1;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (u < p->word_sum[mid])
            hi = mid;
        else
            lo = mid + 1;
    }
    return p->word[lo];
}

typedef struct drawing {
    trl_btree *out;
    waiting *stack;
    size_t n_stack, n_words, max_words;
} drawing;

static trl_status draw_node(const trl_pcfg_expect *p, trl_rng *rng, drawing *d, uint32_t *word,
                            trl_error *err)
{
    const trl_grammar *g = p->g;
    const waiting w = d->stack[--d->n_stack];
    const uint32_t me = (uint32_t)d->out->n;
    bool unary;
    const uint32_t rule = draw_rule(p, rng, w.state, w.after, &unary);
    trl_bnode *node = trl_reserve(d->out->node, &d->out->cap, me + 1u, sizeof *node);
    if (!node)
        return trl_fail_mem(err);
    d->out->node = node;
    d->out->n++;
    node[me] = (trl_bnode){w.state, rule, (uint32_t)d->n_words, 0, TRL_NO_NODE, TRL_NO_NODE};
    if (w.above != TRL_NO_NODE)
        *(w.right ? &node[w.above].right : &node[w.above].left) = me;
    if (rule == TRL_NO_ID) {
        word[d->n_words++] = draw_word(p, rng, w.state);
    } else if (unary) {
        d->stack[d->n_stack++] = (waiting){g->unary[rule].child, me, false, false};
    } else {
        d->stack[d->n_stack++] = (waiting){g->binary[rule].right, me, true, true};
        d->stack[d->n_stack++] = (waiting){g->binary[rule].left, me, true, false};
    }
    return TRL_OK;
}

trl_status trl_pcfg_sample(const trl_pcfg_expect *p, trl_rng *rng, const trl_pcfg_draw *draw,
                           trl_btree *out, trl_error *err)
{
    drawing d = {.out = out, .max_words = draw->max_words};
    d.stack = trl_alloc(draw->max_words + 2, sizeof *d.stack);
    if (!d.stack)
        return trl_fail_mem(err);
    trl_status st = TRL_OK;
    for (bool again = true; again && st == TRL_OK;) {
        again = false;
        out->n = d.n_words = 0;
        d.stack[0] = (waiting){p->g->root, TRL_NO_NODE, true, false};
        d.n_stack = 1;
        while (st == TRL_OK && d.n_stack && !again) {
            st = draw_node(p, rng, &d, draw->word, err);
            again = d.n_words + d.n_stack > draw->max_words; /* everything waiting has a word */
        }
        *draw->rejected += again;
    }
    for (size_t k = out->n; st == TRL_OK && k-- > 0;) {
        trl_bnode *n = &out->node[k];
        n->to = n->left == TRL_NO_NODE ? n->from + 1
                                       : out->node[n->right == TRL_NO_NODE ? n->left : n->right].to;
    }
    trl_free(d.stack);
    return st;
}
