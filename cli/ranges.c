/* ranges.c -- lists of numbers. */
/* SPDX-License-Identifier: MIT */
#include "ranges.h"

#include <stdint.h>
#include <stdlib.h>

#include "message.h"

/* A number from 1 on; false: there is none. */
static bool read_number(const char **s, size_t *out)
{
    size_t x = 0;
    const char *from = *s;
    for (; **s >= '0' && **s <= '9'; ++*s) {
        if (x > (SIZE_MAX - 9) / 10)
            return false;
        x = 10 * x + (size_t)(**s - '0');
    }
    *out = x;
    return *s > from && x > 0;
}

static bool add(ranges *r, size_t from, size_t to)
{
    if (r->n == r->cap) {
        const size_t cap = r->cap ? 2 * r->cap : 8;
        struct range *item = realloc(r->item, cap * sizeof *item);
        if (!item)
            return false;
        r->item = item;
        r->cap = cap;
    }
    r->item[r->n++] = (struct range){from, to};
    return true;
}

int ranges_parse(ranges *r, const char *shown, const char *text)
{
    for (const char *s = text; s; s++) {
        size_t from, to;
        bool good = read_number(&s, &from);
        to = from;
        if (good && *s == '-') {
            s++;
            if (*s == ',' || !*s)
                to = SIZE_MAX;
            else
                good = read_number(&s, &to);
        }
        if (!good || (*s && *s != ',') || to < from) {
            message_say("%s: '%s' is not a list of numbers", shown, text);
            message_hint("for instance 3-7,12,20-; numbers start at 1");
            return CLI_USAGE;
        }
        if (!add(r, from, to))
            return message_memory();
        if (!*s)
            break;
    }
    return CLI_DONE;
}

void ranges_fini(ranges *r)
{
    free(r->item);
    *r = (ranges){0};
}

bool ranges_have(const ranges *r, size_t number)
{
    for (size_t i = 0; i < r->n; i++)
        if (number >= r->item[i].from && number <= r->item[i].to)
            return true;
    return r->n == 0;
}

size_t ranges_last(const ranges *r)
{
    size_t last = r->n ? 0 : SIZE_MAX;
    for (size_t i = 0; i < r->n; i++)
        last = r->item[i].to > last ? r->item[i].to : last;
    return last;
}

int ranges_pair(const char *shown, const char *text, size_t out[2])
{
    const char *s = text;
    for (size_t k = 0; s && k < 2; k++) {
        const char *from = s;
        out[k] = 0;
        for (; *s >= '0' && *s <= '9' && s - from < 9; s++)
            out[k] = 10 * out[k] + (size_t)(*s - '0');
        if (s == from || *s != (k == 0 ? ',' : '\0'))
            s = NULL;
        else
            s++;
    }
    return s ? CLI_DONE
             : message_usage("%s: '%s' is not a pair of columns such as 3,5", shown, text);
}
