/* test_viterbi_em.c -- the generative transducer: probabilities, best derivations against
 * enumeration, and an objective that never rises. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/mem.h"
#include "random_brackets.h"
#include "train_translate/viterbi_em.h"

typedef struct setup {
    trl_bitext *text;
    trl_treebank *trees;
    trl_links links;
    trl_head_rules *heads;
    trl_source_names names;
    trl_translate_corpus corpus;
    trl_pool *pool;
} setup;

static void make_corpus(setup *x)
{
    trl_error err;
    assert_non_null(x->pool = trl_pool_new(2));
    assert_ok(trl_head_rules_read(NULL, &x->heads, &err));
    const trl_translate_text t = {.text = x->text,
                                  .trees = x->trees,
                                  .links = &x->links,
                                  .heads = x->heads,
                                  .names = &x->names,
                                  .pool = x->pool};
    assert_ok(trl_translate_corpus_make(&x->corpus, &t, &err));
}

static void drop(setup *x)
{
    trl_translate_corpus_fini(&x->corpus);
    trl_strtab_fini(&x->names.words);
    trl_strtab_fini(&x->names.labels);
    trl_head_rules_free(x->heads);
    trl_treebank_free(x->trees);
    trl_links_fini(&x->links);
    trl_bitext_free(x->text);
    trl_pool_free(x->pool);
}

/* ---- the sample corpus ----------------------------------------------------------------------- */

static void open_sample(setup *x)
{
    const char *dir = getenv("TRELLIS_CORPUS");
    char path[3][1024];
    static const char *const ends[] = {"en", "fr", "mrg"};
    trl_rng rng = trl_rng_seed(2);
    trl_buf lines = {0};
    trl_error err;
    *x = (setup){0};
    for (int k = 0; k < 3; k++)
        snprintf(path[k], sizeof path[k], "%s/parallel.%s", dir && *dir ? dir : "corpus", ends[k]);
    assert_ok(trl_bitext_read(path[0], path[1], &x->text, &err));
    for (size_t k = 0; k < x->text->side[0].n; k++) { /* bad links: trees cannot keep them all */
        const size_t n = trl_side_length(&x->text->side[0], k);
        const size_t m = trl_side_length(&x->text->side[1], k);
        for (size_t i = 0; i < n; i++)
            trl_buf_fmt(&lines, "%zu-%zu %zu-%zu ", i, trl_rng_below(&rng, m), i,
                        trl_rng_below(&rng, m));
        trl_buf_str(&lines, "\n");
    }
    assert_ok(
        trl_links_memory(&x->links, &(trl_text){"links", lines.data, lines.len}, x->text, &err));
    assert_ok(trl_treebank_open(path[2], NULL, false, &x->trees, &err));
    make_corpus(x);
    trl_buf_fini(&lines);
}

/* The probabilities of all targets of a word, NULL included, sum to 1. */
static void check_sums(const trl_generative *g, size_t n_targets)
{
    for (size_t k = 0; k < g->context.index.n; k += 7) {
        const uint32_t word = (uint32_t)(g->context.key[k] >> 32);
        const uint32_t head = (uint32_t)g->context.key[k];
        double sum = exp(-trl_generative_word_cost(g, word, head, TRL_NO_ID));
        for (uint32_t v = 0; v < n_targets; v++)
            sum += exp(-trl_generative_word_cost(g, word, head, v));
        assert_near(sum, 1.0, 1e-9);
    }
}

static void test_never_rises(void **state)
{
    (void)state;
    enum { ITERATIONS = 6 };
    setup x;
    open_sample(&x);
    assert_true(x.corpus.counts.kept < x.corpus.counts.linked);
    double last = 0.0;
    for (size_t beam = 2; beam <= 40; beam += 38) {
        double objective[ITERATIONS];
        trl_generative g = {0};
        trl_error err;
        const trl_em_text t = {&x.corpus, x.text, &x.links, beam, x.pool, NULL};
        assert_ok(trl_em_start(&g, &t, &err));
        assert_ok(trl_viterbi_em(&g, &t, ITERATIONS, objective, &err));
        for (int k = 1; k < ITERATIONS; k++)
            assert_true(objective[k] <= objective[k - 1] + 1e-9 * fabs(objective[k - 1]));
        assert_true(objective[ITERATIONS - 1] < objective[0] - 1.0);
        if (beam == 40)
            assert_true(objective[0] <= last + 1e-9 * fabs(last));
        last = objective[0];
        check_sums(&g, x.text->side[1].words.n);
        trl_generative_fini(&g);
    }
    drop(&x);
}

/* ---- enumeration ----------------------------------------------------------------------------- */

