/* test_chain_model.c -- weights into the file and back, damage, forgeries. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "toy_model.h"
#include "trellis/tagger.h"

static trl_error err;

/* ---- round trips -------------------------------------------------------------------- */

static void check_info(const toy *y)
{
    const trl_model_info info = trl_model_get_info(y->m);
    assert_string_equal(info.kind, "chain");
    assert_string_equal(info.objective, "likelihood");
    assert_string_equal(info.settings, "c2 1\nseed 7\n");
    assert_int_equal(info.order, y->shape.order);
    assert_int_equal(info.format, y->tpl ? TRL_FORMAT_COLUMNS : TRL_FORMAT_CRFSUITE);
    assert_int_equal(info.n_columns, y->tpl ? 3 : 0);
    assert_int_equal(info.n_labels, y->c.labels.n);
    assert_int_equal(info.file_size, y->size);
    assert_true(info.is_probability);
    for (uint32_t k = 0; k < info.n_labels; k++) {
        const trl_str want = trl_strtab_get(&y->c.labels, k), have = trl_model_label(y->m, k);
        assert_int_equal(have.n, want.n);
        assert_memory_equal(have.p, want.p, want.n);
        assert_int_equal(trl_model_find_label(y->m, want), k);
    }
    assert_int_equal(trl_model_find_label(y->m, (trl_str){"no label", 8}), UINT32_MAX);
    const trl_str text = trl_model_template(y->m);
    const size_t n = y->tpl ? strlen(y->shape.template_text) : 0;
    assert_true(text.n >= n && text.n <= n + 1);
    assert_memory_equal(text.p, y->tpl ? y->shape.template_text : "", n);
}

/* Live weights of the design that are not 0. */
static size_t count_weights(const toy *y)
{
    size_t n = 0;
    for (size_t k = 0; k <= (size_t)y->d.order; k++) {
        const trl_family *f = &y->d.family[k];
        for (size_t i = 0; i < f->n_constant; i++)
            n += y->w[f->constant_at + i] != 0.0;
        for (size_t a = 0; a < f->n_dense; a++)
            for (size_t c = 0; c < f->width; c++)
                n += y->w[trl_dense_at(f, a) + c] != 0.0;
        for (uint64_t e = 0; e < f->entry_first[f->n_attrs - f->n_dense]; e++)
            n += y->w[trl_entry_at(f, e)] != 0.0;
    }
    return n;
}

