/* trees.c -- how fast charts are: rule applications a second, the vector pass against the plain
 * one.
 *
 *     trees TRAIN DEV MAX_LENGTH [MODEL]     one line `name value` each; with a model of features
 * also what looking scores up once per position saves
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "parser/tree_model.h"

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

/* Calls `visit` for every binary rule of the skeleton's chart over (i, j). */
typedef void (*visit_fn)(void *ctx, uint32_t rule, size_t k, uint32_t parent, uint32_t left,
                         uint32_t right);
static void visit_rules(const trl_chart *c, size_t i, size_t j, visit_fn visit, void *ctx)
{
    const trl_skeleton *s = c->s;
    for (size_t k = i + 1; k < j; k++)
        for (uint32_t b = s->first[trl_cell(i, k)]; b < s->first[trl_cell(i, k) + 1]; b++) {
            if (!(s->item[b] & TRL_AFTER))
                continue;
            const uint32_t left = s->item[b] & TRL_STATE_MASK;
            for (uint32_t r = c->g->by_left[left]; r < c->g->by_left[left + 1]; r++) {
                const uint32_t x = trl_skeleton_find(s, k, j, c->g->binary[r].right);
                const uint32_t a = trl_skeleton_find(s, i, j, c->g->binary[r].parent);
                if (x != TRL_NO_ID && a != TRL_NO_ID && (s->item[x] & TRL_AFTER) &&
                    (s->item[a] & TRL_BEFORE))
                    visit(ctx, r, k, a, b, x);
            }
        }
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
    must(trl_skeleton_full(&(trl_words_grammar){&model.fine, &model.lexicon},
                           &(trl_words){t->word, t->n_words}, &k, NULL, arena, &err));
    const uint64_t all = k.first[trl_chart_cells(k.n)];
    const double whole = both_ways(t, &k, arena), from = seconds();
    must(trl_filter(&model.fine, &k, &complete, arena, &err));
    const double spent = seconds() - from;
    if (!complete)
        return;
    s->filter += spent;
    s->unfiltered += whole;
    s->filtered += both_ways(t, &k, arena);
    s->full += all;
    s->tiling += k.first[trl_chart_cells(k.n)];
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
    must(trl_tree_skeleton(
        &model, &(trl_pruned_sentence){t->word, t->n_words, &(trl_pruning){.threshold = threshold}},
        &k, &complete, arena, &err));
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
            visit_rules(&c, i, j, count_one, &s->rules);
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
    must(trl_coarse_run(&model.pruner, &(trl_words){t->word, t->n_words}, &(trl_coarse_how){0}, &v,
                        arena, &err));
    s->coarse += seconds() - from;
    trl_arena_reset(arena);
    must(trl_skeleton_full(&(trl_words_grammar){&model.coarse, &model.coarse_lexicon},
                           &(trl_words){t->word, t->n_words}, &all, &logp, arena, &err));
    from = seconds();
    must(trl_pcfg_chart(&model.coarse_pcfg, &all, logp, &c, arena, &err));
    s->plain += seconds() - from;
    const uint64_t n = t->n_words;
    s->splits += (n + 1) * n * (n - 1) / 6;
}

/* ---- scores that hang on one position of an edge --------------------------------------------- */

typedef struct edge {
    uint32_t rule, at[3]; /* i, k, j */
} edge;

typedef struct looking {
    const trl_chart *c;
    edge *list; /* of one sentence */
    size_t n, cap;
    uint64_t edges, lookups, places;
    double each, once;
} looking;

static void note_edge(void *ctx, uint32_t rule, size_t k, uint32_t parent, uint32_t left,
                      uint32_t right)
{
    (void)left, (void)right;
    looking *l = ctx;
    size_t cell = 0, j = 1;
    while (l->c->s->first[cell + 1] <= parent)
        cell++;
    while (trl_cell(0, j + 1) <= cell)
        j++;
    edge *e = trl_reserve(l->list, &l->cap, l->n + 1, sizeof *e);
    if (!e)
        exit(1);
    l->list = e;
    e[l->n++] = (edge){rule, {(uint32_t)(cell - trl_cell(0, j)), (uint32_t)k, (uint32_t)j}};
}

