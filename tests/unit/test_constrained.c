/* test_constrained.c -- taggers under constraints, against enumeration of all labellings. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <math.h>

#include "scheme_model.h"
#include "trellis/tagger.h"

static trl_error err;

#define MOST 4096 /* labellings */

/* The rules of one trial, as the test itself understands them. */
typedef struct rules {
    trl_scheme scheme;
    size_t n_forbidden, n_required;
    uint32_t forbidden[4][2], required[2][2]; /* TRL_OUTSIDE: before the first, after the last */
    uint32_t follow_after, follow[3];         /* follow_after == L: no such rule */
    size_t n_follow;
    int pattern; /* 0: none */
    uint32_t a;  /* of the pattern */
    size_t n_spans;
    trl_str span_type[2];
    size_t span_most[2];
    bool one_span;
    uint32_t allowed[8]; /* sets of labels */
    bool has_fixed;
    trl_chunk fixed;
} rules;

/* ---- whether a labelling obeys ------------------------------------------------------ */

static size_t runs_of(const trl_str *label, size_t T, trl_str type)
{
    trl_chunk chunk[8];
    size_t n = trl_chunks_of(label, T, chunk), found = 0;
    for (size_t k = 0; k < n; k++) {
        if (chunk[k].type.n != type.n || memcmp(chunk[k].type.p, type.p, type.n) != 0)
            continue;
        const trl_str mine = label[chunk[k].begin];
        const bool bare = mine.n == type.n && memcmp(mine.p, type.p, type.n) == 0;
        const size_t at = chunk[k].begin; /* bare labels: a run is one span */
        if (!bare || at == 0 || label[at - 1].n != mine.n ||
            memcmp(label[at - 1].p, mine.p, mine.n) != 0)
            found++;
    }
    return found;
}

static bool is_span(const trl_str *label, size_t T, const trl_chunk *span)
{
    /* spans one by one, bare runs joined */
    trl_chunk chunk[8];
    const size_t n = trl_chunks_of(label, T, chunk);
    for (size_t k = 0; k < n; k++) {
        size_t end = chunk[k].end, next = k + 1;
        const trl_str mine = label[chunk[k].begin];
        const bool bare = mine.n == chunk[k].type.n;
        if (bare && k > 0 && chunk[k - 1].end == chunk[k].begin &&
            label[chunk[k].begin - 1].n == mine.n &&
            memcmp(label[chunk[k].begin - 1].p, mine.p, mine.n) == 0)
            continue; /* not its start */
        while (bare && next < n && chunk[next].begin == end && label[end].n == mine.n &&
               memcmp(label[end].p, mine.p, mine.n) == 0)
            end = chunk[next++].end;
        if (chunk[k].begin == span->begin && end == span->end && chunk[k].type.n == span->type.n &&
            memcmp(chunk[k].type.p, span->type.p, span->type.n) == 0)
            return true;
    }
    return false;
}

static size_t count(const uint32_t *y, size_t T, uint32_t a)
{
    size_t n = 0;
    for (size_t t = 0; t < T; t++)
        n += y[t] == a;
    return n;
}

static bool matches(const rules *r, const uint32_t *y, size_t T)
{
    switch (r->pattern) {
    case 1:
        return T % 2 == 1;
    case 2:
        return count(y, T, r->a) <= 2;
    case 3:
        return count(y, T, r->a) >= 1;
    case 4: /* nothing but a after the first a */
        for (size_t t = 1; t < T; t++)
            if (y[t - 1] == r->a && y[t] != r->a)
                return false;
        return true;
    case 5:
        return T >= 2 && T <= 4 && y[1] != r->a;
    default:
        return true;
    }
}

