/* test_options.c -- options by name: the tables, their checks, a struct that can grow. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <ctype.h>
#include <math.h>

#include "trellis/align.h"
#include "trellis/boost.h"
#include "trellis/methods.h"
#include "trellis/parser.h"
#include "trellis/shrink.h"
#include "trellis/translate.h"
#include "trellis/tune.h"

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

typedef struct named {
    const trl_option_table *table;
    size_t size;
    void *options; /* at their defaults */
    bool kinds;    /* models of different kinds have different ones */
} named;

#define TABLES 9

static union {
    trl_tune_options tune;
    trl_cv_options cv;
    trl_boost_options boost;
    trl_align_options align;
    trl_parse_options parse;
    trl_translate_options translate;
    trl_translate_limits limits;
    trl_shrink_options shrink;
} all[TABLES];

static void all_tables(named out[TABLES])
{
    all[1].tune = trl_tune_options_default();
    all[2].cv = trl_cv_options_default();
    all[3].boost = trl_boost_options_default();
    all[4].align = trl_align_options_default();
    all[5].parse = trl_parse_options_default();
    all[6].translate = trl_translate_options_default();
    all[7].limits = trl_translate_limits_default();
    all[8].shrink = trl_shrink_options_default();
    out[0] = (named){trl_train_option_table(), sizeof o, &o, true};
    out[1] = (named){trl_tune_option_table(), sizeof all->tune, &all[1], false};
    out[2] = (named){trl_cv_option_table(), sizeof all->cv, &all[2], false};
    out[3] = (named){trl_boost_option_table(), sizeof all->boost, &all[3], false};
    out[4] = (named){trl_align_option_table(), sizeof all->align, &all[4], false};
    out[5] = (named){trl_parse_option_table(), sizeof all->parse, &all[5], false};
    out[6] = (named){trl_translate_option_table(), sizeof all->translate, &all[6], false};
    out[7] = (named){trl_translate_limit_table(), sizeof all->limits, &all[7], false};
    out[8] = (named){trl_shrink_option_table(), sizeof all->shrink, &all[8], false};
}

static void check_row(const named *t, const trl_option *x)
{
    assert_ptr_equal(trl_options_find(t->table, x->name), x);
    if (t->kinds) {
        assert_true(x->kinds & (TRL_KIND_CHAIN | TRL_KIND_TREE | TRL_KIND_GRAPH));
        assert_non_null(x->group);
    }
    assert_true(x->help && x->help[0]);
    assert_null(strstr(x->help, "--")); /* the library has no flags */
    assert_true(x->type == TRL_OPTION_FLAG || x->value || x->choices);
    assert_true(x->at >= sizeof(size_t) && x->at + x->size <= t->size);
    for (const char *p = x->name; *p; p++)
        assert_true(islower(*p) || isdigit(*p) || *p == '-');
}

static void test_rows(void **state)
{
    (void)state;
    named t[TABLES];
    all_tables(t);
    for (size_t i = 0; i < TABLES; i++) {
        size_t k = 0;
        for (const trl_option *x; (x = trl_options_at(t[i].table, k)); k++)
            check_row(&t[i], x);
        assert_true(k > (i == 0 ? 40 : 2));
        assert_null(trl_options_at(t[i].table, k + 1));
        assert_null(trl_options_find(t[i].table, "model-x"));
        assert_null(trl_options_find(t[i].table, "mode"));
        assert_null(trl_options_find(t[i].table, ""));
        assert_null(trl_options_find(t[i].table, NULL));
    }
}

