/* model_temperature.c -- a model file with another temperature. */
/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/fail.h"
#include "model/model.h"
#include "trellis/calibrate.h"

static trl_status build(const trl_model *m, const double *T, const char *path, trl_buf *out,
                        trl_error *err)
{
    trl_container *c = NULL;
    size_t n = 0;
    trl_status st = trl_model_need_chain(m, err);
    if (st == TRL_OK && *T != 0.0 &&
        !(*T >= 1.0 / TRL_TEMPERATURE_MAX && *T <= TRL_TEMPERATURE_MAX))
        st = trl_fail(err, TRL_EINVAL, "%g is not a temperature", *T);
    const void *bytes = trl_model_bytes(m, &n);
    if (st == TRL_OK)
        st = trl_container_from_memory(bytes, n, TRL_CHAIN_KIND, &c, err);
    if (st != TRL_OK)
        return st;
    trl_container_builder b = {0};
    trl_container_builder_copy(&b, c, (const char *const[]){TRL_TEMPERATURE_TAG, NULL});
    if (*T > 0.0)
        trl_container_builder_add(&b, TRL_TEMPERATURE_TAG, T, sizeof *T);
    st = path ? trl_container_write(&b, TRL_CHAIN_KIND, path, err)
              : trl_container_to_buf(&b, TRL_CHAIN_KIND, out, err);
    trl_container_builder_fini(&b);
    trl_container_free(c);
    return st;
}

trl_status trl_model_set_temperature(const trl_model *m, double temperature, trl_buf *out,
                                     trl_error *err)
{
    return m && out ? build(m, &temperature, NULL, out, err) : trl_fail_null(err);
}

trl_status trl_model_save_temperature(const trl_model *m, double temperature, const char *path,
                                      trl_error *err)
{
    return m && path ? build(m, &temperature, path, NULL, err) : trl_fail_null(err);
}
