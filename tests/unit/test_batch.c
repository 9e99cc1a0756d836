/* test_batch.c -- batches of sequences: the answers of a tagger one by one, bit for bit; items by
 * numbers. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <math.h>

#include "toy_model.h"
#include "trellis/batch.h"
#include "trellis/train.h"

static trl_error err;

enum { MOST = 60, LENGTH = 7, N = 3 };

/* ---- one by one ------------------------------------------------------------------------------ */

typedef struct answers {
    uint32_t labels[N * MOST * LENGTH], posterior[MOST * LENGTH];
    double scores[N * MOST], log_z[MOST], marginals[MOST * LENGTH * 8];
    size_t found[MOST];
    uint64_t attributes, unknown;
} answers;

typedef struct problem {
    toy y;
    trl_rows rows[MOST];
    trl_items items[MOST];
    size_t n, tokens;
    answers want, got;
} problem;

static size_t length(const problem *p, size_t k)
{
    return p->y.tpl ? p->rows[k].n_tokens : p->items[k].n_tokens;
}

static void one_by_one(problem *p, size_t nbest, trl_decoding how)
{
    trl_tagger *t = NULL;
    answers *a = &p->want;
    size_t first = 0;
    const size_t L = p->y.c.labels.n;
    assert_ok(trl_tagger_new(p->y.m, &t, &err));
    assert_ok(trl_tagger_set_decoding(t, how, &err));
    for (size_t k = 0; k < p->n; first += length(p, k), k++) {
        uint32_t *labels = a->labels + nbest * first;
        assert_ok(p->y.tpl ? trl_tagger_set_rows(t, &p->rows[k], &err)
                           : trl_tagger_set_items(t, &p->items[k], &err));
        for (size_t r = 0; r < nbest; r++)
            a->scores[nbest * k + r] = -INFINITY;
        memset(labels, 0xff, nbest * length(p, k) * sizeof *labels);
        a->found[k] = 1;
        if (nbest > 1)
            assert_ok(
                trl_tagger_nbest(t, nbest, labels, a->scores + nbest * k, &a->found[k], &err));
        else
            assert_ok(trl_tagger_viterbi(t, labels, &a->scores[k], &err));
        assert_ok(trl_tagger_posterior(t, a->posterior + first, &err));
        assert_ok(trl_tagger_log_z(t, &a->log_z[k], &err));
        assert_ok(trl_tagger_marginals(t, a->marginals + first * L, &err));
    }
    a->attributes = trl_tagger_attributes(t);
    a->unknown = trl_tagger_unknown(t);
    p->tokens = first;
    trl_tagger_free(t);
}

static void problem_make(trl_rng *rng, problem *p, bool items)
{
    toy_shape shape = toy_random_shape(rng, LENGTH);
    if (items) {
        shape.template_text = NULL;
        shape.values = trl_rng_below(rng, 2);
    }
    *p = (problem){.n = MOST};
    toy_make(rng, shape, &p->y);
    for (size_t k = 0; k < p->n; k++) {
        const size_t from = trl_rng_below(rng, p->y.shape.n_sequences);
        if (p->y.tpl)
            p->rows[k] = p->y.rows[from];
        else
            p->items[k] = p->y.items[from];
    }
    assert_true(p->y.c.labels.n <= 8);
}

static trl_tag_batch everything(answers *a, size_t nbest, size_t threads)
{
    trl_tag_batch b = trl_tag_batch_default();
    memset(a, 0, sizeof *a);
    b.threads = threads;
    b.nbest = nbest;
    b.labels = a->labels;
    b.scores = a->scores;
    b.found = a->found;
    b.log_z = a->log_z;
    b.marginals = a->marginals;
    b.attributes = &a->attributes;
    b.unknown = &a->unknown;
    return b;
}

