/* coarse_outside.c -- the pruning pass: outside.
 *
 * Few states of a cell have an outside at all (`least`), so that rules are applied by their
 * parents.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/clock.h"
#include "chart/coarse_kernel.h"
#include "chart/coarse_parts.h"

/* States that are absent or nearly 0 need no outside, which could overflow. */
static void bound(size_t n, float least, const float *in, float *out)
{
    for (size_t s = 0; s < n; s++) {
        const float x = out[s] < 0x1p97f ? out[s] : 0x1p97f;
        out[s] = in[s] * x > least ? x : 0.0f;
    }
}

/* The outside after the unary rule from the parents' vectors; then before it. */
static void open_cell(trl_coarse_run_state *r, size_t cell)
{
    const trl_coarse *c = r->c;
    const uint32_t *first = c->pcfg->g->by_child;
    float *oa = r->t->out_after + cell * c->n_states, *ob = r->t->out_before + cell * c->n_states;
    const float *before = r->t->before + cell * c->n_states;
    for (size_t k = 0; k < c->n_left; k++)
        oa[c->left[k]] += r->ol[cell * c->n_left + k];
    for (size_t k = 0; k < c->n_right; k++)
        oa[c->right[k]] += r->or_[cell * c->stride + k];
    bound(c->n_states, r->least, r->t->after + cell * c->n_states, oa);
    for (size_t s = 0; s < c->n_states; s++) {
        float sum = oa[s];
        for (uint32_t u = first[s]; before[s] > 0.0f && u < first[s + 1]; u++)
            sum += c->unary[u] * oa[c->unary_parent[u]];
        ob[s] = sum;
    }
    bound(c->n_states, r->least, before, ob);
}

/* The states of a cell that have an outside, into `up` and `weight`; returns how many. */
static size_t find_parents(trl_coarse_run_state *r, size_t cell)
{
    const float *ob = r->t->out_before + cell * r->c->n_states;
    const float *gain = r->gains ? r->gains->span + cell * TRL_SPAN_PRUNER_CLASSES : NULL;
    size_t n = 0;
    for (uint32_t s = 0; s < r->c->n_states; s++) {
        if (!(ob[s] > 0.0f))
            continue;
        r->up[n] = s;
        r->weight[n++] =
            gain ? ob[s] * gain[r->gains->class_of[s] % TRL_SPAN_PRUNER_CLASSES] : ob[s];
    }
    return n;
}

/* One word of a span whose other part is a phrase or, of two words, a word. */
typedef struct tag_side {
    const trl_coarse_rule *rule; /* by tag and parent */
    const uint32_t *first;       /* [tags][n_states] */
    size_t word;
    float f;
    const float *other; /* insides of the other child, by its place */
    float *other_out;
    bool left; /* the word is the left child */
} tag_side;

static void tag_rules(trl_coarse_run_state *r, const tag_side *x, size_t n)
{
    const size_t s = r->c->n_states, cell = trl_cell(x->word, x->word + 1);
    const float *in = r->t->after + cell * s;
    float *out = r->t->out_after + cell * s;
    for (size_t k = 0; k < r->n_tag[x->word]; k++) {
        const uint32_t t = r->tag[x->word][k];
        const float y = in[t];
        float sum = 0.0f;
        for (size_t a = 0; a < n; a++) {
            const uint32_t *range = x->first + t * s + r->up[a];
            const float w = r->weight[a] * x->f;
            for (uint32_t q = range[0]; q < range[1]; q++) {
                const uint32_t at = x->left ? x->rule[q].right : x->rule[q].left;
                sum += w * x->rule[q].p * x->other[at];
                x->other_out[at] += w * x->rule[q].p * y;
            }
        }
        out[t] += sum;
    }
}

/* Rules with a tag on the left (split i + 1), on the right (j - 1), or on both (two words), of the
 * n parents found. */
static void all_tag_rules(trl_coarse_run_state *r, size_t i, size_t j, size_t n)
{
    const trl_coarse *c = r->c;
    const float fl = trl_coarse_factor(r, i, i + 1, j), fr = trl_coarse_factor(r, i, j - 1, j);
    const size_t rest = trl_cell(i + 1, j), head = trl_cell(i, j - 1);
    if (fl > 0.0f)
        tag_rules(r,
                  &(tag_side){c->tn_up, c->tn_up_first, i, fl, r->t->r + rest * c->stride,
                              r->or_ + rest * c->stride, true},
                  n);
    if (fr > 0.0f)
        tag_rules(r,
                  &(tag_side){c->nt_up, c->nt_up_first, j - 1, fr, r->t->l + head * c->n_left,
                              r->ol + head * c->n_left, false},
                  n);
    if (fl > 0.0f && j - i == 2)
        tag_rules(r,
                  &(tag_side){c->tt_up, c->tt_up_first, i, fl, r->t->after + rest * c->n_states,
                              r->t->out_after + rest * c->n_states, true},
                  n);
}

/* What the n parents found have of every pair of children, in r->m; returns its rows. */
static size_t spread_back(trl_coarse_run_state *r, size_t n)
{
    const trl_coarse *c = r->c;
    size_t rows = 0;
    memset(r->used, 0, c->n_left);
    for (size_t k = 0; k < n; k++) {
        const uint32_t a = r->up[k];
        const float w = r->weight[k];
        for (uint32_t q = c->nn_first[a]; q < c->nn_first[a + 1]; q++) {
            const uint32_t b = c->nn[q].left;
            float *row = r->m + b * c->stride;
            if (!r->used[b]) {
                r->used[b] = 1;
                r->row[rows++] = b;
                memset(row, 0, c->stride * sizeof *row);
            }
            row[c->nn[q].right] += w * c->nn[q].p;
        }
    }
    return rows;
}

static void outside_cell(trl_coarse_run_state *r, size_t i, size_t j)
{
    const trl_coarse *c = r->c;
    const size_t cell = trl_cell(i, j);
    if (trl_coarse_dead(r, cell))
        return;
    open_cell(r, cell);
    const size_t n = j - i > 1 ? find_parents(r, cell) : 0;
    if (n == 0)
        return;
    const size_t rows = spread_back(r, n);
    for (size_t k = i + 1; k < j; k++) {
        const float f = trl_coarse_factor(r, i, k, j);
        const size_t a = trl_cell(i, k), b = trl_cell(k, j);
        if (f > 0.0f)
            trl_outer_back(&(trl_outer){r->row, rows, c->stride, r->m, f}, r->t->l + a * c->n_left,
                           r->t->r + b * c->stride, r->ol + a * c->n_left, r->or_ + b * c->stride);
    }
    all_tag_rules(r, i, j, n);
}

void trl_coarse_outside(trl_coarse_run_state *r)
{
    trl_coarse_chart *t = r->t;
    const size_t cells = trl_chart_cells(t->n), s = r->c->n_states, top = trl_cell(0, t->n);
    memset(t->out_after, 0, cells * s * sizeof *t->out_after);
    memset(t->out_before, 0, cells * s * sizeof *t->out_before);
    memset(r->ol, 0, cells * r->c->n_left * sizeof *r->ol);
    memset(r->or_, 0, cells * r->c->stride * sizeof *r->or_);
    const uint32_t root = r->c->pcfg->g->root;
    t->out_after[top * s + root] = 1.0f / t->after[top * s + root];
    for (size_t j = t->n; j > 0; j--) {
        if (r->deadline > 0.0 && trl_clock() > r->deadline) {
            t->log_z = -(double)INFINITY;
            return;
        }
        for (size_t i = 0; i < j; i++)
            outside_cell(r, i, j);
    }
}
