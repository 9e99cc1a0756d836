/* text_scenario.h -- text with marks to rows, for test_alloc. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TEXT_SCENARIO_H
#define TRL_TEST_TEXT_SCENARIO_H

#include "trellis/text.h"

static const trl_text_options text_options = {
    .columns = "word,lower,shape,field", .marks = true, .labels = "a,b"};

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
    return st;
}

#endif
