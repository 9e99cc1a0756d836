/* test_wide_rows.c -- factors with hundreds of cells: lists of attributes against lists of entries,
 * which are their plain twin, bit for bit, with implied rows and without; and the gradient against
 * differences; the same of weights in single precision. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "base/rng.h"
#include "feature/dual_weights.h"
#include "feature/implied_rows.h"
#include "feature/sparse_lists.h"
#include "support.h"
#include "train/gradient.h"
#include "train/sag.h"

enum { EXAMPLES = 150, KINDS = 2, ROWS = 8, SLOTS = 4, CHECKED = 200 };
static const size_t width[KINDS] = {300, 280};

typedef struct wide {
    trl_corpus corpus;
    trl_design design, plain; /* plain: the same without lists of attributes; borrows */
    trl_pool *pool;
} wide;

/* log p of every factor on its own. */
static trl_status evaluate(void *self, const trl_example *e, const trl_tables *scores,
                           trl_tables *adjoint, double *value, trl_error *err)
{
    const trl_corpus *c = self;
    (void)err;
    *value = 0.0;
    for (size_t f = 0; f < KINDS; f++) {
        const uint32_t *gold = c->family[f].gold + c->first[e->number];
        memset(adjoint->row[f], 0, scores->n * scores->step[f] * sizeof(double));
        for (size_t r = 0; r < scores->n && gold[r] != TRL_NO_ID; r++) {
            const double *s = scores->row[f] + r * scores->step[f];
            double *a = adjoint->row[f] + r * scores->step[f], z = 0.0;
            for (size_t k = 0; k < width[f]; k++)
                z += a[k] = exp(s[k]);
            for (size_t k = 0; k < width[f]; k++)
                a[k] = (k == gold[r]) - a[k] / z;
            *value += s[gold[r]] - log(z);
        }
    }
    return TRL_OK;
}

/* Lists of entries in place of those of attributes. */
static void list_entries(const trl_design *d, trl_family *f)
{
    uint64_t n = 0;
    f->entry_begin = calloc(d->n_tokens + 1, sizeof *f->entry_begin);
    f->entry = calloc(1000 * d->n_tokens, sizeof *f->entry);
    assert_true(f->entry_begin && f->entry);
    for (size_t t = 0; t < d->n_tokens; t++) {
        f->entry_begin[t] = n;
        for (uint64_t i = f->sparse_begin[t]; i < f->sparse_begin[t + 1]; i++)
            for (uint64_t e = f->entry_first[f->sparse[i]]; e < f->entry_first[f->sparse[i] + 1];
                 e++)
                f->entry[n++] = trl_entry_of(trl_entry_at(f, e), f->entry_cell[e]);
        assert_true(n + 16 < 1000 * d->n_tokens);
    }
    f->entry_begin[d->n_tokens] = n;
    f->sparse = NULL;
    f->sparse_begin = NULL;
}

/* A word, what follows from it (a:, c:), and something else. */
static void open_wide(wide *x, trl_rng *rng)
{
    trl_error err;
    *x = (wide){.pool = trl_pool_new(2)};
    assert_ok(trl_corpus_init_families(&x->corpus, width, KINDS, &err));
    for (size_t e = 0; e < EXAMPLES; e++) {
        uint32_t gold[KINDS][ROWS];
        char text[KINDS][ROWS][SLOTS][24];
        trl_attr on[KINDS][ROWS * SLOTS];
        size_t begin[ROWS + 1];
        trl_factors of[KINDS];
        for (size_t r = 0; r <= ROWS; r++)
            begin[r] = r * SLOTS;
        for (size_t f = 0; f < KINDS; f++) {
            of[f] = (trl_factors){1 + trl_rng_below(rng, ROWS), gold[f], begin, on[f]};
            for (size_t r = 0; r < ROWS; r++) {
                const unsigned word = (unsigned)trl_rng_below(rng, 40);
                const unsigned number[SLOTS] = {word, word / 4, word / 4 % 2,
                                                (unsigned)trl_rng_below(rng, 60)};
                for (size_t s = 0; s < SLOTS; s++) {
                    snprintf(text[f][r][s], sizeof text[f][r][s], "%c:%u", "wacr"[s], number[s]);
                    on[f][r * SLOTS + s] = (trl_attr){{text[f][r][s], strlen(text[f][r][s])}, 1.0};
                }
                gold[f][r] = (uint32_t)trl_rng_below(rng, width[f]);
            }
        }
        assert_ok(trl_corpus_add_factors(&x->corpus, of, 1.0, &err));
    }
    assert_ok(trl_design_build(&x->design, &x->corpus, &(trl_design_options){0}, &err));
    x->plain = x->design;
    for (size_t f = 0; f < KINDS; f++) {
        assert_non_null(x->design.family[f].sparse);
        assert_int_equal(x->design.family[f].entry_begin[x->design.n_tokens], 0);
        list_entries(&x->design, &x->plain.family[f]);
    }
    assert_int_equal(x->design.family[0].n_cold, 0); /* no copy of all adjoints */
    assert_true(x->design.family[0].n_dense > 0);
}

