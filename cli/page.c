/* page.c -- the frame of pages, colours of labels, widths of text. */
/* SPDX-License-Identifier: MIT */
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trellis/scheme.h"

static const char sheet[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1a1a1a;--soft:#595959;--line:#d0d0d0;"
    "--good:#00795a;--bad:#b3400a}\n"
    "@media (prefers-color-scheme:dark){:root{--bg:#16181c;--fg:#e8e8e8;--soft:#a8a8a8;"
    "--line:#454545;--good:#3fc79a;--bad:#f58b53}}\n"
    "body{margin:1.5em auto;max-width:64em;padding:0 1em;background:var(--bg);color:var(--fg);"
    "font:16px/1.5 " PAGE_FONT "}\n"
    "h1{font-size:1.3em;margin:0 0 .5em}\n"
    "h2{font-size:.85em;font-weight:400;color:var(--soft);margin:1em 0 .1em}\n"
    ".key{border-bottom:1px solid var(--line);padding-bottom:.6em;margin:0 0 1em}\n"
    ".c,.u{display:inline-block;text-align:center;vertical-align:top;padding:0 6px;"
    "margin:2px 1px;border-radius:5px;border-bottom:2px solid;max-width:100%;"
    "overflow-wrap:anywhere}\n"
    ".c{background:hsl(var(--h) 75% 50%/calc(.06 + .4*var(--p,1)));"
    "border-color:hsl(var(--h) 70% 45%);print-color-adjust:exact}\n"
    ".u{border-bottom:2px dotted var(--soft)}\n"
    ".c small,.u small{display:block;font-size:.7em;line-height:1.2;opacity:.85}\n";

void page_begin(text *t, const char *title, const char *style)
{
    text_str(t, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<title>");
    text_xml(t, title, strlen(title));
    text_str(t, "</title>\n<style>\n");
    text_str(t, sheet);
    text_str(t, style);
    text_str(t, "</style></head>\n<body>\n<h1>");
    text_xml(t, title, strlen(title));
    text_str(t, "</h1>\n");
}

void page_end(text *t)
{
    text_str(t, "</body></html>\n");
}

/* ---- kinds of labels ------------------------------------------------------------------------- */

trl_str page_kind_of(trl_str label)
{
    trl_chunk c;
    return trl_chunks_of(&label, 1, &c) ? c.type : (trl_str){0};
}

static size_t find(const page_kinds *k, trl_str kind)
{
    size_t i = 0;
    while (i < k->n && (k->kind[i].n != kind.n || memcmp(k->kind[i].p, kind.p, kind.n) != 0))
        i++;
    return i;
}

void page_kinds_add(page_kinds *k, trl_str kind)
{
    if (kind.n == 0 || find(k, kind) < k->n)
        return;
    if (k->n == k->cap) {
        const size_t cap = k->cap ? 2 * k->cap : 16;
        trl_str *grown = realloc(k->kind, cap * sizeof *grown);
        if (!grown) {
            k->failed = true;
            return;
        }
        k->kind = grown;
        k->cap = cap;
    }
    k->kind[k->n++] = kind;
}

void page_kinds_fini(page_kinds *k)
{
    free(k->kind);
    *k = (page_kinds){0};
}

/* Ten that are far from each other, then steps of the golden angle between them. */
unsigned page_hue(const page_kinds *k, trl_str kind)
{
    static const unsigned first[] = {210, 25, 145, 330, 50, 265, 180, 0, 100, 295};
    const size_t i = find(k, kind), many = sizeof first / sizeof *first;
    if (i < many)
        return first[i];
    return i < k->n ? (unsigned)fmod(37.0 + 137.508 * (double)i, 360.0) : first[0];
}

void page_key(const page_kinds *k, text *t)
{
    text_str(t, "<p class=\"key\">");
    for (size_t i = 0; i < k->n; i++) {
        text_fmt(t, "%s<span class=\"c\" style=\"--h:%u\">", i ? " " : "", page_hue(k, k->kind[i]));
        text_xml(t, k->kind[i].p, k->kind[i].n);
        text_str(t, "</span>");
    }
    text_str(t, "</p>\n");
}

/* ---- numbers and widths ---------------------------------------------------------------------- */

void page_percent(text *t, double p)
{
    const double x = 100.0 * p;
    if (x > 99.0 && x < 99.95)
        text_str(t, "&gt;99");
    else if (x < 1.0 && x >= 0.05)
        text_str(t, "&lt;1");
    else
        text_fmt(t, "%.0f", x);
    text_str(t, "%");
}

double page_text_width(trl_str s, double size)
{
    double sum = 0.0;
    for (size_t i = 0; i < s.n; i++) {
        const unsigned char c = (unsigned char)s.p[i];
        if ((c & 0xc0) == 0x80)
            continue;
        if (c >= 0xe3) /* Chinese, Japanese and Korean */
            sum += 1.05;
        else if (c < 128 && strchr("ijl.,:;'`|!I", c))
            sum += 0.31;
        else if (c < 128 && strchr("frt()[]{}/\\-\" ", c))
            sum += 0.39;
        else
            sum += (c < 128 && strchr("mwMW@%", c)) ? 0.93 : c >= 'A' && c <= 'Z' ? 0.71 : 0.59;
    }
    return sum * size;
}
