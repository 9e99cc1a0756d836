/* fuzz_trees.c -- any bytes as a treebank: cleaned, printed in all forms, drawn, counted. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "text/utf8.h"
#include "trellis/trees.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

/* Indented over many lines it is still the same tree. */
static void check_pretty(const trl_tree *t, trl_buf *out)
{
    trl_buf line = {0}, again = {0};
    trl_treebank *bank = NULL;
    trl_tree u;
    bool more;
    out->len = 0;
    CHECK(trl_tree_print(t, TRL_TREE_LINE, 0, &line, NULL) == TRL_OK);
    CHECK(trl_tree_print(t, TRL_TREE_PRETTY, 7, out, NULL) == TRL_OK);
    CHECK(trl_treebank_memory(&(trl_text){"again", out->data, out->len}, NULL, false, &bank,
                              NULL) == TRL_OK);
    CHECK(trl_treebank_next(bank, &u, &more, NULL) == TRL_OK && more);
    CHECK(trl_tree_print(&u, TRL_TREE_LINE, 0, &again, NULL) == TRL_OK);
    CHECK(line.len == again.len && memcmp(line.data, again.data, line.len) == 0);
    trl_treebank_free(bank);
    trl_buf_fini(&line);
    trl_buf_fini(&again);
}

static void check_drawings(const trl_tree *t, trl_buf *out)
{
    trl_draw_options o = {.width = 40};
    for (; o.style <= TRL_DRAW_FLAT; o.style++) {
        out->len = 0;
        o.ascii = !o.ascii;
        CHECK(trl_tree_draw(t, &o, out, NULL) == TRL_OK);
        CHECK(out->len > 0 && out->data[out->len - 1] == '\n');
        CHECK(trl_utf8_valid((trl_str){out->data, out->len}));
    }
}

/* Every second node, and what may be said of it. */
static void check_marked(trl_tree_svg *svg, const trl_tree *t)
{
    bool *marked = malloc(t->n_nodes * sizeof *marked);
    double *p = malloc(t->n_nodes * sizeof *p);
    CHECK(marked && p);
    for (size_t i = 0; i < t->n_nodes; i++) {
        marked[i] = i % 2;
        p[i] = (double)i / (double)t->n_nodes;
    }
    const trl_tree_marks marks = {"<&>", p, marked};
    CHECK(trl_tree_svg_add_marked(svg, t, &marks, NULL) == TRL_OK);
    free(p);
    free(marked);
}

static void run(const uint8_t *data, size_t size, const trl_transform *how)
{
    trl_treebank *bank = NULL;
    trl_tree_svg *svg = NULL;
    trl_tree_counts *counts = NULL;
    trl_error err = {0};
    trl_buf out = {0};
    CHECK(trl_tree_svg_new(&svg, NULL) == TRL_OK);
    CHECK(trl_tree_counts_new(&counts, NULL) == TRL_OK);
    CHECK(trl_treebank_memory(&(trl_text){"fuzz", (const char *)data, size}, how, true, &bank,
                              NULL) == TRL_OK);
    trl_status st = TRL_OK;
    for (bool more = true; more && (st == TRL_OK || st == TRL_EPARSE);) {
        trl_tree t;
        st = trl_treebank_next(bank, &t, &more, &err);
        CHECK(st != TRL_EPARSE || (err.row && err.col));
        if (st != TRL_OK || !more)
            continue;
        CHECK(t.n_words > 0 && t.source.n > 0 && t.source.p[0] == '(');
        CHECK(t.source.p[t.source.n - 1] == ')');
        check_pretty(&t, &out);
        check_drawings(&t, &out);
        for (trl_tree_format f = TRL_TREE_COLUMNS; f <= TRL_TREE_SOURCE; f++)
            CHECK(trl_tree_print(&t, f, 0, &out, NULL) == TRL_OK);
        CHECK(trl_tree_svg_add(svg, &t, NULL) == TRL_OK);
        check_marked(svg, &t);
        CHECK(trl_tree_counts_add(counts, &t, NULL) == TRL_OK);
    }
    out.len = 0;
    CHECK(trl_tree_svg_finish(svg, &out, NULL) == TRL_OK);
    CHECK(trl_tree_counts_report(counts, 3, &out, NULL) == TRL_OK);
    CHECK(trl_tree_counts_json(counts, &out, NULL) == TRL_OK);
    CHECK(trl_utf8_valid((trl_str){out.data, out.len}));
    trl_buf_fini(&out);
    trl_tree_counts_free(counts);
    trl_tree_svg_free(svg);
    trl_treebank_free(bank);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const trl_transform all = {true, true, true, true, "TOP"};
    trl_transform clean = trl_transform_clean();
    clean.root = "";
    run(data, size, NULL);
    run(data, size, &clean);
    run(data, size, &all);
    return 0;
}
