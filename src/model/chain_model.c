/* chain_model.c -- chain models: from a trained design into the file, and back. */
/* SPDX-License-Identifier: MIT */
#include "model/chain_model.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/chain_parts.h"
#include "model/strtab_io.h"
#include "num/simd.h"

/* Rows with a weight for a sixth of the cells are also stored as whole rows, up to this many
 * floats: for a chunking model (22 labels) 1.4 MB, and a tenth of the tagging time. */
#define WIDE_SHARE 6
#define WIDE_MAX ((size_t)1 << 22)

/* ---- writing: the rows of a design ----------------------------------------------------------- */

typedef struct collector {
    const trl_chain_model_spec *spec;
    size_t family;
    trl_weight_rows *rows;
    trl_error *err;
} collector;

static trl_status collect(const collector *c, size_t cell, uint64_t at)
{
    const double w = c->spec->w[at];
    const float x = (float)w;
    if (!isfinite(x)) {
        const trl_str name = trl_strtab_get(c->rows->names, c->rows->name[c->rows->n - 1]);
        return trl_fail(c->err, TRL_ENUMERIC, "the weight %g of attribute '%.*s' is not a float", w,
                        (int)(name.n < 100 ? name.n : 100), name.p);
    }
    if (x == 0.0f)
        return TRL_OK;
    return trl_rows_add(c->rows, (uint32_t)cell, x) ? TRL_OK : trl_fail_mem(c->err);
}

static trl_status collect_constant(const collector *c, const trl_family *f)
{
    c->rows->constant = TRL_NO_ROW;
    if (!f->has_constant)
        return TRL_OK;
    c->rows->constant = 0;
    if (!trl_rows_begin(c->rows, c->spec->corpus->family[c->family].constant))
        return trl_fail_mem(c->err);
    trl_status st = TRL_OK;
    for (size_t i = 0; st == TRL_OK && i < f->n_constant; i++)
        st = collect(c, f->constant_cell[i], f->constant_at + i);
    return st;
}

static trl_status collect_family(const collector *c)
{
    const trl_family *f = &c->spec->design->family[c->family];
    c->rows->names = &c->spec->corpus->family[c->family].names;
    trl_status st = collect_constant(c, f);
    for (size_t a = 0; st == TRL_OK && a < f->n_attrs; a++) {
        if (!trl_rows_begin(c->rows, f->name[a]))
            return trl_fail_mem(c->err);
        if (a < f->n_dense) { /* dead cells are 0 */
            for (size_t cell = 0; st == TRL_OK && cell < f->width; cell++)
                st = collect(c, cell, trl_dense_at(f, a) + cell);
        } else {
            const uint64_t *first = f->entry_first + (a - f->n_dense);
            for (uint64_t e = first[0]; st == TRL_OK && e < first[1]; e++)
                st = collect(c, f->entry_cell[e], trl_entry_at(f, e));
        }
    }
    return st;
}

static trl_status write_spec(const trl_chain_model_spec *spec, const char *path,
                             unsigned char **out, size_t *size, trl_error *err)
{
    const char *settings = spec->settings ? spec->settings : "";
    trl_chain_parts p = {.order = spec->design->order,
                         .is_probability = spec->is_probability,
                         .is_local = spec->is_local,
                         .masked = spec->masked,
                         .q0 = spec->q0,
                         .calibration = spec->calibration,
                         .n_columns = spec->tpl ? spec->corpus->n_columns : 0,
                         .objective = spec->objective,
                         .settings = {settings, strlen(settings)},
                         .rescue = spec->rescue,
                         .labels = &spec->corpus->labels};
    if (spec->tpl)
        p.template_text = trl_template_text(spec->tpl);
    trl_status st = TRL_OK;
    for (size_t f = 0; st == TRL_OK && f <= (size_t)p.order; f++) {
        const collector c = {spec, f, &p.rows[f], err};
        st = trl_family_width(spec->corpus->labels.n, f)
                 ? collect_family(&c)
                 : trl_fail(err, TRL_EINVAL, "%zu labels are too many for order %d",
                            spec->corpus->labels.n, p.order);
    }
    if (st == TRL_OK)
        st = trl_chain_parts_write(&p, path, out, size, err);
    trl_chain_parts_fini(&p);
    return st;
}

