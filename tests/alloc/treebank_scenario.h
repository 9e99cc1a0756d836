/* treebank_scenario.h -- a treebank cleaned, printed, drawn, counted and searched. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREEBANK_SCENARIO_H
#define TRL_TREEBANK_SCENARIO_H

#include "treebank/heads.h"

/* A tree in all forms. */
static trl_status show_tree(const trl_tree *t, trl_tree_pattern *p, trl_tree_svg *svg,
                            trl_tree_counts *c, trl_buf *out, trl_error *err)
{
    size_t n;
    uint32_t first;
    trl_draw_options o = trl_draw_options_default();
    trl_status st = trl_tree_pattern_match(p, t, &n, &first, err);
    for (trl_tree_format f = TRL_TREE_LINE; f <= TRL_TREE_SOURCE && st == TRL_OK; f++)
        st = trl_tree_print(t, f, 9, out, err);
    for (; o.style <= TRL_DRAW_FLAT && st == TRL_OK; o.style++)
        st = trl_tree_draw(t, &o, out, err);
    if (st == TRL_OK)
        st = trl_tree_svg_add(svg, t, err);
    if (st == TRL_OK)
        st = trl_tree_svg_add_marked(svg, t, &(trl_tree_marks){.caption = "a tree"}, err);
    return st == TRL_OK ? trl_tree_counts_add(c, t, err) : st;
}

static trl_status do_treebank(const void *where, trl_error *err)
{
    char path[512];
    const trl_transform how = {true, true, true, true, "TOP"};
    trl_treebank *bank = NULL;
    trl_tree_pattern *pattern = NULL;
    trl_tree_svg *svg = NULL;
    trl_tree_counts *c = NULL;
    trl_head_rules *heads = NULL;
    trl_buf out = {0};
    snprintf(path, sizeof path, "%s/trees", (const char *)where);
    trl_status st = trl_treebank_open(path, &how, true, &bank, err);
    if (st == TRL_OK)
        st = trl_tree_pattern_parse("NP|S < (__ !<< x)", &pattern, err);
    if (st == TRL_OK)
        st = trl_tree_svg_new(&svg, err);
    if (st == TRL_OK)
        st = trl_tree_counts_new(&c, err);
    if (st == TRL_OK)
        st = trl_head_rules_read(NULL, &heads, err);
    for (bool more = true; st == TRL_OK && more;) {
        trl_tree t;
        st = trl_treebank_next(bank, &t, &more, err);
        if (st == TRL_OK && more)
            st = show_tree(&t, pattern, svg, c, &out, err);
    }
    if (st == TRL_OK)
        st = trl_tree_svg_finish(svg, &out, err);
    if (st == TRL_OK)
        st = trl_tree_counts_report(c, 0, &out, err);
    if (st == TRL_OK)
        st = trl_tree_counts_json(c, &out, err);
    trl_buf_fini(&out);
    trl_head_rules_free(heads);
    trl_tree_counts_free(c);
    trl_tree_svg_free(svg);
    trl_tree_pattern_free(pattern);
    trl_treebank_free(bank);
    return st;
}

#endif
