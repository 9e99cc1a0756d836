/* errors_print.c -- errors as a table and as a page to search. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "errors.h"
#include "page.h"

#define AROUND 5 /* words shown on either side */

static bool is_wanted(const error_choice *c, const error_item *x)
{
    return c->kind == ERROR_KINDS || c->kind == x->kind;
}

/* The words that are shown of an error. */
typedef struct window {
    size_t from, begin, end, to; /* [begin, end) are in either span */
} window;

static window window_of(const error_list *e, const error_item *x)
{
    const size_t n = e->sentence[x->sentence].n;
    window w = {.begin = n};
    const error_span *const side[] = {&x->gold, &x->predicted};
    for (int k = 0; k < 2; k++)
        if (side[k]->end > side[k]->begin) {
            w.begin = side[k]->begin < w.begin ? side[k]->begin : w.begin;
            w.end = side[k]->end > w.end ? side[k]->end : w.end;
        }
    w.from = w.begin > AROUND ? w.begin - AROUND : 0;
    w.to = w.end + AROUND < n ? w.end + AROUND : n;
    return w;
}

static size_t columns(trl_str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static void add_padded(text *out, trl_str s, size_t width)
{
    text_add(out, s.n ? s.p : "-", s.n ? s.n : 1);
    for (size_t n = s.n ? columns(s) : 1; n < width; n++)
        text_char(out, ' ');
}

/* ---- a table --------------------------------------------------------------------------------- */

static void add_counts(const error_list *e, text *out)
{
    text_fmt(out,
             "%" PRIu64 " sentences, %" PRIu64 " words, %" PRIu64 " %s: %" PRIu64
             " predicted, %" PRIu64 " right\n\n",
             e->seen, e->words, e->gold, e->unit, e->predicted, e->right);
    for (int k = 0; k < ERROR_KINDS; k++)
        if (e->count[k])
            text_fmt(out, "%-12s %8" PRIu64 "\n", error_kind_names[k], e->count[k]);
}

/* Words with [ ] around what is in a span, { } where only the truth has it. */
static void add_words(const error_list *e, const error_item *x, text *out)
{
    const error_sentence *s = &e->sentence[x->sentence];
    const window w = window_of(e, x);
    const error_span *p = x->predicted.end ? &x->predicted : &x->gold;
    const char *const mark = x->predicted.end ? "[]" : "{}";
    text_str(out, w.from ? "... " : "");
    for (size_t t = w.from; t < w.to; t++) {
        text_str(out, t > w.from ? " " : "");
        if (t == p->begin)
            text_char(out, mark[0]);
        text_add(out, s->word[t].p, s->word[t].n);
        if (t + 1 == p->end)
            text_char(out, mark[1]);
    }
    text_str(out, w.to < s->n ? " ...\n" : "\n");
}

void errors_text(const error_list *e, const error_choice *c, text *out)
{
    size_t wide = strlen("predicted"), shown = 0, wanted = 0;
    for (size_t i = 0; i < e->n; i++) {
        const size_t a = columns(e->item[i].gold.type), b = columns(e->item[i].predicted.type);
        wide = a > wide ? a : wide;
        wide = b > wide ? b : wide;
        wanted += is_wanted(c, &e->item[i]);
    }
    add_counts(e, out);
    if (wanted)
        text_fmt(out, "\n%s%8s  %-10s  %-*s  %-*s  words\n", e->probabilities ? "     p  " : "",
                 "sentence", "kind", (int)wide, "gold", (int)wide, "predicted");
    for (size_t i = 0; i < e->n && (!c->top || shown < c->top); i++) {
        const error_item *x = &e->item[i];
        if (!is_wanted(c, x))
            continue;
        if (e->probabilities && isnan(x->p))
            text_str(out, "     -  ");
        else if (e->probabilities)
            text_fmt(out, "%6.4f  ", x->p);
        text_fmt(out, "%8" PRIu64 "  %-10s  ", e->sentence[x->sentence].number,
                 error_kind_names[x->kind]);
        add_padded(out, x->gold.type, wide);
        text_str(out, "  ");
        add_padded(out, x->predicted.type, wide);
        text_str(out, "  ");
        add_words(e, x, out);
        shown++;
    }
    if (shown < wanted)
        text_fmt(out, "%zu more\n", wanted - shown);
}

/* ---- a page ---------------------------------------------------------------------------------- */

static const char style[] =
    "table{border-collapse:collapse;width:100%}\n"
    "td,th{padding:.3em .6em;border-bottom:1px solid var(--line);vertical-align:top;"
    "text-align:left}\n"
    "td.p{font-variant-numeric:tabular-nums}\n"
    "body{max-width:90em}\n"
    "form{margin:1em 0}label{margin-right:1em;white-space:nowrap}\n"
    ".none{color:var(--soft)}\n";

/* Hides rows; without scripts all are there. */
static const char script[] =
    "<script>\n"
    "const form=document.querySelector('form'),rows=[...document.querySelectorAll('tbody tr')];\n"
    "form.hidden=false;\n"
    "function choose(){const on=new Set([...form.querySelectorAll('input:checked')]."
    "map(x=>x.value)),word=form.word.value.toLowerCase();let n=0;\n"
    "for(const r of rows){r.hidden=!on.has(r.dataset.k)||"
    "(word&&!r.textContent.toLowerCase().includes(word));n+=!r.hidden}\n"
    "document.querySelector('output').textContent=n+' shown'}\n"
    "form.addEventListener('input',choose);"
    "form.addEventListener('submit',e=>e.preventDefault());choose();\n"
    "</script>\n";

static void add_side(const error_list *e, const page_kinds *kinds, const error_item *x,
                     const error_span *span, text *out)
{
    const error_sentence *s = &e->sentence[x->sentence];
    const window w = window_of(e, x);
    text_str(out, w.from ? "<td dir=\"auto\">… " : "<td dir=\"auto\">");
    for (size_t t = w.from; t < w.to; t++) {
        text_str(out, t > w.from ? " " : "");
        if (span->end && t == span->begin)
            text_fmt(out, "<span class=\"c\" style=\"--h:%u\">", page_hue(kinds, span->type));
        text_xml(out, s->word[t].p, s->word[t].n);
        if (t + 1 == span->end) {
            text_str(out, "<small>");
            text_xml(out, span->type.p, span->type.n);
            text_str(out, "</small></span>");
        }
    }
    text_str(out, w.to < s->n ? " …</td>" : "</td>");
}

static void add_form(const error_list *e, text *out)
{
    text_str(out, "<form hidden>");
    for (int k = 0; k < ERROR_KINDS; k++)
        if (e->count[k])
            text_fmt(out,
                     "<label><input type=\"checkbox\" value=\"%d\" checked> %s (%" PRIu64
                     ")</label>",
                     k, error_kind_names[k], e->count[k]);
    text_str(out, "<label>with <input name=\"word\" type=\"search\" placeholder=\"a word or "
                  "label\"></label> <output></output></form>\n");
}

void errors_html(const error_list *e, const error_choice *c, const char *title, text *out)
{
    page_kinds kinds = {0};
    size_t shown = 0;
    for (size_t i = 0; i < e->n; i++) {
        page_kinds_add(&kinds, e->item[i].gold.type);
        page_kinds_add(&kinds, e->item[i].predicted.type);
    }
    page_begin(out, title, style);
    text_fmt(out,
             "<p>%" PRIu64 " sentences, %" PRIu64 " words, %" PRIu64 " %s: %" PRIu64
             " predicted, %" PRIu64 " right.%s</p>\n",
             e->seen, e->words, e->gold, e->unit, e->predicted, e->right,
             e->probabilities ? " The surest errors come first." : "");
    add_form(e, out);
    text_fmt(out,
             "<table><thead><tr>%s<th>sentence</th><th>kind</th><th>truth</th>"
             "<th>predicted</th></tr></thead>\n<tbody>\n",
             e->probabilities ? "<th>sure</th>" : "");
    for (size_t i = 0; i < e->n && (!c->top || shown < c->top); i++) {
        const error_item *x = &e->item[i];
        if (!is_wanted(c, x))
            continue;
        text_fmt(out, "<tr data-k=\"%d\">", x->kind);
        if (e->probabilities) {
            text_str(out, "<td class=\"p\">");
            if (isnan(x->p))
                text_str(out, "–");
            else
                page_percent(out, x->p);
            text_str(out, "</td>");
        }
        text_fmt(out,
                 "<td>%" PRIu64 "<br><span class=\"none\">line %" PRIu64 "</span></td><td>%s</td>",
                 e->sentence[x->sentence].number, e->sentence[x->sentence].row,
                 error_kind_names[x->kind]);
        add_side(e, &kinds, x, &x->gold, out);
        add_side(e, &kinds, x, &x->predicted, out);
        text_str(out, "</tr>\n");
        shown++;
    }
    text_str(out, "</tbody></table>\n");
    text_str(out, script);
    page_end(out);
    page_kinds_fini(&kinds);
}
