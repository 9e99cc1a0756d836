/* test_design.c -- the compiled feature matrix against one written out entry by entry. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "random_corpus.h"

#include "feature/implied_rows.h"
#include "feature/attribute_prefix.h"
#include "feature/project.h"
#include "num/simd.h"
#include "train/gradient.h"

#define TOLERANCE 1e-12 /* some hundred terms of size 1 */

typedef struct matrix {
    trl_corpus c;
    trl_design d;
    naive n;
    uint64_t *map[TRL_FAMILIES];
    double *w;
} matrix;

static corpus_shape random_shape(trl_rng *rng, int order)
{
    corpus_shape h = {.sequences = 1 + trl_rng_below(rng, 60), .max_tokens = 12};
    h.L = 1 + trl_rng_below(rng, order == 2 ? 5 : trl_rng_below(rng, 3) == 0 ? 90 : 20);
    const size_t some[] = {0, 1, 5, 40};
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        h.attrs[f] = some[trl_rng_below(rng, 4)] * (f ? 1 : 8);
        h.per_token[f] = 1 + trl_rng_below(rng, f ? 3 : 20); /* twice the same one, too */
        h.constant[f] = f && trl_rng_below(rng, 4);
    }
    h.values = trl_rng_below(rng, 2);
    h.zeros = trl_rng_below(rng, 2);
    h.weights = trl_rng_below(rng, 2);
    h.implied = trl_rng_below(rng, 2);
    return h;
}

static double signed_unit(trl_rng *rng)
{
    return 2.0 * trl_rng_unit(rng) - 1.0;
}

static void matrix_make(trl_rng *rng, const corpus_shape *h, const trl_design_options *o, matrix *m)
{
    trl_error err;
    *m = (matrix){0};
    random_corpus(rng, h, &m->c);
    naive_init(&m->n, &m->c, o);
    assert_ok(trl_design_build(&m->d, &m->c, o, &err));
    naive_map(&m->d, &m->n, m->map);
    m->w = trl_alloc64(trl_design_alloc(&m->d), sizeof *m->w);
    assert_non_null(m->w);
    memset(m->w, 0, trl_design_alloc(&m->d) * sizeof *m->w);
    for (size_t f = 0; f <= (size_t)o->order; f++)
        for (size_t i = 0; i < m->n.family[f].n_names * m->n.family[f].width; i++)
            if (m->map[f][i] != UINT64_MAX)
                m->w[m->map[f][i]] = signed_unit(rng);
}

static void matrix_fini(matrix *m)
{
    naive_fini(&m->n);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        free(m->map[f]);
    trl_free(m->w);
    trl_design_fini(&m->d);
    trl_corpus_fini(&m->c);
}

static double naive_score(const matrix *m, const naive *n, const double *w, size_t f, size_t t,
                          size_t cell)
{
    const naive_family *p = &n->family[f];
    double sum = 0.0;
    for (uint64_t i = p->begin[t]; i < p->begin[t + 1]; i++) {
        const uint64_t at = m->map[f][p->id[i] * p->width + cell];
        sum += at == UINT64_MAX ? 0.0 : p->value[i] * w[at];
    }
    return sum;
}

/* ---- what is a feature ------------------------------------------------------------------- */

/* Every feature has a weight of its own; the design counts them; all others are dead or pads. */
static void check_layout(const matrix *m)
{
    const trl_design *d = &m->d;
    char *used = calloc(d->n_weights + 1, 1);
    size_t live = 0;
    assert_non_null(used);
    for (size_t f = 0; f <= (size_t)d->order; f++)
        for (size_t i = 0; i < m->n.family[f].n_names * m->n.family[f].width; i++)
            if (m->map[f][i] != UINT64_MAX) {
                assert_true(m->map[f][i] < d->n_weights);
                assert_false(used[m->map[f][i]]);
                used[m->map[f][i]] = 1;
                live++;
            }
    assert_int_equal(live, d->n_live);
    for (size_t i = 0; i < d->n_dead; i++) {
        assert_false(used[d->dead[i]]);
        used[d->dead[i]] = 1;
    }
    assert_true(d->n_hot_weights <= d->n_weights);
    free(used);
}

/* ---- gather ---------------------------------------------------------------------------- */

static void tables_make(const trl_design *d, size_t n, trl_arena *arena, trl_tables *t)
{
    trl_error err;
    trl_tables shared;
    assert_true(trl_tables_get(d, n, arena, t));
    assert_ok(trl_shared_new(d, &shared, &err));
    memcpy(t->shared, shared.shared, sizeof t->shared);
    for (size_t f = 0; f < TRL_FAMILIES; f++) /* gather must overwrite */
        for (size_t k = 0; t->row[f] && k < n * t->step[f]; k++)
            t->row[f][k] = nan("");
}

