/* chain_model.c -- chain models: from a trained design into the file, and back. */
/* SPDX-License-Identifier: MIT */
#include "model/chain_model.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/chain_parts.h"
#include "model/features_io.h"
#include "model/strtab_io.h"

/* ---- writing ----------------------------------------------------------------------------------
 */

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
    if (spec->tpl)
        p.features = trl_template_list(spec->tpl);
    trl_status st = TRL_OK;
    for (size_t f = 0; st == TRL_OK && f <= (size_t)p.order; f++) {
        st = trl_family_width(spec->corpus->labels.n, f)
                 ? trl_family_collect(&spec->corpus->family[f], &spec->design->family[f], spec->w,
                                      &p.rows[f], err)
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

/* ---- loading ----------------------------------------------------------------------------------
 */

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
    const uint32_t flags =
        TRL_CHAIN_PROBABILITY | TRL_CHAIN_LOCAL | TRL_CHAIN_MASKED | TRL_CHAIN_SINGLE;
    if ((info.order != 1 && info.order != 2) || (info.flags & ~flags) || info.zero ||
        info.n_columns > SIZE_MAX / 2)
        return trl_container_damaged(c, err, "impossible header of a chain model");
    m->order = (int)info.order;
    m->is_probability = info.flags & TRL_CHAIN_PROBABILITY;
    m->is_local = info.flags & TRL_CHAIN_LOCAL;
    m->masked = info.flags & TRL_CHAIN_MASKED;
    m->n_columns = (size_t)info.n_columns;
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        m->family[f].constant = info.constant[f];
        m->family[f].single = info.flags & TRL_CHAIN_SINGLE;
    }
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
    if (st == TRL_OK && trl_template_list(m->tpl))
        st = trl_features_load(trl_template_list(m->tpl), c, err);
    return st;
}

static trl_status load_q0(trl_chain_model *m, const trl_container *c, trl_error *err)
{
    m->has_q0 = trl_hmm_in_container(c, TRL_Q0_PREFIX);
    if (!m->has_q0)
        return m->masked ? trl_container_damaged(c, err, "values are masked without an HMM")
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

static trl_status load_temperature(trl_chain_model *m, const trl_container *c, trl_error *err)
{
    const void *p;
    size_t n;
    m->temperature = 1.0;
    if (!trl_container_find(c, TRL_TEMPERATURE_TAG, &p, &n))
        return TRL_OK;
    double T = 0.0;
    if (n == sizeof T)
        memcpy(&T, p, n);
    if (!(T >= 1.0 / TRL_TEMPERATURE_MAX && T <= TRL_TEMPERATURE_MAX))
        return trl_container_damaged(c, err, "its temperature is none");
    m->temperature = T;
    m->has_temperature = true;
    return TRL_OK;
}

trl_status trl_chain_model_load(trl_chain_model *m, const trl_container *c, trl_error *err)
{
    *m = (trl_chain_model){0};
    trl_status st = load_info(m, c, err);
    if (st == TRL_OK)
        st = trl_container_string(c, "objectiv", &m->objective, err);
    if (st == TRL_OK)
        st = trl_container_string(c, "settings", &m->settings, err);
    if (st == TRL_OK)
        st = trl_strview_load(c, "labl", &m->labels, err);
    m->L = m->labels.n;
    if (st == TRL_OK &&
        (m->L == 0 || m->L > 65535 || trl_family_width(m->L, (size_t)m->order) == 0))
        st = trl_container_damaged(c, err, "impossible number of labels");
    for (size_t f = 0; st == TRL_OK && f <= (size_t)m->order; f++) {
        m->family[f].width = (size_t)trl_family_width(m->L, f);
        st = trl_family_load(&m->family[f], trl_family_prefix[f], c, err);
        if (st == TRL_OK && f == TRL_NODE && m->family[f].constant != TRL_NO_ID)
            st = trl_container_damaged(c, err, "the constant attribute does not exist");
    }
    if (st == TRL_OK)
        st = load_template(m, c, err);
    if (st == TRL_OK)
        st = load_q0(m, c, err);
    if (st == TRL_OK)
        st = load_calibration(m, c, err);
    if (st == TRL_OK)
        st = load_temperature(m, c, err);
    if (st != TRL_OK)
        trl_chain_model_fini(m);
    return st;
}

void trl_chain_model_fini(trl_chain_model *m)
{
    trl_template_free(m->tpl);
    trl_hmm_fini(&m->q0);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        trl_family_fini(&m->family[f]);
    *m = (trl_chain_model){0};
}

trl_status trl_chain_need_names(const trl_chain_model *m, trl_error *err)
{
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        if (m->family[f].prints.n_buckets) {
            const trl_status st = trl_fail(
                err, TRL_EINVAL, "the model has fingerprints in place of the names of attributes");
            return trl_fail_hint(err, st, "use the model that it was shrunk from");
        }
    return TRL_OK;
}

/* ---- warm start ------------------------------------------------------------------------------ */

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
        trl_family_transfer x = {.from = &m->family[f],
                                 .to = &d->family[f],
                                 .names = &corpus->family[f].names,
                                 .n = f + 1,
                                 .w = w};
        for (size_t k = 0; k <= f; k++) {
            x.n_from[k] = m->L;
            x.n_to[k] = d->L;
            x.label[k] = label;
        }
        trl_family_read_weights(&x);
    }
    trl_free(label);
    return TRL_OK;
}
