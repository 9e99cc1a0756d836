/* test_hmm.c -- hidden Markov models: counts by hand, sums over all sequences, score tables,
 * files. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "hmm_chain.h"
#include "mest/state_graph.h"
#include "num/simd.h"
#include "tiny_q0.h"

static trl_error err;

static const char *const sample = "the D A\ndog N B\nruns V C\n\n"
                                  "the D A\ncat N B\n\n"
                                  "dog N B\n";

static trl_hmm trained(const trl_column_values *columns, int order, bool uniform)
{
    trl_hmm h;
    uint32_t *label = tiny_labels(columns);
    const trl_hmm_options o = {.order = order, .lambda = 1.0, .uniform = uniform};
    const size_t L = columns->values[columns->n_columns - 1].n;
    assert_ok(trl_hmm_train(&h, columns, label, L, &o, &err));
    free(label);
    return h;
}

static double emission(const trl_hmm *h, size_t c, const char *value, size_t y)
{
    const uint32_t v = trl_hmm_value(h, c, (trl_str){value, strlen(value)});
    return h->column[c].p[v * h->L + y];
}

/* Labels A, B, C are 0, 1, 2.  Words seen twice: the, dog.  Tags: D, N (three times). */
static void test_counts(void **state)
{
    (void)state;
    trl_column_values columns;
    tiny_cells(sample, &columns);
    assert_int_equal(columns.n_sequences, 3);
    trl_hmm h = trained(&columns, 2, false);
    enum { A, B, C, STOP = 3, START = 3 };
    assert_near(h.start[A], 2.0 / 3.0, 1e-15);
    assert_near(h.start[B], 1.0 / 3.0, 1e-15);
    assert_near(h.start[C], 0.0, 1e-15);
    assert_near(trl_hmm_next(&h, START, A, B), 1.0, 1e-15);
    assert_near(trl_hmm_next(&h, A, B, C), 0.5, 1e-15);
    assert_near(trl_hmm_next(&h, A, B, STOP), 0.5, 1e-15);
    assert_near(trl_hmm_next(&h, START, B, STOP), 1.0, 1e-15);
    assert_near(trl_hmm_next(&h, B, C, STOP), 1.0, 1e-15);
    assert_near(trl_hmm_next(&h, C, C, STOP), 0.0, 1e-15); /* never seen */
    assert_int_equal(h.column[0].n, 3);                    /* OOV, the, dog */
    assert_int_equal(h.column[1].n, 3);                    /* OOV, D, N */
    /* B: dog (first: OOV), cat (OOV), dog: OOV 2, dog 1, of 3 + 3 */
    assert_near(emission(&h, 0, "dog", B), 2.0 / 6.0, 1e-15);
    assert_near(emission(&h, 0, "cat", B), 3.0 / 6.0, 1e-15);
    assert_near(emission(&h, 0, "the", B), 1.0 / 6.0, 1e-15);
    /* A: the (OOV), the */
    assert_near(emission(&h, 0, "the", A), 2.0 / 5.0, 1e-15);
    assert_near(emission(&h, 0, "zebra", A), 2.0 / 5.0, 1e-15);
    assert_near(emission(&h, 1, "N", B), 3.0 / 6.0, 1e-15);
    trl_hmm_fini(&h);

    h = trained(&columns, 1, false);
    assert_near(trl_hmm_next(&h, START, B, C), 1.0 / 3.0, 1e-15);
    assert_near(trl_hmm_next(&h, START, B, STOP), 2.0 / 3.0, 1e-15);
    trl_hmm_fini(&h);

    h = trained(&columns, 1, true); /* A: B, STOP; B: C, STOP; C: STOP */
    assert_near(h.start[A], 0.5, 1e-15);
    assert_near(h.start[B], 0.5, 1e-15);
    assert_near(trl_hmm_next(&h, START, A, B), 0.5, 1e-15);
    assert_near(trl_hmm_next(&h, START, A, STOP), 0.5, 1e-15);
    assert_near(trl_hmm_next(&h, START, B, C), 0.5, 1e-15);
    assert_near(trl_hmm_next(&h, START, C, STOP), 1.0, 1e-15);
    for (size_t y = 0; y < 3; y++) /* OOV 4 (the, dog, runs, cat), the 1, dog 1, of 6 + 3 */
        assert_near(emission(&h, 0, "dog", y), 2.0 / 9.0, 1e-15);
    trl_hmm_fini(&h);
    trl_column_values_fini(&columns);
}

