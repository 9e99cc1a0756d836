/* test_tokens.c -- locally normalised objectives token by token: the kernel against plain loops,
 * the groups against the design's own lists, and the whole gradient against the one in double.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "chain/token_kernel.h"
#include "chain_problem.h"
#include "feature/implied_rows.h"
#include "feature/token_groups.h"

/* ---- the kernel ------------------------------------------------------------------------ */

#define NOTA UINT32_MAX /* as gold */

typedef struct terms {
    size_t L, sources;
    trl_token_terms k;
    float *score, *source, *sums, *adjoint, *weight, *S, *right, *held;
    uint32_t *which, *gold;
} terms;

static void *get(size_t n, size_t size)
{
    void *p = calloc(n + 16, size);
    assert_non_null(p);
    return p;
}

static void terms_make(trl_rng *rng, size_t L, double wide, terms *m)
{
    const size_t n = 1 + trl_rng_below(rng, 40), S = trl_padded(L);
    *m = (terms){.L = L, .sources = 1 + trl_rng_below(rng, 5)};
    m->score = get(n * S, sizeof(float));
    m->adjoint = get(n * S, sizeof(float));
    m->weight = get(n, sizeof(float));
    m->S = get(n, sizeof(float));
    m->right = get(n, sizeof(float));
    m->held = get(n, sizeof(float));
    m->which = get(n, sizeof(uint32_t));
    m->gold = get(n, sizeof(uint32_t));
    m->source = get(m->sources * S, sizeof(float));
    m->sums = get(m->sources * S, sizeof(float));
    for (size_t c = 0; c < n * S; c++) {
        m->score[c] = (float)(wide * (2.0 * trl_rng_unit(rng) - 1.0));
        m->adjoint[c] = 1e9f;
    }
    for (size_t c = 0; c < m->sources * S; c++)
        m->source[c] = c % S < L ? (float)(wide * (2.0 * trl_rng_unit(rng) - 1.0)) : TRL_TOKEN_PAD;
    for (size_t i = 0; i < n; i++) {
        m->which[i] = (uint32_t)trl_rng_below(rng, m->sources);
        m->gold[i] = (uint32_t)trl_rng_below(rng, L);
        m->weight[i] = (float)trl_rng_unit(rng);
    }
    m->k = (trl_token_terms){.n = n,
                             .step = S,
                             .score = m->score,
                             .source = m->source,
                             .sums = m->sums,
                             .which = m->which,
                             .gold = m->gold,
                             .weight = trl_rng_below(rng, 2) ? m->weight : NULL,
                             .nota = trl_rng_below(rng, 2),
                             .adjoint = m->adjoint,
                             .right = m->right,
                             .held = m->held,
                             .S = m->S};
}

static void terms_fini(terms *m)
{
    free(m->score);
    free(m->adjoint);
    free(m->weight);
    free(m->S);
    free(m->right);
    free(m->held);
    free(m->which);
    free(m->gold);
    free(m->source);
    free(m->sums);
}

/* The same in double by the definition: adds to adjoint and sums; returns S. */
static double plain_term(const terms *m, size_t i, size_t source, uint32_t gold, double *adjoint,
                         double *sums)
{
    const size_t step = m->k.step;
    const float *a = m->score + i * step, *b = m->source + source * step;
    const double weight = m->k.weight ? (double)m->k.weight[i] : 1.0;
    const double right = gold == NOTA ? 0.0 : (double)a[gold] + (double)b[gold];
    double S = m->k.nota && gold != NOTA ? exp(-right) : 0.0;
    for (size_t j = 0; j < m->L; j++)
        S += j == gold ? 0.0 : exp((double)a[j] + (double)b[j] - right);
    for (size_t j = 0; j < m->L && S < TRL_TOKEN_MAX; j++) {
        const double p = exp((double)a[j] + (double)b[j] - right) / (1.0 + S);
        const double d = weight * (j == gold ? S / (1.0 + S) : -p);
        adjoint[i * step + j] += d;
        sums[source * step + j] += d;
    }
    return S;
}

static void near(double got, double want, double tol, const char *what, size_t L, size_t at)
{
    if (!(fabs(got - want) <= tol))
        fail_msg("%s, %zu labels: [%zu] is %.9g, not %.9g", what, L, at, got, want);
}

