/* model_family.c -- families of a model file: checked when loaded, and read for warm starts. */
/* SPDX-License-Identifier: MIT */
#include "model/model_family.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/strtab_io.h"
#include "num/simd.h"

/* Rows with a weight for a sixth of the cells are also stored as whole rows, up to this many
 * floats: for a chunking model (22 labels) 1.4 MB, and a tenth of the tagging time. */
#define WIDE_SHARE 6
#define WIDE_MAX ((size_t)1 << 22)

const char *trl_family_tag(const char *prefix, const char *suffix, char tag[9])
{
    memcpy(tag, prefix, 4);
    memcpy(tag + 4, suffix, 5);
    return tag;
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

static bool all_finite_exact(const double *x, size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n; i++)
        good &= isfinite(x[i]);
    return good;
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

/* The weights, as floats or as doubles. */
static trl_status load_weights(trl_model_family *f, const char *prefix, const trl_container *c,
                               trl_error *err)
{
    char tag[9];
    const void *weights;
    size_t n;
    f->type = trl_container_find(c, trl_family_tag(prefix, "wgt8", tag), &weights, &n)
                  ? TRL_WEIGHT_DOUBLE
                  : TRL_WEIGHT_FLOAT;
    const bool exact = f->type == TRL_WEIGHT_DOUBLE;
    const trl_status st =
        trl_container_array(c, trl_family_tag(prefix, exact ? "wgt8" : "wght", tag),
                            exact ? sizeof *f->exact : sizeof *f->weight, &weights, &n, err);
    if (st != TRL_OK)
        return st;
    f->n_weights = n;
    if (exact)
        f->exact = weights;
    else
        f->weight = weights;
    return (exact ? all_finite_exact(f->exact, n) : all_finite(f->weight, n))
               ? TRL_OK
               : trl_container_damaged(c, err, "a weight is not finite");
}

static trl_status load_parts(trl_model_family *f, const char *prefix, const trl_container *c,
                             trl_error *err)
{
    char tag[9];
    const void *tags, *classes;
    size_t n_tags, n_cells;
    f->cell_size = f->width <= 256 ? 1 : f->width <= 65536 ? 2 : 4;
    trl_status st = trl_strview_load(c, prefix, &f->names, err);
    if (st == TRL_OK)
        st = trl_container_array(c, trl_family_tag(prefix, "tag1", tag), 1, &tags, &n_tags, err);
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
    f->tag = tags;
    f->class = classes;
    if (!tags_ok(f, n_tags))
        return trl_container_damaged(c, err, "the tags do not fit the names");
    if (!classes_ok(f))
        return trl_container_damaged(c, err, "impossible classes of attributes");
    if (f->n_classes && f->class[0].k == f->width) {
        f->n_full = f->n_classes > 1 ? f->class[1].first_weight : f->n_weights;
        f->n_full_attrs = (size_t)(f->n_full / f->width);
    }
    if (n_cells != f->n_weights - f->n_full ||
        (n_cells && largest_cell(f->cell, f->cell_size, n_cells) >= f->width))
        return trl_container_damaged(c, err, "a weight is for no label");
    if (f->constant != TRL_NO_ID && f->constant >= f->names.n)
        return trl_container_damaged(c, err, "the constant attribute does not exist");
    return TRL_OK;
}

/* Spreads out the rows with many weights. */
static trl_status make_wide(trl_model_family *f, trl_error *err)
{
    f->step = trl_padded(f->width);
    if (f->type != TRL_WEIGHT_FLOAT || f->single) {
        f->n_full_attrs = 0;
        return TRL_OK;
    }
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

trl_status trl_family_load(trl_model_family *f, const char *prefix, const trl_container *c,
                           trl_error *err)
{
    const trl_status st = load_parts(f, prefix, c, err);
    return st == TRL_OK ? make_wide(f, err) : st;
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
        const uint32_t id = trl_strview_find(&x->from->names, s.p, s.n, trl_str_hash(s.p, s.n));
        if (id != TRL_NO_ID && id != x->from->constant)
            n += read_row(x, a, id);
    }
    if (x->to->has_constant && x->from->constant != TRL_NO_ID)
        n += read_row(x, x->to->n_attrs, x->from->constant);
    return n;
}
