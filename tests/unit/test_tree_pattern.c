/* test_tree_pattern.c -- patterns against what they mean, pair by pair, on random trees. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/rng.h"
#include "base/buf.h"
#include "trellis/trees.h"

static size_t matches(const char *tree, const char *pattern)
{
    trl_treebank *bank = NULL;
    trl_tree_pattern *p = NULL;
    trl_error err;
    trl_tree t;
    bool more;
    size_t n = 0;
    uint32_t first;
    assert_ok(trl_tree_pattern_parse(pattern, &p, &err));
    assert_ok(
        trl_treebank_memory(&(trl_text){"mem", tree, strlen(tree)}, NULL, false, &bank, &err));
    assert_ok(trl_treebank_next(bank, &t, &more, &err));
    assert_ok(trl_tree_pattern_match(p, &t, &n, &first, &err));
    assert_true((n > 0) == (first < t.n_nodes) && (n > 0 || first == TRL_NO_NODE));
    bool marked[64];
    size_t again = 0, nodes = 0;
    assert_true(t.n_nodes <= 64);
    assert_ok(trl_tree_pattern_nodes(p, &t, marked, &again, &err));
    for (size_t i = 0; i < t.n_nodes; i++)
        nodes += marked[i];
    assert_true(again == n && nodes <= n &&
                (nodes > 0) == (n > 0)); /* a word and its tag are one */
    assert_true(n == 0 || marked[first]);
    trl_tree_pattern_free(p);
    trl_treebank_free(bank);
    return n;
}

