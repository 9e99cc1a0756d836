/* dump.c -- a model as text.
 *
 * One fact a line, fields separated by tabs (here shown as blanks), escaped as in dump_text.h.
 * Blank lines and lines that start with '#' are ignored.
 *
 *     trellis-model 1                      first: the format and its version
 *     kind chain
 *     last end                             the last line will be `end`: what is cut off is told
 *                                          by it (dumps of older programs have neither)
 *     objective likelihood
 *     probability yes                      or no: scores are log-probabilities, up to log Z
 *     decode local                         when the model is normalised locally
 *     mask yes                             when features see what q0 does not know as OOV
 *     weights double                       when they are no floats (imported models)
 *     sums single                          when scores are sums of floats (CRF++)
 *     order 1
 *     columns 3                            of the training data, label included; 0: items
 *     setting LINE                         how it was trained, line by line
 *     template LINE                        the template, line by line
 *     label NAME                           in the order of their numbers
 *     constant edge NAME                   the attribute of pairs (trip: of triples) that is
 *                                          always on
 *     node NAME LABEL WEIGHT               a weight of an attribute and a label,
 *     edge NAME BEFORE LABEL WEIGHT        of an attribute and a pair,
 *     trip NAME FIRST BEFORE LABEL WEIGHT  of an attribute and a triple
 *     calibration LABEL X                  the multiplier of a source label
 *     temperature X                        scores are divided by it for probabilities
 *     word-list, word, scale               of a template in words (dump_lists.c)
 *     q0-...                               the HMM (dump_hmm.c)
 *     end
 *
 * All labels come before the first weight, `constant` before the weights of its family, the
 * weights of an attribute together.  Weights have nine digits, doubles 17, which is enough for them
 * to come back as they were.  Attributes come in the order of the model file, so that reading the
 * dump gives the same file.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "model/chain_parts.h"
#include "model/dump_hmm.h"
#include "model/dump_lists.h"
#include "model/dump_text.h"
#include "model/model.h"

static void put_header(trl_buf *b, const trl_chain_model *m)
{
    trl_buf_str(b, "trellis-model\t1\nkind\tchain\nlast\tend\n");
    trl_put_line(b, "objective", (trl_str){m->objective, strlen(m->objective)});
    trl_buf_fmt(b, "probability\t%s\n%s%s%s%sorder\t%d\ncolumns\t%zu\n",
                m->is_probability ? "yes" : "no", m->is_local ? "decode\tlocal\n" : "",
                m->masked ? "mask\tyes\n" : "",
                m->family[0].type == TRL_WEIGHT_DOUBLE ? "weights\tdouble\n" : "",
                m->family[0].single ? "sums\tsingle\n" : "", m->order, m->n_columns);
    trl_put_lines(b, "setting", (trl_str){m->settings, strlen(m->settings)});
    trl_put_lines(b, "template", m->template_text);
    for (size_t k = 0; k < m->L; k++)
        trl_put_line(b, "label", trl_strview_get(&m->labels, (uint32_t)k));
    for (size_t f = 1; f <= (size_t)m->order; f++)
        if (m->family[f].constant != TRL_NO_ID) {
            trl_buf_str(b, "constant\t");
            trl_put_line(b, trl_family_prefix[f],
                         trl_strview_get(&m->family[f].names, m->family[f].constant));
        }
}

/* The weights of one attribute. */
static void put_row(trl_buf *b, const trl_chain_model *m, size_t family, uint32_t attr)
{
    const trl_model_family *f = &m->family[family];
    const trl_weight_row row = trl_model_row(f, attr);
    for (uint64_t at = row.at; at < row.at + row.k; at++) {
        const uint32_t cell = trl_model_cell(f, row, at);
        trl_buf_str(b, trl_family_prefix[family]);
        trl_buf_ch(b, '\t');
        trl_put_field(b, trl_strview_get(&f->names, attr));
        size_t scale = f->width / m->L;
        for (size_t k = 0; k <= family; k++, scale /= m->L) {
            trl_buf_ch(b, '\t');
            trl_put_field(b, trl_strview_get(&m->labels, (uint32_t)(cell / scale % m->L)));
        }
        trl_buf_ch(b, '\t');
        trl_put_number(b, f->type == TRL_WEIGHT_DOUBLE ? "%.17g" : "%.9g", trl_model_weight(f, at));
        trl_buf_ch(b, '\n');
    }
}

static void put_calibration(trl_buf *b, const trl_chain_model *m)
{
    for (size_t k = 0; m->calibration && k < m->L; k++) {
        trl_buf_str(b, "calibration\t");
        trl_put_field(b, trl_strview_get(&m->labels, (uint32_t)k));
        trl_buf_ch(b, '\t');
        trl_put_number(b, "%.17g", m->calibration[k]);
        trl_buf_ch(b, '\n');
    }
    if (m->has_temperature) {
        trl_buf_str(b, "temperature\t");
        trl_put_number(b, "%.17g", m->temperature);
        trl_buf_ch(b, '\n');
    }
}

trl_status trl_chain_dump(const trl_model *model, trl_write_fn write, void *ctx, trl_error *err)
{
    const trl_chain_model *m = trl_model_chain(model);
    trl_printer p = {.write = write, .ctx = ctx};
    trl_status st = trl_model_need_chain(model, err);
    if (st == TRL_OK)
        st = trl_chain_need_names(m, err);
    if (st != TRL_OK)
        return st;
    put_header(&p.buf, m);
    st = trl_printer_flush(&p, false, err);
    for (size_t f = 0; f <= (size_t)m->order; f++)
        for (size_t a = 0; st == TRL_OK && a < m->family[f].n_attrs; a++) {
            put_row(&p.buf, m, f, (uint32_t)a);
            st = trl_printer_flush(&p, false, err);
        }
    if (st == TRL_OK)
        put_calibration(&p.buf, m);
    if (st == TRL_OK && m->tpl && trl_template_list(m->tpl))
        st = trl_put_lists(&p, trl_template_list(m->tpl), err);
    if (st == TRL_OK && m->has_q0)
        st = trl_put_hmm(&p, m, err);
    trl_buf_str(&p.buf, "end\n");
    if (st == TRL_OK)
        st = trl_printer_flush(&p, true, err);
    trl_buf_fini(&p.buf);
    return st;
}
