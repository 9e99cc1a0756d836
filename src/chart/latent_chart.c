/* latent_chart.c -- inside and outside of a grammar with substates of states.
 *
 * As chart_kernel.c, with a vector of substates in place of every number.  Numbers of a cell are
 * times 2^scale; inside times outside is the posterior.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "chart/chart_kernel.h"
#include "chart/latent.h"
#include "chart/latent_kernel.h"

#define MOST TRL_LATENT_MOST
#define UNSET INT32_MIN

typedef struct run {
    const trl_latent *l;
    trl_chart *c;
    float (*before)[MOST], (*after)[MOST], (*out_before)[MOST], (*out_after)[MOST]; /* [items] */
    float *mean;         /* [items]: of `after`; 0: the item has no tree */
    const uint8_t *dead; /* [items], or NULL */
} run;

static const float one[MOST] = {1.0f};

static unsigned substates(const run *r, uint32_t item)
{
    return r->l->at.k[r->c->s->item[item] & TRL_STATE_MASK];
}

TRL_INLINE bool is_dead(const run *r, uint32_t item)
{
    return r->dead && r->dead[item];
}

static float sum_of(const float *v, unsigned n)
{
    float sum = 0.0f;
    for (unsigned x = 0; x < n; x++)
        sum += v[x];
    return sum;
}

static double dot(const float *a, const float *b, unsigned n)
{
    double sum = 0.0;
    for (unsigned x = 0; x < n; x++)
        sum += (double)a[x] * (double)b[x];
    return sum;
}

TRL_INLINE trl_latent_row_list binary_rule(const run *r, uint32_t rule)
{
    const trl_latent *l = r->l;
    const trl_binary *b = &l->g->binary[rule];
    const size_t from = l->rows.first[rule];
    const bool seen = l->at.binary[rule + 1] > l->at.binary[rule];
    return (trl_latent_row_list){l->rows.xy + 2 * from,
                                 seen ? l->rows.p + l->rows.number[rule] : NULL,
                                 l->rows.first[rule + 1] - from,
                                 l->at.k[b->parent],
                                 l->at.k[b->left],
                                 l->at.k[b->right]};
}

static trl_latent_rule unary_rule(const run *r, uint32_t rule)
{
    const trl_latent *l = r->l;
    const trl_unary *u = &l->g->unary[rule];
    const size_t from = l->at.unary[rule];
    const bool seen = l->at.unary[rule + 1] > from;
    return (trl_latent_rule){seen ? trl_latent_at(l, from) : NULL, l->at.k[u->parent], 1,
                             l->at.k[u->child]};
}

/* ---- words ----------------------------------------------------------------------------------- */

static void set_word(run *r, uint32_t item, size_t place, double p)
{
    const unsigned n = substates(r, item);
    for (unsigned x = 0; x < n; x++)
        r->before[item][x] = (float)p * (place == SIZE_MAX ? 1.0f : trl_latent_at(r->l, place)[x]);
}

/* log p(word | tag), and what is known of the tags, for the tags of word i; the largest is 1. */
static void set_tags(run *r, const trl_words *w, const trl_tag_scores *tags, size_t i,
                     uint32_t *tag, double *logp)
{
    const trl_latent *l = r->l;
    const trl_chart *c = r->c;
    const uint32_t word = trl_lexicon_word(l->x, w->word[i]);
    const uint32_t cls = trl_lexicon_class(l->x, w->word[i], i);
    const size_t n = trl_lexicon_tags(l->x, l->g, word, cls, tag, logp);
    const size_t cell = trl_cell(i, i + 1);
    const uint32_t from = c->s->first[cell], to = c->s->first[cell + 1];
    double top = -HUGE_VAL;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t x = from; x < to; x++) {
            const uint32_t s = c->s->item[x] & TRL_STATE_MASK;
            if (!(c->s->item[x] & TRL_BEFORE) || l->g->state[s].type != TRL_STATE_TAG)
                continue;
            size_t k = 0;
            while (k < n && tag[k] != s)
                k++;
            double score = k < n ? logp[k] : -100.0;
            if (tags && tags->given[i])
                score += tags->score[i * l->g->n_states + s];
            if (pass == 0)
                top = score > top ? score : top;
            else
                set_word(r, x, trl_latent_word(&l->at, l->x, word, cls, s),
                         isfinite(top) ? exp(score - top) : 0.0);
        }
}

