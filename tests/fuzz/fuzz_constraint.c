/* fuzz_constraint.c -- any bytes as rules about labels, patterns and lists of allowed labels. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "trellis/buf.h"
#include "trellis/constraint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static trl_model *model; /* a small one, made once */

static trl_status make_model(trl_error *err)
{
    static const char dump[] =
        "trellis-model\t1\nkind\tchain\nobjective\tlikelihood\nprobability\tyes\norder\t1\n"
        "columns\t0\nlabel\tO\nlabel\tB-X\nlabel\tI-X\nlabel\tY\nconstant\tedge\tB\n"
        "node\ta\tO\t0.5\nnode\ta\tI-X\t0.25\nnode\tb\tB-X\t0.75\nedge\tB\tO\tB-X\t0.5\n";
    trl_buf bytes = {0};
    trl_status st = trl_model_undump_buf("dump", dump, sizeof dump - 1, &bytes, err);
    if (st == TRL_OK)
        st = trl_model_from_copy(bytes.data, bytes.len, &model, err);
    trl_buf_fini(&bytes);
    return st;
}

static bool is_said(trl_status st, const trl_error *err)
{
    return st == TRL_OK || (err->msg[0] && (st == TRL_EPARSE || st == TRL_EINVAL));
}

/* Labels under the rules are answered, or it is said why not. */
static void ask(const trl_constraint *c)
{
    static const trl_attr attr[2] = {{{"a", 1}, 1.0}, {{"b", 1}, 1.0}};
    static const size_t begin[4] = {0, 1, 2, 2};
    const trl_items seq = {.n_tokens = 3, .begin = begin, .attr = attr, .weight = 1.0};
    trl_error err = {0};
    trl_tagger *t = NULL;
    uint32_t y[3];
    double score, log_z;
    if (trl_tagger_new(model, &t, &err) != TRL_OK)
        return;
    CHECK(trl_tagger_constrain(t, c, &err) == TRL_OK);
    CHECK(trl_tagger_set_items(t, &seq, &err) == TRL_OK);
    const trl_status st = trl_tagger_viterbi(t, y, &score, &err);
    const trl_status sums = trl_tagger_log_z(t, &log_z, &err);
    CHECK(st == TRL_OK || st == TRL_ECONFLICT || st == TRL_EINVAL);
    CHECK(sums == st || sums == TRL_EINVAL);
    CHECK(st != TRL_OK || sums != TRL_OK || score <= log_z + 1e-9);
    trl_tagger_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_error err = {0};
    trl_constraint *c = NULL;
    trl_allowed_list *list = NULL;
    if (!model)
        CHECK(make_model(&err) == TRL_OK);
    CHECK(is_said(trl_allowed_list_memory("fuzz", data, size, model, &list, &err), &err));
    trl_allowed_list_free(list);
    if (trl_constraint_new(model, &c, &err) != TRL_OK)
        return 0;
    trl_status st = trl_constraint_max_states(c, 2000, &err);
    for (size_t at = 0, end; st == TRL_OK && at < size; at = end + 1) {
        const uint8_t *lf = memchr(data + at, '\n', size - at);
        end = lf ? (size_t)(lf - data) : size;
        st = trl_constraint_rule(c, (trl_str){(const char *)data + at, end - at}, &err);
        CHECK(is_said(st, &err));
    }
    if (st == TRL_OK)
        ask(c);
    trl_constraint_free(c);
    return 0;
}
