/* test_expectation.c -- E_q0[f] of every weight against sums over all sequences.
 *
 * HMMs whose labels only grow end after L tokens: the sum over all (x, y) is finite and
 * exact.  For HMMs with circles the sum stops at a length beyond which at most a known mass is
 * left.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "expect_oracle.h"

static trl_error err;

/* Every kind of window: inside, over both ends, with gaps, two columns, equal attributes from
 * two lines, two macros on one cell, regular expressions, both families at once. */
static const char *const wapiti = "u\n"
                                  "b\n"
                                  "*w0=%x[0,0]\n"
                                  "*w-1=%x[-1,0]\n"
                                  "uw+2=%x[2,0]\n"
                                  "bw-2=%x[-2,0]\n"
                                  "*pair=%x[-1,0] %x[0,1]\n"
                                  "uboth=%x[0,0] %x[0,1]\n"
                                  "bfar=%x[-2,1] %x[1,0]\n"
                                  "ubag=%x[-1,0]\n"
                                  "ubag=%x[1,0]\n"
                                  "ulow=%X[0,1]%m[0,1,\"[xX]\"]\n"
                                  "btest=%t[1,0,\"\\u\"] %x[2,1]\n"
                                  "utest=%t[-1,0,\"x\"]\n"
                                  "uwide=%x[-2,1] %x[-1,1] %x[0,1] %x[1,1] %x[2,1]\n";
static const char *const triples = "t\n"
                                   "tw=%x[0,0]\n"
                                   "tw-1=%x[-1,0]\n"
                                   "tw-3=%x[-3,1] %x[0,1]\n"
                                   "tw+1=%x[-1,1] %x[1,0]\n";
static const char *const crfpp = "U00:%x[-6,0]\n"
                                 "U01:%x[-1,0]/%x[0,0]\n"
                                 "U02:%x[6,1]\n"
                                 "B10:%x[1,1]\n"
                                 "B\n";

typedef struct plan {
    size_t L;
    int hmm_order, order;
    bool masked, all_pairs, acyclic;
    double stop;
    size_t longest;
    const char *tpl;
    const char *text; /* NULL: random */
    bool rare;        /* random text with values that occur once */
} plan;

static void make(trl_rng *rng, const plan *p, tiny *t, trl_hmm *h)
{
    char *text = p->text ? NULL : tiny_text(rng, 60, 6, p->L), more[5000];
    snprintf(more, sizeof more, "%s%s", text ? text : p->text, p->rare ? "k u A\nl x B\n\n" : "");
    free(text);
    *t = (tiny){0};
    tiny_cells(more, &t->columns);
    if (p->masked)
        assert_ok(trl_column_values_mask(&t->columns, &err));
    const trl_design_options o = {
        .order = p->order, .all_pairs = p->all_pairs, .all_transitions = p->all_pairs};
    tiny_compile(t, p->tpl, &o);
    assert_ok(trl_q0_train(h, TRL_Q0_HMM, p->hmm_order,
                           &(trl_q0_data){&t->columns, t->corpus.label, p->L}, &err));
    tiny_randomise(h, rng, p->stop, p->acyclic);
}

/* Exact expectations against the sum over all sequences of at most p->longest tokens,
 * beyond which there is at most `tail` of any feature. */
static void run(trl_rng *rng, const plan *p, double tail)
{
    tiny t;
    trl_hmm h;
    oracle o;
    make(rng, p, &t, &h);
    oracle_init(&o, &t, &h, p->longest);
    extend(&o, 0, 1.0);
    double *E = malloc(trl_design_alloc(&t.design) * sizeof *E);
    assert_non_null(E);
    const trl_expect_data x = tiny_data(&t);
    const trl_sample_options sample = trl_sample_options_default();
    size_t sampled = 1;
    assert_ok(trl_q0_expect(&(trl_q0_model){TRL_Q0_HMM, &h}, &x, &sample, E, &sampled, &err));
    assert_int_equal(sampled, 0);
    if (p->acyclic)
        assert_near(o.p_seen, 1.0, 1e-12);
    assert_true(check_all(&t, &o, E, 1e-13, 1e-13 + tail) > 20);
    free(E);
    oracle_fini(&o);
    trl_hmm_fini(&h);
    tiny_fini(&t);
}

