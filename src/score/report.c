/* report.c -- scores as text: conlleval's block and LaTeX table, a token report, JSON. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "trellis/score.h"

#define SHOWN_CONFUSIONS 10

/* Everything a report is made from, and the text so far. */
typedef struct report {
    trl_score_totals total;
    trl_score_row *types, *labels;   /* sorted by name */
    trl_score_confusion *confusions; /* sorted by count */
    size_t n_types, n_labels, n_confusions;
    locale_t plain, before; /* the "C" locale while a report is being written */
    trl_buf text;
} report;

/* ---- start and end --------------------------------------------------------------------------- */

static void report_fini(report *r)
{
    if (r->plain) {
        uselocale(r->before);
        freelocale(r->plain);
    }
    trl_free(r->types);
    trl_free(r->labels);
    trl_free(r->confusions);
    trl_buf_fini(&r->text);
}

static trl_status report_init(report *r, const trl_score *s, trl_error *err)
{
    *r = (report){.total = trl_score_get(s)};
    r->n_types = trl_score_chunks(s, NULL, 0);
    r->n_labels = trl_score_labels(s, NULL, 0);
    r->n_confusions = trl_score_confusions(s, NULL, 0);
    r->types = trl_alloc(r->n_types, sizeof *r->types);
    r->labels = trl_alloc(r->n_labels, sizeof *r->labels);
    r->confusions = trl_alloc(r->n_confusions, sizeof *r->confusions);
    r->plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (r->plain)
        r->before = uselocale(r->plain);
    if (!r->types || !r->labels || !r->confusions || !r->plain) {
        report_fini(r);
        return trl_fail_mem(err);
    }
    trl_score_chunks(s, r->types, r->n_types);
    trl_score_labels(s, r->labels, r->n_labels);
    trl_score_confusions(s, r->confusions, r->n_confusions);
    return TRL_OK;
}

/* Returns the text, if all of it could be written. */
static trl_status report_finish(report *r, char **text, trl_error *err)
{
    trl_buf_ch(&r->text, '\0');
    const bool failed = r->text.failed;
    if (!failed) {
        *text = r->text.data;
        r->text = (trl_buf){0};
    }
    report_fini(r);
    return failed ? trl_fail_mem(err) : TRL_OK;
}

void trl_text_free(char *text)
{
    trl_free(text);
}

/* ---- conlleval's output ---------------------------------------------------------------------- */

/* conlleval intends to list each type once but takes the type "" for no type at all, which is
 * listed once for each tagging that has it. */
static int times_listed(const trl_score_row *row)
{
    return row->name[0] == '\0' && row->gold && row->predicted ? 2 : 1;
}

static void write_block(report *r)
{
    const trl_score_totals *t = &r->total;
    trl_buf_fmt(&r->text,
                "processed %" PRIu64 " tokens with %" PRIu64 " phrases; found: %" PRIu64
                " phrases; correct: %" PRIu64 ".\n",
                t->tokens, t->gold, t->predicted, t->correct);
    if (t->tokens)
        trl_buf_fmt(&r->text,
                    "accuracy: %6.2f%%; precision: %6.2f%%; recall: %6.2f%%; FB1: %6.2f\n",
                    t->accuracy, t->precision, t->recall, t->f1);
    for (size_t i = 0; i < r->n_types; i++) {
        const trl_score_row *row = &r->types[i];
        for (int k = times_listed(row); k > 0; k--)
            trl_buf_fmt(&r->text,
                        "%17s: precision: %6.2f%%; recall: %6.2f%%; FB1: %6.2f  %" PRIu64 "\n",
                        row->name, row->precision, row->recall, row->f1, row->predicted);
    }
}

