/* graph_undump.c -- reading a dump of a graph model (format: graph_dump.c).
 *
 * Lines of the model file come before labels, labels before weights; the model file is read with
 * the first label, and its faults are said at their lines of the dump.  The last line is `end`: a
 * dump that is cut off is told by it.
 */
/* SPDX-License-Identifier: MIT */
#include "graph_model/graph_undump.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "graph_model/graph_model.h"
#include "model/undump.h"

typedef struct reading {
    trl_undump u; /* lines and what all dumps begin with */
    uint64_t model_row;
    trl_buf text;
    trl_graph_spec *spec; /* NULL: no label yet */
    trl_strtab labels[TRL_LAYERS_MAX], names[TRL_FAMILIES_MAX];
    size_t n_labels[TRL_LAYERS_MAX];
    trl_weight_rows rows[TRL_FAMILIES_MAX];
    uint32_t constant[TRL_FAMILIES_MAX]; /* in names; TRL_NO_ID: none */
} reading;

/* ---- the model file and labels --------------------------------------------------------------- */

static trl_status read_model_line(reading *x)
{
    trl_undump *u = &x->u;
    if (u->n_fields != 2)
        return FAIL_AT(u, 0, "%zu fields, separated by tabs, where 2 are expected", u->n_fields);
    if (x->spec)
        return FAIL_AT(u, 0, "the model file comes before the labels");
    if (x->text.len == 0)
        x->model_row = trl_input_row(u->in);
    trl_buf_add(&x->text, u->field[1].p, u->field[1].n);
    trl_buf_ch(&x->text, '\n');
    return x->text.failed ? trl_fail_mem(u->err) : TRL_OK;
}

static trl_status read_spec(reading *x)
{
    trl_undump *u = &x->u;
    trl_error why = {0};
    if (x->spec)
        return TRL_OK;
    if (!u->has_columns)
        return FAIL_AT(u, 0, "a label before the line 'columns'");
    trl_status st = trl_graph_spec_parse("model", x->text.data, x->text.len, &x->spec, &why);
    if (st == TRL_OK)
        st = trl_graph_spec_check(x->spec, "model", (size_t)u->parts.n_columns, &why);
    if (st != TRL_EPARSE)
        return st == TRL_OK ? st : trl_fail_mem(u->err);
    trl_fail(u->err, st, "in the model file: %s", why.msg);
    trl_fail_hint(u->err, st, "%s", why.hint);
    return trl_fail_where(u->err, st, trl_input_name(u->in),
                          x->model_row + (why.row ? why.row - 1 : 0), 0);
}