static void test_acyclic(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(1);
    char both[1000];
    snprintf(both, sizeof both, "%s%s", wapiti, triples);
    for (int k = 0; k < 12; k++) {
        const plan p = {.L = 3 + (size_t)k % 2,
                        .hmm_order = 1 + k % 2,
                        .order = k % 4 < 2 ? 1 : 2,
                        .masked = k % 3 == 0,
                        .all_pairs = k % 2 == k / 4 % 2,
                        .acyclic = true,
                        .stop = 0.15,
                        .longest = 4,
                        .tpl = k % 4 < 2 ? wapiti : both,
                        .rare = k % 2 == 0};
        run(&rng, &p, 0.0);
    }
    for (int k = 0; k < 2; k++) {
        const plan p = {.L = 4,
                        .hmm_order = 1 + k,
                        .order = 1,
                        .masked = true,
                        .all_pairs = true,
                        .acyclic = true,
                        .stop = 0.1,
                        .longest = 4,
                        .tpl = crfpp};
        run(&rng, &p, 0.0);
    }
}

/* The whole five-token window inside a sequence: few values. */
static void test_wide(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(2);
    for (int order = 1; order <= 2; order++) {
        const plan p = {.L = 5,
                        .hmm_order = order,
                        .order = 1,
                        .masked = true,
                        .all_pairs = true,
                        .acyclic = true,
                        .stop = 0.05,
                        .longest = 5,
                        .tpl = "ua=%x[-2,1] %x[-1,1] %x[0,1] %x[1,1] %x[2,1]\n"
                               "bb=%x[-1,0] %x[2,1]\n",
                        .text = "a x A\na x B\na y C\na x D\nb x E\nb y A\na x B\n\n"
                                "a x A\na x B\na y C\na x D\na x E\na y E\na x D\n\n"
                                "a x A\n\na y B\na y A\na y C\na y D\na x D\n"};
        run(&rng, &p, 0.0);
    }
}

/* Two lines make the same attributes, each from values that the other never sees in the data. */
static void test_bag(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(8);
    for (int order = 1; order <= 2; order++) {
        const plan p = {.L = 3,
                        .hmm_order = order,
                        .order = 1,
                        .all_pairs = true,
                        .acyclic = true,
                        .stop = 0.2,
                        .longest = 3,
                        .tpl = "*bag=%x[-1,0] %x[0,1]\n*bag=%x[1,0] %x[0,1]\nu\n",
                        .text = "q x A\na y B\nz y C\n\nq x A\nz x B\n\nq y B\na x C\n\n"
                                "q x C\na x C\nb y A\nz x A\n"};
        run(&rng, &p, 0.0);
    }
}

/* With circles: P(more than n tokens) <= (1 - stop)^n, so what is missing of a count, for
 * at most two lines per position, is at most 2 sum_{n > longest} n (1 - stop)^(n - 1). */
static void test_cyclic(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    char both[1000];
    snprintf(both, sizeof both, "%s%s", wapiti, triples);
    for (int k = 0; k < 4; k++) {
        const double stop = 0.98;
        const plan p = {.L = 2,
                        .hmm_order = 1 + k % 2,
                        .order = 1 + k / 2,
                        .masked = true,
                        .all_pairs = true,
                        .acyclic = false,
                        .stop = stop,
                        .longest = 3,
                        .tpl = k / 2 ? both : wapiti};
        double tail = 0.0;
        for (int n = 4; n < 40; n++)
            tail += 2.0 * n * pow(1.0 - stop, n - 1);
        assert_true(tail < 1e-4);
        run(&rng, &p, tail);
    }
}

/* ---- sampling ----------------------------------------------------------------------- */

/* A feature that is on k times in a sequence with probability p_k has a sample mean of variance
 * (sum k^2 p_k - mean^2) / n <= longest * mean / n; almost no sequence here is beyond 10. */
static void test_sampling(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(4);
    for (int k = 0; k < 4; k++) {
        const plan p = {.L = 3,
                        .hmm_order = 1 + k % 2,
                        .order = 2,
                        .masked = k / 2,
                        .all_pairs = true,
                        .stop = 0.4,
                        .tpl = k % 2 ? triples : wapiti,
                        .rare = true};
        const trl_sample_options o = {.n = 40000, .seed = 7};
        tiny t;
        trl_hmm h;
        make(&rng, &p, &t, &h);
        const trl_expect_data x = tiny_data(&t);
        const size_t n = (size_t)t.design.n_weights;
        double *E = calloc(n + 64, sizeof *E), *S = calloc(n + 64, sizeof *S);
        assert_true(E && S);
        assert_ok(trl_q0_expect(&(trl_q0_model){TRL_Q0_HMM, &h}, &x, &o, E, NULL, &err));
        assert_ok(trl_expect_sampled(&x, &h, NULL, &o, S, &err));
        double worst = 0.0, chi2 = 0.0;
        size_t used = 0;
        for (size_t i = 0; i < n; i++) {
            if (E[i] * (double)o.n < 20.0) { /* too few for a normal approximation */
                assert_true(S[i] * (double)o.n < 60.0);
                continue;
            }
            const double z = (S[i] - E[i]) / sqrt(E[i] / (double)o.n);
            worst = fabs(z) > worst ? fabs(z) : worst;
            chi2 += z * z;
            used++;
        }
        assert_true(used > 50);
        assert_true(worst < 7.0);
        const double mean = chi2 / (double)used; /* about 1; features that repeat have more */
        assert_true(mean > 0.3 && mean < 3.0);
        free(E);
        free(S);
        trl_hmm_fini(&h);
        tiny_fini(&t);
    }
}

