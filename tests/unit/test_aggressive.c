/* test_aggressive.c -- passive-aggressive and AROW against a naive implementation: labellings
 * enumerated, features in dense arrays, the equations of train/aggressive.h as they stand. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "base/rng.h"
#include "trellis/model.h"
#include "trellis/train.h"

enum { N = 7, L = 3, A = 5, T_MAX = 4, K = A * L + L * L };

typedef struct sequence {
    size_t n;
    unsigned gold[T_MAX];
    double value[T_MAX][A]; /* 0: the attribute is not there */
    double weight;
} sequence;

typedef struct problem {
    sequence seq[N];
    bool live[K]; /* features seen in the data */
    char path[64];
} problem;

static size_t state(size_t a, size_t y)
{
    return a * L + y;
}

static size_t edge(size_t from, size_t y)
{
    return A * L + from * L + y;
}

/* phi += sign times the features of the labelling. */
static void add_features(const problem *p, const sequence *s, const unsigned *y, double sign,
                         double *phi)
{
    for (size_t t = 0; t < s->n; t++) {
        for (size_t a = 0; a < A; a++)
            phi[state(a, y[t])] += sign * s->value[t][a] * p->live[state(a, y[t])];
        if (t)
            phi[edge(y[t - 1], y[t])] += sign * p->live[edge(y[t - 1], y[t])];
    }
}

static double score(const problem *p, const sequence *s, const unsigned *y, const double *w)
{
    double phi[K] = {0}, sum = 0.0;
    add_features(p, s, y, 1.0, phi);
    for (size_t k = 0; k < K; k++)
        sum += w[k] * phi[k];
    return sum;
}

/* Of equals the one with the smallest last label, then the smallest before it, ... */
static void best(const problem *p, const sequence *s, const double *w, unsigned *out)
{
    double top = -HUGE_VAL;
    size_t all = 1;
    for (size_t t = 0; t < s->n; t++)
        all *= L;
    for (size_t code = 0; code < all; code++) {
        unsigned y[T_MAX];
        for (size_t t = 0, c = code; t < s->n; t++, c /= L)
            y[t] = (unsigned)(c % L);
        const double x = score(p, s, y, w);
        if (x > top + 1e-12) {
            top = x;
            memcpy(out, y, sizeof y);
        }
    }
}

typedef struct method {
    const char *name;
    int type;
    double c, variance, gamma;
    bool flat, last;
} method;

static void naive_step(const problem *p, const sequence *s, const method *m, double *w, double *sum,
                       double *sigma)
{
    unsigned y[T_MAX] = {0};
    double delta[K] = {0}, norm = 0.0, spread = m->gamma;
    size_t wrong = 0;
    best(p, s, w, y);
    for (size_t t = 0; t < s->n; t++)
        wrong += y[t] != s->gold[t];
    if (wrong) {
        add_features(p, s, s->gold, 1.0, delta);
        add_features(p, s, y, -1.0, delta);
        const double margin = score(p, s, y, w) - score(p, s, s->gold, w);
        for (size_t k = 0; k < K; k++) {
            norm += delta[k] * delta[k];
            spread += s->weight * s->weight * delta[k] * delta[k] * sigma[k];
        }
        if (strcmp(m->name, "pa") == 0) {
            const double loss = margin + (m->flat ? 1.0 : sqrt((double)wrong));
            const double tau = m->type == 0   ? loss / norm
                               : m->type == 1 ? fmin(m->c, loss / norm)
                                              : loss / (norm + 0.5 / m->c);
            for (size_t k = 0; k < K; k++)
                w[k] += s->weight * tau * delta[k];
        } else {
            const double alpha = (margin + (double)wrong) / spread;
            for (size_t k = 0; k < K; k++) {
                const double d = s->weight * delta[k];
                w[k] += alpha * sigma[k] * d;
                sigma[k] = 1.0 / (1.0 / sigma[k] + d * d / m->gamma);
            }
        }
    }
    for (size_t k = 0; k < K; k++)
        sum[k] += w[k];
}

/* The mean counts the weights 0 before the first sequence, as CRFsuite does. */
static void naive(const problem *p, const method *m, size_t passes, double *w)
{
    double sum[K] = {0}, sigma[K];
    trl_rng rng = trl_rng_seed(1);
    memset(w, 0, K * sizeof *w);
    for (size_t k = 0; k < K; k++)
        sigma[k] = m->variance;
    for (size_t pass = 0; pass < passes; pass++) {
        size_t order[N];
        for (size_t i = 0; i < N; i++)
            order[i] = i;
        for (size_t i = N; i > 1; i--) {
            const size_t j = trl_rng_below(&rng, i), t = order[i - 1];
            order[i - 1] = order[j];
            order[j] = t;
        }
        for (size_t i = 0; i < N; i++)
            naive_step(p, &p->seq[order[i]], m, w, sum, sigma);
    }
    for (size_t k = 0; strcmp(m->name, "pa") == 0 && !m->last && k < K; k++)
        w[k] = sum[k] / (double)(N * passes + 1);
}