/* ---- inside ---------------------------------------------------------------------------------- */

static bool dead(const run *r, size_t cell)
{
    return r->c->scale[cell] == UNSET;
}

/* Times 2^e, in two steps so that no factor is 0 or infinite. */
static void scale(float *v, int e)
{
    const float half = ldexpf(1.0f, e / 2), rest = ldexpf(1.0f, e - e / 2);
    for (unsigned k = 0; k < MOST; k++)
        v[k] = v[k] * half * rest;
}

/* A power of two so that the largest number of the cell is about 1. */
static void rescale(run *r, size_t cell)
{
    const trl_chart *c = r->c;
    const uint32_t from = c->s->first[cell], to = c->s->first[cell + 1];
    float top = 0.0f;
    for (uint32_t x = from; x < to; x++)
        for (unsigned k = 0; k < MOST; k++) {
            top = r->before[x][k] > top ? r->before[x][k] : top;
            top = r->after[x][k] > top ? r->after[x][k] : top;
        }
    if (!(top > 0.0f) || !isfinite(top)) {
        c->scale[cell] = UNSET;
        return;
    }
    const int e = ilogbf(top);
    for (uint32_t x = from; x < to; x++) {
        scale(r->before[x], -e);
        scale(r->after[x], -e);
        r->mean[x] = sum_of(r->after[x], MOST) / (float)substates(r, x);
    }
    c->scale[cell] += e;
}

static void close_cell(run *r, size_t i, size_t j)
{
    const trl_chart *c = r->c;
    const size_t cell = trl_cell(i, j);
    if (j - i == 1)
        c->scale[cell] = 0;
    if (dead(r, cell))
        return;
    for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++) {
        if (!(c->s->item[x] & TRL_BEFORE) || is_dead(r, x))
            memset(r->before[x], 0, sizeof r->before[x]);
        if (c->s->item[x] & TRL_AFTER)
            memcpy(r->after[x], r->before[x], sizeof r->after[x]);
    }
    for (uint32_t e = c->unary_first[cell]; e < c->unary_first[cell + 1]; e++) {
        const trl_unary_edge *u = &c->unary[e];
        if (is_dead(r, u->parent) || is_dead(r, u->child))
            continue;
        const trl_latent_rule rule = unary_rule(r, u->rule);
        float *up = r->after[u->parent];
        if (rule.table) {
            trl_latent_up(&rule, one, r->before[u->child], 1.0f, up);
            continue;
        }
        const float v = expf((float)r->l->pcfg->unary[u->rule]) *
                        sum_of(r->before[u->child], rule.nz) / (float)rule.nz;
        for (unsigned x = 0; x < rule.nx; x++)
            up[x] += v;
    }
    rescale(r, cell);
}

/* Scales of the children, together. */
static int32_t scales(const run *r, size_t i, size_t k, size_t j)
{
    return r->c->scale[trl_cell(i, k)] + r->c->scale[trl_cell(k, j)];
}

/* Makes room in (i, j) for what comes from (i, k) and (k, j). */
static void join(run *r, size_t i, size_t k, size_t j)
{
    const trl_chart *c = r->c;
    const size_t cell = trl_cell(i, j);
    const int32_t sum = scales(r, i, k, j);
    if (dead(r, cell))
        c->scale[cell] = sum;
    if (sum - c->scale[cell] <= 60)
        return;
    for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++) /* rare */
        scale(r->before[x], c->scale[cell] - sum);
    c->scale[cell] = sum;
}

/* 2^(scales of the children - scale of the parent) */
static float factor(const run *r, size_t i, size_t k, size_t j)
{
    return ldexpf(1.0f, scales(r, i, k, j) - r->c->scale[trl_cell(i, j)]);
}

