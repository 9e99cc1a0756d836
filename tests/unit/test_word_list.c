/* test_word_list.c -- gazetteers, clusters and vectors of templates; scales; and that training and
 * tagging make the same attributes of them. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "feature/corpus.h"
#include "feature/feature_expand.h"
#include "model/model.h"
#include "trellis/dataset.h"
#include "trellis/tagger.h"
#include "trellis/train.h"

static trl_error err;

/* ---- files ----------------------------------------------------------------------------------- */

static trl_status read_list(trl_word_list *l, trl_word_list_kind kind, bool folded,
                            const char *text)
{
    trl_input *in = NULL;
    assert_ok(trl_input_memory("list", text, strlen(text), &in, &err));
    err = (trl_error){0};
    const trl_status st = trl_word_list_read(l, kind, folded, in, &err);
    trl_input_free(in);
    return st;
}

static void expect_key(const trl_word_list *l, const char *key, const char *name)
{
    const uint32_t k = trl_strtab_find(&l->key, key, strlen(key));
    assert_int_not_equal(k, TRL_NO_ID);
    if (!name) {
        assert_int_equal(l->id[k], 0);
        return;
    }
    assert_int_not_equal(l->id[k], 0);
    const trl_str have = trl_strtab_get(&l->name, l->id[k] - 1);
    assert_int_equal(have.n, strlen(name));
    assert_memory_equal(have.p, name, have.n);
}

static void test_read(void **state)
{
    (void)state;
    trl_word_list l = {0};
    assert_ok(read_list(&l, TRL_GAZETTEER, true,
                        "São  Paulo\tcity\r\n\nSÃO PAULO\tstate\nSão Paulo\tcity\nÑuble\n"));
    assert_int_equal(l.key.n, 3);
    expect_key(&l, "são", NULL);
    expect_key(&l, "são paulo", "city|state");
    expect_key(&l, "ñuble", "");
    assert_int_equal(l.name.n, 2);
    trl_word_list_fini(&l);
    assert_ok(read_list(&l, TRL_CLUSTERS, false, "0010\tde\t7\n011\tla\t3\n"));
    expect_key(&l, "de", "0010");
    trl_word_list_fini(&l);
    assert_ok(read_list(&l, TRL_VECTORS, false, "2 3\nde 1 -2 0.5\nla 0 0 1e-3\nde 9 9 9\n"));
    assert_int_equal(l.key.n, 2);
    assert_int_equal(l.width, 3);
    assert_true(l.vector[1] == -2.0f && l.vector[0] == 1.0f);
    trl_word_list_fini(&l);
}

static void test_bad_files(void **state)
{
    (void)state;
    static const struct {
        trl_word_list_kind kind;
        const char *text, *what;
        uint64_t row, col;
    } cases[] = {
        {TRL_VECTORS, "a 1 2\nb 1 2 3\n", "3 numbers where 2", 2, 1},
        {TRL_VECTORS, "a 1 2\nb 1\n", "1 numbers where 2", 2, 1},
        {TRL_VECTORS, "a 1 x\n", "'x' is not a number", 1, 5},
        {TRL_VECTORS, "a 1 nan\n", "not a number", 1, 5},
        {TRL_VECTORS, "a 1 1e39\n", "not a number", 1, 5},
        {TRL_VECTORS, "", "nothing in it", 0, 0},
        {TRL_VECTORS, "3 2\n", "nothing in it", 0, 0},
        {TRL_VECTORS, "a 1 2\n\nb\n", "0 numbers", 3, 1},
        {TRL_GAZETTEER, "a\nb\xff\n", "not UTF-8", 2, 2},
        {TRL_GAZETTEER, "\n\n", "nothing in it", 0, 0},
        {TRL_GAZETTEER, "a\tb\tc\n", "a type with a tab", 1, 3},
        {TRL_GAZETTEER, "a\tb|c\n", "a type with a tab or '|'", 1, 3},
        {TRL_GAZETTEER, "a\n\tb\n", "without a phrase", 2, 1},
        {TRL_CLUSTERS, "01\tde\n11\tde\n", "", 2, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trl_word_list l = {0};
        assert_int_equal(read_list(&l, cases[i].kind, false, cases[i].text), TRL_EPARSE);
        if (!strstr(err.msg, cases[i].what))
            print_error("%s\n", err.msg);
        assert_non_null(strstr(err.msg, cases[i].what));
        assert_int_equal(err.row, cases[i].row);
        if (cases[i].col)
            assert_int_equal(err.col, cases[i].col);
        trl_word_list_fini(&l);
    }
}

/* ---- in templates ---------------------------------------------------------------------------- */

static char folder[] = "/tmp/trellis-lists-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    write_file("places", "New York\tcity\nNew York Times\tpaper\nYork\tcity\nThe Times\tpaper\n");
    write_file("paths", "0010\tnew\n0011\tyork\n1\tthe\n");
    write_file("vectors", "new 1 0\nyork 3 0\n");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"places", "paths", "vectors"};
    char path[100];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static trl_template *opened(const char *text)
{
    trl_template *t = NULL;
    char name[100];
    snprintf(name, sizeof name, "%s/template", folder);
    assert_ok(trl_template_parse(name, text, strlen(text), &t, &err));
    assert_ok(trl_feature_list_open(trl_template_list(t), name, &err));
    return t;
}

