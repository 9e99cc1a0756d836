/* undump.c -- reading a dump (format: dump.c) back into a model file. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/dump_lists.h"
#include "model/dump_text.h"
#include "model/model.h"
#include "model/undump.h"

/* ---- header ---------------------------------------------------------------------------------- */

static bool is(trl_str s, const char *word)
{
    return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

static trl_status read_kind(trl_undump *u)
{
    if (!is(u->field[1], u->kind))
        return FAIL_AT(u, 1, "kind '%.*s' is not known", trl_shown(u->field[1]), u->field[1].p);
    u->has_kind = true;
    return TRL_OK;
}

static trl_status read_last(trl_undump *u)
{
    if (!is(u->field[1], "end"))
        return FAIL_AT(u, 1, "'end' expected");
    u->must_end = true;
    return TRL_OK;
}

static trl_status read_objective(trl_undump *u)
{
    if (u->objective)
        return FAIL_AT(u, 0, "a second objective");
    if (memchr(u->field[1].p, '\0', u->field[1].n))
        return FAIL_AT(u, 1, "a NUL byte in a name");
    u->objective = trl_strndup(u->field[1].p, u->field[1].n);
    return u->objective ? TRL_OK : trl_fail_mem(u->err);
}

static trl_status read_probability(trl_undump *u)
{
    if (!is(u->field[1], "yes") && !is(u->field[1], "no"))
        return FAIL_AT(u, 1, "'yes' or 'no' expected");
    u->parts.is_probability = is(u->field[1], "yes");
    u->has_probability = true;
    return TRL_OK;
}

static trl_status read_order(trl_undump *u)
{
    if (!is(u->field[1], "1") && !is(u->field[1], "2"))
        return FAIL_AT(u, 1, "the order is 1 or 2");
    u->parts.order = u->field[1].p[0] - '0';
    return TRL_OK;
}

static trl_status read_columns(trl_undump *u)
{
    uint64_t n = 0;
    for (size_t i = 0; i < u->field[1].n; i++) {
        const char c = u->field[1].p[i];
        if (c < '0' || c > '9' || n > 1000000000)
            return FAIL_AT(u, 1, "a number of columns expected");
        n = n * 10 + (uint64_t)(c - '0');
    }
    if (u->field[1].n == 0)
        return FAIL_AT(u, 1, "a number of columns expected");
    u->parts.n_columns = n;
    u->has_columns = true;
    return TRL_OK;
}

static trl_status add_text(trl_undump *u, trl_buf *to)
{
    trl_buf_add(to, u->field[1].p, u->field[1].n);
    trl_buf_ch(to, '\n');
    return to->failed ? trl_fail_mem(u->err) : TRL_OK;
}

static trl_status read_setting(trl_undump *u)
{
    if (memchr(u->field[1].p, '\0', u->field[1].n))
        return FAIL_AT(u, 1, "a NUL byte in a setting");
    return add_text(u, &u->settings);
}

static trl_status read_template(trl_undump *u)
{
    if (u->template_text.len == 0)
        u->template_row = trl_input_row(u->in);
    return add_text(u, &u->template_text);
}

static trl_status read_label(trl_undump *u)
{
    const size_t n = u->labels.n;
    if (u->in_weights)
        return FAIL_AT(u, 0, "labels come before weights");
    if (n == 65535)
        return FAIL_AT(u, 0, "more than 65,535 labels");
    if (trl_strtab_add(&u->labels, u->field[1].p, u->field[1].n) == TRL_NO_ID)
        return trl_fail_mem(u->err);
    if (u->labels.n == n)
        return FAIL_AT(u, 1, "label '%.*s' again", trl_shown(u->field[1]), u->field[1].p);
    return TRL_OK;
}

static trl_status read_decode(trl_undump *u)
{
    if (!is(u->field[1], "local") && !is(u->field[1], "global"))
        return FAIL_AT(u, 1, "'local' or 'global' expected");
    u->parts.is_local = is(u->field[1], "local");
    return TRL_OK;
}

static trl_status read_mask(trl_undump *u)
{
    if (!is(u->field[1], "yes") && !is(u->field[1], "no"))
        return FAIL_AT(u, 1, "'yes' or 'no' expected");
    u->parts.masked = is(u->field[1], "yes");
    return TRL_OK;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static trl_status read_precision(trl_undump *u)
{
    if (!is(u->field[1], "double") && !is(u->field[1], "float"))
        return FAIL_AT(u, 1, "'double' or 'float' expected");
    if (u->in_weights)
        return FAIL_AT(u, 0, "'weights' comes before the weights");
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        u->parts.rows[f].type = is(u->field[1], "double") ? TRL_WEIGHT_DOUBLE : TRL_WEIGHT_FLOAT;
    return TRL_OK;
}

static trl_status read_sums(trl_undump *u)
{
    if (!is(u->field[1], "single") && !is(u->field[1], "double"))
        return FAIL_AT(u, 1, "'single' or 'double' expected");
    u->parts.single = is(u->field[1], "single");
    return TRL_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t n_fields; /* this word included; 0: checked by the function */
    trl_status (*read)(trl_undump *u);
} words[] = {
    {"kind", 2, read_kind}, /* these five are in every dump */
    {"objective", 2, read_objective},
    {"probability", 2, read_probability},
    {"columns", 2, read_columns},
    {"setting", 2, read_setting},
    {"last", 2, read_last},
    {"end", 0, trl_undump_end},
    {"order", 2, read_order},
    {"template", 2, read_template},
    {"label", 2, read_label},
    {"weights", 2, read_precision},
    {"sums", 2, read_sums},
    {"constant", 3, trl_undump_constant},
    {"decode", 2, read_decode},
    {"mask", 2, read_mask},
    {"calibration", 3, trl_undump_calibration},
    {"temperature", 2, trl_undump_temperature},
    {"word-list", 3, trl_undump_list},
    {"word", 0, trl_undump_word},
    {"scale", 5, trl_undump_scale},
    {"q0-order", 2, trl_undump_q0_order},
    {"q0-start", 3, trl_undump_q0_start},
    {"q0-next", 0, trl_undump_q0_next},
    {"q0-stop", 0, trl_undump_q0_stop},
    {"q0-column", 2, trl_undump_q0_column},
    {"q0-emit", 4, trl_undump_q0_emit},
};

#define HEADERS 5

trl_status trl_undump_header(trl_undump *u, const char *kind, bool *known)
{
    size_t k = 0;
    while (k < HEADERS && !is(u->field[0], words[k].name))
        k++;
    *known = k < HEADERS;
    u->kind = kind;
    if (*known && u->n_fields != words[k].n_fields)
        return FAIL_AT(u, 0, "%zu fields, separated by tabs, where %zu are expected", u->n_fields,
                       words[k].n_fields);
    return *known ? words[k].read(u) : TRL_OK;
}

static trl_status read_line(trl_undump *u)
{
    const size_t f = trl_undump_family(u->field[0]);
    const size_t n_words = sizeof words / sizeof *words;
    size_t k = 0;
    while (f == TRL_FAMILIES && k < n_words && !is(u->field[0], words[k].name))
        k++;
    if (k == n_words)
        return FAIL_AT(u, 0, "'%.*s' is not known", trl_shown(u->field[0]), u->field[0].p);
    const size_t want = f < TRL_FAMILIES ? f + 4 : words[k].n_fields;
    if (want && u->n_fields != want)
        return FAIL_AT(u, 0, "%zu fields, separated by tabs, where %zu are expected", u->n_fields,
                       want);
    if (f < TRL_FAMILIES)
        return trl_undump_weight(u, f);
    if (u->in_weights && words[k].read == read_order)
        return FAIL_AT(u, 0, "the order comes before the weights");
    return words[k].read(u);
}

static trl_status read_all(trl_undump *u)
{
    bool more;
    trl_status st = trl_undump_version(u);
    if (st != TRL_OK)
        return st;
    for (;;) {
        st = trl_undump_next(u, &more);
        if (st != TRL_OK || !more)
            return st;
        st = read_line(u);
        if (st != TRL_OK)
            return st;
    }
}

/* Checks that nothing is missing, then completes the parts. */
static trl_status finish(trl_undump *u)
{
    const char *missing = !u->has_kind          ? "kind"
                          : !u->objective       ? "objective"
                          : !u->has_probability ? "probability"
                          : !u->parts.order     ? "order"
                          : !u->has_columns     ? "columns"
                          : !u->labels.n        ? "label"
                                                : NULL;
    if (missing) {
        const trl_status st = trl_fail(u->err, TRL_EPARSE, "there is no line '%s'", missing);
        return trl_input_fail(u->in, u->err, st, 0);
    }
    trl_status st = trl_undump_check_end(u);
    if (st != TRL_OK)
        return st;
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        trl_weight_rows *r = &u->parts.rows[f];
        r->names = &u->names[f];
        if (f > (size_t)u->parts.order && u->constant[f] != TRL_NO_ID) {
            st = trl_fail(u->err, TRL_EPARSE, "triples in a model of order 1");
            return trl_input_fail(u->in, u->err, st, 0);
        }
        if (u->constant[f] == TRL_NO_ID || r->constant != TRL_NO_ROW)
            continue;
        r->constant = r->n; /* a constant attribute without weights */
        if (!trl_rows_begin(r, u->constant[f]))
            return trl_fail_mem(u->err);
    }
    u->parts.objective = u->objective;
    u->parts.settings = (trl_str){u->settings.data, u->settings.len};
    u->parts.template_text = (trl_str){u->template_text.data, u->template_text.len};
    u->parts.labels = &u->labels;
    u->parts.calibration = u->calibration;
    st = trl_undump_template(u);
    return st == TRL_OK ? trl_undump_q0_finish(u) : st;
}

void trl_undump_fini(trl_undump *u)
{
    trl_chain_parts_fini(&u->parts);
    trl_strtab_fini(&u->labels);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        trl_strtab_fini(&u->names[f]);
    trl_buf_fini(&u->settings);
    trl_buf_fini(&u->template_text);
    trl_hmm_parts_fini(&u->q0);
    trl_undump_lists_fini(&u->lists);
    trl_template_free(u->tpl);
    trl_free(u->calibration);
    trl_free(u->objective);
    trl_free(u->line);
    trl_input_free(u->in);
}

trl_status trl_chain_undump(trl_input *in, const char *path, unsigned char **out, size_t *size,
                            trl_error *err)
{
    trl_undump *u = trl_zalloc(1, sizeof *u);
    if (!u) {
        trl_input_free(in);
        return trl_fail_mem(err);
    }
    u->in = in;
    u->err = err;
    u->kind = TRL_CHAIN_KIND;
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        u->constant[f] = TRL_NO_ID;
        u->parts.rows[f].constant = TRL_NO_ROW;
    }
    trl_status st = read_all(u);
    if (st == TRL_OK)
        st = finish(u);
    if (st == TRL_OK)
        st = trl_chain_parts_write(&u->parts, path, out, size, err);
    trl_undump_fini(u);
    trl_free(u);
    return st;
}

trl_status trl_model_undump_memory(const char *name, const void *bytes, size_t n,
                                   unsigned char **out, size_t *size, trl_error *err)
{
    trl_input *in = NULL;
    const trl_status st = trl_input_memory(name, bytes, n, &in, err);
    return st == TRL_OK ? trl_chain_undump(in, NULL, out, size, err) : st;
}
