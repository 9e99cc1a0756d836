/* The parser never returns nothing: pruning, grammars, numbers and limits that leave no tree. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "base/mem.h"
#include "trellis/buf.h"
#include "trellis/parser.h"
#include "parser/tree_model.h"

/* ---- models of a few trees ------------------------------------------------------------------ */

typedef struct maker {
    trl_tree_set trees;
    trl_head_rules *heads;
    trl_tree_model m;
    unsigned char *bytes;
} maker;

static void read_trees(trl_tree_set *set, const char *text)
{
    trl_error err;
    char path[] = "/tmp/trellis-test-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    assert_ok(trl_tree_set_read(set, path, 0, &err));
    unlink(path);
    for (size_t k = 0; k < set->n; k++)
        set->tree[k].path = NULL;
}

/* A model file of the trees, all of whose rule weights are `weight` (unless it is a PCFG). */
static trl_parse_model *make_with(maker *x, const char *text, trl_grade grade, double weight,
                                  trl_annotation annotation)
{
    trl_error err;
    trl_container_builder b = {0};
    trl_parse_model *model = NULL;
    size_t size;
    *x = (maker){0};
    read_trees(&x->trees, text);
    assert_ok(trl_head_rules_read(NULL, &x->heads, &err));
    const char *families =
        grade == TRL_GRADE_GENERATIVE ? "" : trl_tree_template_text("discriminative");
    const trl_tree_model_options o = {.grade = grade,
                                      .annotation = annotation,
                                      .frequent = 5,
                                      .threshold = 1e-3,
                                      .template_name = "test",
                                      .template_text = families,
                                      .template_size = strlen(families)};
    assert_ok(trl_tree_model_build(&x->m, &o, x->heads, &x->trees, &err));
    const size_t n = trl_tree_weights(&x->m.features);
    double *w = trl_alloc(n + 1, sizeof *w);
    for (size_t k = 0; k < n; k++)
        w[k] = weight;
    assert_ok(trl_tree_model_save(&x->m, w, (trl_str){families, strlen(families)}, &b, &err));
    assert_ok(trl_container_to_buffer(&b, "tree", &x->bytes, &size, &err));
    assert_ok(trl_parse_model_from_memory(x->bytes, size, &model, &err));
    trl_container_builder_fini(&b);
    trl_free(w);
    return model;
}

static trl_parse_model *make(maker *x, const char *text, trl_grade grade, double weight)
{
    return make_with(x, text, grade, weight, (trl_annotation){.parents = true});
}

static void unmake(maker *x, trl_parse_model *model)
{
    trl_parse_model_free(model);
    trl_tree_model_fini(&x->m);
    trl_head_rules_free(x->heads);
    trl_tree_set_fini(&x->trees);
    trl_free(x->bytes);
}

/* Parses words (blanks between) and compares; the warning, or NULL. */
static const char *check(const trl_parse_model *model, trl_parse_options o, const char *words,
                         const char *want)
{
    trl_error err;
    trl_parser *p = NULL;
    trl_parse got;
    trl_str word[100];
    size_t n = 0;
    trl_buf out = {0};
    for (const char *at = words; *at; n++) {
        const size_t len = strcspn(at, " ");
        word[n] = (trl_str){at, len};
        at += len + (at[len] == ' ');
    }
    assert_ok(trl_parser_new(model, &o, &p, &err));
    assert_ok(trl_parser_parse(p, &(trl_parse_input){.word = word, .n = n}, &got, &err));
    assert_true(got.n_trees >= 1);
    assert_int_equal(got.trees[0].tree.n_words, n);
    assert_ok(trl_tree_print(&got.trees[0].tree, TRL_TREE_LINE, 0, &out, &err));
    trl_buf_ch(&out, 0);
    out.data[strcspn(out.data, "\n")] = 0;
    if (want)
        assert_string_equal(out.data, want);
    else
        assert_true(got.trees[0].tree.n_nodes > n + n / 4); /* phrases, too */
    const char *warning = got.warning;
    trl_buf_fini(&out);
    trl_parser_free(p);
    return warning;
}

