/* coarse.c -- the pruning pass. */
/* SPDX-License-Identifier: MIT */
#include "chart/coarse.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "chart/coarse_kernel.h"

#define UNSET INT32_MIN
#define LN2 0.693147180559945309417232

/* ---- one sentence ---------------------------------------------------------------------------- */

typedef struct run {
    const trl_coarse *c;
    trl_coarse_chart *t;
    const uint8_t *keep;
    const trl_gains *gains;      /* or NULL */
    const trl_tag_scores *given; /* or NULL */
    float least;                 /* posterior that counts */
    double deadline;
    float *back;    /* [n_states] scratch */
    float *m;       /* [n_left][stride] */
    uint8_t *used;  /* [n_left]: rows of m with anything in them */
    uint32_t *tags; /* [n_states] scratch */
    double *logp;
    uint32_t **tag;  /* [n]: tag states of each word, */
    size_t *n_tag;   /* how many */
    float *ol, *or_; /* [cells][n_left], [cells][stride]: outside of the vectors */
} run;

static float power_of_two(int64_t e)
{
    return e < -126 ? 0.0f : e > 127 ? 0x1p127f : ldexpf(1.0f, (int)e);
}

/* Vectors of a closed cell. */
static void spread(run *r, size_t cell)
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

static void close_cell(run *r, size_t cell)
{
    const trl_coarse *c = r->c;
    const trl_grammar *g = c->pcfg->g;
    float *before = r->t->before + cell * c->n_states, *after = r->t->after + cell * c->n_states;
    memcpy(after, before, c->n_states * sizeof *after);
    for (size_t u = 0; u < g->n_unary; u++)
        after[g->unary[u].parent] += c->unary[u] * before[g->unary[u].child];
    float top = 0.0f;
    for (size_t s = 0; s < c->n_states; s++)
        top = after[s] > top ? after[s] : top;
    if (!(top > 0.0f)) {
        r->t->scale[cell] = UNSET;
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

static bool dead(const run *r, size_t cell)
{
    return r->t->scale[cell] == UNSET;
}

/* The largest scale of any split, so that no factor is above 1. */
static int32_t scale_of(const run *r, size_t i, size_t j)
{
    int32_t top = UNSET;
    for (size_t k = i + 1; k < j; k++) {
        if (dead(r, trl_cell(i, k)) || dead(r, trl_cell(k, j)))
            continue;
        const int32_t s = r->t->scale[trl_cell(i, k)] + r->t->scale[trl_cell(k, j)];
        top = s > top ? s : top;
    }
    return top;
}

static float factor(const run *r, size_t i, size_t k, size_t j)
{
    const size_t a = trl_cell(i, k), b = trl_cell(k, j);
    if (dead(r, a) || dead(r, b))
        return 0.0f;
    return power_of_two((int64_t)r->t->scale[a] + r->t->scale[b] - r->t->scale[trl_cell(i, j)]);
}

/* Rules with a tag on the left (split i + 1), on the right (j - 1), or on both (two words). */
static void tag_rules(run *r, size_t i, size_t j, float *before)
{
    const trl_coarse *c = r->c;
    const size_t a = trl_cell(i, i + 1), b = trl_cell(j - 1, j);
    const float *in_a = r->t->after + a * c->n_states, *in_b = r->t->after + b * c->n_states;
    const float fl = factor(r, i, i + 1, j), fr = factor(r, i, j - 1, j);
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

static void apply_gains(const run *r, size_t cell, const float *from, float *to)
{
    const float *gain = r->gains->span + cell * TRL_SPAN_PRUNER_CLASSES;
    for (size_t s = 0; s < r->c->n_states; s++)
        to[s] =
            from[s] * gain[r->gains->class_of[s] % TRL_SPAN_PRUNER_CLASSES]; /* tags are 0 here */
}

static void inside_cell(run *r, size_t i, size_t j)
{
    const trl_coarse *c = r->c;
    const size_t cell = trl_cell(i, j);
    float *before = r->t->before + cell * c->n_states;
    memset(before, 0, c->n_states * sizeof *before);
    r->t->scale[cell] = scale_of(r, i, j);
    if (dead(r, cell) || (r->keep && !r->keep[cell])) {
        r->t->scale[cell] = UNSET;
        return;
    }
    memset(r->m, 0, c->n_left * c->stride * sizeof *r->m);
    memset(r->used, 0, c->n_left);
    for (size_t k = i + 1; k < j; k++) {
        const float f = factor(r, i, k, j);
        if (!(f > 0.0f))
            continue;
        const float *l = r->t->l + trl_cell(i, k) * c->n_left;
        trl_outer_add(c->n_left, c->stride, l, r->t->r + trl_cell(k, j) * c->stride, f, r->m);
        for (size_t b = 0; b < c->n_left; b++)
            r->used[b] |= l[b] > 0.0f;
    }
    for (size_t b = 0; b < c->n_left; b++)
        for (uint32_t q = c->nn_first[b]; r->used[b] && q < c->nn_first[b + 1]; q++)
            before[c->nn[q].parent] += c->nn[q].p * r->m[b * c->stride + c->nn[q].right];
    tag_rules(r, i, j, before);
    if (r->gains)
        apply_gains(r, cell, before, before);
    close_cell(r, cell);
}

#define UNSEEN 3.0 /* below the least likely tag of the lexicon: the log p of one it lacks */

/* The n tags of word i that are given, with their scores. */
static size_t choose_given(run *r, size_t i, size_t n)
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

static void inside_word(run *r, const trl_str *word, size_t i)
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

/* ---- outside --------------------------------------------------------------------------------- */

/* States that are absent or nearly 0 need no outside, which could overflow. */
static void bound(size_t n, float least, const float *in, float *out)
{
    for (size_t s = 0; s < n; s++) {
        const float x = out[s] < 0x1p97f ? out[s] : 0x1p97f;
        out[s] = in[s] * x > least ? x : 0.0f;
    }
}

static bool any(size_t n, const float *x)
{
    float sum = 0.0f;
    for (size_t s = 0; s < n; s++)
        sum += x[s];
    return sum > 0.0f;
}

/* The outside after the unary rule from the parents' vectors; then before it. */
static void open_cell(run *r, size_t cell)
{
    const trl_coarse *c = r->c;
    const trl_grammar *g = c->pcfg->g;
    float *oa = r->t->out_after + cell * c->n_states, *ob = r->t->out_before + cell * c->n_states;
    for (size_t k = 0; k < c->n_left; k++)
        oa[c->left[k]] += r->ol[cell * c->n_left + k];
    for (size_t k = 0; k < c->n_right; k++)
        oa[c->right[k]] += r->or_[cell * c->stride + k];
    bound(c->n_states, r->least, r->t->after + cell * c->n_states, oa);
    memcpy(ob, oa, c->n_states * sizeof *ob);
    for (size_t u = 0; u < g->n_unary; u++)
        ob[g->unary[u].child] += c->unary[u] * oa[g->unary[u].parent];
    bound(c->n_states, r->least, r->t->before + cell * c->n_states, ob);
}

static void tag_rules_back(run *r, size_t i, size_t j, const float *ob)
{
    const trl_coarse *c = r->c;
    const size_t a = trl_cell(i, i + 1), b = trl_cell(j - 1, j), s = c->n_states;
    const float *in_a = r->t->after + a * s, *in_b = r->t->after + b * s;
    float *out_a = r->t->out_after + a * s, *out_b = r->t->out_after + b * s;
    const float fl = factor(r, i, i + 1, j), fr = factor(r, i, j - 1, j);
    const size_t rest = trl_cell(i + 1, j), head = trl_cell(i, j - 1);
    for (size_t k = 0; fl > 0.0f && k < r->n_tag[i]; k++) {
        const uint32_t t = r->tag[i][k];
        float sum = 0.0f;
        for (uint32_t q = c->tn_first[t]; q < c->tn_first[t + 1]; q++) {
            const trl_coarse_rule *u = &c->tn[q];
            const float w = ob[u->parent] * u->p * fl;
            sum += w * r->t->r[rest * c->stride + u->right];
            r->or_[rest * c->stride + u->right] += w * in_a[t];
        }
        for (uint32_t q = c->tt_first[t]; j - i == 2 && q < c->tt_first[t + 1]; q++) {
            const trl_coarse_rule *u = &c->tt[q];
            const float w = ob[u->parent] * u->p * fl;
            sum += w * in_b[u->right];
            out_b[u->right] += w * in_a[t];
        }
        out_a[t] += sum;
    }
    for (size_t k = 0; fr > 0.0f && k < r->n_tag[j - 1]; k++) {
        const uint32_t t = r->tag[j - 1][k];
        for (uint32_t q = c->nt_first[t]; q < c->nt_first[t + 1]; q++) {
            const trl_coarse_rule *u = &c->nt[q];
            const float w = ob[u->parent] * u->p * fr;
            out_b[t] += w * r->t->l[head * c->n_left + u->left];
            r->ol[head * c->n_left + u->left] += w * in_b[t];
        }
    }
}

static void outside_cell(run *r, size_t i, size_t j)
{
    const trl_coarse *c = r->c;
    const size_t cell = trl_cell(i, j);
    if (dead(r, cell))
        return;
    open_cell(r, cell);
    const float *ob = r->t->out_before + cell * c->n_states;
    if (j - i == 1 || !any(c->n_states, ob))
        return;
    if (r->gains) {
        apply_gains(r, cell, ob, r->back);
        ob = r->back;
    }
    memset(r->used, 0, c->n_left);
    for (size_t k = i + 1; k < j; k++)
        for (size_t b = 0; !dead(r, trl_cell(i, k)) && b < c->n_left; b++)
            r->used[b] |= r->t->l[trl_cell(i, k) * c->n_left + b] > 0.0f;
    for (size_t b = 0; b < c->n_left; b++) { /* rows that are not used are not read either */
        if (!r->used[b])
            continue;
        memset(r->m + b * c->stride, 0, c->stride * sizeof *r->m);
        for (uint32_t q = c->nn_first[b]; q < c->nn_first[b + 1]; q++)
            r->m[b * c->stride + c->nn[q].right] += c->nn[q].p * ob[c->nn[q].parent];
    }
    for (size_t k = i + 1; k < j; k++) {
        const float f = factor(r, i, k, j);
        const size_t a = trl_cell(i, k), b = trl_cell(k, j);
        if (f > 0.0f)
            trl_outer_back(c->n_left, c->stride, r->m, r->t->l + a * c->n_left,
                           r->t->r + b * c->stride, f, r->ol + a * c->n_left,
                           r->or_ + b * c->stride);
    }
    tag_rules_back(r, i, j, ob);
}

static void outside(run *r)
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

/* ---- entry ----------------------------------------------------------------------------------- */

static bool lay_out(run *r, size_t n, trl_arena *arena)
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
    r->back = trl_arena_get(arena, c->n_states, sizeof *r->back);
    r->tags = trl_arena_get(arena, c->n_states, sizeof *r->tags);
    r->logp = trl_arena_get(arena, c->n_states, sizeof *r->logp);
    r->tag = trl_arena_get(arena, n, sizeof *r->tag);
    r->n_tag = trl_arena_get(arena, n, sizeof *r->n_tag);
    bool ok = t->before && t->after && t->out_before && t->out_after && t->l && t->r && t->scale &&
              r->m && r->used && r->back && r->ol && r->or_ && r->tags && r->logp && r->tag &&
              r->n_tag;
    for (size_t i = 0; ok && i < n; i++) {
        r->tag[i] = trl_arena_get(arena, c->n_states, sizeof **r->tag);
        ok = r->tag[i] != NULL;
    }
    return ok;
}

trl_status trl_coarse_run(const trl_coarse *c, const trl_words *x, const trl_coarse_how *how,
                          trl_coarse_chart *out, trl_arena *arena, trl_error *err)
{
    run r = {.c = c,
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
    const float z = dead(&r, top) ? 0.0f : out->after[top * c->n_states + c->pcfg->g->root];
    if (!(z > 0x1p-100f))
        return TRL_OK;
    out->log_z = log((double)z) + LN2 * out->scale[top];
    outside(&r);
    return TRL_OK;
}

/* ---- pruning --------------------------------------------------------------------------------- */

static uint32_t marks_of(const trl_coarse_chart *c, size_t at, double threshold)
{
    uint32_t marks = 0;
    if ((double)c->before[at] * (double)c->out_before[at] > threshold)
        marks |= TRL_BEFORE;
    if ((double)c->after[at] * (double)c->out_after[at] > threshold)
        marks |= TRL_AFTER;
    return marks;
}

/* Fine states under the coarse ones that a cell keeps: bits set in any order come out ascending. */
typedef struct state_set {
    uint64_t *bits; /* [n_fine / 64 + 1] */
    uint8_t *marks; /* [n_fine]: TRL_BEFORE, TRL_AFTER, shifted down */
    size_t words;
} state_set;

#define MARKS 30

static uint32_t empty(state_set *f, uint32_t *item)
{
    uint32_t n = 0;
    for (size_t w = 0; w < f->words; w++)
        for (; f->bits[w]; f->bits[w] &= f->bits[w] - 1) {
            const uint32_t state = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(f->bits[w]);
            item[n++] = state | (uint32_t)f->marks[state] << MARKS;
        }
    return n;
}

trl_status trl_coarse_prune(const trl_coarse_chart *c, const trl_coarse_map *m, double threshold,
                            trl_skeleton *fine, trl_arena *arena, trl_error *err)
{
    const size_t cells = trl_chart_cells(c->n), s = c->n_states;
    size_t most = 0;
    for (size_t cell = 0; cell < cells; cell++)
        for (size_t k = 0; c->scale[cell] != UNSET && k < s; k++)
            if (marks_of(c, cell * s + k, threshold))
                most += m->first[k + 1] - m->first[k];
    *fine = (trl_skeleton){.n = c->n,
                           .first = trl_arena_get(arena, cells + 1, sizeof *fine->first),
                           .item = trl_arena_get(arena, most, sizeof *fine->item)};
    state_set kept = {.bits = trl_arena_get(arena, m->n_fine / 64 + 1, sizeof *kept.bits),
                      .marks = trl_arena_get(arena, m->n_fine, 1),
                      .words = m->n_fine / 64 + 1};
    if (!fine->first || !fine->item || !kept.bits || !kept.marks)
        return trl_fail_mem(err);
    memset(kept.bits, 0, kept.words * sizeof *kept.bits);
    uint32_t n = 0;
    for (size_t cell = 0; cell < cells; cell++) {
        fine->first[cell] = n;
        for (size_t k = 0; c->scale[cell] != UNSET && k < s; k++) {
            const uint32_t marks = marks_of(c, cell * s + k, threshold);
            for (uint32_t q = m->first[k]; marks && q < m->first[k + 1]; q++) {
                kept.bits[m->state[q] / 64] |= (uint64_t)1 << m->state[q] % 64;
                kept.marks[m->state[q]] = (uint8_t)(marks >> MARKS);
            }
        }
        n += empty(&kept, fine->item + n);
    }
    fine->first[cells] = n;
    return TRL_OK;
}
