/* print.c -- trees as text: brackets on one line or many, columns, words, JSON. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "text/utf8.h"
#include "treebank/brackets.h"
#include "treebank/dependencies.h"
#include "treebank/label.h"

#define DEFAULT_WIDTH 100
#define STEP 2      /* blanks per level */
#define DEEPEST 120 /* most columns of indentation: deeper nodes stay there */

/* ---- words ----------------------------------------------------------------------------------- */

static void add_word(trl_buf *out, trl_str w)
{
    for (size_t i = 0; i < w.n; i++)
        trl_buf_ch(out, w.p[i] == ' ' ? '_' : w.p[i]);
}

static void print_words(const trl_tree *t, trl_tree_format format, trl_buf *out)
{
    const size_t start = out->len;
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const trl_str tag = trl_tree_label(t, i);
        if (t->node[i].child != TRL_NO_NODE || trl_label_is_empty(tag))
            continue;
        if (format != TRL_TREE_COLUMNS && out->len > start)
            trl_buf_ch(out, ' ');
        add_word(out, t->word[t->node[i].from]);
        if (format == TRL_TREE_WORDS)
            continue;
        trl_buf_ch(out, format == TRL_TREE_COLUMNS ? ' ' : '_');
        trl_buf_add(out, tag.p, tag.n);
        if (format == TRL_TREE_COLUMNS)
            trl_buf_ch(out, '\n');
    }
    trl_buf_ch(out, '\n');
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_json(const trl_tree *t, trl_buf *out)
{
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const trl_node *node = &t->node[i];
        trl_buf_str(out, "{\"label\":");
        trl_buf_json(out, trl_tree_label(t, i));
        if (node->child != TRL_NO_NODE) {
            trl_buf_str(out, ",\"children\":[");
            continue;
        }
        trl_buf_str(out, ",\"word\":");
        trl_buf_json(out, t->word[node->from]);
        trl_buf_ch(out, '}');
        uint32_t up = i;
        for (; up != 0 && t->node[up].next == TRL_NO_NODE; up = t->node[up].parent)
            trl_buf_str(out, "]}");
        if (up != 0)
            trl_buf_ch(out, ',');
    }
    trl_buf_ch(out, '\n');
}

/* ---- over several lines ---------------------------------------------------------------------- */

typedef struct layout {
    size_t length; /* of the subtree on one line */
    size_t indent; /* of the line it stands on */
    size_t column; /* where it begins, when its parent is broken */
    size_t tail;   /* brackets that close right after it */
    bool broken;   /* its children have lines of their own */
} layout;

/* Lengths bottom-up, then breaks top-down: a subtree that fits stays on its line; an only
 * child stays on its parent's and shares its indentation. */
static void lay_out(const trl_tree *t, size_t width, layout *at)
{
    for (size_t i = 0; i < t->n_nodes; i++)
        at[i].length = 0;
    for (size_t i = t->n_nodes; i-- > 0;) {
        const trl_node *node = &t->node[i];
        at[i].length += 3 + trl_strtab_get(t->labels, node->label).n;
        if (node->child == TRL_NO_NODE)
            at[i].length += t->word[node->from].n;
        else
            at[i].length--; /* one blank before each child is counted with it */
        if (i > 0)
            at[node->parent].length += 1 + at[i].length;
    }
    for (size_t i = 0; i < t->n_nodes; i++) {
        const trl_node *node = &t->node[i];
        const layout *up = i ? &at[node->parent] : NULL;
        const bool only = i && node->next == TRL_NO_NODE && t->node[node->parent].child == i;
        const bool last = i && node->next == TRL_NO_NODE;
        at[i].indent = !up ? 0 : only ? up->indent : up->indent + STEP;
        if (at[i].indent > DEEPEST)
            at[i].indent = DEEPEST;
        at[i].column = at[i].indent;
        if (only)
            at[i].column =
                up->column + 2 + trl_strtab_get(t->labels, t->node[node->parent].label).n;
        at[i].tail = last ? up->tail + 1 : 0;
        at[i].broken = (!up || up->broken) && node->child != TRL_NO_NODE &&
                       at[i].column + at[i].length + at[i].tail > width;
    }
}

static void print_pretty(const trl_tree *t, const layout *at, trl_buf *out)
{
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const trl_node *node = &t->node[i];
        const bool only = i && node->next == TRL_NO_NODE && t->node[node->parent].child == i;
        if (i && at[node->parent].broken && !only) {
            trl_buf_ch(out, '\n');
            for (size_t k = 0; k < at[i].indent; k++)
                trl_buf_ch(out, ' ');
        } else if (i)
            trl_buf_ch(out, ' ');
        const trl_str label = trl_tree_label(t, i);
        trl_buf_ch(out, '(');
        trl_buf_add(out, label.p, label.n);
        if (node->child != TRL_NO_NODE)
            continue;
        trl_buf_ch(out, ' ');
        trl_write_word(t->word[node->from], out);
        trl_buf_ch(out, ')');
        for (uint32_t up = i; up != 0 && t->node[up].next == TRL_NO_NODE; up = t->node[up].parent)
            trl_buf_ch(out, ')');
    }
    trl_buf_ch(out, '\n');
}

/* ---- any ------------------------------------------------------------------------------------- */

static void print_source(const trl_tree *t, trl_buf *out)
{
    if (t->source.n)
        trl_buf_add(out, t->source.p, t->source.n);
    else
        trl_tree_write(t->raw ? t->raw : t, t->labels, out);
    trl_buf_ch(out, '\n');
}

trl_status trl_tree_print(const trl_tree *t, trl_tree_format format, size_t width, trl_buf *out,
                          trl_error *err)
{
    if (!t || !out)
        return trl_fail_null(err);
    layout *at = NULL;
    switch (format) {
    case TRL_TREE_COLUMNS:
    case TRL_TREE_WORDS:
    case TRL_TREE_TAGGED:
        print_words(t, format, out);
        break;
    case TRL_TREE_JSON:
        print_json(t, out);
        break;
    case TRL_TREE_SOURCE:
        print_source(t, out);
        break;
    case TRL_TREE_PRETTY:
        at = trl_alloc(t->n_nodes, sizeof *at);
        if (!at)
            return trl_fail_mem(err);
        lay_out(t, width ? width : DEFAULT_WIDTH, at);
        print_pretty(t, at, out);
        trl_free(at);
        break;
    case TRL_TREE_CONLLU:
        if (trl_tree_conllu(t, out, err) != TRL_OK)
            return TRL_ENOMEM;
        break;
    case TRL_TREE_LINE:
        trl_tree_write(t, t->labels, out);
        trl_buf_ch(out, '\n');
        break;
    }
    return out->failed ? trl_fail_mem(err) : TRL_OK;
}

bool trl_tree_is_utf8(const trl_tree *t)
{
    if (!t)
        return true;
    for (uint32_t i = 0; i < t->n_nodes; i++)
        if (!trl_utf8_valid(trl_tree_label(t, i)))
            return false;
    for (size_t i = 0; i < t->n_words; i++)
        if (!trl_utf8_valid(t->word[i]))
            return false;
    return true;
}