static void close_wide(wide *x)
{
    for (size_t f = 0; f < KINDS; f++)
        free(x->plain.family[f].entry_begin), free(x->plain.family[f].entry);
    trl_design_fini(&x->design);
    trl_corpus_fini(&x->corpus);
    trl_pool_free(x->pool);
}

static double *random_weights(const trl_design *d, trl_rng *rng)
{
    double *w = trl_alloc64(trl_design_alloc(d), sizeof *w);
    assert_non_null(w);
    memset(w, 0, trl_design_alloc(d) * sizeof *w);
    for (size_t i = 0; i < d->n_weights; i++)
        w[i] = 2.0 * trl_rng_unit(rng) - 1.0;
    trl_clear_dead(d, w);
    return w;
}

static double eval(wide *x, const trl_design *d, bool implied, const double *w, double *g)
{
    trl_error err;
    trl_gradient *grad;
    double F;
    const trl_task task = {.self = &x->corpus, .evaluate = evaluate};
    const trl_strtab *names = implied ? &x->corpus.family[0].names : NULL;
    assert_ok(trl_gradient_new(d, names, &task, x->pool, &grad, &err));
    assert_ok(trl_gradient_eval(grad, w, 0.1, g, &F, &err));
    trl_gradient_free(grad);
    return F;
}

static void test_twin(void **state)
{
    trl_rng rng = trl_rng_seed(11);
    wide x;
    (void)state;
    open_wide(&x, &rng);
    double *w = random_weights(&x.design, &rng), *g = random_weights(&x.design, &rng),
           *h = random_weights(&x.design, &rng), *all = random_weights(&x.design, &rng);
    for (int implied = 0; implied < 2; implied++) {
        const double F = eval(&x, &x.design, implied, w, g), G = eval(&x, &x.plain, implied, w, h);
        assert_true(F == G);
        assert_memory_equal(g, h, x.design.n_weights * sizeof *g);
        if (implied) /* sums are regrouped */
            for (size_t i = 0; i < x.design.n_weights; i++)
                assert_near(g[i], all[i], 1e-11);
        memcpy(all, g, trl_design_alloc(&x.design) * sizeof *g);
    }
    trl_free(w);
    trl_free(g);
    trl_free(h);
    trl_free(all);
    close_wide(&x);
}

/* One example at a time, scaled (trl_scatter_all). */
static void test_examples(void **state)
{
    trl_rng rng = trl_rng_seed(12);
    wide x;
    (void)state;
    open_wide(&x, &rng);
    double *w = random_weights(&x.design, &rng), *g = random_weights(&x.design, &rng);
    double *h = random_weights(&x.design, &rng);
    memcpy(h, g, trl_design_alloc(&x.design) * sizeof *g);
    trl_arena arena = {0};
    for (size_t e = 0; e < 5; e++) {
        const size_t from = (size_t)x.design.first[e], n = (size_t)x.design.first[e + 1] - from;
        trl_tables a, b;
        trl_arena_reset(&arena);
        assert_true(trl_tables_get(&x.design, n, &arena, &a));
        assert_true(trl_tables_get(&x.plain, n, &arena, &b));
        trl_gather(&x.design, w, from, &a);
        trl_gather(&x.plain, w, from, &b);
        for (size_t f = 0; f < KINDS; f++)
            assert_memory_equal(a.row[f], b.row[f], n * a.step[f] * sizeof(double));
        for (size_t f = 0; f < KINDS; f++) /* tables without constants */
            a.shared[f] = NULL;
        trl_scatter_all(&x.design, from, &a, 0.5, g);
        trl_scatter_all(&x.plain, from, &a, 0.5, h);
    }
    assert_memory_equal(g, h, x.design.n_weights * sizeof *g);
    trl_arena_fini(&arena);
    trl_free(w);
    trl_free(g);
    trl_free(h);
    close_wide(&x);
}

