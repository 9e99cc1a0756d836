/* translation.c -- scores of translations, sentence by sentence and in all. */
/* SPDX-License-Identifier: MIT */
#include "score/translation.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "text/input.h"

struct trl_translation {
    trl_translation_sentence *sentence;
    size_t n, cap;
};

/* ---- measures ------------------------------------------------------------------------------- */

double trl_translation_f(double size, double test, double gold)
{
    return test + gold > 0.0 ? 200.0 * size / (test + gold) : 0.0; /* 2 P R / (P + R) */
}

double trl_bleu(const double *match, const double *possible, double gold, double more)
{
    double log_mean = 0.0;
    for (size_t k = 0; k < TRL_BLEU_ORDER; k++) {
        const double add = k ? more : 0.0;
        if (!(match[k] + add > 0.0))
            return 0.0;
        log_mean += log((match[k] + add) / (possible[k] + add)) / TRL_BLEU_ORDER;
    }
    return 100.0 * exp(log_mean + fmin(0.0, 1.0 - gold / possible[0]));
}

/* Whether n-grams at i and j are the same. */
static bool same(const uint32_t *a, const uint32_t *b, size_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

/* n-grams of the candidate that the reference has, each as often as there at most: for every first
 * occurrence in the candidate the smaller of both counts.  O(length^2) of short sentences. */
static uint64_t clipped(const uint32_t *test, size_t n, const uint32_t *gold, size_t m,
                        size_t order)
{
    uint64_t sum = 0;
    for (size_t i = 0; i + order <= n; i++) {
        uint64_t here = 0, there = 0;
        bool first = true;
        for (size_t k = 0; first && k < i; k++)
            first = !same(test + k, test + i, order);
        for (size_t k = i; first && k + order <= n; k++)
            here += same(test + k, test + i, order);
        for (size_t k = 0; first && k + order <= m; k++)
            there += same(gold + k, test + i, order);
        sum += here < there ? here : there;
    }
    return sum;
}

/* ---- sentences ------------------------------------------------------------------------------ */

typedef struct words {
    uint32_t *id;
    size_t n, cap;
} words;

static trl_status split(words *w, trl_strtab *names, trl_str line, trl_error *err)
{
    w->n = 0;
    for (size_t k = 0; k < line.n;) {
        size_t end = k;
        while (end < line.n && line.p[end] != ' ' && line.p[end] != '\t')
            end++;
        if (end > k) {
            uint32_t *grown = trl_reserve(w->id, &w->cap, w->n + 1, sizeof *grown);
            if (grown)
                w->id = grown;
            const uint32_t id = trl_strtab_add(names, line.p + k, end - k);
            if (!grown || id == TRL_NO_ID)
                return trl_fail_mem(err);
            w->id[w->n++] = id;
        }
        k = end + 1;
    }
    return TRL_OK;
}

static trl_status score_pair(trl_translation *t, const words *gold, const words *test,
                             trl_error *err)
{
    trl_translation_sentence s = {.test = test->n, .gold = gold->n};
    double match[TRL_BLEU_ORDER], possible[TRL_BLEU_ORDER];
    for (int e = 0; e < 2; e++) {
        const trl_status st = trl_turian_size(
            &(trl_turian_pair){
                .test = test->id, .n = test->n, .gold = gold->id, .m = gold->n, .e = e + 1.0},
            &s.size[e], &s.exact, err);
        if (st != TRL_OK)
            return st;
    }
    s.size[1] = sqrt(s.size[1]);
    for (size_t k = 0; k < TRL_BLEU_ORDER; k++) {
        s.match[k] = clipped(test->id, test->n, gold->id, gold->n, k + 1);
        s.possible[k] = test->n > k ? test->n - k : 0;
        match[k] = (double)s.match[k];
        possible[k] = (double)s.possible[k];
    }
    for (int e = 0; e < 2; e++)
        s.f[e] = trl_translation_f(s.size[e], (double)s.test, (double)s.gold);
    s.bleu = trl_bleu(match, possible, (double)s.gold, 1.0);
    trl_translation_sentence *grown = trl_reserve(t->sentence, &t->cap, t->n + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    t->sentence = grown;
    t->sentence[t->n++] = s;
    return TRL_OK;
}

typedef struct two_files {
    trl_input *in[2];
    trl_str line[2];
    bool more[2];
    words words[2];
    trl_strtab names;
} two_files;

/* The next line of both; TRL_EPARSE when only one has one. */
static trl_status next_lines(two_files *f, trl_error *err)
{
    trl_status st = TRL_OK;
    for (int k = 0; st == TRL_OK && k < 2; k++) {
        st = trl_input_line(f->in[k], &f->line[k], &f->more[k], err);
        if (st == TRL_OK && f->more[k])
            st = trl_input_check_text(f->in[k], f->line[k], err);
    }
    if (st != TRL_OK || f->more[0] == f->more[1])
        return st;
    const int longer = f->more[1];
    trl_fail(err, TRL_EPARSE, "a line more than %s has", trl_input_name(f->in[1 - longer]));
    trl_input_fail(f->in[longer], err, TRL_EPARSE, 1);
    return trl_fail_hint(err, TRL_EPARSE,
                         "line k must be a translation of the same sentence in all files");
}

static trl_status score_lines(trl_translation *t, two_files *f, trl_error *err)
{
    for (;;) {
        trl_status st = next_lines(f, err);
        if (st != TRL_OK || !f->more[0])
            return st;
        for (int k = 0; st == TRL_OK && k < 2; k++)
            st = split(&f->words[k], &f->names, f->line[k], err);
        if (st == TRL_OK)
            st = score_pair(t, &f->words[0], &f->words[1], err);
        if (st != TRL_OK)
            return st;
    }
}

trl_status trl_translation_files(const char *gold, const char *test, trl_translation **out,
                                 trl_error *err)
{
    if (!gold || !test || !out)
        return trl_fail_null(err);
    trl_translation *t = trl_zalloc(1, sizeof *t);
    two_files f = {.in = {NULL, NULL}};
    trl_status st = t ? trl_input_open(gold, &f.in[0], err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_input_open(test, &f.in[1], err);
    if (st == TRL_OK)
        st = score_lines(t, &f, err);
    if (st == TRL_OK && t->n == 0)
        st = trl_fail_where(err, trl_fail(err, TRL_EINVAL, "there is no sentence"), gold, 0, 0);
    for (int k = 0; k < 2; k++) {
        trl_input_free(f.in[k]);
        trl_free(f.words[k].id);
    }
    trl_strtab_fini(&f.names);
    if (st != TRL_OK) {
        trl_translation_free(t);
        return st;
    }
    *out = t;
    return TRL_OK;
}

void trl_translation_free(trl_translation *t)
{
    if (t)
        trl_free(t->sentence);
    trl_free(t);
}

const trl_translation_sentence *trl_translation_sentences(const trl_translation *t, size_t *n)
{
    if (n)
        *n = t ? t->n : 0;
    return t ? t->sentence : NULL;
}

trl_translation_totals trl_translation_get_totals(const trl_translation *t)
{
    if (!t)
        return (trl_translation_totals){0};
    trl_translation_totals x = {.sentences = t->n};
    double size[2] = {0.0, 0.0}, match[TRL_BLEU_ORDER] = {0}, possible[TRL_BLEU_ORDER] = {0};
    for (size_t i = 0; i < t->n; i++) {
        const trl_translation_sentence *s = &t->sentence[i];
        x.test += s->test;
        x.gold += s->gold;
        x.inexact += !s->exact;
        for (int e = 0; e < 2; e++)
            size[e] += s->size[e];
        for (size_t k = 0; k < TRL_BLEU_ORDER; k++) {
            match[k] += (double)s->match[k];
            possible[k] += (double)s->possible[k];
        }
    }
    for (int e = 0; e < 2; e++) {
        x.precision[e] = x.test ? 100.0 * size[e] / (double)x.test : 0.0;
        x.recall[e] = x.gold ? 100.0 * size[e] / (double)x.gold : 0.0;
        x.f[e] = trl_translation_f(size[e], (double)x.test, (double)x.gold);
    }
    x.bleu = trl_bleu(match, possible, (double)x.gold, 0.0);
    x.brevity = x.test ? exp(fmin(0.0, 1.0 - (double)x.gold / (double)x.test)) : 0.0;
    for (size_t k = 0; k < TRL_BLEU_ORDER; k++)
        x.ngram[k] = possible[k] > 0.0 ? 100.0 * match[k] / possible[k] : 0.0;
    return x;
}
