/* test_temperature.c -- a temperature in the model: what it does to every probability, against
 * enumeration; and that the one found on data is the best one. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/buf.h"
#include "random_chain.h"
#include "toy_model.h"
#include "trellis/calibrate.h"
#include "trellis/tagger.h"

#define TOL 1e-10
#define MOST 1100 /* labellings */

static trl_error err;

static toy_shape shape_of(trl_rng *rng)
{
    toy_shape h = toy_random_shape(rng, 5);
    h.A = 1 + trl_rng_below(rng, 8); /* names that a data set takes */
    return h;
}

static size_t load(const toy *y, trl_tagger *t, size_t s)
{
    assert_ok(y->tpl ? trl_tagger_set_rows(t, &y->rows[s], &err)
                     : trl_tagger_set_items(t, &y->items[s], &err));
    return y->tpl ? y->rows[s].n_tokens : y->items[s].n_tokens;
}

/* The scores of all labellings by the model without a temperature. */
static size_t all_scores(const toy *y, trl_tagger *plain, size_t T, long double *score)
{
    const chain_shape h = {.T = T, .L = y->c.labels.n};
    const size_t n = labellings(&h);
    assert_true(n <= MOST);
    for (size_t k = 0; k < n; k++) {
        uint32_t label[8];
        double x;
        labelling(&h, k, label);
        assert_ok(trl_tagger_score(plain, label, &x, &err));
        score[k] = (long double)x;
    }
    return n;
}

static long double log_z_of(const long double *score, size_t n, long double T)
{
    long double max = -HUGE_VALL, sum = 0.0L;
    for (size_t k = 0; k < n; k++)
        max = score[k] > max ? score[k] : max;
    for (size_t k = 0; k < n; k++)
        sum += expl((score[k] - max) / T);
    return max / T + logl(sum);
}

static void check_answers(const toy *y, trl_tagger *plain, trl_tagger *t, size_t T, double temper)
{
    static long double score[MOST];
    const size_t L = y->c.labels.n, n = all_scores(y, plain, T, score);
    const chain_shape h = {.T = T, .L = L};
    const long double z = log_z_of(score, n, (long double)temper);
    uint32_t a[8], b[8];
    double x, log_z, H, p[8 * 8], token[8], node[8][8] = {{0}}, entropy = 0.0;
    for (size_t k = 0; k < n; k++) {
        const double q = (double)expl(score[k] / (long double)temper - z);
        labelling(&h, k, a);
        for (size_t at = 0; at < T; at++)
            node[at][a[at]] += q;
        entropy -= q > 0.0 ? q * log(q) : 0.0;
    }
    assert_ok(trl_tagger_log_z(t, &log_z, &err));
    assert_near(log_z, (double)z, 1e-10 * (1.0 + fabs(log_z)));
    assert_ok(trl_tagger_marginals(t, p, &err));
    for (size_t at = 0; at < T; at++)
        for (size_t j = 0; j < L; j++)
            assert_near(p[at * L + j], node[at][j], TOL);
    assert_ok(trl_tagger_entropy(t, &H, token, &err));
    assert_near(H, entropy, 1e-9);
    assert_ok(trl_tagger_viterbi(plain, a, &x, &err));
    assert_ok(trl_tagger_viterbi(t, b, &log_z, &err));
    assert_near(log_z, x / temper, 1e-10 * (1.0 + fabs(log_z)));
    assert_ok(trl_tagger_score(plain, b, &log_z, &err)); /* ties may be broken otherwise */
    assert_near(log_z, x, 1e-10 * (1.0 + fabs(x)));
}

static void test_probabilities(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(161);
    static const double temper[] = {0.2, 1.0, 1.7, 30.0};
    for (int round = 0; round < 60; round++) {
        toy y;
        trl_model *m = NULL;
        trl_tagger *plain = NULL, *t = NULL;
        trl_buf b = {0};
        toy_make(&rng, shape_of(&rng), &y);
        assert_ok(trl_model_set_temperature(y.m, temper[round % 4], &b, &err));
        assert_ok(trl_model_from_memory(b.data, b.len, &m, &err));
        assert_true(trl_model_get_info(m).temperature == temper[round % 4]);
        assert_ok(trl_tagger_new(y.m, &plain, &err));
        assert_ok(trl_tagger_new(m, &t, &err));
        for (size_t s = 0; s < y.shape.n_sequences; s++)
            for (int local = 0; local < 2; local++) {
                const trl_decoding how = local ? TRL_DECODE_LOCAL : TRL_DECODE_GLOBAL;
                assert_ok(trl_tagger_set_decoding(plain, how, &err));
                assert_ok(trl_tagger_set_decoding(t, how, &err));
                const size_t T = load(&y, plain, s);
                load(&y, t, s);
                check_answers(&y, plain, t, T, temper[round % 4]);
            }
        trl_tagger_free(plain);
        trl_tagger_free(t);
        trl_model_free(m);
        trl_buf_fini(&b);
        toy_free(&y);
    }
}

/* ---- the best one ---------------------------------------------------------------------------- */

