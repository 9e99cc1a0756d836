/* tree_shrink.c -- a parser with fewer features, fewer bits a weight, no keys.
 *
 * All sections of the file stay but the weights and the keys of features, which are hashed again
 * into a smaller table.  Weights of rules are never left out, and stay floats.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "model/shrink_rows.h"
#include "model/weight_bits.h"
#include "options/option_table.h"
#include "parser/chart_model.h"

#define SEEDS 64 /* that are tried for fingerprints without a clash */

typedef struct shrinking {
    const trl_chart_model *m;
    trl_shrink_options o;
    double threshold;
    size_t n, n_slots; /* features that are kept, and their table */
    uint64_t *key;     /* [n_slots] */
    float *weight;     /* [n_slots] */
    uint32_t *print;   /* [n_slots], with fingerprints */
    uint64_t seed;
    trl_buf settings;
    trl_container_builder b;
} shrinking;

static void shrinking_fini(shrinking *x)
{
    trl_container_builder_fini(&x->b);
    trl_buf_fini(&x->settings);
    trl_free(x->key);
    trl_free(x->weight);
    trl_free(x->print);
}

/* ---- what can be done ------------------------------------------------------------------------ */

static trl_status check(const trl_tree_model *m, const trl_shrink_options *o, trl_error *err)
{
    const trl_status st = trl_shrink_check(o, err);
    if (st != TRL_OK)
        return st;
    if (m->grade == TRL_GRADE_GENERATIVE || m->features.index.n == 0) {
        trl_fail(err, TRL_EINVAL, "the parser has no features beside its rules: nothing to shrink");
        return trl_fail_hint(err, TRL_EINVAL, "only features of the grade 'features' are left out");
    }
    if (m->features.index.print)
        return trl_fail(err, TRL_EINVAL, "the model has fingerprints in place of its features");
    if (o->fingerprints && m->scoring == TRL_SCORING_LOCAL)
        return trl_fail(err, TRL_EINVAL,
                        "MECFG and PT-CFG look up features by their parts: no fingerprints");
    return TRL_OK;
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The size of the smallest weight that is kept. */
static trl_status find_threshold(shrinking *x, trl_error *err)
{
    const trl_tree_features *f = &x->m->m.features;
    x->threshold = x->o.prune;
    if (x->o.keep == 0.0 || x->o.keep == 1.0)
        return TRL_OK;
    double *size = trl_alloc(f->index.n, sizeof *size);
    if (!size)
        return trl_fail_mem(err);
    size_t n = 0;
    for (size_t at = 0; at < f->index.n_slots; at++)
        if (f->index.key[at])
            size[n++] = fabs(trl_tree_weight(f, (uint32_t)at));
    qsort(size, n, sizeof *size, falling);
    const size_t last = (size_t)ceil(x->o.keep * (double)n);
    x->threshold = size[last > 0 ? last - 1 : 0];
    trl_free(size);
    return TRL_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool kept(const shrinking *x, size_t at)
{
    const trl_tree_features *f = &x->m->m.features;
    return f->index.key[at] && fabs(trl_tree_weight(f, (uint32_t)at)) >= x->threshold;
}

static trl_status make_table(shrinking *x, trl_error *err)
{
    const trl_tree_features *f = &x->m->m.features;
    for (size_t at = 0; at < f->index.n_slots; at++)
        x->n += kept(x, at);
    x->n_slots = trl_tree_slots_for(x->n);
    x->key = trl_zalloc(x->n_slots, sizeof *x->key);
    x->weight = trl_zalloc(x->n_slots, sizeof *x->weight);
    if (!x->key || !x->weight)
        return trl_fail_mem(err);
    for (size_t at = 0; at < f->index.n_slots; at++) {
        if (!kept(x, at))
            continue;
        size_t to = trl_tree_hash(f->index.key[at]) & (x->n_slots - 1);
        while (x->key[to])
            to = (to + 1) & (x->n_slots - 1);
        x->key[to] = f->index.key[at];
        x->weight[to] = (float)trl_tree_weight(f, (uint32_t)at);
    }
    return TRL_OK;
}

/* Does a look-up by fingerprint find every feature where it is?  What lies between its first slot
 * and its own must have other ones. */
static bool no_clash(const shrinking *x)
{
    for (size_t to = 0; to < x->n_slots; to++) {
        if (!x->key[to])
            continue;
        for (size_t at = trl_tree_hash(x->key[to]) & (x->n_slots - 1); at != to;
             at = (at + 1) & (x->n_slots - 1))
            if (x->print[at] == x->print[to])
                return false;
    }
    return true;
}

static trl_status make_prints(shrinking *x, trl_error *err)
{
    x->print = trl_zalloc(x->n_slots, sizeof *x->print);
    if (!x->print)
        return trl_fail_mem(err);
    for (x->seed = 0; x->seed < SEEDS; x->seed++) {
        for (size_t at = 0; at < x->n_slots; at++)
            x->print[at] = x->key[at] ? trl_tree_fingerprint(x->key[at], x->seed) : 0;
        if (no_clash(x))
            return TRL_OK;
    }
    return trl_fail(err, TRL_EINVAL, "no fingerprints tell %zu features apart", x->n);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Rules, and features where they have 32 bits. */
static trl_status add_weights(shrinking *x, trl_error *err)
{
    const trl_tree_features *f = &x->m->m.features;
    const int has = f->multiple ? 16 : f->code ? 8 : 32;
    const trl_weight_type type = trl_weight_bits_type(x->o.bits ? x->o.bits : has, x->n_slots);
    const size_t n = f->n_direct + (type == TRL_WEIGHT_FLOAT ? x->n_slots : 0);
    float *w = trl_alloc(n, sizeof *w);
    if (!w)
        return trl_fail_mem(err);
    memcpy(w, f->w32, f->n_direct * sizeof *w);
    if (type == TRL_WEIGHT_FLOAT)
        memcpy(w + f->n_direct, x->weight, x->n_slots * sizeof *w);
    trl_container_builder_give(&x->b, "weights", w, n * sizeof *w);
    x->b.version = type == TRL_WEIGHT_FLOAT && !x->print ? 1 : 2;
    return type == TRL_WEIGHT_FLOAT
               ? TRL_OK
               : trl_weight_bits_save(x->weight, x->n_slots, type, TRL_TREE_BITS, &x->b, err);
}

static trl_status add_keys(shrinking *x, trl_error *err)
{
    if (!x->print) {
        trl_container_builder_add(&x->b, "keys", x->key, x->n_slots * sizeof *x->key);
        return TRL_OK;
    }
    uint64_t *seed = trl_alloc(1, sizeof *seed);
    if (!seed)
        return trl_fail_mem(err);
    *seed = x->seed;
    trl_container_builder_add(&x->b, "prints", x->print, x->n_slots * sizeof *x->print);
    trl_container_builder_give(&x->b, "printby", seed, sizeof *seed);
    return TRL_OK;
}

static bool tag_is(const trl_section *s, const char *tag)
{
    return strncmp(s->tag, tag, sizeof s->tag) == 0;
}

/* What was done, after how the model was trained. */
static void note(shrinking *x)
{
    trl_buf_str(&x->settings, x->m->settings);
    if (x->threshold > 0.0)
        trl_buf_fmt(&x->settings, "shrink-prune %.9g\n", x->threshold);
    if (x->o.bits)
        trl_buf_fmt(&x->settings, "shrink-bits %d\n", x->o.bits);
    if (x->o.fingerprints)
        trl_buf_str(&x->settings, "shrink-fingerprints yes\n");
}

/* The grammar in this section, shrunk as the first is; *is: there is one. */
static trl_status add_more(shrinking *x, const trl_section *s, bool *is, trl_error *err)
{
    trl_status st = TRL_OK;
    *is = false;
    for (size_t k = 0; st == TRL_OK && k < x->m->n_more; k++) {
        trl_buf file = {0};
        if (!tag_is(s, trl_chart_model_more_tag(k)))
            continue;
        *is = true;
        st = trl_chart_model_shrink(x->m->more[k], &x->o, &file, NULL, err);
        void *bytes = st == TRL_OK ? trl_alloc(file.len, 1) : NULL;
        if (bytes) {
            memcpy(bytes, file.data, file.len);
            trl_container_builder_give(&x->b, trl_chart_model_more_tag(k), bytes, file.len);
        } else if (st == TRL_OK)
            st = trl_fail_mem(err);
        trl_buf_fini(&file);
    }
    return st;
}

/* The sections in the order of the model. */
static trl_status save(shrinking *x, trl_error *err)
{
    trl_section s;
    trl_status st = TRL_OK;
    note(x);
    if (x->settings.failed)
        return trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && trl_container_section(x->m->file, k, &s); k++) {
        char tag[sizeof s.tag + 1] = {0};
        bool more;
        memcpy(tag, s.tag, sizeof s.tag);
        st = add_more(x, &s, &more, err);
        if (more || st != TRL_OK)
            continue;
        if (tag_is(&s, "settings"))
            trl_container_builder_add(&x->b, tag, x->settings.data, x->settings.len);
        else if (tag_is(&s, "keys"))
            st = add_keys(x, err);
        else if (tag_is(&s, "weights"))
            st = add_weights(x, err);
        else if (strncmp(s.tag, TRL_TREE_BITS, 4) != 0)
            trl_container_builder_add(&x->b, tag, s.bytes, s.size);
    }
    return st;
}

trl_status trl_chart_model_shrink(const trl_chart_model *m, const trl_shrink_options *options,
                                  trl_buf *out, trl_shrink_report *report, trl_error *err)
{
    shrinking x = {.m = m};
    trl_status st = trl_options_take(trl_shrink_option_table(), options, &x.o, err);
    if (st == TRL_OK)
        st = check(&m->m, &x.o, err);
    if (st == TRL_OK)
        st = find_threshold(&x, err);
    if (st == TRL_OK)
        st = make_table(&x, err);
    if (st == TRL_OK && x.o.fingerprints)
        st = make_prints(&x, err);
    if (st == TRL_OK)
        st = save(&x, err);
    if (st == TRL_OK)
        st = trl_container_to_buf(&x.b, "tree", out, err);
    if (st == TRL_OK && report)
        *report = (trl_shrink_report){.bytes = out->len,
                                      .attributes = x.n,
                                      .weights = x.n + trl_tree_model_rules(&m->m),
                                      .threshold = x.threshold};
    shrinking_fini(&x);
    return st;
}
