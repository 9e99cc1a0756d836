/* Which wrong edges become NOTA instances. */
/* SPDX-License-Identifier: MIT */
#include "tree_local_bank.h"

#include "train_tree/obj_pt_cfg.h"

static const trl_str *words_of(const void *ctx, size_t source)
{
    return ((const bank *)ctx)->trees.tree[source].word;
}

static bool in_gold(const trl_btree *t, const trl_span_state *s)
{
    for (size_t x = 0; x < t->n; x++) {
        bool below = false;
        for (size_t y = 0; y < t->n; y++)
            below = below || (t->node[y].left == x && t->node[y].right == TRL_NO_NODE);
        if (!below && t->node[x].state == s->state && t->node[x].from == s->i &&
            t->node[x].to == s->j)
            return true;
    }
    return false;
}

static void test_instances(void **state)
{
    (void)state;
    trl_error err;
    bank b, other;
    trl_tree_task t, t3;
    size_t count, before = 0;
    open_model(&b, 0, 8, 9);
    open_model(&other, 0, 8, 9);
    random_weights(&b, 1, 0.5);
    random_weights(&other, 1, 0.5);
    for (size_t e = 0; e < b.n; e++)
        b.example[e].source = other.example[e].source = b.tree_of[e];
    trl_pool *one = trl_pool_new(1), *three = trl_pool_new(3);
    open_task(&b, &t, objective_of(TRL_OBJ_NOTA), 1);
    open_task(&other, &t3, objective_of(TRL_OBJ_NOTA), 3);
    static const double delta[] = {0.0, 3.0, 15.0};
    for (size_t d = 0; d < 3; d++) {
        size_t c3;
        assert_ok(trl_tree_nota_make(&t, &b.m, &(trl_nota_edges){words_of, &b, delta[d]}, one,
                                     &count, &err));
        assert_ok(trl_tree_nota_make(&t3, &other.m, &(trl_nota_edges){words_of, &b, delta[d]},
                                     three, &c3, &err));
        assert_int_equal(count, c3);
        assert_true(count > before && t.nota);
        before = count;
        for (size_t e = 0; e < b.n; e++) {
            const trl_tree_example *x = &b.example[e], *y = &other.example[e];
            assert_int_equal(x->n_nota, y->n_nota);
            for (size_t k = 0; k < x->n_nota; k++) {
                assert_memory_equal(&x->nota[k], &y->nota[k], sizeof *x->nota);
                assert_false(in_gold(&x->gold, &x->nota[k]));
                assert_int_not_equal(b.m.fine.state[x->nota[k].state].type, TRL_STATE_TAG);
                assert_int_not_equal(
                    trl_skeleton_find(&x->s, x->nota[k].i, x->nota[k].j, x->nota[k].state),
                    TRL_NO_ID);
            }
            loss_of(&t, b.w, e);
        }
    }
    trl_pool_free(one);
    trl_pool_free(three);
    trl_tree_task_fini(&t);
    trl_tree_task_fini(&t3);
    bank_close(&b);
    bank_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_instances)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
