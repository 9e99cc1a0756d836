/* model_shrink.c -- a chain model with fewer weights, fewer bits a weight, no names. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "model/chain_parts.h"
#include "model/model.h"
#include "model/shrink_rows.h"
#include "options/option_table.h"
#include "trellis/shrink.h"

typedef struct shrinking {
    const trl_chain_model *m;
    const trl_container *c; /* of the model's bytes */
    trl_shrink_options o;
    double threshold;
    trl_chain_info info;
    trl_buf settings;
    trl_container_builder b;
    trl_strtab names[TRL_FAMILIES], sorted[TRL_FAMILIES];
    trl_weight_rows rows[TRL_FAMILIES];
    trl_shrink_report report;
} shrinking;

static void shrinking_fini(shrinking *x)
{
    trl_container_builder_fini(&x->b);
    trl_buf_fini(&x->settings);
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        trl_strtab_fini(&x->names[f]);
        trl_strtab_fini(&x->sorted[f]);
        trl_weight_rows_fini(&x->rows[f]);
    }
}

/* ---- options --------------------------------------------------------------------------------- */

static trl_status check(const trl_model *m, const trl_shrink_options *o, trl_error *err)
{
    trl_status st = trl_model_need_chain(m, err);
    if (st != TRL_OK)
        return trl_fail_hint(err, st, "trl_graph_model_shrink prunes models of graphs");
    st = trl_shrink_check(o, err);
    if (st != TRL_OK)
        return st;
    return trl_chain_need_names(trl_model_chain(m), err);
}

/* ---- families -------------------------------------------------------------------------------- */

static trl_status save_family(shrinking *x, size_t k, trl_error *err)
{
    const trl_model_family *f = &x->m->family[k];
    trl_weight_rows *r = &x->rows[k];
    r->type = f->type == TRL_WEIGHT_DOUBLE && !x->o.bits ? TRL_WEIGHT_DOUBLE : TRL_WEIGHT_FLOAT;
    trl_status st = trl_shrink_collect(f, x->threshold, r, &x->names[k], err);
    /* bits that the model has already are not taken from it */
    const int has = f->type == TRL_WEIGHT_16 ? 16 : f->type == TRL_WEIGHT_8 ? 8 : 32;
    const int bits = x->o.bits ? x->o.bits : has;
    const trl_family_part part = {.rows = &x->rows[k],
                                  .prefix = trl_family_prefix[k],
                                  .width = f->width,
                                  .sorted = &x->sorted[k],
                                  .constant = &x->info.constant[k],
                                  .bits = bits,
                                  .fingerprints = x->o.fingerprints};
    if (st == TRL_OK)
        st = trl_family_save(&part, &x->b, err);
    if (st == TRL_OK) {
        x->report.attributes += x->sorted[k].n;
        x->report.weights += x->rows[k].n ? x->rows[k].first[x->rows[k].n] : 0;
    }
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool is_of_family(const trl_section *s)
{
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        if (memcmp(s->tag, trl_family_prefix[f], 4) == 0)
            return true;
    return false;
}

static bool tag_is(const trl_section *s, const char *tag)
{
    return strncmp(s->tag, tag, sizeof s->tag) == 0;
}

/* What was done, after how the model was trained. */
static trl_status note(shrinking *x, trl_error *err)
{
    trl_buf_str(&x->settings, x->m->settings);
    if (x->threshold > 0.0)
        trl_buf_fmt(&x->settings, "shrink-prune %.9g\n", x->threshold);
    if (x->o.bits)
        trl_buf_fmt(&x->settings, "shrink-bits %d\n", x->o.bits);
    if (x->o.fingerprints)
        trl_buf_str(&x->settings, "shrink-fingerprints yes\n");
    trl_buf_ch(&x->settings, '\0');
    return x->settings.failed ? trl_fail_mem(err) : TRL_OK;
}

/* The sections in the order of the model; those of families together at the first of them. */
static trl_status save_all(shrinking *x, trl_error *err)
{
    trl_section s;
    bool done = false;
    trl_status st = note(x, err);
    x->info.order = (uint32_t)x->m->order;
    for (size_t k = 0; st == TRL_OK && trl_container_section(x->c, k, &s); k++) {
        char tag[sizeof s.tag + 1] = {0};
        memcpy(tag, s.tag, sizeof s.tag);
        if (tag_is(&s, "info")) {
            memcpy(&x->info, s.bytes, sizeof x->info);
            trl_container_builder_add(&x->b, tag, &x->info, sizeof x->info);
        } else if (tag_is(&s, "settings")) {
            trl_container_builder_add(&x->b, tag, x->settings.data, x->settings.len);
        } else if (!is_of_family(&s)) {
            trl_container_builder_add(&x->b, tag, s.bytes, s.size);
        } else if (!done) {
            done = true;
            for (size_t f = 0; st == TRL_OK && f <= (size_t)x->m->order; f++)
                st = save_family(x, f, err);
        }
    }
    return st;
}

static trl_status write_to(const shrinking *x, const char *path, trl_buf *out, trl_error *err)
{
    return path ? trl_container_write(&x->b, TRL_CHAIN_KIND, path, err)
                : trl_container_to_buf(&x->b, TRL_CHAIN_KIND, out, err);
}

/* Bytes that the container takes. */
static uint64_t file_size(const trl_container_builder *b)
{
    uint64_t n = 64 + 32 * b->n;
    n += (64 - n % 64) % 64;
    for (size_t k = 0; k < b->n; k++)
        n += (b->section[k].size + 63) / 64 * 64;
    return n;
}

static trl_status shrink(const trl_model *m, const trl_shrink_options *options, const char *path,
                         trl_buf *out, trl_shrink_report *report, trl_error *err)
{
    trl_container *c = NULL;
    size_t n = 0;
    const void *bytes = trl_model_bytes(m, &n);
    trl_shrink_options o;
    trl_status st = trl_options_take(trl_shrink_option_table(), options, &o, err);
    if (st == TRL_OK)
        st = check(m, &o, err);
    if (st == TRL_OK)
        st = trl_container_from_memory(bytes, n, TRL_CHAIN_KIND, &c, err);
    if (st != TRL_OK)
        return st;
    shrinking x = {.m = trl_model_chain(m), .c = c, .o = o};
    const bool plain = !o.fingerprints && (o.bits == 0 || o.bits == 32);
    x.b.version = plain ? trl_container_version(c) : 2;
    st = trl_shrink_threshold(x.m->family, TRL_FAMILIES, &x.o, &x.threshold, err);
    if (st == TRL_OK)
        st = save_all(&x, err);
    if (st == TRL_OK)
        st = write_to(&x, path, out, err);
    if (st == TRL_OK && report) {
        *report = x.report;
        report->bytes = file_size(&x.b);
        report->threshold = x.threshold;
    }
    shrinking_fini(&x);
    trl_container_free(c);
    return st;
}

trl_status trl_model_shrink(const trl_model *m, const trl_shrink_options *options, trl_buf *out,
                            trl_shrink_report *report, trl_error *err)
{
    return m && options && out ? shrink(m, options, NULL, out, report, err) : trl_fail_null(err);
}

trl_status trl_model_shrink_file(const trl_model *m, const trl_shrink_options *options,
                                 const char *path, trl_shrink_report *report, trl_error *err)
{
    return m && options && path ? shrink(m, options, path, NULL, report, err) : trl_fail_null(err);
}
