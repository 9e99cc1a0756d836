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

static trl_status new_place(const char *place, trl_str text, trl_format format, trl_dataset **out,
                            trl_error *err)
{
    const trl_status st = trl_dataset_new(out, err);
    if (st != TRL_OK)
        return st;
    (*out)->place = place;
    (*out)->text = text;
    (*out)->written = format;
    return TRL_OK;
}

trl_status trl_dataset_of_file(const char *path, trl_format format, trl_dataset **out,
                               trl_error *err)
{
    return new_place(path, (trl_str){0}, format, out, err);
}

trl_status trl_dataset_of_text(const char *name, trl_str text, trl_format format, trl_dataset **out,
                               trl_error *err)
{
    return new_place(name, text.p ? text : (trl_str){"", 0}, format, out, err);
}

const char *trl_dataset_place_or(const trl_dataset *d, const char *name)
{
    return d->place ? d->place : name;
}

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

/* Adds the sequences of another data set, made with this status; takes it over. */
static trl_status fill_from(trl_dataset *d, trl_dataset *from, trl_status st, trl_error *err)
{
    trl_sequence_source s = {0};
    if (st == TRL_OK)
        st = trl_sequence_source_open(&s, from, "<data>", err);
    if (st == TRL_OK)
        st = s.format == TRL_FORMAT_COLUMNS ? trl_dataset_fill_rows(d, next_rows, &s, err)
                                            : trl_dataset_fill_items(d, next_items, &s, err);
    trl_sequence_source_fini(&s);
    trl_dataset_free(from);
    return st;
}

trl_status trl_dataset_read(trl_dataset *d, const char *path, trl_format format, trl_error *err)
{
    trl_dataset *file = NULL;
    if (!d || !path)
        return trl_fail_null(err);
    trl_status st = check_format(format, err);
    if (st == TRL_OK)
        st = trl_dataset_of_file(path, format, &file, err);
    return fill_from(d, file, st, err);
}

trl_status trl_dataset_add_text(trl_dataset *d, const char *name, trl_str text, trl_format format,
                                trl_error *err)
{
    trl_dataset *given = NULL;
    if (!d || !name || (!text.p && text.n))
        return trl_fail_null(err);
    trl_status st = check_format(format, err);
    if (st == TRL_OK)
        st = trl_dataset_of_text(name, text, format, &given, err);
    return fill_from(d, given, st, err);
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

trl_status trl_dataset_trees(const trl_dataset *d, const char *name, const trl_transform *how,
                             trl_treebank **out, trl_error *err)
{
    if (d->place && !d->text.p)
        return trl_treebank_open(d->place, how, false, out, err);
    const trl_str text = d->place          ? d->text
                         : d->brackets.len ? (trl_str){d->brackets.data, d->brackets.len}
                                           : (trl_str){"", 0};
    const trl_text given = {trl_dataset_place_or(d, name), text.p, text.n};
    return trl_treebank_memory(&given, how, false, out, err);
}

static trl_status check_trees(const trl_dataset *d, trl_error *err)
{
    return d->format == TRL_FORMAT_GUESS
               ? TRL_OK
               : trl_fail(err, TRL_EINVAL, "the data set has sequences: trees do not go with them");
}

typedef struct tree_mark {
    size_t len, n_trees, n_words;
} tree_mark;

static tree_mark mark_trees(const trl_dataset *d)
{
    return (tree_mark){d->brackets.len, d->n_trees, d->n_words};
}

/* The trees as they were, after a failure. */
static trl_status settle_trees(trl_dataset *d, tree_mark before, trl_status st, trl_error *err)
{
    if (st == TRL_OK && d->brackets.failed)
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        return st;
    d->brackets.len = before.len;
    d->brackets.failed = false;
    d->n_trees = before.n_trees;
    d->n_words = before.n_words;
    return st;
}

static trl_status keep_tree(trl_dataset *d, const trl_tree *tree, trl_error *err)
{
    const trl_status st = trl_tree_print(tree, TRL_TREE_LINE, 0, &d->brackets, err);
    if (st == TRL_OK)
        trl_buf_ch(&d->brackets, '\n');
    d->n_trees++;
    d->n_words += tree->n_words;
    return st;
}

/* Adds the trees of another data set, made with this status; takes it over. */
static trl_status add_trees(trl_dataset *d, trl_dataset *from, trl_status st, trl_error *err)
{
    trl_treebank *bank = NULL;
    const tree_mark before = mark_trees(d);
    if (st == TRL_OK)
        st = trl_dataset_trees(from, "<trees>", NULL, &bank, err);
    for (bool more = true; st == TRL_OK && more;) {
        trl_tree tree;
        st = trl_treebank_next(bank, &tree, &more, err);
        if (st == TRL_OK && more)
            st = keep_tree(d, &tree, err);
    }
    trl_treebank_free(bank);
    trl_dataset_free(from);
    return settle_trees(d, before, st, err);
}

trl_status trl_dataset_read_trees(trl_dataset *d, const char *path, trl_error *err)
{
    trl_dataset *file = NULL;
    if (!d || !path)
        return trl_fail_null(err);
    trl_status st = check_trees(d, err);
    if (st == TRL_OK)
        st = trl_dataset_of_file(path, TRL_FORMAT_GUESS, &file, err);
    return add_trees(d, file, st, err);
}

trl_status trl_dataset_add_brackets(trl_dataset *d, const char *name, const char *text, size_t n,
                                    trl_error *err)
{
    trl_dataset *given = NULL;
    if (!d || !name || (!text && n))
        return trl_fail_null(err);
    trl_status st = check_trees(d, err);
    if (st == TRL_OK)
        st = trl_dataset_of_text(name, (trl_str){text, n}, TRL_FORMAT_GUESS, &given, err);
    return add_trees(d, given, st, err);
}

trl_status trl_dataset_add_tree(trl_dataset *d, const trl_tree *tree, trl_error *err)
{
    if (!d || !tree || !tree->node || !tree->word || !tree->labels)
        return trl_fail_null(err);
    const tree_mark before = mark_trees(d);
    trl_status st = check_trees(d, err);
    if (st == TRL_OK)
        st = keep_tree(d, tree, err);
    return settle_trees(d, before, st, err);
}
