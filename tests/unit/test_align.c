/* test_align.c -- word alignment: posteriors against enumeration, EM, symmetries, files, refusals.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "align/direction.h"
#include "align/places.h"
#include "align/symmetry.h"
#include "base/file.h"
#include "base/rng.h"

static trl_error err;
static char path[3][64];

/* ---- against enumeration -------------------------------------------------------------------- */

enum { L = 4, M = 4, CELLS = (L + 1) * M };

typedef struct model {
    trl_places p;
    double jump[TRL_JUMPS], place[CELLS];
    uint32_t place_at[(TRL_ALIGN_LEARNT + 1) * (TRL_ALIGN_LEARNT + 1)];
    double t[CELLS];
    size_t l, m;
} model;

static void random_model(model *x, trl_rng *r, trl_align_model of)
{
    x->l = 1 + trl_rng_below(r, L);
    x->m = 1 + trl_rng_below(r, M);
    for (size_t k = 0; k < TRL_JUMPS; k++)
        x->jump[k] = 0.1 + trl_rng_unit(r);
    for (size_t i = 0; i < x->m; i++) {
        double sum = 0.0;
        for (size_t j = 0; j <= x->l; j++) {
            x->t[i * (x->l + 1) + j] = trl_rng_below(r, 5) ? trl_rng_unit(r) : 1e-9;
            sum += x->place[i * (x->l + 1) + j] = 0.05 + trl_rng_unit(r);
        }
        for (size_t j = 0; j <= x->l; j++)
            x->place[i * (x->l + 1) + j] /= sum;
    }
    for (size_t k = 0; k < sizeof x->place_at / sizeof *x->place_at; k++)
        x->place_at[k] = UINT32_MAX;
    x->place_at[x->l * (TRL_ALIGN_LEARNT + 1) + x->m] = 0;
    x->p = (trl_places){.model = of,
                        .null = 0.05 + 0.5 * trl_rng_unit(r),
                        .place_at = x->place_at,
                        .place = x->place,
                        .n_places = (x->l + 1) * x->m,
                        .jump = x->jump};
}

/* p(f, a | e); jumps are added, weighted, to width and from when not NULL. */
static double joint(const model *x, const uint32_t *a, double weight, double *width, double *from)
{
    double p = 1.0;
    size_t last = 0;
    for (size_t i = 0; i < x->m; i++) {
        p *= x->t[i * (x->l + 1) + a[i]];
        if (x->p.model == TRL_ALIGN_IBM1)
            p /= (double)(x->l + 1);
        else if (x->p.model == TRL_ALIGN_IBM2)
            p *= x->place[i * (x->l + 1) + a[i]];
        else if (a[i] == 0)
            p *= x->p.null;
        else {
            double z = 0.0;
            for (size_t j = 1; j <= x->l; j++)
                z += x->jump[TRL_ALIGN_LONGEST + j - last];
            p *= (1.0 - x->p.null) * x->jump[TRL_ALIGN_LONGEST + a[i] - last] / z;
            if (width) {
                width[TRL_ALIGN_LONGEST + a[i] - last] += weight;
                from[last] += weight;
            }
            last = a[i];
        }
    }
    return p;
}

static bool next_alignment(const model *x, uint32_t *a)
{
    for (size_t i = 0; i < x->m; i++) {
        if (++a[i] <= x->l)
            return true;
        a[i] = 0;
    }
    return false;
}

static void check_counts(const model *x, double total, const trl_place_counts *c)
{
    static double width[TRL_JUMPS], from[L + 1];
    uint32_t a[M] = {0};
    memset(width, 0, sizeof width);
    memset(from, 0, sizeof from);
    do {
        const double p = joint(x, a, 0.0, NULL, NULL);
        (void)joint(x, a, p / total, width, from);
    } while (next_alignment(x, a));
    for (size_t d = 0; d < TRL_JUMPS; d++)
        assert_near((double)c->jump[d] / 0x1p32, width[d], 1e-8);
    for (size_t j = 0; j <= x->l; j++)
        assert_near((double)c->from[x->l * (TRL_ALIGN_LONGEST + 1) + j] / 0x1p32, from[j], 1e-8);
}

