/* test_lexicon.c -- words, classes, p(word | tag), rule probabilities. */
/* SPDX-License-Identifier: MIT */
#include "read_grammar.h"
#include "tampered.h"

#include "grammar/lexicon.h"

static void fill(trl_lexicon *x, const trl_grammar *g, const tree_list *l, uint32_t rare)
{
    trl_error err;
    trl_btree t = {0};
    assert_ok(trl_lexicon_init(x, rare, &err));
    for (size_t i = 0; i < l->n; i++) {
        bool known;
        assert_ok(trl_grammar_encode(g, &(trl_encoded){heads, &l->tree[i], &l->labels}, &t, &known,
                                     NULL, &err));
        assert_true(known);
        assert_ok(trl_lexicon_add(x, &t, l->tree[i].word, &err));
    }
    assert_ok(trl_lexicon_finish(x, g, &err));
    trl_btree_fini(&t);
}

static trl_str str(const char *s)
{
    return (trl_str){s, strlen(s)};
}

/* ---- classes -------------------------------------------------------------------------------- */

static void test_word_classes(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        size_t at;
        const char *class;
    } row[] = {
        {"walked", 3, "UNK-LC-ed"},
        {"walks", 3, "UNK-LC-s"},
        {"boss", 1, "UNK-LC"},
        {"bus", 1, "UNK-LC"},
        {"Walking", 0, "UNK-INITC-ing"},
        {"Walking", 1, "UNK-CAP-ing"},
        {"IBM", 0, "UNK-AC"},
        {"A", 0, "UNK-INITC"},
        {"A", 1, "UNK-CAP"},
        {"McDonald", 0, "UNK-CAP"},
        {"iPod", 2, "UNK-MIXC"},
        {"1990", 0, "UNK-NUM"},
        {"1990-95", 0, "UNK-NUM-DASH"},
        {"mid-1990s", 1, "UNK-LC-NUM-DASH-s"},
        {"BMP4", 1, "UNK-AC-NUM"},
        {"--", 1, "UNK-PCT-DASH"},
        {"", 1, "UNK-PCT"},
        {"red", 1, "UNK-LC"},
        {"\xc3\x89t\xc3\xa9", 1, "UNK-CAP"},
        {"\xce\xb2", 1, "UNK-LC"},
        {"\xff\xfe", 1, "UNK-LC"},
        {"\xe2\x80\xa6", 1, "UNK-PCT"},
        {"na\xc3\xafvely", 1, "UNK-LC-ly"},
        {"\xc3", 0, "UNK-INITC"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char name[64];
        trl_word_class(str(row[i].word), row[i].at, name);
        assert_string_equal(name, row[i].class);
    }
}

/* ---- by hand -------------------------------------------------------------------------------- */

static double logp_of(const trl_lexicon *x, const trl_grammar *g, const char *word, size_t at,
                      const char *tag)
{
    uint32_t *tags = trl_alloc(g->n_states, sizeof *tags);
    double *logp = trl_alloc(g->n_states, sizeof *logp), found = -INFINITY;
    const size_t n = trl_lexicon_tags(x, g, trl_lexicon_word(x, str(word)),
                                      trl_lexicon_class(x, str(word), at), tags, logp);
    assert_true(n >= 1);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || tags[i - 1] < tags[i]);
        if (!strcmp(name_of(g, tags[i]), tag))
            found = logp[i];
    }
    trl_free(tags);
    trl_free(logp);
    return found;
}