static trl_status read_label(reading *x)
{
    trl_undump *u = &x->u;
    trl_status st = u->n_fields == 3 ? read_spec(x)
                                     : FAIL_AT(u, 0,
                                               "label LAYER NAME, separated by tabs, "
                                               "expected");
    if (st != TRL_OK)
        return st;
    const uint32_t k = trl_graph_spec_layer(x->spec, u->field[1]);
    if (k == TRL_NO_LAYER)
        return FAIL_AT(u, 1, "the model file has no labels '%.*s'", trl_shown(u->field[1]),
                       u->field[1].p);
    if (u->in_weights)
        return FAIL_AT(u, 0, "labels come before weights");
    const size_t n = x->labels[k].n;
    if (trl_strtab_add(&x->labels[k], u->field[2].p, u->field[2].n) == TRL_NO_ID)
        return trl_fail_mem(u->err);
    x->n_labels[k] = x->labels[k].n;
    return x->n_labels[k] > n
               ? TRL_OK
               : FAIL_AT(u, 2, "label '%.*s' again", trl_shown(u->field[2]), u->field[2].p);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* Every factor has its labels before the first weight. */
static trl_status begin_weights(reading *x)
{
    trl_undump *u = &x->u;
    if (u->in_weights)
        return TRL_OK;
    if (!x->spec)
        return FAIL_AT(u, 0, "a weight before the labels");
    for (size_t f = 0; f < x->spec->n_factors; f++)
        if (trl_factor_spec_cells(&x->spec->factor[f], x->n_labels) == 0)
            return FAIL_AT(u, 0, "the factor '%s' has no labels before the weights, or too many",
                           x->spec->factor[f].name);
    u->in_weights = true;
    return TRL_OK;
}

/* The factor that field 1 names. */
static trl_status find_factor(reading *x, size_t *f)
{
    trl_undump *u = &x->u;
    const trl_status st = begin_weights(x);
    if (st != TRL_OK)
        return st;
    for (*f = 0; *f < x->spec->n_factors; ++*f) {
        const char *name = x->spec->factor[*f].name;
        if (strlen(name) == u->field[1].n && memcmp(name, u->field[1].p, u->field[1].n) == 0)
            return TRL_OK;
    }
    return FAIL_AT(u, 1, "the model file has no factor '%.*s'", trl_shown(u->field[1]),
                   u->field[1].p);
}

static trl_status read_constant(reading *x)
{
    trl_undump *u = &x->u;
    size_t f = 0;
    const trl_status st =
        u->n_fields == 3 ? find_factor(x, &f) : FAIL_AT(u, 0, "constant FACTOR NAME expected");
    if (st != TRL_OK)
        return st;
    if (x->names[f].n > 0)
        return FAIL_AT(u, 0, "'constant' comes once, before the weights of its factor");
    x->constant[f] = trl_strtab_add(&x->names[f], u->field[2].p, u->field[2].n);
    return x->constant[f] == TRL_NO_ID ? trl_fail_mem(u->err) : TRL_OK;
}

static trl_status read_cell(reading *x, const trl_factor_spec *f, uint32_t *cell)
{
    trl_undump *u = &x->u;
    *cell = 0;
    for (size_t k = 0; k < f->n; k++) {
        const trl_str s = u->field[3 + k];
        const uint32_t y = trl_strtab_find(&x->labels[f->layer[k]], s.p, s.n);
        if (y == TRL_NO_ID)
            return FAIL_AT(u, 3 + k, "label '%.*s' is not in the list", trl_shown(s), s.p);
        *cell = *cell * (uint32_t)x->n_labels[f->layer[k]] + y;
    }
    return TRL_OK;
}

/* Goes to the row of the attribute in field 2: the last one, or a new one. */
static trl_status find_row(reading *x, size_t f)
{
    trl_undump *u = &x->u;
    trl_weight_rows *r = &x->rows[f];
    const trl_str name = u->field[2];
    const size_t known = x->names[f].n;
    if (name.n == 0 && x->constant[f] == TRL_NO_ID)
        return FAIL_AT(u, 2, "a weight without an attribute, and no line 'constant' before it");
    const uint32_t id = name.n ? trl_strtab_add(&x->names[f], name.p, name.n) : x->constant[f];
    if (id == TRL_NO_ID)
        return trl_fail_mem(u->err);
    if (r->n > 0 && r->name[r->n - 1] == id)
        return TRL_OK;
    const bool first_constant = id == x->constant[f] && r->constant == TRL_NO_ROW;
    if (id < known && !first_constant) {
        const trl_status st =
            trl_fail(u->err, TRL_EPARSE, "attribute '%.*s' is repeated", trl_shown(name), name.p);
        trl_fail_hint(u->err, st, "the weights of an attribute must stand together");
        return trl_undump_at(u, 2, st);
    }
    if (first_constant)
        r->constant = r->n;
    return trl_rows_begin(r, id) ? TRL_OK : trl_fail_mem(u->err);
}

static trl_status read_weight(reading *x)
{
    trl_undump *u = &x->u;
    size_t f = 0;
    uint32_t cell = 0;
    double w = 0.0;
    trl_status st =
        u->n_fields > 1 ? find_factor(x, &f) : FAIL_AT(u, 0, "a factor's name expected");
    if (st != TRL_OK)
        return st;
    const size_t want = x->spec->factor[f].n + 4, last = want - 1;
    if (u->n_fields != want)
        return FAIL_AT(u, 0, "%zu fields, separated by tabs, where %zu are expected", u->n_fields,
                       want);
    st = read_cell(x, &x->spec->factor[f], &cell);
    if (st == TRL_OK)
        st = trl_undump_number(u, last, &w);
    if (st == TRL_OK && !isfinite((float)w))
        st = FAIL_AT(u, last, "the weight '%.*s' is too large", trl_shown(u->field[last]),
                     u->field[last].p);
    if (st == TRL_OK)
        st = find_row(x, f);
    if (st != TRL_OK || (float)w == 0.0F)
        return st;
    bool again;
    if (!trl_rows_insert(&x->rows[f], cell, w, &again))
        return trl_fail_mem(u->err);
    return again ? FAIL_AT(u, 0, "a second weight for the same labels") : TRL_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static trl_status read_end(reading *x)
{
    return trl_undump_end(&x->u);
}

static const struct {
    const char *name;
    trl_status (*read)(reading *x);
} words[] = {{"model", read_model_line},
             {"label", read_label},
             {"constant", read_constant},
             {"factor", read_weight},
             {"end", read_end}};

static trl_status read_line(reading *x)
{
    trl_undump *u = &x->u;
    bool known = false;
    const trl_str word = u->field[0];
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strlen(words[k].name) == word.n && memcmp(words[k].name, word.p, word.n) == 0)
            return words[k].read(x);
    const trl_status st = trl_undump_header(u, TRL_GRAPH_KIND, &known);
    return known ? st : FAIL_AT(u, 0, "'%.*s' is not known", trl_shown(word), word.p);
}

static trl_status read_all(reading *x)
{
    bool more;
    trl_status st = trl_undump_version(&x->u);
    while (st == TRL_OK) {
        st = trl_undump_next(&x->u, &more);
        if (st != TRL_OK || !more)
            return st;
        st = read_line(x);
    }
    return st;
}

static trl_status write(reading *x, const char *path, unsigned char **out, size_t *size)
{
    trl_undump *u = &x->u;
    const char *missing = !u->has_kind          ? "kind"
                          : !u->objective       ? "objective"
                          : !u->has_probability ? "probability"
                          : !u->has_columns     ? "columns"
                          : !x->spec            ? "label"
                                                : NULL;
    if (missing) {
        const trl_status st = trl_fail(u->err, TRL_EPARSE, "there is no line '%s'", missing);
        return trl_input_fail(u->in, u->err, st, 0);
    }
    trl_status st = begin_weights(x);
    if (st == TRL_OK)
        st = trl_undump_check_end(u);
    if (st != TRL_OK)
        return st;
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++) {
        trl_weight_rows *r = &x->rows[f];
        r->names = &x->names[f];
        if (x->constant[f] == TRL_NO_ID || r->constant != TRL_NO_ROW)
            continue;
        r->constant = r->n; /* a constant attribute without weights */
        if (!trl_rows_begin(r, x->constant[f]))
            return trl_fail_mem(u->err);
    }
    const trl_graph_model_parts parts = {.spec = x->spec,
                                         .objective = u->objective,
                                         .settings = u->settings.data ? u->settings.data : "",
                                         .is_probability = u->parts.is_probability,
                                         .n_columns = (size_t)u->parts.n_columns,
                                         .labels = x->labels,
                                         .rows = x->rows};
    trl_buf_ch(&u->settings, '\0');
    return u->settings.failed ? trl_fail_mem(u->err)
                              : trl_graph_model_write(&parts, path, out, size, u->err);
}

trl_status trl_graph_undump(trl_input *in, const char *path, unsigned char **out, size_t *size,
                            trl_error *err)
{
    reading *x = trl_zalloc(1, sizeof *x);
    if (!x) {
        trl_input_free(in);
        return trl_fail_mem(err);
    }
    x->u.in = in;
    x->u.err = err;
    x->u.must_end = true;
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++) {
        x->constant[f] = TRL_NO_ID;
        x->rows[f].constant = TRL_NO_ROW;
    }
    trl_status st = read_all(x);
    if (st == TRL_OK)
        st = write(x, path, out, size);
    for (size_t k = 0; k < TRL_LAYERS_MAX; k++)
        trl_strtab_fini(&x->labels[k]);
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++) {
        trl_strtab_fini(&x->names[f]);
        trl_weight_rows_fini(&x->rows[f]);
    }
    trl_graph_spec_free(x->spec);
    trl_buf_fini(&x->text);
    trl_undump_fini(&x->u);
    trl_free(x);
    return st;
}
