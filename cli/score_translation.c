/* score_translation.c -- how good a translation is, and whether one is better than another. */
/* SPDX-License-Identifier: MIT */
#include "score_translation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "output.h"

static void key_real(text *t, const char *key, double x)
{
    text_fmt(t, "\"%s\":", key);
    text_json_real(t, x);
}

/* ---- scores --------------------------------------------------------------------------------- */

static void add_table(const trl_translation_totals *x, text *t)
{
    message_count n[2];
    text_fmt(t, "%s, %s, %zu in the references\n\n",
             message_counted(x->sentences, "sentence", &n[0]),
             message_counted(x->test, "word", &n[1]), x->gold);
    text_fmt(t, "%-14s %9s %9s %9s\n", "", "precision", "recall", "F");
    for (int e = 0; e < 2; e++)
        text_fmt(t, "exponent %d     %9.2f %9.2f %9.2f\n", e + 1, x->precision[e], x->recall[e],
                 x->f[e]);
    text_fmt(t, "\nBLEU %.2f  (1 to 4 words: %.1f %.1f %.1f %.1f; brevity %.4f)\n", x->bleu,
             x->ngram[0], x->ngram[1], x->ngram[2], x->ngram[3], x->brevity);
}

static void add_details(const trl_translation *x, text *t)
{
    size_t n;
    const trl_translation_sentence *s = trl_translation_sentences(x, &n);
    text_str(t, "\nsentence words reference F1 F2 BLEU\n");
    for (size_t i = 0; i < n; i++)
        text_fmt(t, "%zu %zu %zu %.2f %.2f %.2f\n", i + 1, s[i].test, s[i].gold, s[i].f[0],
                 s[i].f[1], s[i].bleu);
}

static void add_json_sentences(const trl_translation *x, text *t)
{
    size_t n;
    const trl_translation_sentence *s = trl_translation_sentences(x, &n);
    text_str(t, ",\"per_sentence\":[");
    for (size_t i = 0; i < n; i++) {
        text_fmt(t, "%s\n{\"words\":%zu,\"reference\":%zu,", i ? "," : "", s[i].test, s[i].gold);
        key_real(t, "size1", s[i].size[0]);
        text_char(t, ',');
        key_real(t, "size2", s[i].size[1]);
        text_char(t, ',');
        key_real(t, "f1", s[i].f[0]);
        text_char(t, ',');
        key_real(t, "f2", s[i].f[1]);
        text_char(t, ',');
        key_real(t, "bleu", s[i].bleu);
        text_fmt(t, ",\"exact\":%s}", s[i].exact ? "true" : "false");
    }
    text_char(t, ']');
}

static void add_json(const trl_translation *tr, const trl_translation_totals *x, text *t)
{
    text_fmt(t, "{\"sentences\":%zu,\"words\":%zu,\"reference\":%zu,\"inexact\":%zu", x->sentences,
             x->test, x->gold, x->inexact);
    for (int e = 0; e < 2; e++) {
        text_fmt(t, ",\"exponent%d\":{", e + 1);
        key_real(t, "precision", x->precision[e]);
        text_char(t, ',');
        key_real(t, "recall", x->recall[e]);
        text_char(t, ',');
        key_real(t, "f", x->f[e]);
        text_char(t, '}');
    }
    text_str(t, ",\"bleu\":{");
    key_real(t, "score", x->bleu);
    text_char(t, ',');
    key_real(t, "brevity", x->brevity);
    text_str(t, ",\"ngrams\":[");
    for (size_t k = 0; k < TRL_BLEU_ORDER; k++) {
        text_str(t, k ? "," : "");
        text_json_real(t, x->ngram[k]);
    }
    text_str(t, "]}");
    add_json_sentences(tr, t);
    text_str(t, "}\n");
}

