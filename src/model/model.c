/* model.c -- the public model object: a container and the view that fits its kind. */
/* SPDX-License-Identifier: MIT */
#include "model/model.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

struct trl_model {
    trl_container *container;
    bool is_chain;
    trl_chain_model chain; /* of a chain; of other kinds all zero */
    unsigned char *copy;   /* of the bytes; NULL: they are the container's or the caller's */
};

static trl_status load_kind(trl_model *m, trl_error *err)
{
    static const char *const others[] = {"tree", "graph", "boost", "align", "mt"};
    const char *kind = trl_container_kind(m->container);
    m->is_chain = strcmp(kind, TRL_CHAIN_KIND) == 0;
    if (m->is_chain)
        return trl_chain_model_load(&m->chain, m->container, err);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (strcmp(kind, others[k]) == 0)
            return TRL_OK;
    const trl_status st = trl_fail(err, TRL_EMODEL, "the file is of kind '%s', not a model", kind);
    if (strcmp(kind, "chkpt") == 0)
        trl_fail_hint(err, st, "it is a checkpoint: resume training from it to get a model");
    return trl_fail_where(err, st, trl_container_path(m->container), 0, 0);
}

trl_status trl_model_need_chain(const trl_model *m, trl_error *err)
{
    if (m->is_chain)
        return TRL_OK;
    const char *kind = trl_container_kind(m->container);
    const trl_status st = trl_fail(err, TRL_EINVAL, "the model is of kind '%s', not a chain", kind);
    trl_fail_hint(err, st,
                  strcmp(kind, "tree") == 0    ? "it is a parser's"
                  : strcmp(kind, "graph") == 0 ? "it is a model of graphs"
                  : strcmp(kind, "boost") == 0 ? "it is one of boosted trees"
                  : strcmp(kind, "align") == 0 ? "it is an aligner's"
                                               : "it is a translator's");
    return trl_fail_where(err, st, trl_container_path(m->container), 0, 0);
}

/* Takes ownership of the container, which may be NULL after a failure `st`. */
static trl_status from_container(trl_status st, trl_container *c, trl_model **out, trl_error *err)
{
    trl_model *m = st == TRL_OK ? trl_zalloc(1, sizeof *m) : NULL;
    if (!m) {
        trl_container_free(c);
        return st == TRL_OK ? trl_fail_mem(err) : st;
    }
    m->container = c;
    st = load_kind(m, err);
    if (st == TRL_OK)
        *out = m;
    else
        trl_model_free(m);
    return st;
}

trl_status trl_model_open(const char *path, trl_model **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_open(path, NULL, &c, err);
    return from_container(st, c, out, err);
}

trl_status trl_model_map(const char *path, trl_model **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_map(path, NULL, &c, err);
    return from_container(st, c, out, err);
}

trl_status trl_model_from_memory(const void *bytes, size_t n, trl_model **out, trl_error *err)
{
    if ((!bytes && n) || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_from_memory(bytes, n, NULL, &c, err);
    return from_container(st, c, out, err);
}

void trl_model_own(trl_model *m, trl_buf *bytes)
{
    m->copy = (unsigned char *)bytes->data;
    *bytes = (trl_buf){0};
}

trl_status trl_model_from_copy(const void *bytes, size_t n, trl_model **out, trl_error *err)
{
    if ((!bytes && n) || !out)
        return trl_fail_null(err);
    trl_model *m = NULL;
    unsigned char *copy = trl_alloc64(n, 1);
    if (!copy)
        return trl_fail_mem(err);
    if (n)
        memcpy(copy, bytes, n);
    const trl_status st = trl_model_from_memory(copy, n, &m, err);
    if (st == TRL_OK) {
        m->copy = copy;
        *out = m;
    } else {
        trl_free(copy);
    }
    return st;
}

void trl_model_free(trl_model *m)
{
    if (!m)
        return;
    trl_chain_model_fini(&m->chain);
    trl_container_free(m->container);
    trl_free(m->copy);
    trl_free(m);
}

const trl_chain_model *trl_model_chain(const trl_model *m)
{
    return m->is_chain ? &m->chain : NULL;
}

const void *trl_model_bytes(const trl_model *m, size_t *n)
{
    if (n)
        *n = m ? trl_container_size(m->container) : 0;
    return m ? trl_container_bytes(m->container) : NULL;
}

/* Of another kind than a chain: what the file says of itself. */
static trl_model_info other_info(const trl_model *m)
{
    return (trl_model_info){.kind = trl_container_kind(m->container),
                            .objective = "",
                            .settings = "",
                            .file_size = trl_container_size(m->container)};
}

trl_model_info trl_model_get_info(const trl_model *m)
{
    if (!m)
        return (trl_model_info){.kind = "", .objective = "", .settings = ""};
    if (!m->is_chain)
        return other_info(m);
    const trl_chain_model *c = &m->chain;
    trl_model_info info = {.kind = trl_container_kind(m->container),
                           .objective = c->objective,
                           .settings = c->settings,
                           .order = c->order,
                           .format = c->n_columns ? TRL_FORMAT_COLUMNS : TRL_FORMAT_CRFSUITE,
                           .n_columns = c->n_columns,
                           .n_labels = c->L,
                           .file_size = trl_container_size(m->container),
                           .is_probability = c->is_probability || c->has_temperature,
                           .is_local = c->is_local,
                           .is_calibrated = c->calibration != NULL,
                           .has_q0 = c->has_q0,
                           .temperature = c->has_temperature ? c->temperature : 0.0};
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        info.n_attributes += c->family[f].n_attrs;
        info.n_features += c->family[f].n_weights;
    }
    return info;
}

trl_str trl_model_label(const trl_model *m, size_t k)
{
    if (!m || k >= m->chain.L)
        return (trl_str){"", 0};
    return trl_strview_get(&m->chain.labels, (uint32_t)k);
}

uint32_t trl_model_find_label(const trl_model *m, trl_str label)
{
    if (!m || !m->is_chain || (!label.p && label.n))
        return TRL_NO_ID;
    return trl_strview_find(&m->chain.labels, label.p, label.n, trl_str_hash(label.p, label.n));
}

trl_str trl_model_template(const trl_model *m)
{
    if (!m || !m->is_chain)
        return (trl_str){"", 0};
    return m->chain.template_text;
}
