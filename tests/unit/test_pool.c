/* test_pool.c -- threads that work through jobs. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* sched_setaffinity */
#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/fail.h"
#include "base/pool.h"

typedef struct jobs {
    atomic_int runs[500], workers[8];
    size_t threads, fail_from; /* jobs from here on fail */
} jobs;

static trl_status run_job(void *ctx, size_t job, size_t worker, trl_error *err)
{
    jobs *j = ctx;
    atomic_fetch_add(&j->runs[job], 1);
    atomic_fetch_add(&j->workers[worker], 1);
    if (job >= j->fail_from)
        return trl_fail(err, TRL_EPARSE, "job %zu failed", job);
    return TRL_OK;
}

/* Returns when as many jobs as there are threads have begun; then all of them fail. */
static trl_status fail_together(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    pthread_barrier_wait(ctx);
    return trl_fail(err, TRL_EIO, "job %zu failed", job);
}

static void test_pool_reports_the_lowest_failure(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        pthread_barrier_t barrier;
        trl_pool *pool = trl_pool_new(threads);
        assert_non_null(pool);
        assert_int_equal(pthread_barrier_init(&barrier, NULL, threads), 0);
        for (int round = 0; round < 100; round++) {
            trl_error err = {0};
            assert_int_equal(trl_pool_run(pool, threads, fail_together, &barrier, &err), TRL_EIO);
            assert_string_equal(err.msg, "job 0 failed");
        }
        pthread_barrier_destroy(&barrier);
        trl_pool_free(pool);
    }
}

static void test_pool_counts_what_it_may_use(void **state)
{
    (void)state;
    assert_int_equal(trl_pool_count(3), 3);
    assert_true(trl_pool_count(0) >= 1);
#ifdef CPU_COUNT
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_int_equal(trl_pool_count(0), CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (size_t k = 0; !CPU_COUNT(&one); k++)
        if (CPU_ISSET(k, &all))
            CPU_SET(k, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(trl_pool_count(0), 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
#endif
}

static void test_pool(void **state)
{
    (void)state;
    for (size_t threads = 1; threads <= 4; threads++) {
        trl_pool *pool = trl_pool_new(threads);
        trl_error err = {0};
        char want[40];
        assert_non_null(pool);
        assert_int_equal(trl_pool_threads(pool), threads);
        for (size_t round = 0; round < 60; round++) {
            if (round == 30)
                trl_pool_stay_awake(pool);
            jobs j = {.threads = threads, .fail_from = SIZE_MAX};
            const size_t n = round * 8;
            assert_ok(trl_pool_run(pool, n, run_job, &j, &err));
            for (size_t k = 0; k < 500; k++)
                assert_int_equal(j.runs[k], k < n);
            for (size_t w = threads; w < 8; w++)
                assert_int_equal(j.workers[w], 0);
            /* jobs are handed out in order, so the first that fails has always run */
            jobs f = {.threads = threads, .fail_from = 7 * round};
            assert_int_equal(trl_pool_run(pool, 500, run_job, &f, &err), TRL_EPARSE);
            snprintf(want, sizeof want, "job %zu failed", 7 * round);
            assert_string_equal(err.msg, want);
            assert_int_equal(err.code, TRL_EPARSE);
            for (size_t k = 0; k < 500; k++) /* at most one more per worker */
                assert_int_equal(f.runs[k], k <= 7 * round             ? 1
                                            : k >= 7 * round + threads ? 0
                                                                       : f.runs[k] != 0);
        }
        trl_pool_free(pool);
    }
    trl_pool_free(NULL);
}

static trl_status note_thread(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker, (void)err;
    ((pthread_t *)ctx)[job] = pthread_self();
    return TRL_OK;
}

/* Optimisers that go from example to example run thousands of single jobs: to wake a thread for
 * each and to wait for it costs more than the job. */
static void test_pool_runs_a_single_job_in_the_caller(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_pool *pool = trl_pool_new(2);
    assert_non_null(pool);
    for (int round = 0; round < 5000; round++) {
        pthread_t by;
        assert_ok(trl_pool_run(pool, 1, note_thread, &by, &err));
        assert_true(pthread_equal(by, pthread_self()));
    }
    trl_pool_free(pool);
}

/* Rounds so short that workers wake after their end, or in the middle of a later one. */
static void test_pool_survives_short_rounds(void **state)
{
    (void)state;
    trl_error err = {0};
    for (size_t threads = 2; threads <= 5; threads++) {
        trl_pool *pool = trl_pool_new(threads);
        assert_non_null(pool);
        for (size_t round = 0; round < 5000; round++) {
            jobs j = {.threads = threads, .fail_from = SIZE_MAX};
            const size_t n = round % 4;
            assert_ok(trl_pool_run(pool, n, run_job, &j, &err));
            for (size_t k = 0; k < 5; k++)
                assert_int_equal(j.runs[k], k < n);
        }
        trl_pool_free(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_pool_counts_what_it_may_use),
        cmocka_unit_test(test_pool_reports_the_lowest_failure),
        cmocka_unit_test(test_pool_runs_a_single_job_in_the_caller),
        cmocka_unit_test(test_pool_survives_short_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