/* What is done with every use of a rule. */
typedef void (*edge_fn)(run *r, uint32_t rule, float f, uint32_t left, uint32_t right, uint32_t up);

static void inside_edge(run *r, uint32_t rule, float f, uint32_t left, uint32_t right, uint32_t up)
{
    const trl_latent_row_list b = binary_rule(r, rule);
    if (b.p) {
        trl_latent_rows_up(&b, r->after[left], r->after[right], f, r->before[up]);
        return;
    }
    const float v = f * (float)r->l->pcfg->binary_exp[rule] * r->mean[left] * r->mean[right];
    for (unsigned x = 0; x < b.nx; x++)
        r->before[up][x] += v;
}

static void outside_edge(run *r, uint32_t rule, float f, uint32_t left, uint32_t right, uint32_t up)
{
    const trl_latent_row_list b = binary_rule(r, rule);
    float w[MOST];
    for (unsigned x = 0; x < b.nx; x++)
        w[x] = r->out_before[up][x] * f;
    if (b.p) {
        trl_latent_rows_down(&b, w, r->after[left], r->after[right], r->out_after[left],
                             r->out_after[right]);
        return;
    }
    const float v = sum_of(w, b.nx) * (float)r->l->pcfg->binary_exp[rule];
    for (unsigned y = 0; y < b.ny; y++)
        r->out_after[left][y] += v * r->mean[right] / (float)b.ny;
    for (unsigned z = 0; z < b.nz; z++)
        r->out_after[right][z] += v * r->mean[left] / (float)b.nz;
}

static void edges(run *r, size_t i, size_t k, float f, edge_fn fn)
{
    const trl_grammar *g = r->l->g;
    const trl_chart *c = r->c;
    const uint32_t *right = c->map + k * g->n_states, *up = c->map + i * g->n_states;
    const size_t cell = trl_cell(i, k);
    for (uint32_t b = c->s->first[cell]; b < c->s->first[cell + 1]; b++) {
        if (!(r->mean[b] > 0.0f))
            continue;
        const uint32_t state = c->s->item[b] & TRL_STATE_MASK;
        for (uint32_t p = g->pair_by_left[state]; p < g->pair_by_left[state + 1]; p++) {
            const uint32_t d = right[g->pair[p].right];
            if (!d || !(r->mean[d - 1] > 0.0f))
                continue;
            for (uint32_t x = g->pair[p].first; x < g->pair[p + 1].first; x++) {
                const uint32_t a = up[g->binary_parent[x]];
                if (a && (c->s->item[a - 1] & TRL_BEFORE) && !is_dead(r, a - 1))
                    fn(r, x, f, b, d - 1, a - 1);
            }
        }
    }
}

static bool empty(const run *r, size_t cell)
{
    return r->c->s->first[cell] == r->c->s->first[cell + 1];
}

static void inside(run *r)
{
    trl_chart *c = r->c;
    for (size_t j = 1; j <= c->n; j++) {
        trl_chart_map(c, j, true);
        for (size_t i = 0; i + 1 < j; i++)
            c->scale[trl_cell(i, j)] = UNSET;
        for (size_t k = j; k-- > 0;) {
            close_cell(r, k, j);
            for (size_t i = 0; i < k && !dead(r, trl_cell(k, j)); i++)
                if (!empty(r, trl_cell(i, j)) && !dead(r, trl_cell(i, k))) {
                    join(r, i, k, j);
                    edges(r, i, k, factor(r, i, k, j), inside_edge);
                }
        }
        trl_chart_map(c, j, false);
    }
}

/* ---- outside --------------------------------------------------------------------------------- */

