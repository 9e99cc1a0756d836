/* trees.c -- how fast charts are: rule applications a second, the vector pass against the plain one.
 *
 *     trees TRAIN DEV MAX_LENGTH     one line `name value` each
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tree/tree_model.h"

static trl_error err;
static trl_tree_model model;
static trl_tree_set train, dev;

static void must(trl_status st)
{
    if (st != TRL_OK) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void count_one(void *ctx, uint32_t rule, size_t k, uint32_t parent, uint32_t left,
                      uint32_t right)
{
    (void)rule, (void)k, (void)parent, (void)left, (void)right;
    ++*(uint64_t *)ctx;
}

typedef struct sums {
    double prune, inside, outside, coarse, plain, filter, unfiltered, filtered;
    uint64_t rules, splits, words, items, sentences, full, tiling;
} sums;

/* Inside and outside of the fine grammar's PCFG over a skeleton. */
static double both_ways(const trl_tree *t, const trl_skeleton *k, trl_arena *arena)
{
    trl_chart c;
    trl_tree_tables tab;
    must(trl_chart_init(&c, &model.fine, k, arena, &err));
    must(trl_tree_pcfg_tables(&model, t->word, &c, &tab, arena, &err));
    const double from = seconds();
    must(trl_chart_inside(&c, &tab, &err));
    if (isfinite(c.log_z))
        trl_chart_outside(&c, &tab, NULL);
    return seconds() - from;
}

/* Charts of every item there could be, and of those the boolean filter leaves. */
static void filtered(const trl_tree *t, trl_arena *arena, sums *s)
{
    trl_skeleton k;
    bool complete;
    trl_arena_reset(arena);
    must(trl_skeleton_full(&model.fine, &model.lexicon, t->word, t->n_words, &k, NULL, arena, &err));
    const uint64_t all = k.first[trl_cells(k.n)];
    const double whole = both_ways(t, &k, arena), from = seconds();
    must(trl_filter(&model.fine, &k, &complete, arena, &err));
    const double spent = seconds() - from;
    if (!complete)
        return;
    s->filter += spent;
    s->unfiltered += whole;
    s->filtered += both_ways(t, &k, arena);
    s->full += all;
    s->tiling += k.first[trl_cells(k.n)];
}

/* The fine grammar's PCFG over the pruned chart: rules applied, seconds of inside and outside. */
static void fine(const trl_tree *t, double threshold, trl_arena *arena, sums *s)
{
    trl_skeleton k;
    trl_chart c;
    trl_tree_tables tab;
    bool complete;
    trl_arena_reset(arena);
    double from = seconds();
    must(trl_tree_skeleton(&model, t->word, t->n_words, &(trl_pruning){.threshold = threshold}, &k,
                           &complete, arena, &err));
    s->prune += seconds() - from;
    if (!complete)
        return;
    must(trl_chart_init(&c, &model.fine, &k, arena, &err));
    must(trl_tree_pcfg_tables(&model, t->word, &c, &tab, arena, &err));
    from = seconds();
    must(trl_chart_inside(&c, &tab, &err));
    s->inside += seconds() - from;
    if (!isfinite(c.log_z))
        return;
    from = seconds();
    trl_chart_outside(&c, &tab, NULL);
    s->outside += seconds() - from;
    for (size_t j = 1; j <= c.n; j++)
        for (size_t i = 0; i < j; i++)
            trl_chart_visit(&c, i, j, count_one, &s->rules);
    s->items += c.n_items;
    s->words += t->n_words;
    s->sentences++;
}

/* The same coarse PCFG over all spans, by vectors and by the plain chart. */
static void coarse(const trl_tree *t, trl_arena *arena, sums *s)
{
    trl_coarse_chart v;
    trl_chart c;
    trl_skeleton all;
    double *logp;
    trl_arena_reset(arena);
    double from = seconds();
    must(trl_coarse_run(&model.pruner, t->word, t->n_words, &(trl_coarse_how){0}, &v, arena, &err));
    s->coarse += seconds() - from;
    trl_arena_reset(arena);
    must(trl_skeleton_full(&model.coarse, &model.coarse_lexicon, t->word, t->n_words, &all, &logp,
                           arena, &err));
    from = seconds();
    must(trl_pcfg_chart(&model.coarse_pcfg, &all, logp, &c, arena, &err));
    s->plain += seconds() - from;
    const uint64_t n = t->n_words;
    s->splits += (n + 1) * n * (n - 1) / 6;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const size_t most = (size_t)strtoul(argv[3], NULL, 10);
    const trl_tree_model_options o = {
        .rare = 4, .frequent = 5, .annotation = {.parents = true}, .template_text = ""};
    must(trl_tree_set_read(&train, argv[1], most, &err));
    must(trl_tree_set_read(&dev, argv[2], most, &err));
    must(trl_tree_model_build(&model, &o, NULL, &train, &err));
    trl_arena arena = {0};
    sums s = {0};
    for (size_t k = 0; k < dev.n && k < 300; k++) {
        fine(&dev.tree[k], 1e-4, &arena, &s);
        coarse(&dev.tree[k], &arena, &s);
        if (dev.tree[k].n_words <= 25)
            filtered(&dev.tree[k], &arena, &s);
    }
    const double w = (double)s.words, left = (double)model.pruner.n_left;
    printf("words %.0f\nitems_per_word %.1f\n", w, (double)s.items / w);
    printf("pruning_words_per_second %.0f\n", w / s.prune);
    printf("rule_applications %.4g\n", (double)s.rules);
    printf("inside_rules_per_second %.4g\n", (double)s.rules / s.inside);
    printf("outside_rules_per_second %.4g\n", (double)s.rules / s.outside);
    printf("coarse_states %zu\ncoarse_rules %zu\n", model.coarse.n_states, model.coarse.n_binary);
    printf("coarse_vectors_seconds %.3f\ncoarse_plain_seconds %.3f\ncoarse_ratio %.1f\n", s.coarse,
           s.plain, s.plain / s.coarse);
    printf("coarse_multiply_adds_per_second %.3g\n",
           3.0 * (double)s.splits * left * (double)model.pruner.stride / s.coarse);
    printf("filter_items_before %.4g\nfilter_items_after %.4g\n", (double)s.full, (double)s.tiling);
    printf("filter_seconds %.3f\nunfiltered_seconds %.3f\nfiltered_seconds %.3f\nfilter_ratio %.1f\n",
           s.filter, s.unfiltered, s.filtered, s.unfiltered / s.filtered);
    return 0;
}