/* Scores up to 2 * wide are rounded when they are added; then errors of a few 2^-24. */
static size_t check_terms(trl_rng *rng, size_t L, double wide)
{
    terms m;
    terms_make(rng, L, wide, &m);
    const size_t step = m.k.step, n = m.k.n;
    const double tol = 1e-6 + 4e-7 * wide;
    double *adjoint = get(n * step, sizeof *adjoint), *sums = get(m.sources * step, sizeof *sums);
    float *e = get(step, sizeof *e);
    size_t done = 0;
    trl_token_first(&m.k);
    for (size_t i = 0; i < n; i++) {
        const double S = plain_term(&m, i, m.which[i], m.gold[i], adjoint, sums);
        if (!(S < TRL_TOKEN_MAX)) {
            assert_false(S > 1.001 * TRL_TOKEN_MAX && m.S[i] < (float)TRL_TOKEN_MAX);
            continue;
        }
        done++;
        near((double)m.S[i], S, tol * S + 1e-20, "S", L, i);
        if (m.k.nota) { /* one more term of the same token */
            const size_t q = trl_rng_below(rng, m.sources);
            const double more = plain_term(&m, i, q, NOTA, adjoint, sums);
            const uint32_t at = (uint32_t)i, of = (uint32_t)q;
            float got;
            trl_token_more(&m.k, 1, &at, &of, e, &got);
            if (more < TRL_TOKEN_MAX)
                near((double)got, more, tol * more + 1e-20, "more", L, i);
        }
        for (size_t j = 0; j < step; j++)
            near((double)m.adjoint[i * step + j], adjoint[i * step + j], tol, "adjoint", L, j);
        assert_true(L % 8 == 0 || m.adjoint[i * step + step - 1] == 0.0f);
    }
    for (size_t c = 0; c < m.sources * step; c++)
        near((double)m.sums[c], sums[c], tol * (double)(2 * n), "sums", L, c);
    free(adjoint);
    free(sums);
    free(e);
    terms_fini(&m);
    return done;
}

static void test_kernel(void **state)
{
    (void)state;
    static const double wide[] = {0.0, 1.0, 8.0, 13.0};
    trl_rng rng = trl_rng_seed(61);
    size_t done = 0;
    for (size_t L = 1; L <= 80; L++)
        for (size_t k = 0; k < 4 * sizeof wide / sizeof *wide; k++)
            done += check_terms(&rng, L, wide[k % 4]);
    assert_true(done > 20000);
}

static void test_logs(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(64);
    for (size_t n = 0; n < 200; n++) {
        float S[208] = {0};
        double want = 0.0;
        for (size_t i = 0; i < 208; i++) {
            S[i] = (float)ldexp(trl_rng_unit(&rng), (int)trl_rng_below(&rng, 60) - 20);
            if (i % 17 == 3)
                S[i] = i % 2 ? nanf("") : HUGE_VALF;
            if (i < n && S[i] < (float)TRL_TOKEN_MAX)
                want += log1p((double)S[i]);
        }
        assert_near(trl_token_logs(n, S), want, 1e-12);
        for (size_t i = 0; i < n; i++)
            S[i] = 0x1.fffffep+39f;
        assert_near(trl_token_logs(n, S), (double)n * log1p((double)0x1.fffffep+39f), 1e-10);
    }
}

/* NaN, +inf and a forbidden gold label are left to others; other forbidden labels are none. */
static void test_kernel_limits(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(62);
    const float strange[] = {nanf(""), HUGE_VALF, 1e9f, 300.0f, 70.0f};
    for (size_t L = 2; L <= 70; L += 4)
        for (size_t k = 0; k < 7; k++) {
            terms m;
            terms_make(&rng, L, 1.0, &m);
            const size_t at = trl_rng_below(&rng, m.k.n), step = m.k.step;
            m.gold[at] = 0;
            if (k < 5)
                m.score[at * step + L - 1] = strange[k];
            else if (k == 5)
                m.score[at * step] = -HUGE_VALF;
            else
                m.score[at * step + L - 1] = -HUGE_VALF;
            trl_token_first(&m.k);
            assert_true((m.S[at] < (float)TRL_TOKEN_MAX) == (k == 6));
            if (k == 6)
                assert_true(m.adjoint[at * step + L - 1] == 0.0f);
            for (size_t c = 0; c < m.sources * step; c++)
                assert_true(isfinite(m.sums[c]));
            terms_fini(&m);
        }
}

