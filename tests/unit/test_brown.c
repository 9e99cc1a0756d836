/* test_brown.c -- Brown clustering against a plain implementation that computes the mutual
 * information of every possible merge from scratch. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/mem.h"
#include "base/rng.h"
#include "cluster/brown.h"
#include "cluster/merges.h"

#define MAX_V 24
#define EDGE MAX_V         /* as a word */
#define GROUPS (MAX_V + 2) /* slots and the rest, and the edge as the last */

/* ---- the plain implementation ------------------------------------------------------------ */

/* pair[a][b]: how often word a stands before b, or EDGE, the edge of a sentence.  group[a]:
 * the slot of its cluster, W for the rest. */
typedef struct plain {
    size_t V, W;
    uint32_t pair[MAX_V + 1][MAX_V + 1];
    size_t group[MAX_V];
    uint32_t N;
} plain;

static size_t group_of(const size_t *group, size_t a)
{
    return a == EDGE ? GROUPS - 1 : group[a];
}

/* N I of the partition `group` in fixed point: sum f(n) - sum f(l) - sum f(r) + f(N). */
static int64_t information(const plain *p, const size_t *group, const trl_xlogx *f)
{
    uint32_t n[GROUPS][GROUPS] = {{0}}, l[GROUPS] = {0}, r[GROUPS] = {0};
    for (size_t a = 0; a <= EDGE; a++)
        for (size_t b = 0; b <= EDGE; b++)
            if (p->pair[a][b]) {
                n[group_of(group, a)][group_of(group, b)] += p->pair[a][b];
                l[group_of(group, a)] += p->pair[a][b];
                r[group_of(group, b)] += p->pair[a][b];
            }
    int64_t sum = trl_xlogx_far(f, p->N);
    for (size_t a = 0; a < GROUPS; a++) {
        sum -= trl_xlogx_far(f, l[a]) + trl_xlogx_far(f, r[a]);
        for (size_t b = 0; b < GROUPS; b++)
            sum += trl_xlogx_far(f, n[a][b]);
    }
    return sum;
}

static bool in_use(const plain *p, size_t slot)
{
    for (size_t a = 0; a < p->V; a++)
        if (p->group[a] == slot)
            return true;
    return false;
}

static int64_t plain_loss(const plain *p, size_t c, size_t r, const trl_xlogx *f)
{
    size_t merged[MAX_V];
    for (size_t a = 0; a < p->V; a++)
        merged[a] = p->group[a] == r ? c : p->group[a];
    return information(p, p->group, f) - information(p, merged, f);
}

static int64_t plain_best(const plain *p, const trl_xlogx *f, size_t *c, size_t *r)
{
    int64_t best = TRL_LOSS_NONE;
    for (size_t i = 0; i < p->W; i++)
        for (size_t j = 0; j < i; j++) {
            if (!in_use(p, i) || !in_use(p, j))
                continue;
            const int64_t v = plain_loss(p, j, i, f);
            if (v < best) {
                best = v;
                *c = j;
                *r = i;
            }
        }
    return best;
}

static void plain_merge(plain *p, size_t c, size_t r)
{
    for (size_t a = 0; a < p->V; a++)
        if (p->group[a] == r)
            p->group[a] = c;
}

/* The same in floating point from the definition: sum p(a,b) log2 p(a,b) / (p(a) p(b)). */
static double information_bits(const plain *p, const size_t *group)
{
    double n[GROUPS][GROUPS] = {{0}}, l[GROUPS] = {0}, r[GROUPS] = {0}, sum = 0.0;
    const double N = p->N;
    for (size_t a = 0; a <= EDGE; a++)
        for (size_t b = 0; b <= EDGE; b++)
            if (p->pair[a][b]) {
                n[group_of(group, a)][group_of(group, b)] += p->pair[a][b];
                l[group_of(group, a)] += p->pair[a][b];
                r[group_of(group, b)] += p->pair[a][b];
            }
    for (size_t a = 0; a < GROUPS; a++)
        for (size_t b = 0; b < GROUPS; b++)
            if (n[a][b] > 0.0)
                sum += n[a][b] / N * log2(n[a][b] * N / (l[a] * r[b]));
    return sum;
}

/* ---- random problems ----------------------------------------------------------------------- */

