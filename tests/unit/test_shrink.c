/* test_shrink.c -- shrunk models: scores by a plain sum over weights, weights near those that they
 * stand for, and what is refused. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/buf.h"
#include "chain/tag_kernel.h"
#include "tampered.h"
#include "toy_model.h"
#include "trellis/calibrate.h"
#include "trellis/shrink.h"
#include "trellis/tagger.h"

static trl_error err;

/* ---- random models --------------------------------------------------------------------------- */

static toy_shape some_shape(trl_rng *rng)
{
    toy_shape h = toy_random_shape(rng, 8);
    if (trl_rng_below(rng, 2)) { /* enough weights for 8 bits */
        h.L = 6;
        h.A = 90;
        h.n_sequences = 60;
        h.all_pairs = true;
    }
    return h;
}

#define SIZED .size = sizeof(trl_shrink_options)

static trl_shrink_options some_options(trl_rng *rng)
{
    static const int bits[] = {0, 32, 16, 8};
    trl_shrink_options o = {SIZED, .bits = bits[trl_rng_below(rng, 4)],
                            .fingerprints = trl_rng_below(rng, 2)};
    const size_t how = trl_rng_below(rng, 3);
    if (how == 1)
        o.prune = trl_rng_unit(rng);
    else if (how == 2)
        o.keep = trl_rng_unit(rng);
    return o;
}

static trl_model *shrunk(const trl_model *m, const trl_shrink_options *o, trl_buf *bytes,
                         trl_shrink_report *report)
{
    trl_model *small = NULL;
    assert_ok(trl_model_shrink(m, o, bytes, report, &err));
    assert_int_equal(report->bytes, bytes->len);
    assert_ok(trl_model_from_memory(bytes->data, bytes->len, &small, &err));
    return small;
}

static size_t width_of(const trl_model *m, trl_scope scope)
{
    const size_t L = trl_model_get_info(m).n_labels;
    return scope == TRL_SCOPE_LABEL ? L : scope == TRL_SCOPE_PAIR ? L * L : L * L * L;
}

