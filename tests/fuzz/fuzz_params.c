/* fuzz_params.c -- any bytes as a parameter file: never a crash, every error with its place,
 * and what was read can be used. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "score/parseval_labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const trl_parseval_params *p)
{
    trl_label_table t;
    if (p->max_length < 0 || p->max_errors < 0 || p->labelled < 0 || p->eq_label.n % 2 ||
        p->eq_word.n % 2 || trl_label_table_init(&t, p, NULL) != TRL_OK)
        abort();
    for (size_t i = 0; i < p->delete_label.n; i++)
        if (!t.info[p->delete_label.id[i]].word_deleted)
            abort();
    for (size_t i = 0; i < p->eq_label.n; i += 2)
        if (!trl_label_equal(&t, p->eq_label.id[i + 1], p->eq_label.id[i]))
            abort();
    for (size_t i = 0; i < p->eq_word.n; i += 2)
        if (!trl_word_equal(&t, trl_strtab_get(&p->names, p->eq_word.id[i + 1]),
                            trl_strtab_get(&p->names, p->eq_word.id[i])))
            abort();
    trl_label_table_fini(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_input *in = NULL;
    trl_parseval_params p;
    trl_error err = {0};
    if (trl_input_memory("fuzz", data, size, &in, NULL) != TRL_OK)
        return 0;
    const trl_status st = trl_parseval_params_read(&p, in, &err);
    if (st == TRL_OK)
        use(&p);
    else if (st == TRL_EPARSE && (!err.row || !err.col || !err.path[0]))
        abort();
    trl_parseval_params_fini(&p);
    trl_input_free(in);
    return 0;
}