/* Cells of one column, words separated by blanks. */
static trl_rows rows_of(const char *words, trl_str *cell)
{
    size_t n = 0;
    for (const char *p = words;; n++) {
        const size_t len = strcspn(p, " ");
        cell[n] = (trl_str){p, len};
        p += len;
        if (!*p++)
            break;
    }
    return (trl_rows){.n_tokens = n + 1, .n_columns = 1, .cell = cell};
}

static void expect(const char *text, const char *words, size_t pos, const char *want)
{
    trl_str cell[20];
    const trl_rows seq = rows_of(words, cell);
    trl_template *t = opened(text);
    trl_feature_list *l = trl_template_list(t);
    trl_feature_expander *x = NULL;
    trl_names names = {0};
    trl_buf out = {0};
    assert_ok(trl_feature_expander_new(l, &x, &err));
    if (l->learns) {
        assert_ok(trl_feature_learn(l, x, &seq, &err));
        trl_feature_list_learned(l);
    }
    assert_ok(trl_feature_expander_set(x, &seq, &err));
    for (size_t k = 0; k < l->n_features; k++)
        assert_true(trl_feature_expander_put(x, k, pos, &names));
    for (size_t i = 0; i < names.n; i++) {
        trl_buf_add(&out, names.text.data + names.name[i].at, names.name[i].n);
        if (l->learns)
            trl_buf_fmt(&out, ":%.3g", names.name[i].value);
        trl_buf_ch(&out, ' ');
    }
    trl_buf_ch(&out, '\0');
    assert_string_equal(out.data, want);
    trl_buf_fini(&out);
    trl_names_fini(&names);
    trl_feature_expander_free(x);
    trl_template_free(t);
}

static void test_gazetteers(void **state)
{
    (void)state;
    const char *longest = "gazetteer g \"places\" folded\ng";
    const char *all = "gazetteer g \"places\" all\ng";
    const char *s = "The New York Times";
    expect(longest, s, 0, "");
    expect(longest, s, 1, "g=B-paper ");
    expect(longest, s, 2, "g=I-paper ");
    expect(longest, s, 3, "g=I-paper ");
    expect(longest, "new york", 1, "g=I-city ");
    expect(all, "new york", 1, "");
    expect(all, s, 1, "g=B-city g=B-paper ");
    expect(all, s, 2, "g=I-city g=I-paper g=B-city ");
    expect(all, "New", 0, "");
    expect("gazetteer g \"places\" folded\ng of lower at 1 & case", "A YORK", 0,
           "g(lower)[+1]=B-city&case=initial ");
}

static void test_clusters(void **state)
{
    (void)state;
    expect("clusters c \"paths\" folded\nc\nc 2,3 at -1..0", "NEW york", 1,
           "c=0011 c2[-1]=00 c3[-1]=001 c2=00 c3=001 ");
    expect("clusters c \"paths\"\nc 4 of lower", "The", 0, "c4(lower)=1 ");
    expect("clusters c \"paths\"\nc", "The", 0, "");
}

static void test_vectors(void **state)
{
    (void)state;
    /* mean 2 and deviation 1 of the first number; the second never differs: no attribute */
    expect("vectors v \"vectors\"\nv\nv at 1", "new york the", 0, "v.0:-1 v[+1].0:1 ");
    expect("vectors v \"vectors\"\nv & case at 1", "new york The", 1, "v.0&case[+1]=title:1 ");
    expect("vectors v \"vectors\" folded\nv", "NEW york", 0, "v.0:-1 ");
    expect("vectors v \"vectors\"\nv & v at 1", "new york new york", 0, "v.0&v[+1].0:-1 ");
    expect("values of column 0", "1,5 3,7 _", 1, "values.0:1 values.1:1 ");
    expect("values of column 0", "1,5 3,7 _", 2, "");
}

