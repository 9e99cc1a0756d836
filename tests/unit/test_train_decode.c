/* test_train_decode.c -- local and global decoding, calibration, and dumps of what they need. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "train_notes.h"

/* Locally decoded, every model is a proper distribution; a MEMM is one by itself. */
static void test_local_is_proper(void **state)
{
    (void)state;
    static const char *const objectives[] = {"memm", "nota", "likelihood"};
    for (int order = 1; order <= 2; order++)
        for (int k = 0; k < 3; k++) {
            setup s;
            notes n = {0};
            answers local, global, own;
            const char *dev = write_columns("dev", 72, 30);
            setup_make(&s, write_columns("data", 71, 60));
            s.o.order = order;
            s.o.objective = objectives[k];
            s.o.max_iter = 10;
            train(&s, &n);
            ask(s.o.model, dev, TRL_DECODE_LOCAL, &local);
            ask(s.o.model, dev, TRL_DECODE_GLOBAL, &global);
            ask(s.o.model, dev, TRL_DECODE_MODEL, &own);
            assert_near(local.log_z, 0.0, 1e-12);
            assert_true(fabs(global.log_z) > 1e-3);
            assert_true(own.log_z == (k < 2 ? local.log_z : global.log_z));
        }
}

/* ---- calibration ------------------------------------------------------------------------- */

static void test_calibration(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        setup s;
        notes n = {0};
        double now = 0.0, before = 0.0;
        unsigned long long steps = 0;
        setup_make(&s, write_columns("data", 131, 100));
        s.o.objective = "piecewise-nota";
        s.o.order = order;
        s.o.calibrate = true;
        s.o.threads = 1;
        train(&s, &n);
        const char *said = strstr(n.text, "calibrated in");
        assert_non_null(said);
        assert_int_equal(sscanf(said,
                                "calibrated in %llu steps: global log-likelihood %lf, before %lf",
                                &steps, &now, &before),
                         3);
        assert_true(steps > 0 && now > before && now < 0.0);
        rename(s.o.model, in_folder("first"));
        s.o.threads = 3;
        train(&s, &n);
        assert_same_files(s.o.model, in_folder("first"));
        answers local, global, plain;
        ask(s.o.model, s.train[0], TRL_DECODE_MODEL, &global); /* global by default */
        ask(s.o.model, s.train[0], TRL_DECODE_LOCAL, &local);
        s.o.calibrate = false;
        train(&s, &n);
        ask(s.o.model, s.train[0], TRL_DECODE_LOCAL, &plain); /* which it leaves alone */
        for (size_t k = 0; k < local.n * local.L; k++)
            assert_true(local.p[k] == plain.p[k]);
        ask(s.o.model, s.train[0], TRL_DECODE_GLOBAL, &plain); /* and this it does not */
        assert_true(plain.log_z != global.log_z);
    }
}

/* ---- dumps ------------------------------------------------------------------------------- */

static trl_status put(void *ctx, const char *text, size_t n, trl_error *err)
{
    (void)err;
    assert_int_equal(fwrite(text, 1, n, ctx), n);
    return TRL_OK;
}

static void test_dump(void **state)
{
    (void)state;
    static const struct {
        const char *objective, *q0;
        bool mask, calibrate;
    } run[] = {{"hmm", NULL, false, false},
               {"mest", "hmm", true, false},
               {"mest", "lu", false, false},
               {"memm", NULL, false, false},
               {"nota", NULL, false, true}};
    for (int order = 1; order <= 2; order++)
        for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
            trl_error err;
            setup s;
            notes n = {0};
            trl_model *m = NULL;
            setup_make(&s, write_columns("data", 141, 40));
            s.o.objective = run[k].objective;
            s.o.order = order;
            s.o.q0 = run[k].q0;
            s.o.q0_mask = run[k].mask;
            s.o.calibrate = run[k].calibrate;
            s.o.max_iter = 5;
            train(&s, &n);
            assert_ok(trl_model_open(s.o.model, &m, &err));
            FILE *f = fopen(in_folder("dump"), "w");
            assert_non_null(f);
            assert_ok(trl_model_dump(m, put, f, &err));
            assert_int_equal(fclose(f), 0);
            trl_model_free(m);
            assert_ok(trl_model_undump(in_folder("dump"), in_folder("copy"), &err));
            assert_same_files(s.o.model, in_folder("copy"));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local_is_proper),
        cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_dump),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-decode-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