static long double loss(const toy *y, trl_tagger *plain, long double T)
{
    static long double score[MOST];
    long double F = 0.0L;
    for (size_t s = 0; s < y->shape.n_sequences; s++) {
        uint32_t gold[8];
        double x;
        const size_t n = load(y, plain, s);
        for (size_t at = 0; at < n; at++)
            gold[at] = trl_model_find_label(y->m, y->tpl ? y->rows[s].cell[3 * at + 2]
                                                         : y->items[s].label[at]);
        assert_ok(trl_tagger_score(plain, gold, &x, &err));
        F += log_z_of(score, all_scores(y, plain, n, score), T) - (long double)x / T;
    }
    return F;
}

static void test_fit(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(162);
    size_t fitted = 0, refused = 0;
    for (int round = 0; round < 60; round++) {
        toy y;
        trl_dataset *d = NULL;
        trl_tagger *plain = NULL;
        trl_temperature_fit f;
        toy_make(&rng, shape_of(&rng), &y);
        assert_ok(trl_dataset_new(&d, &err));
        assert_ok(y.tpl ? trl_dataset_add_rows(d, y.rows, y.shape.n_sequences, NULL, &err)
                        : trl_dataset_add_items(d, y.items, y.shape.n_sequences, NULL, &err));
        const trl_status st = trl_temperature_find(y.m, &(trl_held_out){.set = d}, &f, &err);
        assert_ok(trl_tagger_new(y.m, &plain, &err));
        if (st == TRL_OK) {
            const long double T = (long double)f.temperature, best = loss(&y, plain, T);
            assert_true(best <= loss(&y, plain, 1.001L * T) + 1e-12L);
            assert_true(best <= loss(&y, plain, T / 1.001L) + 1e-12L);
            assert_near(f.after, (double)-best / (double)f.tokens, 1e-9 * (1.0 + fabs(f.after)));
            assert_near(f.before, (double)-loss(&y, plain, 1.0L) / (double)f.tokens,
                        1e-9 * (1.0 + fabs(f.before)));
            assert_true(f.sequences == y.shape.n_sequences && f.left_out == 0);
            fitted++;
        } else { /* then the ends are better than the middle */
            assert_int_equal(st, TRL_EINVAL);
            const bool sharper = strstr(err.msg, "sharper") != NULL;
            assert_true(sharper || strstr(err.msg, "flatter"));
            assert_true(loss(&y, plain, sharper ? 1e-4L : 1e4L) <=
                        loss(&y, plain, sharper ? 1e-2L : 1e2L) + 1e-9L);
            refused++;
        }
        trl_tagger_free(plain);
        trl_dataset_free(d);
        toy_free(&y);
    }
    assert_true(fitted > 15 && refused > 3);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void test_file(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(163);
    toy y;
    trl_buf b = {0}, back = {0}, dump = {0}, again = {0};
    trl_model *m = NULL;
    size_t n;
    toy_make(&rng, shape_of(&rng), &y);
    assert_ok(trl_model_set_temperature(y.m, 1.0 / 3.0, &b, &err));
    assert_ok(trl_model_from_memory(b.data, b.len, &m, &err));
    assert_ok(trl_model_dump_buf(m, &dump, &err)); /* as text and back: the same bytes */
    assert_ok(trl_model_undump_buf("dump", dump.data, dump.len, &again, &err));
    assert_int_equal(again.len, b.len);
    assert_memory_equal(again.data, b.data, b.len);
    assert_ok(trl_model_set_temperature(m, 0.0, &back, &err)); /* taken out: as it was */
    const void *bytes = trl_model_bytes(y.m, &n);
    assert_int_equal(back.len, n);
    assert_memory_equal(back.data, bytes, n);
    static const double bad[] = {-1.0, 1e300, 1e-300};
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(trl_model_set_temperature(m, bad[k], &back, &err), TRL_EINVAL);
    assert_int_equal(trl_model_set_temperature(m, nan(""), &back, &err), TRL_EINVAL);
    trl_model_free(m);
    trl_buf_fini(&b);
    trl_buf_fini(&back);
    trl_buf_fini(&dump);
    trl_buf_fini(&again);
    toy_free(&y);
}

/* A container that is whole, with a temperature that is none. */
static void test_damaged(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(164);
    toy y;
    trl_container *c = NULL;
    toy_make(&rng, shape_of(&rng), &y);
    assert_ok(trl_container_from_memory(y.bytes, y.size, NULL, &c, &err));
    const double bad[] = {0.0, -1.0, nan(""), HUGE_VAL, 1e-12};
    for (size_t k = 0; k < 6; k++) {
        trl_container_builder b = {0};
        trl_buf out = {0};
        trl_model *m = NULL;
        const double T = k < 5 ? bad[k] : 1.0;
        trl_container_builder_copy(&b, c, (const char *const[]){"temperat", NULL});
        trl_container_builder_add(&b, "temperat", &T, k < 5 ? sizeof T : 4); /* or cut off */
        assert_ok(trl_container_to_buf(&b, "chain", &out, &err));
        assert_int_equal(trl_model_from_memory(out.data, out.len, &m, &err), TRL_EMODEL);
        trl_container_builder_fini(&b);
        trl_buf_fini(&out);
    }
    trl_container_free(c);
    toy_free(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probabilities),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