/* ---- groups ---------------------------------------------------------------------------- */

/* Every token has one position; scores are those of trl_gather, rounded. */
static void check_gather(const trl_token_groups *q, const trl_implied_rows *implied,
                         const chain_problem *p, const double *w)
{
    const trl_family *f = &p->d.family[TRL_NODE];
    trl_arena arena = {0};
    trl_tables t = {.n = p->d.n_tokens, .step = {f->step}};
    double *sums = get(implied->n_rows * f->step, sizeof *sums);
    float *hot = get(implied->n_rows * f->step, sizeof *hot);
    float *score = get(TRL_TOKEN_GROUPS_ROWS, f->step * sizeof *score);
    bool *seen = get(q->n, sizeof *seen);
    t.row[TRL_NODE] = get(t.n, f->step * sizeof(double));
    trl_gather(&p->d, w, 0, &t);
    trl_implied_forward(implied, &p->d, w, sums);
    for (size_t c = 0; c < implied->n_rows * f->step; c++)
        hot[c] = (float)sums[c];
    assert_int_equal(q->n, p->d.n_tokens);
    assert_int_equal(q->batch[q->n_batches].position, q->n);
    for (size_t b = 0; b < q->n_batches; b++) {
        const size_t from = q->batch[b].position;
        assert_in_range(q->batch[b + 1].position - from, 1, TRL_TOKEN_GROUPS_BATCH);
        trl_token_groups_gather(q, &p->d, w, hot, b, score);
        for (size_t i = from; i < q->batch[b + 1].position; i++) {
            assert_false(seen[q->token[i]]);
            seen[q->token[i]] = true;
            for (size_t j = 0; j < f->width; j++)
                assert_near((double)score[(i - from) * f->step + j],
                            t.row[TRL_NODE][q->token[i] * f->step + j], 2e-6);
        }
    }
    free(t.row[TRL_NODE]);
    free(sums);
    free(hot);
    free(score);
    free(seen);
    trl_arena_fini(&arena);
}

/* The gradient of random adjoints: as by trl_scatter_all, token by token in the design's order. */
static void check_scatter(trl_rng *rng, const trl_token_groups *q, const trl_implied_rows *implied,
                          const chain_problem *p, const double *w)
{
    const trl_family *f = &p->d.family[TRL_NODE];
    double *want = problem_vector(p), *g = problem_vector(p), *row = get(f->step, sizeof *row);
    double *sums = get(implied->n_rows * f->step, sizeof *sums);
    float *hot = get(implied->n_rows * f->step, sizeof *hot);
    float *node = get(q->n, f->step * sizeof *node);
    float *table = get(TRL_TOKEN_GROUPS_ROWS, f->step * sizeof *table);
    float *stream = get(q->list[TRL_TOKEN_GROUPS_ENTRY].n, sizeof *stream);
    float *rows = get(q->list[TRL_TOKEN_GROUPS_COLD_ROW].n, f->step * sizeof *rows);
    double norm2 = 0.0, want_norm2 = 0.0;
    for (size_t i = 0; i < q->n; i++) {
        const trl_tables t = {.n = 1, .step = {f->step}, .row = {row}};
        for (size_t j = 0; j < f->width; j++)
            row[j] = (double)(node[i * f->step + j] = (float)(trl_rng_unit(rng) - 0.5));
        trl_scatter_all(&p->d, q->token[i], &t, 1.0, want);
    }
    const trl_token_groups_sums to = {g, hot, stream, rows, g, 0.0};
    for (size_t b = 0; b < q->n_batches; b++) {
        const size_t from = q->batch[b].position, n = q->batch[b + 1].position - from;
        memcpy(table, node + from * f->step, n * f->step * sizeof *table);
        norm2 += trl_token_groups_scatter(q, &p->d, w, b, table, &to);
    }
    for (size_t c = 0; c < implied->n_rows * f->step; c++)
        *(c < f->n_hot * f->step ? &g[f->hot_at + c] : &sums[c]) = (double)hot[c];
    trl_implied_backward(implied, &p->d, sums, g);
    for (uint64_t i = trl_dense_at(f, f->singleton_row); i < p->d.n_weights; i++) {
        g[i] = -g[i]; /* these come as a w - A^T adjoint, a = 0 */
        want_norm2 += w[i] * w[i];
    }
    assert_near(norm2, want_norm2, 1e-12 * want_norm2 + 1e-300);
    trl_scatter_cold(&q->rows, rows, 0, f->singleton_row - f->n_hot, g);
    trl_token_groups_entries(q, stream, 0, (size_t)(f->cold_at - f->entry_cold_at),
                             g + f->entry_cold_at);
    trl_clear_dead(&p->d, g);
    for (uint64_t i = 0; i < p->d.n_weights; i++)
        assert_near(g[i], want[i], 1e-4);
    trl_free(want);
    trl_free(g);
    free(row);
    free(sums);
    free(hot);
    free(node);
    free(table);
    free(stream);
    free(rows);
}

