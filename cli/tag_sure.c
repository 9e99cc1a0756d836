/* tag_sure.c -- how sure the labels are. */
/* SPDX-License-Identifier: MIT */
#include "tag_sure.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "tag_print.h"

bool tag_sure_room(tag_sure *x, size_t n)
{
    if (n <= x->cap)
        return true;
    if (n > SIZE_MAX / 2 / sizeof *x->own)
        return false;
    const size_t cap = n + n / 2;
    double *token = realloc(x->token, cap * sizeof *token);
    x->token = token ? token : x->token;
    trl_tag_span *own = realloc(x->own, cap * sizeof *own);
    x->own = own ? own : x->own;
    if (!token || !own)
        return false;
    x->cap = cap;
    return true;
}

trl_status tag_sure_find(tag_sure *x, trl_tagger *t, const tag_labelling *of, trl_error *err)
{
    double log_z = 0.0;
    if (!tag_sure_room(x, of->n))
        return tag_no_memory(err);
    trl_status st = trl_tagger_log_z(t, &log_z, err);
    if (st == TRL_OK)
        st = trl_tagger_entropy(t, &x->entropy, x->token, err);
    if (st == TRL_OK)
        st = trl_tagger_spans(t, of->path, x->own, &x->n_own, err);
    x->span = x->own;
    x->n_spans = x->n_own;
    if (st == TRL_OK && of->above > 0.0)
        st = trl_tagger_spans_above(t, of->above, &x->span, &x->n_spans, err);
    x->probability = of->score < log_z ? exp(of->score - log_z) : 1.0; /* rounding may exceed it */
    x->at = 0;
    return st;
}

void tag_sure_fini(tag_sure *x)
{
    free(x->token);
    free(x->own);
}

void tag_sure_heading(const tag_sure *x, bool items, text *out)
{
    text_str(out, items ? "@probability\t" : "# ");
    text_fixed6(out, x->probability);
    text_str(out, items ? "\n@entropy\t" : " entropy ");
    text_fixed6(out, x->entropy);
    text_char(out, '\n');
}

void tag_sure_columns(tag_sure *x, size_t k, double p, char separator, text *out)
{
    while (x->at < x->n_own && x->own[x->at].end <= k)
        x->at++;
    const trl_tag_span *s = x->at < x->n_own && x->own[x->at].begin <= k ? &x->own[x->at] : NULL;
    text_char(out, separator);
    text_fixed6(out, p);
    text_char(out, separator);
    text_fixed6(out, x->token[k]);
    text_char(out, separator);
    if (!s) {
        text_char(out, '-');
        text_char(out, separator);
        text_char(out, '-');
        return;
    }
    text_fixed6(out, s->p);
    text_char(out, separator);
    text_fixed6(out, s->boundaries);
}

void tag_sure_spans(const tag_sure *x, text *out)
{
    for (size_t i = 0; i < x->n_spans; i++) {
        const trl_tag_span *s = &x->span[i];
        text_fmt(out, "%zu-%zu ", s->begin + 1, s->end);
        text_add(out, s->type.p, s->type.n);
        text_char(out, ' ');
        text_fixed6(out, s->p);
        text_char(out, ' ');
        text_fixed6(out, s->boundaries);
        text_char(out, '\n');
    }
}

void tag_sure_json(const tag_sure *x, size_t n, text *out)
{
    text_str(out, ", \"probability\": ");
    text_json_real(out, x->probability);
    text_str(out, ", \"entropy\": ");
    text_json_real(out, x->entropy);
    text_str(out, ", \"token_entropy\": [");
    for (size_t t = 0; t < n; t++) {
        text_str(out, t ? ", " : "");
        text_json_real(out, x->token[t]);
    }
    text_char(out, ']');
}

void tag_sure_json_span(const trl_tag_span *s, text *out)
{
    text_str(out, ", \"probability\": ");
    text_json_real(out, s->p);
    text_str(out, ", \"boundaries\": ");
    text_json_real(out, s->boundaries);
}

void tag_sure_json_spans(const tag_sure *x, text *out)
{
    text_str(out, ", \"spans\": [");
    for (size_t i = 0; i < x->n_spans; i++) {
        const trl_tag_span *s = &x->span[i];
        text_fmt(out, "%s{\"label\": ", i ? ", " : "");
        text_json_bytes(out, s->type.p, s->type.n);
        text_fmt(out, ", \"first\": %zu, \"last\": %zu", s->begin, s->end - 1);
        tag_sure_json_span(s, out);
        text_char(out, '}');
    }
    text_char(out, ']');
}
