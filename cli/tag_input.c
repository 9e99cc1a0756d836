/* tag_input.c -- reading what is to be tagged, and doubting it when it makes no sense. */
/* SPDX-License-Identifier: MIT */
#include "tag_input.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "verbs.h"

/* ---- is it what the model reads? ------------------------------------------------------------- */

static trl_status wrong(const char *path, uint64_t row, const char *what, const char *hint,
                        trl_error *err)
{
    *err = (trl_error){.code = TRL_EPARSE, .row = row, .col = row ? 1 : 0};
    snprintf(err->msg, sizeof err->msg, "%s", what);
    snprintf(err->hint, sizeof err->hint, "%s", hint);
    snprintf(err->path, sizeof err->path, "%s", path ? path : "");
    return TRL_EPARSE;
}

static bool knows_a_label(const trl_model *m, const trl_items *seq)
{
    const size_t n = trl_model_get_info(m).n_labels;
    for (size_t k = 0; k < n; k++) {
        const trl_str known = trl_model_label(m, k);
        for (size_t t = 0; t < seq->n_tokens; t++)
            if (known.n == seq->label[t].n && memcmp(known.p, seq->label[t].p, known.n) == 0)
                return true;
    }
    return false;
}

/* Of several tokens, no label and no attribute: what else could they be? */
static trl_status knows_nothing(const trl_model *m, const trl_items *seq, bool *nothing,
                                trl_error *err)
{
    trl_tagger *tagger = NULL;
    trl_status st = trl_tagger_new(m, &tagger, err);
    if (st == TRL_OK)
        st = trl_tagger_set_items(tagger, seq, err);
    if (st == TRL_OK)
        *nothing = trl_tagger_attributes(tagger) == trl_tagger_unknown(tagger);
    trl_tagger_free(tagger);
    return st;
}

static trl_status check_items(const trl_model *m, const trl_items *seq, trl_error *err)
{
    static const char sure[] = "a line is LABEL, a tab and attributes; -f crfsuite if this is so";
    const trl_look look = trl_items_look(seq);
    bool nothing = false;
    if (!seq->label || knows_a_label(m, seq))
        return TRL_OK;
    if (look == TRL_LOOK_UNLABELLED)
        return wrong(
            seq->path, seq->first_row, "the line starts with an attribute where a label should be",
            "where labels are not known, write any, such as '?': LABEL, a tab and attributes; "
            "-f crfsuite if these are labels",
            err);
    if (look != TRL_LOOK_COLUMNS && seq->n_tokens > 1) {
        const trl_status st = knows_nothing(m, seq, &nothing, err);
        if (st != TRL_OK)
            return st;
    }
    if (look == TRL_LOOK_COLUMNS || nothing)
        return wrong(
            seq->path, seq->first_row,
            look == TRL_LOOK_COLUMNS
                ? "these look like columns, but the model reads CRFsuite items"
                : "the model reads CRFsuite items, and knows neither a label nor an attribute "
                  "of the first sequence",
            sure, err);
    return TRL_OK;
}

static trl_status check_rows(const trl_rows *seq, trl_error *err)
{
    if (trl_rows_look(seq) == TRL_LOOK_RIGHT)
        return TRL_OK;
    return wrong(
        seq->path, seq->first_row, "these look like CRFsuite items, but the model reads columns",
        "the columns are those of the training data; -f columns if these are columns", err);
}

static trl_status check(const tag_input *in, const tag_sequence *seq, trl_error *err)
{
    if (in->given)
        return TRL_OK;
    return seq->rows ? check_rows(seq->rows, err) : check_items(in->model, seq->items, err);
}

/* ---- what the files are -----------------------------------------------------------------------
 */

static bool is_regular(const char *path)
{
    struct stat sb;
    const int rc = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &sb) : stat(path, &sb);
    return rc != 0 || S_ISREG(sb.st_mode); /* what cannot be opened does not make us wait */
}

bool tag_input_never_waits(const operands *args)
{
    bool regular = args->n > 0 || is_regular("-");
    for (size_t i = 0; i < args->n; i++)
        regular = regular && is_regular(args->item[i]);
    return regular;
}

size_t tag_input_threads(const operands *args, size_t most)
{
    uint64_t bytes = 0;
    if (args->n == 0 || !tag_input_never_waits(args))
        return most;
    for (size_t i = 0; i < args->n; i++) {
        struct stat sb;
        bytes += stat(args->item[i], &sb) == 0 ? (uint64_t)sb.st_size : 0;
    }
    return bytes / 1024 < most ? (size_t)(bytes / 1024) + 1 : most;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Who uses the sequences, and how many there were. */
typedef struct reading {
    tag_input_fn use;
    void *ctx;
    uint64_t n;
    bool stop;
} reading;

static trl_status read_file(const tag_input *in, const char *path, reading *x, trl_error *err)
{
    trl_reader *r = NULL;
    trl_status st = trl_reader_open(path, in->format, &r, err);
    for (bool first = true, more = true; st == TRL_OK && more && !x->stop; first = false) {
        trl_rows rows = {0};
        trl_items items;
        tag_sequence seq = {0};
        if (trl_format_is_rows(in->format)) {
            st = trl_reader_rows(r, &rows, &more, err);
            seq.rows = &rows;
            seq.source = trl_reader_source(r);
        } else {
            st = trl_reader_items(r, &items, &more, err);
            seq.items = &items;
        }
        x->n += more;
        seq.number = x->n;
        if (st == TRL_OK && more && first)
            st = check(in, &seq, err);
        if (st == TRL_OK && (more || rows.heading.n))
            st = x->use(x->ctx, &seq, &x->stop, err);
    }
    trl_reader_free(r);
    return st;
}

int tag_input_format(const char *path, const trl_model *m, trl_format *format, bool *given)
{
    const trl_model_info info = trl_model_get_info(m);
    if (*format == TRL_FORMAT_GRMM)
        return message_fail("--format grmm is for models of graphs");
    if (*format != TRL_FORMAT_GUESS &&
        trl_format_is_rows(*format) != trl_format_is_rows(info.format))
        return message_fail("%s: the model reads the format %s, not %s", path,
                            format_names[info.format], format_names[*format]);
    *given = *format != TRL_FORMAT_GUESS;
    *format = *given ? *format : info.format;
    return CLI_DONE;
}

trl_status tag_input_read(const tag_input *in, tag_input_fn use, void *ctx, trl_error *err)
{
    reading x = {.use = use, .ctx = ctx};
    if (in->files->n == 0)
        return read_file(in, "-", &x, err);
    trl_status st = TRL_OK;
    for (size_t i = 0; i < in->files->n && st == TRL_OK && !x.stop; i++)
        st = read_file(in, in->files->item[i], &x, err);
    return st;
}