static void same(const problem *p, size_t nbest)
{
    const answers *a = &p->want, *b = &p->got;
    const size_t L = p->y.c.labels.n;
    assert_memory_equal(a->labels, b->labels, nbest * p->tokens * sizeof *a->labels);
    assert_memory_equal(a->scores, b->scores, nbest * p->n * sizeof *a->scores);
    assert_memory_equal(a->found, b->found, p->n * sizeof *a->found);
    assert_memory_equal(a->log_z, b->log_z, p->n * sizeof *a->log_z);
    assert_memory_equal(a->marginals, b->marginals, p->tokens * L * sizeof *a->marginals);
    assert_int_equal(a->attributes, b->attributes);
    assert_int_equal(a->unknown, b->unknown);
}

static void test_same_bits(void **state)
{
    (void)state;
    static problem p;
    trl_rng rng = trl_rng_seed(11);
    for (int round = 0; round < 30; round++) {
        problem_make(&rng, &p, round % 2);
        for (size_t nbest = 1; nbest <= N; nbest += N - 1)
            for (int local = 0; local < 2; local++) {
                const trl_decoding how = local ? TRL_DECODE_LOCAL : TRL_DECODE_MODEL;
                one_by_one(&p, nbest, how);
                for (size_t threads = 1; threads <= 3; threads++) {
                    trl_tag_batch b = everything(&p.got, nbest, threads);
                    b.decoding = how;
                    assert_ok(p.y.tpl ? trl_tag_rows(p.y.m, p.rows, p.n, &b, &err)
                                      : trl_tag_items(p.y.m, p.items, p.n, &b, &err));
                    same(&p, nbest);
                }
            }
        toy_free(&p.y);
    }
}

/* Each answer alone. */
static void test_parts(void **state)
{
    (void)state;
    static problem p;
    trl_rng rng = trl_rng_seed(12);
    do {
        if (p.y.m)
            toy_free(&p.y);
        problem_make(&rng, &p, false);
    } while (!p.y.tpl);
    one_by_one(&p, 1, TRL_DECODE_MODEL);
    trl_tag_batch b = trl_tag_batch_default();
    assert_ok(trl_tag_rows(p.y.m, p.rows, p.n, &b, &err)); /* nothing is wanted */
    b.posterior = true;
    b.labels = p.got.labels;
    b.scores = p.got.scores;
    assert_ok(trl_tag_rows(p.y.m, p.rows, p.n, &b, &err));
    assert_memory_equal(p.got.labels, p.want.posterior, p.tokens * sizeof *b.labels);
    b = trl_tag_batch_default();
    b.scores = p.got.scores;
    assert_ok(trl_tag_rows(p.y.m, p.rows, p.n, &b, &err));
    assert_memory_equal(p.got.scores, p.want.scores, p.n * sizeof *b.scores);
    one_by_one(&p, N, TRL_DECODE_MODEL);
    b = trl_tag_batch_default();
    b.nbest = N;
    b.found = p.got.found;
    assert_ok(trl_tag_rows(p.y.m, p.rows, p.n, &b, &err));
    assert_memory_equal(p.got.found, p.want.found, p.n * sizeof *b.found);
    assert_ok(trl_tag_rows(p.y.m, NULL, 0, &b, &err)); /* no sequences at all */
    toy_free(&p.y);
}

/* ---- numbers --------------------------------------------------------------------------------- */

typedef struct numbers {
    size_t first[MOST + 1], begin[MOST * LENGTH + 1];
    uint32_t attr[MOST * LENGTH * 64], label[MOST * LENGTH];
    double value[MOST * LENGTH * 64], weight[MOST];
    trl_numbered_items all;
} numbers;

typedef uint32_t (*number_fn)(const void *ctx, trl_str name, bool is_label);

