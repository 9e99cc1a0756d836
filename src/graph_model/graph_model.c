/* graph_model.c -- graph models: into the file, and back. */
/* SPDX-License-Identifier: MIT */
#include "graph_model/graph_model.h"

#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "model/strtab_io.h"

typedef struct graph_info {
    uint32_t n_layers, n_factors, flags, zero;
    uint64_t n_columns;
    uint32_t constant[TRL_FAMILIES_MAX];
} graph_info;

enum { PROBABILITY = 1 };

/* A prefix with a number: "lb03". */
static const char *prefix_of(const char *letters, size_t k, char prefix[5])
{
    prefix[0] = letters[0];
    prefix[1] = letters[1];
    prefix[2] = (char)('0' + k / 10 % 10);
    prefix[3] = (char)('0' + k % 10);
    prefix[4] = '\0';
    return prefix;
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct writing {
    const trl_graph_model_parts *p;
    trl_container_builder b;
    graph_info info;
    trl_weight_rows rows[TRL_FAMILIES_MAX];
    trl_strtab sorted[TRL_FAMILIES_MAX];
} writing;

static trl_status save_factor(writing *x, size_t f, trl_error *err)
{
    const trl_graph_model_parts *p = x->p;
    char prefix[5];
    size_t n_labels[TRL_LAYERS_MAX] = {0};
    for (size_t k = 0; k < p->spec->n_layers; k++)
        n_labels[k] = p->labels[k].n;
    const trl_family_part part = {.rows = p->rows ? &p->rows[f] : &x->rows[f],
                                  .prefix = prefix_of("fa", f, prefix),
                                  .width = trl_factor_spec_cells(&p->spec->factor[f], n_labels),
                                  .sorted = &x->sorted[f],
                                  .constant = &x->info.constant[f]};
    const trl_status st = p->rows ? TRL_OK
                                  : trl_family_collect(&p->corpus->family[f], &p->design->family[f],
                                                       p->w, &x->rows[f], err);
    return st == TRL_OK ? trl_family_save(&part, &x->b, err) : st;
}

static trl_status save_all(writing *x, trl_error *err)
{
    const trl_graph_model_parts *p = x->p;
    const trl_graph_spec *s = p->spec;
    char prefix[5];
    x->info = (graph_info){.n_layers = (uint32_t)s->n_layers,
                           .n_factors = (uint32_t)s->n_factors,
                           .flags = p->is_probability ? PROBABILITY : 0,
                           .n_columns = p->n_columns};
    memset(x->info.constant, 0xff, sizeof x->info.constant);
    trl_container_builder_add(&x->b, "info", &x->info, sizeof x->info);
    trl_container_builder_add(&x->b, "objectiv", p->objective, strlen(p->objective) + 1);
    trl_container_builder_add(&x->b, "settings", p->settings, strlen(p->settings) + 1);
    trl_container_builder_add(&x->b, "model", s->text, s->text_len);
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < s->n_layers; k++)
        st = trl_strtab_save(&p->labels[k], prefix_of("lb", k, prefix), &x->b, err);
    for (size_t f = 0; st == TRL_OK && f < s->n_factors; f++)
        st = save_factor(x, f, err);
    return st;
}

trl_status trl_graph_model_write(const trl_graph_model_parts *p, const char *path,
                                 unsigned char **out, size_t *size, trl_error *err)
{
    writing *x = trl_zalloc(1, sizeof *x);
    if (!x)
        return trl_fail_mem(err);
    x->p = p;
    trl_status st = save_all(x, err);
    if (st == TRL_OK)
        st = path ? trl_container_rescue(&x->b, TRL_GRAPH_KIND, path, p->rescue, err)
                  : trl_container_to_buffer(&x->b, TRL_GRAPH_KIND, out, size, err);
    trl_container_builder_fini(&x->b);
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++) {
        trl_weight_rows_fini(&x->rows[f]);
        trl_strtab_fini(&x->sorted[f]);
    }
    trl_free(x);
    return st;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* One more than the largest column that a macro names. */
static size_t text_columns(const trl_graph_spec *s)
{
    size_t n = 0;
    for (size_t k = 0; k < s->n_templates; k++)
        if (s->tpl[k].tpl && trl_template_columns(s->tpl[k].tpl) > n)
            n = trl_template_columns(s->tpl[k].tpl);
    for (size_t k = 0; k < s->n_values; k++)
        if (s->value[k].tpl && trl_template_columns(s->value[k].tpl) > n)
            n = trl_template_columns(s->value[k].tpl);
    return n;
}

static trl_status load_spec(trl_graph_model *m, graph_info *info, trl_error *err)
{
    const trl_container *c = m->container;
    const void *bytes;
    size_t n;
    trl_status st = trl_container_array(c, "info", sizeof *info, &bytes, &n, err);
    if (st != TRL_OK)
        return st;
    if (n != 1)
        return trl_container_damaged(c, err, "impossible header of a graph model");
    memcpy(info, bytes, sizeof *info);
    st = trl_container_array(c, "model", 1, &bytes, &n, err);
    if (st != TRL_OK)
        return st;
    st = trl_graph_spec_parse("<model file of the model>", bytes, n, &m->spec, err);
    if (st == TRL_OK && info->n_columns <= SIZE_MAX / 64)
        st = trl_graph_spec_check(m->spec, "<model file of the model>", (size_t)info->n_columns,
                                  err);
    if (st == TRL_ENOMEM)
        return st;
    if (st != TRL_OK || info->n_layers != m->spec->n_layers ||
        info->n_factors != m->spec->n_factors || (info->flags & ~(uint32_t)PROBABILITY) ||
        info->zero || info->n_columns > SIZE_MAX / 64)
        return trl_container_damaged(c, err, "impossible header of a graph model");
    m->n_columns = (size_t)info->n_columns;
    m->is_probability = info->flags & PROBABILITY;
    m->n_text = text_columns(m->spec);
    return TRL_OK;
}

