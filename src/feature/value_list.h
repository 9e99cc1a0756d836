/* value_list.h -- the values of attributes, most of which are the same few.
 *
 * All 1: nothing is stored.  At most TRL_VALUES_FEW different ones, as 0 and 1 for false and true:
 * a byte each.  Else doubles.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_VALUE_LIST_H
#define TRL_VALUE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRL_VALUES_FEW 8

typedef struct trl_value_list {
    uint8_t *code; /* of each one, its place in few */
    double few[TRL_VALUES_FEW];
    size_t n_few;
    double *wide; /* NULL unless there are more different ones */
    size_t code_cap, wide_cap;
} trl_value_list;

/* Adds the value of number n; those before it are there.  False: no memory. */
bool trl_value_list_add(trl_value_list *v, size_t n, double value);
void trl_value_list_fini(trl_value_list *v);

static inline bool trl_value_list_all_one(const trl_value_list *v)
{
    return !v->code && !v->wide;
}

static inline double trl_value_list_at(const trl_value_list *v, size_t k)
{
    return v->wide ? v->wide[k] : v->code ? v->few[v->code[k]] : 1.0;
}

#endif
