/* test_tagger.c -- taggers against enumeration over the scores that the design gives. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>

#include "random_chain.h"
#include "toy_model.h"
#include "trellis/tagger.h"

static trl_error err;

/* ---- counting allocations ----------------------------------------------------------- */

static _Atomic size_t n_allocated;

/* The linker wraps these (-Wl,--wrap), so that every call of the library counts. */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);

void *__wrap_malloc(size_t n)
{
    n_allocated++;
    return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    n_allocated++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    n_allocated++;
    return __real_realloc(p, n);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    n_allocated++;
    return __real_aligned_alloc(align, n);
}

/* ---- the oracle --------------------------------------------------------------------- */

/* The scores of sequence s, by the design, as a chain to enumerate. */
static void gathered(const toy *y, size_t s, random_chain *r)
{
    const size_t from = (size_t)y->c.first[s];
    *r = (random_chain){.shape = {.T = (size_t)y->c.first[s + 1] - from,
                                  .L = y->c.labels.n,
                                  .order = y->shape.order}};
    r->s.n = r->shape.T;
    for (size_t f = 0; f <= (size_t)y->shape.order; f++) {
        const trl_family *df = &y->d.family[f];
        r->s.step[f] = df->step;
        if (df->has_rows)
            r->s.row[f] = toy_alloc(r->s.n * df->step + 8, sizeof(double));
        if (df->has_constant)
            r->s.shared[f] = toy_alloc(df->step, sizeof(double));
    }
    trl_gather(&y->d, y->w, from, &r->s);
    trl_gather_shared(&y->d, y->w, r->s.shared);
}

static trl_status set(const toy *y, trl_tagger *t, size_t s)
{
    return y->tpl ? trl_tagger_set_rows(t, &y->rows[s], &err)
                  : trl_tagger_set_items(t, &y->items[s], &err);
}

static int falling(const void *pa, const void *pb)
{
    const double a = *(const double *)pa, b = *(const double *)pb;
    return a < b ? 1 : a > b ? -1 : 0;
}

/* All answers about sequence s. */
static void check_sequence(const toy *y, trl_tagger *t, size_t s)
{
    random_chain r;
    gathered(y, s, &r);
    const size_t T = r.shape.T, L = r.shape.L, N = labellings(&r.shape);
    double *all = toy_alloc(N, sizeof *all), *p = toy_alloc(T * L, sizeof *p), score, log_z;
    double *scores = toy_alloc(N + 1, sizeof *scores);
    double *want = toy_alloc(T * L, sizeof *want);
    double *pairs = toy_alloc(T * L * L, sizeof *pairs), *pair = toy_alloc(T * L * L, sizeof *pair);
    uint32_t *nbest = toy_alloc((N + 1) * T, sizeof *nbest), labels[8];
    size_t found;
    long double z = 0.0L;

    assert_ok(set(y, t, s));
    for (size_t k = 0; k < N; k++) {
        labelling(&r.shape, k, labels);
        all[k] = (double)score_of(&r, labels);
        assert_ok(trl_tagger_score(t, labels, &score, &err));
        assert_near(score, all[k], 1e-12);
        z += expl((long double)all[k]);
        for (size_t i = 0; i < T; i++)
            want[i * L + labels[i]] += exp(all[k]);
        for (size_t i = 1; i < T; i++)
            pairs[((i - 1) * L + labels[i - 1]) * L + labels[i]] += exp(all[k]);
    }
    assert_ok(trl_tagger_log_z(t, &log_z, &err));
    assert_near(log_z, (double)logl(z), 1e-12);
    assert_ok(trl_tagger_marginals(t, p, &err));
    for (size_t i = 0; i < T * L; i++)
        assert_near(p[i], want[i] / (double)z, 1e-10);
    assert_ok(trl_tagger_pair_marginals(t, pair, &err));
    for (size_t i = 0; i < (T - 1) * L * L; i++)
        assert_near(pair[i], pairs[i] / (double)z, 1e-10);
    assert_ok(trl_tagger_posterior(t, labels, &err));
    for (size_t i = 0; i < T; i++)
        for (size_t k = 0; k < L; k++)
            assert_true(p[i * L + labels[i]] >= p[i * L + k]);

    qsort(all, N, sizeof *all, falling);
    assert_ok(trl_tagger_viterbi(t, labels, &score, &err));
    assert_near(score, all[0], 1e-12);
    assert_near((double)score_of(&r, labels), all[0], 1e-12);
    assert_ok(trl_tagger_nbest(t, N + 1, nbest, scores, &found, &err));
    assert_int_equal(found, N);
    for (size_t k = 0; k < N; k++) {
        assert_near(scores[k], all[k], 1e-12);
        assert_near((double)score_of(&r, nbest + k * T), all[k], 1e-12);
    }
    free(all);
    free(p);
    free(want);
    free(pairs);
    free(pair);
    free(scores);
    free(nbest);
    random_chain_fini(&r);
}