static void write_pattern(const rules *r, const scheme_model *m, char *out, size_t n)
{
    char name[8];
    snprintf(name, sizeof name, "%.*s", (int)m->label[r->a].n, m->label[r->a].p);
    switch (r->pattern) {
    case 2:
        snprintf(out, n, "[^%s]* ('%s' [^%s]*){0,2}", name, name, name);
        break;
    case 3:
        snprintf(out, n, ".* \"%s\" .*", name);
        break;
    case 4:
        snprintf(out, n, "[^ %s]* %s*", name, name);
        break;
    case 5:
        snprintf(out, n, "((.))[^'%s'](|.)(.{0,1})", name);
        break;
    default:
        snprintf(out, n, ".(..)*");
    }
}

static bool obeys_pairs(const rules *r, const scheme_model *m, const uint32_t *y)
{
    const size_t T = m->T;
    size_t found[2] = {0, 0};
    for (size_t t = 0; t <= T; t++) {
        const uint32_t i = t ? y[t - 1] : TRL_OUTSIDE, j = t < T ? y[t] : TRL_OUTSIDE;
        for (size_t k = 0; k < r->n_forbidden; k++)
            if (r->forbidden[k][0] == i && r->forbidden[k][1] == j)
                return false;
        for (size_t k = 0; k < r->n_required; k++)
            found[k] += r->required[k][0] == i && r->required[k][1] == j;
        bool follows = r->follow_after != i;
        for (size_t k = 0; k < r->n_follow; k++)
            follows |= r->follow[k] == j;
        if (!follows)
            return false;
    }
    return (r->n_required < 1 || found[0]) && (r->n_required < 2 || found[1]);
}

static bool obeys(const rules *r, const scheme_model *m, const uint32_t *y)
{
    const size_t T = m->T;
    trl_str label[8];
    size_t at;
    for (size_t t = 0; t < T; t++) {
        label[t] = m->label[y[t]];
        if (!(r->allowed[t] >> y[t] & 1))
            return false;
    }
    if (trl_scheme_check(r->scheme, label, T, &at, &err) != TRL_OK || !obeys_pairs(r, m, y) ||
        !matches(r, y, T))
        return false;
    for (size_t k = 0; k < r->n_spans; k++)
        if (runs_of(label, T, r->span_type[k]) > r->span_most[k])
            return false;
    static const trl_str types[] = {{"X", 1}, {"Y", 1}, {"Z", 1}};
    for (size_t k = 0; r->one_span && k < 3; k++)
        if (runs_of(label, T, types[k]) > 1)
            return false;
    return !r->has_fixed || is_span(label, T, &r->fixed);
}

/* ---- drawing rules ------------------------------------------------------------------ */

static trl_str type_of(const scheme_model *m, trl_rng *rng)
{
    const trl_str s = m->label[trl_rng_below(rng, m->L)];
    return s.n == 1 ? s : (trl_str){s.p + 2, 1};
}

