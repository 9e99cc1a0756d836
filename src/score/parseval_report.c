/* parseval_report.c -- scores of trees as EVALB prints them, and as JSON. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <locale.h>

#include "base/buf.h"
#include "base/fail.h"
#include "score/parseval.h"
#include "text/utf8.h"

#define RULE "============================================================================\n"

/* The text so far, and the "C" locale while it is being written. */
typedef struct report {
    trl_buf text;
    locale_t plain, before;
} report;

static trl_status report_init(report *r, trl_error *err)
{
    *r = (report){.plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0)};
    if (!r->plain)
        return trl_fail_mem(err);
    r->before = uselocale(r->plain);
    return TRL_OK;
}

static trl_status report_finish(report *r, char **text, trl_error *err)
{
    uselocale(r->before);
    freelocale(r->plain);
    trl_buf_ch(&r->text, '\0');
    if (r->text.failed) {
        trl_buf_fini(&r->text);
        return trl_fail_mem(err);
    }
    *text = r->text.data;
    return TRL_OK;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* ---- EVALB's output -------------------------------------------------------------------------- */

static void write_sentence(trl_buf *b, size_t number, const trl_parseval_sentence *s)
{
    trl_buf_fmt(b, "%4zu  %3" PRIu32 "    %d  %6.2f %6.2f   %3" PRIu32 "    %3" PRIu32, number,
                s->length, (int)s->state, percent(s->match, s->gold), percent(s->match, s->test),
                s->match, s->gold);
    trl_buf_fmt(b, "  %3" PRIu32 "    %3" PRIu32 "   %4" PRIu32 "  %4" PRIu32 "   %6.2f\n", s->test,
                s->crossing, s->words, s->tags, percent(s->tags, s->words));
}

/* Without a bracket on either side the first half of the line is missing. */
static void write_sums(trl_buf *b, const trl_parseval_totals *t)
{
    if (t->gold && t->test)
        trl_buf_fmt(b,
                    "                %6.2f %6.2f %6" PRIu64 " %5" PRIu64 " %5" PRIu64 "  %5" PRIu64,
                    t->recall, t->precision, t->match, t->gold, t->test, t->crossing);
    trl_buf_fmt(b, "  %5" PRIu64 " %5" PRIu64 "   %6.2f\n", t->words, t->tags, t->tagging);
}

static void write_count(trl_buf *b, const char *name, uint64_t n)
{
    trl_buf_fmt(b, "%-25s = %6" PRIu64 "\n", name, n);
}

static void write_real(trl_buf *b, const char *name, double x)
{
    trl_buf_fmt(b, "%-25s = %6.2f\n", name, x);
}

static void write_totals(trl_buf *b, const trl_parseval_totals *t)
{
    write_count(b, "Number of sentence", t->sentences);
    write_count(b, "Number of Error sentence", t->errors);
    write_count(b, "Number of Skip  sentence", t->skipped);
    write_count(b, "Number of Valid sentence", t->valid);
    write_real(b, "Bracketing Recall", t->recall);
    write_real(b, "Bracketing Precision", t->precision);
    if (t->match)
        write_real(b, "Bracketing FMeasure", t->f1);
    else
        trl_buf_fmt(b, "%-25s = %6s\n", "Bracketing FMeasure", "-nan");
    write_real(b, "Complete match", t->exact);
    write_real(b, "Average crossing", t->mean_crossing);
    write_real(b, "No crossing", t->no_crossing);
    write_real(b, "2 or less crossing", t->few_crossing);
    write_real(b, "Tagging accuracy", t->tagging);
}

static void write_function(trl_buf *b, const trl_parseval_function *f)
{
    trl_buf_fmt(b, "%7" PRIu64 " %6" PRIu64 " %6" PRIu64 "  %6.2f  %6.2f  %6.2f  ", f->gold,
                f->test, f->match, f->recall, f->precision, f->f1);
    trl_buf_add(b, f->label.n ? f->label.p : "all", f->label.n ? f->label.n : 3);
    trl_buf_ch(b, '\n');
}

static void write_functions(trl_buf *b, const trl_parseval *p)
{
    trl_parseval_function f;
    if (!trl_parseval_function_at(p, 0, &f))
        return;
    trl_buf_fmt(b, "\n-- Function labels of %" PRIu64 " matched brackets --\n", f.brackets);
    write_real(b, "The same on both sides", percent(f.exact, f.brackets));
    trl_buf_str(b, "   gold   test  match   Recal   Prec.      F1  Label\n");
    for (size_t k = 0; trl_parseval_function_at(p, k, &f); k++)
        write_function(b, &f);
}

trl_status trl_parseval_report(const trl_parseval *p, char **text, trl_error *err)
{
    if (!p || !text)
        return trl_fail_null(err);
    report r;
    size_t n;
    const trl_parseval_sentence *s = trl_parseval_sentences(p, &n);
    const trl_status st = report_init(&r, err);
    if (st != TRL_OK)
        return st;
    trl_buf *b = &r.text;
    trl_buf_str(
        b, "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
           " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n" RULE);
    for (size_t i = 0; i < n; i++) {
        const trl_str details = trl_parseval_details(p, i);
        write_sentence(b, i + 1, &s[i]);
        trl_buf_add(b, details.p, details.n);
    }
    if (!trl_parseval_stopped(p)) {
        const uint64_t max = trl_parseval_max_length(p);
        const trl_parseval_totals all = trl_parseval_get(p, UINT64_MAX);
        const trl_parseval_totals some = trl_parseval_get(p, max);
        trl_buf_str(b, RULE);
        write_sums(b, &all);
        trl_buf_str(b, "=== Summary ===\n\n-- All --\n");
        write_totals(b, &all);
        trl_buf_fmt(b, "\n-- len<=%" PRIu64 " --\n", max);
        write_totals(b, &some);
        write_functions(b, p);
    }
    return report_finish(&r, text, err);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_totals(trl_buf *b, const trl_parseval_totals *t)
{
    trl_buf_fmt(b,
                "\"sentences\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"skipped\":%" PRIu64
                ",\"valid\":%" PRIu64,
                t->sentences, t->errors, t->skipped, t->valid);
    trl_buf_fmt(b,
                ",\"match\":%" PRIu64 ",\"gold\":%" PRIu64 ",\"test\":%" PRIu64
                ",\"crossing\":%" PRIu64 ",\"words\":%" PRIu64 ",\"tags\":%" PRIu64,
                t->match, t->gold, t->test, t->crossing, t->words, t->tags);
    trl_buf_fmt(b, ",\"recall\":%.6g,\"precision\":%.6g,\"f1\":%.6g,\"exact\":%.6g", t->recall,
                t->precision, t->f1, t->exact);
    trl_buf_fmt(b,
                ",\"mean_crossing\":%.6g,\"no_crossing\":%.6g,\"few_crossing\":%.6g"
                ",\"tagging\":%.6g",
                t->mean_crossing, t->no_crossing, t->few_crossing, t->tagging);
}

static void json_functions(trl_buf *b, const trl_parseval *p)
{
    trl_parseval_function f;
    if (!trl_parseval_function_at(p, 0, &f))
        return;
    trl_buf_fmt(b, "\"functions\":{\"brackets\":%" PRIu64 ",\"exact\":%" PRIu64 ",\"labels\":[",
                f.brackets, f.exact);
    for (size_t k = 0; trl_parseval_function_at(p, k, &f); k++) {
        trl_buf_str(b, k ? ",{\"label\":" : "{\"label\":");
        if (k)
            trl_buf_json(b, f.label);
        else
            trl_buf_str(b, "null");
        trl_buf_fmt(b, ",\"gold\":%" PRIu64 ",\"test\":%" PRIu64 ",\"match\":%" PRIu64, f.gold,
                    f.test, f.match);
        trl_buf_fmt(b, ",\"recall\":%.6g,\"precision\":%.6g,\"f1\":%.6g}", f.recall, f.precision,
                    f.f1);
    }
    trl_buf_str(b, "]},");
}

static void json_sentence(trl_buf *b, const trl_parseval_sentence *s)
{
    static const char *const states[] = {"valid", "error", "skipped"};
    trl_buf_fmt(b,
                "{\"length\":%" PRIu32 ",\"state\":\"%s\",\"match\":%" PRIu32 ",\"gold\":%" PRIu32
                ",\"test\":%" PRIu32 ",\"crossing\":%" PRIu32,
                s->length, states[s->state], s->match, s->gold, s->test, s->crossing);
    trl_buf_fmt(b, ",\"words\":%" PRIu32 ",\"tags\":%" PRIu32 ",\"exact\":%s}", s->words, s->tags,
                s->exact ? "true" : "false");
}

trl_status trl_parseval_report_json(const trl_parseval *p, char **text, trl_error *err)
{
    if (!p || !text)
        return trl_fail_null(err);
    report r;
    size_t n;
    const trl_parseval_sentence *s = trl_parseval_sentences(p, &n);
    const trl_status st = report_init(&r, err);
    if (st != TRL_OK)
        return st;
    trl_buf *b = &r.text;
    const uint64_t max = trl_parseval_max_length(p);
    const trl_parseval_totals all = trl_parseval_get(p, UINT64_MAX);
    const trl_parseval_totals some = trl_parseval_get(p, max);
    trl_buf_str(b, "{\"all\":{");
    json_totals(b, &all);
    trl_buf_fmt(b, "},\"short\":{\"max_length\":%" PRIu64 ",", max);
    json_totals(b, &some);
    trl_buf_str(b, "},");
    json_functions(b, p);
    trl_buf_fmt(b, "\"stopped\":%s,\"per_sentence\":[", trl_parseval_stopped(p) ? "true" : "false");
    for (size_t i = 0; i < n; i++) {
        if (i)
            trl_buf_ch(b, ',');
        json_sentence(b, &s[i]);
    }
    trl_buf_str(b, "]}\n");
    return report_finish(&r, text, err);
}
