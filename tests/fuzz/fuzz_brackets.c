/* fuzz_brackets.c -- any bytes: never a crash; what is read, written and read again is the
 * same tree, and its chunks are valid IOB2. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "treebank/tree_chunks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_shape(const trl_tree *t)
{
    size_t words = 0;
    if (t->n_nodes == 0 || t->n_words == 0 || t->node[0].to != t->n_words)
        abort();
    for (size_t i = 0; i < t->n_nodes; i++) {
        const trl_node *n = &t->node[i];
        if (n->from >= n->to || n->to > t->n_words || (i > 0) != (n->parent < i))
            abort();
        if (n->child == TRL_NO_NODE)
            words++;
        else if (n->child != i + 1)
            abort();
        if (n->next != TRL_NO_NODE &&
            (t->node[n->next].parent != n->parent || t->node[n->next].from != n->to))
            abort();
    }
    if (words != t->n_words)
        abort();
}

static void check_chunks(trl_chunker *c, const trl_tree *t)
{
    trl_rows rows;
    if (trl_chunker_run(c, t, &rows, NULL) != TRL_OK)
        abort();
    const char *chunk = "";
    for (size_t i = 0; i < rows.n_tokens; i++) {
        const trl_str tag = rows.cell[3 * i + 2];
        if (tag.p[0] == 'I' && strcmp(chunk, tag.p + 1) != 0)
            abort();
        chunk = tag.p[0] == 'O' ? "" : tag.p + 1;
    }
}

static void check_again(const trl_tree *t, trl_strtab *labels)
{
    trl_buf text = {0}, again = {0};
    trl_input *in = NULL;
    trl_bracket_reader *r = NULL;
    trl_tree u;
    bool more = false;
    if (!trl_tree_write(t, labels, &text) ||
        trl_input_memory("again", text.data, text.len, &in, NULL) != TRL_OK ||
        trl_bracket_reader_new(in, labels, &r, NULL) != TRL_OK ||
        trl_bracket_reader_next(r, &u, &more, NULL) != TRL_OK || !more || u.n_nodes != t->n_nodes ||
        !trl_tree_write(&u, labels, &again) || again.len != text.len ||
        memcmp(again.data, text.data, text.len) != 0)
        abort();
    trl_bracket_reader_free(r);
    trl_input_free(in);
    trl_buf_fini(&text);
    trl_buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_input *in = NULL;
    trl_strtab labels = {0};
    trl_bracket_reader *r = NULL;
    trl_chunker *c = NULL;
    if (trl_input_memory("fuzz", data, size, &in, NULL) == TRL_OK &&
        trl_bracket_reader_new(in, &labels, &r, NULL) == TRL_OK &&
        trl_chunker_new(&labels, &c, NULL) == TRL_OK) {
        bool more = true;
        trl_error err = {0};
        trl_status st = TRL_OK;
        while (more && (st == TRL_OK || st == TRL_EPARSE)) {
            trl_tree t;
            st = trl_bracket_reader_next(r, &t, &more, &err);
            if (st == TRL_EPARSE && (!err.row || !err.col || !err.path[0]))
                abort();
            if (st != TRL_OK || !more)
                continue;
            check_shape(&t);
            check_again(&t, &labels);
            check_chunks(c, &t);
        }
    }
    trl_chunker_free(c);
    trl_bracket_reader_free(r);
    trl_input_free(in);
    trl_strtab_fini(&labels);
    return 0;
}