static void test_groups(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(63);
    size_t found = 0, extra = 0;
    for (size_t k = 0; k < 40; k++) {
        const corpus_shape h = {.sequences = 1 + trl_rng_below(&rng, 120),
                                .max_tokens = 1 + trl_rng_below(&rng, 20),
                                .L = (const size_t[]){2, 9, 44, 70}[k % 4],
                                .attrs = {k % 3 ? 400 : 0},
                                .per_token = {3},
                                .implied = k % 8 != 7,
                                .few = k % 5 < 2,
                                .values = k % 16 == 11};
        const trl_design_options o = {.order = 1, .all_pairs = k % 6 == 5};
        chain_problem p;
        trl_token_groups q;
        trl_implied_rows implied;
        trl_error err;
        bool useful;
        problem_make(&rng, &h, &o, "memm", 1, &p);
        double *w = problem_vector(&p);
        for (uint64_t i = 0; i < p.d.n_weights; i++)
            w[i] = 2.0 * trl_rng_unit(&rng) - 1.0;
        assert_ok(
            trl_token_groups_build(&q, &implied, &p.d, &p.c.family[TRL_NODE].names, &useful, &err));
        assert_true(!useful || (h.implied && !h.values));
        if (useful) {
            check_gather(&q, &implied, &p, w);
            check_scatter(&rng, &q, &implied, &p, w);
            found++;
            extra += implied.n_rows > p.d.family[TRL_NODE].n_hot;
        }
        trl_implied_fini(&implied);
        trl_token_groups_fini(&q);
        trl_free(w);
        problem_fini(&p);
    }
    print_message("%zu with groups, %zu with extra rows\n", found, extra);
    assert_true(found > 20 && extra > 0);
}

/* ---- the gradient ---------------------------------------------------------------------- */

static void random_weights(trl_rng *rng, const chain_problem *p, double scale, double *w)
{
    for (uint64_t i = 0; i < p->d.n_weights; i++)
        w[i] = scale * (2.0 * trl_rng_unit(rng) - 1.0);
    for (uint64_t f = 0; f < TRL_FAMILIES; f++) { /* what is between the parts stays 0 */
        const trl_family *a = &p->d.family[f];
        for (uint64_t i = a->constant_at + a->n_constant; i < a->hot_at; i++)
            w[i] = 0.0;
        for (size_t row = 0; row < a->n_hot; row++)
            for (size_t k = a->width; k < a->step; k++)
                w[trl_dense_at(a, row) + k] = 0.0;
    }
    trl_clear_dead(&p->d, w);
}

typedef struct variant {
    const char *objective;
    corpus_shape shape;
    trl_design_options design;
    double nota; /* share of instances */
    double scale;
} variant;

static variant variant_of(size_t k)
{
    static const size_t labels[] = {5, 22, 3, 44, 70};
    const int order = 1 + (k % 7 == 3);
    const bool both = k % 4 == 2 && order == 1 && labels[k % 5] < 70;
    return (variant){
        .objective = k % 2  ? "piecewise-nota"
                     : both ? "pseudolikelihood"
                            : "memm",
        .shape = {.sequences = 300,
                  .max_tokens = 20,
                  .L = order == 2 ? 6 : labels[k % 5],
                  .attrs = {k % 4 < 2 ? 900 : 0},
                  .per_token = {2},
                  .constant = {false, k % 6 != 5, order == 2},
                  .implied = true,
                  .few = k % 3 == 1,
                  .weights = k % 4 == 1},
        .design = {.order = order, .all_pairs = k % 5 == 4, .min_count = k % 8 == 6 ? 2 : 0},
        .nota = k % 2 ? 0.04 * (double)(k % 3) : 0.0,
        .scale = k % 9 == 8 ? 40.0 : 0.5};
}