/* What is read of the defaults can be set again, and changes nothing. */
static void check_defaults_return(const named *t)
{
    char d[sizeof o];
    assert_true(t->size <= sizeof d);
    memcpy(d, t->options, t->size);
    for (size_t k = 0; trl_options_at(t->table, k); k++) {
        const trl_option *x = trl_options_at(t->table, k);
        char text[200] = "";
        trl_buf b = {0};
        assert_int_equal(trl_options_get(t->table, t->options, x->name, &b, &err), TRL_OK);
        assert_true(b.len < sizeof text);
        if (b.len)
            memcpy(text, b.data, b.len);
        trl_buf_fini(&b);
        if (text[0])
            assert_int_equal(trl_options_set(t->table, t->options, x->name, text, &err), TRL_OK);
        if (x->type != TRL_OPTION_STRING)
            assert_memory_equal(t->options, d, t->size);
        assert_int_equal(trl_options_set(t->table, t->options, x->name, NULL, &err), TRL_OK);
        assert_memory_equal(t->options, d, t->size);
    }
}

static void test_defaults_return(void **state)
{
    (void)state;
    named t[TABLES];
    all_tables(t);
    for (size_t i = 0; i < TABLES; i++)
        check_defaults_return(&t[i]);
}

/* A value that is refused by name is refused in the member as well, where the options are used,
 * with the same words. */
static void test_ranges(void **state)
{
    (void)state;
    named t[TABLES];
    static const struct {
        size_t table;
        const char *name, *value, *message;
    } given[] = {
        {1, "folds", "1", "folds 1 is out of range: at least 2"},
        {1, "select", "best",
         "select 'best' is not known: use guess, f1, precision, recall or accuracy"},
        {2, "folds", "0", "folds 0 is out of range: at least 2"},
        {3, "decay", "1", "decay 1 is out of range: above 0 and below 1"},
        {3, "decay", "0", "decay 0: a number above 0 is needed"},
        {3, "lambda-end", "1e-10", "lambda-end 1e-10 is out of range: at least 1e-09 and below 1"},
        {3, "rate", "1.5", "rate 1.5 is out of range: above 0 and at most 1"},
        {4, "null", "1", "null 1 is out of range: above 0 and below 1"},
        {4, "kind", "ibm4", "kind 'ibm4' is not known: use ibm1, ibm2 or hmm"},
        {5, "lambda", "1", "lambda 1 is out of range: at least 0 and below 1"},
        {5, "mix", "-0.5", "mix -0.5 is out of range: 0 to 1"},
        {5, "nbest", "10001", "nbest 10001 is out of range: 0 to 10000"},
        {5, "prune", "1", "prune 1 is out of range: below 1"},
        {5, "probability", "maybe", "probability 'maybe' is not known: use true or false"},
        {6, "min-share", "2", "min-share 2 is out of range: 0 to 1"},
        {6, "lambda", "0", "lambda 0: a number above 0 is needed"},
        {7, "nbest", "0", "nbest 0: a number above 0 is needed"},
        {8, "keep", "2", "keep 2 is out of range: above 0 and at most 1"},
        {8, "bits", "4", "bits '4' is not known: use 32, 16 or 8"},
    };
    all_tables(t);
    for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
        const named *x = &t[given[k].table];
        assert_int_equal(trl_options_set(x->table, x->options, given[k].name, given[k].value, &err),
                         TRL_EINVAL);
        assert_string_equal(err.msg, given[k].message);
    }
    all[5].parse.lambda = NAN;
    trl_parser *parser = NULL;
    assert_int_equal(trl_parser_new((const trl_parse_model *)&o, &all[5].parse, &parser, &err),
                     TRL_EINVAL);
    assert_string_equal(err.msg, "lambda nan is out of range: at least 0 and below 1");
    all[5].parse = trl_parse_options_default();
    all[5].parse.decode = (trl_parse_decode)7;
    assert_int_equal(trl_parser_new((const trl_parse_model *)&o, &all[5].parse, &parser, &err),
                     TRL_EINVAL);
    assert_string_equal(err.msg, "decode '7' is not known: use brackets, tree or viterbi");
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
        cmocka_unit_test_setup(test_ranges, setup),
        cmocka_unit_test_setup(test_values, setup),
        cmocka_unit_test_setup(test_wrong_values, setup),
        cmocka_unit_test_setup(test_misuse, setup),
        cmocka_unit_test_setup(test_kinds, setup),
        cmocka_unit_test_setup(test_older_program, setup),
        cmocka_unit_test_setup(test_newer_program, setup),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
