/* dump_hmm.c -- the HMM of a model as text.
 *
 * Lines as in dump.c, with 17 digits, probabilities of 0 left out but for emissions':
 *
 *     q0-order 2
 *     q0-start LABEL P
 *     q0-next FIRST BEFORE LABEL P         p(LABEL | FIRST, BEFORE); in order 1 without FIRST, and
 *                                          in order 2 without it for the second token
 *     q0-stop FIRST BEFORE P               the same for the end of the sequence
 *     q0-column 0                          emissions of this column of the data follow
 *     q0-emit VALUE LABEL P                in the order of the values; the first one is OOV
 */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/dump_hmm.h"

static void put_label(trl_buf *b, const trl_chain_model *m, size_t y)
{
    trl_put_field(b, trl_strview_get(&m->labels, (uint32_t)y));
    trl_buf_ch(b, '\t');
}

static void put_p(trl_buf *b, double p)
{
    trl_put_number(b, "%.17g", p);
    trl_buf_ch(b, '\n');
}

/* All that can follow one context. */
static void put_context(trl_buf *b, const trl_chain_model *m, size_t before, size_t y)
{
    const trl_hmm *h = &m->q0;
    for (size_t to = 0; to <= h->L; to++) {
        const double p = trl_hmm_next(h, before, y, to);
        if (p == 0.0)
            continue;
        trl_buf_str(b, to < h->L ? "q0-next\t" : "q0-stop\t");
        if (h->order == 2 && before < h->L)
            put_label(b, m, before);
        put_label(b, m, y);
        if (to < h->L)
            put_label(b, m, to);
        put_p(b, p);
    }
}

static trl_status put_column(trl_printer *p, const trl_chain_model *m, size_t c, trl_error *err)
{
    const trl_hmm_column *col = &m->q0.column[c];
    trl_status st = TRL_OK;
    trl_buf_fmt(&p->buf, "q0-column\t%zu\n", col->column);
    for (size_t v = 0; st == TRL_OK && v < col->n; v++) {
        for (size_t y = 0; y < m->L; y++) {
            trl_buf_str(&p->buf, "q0-emit\t");
            trl_put_field(&p->buf, trl_strview_get(&col->values, (uint32_t)v));
            trl_buf_ch(&p->buf, '\t');
            put_label(&p->buf, m, y);
            put_p(&p->buf, col->p[v * m->L + y]);
        }
        st = trl_printer_flush(p, false, err);
    }
    return st;
}

trl_status trl_put_hmm(trl_printer *p, const trl_chain_model *m, trl_error *err)
{
    const trl_hmm *h = &m->q0;
    trl_status st = TRL_OK;
    trl_buf_fmt(&p->buf, "q0-order\t%d\n", h->order);
    for (size_t y = 0; y < h->L; y++)
        if (h->start[y] > 0.0) {
            trl_buf_str(&p->buf, "q0-start\t");
            put_label(&p->buf, m, y);
            put_p(&p->buf, h->start[y]);
        }
    for (size_t before = h->order == 2 ? 0 : h->L; st == TRL_OK && before <= h->L; before++)
        for (size_t y = 0; st == TRL_OK && y < h->L; y++) {
            put_context(&p->buf, m, before, y);
            st = trl_printer_flush(p, false, err);
        }
    for (size_t c = 0; st == TRL_OK && c < h->n_columns; c++)
        st = put_column(p, m, c, err);
    return st;
}

/* ---- the table for people -------------------------------------------------------------------- */

typedef struct ranked {
    double p;
    size_t value;
} ranked;

/* Probable ones first; the order is total. */
static int by_p(const void *pa, const void *pb)
{
    const ranked *a = pa, *b = pb;
    if (a->p != b->p)
        return a->p < b->p ? 1 : -1;
    return a->value < b->value ? -1 : a->value > b->value;
}

trl_status trl_put_hmm_top(trl_printer *p, const trl_chain_model *m, size_t top, trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t c = 0; c < m->q0.n_columns; c++) {
        const trl_hmm_column *col = &m->q0.column[c];
        ranked *all = trl_alloc(col->n, sizeof *all);
        if (!all)
            return trl_fail_mem(err);
        for (size_t y = 0; st == TRL_OK && y < m->L; y++) {
            trl_buf_str(&p->buf, "q0: label ");
            trl_put_field(&p->buf, trl_strview_get(&m->labels, (uint32_t)y));
            trl_buf_fmt(&p->buf, " emits in column %zu\n", col->column);
            for (size_t v = 0; v < col->n; v++)
                all[v] = (ranked){col->p[v * m->L + y], v};
            qsort(all, col->n, sizeof *all, by_p);
            for (size_t v = 0; v < col->n && v < top; v++) {
                trl_put_number(&p->buf, "%14.6f", all[v].p);
                trl_buf_str(&p->buf, "  ");
                trl_put_field(&p->buf, trl_strview_get(&col->values, (uint32_t)all[v].value));
                trl_buf_ch(&p->buf, '\n');
            }
            trl_buf_ch(&p->buf, '\n');
            st = trl_printer_flush(p, false, err);
        }
        trl_free(all);
    }
    return st;
}