/* Masking the cells and counting them is the same as counting first occurrences as OOV. */
static void test_masking(void **state)
{
    (void)state;
    trl_column_values columns;
    tiny_cells(sample, &columns);
    trl_hmm raw = trained(&columns, 2, false);
    assert_ok(trl_column_values_mask(&columns, &err));
    assert_ok(trl_column_values_mask(&columns, &err)); /* once is enough */
    trl_str cell[20];
    const trl_rows first = trl_column_values_rows(&columns, 0, cell);
    assert_int_equal(cell[0].n, 5);
    assert_memory_equal(cell[0].p, "<OOV>", 5);
    assert_int_equal(cell[2].n, 1); /* the label */
    assert_int_equal(first.n_tokens, 3);
    trl_column_values_rows(&columns, 1, cell);
    assert_memory_equal(cell[0].p, "the", 3);
    trl_hmm masked = trained(&columns, 2, false);
    for (size_t c = 0; c < 2; c++) {
        assert_int_equal(masked.column[c].n, raw.column[c].n);
        for (size_t v = 0; v < raw.column[c].n; v++) {
            const trl_str s = trl_strview_get(&raw.column[c].values, (uint32_t)v);
            const uint32_t to = trl_hmm_value(&masked, c, s);
            for (size_t y = 0; y < 3; y++)
                assert_near(masked.column[c].p[to * 3 + y], raw.column[c].p[v * 3 + y], 1e-15);
        }
    }
    /* masking rows when tagging */
    const trl_str row[3] = {{"zebra", 5}, {"N", 1}, {"B", 1}};
    const trl_rows seq = {.n_tokens = 1, .n_columns = 3, .cell = row};
    const trl_rows out = trl_hmm_mask_rows(&masked, &seq, cell);
    assert_int_equal(out.cell[0].n, 5);
    assert_memory_equal(out.cell[0].p, "<OOV>", 5);
    assert_memory_equal(out.cell[1].p, "N", 1);
    trl_hmm_fini(&raw);
    trl_hmm_fini(&masked);
    trl_column_values_fini(&columns);
}

/* A random HMM over random cells, L labels. */
static trl_hmm random_hmm(trl_rng *rng, size_t L, int order, double stop, bool acyclic,
                          trl_column_values *columns)
{
    char *text = tiny_text(rng, 12, 4, L);
    tiny_cells(text, columns);
    free(text);
    trl_hmm h = trained(columns, order, false);
    assert_int_equal(h.L, L);
    tiny_randomise(&h, rng, stop, acyclic);
    return h;
}

/* Sum of q over all sequences of exactly n tokens, and the same of a product written out. */
static double total(const trl_hmm *h, size_t n, double *worst)
{
    const size_t L = h->L, V = h->column[0].n, W = h->column[1].n, each = L * V * W;
    double sum = 0.0;
    size_t many = 1;
    for (size_t t = 0; t < n; t++)
        many *= each;
    for (size_t k = 0; k < many; k++) {
        uint32_t y[8], x[16];
        size_t rest = k;
        double p = 1.0;
        for (size_t t = 0; t < n; t++, rest /= each) {
            y[t] = (uint32_t)(rest % L);
            x[2 * t] = (uint32_t)(rest / L % V);
            x[2 * t + 1] = (uint32_t)(rest / L / V % W);
            p *= h->column[0].p[x[2 * t] * L + y[t]] * h->column[1].p[x[2 * t + 1] * L + y[t]];
            const size_t before = t >= 2 ? y[t - 2] : L;
            p *= t == 0 ? h->start[y[0]] : trl_hmm_next(h, before, y[t - 1], y[t]);
        }
        p *= trl_hmm_next(h, n >= 2 ? y[n - 2] : L, y[n - 1], L);
        const double q = exp(trl_hmm_log_p(h, n, y, x));
        *worst = fabs(p - q) > *worst ? fabs(p - q) : *worst;
        sum += q;
    }
    return sum;
}

