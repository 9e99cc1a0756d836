/* tag.c -- the smallest useful program with Trellis: tags sentences with a trained model.
 *
 *     tag MODEL WORD...      one sentence: a line `word label probability` per word
 *     tag MODEL <FILE        column files, as `trellis tag` takes them
 *
 *     cc tag.c -o tag $(pkg-config --cflags --libs trellis) -lm
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trellis/tagger.h"

static int complain(const trl_error *err)
{
    char text[1024];
    trl_error_text(err, text, sizeof text);
    fprintf(stderr, "tag: %s\n", text);
    if (err->hint[0])
        fprintf(stderr, "tag: %s\n", err->hint);
    return 1;
}

/* The best labels of the sequence that the tagger holds, with their probabilities. */
static trl_status print_tags(const trl_model *m, trl_tagger *t, const trl_rows *seq, trl_error *err)
{
    const size_t n = seq->n_tokens, L = trl_model_get_info(m).n_labels;
    uint32_t *label = malloc(n * sizeof *label);
    double *p = malloc(n * L * sizeof *p);
    double score, log_z;
    trl_status st = TRL_ENOMEM;
    if (label && p) {
        st = trl_tagger_viterbi(t, label, &score, err);
        if (st == TRL_OK)
            st = trl_tagger_marginals(t, p, err);
        if (st == TRL_OK)
            st = trl_tagger_log_z(t, &log_z, err);
    }
    for (size_t i = 0; st == TRL_OK && i < n; i++) {
        const trl_str word = seq->cell[i * seq->n_columns], tag = trl_model_label(m, label[i]);
        printf("%.*s\t%.*s\t%.4f\n", (int)word.n, word.p, (int)tag.n, tag.p, p[i * L + label[i]]);
    }
    if (st == TRL_OK)
        printf("# the whole sentence: %.4f\n\n", exp(score - log_z));
    free(label);
    free(p);
    return st;
}

static trl_status tag_words(const trl_model *m, trl_tagger *t, int n, char **word, trl_error *err)
{
    trl_str *cell = malloc((size_t)n * sizeof *cell);
    if (!cell)
        return TRL_ENOMEM;
    for (int i = 0; i < n; i++)
        cell[i] = (trl_str){word[i], strlen(word[i])};
    const trl_rows seq = {.n_tokens = (size_t)n, .n_columns = 1, .cell = cell};
    trl_status st = trl_tagger_set_rows(t, &seq, err);
    if (st == TRL_OK)
        st = print_tags(m, t, &seq, err);
    free(cell);
    return st;
}

static trl_status tag_file(const trl_model *m, trl_tagger *t, const char *path, trl_error *err)
{
    trl_reader *r = NULL;
    trl_status st = trl_reader_open(path, TRL_FORMAT_COLUMNS, &r, err);
    for (bool more = true; st == TRL_OK && more;) {
        trl_rows seq;
        st = trl_reader_rows(r, &seq, &more, err);
        if (st == TRL_OK && more)
            st = trl_tagger_set_rows(t, &seq, err);
        if (st == TRL_OK && more)
            st = print_tags(m, t, &seq, err);
    }
    trl_reader_free(r);
    return st;
}

int main(int argc, char **argv)
{
    trl_error err = {.code = TRL_ENOMEM, .msg = "out of memory"};
    trl_model *model = NULL;
    trl_tagger *tagger = NULL;
    if (argc < 2) {
        fprintf(stderr, "usage: tag MODEL [WORD]...\n");
        return 2;
    }
    trl_status st = trl_model_open(argv[1], &model, &err);
    if (st == TRL_OK)
        st = trl_tagger_new(model, &tagger, &err);
    if (st == TRL_OK)
        st = argc > 2 ? tag_words(model, tagger, argc - 2, argv + 2, &err)
                      : tag_file(model, tagger, "-", &err);
    trl_tagger_free(tagger);
    trl_model_free(model);
    if (st == TRL_OK && fflush(stdout) != 0) {
        perror("tag");
        return 1;
    }
    return st == TRL_OK ? 0 : complain(&err);
}