static void check_rows(const matrix *m, const naive *n, size_t from, const trl_tables *t)
{
    for (size_t f = 0; f <= (size_t)m->d.order; f++)
        for (size_t k = 0; k < t->n; k++)
            for (size_t cell = 0; cell < m->n.family[f].width; cell++) {
                const double want = naive_score(m, n, m->w, f, from + k, cell);
                if (t->row[f])
                    assert_near(t->row[f][k * t->step[f] + cell], want, TOLERANCE);
                else
                    assert_true(want == 0.0);
            }
}

static void check_gather(const matrix *m)
{
    const trl_design *d = &m->d;
    trl_arena arena = {0};
    trl_tables t;
    for (size_t s = 0; s < d->n_sequences; s++) {
        const size_t from = d->first[s], n = d->first[s + 1] - from;
        trl_arena_reset(&arena);
        tables_make(d, n, &arena, &t);
        trl_gather(d, m->w, from, &t);
        check_rows(m, &m->n, from, &t);
        trl_gather_shared(d, m->w, t.shared);
        for (size_t f = 1; f <= (size_t)d->order; f++)
            for (size_t cell = 0; t.shared[f] && cell < d->family[f].width; cell++) {
                const uint64_t at = m->map[f][m->n.family[f].constant * d->family[f].width + cell];
                assert_true(t.shared[f][cell] == (at == UINT64_MAX ? 0.0 : m->w[at]));
            }
        trl_shared_free(&t);
    }
    trl_arena_fini(&arena);
}

/* ---- scatter, through a task whose value is linear in the scores -------------------------- */

/* value = sum of adjoint * score with fixed random adjoints: F and its gradient are known. */
typedef struct linear_task {
    const matrix *m;
    double *row[TRL_FAMILIES];    /* [n_tokens][step] */
    double *shared[TRL_FAMILIES]; /* [n_sequences][step] */
    const trl_tables *scores;
} linear_task;

static trl_status prepare(void *self, const trl_tables *scores, trl_error *err)
{
    (void)self;
    (void)scores;
    (void)err;
    return TRL_OK;
}

static trl_status evaluate(void *self, const trl_example *e, const trl_tables *scores,
                           trl_tables *adjoint, double *value, trl_error *err)
{
    (void)err;
    const linear_task *l = self;
    const trl_design *d = &l->m->d;
    *value = 0.0;
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        const size_t step = d->family[f].step, width = d->family[f].width;
        const double *from = l->row[f] + d->first[e->number] * step;
        for (size_t k = 0; scores->row[f] && k < scores->n * step; k++) {
            adjoint->row[f][k] = from[k];
            *value += k % step < width ? from[k] * scores->row[f][k] : 0.0;
        }
        from = l->shared[f] + e->number * step;
        for (size_t k = 0; scores->shared[f] && k < width; k++) {
            adjoint->shared[f][k] += from[k];
            *value += from[k] * scores->shared[f][k];
        }
    }
    return TRL_OK;
}

static void finish(void *self, size_t lane, trl_tables *adjoint)
{
    (void)self;
    (void)lane;
    (void)adjoint;
}

/* Adjoints of cold attributes travel as floats: numbers that are floats lose nothing. */
static double signed_float(trl_rng *rng)
{
    return (double)(float)signed_unit(rng);
}

static void linear_make(trl_rng *rng, const matrix *m, linear_task *l)
{
    *l = (linear_task){.m = m};
    for (size_t f = 0; f <= (size_t)m->d.order; f++) {
        const size_t step = m->d.family[f].step, width = m->d.family[f].width;
        l->row[f] = calloc(m->d.n_tokens * step, sizeof(double));
        l->shared[f] = calloc(m->d.n_sequences * step, sizeof(double));
        assert_true(l->row[f] && l->shared[f]);
        for (size_t k = 0; k < m->d.n_tokens * step; k++)
            if (k % step < width && m->n.position[k / step] >= f)
                l->row[f][k] = signed_float(rng);
        for (size_t k = 0; k < m->d.n_sequences * step; k++)
            if (k % step < width)
                l->shared[f][k] = signed_unit(rng);
    }
}

static void linear_fini(linear_task *l)
{
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        free(l->row[f]);
        free(l->shared[f]);
    }
}

