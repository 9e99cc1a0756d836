/* mallet.c -- reading SimpleTagger's lines. */
/* SPDX-License-Identifier: MIT */
#include "text/mallet.h"

#include "base/arena.h"
#include "base/fail.h"
#include "base/mem.h"

struct trl_mallet {
    trl_input *in;
    trl_arena text;
    trl_str *label;
    size_t *begin;
    trl_attr *attr;
    size_t n, n_attrs, label_cap, begin_cap, attr_cap;
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
    trl_free(r->begin);
    trl_free(r->attr);
    trl_free(r);
}

static bool make_room(trl_mallet *r)
{
    trl_str *label = trl_reserve(r->label, &r->label_cap, r->n + 1, sizeof *label);
    if (label)
        r->label = label;
    size_t *begin = trl_reserve(r->begin, &r->begin_cap, r->n + 2, sizeof *begin);
    if (begin)
        r->begin = begin;
    return label && begin;
}

/* Cells are attributes until another follows: the last one is the label. */
static trl_status add_token(trl_mallet *r, const char *p, trl_error *err)
{
    trl_str last = {0};
    if (!make_room(r))
        return trl_fail_mem(err);
    r->begin[r->n] = r->n_attrs;
    for (;;) {
        while (*p == ' ' || *p == '\t')
            p++;
        if (*p == '\n')
            break;
        if (last.n) {
            trl_attr *attr = trl_reserve(r->attr, &r->attr_cap, r->n_attrs + 1, sizeof *attr);
            if (!attr)
                return trl_fail_mem(err);
            r->attr = attr;
            r->attr[r->n_attrs++] = (trl_attr){last, 1.0};
        }
        last = (trl_str){p, 0};
        while (*p != ' ' && *p != '\t' && *p != '\n')
            p++;
        last.n = (size_t)(p - last.p);
    }
    r->label[r->n++] = last;
    return TRL_OK;
}

trl_status trl_mallet_next(trl_mallet *r, trl_items *seq, bool *more, trl_error *err)
{
    uint64_t first_row = 0;
    trl_arena_reset(&r->text);
    r->n = r->n_attrs = 0;
    for (;;) {
        char *line;
        size_t n;
        trl_status st = trl_input_line_copy(r->in, &r->text, &line, &n, err);
        if (st != TRL_OK)
            return st;
        if (!line || trl_line_is_blank(line)) {
            if (!line || r->n > 0)
                break;
            continue;
        }
        if (r->n == 0)
            first_row = trl_input_row(r->in);
        st = trl_input_check_text(r->in, (trl_str){line, n}, err);
        if (st == TRL_OK)
            st = add_token(r, line, err);
        if (st != TRL_OK)
            return st;
    }
    *more = r->n > 0;
    if (r->n)
        r->begin[r->n] = r->n_attrs;
    *seq = (trl_items){.n_tokens = r->n,
                       .label = r->label,
                       .begin = r->begin,
                       .attr = r->attr,
                       .weight = 1.0,
                       .path = trl_input_name(r->in),
                       .first_row = first_row};
    return TRL_OK;
}