static void test_sums_to_one(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(2);
    for (int order = 1; order <= 2; order++) {
        trl_column_values columns;
        double sum = 0.0, worst = 0.0;
        trl_hmm h = random_hmm(&rng, 3, order, 0.3, true, &columns); /* ends after 3 tokens */
        for (size_t n = 1; n <= 3; n++)
            sum += total(&h, n, &worst);
        assert_near(sum, 1.0, 1e-12);
        assert_true(worst < 1e-15);
        trl_hmm_fini(&h);
        trl_column_values_fini(&columns);

        h = random_hmm(&rng, 2, order, 0.8, false, &columns); /* longer than 3: at most 0.2^3 */
        sum = 0.0;
        for (size_t n = 1; n <= 3; n++)
            sum += total(&h, n, &worst);
        assert_true(sum < 1.0 && sum > 1.0 - 0.2 * 0.2 * 0.2 - 1e-12);
        trl_hmm_fini(&h);
        trl_column_values_fini(&columns);
    }
}

/* Score tables in a chain: every labelling's score, log Z, the best. */
static void check_tables(trl_rng *rng, const trl_hmm *h, size_t n)
{
    trl_arena arena = {0};
    trl_chain chain;
    trl_tables t = {.n = n};
    uint32_t x[16], y[8], best[8], found[8];
    for (size_t k = 0; k < 2 * n; k++)
        x[k] = (uint32_t)trl_rng_below(rng, h->column[k % 2].n);
    assert_ok(hmm_chain(h, -HUGE_VAL, &chain, &err));
    assert_true(trl_hmm_need_rows(h, &arena, &t));
    trl_hmm_add_rows(h, -HUGE_VAL, x, &t);
    size_t many = 1;
    for (size_t k = 0; k < n; k++)
        many *= h->L;
    double top = -HUGE_VAL, sum = 0.0, score;
    for (size_t k = 0; k < many; k++) {
        size_t rest = k;
        for (size_t i = 0; i < n; i++, rest /= h->L)
            y[i] = (uint32_t)(rest % h->L);
        const double q = trl_hmm_log_p(h, n, y, x), s = trl_chain_score(&chain, &t, y);
        if (q == -HUGE_VAL)
            assert_true(s == -HUGE_VAL);
        else
            assert_near(s, q, 1e-13);
        sum += exp(q);
        if (q > top) {
            top = q;
            memcpy(best, y, sizeof y);
        }
    }
    if (top > -HUGE_VAL) {
        trl_chain_marginals m;
        assert_ok(trl_chain_viterbi(&chain, &t, &arena, found, &score, &err));
        assert_near(score, top, 1e-13);
        assert_memory_equal(found, best, n * sizeof *best);
        assert_ok(trl_chain_infer(
            &chain, &(trl_chain_ask){.s = &t, .arena = &arena, .want = 0, .weight = 1.0}, &m, NULL,
            &err));
        assert_near(m.log_z, log(sum), 1e-12);
    } else {
        assert_int_equal(trl_chain_viterbi(&chain, &t, &arena, found, &score, &err), TRL_ENUMERIC);
    }
    trl_chain_fini(&chain);

    /* with the floor every input has a labelling, and the same one where there was one */
    trl_tables u = {.n = n};
    assert_ok(hmm_chain(h, TRL_HMM_FLOOR, &chain, &err));
    assert_true(trl_hmm_need_rows(h, &arena, &u));
    trl_hmm_add_rows(h, TRL_HMM_FLOOR, x, &u);
    assert_ok(trl_chain_viterbi(&chain, &u, &arena, found, &score, &err));
    if (top > -HUGE_VAL)
        assert_memory_equal(found, best, n * sizeof *best);
    trl_chain_fini(&chain);
    trl_arena_fini(&arena);
}

