/* test_tree_align.c -- source trees made binary, and word links to permutations, against brute
 * force. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/mem.h"
#include "random_brackets.h"
#include "translate/tree_align.h"

/* ---- trees ----------------------------------------------------------------------------------- */

typedef struct setup {
    trl_treebank *bank;
    trl_head_rules *heads;
    trl_source_names names;
    trl_source s;
} setup;

static void make(setup *x, const char *text, size_t n, bool add)
{
    trl_error err;
    trl_tree tree;
    bool more;
    *x = (setup){0};
    assert_ok(trl_treebank_memory(&(trl_text){"test", text, n}, NULL, false, &x->bank, &err));
    assert_ok(trl_head_rules_read(NULL, &x->heads, &err));
    assert_ok(trl_treebank_next(x->bank, &tree, &more, &err));
    assert_true(more);
    assert_ok(trl_source_make(&x->s, &tree, x->heads, &x->names, add, &err));
}

static void drop(setup *x)
{
    trl_source_fini(&x->s);
    trl_strtab_fini(&x->names.words);
    trl_strtab_fini(&x->names.labels);
    trl_head_rules_free(x->heads);
    trl_treebank_free(x->bank);
}

static void draw(const setup *x, uint32_t v, trl_buf *out)
{
    const trl_source_node *node = &x->s.node[v];
    const trl_str label = trl_strtab_get(&x->names.labels, node->label);
    const trl_str head = trl_strtab_get(&x->names.words, x->s.word[node->head]);
    if (v < x->s.n_words) {
        trl_buf_fmt(out, "%.*s", (int)head.n, head.p);
        return;
    }
    trl_buf_fmt(out, "(%.*s/%.*s ", (int)label.n, label.p, (int)head.n, head.p);
    draw(x, node->left, out);
    trl_buf_str(out, " ");
    draw(x, node->right, out);
    trl_buf_str(out, ")");
}

static void test_binary(void **state)
{
    (void)state;
    static const char text[] = "(TOP (S (NP (DT the) (JJ red) (NN dog) (PP (IN of) (NP (NN Kim))))"
                               " (VP (VBZ eats) (NP (NN meat)) (ADVP (RB now))) (. .)))";
    setup x;
    trl_buf out = {0};
    make(&x, text, sizeof text - 1, true);
    assert_int_equal(x.s.n_nodes, 2 * x.s.n_words - 1);
    draw(&x, (uint32_t)x.s.n_nodes - 1, &out);
    trl_buf_add(&out, "", 1);
    assert_string_equal(out.data, "(S/eats (NP/dog the (NP/dog red (NP/dog dog (PP/of of Kim)))) "
                                  "(S/eats (VP/eats (VP/eats eats meat) now) .))");
    trl_buf_fini(&out);
    drop(&x);
}

static void test_dependencies(void **state)
{
    (void)state;
    static const char text[] = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ eats) (NP (NN meat)))))";
    static const char *const expected[] = {"0 DT,1 NP,2 dog,", "0 NP,1 S,2 eats,5 NN,3 DT,4 the,",
                                           "0 TOP,5 S,5 VP,3 NP,4 dog,5 VBZ,3 NP,4 meat,",
                                           "0 NP,1 VP,2 eats,5 NN,"};
    setup x;
    make(&x, text, sizeof text - 1, true);
    for (size_t w = 0; w < x.s.n_words; w++) {
        trl_buf out = {0};
        for (uint32_t k = trl_dependency_begin(&x.s, w); k < x.s.dependency_end[w]; k++) {
            const trl_source_dependency d = x.s.dependency[k];
            const bool is_word = d.relation == TRL_PARENT_HEAD || d.relation == TRL_DEPENDENT_HEAD;
            const trl_str s = trl_strtab_get(is_word ? &x.names.words : &x.names.labels, d.value);
            trl_buf_fmt(&out, "%u %.*s,", d.relation, (int)s.n, s.p);
        }
        trl_buf_add(&out, "", 1);
        assert_string_equal(out.data, expected[w]);
        trl_buf_fini(&out);
    }
    drop(&x);
}

