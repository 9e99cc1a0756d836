/* model_family_save.c -- the weights of a family as sections of a model file. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/model_family.h"
#include "model/strtab_io.h"
#include "model/weight_bits.h"

/* ---- rows ------------------------------------------------------------------------------------ */

bool trl_rows_begin(trl_weight_rows *r, uint32_t name)
{
    uint32_t *names = trl_reserve(r->name, &r->name_cap, r->n + 1, sizeof *names);
    if (names)
        r->name = names;
    uint64_t *first = trl_reserve(r->first, &r->first_cap, r->n + 2, sizeof *first);
    if (first)
        r->first = first;
    if (!names || !first)
        return false;
    if (r->n == 0)
        first[0] = 0;
    names[r->n] = name;
    first[r->n + 1] = first[r->n];
    r->n++;
    return true;
}

/* Room for one more weight. */
static bool reserve_weight(trl_weight_rows *r, size_t at)
{
    if (r->type == TRL_WEIGHT_DOUBLE) {
        double *exact = trl_reserve(r->exact, &r->exact_cap, at + 1, sizeof *exact);
        if (exact)
            r->exact = exact;
        return exact != NULL;
    }
    float *weights = trl_reserve(r->weight, &r->weight_cap, at + 1, sizeof *weights);
    if (weights)
        r->weight = weights;
    return weights != NULL;
}

static void put_weight(trl_weight_rows *r, size_t at, uint32_t cell, double weight)
{
    r->cell[at] = cell;
    if (r->type == TRL_WEIGHT_DOUBLE)
        r->exact[at] = weight;
    else
        r->weight[at] = (float)weight;
}

bool trl_rows_add(trl_weight_rows *r, uint32_t cell, double weight)
{
    const size_t at = (size_t)r->first[r->n];
    if (at == r->cell_cap) {
        uint32_t *cells = trl_reserve(r->cell, &r->cell_cap, at + 1, sizeof *cells);
        if (!cells)
            return false;
        r->cell = cells;
    }
    if (at == (r->type == TRL_WEIGHT_DOUBLE ? r->exact_cap : r->weight_cap) &&
        !reserve_weight(r, at))
        return false;
    put_weight(r, at, cell, weight);
    r->first[r->n]++;
    return true;
}

bool trl_rows_insert(trl_weight_rows *r, uint32_t cell, double weight, bool *again)
{
    const size_t first = (size_t)r->first[r->n - 1], last = (size_t)r->first[r->n];
    size_t at = last;
    while (at > first && r->cell[at - 1] > cell)
        at--;
    *again = at > first && r->cell[at - 1] == cell;
    if (*again)
        return true;
    if (!trl_rows_add(r, cell, weight))
        return false;
    for (size_t k = last; k > at; k--) {
        const double w = r->type == TRL_WEIGHT_DOUBLE ? r->exact[k - 1] : (double)r->weight[k - 1];
        put_weight(r, k, r->cell[k - 1], w);
    }
    put_weight(r, at, cell, weight);
    return true;
}

void trl_weight_rows_fini(trl_weight_rows *r)
{
    trl_free(r->name);
    trl_free(r->first);
    trl_free(r->cell);
    trl_free(r->weight);
    trl_free(r->exact);
    *r = (trl_weight_rows){0};
}

/* ---- order by number of weights -------------------------------------------------------------- */

static uint64_t row_size(const trl_weight_rows *r, size_t i)
{
    return r->first[i + 1] - r->first[i];
}

/* The rows by falling size, equal ones in their order, those with no weights left out (except the
 * constant): order[0 .. *n).  Also the classes.  NULL: out of memory. */
