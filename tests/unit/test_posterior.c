/* test_posterior.c -- spans and entropies against the enumeration of all labellings: orders 1 and
 * 2, scores as they are and normalised locally, and through a tagger. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "chain/local.h"
#include "chain/posterior.h"
#include "random_chain.h"
#include "toy_model.h"
#include "trellis/tagger.h"

#define TOL 1e-10 /* of a probability */
#define MOST_T 6

static trl_error err;

/* Labels of several schemes, well and ill-formed alike: four are drawn for a chain. */
static const char *const names[] = {"O",   "B-X", "I-X", "B-Y", "I-Y", "E-X",
                                    "S-X", "L-Y", "U-Y", "X",   "I-Z", "B-"};

typedef struct oracle {
    size_t T, L;
    trl_str label[8];
    long double *p; /* of labelling k of L^T, as `labelling` numbers them */
    size_t n;
} oracle;

static void draw_labels(trl_rng *rng, oracle *o)
{
    bool used[sizeof names / sizeof *names] = {false};
    for (size_t j = 0; j < o->L; j++) {
        size_t k = j == 0 ? 0 : trl_rng_below(rng, sizeof names / sizeof *names);
        while (used[k])
            k = trl_rng_below(rng, sizeof names / sizeof *names);
        used[k] = true;
        o->label[j] = (trl_str){names[k], strlen(names[k])};
    }
}

static size_t chunks_of(const oracle *o, size_t k, trl_chunk *chunk)
{
    trl_str label[MOST_T];
    for (size_t t = 0; t < o->T; t++, k /= o->L)
        label[t] = o->label[k % o->L];
    return trl_chunks_of(label, o->T, chunk);
}

/* P of a whole chunk [begin, end) of `type`, or of any (NULL). */
static double span_probability(const oracle *o, size_t begin, size_t end, const trl_str *type)
{
    long double sum = 0.0L;
    for (size_t k = 0; k < o->n; k++) {
        trl_chunk chunk[MOST_T];
        const size_t n = chunks_of(o, k, chunk);
        for (size_t i = 0; i < n; i++)
            if (chunk[i].begin == begin && chunk[i].end == end &&
                (!type ||
                 (chunk[i].type.n == type->n && memcmp(chunk[i].type.p, type->p, type->n) == 0)))
                sum += o->p[k];
    }
    return (double)sum;
}

static double entropy(const oracle *o)
{
    long double H = 0.0L;
    for (size_t k = 0; k < o->n; k++)
        H -= o->p[k] > 0.0L ? o->p[k] * logl(o->p[k]) : 0.0L;
    return (double)H;
}

/* From scores to probabilities. */
static void normalise(oracle *o)
{
    long double max = -HUGE_VALL, sum = 0.0L;
    for (size_t k = 0; k < o->n; k++)
        max = o->p[k] > max ? o->p[k] : max;
    for (size_t k = 0; k < o->n; k++)
        sum += o->p[k] = expl(o->p[k] - max);
    for (size_t k = 0; k < o->n; k++)
        o->p[k] /= sum;
}

typedef struct found {
    const oracle *o;
    double least;
    size_t n, begin, end;
} found;

static trl_status check_span(void *ctx, const trl_tag_span *s, trl_error *e)
{
    found *f = ctx;
    (void)e;
    assert_true(s->begin < s->end && s->end <= f->o->T);
    assert_true(f->n == 0 || s->begin > f->begin || (s->begin == f->begin && s->end >= f->end));
    assert_near(s->p, span_probability(f->o, s->begin, s->end, &s->type), TOL);
    assert_near(s->boundaries, span_probability(f->o, s->begin, s->end, NULL), TOL);
    assert_true(s->p >= f->least && s->p <= 1.0 && s->boundaries <= 1.0);
    f->begin = s->begin;
    f->end = s->end;
    f->n++;
    return TRL_OK;
}