static void test_against_enumeration(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(1);
    for (int trial = 0; trial < 600; trial++) {
        toy y;
        trl_tagger *t = NULL;
        toy_make(&rng, toy_random_shape(&rng, 4), &y);
        assert_ok(trl_tagger_new(y.m, &t, &err));
        for (size_t s = 0; s < y.shape.n_sequences; s++)
            check_sequence(&y, t, s);
        trl_tagger_free(t);
        toy_free(&y);
    }
}

/* Many labels: wide rows, padded vectors, cells of two bytes. */
static void test_many_labels(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(2);
    static const size_t L[] = {7, 8, 9, 20, 64, 100};
    for (size_t i = 0; i < 2 * sizeof L / sizeof *L; i++) {
        toy y;
        trl_tagger *t = NULL;
        toy_make(&rng,
                 (toy_shape){.L = L[i / 2],
                             .A = 40,
                             .n_sequences = 60,
                             .max_T = 20,
                             .order = 1,
                             .template_text = i % 4 < 2 ? NULL : "U:%x[0,0]\nB:%x[0,0]\nB\n",
                             .values = true,
                             .all_pairs = i % 2,
                             .zero = i % 3 ? 0.0 : 0.3},
                 &y);
        assert_ok(trl_tagger_new(y.m, &t, &err));
        for (size_t s = 0; s < y.shape.n_sequences; s++) {
            random_chain r;
            uint32_t labels[20];
            double score;
            gathered(&y, s, &r);
            assert_ok(set(&y, t, s));
            for (int k = 0; k < 5; k++) {
                for (size_t pos = 0; pos < r.shape.T; pos++)
                    labels[pos] = (uint32_t)trl_rng_below(&rng, y.c.labels.n);
                assert_ok(trl_tagger_score(t, labels, &score, &err));
                assert_near(score, (double)score_of(&r, labels), 1e-12);
            }
            random_chain_fini(&r);
        }
        trl_tagger_free(t);
        toy_free(&y);
    }
}

/* ---- sequences of any length -------------------------------------------------------- */

static const char long_template[] = "U0:%x[0,0]\nU1:%x[1,1]\nB1:%x[0,0]\nB\n";

static trl_rows long_rows(trl_rng *rng, size_t n)
{
    trl_str *cell = toy_alloc(n * 2, sizeof *cell);
    for (size_t i = 0; i < n * 2; i++)
        cell[i] = toy_name('a', trl_rng_below(rng, 10));
    return (trl_rows){.n_tokens = n, .n_columns = 2, .cell = cell};
}

static void free_rows(trl_rows *r)
{
    union {
        const trl_str *c;
        void *v;
    } p = {.c = r->cell};
    free(p.v);
}

static void test_long(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    toy y;
    trl_tagger *t = NULL;
    toy_make(&rng,
             (toy_shape){.L = 3,
                         .A = 8,
                         .n_sequences = 30,
                         .max_T = 9,
                         .order = 1,
                         .template_text = long_template},
             &y);
    assert_ok(trl_tagger_new(y.m, &t, &err));
    const size_t n = 100000;
    trl_rows rows = long_rows(&rng, n);
    uint32_t *labels = toy_alloc(n, sizeof *labels);
    double score, again;
    assert_ok(trl_tagger_set_rows(t, &rows, &err));
    assert_ok(trl_tagger_viterbi(t, labels, &score, &err));
    assert_ok(trl_tagger_score(t, labels, &again, &err));
    assert_near(again, score, 1e-9);
    rows.n_tokens = 1;
    assert_ok(trl_tagger_set_rows(t, &rows, &err));
    assert_ok(trl_tagger_viterbi(t, labels, &score, &err));
    free(labels);
    free_rows(&rows);
    trl_tagger_free(t);
    toy_free(&y);
}

