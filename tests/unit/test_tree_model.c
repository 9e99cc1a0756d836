/* Tree models: training to the same bits, files, damaged files. */
/* SPDX-License-Identifier: MIT */
#include "tree_bank.h"

#include "tampered.h"
#include "trellis/buf.h"

/* ---- training -----------------------------------------------------------------------------------
 */

static void train(bank *b, const trl_objective *objective, size_t threads,
                  const trl_sparse_options *o, double *w)
{
    trl_error err;
    trl_tree_task t;
    trl_ending ending;
    trl_pool *pool = trl_pool_new(threads);
    assert_ok(trl_tree_task_init(&t, objective, &b->m.features,
                                 &(trl_task_examples){b->example, b->n}, threads, &err));
    memset(w, 0, t.sparse.n_weights * sizeof *w);
    assert_ok(trl_sparse_train(&t.sparse, o,
                               &(trl_descent){.pool = pool, .x = w, .ending = &ending}, &err));
    trl_tree_task_fini(&t);
    trl_pool_free(pool);
}

/* The best tree of a sentence by the model; log Z. */
static double parse(const trl_tree_model *m, const double *w, const trl_tree *t, trl_btree *best)
{
    trl_error err;
    trl_arena arena = {0};
    trl_skeleton s;
    trl_chart c;
    trl_seen seen;
    trl_tree_gather ga = {0};
    trl_tree_tables tables;
    bool complete;
    void *memory = trl_alloc(trl_seen_size(t->n_words), 1);
    double *shared = trl_alloc64(m->fine.n_binary + m->fine.n_unary + 16, sizeof *shared);
    trl_tree_features f = m->features;
    f.w = w ? w : f.w;
    best->n = 0;
    assert_ok(trl_tree_skeleton(
        m,
        &(trl_pruned_sentence){t->word, t->n_words,
                               &(trl_pruning){.threshold = m->threshold, .filter = true}},
        &s, &complete, &arena, &err));
    if (!complete) {
        trl_free(memory);
        trl_free(shared);
        trl_arena_fini(&arena);
        return -(double)INFINITY;
    }
    assert_ok(trl_chart_init(&c, &m->fine, &s, &arena, &err));
    if (m->grade == TRL_GRADE_GENERATIVE) {
        assert_ok(trl_tree_pcfg_tables(m, t->word, &c, &tables, &arena, &err));
    } else {
        trl_observe(&m->observer, t->word, t->n_words, memory, &seen);
        trl_tree_shared(&f, shared, shared + m->fine.n_binary);
        if (!w)
            memcpy(shared, m->binary_exp, m->fine.n_binary * sizeof *shared);
        assert_ok(trl_tree_gather_scores(
            &ga, &(trl_gather_source){&f, &seen, &c, shared, shared + m->fine.n_binary, false},
            &arena, &err));
        tables = ga.t;
    }
    double z = -(double)INFINITY;
    const trl_status st = trl_chart_inside(&c, &tables, &err);
    if (st == TRL_OK && isfinite(c.log_z)) {
        z = c.log_z;
        assert_ok(trl_chart_best(&c, &tables, &arena, &err));
        assert_ok(trl_chart_tree(&c, best, &err));
    }
    assert_true(st == TRL_OK || st == TRL_ENUMERIC);
    trl_tree_gather_fini(&ga);
    trl_free(memory);
    trl_free(shared);
    trl_arena_fini(&arena);
    return z;
}