/* How many different spans reach `least`; *close: one is too near it to be sure. */
static size_t count_spans(const oracle *o, double least, bool *close)
{
    size_t n = 0;
    *close = false;
    for (size_t b = 0; b < o->T; b++)
        for (size_t e = b + 1; e <= o->T; e++)
            for (size_t j = 0; j < o->L; j++) {
                trl_chunk own, other;
                bool first = trl_chunks_of(&o->label[j], 1, &own) == 1;
                for (size_t i = 0; first && i < j; i++)
                    first = !(trl_chunks_of(&o->label[i], 1, &other) == 1 &&
                              other.type.n == own.type.n &&
                              memcmp(other.type.p, own.type.p, own.type.n) == 0);
                if (!first)
                    continue;
                const double p = span_probability(o, b, e, &own.type);
                n += p >= least;
                *close = *close || fabs(p - least) < TOL;
            }
    return n;
}

static void check_posterior(const oracle *o, const trl_chain *c, const trl_tables *s,
                            trl_arena *arena, double least)
{
    trl_chain_marginals m;
    trl_posterior p;
    trl_chunking k;
    bool close;
    assert_ok(trl_chain_infer(
        c, &(trl_chain_ask){.s = s, .arena = arena, .want = TRL_WANT_EDGE_ROWS, .weight = 1.0}, &m,
        NULL, &err));
    assert_ok(trl_posterior_of_chain(c, &m, o->T, arena, &p, &err));
    assert_ok(trl_chunking_init(&k, o->label, o->L, &err));
    found f = {.o = o, .least = least};
    assert_ok(trl_posterior_spans(&p, &k, least, arena, &(trl_span_taker){check_span, &f}, &err));
    const size_t expected = count_spans(o, least, &close);
    if (!close)
        assert_int_equal(f.n, expected);
    const double H = entropy(o);
    assert_near(trl_posterior_entropy(&p), H, 1e-9 * (1.0 + H));
    for (size_t b = 0; b < o->T; b++)
        for (size_t e = b + 1; e <= o->T; e++)
            for (uint32_t j = 0; j < o->L; j++) {
                trl_tag_span span = {.begin = b, .end = e};
                if (k.type[j] == TRL_NO_ID)
                    continue;
                assert_ok(trl_posterior_span(&p, &k, k.type[j], arena, &span, &err));
                assert_near(span.p, span_probability(o, b, e, &k.name[j]), TOL);
                assert_near(span.boundaries, span_probability(o, b, e, NULL), TOL);
            }
    trl_chunking_fini(&k);
}

static void check_chain(trl_rng *rng, trl_arena *arena, bool local)
{
    random_chain r;
    chain_shape h = random_shape(rng);
    h.scale = h.scale > 60.0 ? 60.0 : h.scale;
    h.forbid = local ? 0.0 : h.forbid;
    random_chain_make(rng, h, &r);
    trl_tables tables = r.s;
    trl_chain rows = {0};
    trl_arena_reset(arena);
    assert_ok(trl_rows_chain_init(&rows, h.L, h.order, &err));
    if (local)
        assert_ok(trl_local_tables(&r.c, &r.s, arena, &tables, &err));
    oracle o = {.T = h.T, .L = h.L, .n = labellings(&h)};
    o.p = malloc(o.n * sizeof *o.p);
    assert_non_null(o.p);
    bool possible = false;
    for (size_t k = 0; k < o.n; k++) {
        uint32_t y[MOST_T];
        labelling(&h, k, y);
        o.p[k] = local ? (long double)trl_chain_score(&rows, &tables, y) : score_of(&r, y);
        possible = possible || o.p[k] > -HUGE_VALL;
    }
    if (possible) {
        normalise(&o);
        draw_labels(rng, &o);
        static const double least[] = {0.5, 0.1, 0.01, 1e-6, 1e-9};
        check_posterior(&o, local ? &rows : &r.c, &tables, arena, least[trl_rng_below(rng, 5)]);
    }
    free(o.p);
    trl_chain_fini(&rows);
    random_chain_fini(&r);
}

static void test_chains(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(151);
    trl_arena arena = {0};
    for (int round = 0; round < 700; round++)
        check_chain(&rng, &arena, round % 3 == 0);
    trl_arena_fini(&arena);
}

/* ---- the tagger ------------------------------------------------------------------------------ */

