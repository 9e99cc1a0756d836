/* section_text.c -- sections to text. */
/* SPDX-License-Identifier: MIT */
#include "model/section_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/strtab_io.h"

/* One section on its way out. */
typedef struct writing {
    const trl_container *c;
    const trl_section_types *types;
    trl_printer *p;
    trl_error *err;
    char tag[9];
    trl_section s;
} writing;

static size_t width_of(char type)
{
    return type == 'w' || type == 'd' ? 8 : 4;
}

/* ---- tables of strings ----------------------------------------------------------------------- */

/* Whether three sections from k on are a table that the strings alone give back. */
static trl_status find_strings(const writing *w, size_t k, trl_strtab *t, bool *found)
{
    static const char *const ends[] = {"pool", "end4", "slot"};
    trl_section s[3];
    trl_strview v;
    char prefix[5] = {0};
    *found = false;
    for (size_t i = 0; i < 3; i++) {
        if (!trl_container_section(w->c, k + i, &s[i]) || memcmp(s[i].tag + 4, ends[i], 4) != 0 ||
            memcmp(s[i].tag, s[0].tag, 4) != 0)
            return TRL_OK;
    }
    memcpy(prefix, s[0].tag, 4);
    if (trl_strview_load(w->c, prefix, &v, NULL) != TRL_OK)
        return TRL_OK;
    for (uint32_t i = 0; i < v.n; i++) {
        const trl_str x = trl_strview_get(&v, i);
        const uint32_t id = trl_strtab_add(t, x.p, x.n);
        if (id == TRL_NO_ID)
            return trl_fail_mem(w->err);
        if (id != i)
            return TRL_OK;
    }
    trl_container_builder b = {0};
    const trl_status st = trl_strtab_save(t, prefix, &b, w->err);
    bool same = st == TRL_OK && b.n == 3;
    for (size_t i = 0; same && i < 3; i++)
        same = b.section[i].size == s[i].size &&
               (s[i].size == 0 || memcmp(b.section[i].bytes, s[i].bytes, s[i].size) == 0);
    trl_container_builder_fini(&b);
    *found = same;
    return st;
}

static trl_status put_strings(const writing *w, const trl_strtab *t)
{
    trl_status st = TRL_OK;
    trl_buf_fmt(&w->p->buf, "strings\t%.4s\t%zu\n", w->tag, t->n);
    for (uint32_t i = 0; st == TRL_OK && i < t->n; i++) {
        trl_put_line(&w->p->buf, "string", trl_strtab_get(t, i));
        st = trl_printer_flush(w->p, false, w->err);
    }
    return st;
}

/* ---- text, numbers, bytes -------------------------------------------------------------------- */

static trl_status put_text(const writing *w)
{
    const char *p = w->s.bytes;
    trl_buf_fmt(&w->p->buf, "text\t%s\n", w->tag);
    for (size_t at = 0; at < w->s.size;) {
        const char *lf = memchr(p + at, '\n', w->s.size - at);
        const size_t n = lf ? (size_t)(lf - p) - at : w->s.size - at;
        trl_put_line(&w->p->buf, lf ? "line" : "rest", (trl_str){p + at, n});
        at += n + (lf != NULL);
    }
    return trl_printer_flush(w->p, false, w->err);
}

static void put_value(trl_buf *b, char type, const unsigned char *p)
{
    uint32_t u;
    uint64_t v;
    float f;
    double d;
    memcpy(&u, p, sizeof u);
    memcpy(&f, p, sizeof f);
    trl_buf_ch(b, '\t');
    if (type == 'u') {
        trl_buf_fmt(b, "%" PRIu32, u);
    } else if (type == 'f') {
        trl_put_number(b, "%.9g", (double)f);
    } else {
        memcpy(&v, p, sizeof v);
        memcpy(&d, p, sizeof d);
        if (type == 'w')
            trl_buf_fmt(b, "%" PRIu64, v);
        else
            trl_put_number(b, "%.17g", d);
    }
}

static bool all_zero(const unsigned char *p, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (p[k])
            return false;
    return true;
}

static void put_name(const writing *w, size_t row, trl_buf *scratch)
{
    scratch->len = 0;
    if (w->types->name)
        w->types->name(w->types->ctx, w->tag, row, scratch);
    if (!scratch->len)
        return;
    trl_buf_str(&w->p->buf, "\t# ");
    trl_put_field(&w->p->buf, (trl_str){scratch->data, scratch->len});
}

