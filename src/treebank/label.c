/* label.c -- labels without function tags and indices. */
/* SPDX-License-Identifier: MIT */
#include "treebank/label.h"

trl_str trl_label_category(trl_str s)
{
    size_t n = 1;
    if (s.n == 0 || s.p[0] == '-' || s.p[0] == '=')
        return s;
    while (n < s.n && s.p[n] != '-' && s.p[n] != '=')
        n++;
    return (trl_str){s.p, n};
}

static bool is_index(trl_str s)
{
    for (size_t k = 0; k < s.n; k++)
        if (s.p[k] < '0' || s.p[k] > '9')
            return false;
    return true;
}

trl_str trl_label_function(trl_str *rest)
{
    while (rest->n) {
        const bool gap = rest->p[0] == '=';
        size_t n = 1;
        while (n < rest->n && rest->p[n] != '-' && rest->p[n] != '=')
            n++;
        const trl_str part = {rest->p + 1, n - 1};
        *rest = (trl_str){rest->p + n, rest->n - n};
        if (!gap && !is_index(part))
            return part;
    }
    return *rest;
}