/* The tagger's own scores of all labellings are the oracle. */
static void check_tagger(const toy *y, trl_tagger *t, size_t T, trl_decoding how)
{
    uint32_t label[MOST_T];
    trl_tag_span span[MOST_T];
    double H, token[MOST_T], p[MOST_T * 8], score;
    size_t n;
    const trl_tag_span *above;
    oracle o = {.T = T, .L = y->c.labels.n, .n = 1};
    const chain_shape h = {.T = T, .L = o.L};
    assert_true(o.L <= 8);
    o.n = labellings(&h);
    o.p = malloc(o.n * sizeof *o.p);
    assert_non_null(o.p);
    assert_ok(trl_tagger_set_decoding(t, how, &err));
    for (size_t j = 0; j < o.L; j++)
        o.label[j] = trl_model_label(y->m, j);
    for (size_t k = 0; k < o.n; k++) {
        labelling(&h, k, label);
        assert_ok(trl_tagger_score(t, label, &score, &err));
        o.p[k] = (long double)score;
    }
    normalise(&o);
    assert_ok(trl_tagger_viterbi(t, label, &score, &err));
    assert_ok(trl_tagger_spans(t, label, span, &n, &err));
    found f = {.o = &o};
    for (size_t i = 0; i < n; i++)
        assert_ok(check_span(&f, &span[i], &err));
    f = (found){.o = &o, .least = 0.05};
    assert_ok(trl_tagger_spans_above(t, 0.05, &above, &n, &err));
    for (size_t i = 0; i < n; i++)
        assert_ok(check_span(&f, &above[i], &err));
    assert_ok(trl_tagger_entropy(t, &H, token, &err));
    assert_near(H, entropy(&o), 1e-9 * (1.0 + H));
    assert_ok(trl_tagger_marginals(t, p, &err));
    for (size_t at = 0; at < T; at++)
        assert_near(token[at], trl_entropy(p + at * o.L, o.L), 1e-12);
    free(o.p);
}

static void test_tagger(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(152);
    for (int round = 0; round < 40; round++) {
        toy y;
        trl_tagger *t = NULL;
        toy_make(&rng, toy_random_shape(&rng, 5), &y);
        assert_ok(trl_tagger_new(y.m, &t, &err));
        for (size_t s = 0; s < y.shape.n_sequences; s++) {
            const size_t T = y.tpl ? y.rows[s].n_tokens : y.items[s].n_tokens;
            if (T > 5 || y.c.labels.n > 5)
                continue;
            assert_ok(y.tpl ? trl_tagger_set_rows(t, &y.rows[s], &err)
                            : trl_tagger_set_items(t, &y.items[s], &err));
            check_tagger(&y, t, T, TRL_DECODE_GLOBAL);
            check_tagger(&y, t, T, TRL_DECODE_LOCAL);
        }
        trl_tagger_free(t);
        toy_free(&y);
    }
}

static void test_misuse(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(153);
    toy y;
    trl_tagger *t = NULL;
    const trl_tag_span *above;
    trl_tag_span span[16];
    size_t n;
    double H;
    uint32_t label[16] = {0};
    toy_make(&rng, toy_random_shape(&rng, 5), &y);
    assert_ok(trl_tagger_new(y.m, &t, &err));
    assert_int_equal(trl_tagger_entropy(t, &H, NULL, &err), TRL_EINVAL); /* no sequence */
    assert_ok(y.tpl ? trl_tagger_set_rows(t, &y.rows[0], &err)
                    : trl_tagger_set_items(t, &y.items[0], &err));
    assert_int_equal(trl_tagger_spans_above(t, 0.0, &above, &n, &err), TRL_EINVAL);
    assert_int_equal(trl_tagger_spans_above(t, 1.5, &above, &n, &err), TRL_EINVAL);
    assert_int_equal(trl_tagger_spans_above(t, nan(""), &above, &n, &err), TRL_EINVAL);
    label[0] = 1000;
    assert_int_equal(trl_tagger_spans(t, label, span, &n, &err), TRL_EINVAL);
    assert_int_equal(trl_tagger_spans(NULL, label, span, &n, &err), TRL_EINVAL);
    assert_int_equal(trl_tagger_entropy(t, NULL, NULL, &err), TRL_EINVAL);
    trl_tagger_free(t);
    toy_free(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_tagger),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
