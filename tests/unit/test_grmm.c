/* test_grmm.c -- GRMM's data and lists of templates: what they say, what is refused and where, and
 * that they train to what the same columns and model file train to. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/buf.h"
#include "graph_model/graph_spec.h"
#include "text/grmm.h"
#include "train_setup.h"
#include "trellis/graph_model.h"

static trl_error err;

/* ---- data ------------------------------------------------------------------------------------ */

/* "word label label: feature feature|...;": a bar before every token, a semicolon after the last.
 */
static trl_status read_all(const char *text, size_t n, trl_buf *out)
{
    trl_input *in = NULL;
    trl_grmm *r = NULL;
    trl_status st = TRL_OK;
    assert_ok(trl_input_memory("in", text, n, &in, &err));
    assert_ok(trl_grmm_new(in, &r, &err));
    for (bool more = true; st == TRL_OK;) {
        trl_rows rows;
        const size_t *begin;
        const trl_attr *attr;
        st = trl_grmm_next(r, &rows, &more, &err);
        if (st != TRL_OK || !more)
            break;
        trl_grmm_attributes(r, &begin, &attr);
        for (size_t t = 0; t < rows.n_tokens; t++) {
            for (size_t c = 0; c < rows.n_columns; c++) {
                const trl_str s = rows.cell[t * rows.n_columns + c];
                trl_buf_ch(out, c ? ' ' : '|');
                trl_buf_add(out, s.p, s.n);
            }
            trl_buf_ch(out, ':');
            for (size_t a = begin[t]; a < begin[t + 1]; a++) {
                assert_true(attr[a].value == 1.0);
                trl_buf_ch(out, ' ');
                trl_buf_add(out, attr[a].name.p, attr[a].name.n);
            }
        }
        trl_buf_fmt(out, "%llu;", (unsigned long long)rows.first_row);
    }
    trl_buf_ch(out, '\0');
    trl_grmm_free(r);
    trl_input_free(in);
    return st;
}

static void expect(const char *text, const char *want)
{
    trl_buf out = {0};
    assert_ok(read_all(text, strlen(text), &out));
    assert_string_equal(out.data, want);
    trl_buf_fini(&out);
}

static void expect_fault(const char *text, uint64_t row, uint64_t col, const char *what)
{
    trl_buf out = {0};
    assert_int_equal(read_all(text, strlen(text), &out), TRL_EPARSE);
    assert_string_equal(err.path, "in");
    assert_int_equal(err.row, row);
    assert_int_equal(err.col, col);
    assert_non_null(strstr(err.msg, what));
    trl_buf_fini(&out);
}

static void test_data(void **state)
{
    (void)state;
    expect("", "");
    expect(" \n\t\n", "");
    expect("D B ---- W=the low\nN\tI  ----\tdog \r\n\n\nV O ----\n",
           "|the D B: W=the low|_ N I: dog1;|_ V O:5;");
    /* the word: neither another token's, nor a conjunction's, nor nothing */
    expect("X ---- W=a@-1 W=b@2 W=c_&_d W= WORD=e W=f",
           "|e X: W=a@-1 W=b@2 W=c_&_d W= WORD=e W=f1;");
    expect("X ---- W=a@b W=@ WORD", "|a@b X: W=a@b W=@ WORD1;");
    expect("X ---- W=@\n", "|@ X: W=@1;");
    /* without labels; dashes among features are one */
    expect("---- a ---- b\n---- c\n", "|_: a ---- b|_: c1;");
}

static void test_data_faults(void **state)
{
    (void)state;
    expect_fault("A B c d\n", 1, 8, "---- expected");
    expect_fault("A ---- x\nA --- x\n", 2, 8, "---- expected");
    expect_fault("A ---- x\n\nA B ---- x\n", 3, 5, "2 labels where 1 were found before");
    expect_fault("A B ---- x\nA ---- x\n", 2, 3, "1 label where 2 were found before");
    trl_buf out = {0};
    assert_int_equal(read_all("A ---- x\0y\n", 11, &out), TRL_EPARSE);
    assert_int_equal(err.row, 1);
    assert_int_equal(err.col, 9);
    trl_buf_fini(&out);
}

