/* model.c -- the public model object: a container and the view that fits its kind. */
/* SPDX-License-Identifier: MIT */
#include "model/model.h"

#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"

struct trl_model {
    trl_container *container;
    trl_chain_model chain; /* the only kind so far */
    uint64_t file_size;
};

static trl_status load_kind(trl_model *m, trl_error *err)
{
    const char *kind = trl_container_kind(m->container);
    if (strcmp(kind, TRL_KIND_CHAIN) == 0)
        return trl_chain_model_load(&m->chain, m->container, err);
    const trl_status st =
        trl_fail(err, TRL_EMODEL, "this is no model of chains but of kind '%s'", kind);
    if (strcmp(kind, "chkpt") == 0)
        trl_fail_hint(err, st, "it is a checkpoint: resume training from it to get a model");
    else if (strcmp(kind, "tree") == 0)
        trl_fail_hint(err, st, "it is a parser's: 'trellis parse' uses it");
    return trl_fail_where(err, st, trl_container_path(m->container), 0, 0);
}

/* From a file when `path` is given, else from memory. */
static trl_status open_any(const char *path, const void *bytes, size_t n, trl_model **out,
                           trl_error *err)
{
    trl_model *m = trl_zalloc(1, sizeof *m);
    if (!m)
        return trl_fail_mem(err);
    struct stat sb;
    m->file_size = n;
    trl_status st = path ? trl_container_open(path, NULL, &m->container, err)
                         : trl_container_from_memory(bytes, n, NULL, &m->container, err);
    if (st == TRL_OK && path && stat(path, &sb) == 0)
        m->file_size = (uint64_t)sb.st_size;
    if (st == TRL_OK)
        st = load_kind(m, err);
    if (st != TRL_OK) {
        trl_model_free(m);
        return st;
    }
    *out = m;
    return TRL_OK;
}

trl_status trl_model_open(const char *path, trl_model **out, trl_error *err)
{
    return open_any(path, NULL, 0, out, err);
}

trl_status trl_model_from_memory(const void *bytes, size_t n, trl_model **out, trl_error *err)
{
    return open_any(NULL, bytes, n, out, err);
}

void trl_model_free(trl_model *m)
{
    if (!m)
        return;
    trl_chain_model_fini(&m->chain);
    trl_container_free(m->container);
    trl_free(m);
}

const trl_chain_model *trl_model_chain(const trl_model *m)
{
    return &m->chain;
}

trl_model_info trl_model_get_info(const trl_model *m)
{
    const trl_chain_model *c = &m->chain;
    trl_model_info info = {.kind = trl_container_kind(m->container),
                           .objective = c->objective,
                           .settings = c->settings,
                           .order = c->order,
                           .format = c->n_columns ? TRL_FORMAT_COLUMNS : TRL_FORMAT_CRFSUITE,
                           .n_columns = c->n_columns,
                           .n_labels = c->L,
                           .file_size = m->file_size,
                           .is_probability = c->is_probability,
                           .is_local = c->is_local,
                           .is_calibrated = c->calibration != NULL,
                           .has_q0 = c->has_q0};
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        info.n_attributes += c->family[f].names.n;
        info.n_features += c->family[f].n_weights;
    }
    return info;
}

trl_str trl_model_label(const trl_model *m, size_t k)
{
    return trl_strview_get(&m->chain.labels, (uint32_t)k);
}

uint32_t trl_model_find_label(const trl_model *m, trl_str label)
{
    return trl_strview_find(&m->chain.labels, label.p, label.n, trl_str_hash(label.p, label.n));
}

trl_str trl_model_template(const trl_model *m)
{
    return m->chain.template_text;
}