static void check_model(const model *x, trl_place_counts *counts)
{
    double want[CELLS] = {0}, got[CELLS], total = 0.0, top = -1.0, log_p;
    uint32_t a[M] = {0}, best[M];
    trl_place_scratch s = {0};
    do {
        const double p = joint(x, a, 0.0, NULL, NULL);
        total += p;
        top = fmax(top, p);
        for (size_t i = 0; i < x->m; i++)
            want[i * (x->l + 1) + a[i]] += p;
    } while (next_alignment(x, a));
    memset(counts->jump, 0, TRL_JUMPS * sizeof *counts->jump);
    memset(counts->from, 0, (size_t)(TRL_ALIGN_LONGEST + 1) * (TRL_ALIGN_LONGEST + 1) * 8);
    memset(counts->place, 0, CELLS * sizeof *counts->place);
    assert_true(
        trl_places_posterior(&x->p, &(trl_place_pair){x->l, x->m, x->t}, got, &log_p, counts, &s));
    assert_near(log_p, log(total), 1e-11);
    for (size_t k = 0; k < (x->l + 1) * x->m; k++)
        assert_near(got[k], want[k] / total, 1e-11);
    assert_true(trl_places_best(&x->p, x->l, x->m, x->t, best, &s));
    assert_near(joint(x, best, 0.0, NULL, NULL) / top, 1.0, 1e-11);
    if (x->p.model == TRL_ALIGN_HMM)
        check_counts(x, total, counts);
    for (size_t k = 0; x->p.model == TRL_ALIGN_IBM2 && k < (x->l + 1) * x->m; k++)
        assert_near((double)counts->place[k] / 0x1p32, want[k] / total, 1e-8);
    trl_place_scratch_fini(&s);
}

static void test_enumeration(void **state)
{
    (void)state;
    static model x;
    trl_rng r = trl_rng_seed(17);
    trl_place_counts counts = {
        .place = calloc(CELLS, 8),
        .jump = calloc(TRL_JUMPS, 8),
        .from = calloc((size_t)(TRL_ALIGN_LONGEST + 1) * (TRL_ALIGN_LONGEST + 1), 8)};
    for (int k = 0; k < 600; k++) {
        random_model(&x, &r, (trl_align_model)(k % 3));
        check_model(&x, &counts);
    }
    free(counts.place);
    free(counts.jump);
    free(counts.from);
}

/* ---- training -------------------------------------------------------------------------------- */

/* Sentences over small vocabularies, word w translated by v<w>, some words dropped, some swapped.
 */
static void write_bitext(size_t n, uint64_t seed)
{
    FILE *f = fopen(path[0], "w");
    trl_rng r = trl_rng_seed(seed);
    assert_non_null(f);
    for (size_t k = 0; k < n; k++) {
        const size_t l = k % 50 == 7 ? 0 : 1 + trl_rng_below(&r, 9);
        size_t w[9];
        for (size_t j = 0; j < l; j++)
            fprintf(f, "w%zu ", w[j] = trl_rng_below(&r, 40));
        fputs("|||", f);
        for (size_t j = 0; j < l; j++) {
            const size_t at = j % 3 == 1 && j + 1 < l ? j + 1 : j % 3 == 2 ? j - 1 : j;
            if (trl_rng_below(&r, 8))
                fprintf(f, " v%zu", w[at]);
            if (trl_rng_below(&r, 6) == 0)
                fprintf(f, " de");
        }
        fputc('\n', f);
    }
    assert_int_equal(fclose(f), 0);
}

typedef struct rising {
    char model[16], direction[16];
    double last;
    size_t n;
} rising;

static bool check_rising(void *ctx, const trl_align_progress *p)
{
    rising *x = ctx;
    if (strcmp(x->model, p->model) == 0 && strcmp(x->direction, p->direction) == 0)
        assert_true(p->log_likelihood >= x->last - 1e-9 * fabs(x->last));
    snprintf(x->model, sizeof x->model, "%s", p->model);
    snprintf(x->direction, sizeof x->direction, "%s", p->direction);
    x->last = p->log_likelihood;
    x->n++;
    return false;
}

