/* graph_dump.c -- a graph model in words: all weights, or the largest of every factor.
 *
 * Fields are separated by tabs, escaped as in model/dump_text.h:
 *
 *     trellis-model 1
 *     kind graph
 *     objective NAME, probability yes or no, columns N, setting LINE
 *     model LINE                          the model file, line by line
 *     label LAYER NAME                    in the order of their numbers
 *     constant NAME ATTRIBUTE             what weights that are always on are called in the file
 *     factor NAME ATTRIBUTE LABEL ... W   a weight; the attribute is empty for those always on
 *     end
 */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "graph_model/graph_model.h"
#include "model/dump_text.h"
#include "model/ranked_weights.h"

typedef struct dumping {
    const trl_graph_model *m;
    size_t factor;
    trl_printer p;
    trl_error *err;
} dumping;

static trl_str string(const char *s)
{
    return (trl_str){s, strlen(s)};
}

static void put_header(trl_buf *b, const trl_graph_model *m)
{
    trl_buf_str(b, "trellis-model\t1\nkind\tgraph\n");
    trl_put_line(b, "objective", string(m->objective));
    trl_buf_fmt(b, "probability\t%s\ncolumns\t%zu\n", m->is_probability ? "yes" : "no",
                m->n_columns);
    trl_put_lines(b, "setting", string(m->settings));
    trl_put_lines(b, "model", (trl_str){m->spec->text, m->spec->text_len});
    for (size_t k = 0; k < m->spec->n_layers; k++)
        for (size_t i = 0; i < m->n_labels[k]; i++) {
            trl_buf_fmt(b, "label\t%s\t", m->spec->layer[k].name);
            trl_put_field(b, trl_strview_get(&m->labels[k], (uint32_t)i));
            trl_buf_ch(b, '\n');
        }
}

/* The labels of a cell, with something between them; their width. */
static size_t put_labels(const dumping *d, uint32_t cell, const char *between, trl_buf *b)
{
    const trl_factor_spec *f = &d->m->spec->factor[d->factor];
    size_t scale = d->m->family[d->factor].width, width = 0;
    for (size_t k = 0; k < f->n; k++) {
        const size_t n = d->m->n_labels[f->layer[k]];
        scale /= n;
        if (k) {
            trl_buf_str(b, between);
            width += strlen(between);
        }
        width += trl_put_field(
            b, trl_strview_get(&d->m->labels[f->layer[k]], (uint32_t)(cell / scale % n)));
    }
    return width;
}

static trl_str attribute(const dumping *d, uint32_t a)
{
    const trl_model_family *f = &d->m->family[d->factor];
    return a == f->constant ? (trl_str){"", 0} : trl_strview_get(&f->names, a);
}

static trl_status put_factor(dumping *d)
{
    const trl_model_family *f = &d->m->family[d->factor];
    trl_buf *b = &d->p.buf;
    const trl_str name = string(d->m->spec->factor[d->factor].name);
    trl_status st = TRL_OK;
    if (f->constant != TRL_NO_ID) {
        trl_buf_str(b, "constant\t");
        trl_put_field(b, name);
        trl_buf_ch(b, '\t');
        trl_put_field(b, trl_strview_get(&f->names, f->constant));
        trl_buf_ch(b, '\n');
    }
    for (size_t a = 0; st == TRL_OK && a < f->n_attrs; a++) {
        const trl_weight_row row = trl_model_row(f, (uint32_t)a);
        for (uint64_t at = row.at; at < row.at + row.k; at++) {
            trl_buf_str(b, "factor\t");
            trl_put_field(b, name);
            trl_buf_ch(b, '\t');
            trl_put_field(b, attribute(d, (uint32_t)a));
            trl_buf_ch(b, '\t');
            put_labels(d, trl_model_cell(f, row, at), "\t", b);
            trl_buf_ch(b, '\t');
            trl_put_number(b, "%.9g", trl_model_weight(f, at));
            trl_buf_ch(b, '\n');
        }
        st = trl_printer_flush(&d->p, false, d->err);
    }
    return st;
}

/* ---- the largest ----------------------------------------------------------------------------- */

static void put_ranked(dumping *d, const trl_ranked_weight *r)
{
    trl_buf *b = &d->p.buf;
    trl_put_number(b, "%14.6f", r->weight);
    trl_buf_str(b, "  ");
    size_t width = put_labels(d, r->cell, " ", b);
    const trl_str name = attribute(d, r->attr);
    for (; name.n && width < 16; width++)
        trl_buf_ch(b, ' ');
    if (name.n)
        trl_buf_str(b, "  ");
    trl_put_field(b, name);
    trl_buf_ch(b, '\n');
}

static trl_status put_top(dumping *d, size_t top)
{
    const trl_model_family *f = &d->m->family[d->factor];
    trl_ranked_weight *all = trl_alloc(f->n_weights + 1, sizeof *all);
    size_t n = 0;
    if (!all)
        return trl_fail_mem(d->err);
    for (size_t a = 0; a < f->n_attrs; a++) {
        const trl_weight_row row = trl_model_row(f, (uint32_t)a);
        for (uint64_t at = row.at; at < row.at + row.k; at++)
            all[n++] = (trl_ranked_weight){trl_model_weight(f, at), (uint32_t)a,
                                           trl_model_cell(f, row, at)};
    }
    qsort(all, n, sizeof *all, trl_ranked_weight_compare);
    const size_t large = n < top ? n : top, small = n - large < top ? n - large : top;
    trl_buf_fmt(&d->p.buf, "factor %s: %zu weights\n", d->m->spec->factor[d->factor].name, n);
    trl_buf_str(&d->p.buf, large ? "  largest\n" : "");
    for (size_t i = 0; i < large; i++)
        put_ranked(d, &all[i]);
    trl_buf_str(&d->p.buf, small ? "  smallest\n" : "");
    for (size_t i = 0; i < small; i++)
        put_ranked(d, &all[n - 1 - i]);
    trl_buf_ch(&d->p.buf, '\n');
    trl_free(all);
    return trl_printer_flush(&d->p, false, d->err);
}

trl_status trl_graph_model_dump(const trl_graph_model *m, size_t top, trl_write_fn write, void *ctx,
                                trl_error *err)
{
    if (!m || !write)
        return trl_fail_null(err);
    dumping d = {.m = m, .p = {write, ctx, {0}}, .err = err};
    trl_status st = TRL_OK;
    if (!top)
        put_header(&d.p.buf, m);
    for (; st == TRL_OK && d.factor < m->spec->n_factors; d.factor++)
        st = top ? put_top(&d, top) : put_factor(&d);
    if (!top)
        trl_buf_str(&d.p.buf, "end\n");
    if (st == TRL_OK)
        st = trl_printer_flush(&d.p, true, err);
    trl_buf_fini(&d.p.buf);
    return st;
}