static void clear_pads(const trl_design *d, double *w)
{
    for (size_t k = 0; k <= (size_t)d->order; k++) {
        const trl_family *f = &d->family[k];
        for (uint64_t i = f->constant_at + f->n_constant; i < f->hot_at; i++)
            w[i] = 0.0;
        for (size_t a = 0; a < f->n_hot; a++)
            for (size_t c = f->width; c < f->step; c++)
                w[trl_dense_at(f, a) + c] = 0.0;
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(1);
    for (int trial = 0; trial < 400; trial++) {
        toy y;
        toy_make(&rng, toy_random_shape(&rng, 6), &y);
        check_info(&y);
        assert_int_equal(trl_model_get_info(y.m).n_features, count_weights(&y));
        double *back = toy_alloc(trl_design_alloc(&y.d), sizeof *back);
        assert_ok(trl_chain_model_read_weights(trl_model_chain(y.m), &y.c, &y.d, back, &err));
        clear_pads(&y.d, y.w);
        for (size_t i = 0; i < y.d.n_weights; i++)
            assert_true(back[i] == y.w[i]);
        free(back);
        toy_free(&y);
    }
}

/* Widths that need cells of one, two and four bytes. */
static void test_cell_sizes(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(2);
    static const struct {
        size_t L;
        int order;
    } cases[] = {{16, 2}, {17, 1}, {40, 2}, {41, 2}, {100, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        toy y;
        toy_make(&rng,
                 (toy_shape){.L = cases[i].L,
                             .A = 60,
                             .n_sequences = 100,
                             .max_T = 10,
                             .order = cases[i].order,
                             .template_text = "U:%x[0,0]\nB:%x[0,0]\nT:%x[0,0]\nB\nT\n"},
                 &y);
        double *back = toy_alloc(trl_design_alloc(&y.d), sizeof *back);
        assert_ok(trl_chain_model_read_weights(trl_model_chain(y.m), &y.c, &y.d, back, &err));
        clear_pads(&y.d, y.w);
        for (size_t k = 0; k < y.d.n_weights; k++)
            assert_true(back[k] == y.w[k]);
        free(back);
        toy_free(&y);
    }
}

/* A corpus with other labels in another order, and other attributes. */
static void test_warm_start(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    toy a, b;
    toy_make(&rng, (toy_shape){.L = 5, .A = 120, .n_sequences = 40, .max_T = 8, .order = 2}, &a);
    toy_make(&rng, (toy_shape){.L = 7, .A = 120, .n_sequences = 40, .max_T = 8, .order = 1}, &b);
    double *w = toy_alloc(trl_design_alloc(&b.d), sizeof *w);
    for (size_t i = 0; i < b.d.n_weights; i++)
        w[i] = 99.0;
    assert_ok(trl_chain_model_read_weights(trl_model_chain(a.m), &b.c, &b.d, w, &err));
    size_t hits = 0;
    const trl_family *fa = &a.d.family[TRL_NODE], *fb = &b.d.family[TRL_NODE];
    for (size_t i = fb->n_dense; i < fb->n_attrs; i++) {
        const trl_str name = trl_strtab_get(&b.c.family[0].names, fb->name[i]);
        const uint32_t old = trl_strtab_find(&a.c.family[0].names, name.p, name.n);
        for (uint64_t e = fb->entry_first[i - fb->n_dense];
             e < fb->entry_first[i - fb->n_dense + 1]; e++) {
            const trl_str label = trl_strtab_get(&b.c.labels, fb->entry_cell[e]);
            const uint32_t y = trl_strtab_find(&a.c.labels, label.p, label.n);
            double want = 99.0; /* not in the model: left alone */
            for (size_t j = 0; j < fa->n_attrs && y != TRL_NO_ID; j++) {
                if (fa->name[j] != old)
                    continue;
                const uint64_t *first = fa->entry_first + (j - fa->n_dense);
                if (j < fa->n_dense)
                    want =
                        a.w[trl_dense_at(fa, j) + y] != 0.0 ? a.w[trl_dense_at(fa, j) + y] : want;
                else
                    for (uint64_t k = first[0]; k < first[1]; k++)
                        want = fa->entry_cell[k] == y ? a.w[trl_entry_at(fa, k)] : want;
            }
            assert_true(w[trl_entry_at(fb, e)] == want);
            hits += want != 99.0;
        }
    }
    assert_true(hits > 0);
    free(w);
    toy_free(&a);
    toy_free(&b);
}

static void test_weights_out_of_range(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(4);
    toy y;
    unsigned char *bytes = NULL;
    size_t n;
    toy_make(&rng, (toy_shape){.L = 2, .A = 3, .n_sequences = 4, .max_T = 5, .order = 1}, &y);
    const double bad[] = {1e39, -HUGE_VAL, nan("")};
    const uint64_t at = y.d.family[TRL_EDGE].constant_at;
    const trl_chain_model_spec spec = toy_spec(&y);
    for (size_t i = 0; i < 3; i++) {
        y.w[at] = bad[i];
        assert_int_equal(trl_chain_model_to_buffer(&spec, &bytes, &n, &err), TRL_ENUMERIC);
        assert_non_null(strstr(err.msg, "'B'"));
    }
    y.w[at] = 1e-60; /* becomes 0: not stored */
    const uint64_t before = trl_model_get_info(y.m).n_features;
    assert_ok(trl_chain_model_to_buffer(&spec, &bytes, &n, &err));
    trl_model *m = NULL;
    assert_ok(trl_model_from_memory(bytes, n, &m, &err));
    assert_int_equal(trl_model_get_info(m).n_features, before - 1);
    trl_model_free(m);
    trl_free(bytes);
    toy_free(&y);
}

static void test_file(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(5);
    char path[] = "/tmp/trellis-model-XXXXXX";
    toy y;
    trl_model *m = NULL;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    toy_make(&rng, toy_random_shape(&rng, 5), &y);
    const trl_chain_model_spec spec = toy_spec(&y);
    assert_ok(trl_chain_model_write(&spec, path, &err));
    assert_ok(trl_model_open(path, &m, &err));
    assert_int_equal(trl_model_get_info(m).file_size, y.size);
    trl_model_free(m);
    unlink(path);
    assert_int_equal(trl_model_open(path, &m, &err), TRL_EIO);
    assert_string_equal(err.path, path);
    assert_int_equal(trl_chain_model_write(&spec, "/no/such/folder/m", &err), TRL_EIO);
    trl_model_free(NULL);
    toy_free(&y);
}

/* ---- damage ------------------------------------------------------------------------- */

static void test_every_flip_and_length(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(6);
    toy y;
    trl_model *m = NULL;
    toy_make(&rng,
             (toy_shape){.L = 2,
                         .A = 5,
                         .n_sequences = 4,
                         .max_T = 5,
                         .order = 1,
                         .template_text = "U:%x[0,0]\nB\n"},
             &y);
    for (size_t i = 0; i < y.size; i++) {
        for (unsigned bit = 1; bit < 256; bit *= 2) {
            y.bytes[i] = (unsigned char)(y.bytes[i] ^ bit);
            if (trl_model_from_memory(y.bytes, y.size, &m, &err) != TRL_EMODEL)
                fail_msg("byte %zu xor %u is not noticed", i, bit);
            y.bytes[i] = (unsigned char)(y.bytes[i] ^ bit);
        }
        if (trl_model_from_memory(y.bytes, i, &m, &err) != TRL_EMODEL)
            fail_msg("length %zu of %zu is not noticed", i, y.size);
    }
    toy_free(&y);
}

static void put_right(unsigned char *p, size_t n)
{
    uint64_t sum = XXH3_64bits(p + 64, n - 64);
    memcpy(p + 24, &sum, 8);
    memset(p + 32, 0, 8);
    sum = XXH3_64bits(p, 64);
    memcpy(p + 32, &sum, 8);
}

/* Anything that opens must be safe to use, whatever it says. */
static void use(trl_model *m)
{
    trl_tagger *t = NULL;
    static const trl_str cell[] = {{"a0", 2}, {"a2", 2}, {"L0", 2},
                                   {"a4", 2}, {"a0", 2}, {"L2", 2}};
    static const trl_attr attr[] = {{{"a0", 2}, 1.0}, {{"a2", 2}, 2.0}, {{"B", 1}, 1.0}};
    static const size_t begin[] = {0, 2, 3};
    const trl_rows rows = {.n_tokens = 2, .n_columns = 3, .cell = cell};
    const trl_items items = {.n_tokens = 2, .begin = begin, .attr = attr};
    uint32_t labels[2];
    double score;
    assert_ok(trl_tagger_new(m, &t, &err));
    if (trl_tagger_set_rows(t, &rows, &err) == TRL_OK ||
        trl_tagger_set_items(t, &items, &err) == TRL_OK)
        assert_ok(trl_tagger_viterbi(t, labels, &score, &err));
    trl_tagger_free(t);
}

/* Every byte changed, with right checksums. */
static void test_forged_bytes(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(7);
    size_t opened = 0, refused = 0;
    for (int k = 0; k < 4; k++) {
        toy y;
        toy_make(&rng,
                 (toy_shape){.L = 3,
                             .A = 5,
                             .n_sequences = 4,
                             .max_T = 5,
                             .order = 1 + k / 2,
                             .template_text = k % 2 ? "U:%x[0,0]\nB:%x[0,1]\nB\n" : NULL},
                 &y);
        unsigned char *copy = trl_alloc64(y.size, 1);
        for (size_t i = 64; i < y.size; i++)
            for (int c = 0; c < 6; c++) {
                static const unsigned char value[] = {0, 1, 0x7f, 0x80, 0xff};
                trl_model *m = NULL;
                memcpy(copy, y.bytes, y.size);
                copy[i] = c < 5 ? value[c] : (unsigned char)(copy[i] + 1);
                put_right(copy, y.size);
                if (trl_model_from_memory(copy, y.size, &m, &err) == TRL_OK) {
                    use(m);
                    opened++;
                } else {
                    assert_int_equal(err.code, TRL_EMODEL);
                    refused++;
                }
                trl_model_free(m);
            }
        trl_free(copy);
        toy_free(&y);
    }
    assert_true(opened > 100 && refused > 1000);
}

/* The section's place in the file. */
static unsigned char *section(unsigned char *file, const char *tag, uint64_t *size)
{
    uint32_t n;
    memcpy(&n, file + 12, 4);
    for (uint32_t i = 0; i < n; i++) {
        unsigned char *e = file + 64 + 32 * (size_t)i;
        uint64_t offset;
        if (strncmp((char *)e, tag, 8) == 0) {
            memcpy(&offset, e + 8, 8);
            memcpy(size, e + 16, 8);
            return file + offset;
        }
    }
    fail_msg("no section %s", tag);
    return NULL;
}

static void test_forged_sections(void **state)
{
    (void)state;
    static const struct {
        const char *tag;
        size_t at, n; /* bytes to overwrite */
        uint64_t value;
        const char *msg;
    } lies[] = {
        {"info", 0, 4, 0, "header"},
        {"info", 0, 4, 3, "header"},
        {"info", 4, 4, 1u << 30, "header"},
        {"info", 8, 8, UINT64_MAX, "header"},
        {"info", 8, 8, 0, "template"},
        {"info", 8, 8, 1, "template"},
        {"info", 16, 4, 0, "constant"},
        {"info", 20, 4, 1000, "constant"},
        {"info", 28, 4, 1, "header"},
        {"info", 0, 4, 2, "no section"},
        {"info", 4, 4, 5, "masked"},
        {"template", 0, 1, '?', "template"},
        {"settings", 0, 1, 0, "text"},
        {"objectiv", 10, 1, 'x', "text"},
        {"nodeclas", 0, 4, 4, "classes"},
        {"nodeclas", 4, 4, 1, "classes"},
        {"nodeclas", 8, 8, 1, "classes"},
        {"nodeclas", 16, 4, 9, "classes"},
        {"nodeclas", 20, 4, 0, "classes"},
        {"nodeclas", 20, 4, 1u << 30, "classes"},
        {"nodeclas", 24, 8, 1u << 30, "classes"},
        {"nodecell", 0, 1, 3, "no label"},
        {"edgecell", 0, 1, 9, "no label"},
        {"nodewght", 0, 4, 0x7f800000, "finite"},
        {"nodewght", 0, 4, 0xffc00000, "finite"},
        {"nodetag1", 0, 8, 0, "tags"},
        {"nodeslot", 0, 4, 1000, "string table"},
        {"nodeend4", 0, 4, 1u << 30, "string table"},
        {"lablend4", 0, 4, 99999, "string table"},
    };
    trl_rng rng = trl_rng_seed(8);
    toy y;
    toy_make(&rng,
             (toy_shape){.L = 3,
                         .A = 14,
                         .n_sequences = 20,
                         .max_T = 5,
                         .order = 1,
                         .template_text = "U:%x[0,0]\nB:%x[0,1]\nB\n"},
             &y);
    unsigned char *copy = trl_alloc64(y.size, 1);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        trl_model *m = NULL;
        uint64_t size;
        memcpy(copy, y.bytes, y.size);
        unsigned char *p = section(copy, lies[i].tag, &size);
        assert_true(lies[i].at + lies[i].n <= size);
        memcpy(p + lies[i].at, &lies[i].value, lies[i].n);
        put_right(copy, y.size);
        const trl_status st = trl_model_from_memory(copy, y.size, &m, &err);
        if (st != TRL_EMODEL || !strstr(err.msg, lies[i].msg))
            fail_msg("lie %zu: status %d, '%s'", i, (int)st, st ? err.msg : "");
    }
    trl_free(copy);
    toy_free(&y);
}

/* The file with one section replaced. */
static trl_status replaced(const unsigned char *file, const char *tag, const void *bytes, size_t n)
{
    uint32_t sections;
    trl_container_builder b = {0};
    unsigned char *out = NULL;
    size_t size;
    trl_model *m = NULL;
    memcpy(&sections, file + 12, 4);
    for (uint32_t i = 0; i < sections; i++) {
        const unsigned char *e = file + 64 + 32 * (size_t)i;
        char name[9] = {0};
        uint64_t offset, len;
        memcpy(name, e, 8);
        memcpy(&offset, e + 8, 8);
        memcpy(&len, e + 16, 8);
        if (strcmp(name, tag) == 0)
            trl_container_builder_add(&b, name, bytes, n);
        else
            trl_container_builder_add(&b, name, file + offset, (size_t)len);
    }
    assert_ok(trl_container_to_buffer(&b, "chain", &out, &size, &err));
    const trl_status st = trl_model_from_memory(out, size, &m, &err);
    trl_model_free(m);
    trl_free(out);
    trl_container_builder_fini(&b);
    return st;
}

static void test_forged_sizes(void **state)
{
    (void)state;
    static const char text[] = "trellis-model\t1\nkind\tchain\nobjective\tx\nprobability\tno\n"
                               "order\t1\ncolumns\t0\nlabel\tA\nlabel\tB\nlabel\tC\n"
                               "node\tx\tA\t1\nnode\ty\tC\t2\n";
    static const float weights[] = {1.0f, 2.0f, 3.0f};
    static const uint8_t cells[] = {0, 2, 1};
    static const trl_weight_class good[] = {{1, 0, 0}}, twice[] = {{1, 0, 0}, {1, 1, 1}};
    static const trl_weight_class rising[] = {{0, 0, 0}, {2, 1, 0}}, late[] = {{2, 1, 0}};
    unsigned char *file = NULL;
    size_t n;
    assert_ok(trl_model_undump_memory("d", text, sizeof text - 1, &file, &n, &err));
    assert_int_equal(replaced(file, "nodeclas", good, sizeof good), TRL_OK);
    assert_int_equal(replaced(file, "nodecell", cells, 2), TRL_OK);
    const struct {
        const char *tag;
        const void *bytes;
        size_t n;
    } lies[] = {
        {"nodeclas", twice, sizeof twice},
        {"nodeclas", rising, sizeof rising},
        {"nodeclas", late, sizeof late},
        {"nodeclas", good, 0},
        {"nodeclas", good, 8},
        {"nodecell", cells, 1},
        {"nodecell", cells, 3},
        {"nodewght", weights, 4},
        {"nodewght", weights, 12},
        {"nodewght", weights, 7},
        {"nodetag1", cells, 3},
        {"lablend4", weights, 0},
        {"info", weights, 8},
        {"settings", "", 0},
        {"template", "B", 1},
        {"objectiv", "a\0b", 4},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        if (replaced(file, lies[i].tag, lies[i].bytes, lies[i].n) != TRL_EMODEL)
            fail_msg("lie %zu (%s) is not noticed", i, lies[i].tag);
    trl_free(file);
}

static void test_other_kinds(void **state)
{
    (void)state;
    trl_container_builder b = {0};
    unsigned char *bytes;
    size_t n;
    trl_model *m = NULL;
    assert_ok(trl_container_to_buffer(&b, "chkpt", &bytes, &n, &err));
    assert_int_equal(trl_model_from_memory(bytes, n, &m, &err), TRL_EMODEL);
    assert_non_null(strstr(err.hint, "checkpoint"));
    trl_free(bytes);
    assert_ok(trl_container_to_buffer(&b, "chain", &bytes, &n, &err));
    assert_int_equal(trl_model_from_memory(bytes, n, &m, &err), TRL_EMODEL);
    assert_non_null(strstr(err.msg, "'info'"));
    trl_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_cell_sizes),
        cmocka_unit_test(test_warm_start),   cmocka_unit_test(test_weights_out_of_range),
        cmocka_unit_test(test_file),         cmocka_unit_test(test_every_flip_and_length),
        cmocka_unit_test(test_forged_bytes), cmocka_unit_test(test_forged_sections),
        cmocka_unit_test(test_forged_sizes), cmocka_unit_test(test_other_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
