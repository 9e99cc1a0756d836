/* test_alloc.c -- from files to tags with every single allocation failing once.
 *
 * Each scenario is run again and again: the first allocation fails, then the second, and so on
 * until a run needs fewer than that.  A run must end with TRL_ENOMEM, or, where something can
 * be done without, with the right result.  Nothing may leak (the sanitizer build sees that),
 * no file may be half-written or left behind.  Then all of it once more with every later
 * allocation failing, too. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <dirent.h>
#include <unistd.h>
#include "failing.h"
#include "grammar_scenario.h"
#include "latent_scenario.h"
#include "base/file.h"
#include "trellis/compare.h"
#include "trellis/parseval.h"
#include "trellis/score.h"
#include "trellis/tagger.h"
#include "trellis/train.h"
#include "trellis/tune.h"
#include "trellis/trees.h"
#include "dataset_scenario.h"
#include "graph_model_scenario.h"
#include "graph_training_scenario.h"
#include "parser_scenario.h"
#include "treebank_scenario.h"

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[8][512];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(in_folder(name), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static const char data_text[] = "the D x\ncat N y\nsleeps V z\n\na D x\ndog N y\n\n"
                                "the D x\ndog N y\nbarks V z\n";
static const char items_text[] = "@weight:2\nX\tw:0.5\tv\nY\tu\n\nY\tu:2\n";

/* ---- scenarios --------------------------------------------------------------------------- */

/* Does something from beginning to end; on failure it has cleaned up. */
typedef trl_status (*scenario_fn)(const void *arg, trl_error *err);

typedef struct train_arg {
    const char *optimizer, *objective, *data, *dev, *template_text;
    double c1;
    int order;
    bool resume;
    const char *q0;
    bool cache, mask, calibrate; /* cache: once there is none, once there is */
} train_arg;

static trl_status do_train(const void *p, trl_error *err)
{
    const train_arg *a = p;
    trl_train_options o = trl_train_options_default();
    trl_train_result result;
    char data[512], dev[512], model[512], checkpoint[512], cache[512];
    const char *train[1] = {data};
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(data, sizeof data, "%s/%s", folder, a->data);
    snprintf(dev, sizeof dev, "%s/%s", folder, a->dev ? a->dev : "");
    snprintf(model, sizeof model, "%s/model", folder);
    snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint", folder);
    o.train = train;
    o.n_train = 1;
    o.dev = a->dev ? dev : NULL;
    o.template_text = a->template_text;
    o.template_size = a->template_text ? strlen(a->template_text) : 0;
    o.optimizer = a->optimizer;
    o.objective = a->objective;
    o.order = a->order;
    o.c1 = a->c1;
    o.max_iter = (a->resume ? 4U : 2U) + (a->c1 > 0.0 ? 3U : 0U); /* past a handover */
    o.checkpoint = strcmp(a->objective, "hmm") == 0 ? NULL : checkpoint;
    o.q0 = a->q0;
    o.q0_mask = a->mask;
    o.calibrate = a->calibrate;
    o.q0_cache = a->cache ? cache : NULL;
    o.checkpoint_every = 2;
    o.resume = a->resume;
    o.model = model;
    return trl_train(&o, &result, err);
}

/* A dump goes into a fixed buffer: the callback must not need memory itself. */
typedef struct sink {
    size_t n;
    char text[1 << 16];
} sink;

static trl_status take(void *ctx, const char *text, size_t n, trl_error *err)
{
    (void)err;
    sink *s = ctx;
    assert_true(s->n + n <= sizeof s->text);
    memcpy(s->text + s->n, text, n);
    s->n += n;
    return TRL_OK;
}

static trl_status ask(trl_tagger *t, size_t n, size_t L, trl_error *err)
{
    uint32_t y[64];
    double p[256], score, z;
    size_t found;
    assert_true(3 * n <= 64 && n * L * L <= 256);
    trl_status st = trl_tagger_viterbi(t, y, &score, err);
    if (st == TRL_OK)
        st = trl_tagger_score(t, y, &z, err);
    if (st == TRL_OK)
        st = trl_tagger_posterior(t, y, err);
    if (st == TRL_OK)
        st = trl_tagger_nbest(t, 3, y, p, &found, err);
    if (st == TRL_OK)
        st = trl_tagger_marginals(t, p, err);
    if (st == TRL_OK)
        st = trl_tagger_pair_marginals(t, p, err);
    if (st == TRL_OK)
        st = trl_tagger_log_z(t, &z, err);
    const trl_tag_span *above;
    trl_tag_span span[64];
    if (st == TRL_OK)
        st = trl_tagger_spans(t, y, span, &found, err);
    if (st == TRL_OK)
        st = trl_tagger_spans_above(t, 0.01, &above, &found, err);
    if (st == TRL_OK)
        st = trl_tagger_entropy(t, &z, p, err);
    return st;
}

