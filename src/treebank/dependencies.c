/* dependencies.c -- the dependencies of a tree's words, and CoNLL-U. */
/* SPDX-License-Identifier: MIT */
#include "treebank/dependencies.h"

#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "treebank/label.h"

/* Every child but the head one hangs its head word on that of a sister. */
static void hang_words(const trl_headed *h, trl_dependency *word)
{
    const trl_tree *t = h->tree;
    word[h->at[0].word].relation = "root";
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const trl_headed_node *at = &h->at[i];
        if (at->governor == TRL_NO_NODE || at->word == TRL_NO_NODE)
            continue;
        word[at->word].head = h->at[at->governor].word + 1;
        word[at->word].relation = trl_relation(h, i);
    }
}

/* Of "what is this" the predicate is "what": the form of "be" hangs on it, and so does all that
 * hung on the form of "be". */
static void lift_questions(const trl_headed *h, trl_dependency *word)
{
    const trl_tree *t = h->tree;
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const uint32_t wh = h->at[i].word == TRL_NO_NODE ? TRL_NO_NODE : trl_headed_first(h, i);
        if (wh == TRL_NO_NODE || !trl_headed_in(h, i, " SBARQ SBAR ") ||
            !trl_headed_in(h, wh, " WHNP WHADJP WHADVP ") || h->at[i].child == wh)
            continue;
        const uint32_t be = h->at[i].word, what = h->at[wh].word;
        if (!trl_word_in(t->word[be], trl_forms_of_be) || word[what].head != be + 1 ||
            strcmp(word[what].relation, "nsubj") == 0)
            continue;
        for (size_t k = 0; k < t->n_words; k++)
            if (word[k].head == be + 1)
                word[k].head = what + 1;
        word[what].head = word[be].head;
        word[what].relation = word[be].relation;
        word[be].head = what + 1;
        word[be].relation = "cop";
    }
}

trl_status trl_tree_dependencies(const trl_tree *t, trl_dependency *word, trl_error *err)
{
    if (!t || !word)
        return trl_fail_null(err);
    trl_headed h = {t, trl_alloc(t->n_nodes, sizeof *h.at)};
    if (!h.at)
        return trl_fail_mem(err);
    trl_find_heads(&h);
    for (size_t i = 0; i < t->n_words; i++)
        word[i] = (trl_dependency){0, NULL, NULL};
    if (h.at[0].word != TRL_NO_NODE) {
        hang_words(&h, word);
        lift_questions(&h, word);
    }
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const uint32_t w = t->node[i].from;
        if (t->node[i].child == TRL_NO_NODE && word[w].relation)
            word[w].universal =
                trl_universal_tag(t->word[w], trl_tree_label(t, i), word[w].relation);
    }
    trl_free(h.at);
    return TRL_OK;
}

/* ---- CoNLL-U --------------------------------------------------------------------------------- */

static void put_cell(trl_buf *out, trl_str s)
{
    for (size_t i = 0; i < s.n; i++)
        trl_buf_ch(out, s.p[i] == '\t' || s.p[i] == '\n' ? ' ' : s.p[i]);
    trl_buf_ch(out, '\t');
}

static void put_row(const trl_tree *t, uint32_t tag, const trl_dependency *d,
                    const uint32_t *number, trl_buf *out)
{
    const uint32_t w = t->node[tag].from;
    trl_buf_fmt(out, "%u\t", number[w]);
    put_cell(out, t->word[w]);
    trl_buf_fmt(out, "_\t%s\t", d[w].universal);
    put_cell(out, trl_tree_label(t, tag));
    trl_buf_fmt(out, "_\t%u\t%s\t_\t_\n", d[w].head ? number[d[w].head - 1] : 0, d[w].relation);
}

trl_status trl_tree_conllu(const trl_tree *t, trl_buf *out, trl_error *err)
{
    trl_dependency *d = trl_alloc(t->n_words, sizeof *d);
    uint32_t *number = trl_alloc(t->n_words, sizeof *number), n = 0;
    trl_status st = d && number ? trl_tree_dependencies(t, d, err) : trl_fail_mem(err);
    for (size_t w = 0; st == TRL_OK && w < t->n_words; w++)
        number[w] = d[w].relation ? ++n : 0;
    for (uint32_t i = 0; st == TRL_OK && i < t->n_nodes; i++)
        if (t->node[i].child == TRL_NO_NODE && d[t->node[i].from].relation)
            put_row(t, i, d, number, out);
    if (st == TRL_OK && n)
        trl_buf_ch(out, '\n');
    trl_free(d);
    trl_free(number);
    return st;
}