/* Lines without a window are sampled, with smoothing; the others stay exact. */
static void test_left_over(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(5);
    const plan p = {.L = 3,
                    .hmm_order = 1,
                    .order = 1,
                    .all_pairs = true,
                    .acyclic = true,
                    .stop = 0.3,
                    .longest = 3,
                    .tpl = "b\nufirst=%x[@1,0]\nulast=%x[@-1,1] %x[0,1]\nuw=%x[0,0]\n"};
    const trl_sample_options sample = {.n = 60000, .lambda = 3.0, .seed = 1};
    tiny t;
    trl_hmm h;
    oracle o;
    make(&rng, &p, &t, &h);
    oracle_init(&o, &t, &h, p.longest);
    extend(&o, 0, 1.0);
    const trl_expect_data x = tiny_data(&t);
    double *E = calloc(trl_design_alloc(&t.design), sizeof *E);
    assert_non_null(E);
    size_t sampled = 0;
    assert_ok(trl_q0_expect(&(trl_q0_model){TRL_Q0_HMM, &h}, &x, &sample, E, &sampled, &err));
    assert_int_equal(sampled, 2);
    const trl_family *f = &t.design.family[TRL_NODE];
    assert_int_equal(f->n_attrs, f->n_dense); /* all pairs: dense rows */
    for (size_t a = 0; a < f->n_attrs; a++)
        for (size_t c = 0; c < f->width; c++) {
            const double want = o.sum[TRL_NODE][f->name[a] * f->width + c];
            const double got = E[trl_dense_at(f, a) + c];
            const trl_str s = trl_strtab_get(&t.corpus.family[TRL_NODE].names, f->name[a]);
            if (s.p[1] == 'w')
                assert_near(got, want, 1e-13);
            else /* lambda / n and five standard errors */
                compare(got, want + 3.0 / 60000.0, 5.0 * sqrt(want / 60000.0) + 1e-9,
                        5.0 * sqrt(want / 60000.0) + 1e-9, "sampled");
        }
    free(E);
    oracle_fini(&o);
    trl_hmm_fini(&h);
    tiny_fini(&t);
}

/* ---- the other q0 ------------------------------------------------------------------- */

/* emp: every training sequence's own x, all its labellings. */
static void test_empirical(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(6);
    char both[1000];
    snprintf(both, sizeof both, "%s%sufirst=%%x[@1,0]\n", wapiti, triples);
    for (int k = 0; k < 4; k++) {
        const plan p = {.L = 3,
                        .hmm_order = 1 + k % 2,
                        .order = 1 + k / 2,
                        .all_pairs = k % 2 == 0,
                        .stop = 0.3,
                        .tpl = k / 2 ? both : wapiti};
        tiny t;
        trl_hmm h;
        oracle o;
        uint32_t *x = NULL;
        make(&rng, &p, &t, &h);
        /* all transitions possible, so that every x is */
        for (size_t c = 0; c < trl_hmm_contexts(3, p.hmm_order); c++)
            random_distribution(&rng, 4, 0.0, h.owned + 3 + c * 4);
        random_distribution(&rng, 3, 0.0, h.owned);
        for (size_t s = 0; s < t.corpus.n_sequences; s++)
            t.corpus.weight[s] = s == 0 ? 0.0 : 1.0 + (double)(s % 3);
        oracle_init(&o, &t, &h, 0);
        assert_ok(trl_hmm_number(&h, &t.columns, &x, &err));
        double weights = 0.0;
        for (size_t s = 0; s < t.corpus.n_sequences; s++)
            weights += t.corpus.weight[s];
        for (size_t s = 0; s < t.corpus.n_sequences; s++) {
            const size_t from = (size_t)t.columns.first[s],
                         n = (size_t)t.columns.first[s + 1] - from;
            const trl_rows seq = trl_column_values_rows(&t.columns, s, o.cell);
            size_t many = 1;
            for (size_t i = 0; i < n; i++)
                many *= 3;
            double z = 0.0;
            for (int pass = 0; pass < 2; pass++)
                for (size_t i = 0; i < many; i++) {
                    size_t rest = i;
                    for (size_t j = 0; j < n; j++, rest /= 3)
                        o.y[j] = (uint32_t)(rest % 3);
                    const double q = exp(trl_hmm_log_p(&h, n, o.y, x + 2 * from));
                    if (pass == 0)
                        z += q;
                    else
                        visit(&o, &seq, t.corpus.weight[s] / weights * q / z);
                }
        }
        double *E = calloc(trl_design_alloc(&t.design), sizeof *E);
        assert_non_null(E);
        const trl_expect_data data = tiny_data(&t);
        const trl_sample_options sample = trl_sample_options_default();
        assert_ok(trl_q0_expect(&(trl_q0_model){TRL_Q0_EMP, &h}, &data, &sample, E, NULL, &err));
        assert_true(check_all(&t, &o, E, 1e-12, 1e-12) > 100);
        free(E);
        trl_free(x);
        oracle_fini(&o);
        trl_hmm_fini(&h);
        tiny_fini(&t);
    }
}