static void open_cell(run *r, size_t cell)
{
    trl_chart *c = r->c;
    for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++)
        if (c->s->item[x] & TRL_AFTER)
            memcpy(r->out_before[x], r->out_after[x], sizeof r->out_before[x]);
    for (uint32_t e = c->unary_first[cell]; e < c->unary_first[cell + 1]; e++) {
        const trl_unary_edge *u = &c->unary[e];
        if (is_dead(r, u->parent) || is_dead(r, u->child))
            continue;
        const trl_latent_rule rule = unary_rule(r, u->rule);
        const float *out = r->out_after[u->parent], *in = r->before[u->child];
        float down[MOST] = {0}, unused[MOST] = {0};
        const float v =
            sum_of(out, rule.nx) * expf((float)r->l->pcfg->unary[u->rule]) / (float)rule.nz;
        if (rule.table)
            trl_latent_down(&rule, out, one, in, unused, down);
        for (unsigned y = 0; y < rule.nz; y++) {
            down[y] += rule.table ? 0.0f : v;
            r->out_before[u->child][y] += down[y];
        }
        c->unary_exp[e] = dot(down, in, rule.nz);
    }
}

static void outside(run *r)
{
    trl_chart *c = r->c;
    for (size_t j = c->n; j > 0; j--) {
        trl_chart_map(c, j, true);
        for (size_t i = 0; i < j; i++) {
            const size_t cell = trl_cell(i, j);
            if (empty(r, cell) || dead(r, cell))
                continue;
            open_cell(r, cell);
            for (size_t k = i + 1; k < j; k++)
                if (!dead(r, trl_cell(i, k)) && !dead(r, trl_cell(k, j)))
                    edges(r, i, k, factor(r, i, k, j), outside_edge);
        }
        trl_chart_map(c, j, false);
    }
}

/* ---- the chart ------------------------------------------------------------------------------- */

/* Posteriors in place of inside and outside numbers, as trl_chart_brackets multiplies them. */
static bool tell(const run *r)
{
    trl_chart *c = r->c;
    double worst = 0.0;
    for (size_t x = 0; x < c->n_items; x++) {
        c->before[x] = c->out_after[x] = 1.0;
        c->after[x] = dot(r->after[x], r->out_after[x], MOST);
        c->out_before[x] = dot(r->before[x], r->out_before[x], MOST);
        worst += c->after[x] + c->out_before[x];
    }
    return isfinite(worst);
}

/* A vector of zeros for every item; NULL: out of memory. */
static void *vectors(size_t n, trl_arena *arena)
{
    float(*v)[MOST] = trl_arena_get(arena, n, sizeof *v);
    if (v)
        memset(v, 0, n * sizeof *v);
    return v;
}

static bool lay_out(run *r, trl_arena *arena)
{
    const size_t n = r->c->n_items;
    r->before = vectors(n, arena);
    r->after = vectors(n, arena);
    r->out_before = vectors(n, arena);
    r->out_after = vectors(n, arena);
    r->mean = trl_arena_get(arena, n, sizeof *r->mean);
    if (!r->before || !r->after || !r->out_before || !r->out_after || !r->mean)
        return false;
    memset(r->mean, 0, n * sizeof *r->mean);
    memset(r->c->unary_exp, 0,
           r->c->n_unary * sizeof *r->c->unary_exp); /* of cells without a tree */
    return true;
}

trl_status trl_latent_chart(const trl_latent *l, const trl_latent_sentence *x, trl_chart *c,
                            trl_arena *arena, trl_error *err)
{
    run r = {.l = l, .c = c, .dead = x->dead};
    const trl_words *w = x->words;
    uint32_t *tag = trl_arena_get(arena, l->g->n_states, sizeof *tag);
    double *logp = trl_arena_get(arena, l->g->n_states, sizeof *logp);
    c->log_z = -(double)INFINITY;
    if (!tag || !logp || !lay_out(&r, arena))
        return trl_fail_mem(err);
    for (size_t i = 0; i < w->n; i++)
        set_tags(&r, w, x->tags, i, tag, logp);
    inside(&r);
    const size_t whole = trl_cell(0, c->n);
    if (c->root_item == TRL_NO_ID || dead(&r, whole) || !(r.after[c->root_item][0] > 0.0f))
        return TRL_OK;
    r.out_after[c->root_item][0] = 1.0f / r.after[c->root_item][0];
    outside(&r);
    if (tell(&r))
        c->log_z = 0.0;
    return TRL_OK;
}