static void use_all(trl_tagger *t, const trl_rows *rows, uint32_t *labels, double *p)
{
    double score[2];
    size_t found;
    assert_ok(trl_tagger_set_rows(t, rows, &err));
    assert_ok(trl_tagger_viterbi(t, labels, score, &err));
    assert_ok(trl_tagger_posterior(t, labels, &err));
    assert_ok(trl_tagger_marginals(t, p, &err));
    assert_ok(trl_tagger_log_z(t, score, &err));
    assert_ok(trl_tagger_nbest(t, 2, labels, score, &found, &err));
}

static void test_no_allocation(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(4);
    toy y;
    trl_tagger *t = NULL;
    toy_make(&rng,
             (toy_shape){.L = 3,
                         .A = 8,
                         .n_sequences = 30,
                         .max_T = 9,
                         .order = 1,
                         .template_text = long_template},
             &y);
    assert_ok(trl_tagger_new(y.m, &t, &err));
    trl_rows rows = long_rows(&rng, 2000);
    uint32_t *labels = toy_alloc(4000, sizeof *labels);
    double *p = toy_alloc(6000, sizeof *p);
    n_allocated = 0;
    use_all(t, &rows, labels, p);
    assert_true(n_allocated > 0); /* it does count */
    n_allocated = 0;
    for (size_t n = 2000; n > 0; n = n * 2 / 3) {
        rows.n_tokens = n;
        use_all(t, &rows, labels, p);
    }
    assert_int_equal(n_allocated, 0);
    free(labels);
    free(p);
    free_rows(&rows);
    trl_tagger_free(t);
    toy_free(&y);
}

/* ---- what users do ------------------------------------------------------------------ */

static void test_columns(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(5);
    toy y;
    trl_tagger *t = NULL;
    toy_make(&rng,
             (toy_shape){.L = 3,
                         .A = 8,
                         .n_sequences = 20,
                         .max_T = 9,
                         .order = 1,
                         .template_text = long_template},
             &y);
    assert_ok(trl_tagger_new(y.m, &t, &err));
    const size_t T = y.rows[0].n_tokens;
    trl_str cell[18];
    uint32_t with[9], without[9];
    double a, b;
    for (size_t i = 0; i < T; i++) {
        cell[2 * i] = y.rows[0].cell[3 * i];
        cell[2 * i + 1] = y.rows[0].cell[3 * i + 1];
    }
    trl_rows rows = {.n_tokens = T, .n_columns = 2, .cell = cell, .path = "in.txt", .first_row = 7};
    assert_ok(trl_tagger_set_rows(t, &y.rows[0], &err));
    assert_ok(trl_tagger_viterbi(t, with, &a, &err));
    assert_ok(trl_tagger_set_rows(t, &rows, &err)); /* no label column */
    assert_ok(trl_tagger_viterbi(t, without, &b, &err));
    assert_true(a == b);
    assert_memory_equal(with, without, T * sizeof *with);

    rows.n_columns = 1;
    assert_int_equal(trl_tagger_set_rows(t, &rows, &err), TRL_EPARSE);
    assert_string_equal(err.path, "in.txt");
    assert_int_equal(err.row, 7);
    assert_string_equal(err.msg, "1 column here, but the template of the model uses 2");
    assert_non_null(strstr(err.hint, "3 columns"));
    assert_int_equal(trl_tagger_viterbi(t, with, &a, &err), TRL_EINVAL); /* nothing is set */
    trl_tagger_free(t);
    toy_free(&y);
}

