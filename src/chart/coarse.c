/* coarse.c -- the pruning pass: inside. */
/* SPDX-License-Identifier: MIT */
#include "chart/coarse.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "chart/coarse_kernel.h"
#include "chart/coarse_parts.h"

#define LN2 0.693147180559945309417232

/* ---- one sentence ---------------------------------------------------------------------------- */

/* Vectors of a closed cell. */
static void spread(trl_coarse_run_state *r, size_t cell)
{
    const trl_coarse *c = r->c;
    const float *a = r->t->after + cell * c->n_states;
    float *l = r->t->l + cell * c->n_left, *x = r->t->r + cell * c->stride;
    for (size_t k = 0; k < c->n_left; k++)
        l[k] = a[c->left[k]];
    for (size_t k = 0; k < c->n_right; k++)
        x[k] = a[c->right[k]];
    for (size_t k = c->n_right; k < c->stride; k++)
        x[k] = 0.0f;
}

static void close_cell(trl_coarse_run_state *r, size_t cell)
{
    const trl_coarse *c = r->c;
    const trl_grammar *g = c->pcfg->g;
    float *before = r->t->before + cell * c->n_states, *after = r->t->after + cell * c->n_states;
    memcpy(after, before, c->n_states * sizeof *after);
    for (size_t s = 0; s < c->n_states; s++)
        for (uint32_t u = g->by_child[s]; before[s] > 0.0f && u < g->by_child[s + 1]; u++)
            after[c->unary_parent[u]] += c->unary[u] * before[s];
    float top = 0.0f;
    for (size_t s = 0; s < c->n_states; s++)
        top = after[s] > top ? after[s] : top;
    if (!(top > 0.0f)) {
        r->t->scale[cell] = TRL_COARSE_UNSET;
        return;
    }
    const int e = ilogbf(top);
    const float f = ldexpf(1.0f, -e);
    for (size_t s = 0; s < c->n_states; s++) { /* tiny values would make outsides overflow */
        before[s] = before[s] * f < 0x1p-90f ? 0.0f : before[s] * f;
        after[s] = after[s] * f < 0x1p-90f ? 0.0f : after[s] * f;
    }
    r->t->scale[cell] += e;
    spread(r, cell);
}

/* The largest scale of any split, so that no factor is above 1. */
static int32_t scale_of(const trl_coarse_run_state *r, size_t i, size_t j)
{
    int32_t top = TRL_COARSE_UNSET;
    for (size_t k = i + 1; k < j; k++) {
        if (trl_coarse_dead(r, trl_cell(i, k)) || trl_coarse_dead(r, trl_cell(k, j)))
            continue;
        const int32_t s = r->t->scale[trl_cell(i, k)] + r->t->scale[trl_cell(k, j)];
        top = s > top ? s : top;
    }
    return top;
}

/* Rules with a tag on the left (split i + 1), on the right (j - 1), or on both (two words). */
static void tag_rules(trl_coarse_run_state *r, size_t i, size_t j, float *before)
{
    const trl_coarse *c = r->c;
    const size_t a = trl_cell(i, i + 1), b = trl_cell(j - 1, j);
    const float *in_a = r->t->after + a * c->n_states, *in_b = r->t->after + b * c->n_states;
    const float fl = trl_coarse_factor(r, i, i + 1, j), fr = trl_coarse_factor(r, i, j - 1, j);
    const float *x = fl > 0.0f ? r->t->r + trl_cell(i + 1, j) * c->stride : NULL;
    const float *l = fr > 0.0f ? r->t->l + trl_cell(i, j - 1) * c->n_left : NULL;
    for (size_t k = 0; x && k < r->n_tag[i]; k++) {
        const uint32_t t = r->tag[i][k];
        const float y = in_a[t] * fl;
        for (uint32_t q = c->tn_first[t]; q < c->tn_first[t + 1]; q++)
            before[c->tn[q].parent] += y * c->tn[q].p * x[c->tn[q].right];
        for (uint32_t q = c->tt_first[t]; j - i == 2 && q < c->tt_first[t + 1]; q++)
            before[c->tt[q].parent] += y * c->tt[q].p * in_b[c->tt[q].right];
    }
    for (size_t k = 0; l && k < r->n_tag[j - 1]; k++) {
        const uint32_t t = r->tag[j - 1][k];
        const float y = in_b[t] * fr;
        for (uint32_t q = c->nt_first[t]; q < c->nt_first[t + 1]; q++)
            before[c->nt[q].parent] += y * c->nt[q].p * l[c->nt[q].left];
    }
}