/* Names that are not known have no number and give no dependency. */
static void test_unknown_names(void **state)
{
    (void)state;
    static const char text[] = "(TOP (NP (DT the) (NN dog)))";
    setup x;
    make(&x, text, sizeof text - 1, false);
    assert_int_equal(x.s.word[0], TRL_NO_ID);
    assert_int_equal(x.s.node[2].label, TRL_NO_ID);
    assert_int_equal(x.s.dependency_end[1], 0);
    drop(&x);
}

/* ---- links ----------------------------------------------------------------------------------- */

typedef struct brute {
    const trl_source *s;
    const trl_tree_links *l;
    uint32_t target[16]; /* of words */
    uint32_t used;
    double best;
} brute;

/* Whether the children of all nodes cover intervals that do not overlap. */
static bool fits(const brute *b)
{
    uint32_t lo[32], hi[32];
    for (size_t v = 0; v < b->s->n_nodes; v++) {
        if (v < b->s->n_words) {
            lo[v] = b->target[v] == TRL_NO_ID ? 1 : b->target[v];
            hi[v] = b->target[v] == TRL_NO_ID ? 0 : b->target[v];
            continue;
        }
        const uint32_t x = b->s->node[v].left, y = b->s->node[v].right;
        const bool no_x = hi[x] < lo[x], no_y = hi[y] < lo[y];
        if (!no_x && !no_y && !(hi[x] < lo[y] || hi[y] < lo[x]))
            return false;
        lo[v] = no_x ? lo[y] : no_y ? lo[x] : lo[x] < lo[y] ? lo[x] : lo[y];
        hi[v] = no_x ? hi[y] : no_y ? hi[x] : hi[x] > hi[y] ? hi[x] : hi[y];
    }
    return true;
}

static void try_all(brute *b, size_t word, double score)
{
    if (word == b->s->n_words) {
        if (score > b->best && fits(b))
            b->best = score;
        return;
    }
    b->target[word] = TRL_NO_ID;
    try_all(b, word + 1, score);
    for (size_t k = 0; k < b->l->n_links; k++) {
        const trl_link x = b->l->link[k];
        if (x.source != word || b->used >> x.target & 1)
            continue;
        b->target[word] = x.target;
        b->used |= 1u << x.target;
        try_all(b, word + 1, score + 1.0 + b->l->like[k] / TRL_TREE_ALIGN_LONGEST);
        b->used &= ~(1u << x.target);
    }
}

/* The score of a result, which must be one that fits. */
static double check_result(const trl_source *s, const trl_tree_links *l, const trl_transduction *r)
{
    brute b = {.s = s, .l = l};
    double score = 0.0;
    size_t kept = 0;
    for (size_t w = 0; w < s->n_words; w++) {
        bool found = r->target[w] == TRL_NO_ID;
        b.target[w] = r->target[w];
        for (size_t k = 0; k < l->n_links; k++)
            if (l->link[k].source == w && l->link[k].target == r->target[w]) {
                found = true;
                kept++;
                score += 1.0 + l->like[k] / TRL_TREE_ALIGN_LONGEST;
            }
        assert_true(found);
    }
    assert_true(fits(&b));
    assert_int_equal(kept, r->kept);
    return score;
}

/* The words in the order that the nodes give have rising targets. */
static void check_order(const trl_source *s, const trl_transduction *r)
{
    uint32_t stack[64], n = 0, last = 0;
    stack[n++] = (uint32_t)s->n_nodes - 1;
    while (n) {
        const uint32_t v = stack[--n];
        if (v < s->n_words) {
            if (r->target[v] != TRL_NO_ID) {
                assert_true(r->target[v] + 1 > last);
                last = r->target[v] + 1;
            }
            continue;
        }
        const bool swap = r->order[v] == TRL_ORDER_SWAPPED;
        stack[n++] = swap ? s->node[v].left : s->node[v].right;
        stack[n++] = swap ? s->node[v].right : s->node[v].left;
    }
}

