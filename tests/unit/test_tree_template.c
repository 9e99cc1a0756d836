/* Feature families of tree models as text: what is read, and what is refused where. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "chart/chart.h"
#include "grammar/observation.h"
#include "parser/tree_template.h"

static trl_status parse(const char *text, trl_tree_template *t, trl_error *err)
{
    *t = (trl_tree_template){0};
    *err = (trl_error){0};
    return trl_tree_template_parse(t, "file", text, strlen(text), err);
}

static void test_families(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint8_t part, attachment, anchor, n, width;
        bool one_word, annotated, clusters;
    } good[] = {
        {"tag", TRL_PART_TAG, TRL_ATTACH_WORD, 0, 0, 0, false, false, false},
        {"tag-parent here-1.word", TRL_PART_TAG_PARENT, TRL_ATTACH_WORD, 0, 1, 0, false, false,
         false},
        {"base-parent first.form", TRL_PART_BASE_PARENT, TRL_ATTACH_FIRST, 0, 1, 0, false, false,
         false},
        {"base-parent last.tag after.tag", TRL_PART_BASE_PARENT, TRL_ATTACH_END, 0, 2, 0, false,
         false, false},
        {"base-parent first.form length", TRL_PART_BASE_PARENT, TRL_ATTACH_ITEM, 0, 2, 0, false,
         false, false},
        {"parent first.form", TRL_PART_PARENT, TRL_ATTACH_ITEM, 0, 1, 0, false, false, false},
        {"base-parent inside.cluster inside+2.cluster", TRL_PART_BASE_PARENT, TRL_ATTACH_INSIDE, 0,
         2, 3, false, false, true},
        {"base-parent left.tag split.tag", TRL_PART_BASE_PARENT, TRL_ATTACH_EDGE, TRL_EDGE_SPLIT, 2,
         0, false, false, false},
        {"parent split.tag", TRL_PART_PARENT, TRL_ATTACH_EDGE, TRL_EDGE_SPLIT, 1, 0, false, true,
         false},
        {"base-rule before.tag", TRL_PART_BASE_RULE, TRL_ATTACH_EDGE, TRL_EDGE_FIRST, 1, 0, false,
         false, false},
        {"rule last.word", TRL_PART_RULE, TRL_ATTACH_EDGE, TRL_EDGE_END, 1, 0, false, true, false},
        {"unary-1 first.cluster6", TRL_PART_UNARY, TRL_ATTACH_UNARY, 0, 1, 0, true, false, true},
        {"\t base-unary  shape # why\r", TRL_PART_BASE_UNARY, TRL_ATTACH_UNARY, 0, 1, 0, false,
         false, false},
        {"base-unary-parent length#x", TRL_PART_BASE_UNARY_PARENT, TRL_ATTACH_UNARY, 0, 1, 0, false,
         false, false},
    };
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        trl_tree_template t;
        trl_error err;
        assert_ok(parse(good[k].text, &t, &err));
        assert_int_equal(t.n, 1);
        const trl_tree_family *f = &t.family[0];
        assert_int_equal(f->part, good[k].part);
        assert_int_equal(f->attachment, good[k].attachment);
        assert_int_equal(f->anchor, good[k].anchor);
        assert_int_equal(f->n, good[k].n);
        assert_int_equal(f->width, good[k].width);
        assert_int_equal(f->one_word, good[k].one_word);
        assert_int_equal(t.annotated_edges, good[k].annotated);
        assert_int_equal(t.clusters, good[k].clusters);
    }
}

static void test_observations(void **state)
{
    (void)state;
    trl_tree_template t;
    trl_error err;
    assert_ok(parse("tag here-2.word here.lower here+2.suffix3\n\n# nothing\n"
                    "parent before.class last-1.form heavy",
                    &t, &err));
    static const trl_observation want[2][3] = {{{TRL_PLACE_FIRST, -2, TRL_SEEN_WORD},
                                                {TRL_PLACE_FIRST, 0, TRL_SEEN_LOWER},
                                                {TRL_PLACE_FIRST, 2, TRL_SEEN_SUFFIX3}},
                                               {{TRL_PLACE_FIRST, -1, TRL_SEEN_CLASS},
                                                {TRL_PLACE_END, -2, TRL_SEEN_FORM},
                                                {TRL_PLACE_SPAN, 0, TRL_SEEN_HEAVY}}};
    assert_int_equal(t.n, 2);
    for (size_t f = 0; f < 2; f++)
        for (size_t k = 0; k < 3; k++)
            assert_memory_equal(&t.family[f].observation[k], &want[f][k], sizeof(trl_observation));
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned row, col;
        const char *word; /* of the message */
        bool hint;
    } bad[] = {
        {"tags", 1, 1, "'tags' is not a class", true},
        {"tag\n  rules first.word", 2, 3, "'rules' is not a class", true},
        {"tag-1 here.word", 1, 1, "-1", false},
        {"rule-1 first.word", 1, 1, "-1", false},
        {"tag word", 1, 5, "'word' is not an observation", true},
        {"tag here.", 1, 10, "cannot be seen", true},
        {"tag here.Word", 1, 10, "'Word' cannot be seen", true},
        {"tag there.word", 1, 5, "'there' is not a place", true},
        {"tag here+x.word", 1, 5, "not a place", true},
        {"tag .word", 1, 5, "'' is not a place", true},
        {"tag here+3.word", 1, 5, "words away", false},
        {"tag here-4.word", 1, 5, "words away", false},
        {"base-parent inside-1.word", 1, 13, "negative", false},
        {"\n\n tag first.word last.word", 3, 2, "the word only", false},
        {"tag length", 1, 1, "the word only", false},
        {"rule", 1, 1, "always features", false},
        {"base-parent", 1, 1, "always features", false},
        {"rule first.word split.word", 1, 1, "one place", true},
        {"base-rule length", 1, 1, "one place", true},
        {"base-parent split.word length", 1, 1, "one place", true},
        {"parent inside.word", 1, 1, "inside goes with base-parent", false},
        {"base-parent inside.word first.word", 1, 1, "inside goes with base-parent", false},
        {"unary split.word", 1, 1, "no split", false},
        {"base-unary inside.word", 1, 1, "no split", false},
        {"parent first.word last.word length shape", 1, 36, "at most 3", false},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        trl_tree_template t;
        trl_error err;
        if (parse(bad[k].text, &t, &err) != TRL_EPARSE)
            fail_msg("'%s' was read", bad[k].text);
        if (!strstr(err.msg, bad[k].word) || err.row != bad[k].row || err.col != bad[k].col)
            fail_msg("'%s': %u:%u: %s", bad[k].text, (unsigned)err.row, (unsigned)err.col, err.msg);
        assert_string_equal(err.path, "file");
        assert_int_equal(err.hint[0] != 0, bad[k].hint);
    }
}

