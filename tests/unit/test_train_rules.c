/* test_train_rules.c -- rules about labels that a model keeps since it was trained. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/buf.h"
#include "train_notes.h"
#include "trellis/constraint.h"
#include "trellis/dataset.h"
#include "trellis/scheme.h"

#define MOST 12

/* Labels that are well-formed iob2, and words that say too little about them. */
static const char *write_chunks(const char *name, uint64_t seed, size_t sentences)
{
    static const char *const label[] = {"O", "B-X", "I-X", "B-Y", "I-Y"};
    const char *path = in_folder(name);
    trl_rng rng = trl_rng_seed(seed);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (size_t s = 0; s < sentences; s++) {
        size_t y = 0;
        for (size_t t = 0, n = 1 + trl_rng_below(&rng, MOST); t < n; t++) {
            size_t next = trl_rng_below(&rng, 5);
            if ((next == 2 || next == 4) && y != next && y + 1 != next)
                next--;
            y = next;
            const size_t w = trl_rng_below(&rng, 4) ? y : trl_rng_below(&rng, 5);
            fprintf(f, "w%zu p%zu %s\n", w, trl_rng_below(&rng, 2), label[y]);
        }
        fprintf(f, "\n");
    }
    assert_int_equal(fclose(f), 0);
    return path;
}

/* A template without label pairs: nothing but the rules keeps labels well-formed. */
static void train_kept(setup *s, const char *scheme, const char *rules)
{
    notes n = {0};
    setup_make(s, write_chunks("data", 5, 200));
    use_template(s, "U:%x[0,0]\nU:%x[0,1]\n");
    s->o.scheme = scheme;
    s->o.rules = rules ? write_file("rules", rules) : NULL;
    s->o.max_iter = 8;
    train(s, &n);
}

static bool well_formed(const trl_model *m, const uint32_t *y, size_t n)
{
    trl_error err;
    trl_str label[MOST];
    size_t at;
    for (size_t t = 0; t < n; t++)
        label[t] = trl_model_label(m, y[t]);
    return trl_scheme_check(TRL_SCHEME_IOB2, label, n, &at, &err) == TRL_OK;
}

typedef struct counts {
    size_t viterbi, nbest, posterior; /* labellings that are not well-formed */
} counts;

static void count_one(const trl_model *m, trl_tagger *t, const trl_rows *seq, counts *c)
{
    trl_error err;
    uint32_t y[3 * MOST];
    double score[3];
    size_t found;
    const size_t n = seq->n_tokens;
    assert_ok(trl_tagger_set_rows(t, seq, &err));
    assert_ok(trl_tagger_viterbi(t, y, score, &err));
    c->viterbi += !well_formed(m, y, n);
    assert_ok(trl_tagger_posterior(t, y, &err));
    c->posterior += !well_formed(m, y, n);
    assert_ok(trl_tagger_nbest(t, 3, y, score, &found, &err));
    for (size_t k = 0; k < found; k++)
        c->nbest += !well_formed(m, y + k * n, n);
}

/* `lift`: without the model's rules. */
static counts count(const char *model, bool lift)
{
    trl_error err;
    trl_model *m = NULL;
    trl_tagger *t = NULL;
    trl_reader *r = NULL;
    trl_rows seq;
    counts c = {0};
    assert_ok(trl_model_open(model, &m, &err));
    assert_ok(trl_tagger_new(m, &t, &err));
    if (lift)
        assert_ok(trl_tagger_constrain(t, NULL, &err));
    assert_ok(trl_reader_open(write_chunks("test", 6, 100), TRL_FORMAT_COLUMNS, &r, &err));
    for (bool more = true; more;) {
        assert_ok(trl_reader_rows(r, &seq, &more, &err));
        if (more)
            count_one(m, t, &seq, &c);
    }
    trl_reader_free(r);
    trl_tagger_free(t);
    trl_model_free(m);
    return c;
}

static void test_obeyed(void **state)
{
    (void)state;
    setup s;
    static const char *const scheme[] = {"iob2", NULL};
    static const char *const file[] = {NULL, "\xef\xbb\xbf# names\r\n\r\n \tscheme  iob2\r\n"};
    for (int k = 0; k < 2; k++) {
        train_kept(&s, scheme[k], file[k]);
        const counts kept = count(in_folder("model"), false),
                     free = count(in_folder("model"), true);
        assert_int_equal(kept.viterbi + kept.nbest + kept.posterior, 0);
        assert_true(free.viterbi > 0 && free.nbest > 0 && free.posterior > 0);
    }
}

/* The dump without its lines `setting rule ...`, of which there are *n. */
static void dump_of(const char *model, trl_buf *out, size_t *n)
{
    trl_error err;
    trl_model *m = NULL;
    trl_buf all = {0};
    *n = 0;
    assert_ok(trl_model_open(model, &m, &err));
    assert_ok(trl_model_dump_buf(m, &all, &err));
    for (size_t p = 0, len; p < all.len; p += len) {
        const char *line = all.data + p, *lf = memchr(line, '\n', all.len - p);
        len = lf ? (size_t)(lf - line) + 1 : all.len - p;
        if (len > 13 && memcmp(line, "setting\trule ", 13) == 0)
            ++*n;
        else
            assert_true(trl_buf_add(out, line, len));
    }
    trl_buf_fini(&all);
    trl_model_free(m);
}