static void test_tables(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    for (int k = 0; k < 40; k++) {
        trl_column_values columns;
        trl_hmm h = random_hmm(&rng, 2 + (size_t)k % 3, 1 + k / 3 % 2, 0.3, k % 5 == 0, &columns);
        for (size_t n = 1; n <= 4; n++)
            check_tables(&rng, &h, n);
        trl_hmm_fini(&h);
        trl_column_values_fini(&columns);
    }
}

/* Adding to tables that hold something, in a chain of higher order than the HMM's. */
static void test_add(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(4);
    for (int order = 1; order <= 2; order++) {
        trl_column_values columns;
        trl_hmm h = random_hmm(&rng, 3, order, 0.3, false, &columns);
        const size_t n = 4, width[TRL_FAMILIES] = {3, 9, 27};
        const uint32_t y[4] = {2, 0, 1, 1};
        uint32_t x[8];
        for (size_t k = 0; k < 8; k++)
            x[k] = (uint32_t)trl_rng_below(&rng, h.column[k % 2].n);
        trl_tables t = {.n = n};
        double want = trl_hmm_log_p(&h, n, y, x);
        for (size_t f = 0; f < TRL_FAMILIES; f++) {
            t.step[f] = trl_padded(width[f]);
            t.row[f] = calloc(n * t.step[f], sizeof(double));
            t.shared[f] = calloc(width[f], sizeof(double));
            assert_true(t.row[f] && t.shared[f]);
            for (size_t i = 0; i < n * t.step[f]; i++)
                t.row[f][i] = 0.25;
            for (size_t i = 0; f > 0 && i < width[f]; i++)
                t.shared[f][i] = 2.0;
            want += (double)(n - f) * (0.25 + (f > 0 ? 2.0 : 0.0));
        }
        trl_hmm_add_shared(&h, -HUGE_VAL, t.shared);
        trl_hmm_add_rows(&h, -HUGE_VAL, x, &t);
        trl_chain chain;
        assert_ok(trl_chain_init(&chain, 3, 2, &err));
        assert_ok(trl_chain_prepare(&chain, &t, &err));
        const double got = trl_chain_score(&chain, &t, y);
        if (want == -HUGE_VAL)
            assert_true(got == want);
        else
            assert_near(got, want, 1e-13);
        for (size_t f = 0; f < TRL_FAMILIES; f++) {
            free(t.row[f]);
            free(t.shared[f]);
        }
        trl_chain_fini(&chain);
        trl_hmm_fini(&h);
        trl_column_values_fini(&columns);
    }
}

/* Expected visits and endings against the sums over powers of T. */
static void test_path_sums(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(5);
    for (int k = 0; k < 20; k++) {
        trl_column_values columns;
        trl_hmm h = random_hmm(&rng, 2 + (size_t)k % 4, 1 + k % 2, 0.3, false, &columns);
        trl_state_graph g;
        assert_ok(trl_state_graph_init(&g, &h, &err));
        double visits[64], now[64], next[64], length = 0.0, mean = 0.0;
        memcpy(now, g.start, g.n * sizeof *now);
        memcpy(visits, now, g.n * sizeof *now);
        for (int n = 1; n < 200; n++) { /* 0.7^200 is below rounding */
            for (size_t s = 0; s < g.n; s++)
                mean += n * now[s] * g.stop[s];
            trl_state_graph_forward(&g, now, next);
            memcpy(now, next, g.n * sizeof *now);
            for (size_t s = 0; s < g.n; s++)
                visits[s] += now[s];
        }
        for (size_t s = 0; s < g.n; s++) {
            assert_near(g.visits[s], visits[s], 1e-12);
            assert_near(g.ends[s], 1.0, 1e-12);
            length += g.visits[s];
        }
        assert_near(length, mean, 1e-12); /* visits add up to the mean length */
        trl_state_graph_fini(&g);
        trl_hmm_fini(&h);
        trl_column_values_fini(&columns);
    }
}

static void test_endless(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(6);
    trl_column_values columns;
    trl_hmm h = random_hmm(&rng, 2, 1, 0.0, false, &columns);
    trl_state_graph g;
    assert_int_equal(trl_state_graph_init(&g, &h, &err), TRL_ENUMERIC);
    trl_hmm_fini(&h);
    trl_column_values_fini(&columns);
}