/* 128 families fit, one more does not; texts may come one after the other. */
static void test_many(void **state)
{
    (void)state;
    static char text[TRL_TREE_FAMILIES * 4 + 8];
    trl_tree_template t = {0};
    trl_error err;
    for (size_t k = 0; k < TRL_TREE_FAMILIES; k++)
        memcpy(text + 4 * k, "tag\n", 4);
    assert_ok(trl_tree_template_parse(&t, "file", text, 4 * TRL_TREE_FAMILIES - 4, &err));
    assert_ok(trl_tree_template_parse(&t, "file", "base-tag", 8, &err));
    assert_int_equal(t.n, TRL_TREE_FAMILIES);
    assert_int_equal(trl_tree_template_parse(&t, "file", "\ntag", 4, &err), TRL_EPARSE);
    assert_int_equal(err.row, 2);
    assert_non_null(strstr(err.msg, "more than 128"));
    assert_ok(trl_tree_template_parse(&t, "file", NULL, 0, &err));
}

static void test_built_in(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t n;
        bool annotated;
    } known[] = {{"discriminative", 15, false}, {"paper", 28, true}, {"features", 85, false}};
    for (size_t k = 0; k < 3; k++) {
        trl_tree_template t;
        trl_error err;
        assert_ok(parse(trl_tree_template_text(known[k].name), &t, &err));
        assert_int_equal(t.n, known[k].n);
        assert_int_equal(t.annotated_edges, known[k].annotated);
        assert_true(t.clusters);
    }
    assert_null(trl_tree_template_text("feature"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families), cmocka_unit_test(test_observations),
        cmocka_unit_test(test_errors),   cmocka_unit_test(test_many),
        cmocka_unit_test(test_built_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
