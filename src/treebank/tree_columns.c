/* tree_columns.c -- a treebank, its entities and its documents, read side by side. */
/* SPDX-License-Identifier: MIT */
#include "trellis/trees.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "treebank/entity_marks.h"
#include "treebank/tree_chunks.h"

typedef struct document {
    uint64_t last; /* sentence */
    bool wanted;
} document;

struct trl_tree_columns {
    trl_input *trees, *marks; /* marks: NULL without entities */
    trl_strtab labels;
    trl_bracket_reader *brackets;
    trl_chunker *chunker;
    bool chunks;

    document *doc; /* [n_docs]; NULL: every sentence is wanted */
    size_t n_docs, cap_docs, doc_at;
    char *doc_path;
    uint64_t doc_row; /* of the last document */
    uint64_t n_trees; /* read so far */

    trl_strtab tags; /* of entities */
    uint32_t *tag;   /* [n_words] */
    trl_str *cell;   /* [n_words][n_columns] */
    size_t cap_tag, cap_cell;
};

trl_tree_columns_options trl_tree_columns_options_default(void)
{
    return (trl_tree_columns_options){.chunks = true};
}

/* ---- documents ------------------------------------------------------------------------------- */

enum { NAME, FIRST, LAST, SPLIT, N_FIELDS };

static trl_status split_line(const trl_input *in, trl_str line, trl_str *field, trl_error *err)
{
    size_t n = 0, at = 0;
    for (;;) {
        while (at < line.n && (line.p[at] == ' ' || line.p[at] == '\t'))
            at++;
        if (at == line.n || n == N_FIELDS)
            break;
        const size_t from = at;
        while (at < line.n && line.p[at] != ' ' && line.p[at] != '\t')
            at++;
        field[n++] = (trl_str){line.p + from, at - from};
    }
    if (n == N_FIELDS && at == line.n)
        return TRL_OK;
    const trl_status st = trl_fail(err, TRL_EPARSE, "%s than the four of NAME FIRST LAST SPLIT",
                                   n < N_FIELDS ? "fewer fields" : "more fields");
    return trl_input_fail(in, err, st, (uint64_t)at + 1);
}

/* A sentence number, from 1. */
static bool read_number(trl_str s, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || *value > UINT32_MAX)
            return false;
        *value = 10 * *value + (uint64_t)(s.p[i] - '0');
    }
    return *value > 0;
}

static trl_status add_document(trl_tree_columns *r, const trl_input *in, trl_str line,
                               trl_str wanted, trl_error *err)
{
    trl_str field[N_FIELDS];
    uint64_t first, last;
    trl_status st = split_line(in, line, field, err);
    if (st != TRL_OK)
        return st;
    for (size_t k = FIRST; k <= LAST; k++)
        if (!read_number(field[k], k == FIRST ? &first : &last)) {
            st = trl_fail(err, TRL_EPARSE, "'%.*s' is not a sentence number",
                          field[k].n < 40 ? (int)field[k].n : 40, field[k].p);
            return trl_input_fail(in, err, st, (uint64_t)(field[k].p - line.p) + 1);
        }
    const uint64_t next = r->n_docs ? r->doc[r->n_docs - 1].last + 1 : 1;
    if (first != next || last < first) {
        st = first != next ? trl_fail(err, TRL_EPARSE,
                                      "the document begins with sentence %" PRIu64 ", but %" PRIu64
                                      " is the next",
                                      first, next)
                           : trl_fail(err, TRL_EPARSE, "the document ends before it begins");
        const size_t k = first != next ? FIRST : LAST;
        return trl_input_fail(in, err, st, (uint64_t)(field[k].p - line.p) + 1);
    }
    document *doc = trl_reserve(r->doc, &r->cap_docs, r->n_docs + 1, sizeof *doc);
    if (!doc)
        return trl_fail_mem(err);
    r->doc = doc;
    doc[r->n_docs++] =
        (document){last, field[SPLIT].n == wanted.n && !memcmp(field[SPLIT].p, wanted.p, wanted.n)};
    r->doc_row = trl_input_row(in);
    return TRL_OK;
}