static void write_latex(report *r)
{
    trl_buf_str(&r->text, "        & Precision &  Recall  & F$_{\\beta=1} \\\\\\hline");
    for (size_t i = 0; i < r->n_types; i++) {
        const trl_score_row *row = &r->types[i];
        for (int k = times_listed(row); k > 0; k--)
            trl_buf_fmt(&r->text, "\n%-7s &  %6.2f\\%% & %6.2f\\%% & %6.2f \\\\", row->name,
                        row->precision, row->recall, row->f1);
    }
    trl_buf_fmt(&r->text, "\\hline\nOverall &  %6.2f\\%% & %6.2f\\%% & %6.2f \\\\\\hline\n",
                r->total.precision, r->total.recall, r->total.f1);
}

trl_status trl_score_report_chunks(const trl_score *s, bool latex, char **text, trl_error *err)
{
    if (!s || !text)
        return trl_fail_null(err);
    report r;
    const trl_status st = report_init(&r, s, err);
    if (st != TRL_OK)
        return st;
    if (latex)
        write_latex(&r);
    else
        write_block(&r);
    return report_finish(&r, text, err);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static int by_gold(const void *va, const void *vb)
{
    const trl_score_row *a = va, *b = vb;
    if (a->gold != b->gold)
        return a->gold > b->gold ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Characters of a UTF-8 string: all bytes but the continuations. */
static size_t width(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static size_t at_least(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void write_padded(trl_buf *b, const char *s, size_t to)
{
    trl_buf_str(b, s);
    for (size_t n = width(s); n < to; n++)
        trl_buf_ch(b, ' ');
}

static void write_labels(report *r)
{
    size_t w = strlen("weighted average");
    double sum = 0.0, weighted = 0.0;
    for (size_t i = 0; i < r->n_labels; i++) {
        w = at_least(w, width(r->labels[i].name));
        sum += r->labels[i].f1;
        weighted += r->labels[i].f1 * (double)r->labels[i].gold;
    }
    write_padded(&r->text, "label", w);
    trl_buf_fmt(&r->text, "  %9s  %9s  %9s  %9s  %7s  %7s\n", "gold", "predicted", "correct",
                "precision", "recall", "F1");
    for (size_t i = 0; i < r->n_labels; i++) {
        const trl_score_row *row = &r->labels[i];
        write_padded(&r->text, row->name, w);
        trl_buf_fmt(&r->text, "  %9" PRIu64 "  %9" PRIu64 "  %9" PRIu64 "  %9.2f  %7.2f  %7.2f\n",
                    row->gold, row->predicted, row->correct, row->precision, row->recall, row->f1);
    }
    write_padded(&r->text, "macro average", w);
    trl_buf_fmt(&r->text, "%62.2f\n", sum / (double)r->n_labels);
    write_padded(&r->text, "weighted average", w);
    trl_buf_fmt(&r->text, "%62.2f\n", weighted / (double)r->total.tokens);
}

static void write_confusions(report *r)
{
    const size_t n = r->n_confusions < SHOWN_CONFUSIONS ? r->n_confusions : SHOWN_CONFUSIONS;
    size_t gold = 0, predicted = 0;
    for (size_t i = 0; i < n; i++) {
        gold = at_least(gold, width(r->confusions[i].gold));
        predicted = at_least(predicted, width(r->confusions[i].predicted));
    }
    if (n)
        trl_buf_str(&r->text, "\nmost frequent confusions, gold -> predicted\n");
    const int digits = n ? snprintf(NULL, 0, "%" PRIu64, r->confusions[0].count) : 0;
    for (size_t i = 0; i < n; i++) {
        write_padded(&r->text, r->confusions[i].gold, gold);
        trl_buf_str(&r->text, " -> ");
        write_padded(&r->text, r->confusions[i].predicted, predicted);
        trl_buf_fmt(&r->text, "  %*" PRIu64 "\n", digits, r->confusions[i].count);
    }
}

trl_status trl_score_report_tokens(const trl_score *s, char **text, trl_error *err)
{
    if (!s || !text)
        return trl_fail_null(err);
    report r;
    const trl_status st = report_init(&r, s, err);
    if (st != TRL_OK)
        return st;
    const trl_score_totals *t = &r.total;
    trl_buf_fmt(&r.text, "accuracy:          %6.2f%%  (%" PRIu64 " of %" PRIu64 " tokens)\n",
                t->accuracy, t->correct_tokens, t->tokens);
    trl_buf_fmt(&r.text, "sequence accuracy: %6.2f%%  (%" PRIu64 " of %" PRIu64 " sequences)\n",
                t->sequence_accuracy, t->correct_sequences, t->sequences);
    if (r.n_labels) {
        qsort(r.labels, r.n_labels, sizeof *r.labels, by_gold);
        trl_buf_ch(&r.text, '\n');
        write_labels(&r);
        write_confusions(&r);
    }
    return report_finish(&r, text, err);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The length of the UTF-8 character at s, 0 when it is not one (RFC 3629: shortest form, no
 * surrogates, at most U+10FFFF).  The terminating NUL ends a cut-off character. */
static size_t utf8_length(const unsigned char *s)
{
    const unsigned char c = s[0];
    const size_t n = c < 0x80 ? 1 : c < 0xc2 || c > 0xf4 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] > 0x9f) || (c == 0xf0 && s[1] < 0x90) ||
        (c == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static void write_string(trl_buf *b, const char *text)
{
    trl_buf_ch(b, '"');
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const size_t n = utf8_length(s);
        if (n == 0)
            trl_buf_str(b, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            trl_buf_fmt(b, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            trl_buf_fmt(b, "\\u%04x", *s);
        else
            trl_buf_add(b, s, n);
        s += n ? n : 1;
    }
    trl_buf_ch(b, '"');
}

static void write_rows(trl_buf *b, const trl_score_row *rows, size_t n)
{
    trl_buf_ch(b, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            trl_buf_ch(b, ',');
        write_string(b, rows[i].name);
        trl_buf_fmt(b,
                    ":{\"gold\":%" PRIu64 ",\"predicted\":%" PRIu64 ",\"correct\":%" PRIu64
                    ",\"precision\":%.6g,\"recall\":%.6g,\"f1\":%.6g}",
                    rows[i].gold, rows[i].predicted, rows[i].correct, rows[i].precision,
                    rows[i].recall, rows[i].f1);
    }
    trl_buf_ch(b, '}');
}

trl_status trl_score_report_json(const trl_score *s, char **text, trl_error *err)
{
    if (!s || !text)
        return trl_fail_null(err);
    report r;
    const trl_status st = report_init(&r, s, err);
    if (st != TRL_OK)
        return st;
    const trl_score_totals *t = &r.total;
    trl_buf *b = &r.text;
    trl_buf_fmt(b,
                "{\"tokens\":%" PRIu64 ",\"accuracy\":%.6g,\"sequences\":%" PRIu64
                ",\"sequence_accuracy\":%.6g,",
                t->tokens, t->accuracy, t->sequences, t->sequence_accuracy);
    trl_buf_fmt(b,
                "\"chunks\":{\"gold\":%" PRIu64 ",\"predicted\":%" PRIu64 ",\"correct\":%" PRIu64
                ",\"precision\":%.6g,\"recall\":%.6g,\"f1\":%.6g,\"types\":",
                t->gold, t->predicted, t->correct, t->precision, t->recall, t->f1);
    write_rows(b, r.types, r.n_types);
    trl_buf_str(b, "},\"labels\":");
    write_rows(b, r.labels, r.n_labels);
    trl_buf_str(b, ",\"confusions\":[");
    for (size_t i = 0; i < r.n_confusions; i++) {
        trl_buf_str(b, i ? ",{\"gold\":" : "{\"gold\":");
        write_string(b, r.confusions[i].gold);
        trl_buf_str(b, ",\"predicted\":");
        write_string(b, r.confusions[i].predicted);
        trl_buf_fmt(b, ",\"count\":%" PRIu64 "}", r.confusions[i].count);
    }
    trl_buf_str(b, "]}\n");
    return report_finish(&r, text, err);
}