/* Frequent words first; some counts far beyond the table when `huge`. */
static plain random_problem(trl_rng *rng, bool huge)
{
    plain p = {.V = 2 + trl_rng_below(rng, MAX_V - 1)};
    const double density = trl_rng_unit(rng);
    for (size_t a = 0; a <= EDGE; a++)
        for (size_t b = 0; b <= EDGE; b++)
            if ((a < p.V || a == EDGE) && (b < p.V || b == EDGE) && (a < EDGE || b < EDGE) &&
                trl_rng_unit(rng) < density) {
                p.pair[a][b] = 1 + (uint32_t)trl_rng_below(rng, 1 + 40 / (1 + a + b));
                if (huge && trl_rng_unit(rng) < 0.2)
                    p.pair[a][b] *= 400009;
                p.N += p.pair[a][b];
            }
    return p;
}

static trl_newcomer make_newcomer(const plain *p, size_t word, trl_neighbour near[2][MAX_V])
{
    trl_newcomer x = {.near = {near[0], near[1]},
                      .self = p->pair[word][word],
                      .edge = {p->pair[word][EDGE], p->pair[EDGE][word]}};
    for (int s = 0; s < 2; s++) {
        uint32_t by_slot[MAX_V + 1] = {0};
        x.total[s] = x.edge[s];
        for (size_t b = 0; b < p->V; b++) {
            const uint32_t n = s ? p->pair[b][word] : p->pair[word][b];
            x.total[s] += n;
            if (b != word)
                by_slot[p->group[b]] += n;
        }
        for (uint32_t slot = 0; slot < p->W; slot++)
            if (by_slot[slot])
                near[s][x.n_near[s]++] = (trl_neighbour){slot, by_slot[slot]};
    }
    return x;
}

/* Every loss, not the least alone, to the last bit. */
static void assert_losses(const plain *p, trl_merges *w)
{
    for (size_t r = 0; r < w->W; r++)
        for (size_t c = 0; c < r; c++) {
            const int64_t want =
                in_use(p, r) && in_use(p, c) ? plain_loss(p, c, r, &w->f) : TRL_LOSS_NONE;
            const int64_t got = trl_merges_row(w, r)[c];
            if (got != want)
                fail_msg("loss(%zu,%zu) is %lld instead of %lld", r, c, (long long)got,
                         (long long)want);
        }
}

static void assert_best(plain *p, trl_merges *w, size_t *c, size_t *r)
{
    size_t pc = 0, pr = 0;
    const int64_t want = plain_best(p, &w->f, &pc, &pr), got = trl_merges_best(w, c, r);
    assert_true(got == want);
    if (want != TRL_LOSS_NONE)
        assert_true(*c == pc && *r == pr);
}

/* ---- tests -------------------------------------------------------------------------------- */

static void test_xlogx(void **state)
{
    (void)state;
    trl_error err;
    const uint32_t limits[] = {0, 1, 1000, 3000000000u, UINT32_MAX};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        trl_xlogx f;
        assert_ok(trl_xlogx_init(&f, limits[k], &err));
        assert_true(trl_xlogx_at(&f, 0) == 0);
        for (uint32_t x = 1; x && x <= limits[k] && x < 0x80000000u; x = x * 2 + 1) {
            assert_near((double)trl_xlogx_at(&f, x) / f.scale, (double)x * log((double)x), 1e-7);
            assert_true(trl_xlogx_at(&f, x) == trl_xlogx_far(&f, x));
            assert_true(trl_xlogx_join(&f, x / 2, 0) == 0);
        }
        assert_true(fabs((double)trl_xlogx_at(&f, limits[k])) < 0x1p61);
        trl_xlogx_fini(&f);
    }
}

/* Words through the window one by one; after each operation all losses are right. */
static void test_steps(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(41);
    trl_error err;
    for (int k = 0; k < 300; k++) {
        plain p = random_problem(&rng, k % 3 == 0);
        const size_t C = 1 + trl_rng_below(&rng, p.V - 1);
        trl_merges *w = NULL;
        trl_neighbour near[2][MAX_V];
        size_t c, r, slot = C;
        p.W = C + 1;
        for (size_t a = 0; a < p.V; a++)
            p.group[a] = p.W;
        assert_ok(trl_merges_new(C + 1, p.N, NULL, &w, &err));
        for (size_t a = 0; a < p.V; a++) {
            const trl_newcomer x = make_newcomer(&p, a, near);
            if (a < C) {
                trl_merges_put(w, a, &x);
                p.group[a] = a;
                if (a + 1 == C)
                    trl_merges_start(w);
                continue;
            }
            trl_merges_add(w, slot, &x);
            p.group[a] = slot;
            assert_losses(&p, w);
            assert_best(&p, w, &c, &r);
            trl_merges_merge(w, c, r);
            plain_merge(&p, c, r);
            slot = r;
            assert_losses(&p, w);
        }
        for (size_t n = C; n > 1; n--) {
            assert_best(&p, w, &c, &r);
            trl_merges_merge(w, c, r);
            plain_merge(&p, c, r);
            assert_losses(&p, w);
        }
        assert_true(trl_merges_best(w, &c, &r) == TRL_LOSS_NONE);
        trl_merges_free(w);
    }
}