static void test_bad_values(void **state)
{
    (void)state;
    static const struct {
        const char *cells, *what;
        uint64_t row;
    } cases[] = {{"1 2,3 4", "2 numbers where the data before have 1", 11},
                 {"_ 2,3 4", "1 numbers where the data before have 2", 12},
                 {"1 x", "'x' is not a number", 11},
                 {"1 inf", "'inf' is not a number", 11},
                 {"1, 2", "'1,' is not a number", 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trl_str cell[20];
        trl_rows seq = rows_of(cases[i].cells, cell);
        seq.path = "data";
        seq.first_row = 10;
        trl_template *t = opened("values of column 0");
        trl_corpus c;
        assert_ok(trl_corpus_init(&c, &err));
        assert_int_equal(trl_corpus_learn_rows(&c, t, &seq, &err), TRL_EPARSE);
        assert_non_null(strstr(err.msg, cases[i].what));
        assert_int_equal(err.row, cases[i].row);
        trl_corpus_fini(&c);
        trl_template_free(t);
    }
    trl_template *t = NULL;
    assert_ok(trl_template_parse("tpl", "gazetteer g \"/nowhere/x\"", 24, &t, &err));
    assert_int_equal(trl_feature_list_open(trl_template_list(t), "tpl", &err), TRL_EIO);
    trl_template_free(t);
}

/* ---- training and tagging -------------------------------------------------------------------- */

static const char template_text[] = "gazetteer g \"places\" folded all\n"
                                    "clusters c \"paths\" folded\n"
                                    "vectors v \"vectors\" folded\n"
                                    "columns word number\n"
                                    "word at -1..1\nsuffix 1..3 & case at -1\nngrams 2\n"
                                    "g at -1..1\nc 2,4 & g\nv at -1..1\nvalues of number\n"
                                    "match \"^\\u\" at 1\nedge:\nedge: case\n";

static const trl_str cells[] = {{"The", 3}, {"1.5", 3},   {"O", 1},    {"New", 3},
                                {"2", 1},   {"B", 1},     {"York", 4}, {"4", 1},
                                {"I", 1},   {"Times", 5}, {"_", 1},    {"I", 1},
                                {"was", 3}, {"0.25", 4},  {"O", 1},    {"\xc3\x89t\xc3\xa9", 5},
                                {"-3", 2},  {"B", 1}};

static void test_same_attributes(void **state)
{
    (void)state;
    char name[100];
    snprintf(name, sizeof name, "%s/template", folder);
    const trl_rows seq = {.n_tokens = 6, .n_columns = 3, .cell = cells};
    trl_dataset *data = NULL;
    trl_buf bytes = {0}, text = {0}, again = {0};
    trl_model *m = NULL;
    trl_tagger *tagger = NULL;
    assert_ok(trl_dataset_new(&data, &err));
    assert_ok(trl_dataset_add_rows(data, &seq, 1, NULL, &err));
    trl_train_options o = trl_train_options_default();
    o.data = data;
    o.template_name = name;
    o.template_text = template_text;
    o.template_size = strlen(template_text);
    o.c2 = 0.01;
    o.model_out = &bytes;
    assert_ok(trl_train(&o, NULL, &err));

    /* the occurrences that training has */
    trl_template *t = opened(template_text);
    trl_corpus c;
    assert_ok(trl_corpus_init(&c, &err));
    assert_ok(trl_corpus_use_template(&c, t, &err));
    assert_ok(trl_corpus_learn_rows(&c, t, &seq, &err));
    trl_feature_list_learned(trl_template_list(t));
    assert_ok(trl_corpus_add_rows(&c, t, &seq, &err));
    const size_t occurrences = c.family[TRL_NODE].n + c.family[TRL_EDGE].n;

    assert_ok(trl_model_from_memory(bytes.data, bytes.len, &m, &err));
    assert_ok(trl_tagger_new(m, &tagger, &err));
    assert_ok(trl_tagger_set_rows(tagger, &seq, &err));
    assert_int_equal(trl_tagger_attributes(tagger), occurrences);
    assert_int_equal(trl_tagger_unknown(tagger), 0);
    for (size_t pos = 0; pos < seq.n_tokens; pos++) {
        const trl_contribution *x;
        size_t n, k = 0;
        assert_ok(trl_tagger_explain_rows(tagger, &seq, pos, &x, &n, &err));
        const trl_occurrences *node = &c.family[TRL_NODE];
        for (size_t i = 0; i < n; i++) {
            if (x[i].scope != TRL_SCOPE_LABEL)
                continue;
            const size_t at = (size_t)node->begin[pos] + k++;
            const trl_str want = trl_strtab_get(&node->names, node->id[at]);
            assert_int_equal(x[i].name.n, want.n);
            assert_memory_equal(x[i].name.p, want.p, want.n);
            assert_true(x[i].value == trl_value_list_at(&node->values, at));
        }
        assert_int_equal(k, node->begin[pos + 1] - node->begin[pos]);
    }
    /* a dump gives the same file */
    assert_ok(trl_model_dump_buf(m, &text, &err));
    assert_ok(trl_model_undump_buf("dump", text.data, text.len, &again, &err));
    assert_int_equal(again.len, bytes.len);
    assert_memory_equal(again.data, bytes.data, bytes.len);
    trl_buf_fini(&text);
    trl_buf_fini(&again);
    trl_tagger_free(tagger);
    trl_model_free(m);
    trl_corpus_fini(&c);
    trl_template_free(t);
    trl_buf_fini(&bytes);
    trl_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),           cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_gazetteers),     cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_vectors),        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_same_attributes)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