/* Rules change what is kept, and no weight. */
static void test_weights(void **state)
{
    (void)state;
    setup s;
    trl_buf with = {0}, without = {0};
    size_t n, none;
    train_kept(&s, NULL, NULL);
    dump_of(in_folder("model"), &without, &none);
    train_kept(&s, "iob2", "one-span\n# no rule\nforbid 'O' B-Y\n");
    dump_of(in_folder("model"), &with, &n);
    assert_int_equal(none, 0);
    assert_int_equal(n, 3);
    assert_int_equal(with.len, without.len);
    assert_memory_equal(with.data, without.data, with.len);
    trl_buf_fini(&with);
    trl_buf_fini(&without);
}

/* From memory, items and columns: the same model as from the file. */
static void test_memory(void **state)
{
    (void)state;
    static const char *const text[] = {"B-X\ta\tb\nI-X\tb\n\nO\ta\n\n", "a B-X\nb I-X\n\na O\n\n"};
    for (int k = 0; k < 2; k++) {
        trl_error err;
        setup s;
        notes n = {0};
        trl_dataset *d = NULL;
        const trl_format format = k == 0 ? TRL_FORMAT_CRFSUITE : TRL_FORMAT_COLUMNS;
        setup_make(&s, write_file("data", text[k]));
        use_template(&s, NULL);
        s.o.format = format;
        s.o.scheme = "iob2";
        train(&s, &n);
        assert_ok(trl_dataset_new(&d, &err));
        assert_ok(trl_dataset_read(d, in_folder("data"), format, &err));
        s.o.n_train = 0;
        s.o.data = d;
        s.o.model = in_folder("copy");
        train(&s, &n);
        assert_same_files(in_folder("model"), in_folder("copy"));
        trl_dataset_free(d);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void expect(const setup *s, trl_status want, const char *place, const char *words)
{
    trl_error err = {0};
    trl_train_result result;
    char text[1200];
    unlink(s->o.model);
    assert_int_equal(trl_train(&s->o, &result, &err), want);
    trl_error_text(&err, text, sizeof text);
    if (!strstr(text, place) || !strstr(text, words)) {
        print_error("'%s' does not say '%s' and '%s'\n", text, place, words);
        fail();
    }
    assert_false(exists(s->o.model));
}

static void test_bad_labels(void **state)
{
    (void)state;
    trl_error err;
    setup s;
    trl_dataset *d = NULL;
    setup_make(&s, write_file("data", "a O\n\nb O\nccc  I-X\n"));
    use_template(&s, NULL);
    s.o.scheme = "iob2";
    expect(&s, TRL_EPARSE, "data:4:6:", "'I-X' does not follow 'O' in iob2");
    s.o.scheme = NULL;
    s.o.rules = write_file("rules", "one-span\nscheme iob2\n");
    expect(&s, TRL_EPARSE, "data:4:6:", "iob2");
    s.o.rules = NULL;
    s.o.scheme = "bilou";
    s.train[0] = write_file("data", "O\ta\n\nO\tb\nB-X\tc\n\n");
    s.o.format = TRL_FORMAT_CRFSUITE;
    expect(&s, TRL_EPARSE, "data:4:1:", "'B-X' does not end a sequence in bilou");
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_dataset_read(d, s.train[0], TRL_FORMAT_CRFSUITE, &err));
    s.o.n_train = 0;
    s.o.data = d;
    expect(&s, TRL_EPARSE, "<data>: sequence 2, token 2:", "'B-X' does not end");
    trl_dataset_free(d);
}

/* Sequences that are left out are not checked, nor labels of which little is known. */
static void test_not_checked(void **state)
{
    (void)state;
    setup s;
    notes n = {0};
    setup_make(&s, write_file("data", "a B-X\nb I-X\n\na I-X\n\na O\nb B-X\n\n"));
    use_template(&s, NULL);
    s.o.scheme = "iob2";
    s.o.max_iter = 2;
    expect(&s, TRL_EPARSE, "data:4:3:", "'I-X' does not start");
    s.o.hold_out = 2;
    train(&s, &n);
    s.o.hold_out = 0;
    s.o.partial = true;
    s.train[0] = write_file("data", "a B-X\nb ?\n\na B-X|O\nb I-X\n\n");
    train(&s, &n);
}

static void test_bad_rules(void **state)
{
    (void)state;
    setup s;
    setup_make(&s, write_file("data", "a O\nb B-X\n\n"));
    use_template(&s, NULL);
    s.o.scheme = "iob";
    expect(&s, TRL_EINVAL, "scheme 'iob' is not known", "bilou");
    s.o.scheme = NULL;
    s.o.rules = write_file("rules", "# of labels\nforbid O Q\n");
    expect(&s, TRL_EPARSE, "rules:2:10:", "no label 'Q'");
    s.o.rules = write_file("rules", "\nforbids O O\n");
    expect(&s, TRL_EPARSE, "rules:2:1:", "no rule of that name");
    s.o.rules = write_file("rules", "follow <s> B-X\nforbid <s> B-X\n");
    expect(&s, TRL_EINVAL, "rules:2", "no labelling is left");
    s.o.rules = in_folder("nothing");
    expect(&s, TRL_EIO, "nothing", "cannot open");
    s.o.rules = NULL;
    s.o.scheme = "iob2";
    s.o.kind = "tree";
    expect(&s, TRL_EINVAL, "scheme", "goes with models of chains");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_obeyed),      cmocka_unit_test(test_weights),
        cmocka_unit_test(test_memory),      cmocka_unit_test(test_bad_labels),
        cmocka_unit_test(test_not_checked), cmocka_unit_test(test_bad_rules),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-rules-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
