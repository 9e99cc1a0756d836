/* learn.c -- trains a tagger from memory and tags with it: no file is read or written. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "trellis/train.h"
#include "trellis/words.h"

int main(void)
{
    const char *const words[] = {"a", "dog", "falls"};
    trl_str label[3], text = TRL_STR("the DT\ndog NN\nbarks VB\n\na DT\ntree NN\nfalls VB\n");
    trl_error err;
    trl_dataset *data = NULL;
    trl_model *model = NULL;
    trl_train_options o = trl_train_options_default();
    bool done = trl_dataset_from_text("text", text, TRL_FORMAT_COLUMNS, &data, &err) == TRL_OK;
    o.data = data;
    done = done && trl_train_model(&o, NULL, &model, &err) == TRL_OK &&
           trl_tag_words(model, words, 3, label, &err) == TRL_OK;
    for (size_t k = 0; done && k < 3; k++)
        printf("%s\t%.*s\n", words[k], (int)label[k].n, label[k].p);
    if (!done)
        fprintf(stderr, "learn: %s\n", err.msg);
    trl_model_free(model);
    trl_dataset_free(data);
    return !done;
}
