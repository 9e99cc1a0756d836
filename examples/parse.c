/* parse.c -- loads a parser and prints the tree of a sentence: parse MODEL WORD... */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "trellis/words.h"

int main(int argc, char **argv)
{
    trl_buf tree = {0};
    trl_model *model = NULL;
    trl_error err = {.msg = "usage: parse MODEL WORD..."};
    const size_t n = argc > 2 ? (size_t)argc - 2 : 0;
    const bool done =
        n && trl_model_open(argv[1], &model, &err) == TRL_OK &&
        trl_parse_words(model, (const char *const *)argv + 2, n, &tree, &err) == TRL_OK;
    fwrite(tree.data, 1, tree.len, stdout);
    if (!done) {
        char text[1024]; /* with the file, where there is one */
        trl_error_text(&err, text, sizeof text);
        fprintf(stderr, "parse: %s\n", text);
    }
    trl_buf_fini(&tree);
    trl_model_free(model);
    return !done;
}