static void make_problem(problem *p, uint64_t seed)
{
    trl_rng rng = trl_rng_seed(seed);
    *p = (problem){.path = "/tmp/trellis-aggressive-XXXXXX"};
    FILE *f = fdopen(mkstemp(p->path), "w");
    assert_non_null(f);
    for (size_t i = 0; i < N; i++) {
        sequence *s = &p->seq[i];
        s->n = 1 + trl_rng_below(&rng, T_MAX);
        s->weight = i % 3 == 2 ? 0.5 : 1.0;
        if (s->weight != 1.0)
            fprintf(f, "@weight:0.5\t");
        for (size_t t = 0; t < s->n; t++) {
            s->gold[t] = i == 0 && t < L ? (unsigned)t : (unsigned)trl_rng_below(&rng, L);
            fprintf(f, "%c", 'X' + (int)s->gold[t]);
            for (size_t a = 0; a < A; a++)
                if (trl_rng_below(&rng, 2)) {
                    s->value[t][a] = 1.0 + (double)trl_rng_below(&rng, 4) / 2.0;
                    p->live[state(a, s->gold[t])] = true;
                    fprintf(f, "\ta%zu:%g", a, s->value[t][a]);
                }
            if (t)
                p->live[edge(s->gold[t - 1], s->gold[t])] = true;
            fprintf(f, "\n");
        }
        fprintf(f, "\n");
    }
    fclose(f);
}

static double weight_of(const trl_model *m, size_t k, const uint32_t *label)
{
    trl_error err = {0};
    double w[L * L];
    const bool is_edge = k >= A * L;
    char name[8];
    snprintf(name, sizeof name, "a%zu", k / L);
    const uint32_t id = is_edge ? trl_model_transitions(m, TRL_SCOPE_PAIR)
                                : trl_model_find_attribute(m, TRL_SCOPE_LABEL, (trl_str){name, 2});
    if (id == UINT32_MAX)
        return 0.0;
    assert_ok(trl_model_weights(m, is_edge ? TRL_SCOPE_PAIR : TRL_SCOPE_LABEL, id, w, &err));
    k -= is_edge ? A * L : k / L * L;
    return is_edge ? w[label[k / L] * L + label[k % L]] : w[label[k]];
}

static void check(const problem *p, const method *m, size_t passes)
{
    trl_error err = {0};
    trl_train_options o = trl_train_options_default();
    trl_train_result result;
    trl_model *model = NULL;
    const char *train[] = {p->path};
    char path[80];
    double want[K];
    snprintf(path, sizeof path, "%s.model", p->path);
    o.train = train;
    o.n_train = 1;
    o.format = TRL_FORMAT_CRFSUITE;
    o.model = path;
    o.objective = "perceptron";
    o.optimizer = m->name;
    o.max_iter = passes;
    o.pa_type = (uint64_t)m->type;
    o.pa_c = m->c;
    o.error_sensitive = !m->flat;
    o.averaging = !m->last;
    o.variance = m->variance;
    o.gamma = m->gamma;
    assert_ok(trl_train(&o, &result, &err));
    assert_ok(trl_model_open(path, &model, &err));
    naive(p, m, (size_t)result.iterations, want);
    uint32_t label[L];
    for (size_t y = 0; y < L; y++) {
        const char name = (char)('X' + (int)y);
        label[y] = trl_model_find_label(model, (trl_str){&name, 1});
        assert_int_equal(label[y], y); /* ties are broken by number */
    }
    for (size_t k = 0; k < K; k++)
        if (p->live[k])
            assert_near(weight_of(model, k, label), want[k], 1e-6);
    trl_model_free(model);
    unlink(path);
}

static void test_naive(void **unused)
{
    (void)unused;
    static const method methods[] = {
        {"pa", 0, 1.0, 1.0, 1.0, false, false},   {"pa", 1, 0.1, 1.0, 1.0, false, false},
        {"pa", 1, 0.3, 1.0, 1.0, true, true},     {"pa", 2, 0.5, 1.0, 1.0, false, true},
        {"arow", 1, 1.0, 1.0, 1.0, false, false}, {"arow", 1, 1.0, 0.5, 3.0, false, false},
    };
    for (uint64_t seed = 1; seed <= 12; seed++) {
        problem p;
        make_problem(&p, seed);
        if (p.seq[0].n >= L) /* else labels are not met in their order */
            for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
                for (size_t passes = 1; passes <= 3; passes++)
                    check(&p, &methods[k], passes);
        unlink(p.path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_naive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