static void test_unknown(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(6);
    toy y;
    trl_tagger *t = NULL;
    toy_make(&rng, (toy_shape){.L = 3, .A = 8, .n_sequences = 20, .max_T = 9, .order = 1}, &y);
    assert_ok(trl_tagger_new(y.m, &t, &err));
    const trl_str known = toy_name('a', 0);
    trl_attr attr[] = {{known, 1.0}, {{"nowhere", 7}, 5.0}, {{"B", 1}, 1.0}};
    const size_t few[] = {0, 1}, many[] = {0, 3};
    trl_items seq = {.n_tokens = 1, .begin = few, .attr = attr, .path = "in"};
    uint32_t label;
    double a, b;
    assert_ok(trl_tagger_set_items(t, &seq, &err));
    assert_ok(trl_tagger_viterbi(t, &label, &a, &err));
    assert_int_equal(trl_tagger_unknown(t), 0);
    seq.begin = many;
    assert_ok(trl_tagger_set_items(t, &seq, &err));
    assert_ok(trl_tagger_viterbi(t, &label, &b, &err));
    assert_int_equal(trl_tagger_unknown(t), 2);
    assert_true(a == b);

    attr[0].value = HUGE_VAL;
    seq.first_row = 3;
    assert_int_equal(trl_tagger_set_items(t, &seq, &err), TRL_EINVAL);
    assert_int_equal(err.row, 3);
    seq.n_tokens = 0;
    assert_int_equal(trl_tagger_set_items(t, &seq, &err), TRL_EINVAL);
    const trl_rows rows = {.n_tokens = 1, .n_columns = 1, .cell = &known};
    assert_int_equal(trl_tagger_set_rows(t, &rows, &err), TRL_EINVAL);
    label = 99;
    seq.n_tokens = 1;
    attr[0].value = 1.0;
    assert_ok(trl_tagger_set_items(t, &seq, &err));
    assert_int_equal(trl_tagger_score(t, &label, &a, &err), TRL_EINVAL);
    trl_tagger_free(t);
    trl_tagger_free(NULL);
    toy_free(&y);
}

static void test_no_probabilities(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(7);
    toy y;
    trl_tagger *t = NULL;
    trl_model *m = NULL;
    unsigned char *bytes = NULL;
    size_t n;
    toy_make(&rng, (toy_shape){.L = 3, .A = 8, .n_sequences = 5, .max_T = 9, .order = 1}, &y);
    trl_chain_model_spec spec = toy_spec(&y);
    spec.is_probability = false;
    spec.objective = "perceptron";
    assert_ok(trl_chain_model_to_buffer(&spec, &bytes, &n, &err));
    assert_ok(trl_model_from_memory(bytes, n, &m, &err));
    assert_false(trl_model_get_info(m).is_probability);
    assert_ok(trl_tagger_new(m, &t, &err));
    assert_ok(set(&y, t, 0));
    double x[27];
    uint32_t labels[9];
    assert_int_equal(trl_tagger_marginals(t, x, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "perceptron"));
    assert_int_equal(trl_tagger_log_z(t, x, &err), TRL_EINVAL);
    assert_ok(trl_tagger_viterbi(t, labels, x, &err));
    assert_ok(trl_tagger_set_decoding(t, TRL_DECODE_SCORES, &err)); /* shares of exp(score) */
    assert_ok(trl_tagger_marginals(t, x, &err));
    assert_true(fabs(x[0] + x[1] + x[2] - 1.0) < 1e-12);
    assert_ok(trl_tagger_set_decoding(t, TRL_DECODE_GLOBAL, &err));
    assert_int_equal(trl_tagger_marginals(t, x, &err), TRL_EINVAL);
    trl_tagger_free(t);
    trl_model_free(m);
    trl_free(bytes);
    toy_free(&y);
}

/* ---- threads ------------------------------------------------------------------------ */

typedef struct job {
    const toy *y;
    double sum;
    uint64_t digest;
    bool failed;
} job;

static void *work(void *arg)
{
    job *j = arg;
    trl_tagger *t = NULL;
    trl_error why;
    uint32_t labels[9];
    double score;
    j->failed = trl_tagger_new(j->y->m, &t, &why) != TRL_OK;
    for (int round = 0; !j->failed && round < 50; round++)
        for (size_t s = 0; s < j->y->shape.n_sequences; s++) {
            j->failed |= trl_tagger_set_items(t, &j->y->items[s], &why) != TRL_OK ||
                         trl_tagger_viterbi(t, labels, &score, &why) != TRL_OK;
            j->sum += score;
            for (size_t i = 0; i < j->y->items[s].n_tokens; i++)
                j->digest = j->digest * 31 + labels[i];
        }
    trl_tagger_free(t);
    return NULL;
}

static void test_two_threads(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(8);
    toy y;
    toy_make(&rng, (toy_shape){.L = 4, .A = 30, .n_sequences = 40, .max_T = 9, .order = 2}, &y);
    job jobs[2] = {{.y = &y}, {.y = &y}};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, &jobs[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    assert_false(jobs[0].failed || jobs[1].failed);
    assert_true(jobs[0].sum == jobs[1].sum);
    assert_true(jobs[0].digest == jobs[1].digest);
    toy_free(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_enumeration),
        cmocka_unit_test(test_many_labels),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_no_allocation),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_no_probabilities),
        cmocka_unit_test(test_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
