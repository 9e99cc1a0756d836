/* test_heads.c -- head rules: the published table, its dialect, its errors. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "treebank/heads.h"

static trl_head_rules *parse(const char *text)
{
    trl_head_rules *h = NULL;
    trl_error err;
    assert_ok(trl_head_rules_parse("mem", text, strlen(text), &h, &err));
    return h;
}

/* The head of `PARENT CHILD CHILD ...`, from 0. */
static size_t head_of(const trl_head_rules *h, const char *rule)
{
    trl_str word[32];
    size_t n = 0;
    while (*rule) {
        const size_t len = strcspn(rule, " ");
        word[n++] = (trl_str){rule, len};
        rule += len + strspn(rule + len, " ");
    }
    return trl_head_child(h, word[0], word + 1, n - 1);
}

static void assert_head_at(const trl_head_rules *h, const char *rule, size_t want, int line)
{
    const size_t got = head_of(h, rule);
    if (got != want)
        fail_msg("line %d: '%s': %zu is not %zu", line, rule, got, want);
}
#define assert_head(h, rule, want) assert_head_at((h), (rule), (want), __LINE__)

static void test_published(void **state)
{
    (void)state;
    trl_head_rules *h = NULL;
    trl_error err;
    assert_ok(trl_head_rules_read(NULL, &h, &err));
    assert_head(h, "S NP VP .", 1);
    assert_head(h, "S NP-SBJ-1 VP .", 1);
    assert_head(h, "S S , NP VP .", 3); /* VP before S in the list */
    assert_head(h, "S S CC S .", 0);
    assert_head(h, "VP MD VP", 0);
    assert_head(h, "VP VBZ VP", 0);
    assert_head(h, "VP ADVP VBG NP PP", 1);
    assert_head(h, "VP TO VP", 0);
    assert_head(h, "VP VB CC VB NP", 0);
    assert_head(h, "PP IN NP", 0);
    assert_head(h, "PP RB IN NP", 1);
    assert_head(h, "SBAR IN S", 0);
    assert_head(h, "SBAR S", 0);
    assert_head(h, "NP DT JJ NN", 2);
    assert_head(h, "NP DT NN NN", 2);
    assert_head(h, "NP NP PP", 0);
    assert_head(h, "NP NP , NP ,", 0);
    assert_head(h, "NP NNP NNP POS", 2);
    assert_head(h, "NP DT NN CC NN", 1);   /* the first conjunct */
    assert_head(h, "NP DT NN , CC NN", 1); /* a comma does not part conjuncts */
    assert_head(h, "NP CC NN", 1);         /* nothing before the CC */
    assert_head(h, "NP $ CD -NONE-", 0);
    assert_head(h, "NP DT CD", 1);
    assert_head(h, "NP PRP", 0);
    assert_head(h, "NP DT DT .", 1); /* none of them: the last that is not punctuation */
    assert_head(h, "QP IN CD CD", 0);
    assert_head(h, "ADJP RB JJ PP", 1);
    assert_head(h, "ADVP RB RB", 1);
    assert_head(h, "FRAG NP VP .", 1);
    assert_head(h, "INTJ , UH", 1);
    assert_head(h, "WHNP WDT NN", 0);
    assert_head(h, "TOP NP S", 1);
    assert_head(h, "NEW , X Y", 1); /* not in the table: @default */
    assert_head(h, "NEW , .", 0);   /* nothing but punctuation */
    assert_head(h, "LST -LRB- LS -RRB-", 1);
    trl_head_rules_free(h);
}