static void test_files(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(7);
    for (int order = 1; order <= 2; order++) {
        trl_column_values columns;
        trl_hmm h = random_hmm(&rng, 3, order, 0.3, false, &columns), back;
        trl_container_builder b = {0};
        trl_container *c = NULL;
        unsigned char *bytes = NULL;
        size_t size = 0;
        assert_int_equal(trl_hmm_save(&h, "long", &b, &err), TRL_EINVAL);
        assert_ok(trl_hmm_save(&h, "q0", &b, &err));
        assert_ok(trl_container_to_buffer(&b, "test", &bytes, &size, &err));
        assert_ok(trl_container_from_memory(bytes, size, NULL, &c, &err));
        assert_true(trl_hmm_in_container(c, "q0"));
        assert_false(trl_hmm_in_container(c, "q1"));
        assert_int_equal(trl_hmm_load(&back, c, "q1", &err), TRL_EMODEL);
        assert_ok(trl_hmm_load(&back, c, "q0", &err));
        assert_int_equal(back.order, order);
        uint32_t *x = NULL, *z = NULL, *y = tiny_labels(&columns);
        assert_ok(trl_hmm_number(&h, &columns, &x, &err));
        assert_ok(trl_hmm_number(&back, &columns, &z, &err));
        for (size_t s = 0; s < columns.n_sequences; s++) {
            const size_t from = (size_t)columns.first[s], n = (size_t)columns.first[s + 1] - from;
            const double want = trl_hmm_log_p(&h, n, y + from, x + 2 * from);
            const double got = trl_hmm_log_p(&back, n, y + from, z + 2 * from);
            assert_true(want == got); /* the same bits */
        }
        trl_free(x);
        trl_free(z);
        free(y);
        trl_hmm_fini(&back);
        trl_container_free(c);
        trl_free(bytes);

        h.owned[0] += 0.5; /* no distribution any more */
        assert_ok(trl_container_to_buffer(&b, "test", &bytes, &size, &err));
        assert_ok(trl_container_from_memory(bytes, size, NULL, &c, &err));
        assert_int_equal(trl_hmm_load(&back, c, "q0", &err), TRL_EMODEL);
        trl_container_free(c);
        trl_free(bytes);
        trl_container_builder_fini(&b);
        trl_hmm_fini(&h);
        trl_column_values_fini(&columns);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    trl_column_values columns;
    trl_hmm h;
    tiny_cells(sample, &columns);
    const uint32_t label[6] = {0, 1, 2, 0, 1, 1};
    const size_t column = 7;
    trl_hmm_options o = {.order = 3, .lambda = 1.0};
    assert_int_equal(trl_hmm_train(&h, &columns, label, 3, &o, &err), TRL_EINVAL);
    o = (trl_hmm_options){.order = 1, .lambda = 0.0};
    assert_int_equal(trl_hmm_train(&h, &columns, label, 3, &o, &err), TRL_EINVAL);
    o = (trl_hmm_options){.order = 1, .lambda = 1.0, .column = &column, .n_columns = 1};
    assert_int_equal(trl_hmm_train(&h, &columns, label, 3, &o, &err), TRL_EINVAL);
    const trl_column_values none = {0};
    o = (trl_hmm_options){.order = 1, .lambda = 1.0};
    assert_int_equal(trl_hmm_train(&h, &none, label, 3, &o, &err), TRL_EINVAL);
    assert_ok(trl_hmm_train(&h, &columns, label, 3, &o, &err));
    const trl_str cell[1] = {{"a", 1}};
    const trl_rows narrow = {.n_tokens = 1, .n_columns = 1, .cell = cell};
    uint32_t value[2];
    assert_int_equal(trl_hmm_number_rows(&h, &narrow, value, &err), TRL_EPARSE);
    trl_hmm_fini(&h);
    trl_column_values_fini(&columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),      cmocka_unit_test(test_masking),
        cmocka_unit_test(test_sums_to_one), cmocka_unit_test(test_tables),
        cmocka_unit_test(test_add),         cmocka_unit_test(test_path_sums),
        cmocka_unit_test(test_endless),     cmocka_unit_test(test_files),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