static void inside_cell(trl_coarse_run_state *r, size_t i, size_t j)
{
    const trl_coarse *c = r->c;
    const size_t cell = trl_cell(i, j);
    float *before = r->t->before + cell * c->n_states;
    memset(before, 0, c->n_states * sizeof *before);
    r->t->scale[cell] = scale_of(r, i, j);
    if (trl_coarse_dead(r, cell) || (r->keep && !r->keep[cell])) {
        r->t->scale[cell] = TRL_COARSE_UNSET;
        return;
    }
    memset(r->m, 0, c->n_left * c->stride * sizeof *r->m);
    for (size_t k = i + 1; k < j; k++) {
        const float f = trl_coarse_factor(r, i, k, j);
        if (f > 0.0f)
            trl_outer_add(c->n_left, c->stride, r->t->l + trl_cell(i, k) * c->n_left,
                          r->t->r + trl_cell(k, j) * c->stride, f, r->m);
    }
    trl_rule_sums(c->n_states, c->nn_first, c->nn_place, c->nn_p, r->m, before);
    tag_rules(r, i, j, before);
    const float *gain = r->gains ? r->gains->span + cell * TRL_SPAN_PRUNER_CLASSES : NULL;
    for (size_t s = 0; gain && s < c->n_states; s++) /* tags are 0 here */
        before[s] *= gain[r->gains->class_of[s] % TRL_SPAN_PRUNER_CLASSES];
    close_cell(r, cell);
}

#define UNSEEN 3.0 /* below the least likely tag of the lexicon: the log p of one it lacks */

/* The n tags of word i that are given, with their scores. */
static size_t choose_given(trl_coarse_run_state *r, size_t i, size_t n)
{
    const double *score = r->given->score + i * r->c->n_states;
    size_t kept = 0, all = n;
    double least = r->logp[0];
    for (size_t k = 1; k < n; k++)
        least = r->logp[k] < least ? r->logp[k] : least;
    for (uint32_t s = 0; s < r->c->n_states; s++) {
        bool offered = false;
        for (size_t k = 0; k < n && !offered; k++)
            offered = r->tags[k] == s;
        if (!offered && score[s] > -HUGE_VAL) {
            r->tags[all] = s;
            r->logp[all++] = least - UNSEEN;
        }
    }
    for (size_t k = 0; k < all; k++)
        if (score[r->tags[k]] > -HUGE_VAL) {
            r->logp[kept] = r->logp[k] + score[r->tags[k]];
            r->tags[kept++] = r->tags[k];
        }
    return kept;
}

static void inside_word(trl_coarse_run_state *r, const trl_str *word, size_t i)
{
    const trl_coarse *c = r->c;
    const trl_lexicon *x = c->pcfg->x;
    const size_t cell = trl_cell(i, i + 1);
    float *before = r->t->before + cell * c->n_states;
    memset(before, 0, c->n_states * sizeof *before);
    size_t n = trl_lexicon_tags(x, c->pcfg->g, trl_lexicon_word(x, word[i]),
                                trl_lexicon_class(x, word[i], i), r->tags, r->logp);
    if (r->given && r->given->given[i])
        n = choose_given(r, i, n);
    double top = r->logp[0];
    for (size_t k = 1; k < n; k++)
        top = r->logp[k] > top ? r->logp[k] : top;
    const int e = (int)floor(top / LN2);
    r->n_tag[i] = n;
    for (size_t k = 0; k < n; k++) {
        r->tag[i][k] = r->tags[k];
        before[r->tags[k]] = (float)exp(r->logp[k] - e * LN2);
        if (r->gains)
            before[r->tags[k]] *=
                r->gains->word[i * TRL_SPAN_PRUNER_TAGS + r->gains->class_of[r->tags[k]]];
    }
    r->t->scale[cell] = e;
    close_cell(r, cell);
}

