/* test_parse_batch.c -- many sentences in one call: the bits of one parser after the other. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/rng.h"
#include "trellis/parser.h"
#include "trellis/train.h"

enum { SENTENCES = 60, LONGEST = 7 };

static const char trees[] =
    "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN dog))))\n"
    "(S (NP (NNP Kim)) (VP (VBZ sees) (NP (NP (DT the) (NN dog)) (PP (IN near) (NP (NNP Kim))))))\n"
    "(S (NP (DT a) (NN dog)) (VP (VP (VBZ barks)) (PP (IN near) (NP (DT the) (NN cat)))))\n"
    "(S (NP (NNP Kim)) (VP (VBZ barks)))\n";
static const char *const words[] = {"the",  "a",     "cat",  "dog", "Kim",
                                    "sees", "barks", "near", "new"};

static trl_parse_model *model;
static trl_buf bytes;
static trl_error err;
static trl_str word[SENTENCES][LONGEST];
static trl_parse_input in[SENTENCES];

static int setup(void **state)
{
    (void)state;
    trl_dataset *d = NULL;
    trl_train_result result;
    trl_train_options o = trl_train_options_default();
    trl_rng rng = trl_rng_seed(5);
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_dataset_add_brackets(d, "trees", trees, sizeof trees - 1, &err));
    o.kind = "tree";
    o.grade = "generative";
    o.data = d;
    o.model_out = &bytes;
    assert_ok(trl_train(&o, &result, &err));
    trl_dataset_free(d);
    assert_ok(trl_parse_model_from_memory(bytes.data, bytes.len, &model, &err));
    for (size_t k = 0; k < SENTENCES; k++) {
        const size_t n = 1 + trl_rng_below(&rng, LONGEST);
        for (size_t i = 0; i < n; i++) {
            const char *w = words[trl_rng_below(&rng, sizeof words / sizeof *words)];
            word[k][i] = (trl_str){w, strlen(w)};
        }
        in[k] = (trl_parse_input){.word = word[k], .n = n};
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    trl_parse_model_free(model);
    trl_buf_fini(&bytes);
    return 0;
}

/* What was found, as text and as numbers. */
typedef struct answer {
    trl_buf text;
    double log_p[3];
    size_t n_spans;
    bool failed;
} answer;

static trl_status keep(void *ctx, size_t k, const trl_parse *found, trl_error *e)
{
    answer *a = (answer *)ctx + k;
    if (!found) {
        a->failed = true;
        return e->code;
    }
    for (size_t i = 0; i < found->n_trees; i++) {
        a->log_p[i] = found->trees[i].log_probability;
        if (trl_tree_print(&found->trees[i].tree, TRL_TREE_LINE, 0, &a->text, e) != TRL_OK)
            return e->code;
    }
    a->n_spans = found->n_spans;
    return TRL_OK;
}

static trl_status keep_all(void *ctx, size_t k, const trl_parse *found, trl_error *e)
{
    (void)keep(ctx, k, found, e);
    return TRL_OK;
}

static void answers_fini(answer *a)
{
    for (size_t k = 0; k < SENTENCES; k++)
        trl_buf_fini(&a[k].text);
}

static trl_parse_options options(void)
{
    trl_parse_options o = trl_parse_options_default();
    o.nbest = 3;
    o.spans = true;
    return o;
}

static void one_by_one(answer *a)
{
    const trl_parse_options o = options();
    trl_parser *p = NULL;
    trl_parse found;
    assert_ok(trl_parser_new(model, &o, &p, &err));
    for (size_t k = 0; k < SENTENCES; k++) {
        assert_ok(trl_parser_parse(p, &in[k], &found, &err));
        assert_int_equal(keep(a, k, &found, &err), TRL_OK);
    }
    trl_parser_free(p);
}

static void test_same_bits(void **state)
{
    (void)state;
    static const size_t threads[] = {1, 2, 7, 0};
    const trl_parse_options o = options();
    answer want[SENTENCES];
    memset(want, 0, sizeof want);
    one_by_one(want);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        trl_parsers *p = NULL;
        assert_ok(trl_parsers_new(model, &o, threads[i], &p, &err));
        for (int again = 0; again < 2; again++) {
            answer got[SENTENCES];
            memset(got, 0, sizeof got);
            assert_ok(trl_parsers_run(p, in, SENTENCES, keep, got, &err));
            for (size_t k = 0; k < SENTENCES; k++) {
                assert_int_equal(got[k].text.len, want[k].text.len);
                assert_memory_equal(got[k].text.data, want[k].text.data, want[k].text.len);
                assert_memory_equal(got[k].log_p, want[k].log_p, sizeof want[k].log_p);
                assert_int_equal(got[k].n_spans, want[k].n_spans);
            }
            answers_fini(got);
        }
        assert_ok(trl_parsers_run(p, NULL, 0, keep, NULL, &err));
        trl_parsers_free(p);
    }
    answers_fini(want);
}

/* The first that fails ends it, and those before it are there; or all others are parsed. */
static void test_failures(void **state)
{
    (void)state;
    const trl_parse_options o = options();
    static const trl_known strange = {TRL_KNOWN_TAG, 0, 1, {"XYZ", 3}};
    trl_parsers *p = NULL;
    answer got[SENTENCES], all[SENTENCES];
    memset(got, 0, sizeof got);
    memset(all, 0, sizeof all);
    in[40].known = in[55].known = &strange;
    in[40].n_known = in[55].n_known = 1;
    assert_ok(trl_parsers_new(model, &o, 3, &p, &err));
    assert_int_equal(trl_parsers_run(p, in, SENTENCES, keep, got, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "sentence 41: "));
    assert_non_null(strstr(err.msg, "XYZ"));
    for (size_t k = 0; k < 40; k++)
        assert_true(got[k].text.len > 0 && !got[k].failed);
    assert_ok(trl_parsers_run(p, in, SENTENCES, keep_all, all, &err));
    for (size_t k = 0; k < SENTENCES; k++)
        assert_true(k == 40 || k == 55 ? all[k].failed : all[k].text.len > 0);
    trl_parsers_free(p);
    answers_fini(got);
    answers_fini(all);
    in[40].n_known = in[55].n_known = 0;
}

static void test_misuse(void **state)
{
    (void)state;
    trl_parse_options o = options();
    trl_parsers *p = NULL;
    assert_int_equal(trl_parsers_new(NULL, &o, 1, &p, &err), TRL_EINVAL);
    assert_int_equal(trl_parsers_new(model, NULL, 1, &p, &err), TRL_EINVAL);
    assert_int_equal(trl_parsers_new(model, &o, 1, NULL, &err), TRL_EINVAL);
    assert_int_equal(trl_parsers_run(NULL, in, 1, keep, NULL, &err), TRL_EINVAL);
    o.mix = 2.0;
    assert_int_equal(trl_parsers_new(model, &o, 1, &p, &err), TRL_EINVAL);
    assert_string_equal(err.msg, "mix 2 is out of range: 0 to 1");
    o.mix = 0.25;
    assert_ok(trl_parsers_new(model, &o, 1, &p, &err));
    assert_int_equal(trl_parsers_run(p, NULL, 1, keep, NULL, &err), TRL_EINVAL);
    assert_int_equal(trl_parsers_run(p, in, 1, NULL, NULL, &err), TRL_EINVAL);
    trl_parsers_free(p);
    trl_parsers_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests_name("parse batch", tests, setup, teardown);
}