static void number_all(numbers *x, const trl_items *seq, size_t n, number_fn number,
                       const void *ctx)
{
    size_t t = 0, m = 0;
    for (size_t k = 0; k < n; k++) {
        x->first[k] = t;
        x->weight[k] = seq[k].weight;
        for (size_t pos = 0; pos < seq[k].n_tokens; pos++, t++) {
            x->begin[t] = m;
            x->label[t] = seq[k].label ? number(ctx, seq[k].label[pos], true) : 0;
            for (size_t i = seq[k].begin[pos]; i < seq[k].begin[pos + 1]; i++, m++) {
                assert_true(m < sizeof x->attr / sizeof *x->attr);
                x->attr[m] = number(ctx, seq[k].attr[i].name, false);
                x->value[m] = seq[k].attr[i].value;
            }
        }
    }
    x->first[n] = t;
    x->begin[t] = m;
    x->all = (trl_numbered_items){.n_sequences = n,
                                  .first = x->first,
                                  .label = x->label,
                                  .begin = x->begin,
                                  .attr = x->attr,
                                  .value = x->value,
                                  .weight = x->weight};
}

static uint32_t by_model(const void *m, trl_str name, bool is_label)
{
    return is_label ? 0 : trl_model_find_attribute(m, TRL_SCOPE_LABEL, name);
}

static void test_numbered_tags(void **state)
{
    (void)state;
    static problem p;
    static numbers x;
    trl_rng rng = trl_rng_seed(13);
    for (int round = 0; round < 20; round++) {
        problem_make(&rng, &p, true);
        number_all(&x, p.items, p.n, by_model, p.y.m);
        one_by_one(&p, N, TRL_DECODE_MODEL);
        trl_tag_batch b = everything(&p.got, N, 2);
        assert_ok(trl_tag_numbered(p.y.m, &x.all, &b, &err));
        same(&p, N);
        toy_free(&p.y);
    }
}

static uint32_t by_dataset(const void *d, trl_str name, bool is_label)
{
    union {
        const void *c;
        trl_dataset *d;
    } set = {.c = d};
    uint32_t number;
    assert_ok(is_label ? trl_dataset_number_labels(set.d, &name, 1, &number, &err)
                       : trl_dataset_number(set.d, &name, 1, &number, &err));
    return number;
}

static const trl_str word[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"unused", 6}};
static const trl_attr attr[] = {{{"a", 1}, 1}, {{"b", 1}, 2}, {{"b", 1}, 1},
                                {{"c", 1}, 1}, {{"a", 1}, 1}, {{"", 0}, 0.5}};
static const size_t begin[] = {0, 2, 3, 6};
static const trl_str label[] = {{"X", 1}, {"Y", 1}, {"X", 1}};
static const trl_items given[] = {{3, label, begin, attr, 1.0, NULL, 0},
                                  {2, label + 1, begin + 1, attr, 2.0, NULL, 0},
                                  {1, label, begin, attr + 2, 0.5, NULL, 0},
                                  {3, label, begin, attr, 1.0, NULL, 0}};

static void train(const trl_dataset *d, const char *objective, uint64_t hold_out, trl_buf *out)
{
    trl_train_options o = trl_train_options_default();
    o.data = o.dev_data = d;
    o.objective = objective;
    o.hold_out = hold_out;
    o.model_out = out;
    o.max_iter = 10;
    assert_ok(trl_train(&o, NULL, &err));
}

/* A data set of numbers is one of names: the same model, byte for byte, whatever numbers come
 * first. */
static void test_numbered_data(void **state)
{
    (void)state;
    static numbers x;
    trl_dataset *a = NULL, *b = NULL;
    uint32_t number[4];
    assert_ok(trl_dataset_new(&a, &err));
    assert_ok(trl_dataset_new(&b, &err));
    assert_ok(trl_dataset_add_items(a, given, 4, NULL, &err));
    assert_ok(trl_dataset_number(b, word + 1, 3, number, &err)); /* another order, and more */
    assert_int_equal(number[2], 2);
    assert_int_equal(trl_dataset_get_info(b).format, TRL_FORMAT_GUESS);
    number_all(&x, given, 4, by_dataset, b);
    const size_t cut = x.all.n_sequences - 1;
    x.all.n_sequences = cut;
    assert_ok(trl_dataset_add_numbered(b, &x.all, &err));
    x.all = (trl_numbered_items){1, x.first + cut, x.label, x.begin, x.attr, x.value, NULL};
    assert_ok(trl_dataset_add_numbered(b, &x.all, &err));
    assert_int_equal(trl_dataset_get_info(b).n_tokens, trl_dataset_get_info(a).n_tokens);
    static const char *const objective[] = {"likelihood", "m-estimation", "perceptron"};
    for (size_t k = 0; k < 3; k++)
        for (uint64_t hold_out = 0; hold_out <= 2; hold_out += 2) {
            trl_buf one = {0}, two = {0};
            train(a, objective[k], hold_out, &one);
            train(b, objective[k], hold_out, &two);
            assert_int_equal(one.len, two.len);
            assert_memory_equal(one.data, two.data, one.len);
            trl_buf_fini(&one);
            trl_buf_fini(&two);
        }
    trl_dataset_free(a);
    trl_dataset_free(b);
}