/* ---- tests ---------------------------------------------------------------------------------- */

/* Two equally probable trees: a threshold of 0.9 leaves neither, and is lowered. */
static void test_pruned_to_death(void **state)
{
    (void)state;
    maker x;
    trl_parse_options o = trl_parse_options_default();
    trl_parse_model *model = make(&x,
                                  "(TOP (S (X (A a) (B b)) (C c)))\n"
                                  "(TOP (S (A a) (Y (B b) (C c))))\n"
                                  "(TOP (S (A a) (Y (B b) (C c))))\n",
                                  TRL_GRADE_GENERATIVE, 0.0);
    const char *tree = "(TOP (S (A a) (Y (B b) (C c))))";
    for (int how = 0; how < 3; how++) {
        o.decode = (trl_parse_decode)how;
        o.prune = 0.0;
        assert_null(check(model, o, "a b c", tree));
        o.prune = 0.9;
        assert_null(check(model, o, "a b c", tree));
    }
    o.nbest = 5;
    assert_null(check(model, o, "a b c", tree));
    unmake(&x, model);
}

/* NP^VP was never DT NN: no tree of the fine grammar, but one of the coarse. */
static void test_no_fine_tree(void **state)
{
    (void)state;
    maker x;
    trl_parse_options o = trl_parse_options_default();
    trl_parse_model *model = make(&x,
                                  "(TOP (S (NP (DT the) (NN dog)) (VP (VB runs))))\n"
                                  "(TOP (S (NP (PRP he)) (VP (VB sees) (NP (PRP him)))))\n",
                                  TRL_GRADE_GENERATIVE, 0.0);
    assert_null(check(model, o, "the dog sees him",
                      "(TOP (S (NP (DT the) (NN dog)) (VP (VB sees) (NP (PRP him)))))"));
    assert_non_null(check(model, o, "he sees the dog",
                          "(TOP (S (NP (PRP he)) (VP (VB sees) (NP (DT the) (NN dog)))))"));
    o.nbest = 3;
    assert_non_null(check(model, o, "he sees the dog",
                          "(TOP (S (NP (PRP he)) (VP (VB sees) (NP (DT the) (NN dog)))))"));
    /* not even of the coarse one: words with their tags */
    assert_non_null(check(model, o, "dog dog", "(TOP (NN dog) (NN dog))"));
    unmake(&x, model);
}

/* Weights too large for any sum. */
static void test_overflow(void **state)
{
    (void)state;
    maker x;
    trl_parse_options o = trl_parse_options_default();
    trl_parse_model *model = make(&x, "(TOP (S (NP (PRP he)) (VP (VB sees) (NP (PRP him)))))\n",
                                  TRL_GRADE_DISCRIMINATIVE, 2000.0);
    for (int how = 0; how < 5; how++) {
        o.decode = how == 1 ? TRL_PARSE_VITERBI : how == 4 ? TRL_PARSE_TREE : TRL_PARSE_BRACKETS;
        o.nbest = how == 2 ? 3 : 1;
        o.spans = how == 3;
        const char *warning =
            check(model, o, "he sees him", "(TOP (S (NP (PRP he)) (VP (VB sees) (NP (PRP him)))))");
        assert_non_null(warning);
        assert_non_null(strstr(warning, "too large"));
    }
    unmake(&x, model);
}

/* However little memory is allowed. */
static void test_memory(void **state)
{
    (void)state;
    maker x;
    trl_parse_options o = trl_parse_options_default();
    trl_parse_model *model =
        make(&x,
             "(TOP (S (NP (NP (NP (DT the) (NN dog)) (CC and) (NP (DT the) (NN dog))) "
             "(CC and) (NP (DT the) (NN dog))) (VP (VB sees) (NP (DT the) (NN dog)))))\n",
             TRL_GRADE_DISCRIMINATIVE, 0.1);
    char words[400] = "the dog";
    for (int k = 0; k < 15; k++)
        strcat(words, " and the dog");
    strcat(words, " sees the dog");
    unsigned flat = 0, refused = 0, whole = 0;
    for (double most = 10.0; most < 1e8; most *= 1.1) {
        o.max_bytes = (size_t)most;
        const char *warning = check(model, o, words, NULL);
        flat += warning && strstr(warning, "too long");
        refused += warning && strstr(warning, "more memory");
        whole += !warning;
        assert_true(!whole || !warning); /* once it is enough, it is enough */
    }
    assert_true(flat > 5 && refused > 1 && whole > 5);
    unmake(&x, model);
}