/* The problem in single precision, token by token, unless `exact`. */
static void variant_make(trl_rng *rng, const variant *v, size_t threads, bool exact, trl_nota *nota,
                         chain_problem *p)
{
    trl_error err;
    problem_make(rng, &v->shape, &v->design, v->objective, threads, p);
    trl_nota_init(nota, &p->c, v->design.order);
    if (v->nota > 0.0)
        assert_ok(trl_nota_take_sample(nota, &p->c, v->nota, 7, &err));
    p->chain.nota = nota;
    p->chain.single = !exact;
    p->task = trl_chain_task_view(&p->chain);
    assert_true((p->task.chain.tokens != NULL) == !exact);
    trl_gradient_free(p->g);
    assert_ok(
        trl_gradient_new(&p->d, &p->c.family[TRL_NODE].names, &p->task, p->pool, &p->g, &err));
    assert_true((p->chain.tokens.n > 0) == !exact); /* arranged: grouped */
}

static void test_gradient(void **state)
{
    (void)state;
    double worst = 0.0, worst_F = 0.0;
    for (size_t k = 0; k < 48; k++) {
        const variant v = variant_of(k);
        double *exact = NULL, *first = NULL, F0 = 0.0, F1 = 0.0;
        for (size_t threads = 0; threads <= 3; threads++) {
            trl_rng rng = trl_rng_seed(70 + k);
            chain_problem p;
            trl_nota nota;
            trl_error err;
            variant_make(&rng, &v, threads ? threads : 1, threads == 0, &nota, &p);
            double *w = problem_vector(&p), *g = problem_vector(&p), F;
            const size_t bytes = (size_t)p.d.n_weights * sizeof *g;
            random_weights(&rng, &p, v.scale, w);
            for (int again = 0; again < 2; again++)
                assert_ok(trl_gradient_eval(p.g, w, 0.1, g, &F, &err));
            if (threads <= 1) {
                double **keep = threads ? &first : &exact;
                *keep = problem_vector(&p);
                memcpy(*keep, g, bytes);
                *(threads ? &F1 : &F0) = F;
            }
            for (uint64_t i = 0; i < p.d.n_weights; i++) {
                worst = fmax(worst, fabs(g[i] - exact[i]));
                assert_near(g[i], exact[i], v.scale > 1.0 ? 2e-3 : 1e-4);
            }
            worst_F = fmax(worst_F, fabs(F / F0 - 1.0));
            assert_near(F / F0, 1.0, 1e-7);
            if (threads) {
                assert_true(F == F1);
                assert_memory_equal(g, first, bytes);
            }
            trl_free(w);
            trl_free(g);
            trl_nota_fini(&nota);
            problem_fini(&p);
        }
        trl_free(exact);
        trl_free(first);
    }
    print_message("gradient within %.1e, objective %.1e\n", worst, worst_F);
}

/* NaN among the weights is refused, and the next pass is not hurt by it. */
static void test_not_finite(void **state)
{
    (void)state;
    for (size_t k = 0; k < 8; k++) {
        const variant v = variant_of(k);
        trl_rng rng = trl_rng_seed(90 + k);
        chain_problem p;
        trl_nota nota;
        trl_error err;
        variant_make(&rng, &v, 2, false, &nota, &p);
        double *w = problem_vector(&p), *g = problem_vector(&p), F, before;
        random_weights(&rng, &p, 1.0, w);
        assert_ok(trl_gradient_eval(p.g, w, 0.1, g, &before, &err));
        const uint64_t at = p.d.family[k % 2 ? TRL_EDGE : TRL_NODE].entry_hot_at - 9;
        const double good = w[at];
        w[at] = nan("");
        const trl_status st = trl_gradient_eval(p.g, w, 0.1, g, &F, &err);
        assert_true(st == TRL_ENUMERIC || good == 0.0); /* a pad, or not a feature, else */
        w[at] = good;
        assert_ok(trl_gradient_eval(p.g, w, 0.1, g, &F, &err));
        assert_true(F == before);
        trl_free(w);
        trl_free(g);
        trl_nota_fini(&nota);
        problem_fini(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel),   cmocka_unit_test(test_kernel_limits),
        cmocka_unit_test(test_logs),     cmocka_unit_test(test_groups),
        cmocka_unit_test(test_gradient), cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
