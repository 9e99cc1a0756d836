/* tag_print.c -- labelling a sequence and writing it as CRF++ and CRFsuite do. */
/* SPDX-License-Identifier: MIT */
#include "tag_print.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

trl_status tag_no_memory(trl_error *err)
{
    *err = (trl_error){.code = TRL_ENOMEM};
    snprintf(err->msg, sizeof err->msg, "out of memory");
    return TRL_ENOMEM;
}

trl_status tag_printer_init(tag_printer *x, const trl_model *m, const tag_style *style,
                            trl_error *err)
{
    const trl_model_info info = trl_model_get_info(m);
    *x = (tag_printer){.model = m,
                       .style = *style,
                       .is_probability = info.is_probability,
                       .n_labels = info.n_labels};
    const size_t ranks = style->nbest ? style->nbest : 1;
    if (ranks < SIZE_MAX / sizeof *x->score)
        x->score = malloc(ranks * sizeof *x->score);
    x->label = malloc((info.n_labels + 1) * sizeof *x->label);
    if (!x->score || !x->label)
        return tag_no_memory(err);
    for (size_t k = 0; k < info.n_labels; k++)
        x->label[k] = trl_model_label(m, k);
    if (style->picture) /* shows how sure it is, where that is known */
        x->style.confidence = info.is_probability;
    if (style->picture && !tag_picture_init(&x->picture, style->picture, x->label, info.n_labels))
        return tag_no_memory(err);
    trl_status st = trl_tagger_new(m, &x->tagger, err);
    if (st == TRL_OK)
        st = trl_tagger_set_decoding(x->tagger, style->decoding, err);
    return st == TRL_OK && style->rules ? tag_rules_use(style->rules, x->tagger, err) : st;
}

void tag_printer_fini(tag_printer *x)
{
    trl_tagger_free(x->tagger);
    free(x->label);
    free(x->path);
    free(x->score);
    free(x->p);
    free(x->word);
    free(x->span);
    tag_picture_fini(&x->picture);
    tag_sure_fini(&x->sure);
}

/* Room for count * each elements, old content lost. */
static bool room(void **p, size_t *cap, size_t count, size_t each, size_t size)
{
    if (each && count > SIZE_MAX / 2 / size / each)
        return false;
    const size_t need = count * each;
    if (need <= *cap)
        return true;
    void *grown = malloc(need * 3 / 2 * size);
    if (!grown)
        return false;
    free(*p);
    *p = grown;
    *cap = need * 3 / 2;
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void add_label(const tag_printer *x, size_t k, text *out)
{
    text_add(out, x->label[k].p, x->label[k].n);
}

static void add_marginal(const tag_printer *x, size_t t, size_t k, text *out)
{
    add_label(x, k, out);
    text_char(out, ':');
    text_fixed6(out, x->p[t * x->n_labels + k]);
}

/* The line as it was, up to its last cell, and the separator it uses itself. */
static char add_line(const trl_rows *rows, size_t t, text *out)
{
    const trl_str last = rows->cell[(t + 1) * rows->n_columns - 1];
    const char *line = rows->line[t];
    const size_t n = (size_t)(last.p - line) + last.n;
    const char separator = memchr(line, '\t', n) ? '\t' : ' ';
    text_add(out, line, n);
    text_char(out, separator);
    return separator;
}

static void add_token(tag_printer *x, const tag_sequence *seq, size_t t, size_t k, text *out)
{
    char separator = '\t';
    if (seq->rows)
        separator = add_line(seq->rows, t, out);
    else if (x->style.reference) {
        text_add(out, seq->items->label[t].p, seq->items->label[t].n);
        text_char(out, '\t');
    }
    if (x->style.marginals)
        add_marginal(x, t, k, out);
    else
        add_label(x, k, out);
    if (x->style.confidence)
        tag_sure_columns(&x->sure, t, x->p[t * x->n_labels + k], separator, out);
    for (size_t j = 0; x->style.all_marginals && j < x->n_labels; j++) {
        text_char(out, separator);
        add_marginal(x, t, j, out);
    }
    text_char(out, '\n');
}

/* ---- CoNLL-U and JSON lines -------------------------------------------------------------------
 */

#define UPOS 3

/* All lines as they were; in those of words the label is the fourth cell. */
static void add_conllu(const tag_printer *x, const tag_sequence *seq, text *out)
{
    const trl_rows *rows = seq->rows;
    const char *p = seq->source.p, *end = p + seq->source.n;
    for (size_t t = 0; p < end;) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        const bool word = t < rows->n_tokens && p == rows->line[t];
        for (size_t cell = 0; p < lf; p++) {
            cell += *p == '\t';
            if (!word || cell != UPOS)
                text_char(out, *p);
            else if (*p == '\t') {
                text_char(out, *p);
                add_label(x, x->path[t], out);
            }
        }
        t += word;
        text_char(out, '\n');
        p = lf + 1;
    }
    text_char(out, '\n');
}

