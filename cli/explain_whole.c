/* explain_whole.c -- one labelling against another, as a table and as JSON. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>

#include "explain.h"

static trl_str label_of(const explainer *x, uint32_t k)
{
    return trl_model_label(x->model, k);
}

static void add_labels(const explainer *x, const explain_part *p, const uint32_t *path, text *out)
{
    for (size_t q = p->at - (size_t)p->on.scope; q <= p->at; q++) {
        const trl_str s = label_of(x, path[q]);
        text_str(out, q + p->on.scope > p->at ? " " : "");
        text_add(out, s.p, s.n);
    }
}

static void add_rows(const explainer *x, size_t top, text *out)
{
    const size_t shown = top && x->n_parts > top ? top : x->n_parts;
    text_str(out, "        adds        best     against  token  attribute\n");
    for (size_t i = 0; i < shown; i++) {
        const explain_part *p = &x->part[i];
        if (!explain_is_attribute(p)) {
            text_fmt(out, "  %+10.4f  %10s  %10s  %5s  ", explain_adds(p), "", "", "");
            text_add(out, p->on.name.p, p->on.name.n);
            text_char(out, '\n');
            continue;
        }
        text_fmt(out, "  %+10.4f  %10.4f  %10.4f  %5zu  ", explain_adds(p), p->own, p->other,
                 p->at + 1);
        text_add(out, p->on.name.p, p->on.name.n);
        text_str(out, ": ");
        add_labels(x, p, x->path, out);
        text_str(out, " over ");
        add_labels(x, p, x->other, out);
        text_char(out, '\n');
    }
    double rest = 0.0;
    for (size_t i = shown; i < x->n_parts; i++)
        rest += explain_adds(&x->part[i]);
    if (shown < x->n_parts)
        text_fmt(out, "  %+10.4f  %zu more\n", rest, x->n_parts - shown);
}

static void add_differences(const explainer *x, text *out)
{
    const trl_rows *r = x->seq->rows;
    for (size_t t = 0; t < x->n_tokens; t++) {
        if (x->path[t] == x->other[t])
            continue;
        const trl_str own = label_of(x, x->path[t]), other = label_of(x, x->other[t]);
        text_fmt(out, "  token %zu", t + 1);
        if (r && r->n_columns) {
            const trl_str word = r->cell[t * r->n_columns];
            text_str(out, ", ");
            text_add(out, word.p, word.n);
        }
        text_str(out, ": ");
        text_add(out, own.p, own.n);
        text_str(out, " over ");
        text_add(out, other.p, other.n);
        text_char(out, '\n');
    }
}

void explain_whole_text(const explainer *x, const explanation *e, size_t top, text *out)
{
    text_fmt(out, "sequence %" PRIu64 ": ", x->seq->number);
    if (e->other == NO_LABEL)
        text_str(out, "no other labelling is possible\n");
    else if (e->t == x->n_tokens)
        text_str(out, "the best labelling is the one to compare with\n");
    else if (isinf(e->by)) {
        text_str(out, "the model's rules forbid the labelling to compare with\n");
        add_differences(x, out);
    } else {
        text_fmt(out, "the best labelling by %.4f\n", e->by);
        add_differences(x, out);
        add_rows(x, top, out);
    }
    text_char(out, '\n');
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_labels(const explainer *x, const uint32_t *path, size_t from, size_t to, text *out)
{
    text_char(out, '[');
    for (size_t t = from; t < to; t++) {
        const trl_str s = label_of(x, path[t]);
        text_str(out, t > from ? "," : "");
        text_json_bytes(out, s.p, s.n);
    }
    text_char(out, ']');
}

static void json_part(const explainer *x, const explain_part *p, text *out)
{
    static const char *const scopes[] = {"label", "pair", "triple"};
    text_str(out, "{\"attribute\":");
    text_json_bytes(out, p->on.name.p, p->on.name.n);
    if (explain_is_attribute(p)) {
        const size_t from = p->at - (size_t)p->on.scope;
        text_fmt(out, ",\"scope\":\"%s\",\"token\":%zu,\"value\":", scopes[p->on.scope], p->at + 1);
        text_json_real(out, p->on.value);
        text_str(out, ",\"labels\":");
        json_labels(x, x->path, from, p->at + 1, out);
        text_str(out, ",\"against\":");
        json_labels(x, x->other, from, p->at + 1, out);
    } else
        text_str(out, ",\"scope\":\"model\"");
    text_str(out, ",\"contribution\":");
    text_json_real(out, explain_adds(p));
    text_char(out, '}');
}

void explain_whole_json(const explainer *x, const explanation *e, text *out)
{
    text_fmt(out, "{\"sequence\":%" PRIu64 ",\"labels\":", x->seq->number);
    json_labels(x, x->path, 0, x->n_tokens, out);
    text_str(out, ",\"against\":");
    if (e->other == NO_LABEL)
        text_str(out, "null");
    else
        json_labels(x, x->other, 0, x->n_tokens, out);
    text_str(out, ",\"difference\":");
    if (e->other == NO_LABEL)
        text_str(out, "null");
    else
        text_json_real(out, e->by);
    text_str(out, ",\"contributions\":[");
    for (size_t i = 0; i < x->n_parts; i++) {
        text_str(out, i ? "," : "");
        json_part(x, &x->part[i], out);
    }
    text_str(out, "]}\n");
}