static rules draw(trl_rng *rng, const scheme_model *m)
{
    const uint32_t L = (uint32_t)m->L;
    rules r = {.follow_after = L, .a = (uint32_t)trl_rng_below(rng, L)};
    if (trl_rng_below(rng, 3) == 0)
        r.scheme = (trl_scheme)(1 + trl_rng_below(rng, 6));
    r.n_forbidden = trl_rng_below(rng, 2) ? trl_rng_below(rng, 5) : 0;
    for (size_t k = 0; k < r.n_forbidden; k++)
        for (size_t e = 0; e < 2; e++)
            r.forbidden[k][e] = (uint32_t)trl_rng_below(rng, L);
    if (r.n_forbidden > 2)
        r.forbidden[2][trl_rng_below(rng, 2)] = TRL_OUTSIDE;
    r.n_required = trl_rng_below(rng, 4) == 0 ? 1 + trl_rng_below(rng, 2) : 0;
    for (size_t k = 0; k < r.n_required; k++)
        for (size_t e = 0; e < 2; e++)
            r.required[k][e] = (uint32_t)trl_rng_below(rng, L);
    if (trl_rng_below(rng, 3) == 0) {
        r.follow_after = trl_rng_below(rng, 5) ? (uint32_t)trl_rng_below(rng, L) : TRL_OUTSIDE;
        r.n_follow = 1 + trl_rng_below(rng, 3);
        for (size_t k = 0; k < r.n_follow; k++)
            r.follow[k] = k == 1 && r.follow_after != TRL_OUTSIDE ? TRL_OUTSIDE
                                                                  : (uint32_t)trl_rng_below(rng, L);
    }
    if (trl_rng_below(rng, 3) == 0)
        r.pattern = 1 + (int)trl_rng_below(rng, 5);
    r.n_spans = trl_rng_below(rng, 3) == 0 ? 1 + trl_rng_below(rng, 2) : 0;
    for (size_t k = 0; k < r.n_spans; k++) {
        r.span_type[k] = type_of(m, rng);
        r.span_most[k] = trl_rng_below(rng, 3);
        if (r.span_type[k].p[0] == 'O')
            r.n_spans = k;
    }
    r.one_span = trl_rng_below(rng, 4) == 0;
    const bool some = trl_rng_below(rng, 3) == 0;
    for (size_t t = 0; t < 8; t++)
        r.allowed[t] =
            some && trl_rng_below(rng, 2) ? (uint32_t)trl_rng_below(rng, 256) : UINT32_MAX;
    r.fixed.type = type_of(m, rng);
    r.has_fixed = trl_rng_below(rng, 6) == 0 && r.fixed.type.p[0] != 'O';
    r.fixed.begin = trl_rng_below(rng, m->T);
    r.fixed.end = r.fixed.begin + 1 + trl_rng_below(rng, m->T - r.fixed.begin);
    return r;
}

/* TRL_OK or what the first rule that was refused returned. */
static trl_status build(const rules *r, const scheme_model *m, trl_constraint *c)
{
    char text[128];
    trl_status st = trl_constraint_scheme(c, r->scheme, &err);
    for (size_t k = 0; k < r->n_forbidden && st == TRL_OK; k++)
        st = trl_constraint_forbid(c, r->forbidden[k][0], r->forbidden[k][1], &err);
    for (size_t k = 0; k < r->n_required && st == TRL_OK; k++)
        st = trl_constraint_require(c, r->required[k][0], r->required[k][1], &err);
    if (st == TRL_OK && r->follow_after != m->L)
        st = trl_constraint_follow(c, r->follow_after, r->follow, r->n_follow, &err);
    if (st == TRL_OK && r->pattern) {
        write_pattern(r, m, text, sizeof text);
        st = trl_constraint_pattern(c, (trl_str){text, strlen(text)}, &err);
    }
    for (size_t k = 0; k < r->n_spans && st == TRL_OK; k++)
        st = trl_constraint_max_spans(c, r->span_type[k], r->span_most[k], &err);
    return st == TRL_OK && r->one_span ? trl_constraint_one_span(c, &err) : st;
}

static void set(const rules *r, const scheme_model *m, trl_tagger *t)
{
    uint32_t list[8];
    assert_ok(trl_tagger_set_items(t, &m->seq, &err));
    for (size_t k = 0; k < m->T; k++) {
        size_t n = 0;
        for (uint32_t y = 0; y < m->L; y++)
            if (r->allowed[k] >> y & 1)
                list[n++] = y;
        if (r->allowed[k] != UINT32_MAX)
            assert_ok(trl_tagger_allow(t, k, list, n, &err));
    }
    if (r->has_fixed)
        assert_ok(trl_tagger_fix_span(t, r->fixed.begin, r->fixed.end, r->fixed.type, &err));
}

/* ---- all labellings ----------------------------------------------------------------- */

typedef struct world {
    const scheme_model *m;
    const rules *r;
    size_t n, n_good;
    uint32_t y[MOST][8];
    double score[MOST]; /* without rules */
    bool good[MOST];
    double sorted[MOST], log_z;
} world;

static int falling(const void *pa, const void *pb)
{
    const double a = *(const double *)pa, b = *(const double *)pb;
    return a < b ? 1 : a > b ? -1 : 0;
}