static trl_status do_tag(const void *p, trl_error *err)
{
    (void)p;
    trl_model *m = NULL;
    trl_tagger *t = NULL;
    trl_reader *r = NULL;
    char model[512], data[512];
    snprintf(model, sizeof model, "%s/ready", folder);
    snprintf(data, sizeof data, "%s/data", folder);
    trl_status st = trl_model_open(model, &m, err);
    if (st == TRL_OK)
        st = trl_tagger_new(m, &t, err);
    if (st == TRL_OK)
        st = trl_reader_open(data, TRL_FORMAT_GUESS, &r, err);
    for (bool more = true; st == TRL_OK && more;) {
        trl_rows seq;
        st = trl_reader_rows(r, &seq, &more, err);
        if (st == TRL_OK && more)
            st = trl_tagger_set_rows(t, &seq, err);
        if (st == TRL_OK && more)
            st = ask(t, seq.n_tokens, trl_model_get_info(m).n_labels, err);
    }
    trl_reader_free(r);
    trl_tagger_free(t);
    trl_model_free(m);
    return st;
}

static trl_status do_dump(const void *p, trl_error *err)
{
    (void)p;
    static sink s;
    trl_model *m = NULL;
    char model[512];
    snprintf(model, sizeof model, "%s/ready", folder);
    trl_status st = trl_model_open(model, &m, err);
    s.n = 0;
    if (st == TRL_OK)
        st = trl_model_dump(m, take, &s, err);
    if (st == TRL_OK)
        st = trl_model_dump_top(m, 3, take, &s, err);
    trl_model_free(m);
    return st;
}

static trl_status do_undump(const void *p, trl_error *err)
{
    (void)p;
    char dump[512], model[512];
    snprintf(dump, sizeof dump, "%s/dump", folder);
    snprintf(model, sizeof model, "%s/model", folder);
    return trl_model_undump(dump, model, err);
}

#include "align_scenario.h" /* these use the folder */
#include "boost_scenario.h"
#include "cluster_scenario.h"
#include "columns_scenario.h"
#include "template_scenario.h"
#include "constraint_scenario.h"
#include "foreign_scenario.h"
#include "partial_scenario.h"
#include "score_scenario.h"
#include "shrink_scenario.h"
#include "text_scenario.h"
#include "translate_scenario.h"
#include "tune_scenario.h"

/* ---- failing ----------------------------------------------------------------------------- */

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void assert_no_leftovers(size_t k)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".tmp-"))
            fail_msg("allocation %zu failed and %s was left behind", k, e->d_name);
    closedir(d);
}

static bool same_files(const char *a, const char *b)
{
    trl_mapped x, y;
    trl_error err;
    assert_ok(trl_map_file(a, &x, &err));
    assert_ok(trl_map_file(b, &y, &err));
    const bool same = x.size == y.size && (x.size == 0 || memcmp(x.data, y.data, x.size) == 0);
    trl_unmap(&x);
    trl_unmap(&y);
    return same;
}

/* One run with allocation k failing; false when it needed fewer. */
static bool try_failure(const char *name, scenario_fn run, const void *arg, size_t k, bool on)
{
    trl_error err = {.code = TRL_OK};
    unlink(in_folder("model"));
    failing_start(k, on);
    const trl_status st = run(arg, &err);
    const bool failed = failing_end();
    if (st != TRL_OK && (st != TRL_ENOMEM || err.code != TRL_ENOMEM || !err.msg[0]))
        fail_msg("%s: allocation %zu failed and the run ended with '%s': %s", name, k,
                 trl_status_name(st), err.msg);
    assert_true(failed || st == TRL_OK);
    assert_no_leftovers(k);
    if (exists(in_folder("model"))) { /* then it is a whole one */
        if (!exists(in_folder("want")))
            assert_int_equal(rename(in_folder("model"), in_folder("want")), 0);
        else if (!same_files(in_folder("model"), in_folder("want")))
            fail_msg("%s: allocation %zu failed and the model is another one", name, k);
    }
    return failed;
}

static void fail_all(const char *name, scenario_fn run, const void *arg)
{
    unlink(in_folder("want"));
    assert_false(try_failure(name, run, arg, 0, false)); /* what it should give */
    const size_t n = failing_count();
    for (int on = 0; on < 2; on++) {
        size_t k = 1;
        while (try_failure(name, run, arg, k, on))
            k++;
        assert_true(k > n / 2);
    }
    print_message("%s: %zu allocations\n", name, n);
}

