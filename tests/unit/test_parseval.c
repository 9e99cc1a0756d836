/* test_parseval.c -- scores of trees: EVALB's answers where at hand, a plain twin, JSON. */
/* SPDX-License-Identifier: MIT */
#include "scoring.h"

#include "base/rng.h"
#include "score/parseval_match.h"
#include "trellis/score.h"

/* ---- what counts ----------------------------------------------------------------------------- */

static void test_counts(void **state)
{
    (void)state;
    const char *gold = "(TOP (S (NP-SBJ (DT the) (NN cat)) (VP (VBZ sleeps)) (. .)))";
    /* TOP and the full stop are deleted, NP-SBJ is NP, and the span is the same */
    expect(score("collins", gold, "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (. .)))"), 3, 3,
           3, 0, 3, 3);
    expect(score("none", gold, "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (. .)))"), 4, 4, 4,
           0, 4, 4);
    /* a wrong label, a wrong tag, a crossing bracket */
    expect(score("collins", gold, "(S1 (S (DT the) (VP (NN cat) (NN sleeps)) (. .)))"), 1, 3, 3, 1,
           3, 2);
    expect(score("new", gold, "(S1 (S (DT the) (VP (NN cat) (NN sleeps)) (. .)))"), 1, 3, 2, 1, 3,
           2);
    /* an empty root counts; ADVP and PRT are one; twins match as often as there are some */
    expect(score("collins", "( (ADVP (RB up)))", "(TOP (PRT (RP up)))"), 1, 2, 1, 0, 1, 0);
    expect(score("collins", "(NP (NP (NP (NN a))))", "(NP (NP (NN a)))"), 2, 3, 2, 0, 1, 1);
    /* a phrase of traces vanishes, and so does one of punctuation */
    expect(score("collins", "(S (NP (-NONE- *)) (VP (VB go)) (PRN (, ,)))", "(S (VP (VB go)))"), 2,
           2, 2, 0, 1, 1);
    /* length counts punctuation, not traces */
    assert_int_equal(
        score("collins", "(S (NP (-NONE- *)) (VB go) (. .))", "(S (VB go) (. .))").length, 2);
    /* a forest, no blanks between brackets, blanks anywhere */
    expect(score("collins", "(S(NN a))(S (NN b))", " (S\t(NN  a )(NN b) )"), 0, 2, 1, 0, 2, 2);
}

static void test_states(void **state)
{
    (void)state;
    const char *gold = "(S (NP (NN a)) (VP (VB b)))";
    assert_int_equal(score("collins", gold, "").state, TRL_PARSEVAL_SKIPPED);
    assert_int_equal(score("collins", gold, "  ").state, TRL_PARSEVAL_SKIPPED);
    assert_int_equal(score("collins", gold, "(())").state, TRL_PARSEVAL_SKIPPED);
    assert_int_equal(score("collins", gold, "(S (. .))").state, TRL_PARSEVAL_SKIPPED);
    assert_int_equal(score("collins", "", gold).state, TRL_PARSEVAL_ERROR);
    assert_int_equal(score("collins", gold, "(S (NN a))").state, TRL_PARSEVAL_ERROR);
    assert_int_equal(score("collins", gold, "(S (NN a) (VB c))").state, TRL_PARSEVAL_ERROR);
    assert_int_equal(score("collins", gold, "(S (NN a) (. b))").state, TRL_PARSEVAL_ERROR);
    assert_int_equal(score("collins", gold, gold).state, TRL_PARSEVAL_VALID);
    assert_int_equal(score("collins", gold, "").length, 2);
    assert_true(score("collins", gold, gold).exact);
}

static void test_gold_tags(void **state)
{
    (void)state;
    const char *gold = "(S (NP (-NONE- *)) (NP (NN a)) (, ,) (VP (VB b)) (. .))";
    const char *test = "(S (NP (NN a)) (NN ,) (VP (. b)) (NN .))";
    assert_int_equal(score("collins", gold, test).state, TRL_PARSEVAL_ERROR);
    trl_parseval *p = new_scorer("collins", true);
    expect(add(p, gold, test), 3, 3, 3, 0, 2, 2);
    /* nothing to copy: the numbers of words differ */
    assert_int_equal(add(p, gold, "(S (NN a))").state, TRL_PARSEVAL_ERROR);
    trl_parseval_free(p);
}

static void test_quotes(void **state)
{
    (void)state;
    const char *gold = "(S (NP (NNS dogs) (POS ')) (NN food))";
    const char *test = "(S (NP (NNS dogs)) ('' ') (NN food))";
    assert_int_equal(score("collins", gold, test).state, TRL_PARSEVAL_ERROR);
    expect(score("new", gold, test), 1, 2, 2, 0, 3, 2);
    expect(score("new", test, gold), 1, 2, 2, 0, 3, 2);
}

/* ---- EVALB's own answers --------------------------------------------------------------------- */

