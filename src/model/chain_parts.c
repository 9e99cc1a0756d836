/* chain_parts.c -- assembling a chain model's sections (layout: chain_model.h). */
/* SPDX-License-Identifier: MIT */
#include "model/chain_parts.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/features_io.h"
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
                                      (p->masked ? TRL_CHAIN_MASKED : 0) |
                                      (p->single ? TRL_CHAIN_SINGLE : 0),
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
        st = trl_family_save(&(trl_family_part){.rows = &p->rows[f],
                                                .prefix = trl_family_prefix[f],
                                                .width = trl_family_width(p->labels->n, f),
                                                .sorted = &p->sorted[f],
                                                .constant = &info->constant[f]},
                             b, err);
    if (st == TRL_OK && p->features)
        st = trl_features_save(p->features, b, err);
    if (st == TRL_OK && p->q0)
        st = trl_hmm_save(p->q0, TRL_Q0_PREFIX, b, err);
    if (p->calibration)
        trl_container_builder_add(b, "calibrat", p->calibration,
                                  p->labels->n * sizeof *p->calibration);
    if (p->temperature > 0.0)
        trl_container_builder_add(b, TRL_TEMPERATURE_TAG, &p->temperature, sizeof p->temperature);
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
        trl_weight_rows_fini(&p->rows[f]);
        trl_strtab_fini(&p->sorted[f]);
    }
}
