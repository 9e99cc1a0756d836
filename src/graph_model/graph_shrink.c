/* graph_shrink.c -- a model of graphs with fewer weights. */
/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "graph_model/graph_model.h"
#include "model/shrink_rows.h"
#include "options/option_table.h"

typedef struct shrinking {
    trl_strtab labels[TRL_LAYERS_MAX], names[TRL_FAMILIES_MAX];
    trl_weight_rows rows[TRL_FAMILIES_MAX];
    trl_buf settings;
    double threshold;
} shrinking;

static void shrinking_free(shrinking *x)
{
    for (size_t k = 0; k < TRL_LAYERS_MAX; k++)
        trl_strtab_fini(&x->labels[k]);
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++) {
        trl_strtab_fini(&x->names[f]);
        trl_weight_rows_fini(&x->rows[f]);
    }
    trl_buf_fini(&x->settings);
    trl_free(x);
}

static trl_status collect(shrinking *x, const trl_graph_model *m, trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t k = 0; k < m->spec->n_layers; k++)
        for (size_t i = 0; i < m->n_labels[k]; i++) {
            const trl_str s = trl_strview_get(&m->labels[k], (uint32_t)i);
            if (trl_strtab_add(&x->labels[k], s.p, s.n) == TRL_NO_ID)
                return trl_fail_mem(err);
        }
    for (size_t f = 0; f < m->spec->n_factors && st == TRL_OK; f++)
        st = trl_shrink_collect(&m->family[f], x->threshold, &x->rows[f], &x->names[f], err);
    trl_buf_str(&x->settings, m->settings);
    if (x->threshold > 0.0)
        trl_buf_fmt(&x->settings, "shrink-prune %.9g\n", x->threshold);
    trl_buf_ch(&x->settings, '\0');
    return st == TRL_OK && x->settings.failed ? trl_fail_mem(err) : st;
}

static trl_status check(const trl_shrink_options *o, trl_error *err)
{
    const trl_status st = trl_shrink_check(o, err);
    if (st != TRL_OK || (!o->fingerprints && (o->bits == 0 || o->bits == 32)))
        return st;
    trl_fail(err, TRL_EINVAL, "models of graphs keep their names, and 32 bits a weight");
    return trl_fail_hint(err, TRL_EINVAL, "they can be pruned");
}

static trl_status write(shrinking *x, const trl_graph_model *m, const char *path,
                        trl_shrink_report *report, trl_error *err)
{
    const trl_graph_model_parts parts = {.spec = m->spec,
                                         .objective = m->objective,
                                         .settings = x->settings.data,
                                         .is_probability = m->is_probability,
                                         .n_columns = m->n_columns,
                                         .labels = x->labels,
                                         .rows = x->rows};
    unsigned char *bytes = NULL;
    size_t size = 0;
    trl_status st = trl_graph_model_write(&parts, NULL, &bytes, &size, err);
    trl_free(bytes);
    if (st == TRL_OK)
        st = trl_graph_model_write(&parts, path, NULL, NULL, err);
    if (st != TRL_OK || !report)
        return st;
    *report = (trl_shrink_report){.bytes = size, .threshold = x->threshold};
    for (size_t f = 0; f < m->spec->n_factors; f++) {
        const trl_weight_rows *r = &x->rows[f];
        report->weights += r->n ? r->first[r->n] : 0;
        for (size_t k = 0; k < r->n; k++)
            report->attributes += r->first[k + 1] > r->first[k] || k == r->constant;
    }
    return TRL_OK;
}

trl_status trl_graph_model_shrink(const trl_graph_model *m, const trl_shrink_options *options,
                                  const char *path, trl_shrink_report *report, trl_error *err)
{
    if (!m || !options || !path)
        return trl_fail_null(err);
    trl_shrink_options o;
    trl_status st = trl_options_take(trl_shrink_option_table(), options, &o, err);
    if (st == TRL_OK)
        st = check(&o, err);
    if (st != TRL_OK)
        return st;
    shrinking *x = trl_zalloc(1, sizeof *x);
    if (!x)
        return trl_fail_mem(err);
    st = trl_shrink_threshold(m->family, m->spec->n_factors, &o, &x->threshold, err);
    if (st == TRL_OK)
        st = collect(x, m, err);
    if (st == TRL_OK)
        st = write(x, m, path, report, err);
    shrinking_free(x);
    return st;
}
