/* span_list.c -- labelled spans with their probabilities. */
/* SPDX-License-Identifier: MIT */
#include "parser/span_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define LEAST_SPAN 0.01

/* To nine digits: differences by rounding alone are ties. */
static int by_probability(const void *a, const void *b)
{
    const trl_span *x = a, *y = b;
    const double p = rint(1e9 * x->probability), q = rint(1e9 * y->probability);
    if (p != q)
        return p < q ? 1 : -1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? 1 : -1;
    const size_t n = x->label.n < y->label.n ? x->label.n : y->label.n;
    const int c = memcmp(x->label.p, y->label.p, n);
    return c ? c : x->label.n < y->label.n ? -1 : x->label.n > y->label.n;
}

trl_status trl_span_list_fill(trl_span_list *l, const trl_brackets *b, const trl_strtab *labels,
                              trl_error *err)
{
    l->n = 0;
    for (size_t j = 1; j <= b->n; j++)
        for (size_t i = 0; i < j; i++)
            for (uint32_t k = b->first[trl_cell(i, j)]; k < b->first[trl_cell(i, j) + 1]; k++) {
                const double q = b->bracket[k].any;
                const trl_str label = trl_strtab_get(labels, b->bracket[k].label);
                if (q < LEAST_SPAN || label.n == 0) /* the root of "( (S ...))" has no label */
                    continue;
                trl_span *s = trl_reserve(l->span, &l->cap, l->n + 1, sizeof *s);
                if (!s)
                    return trl_fail_mem(err);
                l->span = s;
                s[l->n++] = (trl_span){label, i, j, q < 1.0 ? q : 1.0}; /* 1 + rounding */
            }
    if (l->n)
        qsort(l->span, l->n, sizeof *l->span, by_probability);
    return TRL_OK;
}
