/* test_explain.c -- contributions at a token: their sum is the score of a labelling. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "toy_model.h"
#include "trellis/tagger.h"

static trl_error err;

static trl_status explain(const toy *y, trl_tagger *t, size_t s, size_t at,
                          const trl_contribution **out, size_t *n)
{
    return y->tpl ? trl_tagger_explain_rows(t, &y->rows[s], at, out, n, &err)
                  : trl_tagger_explain_items(t, &y->items[s], at, out, n, &err);
}

/* The weight that a contribution has for the labels that end at `at`. */
static double weight_of(const toy *y, const trl_contribution *c, const uint32_t *label, size_t at)
{
    const size_t L = y->c.labels.n;
    static double w[4096];
    size_t cell = label[at];
    assert_true(L * L * L <= 4096);
    assert_ok(trl_model_weights(y->m, c->scope, c->attribute, w, &err));
    if (c->scope >= TRL_SCOPE_PAIR)
        cell += label[at - 1] * L;
    if (c->scope >= TRL_SCOPE_TRIPLE)
        cell += label[at - 2] * L * L;
    const trl_str name = trl_model_attribute(y->m, c->scope, c->attribute);
    assert_int_equal(name.n, c->name.n);
    assert_memory_equal(name.n ? name.p : "", c->name.n ? c->name.p : "", name.n);
    return w[cell];
}

static void check_sequence(trl_rng *rng, const toy *y, trl_tagger *t, size_t s)
{
    const size_t T = y->tpl ? y->rows[s].n_tokens : y->items[s].n_tokens;
    uint32_t label[16];
    double sum = 0.0, score;
    size_t n = 0;
    const trl_contribution *c = NULL;
    assert_true(T <= 16);
    for (size_t at = 0; at < T; at++)
        label[at] = (uint32_t)trl_rng_below(rng, y->c.labels.n);
    for (size_t at = 0; at < T; at++) {
        int scope = 0;
        assert_ok(explain(y, t, s, at, &c, &n));
        for (size_t k = 0; k < n; k++) {
            assert_true((int)c[k].scope >= scope && c[k].scope <= at); /* labels, pairs, triples */
            scope = (int)c[k].scope;
            sum += c[k].value * weight_of(y, &c[k], label, at);
        }
    }
    assert_ok(trl_tagger_score(t, label, &score, &err)); /* of the sequence that was explained */
    assert_near(sum, score, 1e-12);
    assert_int_equal(explain(y, t, s, T, &c, &n), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "the sequence has"));
}

static void test_sums(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(21);
    for (int round = 0; round < 80; round++) {
        toy y;
        trl_tagger *t = NULL;
        toy_shape shape = toy_random_shape(&rng, 6);
        if (round % 3 == 0)
            shape.template_text = NULL;
        toy_make(&rng, shape, &y);
        assert_ok(trl_tagger_new(y.m, &t, &err));
        for (size_t s = 0; s < y.shape.n_sequences; s++)
            check_sequence(&rng, &y, t, s);
        trl_tagger_free(t);
        toy_free(&y);
    }
}

static void test_misuse(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(22);
    toy y;
    trl_tagger *t = NULL;
    const trl_contribution *c = NULL;
    size_t n = 0;
    toy_make(&rng, (toy_shape){.L = 2, .A = 3, .n_sequences = 2, .max_T = 3, .order = 1}, &y);
    assert_ok(trl_tagger_new(y.m, &t, &err));
    const trl_rows rows = {.n_tokens = 1};
    assert_int_equal(trl_tagger_explain_items(NULL, y.items, 0, &c, &n, &err), TRL_EINVAL);
    assert_int_equal(trl_tagger_explain_items(t, NULL, 0, &c, &n, &err), TRL_EINVAL);
    assert_int_equal(trl_tagger_explain_items(t, y.items, 0, NULL, &n, &err), TRL_EINVAL);
    assert_int_equal(trl_tagger_explain_items(t, y.items, 0, &c, NULL, &err), TRL_EINVAL);
    assert_int_equal(trl_tagger_explain_rows(NULL, &rows, 0, &c, &n, &err), TRL_EINVAL);
    assert_int_equal(trl_tagger_explain_rows(t, NULL, 0, &c, &n, &err), TRL_EINVAL);
    assert_int_equal(trl_tagger_explain_rows(t, &rows, 0, &c, &n, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "reads attribute lists"));
    assert_int_equal(n, 0);
    trl_tagger_free(t);
    toy_free(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