static trl_aligner *train(const trl_bitext *b, trl_align_model of, size_t threads)
{
    trl_align_options o = trl_align_options_default();
    trl_aligner *a = NULL;
    rising x = {.n = 0};
    o.model = of;
    o.threads = threads;
    o.ibm1 = o.ibm2 = o.hmm = 12;
    o.progress = check_rising;
    o.progress_ctx = &x;
    assert_ok(trl_aligner_train(b, &o, &a, &err));
    assert_int_equal(x.n, of == TRL_ALIGN_IBM1 ? 24 : 48);
    return a;
}

static void assert_same_files(const char *a, const char *b)
{
    trl_mapped x, y;
    assert_ok(trl_map_file(a, &x, &err));
    assert_ok(trl_map_file(b, &y, &err));
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    trl_unmap(&x);
    trl_unmap(&y);
}

static void test_training(void **state)
{
    (void)state;
    trl_bitext *b = NULL;
    write_bitext(900, 3);
    assert_ok(trl_bitext_read(path[0], NULL, &b, &err));
    assert_int_equal(trl_bitext_get_info(b).pairs, 900);
    assert_true(trl_bitext_get_info(b).empty >= 18);
    for (int of = 0; of < 3; of++) {
        trl_aligner *one = train(b, (trl_align_model)of, 1),
                    *many = train(b, (trl_align_model)of, 3);
        trl_aligner *back = NULL;
        trl_buf x = {0}, y = {0};
        size_t lines = 0;
        assert_ok(trl_aligner_save(one, path[1], &err));
        assert_ok(trl_aligner_save(many, path[2], &err));
        assert_same_files(path[1], path[2]);
        assert_ok(trl_aligner_open(path[1], &back, &err));
        assert_ok(trl_align(one, b, TRL_GROW_DIAG_FINAL_AND, 1, &x, &err));
        assert_ok(trl_align(back, b, TRL_GROW_DIAG_FINAL_AND, 4, &y, &err));
        assert_int_equal(x.len, y.len);
        assert_memory_equal(x.data, y.data, x.len);
        for (size_t k = 0; k < x.len; k++)
            lines += x.data[k] == '\n';
        assert_int_equal(lines, 900);
        trl_buf_fini(&x);
        trl_buf_fini(&y);
        trl_aligner_free(one);
        trl_aligner_free(many);
        trl_aligner_free(back);
    }
    trl_bitext_free(b);
}

static char *align_text(const trl_aligner *a, const char *text, trl_symmetry s)
{
    FILE *f = fopen(path[0], "w");
    trl_bitext *b = NULL;
    static char out[20000];
    trl_buf x = {0};
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_ok(trl_bitext_read(path[0], NULL, &b, &err));
    assert_ok(trl_align(a, b, s, 1, &x, &err));
    snprintf(out, sizeof out, "%.*s", (int)x.len, x.data);
    trl_buf_fini(&x);
    trl_bitext_free(b);
    return out;
}

/* What was learnt aligns words it knows wherever they stand; unknown ones, empty sides and
 * sentences of hundreds of words do no harm. */
static void test_new_text(void **state)
{
    (void)state;
    trl_bitext *b = NULL;
    char text[20000] = "";
    write_bitext(900, 3);
    assert_ok(trl_bitext_read(path[0], NULL, &b, &err));
    trl_aligner *a = train(b, TRL_ALIGN_HMM, 1);
    assert_string_equal(align_text(a, "w1 w2 w3 ||| v1 v3 v2\n", TRL_INTERSECTION),
                        "0-0 1-2 2-1\n");
    assert_string_equal(align_text(a, "w1 w9 ||| v1 v9 de\n||| x\nw1 |||\n", TRL_INTERSECTION),
                        "0-0 1-1\n\n\n");
    for (size_t k = 0; k < 300; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "w%zu ", k % 40);
    strcat(text, "|||");
    for (size_t k = 0; k < 600; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " v%zu", k % 40);
    strcat(text, "\nw4 new ||| neu v4\n");
    const char *out = align_text(a, text, TRL_UNION);
    assert_non_null(strchr(out, '\n'));
    assert_non_null(strstr(strchr(out, '\n'), "0-1"));
    assert_string_equal(align_text(a, "\n \nw1 ||| v1\n", TRL_INTERSECTION), "\n\n0-0\n");
    trl_aligner_free(a);
    trl_bitext_free(b);
}

/* A pair beyond TRL_ALIGN_MOST words has no links and does not count: what is learnt from the
 * others is the same without it. */