static uint32_t *sort_rows(const trl_weight_rows *r, size_t *n, trl_weight_class **class,
                           size_t *n_classes)
{
    uint64_t max = 0;
    for (size_t i = 0; i < r->n; i++)
        max = row_size(r, i) > max ? row_size(r, i) : max;
    size_t *at = trl_zalloc((size_t)max + 2, sizeof *at); /* rows larger than size s: at[s] */
    uint32_t *order = trl_alloc(r->n, sizeof *order);
    *class = NULL;
    if (!at || !order)
        goto fail;
    for (size_t i = 0; i < r->n; i++)
        at[row_size(r, i)] += row_size(r, i) > 0 || i == r->constant;
    *n = *n_classes = 0;
    for (size_t s = (size_t)max + 1; s-- > 0;) {
        const size_t here = at[s];
        *n_classes += here > 0;
        at[s] = *n;
        *n += here;
    }
    *class = trl_alloc(*n_classes, sizeof **class);
    if (!*class)
        goto fail;
    for (size_t i = 0; i < r->n; i++)
        if (row_size(r, i) > 0 || i == r->constant)
            order[at[row_size(r, i)]++] = (uint32_t)i;
    uint64_t weight = 0;
    trl_weight_class *c = *class;
    for (size_t i = 0; i < *n; i++) {
        const uint32_t k = (uint32_t)row_size(r, order[i]);
        if (i == 0 || c[-1].k != k)
            *c++ = (trl_weight_class){k, (uint32_t)i, weight};
        weight += k;
    }
    trl_free(at);
    return order;
fail:
    trl_free(at);
    trl_free(order);
    return NULL;
}

/* ---- the rows of a design ---------------------------------------------------------------------
 */

typedef struct collector {
    const trl_occurrences *names;
    const trl_family *f;
    const double *w;
    trl_weight_rows *rows;
    trl_error *err;
} collector;

static trl_status collect(const collector *c, size_t cell, uint64_t at)
{
    const double w = c->w[at];
    const float x = (float)w;
    if (!isfinite(x)) {
        const trl_str name = trl_strtab_get(c->rows->names, c->rows->name[c->rows->n - 1]);
        return trl_fail(c->err, TRL_ENUMERIC, "the weight %g of attribute '%.*s' is not a float", w,
                        (int)(name.n < 100 ? name.n : 100), name.p);
    }
    if (x == 0.0f)
        return TRL_OK;
    return trl_rows_add(c->rows, (uint32_t)trl_own_cell(c->f, cell), (double)x)
               ? TRL_OK
               : trl_fail_mem(c->err);
}

static trl_status collect_constant(const collector *c)
{
    const trl_family *f = c->f;
    c->rows->constant = TRL_NO_ROW;
    if (!f->has_constant)
        return TRL_OK;
    c->rows->constant = 0;
    if (!trl_rows_begin(c->rows, c->names->constant))
        return trl_fail_mem(c->err);
    trl_status st = TRL_OK;
    for (size_t i = 0; st == TRL_OK && i < f->n_constant; i++)
        st = collect(c, f->constant_cell[i], f->constant_at + i);
    return st;
}

trl_status trl_family_collect(const trl_occurrences *names, const trl_family *f, const double *w,
                              trl_weight_rows *rows, trl_error *err)
{
    const collector own = {names, f, w, rows, err}, *c = &own;
    rows->names = &names->names;
    trl_status st = collect_constant(c);
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

/* ---- sections of a family -------------------------------------------------------------------- */

/* The names in their new order; only what trl_strtab_save reads. */
static bool order_names(const trl_weight_rows *r, const uint32_t *order, size_t n, trl_strtab *out)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += trl_strtab_get(r->names, r->name[order[i]]).n;
    out->pool = trl_alloc(bytes, 1);
    out->end = trl_alloc(n, sizeof *out->end);
    if (!out->pool || !out->end)
        return false;
    for (size_t i = 0; i < n; i++) {
        const trl_str s = trl_strtab_get(r->names, r->name[order[i]]);
        if (s.n)
            memcpy(out->pool + out->pool_len, s.p, s.n);
        out->end[i] = out->pool_len += s.n;
    }
    out->n = n;
    return true;
}

/* The tags of the slots that trl_strtab_save has just added to the builder as its last
 * section. */
