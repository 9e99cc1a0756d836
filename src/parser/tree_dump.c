/* tree_dump.c -- sizes of a tree model, and its largest and smallest weights. */
/* SPDX-License-Identifier: MIT */
#include "parser/tree_dump.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

trl_status trl_tree_dump_sizes(const trl_tree_model *m, trl_buf *out, trl_error *err)
{
    trl_grammar_stats fine, coarse;
    trl_grammar_count(&m->fine, &fine);
    trl_grammar_count(&m->coarse, &coarse);
    trl_buf_fmt(out, "tags %zu\nphrases %zu\nactive-states %zu\n", fine.tags, fine.phrases,
                fine.actives);
    trl_buf_fmt(out,
                "binary-rules %zu\nbinary-rules-unseen %zu\nbinary-rules-per-left-child %.2f\n",
                fine.binary, fine.binary_relaxed, fine.binary_per_left);
    trl_buf_fmt(out, "unary-rules %zu\nunary-rules-unseen %zu\n", fine.unary, fine.unary_relaxed);
    trl_buf_fmt(out, "coarse-states %zu\ncoarse-binary-rules %zu\ncoarse-unary-rules %zu\n",
                coarse.tags + coarse.phrases + coarse.actives, coarse.binary, coarse.unary);
    trl_buf_fmt(out, "labels %zu\nwords %zu\nword-classes %zu\nclusters %zu\n", m->fine.labels.n,
                m->lexicon.words.n, m->lexicon.classes.n, m->clusters.view.name.n);
    trl_buf_fmt(out, "families %zu\n", m->tpl.n);
    return out->failed ? trl_fail_mem(err) : TRL_OK;
}

/* ---- weights --------------------------------------------------------------------------------- */

typedef struct ranked {
    float weight;
    uint64_t what; /* a rule, or a key */
} ranked;

/* Large ones first; the order is total. */
static int by_weight(const void *pa, const void *pb)
{
    const ranked *a = pa, *b = pb;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return a->what < b->what ? -1 : a->what > b->what;
}

typedef struct table {
    const trl_tree_model *m;
    size_t top;
    trl_buf *out;
    void (*name)(const struct table *t, uint64_t what);
} table;

static void put_row(const table *t, const ranked *r)
{
    trl_buf_fmt(t->out, "%14.6f  ", (double)r->weight);
    t->name(t, r->what);
    trl_buf_ch(t->out, '\n');
}

/* Largest first, then, of what has not been shown, the smallest first. */
static void put_block(const table *t, trl_str title, ranked *r, size_t n)
{
    const size_t large = n < t->top ? n : t->top;
    const size_t small = n - large < t->top ? n - large : t->top;
    if (n)
        qsort(r, n, sizeof *r, by_weight);
    trl_buf_fmt(t->out, "%.*s: %zu weights\n", (int)title.n, title.p, n);
    if (large)
        trl_buf_str(t->out, "  largest\n");
    for (size_t k = 0; k < large; k++)
        put_row(t, &r[k]);
    if (small)
        trl_buf_str(t->out, "  smallest\n");
    for (size_t k = 0; k < small; k++)
        put_row(t, &r[n - 1 - k]);
    trl_buf_ch(t->out, '\n');
}

static void name_binary(const table *t, uint64_t what)
{
    trl_tree_name_binary(&t->m->fine, (uint32_t)what, false, t->out);
}

static void name_unary(const table *t, uint64_t what)
{
    trl_tree_name_unary(&t->m->fine, (uint32_t)what, false, t->out);
}

static void name_key(const table *t, uint64_t key)
{
    const size_t family = (size_t)(key >> 56) - 1;
    trl_tree_name_class(t->m, family, (uint32_t)(key >> 36) & 0xfffff, t->out);
    trl_tree_name_seen(t->m, family, key & ((UINT64_C(1) << 36) - 1), t->out);
}

/* A rule with and without its annotation are two features, which always come together: their sum.
 */
static void put_rules(table *t, ranked *r)
{
    const trl_grammar *g = &t->m->fine;
    const float *w = t->m->features.w32, *v = w + g->n_binary + g->n_plain_binary;
    for (size_t k = 0; k < g->n_binary; k++)
        r[k] = (ranked){w[k] + w[g->n_binary + g->binary[k].plain], k};
    t->name = name_binary;
    put_block(t, (trl_str){"binary rules", 12}, r, g->n_binary);
    for (size_t k = 0; k < g->n_unary; k++)
        r[k] = (ranked){v[k] + v[g->n_unary + g->unary[k].plain], k};
    t->name = name_unary;
    put_block(t, (trl_str){"unary rules", 11}, r, g->n_unary);
}

/* The next line of the template that is a family. */
static trl_str next_family(const char **at, const char *end)
{
    while (*at < end) {
        const char *lf = memchr(*at, '\n', (size_t)(end - *at));
        trl_str s = {*at, (size_t)((lf ? lf : end) - *at)};
        *at = lf ? lf + 1 : end;
        const char *comment = memchr(s.p, '#', s.n);
        s.n = comment ? (size_t)(comment - s.p) : s.n;
        for (; s.n && (s.p[0] == ' ' || s.p[0] == '\t'); s.p++)
            s.n--;
        while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
            s.n--;
        if (s.n)
            return s;
    }
    return (trl_str){"", 0};
}

static void put_families(table *t, trl_str families, ranked *r)
{
    const trl_tree_features *f = &t->m->features;
    const char *at = families.p;
    t->name = name_key;
    for (size_t k = 0; k < t->m->tpl.n; k++) {
        size_t n = 0;
        for (size_t slot = 0; slot < f->index.n_slots; slot++)
            if (f->index.key[slot] >> 56 == k + 1)
                r[n++] = (ranked){(float)trl_tree_weight(f, (uint32_t)slot), f->index.key[slot]};
        put_block(t, next_family(&at, families.p + families.n), r, n);
    }
}

trl_status trl_tree_dump_top(const trl_tree_model *m, trl_str families, size_t top, trl_buf *out,
                             trl_error *err)
{
    size_t most = m->features.index.n;
    if (m->features.index.print) {
        trl_fail(err, TRL_EINVAL, "the model has fingerprints in place of its features");
        return trl_fail_hint(err, TRL_EINVAL, "ask the model that it was made of");
    }
    most = most < m->fine.n_binary ? m->fine.n_binary : most;
    most = most < m->fine.n_unary ? m->fine.n_unary : most;
    ranked *r = trl_alloc(most + 1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    table t = {.m = m, .top = top, .out = out};
    put_rules(&t, r);
    put_families(&t, families, r);
    trl_free(r);
    return out->failed ? trl_fail_mem(err) : TRL_OK;
}