static void test_longest(void **state)
{
    (void)state;
    trl_bitext *b[2] = {NULL, NULL};
    trl_buf out[2] = {{0}};
    for (int k = 0; k < 2; k++) {
        write_bitext(60, 3);
        FILE *f = fopen(path[0], "a");
        for (size_t w = 0; f && w < (k ? (size_t)TRL_ALIGN_MOST + 1 : 0); w++)
            fprintf(f, "w%zu ", w % 40);
        assert_true(f && fprintf(f, "||| %s\n", k ? "v1" : "") > 0 && fclose(f) == 0);
        assert_ok(trl_bitext_read(path[0], NULL, &b[k], &err));
        assert_int_equal(trl_bitext_unaligned(b[k]), k);
        assert_int_equal(trl_bitext_get_info(b[k]).longer, k);
        trl_aligner *a = train(b[k], TRL_ALIGN_HMM, 1);
        assert_ok(trl_align(a, b[k], TRL_UNION, 1, &out[k], &err));
        trl_aligner_free(a);
        trl_bitext_free(b[k]);
    }
    assert_int_equal(out[0].len, out[1].len);
    assert_memory_equal(out[0].data, out[1].data, out[0].len);
    assert_true(out[1].len > 2 && memcmp(out[1].data + out[1].len - 2, "\n\n", 2) == 0);
    trl_buf_fini(&out[0]);
    trl_buf_fini(&out[1]);
}

/* ---- symmetries ------------------------------------------------------------------------------ */

static size_t links(const bool *link, size_t n)
{
    size_t sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += link[k];
    return sum;
}

static bool within(const bool *a, const bool *b, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (a[k] && !b[k])
            return false;
    return true;
}

static void test_symmetry(void **state)
{
    (void)state;
    /* forward: 1-1 2-1 3-3; reverse: 1-1 2-2 3-3, 4 to 2; by hand */
    const uint32_t forward[] = {1, 1, 3, 0}, reverse[] = {1, 2, 3, 2};
    const trl_two_ways two = {4, 4, forward, reverse};
    bool link[16], used[8];
    trl_symmetrise(&two, TRL_INTERSECTION, link, used);
    assert_true(link[0] && link[10] && links(link, 16) == 2);
    trl_symmetrise(&two, TRL_UNION, link, used);
    assert_true(link[0] && link[1] && link[5] && link[10] && link[13] && links(link, 16) == 5);
    trl_symmetrise(&two, TRL_FORWARD, link, used);
    assert_int_equal(links(link, 16), 3);
    trl_symmetrise(&two, TRL_REVERSE, link, used);
    assert_int_equal(links(link, 16), 4);
    /* grow-diag: (0,1) and (1,1) next to (0,0), (3,1) next to (2,2): each has a word that was free
     */
    trl_symmetrise(&two, TRL_GROW_DIAG, link, used);
    assert_int_equal(links(link, 16), 5);
    /* without the link (1,1) of source word 1, (0,1) takes target word 1 */
    const uint32_t apart[] = {1, 0, 0, 2};
    const trl_two_ways few = {4, 4, forward, apart};
    trl_symmetrise(&few, TRL_GROW_DIAG, link, used); /* (2,2) is in one direction only */
    assert_true(link[0] && link[1] && links(link, 16) == 2);
    trl_symmetrise(&few, TRL_GROW_DIAG_FINAL_AND, link, used);
    assert_true(link[0] && link[1] && link[10] && links(link, 16) == 3); /* not (3,1) */
    const uint32_t far_forward[] = {1, 0, 0, 0}, far_reverse[] = {1, 0, 0, 4};
    const trl_two_ways far_apart = {4, 4, far_forward, far_reverse};
    trl_symmetrise(&far_apart, TRL_GROW_DIAG, link, used);
    assert_int_equal(links(link, 16), 1);
    trl_symmetrise(&far_apart, TRL_GROW_DIAG_FINAL_AND, link, used);
    assert_true(link[0] && link[15] && links(link, 16) == 2);
}