static trl_status read_documents(trl_tree_columns *r, const char *path, const char *split,
                                 trl_error *err)
{
    trl_input *in = NULL;
    bool any = false, more = true;
    trl_status st = trl_input_open(path, &in, err);
    while (st == TRL_OK && more) {
        trl_str line;
        st = trl_input_line(in, &line, &more, err);
        if (st != TRL_OK || !more || line.n == 0)
            continue;
        st = add_document(r, in, line, (trl_str){split, strlen(split)}, err);
        any |= st == TRL_OK && r->doc[r->n_docs - 1].wanted;
    }
    if (st == TRL_OK && !any) {
        st = trl_fail(err, TRL_EINVAL, "no document has the split '%.80s'", split);
        trl_fail_where(err, st, trl_input_name(in), 0, 0);
        trl_fail_hint(err, st, "the last word of every line names the document's split");
    }
    if (st == TRL_OK) {
        r->doc_path = trl_strndup(path, strlen(path));
        st = r->doc_path ? TRL_OK : trl_fail_mem(err);
    }
    trl_input_free(in);
    return st;
}

/* ---- opening --------------------------------------------------------------------------------- */

void trl_tree_columns_free(trl_tree_columns *r)
{
    if (!r)
        return;
    trl_chunker_free(r->chunker);
    trl_bracket_reader_free(r->brackets);
    trl_input_free(r->trees);
    trl_input_free(r->marks);
    trl_strtab_fini(&r->labels);
    trl_strtab_fini(&r->tags);
    trl_free(r->doc);
    trl_free(r->doc_path);
    trl_free(r->tag);
    trl_free(r->cell);
    trl_free(r);
}

static trl_status check_options(const trl_tree_columns_options *o, trl_error *err)
{
    if (!o->treebank)
        return trl_fail(err, TRL_EINVAL, "no treebank is given");
    if (o->documents && !o->split)
        return trl_fail(err, TRL_EINVAL, "documents are given, but not which split is wanted");
    if (o->split && !o->documents)
        return trl_fail(err, TRL_EINVAL, "the split '%.80s' needs a list of documents", o->split);
    return TRL_OK;
}

