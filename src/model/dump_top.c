/* dump_top.c -- the largest and smallest weights, in a table for people. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/dump_hmm.h"
#include "model/dump_text.h"
#include "model/model.h"
#include "model/ranked_weights.h"

typedef struct table {
    const trl_chain_model *m;
    size_t family, top;
    size_t label_width; /* of the longest "label -> label" shown */
    trl_printer p;
    trl_error *err;
} table;

/* "label -> label"; returns its width. */
static size_t put_labels(const table *t, trl_buf *b, uint32_t cell)
{
    size_t width = 0, scale = t->m->family[t->family].width / t->m->L;
    for (size_t k = 0; k <= t->family; k++, scale /= t->m->L) {
        if (k > 0) {
            trl_buf_str(b, " -> ");
            width += 4;
        }
        width +=
            trl_put_field(b, trl_strview_get(&t->m->labels, (uint32_t)(cell / scale % t->m->L)));
    }
    return width;
}

static trl_status put_ranked(table *t, const trl_ranked_weight *r)
{
    const trl_model_family *f = &t->m->family[t->family];
    trl_buf *b = &t->p.buf;
    trl_put_number(b, "%14.6f", r->weight);
    trl_buf_str(b, "  ");
    if (t->family != TRL_NODE) {
        size_t width = put_labels(t, b, r->cell);
        if (r->attr != f->constant)
            for (; width < t->label_width + 2; width++)
                trl_buf_ch(b, ' ');
    }
    if (r->attr != f->constant)
        trl_put_field(b, trl_strview_get(&f->names, r->attr));
    trl_buf_ch(b, '\n');
    return trl_printer_flush(&t->p, false, t->err);
}

/* The width of the labels of the rows that will be shown. */
static void measure(table *t, const trl_ranked_weight *r, size_t n)
{
    trl_buf scratch = {0};
    t->label_width = 0;
    for (size_t i = 0; t->family != TRL_NODE && i < n; i++) {
        if (i >= t->top && n - i > t->top)
            continue;
        scratch.len = 0;
        const size_t width = put_labels(t, &scratch, r[i].cell);
        t->label_width = width > t->label_width ? width : t->label_width;
    }
    trl_buf_fini(&scratch);
}

/* Largest first, then, of what has not been shown, the smallest first. */
static trl_status put_block(table *t, trl_ranked_weight *r, size_t n)
{
    const size_t large = n < t->top ? n : t->top;
    const size_t small = n - large < t->top ? n - large : t->top;
    trl_status st = TRL_OK;
    qsort(r, n, sizeof *r, trl_ranked_weight_compare);
    measure(t, r, n);
    if (large)
        trl_buf_str(&t->p.buf, "  largest\n");
    for (size_t i = 0; st == TRL_OK && i < large; i++)
        st = put_ranked(t, &r[i]);
    if (small)
        trl_buf_str(&t->p.buf, "  smallest\n");
    for (size_t i = 0; st == TRL_OK && i < small; i++)
        st = put_ranked(t, &r[n - 1 - i]);
    return st;
}

/* All weights of the family, by label when there are several groups: at[g] .. at[g + 1]. */
static trl_ranked_weight *collect(const table *t, size_t groups, size_t *at)
{
    const trl_model_family *f = &t->m->family[t->family];
    trl_ranked_weight *all = trl_alloc((size_t)f->n_weights, sizeof *all);
    memset(at, 0, (groups + 2) * sizeof *at);
    for (int pass = 0; all && pass < 2; pass++) {
        for (size_t a = 0; a < f->n_attrs; a++) {
            const trl_weight_row row = trl_model_row(f, (uint32_t)a);
            for (uint64_t i = row.at; i < row.at + row.k; i++) {
                const uint32_t cell = trl_model_cell(f, row, i);
                const size_t g = groups > 1 ? cell : 0;
                if (pass == 0)
                    at[g + 2]++;
                else
                    all[at[g + 1]++] =
                        (trl_ranked_weight){trl_model_weight(f, i), (uint32_t)a, cell};
            }
        }
        for (size_t g = 0; pass == 0 && g < groups; g++)
            at[g + 2] += at[g + 1];
    }
    return all;
}

static trl_status put_family(table *t)
{
    static const char *const title[] = {"label ", "pairs of labels", "triples of labels"};
    const size_t groups = t->family == TRL_NODE ? t->m->L : 1;
    if (t->m->has_q0 && t->m->family[t->family].n_weights == 0)
        return TRL_OK; /* an HMM alone */
    size_t *at = trl_alloc(groups + 2, sizeof *at);
    trl_ranked_weight *all = at ? collect(t, groups, at) : NULL;
    trl_status st = all ? TRL_OK : trl_fail_mem(t->err);
    for (size_t g = 0; st == TRL_OK && g < groups; g++) {
        trl_buf_str(&t->p.buf, title[t->family]);
        if (t->family == TRL_NODE)
            trl_put_field(&t->p.buf, trl_strview_get(&t->m->labels, (uint32_t)g));
        trl_buf_fmt(&t->p.buf, ": %zu weights\n", at[g + 1] - at[g]);
        st = put_block(t, all + at[g], at[g + 1] - at[g]);
        trl_buf_ch(&t->p.buf, '\n');
    }
    trl_free(all);
    trl_free(at);
    return st;
}

trl_status trl_chain_dump_top(const trl_model *model, size_t top, trl_write_fn write, void *ctx,
                              trl_error *err)
{
    table t = {.m = trl_model_chain(model), .top = top, .p = {write, ctx, {0}}, .err = err};
    trl_status st = trl_model_need_chain(model, err);
    if (st == TRL_OK)
        st = trl_chain_need_names(t.m, err);
    if (st != TRL_OK)
        return st;
    for (t.family = 0; st == TRL_OK && t.family <= (size_t)t.m->order; t.family++)
        st = put_family(&t);
    if (st == TRL_OK && t.m->has_q0)
        st = trl_put_hmm_top(&t.p, t.m, top, err);
    if (st == TRL_OK)
        st = trl_printer_flush(&t.p, true, err);
    trl_buf_fini(&t.p.buf);
    return st;
}