static size_t letter(const trl_bigrams *b, size_t rank)
{
    return (size_t)(trl_strtab_get(&b->word, (uint32_t)rank).p[0] - 'a');
}

/* The pairs of a problem, each a sentence, as trl_bigrams; and as a problem in their ranks. */
static void to_bigrams(const plain *p, trl_bigrams *b, plain *ranked)
{
    trl_error err;
    char name[MAX_V];
    for (size_t a = 0; a < p->V; a++)
        name[a] = (char)('a' + a);
    for (size_t a = 0; a < p->V; a++)
        for (size_t c = 0; c < p->V; c++)
            for (uint32_t i = 0; i < p->pair[a][c]; i++) {
                const trl_str pair[2] = {{name + a, 1}, {name + c, 1}};
                assert_ok(trl_bigrams_add(b, pair, 2, &err));
            }
    assert_ok(trl_bigrams_finish(b, 1, &err));
    *ranked = (plain){.V = b->word.n, .N = (uint32_t)b->n_pairs};
    uint32_t N = 0;
    for (size_t i = 0; i < b->word.n; i++)
        for (size_t j = 0; j < b->word.n; j++) {
            const uint32_t n = p->pair[letter(b, i)][letter(b, j)];
            ranked->pair[i][j] = n;
            ranked->pair[EDGE][i] += n;
            ranked->pair[j][EDGE] += n;
            N += 3 * n;
        }
    assert_int_equal(N, ranked->N);
}

/* The whole algorithm, plainly: final[a] the slot of word a's cluster; path[slot] of the tree. */
static void plain_brown(plain *p, size_t C, const trl_xlogx *f, size_t *final,
                        char path[][MAX_V + 1])
{
    size_t c = 0, r = 0, slot = C, merge[MAX_V][2], n = 0, live = C < p->V ? C : p->V;
    p->W = C + 1;
    for (size_t a = 0; a < p->V; a++)
        p->group[a] = a < C ? a : p->W;
    for (size_t a = C; a < p->V; a++) {
        p->group[a] = slot;
        plain_best(p, f, &c, &r);
        plain_merge(p, c, r);
        slot = r;
    }
    memcpy(final, p->group, p->V * sizeof *final);
    for (; live > 1; live--, n++) {
        plain_best(p, f, &c, &r);
        plain_merge(p, c, r);
        merge[n][0] = c;
        merge[n][1] = r;
    }
    for (size_t s = 0; s <= C; s++)
        strcpy(path[s], n ? "" : "0");
    while (n-- > 0) { /* the last merge is at the root; slot r takes c's path and branches off */
        memmove(path[merge[n][1]], path[merge[n][0]], MAX_V + 1);
        strcat(path[merge[n][0]], "0");
        strcat(path[merge[n][1]], "1");
    }
}

static void test_whole(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(43);
    trl_error err;
    for (int k = 0; k < 200; k++) {
        const plain p = random_problem(&rng, false);
        uint32_t pairs = 0;
        for (size_t a = 0; a < p.V; a++)
            for (size_t c = 0; c < p.V; c++)
                pairs += p.pair[a][c];
        if (pairs == 0)
            continue;
        plain q;
        trl_bigrams b = {0};
        trl_brown got;
        to_bigrams(&p, &b, &q);
        const size_t C = 1 + trl_rng_below(&rng, MAX_V - 1);
        trl_xlogx f;
        assert_ok(trl_xlogx_init(&f, q.N, &err));
        size_t final[MAX_V], words[MAX_V];
        char path[MAX_V + 1][MAX_V + 1];
        plain_brown(&q, C, &f, final, path);
        assert_ok(trl_brown_run(&b, C, NULL, &(trl_brown_report){NULL, NULL}, &got, &err));
        for (size_t a = 0; a < q.V; a++) {
            const trl_str s = got.path[got.cluster[a]];
            const char *want = path[final[a]];
            if (s.n != strlen(want) || memcmp(s.p, want, s.n) != 0)
                fail_msg("word %zu has path %.*s instead of %s", a, (int)s.n, s.p, want);
            words[a] = a;
        }
        assert_near(got.information, information_bits(&q, final), 1e-9);
        assert_near(got.word_information, information_bits(&q, words), 1e-9);
        trl_xlogx_fini(&f);
        trl_brown_fini(&got);
        trl_bigrams_fini(&b);
    }
}

