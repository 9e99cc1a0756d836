/* test_oracle_crf.c -- training and tagging against CRFsuite's own output.
 *
 * tests/oracle/crf holds sentences of our own corpus, what CRFsuite 0.12.2 made of them with
 * c2 = 1, run to the end of its precision, and its tags for others; $TRELLIS_ORACLES/crf (or
 * ../shared/oracles/crf) the same of 300 sentences of CoNLL-2000.  Numbers there have six digits
 * after the point. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "model/chain_model.h"
#include "model/model.h"
#include "trellis/tagger.h"
#include "trellis/train.h"

typedef struct oracle {
    const char *outside; /* below $TRELLIS_ORACLES; NULL: `folder` is ours */
    char folder[1024];
    double objective;
    size_t features, sequences; /* of the model, to be tagged */
} oracle;

static oracle sample = {
    .folder = "tests/oracle/crf", .objective = 539.144605, .features = 2032, .sequences = 40};
static oracle conll = {
    .outside = "crf", .objective = 1202.935918, .features = 38828, .sequences = 60};

static char model_path[2][64];

static const char *path_of(const oracle *o, const char *name)
{
    static char path[2048];
    snprintf(path, sizeof path, "%s/%s", o->folder, name);
    return path;
}

static const oracle *find_oracle(void **state)
{
    oracle *o = *state;
    if (o->outside)
        snprintf(o->folder, sizeof o->folder, "%s/%s",
                 test_folder("TRELLIS_ORACLES", "../shared/oracles"), o->outside);
    return o;
}

/* ---- training -------------------------------------------------------------------------- */

/* - sum of log p(gold) + ||w||^2 with the model's own weights, through the tagger. */
static double objective_of(const trl_model *m, const char *path)
{
    trl_error err;
    trl_reader *r = NULL;
    trl_tagger *t = NULL;
    bool more = true;
    double F = 0.0;
    const trl_chain_model *c = trl_model_chain(m);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        for (uint64_t i = 0; i < c->family[f].n_weights; i++)
            F += (double)c->family[f].weight[i] * (double)c->family[f].weight[i];
    assert_ok(trl_reader_open(path, TRL_FORMAT_CRFSUITE, &r, &err));
    assert_ok(trl_tagger_new(m, &t, &err));
    for (;;) {
        trl_items seq;
        double log_z, score;
        assert_ok(trl_reader_items(r, &seq, &more, &err));
        if (!more)
            break;
        uint32_t *gold = malloc(seq.n_tokens * sizeof *gold);
        for (size_t i = 0; i < seq.n_tokens; i++)
            gold[i] = trl_model_find_label(m, seq.label[i]);
        assert_ok(trl_tagger_set_items(t, &seq, &err));
        assert_ok(trl_tagger_log_z(t, &log_z, &err));
        assert_ok(trl_tagger_score(t, gold, &score, &err));
        F += log_z - score;
        free(gold);
    }
    trl_tagger_free(t);
    trl_reader_free(r);
    return F;
}

static void train_with(const oracle *k, const char *optimizer, double epsilon, const char *model)
{
    trl_error err;
    trl_train_options o = trl_train_options_default();
    trl_train_result result;
    trl_model *m = NULL;
    const char *train[1] = {path_of(k, "train.crfsuite")};
    o.train = train;
    o.n_train = 1;
    o.optimizer = optimizer;
    o.model = model;
    o.c2 = 1.0;
    o.epsilon = epsilon;
    o.delta = 0.0;
    o.max_iter = 3000;
    assert_ok(trl_train(&o, &result, &err));
    assert_true(result.iterations < o.max_iter);
    assert_int_equal(result.n_features, k->features);
    assert_near(result.objective / k->objective, 1.0, 1e-5 / 2.0);
    assert_ok(trl_model_open(model, &m, &err));
    assert_near(objective_of(m, path_of(k, "train.crfsuite")) / k->objective, 1.0, 1e-5 / 2.0);
    trl_model_free(m);
}

static void test_train_lbfgs(void **state)
{
    train_with(find_oracle(state), "lbfgs", 1e-7, model_path[0]);
}

static void test_train_sag(void **state)
{
    train_with(find_oracle(state), "sag", 1e-7, model_path[1]);
}

