/* test_tree_draw.c -- drawings to the letter, layouts without overlaps, SVG that is XML. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <math.h>

#include "base/rng.h"
#include "text/utf8.h"
#include "treebank/layout.h"

static void draw_text(const char *text, const trl_draw_options *o, trl_buf *out)
{
    trl_treebank *bank = NULL;
    trl_error err;
    trl_tree t;
    bool more;
    assert_ok(
        trl_treebank_memory(&(trl_text){"mem", text, strlen(text)}, NULL, false, &bank, &err));
    assert_ok(trl_treebank_next(bank, &t, &more, &err));
    assert_ok(trl_tree_draw(&t, o, out, &err));
    trl_treebank_free(bank);
}

static void assert_draws_at(const char *text, trl_draw_options o, const char *want, int line)
{
    trl_buf out = {0};
    draw_text(text, &o, &out);
    if (out.len != strlen(want) || memcmp(out.data, want, out.len) != 0)
        fail_msg("line %d:\n%.*sis not\n%s", line, (int)out.len, out.data, want);
    trl_buf_fini(&out);
}
#define assert_draws(text, want, ...)                                                              \
    assert_draws_at((text), (trl_draw_options){__VA_ARGS__}, (want), __LINE__)

static const char cat[] = "(S (NP (DT The) (NN cat)) (VP (VBZ sits)) (. .))";

static void test_upright(void **state)
{
    (void)state;
    assert_draws(cat,
                 "         S\n"
                 "   ┌─────┴─┬────┐\n"
                 "   NP      VP   .\n"
                 " ┌─┴──┐    │    .\n"
                 "DT   NN   VBZ\n"
                 "The  cat  sits\n",
                 .style = TRL_DRAW_UPRIGHT);
}

static void test_flat(void **state)
{
    (void)state;
    assert_draws(cat,
                 "S\n"
                 "├─ NP\n"
                 "│  ├─ DT The\n"
                 "│  └─ NN cat\n"
                 "├─ VP ─ VBZ sits\n"
                 "└─ . .\n",
                 .style = TRL_DRAW_FLAT);
    assert_draws(cat,
                 "S\n"
                 "|- NP\n"
                 "|  |- DT The\n"
                 "|  `- NN cat\n"
                 "|- VP - VBZ sits\n"
                 "`- . .\n",
                 .width = 5, .ascii = true);
    assert_draws("(X a)", "X a\n", .style = TRL_DRAW_FLAT);
    assert_draws("(X (Y a))", "\x1b[1;34mX\x1b[0m\x1b[2m ─ \x1b[0m\x1b[32mY\x1b[0m a\n",
                 .style = TRL_DRAW_FLAT, .colour = true);
}

static void test_odd_labels(void **state)
{
    (void)state;
    assert_draws("(X a)", "X\na\n", .style = TRL_DRAW_AUTO);
    assert_draws("( (LONG-LABEL (X a)))", "    ()\n    │\nLONG-LABEL\n    │\n    X\n    a\n",
                 .style = TRL_DRAW_AUTO);
    assert_draws("(X \x1b[2J\xff)", "  X\n\xef\xbf\xbd[2J\xef\xbf\xbd\n", .style = TRL_DRAW_AUTO);
    assert_draws("(S (漢 漢字) (b c))", "   S\n ┌─┴──┐\n 漢   b\n漢字  c\n",
                 .style = TRL_DRAW_AUTO);
}

/* ---- layouts ------------------------------------------------------------------------------ */

/* A random tree in brackets. */
static void random_tree(trl_rng *rng, trl_buf *out, size_t depth)
{
    static const char *const names[] = {"S", "NP-SBJ-LONG", "VP", "X"};
    const size_t kids = depth == 0 ? 0 : trl_rng_below(rng, 4);
    trl_buf_ch(out, '(');
    trl_buf_str(out, names[trl_rng_below(rng, 4)]);
    if (kids == 0)
        trl_buf_fmt(out, " %.*s", (int)(1 + trl_rng_below(rng, 9)), "abcdefghijk");
    for (size_t k = 0; k < kids; k++) {
        trl_buf_ch(out, ' ');
        random_tree(rng, out, depth - 1);
    }
    trl_buf_ch(out, ')');
}