int score_translation(bool json, bool details, const operands *args)
{
    trl_translation *tr = NULL;
    trl_error err = {0};
    if (args->n < 2)
        return message_usage("score translation needs the reference translations");
    const char *test = args->n > 2 ? args->item[2] : "-";
    if (strcmp(args->item[1], "-") == 0 && strcmp(test, "-") == 0)
        return message_usage("only one of the files can be standard input");
    if (trl_translation_files(args->item[1], test, &tr, &err) != TRL_OK) {
        message_error(&err);
        return CLI_FAILED;
    }
    const trl_translation_totals x = trl_translation_get_totals(tr);
    text t = {0};
    if (x.inexact)
        message_warn("sentences whose best matching for exponent 2 is not proven, a good one being "
                     "counted: %zu",
                     x.inexact);
    if (json)
        add_json(tr, &x, &t);
    else
        add_table(&x, &t);
    if (details && !json)
        add_details(tr, &t);
    trl_translation_free(tr);
    return output_print(&t);
}

/* ---- comparison ----------------------------------------------------------------------------- */

static const char *const shown[] = {"F, exponent 1", "F, exponent 2", "BLEU"};
static const char *const keys[] = {"f1", "f2", "bleu"};

static void add_p(text *t, double p)
{
    text_fmt(t, p < 1e-4 ? "  %8.1e" : "  %8.4f", p);
}

static void add_comparison(const trl_bootstrap_options *o, const trl_translation_comparison *r,
                           text *t)
{
    char interval[24];
    snprintf(interval, sizeof interval, "%g %% interval", 100.0 * o->confidence);
    message_count n;
    text_fmt(t, "%s\n\n%-14s %7s %7s %7s  %-16s %10s %9s\n",
             message_counted(r->sentences, "sentence", &n), "", "A", "B", "B - A", interval,
             "bootstrap", "Wilcoxon");
    for (int k = 0; k < TRL_TRANSLATION_MEASURES; k++) {
        const trl_bootstrap *d = &r->difference[k];
        text_fmt(t, "%-14s %7.2f %7.2f %+7.2f  [%+6.2f, %+6.2f]", shown[k], r->score[0][k],
                 r->score[1][k], d->difference, d->low, d->high);
        add_p(t, d->p);
        add_p(t, r->wilcoxon[k].p);
        text_char(t, '\n');
    }
}

static void add_json_comparison(const trl_bootstrap_options *o, const trl_translation_comparison *r,
                                text *t)
{
    text_fmt(t, "{\"sentences\":%zu,\"confidence\":%g,\"resamples\":%" PRIu64 ",\"scores\":{",
             r->sentences, o->confidence, o->resamples);
    for (int k = 0; k < TRL_TRANSLATION_MEASURES; k++) {
        const trl_bootstrap *d = &r->difference[k];
        const double value[] = {r->score[0][k], r->score[1][k], d->difference,   d->low,
                                d->high,        d->p,           r->wilcoxon[k].p};
        static const char *const name[] = {"a",    "b",           "difference", "low",
                                           "high", "bootstrap_p", "wilcoxon_p"};
        text_fmt(t, "%s\"%s\":{", k ? "," : "", keys[k]);
        for (size_t q = 0; q < sizeof value / sizeof *value; q++) {
            text_str(t, q ? "," : "");
            key_real(t, name[q], value[q]);
        }
        text_char(t, '}');
    }
    text_str(t, "}}\n");
}

int compare_translation(const trl_bootstrap_options *o, bool json, const char *const *path)
{
    trl_translation *a = NULL, *b = NULL;
    trl_translation_comparison r;
    trl_error err = {0};
    text t = {0};
    trl_status st = trl_translation_files(path[0], path[1], &a, &err);
    if (st == TRL_OK)
        st = trl_translation_files(path[0], path[2], &b, &err);
    if (st == TRL_OK)
        st = trl_translation_compare(a, b, o, &r, &err);
    trl_translation_free(a);
    trl_translation_free(b);
    if (st != TRL_OK) {
        message_error(&err);
        return CLI_FAILED;
    }
    if (json)
        add_json_comparison(o, &r, &t);
    else
        add_comparison(o, &r, &t);
    return output_print(&t);
}