/* lu, as trained: uniform followers, unigrams; against the sum over short sequences. */
static void test_uniform(void **state)
{
    (void)state;
    const char *text = "a x A\nb y B\n\na x A\n\nb y A\nb x B\n\nb y B\n";
    tiny t = {0};
    trl_hmm h;
    oracle o;
    tiny_cells(text, &t.columns);
    const trl_design_options d = {.order = 2, .all_pairs = true, .all_transitions = true};
    tiny_compile(&t, "b\nt\n*w=%x[0,0]\nuw-1=%x[-1,0] %x[1,1]\n", &d);
    assert_ok(trl_q0_train(&h, TRL_Q0_LU, 2, &(trl_q0_data){&t.columns, t.corpus.label, 2}, &err));
    assert_int_equal(h.order, 1);
    oracle_init(&o, &t, &h, 6); /* A -> B or STOP, B -> STOP: two tokens at most */
    extend(&o, 0, 1.0);
    assert_near(o.p_seen, 1.0, 1e-12);
    double *E = calloc(trl_design_alloc(&t.design), sizeof *E);
    assert_non_null(E);
    const trl_expect_data x = tiny_data(&t);
    const trl_sample_options sample = trl_sample_options_default();
    assert_ok(trl_q0_expect(&(trl_q0_model){TRL_Q0_LU, &h}, &x, &sample, E, NULL, &err));
    assert_true(check_all(&t, &o, E, 1e-13, 1e-13) > 5);
    free(E);
    oracle_fini(&o);
    trl_hmm_fini(&h);
    tiny_fini(&t);
}

static void test_refusals(void **state)
{
    (void)state;
    tiny t = {0};
    trl_hmm h;
    tiny_cells("a x A\nb y B\n\na x A\n", &t.columns);
    const trl_design_options d = {.order = 1};
    tiny_compile(&t, "uw=%x[0,1]\n", &d);
    const size_t column = 0;
    const trl_hmm_options o = {.order = 1, .lambda = 1.0, .column = &column, .n_columns = 1};
    assert_ok(trl_hmm_train(&h, &t.columns, t.corpus.label, 2, &o, &err));
    trl_expect_data x = tiny_data(&t);
    trl_sample_options sample = trl_sample_options_default();
    double *E = calloc(trl_design_alloc(&t.design), sizeof *E);
    assert_non_null(E);
    assert_int_equal(trl_q0_expect(&(trl_q0_model){TRL_Q0_HMM, &h}, &x, &sample, E, NULL, &err),
                     TRL_EINVAL);
    assert_non_null(strstr(err.msg, "column 1"));
    x.tpl = NULL;
    assert_int_equal(trl_q0_expect(&(trl_q0_model){TRL_Q0_HMM, &h}, &x, &sample, E, NULL, &err),
                     TRL_EINVAL);
    x.tpl = t.tpl;
    sample.n = 0;
    assert_int_equal(trl_expect_sampled(&x, &h, NULL, &sample, E, &err), TRL_EINVAL);
    trl_q0_base kind;
    assert_true(trl_q0_find("emp", &kind) && kind == TRL_Q0_EMP);
    assert_false(trl_q0_find("pcfg", &kind));
    free(E);
    trl_hmm_fini(&h);
    tiny_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_acyclic),   cmocka_unit_test(test_wide),
        cmocka_unit_test(test_bag),       cmocka_unit_test(test_cyclic),
        cmocka_unit_test(test_sampling),  cmocka_unit_test(test_left_over),
        cmocka_unit_test(test_empirical), cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
