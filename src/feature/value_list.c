/* value_list.c -- values of attributes: none, bytes or doubles. */
/* SPDX-License-Identifier: MIT */
#include "feature/value_list.h"

#include <string.h>

#include "base/mem.h"

void trl_value_list_fini(trl_value_list *v)
{
    trl_free(v->code);
    trl_free(v->wide);
    *v = (trl_value_list){0};
}

/* The code of the value, by its bits: -0 is not 0; TRL_VALUES_FEW: there are too many. */
static size_t code_of(trl_value_list *v, double value)
{
    for (size_t k = 0; k < v->n_few; k++)
        if (memcmp(&v->few[k], &value, sizeof value) == 0)
            return k;
    if (v->n_few == TRL_VALUES_FEW)
        return TRL_VALUES_FEW;
    v->few[v->n_few] = value;
    return v->n_few++;
}

static bool widen(trl_value_list *v, size_t n)
{
    double *wide = trl_reserve(NULL, &v->wide_cap, n + 1, sizeof *wide);
    if (!wide)
        return false;
    for (size_t k = 0; k < n; k++)
        wide[k] = v->few[v->code[k]];
    trl_free(v->code);
    v->code = NULL;
    v->wide = wide;
    return true;
}

bool trl_value_list_add(trl_value_list *v, size_t n, double value)
{
    if (trl_value_list_all_one(v) && value == 1.0)
        return true;
    if (!v->wide) {
        uint8_t *code = trl_reserve(v->code, &v->code_cap, n + 1, sizeof *code);
        if (!code)
            return false;
        if (!v->code) { /* the first value that is not 1 */
            memset(code, 0, n);
            v->few[0] = 1.0;
            v->n_few = 1;
        }
        v->code = code;
        const size_t c = code_of(v, value);
        if (c < TRL_VALUES_FEW) {
            code[n] = (uint8_t)c;
            return true;
        }
        if (!widen(v, n))
            return false;
    }
    double *wide = trl_reserve(v->wide, &v->wide_cap, n + 1, sizeof *wide);
    if (!wide)
        return false;
    v->wide = wide;
    wide[n] = value;
    return true;
}
