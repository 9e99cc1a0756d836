/* tag_text.c -- raw text in, labels out. */
/* SPDX-License-Identifier: MIT */
#include "tag_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "style.h"
#include "tag_print.h"
#include "tag_rules.h"

const char *const tag_form_names[] = {"auto", "columns", "jsonl", "marks", "colour", NULL};

/* A line of the template that names its columns. */
#define NAMED "# columns:"

typedef struct job {
    const tag_text_options *o;
    const trl_model *model;
    trl_text_options text;
    convert_format to;
    bool documents;
    trl_tagger *tagger;
    convert_memory memory;
    convert_state state;
    text pending;
    output *out;
    uint32_t *path;
    double *p, *all; /* [tokens]; [tokens][n_labels] */
    trl_str *cell;   /* [tokens][2] word and label */
    tag_sure sure;
    tag_picture picture; /* with o->picture */
    trl_str *label;      /* [n_labels] */
    size_t cap, all_cap;
    tag_text_counts *counts;
} job;

/* The list after "# columns:" in the model's template, blanks taken out; NULL: there is none. To be
 * freed. */
static char *named_columns(const trl_model *m)
{
    const trl_str t = trl_model_template(m);
    const size_t n = sizeof NAMED - 1;
    for (const char *p = t.p, *end = t.p + t.n; p < end;) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        const size_t len = (size_t)((lf ? lf : end) - p);
        if (len > n && memcmp(p, NAMED, n) == 0) {
            char *list = malloc(len - n + 1), *to = list;
            for (const char *q = p + n; list && q < p + len; q++)
                if (*q != ' ' && *q != '\t' && *q != '\r')
                    *to++ = *q;
            if (list)
                *to = '\0';
            return list;
        }
        p += len + 1;
    }
    return NULL;
}

/* ---- one sentence ---------------------------------------------------------------------------- */

static bool make_room(job *j, size_t n)
{
    const size_t labels = trl_model_get_info(j->model).n_labels;
    if (n <= j->cap)
        return true;
    free(j->path);
    free(j->p);
    free(j->cell);
    free(j->all);
    j->cap = 0;
    j->path = calloc(2 * n, sizeof *j->path);
    j->p = calloc(2 * n, sizeof *j->p);
    j->cell = calloc(4 * n, sizeof *j->cell);
    const bool p = j->o->marginals || j->o->confidence;
    j->all = p ? calloc(2 * n, labels * sizeof *j->all) : NULL;
    if (!j->path || !j->p || !j->cell || (p && !j->all))
        return false;
    j->cap = 2 * n;
    return true;
}

static trl_status find_labels(job *j, const trl_text_rows *seq, trl_error *err)
{
    double score = 0.0;
    trl_status st = trl_tagger_set_rows(j->tagger, &seq->rows, err);
    if (st == TRL_EPARSE)
        snprintf(err->hint, sizeof err->hint,
                 "name what to make of text with -c, in the order of the training data, or in a "
                 "line '" NAMED " word,shape' of the template; 'trellis convert -c help' has a "
                 "list");
    if (st == TRL_OK)
        st = j->o->posterior ? trl_tagger_posterior(j->tagger, j->path, err)
                             : trl_tagger_viterbi(j->tagger, j->path, &score, err);
    if (st == TRL_OK && j->all)
        st = trl_tagger_marginals(j->tagger, j->all, err);
    if (st == TRL_OK && j->o->confidence && j->o->posterior)
        st = trl_tagger_score(j->tagger, j->path, &score, err);
    if (st == TRL_OK && j->o->confidence)
        st = tag_sure_find(&j->sure, j->tagger,
                           &(tag_labelling){j->path, seq->rows.n_tokens, score, 0.0}, err);
    return st;
}

/* A piece of a page; words are every second cell. */
static void add_picture(job *j, const trl_rows *rows, const convert_sequence *c)
{
    const bool sure = j->o->confidence;
    for (size_t i = 0; !sure && i < c->n_chunks; i++)
        j->sure.own[i] = (trl_tag_span){c->chunk[i].begin, c->chunk[i].end, c->chunk[i].type, 0, 0};
    for (size_t t = 0; t < rows->n_tokens; t++)
        j->cell[t] = j->cell[2 * t];
    const tag_shown shown = {.n = rows->n_tokens,
                             .word = j->cell,
                             .path = j->path,
                             .span = j->sure.own,
                             .n_spans = sure ? j->sure.n_own : c->n_chunks,
                             .p = sure ? j->all : NULL,
                             .probability = j->sure.probability,
                             .number = j->counts->sequences + 1,
                             .document = rows->heading.n > 0};
    tag_picture_add(&j->picture, &shown, &j->pending);
}