static void test_training(void **state)
{
    (void)state;
    static const trl_sparse_options kinds[] = {
        {.adaptive = true, .c2 = 0.01, .eta = 0.3, .batch = 5, .max_iter = 5, .seed = 1},
        {.c2 = 0.01, .eta = 0.05, .batch = 5, .max_iter = 8, .seed = 1},
        {.adaptive = true, .averaged = true, .eta = 0.3, .batch = 1, .max_iter = 5, .seed = 1}};
    bank b;
    bank_open(&b, trl_tree_template_text("features"), (trl_annotation){true, false, true, 1}, false,
              12, 40, 3);
    const size_t n = trl_tree_weights(&b.m.features);
    double *w = trl_alloc(n, sizeof *w);
    for (size_t k = 0; k < 3; k++) {
        const trl_objective *o =
            k == 2 ? objective_of(TRL_OBJ_PERCEPTRON) : objective_of(TRL_OBJ_LIKELIHOOD);
        train(&b, o, 1, &kinds[k], b.w);
        for (size_t threads = 2; threads <= 3; threads++) {
            train(&b, o, threads, &kinds[k], w);
            assert_memory_equal(w, b.w, n * sizeof *w);
        }
        size_t right = 0;
        trl_btree best = {0};
        for (size_t e = 0; e < b.n; e++) {
            const trl_btree *gold = &b.example[e].gold;
            parse(&b.m, b.w, &b.trees.tree[b.tree_of[e]], &best);
            right += best.n == gold->n &&
                     memcmp(best.node, gold->node, gold->n * sizeof *best.node) == 0;
        }
        trl_btree_fini(&best);
        assert_true(right > b.n * 3 / 4); /* it has seen them */
    }
    trl_free(w);
    bank_close(&b);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void save(const bank *b, const char *text, trl_container_builder *out)
{
    trl_error err;
    assert_ok(trl_tree_model_save(&b->m, b->w, (trl_str){text, strlen(text)}, out, &err));
}

/* A loaded model gives the scores of the weights as a file holds them. */
static void check_round_trip(const char *text, trl_grade grade, trl_annotation a)
{
    trl_error err;
    bank b;
    trl_container_builder out = {0}, again = {0};
    trl_container *c = NULL;
    unsigned char *bytes = NULL, *twice = NULL;
    size_t size, size_twice;
    static trl_tree_model back;
    trl_btree t1 = {0}, t2 = {0};
    bank_open(&b, text, a, false, 14, 30, 4);
    b.m.observer.cluster = NULL; /* clusters are not in the file */
    b.m.grade = grade;
    random_weights(&b, 5, 0.3);
    for (size_t k = 0; k < trl_tree_weights(&b.m.features); k += 3)
        b.w[k] *= 1e-5; /* some are too small to be kept */
    save(&b, text, &out);
    assert_ok(trl_container_to_buffer(&out, "tree", &bytes, &size, &err));
    assert_ok(trl_container_from_memory(bytes, size, "tree", &c, &err));
    assert_ok(trl_tree_model_load(&back, c, NULL, &err));
    assert_int_equal(back.grade, grade);
    assert_true(back.threshold == b.m.threshold && back.frequent == b.m.frequent);
    for (size_t k = 0; k < trl_tree_weights(&b.m.features); k++) {
        const bool direct = k < b.m.features.n_direct;
        b.w[k] = direct || fabs(b.w[k]) >= 1e-4 ? (double)(float)b.w[k] : 0.0;
    }
    size_t whole = 0;
    for (size_t k = 0; k < b.trees.n; k += 9) {
        const trl_tree *t = &b.trees.tree[k];
        const double z = parse(&b.m, b.w, t, &t1), z2 = parse(&back, NULL, t, &t2);
        assert_true(z == z2 || fabs(z - z2) < 1e-11);
        assert_int_equal(t1.n, t2.n);
        assert_true(t1.n == 0 || memcmp(t1.node, t2.node, t1.n * sizeof *t1.node) == 0);
        whole += t1.n > 0;
    }
    assert_true(whole > 10);
    trl_tree_model_fini(&back);
    trl_container_free(c);
    /* every byte matters, and every length */
    trl_rng r = trl_rng_seed(8);
    for (int k = 0; k < 200; k++) {
        const size_t at = (size_t)(trl_rng_u64(&r) >> 20) % size;
        bytes[at] ^= (unsigned char)(1u << (k % 8));
        assert_int_equal(trl_container_from_memory(bytes, size, "tree", &c, &err), TRL_EMODEL);
        bytes[at] ^= (unsigned char)(1u << (k % 8));
        assert_int_equal(trl_container_from_memory(bytes, at, "tree", &c, &err), TRL_EMODEL);
    }
    /* the same weights make the same file */
    save(&b, text, &again);
    assert_ok(trl_container_to_buffer(&again, "tree", &twice, &size_twice, &err));
    assert_int_equal(size, size_twice);
    assert_memory_equal(bytes, twice, size);
    trl_free(bytes);
    trl_free(twice);
    trl_container_builder_fini(&out);
    trl_container_builder_fini(&again);
    trl_btree_fini(&t1);
    trl_btree_fini(&t2);
    bank_close(&b);
}

static void test_round_trip(void **state)
{
    (void)state;
    const char *features = trl_tree_template_text("features");
    check_round_trip(features, TRL_GRADE_FEATURES, (trl_annotation){true, false, true, 1});
    check_round_trip(trl_tree_template_text("discriminative"), TRL_GRADE_DISCRIMINATIVE,
                     (trl_annotation){true, true, true, 2});
    check_round_trip("", TRL_GRADE_GENERATIVE, (trl_annotation){true, true, false, 1});
}

/* ---- damaged files -------------------------------------------------------------------------- */

/* A bit flipped, with a checksum that fits: refused, or a model that can parse. */
static void test_tampered(void **state)
{
    (void)state;
    trl_error err;
    bank b;
    trl_rng r = trl_rng_seed(9);
    trl_container_builder out = {0};
    int refused = 0, used = 0;
    const char *text = trl_tree_template_text("features");
    bank_open(&b, text, (trl_annotation){true, false, true, 1}, false, 7, 5, 3);
    random_weights(&b, 6, 0.3);
    save(&b, text, &out);
    for (int turn = 0; turn < 300; turn++) {
        static trl_tree_model back;
        unsigned char *bytes = NULL;
        trl_btree best = {0};
        trl_container *c = tamper(&out, &r, &bytes);
        const trl_status st = trl_tree_model_load(&back, c, NULL, &err);
        if (st == TRL_OK) {
            used++;
            parse(&back, NULL, &b.trees.tree[0], &best);
            trl_tree_model_fini(&back);
        } else {
            assert_int_equal(st, TRL_EMODEL);
            refused++;
        }
        trl_btree_fini(&best);
        trl_container_free(c);
        trl_free(bytes);
    }
    assert_true(refused > 50 && used > 20);
    trl_container_builder_fini(&out);
    bank_close(&b);
}

typedef struct meta { /* as in tree_model_io.c */
    uint32_t version, grade, frequent, scoring;
    double threshold;
} meta;

/* Loads `out` with one section replaced (size SIZE_MAX: left out). */
static trl_status load_with(const trl_container_builder *out, const char *tag, const void *bytes,
                            size_t n, trl_error *err)
{
    trl_container_builder copy = {0};
    trl_container *c = NULL;
    static trl_tree_model back;
    unsigned char *buffer = NULL;
    size_t size;
    for (size_t k = 0; k < out->n; k++) {
        char name[9] = {0};
        memcpy(name, out->section[k].tag, 8);
        const bool this = strcmp(name, tag) == 0;
        if (!this)
            trl_container_builder_add(&copy, name, out->section[k].bytes, out->section[k].size);
        else if (n != SIZE_MAX)
            trl_container_builder_add(&copy, name, bytes, n);
    }
    assert_int_equal(trl_container_to_buffer(&copy, "tree", &buffer, &size, err), TRL_OK);
    assert_int_equal(trl_container_from_memory(buffer, size, "tree", &c, err), TRL_OK);
    const trl_status st = trl_tree_model_load(&back, c, NULL, err);
    if (st == TRL_OK)
        trl_tree_model_fini(&back);
    trl_container_free(c);
    trl_free(buffer);
    trl_container_builder_fini(&copy);
    return st;
}

static void test_refused(void **state)
{
    (void)state;
    trl_error err;
    bank b;
    trl_container_builder out = {0};
    const char *text = trl_tree_template_text("discriminative");
    bank_open(&b, text, (trl_annotation){0}, false, 7, 5, 3);
    random_weights(&b, 6, 0.3);
    save(&b, text, &out);
    meta good = {1, TRL_GRADE_FEATURES, 3, 0, 0.5}, bad;
    assert_int_equal(load_with(&out, "meta", &good, sizeof good, &err), TRL_OK);
    bad = good, bad.version = 2;
    assert_int_equal(load_with(&out, "meta", &bad, sizeof bad, &err), TRL_EMODEL);
    bad = good, bad.grade = 3;
    assert_int_equal(load_with(&out, "meta", &bad, sizeof bad, &err), TRL_EMODEL);
    bad = good, bad.threshold = (double)NAN;
    assert_int_equal(load_with(&out, "meta", &bad, sizeof bad, &err), TRL_EMODEL);
    bad = good, bad.threshold = -1.0;
    assert_int_equal(load_with(&out, "meta", &bad, sizeof bad, &err), TRL_EMODEL);
    for (uint32_t scoring = 0; scoring < 6; scoring++) {
        bad = good, bad.scoring = scoring;
        assert_int_equal(load_with(&out, "meta", &bad, sizeof bad, &err),
                         scoring == TRL_SCORING_OLD || scoring == 5 ? TRL_EMODEL : TRL_OK);
        assert_true(scoring != TRL_SCORING_OLD || strstr(err.msg, "train it again"));
    }
    assert_int_equal(load_with(&out, "meta", &good, sizeof good - 8, &err), TRL_EMODEL);
    assert_int_equal(load_with(&out, "meta", NULL, SIZE_MAX, &err), TRL_EMODEL);
    assert_int_equal(load_with(&out, "template", "nonsense", 8, &err), TRL_EMODEL);
    assert_non_null(strstr(err.msg, "template"));
    assert_int_equal(load_with(&out, "template", NULL, SIZE_MAX, &err), TRL_EMODEL);
    size_t slots = 0, weights = 0;
    const uint64_t *key = NULL;
    const float *weight = NULL;
    for (size_t k = 0; k < out.n; k++) {
        if (memcmp(out.section[k].tag, "keys", 5) == 0) {
            key = out.section[k].bytes;
            slots = out.section[k].size / sizeof *key;
        }
        if (memcmp(out.section[k].tag, "weights", 8) == 0) {
            weight = out.section[k].bytes;
            weights = out.section[k].size / sizeof *weight;
        }
    }
    assert_true(slots > 0 && weights == b.m.features.n_direct + slots);
    uint64_t *keys = trl_alloc(slots, sizeof *keys);
    float *other = trl_alloc(weights, sizeof *other);
    memcpy(other, weight, weights * sizeof *other);
    for (size_t k = 0; k < slots; k++)
        keys[k] = key[k] ? key[k] : 1;
    assert_int_equal(load_with(&out, "keys", keys, slots * sizeof *keys, &err), TRL_EMODEL);
    assert_int_equal(load_with(&out, "keys", key, (slots - 1) * sizeof *keys, &err), TRL_EMODEL);
    assert_int_equal(load_with(&out, "keys", key, 0, &err), TRL_EMODEL);
    assert_int_equal(load_with(&out, "weights", other, (weights - 1) * sizeof *other, &err),
                     TRL_EMODEL);
    other[weights / 2] = NAN;
    assert_int_equal(load_with(&out, "weights", other, weights * sizeof *other, &err), TRL_EMODEL);
    trl_free(keys);
    trl_free(other);
    trl_container_builder_fini(&out);
    bank_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_tampered),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
