/* chain_parts.c -- assembling a chain model's sections (layout: chain_model.h). */
/* SPDX-License-Identifier: MIT */
#include "model/chain_parts.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/strtab_io.h"

const char *const trl_family_prefix[TRL_FAMILIES] = {"node", "edge", "trip"};

uint64_t trl_family_width(size_t L, size_t family)
{
    uint64_t width = L;
    for (size_t i = 0; i < family; i++)
        if (__builtin_mul_overflow(width, L, &width))
            return 0;
    return width <= (uint64_t)UINT32_MAX + 1 ? width : 0;
}

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

bool trl_rows_add(trl_weight_rows *r, uint32_t cell, float weight)
{
    const size_t at = (size_t)r->first[r->n];
    if (at == r->cell_cap || at == r->weight_cap) {
        uint32_t *cells = trl_reserve(r->cell, &r->cell_cap, at + 1, sizeof *cells);
        if (cells)
            r->cell = cells;
        float *weights = trl_reserve(r->weight, &r->weight_cap, at + 1, sizeof *weights);
        if (weights)
            r->weight = weights;
        if (!cells || !weights)
            return false;
    }
    r->cell[at] = cell;
    r->weight[at] = weight;
    r->first[r->n]++;
    return true;
}

static void rows_fini(trl_weight_rows *r)
{
    trl_free(r->name);
    trl_free(r->first);
    trl_free(r->cell);
    trl_free(r->weight);
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

/* ---- sections of a family -------------------------------------------------------------------- */

const char *trl_family_tag(size_t family, const char *suffix, char tag[9])
{
    memcpy(tag, trl_family_prefix[family], 4);
    memcpy(tag + 4, suffix, 5);
    return tag;
}

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
static trl_status save_tags(const trl_strtab *names, size_t family, trl_container_builder *b,
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
    trl_container_builder_give(b, trl_family_tag(family, "tag1", tag), of_slot, n_slots + 8);
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

static trl_status save_weights(const trl_weight_rows *r, const uint32_t *order, size_t n,
                               size_t family, uint64_t width, trl_container_builder *b,
                               trl_error *err)
{
    char tag[9];
    const size_t total = r->n ? (size_t)r->first[r->n] : 0;
    const size_t cell_size = width <= 256 ? 1 : width <= 65536 ? 2 : 4;
    float *weights = trl_alloc(total, sizeof *weights);
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
            weights[at++] = r->weight[from + j];
            if (k < width)
                put_cell(cells, cell_size, with_cell++, r->cell[from + j]);
        }
    }
    trl_container_builder_give(b, trl_family_tag(family, "wght", tag), weights,
                               at * sizeof *weights);
    trl_container_builder_give(b, trl_family_tag(family, "cell", tag), cells,
                               with_cell * cell_size);
    return TRL_OK;
}

/* The builder borrows the names from `sorted`.  *constant: its number in the file. */
static trl_status save_family(const trl_weight_rows *r, size_t family, uint64_t width,
                              trl_strtab *sorted, uint32_t *constant, trl_container_builder *b,
                              trl_error *err)
{
    char tag[9];
    size_t n = 0, n_classes = 0;
    trl_weight_class *class = NULL;
    uint32_t *order = sort_rows(r, &n, &class, &n_classes);
    trl_status st = order && order_names(r, order, n, sorted) ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_strtab_save(sorted, trl_family_prefix[family], b, err);
    if (st == TRL_OK)
        st = save_tags(sorted, family, b, err);
    if (st == TRL_OK)
        st = save_weights(r, order, n, family, width, b, err);
    for (size_t i = 0; st == TRL_OK && i < n; i++)
        if (order[i] == r->constant)
            *constant = (uint32_t)i;
    trl_free(order);
    if (st == TRL_OK)
        trl_container_builder_give(b, trl_family_tag(family, "clas", tag), class,
                                   n_classes * sizeof *class);
    else
        trl_free(class);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Text with an LF after the last line and, where it is used as a string, a NUL. */
static trl_status save_text(trl_container_builder *b, const char *tag, trl_str text, bool nul,
                            trl_error *err)
{
    const bool lf = text.n && text.p[text.n - 1] != '\n';
    char *copy = trl_alloc(text.n + 2, 1);
    if (!copy)
        return trl_fail_mem(err);
    if (text.n)
        memcpy(copy, text.p, text.n);
    copy[text.n] = '\n';
    copy[text.n + lf] = '\0';
    trl_container_builder_give(b, tag, copy, text.n + lf + nul);
    return TRL_OK;
}

static trl_status save_all(trl_chain_parts *p, trl_container_builder *b, trl_chain_info *info,
                           trl_error *err)
{
    *info = (trl_chain_info){.order = (uint32_t)p->order,
                             .flags = (p->is_probability ? TRL_CHAIN_PROBABILITY : 0) |
                                      (p->is_local ? TRL_CHAIN_LOCAL : 0) |
                                      (p->masked ? TRL_CHAIN_MASKED : 0),
                             .n_columns = p->n_columns,
                             .constant = {TRL_NO_ID, TRL_NO_ID, TRL_NO_ID}};
    if (p->labels->n == 0 || p->labels->n > 65535)
        return trl_fail(err, TRL_EINVAL, "%zu labels: a model has 1 to 65,535", p->labels->n);
    if (trl_family_width(p->labels->n, (size_t)p->order) == 0)
        return trl_fail(err, TRL_EINVAL, "%zu labels are too many for order %d", p->labels->n,
                        p->order);
    trl_container_builder_add(b, "info", info, sizeof *info);
    trl_container_builder_add(b, "objectiv", p->objective, strlen(p->objective) + 1);
    trl_status st = save_text(b, "settings", p->settings, true, err);
    if (st == TRL_OK)
        st = save_text(b, "template", p->template_text, false, err);
    if (st == TRL_OK)
        st = trl_strtab_save(p->labels, "labl", b, err);
    for (size_t f = 0; st == TRL_OK && f <= (size_t)p->order; f++)
        st = save_family(&p->rows[f], f, trl_family_width(p->labels->n, f), &p->sorted[f],
                         &info->constant[f], b, err);
    if (st == TRL_OK && p->q0)
        st = trl_hmm_save(p->q0, TRL_Q0_PREFIX, b, err);
    if (p->calibration)
        trl_container_builder_add(b, "calibrat", p->calibration,
                                  p->labels->n * sizeof *p->calibration);
    return st;
}

trl_status trl_chain_parts_write(trl_chain_parts *p, const char *path, unsigned char **out,
                                 size_t *size, trl_error *err)
{
    trl_container_builder b = {0};
    trl_chain_info info;
    trl_status st = save_all(p, &b, &info, err);
    if (st == TRL_OK)
        st = path ? trl_container_rescue(&b, TRL_CHAIN_KIND, path, p->rescue, err)
                  : trl_container_to_buffer(&b, TRL_CHAIN_KIND, out, size, err);
    trl_container_builder_fini(&b);
    return st;
}

void trl_chain_parts_fini(trl_chain_parts *p)
{
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        rows_fini(&p->rows[f]);
        trl_strtab_fini(&p->sorted[f]);
    }
}