/* ---- entry ----------------------------------------------------------------------------------- */

static bool lay_out(trl_coarse_run_state *r, size_t n, trl_arena *arena)
{
    const trl_coarse *c = r->c;
    trl_coarse_chart *t = r->t;
    const size_t cells = trl_chart_cells(n), all = cells * c->n_states;
    *t = (trl_coarse_chart){.n = n, .n_states = c->n_states, .log_z = -(double)INFINITY};
    t->before = trl_arena_get(arena, all, sizeof *t->before);
    t->after = trl_arena_get(arena, all, sizeof *t->after);
    t->out_before = trl_arena_get(arena, all, sizeof *t->out_before);
    t->out_after = trl_arena_get(arena, all, sizeof *t->out_after);
    t->l = trl_arena_get(arena, cells * c->n_left, sizeof *t->l);
    t->r = trl_arena_get(arena, cells * c->stride, sizeof *t->r);
    t->scale = trl_arena_get(arena, cells, sizeof *t->scale);
    r->m = trl_arena_get(arena, c->n_left * c->stride, sizeof *r->m);
    r->used = trl_arena_get(arena, c->n_left, 1);
    r->ol = trl_arena_get(arena, cells * c->n_left, sizeof *r->ol);
    r->or_ = trl_arena_get(arena, cells * c->stride, sizeof *r->or_);
    r->row = trl_arena_get(arena, c->n_left, sizeof *r->row);
    r->up = trl_arena_get(arena, c->n_states, sizeof *r->up);
    r->weight = trl_arena_get(arena, c->n_states, sizeof *r->weight);
    r->tags = trl_arena_get(arena, c->n_states, sizeof *r->tags);
    r->logp = trl_arena_get(arena, c->n_states, sizeof *r->logp);
    r->tag = trl_arena_get(arena, n, sizeof *r->tag);
    r->n_tag = trl_arena_get(arena, n, sizeof *r->n_tag);
    bool ok = t->before && t->after && t->out_before && t->out_after && t->l && t->r && t->scale &&
              r->m && r->used && r->row && r->up && r->weight && r->ol && r->or_ && r->tags &&
              r->logp && r->tag && r->n_tag;
    for (size_t i = 0; ok && i < n; i++) {
        r->tag[i] = trl_arena_get(arena, c->n_states, sizeof **r->tag);
        ok = r->tag[i] != NULL;
    }
    return ok;
}

trl_status trl_coarse_run(const trl_coarse *c, const trl_words *x, const trl_coarse_how *how,
                          trl_coarse_chart *out, trl_arena *arena, trl_error *err)
{
    trl_coarse_run_state r = {.c = c,
                              .t = out,
                              .keep = how->keep,
                              .gains = how->gains,
                              .given = how->tags,
                              .least = how->least,
                              .deadline = how->deadline};
    if (!lay_out(&r, x->n, arena))
        return trl_fail_mem(err);
    for (size_t j = 1; j <= x->n; j++) {
        if (how->deadline > 0.0 && trl_clock() > how->deadline)
            return TRL_OK;
        inside_word(&r, x->word, j - 1);
        for (size_t i = j - 1; i-- > 0;)
            inside_cell(&r, i, j);
    }
    const size_t top = trl_cell(0, x->n);
    const float z =
        trl_coarse_dead(&r, top) ? 0.0f : out->after[top * c->n_states + c->pcfg->g->root];
    if (!(z > 0x1p-100f))
        return TRL_OK;
    out->log_z = log((double)z) + LN2 * out->scale[top];
    trl_coarse_outside(&r);
    return TRL_OK;
}
