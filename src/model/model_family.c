/* model_family.c -- families of a model file: checked when loaded, and read for warm starts. */
/* SPDX-License-Identifier: MIT */
#include "model/model_family.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/model_check.h"
#include "model/strtab_io.h"
#include "num/simd.h"

/* Rows with a weight for a sixth of the cells are also stored as whole rows, up to this many
 * numbers: for a chunking model (22 labels) 1.4 MB of floats, and a tenth of the tagging time. */
#define WIDE_SHARE 6
#define WIDE_MAX ((size_t)1 << 22)

const char *trl_family_tag(const char *prefix, const char *suffix, char tag[9])
{
    memcpy(tag, prefix, 4);
    memcpy(tag + 4, suffix, 5);
    return tag;
}

/* ---- loading: checks ------------------------------------------------------------------------- */

static bool all_finite_exact(const double *x, size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n; i++)
        good &= isfinite(x[i]);
    return good;
}

/* k falls, attributes and weights are covered without a gap. */
static bool classes_ok(const trl_model_family *f)
{
    uint64_t weight = 0;
    for (size_t i = 0; i < f->n_classes; i++) {
        const trl_weight_class *c = &f->class[i];
        const uint64_t next = i + 1 < f->n_classes ? c[1].first_attr : f->n_attrs;
        if (i == 0 ? c->first_attr != 0 || c->k > f->width : c->k >= c[-1].k)
            return false;
        if (next <= c->first_attr || c->first_weight != weight)
            return false;
        const uint64_t n = (next - c->first_attr) * c->k; /* both below 2^32 */
        if (n > f->n_weights - weight)
            return false;
        weight += n;
    }
    return weight == f->n_weights && (f->n_classes > 0) == (f->n_attrs > 0);
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

/* What a family may have its weights in. */
static const struct weight_section {
    const char *suffix;
    trl_weight_type type;
    size_t size;
} weight_sections[] = {
    {"wght", TRL_WEIGHT_FLOAT, sizeof(float)},
    {"wgt8", TRL_WEIGHT_DOUBLE, sizeof(double)},
    {"wgt2", TRL_WEIGHT_16, sizeof(int16_t)},
    {"wgt1", TRL_WEIGHT_8, sizeof(uint8_t)},
};

/* What 16 and 8 bits stand for. */
static trl_status load_values(trl_model_family *f, const char *prefix, const trl_container *c,
                              trl_error *err)
{
    char tag[9];
    const void *values;
    size_t n;
    const trl_status st = trl_container_array(c, trl_family_tag(prefix, "vals", tag), sizeof(float),
                                              &values, &n, err);
    if (st != TRL_OK)
        return st;
    if (n != (f->type == TRL_WEIGHT_16 ? 1 : 256))
        return trl_container_damaged(c, err, "the values of its weights are none");
    f->value = values;
    f->unit = f->type == TRL_WEIGHT_16 ? f->value[0] : 0.0f;
    return trl_all_finite(f->value, n) && isfinite(f->unit * (float)INT16_MIN)
               ? TRL_OK
               : trl_container_damaged(c, err, "a weight is not finite");
}

static trl_status load_weights(trl_model_family *f, const char *prefix, const trl_container *c,
                               trl_error *err)
{
    char tag[9];
    const void *weights;
    size_t n, found = 0; /* floats, unless there are others */
    for (size_t k = 1; k < sizeof weight_sections / sizeof *weight_sections; k++)
        if (trl_container_find(c, trl_family_tag(prefix, weight_sections[k].suffix, tag), &weights,
                               &n))
            found = k;
    const struct weight_section *s = &weight_sections[found];
    trl_status st =
        trl_container_array(c, trl_family_tag(prefix, s->suffix, tag), s->size, &weights, &n, err);
    if (st != TRL_OK)
        return st;
    f->type = s->type;
    f->n_weights = n;
    bool finite = true;
    if (s->type == TRL_WEIGHT_DOUBLE) {
        f->exact = weights;
        finite = all_finite_exact(f->exact, n);
    } else if (s->type == TRL_WEIGHT_FLOAT) {
        f->weight = weights;
        finite = trl_all_finite(f->weight, n);
    } else {
        f->multiple = s->type == TRL_WEIGHT_16 ? weights : NULL;
        f->code = s->type == TRL_WEIGHT_8 ? weights : NULL;
        st = load_values(f, prefix, c, err);
    }
    return finite ? st : trl_container_damaged(c, err, "a weight is not finite");
}

/* The names and their tags, or the fingerprints in their place. */
static trl_status load_names(trl_model_family *f, const char *prefix, const trl_container *c,
                             trl_error *err)
{
    char tag[9];
    const void *tags;
    size_t n_tags;
    if (trl_fingerprints_in(c, prefix))
        return trl_fingerprints_load(&f->prints, prefix, c, &f->n_attrs, err);
    trl_status st = trl_strview_load(c, prefix, &f->names, err);
    if (st == TRL_OK)
        st = trl_container_array(c, trl_family_tag(prefix, "tag1", tag), 1, &tags, &n_tags, err);
    if (st != TRL_OK)
        return st;
    f->n_attrs = f->names.n;
    f->tag = tags;
    return tags_ok(f, n_tags) ? TRL_OK
                              : trl_container_damaged(c, err, "the tags do not fit the names");
}

static trl_status load_parts(trl_model_family *f, const char *prefix, const trl_container *c,
                             trl_error *err)
{
    char tag[9];
    const void *classes;
    size_t n_cells;
    f->cell_size = f->width <= 256 ? 1 : f->width <= 65536 ? 2 : 4;
    trl_status st = load_names(f, prefix, c, err);
    if (st == TRL_OK)
        st = trl_container_array(c, trl_family_tag(prefix, "clas", tag), sizeof *f->class, &classes,
                                 &f->n_classes, err);
    if (st == TRL_OK)
        st = load_weights(f, prefix, c, err);
    if (st == TRL_OK)
        st = trl_container_array(c, trl_family_tag(prefix, "cell", tag), f->cell_size, &f->cell,
                                 &n_cells, err);
    if (st != TRL_OK)
        return st;
    f->class = classes;
    if (!classes_ok(f))
        return trl_container_damaged(c, err, "impossible classes of attributes");
    if (f->n_classes && f->class[0].k == f->width) {
        f->n_full = f->n_classes > 1 ? f->class[1].first_weight : f->n_weights;
        f->n_full_attrs = (size_t)(f->n_full / f->width);
    }
    if (n_cells != f->n_weights - f->n_full ||
        (n_cells && trl_largest_cell(f->cell, f->cell_size, n_cells) >= f->width))
        return trl_container_damaged(c, err, "a weight is for no label");
    if (f->constant != TRL_NO_ID && f->constant >= f->n_attrs)
        return trl_container_damaged(c, err, "the constant attribute does not exist");
    return TRL_OK;
}

/* Spreads out the rows of a class, as far as they are wanted. */
static void spread(trl_model_family *f, size_t class)
{
    const size_t first = f->class[class].first_attr;
    const size_t end = class + 1 < f->n_classes ? f->class[class + 1].first_attr : f->n_attrs;
    trl_weight_row row = {f->class[class].first_weight, f->class[class].k};
    for (size_t a = first; a < end && a < f->n_wide; a++, row.at += row.k) {
        if (a < f->n_full_attrs)
            continue;
        const size_t first_cell = (a - f->n_full_attrs) * f->step;
        for (uint64_t at = row.at; at < row.at + row.k; at++) {
            const size_t cell = first_cell + trl_model_cell(f, row, at);
            if (f->exact)
                f->wide_exact[cell] += f->exact[at];
            else
                f->wide[cell] += (float)trl_model_weight(f, at);
        }
    }
}

/* Spreads out the rows with many weights. */
static trl_status make_wide(trl_model_family *f, trl_error *err)
{
    f->step = trl_padded(f->width);
    if ((!f->weight && !f->exact) || f->single)
        f->n_full_attrs = 0;
    if (f->single)
        return TRL_OK;
    f->n_wide = f->n_full_attrs;
    for (size_t i = 0; i < f->n_classes && f->class[i].k >= (f->width - 1) / WIDE_SHARE + 1; i++)
        f->n_wide = i + 1 < f->n_classes ? f->class[i + 1].first_attr : f->n_attrs;
    if (f->n_wide - f->n_full_attrs > WIDE_MAX / f->step)
        f->n_wide = f->n_full_attrs + WIDE_MAX / f->step;
    const size_t n = f->n_wide - f->n_full_attrs, size = f->exact ? sizeof(double) : sizeof(float);
    void *wide = trl_zalloc(n, f->step * size);
    if (!wide)
        return trl_fail_mem(err);
    trl_touch(wide, n * f->step * size);
    f->wide = f->exact ? NULL : wide;
    f->wide_exact = f->exact ? wide : NULL;
    for (size_t i = 0; i < f->n_classes && f->class[i].first_attr < f->n_wide; i++)
        spread(f, i);
    while (f->narrow_class + 1 < f->n_classes &&
           f->class[f->narrow_class + 1].first_attr <= f->n_wide)
        f->narrow_class++;
    return TRL_OK;
}

trl_status trl_family_load(trl_model_family *f, const char *prefix, const trl_container *c,
                           trl_error *err)
{
    const trl_status st = load_parts(f, prefix, c, err);
    return st == TRL_OK ? make_wide(f, err) : st;
}

void trl_family_fini(trl_model_family *f)
{
    trl_free(f->wide);
    trl_free(f->wide_exact);
    f->wide = NULL;
    f->wide_exact = NULL;
}

uint32_t trl_family_find(const trl_model_family *f, trl_str name)
{
    const uint64_t hash = trl_str_hash(name.p, name.n);
    return f->prints.n_buckets ? trl_fingerprints_find(&f->prints, hash)
                               : trl_strview_find(&f->names, name.p, name.n, hash);
}

/* ---- warm start ------------------------------------------------------------------------------ */

/* The design's cell for a cell of the model; false when a label is missing there. */
static bool map_cell(const trl_family_transfer *x, size_t cell, size_t *out)
{
    size_t scale = 1;
    *out = 0;
    for (size_t k = x->n; k-- > 0; cell /= x->n_from[k], scale *= x->n_to[k]) {
        const uint32_t y = x->label[k][cell % x->n_from[k]];
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
static uint64_t weight_at(const trl_family *f, size_t a, size_t own)
{
    const size_t cell = trl_cell_place(f, own);
    if (cell == TRL_NO_ID)
        return UINT64_MAX;
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

static uint64_t read_row(const trl_family_transfer *x, size_t a, uint32_t id)
{
    const trl_weight_row row = trl_model_row(x->from, id);
    uint64_t n = 0;
    for (uint64_t at = row.at; at < row.at + row.k; at++) {
        size_t cell;
        if (!map_cell(x, trl_model_cell(x->from, row, at), &cell))
            continue;
        const uint64_t to = weight_at(x->to, a, cell);
        if (to == UINT64_MAX)
            continue;
        x->w[to] = trl_model_weight(x->from, at);
        n++;
    }
    return n;
}

uint64_t trl_family_read_weights(const trl_family_transfer *x)
{
    uint64_t n = 0;
    for (size_t a = 0; a < x->to->n_attrs; a++) {
        const trl_str s = trl_strtab_get(x->names, x->to->name[a]);
        const uint32_t id = trl_family_find(x->from, s);
        if (id != TRL_NO_ID && id != x->from->constant)
            n += read_row(x, a, id);
    }
    if (x->to->has_constant && x->from->constant != TRL_NO_ID)
        n += read_row(x, x->to->n_attrs, x->from->constant);
    return n;
}