trl_status trl_chain_model_write(const trl_chain_model_spec *spec, const char *path, trl_error *err)
{
    return write_spec(spec, path, NULL, NULL, err);
}

trl_status trl_chain_model_to_buffer(const trl_chain_model_spec *spec, unsigned char **out,
                                     size_t *size, trl_error *err)
{
    return write_spec(spec, NULL, out, size, err);
}

/* ---- loading: checks ------------------------------------------------------------------------- */

/* All bits of the exponent set: infinite or NaN. */
static bool all_finite(const float *x, size_t n)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !bad;
}

static uint32_t largest_cell(const void *cells, size_t size, size_t n)
{
    uint32_t max = 0;
    if (size == 1)
        for (size_t i = 0; i < n; i++)
            max = ((const uint8_t *)cells)[i] > max ? ((const uint8_t *)cells)[i] : max;
    else if (size == 2)
        for (size_t i = 0; i < n; i++)
            max = ((const uint16_t *)cells)[i] > max ? ((const uint16_t *)cells)[i] : max;
    else
        for (size_t i = 0; i < n; i++)
            max = ((const uint32_t *)cells)[i] > max ? ((const uint32_t *)cells)[i] : max;
    return max;
}

/* k falls, attributes and weights are covered without a gap. */
static bool classes_ok(const trl_model_family *f)
{
    uint64_t weight = 0;
    for (size_t i = 0; i < f->n_classes; i++) {
        const trl_weight_class *c = &f->class[i];
        const uint64_t next = i + 1 < f->n_classes ? c[1].first_attr : f->names.n;
        if (i == 0 ? c->first_attr != 0 || c->k > f->width : c->k >= c[-1].k)
            return false;
        if (next <= c->first_attr || c->first_weight != weight)
            return false;
        const uint64_t n = (next - c->first_attr) * c->k; /* both below 2^32 */
        if (n > f->n_weights - weight)
            return false;
        weight += n;
    }
    return weight == f->n_weights && (f->n_classes > 0) == (f->names.n > 0);
}

/* Free slots are the same, so that a probe over tags ends as one over slots does. */
static bool tags_ok(const trl_model_family *f, size_t n)
{
    const size_t n_slots = f->names.n_slots;
    if (n_slots == 0 || n != n_slots + 8)
        return false;
    size_t bad = 0;
    for (size_t k = 0; k < n_slots; k++)
        bad += (f->tag[k] == 0) != (f->names.slot[k] == 0);
    for (size_t k = 0; k < 8; k++)
        bad += f->tag[n_slots + k] != f->tag[k & (n_slots - 1)];
    return bad == 0;
}

