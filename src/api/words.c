/* words.c -- one sentence in one call. */
/* SPDX-License-Identifier: MIT */
#include "trellis/words.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "trellis/parser.h"
#include "trellis/tagger.h"

/* Views of the words, to be freed; NULL with err. */
static trl_str *views_of(const char *const *word, size_t n, trl_error *err)
{
    trl_str *view = trl_alloc(n + 1, sizeof *view);
    if (!view)
        trl_fail_mem(err);
    for (size_t k = 0; view && k < n; k++) {
        if (!word[k]) {
            trl_fail_null(err);
            trl_free(view);
            return NULL;
        }
        view[k] = (trl_str){word[k], strlen(word[k])};
    }
    return view;
}

trl_status trl_tag_words(const trl_model *m, const char *const *word, size_t n, trl_str *label,
                         trl_error *err)
{
    trl_error own;
    err = err ? err : &own;
    if (!m || (n && (!word || !label)))
        return trl_fail_null(err);
    trl_str *view = views_of(word, n, err);
    if (!view)
        return err->code;
    trl_tagger *t = NULL;
    double score;
    uint32_t *number = trl_alloc(n + 1, sizeof *number);
    const trl_rows seq = {.n_tokens = n, .n_columns = 1, .cell = view};
    trl_status st = number ? trl_tagger_new(m, &t, err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_tagger_set_rows(t, &seq, err);
    if (st == TRL_OK)
        st = trl_tagger_viterbi(t, number, &score, err);
    for (size_t k = 0; st == TRL_OK && k < n; k++)
        label[k] = trl_model_label(m, number[k]);
    trl_tagger_free(t);
    trl_free(number);
    trl_free(view);
    return st;
}

trl_status trl_parse_words(const trl_model *m, const char *const *word, size_t n, trl_buf *out,
                           trl_error *err)
{
    trl_error own;
    err = err ? err : &own;
    if (!m || !out || (n && !word))
        return trl_fail_null(err);
    trl_str *view = views_of(word, n, err);
    if (!view)
        return err->code;
    trl_parse_model *grammar = NULL;
    trl_parser *p = NULL;
    trl_parse parse;
    const trl_parse_options o = trl_parse_options_default();
    trl_status st = trl_parse_model_of(m, &grammar, err);
    if (st == TRL_OK)
        st = trl_parser_new(grammar, &o, &p, err);
    if (st == TRL_OK)
        st = trl_parser_parse(p, &(trl_parse_input){.word = view, .n = n}, &parse, err);
    const size_t before = out->len;
    if (st == TRL_OK)
        st = trl_tree_print(&parse.trees[0].tree, TRL_TREE_LINE, 0, out, err);
    if (st != TRL_OK)
        out->len = before;
    trl_parser_free(p);
    trl_parse_model_free(grammar);
    trl_free(view);
    return st;
}