/* Every application of a rule looks its three places up anew. */
static void look_up_each(trl_tree_gather *ga, looking *l)
{
    static const int anchor[] = {TRL_EDGE_FIRST, TRL_EDGE_SPLIT, TRL_EDGE_END};
    const double from = seconds();
    for (size_t x = 0; x < l->n; x++) {
        ga->n_ids = ga->n_edges = 0;
        for (int a = 0; a < 3; a++)
            if (ga->t.edge[anchor[a]]) {
                ga->t.fill(ga->t.self, anchor[a], l->list[x].at[a],
                           ga->f->edge_class[l->list[x].rule]);
                l->lookups++;
            }
    }
    l->each += seconds() - from;
    l->edges += l->n;
}

static void positions(const trl_tree_model *m, const trl_tree *t, trl_arena *arena,
                      trl_tree_gather *ga, looking *l)
{
    trl_skeleton k;
    trl_chart c;
    trl_seen seen;
    bool complete;
    trl_arena_reset(arena);
    must(trl_tree_skeleton(
        m, &(trl_pruned_sentence){t->word, t->n_words, &(trl_pruning){.threshold = m->threshold}},
        &k, &complete, arena, &err));
    if (!complete)
        return;
    must(trl_chart_init(&c, &m->fine, &k, arena, &err));
    trl_observe(&m->observer, t->word, t->n_words,
                trl_arena_get(arena, trl_seen_size(t->n_words), 1), &seen);
    must(trl_tree_model_tables(
        m, t->word, &(trl_gather_source){&m->features, &seen, &c, m->binary_exp, m->unary, false},
        ga, arena, &err));
    must(trl_chart_inside(&c, &ga->t, &err));
    l->c = &c;
    l->n = 0;
    const size_t n = (c.n + 1) * m->features.n_classes;
    const double from = seconds();
    for (int a = 0; a < TRL_EDGE_ANCHORS; a++)
        for (size_t x = 0; ga->t.edge[a] && x < n; x++)
            if (ga->t.edge[a][x] >= 0.0) {
                ga->t.fill(ga->t.self, a, x / m->features.n_classes,
                           (uint32_t)(x % m->features.n_classes));
                l->places++;
            }
    l->once += seconds() - from;
    for (size_t j = 1; j <= c.n; j++)
        for (size_t i = 0; i < j; i++)
            visit_rules(&c, i, j, note_edge, l);
    look_up_each(ga, l);
}

static void with_model(const char *path, trl_arena *arena)
{
    static trl_tree_model m;
    trl_container *file = NULL;
    trl_tree_gather ga = {0};
    looking l = {0};
    must(trl_container_open(path, "tree", &file, &err));
    must(trl_tree_model_load(&m, file, NULL, &err));
    for (size_t k = 0; k < dev.n && k < 300; k++)
        positions(&m, &dev.tree[k], arena, &ga, &l);
    printf("edge_applications %.4g\nedge_lookups_each %.4g\nedge_lookups_once %.4g\n",
           (double)l.edges, (double)l.lookups, (double)l.places);
    printf("edge_seconds_each %.3f\nedge_seconds_once %.3f\nedge_ratio %.1f\n", l.each, l.once,
           l.each / l.once);
    trl_free(l.list);
    trl_tree_gather_fini(&ga);
    trl_tree_model_fini(&m);
    trl_container_free(file);
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5)
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
    printf(
        "filter_seconds %.3f\nunfiltered_seconds %.3f\nfiltered_seconds %.3f\nfilter_ratio %.1f\n",
        s.filter, s.unfiltered, s.filtered, s.unfiltered / s.filtered);
    if (argc == 5)
        with_model(argv[4], &arena);
    return 0;
}