/* ---- templates ------------------------------------------------------------------------------- */

static void assert_model_file(const char *list, const char *want)
{
    trl_graph_spec *s = NULL;
    assert_ok(trl_graph_spec_parse("m", list, strlen(list), &s, &err));
    assert_int_equal(s->text_len, strlen(want));
    assert_memory_equal(s->text, want, s->text_len);
    assert_true(s->attributes);
    trl_graph_spec_free(s);
}

static void test_templates(void **state)
{
    (void)state;
    assert_model_file("new ACRF.BigramTemplate (0)\nnew ACRF.BigramTemplate (1)\n"
                      "new ACRF.PairwiseFactorTemplate (0,1)\n",
                      "labels label0 column 1\nlabels label1 column 2\n"
                      "factor label0[i-1] label0[i] features attributes at i-1\n"
                      "factor label1[i-1] label1[i] features attributes at i-1\n"
                      "factor label0[i] label1[i] features attributes\n");
    assert_model_file(
        "\xef\xbb\xbf// two\n\n  new UnigramTemplate(2); new ACRF.BigramTemplate( 2 ) ;",
        "labels label2 column 3\nfactor label2[i] features attributes\n"
        "factor label2[i-1] label2[i] features attributes at i-1\n");
#define SIMILAR "new cc.mallet.grmm.learning.templates.SimilarTokensTemplate"
#define SIMILAR_FILE "labels label0 column 1\nfactor similar0: label0[i] label0[j]\n"
#define CAPITALS "  where %x[i,0] = %x[j,0] and %t[i,0,\"^\\u\\a*$\"] and j-i > 1\n"
    assert_model_file(SIMILAR " (0)\n",
                      SIMILAR_FILE CAPITALS "  features attributes at i, j pooled\n");
    assert_model_file(SIMILAR " (0, true, false)\n",
                      SIMILAR_FILE CAPITALS "  features attributes at i, j apart\n");
    assert_model_file(SIMILAR " (0, false, new SimilarTokensTemplate.WordFeatureBinner())\n",
                      SIMILAR_FILE "  where %x[i,0] = %x[j,0] and %x[i,0] != \"_\" and j-i > 1\n"
                                   "  features attributes at i, j pooled\n");
    assert_model_file(SIMILAR " (0, true, false, new SimilarTokensTemplate.CapWordsBinner ())\n",
                      SIMILAR_FILE CAPITALS "  features attributes at i, j apart\n");
}

typedef struct bad {
    const char *text;
    uint64_t row, col;
    const char *says;
} bad;