static void test_differences(void **state)
{
    const double eps = 1e-5;
    trl_rng rng = trl_rng_seed(13);
    wide x;
    (void)state;
    open_wide(&x, &rng);
    double *w = random_weights(&x.design, &rng), *g = random_weights(&x.design, &rng),
           *unused = random_weights(&x.design, &rng);
    eval(&x, &x.design, true, w, g);
    size_t nonzero = 0;
    for (size_t k = 0; k < CHECKED; k++) {
        const size_t i = trl_rng_below(&rng, (size_t)x.design.n_weights);
        const double at = w[i];
        if (at == 0.0) /* not a feature */
            continue;
        w[i] = at + eps;
        const double up = eval(&x, &x.design, true, w, unused);
        w[i] = at - eps;
        const double down = eval(&x, &x.design, true, w, unused);
        w[i] = at;
        assert_near(g[i], (up - down) / (2 * eps), 1e-6);
        nonzero++;
    }
    assert_true(nonzero > CHECKED / 4);
    trl_free(w);
    trl_free(g);
    trl_free(unused);
    close_wide(&x);
}

/* Single weights after a step, and the scores that they give: the lists' and the twin's. */
static void test_single_twin(void **state)
{
    trl_rng rng = trl_rng_seed(17);
    wide x;
    trl_error err;
    (void)state;
    open_wide(&x, &rng);
    double *w = random_weights(&x.design, &rng);
    for (size_t round = 0; round < 20; round++) {
        const size_t n = 1 + trl_rng_below(&rng, 3);
        const size_t from = trl_rng_below(&rng, x.design.n_tokens - n);
        const trl_design *const both[2] = {&x.design, &x.plain};
        double *score[2][KINDS];
        float *delta[TRL_FAMILIES_MAX] = {0};
        for (size_t f = 0; f < KINDS; f++) {
            const size_t cells = n * x.design.family[f].step;
            delta[f] = trl_alloc64(cells, sizeof **delta);
            for (size_t c = 0; c < cells; c++)
                delta[f][c] = (float)trl_rng_unit(&rng) - 0.5f;
        }
        for (size_t k = 0; k < 2; k++) {
            trl_dual_weights z;
            trl_tables t = {.n = n};
            assert_ok(trl_dual_weights_init(&z, both[k], 1.0, &err));
            trl_dual_weights_set(&z, w);
            trl_dual_weights_add(&z, from, n, delta, 0.25f);
            for (size_t f = 0; f < KINDS; f++) {
                t.step[f] = both[k]->family[f].step;
                t.row[f] = score[k][f] = trl_alloc64(n * t.step[f], sizeof **t.row);
            }
            trl_dual_weights_gather(&z, from, NULL, &t);
            trl_dual_weights_fini(&z);
        }
        for (size_t f = 0; f < KINDS; f++)
            for (size_t r = 0; r < n; r++)
                for (size_t c = 0; c < width[f]; c++) {
                    const size_t at = r * x.design.family[f].step + c;
                    assert_near(score[0][f][at], score[1][f][at], 1e-6);
                }
        for (size_t f = 0; f < KINDS; f++) {
            trl_free(score[0][f]);
            trl_free(score[1][f]);
            trl_free(delta[f]);
        }
    }
    trl_free(w);
    close_wide(&x);
}

/* Entries one by one, and an optimiser that keeps its weights out of date. */
static void test_entries_twin(void **state)
{
    trl_rng rng = trl_rng_seed(19);
    wide x;
    trl_error err;
    trl_ending ending;
    (void)state;
    open_wide(&x, &rng);
    for (size_t f = 0; f < KINDS; f++)
        for (size_t t = 0; t < x.design.n_tokens; t++) {
            trl_entry_walk a = trl_entries_of(&x.design.family[f], t),
                           b = trl_entries_of(&x.plain.family[f], t);
            while (trl_entry_next(&b)) {
                assert_true(trl_entry_next(&a));
                assert_int_equal(a.entry.weight, b.entry.weight);
                assert_int_equal(a.entry.cell, b.entry.cell);
                assert_true(a.value == 1.0 && b.value == 1.0);
            }
            assert_false(trl_entry_next(&a));
        }
    const trl_task task = {.self = &x.corpus, .evaluate = evaluate};
    const trl_sag_options o = {.c2 = 0.1, .max_iter = 3, .seed = 1};
    double *w = random_weights(&x.design, &rng), *v = random_weights(&x.design, &rng);
    memcpy(v, w, trl_design_alloc(&x.design) * sizeof *w);
    const trl_descent of_lists = {.x = w, .ending = &ending}, of_twin = {.x = v, .ending = &ending};
    assert_ok(trl_sag(&x.design, &task, &o, &of_lists, &err));
    assert_ok(trl_sag(&x.plain, &task, &o, &of_twin, &err));
    assert_memory_equal(w, v, x.design.n_weights * sizeof *w);
    trl_free(w);
    trl_free(v);
    close_wide(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twin),        cmocka_unit_test(test_entries_twin),
        cmocka_unit_test(test_examples),    cmocka_unit_test(test_single_twin),
        cmocka_unit_test(test_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
