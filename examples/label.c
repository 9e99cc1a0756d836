/* label.c -- loads a tagger and tags a sentence: label MODEL WORD... */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "trellis/words.h"

int main(int argc, char **argv)
{
    trl_str label[100];
    trl_model *model = NULL;
    trl_error err = {.msg = "usage: label MODEL WORD... (at most 100)"};
    const size_t n = argc > 2 && argc <= 102 ? (size_t)argc - 2 : 0;
    const bool done = n && trl_model_open(argv[1], &model, &err) == TRL_OK &&
                      trl_tag_words(model, (const char *const *)argv + 2, n, label, &err) == TRL_OK;
    for (size_t k = 0; done && k < n; k++)
        printf("%s\t%.*s\n", argv[k + 2], (int)label[k].n, label[k].p);
    if (!done)
        fprintf(stderr, "label: %s\n", err.msg);
    trl_model_free(model);
    return !done;
}