static void enumerate(const scheme_model *m, const rules *r, trl_tagger *plain, world *w)
{
    long double z = 0.0L;
    *w = (world){.m = m, .r = r, .n = 1};
    for (size_t t = 0; t < m->T; t++)
        w->n *= m->L;
    assert_true(w->n <= MOST);
    assert_ok(trl_tagger_set_items(plain, &m->seq, &err));
    for (size_t k = 0; k < w->n; k++) {
        for (size_t t = 0, rest = k; t < m->T; t++, rest /= m->L)
            w->y[k][t] = (uint32_t)(rest % m->L);
        assert_ok(trl_tagger_score(plain, w->y[k], &w->score[k], &err));
        w->good[k] = obeys(r, m, w->y[k]);
        if (w->good[k])
            w->sorted[w->n_good++] = w->score[k];
    }
    qsort(w->sorted, w->n_good, sizeof(double), falling);
    for (size_t k = 0; k < w->n_good; k++)
        z += expl((long double)w->sorted[k] - (long double)w->sorted[0]);
    w->log_z = (double)(logl(z) + (long double)w->sorted[0]);
}

static double p_of(const world *w, size_t k)
{
    return w->good[k] ? exp(w->score[k] - w->log_z) : 0.0;
}

#define check_near(a, b) assert_near((a), (b), 1e-9)

/* ---- the answers -------------------------------------------------------------------- */

static void check_best(const world *w, trl_tagger *t)
{
    static uint32_t y[(MOST + 1) * 8];
    static double scores[MOST + 1];
    double score;
    size_t found;
    assert_ok(trl_tagger_viterbi(t, y, &score, &err));
    assert_true(obeys(w->r, w->m, y));
    check_near(score, w->sorted[0]);
    assert_ok(trl_tagger_score(t, y, &score, &err));
    check_near(score, w->sorted[0]);
    assert_ok(trl_tagger_nbest(t, w->n + 1, y, scores, &found, &err));
    assert_int_equal(found, w->n_good);
    for (size_t k = 0; k < found; k++) {
        check_near(scores[k], w->sorted[k]);
        assert_true(obeys(w->r, w->m, y + k * w->m->T));
        for (size_t other = 0; other < k && found < 100; other++)
            assert_memory_not_equal(y + k * w->m->T, y + other * w->m->T, 4 * w->m->T);
    }
    assert_ok(trl_tagger_nbest(t, 2, y, scores, &found, &err));
    assert_int_equal(found, w->n_good < 2 ? w->n_good : 2);
    for (size_t k = 0; k < found; k++)
        check_near(scores[k], w->sorted[k]);
    for (size_t k = 0; k < w->n; k++) {
        assert_ok(trl_tagger_score(t, w->y[k], &score, &err));
        assert_true(w->good[k] ? score == w->score[k] : score == -HUGE_VAL);
    }
}

static void check_marginals(const world *w, trl_tagger *t)
{
    const size_t T = w->m->T, L = w->m->L;
    double p[64], want[64] = {0}, pair[512], pairs[512] = {0}, log_z;
    for (size_t k = 0; k < w->n; k++)
        for (size_t i = 0; i < T; i++) {
            want[i * L + w->y[k][i]] += p_of(w, k);
            if (i)
                pairs[((i - 1) * L + w->y[k][i - 1]) * L + w->y[k][i]] += p_of(w, k);
        }
    assert_ok(trl_tagger_log_z(t, &log_z, &err));
    check_near(log_z, w->log_z);
    assert_ok(trl_tagger_marginals(t, p, &err));
    for (size_t i = 0; i < T * L; i++)
        check_near(p[i], want[i]);
    assert_ok(trl_tagger_pair_marginals(t, pair, &err));
    for (size_t i = 0; i < (T - 1) * L * L; i++)
        check_near(pair[i], pairs[i]);
    uint32_t y[8];
    double best = 0.0, mine = 0.0;
    assert_ok(trl_tagger_posterior(t, y, &err));
    assert_true(obeys(w->r, w->m, y));
    for (size_t k = 0; k < w->n; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < T; i++)
            sum += want[i * L + w->y[k][i]];
        best = w->good[k] && sum > best ? sum : best;
    }
    for (size_t i = 0; i < T; i++)
        mine += want[i * L + y[i]];
    check_near(mine, best);
}

