/* test_tag_kernel.c -- looking up names: each is found with its own weight, and nothing else is. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/model.h"
#include "trellis/tagger.h"

static trl_error err;

/* Names of every length that differ in one byte. */
static void test_similar_names(void **state)
{
    (void)state;
    static const char base[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
    trl_rng rng = trl_rng_seed(9);
    trl_strtab known = {0};
    trl_buf text = {0};
    trl_buf_str(&text, "trellis-model\t1\nkind\tchain\nobjective\tx\nprobability\tno\norder\t1\n"
                       "columns\t0\nlabel\tA\nlabel\tB\n");
    char name[sizeof base];
    for (int i = 0; i < 4000; i++) {
        const size_t n = 1 + trl_rng_below(&rng, 44), before = known.n;
        memcpy(name, base, n);
        name[trl_rng_below(&rng, n)] = (char)('A' + trl_rng_below(&rng, 26));
        if (trl_strtab_add(&known, name, n) == before)
            trl_buf_fmt(&text, "node\t%.*s\tA\t%zu\n", (int)n, name, known.n);
    }
    unsigned char *bytes = NULL;
    size_t size;
    trl_model *m = NULL;
    trl_tagger *t = NULL;
    assert_ok(trl_model_undump_memory("d", text.data, text.len, &bytes, &size, &err));
    assert_ok(trl_model_from_memory(bytes, size, &m, &err));
    assert_ok(trl_tagger_new(m, &t, &err));
    uint64_t unknown = 0;
    for (int i = 0; i < 60000; i++) {
        const size_t n = 1 + trl_rng_below(&rng, 44);
        const size_t begin[] = {0, 1};
        const uint32_t label = 0;
        double score;
        memcpy(name, base, n);
        name[trl_rng_below(&rng, n)] = (char)('0' + trl_rng_below(&rng, 43)); /* to 'Z' */
        const uint32_t id = trl_strtab_find(&known, name, n);
        const trl_attr attr = {{name, n}, 1.0};
        const trl_items seq = {.n_tokens = 1, .begin = begin, .attr = &attr};
        assert_ok(trl_tagger_set_items(t, &seq, &err));
        assert_ok(trl_tagger_score(t, &label, &score, &err));
        assert_true(score == (id == TRL_NO_ID ? 0.0 : (double)id + 1.0));
        unknown += id == TRL_NO_ID;
        assert_int_equal(trl_tagger_unknown(t), unknown);
    }
    trl_tagger_free(t);
    trl_model_free(m);
    trl_free(bytes);
    trl_buf_fini(&text);
    trl_strtab_fini(&known);
}

/* A table of one long name: now and then a part of it has its tag. */
static void test_parts_of_a_name(void **state)
{
    (void)state;
    char name[3001];
    trl_buf text = {0};
    unsigned char *bytes = NULL;
    size_t size;
    trl_model *m = NULL;
    trl_tagger *t = NULL;
    memset(name, 'x', sizeof name);
    trl_buf_fmt(&text,
                "trellis-model\t1\nkind\tchain\nobjective\tx\nprobability\tno\norder\t1\n"
                "columns\t0\nlabel\tA\nnode\t%.3000s\tA\t1\n",
                name);
    assert_ok(trl_model_undump_memory("d", text.data, text.len, &bytes, &size, &err));
    assert_ok(trl_model_from_memory(bytes, size, &m, &err));
    assert_ok(trl_tagger_new(m, &t, &err));
    for (size_t n = 0; n <= 3001; n++) {
        const size_t begin[] = {0, 1};
        const uint32_t label = 0;
        double score;
        const trl_attr attr = {{name, n}, 1.0};
        const trl_items seq = {.n_tokens = 1, .begin = begin, .attr = &attr};
        assert_ok(trl_tagger_set_items(t, &seq, &err));
        assert_ok(trl_tagger_score(t, &label, &score, &err));
        assert_true(score == (n == 3000 ? 1.0 : 0.0));
    }
    trl_tagger_free(t);
    trl_model_free(m);
    trl_free(bytes);
    trl_buf_fini(&text);
}

/* Doubles are added as the tool that trained them does, one after the other and every product
 * rounded: whole rows, rows with many weights and with few, values of 1 and others, few and more
 * than 256 labels. */
static void exact_sums(size_t n_labels, trl_rng *rng)
{
    enum { N_ATTRS = 60, N_ITEMS = 400 };
    double *weight = trl_zalloc(N_ATTRS * n_labels, sizeof *weight), *sum = NULL;
    trl_buf text = {0};
    trl_buf_str(&text, "trellis-model\t1\nkind\tchain\nobjective\tx\nprobability\tno\n"
                       "weights\tdouble\norder\t1\ncolumns\t0\n");
    for (size_t y = 0; y < n_labels; y++)
        trl_buf_fmt(&text, "label\tL%zu\n", y);
    for (size_t a = 0; a < N_ATTRS; a++)
        for (size_t y = 0; y < n_labels; y++)
            if (trl_rng_below(rng, 20) <= a % 21 || y == a % n_labels) {
                const double w = (trl_rng_unit(rng) - 0.5) * (a % 7 ? 1.0 : 1e9);
                weight[a * n_labels + y] = w;
                trl_buf_fmt(&text, "node\ta%zu\tL%zu\t%.17g\n", a, y, w);
            }
    unsigned char *bytes = NULL;
    size_t size;
    trl_model *m = NULL;
    trl_tagger *t = NULL;
    assert_ok(trl_model_undump_memory("d", text.data, text.len, &bytes, &size, &err));
    assert_ok(trl_model_from_memory(bytes, size, &m, &err));
    assert_ok(trl_tagger_new(m, &t, &err));
    char name[N_ITEMS][8];
    trl_attr attr[N_ITEMS];
    sum = trl_zalloc(n_labels, sizeof *sum);
    assert_true(weight && sum);
    for (size_t i = 0; i < N_ITEMS; i++) {
        const size_t a = trl_rng_below(rng, N_ATTRS);
        const int n = snprintf(name[i], sizeof name[i], "a%zu", a);
        attr[i] = (trl_attr){{name[i], (size_t)n}, i % 3 ? 1.0 : trl_rng_unit(rng)};
        for (size_t y = 0; y < n_labels; y++) {
            const volatile double product = attr[i].value * weight[a * n_labels + y];
            sum[y] += product;
        }
    }
    const size_t begin[] = {0, N_ITEMS};
    const trl_items seq = {.n_tokens = 1, .begin = begin, .attr = attr};
    assert_ok(trl_tagger_set_items(t, &seq, &err));
    for (uint32_t y = 0; y < n_labels; y++) {
        double score;
        assert_ok(trl_tagger_score(t, &y, &score, &err));
        assert_true(score == sum[y]);
    }
    trl_tagger_free(t);
    trl_model_free(m);
    trl_free(bytes);
    trl_free(weight);
    trl_free(sum);
    trl_buf_fini(&text);
}

static void test_exact_sums(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(31);
    static const size_t n_labels[] = {1, 3, 8, 22, 45, 300};
    for (size_t k = 0; k < sizeof n_labels / sizeof *n_labels; k++)
        exact_sums(n_labels[k], &rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_similar_names),
        cmocka_unit_test(test_parts_of_a_name),
        cmocka_unit_test(test_exact_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