/* ---- what is refused ------------------------------------------------------------------------- */

#define REFUSED(sentence, call)                                                                    \
    do {                                                                                           \
        err = (trl_error){0};                                                                      \
        assert_int_equal((call), TRL_EINVAL);                                                      \
        assert_non_null(strstr(err.msg, sentence));                                                \
    } while (0)

static void test_wrong_numbers(void **state)
{
    (void)state;
    trl_dataset *d = NULL;
    uint32_t number[4], y[] = {0, 1, 0}, a[] = {0, 1, 2, 3};
    double value[] = {1, 1, 1, 1}, weight[] = {1, 1};
    size_t first[] = {0, 2, 3}, at[] = {0, 1, 3, 4};
    const trl_str nul = {"x\0y", 3}, empty = {"", 0}, gone = {NULL, 2};
    const trl_rows rows = {.n_tokens = 1, .n_columns = 2, .cell = word};
    trl_numbered_items x = {2, first, y, at, a, value, weight};
    assert_ok(trl_dataset_new(&d, &err));
    REFUSED("NULL", trl_dataset_number(NULL, word, 1, number, &err));
    REFUSED("NULL", trl_dataset_number(d, NULL, 1, number, &err));
    REFUSED("NULL", trl_dataset_number(d, word, 1, NULL, &err));
    REFUSED("name 1 contains a NUL byte", trl_dataset_number(d, &nul, 1, number, &err));
    REFUSED("name 1 is NULL", trl_dataset_number(d, &gone, 1, number, &err));
    REFUSED("label 1 is empty", trl_dataset_number_labels(d, &empty, 1, number, &err));
    REFUSED("NULL", trl_dataset_number_labels(d, NULL, 1, number, &err));
    REFUSED("NULL", trl_dataset_add_numbered(NULL, &x, &err));
    REFUSED("NULL", trl_dataset_add_numbered(d, NULL, &err));
    REFUSED("the number of the label is not known", trl_dataset_add_numbered(d, &x, &err));
    assert_ok(trl_dataset_number_labels(d, word, 2, number, &err));
    REFUSED("sequence 1, token 1: the number of an attribute is not known",
            trl_dataset_add_numbered(d, &x, &err));
    assert_ok(trl_dataset_number(d, word, 4, number, &err));
    value[3] = NAN;
    REFUSED("sequence 2, token 1: a value is not finite", trl_dataset_add_numbered(d, &x, &err));
    value[3] = 1;
    weight[1] = -1;
    REFUSED("sequence 2: the weight is negative", trl_dataset_add_numbered(d, &x, &err));
    weight[1] = 1;
    first[1] = 3;
    REFUSED("sequence 2: there are no tokens", trl_dataset_add_numbered(d, &x, &err));
    first[1] = 2;
    at[1] = 4;
    REFUSED("sequence 1, token 2: its attributes end before",
            trl_dataset_add_numbered(d, &x, &err));
    at[1] = 1;
    x.attr = NULL;
    REFUSED("attributes are NULL", trl_dataset_add_numbered(d, &x, &err));
    x.attr = a;
    x.begin = NULL;
    REFUSED("NULL", trl_dataset_add_numbered(d, &x, &err));
    x.begin = at;
    assert_int_equal(trl_dataset_get_info(d).n_sequences, 0);
    assert_ok(trl_dataset_add_numbered(d, &x, &err));
    REFUSED("items", trl_dataset_add_rows(d, &rows, 1, NULL, &err));
    trl_dataset_free(d);
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_dataset_add_rows(d, &rows, 1, NULL, &err));
    REFUSED("rows", trl_dataset_number(d, word, 1, number, &err));
    REFUSED("rows", trl_dataset_number_labels(d, word, 1, number, &err));
    REFUSED("rows", trl_dataset_add_numbered(d, &x, &err));
    trl_dataset_free(d);
}

