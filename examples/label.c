/* label.c -- loads a tagger and tags a sentence: label MODEL WORD... */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "trellis/tagger.h"

int main(int argc, char **argv)
{
    enum { MOST = 100 };
    const size_t n = argc < 3 ? 0 : argc - 2 < MOST ? (size_t)argc - 2 : MOST;
    trl_str word[MOST];
    uint32_t label[MOST];
    double score;
    trl_model *model = NULL;
    trl_tagger *tagger = NULL;
    trl_error err = {.msg = "usage: label MODEL WORD..."};
    for (size_t k = 0; k < n; k++)
        word[k] = (trl_str){argv[k + 2], strlen(argv[k + 2])};
    const trl_rows sentence = {.n_tokens = n, .n_columns = 1, .cell = word};
    const bool done = n > 0 && trl_model_open(argv[1], &model, &err) == TRL_OK &&
                      trl_tagger_new(model, &tagger, &err) == TRL_OK &&
                      trl_tagger_set_rows(tagger, &sentence, &err) == TRL_OK &&
                      trl_tagger_viterbi(tagger, label, &score, &err) == TRL_OK;
    for (size_t k = 0; done && k < n; k++)
        printf("%s\t%.*s\n", word[k].p, (int)trl_model_label(model, label[k]).n,
               trl_model_label(model, label[k]).p);
    if (!done)
        fprintf(stderr, "label: %s\n", err.msg);
    trl_tagger_free(tagger);
    trl_model_free(model);
    return !done;
}
