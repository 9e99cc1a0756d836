/* parse.c -- loads a parser and prints the tree of a sentence: parse MODEL WORD... */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "trellis/parser.h"

int main(int argc, char **argv)
{
    enum { MOST = 100 };
    const size_t n = argc < 3 ? 0 : argc - 2 < MOST ? (size_t)argc - 2 : MOST;
    trl_str word[MOST];
    trl_model *file = NULL;
    trl_parse_model *model = NULL;
    trl_parser *parser = NULL;
    trl_parse parse;
    trl_buf out = {0};
    trl_error err = {.msg = "usage: parse MODEL WORD..."};
    const trl_parse_options o = trl_parse_options_default();
    for (size_t k = 0; k < n; k++)
        word[k] = (trl_str){argv[k + 2], strlen(argv[k + 2])};
    const bool done = n > 0 && trl_model_open(argv[1], &file, &err) == TRL_OK &&
                      trl_parse_model_of(file, &model, &err) == TRL_OK &&
                      trl_parser_new(model, &o, &parser, &err) == TRL_OK &&
                      trl_parser_parse(parser, &(trl_parse_input){.word = word, .n = n}, &parse,
                                       &err) == TRL_OK &&
                      trl_tree_print(&parse.trees[0].tree, TRL_TREE_LINE, 0, &out, &err) == TRL_OK;
    if (done)
        fwrite(out.data, 1, out.len, stdout);
    else
        fprintf(stderr, "parse: %s\n", err.msg);
    trl_buf_fini(&out);
    trl_parser_free(parser);
    trl_parse_model_free(model);
    trl_model_free(file);
    return !done;
}
