/* test_options.c -- options of training by name: the table, its checks, a struct that can grow. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <ctype.h>

#include "trellis/methods.h"
#include "trellis/train.h"

static trl_train_options o;
static trl_error err;

static int setup(void **state)
{
    (void)state;
    o = trl_train_options_default();
    return 0;
}

static void is(const char *name, const char *text)
{
    trl_buf b = {0};
    assert_int_equal(trl_train_options_get(&o, name, &b, &err), TRL_OK);
    assert_int_equal(b.len, strlen(text));
    assert_memory_equal(b.data ? b.data : "", text, b.len);
    trl_buf_fini(&b);
}

static void set(const char *name, const char *value)
{
    err = (trl_error){0};
    if (trl_train_options_set(&o, name, value, &err) != TRL_OK)
        fail_msg("%s", err.msg);
}

/* The sentence begins with the name, and nothing is changed. */
static void wrong(const char *name, const char *value, const char *sentence, const char *hint)
{
    const trl_train_options before = o;
    err = (trl_error){0};
    assert_int_equal(trl_train_options_set(&o, name, value, &err), TRL_EINVAL);
    assert_memory_equal(err.msg, sentence, strlen(sentence));
    assert_string_equal(err.hint, hint);
    assert_memory_equal(&before, &o, sizeof o);
    assert_int_equal(trl_train_options_set(&o, name, value, NULL), TRL_EINVAL);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void test_rows(void **state)
{
    (void)state;
    size_t k = 0;
    for (const trl_option *x; (x = trl_train_option(k)); k++) {
        assert_ptr_equal(trl_train_option_find(x->name), x);
        assert_true(x->kinds & (TRL_KIND_CHAIN | TRL_KIND_TREE | TRL_KIND_GRAPH));
        assert_true(x->help && x->help[0] && x->group);
        assert_null(strstr(x->help, "--")); /* the library has no flags */
        assert_true(x->type == TRL_OPTION_FLAG || x->value || x->choices);
        assert_true(x->at + x->size <= sizeof o);
        for (const char *p = x->name; *p; p++)
            assert_true(islower(*p) || isdigit(*p) || *p == '-');
    }
    assert_true(k > 40);
    assert_null(trl_train_option(k + 1));
    assert_null(trl_train_option_find("model-x"));
    assert_null(trl_train_option_find("mode"));
    assert_null(trl_train_option_find(""));
    assert_null(trl_train_option_find(NULL));
}

/* What is read of the defaults can be set again, and changes nothing. */
static void test_defaults_return(void **state)
{
    (void)state;
    const trl_train_options d = o;
    for (size_t k = 0; trl_train_option(k); k++) {
        const char *name = trl_train_option(k)->name;
        char text[200] = "";
        trl_buf b = {0};
        assert_int_equal(trl_train_options_get(&o, name, &b, &err), TRL_OK);
        assert_true(b.len < sizeof text);
        if (b.len)
            memcpy(text, b.data, b.len);
        trl_buf_fini(&b);
        if (text[0])
            set(name, text);
        if (trl_train_option(k)->type != TRL_OPTION_STRING)
            assert_memory_equal(&o, &d, sizeof o);
        set(name, NULL);
        assert_memory_equal(&o, &d, sizeof o);
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static void test_values(void **state)
{
    (void)state;
    is("c2", ""); /* depends on the objective: there are words for it */
    set("c2", "0.1");
    assert_true(o.c2 == 0.1);
    is("c2", "0.1");
    set("c2", NULL);
    assert_true(o.c2 == TRL_USUAL);
    set("max-iter", "12");
    set("min_count", "3"); /* as the member is called */
    assert_int_equal(o.max_iter, 12);
    assert_int_equal(o.min_count, 3);
    is("max_iter", "12");
    set("order", "2");
    assert_int_equal(o.order, 2);
    set("calibrate", "true");
    set("resume", "1");
    assert_true(o.calibrate && o.resume);
    is("resume", "true");
    set("calibrate", "false");
    set("resume", "0");
    assert_false(o.calibrate || o.resume);
    set("transitions", "all");
    set("pairs", "s");
    assert_true(o.all_transitions && !o.all_pairs);
    is("transitions", "all");
    set("format", "crf");
    assert_int_equal(o.format, TRL_FORMAT_CRFSUITE);
    is("format", "crfsuite");
    const char *name = "perceptron";
    set("objective", name);
    assert_ptr_equal(o.objective, name); /* borrowed */
    set("optimizer", "sdca");
    is("optimizer", "sdca");
    set("delta", "1e-7");
    is("delta", "1e-07");
    set("eta", "0.30000000000000004");
    is("eta", "0.30000000000000004");
    is("dev", "");
}

static void test_wrong_values(void **state)
{
    (void)state;
    wrong("speed", "1", "speed: there is no such option", "");
    wrong("max-iter", "-3", "max-iter: '-3' is not a whole number", "");
    wrong("max-iter", "", "max-iter: '' is not a whole number", "");
    wrong("max-iter", "99999999999999999999", "max-iter: 99999999999999999999 is too large", "");
    wrong("max-iter", "0", "max-iter 0: a number above 0 is needed",
          "without 'max-iter' it is: the optimizer's own rule");
    wrong("checkpoint-every", "0", "checkpoint-every 0: a number above 0 is needed", "");
    wrong("order", "3", "order 3 is out of range: 1 to 2", "");
    wrong("order", "3000000000", "order: 3000000000 is too large", "");
    wrong("period", "61", "period 61 is out of range: 0 to 60", "");
    wrong("memory", "0", "memory 0 is out of range: 1 to 32", "");
    wrong("c1", "-1", "c1 -1 is out of range: at least 0", "");
    wrong("c1", "1,5", "c1: '1,5' is not a number", "");
    wrong("c1", "nan", "c1: 'nan' is not a number", "");
    wrong("c1", "1e999", "c1: 1e999 is too large", "");
    wrong("eta", "0", "eta 0: a number above 0 is needed",
          "without 'eta' it is: calibrated, for trees 0.1, by the perceptron 1, boosted 0.3");
    wrong("resume", "yes", "resume 'yes' is not known: use true or false", "");
    wrong("pairs", "both", "pairs 'both' is not known: use seen or all", "");
    wrong("pairs", "", "pairs '' is not known: use seen or all", "");
    wrong("kind", "forest", "kind 'forest' is not known: use chain, tree or graph", "");
    wrong("decode", "loc", "decode 'loc' is not known: use local or global", "");
    wrong("grade", "best", "grade 'best' is not known: use generative, discriminative", "");
    wrong("objective", "best", "objective 'best' of chains is not known: use likelihood", "");
    wrong("optimizer", "best", "optimizer 'best' of chains is not known: use lbfgs", "");
    set("kind", "tree");
    wrong("objective", "best", "objective 'best' of trees is not known: use likelihood", "");
}

static void test_misuse(void **state)
{
    (void)state;
    trl_buf b = {0};
    trl_train_options zero = {0};
    assert_int_equal(trl_train_options_set(NULL, "c1", "1", &err), TRL_EINVAL);
    assert_int_equal(trl_train_options_set(&o, NULL, "1", &err), TRL_EINVAL);
    assert_int_equal(trl_train_options_get(NULL, "c1", &b, &err), TRL_EINVAL);
    assert_int_equal(trl_train_options_get(&o, NULL, &b, &err), TRL_EINVAL);
    assert_int_equal(trl_train_options_get(&o, "c1", NULL, &err), TRL_EINVAL);
    assert_int_equal(trl_train_options_get(&o, "c3", &b, &err), TRL_EINVAL);
    assert_int_equal(trl_train_options_set(&zero, "c1", "1", &err), TRL_EINVAL);
    assert_int_equal(trl_train_options_get(&zero, "c1", &b, &err), TRL_EINVAL);
    assert_int_equal(trl_train(&zero, NULL, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "no size"));
    assert_null(b.data);
    trl_train_options_init(NULL, sizeof o);
    trl_train_options_init(&zero, 3); /* not even room for the size */
    assert_int_equal(zero.size, 0);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* What models of a kind do not have is refused before anything is read. */
static void test_kinds(void **state)
{
    (void)state;
    const char *const path[] = {"no-such-file"};
    static const struct {
        const char *kind, *name, *value, *message;
    } given[] = {
        {"tree", "transitions", "all",
         "transitions goes with models of chains and graphs, not of trees"},
        {"tree", "min-count", "3", "min-count goes with models of chains and graphs, not of trees"},
        {"chain", "grade", "generative", "grade goes with models of trees, not of chains"},
        {"chain", "clusters", "x", "clusters goes with models of trees, not of chains"},
        {"chain", "prune", "0.5", "prune goes with models of trees, not of chains"},
    };
    for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
        o = trl_train_options_default();
        set("kind", given[k].kind);
        set(given[k].name, given[k].value);
        set("model", "no-such-folder/model");
        o.train = path;
        o.n_train = 1;
        assert_int_equal(trl_train(&o, NULL, &err), TRL_EINVAL);
        assert_string_equal(err.msg, given[k].message);
    }
}

/* ---- size ------------------------------------------------------------------------------------ */

/* A program that was compiled when the struct ended at `data`: the rest stands at its defaults, and
 * nothing beyond is read or written. */
static void test_older_program(void **state)
{
    (void)state;
    const size_t old = offsetof(trl_train_options, data);
    trl_train_options small;
    memset(&small, 0xee, sizeof small);
    trl_train_options_init(&small, old);
    assert_int_equal(small.size, old);
    assert_string_equal(small.kind, "chain");
    for (size_t k = old; k < sizeof small; k++)
        assert_int_equal(((unsigned char *)&small)[k], 0xee);
    o = small;
    is("objective", "likelihood");
    is("period", "10");
    set("kind", "tree");
    wrong("period", "5", "period: these options are of an older version, without it", "");
    assert_int_equal(trl_train(&small, NULL, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "no training file"));
}

static void test_newer_program(void **state)
{
    (void)state;
    struct {
        trl_train_options o;
        uint64_t more[4];
    } large;
    memset(&large, 0xee, sizeof large);
    trl_train_options_init(&large.o, sizeof large);
    assert_int_equal(large.o.size, sizeof large);
    assert_int_equal(large.more[3], 0);
    assert_int_equal(trl_train(&large.o, NULL, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "newer version"));
    assert_int_equal(trl_train_options_set(&large.o, "c1", "1", &err), TRL_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_rows, setup),
        cmocka_unit_test_setup(test_defaults_return, setup),
        cmocka_unit_test_setup(test_values, setup),
        cmocka_unit_test_setup(test_wrong_values, setup),
        cmocka_unit_test_setup(test_misuse, setup),
        cmocka_unit_test_setup(test_kinds, setup),
        cmocka_unit_test_setup(test_older_program, setup),
        cmocka_unit_test_setup(test_newer_program, setup),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
