/* format.c -- printf in the "C" locale, for this thread and the duration of the call. */
/* SPDX-License-Identifier: MIT */
#include "base/format.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

int trl_vsnprintf(char *out, size_t cap, const char *fmt, va_list ap)
{
    if (strcmp(nl_langinfo(RADIXCHAR), ".") == 0)
        return vsnprintf(out, cap, fmt, ap);
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return -1;
    const locale_t old = uselocale(plain);
    const int n = vsnprintf(out, cap, fmt, ap);
    uselocale(old);
    freelocale(plain);
    return n;
}

int trl_snprintf(char *out, size_t cap, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int n = trl_vsnprintf(out, cap, fmt, ap);
    va_end(ap);
    return n;
}