static void test_dialect(void **state)
{
    (void)state;
    trl_head_rules *h = parse("# a comment\n"
                              "A left X Y ; Z   # Z from the left, too\r\n"
                              "B right X Y; last P Q\n"
                              "C first X Y\n"
                              "D last X Y ; left\n"
                              "\\@E left \\# \\;\n"
                              "@default right\n"
                              "@coordination and or\n"
                              "@punctuation .");
    assert_head(h, "A Y X X", 1);
    assert_head(h, "A W Y V Y", 1);
    assert_head(h, "A W Z V Z", 1);
    assert_head(h, "A V W", 0);
    assert_head(h, "B Y X X Y", 2);
    assert_head(h, "B P Q R P S", 3);
    assert_head(h, "B V W", 1);
    assert_head(h, "C W Y X", 1);
    assert_head(h, "D X Y W", 1);
    assert_head(h, "D . W V", 1);
    assert_head(h, "@E U #", 1);
    assert_head(h, "@E U ; #", 2);
    assert_head(h, "@E U ;", 1);
    assert_head(h, "F U V .", 1);
    assert_head(h, "C U and X", 0);
    assert_head(h, "C U or . X", 0);
    assert_head(h, "C or X", 1);
    const trl_str text = trl_head_rules_text(h);
    trl_head_rules *again = NULL;
    trl_error err;
    assert_ok(trl_head_rules_parse("again", text.p, text.n, &again, &err));
    assert_int_equal(trl_head_rules_text(again).n, text.n);
    assert_memory_equal(trl_head_rules_text(again).p, text.p, text.n);
    assert_head(again, "B P Q R P S", 3);
    trl_head_rules_free(again);
    trl_head_rules_free(h);
    h = parse("");
    assert_head(h, "A X Y", 0);
    trl_head_rules_free(h);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t row, col;
        const char *msg;
    } bad[] = {
        {"A", 1, 2, "a direction is missing"},
        {"\nA up X", 2, 3, "'up' is not a direction"},
        {"A left X\n A left Y", 2, 2, "a second line for 'A'"},
        {"A left X ; ", 1, 12, "a list without labels"},
        {"A left X ;; Y", 1, 11, "a list without labels"},
        {"A left ; right X", 1, 8, "never reached"},
        {"; left X", 1, 1, "a parent is expected"},
        {"@heads left", 1, 1, "unknown directive"},
        {"@default", 1, 9, "a direction is missing"},
        {"@default first", 1, 10, "not a direction"},
        {"@default left X", 1, 15, "after the direction"},
        {"@default left\n@default left", 2, 1, "a second line"},
        {"@coordination CC ; and", 1, 18, "';' in a list"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        trl_head_rules *h = NULL;
        trl_error err = {0};
        const trl_status st =
            trl_head_rules_parse("mem", bad[i].text, strlen(bad[i].text), &h, &err);
        if (st != TRL_EPARSE || err.row != bad[i].row || err.col != bad[i].col ||
            !strstr(err.msg, bad[i].msg) || strcmp(err.path, "mem") != 0 || h)
            fail_msg("case %zu: %d, %s:%d:%d: %s", i, (int)st, err.path, (int)err.row, (int)err.col,
                     err.msg);
    }
    trl_head_rules *h = NULL;
    assert_int_equal(trl_head_rules_read("/nowhere/at/all", &h, NULL), TRL_EIO);
}

/* For every node of the tree its head child (a node), or TRL_NO_NODE in a word's node, and its head
 * word (an index into tree->word). */
static void find_heads(const trl_head_rules *h, const trl_tree *tree, const trl_strtab *labels,
                       uint32_t *child, uint32_t *word)
{
    trl_str name[16];
    for (size_t i = tree->n_nodes; i-- > 0;) { /* children come after their parents */
        const trl_node *node = &tree->node[i];
        uint32_t head = node->child;
        size_t n = 0;
        for (uint32_t c = node->child; c != TRL_NO_NODE; c = tree->node[c].next) {
            assert_true(n < sizeof name / sizeof *name);
            name[n++] = trl_strtab_get(labels, tree->node[c].label);
        }
        size_t at = n ? trl_head_child(h, trl_strtab_get(labels, node->label), name, n) : 0;
        while (at-- > 0)
            head = tree->node[head].next;
        child[i] = head;
        word[i] = head == TRL_NO_NODE ? node->from : word[head];
    }
}

static void test_trees(void **state)
{
    (void)state;
    const char *text = "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ has) (VP (VBN slept))) (. .)))";
    static const uint32_t want_child[] = {1, 5, 4, -1u, -1u, 6, -1u, 8, -1u, -1u};
    static const uint32_t want_word[] = {2, 2, 1, 0, 1, 2, 2, 3, 3, 4};
    trl_input *in = NULL;
    trl_strtab labels = {0};
    trl_bracket_reader *r = NULL;
    trl_head_rules *h = NULL;
    trl_error err;
    trl_tree t;
    bool more;
    assert_ok(trl_input_memory("mem", text, strlen(text), &in, &err));
    assert_ok(trl_bracket_reader_new(in, &labels, &r, &err));
    assert_ok(trl_bracket_reader_next(r, &t, &more, &err));
    assert_ok(trl_head_rules_read(NULL, &h, &err));
    uint32_t child[10], word[10];
    assert_int_equal(t.n_nodes, 10);
    find_heads(h, &t, &labels, child, word);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(child[i], want_child[i]);
        assert_int_equal(word[i], want_word[i]);
    }
    trl_head_rules_free(h);
    trl_bracket_reader_free(r);
    trl_input_free(in);
    trl_strtab_fini(&labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_dialect),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