/* A^T adjoint of the sequences s0 .. s1-1, and in *value adjoint . A w. */
static void naive_scatter(const linear_task *l, size_t s0, size_t s1, double *g, double *value)
{
    const matrix *m = l->m;
    *value = 0.0;
    memset(g, 0, trl_design_alloc(&m->d) * sizeof *g);
    for (size_t f = 0; f <= (size_t)m->d.order; f++) {
        const naive_family *p = &m->n.family[f];
        const size_t step = m->d.family[f].step;
        for (size_t t = m->d.first[s0]; t < m->d.first[s1]; t++)
            for (uint64_t i = p->begin[t]; i < p->begin[t + 1]; i++)
                for (size_t cell = 0; cell < p->width; cell++) {
                    const uint64_t at = m->map[f][p->id[i] * p->width + cell];
                    if (at != UINT64_MAX)
                        g[at] += p->value[i] * l->row[f][t * step + cell];
                }
        for (size_t s = s0; p->constant != TRL_NO_ID && s < s1; s++)
            for (size_t cell = 0; cell < p->width; cell++) {
                const uint64_t at = m->map[f][p->constant * p->width + cell];
                if (at != UINT64_MAX)
                    g[at] += l->shared[f][s * step + cell];
            }
    }
    for (uint64_t i = 0; i < m->d.n_weights; i++)
        *value += g[i] * m->w[i];
}

/* `single`: sums with implied rows in floats, extra ones among them. */
static void check_gradient(trl_rng *rng, const matrix *m, bool single)
{
    const double tolerance = single ? 1e-4 : TOLERANCE;
    trl_error err;
    linear_task l;
    linear_make(rng, m, &l);
    const trl_task task = {
        .self = &l, .single = single, .prepare = prepare, .evaluate = evaluate, .finish = finish};
    const size_t n = trl_design_alloc(&m->d);
    double *want = malloc(n * sizeof *want), *got = trl_alloc64(n, sizeof *got);
    double value, F;
    const double c2 = trl_rng_below(rng, 2) ? 0.3 : 0.0;
    trl_pool *pool = trl_pool_new(1 + trl_rng_below(rng, 3));
    trl_gradient *g = NULL;
    assert_true(want && got && pool);
    naive_scatter(&l, 0, m->d.n_sequences, want, &value);
    for (size_t i = 0; i < n; i++)
        got[i] = nan("");
    assert_ok(trl_gradient_new(&m->d, &m->c.family[TRL_NODE].names, &task, pool, &g, &err));
    assert_ok(trl_gradient_eval(g, m->w, c2, got, &F, &err));
    double norm2 = 0.0;
    for (uint64_t i = 0; i < m->d.n_weights; i++) {
        assert_near(got[i], 2.0 * c2 * m->w[i] - want[i], tolerance);
        norm2 += m->w[i] * m->w[i];
    }
    assert_near(F, -value + c2 * norm2, single ? 1e-5 * (1.0 + fabs(F)) : 1e-11);
    trl_gradient_free(g);
    trl_pool_free(pool);
    free(want);
    trl_free(got);
    linear_fini(&l);
}

static void check_scatter_all(trl_rng *rng, const matrix *m)
{
    linear_task l;
    linear_make(rng, m, &l);
    const size_t n = trl_design_alloc(&m->d);
    double *want = malloc(n * sizeof *want), *got = trl_alloc64(n, sizeof *got), value;
    assert_true(want && got);
    for (size_t s = 0; s < m->d.n_sequences; s++) {
        trl_tables a = {.n = m->d.first[s + 1] - m->d.first[s]};
        for (size_t f = 0; f <= (size_t)m->d.order; f++) {
            const trl_family *p = &m->d.family[f];
            a.step[f] = p->step;
            a.row[f] = p->has_rows ? l.row[f] + m->d.first[s] * p->step : NULL;
            a.shared[f] = p->has_constant ? l.shared[f] + s * p->step : NULL;
        }
        naive_scatter(&l, s, s + 1, want, &value);
        for (size_t i = 0; i < n; i++)
            got[i] = 0.5;
        trl_scatter_all(&m->d, m->d.first[s], &a, -3.0, got);
        for (size_t i = 0; i < n; i++) /* live cells only: the rest stays as it was */
            assert_near(got[i], 0.5 - 3.0 * want[i], TOLERANCE);
    }
    free(want);
    trl_free(got);
    linear_fini(&l);
}

/* Number of attributes that others imply: check_gradient has then tested that. */
static size_t implied_pairs(const matrix *m)
{
    trl_error err;
    trl_implied_rows implied;
    assert_ok(trl_implied_build(&implied, &m->d, &m->c.family[TRL_NODE].names, true, &err));
    const size_t n = implied.n_pairs;
    trl_implied_fini(&implied);
    return n;
}

/* ---- random designs -------------------------------------------------------------------- */

