/* test_graph_spec.c -- model files of graphs: what they say, what is refused and where; and what
 * they unroll to. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "graph_model/unroll.h"

static trl_graph_spec *parse(const char *text)
{
    trl_error err;
    trl_graph_spec *s = NULL;
    assert_ok(trl_graph_spec_parse("m", text, strlen(text), &s, &err));
    return s;
}

static const char factorial[] = "labels tag column 1\n"
                                "labels np column 2\n"
                                "template words\n"
                                "  U0:%x[-1,0]\n"
                                "  U1:%x[0,0]\n"
                                "factor tag[i] features words\n"
                                "factor np[i] features words\n"
                                "factor tag[i-1] tag[i]\n"
                                "factor np[i-1] np[i]\n"
                                "factor between: tag[i] np[i] features words\n";

static void test_factorial(void **state)
{
    (void)state;
    trl_graph_spec *s = parse(factorial);
    assert_int_equal(s->n_layers, 2);
    assert_int_equal(s->n_factors, 5);
    assert_false(s->document);
    assert_string_equal(s->factor[2].name, "tag[i-1]tag[i]");
    assert_string_equal(s->factor[4].name, "between");
    assert_int_equal(s->factor[2].at[0].offset, -1);
    assert_true(s->factor[0].plain);
    assert_int_equal(s->factor[0].n_sights, 1);
    trl_graph_spec_free(s);
}

/* ---- what is refused ------------------------------------------------------------------------- */

typedef struct bad {
    const char *text;
    uint64_t row, col;
    const char *says;
} bad;

