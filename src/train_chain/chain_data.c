/* chain_data.c -- training and held-out data, from files or memory. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/default_template.h"
#include "train/places.h"
#include "train_chain/chain_training.h"
#include "feature/sequence_source.h"

/* ---- the template ---------------------------------------------------------------------------- */

/* Without a user's template, the first column holds the tokens, the last the labels. */
static trl_status need_tokens(const trl_chain_training *j, const trl_rows *seq, trl_error *err)
{
    const bool own = j->o->template_text && !j->objective->counted;
    if (own || seq->n_columns != 1)
        return TRL_OK;
    const trl_status st = trl_fail(err, TRL_EPARSE,
                                   "a token and its label are expected: there is only one "
                                   "column");
    trl_fail_where(err, st, seq->path, seq->first_row, 0);
    return trl_fail_hint(err, st,
                         "columns are separated by blanks or tabs; the last one is the label");
}

/* The files that a template in words names. */
static trl_status need_lists(trl_chain_training *j, const char *name, trl_error *err)
{
    trl_feature_list *l = trl_template_list(j->tpl);
    if (j->has_q0) {
        const trl_status st = trl_fail(
            err, TRL_EINVAL, "'%s' cannot be trained with a template in words", j->objective->name);
        return trl_fail_hint(err, st, "it takes CRF++ templates and Wapiti patterns");
    }
    j->learns = l->learns;
    return trl_feature_list_open(l, name, err);
}

/* The template must be known before the first sequence of columns is expanded. */
static trl_status need_template(trl_chain_training *j, const trl_rows *seq, trl_error *err)
{
    trl_status st = need_tokens(j, seq, err);
    if (st == TRL_OK && !j->tpl) {
        const char *text = j->o->template_text;
        size_t size = j->o->template_size;
        if (j->objective->counted) { /* no features */
            text = "";
            size = 0;
        } else if (!text) {
            text = trl_default_template(seq->n_columns);
            size = strlen(text);
        }
        const char *name = j->o->template_name ? j->o->template_name : "<template>";
        st = trl_template_parse(name, text, size, &j->tpl, err);
        if (st == TRL_OK && trl_template_list(j->tpl))
            st = need_lists(j, name, err);
        if (st == TRL_OK)
            st = trl_corpus_use_template(&j->corpus, j->tpl, err);
    }
    const size_t before = j->corpus.n_columns;
    if (st == TRL_OK && before && seq->n_columns != before) {
        st = trl_fail(err, TRL_EPARSE, "%zu columns where %zu were found before", seq->n_columns,
                      before);
        trl_fail_where(err, st, seq->path, seq->first_row, 0);
    } else if (st == TRL_OK && trl_template_columns(j->tpl) >= seq->n_columns) {
        uint64_t row, col;
        trl_template_place(j->tpl, seq->n_columns - 1, &row, &col);
        st = trl_fail(err, TRL_EPARSE,
                      "column %zu is asked for, but the data have %zu columns, the last one "
                      "being the label",
                      trl_template_columns(j->tpl) - 1, seq->n_columns);
        trl_fail_where(err, st, j->o->template_name ? j->o->template_name : "<template>", row, col);
    }
    return st;
}

