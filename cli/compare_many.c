/* compare_many.c -- every pair of several systems, corrected for their number. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "message.h"
#include "output.h"
#include "style.h"

#define MOST_SYSTEMS 1000

/* Two systems, by their numbers, and the tests that are corrected. */
typedef struct pair {
    size_t a, b;
    trl_comparison r;
    double p[4], corrected[4];
} pair;

static const char *const test_keys[] = {"bootstrap", "mcnemar", "paired_t", "wilcoxon"};

typedef struct many {
    compare_settings *s;
    const char *const *path; /* the truth, then the systems */
    size_t n;                /* systems */
    pair *pair;
    size_t n_pairs;
    int wide; /* of the numbers of systems */
} many;

static trl_status compare_pair(many *m, pair *p, trl_error *err)
{
    trl_compare *c = NULL;
    const char *const path[] = {m->path[0], m->path[p->a], m->path[p->b]};
    trl_status st = trl_compare_new(&c, err);
    if (st == TRL_OK)
        st = compare_read(m->s, c, path, err);
    if (st == TRL_OK && trl_compare_sentences(c) == 0) {
        *err = (trl_error){.code = TRL_EPARSE, .msg = "no sentences"};
        snprintf(err->path, sizeof err->path, "%s", m->path[0]);
        st = TRL_EPARSE;
    }
    if (st == TRL_OK)
        st = trl_compare_run(c, &m->s->bootstrap, &p->r, err);
    if (st == TRL_OK) {
        const double all[] = {p->r.difference[compare_decisive(m->s, &p->r)].p, p->r.mcnemar.p,
                              p->r.t.p, p->r.wilcoxon.p};
        memcpy(p->p, all, sizeof all);
    }
    trl_compare_free(c);
    return st;
}

static trl_status correct(many *m, trl_error *err)
{
    trl_status st = TRL_OK;
    double *p = malloc(m->n_pairs * sizeof *p);
    if (!p) {
        *err = (trl_error){.code = TRL_ENOMEM, .msg = "out of memory"};
        return TRL_ENOMEM;
    }
    for (size_t k = 0; k < 4 && st == TRL_OK; k++) {
        for (size_t i = 0; i < m->n_pairs; i++)
            p[i] = m->pair[i].p[k];
        st = trl_holm(m->n_pairs, p, p, err);
        for (size_t i = 0; i < m->n_pairs; i++)
            m->pair[i].corrected[k] = p[i];
    }
    free(p);
    return st;
}

/* The comparison in which a system is first met, and the side. */
static const double *scores(const many *m, size_t system)
{
    for (size_t i = 0; i < m->n_pairs; i++)
        if (m->pair[i].a == system || m->pair[i].b == system)
            return m->pair[i].r.score[m->pair[i].b == system];
    return NULL;
}

/* ---- a table --------------------------------------------------------------------------------- */

static void add_systems(const many *m, text *t)
{
    const trl_comparison *r = &m->pair[0].r;
    const int shown = r->chunk_tags || m->s->by == BY_F1 ? TRL_MEASURES : TRL_PRECISION;
    text_fmt(t, "%*s", m->wide, "");
    for (int k = 0; k < shown; k++)
        text_fmt(t, "  %17s", compare_measures(m->s)[k].shown);
    text_char(t, '\n');
    for (size_t i = 1; i <= m->n; i++) {
        const double *x = scores(m, i);
        text_fmt(t, "%*zu", m->wide, i);
        for (int k = 0; k < shown; k++)
            text_fmt(t, "  %17.2f", x[k]);
        text_fmt(t, "  %s\n", m->path[i]);
    }
}