static trl_status load_family(trl_model_family *f, size_t family, const trl_container *c,
                              trl_error *err)
{
    char tag[9];
    const void *tags, *classes, *weights;
    size_t n_tags, n_weights, n_cells;
    f->cell_size = f->width <= 256 ? 1 : f->width <= 65536 ? 2 : 4;
    trl_status st = trl_strview_load(c, trl_family_prefix[family], &f->names, err);
    if (st == TRL_OK)
        st = trl_container_array(c, trl_family_tag(family, "tag1", tag), 1, &tags, &n_tags, err);
    if (st == TRL_OK)
        st = trl_container_array(c, trl_family_tag(family, "clas", tag), sizeof *f->class, &classes,
                                 &f->n_classes, err);
    if (st == TRL_OK)
        st = trl_container_array(c, trl_family_tag(family, "wght", tag), sizeof *f->weight,
                                 &weights, &n_weights, err);
    if (st == TRL_OK)
        st = trl_container_array(c, trl_family_tag(family, "cell", tag), f->cell_size, &f->cell,
                                 &n_cells, err);
    if (st != TRL_OK)
        return st;
    f->tag = tags;
    f->class = classes;
    f->weight = weights;
    f->n_weights = n_weights;
    if (!tags_ok(f, n_tags))
        return trl_container_damaged(c, err, "the tags do not fit the names");
    if (!classes_ok(f))
        return trl_container_damaged(c, err, "impossible classes of attributes");
    if (f->n_classes && f->class[0].k == f->width) {
        f->n_full = f->n_classes > 1 ? f->class[1].first_weight : n_weights;
        f->n_full_attrs = (size_t)(f->n_full / f->width);
    }
    if (n_cells != n_weights - f->n_full ||
        (n_cells && largest_cell(f->cell, f->cell_size, n_cells) >= f->width))
        return trl_container_damaged(c, err, "a weight is for no label");
    if (!all_finite(f->weight, n_weights))
        return trl_container_damaged(c, err, "a weight is not finite");
    if (f->constant != TRL_NO_ID && (family == TRL_NODE || f->constant >= f->names.n))
        return trl_container_damaged(c, err, "the constant attribute does not exist");
    return TRL_OK;
}

/* Spreads out the rows with many weights. */
static trl_status make_wide(trl_model_family *f, trl_error *err)
{
    f->step = trl_padded(f->width);
    f->n_wide = f->n_full_attrs;
    for (size_t i = 0; i < f->n_classes && f->class[i].k >= (f->width - 1) / WIDE_SHARE + 1; i++)
        f->n_wide = i + 1 < f->n_classes ? f->class[i + 1].first_attr : f->names.n;
    if (f->n_wide - f->n_full_attrs > WIDE_MAX / f->step)
        f->n_wide = f->n_full_attrs + WIDE_MAX / f->step;
    f->wide = trl_zalloc(f->n_wide - f->n_full_attrs, f->step * sizeof *f->wide);
    if (!f->wide)
        return trl_fail_mem(err);
    for (size_t a = f->n_full_attrs; a < f->n_wide; a++) {
        float *out = f->wide + (a - f->n_full_attrs) * f->step;
        const trl_weight_row row = trl_model_row(f, (uint32_t)a);
        for (uint64_t at = row.at; at < row.at + row.k; at++)
            out[trl_model_cell(f, row, at)] += f->weight[at];
    }
    while (f->narrow_class + 1 < f->n_classes &&
           f->class[f->narrow_class + 1].first_attr <= f->n_wide)
        f->narrow_class++;
    return TRL_OK;
}

/* Text with one NUL, at its end. */
static trl_status load_string(const trl_container *c, const char *tag, const char **out,
                              trl_error *err)
{
    const void *text;
    size_t n;
    const trl_status st = trl_container_array(c, tag, 1, &text, &n, err);
    if (st != TRL_OK)
        return st;
    if (n == 0 || memchr(text, '\0', n) != (const char *)text + n - 1)
        return trl_container_damaged(c, err, "a text does not end");
    *out = text;
    return TRL_OK;
}

static trl_status load_info(trl_chain_model *m, const trl_container *c, trl_error *err)
{
    const void *bytes;
    size_t n;
    trl_chain_info info;
    const trl_status st = trl_container_array(c, "info", sizeof info, &bytes, &n, err);
    if (st != TRL_OK)
        return st;
    if (n != 1)
        return trl_container_damaged(c, err, "impossible header of a chain model");
    memcpy(&info, bytes, sizeof info);
    const uint32_t flags = TRL_CHAIN_PROBABILITY | TRL_CHAIN_LOCAL | TRL_CHAIN_MASKED;
    if ((info.order != 1 && info.order != 2) || (info.flags & ~flags) || info.zero ||
        info.n_columns > SIZE_MAX / 2)
        return trl_container_damaged(c, err, "impossible header of a chain model");
    m->order = (int)info.order;
    m->is_probability = info.flags & TRL_CHAIN_PROBABILITY;
    m->is_local = info.flags & TRL_CHAIN_LOCAL;
    m->masked = info.flags & TRL_CHAIN_MASKED;
    m->n_columns = (size_t)info.n_columns;
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        m->family[f].constant = info.constant[f];
    return TRL_OK;
}