/* What the treebank's trees hang on is what the parser's hang on. */
static void test_root(void **state)
{
    (void)state;
    static const char *const roots[] = {"TOP", "ROOT", "S1", "VROOT", ""};
    char text[110], want[100];
    maker x;
    const trl_parse_options o = trl_parse_options_default();
    for (size_t k = 0; k < 5; k++) {
        snprintf(want, sizeof want, "(%s (S (NP (PRP he)) (VP (VB runs))))", roots[k]);
        snprintf(text, sizeof text, "%s\n", want);
        trl_parse_model *model = make(&x, text, TRL_GRADE_GENERATIVE, 0.0);
        assert_null(check(model, o, "he runs", want));
        snprintf(want, sizeof want, "(%s (VB runs) (PRP he))", roots[k]);
        assert_non_null(check(model, o, "runs he", want));
        unmake(&x, model);
    }
    trl_parse_model *model =
        make(&x, "(S (NP (PRP he)) (VP (VB runs)))\n", TRL_GRADE_GENERATIVE, 0.0);
    assert_null(check(model, o, "he runs", "(S (NP (PRP he)) (VP (VB runs)))"));
    assert_non_null(check(model, o, "runs he", "(TOP (VB runs) (PRP he))"));
    unmake(&x, model);
    /* a root that is an inner label, too */
    model = make(&x, "(ROOT (ROOT (NP (PRP he)) (VP (VB runs))))\n", TRL_GRADE_GENERATIVE, 0.0);
    assert_null(check(model, o, "he runs", "(TOP (ROOT (NP (PRP he)) (VP (VB runs))))"));
    unmake(&x, model);
}

/* ---- spans ---------------------------------------------------------------------------------- */

/* The probability that the label is over from .. to-1, by all trees. */
static double by_trees(const trl_parse *all, trl_str label, size_t from, size_t to)
{
    double sum = 0.0;
    for (size_t k = 0; k < all->n_trees; k++) {
        const trl_tree *t = &all->trees[k].tree;
        bool has = false;
        for (size_t v = 0; v < t->n_nodes; v++) {
            const trl_node *x = &t->node[v];
            const trl_str own = trl_strtab_get(t->labels, x->label);
            has = has || (x->child != TRL_NO_NODE && x->from == from && x->to == to &&
                          own.n == label.n && memcmp(own.p, label.p, own.n) == 0);
        }
        sum += has ? exp(all->trees[k].log_probability) : 0.0;
    }
    return sum;
}

static void check_spans(const trl_parse *p, size_t n)
{
    static const char *const labels[] = {"TOP", "S", "NP", "QP", "VP"};
    size_t likely = 0;
    for (size_t k = 0; k < p->n_spans; k++) {
        const trl_span *x = &p->spans[k];
        assert_near(x->probability, by_trees(p, x->label, x->from, x->to), 1e-9);
        assert_true(k == 0 || x[-1].probability > x->probability - 1e-9);
        if (k == 0 || x[-1].probability - x->probability > 1e-8)
            continue;
        const size_t len = x->label.n < x[-1].label.n ? x->label.n : x[-1].label.n;
        const int c = memcmp(x[-1].label.p, x->label.p, len);
        assert_true(x[-1].from < x->from || (x[-1].from == x->from && x[-1].to > x->to) ||
                    (x[-1].from == x->from && x[-1].to == x->to &&
                     (c < 0 || (c == 0 && x[-1].label.n < x->label.n))));
    }
    for (size_t l = 0; l < 5; l++)
        for (size_t j = 1; j <= n; j++)
            for (size_t i = 0; i < j; i++)
                likely += by_trees(p, (trl_str){labels[l], strlen(labels[l])}, i, j) >= 0.01;
    assert_int_equal(likely, p->n_spans);
}