static void test_examples(void **state)
{
    (void)state;
    const char *t = "(S (NP-SBJ (PRP$ my) (NN cat)) (VP (VBZ costs) (NP ($ $) (CD 5))) (. .))";
    static const struct {
        const char *pattern;
        size_t n;
    } c[] = {
        {"NP", 1},
        {"NP*", 2},
        {"*P", 2},
        {"*P*", 4}, /* PRP$ too */
        {"__", 16},
        {"NP|VP", 2},
        {"NP | VP | S", 3},
        {"\"NP*\"", 0},
        {"\"$\"", 2}, /* tag and word */
        {"PRP$", 1},
        {"cat", 1},
        {"NN < cat", 1},
        {"S << cat", 1},
        {"cat > NN", 1},
        {"cat >> S", 1},
        {"cat > S", 0},
        {"S < (NP* < NN) < VP", 1},
        {"S < (NP < NN) < VP", 0},
        {"S !< (NP < NN) < VP", 1},
        {"NP <1 \"$\"", 1},
        {"NP <2 CD", 1},
        {"NP <3 CD", 0},
        {"NP <- CD", 1},
        {"__ <: __", 6},
        {"NP* $ VP", 1},
        {"NP $ NP", 0},
        {"NP* . VP", 1},
        {"NP* .. CD", 1},
        {"NP* . CD", 0},
        {"VP , cat", 1},
        {"CD ,, cat", 1},
        {"cat ,, CD", 0},
        {"S << (NP < (CD < 5) , costs)", 1},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        if (matches(t, c[i].pattern) != c[i].n)
            fail_msg("'%s': %zu is not %zu", c[i].pattern, matches(t, c[i].pattern), c[i].n);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t col;
        const char *msg;
    } bad[] = {
        {"", 1, "label or word"},      {"NP NP", 4, "a relation"},
        {"NP <", 5, "label or word"},  {"NP < (PP", 9, "')' is miss"},
        {"NP < PP)", 8, "a relation"}, {"NP|", 4, "label or word"},
        {"\"NP", 4, "quote"},          {"NP ! PP", 5, "a relation"},
        {". NP", 1, "label or word"},  {"NP < ()", 7, "label or word"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        trl_tree_pattern *p = NULL;
        trl_error err = {0};
        const trl_status st = trl_tree_pattern_parse(bad[i].text, &p, &err);
        if (st != TRL_EPARSE || err.col != bad[i].col || !strstr(err.msg, bad[i].msg) || p)
            fail_msg("'%s': %d, %d: %s", bad[i].text, (int)st, (int)err.col, err.msg);
    }
    trl_buf deep = {0};
    for (int i = 0; i < 1000; i++)
        trl_buf_str(&deep, "A<(");
    trl_buf_ch(&deep, '\0');
    trl_tree_pattern *p = NULL;
    assert_int_equal(trl_tree_pattern_parse(deep.data, &p, NULL), TRL_EPARSE);
    trl_buf_fini(&deep);
}

/* ---- against the definitions -------------------------------------------------------------- */

typedef struct item {
    trl_str name;
    size_t parent, from, to, number; /* number among its siblings, from 1; parent of the root: 99 */
    bool last;
} item;

static size_t list_items(const trl_tree *t, item *x)
{
    const size_t n = t->n_nodes;
    for (uint32_t i = 0; i < n; i++) {
        const trl_node *node = &t->node[i];
        x[i] = (item){trl_tree_label(t, i),     i ? node->parent : 99, node->from, node->to, 1,
                      node->next == TRL_NO_NODE};
        for (uint32_t c = i ? t->node[node->parent].child : i; c != i; c = t->node[c].next)
            x[i].number++;
        if (node->child == TRL_NO_NODE)
            x[n + node->from] = (item){t->word[node->from], i, node->from, node->to, 1, true};
    }
    return n + t->n_words;
}

static bool is_below(const item *x, size_t a, size_t b)
{
    for (size_t up = x[a].parent; up != 99; up = x[up].parent)
        if (up == b)
            return true;
    return false;
}

static bool holds(const item *x, size_t a, const char *sign, size_t b)
{
    const item *A = &x[a], *B = &x[b];
    const bool child = B->parent == a;
    return strcmp(sign, "<") == 0    ? child
           : strcmp(sign, "<<") == 0 ? is_below(x, b, a)
           : strcmp(sign, ">") == 0  ? A->parent == b
           : strcmp(sign, ">>") == 0 ? is_below(x, a, b)
           : strcmp(sign, "$") == 0  ? A->parent == B->parent && a != b && A->parent != 99
           : strcmp(sign, ".") == 0  ? A->to == B->from
           : strcmp(sign, "..") == 0 ? A->to <= B->from
           : strcmp(sign, ",") == 0  ? B->to == A->from
           : strcmp(sign, ",,") == 0 ? B->to <= A->from
           : strcmp(sign, "<:") == 0 ? child && B->number == 1 && B->last
           : strcmp(sign, "<2") == 0 ? child && B->number == 2
                                     : child && B->last; /* <- */
}

static bool named(const item *x, const char *name)
{
    return strcmp(name, "__") == 0 ||
           (x->name.n == strlen(name) && memcmp(x->name.p, name, x->name.n) == 0);
}

static void random_tree(trl_rng *rng, trl_buf *out, size_t depth)
{
    const size_t kids = depth == 0 ? 0 : trl_rng_below(rng, 4);
    trl_buf_fmt(out, "(%c", (char)('A' + trl_rng_below(rng, 3)));
    if (kids == 0)
        trl_buf_fmt(out, " %c", (char)('a' + trl_rng_below(rng, 2)));
    for (size_t k = 0; k < kids; k++) {
        trl_buf_ch(out, ' ');
        random_tree(rng, out, depth - 1);
    }
    trl_buf_ch(out, ')');
}

/* NAME SIGN (NAME SIGN NAME), each relation perhaps negated. */
static void test_definitions(void **state)
{
    (void)state;
    static const char *const signs[] = {"<",  "<<", ">",  ">>", "$",  ".",
                                        "..", ",",  ",,", "<:", "<2", "<-"};
    static const char *const names[] = {"A", "B", "C", "a", "b", "__"};
    trl_rng rng = trl_rng_seed(3);
    size_t found = 0, missed = 0;
    for (int round = 0; round < 4000; round++) {
        trl_buf text = {0};
        random_tree(&rng, &text, 3);
        const char *n1 = names[trl_rng_below(&rng, 6)], *n2 = names[trl_rng_below(&rng, 6)];
        const char *n3 = names[trl_rng_below(&rng, 6)];
        const char *s1 = signs[trl_rng_below(&rng, 12)], *s2 = signs[trl_rng_below(&rng, 12)];
        const bool not1 = trl_rng_below(&rng, 3) == 0, not2 = trl_rng_below(&rng, 3) == 0;
        char pattern[64];
        snprintf(pattern, sizeof pattern, "%s %s%s (%s %s%s %s)", n1, not1 ? "!" : "", s1, n2,
                 not2 ? "!" : "", s2, n3);
        trl_treebank *bank = NULL;
        trl_error err;
        trl_tree t;
        bool more;
        item x[99];
        assert_ok(
            trl_treebank_memory(&(trl_text){"mem", text.data, text.len}, NULL, false, &bank, &err));
        assert_ok(trl_treebank_next(bank, &t, &more, &err));
        const size_t n = list_items(&t, x);
        size_t want = 0;
        for (size_t a = 0; a < n; a++) {
            bool any = false;
            for (size_t b = 0; b < n; b++) {
                bool below = false;
                for (size_t c = 0; c < n; c++)
                    below |= named(&x[c], n3) && holds(x, b, s2, c);
                any |= named(&x[b], n2) && below != not2 && holds(x, a, s1, b);
            }
            want += named(&x[a], n1) && any != not1;
        }
        trl_treebank_free(bank);
        trl_buf_ch(&text, '\0');
        const size_t got = matches(text.data, pattern);
        if (got != want)
            fail_msg("%s in %s: %zu is not %zu", pattern, text.data, got, want);
        *(want ? &found : &missed) += 1;
        trl_buf_fini(&text);
    }
    assert_true(found > 500 && missed > 500);
}

/* ---- counts ------------------------------------------------------------------------------- */

static void test_counts(void **state)
{
    (void)state;
    const char *text = "(S (NP (N a)) (VP (V b) (-NONE- *)))\n(S (NP (N a) (N c)) (VP (V b)))";
    trl_treebank *bank = NULL;
    trl_tree_counts *c = NULL;
    trl_error err;
    trl_tree t;
    trl_buf out = {0};
    assert_ok(
        trl_treebank_memory(&(trl_text){"mem", text, strlen(text)}, NULL, false, &bank, &err));
    assert_ok(trl_tree_counts_new(&c, &err));
    for (bool more = true;;) {
        assert_ok(trl_treebank_next(bank, &t, &more, &err));
        if (!more)
            break;
        assert_ok(trl_tree_counts_add(c, &t, &err));
    }
    assert_ok(trl_tree_counts_json(c, &out, &err));
    assert_true(trl_buf_ch(&out, '\0'));
    assert_string_equal(out.data,
                        "{\"trees\":2,\"words\":5,\"different_words\":3,\"empty\":1,\"phrases\":6,"
                        "\"different_rules\":5,\"unary_uses\":2,\"lengths\":{\"2\":1,\"3\":1},"
                        "\"depths\":{\"3\":2},\"labels\":{\"NP\":2,\"S\":2,\"VP\":2},\"tags\":{"
                        "\"N\":3,\"V\":2},"
                        "\"rules\":{\"S -> NP VP\":2,\"NP -> N\":1,\"NP -> N N\":1,\"VP -> V\":1,"
                        "\"VP -> V -NONE-\":1}}\n");
    out.len = 0;
    assert_ok(trl_tree_counts_report(c, 1, &out, &err));
    assert_true(trl_buf_ch(&out, '\0'));
    assert_non_null(strstr(out.data, "words                   5  3 different, 1 of them once\n"));
    assert_non_null(strstr(out.data, "rules                   5  4 of them used once; 33.3% of"));
    assert_non_null(strstr(out.data, "1-5               2   100.0   100.0  ####"));
    assert_non_null(strstr(out.data, "        2   33.33  NP\n                   2 more\n"));
    trl_buf_fini(&out);
    trl_tree_counts_free(c);
    trl_treebank_free(bank);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