#include "sure_oracle.h" /* uses the world */

static void check_spans(const world *w, trl_tagger *t)
{
    const size_t T = w->m->T;
    for (size_t y = 0; y < w->m->L; y++) {
        const trl_str s = w->m->label[y];
        const trl_str type = s.n == 1 ? s : (trl_str){s.p + 2, 1};
        for (size_t from = 0; from < T && type.p[0] != 'O'; from++)
            for (size_t to = from + 1; to <= T; to++) {
                const trl_chunk span = {from, to, type};
                double p, want = 0.0;
                for (size_t k = 0; k < w->n; k++) {
                    trl_str label[8];
                    for (size_t i = 0; i < T; i++)
                        label[i] = w->m->label[w->y[k][i]];
                    want += is_span(label, T, &span) ? p_of(w, k) : 0.0;
                }
                assert_ok(trl_tagger_span(t, from, to, type, &p, &err));
                check_near(p, want);
            }
    }
}

static void check_nothing(trl_tagger *t)
{
    uint32_t y[8];
    double p[64], x;
    size_t found;
    assert_int_equal(trl_tagger_viterbi(t, y, &x, &err), TRL_ECONFLICT);
    assert_true(err.msg[0] && err.hint[0]);
    assert_int_equal(trl_tagger_nbest(t, 1, y, &x, &found, &err), TRL_ECONFLICT);
    assert_int_equal(trl_tagger_posterior(t, y, &err), TRL_ECONFLICT);
    assert_int_equal(trl_tagger_marginals(t, p, &err), TRL_ECONFLICT);
    assert_int_equal(trl_tagger_log_z(t, &x, &err), TRL_ECONFLICT);
}

static void test_all_combinations(void **state)
{
    (void)state;
    static world w;
    static const double scales[] = {1.0, 4.0, 30.0, 300.0, 1500.0};
    trl_rng rng = trl_rng_seed(15);
    size_t n_refused = 0, n_empty = 0, n_checked = 0;
    for (int trial = 0; trial < 1500; trial++) {
        scheme_model m;
        trl_tagger *plain = NULL, *t = NULL;
        trl_constraint *c = NULL;
        scheme_model_make(&rng, 1 + (int)trl_rng_below(&rng, 2), scales[trl_rng_below(&rng, 5)],
                          trl_rng_below(&rng, 3) == 0, "", &m);
        const rules r = draw(&rng, &m);
        assert_ok(trl_tagger_new(m.m, &plain, &err));
        enumerate(&m, &r, plain, &w);
        assert_ok(trl_constraint_new(m.m, &c, &err));
        assert_ok(trl_tagger_new(m.m, &t, &err));
        const trl_status st = build(&r, &m, c);
        if (st != TRL_OK) {
            assert_int_equal(st, TRL_EINVAL);
            n_refused++; /* "only O is left" is refused although it can be obeyed */
            assert_true(w.n_good == 0 || r.scheme);
        } else {
            assert_ok(trl_tagger_constrain(t, c, &err));
            set(&r, &m, t);
            n_empty += w.n_good == 0;
            n_checked += w.n_good > 0;
            if (w.n_good == 0)
                check_nothing(t);
            else {
                check_best(&w, t);
                check_marginals(&w, t);
                if (trial % 4 == 0)
                    check_spans(&w, t);
                if (trial % 4 < 2)
                    check_sure(&w, t);
            }
        }
        trl_tagger_free(t);
        trl_tagger_free(plain);
        trl_constraint_free(c);
        scheme_model_free(&m);
    }
    assert_true(n_checked > 500 && n_empty > 20 && n_refused > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_combinations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