static void test_by_hand(void **state)
{
    (void)state;
    /* NN^NP: dog 3, ship 1, ride 1; NN^VP: dog 1, walk 1; VB^VP: walk 2 */
    static const char text[] = "(T (NP (NN dog) (NN dog)) (VP (VB walk) (NN dog)))"
                               "(T (NP (NN dog) (NN ship)) (VP (VB walk) (NN walk)))"
                               "(T (NP (NN ride)))";
    tree_list l = {0};
    trl_grammar g;
    trl_lexicon x;
    read_text(&l, text, sizeof text - 1);
    build(&g, &(trl_annotation){true, true, false, 1}, &l, false);
    fill(&x, &g, &l, 1);
    assert_int_equal(x.words.n, 4);
    assert_int_equal(x.word_count[trl_lexicon_word(&x, str("dog"))], 4);
    assert_int_equal(trl_lexicon_word(&x, str("Dog")), TRL_NO_ID);
    assert_int_equal(trl_lexicon_class(&x, str("Dog"), 0), 0);
    /* c(NN^NP) = 5, c(NN^VP) = 2, c(VB^VP) = 2; rare: ship and ride, both NN^NP */
    const double nn_np = 5.0 / 7.0, nn_vp = 2.0 / 7.0;
    assert_near(logp_of(&x, &g, "dog", 1, "NN^NP"), log((3 + 2 * nn_np) / 6 * 4 / 5), 1e-12);
    assert_near(logp_of(&x, &g, "dog", 1, "NN^VP"), log((1 + 2 * nn_vp) / 6 * 4 / 2), 1e-12);
    assert_true(isinf(logp_of(&x, &g, "dog", 1, "VB^VP")));
    /* walk is frequent: 1/3 NN, 2/3 VB, its class does not matter */
    assert_near(logp_of(&x, &g, "walk", 1, "NN^NP"), log(1.0 / 3 * (2 * nn_np) / 3 * 3 / 5), 1e-12);
    assert_near(logp_of(&x, &g, "walk", 1, "NN^VP"), log(1.0 / 3 * (1 + 2 * nn_vp) / 3 * 3 / 2),
                1e-12);
    assert_near(logp_of(&x, &g, "walk", 1, "VB^VP"), log(2.0 / 3 * 3 / 2), 1e-12);
    /* ship is rare: its class has two tokens, both NN^NP */
    const double q_np = (2 + 5 * nn_np) / 7, q_vp = 5 * nn_vp / 7;
    assert_near(logp_of(&x, &g, "ship", 1, "NN^NP"), log((1 + 2 * q_np) / 3 / 5), 1e-12);
    assert_near(logp_of(&x, &g, "ship", 1, "NN^VP"), log(2 * q_vp / 3 / 2), 1e-12);
    /* unknown, of that class and of none */
    assert_near(logp_of(&x, &g, "boat", 1, "NN^NP"), log(q_np / 5), 1e-12);
    assert_near(logp_of(&x, &g, "1990", 1, "NN^VP"), log(q_vp / 2), 1e-12);
    trl_lexicon_fini(&x);
    trl_grammar_fini(&g);
    free_trees(&l);
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* sum_t p(w | t) c(t) = c(w); so sum_w p(w | t) is 1 on average over tokens. */
static void assert_proper(const trl_lexicon *x, const trl_grammar *g, double worst)
{
    uint32_t *tags = trl_alloc(g->n_states, sizeof *tags);
    double *logp = trl_alloc(g->n_states, sizeof *logp);
    double *sum = trl_zalloc(g->n_states, sizeof *sum), average = 0.0;
    for (uint32_t w = 0; w < x->words.n; w++) {
        const uint32_t cls = trl_lexicon_class(x, trl_strtab_get(&x->words, w), 1);
        const size_t n = trl_lexicon_tags(x, g, w, cls, tags, logp);
        double all = 0.0;
        for (size_t i = 0; i < n; i++) {
            all += exp(logp[i]) * x->state_count[tags[i]];
            sum[tags[i]] += exp(logp[i]);
        }
        assert_near(all, x->word_count[w], 1e-9);
    }
    for (size_t s = 0; s < g->n_states; s++) {
        average += sum[s] * x->state_count[s] / x->n_tokens;
        if (x->state_count[s] >= 200.0 && !(sum[s] > 1.0 / worst && sum[s] < worst)) {
            print_error("%s: %g\n", name_of(g, (uint32_t)s), sum[s]);
            fail();
        }
    }
    assert_near(average, 1.0, 1e-9);
    trl_free(tags);
    trl_free(logp);
    trl_free(sum);
}

static void assert_rules_proper(const trl_grammar *g, double smooth)
{
    double *binary = trl_alloc(g->n_binary, sizeof *binary);
    double *unary = trl_alloc(g->n_unary, sizeof *unary);
    double *sum = trl_zalloc(g->n_states, sizeof *sum);
    trl_pcfg_rules(g, smooth, binary, unary);
    for (size_t r = 0; r < g->n_binary; r++) {
        assert_int_equal(isinf(binary[r]) != 0, smooth == 0.0 && g->binary_count[r] == 0.0);
        sum[g->binary[r].parent] += exp(binary[r]);
    }
    for (size_t r = 0; r < g->n_unary; r++)
        sum[g->unary[r].parent] += exp(unary[r]);
    for (size_t s = 0; s < g->n_states; s++)
        assert_near(sum[s], g->state[s].type == TRL_STATE_TAG ? 0.0 : 1.0, 1e-9);
    trl_free(binary);
    trl_free(unary);
    trl_free(sum);
}

static void make_list(tree_list *l, uint64_t seed, size_t n)
{
    trl_rng r = trl_rng_seed(seed);
    trl_buf text = {0};
    random_trees(&r, n, &text);
    read_text(l, text.data, text.len);
    trl_buf_fini(&text);
}

static void test_sums(void **state)
{
    (void)state;
    tree_list l = {0};
    make_list(&l, 11, 30);
    for (unsigned k = 0; k < N_SWITCHES; k++) {
        const trl_annotation a = switches(k);
        trl_grammar g;
        build(&g, &a, &l, (trl_licence)(k % 3));
        assert_rules_proper(&g, 0.0);
        assert_rules_proper(&g, 0.25);
        for (uint32_t rare = 0; rare < 200; rare = 3 * rare + 1) {
            trl_lexicon x;
            fill(&x, &g, &l, rare);
            assert_proper(&x, &g, 1e9);
            trl_lexicon_fini(&x);
        }
        trl_grammar_fini(&g);
    }
    free_trees(&l);
}

static void test_sums_on_a_treebank(void **state)
{
    (void)state;
    const char *dir = test_folder("TRELLIS_DATA", "../shared/data");
    trl_error err;
    tree_list l = {0};
    trl_input *in = NULL;
    trl_grammar g;
    trl_lexicon x;
    char path[512];
    snprintf(path, sizeof path, "%s/treebanks/wsj-sample-train.mrg", dir);
    assert_ok(trl_input_open(path, &in, &err));
    read_trees(&l, in, 40);
    build(&g, &(trl_annotation){true, true, true, 2}, &l, false);
    fill(&x, &g, &l, 2);
    assert_proper(&x, &g, 1.5);
    assert_rules_proper(&g, 0.5);
    trl_lexicon_fini(&x);
    trl_grammar_fini(&g);
    free_trees(&l);
}

static void test_no_words(void **state)
{
    (void)state;
    trl_error err;
    trl_grammar g = {0};
    trl_lexicon x;
    assert_ok(trl_lexicon_init(&x, 1, &err));
    assert_int_equal(trl_lexicon_finish(&x, &g, &err), TRL_EINVAL);
    trl_lexicon_fini(&x);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void assert_same(const trl_lexicon *a, const trl_lexicon *b, const trl_grammar *g)
{
    uint32_t *tags = trl_zalloc(g->n_states, 2 * sizeof *tags);
    double *logp = trl_zalloc(g->n_states, 2 * sizeof *logp);
    assert_int_equal(a->words.n, b->words.n);
    assert_int_equal(a->classes.n, b->classes.n);
    for (uint32_t w = 0; w <= a->words.n; w++) {
        const uint32_t word = w < a->words.n ? w : TRL_NO_ID;
        const uint32_t cls = w % (uint32_t)a->classes.n;
        const size_t n = trl_lexicon_tags(a, g, word, cls, tags, logp);
        assert_int_equal(trl_lexicon_tags(b, g, word, cls, tags + g->n_states, logp + g->n_states),
                         n);
        assert_memory_equal(tags, tags + g->n_states, n * sizeof *tags);
        assert_memory_equal(logp, logp + g->n_states, n * sizeof *logp);
    }
    trl_free(tags);
    trl_free(logp);
}

/* All words and all unknown classes can be asked for, and have at least one tag. */
static void use(const trl_lexicon *x, const trl_grammar *g)
{
    uint32_t *tags = trl_alloc(g->n_states, sizeof *tags);
    double *logp = trl_alloc(g->n_states, sizeof *logp);
    for (uint32_t w = 0; w < x->words.n; w++)
        assert_true(trl_lexicon_tags(x, g, w, w % (uint32_t)x->classes.n, tags, logp) >= 1);
    for (uint32_t c = 0; c < x->classes.n; c++)
        assert_true(trl_lexicon_tags(x, g, TRL_NO_ID, c, tags, logp) >= 1);
    trl_free(tags);
    trl_free(logp);
}

static void test_files(void **state)
{
    (void)state;
    trl_error err;
    trl_rng r = trl_rng_seed(12);
    tree_list l = {0};
    trl_grammar g;
    trl_lexicon x, back;
    trl_container_builder b = {0};
    trl_container *c = NULL;
    unsigned char *bytes = NULL;
    size_t size;
    int refused = 0;
    make_list(&l, 13, 20);
    build(&g, &(trl_annotation){true, true, false, 1}, &l, false);
    fill(&x, &g, &l, 1);
    assert_ok(trl_lexicon_save(&x, "x0", &b, &err));
    assert_ok(trl_container_to_buffer(&b, "test", &bytes, &size, &err));
    assert_ok(trl_container_from_memory(bytes, size, "test", &c, &err));
    assert_ok(trl_lexicon_load(&back, "x0", &g, c, &err));
    assert_same(&x, &back, &g);
    use(&x, &g);
    trl_lexicon_fini(&back);
    assert_int_equal(trl_lexicon_load(&back, "x", &g, c, &err), TRL_EINVAL);
    assert_int_equal(trl_lexicon_load(&back, "x1", &g, c, &err), TRL_EMODEL);
    trl_container_free(c);
    trl_free(bytes);
    for (int turn = 0; turn < 2000; turn++) {
        c = tamper(&b, &r, &bytes);
        const trl_status st = trl_lexicon_load(&back, "x0", &g, c, &err);
        if (st == TRL_OK) {
            use(&back, &g);
            trl_lexicon_fini(&back);
        } else {
            assert_int_equal(st, TRL_EMODEL);
            refused++;
        }
        trl_container_free(c);
        trl_free(bytes);
    }
    assert_true(refused > 500);
    trl_container_builder_fini(&b);
    trl_lexicon_fini(&x);
    trl_grammar_fini(&g);
    free_trees(&l);
}

int main(void)
{
    trl_error err;
    if (trl_head_rules_read(NULL, &heads, &err) != TRL_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_word_classes), cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_sums),         cmocka_unit_test(test_sums_on_a_treebank),
        cmocka_unit_test(test_no_words),     cmocka_unit_test(test_files),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    trl_head_rules_free(heads);
    return failed;
}