static void random_text(trl_bigrams *b, size_t V, size_t tokens)
{
    trl_rng rng = trl_rng_seed(47);
    trl_error err;
    char name[40][12];
    trl_str word[40];
    for (size_t done = 0; done < tokens; done += 40) {
        size_t last = 0;
        for (size_t i = 0; i < 40; i++) { /* few words often, and some order */
            const double u = trl_rng_unit(&rng);
            last = (size_t)((double)V * u * u * u + (double)(last % 7)) % V;
            const int n = snprintf(name[i], sizeof name[i], "w%zu", last);
            word[i] = (trl_str){name[i], (size_t)n};
        }
        assert_ok(trl_bigrams_add(b, word, 40, &err));
    }
    assert_ok(trl_bigrams_finish(b, 1, &err));
}

/* Large enough that the threads are used. */
static void test_threads(void **state)
{
    (void)state;
    trl_error err;
    trl_bigrams b = {0};
    trl_brown one, many;
    random_text(&b, 600, 120000);
    assert_ok(trl_brown_run(&b, 300, NULL, &(trl_brown_report){NULL, NULL}, &one, &err));
    for (size_t threads = 2; threads <= 5; threads += 3) {
        trl_pool *pool = trl_pool_new(threads);
        assert_non_null(pool);
        assert_ok(trl_brown_run(&b, 300, pool, &(trl_brown_report){NULL, NULL}, &many, &err));
        assert_memory_equal(one.cluster, many.cluster, b.word.n * sizeof *one.cluster);
        assert_int_equal(one.paths.len, many.paths.len);
        assert_memory_equal(one.paths.data, many.paths.data, one.paths.len);
        trl_brown_fini(&many);
        trl_pool_free(pool);
    }
    trl_brown_fini(&one);
    trl_bigrams_fini(&b);
}

/* The sparse kernel against the dense one. */
static void test_accumulate(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(53);
    trl_error err;
    trl_xlogx f;
    enum { N = 300 };
    uint32_t y[N];
    uint64_t bits[(N + 63) / 64];
    int64_t sparse[N], dense[N];
    assert_ok(trl_xlogx_init(&f, 3000000000u, &err));
    for (int k = 0; k < 200; k++) {
        memset(bits, 0, sizeof bits);
        for (size_t b = 0; b < N; b++) {
            y[b] = trl_rng_unit(&rng) < 0.3 ? (uint32_t)trl_rng_below(&rng, 2000000) : 0;
            bits[b / 64] |= (uint64_t)(y[b] > 0) << (b % 64);
            sparse[b] = dense[b] = (int64_t)b;
        }
        const uint32_t from = (uint32_t)trl_rng_below(&rng, 9), to = from + (uint32_t)k;
        const size_t b0 = 64 * trl_rng_below(&rng, 3), b1 = b0 + trl_rng_below(&rng, N - b0 + 1);
        trl_merges_accumulate(&f, y, bits, b0, b1, from, to, sparse);
        trl_merges_accumulate_all(&f, y, b0, b1, from, to, dense);
        assert_memory_equal(sparse, dense, sizeof sparse);
        for (size_t b = 0; b < N; b++) {
            const bool inside = b >= b0 && b < b1;
            const int64_t d = trl_xlogx_join(&f, to, y[b]) - trl_xlogx_join(&f, from, y[b]);
            assert_true(dense[b] == (int64_t)b + (inside ? d : 0));
        }
    }
    trl_xlogx_fini(&f);
}

static bool stop_at_ten(void *ctx, bool tree, size_t done, size_t total, double work)
{
    (void)tree;
    (void)total;
    assert_true(work >= 0.0 && work <= 1.0 + 1e-9);
    return done >= *(size_t *)ctx;
}

static void test_cancel(void **state)
{
    (void)state;
    trl_error err;
    trl_bigrams b = {0};
    trl_brown r;
    size_t limit = 10;
    random_text(&b, 50, 2000);
    assert_int_equal(trl_brown_run(&b, 5, NULL, &(trl_brown_report){stop_at_ten, &limit}, &r, &err),
                     TRL_ECANCEL);
    assert_null(r.cluster);
    limit = SIZE_MAX;
    assert_ok(trl_brown_run(&b, 5, NULL, &(trl_brown_report){stop_at_ten, &limit}, &r, &err));
    trl_brown_fini(&r);
    trl_bigrams_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xlogx),      cmocka_unit_test(test_steps),
        cmocka_unit_test(test_whole),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_accumulate), cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
