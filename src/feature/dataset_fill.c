/* dataset_fill.c -- data sets from callbacks and files, and data sets of trees. */
/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/fail.h"
#include "feature/dataset_parts.h"
#include "feature/sequence_source.h"
#include "trellis/trees.h"

/* ---- callbacks ------------------------------------------------------------------------------- */

/* The set as it was when it had so much; an empty one has no format. */
typedef struct mark {
    trl_format format;
    size_t n_sequences, n_tokens;
} mark;

static mark mark_of(const trl_dataset *d)
{
    const trl_dataset_info i = trl_dataset_get_info(d);
    return (mark){i.format, i.n_sequences, i.n_tokens};
}

static trl_status settle(trl_dataset *d, mark before, trl_status st)
{
    if (st == TRL_OK || d->format == TRL_FORMAT_GUESS)
        return st;
    if (d->format == TRL_FORMAT_COLUMNS)
        trl_dataset_take_back_rows(d, before.n_sequences, before.n_tokens);
    else
        trl_dataset_take_back_items(&d->items, before.n_sequences, before.n_tokens);
    d->format = before.format;
    return st;
}

trl_status trl_dataset_fill_rows(trl_dataset *d, trl_next_rows_fn next, void *ctx, trl_error *err)
{
    if (!d || !next)
        return trl_fail_null(err);
    const mark before = mark_of(d);
    trl_status st = TRL_OK;
    for (bool more = true; st == TRL_OK && more;) {
        trl_rows seq = {0};
        double weight = 1.0;
        st = next(ctx, &seq, &weight, &more, err);
        if (st == TRL_OK && more)
            st = trl_dataset_add_rows(d, &seq, 1, &weight, err);
    }
    return settle(d, before, st);
}

trl_status trl_dataset_fill_items(trl_dataset *d, trl_next_items_fn next, void *ctx, trl_error *err)
{
    if (!d || !next)
        return trl_fail_null(err);
    const mark before = mark_of(d);
    trl_status st = TRL_OK;
    for (bool more = true; st == TRL_OK && more;) {
        trl_items seq = {.weight = 1.0};
        st = next(ctx, &seq, &more, err);
        if (st == TRL_OK && more)
            st = trl_dataset_add_items(d, &seq, 1, NULL, err);
    }
    return settle(d, before, st);
}

/* ---- files ----------------------------------------------------------------------------------- */

static trl_status next_rows(void *source, trl_rows *seq, double *weight, bool *more, trl_error *err)
{
    return trl_sequence_source_rows(source, seq, weight, more, err);
}

static trl_status next_items(void *source, trl_items *seq, bool *more, trl_error *err)
{
    return trl_sequence_source_items(source, seq, more, err);
}

static trl_status check_format(trl_format format, trl_error *err)
{
    return format != TRL_FORMAT_GRMM
               ? TRL_OK
               : trl_fail(err, TRL_EINVAL, "a data set has rows or items, not GRMM's both");
}

/* Takes over the source, opened with this status. */
static trl_status fill_from(trl_dataset *d, trl_sequence_source *s, trl_status st, trl_error *err)
{
    if (st == TRL_OK)
        st = s->format == TRL_FORMAT_COLUMNS ? trl_dataset_fill_rows(d, next_rows, s, err)
                                             : trl_dataset_fill_items(d, next_items, s, err);
    trl_sequence_source_fini(s);
    return st;
}

trl_status trl_dataset_read(trl_dataset *d, const char *path, trl_format format, trl_error *err)
{
    trl_sequence_source from = {0};
    if (!d || !path)
        return trl_fail_null(err);
    trl_status st = check_format(format, err);
    if (st == TRL_OK)
        st = trl_sequence_source_open(&from, path, format, err);
    return fill_from(d, &from, st, err);
}

trl_status trl_dataset_add_text(trl_dataset *d, const char *name, trl_str text, trl_format format,
                                trl_error *err)
{
    trl_sequence_source from = {0};
    if (!d || !name || (!text.p && text.n))
        return trl_fail_null(err);
    trl_status st = check_format(format, err);
    if (st == TRL_OK)
        st = trl_sequence_source_text(&from, name, text, format, err);
    return fill_from(d, &from, st, err);
}

trl_status trl_dataset_from_text(const char *name, trl_str text, trl_format format,
                                 trl_dataset **out, trl_error *err)
{
    trl_dataset *d = NULL;
    if (!out)
        return trl_fail_null(err);
    trl_status st = trl_dataset_new(&d, err);
    if (st == TRL_OK)
        st = trl_dataset_add_text(d, name, text, format, err);
    if (st == TRL_OK)
        *out = d;
    else
        trl_dataset_free(d);
    return st;
}

/* ---- trees ----------------------------------------------------------------------------------- */

trl_str trl_dataset_brackets(const trl_dataset *d)
{
    return (trl_str){d->brackets.len ? d->brackets.data : "", d->brackets.len};
}

static trl_status check_trees(const trl_dataset *d, trl_error *err)
{
    return d->format == TRL_FORMAT_GUESS
               ? TRL_OK
               : trl_fail(err, TRL_EINVAL, "the data set has sequences: trees do not go with them");
}

trl_status trl_dataset_add_brackets(trl_dataset *d, const char *name, const char *text, size_t n,
                                    trl_error *err)
{
    trl_treebank *bank = NULL;
    if (!d || !name || (!text && n))
        return trl_fail_null(err);
    trl_status st = check_trees(d, err);
    if (st == TRL_OK)
        st = trl_treebank_memory(&(trl_text){name, text, n}, NULL, false, &bank, err);
    size_t trees = 0, words = 0;
    for (bool more = true; st == TRL_OK && more;) {
        trl_tree tree;
        st = trl_treebank_next(bank, &tree, &more, err);
        if (st == TRL_OK && more) {
            trees++;
            words += tree.n_words;
        }
    }
    trl_treebank_free(bank);
    const size_t before = d->brackets.len;
    if (st == TRL_OK && !(trl_buf_add(&d->brackets, text, n) && trl_buf_ch(&d->brackets, '\n'))) {
        d->brackets.len = before;
        d->brackets.failed = false;
        st = trl_fail_mem(err);
    }
    if (st == TRL_OK) {
        d->n_trees += trees;
        d->n_words += words;
    }
    return st;
}

trl_status trl_dataset_add_tree(trl_dataset *d, const trl_tree *tree, trl_error *err)
{
    if (!d || !tree || !tree->node || !tree->word || !tree->labels)
        return trl_fail_null(err);
    trl_buf line = {0};
    trl_status st = trl_tree_print(tree, TRL_TREE_LINE, 0, &line, err);
    if (st == TRL_OK)
        st = trl_dataset_add_brackets(d, "<tree>", line.data, line.len, err);
    trl_buf_fini(&line);
    return st;
}