static void test_most_links(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(7);
    trl_arena scratch = {0};
    size_t lost = 0;
    for (size_t round = 0; round < 600; round++) {
        const size_t n = 1 + trl_rng_below(&rng, 7), m = 1 + trl_rng_below(&rng, 8);
        trl_buf text = {0};
        setup x;
        trl_link link[16];
        double like[16];
        uint32_t target[8];
        unsigned char order[16];
        size_t n_links = 0;
        random_brackets(&rng, &text, 0, n, 0);
        make(&x, text.data, text.len, true);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < m; j++)
                if (n_links < 14 && trl_rng_below(&rng, m) == 0) {
                    like[n_links] = trl_rng_unit(&rng);
                    link[n_links++] = (trl_link){i, j};
                }
        const trl_tree_links l = {link, n_links, like, 0};
        trl_transduction r = {target, order, 0};
        trl_error err;
        assert_ok(trl_tree_align(&x.s, &l, &scratch, &r, &err));
        brute b = {.s = &x.s, .l = &l};
        try_all(&b, 0, 0.0);
        assert_near(check_result(&x.s, &l, &r), b.best, 1e-12);
        check_order(&x.s, &r);
        lost += n_links - r.kept;
        const trl_tree_links narrow = {link, n_links, like, 2};
        assert_ok(trl_tree_align(&x.s, &narrow, &scratch, &r, &err));
        assert_true(check_result(&x.s, &narrow, &r) <= b.best + 1e-12);
        check_order(&x.s, &r);
        trl_buf_fini(&text);
        drop(&x);
    }
    assert_true(lost > 100); /* else nothing was tested */
    trl_arena_fini(&scratch);
}

/* ---- Pharaoh's format ------------------------------------------------------------------------ */

static void test_links(void **state)
{
    (void)state;
    static const char text[] = "1-0  0-1 1-0\t0-0\n\n";
    trl_input *in = NULL;
    trl_links l = {0};
    trl_error err;
    trl_str line;
    bool more;
    assert_ok(trl_input_memory("links", text, sizeof text - 1, &in, &err));
    while (trl_input_line(in, &line, &more, &err) == TRL_OK && more)
        assert_ok(trl_links_add(&l, in, line, 2, 2, &err));
    assert_int_equal(l.n, 2);
    assert_int_equal(l.end[0], 3);
    assert_int_equal(l.end[1], 3);
    static const trl_link expected[] = {{0, 0}, {0, 1}, {1, 0}};
    assert_memory_equal(l.link, expected, sizeof expected);
    trl_links_fini(&l);
    trl_input_free(in);
}

static void test_bad_links(void **state)
{
    (void)state;
    static const char *const bad[] = {"0-0 1", "0-",   "-0",          "0-0x", "a-b",
                                      "2-0",   "0-2",  "0-0-0",       "0:0",  "99999999999-0",
                                      "0--0",  "0 -0", "4294967295-0"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        trl_input *in = NULL;
        trl_links l = {0};
        trl_error err = {0};
        trl_str line;
        bool more;
        assert_ok(trl_input_memory("links", bad[k], strlen(bad[k]), &in, &err));
        assert_ok(trl_input_line(in, &line, &more, &err));
        assert_int_equal(trl_links_add(&l, in, line, 2, 2, &err), TRL_EPARSE);
        assert_string_equal(err.path, "links");
        assert_int_equal(err.row, 1);
        assert_int_equal(err.col, k == 0 ? 5 : 1);
        assert_int_equal(l.n_links, 0);
        trl_links_fini(&l);
        trl_input_free(in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary),        cmocka_unit_test(test_dependencies),
        cmocka_unit_test(test_unknown_names), cmocka_unit_test(test_most_links),
        cmocka_unit_test(test_links),         cmocka_unit_test(test_bad_links)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