static void test_train_sdca(void **state)
{
    train_with(find_oracle(state), "sdca", 1e-6, model_path[1]);
}

/* ---- weights --------------------------------------------------------------------------- */

static double weight_of(const trl_chain_model *m, size_t f, trl_str attr, uint32_t cell)
{
    const trl_model_family *p = &m->family[f];
    const uint32_t a = trl_strview_find(&p->names, attr.p, attr.n, trl_str_hash(attr.p, attr.n));
    if (a == TRL_NO_ID)
        return 0.0;
    const trl_weight_row row = trl_model_row(p, a);
    for (uint64_t at = row.at; at < row.at + row.k; at++)
        if (trl_model_cell(p, row, at) == cell)
            return (double)p->weight[at];
    return 0.0;
}

static uint32_t label_id(const trl_chain_model *m, trl_str s)
{
    const uint32_t id = trl_strview_find(&m->labels, s.p, s.n, trl_str_hash(s.p, s.n));
    assert_true(id != TRL_NO_ID);
    return id;
}

/* `  (1) B-NP --> I-NP: 4.244426` or `  (0) w[1]=in --> B-NP: 0.084484`; the last arrow and
 * the last colon count. */
static bool check_dump_line(const trl_chain_model *m, char *line, double *worst)
{
    if (strncmp(line, "  (", 3) != 0)
        return false;
    char *arrow = NULL, *colon = strrchr(line, ':');
    for (char *p = line; (p = strstr(p, " --> ")); p++)
        arrow = p;
    assert_true(arrow && colon > arrow);
    const double want = strtod(colon + 1, NULL);
    const trl_str from = {line + 6, (size_t)(arrow - line) - 6};
    const trl_str to = {arrow + 5, (size_t)(colon - arrow) - 5};
    const uint32_t y = label_id(m, to);
    double got;
    if (line[3] == '1')
        got = weight_of(m, TRL_EDGE, (trl_str){"B", 1}, label_id(m, from) * (uint32_t)m->L + y);
    else
        got = weight_of(m, TRL_NODE, from, y);
    *worst = fmax(*worst, fabs(got - want));
    assert_true(isfinite(got));
    return true;
}

static void test_weights(void **state)
{
    const oracle *o = find_oracle(state);
    for (int k = 0; k < 2; k++) {
        trl_error err;
        trl_model *m = NULL;
        char line[4096];
        size_t n = 0;
        double worst = 0.0;
        FILE *f = fopen(path_of(o, "model.dump"), "r");
        assert_non_null(f);
        assert_ok(trl_model_open(model_path[k], &m, &err));
        while (fgets(line, sizeof line, f))
            n += check_dump_line(trl_model_chain(m), line, &worst);
        assert_int_equal(n, o->features);
        print_message("weights: largest difference %g\n", worst);
        assert_true(worst < 1e-5); /* of weights up to 5, printed with 5e-7 */
        trl_model_free(m);
        fclose(f);
    }
}

/* ---- tags ------------------------------------------------------------------------------ */

static void next_line(FILE *f, char line[4096])
{
    assert_non_null(fgets(line, 4096, f));
    line[strcspn(line, "\n")] = '\0';
}

/* LABEL:PROBABILITY at p; returns what follows. */
static char *check_marginal(const trl_model *m, char *p, const double *marginals, uint32_t *which)
{
    char *end = p + strcspn(p, "\t");
    char *colon = end;
    while (*colon != ':')
        colon--;
    const uint32_t y = trl_model_find_label(m, (trl_str){p, (size_t)(colon - p)});
    assert_true(y < trl_model_get_info(m).n_labels);
    assert_near(marginals[y], strtod(colon + 1, NULL), 5e-6); /* 1e-5 at most */
    *which = y;
    return *end ? end + 1 : end;
}

static void check_token(const trl_model *m, FILE *best, FILE *all, trl_str gold, uint32_t label,
                        const double *marginals)
{
    char line[4096];
    uint32_t which;
    next_line(best, line);
    assert_memory_equal(line, gold.p, gold.n);
    assert_int_equal(line[gold.n], '\t');
    check_marginal(m, line + gold.n + 1, marginals, &which);
    assert_int_equal(which, label);
    next_line(all, line);
    size_t n = 0;
    for (char *p = line + strcspn(line, "\t") + 1; *p; n++)
        p = check_marginal(m, p, marginals, &which);
    assert_int_equal(n, trl_model_get_info(m).n_labels);
}

