/* text_scenario.h -- text with marks to rows, for test_alloc. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TEXT_SCENARIO_H
#define TRL_TEST_TEXT_SCENARIO_H

#include "text/conllu.h"
#include "text/grmm.h"
#include "text/jsonl.h"
#include "text/mallet.h"
#include "trellis/text.h"

static const trl_text_options text_options = {
    .columns = "word,lower,shape,field", .marks = true, .labels = "a,b"};

static trl_status read_formats(trl_error *err)
{
    static const char conllu[] = "# c\n1\ta\tb\tU\t_\t_\t_\t_\t_\t_\n\n";
    static const char jsonl[] = "{\"tokens\": [\"a\"], \"labels\": [\"b\"]}\n";
    static const char mallet[] = "f g L\n";
    static const char grmm[] = "L M ---- W=f g\nL M ----\n";
    static const char *const text[] = {conllu, jsonl, mallet, grmm};
    trl_status st = TRL_OK;
    for (size_t k = 0; k < 4 && st == TRL_OK; k++) {
        trl_input *in = NULL;
        trl_conllu *c = NULL;
        trl_jsonl *j = NULL;
        trl_mallet *m = NULL;
        trl_grmm *g = NULL;
        trl_rows rows;
        trl_items items;
        bool more;
        st = trl_input_memory("text", text[k], strlen(text[k]), &in, err);
        if (st == TRL_OK && k == 0 && (st = trl_conllu_new(in, &c, err)) == TRL_OK)
            st = trl_conllu_next(c, &rows, &more, err);
        else if (st == TRL_OK && k == 1 && (st = trl_jsonl_new(in, &j, err)) == TRL_OK)
            st = trl_jsonl_next(j, &rows, &more, err);
        else if (st == TRL_OK && k == 2 && (st = trl_mallet_new(in, &m, err)) == TRL_OK)
            st = trl_mallet_next(m, &items, &more, err);
        else if (st == TRL_OK && k == 3 && (st = trl_grmm_new(in, &g, err)) == TRL_OK)
            st = trl_grmm_next(g, &rows, &more, err);
        trl_conllu_free(c);
        trl_jsonl_free(j);
        trl_mallet_free(m);
        trl_grmm_free(g);
        trl_input_free(in);
    }
    return st;
}

static trl_status do_text(const void *p, trl_error *err)
{
    static const char text[] = "<a>Dr. Berg</a> came at <b>5:30</b>.\n\nShe <a>left</a>. Oh!\n";
    trl_text_reader *r = NULL;
    trl_status st = trl_text_reader_memory("text", text, sizeof text - 1, p, &r, err);
    for (bool more = true; st == TRL_OK && more;) {
        trl_text_rows seq;
        st = trl_text_reader_next(r, &seq, &more, err);
    }
    trl_text_reader_free(r);
    return st == TRL_OK ? read_formats(err) : st;
}

#endif