static trl_status load_template(trl_chain_model *m, const trl_container *c, trl_error *err)
{
    const void *text;
    size_t n;
    trl_status st = trl_container_array(c, "template", 1, &text, &n, err);
    if (st != TRL_OK)
        return st;
    m->template_text = (trl_str){text, n};
    if (m->n_columns == 0)
        return n == 0 ? TRL_OK : trl_container_damaged(c, err, "a template without columns");
    st = trl_template_parse("<template of the model>", text, n, &m->tpl, err);
    if (st == TRL_EPARSE || (st == TRL_OK && trl_template_columns(m->tpl) > m->n_columns))
        st = trl_container_damaged(c, err, "its template is none");
    return st;
}

static trl_status load_q0(trl_chain_model *m, const trl_container *c, trl_error *err)
{
    m->has_q0 = trl_hmm_in_container(c, TRL_Q0_PREFIX);
    if (!m->has_q0)
        return m->masked ? trl_container_damaged(c, err, "cells are masked without an HMM")
                         : TRL_OK;
    const trl_status st = trl_hmm_load(&m->q0, c, TRL_Q0_PREFIX, err);
    if (st != TRL_OK)
        return st;
    if (m->q0.L != m->L || m->q0.order > m->order || (!m->n_columns && m->q0.n_columns))
        return trl_container_damaged(c, err, "its HMM does not fit");
    return TRL_OK;
}

static trl_status load_calibration(trl_chain_model *m, const trl_container *c, trl_error *err)
{
    const void *p;
    size_t n;
    if (!trl_container_find(c, "calibrat", &p, &n))
        return TRL_OK;
    const double *a = p;
    bool good = n == m->L * sizeof *a;
    for (size_t k = 0; good && k < m->L; k++)
        good = isfinite(a[k]);
    m->calibration = good ? a : NULL;
    return good ? TRL_OK : trl_container_damaged(c, err, "its multipliers are none");
}

trl_status trl_chain_model_load(trl_chain_model *m, const trl_container *c, trl_error *err)
{
    *m = (trl_chain_model){0};
    trl_status st = load_info(m, c, err);
    if (st == TRL_OK)
        st = load_string(c, "objectiv", &m->objective, err);
    if (st == TRL_OK)
        st = load_string(c, "settings", &m->settings, err);
    if (st == TRL_OK)
        st = trl_strview_load(c, "labl", &m->labels, err);
    m->L = m->labels.n;
    if (st == TRL_OK &&
        (m->L == 0 || m->L > 65535 || trl_family_width(m->L, (size_t)m->order) == 0))
        st = trl_container_damaged(c, err, "impossible number of labels");
    for (size_t f = 0; st == TRL_OK && f <= (size_t)m->order; f++) {
        m->family[f].width = (size_t)trl_family_width(m->L, f);
        st = load_family(&m->family[f], f, c, err);
        if (st == TRL_OK)
            st = make_wide(&m->family[f], err);
    }
    if (st == TRL_OK)
        st = load_template(m, c, err);
    if (st == TRL_OK)
        st = load_q0(m, c, err);
    if (st == TRL_OK)
        st = load_calibration(m, c, err);
    if (st != TRL_OK)
        trl_chain_model_fini(m);
    return st;
}

void trl_chain_model_fini(trl_chain_model *m)
{
    trl_template_free(m->tpl);
    trl_hmm_fini(&m->q0);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        trl_free(m->family[f].wide);
    *m = (trl_chain_model){0};
}

/* ---- warm start ------------------------------------------------------------------------------ */