/* Boxes hold what is in them, siblings and neighbours of a level do not touch. */
static void check_layout(const trl_layout *l, const trl_tree *t, size_t gap)
{
    const trl_box *box = l->box;
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const trl_box *b = &box[i];
        const uint32_t c = t->node[i].child;
        assert_true(b->label_left >= b->left && b->label_left + b->label <= b->left + b->width);
        assert_true(b->label_left <= b->centre && b->centre < b->label_left + b->label);
        if (c == TRL_NO_NODE)
            assert_true(b->word_left >= b->left && b->word_left + b->word <= b->left + b->width);
        for (uint32_t k = c; k != TRL_NO_NODE; k = t->node[k].next) {
            assert_int_equal(box[k].depth, b->depth + 1);
            assert_true(box[k].left >= b->left && box[k].left + box[k].width <= b->left + b->width);
            if (t->node[k].next != TRL_NO_NODE)
                assert_int_equal(box[k].left + box[k].width + gap, box[t->node[k].next].left);
        }
    }
    assert_int_equal(l->level[0], 0);
    assert_int_equal(l->level[l->n_levels], t->n_nodes);
    for (size_t d = 0; d < l->n_levels; d++)
        for (size_t k = l->level[d]; k < l->level[d + 1]; k++) {
            assert_int_equal(box[l->order[k]].depth, d);
            if (k + 1 < l->level[d + 1])
                assert_true(box[l->order[k]].left + box[l->order[k]].width + gap <=
                            box[l->order[k + 1]].left);
        }
}

static void test_layouts(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(7);
    trl_buf text = {0};
    trl_error err;
    for (int round = 0; round < 300; round++) {
        trl_treebank *bank = NULL;
        trl_tree t;
        trl_layout l;
        bool more;
        text.len = 0;
        random_tree(&rng, &text, 5);
        assert_ok(
            trl_treebank_memory(&(trl_text){"mem", text.data, text.len}, NULL, false, &bank, &err));
        assert_ok(trl_treebank_next(bank, &t, &more, &err));
        assert_ok(trl_layout_init(&l, &t, &err));
        for (uint32_t i = 0; i < t.n_nodes; i++) {
            l.box[i].label = trl_tree_label(&t, i).n;
            if (t.node[i].child == TRL_NO_NODE)
                l.box[i].word = t.word[t.node[i].from].n;
        }
        for (size_t gap = 1; gap < 4; gap++) {
            trl_layout_place(&l, &t, gap);
            check_layout(&l, &t, gap);
        }
        trl_layout_fini(&l);
        trl_treebank_free(bank);
    }
    trl_buf_fini(&text);
}

static void test_deep(void **state)
{
    (void)state;
    const size_t depth = 20000;
    trl_buf text = {0}, out = {0};
    for (size_t i = 0; i < depth; i++)
        trl_buf_str(&text, "(X (Y a) ");
    trl_buf_str(&text, "(N w)");
    for (size_t i = 0; i < depth; i++)
        trl_buf_ch(&text, ')');
    trl_buf_ch(&text, '\0');
    for (trl_draw_style s = TRL_DRAW_AUTO; s <= TRL_DRAW_FLAT; s++) {
        const trl_draw_options o = {.style = s};
        out.len = 0;
        draw_text(text.data, &o, &out);
        assert_true(out.len > depth && out.len < 20 * depth);
        size_t opened = 0, words = 0;
        for (size_t i = 0; i + 2 < out.len; i++) {
            opened += out.data[i] == '(';
            words += out.data[i] == 'Y' && out.data[i + 2] == 'a';
        }
        assert_true(opened > 0);
        assert_int_equal(words, depth);
    }
    trl_buf_fini(&text);
    trl_buf_fini(&out);
}

/* ---- SVG ---------------------------------------------------------------------------------- */

static size_t occurrences(const trl_buf *b, const char *what)
{
    size_t n = 0;
    for (const char *at = b->data; (at = strstr(at, what)); at++)
        n++;
    return n;
}

static void test_svg(void **state)
{
    (void)state;
    const char *text = "(S (NP (N <a>)) (V \"&\xff\x07)) (X (Y 漢))";
    trl_treebank *bank = NULL;
    trl_tree_svg *svg = NULL;
    trl_error err;
    trl_buf out = {0};
    trl_tree t;
    assert_ok(
        trl_treebank_memory(&(trl_text){"mem", text, strlen(text)}, NULL, false, &bank, &err));
    assert_ok(trl_tree_svg_new(&svg, &err));
    for (bool more = true;;) {
        assert_ok(trl_treebank_next(bank, &t, &more, &err));
        if (!more)
            break;
        assert_ok(trl_tree_svg_add(svg, &t, &err));
    }
    assert_ok(trl_tree_svg_finish(svg, &out, &err));
    assert_true(trl_buf_ch(&out, '\0'));
    assert_int_equal(strncmp(out.data, "<svg xmlns=", 11), 0);
    assert_string_equal(out.data + out.len - 8, "</svg>\n");
    assert_int_equal(occurrences(&out, "<g "), 2);
    assert_int_equal(occurrences(&out, "</g>"), 2);
    assert_int_equal(occurrences(&out, "<text "), 6 + 3);
    assert_int_equal(occurrences(&out, "<line "), 4 + 3);
    assert_int_equal(occurrences(&out, "&lt;a&gt;"), 2); /* title and word */
    assert_int_equal(occurrences(&out, ">&quot;&amp;\xef\xbf\xbd\xef\xbf\xbd<"), 1);
    trl_buf_fini(&out);
    trl_tree_svg_free(svg);
    trl_treebank_free(bank);
}

