/* held_out.c -- counts of right answers, by the kind of model. */
/* SPDX-License-Identifier: MIT */
#include "api/held_out.h"

#include <math.h>
#include <string.h>

#include "api/tree_held.h"
#include "base/fail.h"
#include "base/mem.h"
#include "train_chain/dev_score.h"
#include "train_graph/graph_held.h"
#include "trellis/scheme.h"

trl_status trl_held_counts_init(trl_held_counts *c, const trl_train_options *o, trl_error *err)
{
    *c = (trl_held_counts){.all_chunks = true, .rewrites = o->scheme != NULL};
    if (strcmp(o->kind, "tree") != 0) {
        const trl_score_options s = trl_score_options_default();
        return trl_score_new(&s, &c->score, err);
    }
    trl_parseval_options p = trl_parseval_options_default();
    p.gold_tags = true; /* which words are punctuation, and do not count, is the gold tree's */
    p.max_errors = INT32_MAX;
    return trl_parseval_new(&p, &c->trees, err);
}

void trl_held_counts_fini(trl_held_counts *c)
{
    trl_score_free(c->score);
    trl_parseval_free(c->trees);
    *c = (trl_held_counts){0};
}

/* ---- labels ---------------------------------------------------------------------------------- */

static void look(trl_held_counts *c, const char *label)
{
    const trl_str s = {label, strlen(label)};
    c->all_chunks = c->all_chunks && trl_is_chunk_tag(s);
    c->any_chunk = c->any_chunk || s.n > 2;
}

/* The chunks of n labels as IOBES, in which they are never in doubt; *block is to be freed. */
static bool rewrite(const char *const *label, size_t n, const char **written, char **block)
{
    size_t bytes = 0;
    trl_str *s = trl_alloc(n, sizeof *s);
    trl_chunk *chunk = trl_alloc(n, sizeof *chunk);
    for (size_t t = 0; s && t < n; t++) {
        s[t] = (trl_str){label[t], strlen(label[t])};
        bytes += s[t].n + 3;
    }
    char *p = *block = trl_alloc(bytes + n, 1), *prefix = p ? p + bytes : NULL;
    const bool ok = s && chunk && p;
    const size_t n_chunks = ok ? trl_chunks_of(s, n, chunk) : 0;
    if (ok)
        trl_scheme_prefixes(TRL_SCHEME_IOBES, chunk, n_chunks, prefix, n);
    for (size_t t = 0, k = 0; ok && t < n; t++) {
        while (k < n_chunks && chunk[k].end <= t)
            k++;
        written[t] = p;
        *p++ = prefix[t];
        if (prefix[t] != 'O') {
            *p++ = '-';
            memcpy(p, chunk[k].type.p, chunk[k].type.n);
            p += chunk[k].type.n;
        }
        *p++ = '\0';
    }
    trl_free(s);
    trl_free(chunk);
    return ok;
}

static trl_status add_chunks(trl_held_counts *c, size_t n, const char *const *gold,
                             const char *const *predicted, trl_error *err)
{
    if (!c->rewrites)
        return trl_score_add(c->score, n, gold, predicted, err);
    const char **written = trl_alloc(n, 2 * sizeof *written);
    char *one = NULL, *two = NULL;
    const bool ok =
        written && rewrite(gold, n, written, &one) && rewrite(predicted, n, written + n, &two);
    const trl_status st =
        ok ? trl_score_add(c->score, n, written, written + n, err) : trl_fail_mem(err);
    trl_free(written);
    trl_free(one);
    trl_free(two);
    return st;
}

static trl_status add_layer(trl_held_counts *c, const trl_held_answer *a, size_t layer,
                            trl_error *err)
{
    const char *const *gold = a->gold + layer * a->n, *const *predicted =
                                                          a->predicted + layer * a->n;
    uint64_t right = 0;
    for (size_t t = 0; t < a->n; t++) {
        look(c, gold[t]);
        look(c, predicted[t]);
        right += strcmp(gold[t], predicted[t]) == 0;
    }
    c->tokens += a->n;
    c->right_tokens += right;
    c->right_sequences += right == a->n;
    return add_chunks(c, a->n, gold, predicted, err);
}

trl_status trl_held_counts_add(trl_held_counts *c, const trl_held_answer *a, trl_error *err)
{
    trl_status st = TRL_OK;
    if (c->trees) {
        c->words += a->n;
        c->right_tags += a->right_tags;
        return trl_parseval_add(c->trees, a->gold_tree.p, a->gold_tree.n, a->predicted_tree.p,
                                a->predicted_tree.n, err);
    }
    if (a->scored == TRL_ALL_LAYERS)
        c->all_chunks = false; /* no layer was named as the one of chunks */
    for (size_t k = 0; st == TRL_OK && k < a->n_layers; k++)
        if (a->scored == TRL_ALL_LAYERS || a->scored == k)
            st = add_layer(c, a, k, err);
    return st;
}

/* ---- measures -------------------------------------------------------------------------------- */

bool trl_held_counts_chunks(const trl_held_counts *c)
{
    return c->all_chunks && c->any_chunk;
}

static double percent(uint64_t a, uint64_t b)
{
    return b ? 100.0 * (double)a / (double)b : 0.0;
}

trl_score_totals trl_held_counts_totals(const trl_held_counts *c)
{
    if (!c->score)
        return (trl_score_totals){0};
    trl_score_totals t = trl_score_get(c->score);
    if (c->rewrites) {
        t.correct_tokens = c->right_tokens;
        t.accuracy = percent(c->right_tokens, c->tokens);
        t.correct_sequences = c->right_sequences;
        t.sequence_accuracy = percent(c->right_sequences, t.sequences);
    }
    return t;
}

trl_held_measures trl_held_counts_measures(const trl_held_counts *c)
{
    if (c->trees) {
        const trl_parseval_totals t = trl_parseval_get(c->trees, UINT64_MAX);
        return (trl_held_measures){
            5,
            {"precision", "recall", "f1", "exact", "tags"},
            {t.precision, t.recall, t.f1, t.exact, percent(c->right_tags, c->words)}};
    }
    const trl_score_totals t = trl_held_counts_totals(c);
    const bool chunks = trl_held_counts_chunks(c);
    const double none = (double)NAN;
    return (trl_held_measures){5,
                               {"accuracy", "sequences", "precision", "recall", "f1"},
                               {t.accuracy, t.sequence_accuracy, chunks ? t.precision : none,
                                chunks ? t.recall : none, chunks ? t.f1 : none}};
}

trl_status trl_held_out_run(const trl_train_options *o, const trl_model *m,
                            const trl_held_data *data, trl_held_fn fn, void *ctx, trl_error *err)
{
    if (strcmp(o->kind, "tree") == 0)
        return trl_tree_held_score(m, data, o->keep_going, fn, ctx, err);
    return (strcmp(o->kind, "graph") == 0 ? trl_graph_held_score : trl_held_score)(m, data, fn, ctx,
                                                                                   err);
}
