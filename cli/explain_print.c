/* explain_print.c -- an explanation as a table for people and as JSON. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "explain.h"

static void add_str(text *out, trl_str s)
{
    text_add(out, s.p, s.n);
}

static void add_json_str(text *out, trl_str s)
{
    text_json_bytes(out, s.p ? s.p : "", s.n);
}

static trl_str label_of(const explainer *x, uint32_t k)
{
    return trl_model_label(x->model, k);
}

/* The first column; items have no such text. */
static trl_str word(const explainer *x, size_t t)
{
    const trl_rows *r = x->seq->rows;
    return r && r->n_columns ? r->cell[t * r->n_columns] : (trl_str){0};
}

/* Characters, where the bytes are UTF-8. */
static size_t width(trl_str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

static void add_right(text *out, trl_str s, size_t columns)
{
    for (size_t n = width(s); n < columns; n++)
        text_char(out, ' ');
    add_str(out, s);
}

/* The labels that a part scores, '*' for the one that is compared. */
static void add_labels(const explainer *x, const explain_part *p, size_t t, size_t columns,
                       text *out)
{
    size_t n = 0;
    for (size_t q = p->at - (size_t)p->on.scope; q <= p->at; q++) {
        const trl_str s = q == t ? (trl_str){"*", 1} : label_of(x, x->path[q]);
        if (q + p->on.scope > p->at) {
            text_char(out, ' ');
            n++;
        }
        add_str(out, s);
        n += width(s);
    }
    for (; n < columns; n++)
        text_char(out, ' ');
}

static size_t labels_width(const explainer *x, size_t t, size_t shown)
{
    size_t most = strlen("labels");
    for (size_t i = 0; i < shown; i++) {
        const explain_part *p = &x->part[i];
        size_t n = (size_t)p->on.scope;
        for (size_t q = p->at - (size_t)p->on.scope; q <= p->at; q++)
            n += q == t ? 1 : width(label_of(x, x->path[q]));
        most = n > most ? n : most;
    }
    return most;
}

static size_t number_width(trl_str label)
{
    const size_t n = width(label);
    return n < 10 ? 10 : n;
}

static void add_table(const explainer *x, const explanation *e, size_t top, text *out)
{
    const size_t t = e->t;
    const size_t shown = top && x->n_parts > top ? top : x->n_parts;
    const size_t columns = labels_width(x, t, shown);
    const trl_str a = label_of(x, x->path[t]), b = label_of(x, e->other);
    text_str(out, "        adds  ");
    add_right(out, a, number_width(a));
    text_str(out, "  ");
    add_right(out, b, number_width(b));
    text_fmt(out, "  %-*s  attribute\n", (int)columns, "labels");
    for (size_t i = 0; i < shown; i++) {
        const explain_part *p = &x->part[i];
        text_fmt(out, "  %+10.4f  ", explain_adds(p));
        if (explain_is_attribute(p))
            text_fmt(out, "%*.4f  %*.4f  ", (int)number_width(a), p->own, (int)number_width(b),
                     p->other);
        else
            text_fmt(out, "%*s  %*s  ", (int)number_width(a), "", (int)number_width(b), "");
        add_labels(x, p, t, columns, out);
        text_str(out, "  ");
        add_str(out, p->on.name);
        text_char(out, '\n');
    }
    double rest = 0.0;
    for (size_t i = shown; i < x->n_parts; i++)
        rest += explain_adds(&x->part[i]);
    if (shown < x->n_parts)
        text_fmt(out, "  %+10.4f  %zu more\n", rest, x->n_parts - shown);
}

void explain_text(const explainer *x, const explanation *e, size_t top, text *out)
{
    const size_t t = e->t;
    const uint32_t other = e->other;
    const trl_str own = label_of(x, x->path[t]), form = word(x, t);
    text_fmt(out, "sequence %" PRIu64 ", token %zu", x->seq->number, t + 1);
    text_str(out, form.n ? ", " : "");
    add_str(out, form);
    text_str(out, ": ");
    add_str(out, own);
    if (other == NO_LABEL)
        text_str(out, ", no other label can stand here\n");
    else if (other == x->path[t])
        text_str(out, ", the label to compare with\n");
    else if (isinf(e->by)) {
        text_str(out, ", as the model's rules forbid ");
        add_str(out, label_of(x, other));
        text_str(out, " here\n");
    } else {
        text_str(out, " over ");
        add_str(out, label_of(x, other));
        text_fmt(out, " by %.4f\n", e->by);
        add_table(x, e, top, out);
    }
    text_char(out, '\n');
}

static void add_json_part(const explainer *x, const explain_part *p, size_t t, text *out)
{
    static const char *const scopes[] = {"label", "pair", "triple"};
    text_str(out, "{\"attribute\":");
    add_json_str(out, p->on.name);
    if (explain_is_attribute(p)) {
        text_fmt(out, ",\"scope\":\"%s\",\"value\":", scopes[p->on.scope]);
        text_json_real(out, p->on.value);
        text_str(out, ",\"labels\":[");
        for (size_t q = p->at - (size_t)p->on.scope; q <= p->at; q++) {
            text_str(out, q + p->on.scope > p->at ? "," : "");
            if (q == t)
                text_str(out, "null");
            else
                add_json_str(out, label_of(x, x->path[q]));
        }
        text_str(out, "],\"label\":");
        text_json_real(out, p->own);
        text_str(out, ",\"against\":");
        text_json_real(out, p->other);
    } else
        text_str(out, ",\"scope\":\"model\"");
    text_str(out, ",\"contribution\":");
    text_json_real(out, explain_adds(p));
    text_char(out, '}');
}

void explain_json(const explainer *x, const explanation *e, text *out)
{
    const size_t t = e->t;
    const uint32_t other = e->other;
    const trl_str form = word(x, t);
    text_fmt(out, "{\"sequence\":%" PRIu64 ",\"token\":%zu,\"text\":", x->seq->number, t + 1);
    if (form.n)
        add_json_str(out, form);
    else
        text_str(out, "null");
    text_str(out, ",\"label\":");
    add_json_str(out, label_of(x, x->path[t]));
    text_str(out, ",\"against\":");
    if (other == NO_LABEL)
        text_str(out, "null");
    else
        add_json_str(out, label_of(x, other));
    text_str(out, ",\"difference\":");
    text_json_real(out, e->by);
    text_str(out, ",\"contributions\":[");
    for (size_t i = 0; i < x->n_parts; i++) {
        text_str(out, i ? "," : "");
        add_json_part(x, &x->part[i], t, out);
    }
    text_str(out, "]}\n");
}
