/* test_large_counts.c -- weights and tokens beyond number 2^32: a small design whose weights or
 * tokens lie there gives the bits that it gives where it is.  What is before them is address space
 * without memory. */
/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "support.h"

#include <sys/mman.h>

#include "random_corpus.h"

#include "base/arena.h"
#include "num/simd.h"
#include "train/gradient.h"

#define SHIFT (((uint64_t)1 << 33) + 4096) /* whole pages of doubles */

/* A vector of SHIFT + n elements whose last n there are. */
typedef struct far_vector {
    char *all;
    size_t bytes;
    double *x;
} far_vector;

static bool far_make_of(far_vector *v, size_t n, size_t size)
{
    v->bytes = (size_t)(SHIFT + n) * size;
    v->all = mmap(NULL, v->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (v->all == MAP_FAILED)
        return false;
    v->x = (double *)(void *)v->all;
    return mprotect(v->all + SHIFT * size, n * size, PROT_READ | PROT_WRITE) == 0;
}

static bool far_make(far_vector *v, size_t n)
{
    return far_make_of(v, n, sizeof(double));
}

/* The same design with SHIFT more weights before its own. */
static void move(trl_design *d)
{
    for (size_t k = 0; k < trl_design_built(d); k++) {
        trl_family *f = &d->family[k];
        f->constant_at += SHIFT;
        f->hot_at += SHIFT;
        f->cold_at += SHIFT;
        f->entry_hot_at += SHIFT;
        f->entry_cold_at += SHIFT;
        for (uint64_t e = 0; e < f->entry_begin[d->n_tokens]; e++)
            f->entry[e] = trl_entry_of(f->entry[e].weight + SHIFT, f->entry[e].cell);
    }
    for (size_t k = 0; k < d->n_dead; k++)
        d->dead[k] += SHIFT;
    d->n_weights += SHIFT;
    d->n_hot_weights += SHIFT;
}

/* Tables of all tokens of a design, in one block: rows of every family, then the shared ones. */
static double *make_tables(const trl_design *d, trl_tables *t, size_t *bytes)
{
    size_t n = 0;
    for (size_t f = 0; f < trl_design_built(d); f++)
        n += (d->n_tokens + 2) * d->family[f].step;
    *bytes = n * sizeof(double);
    double *block = trl_alloc64(n, sizeof *block), *at = block;
    assert_non_null(block);
    memset(block, 0, *bytes);
    *t = (trl_tables){.n = d->n_tokens};
    for (size_t f = 0; f < trl_design_built(d); f++) {
        t->step[f] = d->family[f].step;
        t->row[f] = d->family[f].has_rows ? at : NULL;
        t->shared[f] = at + (d->n_tokens + 1) * d->family[f].step;
        at += (d->n_tokens + 2) * d->family[f].step;
    }
    return block;
}

static void set_pads(const trl_design *d, const trl_tables *t)
{
    for (size_t f = 0; f < trl_design_built(d); f++)
        for (size_t k = 0; t->row[f] && k < d->n_tokens; k++)
            for (size_t c = d->family[f].width; c < d->family[f].step; c++)
                t->row[f][k * d->family[f].step + c] = 0.0;
}

/* Scores of w for the tokens from number `from` on; then adjoints, which are the scores, into g,
 * which was 0.  node: [from + n_tokens][step]. */
static double *run_from(const trl_design *d, size_t from, float *node, const double *w, double *g,
                        size_t *bytes)
{
    trl_tables t;
    double *block = make_tables(d, &t, bytes);
    trl_gather(d, w, from, &t);
    trl_gather_shared(d, w, t.shared);
    set_pads(d, &t);
    trl_scatter_all(d, from, &t, 2.0, g);
    trl_scatter_shared(d, &t, g);
    const size_t step = d->family[0].step;
    for (size_t i = 0; i < d->n_tokens * step; i++)
        node[from * step + i] = (float)t.row[0][i];
    trl_scatter_cold(d, node, 0, d->family[0].n_cold, g);
    trl_clear_dead(d, g);
    return block;
}

static double *run(const trl_design *d, const double *w, double *g, size_t *bytes)
{
    float *node = malloc((d->n_tokens + 1) * d->family[0].step * sizeof *node);
    assert_non_null(node);
    double *block = run_from(d, 0, node, w, g, bytes);
    free(node);
    return block;
}

static void check_moved(trl_rng *rng, const corpus_shape *h, const trl_design_options *o)
{
    trl_error err;
    trl_corpus c;
    trl_design d;
    random_corpus(rng, h, &c);
    assert_ok(trl_design_build(&d, &c, o, &err));
    const size_t n = trl_design_alloc(&d);
    far_vector w, g;
    double *near_w = trl_alloc64(n, sizeof *near_w), *near_g = trl_alloc64(n, sizeof *near_g);
    assert_true(near_w && near_g);
    memset(near_g, 0, n * sizeof *near_g);
    for (size_t i = 0; i < n; i++)
        near_w[i] = 2.0 * trl_rng_unit(rng) - 1.0;
    trl_clear_dead(&d, near_w);
    size_t bytes = 0;
    double *want = run(&d, near_w, near_g, &bytes);
    if (!far_make(&w, n) || !far_make(&g, n))
        skip(); /* no address space for it */
    memcpy(w.x + SHIFT, near_w, n * sizeof *near_w);
    move(&d);
    double *got = run(&d, w.x, g.x, &bytes);
    assert_memory_equal(got, want, bytes);
    assert_memory_equal(g.x + SHIFT, near_g, n * sizeof *near_g);
    munmap(w.all, w.bytes);
    munmap(g.all, g.bytes);
    trl_free(near_w);
    trl_free(near_g);
    trl_free(want);
    trl_free(got);
    trl_design_fini(&d);
    trl_corpus_fini(&c);
}

static void test_beyond_32_bits(void **state)
{
    (void)state;
    if (SIZE_MAX >> 40 == 0)
        skip();
    trl_rng rng = trl_rng_seed(11);
    for (int trial = 0; trial < 60; trial++) {
        const corpus_shape h = {.sequences = 1 + trl_rng_below(&rng, 60),
                                .max_tokens = 12,
                                .L = 1 + trl_rng_below(&rng, 40),
                                .attrs = {300, 40, 0},
                                .per_token = {1 + trl_rng_below(&rng, 12), 2, 1},
                                .constant = {false, true, false},
                                .values = trl_rng_below(&rng, 2)};
        check_moved(&rng, &h, &(trl_design_options){.order = 1});
    }
}

/* The same design with SHIFT tokens before its own: the lists of tokens begin in far vectors, which
 * keep what the design had, and tokens in the lists of attributes have higher numbers. */
static bool move_tokens(trl_design *d, far_vector begin[2 * TRL_FAMILIES])
{
    for (size_t k = 0; k < trl_design_built(d); k++) {
        trl_family *f = &d->family[k];
        uint64_t **list[] = {&f->dense_begin, &f->entry_begin};
        for (size_t i = 0; i < 2; i++) {
            far_vector *v = &begin[2 * k + i];
            if (!far_make_of(v, d->n_tokens + 1, sizeof(uint64_t)))
                return false;
            uint64_t *to = (uint64_t *)(void *)v->all;
            memcpy(to + SHIFT, *list[i], (d->n_tokens + 1) * sizeof *to);
            trl_free(*list[i]);
            *list[i] = to;
        }
    }
    trl_family *f = &d->family[TRL_NODE];
    for (uint64_t r = 0; r < f->token_begin[f->n_cold]; r++) {
        const uint64_t token = trl_token_at(f, r) + SHIFT;
        f->token[r] = (uint32_t)token;
        f->token_high[r] = (uint8_t)(token >> 32);
    }
    return true;
}

static void check_far_tokens(trl_rng *rng, const corpus_shape *h, double min_freq)
{
    trl_error err;
    trl_corpus c[2];
    trl_design d[2];
    trl_rng again = *rng;
    random_corpus(rng, h, &c[0]);
    random_corpus(&again, h, &c[1]);
    trl_design_options o = {.order = 1, .min_freq = min_freq};
    assert_ok(trl_design_build(&d[0], &c[0], &o, &err));
    o.long_tokens = true;
    assert_ok(trl_design_build(&d[1], &c[1], &o, &err));
    assert_null(d[0].family[0].token_high);
    assert_non_null(d[1].family[0].token_high);
    assert_true(d[0].n_weights == d[1].n_weights);
    const size_t n = trl_design_alloc(&d[0]);
    double *w = trl_alloc64(n, sizeof *w), *g[3];
    for (size_t k = 0; k < 3; k++)
        g[k] = trl_zalloc(n, sizeof *g[k]);
    assert_true(w && g[0] && g[1] && g[2]);
    for (size_t i = 0; i < n; i++)
        w[i] = 2.0 * trl_rng_unit(rng) - 1.0;
    trl_clear_dead(&d[0], w);
    size_t bytes = 0;
    double *table[3];
    for (size_t k = 0; k < 2; k++)
        table[k] = run(&d[k], w, g[k], &bytes);
    far_vector begin[2 * TRL_FAMILIES], node;
    const size_t row = d[1].family[0].step * sizeof(float);
    if (!move_tokens(&d[1], begin) || !far_make_of(&node, d[1].n_tokens + 1, row))
        skip(); /* no address space for it */
    table[2] = run_from(&d[1], (size_t)SHIFT, (float *)(void *)node.all, w, g[2], &bytes);
    for (size_t k = 1; k < 3; k++) {
        assert_memory_equal(table[k], table[0], bytes);
        assert_memory_equal(g[k], g[0], n * sizeof *w);
    }
    munmap(node.all, node.bytes);
    for (size_t k = 0; k < 2 * trl_design_built(&d[1]); k++) {
        munmap(begin[k].all, begin[k].bytes);
        trl_family *f = &d[1].family[k / 2];
        *(k % 2 ? &f->entry_begin : &f->dense_begin) = NULL;
    }
    for (size_t k = 0; k < 3; k++) {
        trl_free(g[k]);
        trl_free(table[k]);
    }
    trl_free(w);
    for (size_t k = 0; k < 2; k++) {
        trl_design_fini(&d[k]);
        trl_corpus_fini(&c[k]);
    }
}

static void test_tokens_beyond_32_bits(void **state)
{
    (void)state;
    if (SIZE_MAX >> 40 == 0)
        skip();
    trl_rng rng = trl_rng_seed(12);
    for (int trial = 0; trial < 40; trial++) {
        const corpus_shape h = {.sequences = 1 + trl_rng_below(&rng, 60),
                                .max_tokens = 12,
                                .L = 1 + trl_rng_below(&rng, 40),
                                .attrs = {300, 40, 0},
                                .per_token = {1 + trl_rng_below(&rng, 12), 2, 1},
                                .constant = {false, true, false},
                                .values = trl_rng_below(&rng, 2)};
        check_far_tokens(&rng, &h, trial % 4 == 3 ? 0.5 : 0.0);
    }
}

/* Every weight and cell that the limits let through comes back from an entry. */
static void test_entries(void **state)
{
    (void)state;
    const uint64_t weight[] = {0, UINT32_MAX, (uint64_t)UINT32_MAX + 1, TRL_SPARSE_MAX};
    const uint32_t cell[] = {0, 1, UINT16_MAX, (UINT32_C(1) << TRL_CELL_BITS) - 1};
    assert_int_equal(sizeof(trl_entry), 8);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            const trl_entry e = trl_entry_of(weight[i], cell[j]);
            assert_true(e.weight == weight[i] && e.cell == cell[j]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_entries),
                                       cmocka_unit_test(test_beyond_32_bits),
                                       cmocka_unit_test(test_tokens_beyond_32_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
