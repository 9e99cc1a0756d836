/* import.c -- models of other tools: which tool's it is, and from its parts to our file. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "foreign/foreign.h"
#include "trellis/foreign.h"

/* ---- faults ---------------------------------------------------------------------------------- */

trl_status trl_foreign_damaged(trl_foreign *m, const char *tool, size_t at, trl_status st)
{
    trl_error why = m->err ? *m->err : (trl_error){0};
    trl_fail(m->err, st, "damaged model of %s: %s (byte %zu of %zu)", tool, why.msg, at, m->file.n);
    trl_fail_hint(m->err, st, "copy the file again, or train the model again with %s", tool);
    return trl_fail_where(m->err, st, m->path, 0, 0);
}

trl_status trl_cursor_fail(trl_foreign *m, const trl_cursor *s, trl_status st)
{
    trl_fail_hint(m->err, st, "the file was cut off or changed: copy or train it again");
    return trl_fail_where(m->err, st, m->path, s->row, (uint64_t)(s->p - s->line) + 1);
}

/* ---- text ------------------------------------------------------------------------------------ */

trl_cursor trl_cursor_begin(trl_str text)
{
    return (trl_cursor){.p = text.p, .end = text.p + text.n, .line = text.p, .row = 1};
}

bool trl_cursor_line(trl_cursor *s, trl_str *line)
{
    if (s->p == s->end)
        return false;
    const char *lf = memchr(s->p, '\n', (size_t)(s->end - s->p));
    const char *stop = lf ? lf : s->end;
    *line = (trl_str){s->p, (size_t)(stop - s->p)};
    if (line->n && stop[-1] == '\r')
        line->n--;
    s->p = lf ? lf + 1 : s->end;
    if (lf) {
        s->line = s->p;
        s->row++;
    }
    return true;
}

bool trl_cursor_text(trl_cursor *s, const char *text)
{
    const size_t n = strlen(text);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, text, n) != 0)
        return false;
    s->p += n;
    if (n && text[n - 1] == '\n') {
        s->line = s->p;
        s->row++;
    }
    return true;
}

bool trl_cursor_number(trl_cursor *s, uint64_t *x, const char *after)
{
    const trl_cursor before = *s;
    uint64_t v = 0;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++) {
        v = v * 10 + (uint64_t)(*s->p - '0');
        if (v >> 53)
            break;
    }
    if (s->p > before.p && !(v >> 53) && trl_cursor_text(s, after)) {
        *x = v;
        return true;
    }
    *s = before;
    return false;
}

/* ---- parts ----------------------------------------------------------------------------------- */

trl_status trl_foreign_label(trl_foreign *m, trl_str name)
{
    const size_t n = m->labels.n;
    if (n == 65535)
        return trl_fail(m->err, TRL_EMODEL, "more than 65,535 labels");
    if (name.n == 0)
        return trl_fail(m->err, TRL_EMODEL, "a label without a name");
    if (trl_strtab_add(&m->labels, name.p, name.n) == TRL_NO_ID)
        return trl_fail_mem(m->err);
    if (m->labels.n == n)
        return trl_fail(m->err, TRL_EMODEL, "label '%.*s' again", name.n < 60 ? (int)name.n : 60,
                        name.p);
    return TRL_OK;
}

trl_status trl_foreign_template(trl_foreign *m, size_t columns)
{
    trl_template *tpl = NULL;
    trl_error why = {0};
    trl_status st =
        trl_template_parse(m->path, m->template_text.data, m->template_text.len, &tpl, &why);
    const size_t used = st == TRL_OK ? trl_template_columns(tpl) : 0;
    trl_template_free(tpl);
    if (st == TRL_ENOMEM)
        return trl_fail_mem(m->err);
    if (st != TRL_OK)
        return trl_fail(m->err, TRL_EMODEL, "line %llu of its template: %s",
                        (unsigned long long)why.row, why.msg);
    if (columns >= INT32_MAX) /* a machine of 32 bits could not load it */
        return trl_fail(m->err, TRL_EMODEL, "impossible: data of %zu columns", columns);
    if (used > columns)
        return trl_fail(m->err, TRL_EMODEL, "its template uses column %zu, its data has %zu",
                        used - 1, columns);
    m->parts.n_columns = columns + 1;
    return TRL_OK;
}

/* ---- transitions ----------------------------------------------------------------------------- */

static bool is_constant_pair(const trl_template *tpl, size_t k)
{
    return trl_template_cliques(tpl, k) != TRL_ON_LABEL && trl_template_is_constant(tpl, k);
}

bool trl_pairs_are_constant(const trl_template *tpl)
{
    bool all = true;
    for (size_t k = 0; k < trl_template_count(tpl); k++)
        all &= trl_template_cliques(tpl, k) == TRL_ON_LABEL || trl_template_is_constant(tpl, k);
    return all;
}