static void add_json_column(const trl_rows *rows, size_t column, text *out)
{
    text_char(out, '[');
    for (size_t t = 0; t < rows->n_tokens; t++) {
        const trl_str s = rows->cell[t * rows->n_columns + column];
        text_str(out, t ? ", " : "");
        text_json_bytes(out, s.p, s.n);
    }
    text_char(out, ']');
}

/* The label column of the input, if there is one, gives way to the predicted labels. */
static void add_json_cells(const tag_printer *x, const trl_rows *rows, text *out)
{
    const size_t model = trl_model_get_info(x->model).n_columns;
    const size_t columns = rows->n_columns < model ? rows->n_columns : model - 1;
    text_str(out, rows->heading.n ? "{\"document\": true, \"tokens\": " : "{\"tokens\": ");
    add_json_column(rows, 0, out);
    for (size_t c = 1; c < columns; c++) {
        text_str(out, c == 1 ? ", \"columns\": [" : ", ");
        add_json_column(rows, c, out);
    }
    text_str(out, columns > 1 ? "], " : ", ");
}

static void add_json_marginals(const tag_printer *x, size_t n, text *out)
{
    text_str(out, ", \"probabilities\": [");
    for (size_t t = 0; t < n; t++) {
        text_str(out, t ? ", " : "");
        text_json_real(out, x->p[t * x->n_labels + x->path[t]]);
    }
    text_char(out, ']');
    for (size_t t = 0; x->style.all_marginals && t < n; t++) {
        text_str(out, t ? ", {" : ", \"marginals\": [{");
        for (size_t k = 0; k < x->n_labels; k++) {
            text_str(out, k ? ", " : "");
            text_json_bytes(out, x->label[k].p, x->label[k].n);
            text_str(out, ": ");
            text_json_real(out, x->p[t * x->n_labels + k]);
        }
        text_str(out, t + 1 < n ? "}" : "}]");
    }
}