static void test_train(void **state)
{
    (void)state;
    static const char columns[] = "U:%x[0,0]\nU:%x[-1,0]/%x[0,1]\nB\nB:%x[0,1]\n";
    static const char sampled[] = "U:%x[0,0]\nu:%x[@1,1]\nb\n";
    static const char triples[] = "u:%m[0,0,\"..$\"]\nt\n";
    static const train_arg args[] = {
        {"lbfgs", "likelihood", "data", "data", columns, .resume = false},
        {"lbfgs", "likelihood", "data", "data", columns, .resume = true},
        {"lbfgs", "likelihood", "data", NULL, NULL, .order = 2, .resume = false},
        {"lbfgs", "memm", "data", "data", columns, .resume = false},
        {"lbfgs", "pseudolikelihood", "data", NULL, triples, .resume = false},
        {"lbfgs", "pseudolikelihood-edge", "data", NULL, columns, .resume = false},
        {"lbfgs", "piecewise", "data", "data", columns, .resume = false},
        {"lbfgs", "piecewise-nota", "data", "data", columns, .resume = false},
        {"lbfgs", "piecewise-pseudolikelihood", "data", NULL, columns, .resume = false},
        {"owlqn", "likelihood", "items", "items", NULL, .c1 = 0.1, .resume = false},
        {"sag", "likelihood", "items", NULL, NULL, .resume = false},
        {"sag", "likelihood", "items", NULL, NULL, .resume = true},
        {"sdca", "likelihood", "items", NULL, NULL, .resume = false},
        {"sag", "likelihood", "far", NULL, NULL, .resume = false},
        {"sag", "likelihood", "far", NULL, NULL, .resume = true},
        {"sdca", "likelihood", "far", NULL, NULL, .resume = false},
        {"sdca", "likelihood", "far", NULL, NULL, .resume = true},
        {"asgd", "likelihood", "far", NULL, NULL, .resume = false},
        {"asgd-owlqn", "likelihood", "far", NULL, NULL, .c1 = 0.1, .resume = false},
        {"asgd-owlqn", "likelihood", "far", NULL, NULL, .c1 = 0.1, .resume = true},
        {"adagrad", "likelihood", "far", NULL, NULL, .resume = false},
        {"sgd", "likelihood", "data", NULL, triples, .resume = false},
        {"asgd", "likelihood", "data", NULL, columns, .resume = false},
        {"asgd", "likelihood", "data", NULL, columns, .resume = true},
        {"perceptron", "perceptron", "data", "data", columns, .resume = false},
        {.objective = "hmm", .data = "data", .dev = "data"},
        {.objective = "m-estimation", .data = "data", .dev = "data", .template_text = columns},
        {.objective = "m-estimation", .data = "data", .template_text = triples, .cache = true},
        {.objective = "m-estimation", .data = "data", .template_text = triples, .resume = true},
        {"lbfgs", "m-estimation", "data", "data", columns, .q0 = "emp", .mask = true},
        {.objective = "m-estimation",
         .data = "data",
         .dev = "data",
         .template_text = sampled,
         .q0 = "lu"},
        {.objective = "m-estimation", .data = "items", .dev = "items"},
        {"lbfgs", "piecewise-nota", "data", "data", columns, .calibrate = true}};
    for (size_t k = 0; k < sizeof args / sizeof *args; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s %s%s", args[k].optimizer ? args[k].optimizer : "default",
                 args[k].objective, args[k].resume ? " resumed" : "");
        fail_all(name, do_train, &args[k]);
    }
}

static void test_tune(void **state)
{
    (void)state;
    static const tune_arg columns = {.data = "data", .template_text = "U:%x[0,0]\nB\n"};
    static const tune_arg items = {.data = "items"};
    static const tune_arg search = {.data = "data", .search = true};
    fail_all("tune columns", do_tune, &columns);
    fail_all("tune items", do_tune, &items);
    fail_all("tune by halving", do_tune, &search);
    fail_cv(fail_all, folder);
}

static void test_dataset(void **state)
{
    (void)state;
    static const bool rows = false, items = true;
    fail_all("data set of rows", do_dataset, &rows);
    fail_all("data set of items", do_dataset, &items);
    fail_partial(fail_all);
    write_words();
    fail_all("a template in words", do_words, folder);
}

static void test_grammar(void **state)
{
    (void)state;
    fail_all("grammar", do_grammar, grammar_text);
    fail_all("substates", do_latent, latent_text);
}

#include "tree_training_scenario.h" /* uses what is above */

static void test_parser(void **state)
{
    (void)state;
    write_file("trees", parser_trees);
    train_trees();
    char model[512];
    snprintf(model, sizeof model, "%s/parser", folder);
    fail_all("dump a parser", do_dump_parser, model);
    for (size_t k = 0; k < 10; k++) {
        uint64_t want = 0;
        parse_arg a = {model,
                       trl_parse_options_default(),
                       parser_known,
                       k / 2 == 1 ? 3 : 0,
                       parser_text[k % 2],
                       &want};
        a.o.max_seconds = 0.0;
        a.o.decode = k / 2 == 2 ? TRL_PARSE_VITERBI : TRL_PARSE_BRACKETS;
        a.o.probability = k / 2 == 1;
        a.o.nbest = k / 2 == 3 ? 5 : 0;
        a.o.spans = k / 2 == 4;
        fail_all("parse", do_parse, &a);
    }
    parse_with_tagger();
}

