/* token_lines.c -- the lines of a sequence, their words and attributes. */
/* SPDX-License-Identifier: MIT */
#include "text/token_lines.h"

#include "base/mem.h"

bool trl_token_attrs_room(trl_token_attrs *a, size_t n_tokens)
{
    size_t *begin = trl_reserve(a->begin, &a->begin_cap, n_tokens + 2, sizeof *begin);
    if (begin)
        a->begin = begin;
    return begin != NULL;
}

bool trl_token_attrs_add(trl_token_attrs *a, trl_str name)
{
    trl_attr *attr = trl_reserve(a->attr, &a->attr_cap, a->n + 1, sizeof *attr);
    if (!attr)
        return false;
    a->attr = attr;
    attr[a->n++] = (trl_attr){name, 1.0};
    return true;
}

void trl_token_attrs_fini(trl_token_attrs *a)
{
    trl_free(a->begin);
    trl_free(a->attr);
    *a = (trl_token_attrs){0};
}

trl_str trl_next_word(const char **p)
{
    while (**p == ' ' || **p == '\t')
        ++*p;
    const char *from = *p;
    while (**p != ' ' && **p != '\t' && **p != '\n')
        ++*p;
    return (trl_str){from, (size_t)(*p - from)};
}

trl_status trl_token_lines_next(const trl_token_lines *x, size_t *n, uint64_t *first_row,
                                trl_error *err)
{
    trl_arena_reset(x->text);
    for (*n = 0;;) {
        char *line;
        size_t bytes;
        trl_status st = trl_input_line_copy(x->in, x->text, &line, &bytes, err);
        if (st != TRL_OK)
            return st;
        if (!line || trl_line_is_blank(line)) {
            if (!line || *n > 0)
                return TRL_OK;
            continue;
        }
        if (*n == 0)
            *first_row = trl_input_row(x->in);
        st = trl_input_check_text(x->in, (trl_str){line, bytes}, err);
        if (st == TRL_OK)
            st = x->add(x->ctx, line, err);
        if (st != TRL_OK)
            return st;
        ++*n;
    }
}