static void test_templates_refused(void **state)
{
    (void)state;
    static const bad cases[] = {
        {"new\n", 1, 4, "name of a template"},
        {"new ACRF.\n", 1, 10, "name of a template"},
        {"new ACRF.TrigramTemplate (0)\n", 1, 10, "'TrigramTemplate' is not known"},
        {"new ACRF.BigramTemplate\n", 1, 24, "'(' expected"},
        {"new ACRF.BigramTemplate ()\n", 1, 26, "number of a label"},
        {"new ACRF.BigramTemplate (-1)\n", 1, 26, "number of a label"},
        {"new ACRF.BigramTemplate (16)\n", 1, 26, "more than 16 labels"},
        {"new ACRF.BigramTemplate (0, 1)\n", 1, 27, "')' expected"},
        {"new ACRF.BigramTemplate (0\n", 1, 27, "')' expected"},
        {"new ACRF.BigramTemplate (0)\nfactor a[i]\n", 2, 1, "a template expected"},
        {"new ACRF.BigramTemplate (0)\n\nnew BigramTemplate (0)\n", 3, 5, "twice"},
        {"new ACRF.PairwiseFactorTemplate (0)\n", 1, 35, "',' expected"},
        {"new ACRF.PairwiseFactorTemplate (1,1)\n", 1, 10, "the same twice"},
        {"new SimilarTokensTemplate (0, maybe)\n", 1, 31, "true, false or"},
        {"new SimilarTokensTemplate (0, true, true)\n", 1, 37, "the word alone"},
        {"new SimilarTokensTemplate (0, true, false, true)\n", 1, 44, "')' expected"},
        {"new SimilarTokensTemplate (0, true, new MyBinner ())\n", 1, 41, "not 'MyBinner'"},
        {"new SimilarTokensTemplate (0, true, new CapWordsBinner)\n", 1, 55, "'(' expected"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        trl_graph_spec *s = NULL;
        const trl_status st =
            trl_graph_spec_parse("m", cases[k].text, strlen(cases[k].text), &s, &err);
        if (st != TRL_EPARSE || !strstr(err.msg, cases[k].says) || err.row != cases[k].row ||
            err.col != cases[k].col)
            fail_msg("case %zu: status %d at %llu:%llu: %s\n%s", k, (int)st,
                     (unsigned long long)err.row, (unsigned long long)err.col, err.msg,
                     cases[k].text);
    }
}

/* Faults that only the data show are placed in the list, not in the model file made of it. */
static void test_places(void **state)
{
    (void)state;
    static const char list[] = "new ACRF.UnigramTemplate (0)\n\nnew ACRF.BigramTemplate (4)\n";
    trl_graph_spec *s = NULL;
    assert_ok(trl_graph_spec_parse("m", list, strlen(list), &s, &err));
    assert_int_equal(trl_graph_spec_check(s, "m", 3, &err), TRL_EPARSE);
    assert_int_equal(err.row, 3);
    assert_int_equal(err.col, 26);
    assert_int_equal(s->factor[1].row, 3);
    assert_int_equal(s->factor[1].col, 10);
    trl_graph_spec_free(s);
}

/* ---- training -------------------------------------------------------------------------------- */

static const char grmm_list[] =
    "new ACRF.UnigramTemplate (1)\nnew ACRF.BigramTemplate (0)\n"
    "new ACRF.BigramTemplate (1)\nnew ACRF.PairwiseFactorTemplate (0,1)\n"
    "new SimilarTokensTemplate (1, true)\n";

static const char own_file[] = "labels tag column 1\nlabels y column 2\n"
                               "template words\n  U:%x[0,0]\n"
                               "factor y[i] features words\n"
                               "factor tag[i-1] tag[i] features words at i-1\n"
                               "factor y[i-1] y[i] features words at i-1\n"
                               "factor tag[i] y[i] features words\n"
                               "factor skip: y[i] y[j]\n"
                               "  where %x[i,0] = %x[j,0] and %t[i,0,\"^\\u\"] and j-i > 1\n"
                               "  features words at i, j apart\n";

/* The same tokens in both formats; a third of the words is capitalised, and comes again. */
static void write_both(const char *columns, const char *grmm, uint64_t seed)
{
    static const char *const word[] = {"Ann", "Bob", "sees", "the", "a", "_"};
    static const char *const label[] = {"B", "I", "O"};
    trl_rng rng = trl_rng_seed(seed);
    FILE *c = fopen(columns, "w"), *g = fopen(grmm, "w");
    assert_true(c && g);
    for (size_t s = 0; s < 25; s++) {
        for (size_t t = 0, n = 1 + trl_rng_below(&rng, 7); t < n; t++) {
            const size_t w = trl_rng_below(&rng, 6), noise = trl_rng_below(&rng, 5) == 0;
            const char *y = label[(w + noise) % 3];
            fprintf(c, "%s p%zu %s\n", word[w], (w + t) % 2, y);
            fprintf(g, "p%zu %s ---- W=%s\n", (w + t) % 2, y, word[w]);
        }
        fprintf(c, "\n");
        fprintf(g, "\n");
    }
    assert_int_equal(fclose(c), 0);
    assert_int_equal(fclose(g), 0);
}

static void train(setup *s, const char *data, const char *list, const char *model, trl_format f)
{
    setup_make(s, data);
    s->o.kind = "graph";
    s->o.template_text = list;
    s->o.template_size = strlen(list);
    s->o.model = model;
    s->o.format = f;
    s->o.threads = 1;
    assert_ok(trl_train(&s->o, &s->result, &err));
}

/* The best labels of every sentence, by number, with the scores to 6 digits. */
static void label_file(const char *model, const char *data, trl_format format, trl_buf *out)
{
    const trl_graph_tagger_options options = trl_graph_tagger_options_default();
    trl_graph_model *m = NULL;
    trl_graph_tagger *t = NULL;
    trl_reader *r = NULL;
    assert_ok(trl_graph_model_open(model, &m, &err));
    assert_ok(trl_graph_tagger_new(m, &options, &t, &err));
    assert_ok(trl_reader_open(data, format, &r, &err));
    assert_int_equal(trl_graph_model_get_info(m).attributes, format == TRL_FORMAT_GRMM);
    for (bool more = true; more;) {
        trl_rows rows;
        const size_t *begin;
        const trl_attr *attr;
        uint32_t label[40];
        trl_graph_answer answer;
        assert_ok(trl_reader_rows(r, &rows, &more, &err));
        if (!more)
            break;
        trl_reader_attributes(r, &begin, &attr);
        assert_int_equal(begin != NULL, format == TRL_FORMAT_GRMM);
        trl_graph_tagger_clear(t);
        assert_ok(trl_graph_tagger_add_items(t, &rows, begin, attr, &err));
        assert_ok(trl_graph_tagger_best(t, label, &answer, &err));
        for (size_t k = 0; k < 2 * rows.n_tokens; k++)
            trl_buf_fmt(out, "%u ", (unsigned)label[k]);
        trl_buf_fmt(out, "%.6f\n", answer.score);
    }
    trl_buf_ch(out, '\0');
    trl_reader_free(r);
    trl_graph_tagger_free(t);
    trl_graph_model_free(m);
}

static void test_training(void **state)
{
    (void)state;
    char columns[512], grmm[512], own[512], theirs[512];
    snprintf(columns, sizeof columns, "%s", in_folder("columns"));
    snprintf(grmm, sizeof grmm, "%s", in_folder("grmm"));
    snprintf(own, sizeof own, "%s", in_folder("own.model"));
    snprintf(theirs, sizeof theirs, "%s", in_folder("theirs.model"));
    for (uint64_t seed = 1; seed <= 3; seed++) {
        setup a, b;
        trl_buf x = {0}, y = {0};
        write_both(columns, grmm, seed);
        train(&a, columns, own_file, own, TRL_FORMAT_COLUMNS);
        train(&b, grmm, grmm_list, theirs, TRL_FORMAT_GRMM);
        assert_true(fabs(a.result.objective - b.result.objective) < 1e-9 * a.result.objective);
        assert_int_equal(a.result.n_features, b.result.n_features);
        label_file(own, columns, TRL_FORMAT_COLUMNS, &x);
        label_file(theirs, grmm, TRL_FORMAT_GRMM, &y);
        assert_string_equal(x.data, y.data);
        trl_buf_fini(&x);
        trl_buf_fini(&y);
    }
}

static void test_training_refused(void **state)
{
    (void)state;
    setup s;
    setup_make(&s, write_file("one", "B ---- W=a\n"));
    s.o.format = TRL_FORMAT_GRMM;
    assert_int_equal(trl_train(&s.o, &s.result, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "not for chains"));
    s.o.kind = "graph";
    s.o.template_text = own_file;
    s.o.template_size = strlen(own_file);
    assert_int_equal(trl_train(&s.o, &s.result, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "reads columns"));
    s.o.template_text = grmm_list;
    s.o.template_size = strlen(grmm_list);
    s.o.format = TRL_FORMAT_COLUMNS;
    assert_int_equal(trl_train(&s.o, &s.result, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "reads GRMM's data"));
    s.o.format = TRL_FORMAT_GUESS; /* one label, and the list asks for two */
    assert_int_equal(trl_train(&s.o, &s.result, &err), TRL_EPARSE);
    assert_int_equal(err.row, 1);
    assert_int_equal(err.col, 27);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_data_faults),
        cmocka_unit_test(test_templates),
        cmocka_unit_test(test_templates_refused),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_training_refused),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-grmm-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
