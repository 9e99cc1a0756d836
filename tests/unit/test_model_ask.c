/* test_model_ask.c -- attributes and weights of models, as the design that they were made of has
 * them. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "toy_model.h"

static trl_error err;

/* The attribute of that name has these weights; when all are 0 there is none, unless it is the
 * `constant` one.  Returns 1 or 0. */
static size_t check_weights(const toy *y, trl_scope scope, trl_str name, const double *want,
                            bool constant)
{
    const size_t width = y->d.family[scope].width;
    const uint32_t a = trl_model_find_attribute(y->m, scope, name);
    double *w = toy_alloc(width, sizeof *w);
    bool any = constant;
    for (size_t c = 0; c < width; c++) {
        any = any || want[c] != 0.0;
        w[c] = 99.0;
    }
    assert_int_equal(a != UINT32_MAX, any);
    if (any) {
        const trl_str same = trl_model_attribute(y->m, scope, a);
        assert_int_equal(same.n, name.n);
        assert_memory_equal(same.p, name.p, name.n);
        assert_ok(trl_model_weights(y->m, scope, a, w, &err));
        for (size_t c = 0; c < width; c++)
            if (w[c] != want[c])
                fail_msg("scope %d, %.*s, cell %zu: %g is not %g", (int)scope, (int)name.n, name.p,
                         c, w[c], want[c]);
    }
    free(w);
    return any;
}

static size_t check_constant(const toy *y, trl_scope scope)
{
    const trl_family *f = &y->d.family[scope];
    if (!f->has_constant) {
        assert_int_equal(trl_model_transitions(y->m, scope), UINT32_MAX);
        return 0;
    }
    const trl_str name = {scope == TRL_SCOPE_PAIR ? "B" : "T", 1};
    double *want = toy_alloc(f->width, sizeof *want);
    for (size_t k = 0; k < f->n_constant; k++)
        want[f->constant_cell[k]] = y->w[f->constant_at + k];
    const size_t found = check_weights(y, scope, name, want, true);
    free(want);
    assert_int_equal(trl_model_transitions(y->m, scope),
                     trl_model_find_attribute(y->m, scope, name));
    return found;
}

static void check_scope(const toy *y, trl_scope scope)
{
    const trl_family *f = &y->d.family[scope];
    double *want = toy_alloc(f->width, sizeof *want), w[1];
    size_t found = check_constant(y, scope);
    for (size_t a = 0; a < f->n_attrs; a++) {
        memset(want, 0, f->width * sizeof *want);
        for (size_t c = 0; a < f->n_dense && c < f->width; c++)
            want[c] = y->w[trl_dense_at(f, a) + c];
        const uint64_t *first = a < f->n_dense ? NULL : f->entry_first + (a - f->n_dense);
        for (uint64_t e = first ? first[0] : 0; first && e < first[1]; e++)
            want[f->entry_cell[e]] = y->w[trl_entry_at(f, e)];
        found += check_weights(y, scope, trl_strtab_get(&y->c.family[scope].names, f->name[a]),
                               want, false);
    }
    assert_int_equal(trl_model_n_attributes(y->m, scope), found);
    assert_int_equal(trl_model_attribute(y->m, scope, found).n, 0);
    assert_int_equal(trl_model_weights(y->m, scope, (uint32_t)found, w, &err), TRL_EINVAL);
    free(want);
}

static void test_random_models(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(81);
    for (int trial = 0; trial < 300; trial++) {
        toy y;
        toy_make(&rng, toy_random_shape(&rng, 4), &y);
        for (int scope = 0; scope <= y.shape.order; scope++)
            check_scope(&y, (trl_scope)scope);
        for (int scope = y.shape.order + 1; scope < 5; scope++) {
            double w[1];
            const trl_scope none = (trl_scope)scope;
            assert_int_equal(trl_model_n_attributes(y.m, none), 0);
            assert_int_equal(trl_model_find_attribute(y.m, none, (trl_str){"B", 1}), UINT32_MAX);
            assert_int_equal(trl_model_transitions(y.m, none), UINT32_MAX);
            assert_int_equal(trl_model_weights(y.m, none, 0, w, &err), TRL_EINVAL);
        }
        toy_free(&y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