static void test_random_designs(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    size_t parts[TRL_FAMILIES][4] = {{0}}, dead = 0, wide = 0, pairs = 0;
    for (int k = 0; k < 600; k++) {
        trl_design_options o = {.order = 1 + (int)trl_rng_below(&rng, 2),
                                .all_pairs = trl_rng_below(&rng, 4) == 0,
                                .all_transitions = trl_rng_below(&rng, 2),
                                .min_count = trl_rng_below(&rng, 4)};
        if (k % 5 == 4)
            o.min_freq = 0.5 + (double)trl_rng_below(&rng, 5) * 0.5;
        const corpus_shape h = random_shape(&rng, o.order);
        matrix m;
        matrix_make(&rng, &h, &o, &m);
        check_layout(&m);
        check_gather(&m);
        check_gradient(&rng, &m, k % 2);
        check_scatter_all(&rng, &m);
        for (size_t f = 0; f < TRL_FAMILIES; f++) {
            const trl_family *p = &m.d.family[f];
            const size_t ends[5] = {0, p->n_hot, p->n_dense, p->n_warm, p->n_attrs};
            for (size_t i = 0; i < 4; i++)
                parts[f][i] += ends[i + 1] - ends[i];
        }
        dead += m.d.n_dead;
        pairs += implied_pairs(&m);
        wide += m.d.family[TRL_NODE].n_hot && m.d.L > 64;
        matrix_fini(&m);
    }
    for (size_t i = 0; i < 4; i++)
        assert_true(parts[TRL_NODE][i] > 100); /* all kinds have been there */
    for (size_t f = 1; f < TRL_FAMILIES; f++)
        assert_true(parts[f][0] > 100 && parts[f][2] > 100);
    assert_true(dead > 1000 && pairs > 500);
    assert_true(wide > 5); /* rows of more than one block of vectors */
}

static void test_refusals(void **state)
{
    (void)state;
    trl_error err;
    trl_corpus c;
    trl_design d;
    assert_ok(trl_corpus_init(&c, &err));
    const trl_design_options o = {.order = 1};
    assert_int_equal(trl_design_build(&d, &c, &o, &err), TRL_EINVAL);
    assert_true(err.msg[0]);
    trl_corpus_fini(&c);
}

/* ---- projection ------------------------------------------------------------------------ */

/* Occurrences of another corpus by the training corpus' names; unknown ones are left out. */
static void translate(const trl_corpus *other, const matrix *m, naive *n)
{
    for (size_t f = 0; f <= (size_t)m->d.order; f++) {
        naive_family *p = &n->family[f];
        uint64_t to = 0;
        for (size_t t = 0; t < n->n_tokens; t++) {
            const uint64_t from = p->begin[t], end = p->begin[t + 1];
            p->begin[t] = to;
            for (uint64_t i = from; i < end; i++) {
                const trl_str s = trl_strtab_get(&other->family[f].names, p->id[i]);
                const uint32_t id = trl_strtab_find(&m->c.family[f].names, s.p, s.n);
                p->value[to] = p->value[i];
                p->id[to] = id;
                to += id != TRL_NO_ID;
            }
        }
        p->begin[n->n_tokens] = to;
    }
}

static void test_projection(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(4);
    trl_error err;
    trl_arena arena = {0};
    for (int k = 0; k < 40; k++) {
        const trl_design_options o = {
            .order = 1 + k % 2, .all_pairs = k % 5 == 0, .min_count = trl_rng_below(&rng, 3)};
        corpus_shape h = random_shape(&rng, o.order);
        matrix m;
        matrix_make(&rng, &h, &o, &m);
        trl_corpus other;
        trl_design seen;
        naive n;
        h.new_names = 1 + trl_rng_below(&rng, 60);
        h.values = k % 3 == 0;
        random_corpus(&rng, &h, &other);
        naive_init(&n, &other, &o);
        translate(&other, &m, &n);
        assert_ok(trl_design_project(&m.d, &m.c, &other, &seen, &err));
        assert_int_equal(seen.n_tokens, other.n_tokens);
        for (size_t s = 0; s < other.n_sequences; s++) {
            const size_t from = other.first[s], len = other.first[s + 1] - from;
            trl_tables t;
            trl_arena_reset(&arena);
            tables_make(&seen, len, &arena, &t);
            trl_gather(&seen, m.w, from, &t);
            check_rows(&m, &n, from, &t);
            trl_shared_free(&t);
        }
        trl_projection_fini(&seen);
        naive_fini(&n);
        trl_corpus_fini(&other);
        matrix_fini(&m);
    }
    trl_arena_fini(&arena);
}

static void test_kinds(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"w[0]=the", "w[0]"}, {"U03:a:b", "U03"}, {"u:w+0:the", "u:w+0"}, {"u:s=x:y", "u:s"},
        {"a:the", "a"},       {"a=b:c", "a"},     {"__BOS__", ""},        {"", ""},
        {"u:", "u"},          {":", ""},          {"u::x", "u:"},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        const trl_str kind = trl_attribute_prefix((trl_str){table[k][0], strlen(table[k][0])});
        assert_int_equal(kind.n, strlen(table[k][1]));
        assert_memory_equal(kind.p, table[k][1], kind.n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_designs),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
