/* tiny_q0.h -- tiny corpora with cells, features and HMMs whose numbers a test may set: what
 * test_hmm, test_expectation and test_mest have in common. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TINY_Q0_H
#define TRL_TEST_TINY_Q0_H

#include "base/mem.h"
#include "base/rng.h"
#include "mest/q0.h"
#include "feature/design.h"

typedef struct tiny {
    trl_column_values columns;
    trl_template *tpl;
    trl_corpus corpus;
    trl_design design;
} tiny;

/* Cells from text: one token a line, cells separated by one blank, a blank line ends a
 * sequence. */
static inline void tiny_cells(const char *text, trl_column_values *columns)
{
    trl_error err;
    trl_str cell[400];
    size_t n = 0, tokens = 0;
    *columns = (trl_column_values){0};
    for (const char *p = text;;) {
        const char *end = p + strcspn(p, "\n");
        if (end == p && tokens) {
            const trl_rows seq = {.n_tokens = tokens, .n_columns = n / tokens, .cell = cell};
            assert_ok(trl_column_values_add_rows(columns, &seq, &err));
            n = tokens = 0;
        }
        for (const char *q = p; q < end; n++) {
            const size_t len = strcspn(q, " \n");
            assert_true(n < 400);
            cell[n] = (trl_str){q, len};
            q += len + (q + len < end);
        }
        tokens += end > p;
        if (*end == '\0' && tokens == 0)
            return;
        p = *end ? end + 1 : end;
    }
}

/* n sequences of up to `longest` tokens: values a, b, c, ... in two columns, labels A, B, ... */
static inline char *tiny_text(trl_rng *rng, size_t n, size_t longest, size_t L)
{
    char *text = malloc(n * (longest * 6 + 1) + 1), *p = text;
    assert_non_null(text);
    for (size_t s = 0; s < n; s++) {
        for (size_t t = 1 + trl_rng_below(rng, longest); t > 0; t--) {
            *p++ = (char)("aabbbcR"[trl_rng_below(rng, 7)]);
            *p++ = ' ';
            *p++ = (char)("xyyX"[trl_rng_below(rng, 4)]);
            *p++ = ' ';
            *p++ = (char)('A' + (s < L && t == 1 ? s : trl_rng_below(rng, L)));
            *p++ = '\n';
        }
        *p++ = '\n';
    }
    *p = '\0';
    return text;
}

/* Compiles the cells (already in t) with a template. */
static inline void tiny_compile(tiny *t, const char *template_text, const trl_design_options *o)
{
    trl_error err;
    trl_str cell[400];
    assert_ok(trl_template_parse("tpl", template_text, strlen(template_text), &t->tpl, &err));
    assert_ok(trl_corpus_init(&t->corpus, &err));
    assert_ok(trl_corpus_use_template(&t->corpus, t->tpl, &err));
    for (size_t s = 0; s < t->columns.n_sequences; s++) {
        const trl_rows seq = trl_column_values_rows(&t->columns, s, cell);
        assert_ok(trl_corpus_add_rows(&t->corpus, t->tpl, &seq, &err));
    }
    assert_ok(trl_design_build(&t->design, &t->corpus, o, &err));
}

static inline trl_expect_data tiny_data(const tiny *t)
{
    return (trl_expect_data){t->tpl, &t->corpus, &t->design, &t->columns, NULL};
}

static inline void tiny_fini(tiny *t)
{
    trl_design_fini(&t->design);
    trl_corpus_fini(&t->corpus);
    trl_template_free(t->tpl);
    trl_column_values_fini(&t->columns);
}

/* Label ids of the last column, numbered as a corpus numbers them. */
static inline uint32_t *tiny_labels(const trl_column_values *c)
{
    uint32_t *y = malloc((c->n_tokens + 1) * sizeof *y);
    assert_non_null(y);
    for (size_t t = 0; t < c->n_tokens; t++)
        y[t] = c->id[t * c->n_columns + c->n_columns - 1];
    return y;
}

/* Random numbers that sum to 1, some of them 0 (never all). */
static inline void random_distribution(trl_rng *rng, size_t n, double zeros, double *p)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++)
        sum += p[k] = trl_rng_unit(rng) < zeros ? 0.0 : 0.1 + trl_rng_unit(rng);
    if (sum == 0.0)
        sum = p[0] = 1.0;
    for (size_t k = 0; k < n; k++)
        p[k] /= sum;
}

/* Replaces all parameters of a trained HMM by random ones.  STOP has at least the probability
 * `stop`; with `acyclic` labels only grow, so that sequences have at most L tokens. */
static inline void tiny_randomise(trl_hmm *h, trl_rng *rng, double stop, bool acyclic)
{
    const size_t L = h->L;
    double *start = h->owned, *next = start + L;
    double *emit = next + trl_hmm_contexts(L, h->order) * (L + 1);
    random_distribution(rng, L, 0.2, start);
    for (size_t c = 0; c < trl_hmm_contexts(L, h->order); c++, next += L + 1) {
        const size_t y = c % L, from = acyclic ? y + 1 : 0;
        for (size_t k = 0; k <= L; k++)
            next[k] = 0.0;
        if (from < L)
            random_distribution(rng, L - from, 0.2, next + from);
        for (size_t k = from; k < L; k++)
            next[k] *= 1.0 - stop;
        next[L] = from < L ? stop : 1.0;
    }
    for (size_t c = 0; c < h->n_columns; c++) {
        const size_t n = h->column[c].n;
        double p[20];
        assert_true(n <= 20);
        for (size_t y = 0; y < L; y++) {
            random_distribution(rng, n, 0.0, p);
            for (size_t v = 0; v < n; v++)
                emit[v * L + y] = p[v];
        }
        for (size_t i = 0; i < n * L; i++)
            h->column[c].log_p[i] = log(emit[i]);
        emit += n * L;
    }
}

#endif