static trl_status save_tags(const trl_strtab *names, const char *prefix, trl_container_builder *b,
                            trl_error *err)
{
    char tag[9];
    if (b->failed)
        return TRL_OK; /* reported when the container is written */
    const uint32_t *slot = b->section[b->n - 1].bytes;
    const size_t n_slots = b->section[b->n - 1].size / sizeof *slot;
    uint8_t *of_name = trl_alloc(names->n, 1), *of_slot = trl_alloc(n_slots + 8, 1);
    if (!of_name || !of_slot) {
        trl_free(of_name);
        trl_free(of_slot);
        return trl_fail_mem(err);
    }
    for (size_t i = 0; i < names->n; i++) {
        const trl_str s = trl_strtab_get(names, (uint32_t)i);
        of_name[i] = trl_name_tag(trl_str_hash(s.p, s.n));
    }
    for (size_t k = 0; k < n_slots + 8; k++) {
        const uint32_t s = slot[k & (n_slots - 1)];
        of_slot[k] = s ? of_name[s - 1] : 0;
    }
    trl_free(of_name);
    trl_container_builder_give(b, trl_family_tag(prefix, "tag1", tag), of_slot, n_slots + 8);
    return TRL_OK;
}

static void put_cell(void *cells, size_t size, uint64_t at, uint32_t cell)
{
    if (size == 1)
        ((uint8_t *)cells)[at] = (uint8_t)cell;
    else if (size == 2)
        ((uint16_t *)cells)[at] = (uint16_t)cell;
    else
        ((uint32_t *)cells)[at] = cell;
}

static trl_status save_weights(const trl_family_part *p, const uint32_t *order, size_t n,
                               trl_container_builder *b, trl_error *err)
{
    const trl_weight_rows *r = p->rows;
    const uint64_t width = p->width;
    const char *prefix = p->prefix;
    char tag[9];
    const size_t total = r->n ? (size_t)r->first[r->n] : 0;
    const size_t cell_size = width <= 256 ? 1 : width <= 65536 ? 2 : 4;
    const bool exact = r->type == TRL_WEIGHT_DOUBLE;
    const size_t weight_size = exact ? sizeof(double) : sizeof(float);
    void *weights = trl_alloc(total, weight_size);
    void *cells = trl_alloc(total, cell_size);
    if (!weights || !cells) {
        trl_free(weights);
        trl_free(cells);
        return trl_fail_mem(err);
    }
    size_t at = 0, with_cell = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t from = (size_t)r->first[order[i]], k = (size_t)row_size(r, order[i]);
        for (size_t j = 0; j < k; j++) {
            if (exact)
                ((double *)weights)[at++] = r->exact[from + j];
            else
                ((float *)weights)[at++] = r->weight[from + j];
            if (k < width)
                put_cell(cells, cell_size, with_cell++, r->cell[from + j]);
        }
    }
    const trl_weight_type type = exact ? r->type : trl_weight_bits_type(p->bits, at);
    trl_status st = TRL_OK;
    if (type == TRL_WEIGHT_16 || type == TRL_WEIGHT_8) {
        st = trl_weight_bits_save(weights, at, type, prefix, b, err);
        trl_free(weights);
    } else {
        trl_container_builder_give(b, trl_family_tag(prefix, exact ? "wgt8" : "wght", tag), weights,
                                   at * weight_size);
    }
    trl_container_builder_give(b, trl_family_tag(prefix, "cell", tag), cells,
                               with_cell * cell_size);
    return st;
}

trl_status trl_family_save(const trl_family_part *p, trl_container_builder *b, trl_error *err)
{
    char tag[9];
    size_t n = 0, n_classes = 0;
    trl_weight_class *class = NULL;
    uint32_t *order = sort_rows(p->rows, &n, &class, &n_classes);
    trl_status st = order && order_names(p->rows, order, n, p->sorted) ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK && p->fingerprints)
        st = trl_fingerprints_save(p->sorted, p->prefix, b, err);
    else if (st == TRL_OK)
        st = trl_strtab_save(p->sorted, p->prefix, b, err);
    if (st == TRL_OK && !p->fingerprints)
        st = save_tags(p->sorted, p->prefix, b, err);
    if (st == TRL_OK)
        st = save_weights(p, order, n, b, err);
    for (size_t i = 0; st == TRL_OK && i < n; i++)
        if (order[i] == p->rows->constant)
            *p->constant = (uint32_t)i;
    trl_free(order);
    if (st == TRL_OK)
        trl_container_builder_give(b, trl_family_tag(p->prefix, "clas", tag), class,
                                   n_classes * sizeof *class);
    else
        trl_free(class);
    return st;
}