static void add_pairs(const many *m, text *t)
{
    const compare_settings *s = m->s;
    const double level = 1.0 - s->bootstrap.confidence;
    char interval[24], head[24];
    snprintf(interval, sizeof interval, "%g %% interval", 100.0 * s->bootstrap.confidence);
    snprintf(head, sizeof head, "%*s - %-*s", m->wide, "B", m->wide, "A");
    text_fmt(t, "\n%s  %8s   %-16s  %8s  %8s\n", head,
             compare_measures(s)[compare_decisive(s, &m->pair[0].r)].shown, interval, "p", "Holm");
    for (size_t i = 0; i < m->n_pairs; i++) {
        const pair *p = &m->pair[i];
        const trl_bootstrap *d = &p->r.difference[compare_decisive(s, &p->r)];
        char shown[24];
        snprintf(shown, sizeof shown, "%+8.2f", d->difference);
        text_fmt(t, "%*zu - %-*zu  ", m->wide, p->b, m->wide, p->a);
        style_add(t, s->colour && p->corrected[0] <= level,
                  d->difference > 0.0 ? STYLE_GOOD : STYLE_BAD, shown);
        text_fmt(t, "   [%+6.2f, %+6.2f]", d->low, d->high);
        compare_add_p(t, p->p[0]);
        compare_add_p(t, p->corrected[0]);
        text_str(t, p->corrected[0] <= level ? "  *\n" : "\n");
    }
    text_fmt(t,
             "\np: paired bootstrap, %" PRIu64 " resamples; Holm: corrected for %zu tests; *: at "
             "most %g\n",
             s->bootstrap.resamples, m->n_pairs, round(level * 1e9) / 1e9);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_system(const many *m, size_t i, text *t)
{
    const double *x = scores(m, i);
    text_str(t, i > 1 ? ",{\"file\":" : "{\"file\":");
    text_json_str(t, m->path[i]);
    for (int k = 0; k < TRL_MEASURES; k++) {
        text_fmt(t, ",\"%s\":", compare_measures(m->s)[k].key);
        text_json_real(t, x[k]);
    }
    text_char(t, '}');
}

static void json_pair(const many *m, const pair *p, text *t)
{
    const trl_measure by = compare_decisive(m->s, &p->r);
    const trl_bootstrap *d = &p->r.difference[by];
    const struct {
        const char *key;
        double x;
    } number[] = {{"difference", d->difference}, {"low", d->low}, {"high", d->high}};
    text_fmt(t, "{\"a\":%zu,\"b\":%zu,\"score\":\"%s\"", p->a, p->b,
             compare_measures(m->s)[by].key);
    for (size_t k = 0; k < 3; k++) {
        text_fmt(t, ",\"%s\":", number[k].key);
        text_json_real(t, number[k].x);
    }
    for (size_t k = 0; k < 4; k++) {
        text_fmt(t, ",\"%s\":{\"p\":", test_keys[k]);
        text_json_real(t, p->p[k]);
        text_str(t, ",\"holm\":");
        text_json_real(t, p->corrected[k]);
        text_char(t, '}');
    }
    text_char(t, '}');
}

static void add_json(const many *m, text *t)
{
    text_fmt(t, "{\"sentences\":%" PRIu64 ",\"systems\":[", m->pair[0].r.sentences);
    for (size_t i = 1; i <= m->n; i++)
        json_system(m, i, t);
    text_str(t, "],\"pairs\":[");
    for (size_t i = 0; i < m->n_pairs; i++) {
        text_str(t, i ? "," : "");
        json_pair(m, &m->pair[i], t);
    }
    text_str(t, "]}\n");
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool compare_all(many *m)
{
    trl_error err = {0};
    trl_status st = TRL_OK;
    for (size_t a = 1; a <= m->n; a++)
        for (size_t b = a + 1; b <= m->n && st == TRL_OK; b++) {
            pair *p = &m->pair[m->n_pairs];
            *p = (pair){.a = a, .b = b};
            st = compare_pair(m, p, &err);
            m->n_pairs += st == TRL_OK;
        }
    if (st == TRL_OK)
        st = correct(m, &err);
    if (st != TRL_OK)
        message_error(&err);
    return st == TRL_OK;
}

int compare_many(compare_settings *s, const char *const *path, size_t n)
{
    many m = {.s = s, .path = path, .n = n - 1, .wide = n > 100 ? 3 : n > 10 ? 2 : 1};
    for (size_t i = 0; i < n; i++)
        if (strcmp(path[i], "-") == 0)
            return message_usage("with more than two systems all files are read several times: "
                                 "none can be standard input");
    if (m.n > MOST_SYSTEMS)
        return message_usage("at most %d systems", MOST_SYSTEMS);
    m.pair = malloc(m.n * (m.n - 1) / 2 * sizeof *m.pair);
    if (!m.pair)
        return message_memory();
    int code = CLI_FAILED;
    if (compare_all(&m)) {
        text t = {0};
        s->colour = style_colour(STDOUT_FILENO);
        if (m.pair[0].r.broken_iobes)
            message_warn("the true labels " BROKEN_IOBES);
        if (s->json)
            add_json(&m, &t);
        else {
            text_fmt(&t, "%" PRIu64 " sentences, %zu systems\n\n", m.pair[0].r.sentences, m.n);
            add_systems(&m, &t);
            add_pairs(&m, &t);
        }
        code = output_print(&t);
    }
    free(m.pair);
    return code;
}