static void test_wrong_batches(void **state)
{
    (void)state;
    trl_dataset *d = NULL;
    trl_model *m = NULL;
    trl_buf bytes = {0};
    uint32_t y[9], id[] = {77};
    const size_t first[] = {0, 1}, falls[] = {1, 0}, at[] = {0, 1};
    trl_tag_batch b = trl_tag_batch_default(), zero;
    memset(&zero, 0, sizeof zero);
    trl_items bad[] = {given[0], given[1]};
    const trl_numbered_items x = {.n_sequences = 1, .first = first, .begin = at, .attr = id};
    const trl_numbered_items z = {.n_sequences = 1, .first = falls, .begin = at, .attr = id};
    const trl_rows rows = {.n_tokens = 1, .n_columns = 2, .cell = word};
    assert_ok(trl_dataset_new(&d, &err));
    assert_ok(trl_dataset_add_items(d, given, 4, NULL, &err));
    train(d, "likelihood", 0, &bytes);
    assert_ok(trl_model_from_memory(bytes.data, bytes.len, &m, &err));
    b.labels = y;
    REFUSED("NULL", trl_tag_items(NULL, given, 1, &b, &err));
    REFUSED("NULL", trl_tag_items(m, NULL, 1, &b, &err));
    REFUSED("NULL", trl_tag_items(m, given, 1, NULL, &err));
    REFUSED("NULL", trl_tag_rows(m, NULL, 1, &b, &err));
    REFUSED("NULL", trl_tag_numbered(m, NULL, &b, &err));
    REFUSED("no size", trl_tag_items(m, given, 1, &zero, &err));
    zero.size = sizeof zero + 8;
    REFUSED("newer version", trl_tag_items(m, given, 1, &zero, &err));
    zero.size = sizeof zero;
    REFUSED("nbest is 0", trl_tag_items(m, given, 1, &zero, &err));
    REFUSED("sequence 1: the model reads attribute lists", trl_tag_rows(m, &rows, 1, &b, &err));
    REFUSED("sequence 1: token 1: the model has no attribute", trl_tag_numbered(m, &x, &b, &err));
    REFUSED("ends before it begins", trl_tag_numbered(m, &z, &b, &err));
    bad[1].n_tokens = 0;
    REFUSED("sequence 2: an empty sequence", trl_tag_items(m, bad, 2, &b, &err));
    bad[1] = given[1];
    bad[1].begin = NULL;
    REFUSED("sequence 2: ", trl_tag_items(m, bad, 2, &b, &err));
    bad[1] = given[1];
    bad[1].attr = NULL;
    REFUSED("sequence 2: ", trl_tag_items(m, bad, 2, &b, &err));
    b.decoding = (trl_decoding)9;
    REFUSED("not a way of decoding", trl_tag_items(m, given, 1, &b, &err));
    b = trl_tag_batch_default();
    b.posterior = true;
    b.nbest = 2;
    REFUSED("one labelling, not 2", trl_tag_items(m, given, 1, &b, &err));
    trl_tag_batch_init(NULL, 5);
    trl_model_free(m);
    trl_buf_fini(&bytes);
    trl_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),     cmocka_unit_test(test_parts),
        cmocka_unit_test(test_numbered_tags), cmocka_unit_test(test_numbered_data),
        cmocka_unit_test(test_wrong_numbers), cmocka_unit_test(test_wrong_batches),
    };
    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