static void check_sequence(const trl_model *m, trl_tagger *t, const trl_items *seq, FILE *best,
                           FILE *all)
{
    trl_error err;
    const size_t n = seq->n_tokens, L = trl_model_get_info(m).n_labels;
    uint32_t *label = malloc(n * sizeof *label);
    double *p = malloc(n * L * sizeof *p), score, log_z, again;
    char line[4096], *end;
    assert_ok(trl_tagger_set_items(t, seq, &err));
    assert_ok(trl_tagger_viterbi(t, label, &score, &err));
    assert_ok(trl_tagger_score(t, label, &again, &err));
    assert_ok(trl_tagger_log_z(t, &log_z, &err));
    assert_ok(trl_tagger_marginals(t, p, &err));
    assert_near(again, score, 1e-12);
    next_line(best, line);
    assert_memory_equal(line, "@score\t", 7);
    assert_near(score, strtod(line + 7, &end), 1e-5);
    assert_near(log_z, strtod(end, NULL), 1e-5);
    next_line(best, line);
    assert_memory_equal(line, "@probability\t", 13);
    assert_near(exp(score - log_z), strtod(line + 13, NULL), 5e-6);
    for (size_t i = 0; i < n; i++)
        check_token(m, best, all, seq->label[i], label[i], p + i * L);
    next_line(best, line);
    assert_string_equal(line, "");
    next_line(all, line);
    assert_string_equal(line, "");
    free(label);
    free(p);
}

static void test_tags(void **state)
{
    const oracle *o = find_oracle(state);
    for (int k = 0; k < 2; k++) {
        trl_error err;
        trl_model *m = NULL;
        trl_tagger *t = NULL;
        trl_reader *r = NULL;
        trl_items seq;
        size_t n = 0;
        bool more = true;
        FILE *best = fopen(path_of(o, "tag-probability-marginal.txt"), "r");
        FILE *all = fopen(path_of(o, "tag-all-marginals.txt"), "r");
        assert_true(best && all);
        assert_ok(trl_model_open(model_path[k], &m, &err));
        assert_true(trl_model_get_info(m).is_probability);
        assert_ok(trl_tagger_new(m, &t, &err));
        assert_ok(trl_reader_open(path_of(o, "test.crfsuite"), TRL_FORMAT_GUESS, &r, &err));
        assert_int_equal(trl_reader_format(r), TRL_FORMAT_CRFSUITE);
        for (;; n++) {
            assert_ok(trl_reader_items(r, &seq, &more, &err));
            if (!more)
                break;
            check_sequence(m, t, &seq, best, all);
        }
        assert_int_equal(n, o->sequences);
        assert_int_equal(fgetc(best), EOF);
        assert_int_equal(fgetc(all), EOF);
        trl_reader_free(r);
        trl_tagger_free(t);
        trl_model_free(m);
        fclose(best);
        fclose(all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"test_train_lbfgs: sample", test_train_lbfgs, NULL, NULL, &sample},
        {"test_train_sdca: sample", test_train_sdca, NULL, NULL, &sample},
        {"test_train_sag: sample", test_train_sag, NULL, NULL, &sample},
        {"test_weights: sample", test_weights, NULL, NULL, &sample},
        {"test_tags: sample", test_tags, NULL, NULL, &sample},
        {"test_train_lbfgs: conll", test_train_lbfgs, NULL, NULL, &conll},
        {"test_train_sdca: conll", test_train_sdca, NULL, NULL, &conll},
        {"test_train_sag: conll", test_train_sag, NULL, NULL, &conll},
        {"test_weights: conll", test_weights, NULL, NULL, &conll},
        {"test_tags: conll", test_tags, NULL, NULL, &conll},
    };
    for (int k = 0; k < 2; k++)
        snprintf(model_path[k], sizeof model_path[k], "/tmp/trellis-oracle-%ld-%d", (long)getpid(),
                 k);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int k = 0; k < 2; k++)
        unlink(model_path[k]);
    return failed;
}