/* NP over NP, over QP over NP, and the same twice: a probability, not a count. */
static void test_spans(void **state)
{
    (void)state;
    maker x;
    trl_error err;
    trl_parser *parser = NULL;
    trl_parse p;
    trl_parse_options o = trl_parse_options_default();
    const trl_str word[] = {{"dogs", 4}, {"see", 3}, {"dogs", 4}};
    trl_parse_model *model =
        make(&x,
             "(TOP (S (NP (NP (NN dogs))) (VP (VB see) (NP (NN dogs)))))\n"
             "(TOP (S (NP (QP (NP (NN dogs)))) (VP (VB see) (NP (QP (NN dogs))))))\n"
             "(TOP (S (NP (NP (NP (NN dogs)))) (VP (VP (VB see)) (NP (NP (NN dogs))))))\n"
             "(TOP (S (QP (NP (QP (NN dogs)))) (VP (VB see))))\n"
             "(TOP (S (NN dogs) (VP (VP (VB see)))))\n",
             TRL_GRADE_GENERATIVE, 0.0);
    o.spans = true;
    o.nbest = 1000;
    o.prune = 0.0;
    assert_ok(trl_parser_new(model, &o, &parser, &err));
    for (size_t n = 2; n <= 3; n++) {
        assert_ok(trl_parser_parse(parser, &(trl_parse_input){.word = word, .n = n}, &p, &err));
        assert_null(p.warning);
        assert_true(p.n_trees > 5 && p.n_trees < 1000);
        check_spans(&p, n);
    }
    trl_parser_free(parser);
    unmake(&x, model);
}

/* A probability is there when it is asked for, whichever tree it is. */
static void test_probability(void **state)
{
    (void)state;
    maker x;
    trl_error err;
    trl_parse p;
    const trl_str word[] = {{"a", 1}, {"b", 1}, {"c", 1}};
    trl_parse_model *model = make(&x,
                                  "(TOP (S (X (A a) (B b)) (C c)))\n"
                                  "(TOP (S (A a) (Y (B b) (C c))))\n"
                                  "(TOP (S (A a) (Y (B b) (C c))))\n",
                                  TRL_GRADE_GENERATIVE, 0.0);
    for (unsigned how = 0; how < 12; how++) {
        trl_parser *parser = NULL;
        trl_parse_options o = trl_parse_options_default();
        o.probability = how & 1;
        o.decode = (trl_parse_decode)(how / 4);
        o.nbest = how & 2 ? 2 : 0;
        assert_ok(trl_parser_new(model, &o, &parser, &err));
        assert_ok(trl_parser_parse(parser, &(trl_parse_input){.word = word, .n = 3}, &p, &err));
        if (o.nbest || o.probability || o.decode == TRL_PARSE_TREE)
            assert_near(exp(p.trees[0].log_probability), 2.0 / 3.0, 1e-9);
        else
            assert_true(isnan(p.trees[0].log_probability));
        assert_int_equal(
            trl_parser_parse(parser, &(trl_parse_input){.word = word, .n = 0}, &p, &err),
            TRL_EINVAL);
        assert_int_equal(trl_parser_parse(parser, NULL, &p, &err), TRL_EINVAL);
        assert_int_equal(trl_parser_parse(parser, &(trl_parse_input){.n = 1}, &p, &err),
                         TRL_EINVAL);
        trl_parser_free(parser);
    }
    unmake(&x, model);
}

/* A tree has the probability of all its derivations, and they rank it: with head tags on VP one
 * tree has two. */
