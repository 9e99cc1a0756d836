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
