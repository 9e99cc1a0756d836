/* test_large_counts.c -- weights beyond number 2^32: a small design whose weights lie there gives
 * the bits that it gives where it is.  The vector up to them is address space without memory. */
/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "support.h"

#include <sys/mman.h>

#include "random_corpus.h"

#include "base/arena.h"
#include "num/simd.h"
#include "train/gradient.h"

#define SHIFT (((uint64_t)1 << 33) + 4096) /* whole pages of doubles */

/* A vector of SHIFT + n doubles whose last n there are. */
typedef struct far_vector {
    char *all;
    size_t bytes;
    double *x;
} far_vector;

static bool far_make(far_vector *v, size_t n)
{
    v->bytes = (size_t)(SHIFT + n) * sizeof(double);
    v->all = mmap(NULL, v->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (v->all == MAP_FAILED)
        return false;
    v->x = (double *)(void *)v->all;
    return mprotect(v->all + SHIFT * sizeof(double), n * sizeof(double), PROT_READ | PROT_WRITE) ==
           0;
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

/* Scores of w; then adjoints, which are the scores, into g, which was 0. */
static double *run(const trl_design *d, const double *w, double *g, size_t *bytes)
{
    trl_tables t;
    double *block = make_tables(d, &t, bytes);
    trl_gather(d, w, 0, &t);
    trl_gather_shared(d, w, t.shared);
    set_pads(d, &t);
    trl_scatter_all(d, 0, &t, 2.0, g);
    trl_scatter_shared(d, &t, g);
    float *node = malloc(d->n_tokens * d->family[0].step * sizeof *node);
    assert_non_null(node);
    for (size_t i = 0; i < d->n_tokens * d->family[0].step; i++)
        node[i] = (float)t.row[0][i];
    trl_scatter_cold(d, node, 0, d->family[0].n_cold, g);
    trl_clear_dead(d, g);
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
                                       cmocka_unit_test(test_beyond_32_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
