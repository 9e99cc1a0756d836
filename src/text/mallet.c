/* mallet.c -- reading SimpleTagger's lines. */
/* SPDX-License-Identifier: MIT */
#include "text/mallet.h"

#include "base/fail.h"
#include "base/mem.h"
#include "text/token_lines.h"

struct trl_mallet {
    trl_input *in;
    trl_arena text;
    trl_str *label;
    trl_token_attrs attrs;
    size_t n, label_cap;
};

trl_status trl_mallet_new(trl_input *in, trl_mallet **out, trl_error *err)
{
    trl_mallet *r = trl_zalloc(1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    r->in = in;
    *out = r;
    return TRL_OK;
}

void trl_mallet_free(trl_mallet *r)
{
    if (!r)
        return;
    trl_arena_fini(&r->text);
    trl_free(r->label);
    trl_token_attrs_fini(&r->attrs);
    trl_free(r);
}

/* Words are attributes until another follows: the last one is the label. */
static trl_status add_token(void *ctx, const char *p, trl_error *err)
{
    trl_mallet *r = ctx;
    trl_str *label = trl_reserve(r->label, &r->label_cap, r->n + 1, sizeof *label);
    r->label = label ? label : r->label;
    if (!label || !trl_token_attrs_room(&r->attrs, r->n))
        return trl_fail_mem(err);
    r->attrs.begin[r->n] = r->attrs.n;
    trl_str last = trl_next_word(&p);
    for (trl_str s; (s = trl_next_word(&p)).n; last = s)
        if (!trl_token_attrs_add(&r->attrs, last))
            return trl_fail_mem(err);
    r->label[r->n++] = last;
    r->attrs.begin[r->n] = r->attrs.n;
    return TRL_OK;
}

trl_status trl_mallet_next(trl_mallet *r, trl_items *seq, bool *more, trl_error *err)
{
    uint64_t first_row = 0;
    const trl_token_lines lines = {r->in, &r->text, add_token, r};
    size_t n;
    r->n = r->attrs.n = 0;
    const trl_status st = trl_token_lines_next(&lines, &n, &first_row, err);
    if (st != TRL_OK)
        return st;
    *more = n > 0;
    *seq = (trl_items){.n_tokens = n,
                       .label = r->label,
                       .begin = r->attrs.begin,
                       .attr = r->attrs.attr,
                       .weight = 1.0,
                       .path = trl_input_name(r->in),
                       .first_row = first_row};
    return TRL_OK;
}