static trl_status load(trl_graph_model *m, trl_error *err)
{
    graph_info info = {0};
    char prefix[5];
    trl_status st = load_spec(m, &info, err);
    if (st == TRL_OK)
        st = trl_container_string(m->container, "objectiv", &m->objective, err);
    if (st == TRL_OK)
        st = trl_container_string(m->container, "settings", &m->settings, err);
    for (size_t k = 0; st == TRL_OK && k < m->spec->n_layers; k++) {
        st = trl_strview_load(m->container, prefix_of("lb", k, prefix), &m->labels[k], err);
        m->n_labels[k] = m->labels[k].n;
    }
    for (size_t f = 0; st == TRL_OK && f < m->spec->n_factors; f++) {
        trl_model_family *to = &m->family[f];
        to->width = trl_factor_spec_cells(&m->spec->factor[f], m->n_labels);
        to->constant = info.constant[f];
        st = to->width ? trl_family_load(to, prefix_of("fa", f, prefix), m->container, err)
                       : trl_container_damaged(m->container, err, "impossible number of labels");
        if (st == TRL_OK && to->prints.n_buckets)
            st = trl_container_damaged(m->container, err, "fingerprints in a model of graphs");
    }
    return st;
}

/* Takes ownership of the container, which may be NULL after a failure `st`. */
static trl_status from_container(trl_status st, trl_container *c, trl_graph_model **out,
                                 trl_error *err)
{
    trl_graph_model *m = st == TRL_OK ? trl_zalloc(1, sizeof *m) : NULL;
    if (!m) {
        trl_container_free(c);
        return st == TRL_OK ? trl_fail_mem(err) : st;
    }
    m->container = c;
    st = load(m, err);
    if (st == TRL_OK)
        *out = m;
    else
        trl_graph_model_free(m);
    return st;
}

trl_status trl_graph_model_open(const char *path, trl_graph_model **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_open(path, TRL_GRAPH_KIND, &c, err);
    return from_container(st, c, out, err);
}

trl_status trl_graph_model_from_memory(const void *bytes, size_t n, trl_graph_model **out,
                                       trl_error *err)
{
    if ((!bytes && n) || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_from_memory(bytes, n, TRL_GRAPH_KIND, &c, err);
    return from_container(st, c, out, err);
}

trl_status trl_graph_model_of(const trl_model *m, trl_graph_model **out, trl_error *err)
{
    if (!m || !out)
        return trl_fail_null(err);
    size_t n;
    const void *bytes = trl_model_bytes(m, &n);
    const char *kind = trl_model_get_info(m).kind;
    if (strcmp(kind, TRL_GRAPH_KIND) != 0)
        return trl_fail(err, TRL_EINVAL, "the model is of kind '%s', not of graphs", kind);
    return trl_graph_model_from_memory(bytes, n, out, err);
}

void trl_graph_model_free(trl_graph_model *m)
{
    if (!m)
        return;
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++)
        trl_family_fini(&m->family[f]);
    trl_graph_spec_free(m->spec);
    trl_container_free(m->container);
    trl_free(m);
}

/* ---- asking ---------------------------------------------------------------------------------- */

trl_graph_model_info trl_graph_model_get_info(const trl_graph_model *m)
{
    if (!m)
        return (trl_graph_model_info){.objective = "", .settings = "", .text = {"", 0}};
    trl_graph_model_info info = {.objective = m->objective,
                                 .settings = m->settings,
                                 .text = {m->spec->text, m->spec->text_len},
                                 .n_columns = m->n_columns,
                                 .n_layers = m->spec->n_layers,
                                 .n_factors = m->spec->n_factors,
                                 .file_size = trl_container_size(m->container),
                                 .is_probability = m->is_probability,
                                 .document = m->spec->document,
                                 .attributes = m->spec->attributes};
    for (size_t f = 0; f < m->spec->n_factors; f++) {
        info.n_attributes += m->family[f].n_attrs;
        info.n_features += m->family[f].n_weights;
    }
    return info;
}

trl_graph_layer trl_graph_model_layer(const trl_graph_model *m, size_t layer)
{
    if (!m || layer >= m->spec->n_layers)
        return (trl_graph_layer){.name = ""};
    return (trl_graph_layer){m->spec->layer[layer].name, m->spec->layer[layer].column,
                             m->n_labels[layer]};
}

trl_str trl_graph_model_label(const trl_graph_model *m, size_t layer, size_t k)
{
    if (!m || layer >= m->spec->n_layers || k >= m->n_labels[layer])
        return (trl_str){"", 0};
    return trl_strview_get(&m->labels[layer], (uint32_t)k);
}

uint32_t trl_graph_model_find_label(const trl_graph_model *m, size_t layer, trl_str label)
{
    if (!m || layer >= m->spec->n_layers || (!label.p && label.n))
        return TRL_NO_ID;
    return trl_strview_find(&m->labels[layer], label.p, label.n, trl_str_hash(label.p, label.n));
}