/* The weights of the attribute with that name, all 0 where there is none. */
static void weights_of(const trl_model *m, trl_scope scope, trl_str name, double *w)
{
    const uint32_t a = trl_model_find_attribute(m, scope, name);
    memset(w, 0, width_of(m, scope) * sizeof *w);
    if (a != UINT32_MAX)
        assert_ok(trl_model_weights(m, scope, a, w, &err));
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* What position t adds: the attributes that the whole model has there, by the small one's weights.
 */
static double plain_position(const trl_model *small, const trl_contribution *on, size_t n,
                             const uint32_t *y, size_t t)
{
    const size_t L = trl_model_get_info(small).n_labels;
    double sum = 0.0, *w = toy_alloc(L * L * L, sizeof *w);
    for (size_t i = 0; i < n; i++) {
        size_t cell = 0;
        for (size_t k = (size_t)on[i].scope + 1; k-- > 0;)
            cell = cell * L + y[t - k];
        weights_of(small, on[i].scope, on[i].name, w);
        sum += on[i].value * w[cell];
    }
    free(w);
    return sum;
}

static void check_sequence(const toy *y, size_t s, trl_tagger *whole, trl_tagger *t,
                           const trl_model *small, trl_rng *rng)
{
    const size_t n = y->tpl ? y->rows[s].n_tokens : y->items[s].n_tokens;
    uint32_t labels[16];
    double want = 0.0, score;
    for (size_t i = 0; i < n; i++)
        labels[i] = (uint32_t)trl_rng_below(rng, trl_model_get_info(small).n_labels);
    for (size_t i = 0; i < n; i++) {
        const trl_contribution *on;
        size_t n_on;
        assert_ok(y->tpl ? trl_tagger_explain_rows(whole, &y->rows[s], i, &on, &n_on, &err)
                         : trl_tagger_explain_items(whole, &y->items[s], i, &on, &n_on, &err));
        want += plain_position(small, on, n_on, labels, i);
    }
    assert_ok(y->tpl ? trl_tagger_set_rows(t, &y->rows[s], &err)
                     : trl_tagger_set_items(t, &y->items[s], &err));
    assert_ok(trl_tagger_score(t, labels, &score, &err));
    assert_near(score, want, 1e-12);
}

static void test_scores(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(15);
    for (int i = 0; i < 200; i++) {
        toy y;
        toy_make(&rng, some_shape(&rng), &y);
        const trl_shrink_options o = some_options(&rng);
        trl_buf bytes = {0};
        trl_shrink_report r;
        trl_model *small = shrunk(y.m, &o, &bytes, &r);
        trl_tagger *whole = NULL, *t = NULL;
        assert_ok(trl_tagger_new(y.m, &whole, &err));
        assert_ok(trl_tagger_new(small, &t, &err));
        for (size_t s = 0; s < y.shape.n_sequences; s++)
            check_sequence(&y, s, whole, t, small, &rng);
        trl_tagger_free(whole);
        trl_tagger_free(t);
        trl_model_free(small);
        trl_buf_fini(&bytes);
        toy_free(&y);
    }
}

/* ---- weights --------------------------------------------------------------------------------- */

/* How far a weight may be from what it stands for, where the largest is `most`. */
static double tolerance(int bits, double most)
{
    /* 1 - (126 / 127)^1.5 = 0.0118 is the widest gap */
    return bits == 16 ? most / 65534 * 1.01 : bits == 8 ? most * 0.0062 : 0.0;
}

/* Counts the weights of a scope; checks them against those of the whole model. */
static uint64_t check_scope(const trl_model *m, const trl_model *small, trl_scope scope,
                            const trl_shrink_options *o, double threshold)
{
    const size_t width = width_of(m, scope);
    double *a = toy_alloc(width, sizeof *a), *b = toy_alloc(width, sizeof *b), most = 0.0;
    uint64_t n = 0;
    for (size_t k = 0; k < trl_model_n_attributes(m, scope); k++) {
        assert_ok(trl_model_weights(m, scope, (uint32_t)k, a, &err));
        for (size_t c = 0; c < width; c++)
            most = fabs(a[c]) > most ? fabs(a[c]) : most;
    }
    for (size_t k = 0; k < trl_model_n_attributes(m, scope); k++) {
        const bool constant = k == trl_model_transitions(m, scope);
        assert_ok(trl_model_weights(m, scope, (uint32_t)k, a, &err));
        weights_of(small, scope, trl_model_attribute(m, scope, k), b);
        for (size_t c = 0; c < width; c++) {
            const bool kept = a[c] != 0.0 && (constant || fabs(a[c]) >= threshold);
            if (fabs(b[c] - (kept ? a[c] : 0.0)) > (kept ? tolerance(o->bits, most) : 0.0))
                fail_msg("%g became %g", a[c], b[c]);
            n += kept;
        }
    }
    free(a);
    free(b);
    return n;
}

static void test_weights(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(16);
    for (int i = 0; i < 300; i++) {
        toy y;
        toy_make(&rng, some_shape(&rng), &y);
        const trl_shrink_options o = some_options(&rng);
        trl_buf bytes = {0};
        trl_shrink_report r;
        trl_model *small = shrunk(y.m, &o, &bytes, &r);
        const trl_model_info info = trl_model_get_info(small);
        uint64_t n = 0;
        for (int scope = 0; scope <= y.shape.order; scope++)
            n += check_scope(y.m, small, (trl_scope)scope, &o, r.threshold);
        assert_int_equal(n, info.n_features);
        assert_int_equal(r.weights, info.n_features);
        assert_int_equal(r.attributes, info.n_attributes);
        if (o.prune > 0.0)
            assert_true(r.threshold == o.prune);
        if (o.keep > 0.0) /* the share, plain transitions beside it */
            assert_true((double)n >= o.keep * (double)trl_model_get_info(y.m).n_features * 0.999);
        trl_model_free(small);
        trl_buf_fini(&bytes);
        toy_free(&y);
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* A row of `k` weights in a family of that width, against a plain loop. */
static void check_row(trl_rng *rng, size_t width, size_t k, bool codes)
{
    enum { FULL = 2 }; /* rows of all cells before it */
    const size_t n_full = FULL * width, n = n_full + k;
    int16_t *multiple = toy_alloc(n, sizeof *multiple);
    uint8_t *code = toy_alloc(n, 1);
    float value[256];
    const size_t size = width <= 256 ? 1 : width <= 65536 ? 2 : 4;
    unsigned char *cell = toy_alloc(k, 4);
    double *out = toy_alloc(width, sizeof *out), *want = toy_alloc(width, sizeof *want);
    for (size_t i = 0; i < 256; i++)
        value[i] = (float)(trl_rng_unit(rng) - 0.5);
    for (size_t i = 0; i < n; i++) {
        multiple[i] = (int16_t)((int)trl_rng_below(rng, 65535) - 32767);
        code[i] = (uint8_t)trl_rng_below(rng, 256);
    }
    const trl_model_family f = {.width = width,
                                .type = codes ? TRL_WEIGHT_8 : TRL_WEIGHT_16,
                                .multiple = codes ? NULL : multiple,
                                .unit = 1e-3f,
                                .code = codes ? code : NULL,
                                .value = value,
                                .n_full = n_full,
                                .cell_size = size,
                                .cell = cell};
    const bool full = trl_rng_below(rng, 3) == 0;
    const trl_tag_key key = {
        .value = 1.5, .first = full ? width : n_full, .k = (uint32_t)(full ? width : k)};
    for (size_t i = 0; i < k; i++) {
        const uint32_t c = (uint32_t)trl_rng_below(rng, width);
        memcpy(cell + i * size, &c, size); /* little-endian */
    }
    for (size_t i = 0; i < key.k; i++) {
        const trl_weight_row row = {key.first, key.k};
        want[trl_model_cell(&f, row, key.first + i)] +=
            1.5 * (codes ? (double)value[code[key.first + i]]
                         : (double)((float)multiple[key.first + i] * 1e-3f));
    }
    trl_tag_add_small(&f, &key, out);
    for (size_t c = 0; c < width; c++)
        assert_near(out[c], want[c], 1e-14);
    free(multiple);
    free(code);
    free(cell);
    free(out);
    free(want);
}

static void test_kernel(void **state)
{
    (void)state;
    static const size_t widths[] = {2, 22, 256, 257, 400, 65536, 70000};
    trl_rng rng = trl_rng_seed(17);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (int i = 0; i < 20; i++)
            check_row(&rng, widths[w], 1 + trl_rng_below(&rng, widths[w] - 1), i % 2);
}

/* ---- fingerprints ---------------------------------------------------------------------------- */

/* Every name is found with its own weight; others are not known. */
static void test_fingerprints(void **state)
{
    (void)state;
    enum { KNOWN = 5000, OTHERS = 50000 };
    trl_buf text = {0}, bytes = {0};
    unsigned char *whole = NULL;
    size_t size;
    trl_model *m = NULL;
    trl_tagger *t = NULL;
    trl_shrink_report r;
    char name[32];
    trl_buf_str(&text, "trellis-model\t1\nkind\tchain\nobjective\tx\nprobability\tno\norder\t1\n"
                       "columns\t0\nlabel\tA\nlabel\tB\n");
    for (int i = 0; i < KNOWN; i++)
        trl_buf_fmt(&text, "node\tname-%d\tA\t%d\n", i, i + 1);
    assert_ok(trl_model_undump_memory("d", text.data, text.len, &whole, &size, &err));
    assert_ok(trl_model_from_memory(whole, size, &m, &err));
    trl_model *small = shrunk(m, &(trl_shrink_options){SIZED, .fingerprints = true}, &bytes, &r);
    assert_ok(trl_tagger_new(small, &t, &err));
    for (int i = 0; i < OTHERS; i++) {
        const size_t begin[] = {0, 1};
        const uint32_t label = 0;
        double score;
        const int n = snprintf(name, sizeof name, "name-%d", i);
        const trl_attr attr = {{name, (size_t)n}, 1.0};
        const trl_items seq = {.n_tokens = 1, .begin = begin, .attr = &attr};
        assert_ok(trl_tagger_set_items(t, &seq, &err));
        assert_ok(trl_tagger_score(t, &label, &score, &err));
        assert_true(score == (i < KNOWN ? i + 1.0 : 0.0));
        const uint32_t id = trl_model_find_attribute(small, TRL_SCOPE_LABEL, attr.name);
        assert_int_equal(id != UINT32_MAX, i < KNOWN);
    }
    assert_int_equal(trl_tagger_unknown(t), OTHERS - KNOWN);
    trl_tagger_free(t);
    trl_model_free(small);
    trl_model_free(m);
    trl_free(whole);
    trl_buf_fini(&text);
    trl_buf_fini(&bytes);
}

/* ---- what is refused, and the format --------------------------------------------------------- */

static trl_status drop(void *ctx, const char *text, size_t n, trl_error *e)
{
    (void)ctx;
    (void)text;
    (void)n;
    (void)e;
    return TRL_OK;
}

static uint32_t version_of(const trl_buf *bytes)
{
    uint32_t v;
    memcpy(&v, bytes->data + 8, sizeof v);
    return v;
}

static void test_refused(void **state)
{
    (void)state;
    static const trl_shrink_options bad[] = {
        {SIZED, .prune = -1.0}, {SIZED, .prune = HUGE_VAL}, {SIZED, .prune = NAN},
        {SIZED, .keep = 1.5},   {SIZED, .keep = -0.5},      {SIZED, .prune = 0.1, .keep = 0.5},
        {SIZED, .bits = 4},     {SIZED, .bits = -8},        {SIZED, .keep = NAN}};
    trl_rng rng = trl_rng_seed(18);
    toy y;
    trl_buf bytes = {0}, again = {0};
    trl_shrink_report r;
    toy_make(&rng, (toy_shape){.L = 3, .A = 9, .n_sequences = 5, .max_T = 5, .order = 1}, &y);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(trl_model_shrink(y.m, &bad[k], &bytes, &r, &err), TRL_EINVAL);
        assert_true(err.msg[0] && bytes.len == 0);
    }
    assert_int_equal(trl_model_shrink(NULL, bad, &bytes, &r, &err), TRL_EINVAL);
    trl_model *small = shrunk(y.m, &(trl_shrink_options){SIZED, .fingerprints = true}, &bytes, &r);
    assert_int_equal(trl_model_dump(small, drop, NULL, &err), TRL_EINVAL);
    assert_true(strstr(err.msg, "fingerprints") && err.hint[0]);
    assert_int_equal(trl_model_dump_top(small, 3, drop, NULL, &err), TRL_EINVAL);
    assert_int_equal(
        trl_model_shrink(small, &(trl_shrink_options){SIZED, .bits = 8}, &again, &r, &err),
        TRL_EINVAL);
    assert_int_equal(trl_model_attribute(small, TRL_SCOPE_LABEL, 0).n, 0);
    assert_int_equal(version_of(&bytes), 2);
    assert_ok(trl_model_set_temperature(small, 2.0, &again, &err));
    assert_int_equal(version_of(&again), 2);
    trl_model_free(small);
    small = shrunk(y.m, &(trl_shrink_options){SIZED, .keep = 0.5}, &again, &r);
    assert_int_equal(version_of(&again), 1); /* an older library can read it */
    trl_model_free(small);
    trl_buf_fini(&bytes);
    trl_buf_fini(&again);
    toy_free(&y);
}

/* A wrong bit is found, or does no harm. */
static void test_damaged(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(19);
    toy y;
    trl_buf bytes = {0};
    trl_shrink_report r;
    size_t refused = 0, loaded = 0;
    toy_make(
        &rng,
        (toy_shape){.L = 6, .A = 90, .n_sequences = 60, .max_T = 8, .order = 1, .all_pairs = true},
        &y);
    for (int bits = 8; bits <= 16; bits += 8) {
        trl_container *c = NULL;
        trl_container_builder b = {0};
        assert_ok(trl_model_shrink(y.m,
                                   &(trl_shrink_options){SIZED, .bits = bits, .fingerprints = true},
                                   &bytes, &r, &err));
        assert_ok(trl_container_from_memory(bytes.data, bytes.len, NULL, &c, &err));
        trl_container_builder_copy(&b, c, (const char *const[]){NULL});
        for (int i = 0; i < 2000; i++) {
            unsigned char *copy = NULL;
            trl_chain_model m;
            trl_container *other = tamper(&b, &rng, &copy);
            const trl_status st = trl_chain_model_load(&m, other, &err);
            if (st == TRL_OK) {
                const trl_model_family *f = &m.family[TRL_NODE];
                for (size_t k = 0; k < 90; k++) {
                    const uint32_t id = trl_family_find(f, toy_name('a', k));
                    assert_true(id == TRL_NO_ID || id < f->n_attrs);
                    const trl_weight_row row = trl_model_row(f, id == TRL_NO_ID ? 0 : id);
                    for (uint64_t at = row.at; at < row.at + row.k; at++)
                        assert_true(trl_model_cell(f, row, at) < f->width &&
                                    isfinite(trl_model_weight(f, at)));
                }
                trl_chain_model_fini(&m);
            } else {
                assert_int_equal(st, TRL_EMODEL);
            }
            loaded += st == TRL_OK;
            refused += st != TRL_OK;
            trl_container_free(other);
            trl_free(copy);
        }
        trl_container_builder_fini(&b);
        trl_container_free(c);
    }
    assert_true(loaded > 100 && refused > 100);
    trl_buf_fini(&bytes);
    toy_free(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores),  cmocka_unit_test(test_weights),
        cmocka_unit_test(test_kernel),  cmocka_unit_test(test_fingerprints),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