static trl_status put_numbers(const writing *w, const trl_section_type *t)
{
    static const char *const names[] = {"u32", "u64", "f32", "f64"};
    const size_t one = width_of(t->type), row = one * t->width, n = w->s.size / row;
    const unsigned char *p = w->s.bytes;
    trl_buf name = {0};
    trl_status st = TRL_OK;
    trl_buf_fmt(&w->p->buf, "numbers\t%s\t%s\t%zu\t%u\n", w->tag,
                names[strchr("uwfd", t->type) - "uwfd"], n, t->width);
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        if (!trl_row_written(k, n, all_zero(p + k * row, row)))
            continue;
        trl_buf_fmt(&w->p->buf, "row\t%zu", k);
        for (size_t i = 0; i < t->width; i++)
            put_value(&w->p->buf, t->type, p + k * row + i * one);
        put_name(w, k, &name);
        trl_buf_ch(&w->p->buf, '\n');
        st = name.failed ? trl_fail_mem(w->err) : trl_printer_flush(w->p, false, w->err);
    }
    trl_buf_fini(&name);
    return st;
}

static trl_status put_bytes(const writing *w)
{
    const unsigned char *p = w->s.bytes;
    trl_status st = TRL_OK;
    trl_buf_fmt(&w->p->buf, "bytes\t%s\t%zu\n", w->tag, w->s.size);
    const size_t rows = (w->s.size + TRL_BYTES_ROW - 1) / TRL_BYTES_ROW;
    for (size_t k = 0; st == TRL_OK && k < rows; k++) {
        const size_t from = k * TRL_BYTES_ROW, left = w->s.size - from;
        const size_t n = left < TRL_BYTES_ROW ? left : TRL_BYTES_ROW;
        if (!trl_row_written(k, rows, all_zero(p + from, n)))
            continue;
        trl_buf_fmt(&w->p->buf, "row\t%zu\t", k);
        for (size_t i = 0; i < n; i++)
            trl_buf_fmt(&w->p->buf, "%02x", p[from + i]);
        trl_buf_ch(&w->p->buf, '\n');
        st = trl_printer_flush(w->p, false, w->err);
    }
    return st;
}

/* Numbers that are not finite have no text: their section is bytes. */
static bool fits(const writing *w, const trl_section_type *t)
{
    const size_t one = width_of(t->type);
    if (w->s.size % (one * t->width))
        return false;
    for (size_t k = 0; (t->type == 'f' || t->type == 'd') && k < w->s.size; k += one) {
        float f;
        double d;
        memcpy(&f, (const char *)w->s.bytes + k, sizeof f);
        if (t->type == 'd')
            memcpy(&d, (const char *)w->s.bytes + k, sizeof d);
        if (!isfinite(t->type == 'd' ? d : (double)f))
            return false;
    }
    return true;
}

static bool is_text(const trl_section *s)
{
    return s->size == 0 || !memchr(s->bytes, 0, s->size);
}

/* One section, or the three of a table; *k: the next one. */
static trl_status put_section(writing *w, size_t *k)
{
    const trl_section_type *t = NULL;
    trl_strtab strings = {0};
    bool found;
    trl_status st = find_strings(w, *k, &strings, &found);
    if (st == TRL_OK && found)
        st = put_strings(w, &strings);
    trl_strtab_fini(&strings);
    *k += found ? 3 : 1;
    if (st != TRL_OK || found)
        return st;
    for (size_t i = 0; i < w->types->n; i++)
        if (strcmp(w->types->row[i].tag, w->tag) == 0)
            t = &w->types->row[i];
    if (t && t->type == 't' && is_text(&w->s))
        return put_text(w);
    return t && t->type != 't' && fits(w, t) ? put_numbers(w, t) : put_bytes(w);
}

trl_status trl_sections_dump(const trl_container *c, const trl_section_types *types, trl_printer *p,
                             trl_error *err)
{
    writing w = {.c = c, .types = types, .p = p, .err = err};
    trl_status st = TRL_OK;
    trl_buf_fmt(&p->buf, "trellis-model\t1\nkind\t%s\nlast\tend\n", trl_container_kind(c));
    if (trl_container_version(c) != 1)
        trl_buf_fmt(&p->buf, "format\t%u\n", (unsigned)trl_container_version(c));
    for (size_t k = 0; st == TRL_OK && trl_container_section(c, k, &w.s);) {
        memset(w.tag, 0, sizeof w.tag);
        memcpy(w.tag, w.s.tag, 8);
        st = put_section(&w, &k);
    }
    trl_buf_str(&p->buf, "end\n");
    return st == TRL_OK ? trl_printer_flush(p, true, err) : st;
}