static void make_ready(const train_arg *arg)
{
    trl_error err;
    assert_ok(do_train(arg, &err));
    assert_int_equal(rename(in_folder("model"), in_folder("ready")), 0);
    static sink s;
    s.n = 0;
    trl_model *m = NULL;
    assert_ok(trl_model_open(in_folder("ready"), &m, &err));
    assert_ok(trl_model_dump(m, take, &s, &err));
    trl_model_free(m);
    s.text[s.n] = '\0';
    write_file("dump", s.text);
}

static void test_use(void **state)
{
    (void)state;
    static const char features[] = "U:%x[0,0]\nU:%t[0,0,\"s$\"]\nB\nT\n";
    static const train_arg args[] = {
        {"lbfgs", "likelihood", "data", NULL, features, .order = 2, .resume = false},
        {.objective = "m-estimation", .data = "data", .template_text = features, .mask = true},
        {"lbfgs", "piecewise-nota", "data", NULL, features, .calibrate = true},
        {"lbfgs", "memm", "data", NULL, features, .order = 2, .resume = false}};
    for (size_t k = 0; k < sizeof args / sizeof *args; k++) {
        make_ready(&args[k]);
        fail_all("tag", do_tag, NULL);
        fail_all("dump", do_dump, NULL);
        fail_all("undump", do_undump, NULL);
        assert_true(same_files(in_folder("want"), in_folder("ready")));
        fail_shrink(fail_all);
    }
}

static void test_boost(void **state)
{
    (void)state;
    write_file("boost", boost_text);
    for (size_t k = 0; k < sizeof boost_args / sizeof *boost_args; k++)
        fail_all("boost", do_boost, &boost_args[k]);
}

static void test_others(void **state)
{
    (void)state;
    write_file("tagged", "a B-X B-X\nb O I-Y\n\nc B-Z O\n");
    write_file("sure", "# 0.5 entropy 1\na B-X B-X 0.5 1 0.5 0.5\nb O O 0.5 1 - -\n");
    write_file("trees", "(TOP (S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .)))\n"
                        "(TOP (S (NP (NNP Anna)) (VP (VBZ sleeps)) (. .)))\n");
    write_file("marks", "The cat sleeps .\n[PER Anna] sleeps .\n");
    write_file("documents", "one 1 1 dev\ntwo 2 2 train\n");
    write_file("params", "DELETE_LABEL TOP\nDELETE_LABEL .\nQUOTE_LABEL .\nEQ_WORD a b\nDEBUG 1\n");
    write_file("parses", "(TOP (S (DT The) (NP (NN cat) (VBZ sleeps)) (NN .)))\n"
                         "(S (NNP Anna) (VBZ sleeps)\n(S (NN x))\n");
    write_file("others", "(TOP (S (DT The) (NP (NN cat) (VBZ sleeps)) (. .)))\n(S (NN x))\n");
    fail_all("score", do_score, NULL);
    write_file("text", "so the cat sleeps .\nso a dog sleeps .\nso the dog barks .\n");
    fail_all("cluster", do_cluster, NULL);
    fail_all("translation", do_translation, NULL);
    fail_all("reliability", do_reliability, NULL);
    fail_all("trees", do_trees, NULL);
    fail_all("parseval", do_parseval, NULL);
    fail_all("compare", do_compare, NULL);
    fail_all("treebank", do_treebank, folder);
    fail_all("graph", do_graph, NULL);
    write_file("rules", "one-span\n\nforbid B-X O\n");
    fail_all("constraints", do_constraints, NULL);
    fail_all("text", do_text, &text_options);
    fail_all("graph training", do_graph_training, NULL);
    write_file("graphs", "-DOCSTART-\n\na A\nb B\n\nA A\n\n-DOCSTART-\n\na B\na A\n\n");
    fail_all("graph model", do_graph_model, folder);
    fail_foreign(fail_all);
    write_file("bitext", align_text);
    fail_align(fail_all);
    fail_translate(fail_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_train),
        cmocka_unit_test(test_tune),
        cmocka_unit_test(test_dataset),
        cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_parser),
        cmocka_unit_test(test_use),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_boost),
        cmocka_unit_test(test_inference_allocates_nothing),
        cmocka_unit_test(test_graph_memory_is_linear),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-alloc-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    write_file("data", data_text);
    write_file("items", items_text);
    write_file("far", "X\tyear:2015\tv:1e6\nY\tu\tyear:1999\n\nY\tu:2\nX\tyear:2010\n");
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
