/* place_cursor.c -- numbers and words of a line. */
/* SPDX-License-Identifier: MIT */
#include "text/place_cursor.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

void trl_place_skip_blanks(trl_place_cursor *c)
{
    while (c->p < c->end && is_blank(*c->p))
        c->p++;
}

bool trl_place_number(trl_place_cursor *c, uint64_t *x)
{
    const uint64_t most = (uint64_t)1 << 53;
    const char *from = c->p;
    *x = 0;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9' && *x <= most; c->p++)
        *x = 10 * *x + (uint64_t)(*c->p - '0');
    return c->p > from && *from != '0' && *x <= most;
}

trl_str trl_place_word(trl_place_cursor *c)
{
    const char *from = c->p;
    while (c->p < c->end && !is_blank(*c->p))
        c->p++;
    return (trl_str){from, (size_t)(c->p - from)};
}