trl_status trl_tree_columns_open(const trl_tree_columns_options *o, trl_tree_columns **out,
                                 trl_error *err)
{
    if (!o || !out)
        return trl_fail_null(err);
    trl_status st = check_options(o, err);
    if (st != TRL_OK)
        return st;
    trl_tree_columns *r = trl_zalloc(1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    r->chunks = o->chunks;
    if (o->documents)
        st = read_documents(r, o->documents, o->split, err);
    if (st == TRL_OK)
        st = trl_input_open(o->treebank, &r->trees, err);
    if (st == TRL_OK && o->entities)
        st = trl_input_open(o->entities, &r->marks, err);
    if (st == TRL_OK)
        st = trl_bracket_reader_new(r->trees, &r->labels, &r->brackets, err);
    if (st == TRL_OK)
        st = trl_chunker_new(&r->labels, &r->chunker, err);
    if (st == TRL_OK)
        *out = r;
    else
        trl_tree_columns_free(r);
    return st;
}

/* ---- sentences ------------------------------------------------------------------------------- */

/* Is the tree just read wanted?  Fails when no document has it. */
static trl_status look_up(trl_tree_columns *r, const trl_tree *tree, bool *wanted, trl_error *err)
{
    *wanted = true;
    if (!r->doc)
        return TRL_OK;
    while (r->doc_at < r->n_docs && r->doc[r->doc_at].last < r->n_trees)
        r->doc_at++;
    if (r->doc_at == r->n_docs) {
        const trl_status st =
            trl_fail(err, TRL_EPARSE, "sentence %" PRIu64 " is in no document of %.200s",
                     r->n_trees, r->doc_path);
        return trl_fail_where(err, st, tree->path, tree->row, tree->col);
    }
    *wanted = r->doc[r->doc_at].wanted;
    return TRL_OK;
}

static trl_status read_marks(trl_tree_columns *r, const trl_tree *tree, const trl_rows *rows,
                             trl_error *err)
{
    trl_str line;
    bool more;
    if (!r->marks)
        return TRL_OK;
    trl_status st = trl_input_line(r->marks, &line, &more, err);
    if (st != TRL_OK)
        return st;
    if (!more) {
        st = trl_fail(err, TRL_EPARSE, "no line of %.200s belongs to this tree",
                      trl_input_name(r->marks));
        return trl_fail_where(err, st, tree->path, tree->row, tree->col);
    }
    uint32_t *tag = trl_reserve(r->tag, &r->cap_tag, rows->n_tokens, sizeof *tag);
    if (!tag)
        return trl_fail_mem(err);
    r->tag = tag;
    return trl_entity_marks(r->marks, line,
                            &(trl_word_column){rows->cell, rows->n_columns, rows->n_tokens},
                            &r->tags, tag, err);
}

/* From the chunker's columns to those requested. */
static trl_status lay_out(trl_tree_columns *r, const trl_rows *from, trl_rows *to, trl_error *err)
{
    const size_t width = 2 + (size_t)r->chunks + (r->marks ? 1 : 0);
    trl_str *cell = from->n_tokens <= SIZE_MAX / width
                        ? trl_reserve(r->cell, &r->cap_cell, from->n_tokens * width, sizeof *cell)
                        : NULL;
    if (!cell)
        return trl_fail_mem(err);
    r->cell = cell;
    for (size_t i = 0; i < from->n_tokens; i++) {
        const size_t copied = r->chunks ? 3 : 2;
        memcpy(cell + i * width, from->cell + i * from->n_columns, copied * sizeof *cell);
        if (r->marks)
            cell[i * width + copied] = trl_strtab_get(&r->tags, r->tag[i]);
    }
    *to = *from;
    to->n_columns = width;
    to->cell = cell;
    return TRL_OK;
}

/* All files must end together. */
static trl_status check_end(trl_tree_columns *r, trl_error *err)
{
    if (r->doc && r->doc[r->n_docs - 1].last > r->n_trees) {
        const trl_status st =
            trl_fail(err, TRL_EPARSE, "the last sentence is %" PRIu64 ", but %.200s has %" PRIu64,
                     r->doc[r->n_docs - 1].last, trl_input_name(r->trees), r->n_trees);
        return trl_fail_where(err, st, r->doc_path, r->doc_row, 0);
    }
    bool more = r->marks != NULL;
    while (more) {
        trl_str line;
        trl_status st = trl_input_line(r->marks, &line, &more, err);
        if (st != TRL_OK)
            return st;
        if (more && line.n) {
            st = trl_fail(err, TRL_EPARSE, "no tree of %.200s belongs to this line",
                          trl_input_name(r->trees));
            return trl_input_fail(r->marks, err, st, 0);
        }
    }
    return TRL_OK;
}

trl_status trl_tree_columns_next(trl_tree_columns *r, trl_rows *seq, bool *more, trl_error *err)
{
    if (!r || !seq || !more)
        return trl_fail_null(err);
    for (;;) {
        trl_tree tree;
        trl_rows rows;
        bool wanted;
        trl_status st = trl_bracket_reader_next(r->brackets, &tree, more, err);
        if (st != TRL_OK)
            return st;
        if (!*more)
            return check_end(r, err);
        r->n_trees++;
        st = look_up(r, &tree, &wanted, err);
        if (st == TRL_OK)
            st = trl_chunker_run(r->chunker, &tree, &rows, err);
        if (st == TRL_OK)
            st = read_marks(r, &tree, &rows, err);
        if (st == TRL_OK && wanted && rows.n_tokens)
            return lay_out(r, &rows, seq, err);
        if (st != TRL_OK)
            return st;
    }
}