static void test_refused(void **state)
{
    (void)state;
    static const bad cases[] = {
        {"", 0, 0, "no factor"},
        {"# nothing\n\n", 0, 0, "no factor"},
        {"layer x\n", 1, 1, "unit, labels, score, template, factor or piece"},
        {"  labels a column 0\n", 1, 3, "continues the one before"},
        {"unit page\n", 1, 6, "sentence or document"},
        {"labels a\n", 1, 8, "column and its number"},
        {"labels a column x\n", 1, 17, "number of a column"},
        {"labels a column -1\n", 1, 17, "number of a column"},
        {"labels a column 0\nlabels a column 1\n", 2, 8, "already"},
        {"labels a column 0\nlabels b column 0\n", 2, 17, "already"},
        {"labels a column 0\n", 0, 0, "no factor in it"},
        {"labels a column 0\nlabels b column 1\nfactor a[i]\n", 2, 0, "no factor has the labels"},
        {"labels a column 0\nscore b\n", 2, 7, "no labels 'b'"},
        {"labels a column 0\nfactor b[i]\n", 2, 8, "no labels 'b'"},
        {"labels a column 0\nfactor a\n", 2, 9, "'[' expected"},
        {"labels a column 0\nfactor a[k]\n", 2, 10, "a token expected"},
        {"labels a column 0\nfactor a[i+]\n", 2, 12, "tokens further on"},
        {"labels a column 0\nfactor a[i-2000]\n", 2, 8, "tokens away"},
        {"labels a column 0\nfactor a[i\n", 2, 11, "']' expected"},
        {"labels a column 0\nfactor a[i] a[i]\n", 2, 13, "twice"},
        {"labels a column 0\nfactor a[i] a[j]\n", 2, 8, "needs a condition"},
        {"labels a column 0\nfactor a[i] features w\n", 2, 22, "no template 'w'"},
        {"labels a column 0\nfactor a[i] cells some\n", 2, 19, "all or seen"},
        {"labels a column 0\nfactor a[i] plain no\n", 2, 8, "no weights"},
        {"labels a column 0\nfactor a[i] sees\n", 2, 13, "features, where, cells or plain"},
        {"labels a column 0\nfactor a[i]\nfactor a[i]\n", 3, 8, "already"},
        {"labels a column 0\ntemplate w\nfactor a[i]\n", 2, 10, "has no lines"},
        {"labels a column 0\ntemplate w\n  U%x[0,]\nfactor a[i]\n", 3, 9, "column number"},
        {"labels a column 0\ntemplate w\n  U%x[0,1]\n  Q\nfactor a[i]\n", 4, 3, "starts with U"},
        {"labels a column 0\nfactor a[i] where\n", 2, 18, "a condition expected"},
        {"labels a column 0\nfactor a[i] where %x[i,1]\n", 2, 19, "=, != or ~ expected"},
        {"labels a column 0\nfactor a[i] where %x[i,1] ~ 3\n", 2, 29, "in quotes expected"},
        {"labels a column 0\nfactor a[i] where %x[i,1] ~ \"a(b\"\n", 2, 31, "expression"},
        {"labels a column 0\nfactor a[i] where \"a\" ~ \"a\"\n", 2, 25, "text of a token"},
        {"labels a column 0\nfactor a[i] where %q[i,1]\n", 2, 19, "%x, %t or %m"},
        {"labels a column 0\nfactor a[i] where %t[i,1,\"a]\n", 2, 26, "closing quote"},
        {"labels a column 0\nfactor a[i] where %t[i,1,\"*\"]\n", 2, 27, "repeat"},
        {"labels a column 0\nfactor a[i] where %x[i,1] = %x[j,1]\n", 2, 29, "j is not a token"},
        {"labels a column 0\nfactor a[i] where j-i < 3\n", 2, 13, "j is not a token"},
        {"labels a column 0\nfactor a[i] a[j] where j-i ~ 3\n", 2, 28, "<=, <, >=, > or ="},
        {"labels a column 0\nfactor a[i] a[j] where (j-i < 3\n", 2, 32, "to close a bracket"},
        {"labels a column 0\nfactor a[i] a[j] where same word\n", 2, 24, "same sentence"},
        {"labels a column 0\nfactor a[i] a[j] where \"a\" = \"b\"\n", 2, 24, "two texts"},
        {"labels a column 0\nfactor a[i]\npiece b\n", 3, 7, "no factor 'b'"},
        {"labels a column 0\nfactor b: a[i]\npiece b b\n", 3, 9, "in a piece already"},
        {"labels a column 0\nunit document document\n", 2, 15, "end of the line"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        trl_error err = {0};
        trl_graph_spec *s = NULL;
        const trl_status st =
            trl_graph_spec_parse("m", cases[k].text, strlen(cases[k].text), &s, &err);
        if (st != TRL_EPARSE || !strstr(err.msg, cases[k].says) || err.row != cases[k].row ||
            err.col != cases[k].col)
            print_error("case %zu: status %d at %llu:%llu: %s\n%s", k, (int)st,
                        (unsigned long long)err.row, (unsigned long long)err.col, err.msg,
                        cases[k].text);
        assert_int_equal(st, TRL_EPARSE);
        assert_non_null(strstr(err.msg, cases[k].says));
        assert_int_equal(err.row, cases[k].row);
        assert_int_equal(err.col, cases[k].col);
    }
}

static void test_columns(void **state)
{
    (void)state;
    trl_error err;
    trl_graph_spec *s = parse(factorial);
    assert_ok(trl_graph_spec_check(s, "m", 3, &err));
    assert_int_equal(trl_graph_spec_check(s, "m", 2, &err), TRL_EPARSE);
    assert_int_equal(err.row, 2);
    trl_graph_spec_free(s);
    s = parse("labels a column 1\ntemplate w\n  U%x[0,0]\n  U%x[0,1]\nfactor a[i] features w\n");
    assert_int_equal(trl_graph_spec_check(s, "m", 3, &err), TRL_EPARSE);
    assert_non_null(strstr(err.msg, "labels of 'a'"));
    assert_int_equal(err.row, 4);
    trl_graph_spec_free(s);
    s = parse("labels a column 1\nfactor a[i] where %x[i,7] = \"x\"\n");
    assert_int_equal(trl_graph_spec_check(s, "m", 3, &err), TRL_EPARSE);
    assert_int_equal(err.row, 2);
    assert_int_equal(err.col, 19);
    trl_graph_spec_free(s);
}

/* ---- unrolling ------------------------------------------------------------------------------- */

/* Sentences of words, in one unit; the second column is a label. */
static void fill(trl_graph_unit *u, const char *const *sentence, size_t n)
{
    trl_error err;
    for (size_t q = 0; q < n; q++) {
        trl_str cell[40];
        size_t tokens = 0;
        for (const char *p = sentence[q]; *p; p += *p == ' ') {
            const size_t length = strcspn(p, " ");
            cell[2 * tokens] = (trl_str){p, length};
            cell[2 * tokens + 1] = (trl_str){"L", 1};
            tokens++;
            p += length;
        }
        const trl_rows rows = {.n_tokens = tokens, .n_columns = 2, .cell = cell};
        assert_ok(trl_graph_unit_add(u, &rows, &err));
    }
    trl_graph_unit_close(u);
}

/* "0-1 0-3": the variables of the factors of one family, one layer, in order. */
static void assert_pairs(const char *spec, const char *const *sentence, size_t n, const char *want)
{
    trl_error err;
    trl_graph_spec *s = parse(spec);
    trl_graph_unit u = {0};
    trl_unrolled x = {0};
    char got[400] = "";
    size_t at = 0;
    const size_t labels[1] = {3};
    fill(&u, sentence, n);
    assert_ok(trl_graph_spec_check(s, "m", 2, &err));
    assert_ok(trl_unroll(s, labels, &u, &x, &err));
    const trl_graph_view g = trl_graph_look(x.graph);
    assert_int_equal(g.n_variables, u.n_tokens);
    assert_int_equal(g.n_factors, x.n_factors);
    for (size_t a = 0; a < g.n_factors; a++) {
        at += (size_t)snprintf(got + at, sizeof got - at, "%s", a ? " " : "");
        for (size_t k = g.scope_at[a]; k < g.scope_at[a + 1]; k++)
            at += (size_t)snprintf(got + at, sizeof got - at, "%s%u", k > g.scope_at[a] ? "-" : "",
                                   (unsigned)g.scope[k]);
    }
    assert_string_equal(got, want);
    trl_unrolled_fini(&x);
    trl_graph_unit_fini(&u);
    trl_graph_spec_free(s);
}

#define A "labels a column 1\nunit document\nfactor "

static void test_unroll(void **state)
{
    (void)state;
    static const char *const two[] = {"The Cat saw", "the Cat in The Hat"};
    assert_pairs(A "a[i]\n", two, 2, "0 1 2 3 4 5 6 7");
    assert_pairs(A "a[i-1] a[i]\n", two, 2, "0-1 1-2 3-4 4-5 5-6 6-7");
    assert_pairs(A "a[i] a[i+1]\n", two, 2, "0-1 1-2 3-4 4-5 5-6 6-7");
    assert_pairs(A "a[i-2] a[i]\n", two, 2, "0-2 3-5 4-6 5-7");
    assert_pairs(A "a[i-1] a[i] a[i+1]\n", two, 2, "0-1-2 3-4-5 4-5-6 5-6-7");
    assert_pairs(A "a[i] where %t[i,0,\"^\\u\"]\n", two, 2, "0 1 4 6 7");
    assert_pairs(A "a[i] where %x[i+1,0] = \"Cat\" or not %x[i,0] != \"Hat\"\n", two, 2, "0 3 7");
    /* equal cells, case folded, in the other order; sentences do not matter */
    assert_pairs(A "a[i] a[j] where %x[i,0] = %x[j,0]\n", two, 2, "0-6 1-4");
    assert_pairs(A "a[i] a[j] where %x[j,0] = %x[i,0] and %t[i,0,\"^\\u\"]\n", two, 2, "0-6 1-4");
    assert_pairs(A "a[i] a[j] where %X[i,0] = %X[j,0]\n", two, 2, "0-3 0-6 1-4 3-6");
    assert_pairs(A "a[i] a[j] where %X[i,0] = %X[j,0] and j-i <= 3\n", two, 2, "0-3 1-4 3-6");
    assert_pairs(A "a[i] a[j] where %X[i,0] = %X[j,0] and not same sentence\n", two, 2,
                 "0-3 0-6 1-4");
    assert_pairs(A "a[i] a[j] where %x[i,0] = %x[j,0] or j-i = 7\n", two, 2, "0-6 0-7 1-4");
    assert_pairs(A "a[i] a[j] where j-i > 5\n", two, 2, "0-6 0-7 1-7");
    assert_pairs(A "a[i] a[j] where j-i >= 2 and j-i < 3 and same sentence\n", two, 2,
                 "0-2 3-5 4-6 5-7");
    assert_pairs(A "a[i] a[j] where %m[i,0,\".$\"] = %m[j,0,\".$\"] and %t[i,0,\"^\\u\"] and "
                   "%t[j,0,\"^\\u\"]\n",
                 two, 2, "0-6 1-4 1-7 4-7");
    /* expressions over characters: capitals and classes of any script */
    static const char *const greek[] = {"\xce\x91\xce\xb8\xce\xae\xce\xbd\xce\xb1 in "
                                        "\xc3\x96sterreich",
                                        "\xc3\xb6l Rex \xd9\xa3"};
    assert_pairs(A "a[i] where %t[i,0,\"^\\u\"]\n", greek, 2, "4"); /* bytes */
    assert_pairs(A "a[i] where %x[i,0] ~ \"^\\u\"\n", greek, 2, "0 2 4");
    assert_pairs(A "a[i] where not %x[i,0] ~ \"^[\\u\\d]\"\n", greek, 2, "1 3");
    assert_pairs(A "a[i] where %x[i,0] ~ \"^\\d+$\"\n", greek, 2, "5");
    assert_pairs(A "a[i] a[j] where %x[i,0] ~ \"^\\u\" and %x[j,0] ~ \"^\\u\" and j-i <= 2\n",
                 greek, 2, "0-2 2-4");
    assert_pairs(A "a[i] a[j] where %x[i-1,0] ~ \"in\" and j-i = 1\n", greek, 2, "2-3");
    /* of i and j alone: the next of both must be there, too */
    assert_pairs(A "a[i] a[j] a[i+1] a[j+1] where %x[i,0] = %x[j,0]\n", two, 2, "0-6-1-7 1-4-2-5");
    /* the same variable twice is not a factor */
    assert_pairs(A "a[i] a[j-1] where j-i <= 2\n", two, 2, "0-1 2-3 3-4 4-5 5-6");
}

/* What a factor sees, as the names of its attributes. */
static void assert_sees(const char *spec, size_t factor, const char *want)
{
    static const char *const text[] = {"a b a"};
    trl_error err;
    trl_graph_spec *s = parse(spec);
    trl_graph_unit u = {0};
    trl_unrolled x = {0};
    char got[400] = "";
    size_t at = 0;
    const size_t labels[1] = {2};
    fill(&u, text, 1);
    assert_ok(trl_unroll(s, labels, &u, &x, &err));
    for (size_t k = x.begin[factor]; k < x.begin[factor + 1]; k++)
        at += (size_t)snprintf(got + at, sizeof got - at, "%s%.*s", k > x.begin[factor] ? " " : "",
                               (int)x.attr[k].name.n, x.attr[k].name.p);
    assert_string_equal(got, want);
    trl_unrolled_fini(&x);
    trl_graph_unit_fini(&u);
    trl_graph_spec_free(s);
}

#define W "labels a column 1\ntemplate w\n  U0:%x[0,0]\n  U1:%x[-1,0]\nfactor "

static void test_sights(void **state)
{
    (void)state;
    assert_sees(W "a[i] features w\n", 1, "U0:b U1:a");
    assert_sees(W "a[i-1] a[i] features w\n", 0, "U0:b U1:a");
    assert_sees(W "a[i-1] a[i] features w at i-1\n", 0, "U0:a U1:_B-1");
    assert_sees(W "a[i-1] a[i] features w at i-1, i apart\n", 0,
                "[i-1]U0:a [i-1]U1:_B-1 [i]U0:b [i]U1:a");
    assert_sees(W "a[i-1] a[i] features w at i-1, i pooled\n", 0, "U0:a U1:_B-1 U0:b U1:a");
    assert_sees(W "a[i] a[j] where %x[i,0] = %x[j,0] features w\n", 0, "U0:a U1:_B-1 U1:b");
    assert_sees(W "a[i] a[j] where %x[i,0] = %x[j,0] features w at i, j apart\n", 0,
                "[i]U0:a [i]U1:_B-1 [j]U0:a [j]U1:b");
    assert_sees(W "a[i] features w at i+1\n", 2, "");
    assert_sees(W "a[i]\n", 2, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factorial), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_columns),   cmocka_unit_test(test_unroll),
        cmocka_unit_test(test_sights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