static trl_status tag_sentence(job *j, const trl_text_rows *seq, trl_error *err)
{
    const size_t n = seq->rows.n_tokens, labels = trl_model_get_info(j->model).n_labels;
    if (!make_room(j, n))
        return tag_no_memory(err);
    const trl_status st = find_labels(j, seq, err);
    if (st != TRL_OK)
        return st;
    for (size_t t = 0; t < n; t++) {
        const size_t k = j->path[t];
        j->cell[2 * t] =
            (trl_str){seq->text.p + seq->token[t].begin, seq->token[t].end - seq->token[t].begin};
        j->cell[2 * t + 1] = trl_model_label(j->model, k);
        if (j->all)
            j->p[t] = j->all[t * labels + k];
    }
    const trl_rows rows = {
        .n_tokens = n, .n_columns = 2, .cell = j->cell, .heading = seq->rows.heading};
    convert_sequence c = {.rows = &rows,
                          .token = seq->token,
                          .text = seq->text,
                          .labelled = true,
                          .p = j->all ? j->p : NULL,
                          .sure = j->o->confidence ? &j->sure : NULL};
    if (!convert_chunks(&j->memory, &c))
        return tag_no_memory(err);
    if (!j->o->picture)
        convert_write(j->to, &c, &j->state, &j->pending);
    else if (!j->o->confidence && !tag_sure_room(&j->sure, n))
        return tag_no_memory(err);
    else
        add_picture(j, &rows, &c);
    j->counts->sequences++;
    j->counts->tokens += n;
    return TRL_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool hand_over(job *j)
{
    if (j->o->picture == PICTURE_SVG) /* its height comes first */
        return true;
    const bool ok = output_text(j->out, &j->pending);
    j->pending.n = 0;
    return ok;
}

static trl_status tag_document(job *j, trl_text_reader *r, trl_error *err)
{
    static const char heading[] = "-DOCSTART-\n";
    for (bool more = true, first = true;; first = false) {
        trl_text_rows seq;
        trl_status st = trl_text_reader_next(r, &seq, &more, err);
        if (st == TRL_OK && more) {
            if (first && j->documents)
                seq.rows.heading = (trl_str){heading, sizeof heading - 1};
            st = tag_sentence(j, &seq, err);
        }
        if (st != TRL_OK || !more) {
            if (st == TRL_OK && !j->o->picture)
                convert_end(j->to, seq.text, &j->state, &j->pending);
            return st;
        }
        if (j->pending.n >= 1 << 15 && !hand_over(j))
            return TRL_OK;
    }
}

static bool tag_file(job *j, const char *path)
{
    trl_error err = {0};
    trl_text_reader *r = NULL;
    trl_status st = trl_text_reader_open(path, &j->text, &r, &err);
    if (st == TRL_OK)
        st = tag_document(j, r, &err);
    const bool ok = hand_over(j);
    if (st != TRL_OK && ok) {
        output_flush(j->out);
        message_error(&err);
    }
    trl_text_reader_free(r);
    return ok && st == TRL_OK;
}

static convert_format form_of(const tag_text_options *o, const output *out)
{
    switch (o->form) {
    case TAG_JSONL:
        return CONVERT_JSONL;
    case TAG_MARKS:
        return CONVERT_MARKS;
    case TAG_COLOUR:
        return CONVERT_COLOUR;
    case TAG_AUTO:
        return !out->path && style_colour(STDOUT_FILENO) && !o->marginals ? CONVERT_COLOUR
                                                                          : CONVERT_COLUMNS;
    case TAG_COLUMNS:
    default:
        return CONVERT_COLUMNS;
    }
}

static bool tag_files(job *j, const operands *files)
{
    bool ok = files->n > 0 || tag_file(j, "-");
    for (size_t i = 0; i < files->n && ok; i++)
        ok = tag_file(j, files->item[i]);
    return ok;
}

/* The same inside of a page or picture. */
static bool tag_files_picture(job *j, const operands *files)
{
    const bool html = j->o->picture == PICTURE_HTML;
    const trl_model_info info = trl_model_get_info(j->model);
    text t = {0};
    bool ok = true;
    j->label = malloc((info.n_labels + 1) * sizeof *j->label);
    for (size_t k = 0; j->label && k < info.n_labels; k++)
        j->label[k] = trl_model_label(j->model, k);
    if (!j->label || !tag_picture_init(&j->picture, j->o->picture, j->label, info.n_labels)) {
        message_memory();
        return false;
    }
    if (html)
        tag_picture_begin(&j->picture, j->o->title, &j->pending);
    ok = tag_files(j, files);
    if (!html)
        tag_picture_begin(&j->picture, j->o->title, &t);
    text_add(&t, j->pending.p, j->pending.n);
    t.failed = t.failed || j->pending.failed;
    tag_picture_end(&j->picture, &t);
    ok = ok && output_text(j->out, &t);
    text_fini(&t);
    return ok;
}

bool tag_text(const tag_text_options *o, const trl_model *m, const operands *files, output *out,
              tag_text_counts *counts)
{
    trl_error err = {0};
    char *named = o->columns ? NULL : named_columns(m);
    job j = {.o = o,
             .model = m,
             .text = {.tokens = o->tokens, .columns = o->columns ? o->columns : named},
             .to = form_of(o, out),
             .documents = files->n > 1,
             .out = out,
             .counts = counts};
    bool ok = trl_tagger_new(m, &j.tagger, &err) == TRL_OK &&
              trl_tagger_set_decoding(j.tagger, o->decoding, &err) == TRL_OK &&
              (!o->rules || tag_rules_use(o->rules, j.tagger, &err) == TRL_OK);
    if (!ok)
        message_error(&err);
    else
        ok = (o->picture ? tag_files_picture : tag_files)(&j, files);
    if (j.tagger) {
        counts->attributes = trl_tagger_attributes(j.tagger);
        counts->unknown = trl_tagger_unknown(j.tagger);
    }
    trl_tagger_free(j.tagger);
    convert_memory_fini(&j.memory);
    text_fini(&j.pending);
    free(j.path);
    free(j.p);
    free(j.cell);
    free(j.all);
    free(j.label);
    tag_picture_fini(&j.picture);
    tag_sure_fini(&j.sure);
    free(named);
    return ok;
}