static char *read_all(const char *dir, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/evalb/%s", dir, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    static char text[1 << 20];
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

static void test_oracles(void **state)
{
    static const char *const cases[][2] = {{"craft-perturbed", "collins"},
                                           {"empty-root", "collins"},
                                           {"wsj-bllip", "collins"},
                                           {"wsj-perturbed", "collins"},
                                           {"wsj-perturbed", "new"}};
    (void)state;
    const char *dir = test_folder("TRELLIS_ORACLES", "../shared/oracles");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trl_error err = {0};
        char gold[600], test[600], expected[100], *text;
        snprintf(gold, sizeof gold, "%s/evalb/%s.gold", dir, cases[i][0]);
        snprintf(test, sizeof test, "%s/evalb/%s.test", dir, cases[i][0]);
        snprintf(expected, sizeof expected, "%s.%s.expected", cases[i][0], cases[i][1]);
        trl_parseval *p = new_scorer(cases[i][1], false);
        assert_ok(trl_parseval_files(p, gold, test, &err));
        assert_ok(trl_parseval_report(p, &text, &err));
        assert_string_equal(text, read_all(dir, expected));
        trl_text_free(text);
        trl_parseval_free(p);
    }
}

/* ---- the plain twin -------------------------------------------------------------------------- */

enum { MAX_WORDS = 12 };
static const char *const phrases[] = {"A", "B", "C", "ADVP", "PRT", "TOP", "A-X"};
static const char *const tags[] = {"x", "y", ",", "-NONE-"};

/* A random tree over the words [from, to): appended as text. */
static void draw_tree(trl_rng *r, int from, int to, int depth, const int *tag, char *out)
{
    char word[32];
    if (to == from + 1 && (depth > 4 || trl_rng_below(r, 2))) {
        snprintf(word, sizeof word, " (%s w%d)", tags[tag[from]], from);
        strcat(out, word);
        return;
    }
    strcat(out, " (");
    strcat(out, phrases[trl_rng_below(r, 7)]);
    for (int a = from, b; a < to; a = b) {
        b = depth > 4 ? a + 1 : a + 1 + (int)trl_rng_below(r, (uint64_t)(to - a));
        draw_tree(r, a, b, depth + 1, tag, out);
    }
    strcat(out, ")");
}

static bool same(const trl_label_table *t, const trl_bracket *a, const trl_bracket *b)
{
    return a->start == b->start && a->end == b->end &&
           trl_label_equal(t, t->info[a->label].bare, t->info[b->label].bare);
}

static bool crosses(const trl_bracket *g, const trl_bracket *t)
{
    return (g->start < t->start && t->start < g->end && g->end < t->end) ||
           (t->start < g->start && g->start < t->end && t->end < g->end);
}

/* Every pair of brackets, as the definition says. */
static void plain(const trl_side *gold, const trl_side *test, const trl_label_table *t,
                  trl_parseval_sentence *out)
{
    bool used[200] = {false};
    assert_true(test->n_brackets < 200);
    for (size_t i = 0; i < gold->n_brackets; i++)
        for (size_t j = 0; j < test->n_brackets && gold->bracket[i].live; j++)
            if (test->bracket[j].live && !used[j] &&
                same(t, &gold->bracket[i], &test->bracket[j])) {
                used[j] = true;
                out->match++;
                break;
            }
    for (size_t j = 0; j < test->n_brackets; j++)
        for (size_t i = 0; i < gold->n_brackets; i++)
            if (gold->bracket[i].live && test->bracket[j].live &&
                crosses(&gold->bracket[i], &test->bracket[j])) {
                out->crossing++;
                break;
            }
}

static void scan_line(trl_side *s, trl_label_table *labels, const char *text)
{
    trl_error err = {0};
    bool ok = false, whole = false;
    assert_ok(trl_side_line(s, labels, (trl_str){text, strlen(text)}, &ok, &whole, &err));
    assert_true(ok && whole);
}

static void test_plain_twin(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_parseval_params params;
    trl_label_table labels;
    trl_side gold = {0}, test = {0};
    trl_matcher m = {0};
    assert_ok(trl_parseval_params_load(&params, "collins", &err));
    assert_ok(trl_label_table_init(&labels, &params, &err));
    trl_rng r = trl_rng_seed(7);
    size_t matched = 0, crossed = 0;
    for (int round = 0; round < 3000; round++) {
        const int n = 1 + (int)trl_rng_below(&r, MAX_WORDS);
        int tag[MAX_WORDS];
        char x[4000] = "", y[4000] = "";
        for (int i = 0; i < n; i++)
            tag[i] = (int)trl_rng_below(&r, 4);
        draw_tree(&r, 0, n, 0, tag, x);
        draw_tree(&r, 0, n, 0, tag, y);
        scan_line(&gold, &labels, x);
        scan_line(&test, &labels, y);
        trl_alignment how;
        size_t a, b;
        assert_ok(trl_side_align(&m, &(trl_side_pair){&gold, &test, &labels}, &how, &a, &b, &err));
        if (how == TRL_NO_WORDS)
            continue;
        assert_int_equal(how, TRL_ALIGNED);
        trl_parseval_sentence fast = {0}, slow = {0};
        assert_ok(trl_side_match(&m, &(trl_side_pair){&gold, &test, &labels}, true, &fast, &err));
        plain(&gold, &test, &labels, &slow);
        assert_int_equal(fast.match, slow.match);
        assert_int_equal(fast.crossing, slow.crossing);
        matched += slow.match;
        crossed += slow.crossing;
    }
    assert_true(matched > 1000 && crossed > 1000);
    trl_matcher_fini(&m);
    trl_side_fini(&gold);
    trl_side_fini(&test);
    trl_label_table_fini(&labels);
    trl_parseval_params_fini(&params);
}