typedef struct every {
    const setup *x;
    const trl_generative *g;
    const trl_source *s;
    const uint32_t *target;
    uint32_t place[8], used;
    double best;
} every;

static uint32_t word_at(const every *e, uint32_t source)
{
    return e->place[source] == TRL_NO_ID ? TRL_NO_ID : e->target[e->place[source]];
}

/* The cost of the choices; infinite when the tree cannot make the order. */
static double cost_of(const every *e, size_t n_target)
{
    const trl_source *s = e->s;
    uint32_t lo[16], hi[16];
    double cost = TRL_SPURIOUS * (double)n_target;
    for (uint32_t v = 0; v < s->n_nodes; v++) {
        if (v < s->n_words) {
            const bool none = e->place[v] == TRL_NO_ID;
            lo[v] = none ? 1 : e->place[v];
            hi[v] = none ? 0 : e->place[v];
            cost -= none ? 0.0 : TRL_SPURIOUS;
            continue;
        }
        const uint32_t a = s->node[v].left, b = s->node[v].right;
        const uint32_t other = s->node[s->node[a].head == s->node[v].head ? b : a].head;
        const bool no_a = hi[a] < lo[a], no_b = hi[b] < lo[b];
        if (!no_a && !no_b) {
            if (!(hi[a] < lo[b] || hi[b] < lo[a]))
                return HUGE_VAL;
            cost += trl_generative_order_cost(e->g, s, v, hi[b] < lo[a]);
        }
        cost += trl_generative_word_cost(e->g, s->word[other], word_at(e, s->node[v].head),
                                         word_at(e, other));
        lo[v] = no_a ? lo[b] : no_b ? lo[a] : lo[a] < lo[b] ? lo[a] : lo[b];
        hi[v] = no_a ? hi[b] : no_b ? hi[a] : hi[a] > hi[b] ? hi[a] : hi[b];
    }
    const uint32_t head = s->node[s->n_nodes - 1].head;
    return cost + trl_generative_word_cost(e->g, s->word[head], TRL_NO_ID - 1, word_at(e, head));
}

static void enumerate(every *e, size_t word, size_t n_target)
{
    if (word == e->s->n_words) {
        e->best = fmin(e->best, cost_of(e, n_target));
        return;
    }
    e->place[word] = TRL_NO_ID;
    enumerate(e, word + 1, n_target);
    for (size_t k = 0; k < e->x->links.n_links; k++) {
        const trl_link l = e->x->links.link[k];
        if (l.source != word || e->used >> l.target & 1)
            continue;
        e->place[word] = l.target;
        e->used |= 1u << l.target;
        enumerate(e, word + 1, n_target);
        e->used &= ~(1u << l.target);
    }
}

static void test_derivations(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(21);
    char path[] = "/tmp/trellis-em-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t round = 0; round < 100; round++) {
        const size_t n = 1 + trl_rng_below(&rng, 5), m = 1 + trl_rng_below(&rng, 5);
        trl_buf tree = {0}, links = {0};
        trl_generative g = {0};
        trl_error err;
        setup x = {0};
        double objective;
        FILE *f = fopen(path, "w");
        for (size_t k = 0; k < n; k++)
            fprintf(f, "w%zu ", k);
        fprintf(f, "|||");
        for (size_t k = 0; k < m; k++)
            fprintf(f, " v%zu", trl_rng_below(&rng, 3));
        fprintf(f, "\n");
        fclose(f);
        assert_ok(trl_bitext_read(path, NULL, &x.text, &err));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < m; j++)
                if (trl_rng_below(&rng, 2) == 0)
                    trl_buf_fmt(&links, "%zu-%zu ", i, j);
        trl_buf_str(&links, "\n");
        assert_ok(
            trl_links_memory(&x.links, &(trl_text){"l", links.data, links.len}, x.text, &err));
        random_brackets(&rng, &tree, 0, n, 0);
        assert_ok(trl_treebank_memory(&(trl_text){"t", tree.data, tree.len}, NULL, false, &x.trees,
                                      &err));
        make_corpus(&x);
        const trl_em_text t = {&x.corpus, x.text, &x.links, 0, x.pool, NULL};
        assert_ok(trl_em_start(&g, &t, &err));
        every e = {.x = &x,
                   .g = &g,
                   .s = &x.corpus.pair[0].source,
                   .target = x.text->side[1].id,
                   .best = HUGE_VAL};
        enumerate(&e, 0, m);
        assert_ok(trl_viterbi_em(&g, &t, 1, &objective, &err)); /* there are no counts yet */
        assert_near(objective, e.best, 1e-9);
        trl_generative_fini(&g);
        trl_buf_fini(&tree);
        trl_buf_fini(&links);
        drop(&x);
    }
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_never_rises),
                                       cmocka_unit_test(test_derivations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
