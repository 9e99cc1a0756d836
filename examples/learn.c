/* learn.c -- trains a tagger from memory and tags with it: no file is read or written. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "trellis/train.h"
#include "trellis/words.h"

int main(void)
{
    static const char text[] = "the DT\ndog NN\nbarks VB\n\na DT\ntree NN\nfalls VB\n";
    const char *const words[] = {"a", "dog", "falls"};
    trl_str label[3];
    trl_error err;
    trl_dataset *data = NULL;
    trl_buf bytes = {0};
    trl_model *model = NULL;
    trl_train_options o = trl_train_options_default();
    o.model_out = &bytes;
    bool done = trl_dataset_new(&data, &err) == TRL_OK &&
                trl_dataset_add_text(data, "text", (trl_str){text, sizeof text - 1},
                                     TRL_FORMAT_COLUMNS, &err) == TRL_OK;
    o.data = data;
    done = done && trl_train(&o, NULL, &err) == TRL_OK &&
           trl_model_from_memory(bytes.data, bytes.len, &model, &err) == TRL_OK &&
           trl_tag_words(model, words, 3, label, &err) == TRL_OK;
    for (size_t k = 0; done && k < 3; k++)
        printf("%s\t%.*s\n", words[k], (int)label[k].n, label[k].p);
    if (!done)
        fprintf(stderr, "learn: %s\n", err.msg);
    trl_model_free(model); /* before the bytes that it uses */
    trl_buf_fini(&bytes);
    trl_dataset_free(data);
    return !done;
}