typedef struct transfer {
    const trl_chain_model *m;
    const trl_design *d;
    const uint32_t *label; /* [m->L] the design's number, or TRL_NO_ID */
    size_t family;
    double *w;
} transfer;

/* The design's cell for a cell of the model; false when a label is missing there. */
static bool map_cell(const transfer *x, size_t cell, size_t *out)
{
    size_t scale = 1;
    *out = 0;
    for (size_t k = 0; k <= x->family; k++, cell /= x->m->L, scale *= x->d->L) {
        const uint32_t y = x->label[cell % x->m->L];
        if (y == TRL_NO_ID)
            return false;
        *out += y * scale;
    }
    return true;
}

/* The number of the cell among n ascending ones, or n. */
static size_t find_cell(const uint32_t *cells, size_t n, size_t cell)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (cells[mid] < cell)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && cells[lo] == cell ? lo : n;
}

/* The weight of the design's attribute a (n_attrs: the constant) and the cell; UINT64_MAX when that
 * is not a feature. */
static uint64_t weight_at(const trl_family *f, size_t a, size_t cell)
{
    if (a == f->n_attrs) {
        const size_t i = find_cell(f->constant_cell, f->n_constant, cell);
        return i < f->n_constant ? f->constant_at + i : UINT64_MAX;
    }
    if (a < f->n_dense) {
        const bool live = !f->live || (f->live[a * f->words + cell / 64] >> (cell % 64) & 1);
        return live ? trl_dense_at(f, a) + cell : UINT64_MAX;
    }
    const uint64_t *first = f->entry_first + (a - f->n_dense);
    const size_t n = (size_t)(first[1] - first[0]);
    const size_t i = find_cell(f->entry_cell + first[0], n, cell);
    return i < n ? trl_entry_at(f, first[0] + i) : UINT64_MAX;
}

static void read_row(const transfer *x, size_t a, uint32_t id)
{
    const trl_model_family *mf = &x->m->family[x->family];
    const trl_weight_row row = trl_model_row(mf, id);
    for (uint64_t at = row.at; at < row.at + row.k; at++) {
        size_t cell;
        if (!map_cell(x, trl_model_cell(mf, row, at), &cell))
            continue;
        const uint64_t to = weight_at(&x->d->family[x->family], a, cell);
        if (to != UINT64_MAX)
            x->w[to] = (double)mf->weight[at];
    }
}

static void read_family(const transfer *x, const trl_corpus *corpus)
{
    const trl_family *f = &x->d->family[x->family];
    const trl_model_family *mf = &x->m->family[x->family];
    const trl_occurrences *o = &corpus->family[x->family];
    for (size_t a = 0; a < f->n_attrs; a++) {
        const trl_str s = trl_strtab_get(&o->names, f->name[a]);
        const uint32_t id = trl_strview_find(&mf->names, s.p, s.n, trl_str_hash(s.p, s.n));
        if (id != TRL_NO_ID && id != mf->constant)
            read_row(x, a, id);
    }
    if (f->has_constant && mf->constant != TRL_NO_ID)
        read_row(x, f->n_attrs, mf->constant);
}

trl_status trl_chain_model_read_weights(const trl_chain_model *m, const trl_corpus *corpus,
                                        const trl_design *d, double *w, trl_error *err)
{
    uint32_t *label = trl_alloc(m->L, sizeof *label);
    if (!label)
        return trl_fail_mem(err);
    for (size_t k = 0; k < m->L; k++) {
        const trl_str s = trl_strview_get(&m->labels, (uint32_t)k);
        label[k] = trl_strtab_find(&corpus->labels, s.p, s.n);
    }
    const int order = m->order < d->order ? m->order : d->order;
    for (size_t f = 0; f <= (size_t)order; f++) {
        const transfer x = {m, d, label, f, w};
        read_family(&x, corpus);
    }
    trl_free(label);
    return TRL_OK;
}
