/* learn.c -- trains a tagger from memory and tags with it: no file is read or written. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "trellis/tagger.h"
#include "trellis/train.h"

#define STR(s)                                                                                     \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

int main(void)
{
    const trl_str cell[] = {STR("the"), STR("DT"), STR("dog"),  STR("NN"), STR("barks"), STR("VB"),
                            STR("a"),   STR("DT"), STR("tree"), STR("NN"), STR("falls"), STR("VB")};
    const trl_rows train[] = {{.n_tokens = 3, .n_columns = 2, .cell = cell},
                              {.n_tokens = 3, .n_columns = 2, .cell = cell + 6}};
    const trl_str words[] = {STR("a"), STR("dog"), STR("falls")};
    const trl_rows text = {.n_tokens = 3, .n_columns = 1, .cell = words};
    uint32_t label[3];
    double score;
    trl_error err;
    trl_dataset *data = NULL;
    trl_buf bytes = {0};
    trl_model *model = NULL;
    trl_tagger *tagger = NULL;
    trl_train_options o = trl_train_options_default();
    bool done = trl_dataset_new(&data, &err) == TRL_OK &&
                trl_dataset_add_rows(data, train, 2, NULL, &err) == TRL_OK;
    o.data = data;
    o.model_out = &bytes;
    done = done && trl_train(&o, NULL, &err) == TRL_OK &&
           trl_model_from_memory(bytes.data, bytes.len, &model, &err) == TRL_OK &&
           trl_tagger_new(model, &tagger, &err) == TRL_OK &&
           trl_tagger_set_rows(tagger, &text, &err) == TRL_OK &&
           trl_tagger_viterbi(tagger, label, &score, &err) == TRL_OK;
    for (size_t k = 0; done && k < 3; k++)
        printf("%s\t%.*s\n", words[k].p, (int)trl_model_label(model, label[k]).n,
               trl_model_label(model, label[k]).p);
    if (!done)
        fprintf(stderr, "learn: %s\n", err.msg);
    trl_tagger_free(tagger);
    trl_model_free(model); /* before the bytes that it uses */
    trl_buf_fini(&bytes);
    trl_dataset_free(data);
    return !done;
}