static void add_json(const tag_printer *x, const tag_sequence *seq, size_t n, text *out)
{
    const tag_style *s = &x->style;
    if (seq->rows)
        add_json_cells(x, seq->rows, out);
    text_str(out, seq->rows ? "\"labels\": [" : "{\"labels\": [");
    for (size_t t = 0; t < n; t++) {
        const trl_str label = x->label[x->path[t]];
        text_str(out, t ? ", " : "");
        text_json_bytes(out, label.p, label.n);
    }
    text_char(out, ']');
    if (s->marginals || s->confidence)
        add_json_marginals(x, n, out);
    if (s->confidence)
        tag_sure_json(&x->sure, n, out);
    if (s->confidence || s->spans)
        tag_sure_json_spans(&x->sure, out);
    text_str(out, "}\n");
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* The first column, or the name of the first attribute. */
static trl_str shown_word(const tag_sequence *seq, size_t t)
{
    if (seq->rows)
        return seq->rows->cell[t * seq->rows->n_columns];
    const trl_items *items = seq->items;
    return items->begin[t] < items->begin[t + 1] ? items->attr[items->begin[t]].name
                                                 : (trl_str){"-", 1};
}

/* The chunks of a labelling whose probabilities are not known. */
static size_t plain_spans(const tag_printer *x, size_t n)
{
    size_t found = 0;
    for (size_t t = 0; t < n; t++) {
        const trl_str label = x->label[x->path[t]], kind = page_kind_of(label);
        if (t && trl_chunk_continues(x->label[x->path[t - 1]], label))
            x->span[found - 1].end = t + 1;
        else if (kind.n)
            x->span[found++] = (trl_tag_span){.begin = t, .end = t + 1, .type = kind};
    }
    return found;
}

static trl_status add_picture(tag_printer *x, const tag_sequence *seq, size_t n, text *out,
                              trl_error *err)
{
    const bool sure = x->style.confidence;
    if (!room((void **)&x->word, &x->word_cap, n, 1, sizeof *x->word) ||
        (!sure && !room((void **)&x->span, &x->span_cap, n, 1, sizeof *x->span)))
        return tag_no_memory(err);
    for (size_t t = 0; t < n; t++)
        x->word[t] = shown_word(seq, t);
    const tag_shown shown = {.n = n,
                             .word = x->word,
                             .path = x->path,
                             .span = sure ? x->sure.own : x->span,
                             .n_spans = sure ? x->sure.n_own : plain_spans(x, n),
                             .p = sure ? x->p : NULL,
                             .probability = x->sure.probability,
                             .number = seq->number,
                             .document = seq->rows && seq->rows->heading.n > 0};
    tag_picture_add(&x->picture, &shown, out);
    return TRL_OK;
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* Fills path and score with `found` labellings. */
static trl_status find_paths(tag_printer *x, size_t *found, trl_error *err)
{
    *found = 1;
    if (x->style.nbest)
        return trl_tagger_nbest(x->tagger, x->style.nbest, x->path, x->score, found, err);
    if (!x->style.posterior)
        return trl_tagger_viterbi(x->tagger, x->path, x->score, err);
    trl_status st = trl_tagger_posterior(x->tagger, x->path, err);
    if (st == TRL_OK && (x->style.probability || x->style.confidence || x->style.spans))
        st = trl_tagger_score(x->tagger, x->path, x->score, err);
    return st;
}

/* Rounding may leave a sure labelling a hair above 1. */
static double probability(double score, double log_z)
{
    return score < log_z ? exp(score - log_z) : 1.0;
}

/* Lines -DOCSTART- as they are, each with an empty line after it. */
static void add_documents(const trl_rows *rows, text *out)
{
    for (size_t i = 0; i < rows->heading.n; i++) {
        text_char(out, rows->heading.p[i]);
        if (rows->heading.p[i] == '\n')
            text_char(out, '\n');
    }
}

/* What stands before a labelling.  A model without probabilities shows scores instead. */
static void add_heading(const tag_printer *x, const tag_sequence *seq, size_t rank, double log_z,
                        text *out)
{
    if (x->style.confidence) {
        tag_sure_heading(&x->sure, !seq->rows, out);
    } else if (x->style.nbest) {
        text_fmt(out, "# %zu ", rank);
        text_fmt(out, "%f\n",
                 x->is_probability ? probability(x->score[rank], log_z) : x->score[rank]);
    } else if (x->style.probability) {
        text_str(out, seq->rows ? "# " : "@probability\t");
        text_fmt(out, "%f\n", probability(x->score[0], log_z));
    }
}

/* Labels, and all that is to be said of them. */
static trl_status answer(tag_printer *x, size_t n, size_t *found, double *log_z, trl_error *err)
{
    const tag_style *s = &x->style;
    trl_status st = find_paths(x, found, err);
    if (st == TRL_OK && (s->marginals || s->confidence))
        st = trl_tagger_marginals(x->tagger, x->p, err);
    if (st == TRL_OK && x->is_probability && (s->probability || s->nbest))
        st = trl_tagger_log_z(x->tagger, log_z, err);
    if (st == TRL_OK && (s->confidence || s->spans))
        st = tag_sure_find(&x->sure, x->tagger, &(tag_labelling){x->path, n, x->score[0], s->above},
                           err);
    return st;
}

/* The same under the rules; where they cannot be obeyed, an error with the place, or, if the user
 * wants it so, without them. */
static trl_status answer_by_rules(tag_printer *x, const tag_sequence *seq, size_t *found,
                                  double *log_z, trl_error *err)
{
    const tag_rules *rules = x->style.rules;
    const size_t n = seq->rows ? seq->rows->n_tokens : seq->items->n_tokens;
    trl_status st = rules ? tag_rules_about(rules, seq, x->tagger, err) : TRL_OK;
    if (st == TRL_OK)
        st = answer(x, n, found, log_z, err);
    if (st == TRL_ECONFLICT && rules && rules->lenient) {
        x->n_free++;
        st = trl_tagger_constrain(x->tagger, NULL, err);
        if (st == TRL_OK)
            st = answer(x, n, found, log_z, err);
        if (st == TRL_OK)
            st = tag_rules_use(rules, x->tagger, err);
    }
    return st == TRL_OK || err->path[0] ? st : tag_rules_place(seq, err);
}

static void add_sequence(tag_printer *x, const tag_sequence *seq, size_t rank, size_t n, text *out)
{
    if (x->style.spans)
        tag_sure_spans(&x->sure, out);
    for (size_t t = 0; t < n && !x->style.spans; t++)
        add_token(x, seq, t, x->path[rank * n + t], out);
    text_char(out, '\n');
}

/* The labellings that were found, as text. */
static void add_labellings(tag_printer *x, const tag_sequence *seq, size_t found, double log_z,
                           text *out)
{
    const size_t n = seq->rows ? seq->rows->n_tokens : seq->items->n_tokens;
    const bool json = x->style.json || (seq->rows && !seq->rows->line);
    const bool conllu = seq->source.n > 0 && !json && !x->style.spans;
    if (conllu)
        add_conllu(x, seq, out);
    else if (json)
        add_json(x, seq, n, out);
    for (size_t rank = 0; rank < found && !conllu && !json; rank++) {
        add_heading(x, seq, rank, log_z, out);
        add_sequence(x, seq, rank, n, out);
    }
}

trl_status tag_printer_add(tag_printer *x, const tag_sequence *seq, text *out, trl_error *err)
{
    const tag_style *s = &x->style;
    const size_t n = seq->rows ? seq->rows->n_tokens : seq->items->n_tokens, start = out->n;
    if (seq->rows && (seq->rows->line || n == 0) && !seq->source.n && !s->json && !s->picture)
        add_documents(seq->rows, out);
    if (n == 0) /* the end of a file */
        return out->failed ? tag_no_memory(err) : TRL_OK;
    trl_status st = seq->rows ? trl_tagger_set_rows(x->tagger, seq->rows, err)
                              : trl_tagger_set_items(x->tagger, seq->items, err);
    if (st != TRL_OK)
        return st;
    if (!room((void **)&x->path, &x->path_cap, n, s->nbest ? s->nbest : 1, sizeof *x->path) ||
        ((s->marginals || s->confidence) &&
         !room((void **)&x->p, &x->p_cap, n, x->n_labels, sizeof *x->p)))
        return tag_no_memory(err);

    size_t found;
    double log_z = 0.0;
    st = answer_by_rules(x, seq, &found, &log_z, err);
    if (st != TRL_OK)
        return st;
    if (s->picture)
        st = add_picture(x, seq, n, out, err);
    else
        add_labellings(x, seq, found, log_z, out);
    if (st != TRL_OK || out->failed) {
        out->n = start;
        return tag_no_memory(err);
    }
    x->n_sequences++;
    x->n_tokens += n;
    return TRL_OK;
}