/* In a page: the same elements, and nothing that the rest of the page would get, too. */
static void test_svg_part(void **state)
{
    (void)state;
    const char *text = "(S (NP (N a)) (V b))";
    trl_treebank *bank = NULL;
    trl_tree_svg *svg = NULL;
    trl_error err;
    trl_buf out = {0};
    trl_tree t;
    bool more;
    const double p[] = {0.5, 1.0, 1.0, 1.0};
    const bool marked[] = {true, false, false, false};
    assert_ok(
        trl_treebank_memory(&(trl_text){"mem", text, strlen(text)}, NULL, false, &bank, &err));
    assert_ok(trl_tree_svg_new_part(&svg, &err));
    assert_ok(trl_treebank_next(bank, &t, &more, &err));
    assert_ok(trl_tree_svg_add_marked(svg, &t, &(trl_tree_marks){"1", p, marked}, &err));
    assert_ok(trl_tree_svg_finish(svg, &out, &err));
    assert_true(trl_buf_ch(&out, '\0'));
    assert_int_equal(occurrences(&out, "class="), 0);
    assert_int_equal(occurrences(&out, "<style"), 0);
    assert_int_equal(occurrences(&out, "100%\" height"), 0);
    assert_int_equal(occurrences(&out, "<text "), 4 + 2 + 4 + 1);
    assert_int_equal(occurrences(&out, "fill=\"currentColor\""), 2 + 4 + 1);
    assert_int_equal(occurrences(&out, "<line stroke="), 3 + 2);
    assert_int_equal(occurrences(&out, "<rect fill="), 4);
    trl_buf_fini(&out);
    trl_tree_svg_free(svg);
    trl_treebank_free(bank);
    assert_int_equal(trl_tree_svg_new_part(NULL, NULL), TRL_EINVAL);
}

static const bool marks[] = {false, true, false, true, false, false};
static const char small_cat[] = "(S (NP (DT The) (NN cat)) (VP (VBZ sits)))";

static void test_marked(void **state)
{
    (void)state;
    assert_draws(small_cat,
                 "S\n"
                 "├─ [NP]\n"
                 "│  ├─ DT The\n"
                 "│  └─ [NN] cat\n"
                 "└─ VP ─ VBZ sits\n",
                 .style = TRL_DRAW_FLAT, .marked = marks);
    assert_draws(small_cat,
                 "       S\n"
                 "   ┌───┴────┐\n"
                 "  [NP]      VP\n"
                 " ┌─┴──┐     │\n"
                 "DT   [NN]  VBZ\n"
                 "The  cat   sits\n",
                 .style = TRL_DRAW_UPRIGHT, .marked = marks);
    assert_draws("(X a)", "\x1b[1;7mX\x1b[0m a\n", .style = TRL_DRAW_FLAT, .colour = true,
                 .marked = marks + 1);
}

/* Marked nodes have frames, nodes with a probability fill and number, NaN leaves one alone. */
static void test_svg_marks(void **state)
{
    (void)state;
    static const double p[] = {1.0, 0.5, NAN, NAN, 0.004, 0.996};
    const trl_tree_marks both = {"1 < 2", p, marks};
    trl_treebank *bank = NULL;
    trl_tree_svg *svg = NULL;
    trl_error err;
    trl_buf out = {0};
    trl_tree t;
    bool more;
    assert_ok(trl_treebank_memory(&(trl_text){"mem", small_cat, strlen(small_cat)}, NULL, false,
                                  &bank, &err));
    assert_ok(trl_treebank_next(bank, &t, &more, &err));
    assert_ok(trl_tree_svg_new(&svg, &err));
    assert_ok(trl_tree_svg_add_marked(svg, &t, &both, &err));
    assert_ok(trl_tree_svg_finish(svg, &out, &err));
    assert_true(trl_buf_ch(&out, '\0'));
    assert_int_equal(occurrences(&out, "<rect class=\"m\""), 2);
    assert_int_equal(occurrences(&out, "<rect class=\"f\""), 3);
    assert_int_equal(occurrences(&out, "class=\"n\""), 4);
    assert_int_equal(occurrences(&out, ">100%</text>"), 1);
    assert_int_equal(occurrences(&out, ">50%</text>"), 1);
    assert_int_equal(occurrences(&out, ">&lt;1%</text>"), 1);
    assert_int_equal(occurrences(&out, ">&gt;99%</text>"), 1);
    assert_int_equal(occurrences(&out, ">1 &lt; 2</text>"), 1);
    trl_buf_fini(&out);
    trl_tree_svg_free(svg);
    trl_treebank_free(bank);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_upright),   cmocka_unit_test(test_flat),
        cmocka_unit_test(test_marked),    cmocka_unit_test(test_svg_part),
        cmocka_unit_test(test_svg_marks), cmocka_unit_test(test_odd_labels),
        cmocka_unit_test(test_layouts),   cmocka_unit_test(test_deep),
        cmocka_unit_test(test_svg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