static void test_derivations(void **state)
{
    (void)state;
    static const char text[] =
#define VP1 "(TOP (VP (NP (DT the) (NN cat)) (PP (IN of) (NP (DT the) (NNS cats)))))\n"
#define VP2 "(TOP (VP (NP (DT the) (NNS cats)) (PP (IN of) (NP (DT the) (NN cat)))))\n"
#define X(A, B) "(TOP (X (NP (DT the) " A ") (PP (IN of) (NP (DT the) " B "))))\n"
        VP1 VP1 VP1 VP2 VP2 VP2 VP1 VP2 X("(NN cat)", "(NN cat)") X("(NNS cats)", "(NNS cats)")
            X("(NN cat)", "(NNS cats)") X("(NN cat)", "(NNS cats)");
    static const trl_str word[] = {{"the", 3}, {"cat", 3}, {"of", 2}, {"the", 3}, {"cats", 4}};
    maker x;
    trl_error err;
    trl_parse p;
    const trl_annotation all = {.parents = true, .tag_parents = true, .head_tags = true};
    trl_parse_model *model = make_with(&x, text, TRL_GRADE_GENERATIVE, 0.0, all);
    for (int how = 0; how < 4; how++) {
        trl_parser *parser = NULL;
        trl_parse_options o = trl_parse_options_default();
        o.prune = 0.0;
        o.decode = (trl_parse_decode)(how % 3);
        o.nbest = how == 3 ? 5 : 1;
        o.probability = o.spans = true;
        assert_ok(trl_parser_new(model, &o, &parser, &err));
        assert_ok(trl_parser_parse(parser, &(trl_parse_input){.word = word, .n = 5}, &p, &err));
        assert_true(p.sure && p.n_trees == (how == 3 ? 2 : 1));
        double sum = 0.0;
        for (size_t k = 0; k < p.n_trees; k++) {
            const trl_str top = trl_tree_label(&p.trees[k].tree, 1);
            const bool vp = top.n == 2 && memcmp(top.p, "VP", 2) == 0;
            double span = 0.0; /* of the same constituent */
            for (size_t s = 0; s < p.n_spans; s++)
                if (p.spans[s].from == 0 && p.spans[s].to == 5 && p.spans[s].label.n == top.n &&
                    memcmp(p.spans[s].label.p, top.p, top.n) == 0)
                    span = p.spans[s].probability;
            sum += exp(p.trees[k].log_probability);
            assert_near(exp(p.trees[k].log_probability), span, 1e-9);
            assert_near(span, vp ? 4.0 / 7.0 : 3.0 / 7.0, 1e-9);
            assert_true(how == 2 || vp == (k == 0)); /* Viterbi's is another */
        }
        assert_true(sum <= 1.0 + 1e-12);
        trl_parser_free(parser);
    }
    unmake(&x, model);
}

/* What is too much is decided before it is done. */
static void test_work(void **state)
{
    (void)state;
    maker x;
    trl_parse_options o = trl_parse_options_default();
    const char *tree = "(TOP (S (NP (PRP he)) (VP (VB sees) (NP (PRP him)))))";
    trl_parse_model *model = make(&x, "(TOP (S (NP (PRP he)) (VP (VB sees) (NP (PRP him)))))\n",
                                  TRL_GRADE_GENERATIVE, 0.0);
    assert_null(check(model, o, "he sees him", tree));
    for (int how = 0; how < 3; how++) {
        unsigned refused = 0;
        bool done = false;
        o.decode = (trl_parse_decode)how;
        for (o.max_work = 1e-9; o.max_work < 1.0; o.max_work *= 2.0) {
            const char *warning = check(model, o, "he sees him", NULL);
            assert_true(!warning || (!done && strstr(warning, "work")));
            done = done || !warning;
            refused += warning != NULL;
        }
        assert_true(done && refused > 2);
    }
    o.max_work = 0.0;
    assert_null(check(model, o, "he sees him", tree));
    unmake(&x, model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pruned_to_death),
        cmocka_unit_test(test_no_fine_tree),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_root),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_probability),
        cmocka_unit_test(test_derivations),
        cmocka_unit_test(test_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