static void test_symmetry_order(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(5);
    for (int round = 0; round < 500; round++) {
        const size_t l = 1 + trl_rng_below(&r, 8), m = 1 + trl_rng_below(&r, 8);
        uint32_t forward[8], reverse[8];
        bool x[4][64], used[16];
        static const trl_symmetry order[] = {TRL_INTERSECTION, TRL_GROW_DIAG,
                                             TRL_GROW_DIAG_FINAL_AND, TRL_UNION};
        for (size_t i = 0; i < m; i++)
            forward[i] = (uint32_t)trl_rng_below(&r, l + 1);
        for (size_t j = 0; j < l; j++)
            reverse[j] = (uint32_t)trl_rng_below(&r, m + 1);
        const trl_two_ways two = {l, m, forward, reverse};
        for (size_t k = 0; k < 4; k++) {
            trl_symmetrise(&two, order[k], x[k], used);
            assert_true(k == 0 || within(x[k - 1], x[k], l * m));
        }
    }
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

static void write_to(size_t k, const char *text)
{
    FILE *f = fopen(path[k], "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Whatever the size of the text, a pair of words that every word belongs to can be counted. */
static void test_count_unit(void **state)
{
    (void)state;
    assert_true(trl_count_unit(1) == 0x1p40);
    assert_true(trl_count_unit((1 << 23) - 1) == 0x1p40);
    for (int k = 23; k < 62; k++)
        for (int more = -1; more <= 1; more++) {
            const uint64_t words = (UINT64_C(1) << k) + (uint64_t)more;
            const double most = (double)words * trl_count_unit(words);
            assert_true(most <= 0x1p63 && most >= 0x1p61);
        }
}

static void test_refusals(void **state)
{
    (void)state;
    trl_bitext *b = NULL;
    trl_aligner *a = NULL;
    trl_align_options o = trl_align_options_default();
    assert_int_equal(trl_bitext_read(NULL, NULL, &b, &err), TRL_EINVAL);
    assert_int_equal(trl_aligner_train(NULL, &o, &a, &err), TRL_EINVAL);
    assert_int_equal(trl_aligner_open(NULL, &a, &err), TRL_EINVAL);
    assert_int_equal(trl_aligner_save(NULL, "x", &err), TRL_EINVAL);
    assert_int_equal(trl_align(NULL, NULL, TRL_UNION, 1, NULL, &err), TRL_EINVAL);
    write_to(0, "a b\nc\nd\n");
    write_to(1, "x\ny\n");
    assert_int_equal(trl_bitext_read(path[0], path[1], &b, &err), TRL_EPARSE);
    assert_int_equal(err.row, 3);
    assert_string_equal(err.path, path[0]);
    assert_int_equal(trl_bitext_read(path[0], NULL, &b, &err), TRL_EPARSE);
    assert_int_equal(err.row, 1);
    write_to(0, "");
    assert_int_equal(trl_bitext_read(path[0], path[0], &b, &err), TRL_EINVAL);
    write_to(0, "a |||\n||| b\n");
    assert_ok(trl_bitext_read(path[0], NULL, &b, &err));
    assert_int_equal(trl_aligner_train(b, &o, &a, &err), TRL_EINVAL);
    trl_bitext_free(b);
    write_to(0, "a ||| b\n");
    assert_ok(trl_bitext_read(path[0], NULL, &b, &err));
    o.null = 0.0;
    assert_int_equal(trl_aligner_train(b, &o, &a, &err), TRL_EINVAL);
    o.null = 0.3;
    o.forward_only = true;
    assert_ok(trl_aligner_train(b, &o, &a, &err));
    trl_buf x = {0};
    assert_int_equal(trl_align(a, b, TRL_UNION, 1, &x, &err), TRL_EINVAL);
    assert_ok(trl_align(a, b, TRL_FORWARD, 1, &x, &err));
    assert_int_equal(x.len, 4);
    trl_buf_fini(&x);
    trl_aligner_free(a);
    trl_bitext_free(b);
}

int main(void)
{
    for (int k = 0; k < 3; k++)
        snprintf(path[k], sizeof path[k], "/tmp/trellis-align-%d-%d", (int)getpid(), k);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumeration), cmocka_unit_test(test_training),
        cmocka_unit_test(test_new_text),    cmocka_unit_test(test_longest),
        cmocka_unit_test(test_symmetry),    cmocka_unit_test(test_symmetry_order),
        cmocka_unit_test(test_count_unit),  cmocka_unit_test(test_refusals),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int k = 0; k < 3; k++)
        unlink(path[k]);
    return failed;
}