/* All data of a run have one format. */
static trl_status same_format(trl_chain_training *j, const trl_sequence_source *from,
                              trl_error *err)
{
    const trl_format format = from->format;
    if (j->format == TRL_FORMAT_GUESS)
        j->format = format;
    if (j->format == format)
        return TRL_OK;
    static const char *const name[] = {"", "columns", "CRFsuite items"};
    if (!from->reader)
        return trl_fail(err, TRL_EINVAL, "dev_data are %s, the training data %s", name[format],
                        name[j->format]);
    const trl_status st = trl_fail(err, TRL_EPARSE, "this looks like %s, the data before like %s",
                                   name[format], name[j->format]);
    trl_fail_where(err, st, from->name, 0, 0);
    return trl_fail_hint(err, st, "say which it is: 'format' columns or 'format' crfsuite");
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* A sequence of columns, which has no place for it, and how often it counts. */
static trl_status add_weighted(trl_corpus *c, const trl_template *tpl, const trl_rows *seq,
                               double weight, trl_error *err)
{
    const trl_status st = trl_corpus_add_rows(c, tpl, seq, err);
    if (st == TRL_OK)
        c->weight[c->n_sequences - 1] = weight;
    return st;
}

/* What q0 counts.  A corpus that is masked, or whose real values are scaled, is made later, from
 * all columns. */
static trl_status add_training_rows(trl_chain_training *j, const trl_rows *seq, double weight,
                                    trl_error *err)
{
    trl_status st = trl_chain_training_check_rows(j, seq, err);
    if (st == TRL_OK && (j->has_q0 || j->learns))
        st = trl_column_values_add_rows(&j->columns, seq, err);
    if (st != TRL_OK)
        return st;
    if ((j->o->q0_mask || j->learns) && weight != 1.0 && !j->o->data)
        return trl_fail(err, TRL_EINVAL, "%s with @weight in files of columns",
                        j->learns ? "real values in a template do not go" : "q0-mask does not go");
    if (j->learns)
        return trl_corpus_learn_rows(&j->corpus, j->tpl, seq, err);
    return j->o->q0_mask ? TRL_OK : add_weighted(&j->corpus, j->tpl, seq, weight, err);
}

/* Room for q0's values of n more held-out tokens; NULL: no memory. */
static uint32_t *more_values(trl_chain_training *j, size_t n)
{
    trl_dev *d = &j->dev;
    const size_t width = j->q0.n_columns, at = d->corpus.n_tokens;
    uint32_t *value = trl_reserve(d->value, &d->value_cap, (at + n) * width + 1, sizeof *value);
    if (value)
        d->value = value;
    return value ? value + at * width : NULL;
}

static trl_status add_dev_rows(trl_chain_training *j, const trl_rows *seq, trl_error *err)
{
    if (!j->has_q0)
        return trl_corpus_add_rows(&j->dev.corpus, j->tpl, seq, err);
    uint32_t *value = more_values(j, seq->n_tokens);
    trl_str *cell = trl_alloc(seq->n_tokens * seq->n_columns, sizeof *cell);
    trl_status st =
        value && cell ? trl_hmm_number_rows(&j->q0, seq, value, err) : trl_fail_mem(err);
    if (st == TRL_OK) {
        trl_rows rows = *seq;
        if (j->o->q0_mask)
            rows = trl_hmm_mask_rows(&j->q0, seq, cell);
        st = trl_corpus_add_rows(&j->dev.corpus, j->tpl, &rows, err);
    }
    trl_free(cell);
    return st;
}

/* For q0 a sequence of items is its labels: one column. */
static trl_status add_items(trl_chain_training *j, const trl_items *seq, bool dev, trl_error *err)
{
    const trl_status checked = dev ? TRL_OK : trl_chain_training_check_items(j, seq, err);
    if (checked != TRL_OK)
        return checked;
    if (!dev && j->has_q0) {
        if (j->objective->counted || (j->o->q0 && j->q0_base != TRL_Q0_EMP)) {
            return trl_fail(err, TRL_EINVAL,
                            "an HMM generates columns, and CRFsuite items have none%s",
                            j->objective->counted ? "" : ": q0 can only be emp here");
        }
        j->q0_base = TRL_Q0_EMP;
        const trl_rows labels = {
            .n_tokens = seq->n_tokens, .n_columns = 1, .cell = seq->label, .path = seq->path};
        const trl_status st = trl_column_values_add_rows(&j->columns, &labels, err);
        if (st != TRL_OK)
            return st;
    }
    return trl_corpus_add_items(dev ? &j->dev.corpus : &j->corpus, seq, err);
}

static bool held_out(trl_chain_training *j, bool dev)
{
    return !dev && trl_train_leaves_out(j->o, j->n_read++);
}

/* Columns that were guessed, or assumed because of a template, may be items. */
static trl_status check_look(const trl_chain_training *j, const trl_rows *seq, trl_error *err)
{
    const trl_look look = j->o->format == TRL_FORMAT_GUESS ? trl_rows_look(seq) : TRL_LOOK_RIGHT;
    trl_status st = TRL_OK;
    if (look == TRL_LOOK_UNLABELLED) {
        st = trl_fail(err, TRL_EPARSE, "the lines look like CRFsuite items without a label");
        trl_fail_hint(err, st,
                      "a line is LABEL, a tab and attributes; give the format columns if "
                      "these are columns");
    } else if (look == TRL_LOOK_ITEMS && j->o->template_text) {
        st = trl_fail(err, TRL_EPARSE,
                      "a template goes with columns, and these look like CRFsuite items");
        trl_fail_hint(err, st,
                      "leave the template out: items have their attributes; give the format "
                      "columns if these are columns");
    }
    return st == TRL_OK ? st : trl_fail_where(err, st, seq->path, seq->first_row, 1);
}

/* The next sequence of columns; *more is false when there was none. */
static trl_status take_rows(trl_chain_training *j, trl_sequence_source *from, bool dev, bool *more,
                            trl_error *err)
{
    trl_rows seq;
    double weight;
    trl_status st = trl_sequence_source_rows(from, &seq, &weight, more, err);
    if (st != TRL_OK || !*more)
        return st;
    if (from->reader && from->n_taken == 1)
        st = check_look(j, &seq, err);
    if (st == TRL_OK)
        st = same_format(j, from, err);
    if (st == TRL_OK)
        st = need_template(j, &seq, err);
    if (st != TRL_OK || held_out(j, dev))
        return st;
    return dev ? add_dev_rows(j, &seq, err) : add_training_rows(j, &seq, weight, err);
}

static trl_status take_items(trl_chain_training *j, trl_sequence_source *from, bool dev, bool *more,
                             trl_error *err)
{
    trl_items seq;
    trl_status st = trl_sequence_source_items(from, &seq, more, err);
    if (st == TRL_OK && *more)
        st = same_format(j, from, err);
    return st == TRL_OK && *more && !held_out(j, dev) ? add_items(j, &seq, dev, err) : st;
}

/* The same of a data set, where no names need to be looked at. */
static trl_status copy_items(trl_chain_training *j, trl_sequence_source *from, bool dev, bool *more,
                             trl_error *err)
{
    *more = trl_sequence_source_more(from);
    const trl_status st = *more ? same_format(j, from, err) : TRL_OK;
    if (st != TRL_OK || !*more)
        return st;
    trl_corpus *to = dev ? &j->dev.corpus : &j->corpus;
    return trl_sequence_source_copy(from, held_out(j, dev) ? NULL : to, err);
}

static trl_status take_next(trl_chain_training *j, trl_sequence_source *from, bool dev, bool *more,
                            trl_error *err)
{
    if (from->format == TRL_FORMAT_COLUMNS)
        return take_rows(j, from, dev, more, err);
    return from->reader || j->has_q0 || trl_chain_training_checks_labels(j)
               ? take_items(j, from, dev, more, err)
               : copy_items(j, from, dev, more, err);
}

/* All sequences of a data set, for training or, `dev`, for scoring. */
static trl_status read_set(trl_chain_training *j, const trl_dataset *set, bool dev, trl_error *err)
{
    trl_sequence_source from;
    trl_status st = trl_sequence_source_open(&from, set, dev ? "<dev_data>" : "<data>", err);
    for (bool more = true; st == TRL_OK && more;)
        if ((st = trl_cancel_check(&j->cancel, err)) == TRL_OK)
            st = take_next(j, &from, dev, &more, err);
    trl_sequence_source_fini(&from);
    return st;
}

/* All sequences of a data set that is a file. */
static trl_status read_file(trl_chain_training *j, const char *path, bool dev, trl_error *err)
{
    const trl_format asked = j->o->format;
    const trl_format want = j->o->template_text && !asked ? TRL_FORMAT_COLUMNS : asked;
    trl_dataset *file = NULL;
    trl_status st = trl_dataset_of_file(path, want, &file, err);
    if (st == TRL_OK)
        st = read_set(j, file, dev, err);
    trl_dataset_free(file);
    return st;
}

/* Label bigrams (and trigrams) that no template asks for. */
static trl_status default_transitions(trl_chain_training *j, trl_error *err)
{
    bool pairs = j->tpl == NULL, triples = false;
    if (j->objective->counted) {
        j->order = j->o->order ? j->o->order : 2;
        return TRL_OK;
    }
    for (size_t k = 0; j->tpl && k < trl_template_count(j->tpl); k++)
        triples = triples || (trl_template_cliques(j->tpl, k) & TRL_ON_TRIPLE);
    j->order = j->o->order ? j->o->order : triples ? 2 : 1;
    if (triples && j->order == 1)
        return trl_fail(err, TRL_EINVAL, "the template has label triples: they need order 2");
    trl_status st = TRL_OK;
    if (pairs)
        st = trl_corpus_set_constant(&j->corpus, TRL_EDGE, err);
    if (st == TRL_OK && j->order == 2 && !triples)
        st = trl_corpus_set_constant(&j->corpus, TRL_TRI, err);
    return st;
}

/* ---- q0 -------------------------------------------------------------------------------------- */

/* How often the next sequence of the columns counts; *at is its number in the data, of which some
 * are left out, and then the number after it. */
static double column_weight(const trl_chain_training *j, uint64_t *at)
{
    while (trl_train_leaves_out(j->o, *at))
        ++*at;
    const uint64_t k = (*at)++;
    return j->o->data ? trl_dataset_weight(j->o->data, (size_t)k) : 1.0;
}

/* The corpus from columns. */
static trl_status add_columns(trl_chain_training *j, trl_error *err)
{
    trl_status st = TRL_OK;
    uint64_t at = 0;
    for (size_t k = 0; st == TRL_OK && k < j->columns.n_sequences; k++) {
        const size_t n = (size_t)(j->columns.first[k + 1] - j->columns.first[k]);
        trl_str *cell = trl_alloc(n * j->columns.n_columns, sizeof *cell);
        if (!cell)
            return trl_fail_mem(err);
        const trl_rows seq = trl_column_values_rows(&j->columns, k, cell);
        st = add_weighted(&j->corpus, j->tpl, &seq, column_weight(j, &at), err);
        trl_free(cell);
    }
    return st;
}

/* The corpus from columns whose first occurrences are masked. */
static trl_status mask(trl_chain_training *j, trl_error *err)
{
    const trl_status st = trl_column_values_mask(&j->columns, err);
    return st == TRL_OK ? add_columns(j, err) : st;
}

/* ---- the data -------------------------------------------------------------------------------- */

/* For messages about all of the training data. */
static const char *data_name(const trl_chain_training *j)
{
    return j->o->data ? "<data>" : j->o->train[0];
}

static trl_status check_weights(const trl_chain_training *j, trl_error *err)
{
    double sum = 0.0;
    for (size_t k = 0; k < j->corpus.n_sequences; k++)
        sum += j->corpus.weight[k];
    if (j->o->data && sum == 0.0)
        return trl_fail(err, TRL_EINVAL, "the weights of all sequences are 0");
    if (isfinite(sum))
        return TRL_OK;
    const trl_status st =
        trl_fail(err, TRL_EPARSE, "the weights of the sequences are too large for their sum");
    trl_fail_where(err, st, data_name(j), 0, 0);
    return trl_fail_hint(err, st, "divide all of them by the same number");
}

static trl_status no_sequences(const char *name, trl_error *err)
{
    const trl_status st = trl_fail(err, TRL_EPARSE, "there are no sequences in it");
    return trl_fail_where(err, st, name, 0, 0);
}

trl_status trl_chain_training_read(trl_chain_training *j, trl_error *err)
{
    trl_status st = trl_corpus_init(&j->corpus, err);
    if (st == TRL_OK && j->o->partial)
        st = trl_corpus_use_notes(&j->corpus, err);
    if (st == TRL_OK)
        st = trl_chain_training_read_rules(j, err);
    for (size_t k = 0; st == TRL_OK && k < j->o->n_train; k++)
        st = read_file(j, j->o->train[k], false, err);
    if (st == TRL_OK && j->o->data)
        st = read_set(j, j->o->data, false, err);
    if (st == TRL_OK && j->o->q0_mask)
        st = j->format == TRL_FORMAT_COLUMNS
                 ? mask(j, err)
                 : trl_fail(err, TRL_EINVAL, "q0-mask is for columns: items have no cells");
    if (st == TRL_OK && j->learns) {
        trl_feature_list_learned(trl_template_list(j->tpl));
        st = add_columns(j, err);
    }
    if (st == TRL_OK && j->corpus.n_tokens == 0)
        st = no_sequences(data_name(j), err);
    if (st == TRL_OK)
        st = check_weights(j, err);
    if (st == TRL_OK)
        st = default_transitions(j, err);
    if (st == TRL_OK)
        st = trl_chain_training_take_notes(j, err);
    if (st == TRL_OK)
        st = trl_chain_training_take_rules(j, err);
    j->columns.weight = j->corpus.weight;
    if (st == TRL_OK && j->has_q0)
        st = trl_q0_train(&j->q0, j->q0_base, j->order,
                          &(trl_q0_data){&j->columns, j->corpus.label, j->corpus.labels.n}, err);
    return st;
}

trl_status trl_chain_training_read_dev(trl_chain_training *j, trl_error *err)
{
    if (!trl_has_dev(j->o))
        return TRL_OK;
    trl_corpus *c = &j->dev.corpus;
    trl_status st = trl_corpus_init(c, err);
    c->known_only = true;
    if (st == TRL_OK && j->o->partial)
        st = trl_corpus_use_notes(c, err);
    if (st == TRL_OK)
        st =
            j->o->dev ? read_file(j, j->o->dev, true, err) : read_set(j, j->o->dev_data, true, err);
    if (st == TRL_OK && c->n_tokens == 0)
        st = no_sequences(j->o->dev ? j->o->dev : "<dev_data>", err);
    if (st != TRL_OK)
        return st;
    j->dev.is_local = j->calibrates ? j->objective->local : j->is_local;
    j->dev.q0 = j->has_q0 ? &j->q0 : NULL;
    bool broken = false;
    trl_status init = trl_dev_init(&j->dev, &j->corpus, &j->design, j->pool, err);
    if (init == TRL_OK)
        init = trl_dev_broken_iobes(&j->dev, &broken, err);
    if (broken)
        trl_chain_training_report(
            j, "warning",
            "the labels of the dev set have S-TYPE, but are not well-formed IOBES: "
            "chunks are counted as conlleval does, which joins neighbours of one type");
    return init;
}