size_t trl_constant_lines(const trl_template *tpl, trl_str name)
{
    size_t n = 0;
    for (size_t k = 0; k < trl_template_count(tpl); k++) {
        size_t at = 0;
        bool same = is_constant_pair(tpl, k);
        for (size_t i = 0; same && i < trl_template_pieces(tpl, k); i++) {
            const trl_str text = trl_template_piece(tpl, k, i).text;
            same = text.n <= name.n - at && memcmp(name.p + at, text.p, text.n) == 0;
            at += same ? text.n : 0;
        }
        n += same && at == name.n;
    }
    return n;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const struct tool {
    const char *head;
    size_t n;
    const char *name;
    trl_status (*read)(trl_foreign *m);
} tools[] = {
    {"lCRF", 4, "CRFsuite", trl_read_crfsuite},
    {"FILEHEADER = {", 14, "CRFsuite (dump)", trl_read_crfsuite_dump},
    {"#mdl#", 5, "Wapiti", trl_read_wapiti},
    {"version: ", 9, "CRF++ (text)", trl_read_crfpp_text},
    {"\x64\0\0\0\0\0\0\0", 8, "CRF++", trl_read_crfpp},
};

/* The tool whose file it is, or NULL. */
static const struct tool *tool_of(trl_str file)
{
    for (size_t k = 0; k < sizeof tools / sizeof *tools; k++)
        if (file.n >= tools[k].n && memcmp(file.p, tools[k].head, tools[k].n) == 0)
            return &tools[k];
    return NULL;
}

static trl_status not_known(trl_str file, const char *path, trl_error *err)
{
    const bool ours = file.n >= 8 && memcmp(file.p, "TRELLIS\x1a", 8) == 0;
    const trl_status st = trl_fail(err, TRL_EMODEL,
                                   file.n == 0 ? "the file is empty, not a model"
                                   : ours      ? "this is a Trellis model already"
                                          : "this is not a model of CRFsuite, CRF++ or Wapiti");
    if (!ours)
        trl_fail_hint(err, st,
                      "known are CRFsuite's model files and the output of 'crfsuite dump', CRF++'s "
                      "model files, binary and text, and Wapiti's");
    return trl_fail_where(err, st, path, 0, 0);
}

static void finish(trl_foreign *m, const char *tool)
{
    trl_buf_fmt(&m->settings, "imported from %s\n", tool);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        m->parts.rows[f].names = &m->names[f];
    m->parts.labels = &m->labels;
    m->parts.settings = (trl_str){m->settings.data, m->settings.len};
    m->parts.template_text = (trl_str){m->template_text.data, m->template_text.len};
}

static trl_status run(const char *path, trl_str file, const char *to, trl_buf *out, trl_error *err)
{
    const struct tool *tool = tool_of(file);
    if (!tool)
        return not_known(file, path, err);
    trl_foreign m = {.path = path, .file = file, .err = err};
    m.parts.order = 1;
    m.parts.is_probability = true;
    m.parts.objective = "likelihood";
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        m.parts.rows[f].constant = TRL_NO_ROW;
    unsigned char *bytes = NULL;
    size_t size = 0;
    trl_status st = tool->read(&m);
    if (st == TRL_OK) {
        finish(&m, tool->name);
        st = m.settings.failed || m.template_text.failed
                 ? trl_fail_mem(err)
                 : trl_chain_parts_write(&m.parts, to, &bytes, &size, err);
    }
    if (st == TRL_OK && !to) {
        trl_buf_fini(out);
        *out = (trl_buf){.data = (char *)bytes, .len = size, .cap = size};
    }
    trl_chain_parts_fini(&m.parts);
    trl_strtab_fini(&m.labels);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        trl_strtab_fini(&m.names[f]);
    trl_buf_fini(&m.settings);
    trl_buf_fini(&m.template_text);
    return st;
}

trl_status trl_model_import(const char *from, const char *to, trl_error *err)
{
    if (!from || !to)
        return trl_fail_null(err);
    trl_input *in = NULL;
    trl_str file;
    trl_status st = trl_input_open(from, &in, err);
    if (st == TRL_OK)
        st = trl_input_all(in, &file, err);
    if (st == TRL_OK)
        st = run(trl_input_name(in), file, to, NULL, err);
    trl_input_free(in);
    return st;
}

trl_status trl_model_import_buf(const char *name, const void *bytes, size_t n, trl_buf *out,
                                trl_error *err)
{
    if (!name || (!bytes && n) || !out)
        return trl_fail_null(err);
    return run(name, (trl_str){bytes, n}, NULL, out, err);
}