/* ---- reports --------------------------------------------------------------------------------- */

static void test_details(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_parseval_options o = trl_parseval_options_default();
    trl_parseval *p;
    o.details = true;
    assert_ok(trl_parseval_new(&o, &p, &err));
    add(p, "(S (NP-1 (NN a)) (VB b))", "(TOP (X (NN a) (JJ b)))");
    add(p, "(S (NN a))", "not a tree");
    add(p, "(S-Y (NN a))", "(S-Z (X))");
    char *text;
    assert_ok(trl_parseval_report(p, &text, &err));
    const char *from = strstr(text, "   1    2"), *to = strstr(text, "====\n      ");
    assert_true(from && to);
    while (to[-1] == '=')
        to--;
    char got[4000];
    snprintf(got, sizeof got, "%.*s", (int)(to - from), from);
    assert_string_equal(
        got, "   1    2    0    0.00   0.00     0      2    1      0      2     1    50.00\n"
             "-<1>---(wn1=  2, bn1=  2)-           -<2>---(wn2=  2, bn2=  2)-\n"
             "  0 : 1 : NN      a                       0 : 1 : NN      a               \n"
             "  1 : 0 : VB      b                       1 : 0 : JJ      b               \n"
             "\n"
             "  0 : 0 :   0    2  S             0 : 5 :   0    2  TOP   \n"
             "  1 : 0 :   0    1  NP            1 : 0 :   0    2  X     \n"
             "\n"
             "========\n"
             "   2    1    1    0.00   0.00     0      0    0      0      0     0     0.00\n"
             "   3    1    2    0.00   0.00     0      0    0      0      0     0     0.00\n"
             "-<1>---(wn1=  1, bn1=  1)-           -<2>---(wn2=  0, bn2=  2)-\n"
             "  0 : 9 : NN      a                     \n"
             "\n"
             "  0 : 9 :   0    1  S-Y           0 : 9 :   0    0  S-Z   \n"
             "                                  1 : 9 :   0    0  X     \n"
             "\n"
             "========\n");
    trl_text_free(text);
    trl_parseval_free(p);
}

static void test_json(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_parseval *p = new_scorer("collins", false);
    add(p, "(S (NP (NN a)) (VB b))", "(S (NN a) (VB b))");
    add(p, "(S (NN a))", "");
    char *text;
    assert_ok(trl_parseval_report_json(p, &text, &err));
    assert_string_equal(
        text, "{\"all\":{\"sentences\":2,\"errors\":0,\"skipped\":1,\"valid\":1,\"match\":1,"
              "\"gold\":2,"
              "\"test\":1,\"crossing\":0,\"words\":2,\"tags\":2,\"recall\":50,\"precision\":100,"
              "\"f1\":66.6667,\"exact\":0,\"mean_crossing\":0,\"no_crossing\":100,\"few_crossing\":"
              "100,"
              "\"tagging\":100},\"short\":{\"max_length\":40,\"sentences\":2,\"errors\":0,"
              "\"skipped\":1,"
              "\"valid\":1,\"match\":1,\"gold\":2,\"test\":1,\"crossing\":0,\"words\":2,\"tags\":2,"
              "\"recall\":50,\"precision\":100,\"f1\":66.6667,\"exact\":0,\"mean_crossing\":0,"
              "\"no_crossing\":100,\"few_crossing\":100,\"tagging\":100},\"stopped\":false,"
              "\"per_sentence\":[{\"length\":2,\"state\":\"valid\",\"match\":1,\"gold\":2,\"test\":"
              "1,"
              "\"crossing\":0,\"words\":2,\"tags\":2,\"exact\":false},{\"length\":1,\"state\":"
              "\"skipped\",\"match\":0,\"gold\":0,\"test\":0,\"crossing\":0,\"words\":0,\"tags\":0,"
              "\"exact\":false}]}\n");
    trl_text_free(text);
    trl_parseval_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),    cmocka_unit_test(test_states),
        cmocka_unit_test(test_gold_tags), cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_oracles),   cmocka_unit_test(test_plain_twin),
        cmocka_unit_test(test_details),   cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
