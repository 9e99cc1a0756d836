/* names.c -- prefixes and near misses. */
/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <stdio.h>
#include <string.h>

#include "message.h"

#define LONGEST 40 /* longer words are not compared for a suggestion */

/* Number of letters to insert, delete, replace or swap with their neighbour to get from a to b
 * (optimal string alignment); a large number for long words. */
static size_t distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    size_t d[3][LONGEST + 1]; /* rows i - 2, i - 1 and i, in turn */
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        const size_t *two = d[(i + 1) % 3], *one = d[(i + 2) % 3];
        size_t *now = d[i % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = one[j - 1] + (a[i - 1] != b[j - 1]);
            if (one[j] + 1 < best)
                best = one[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                two[j - 2] + 1 < best)
                best = two[j - 2] + 1;
            now[j] = best;
        }
    }
    return d[n % 3][m];
}

size_t name_lookup(const char *what, const char *dash, const char *word, name_fn name,
                   const void *set)
{
    const size_t n = strlen(word);
    size_t found = NAME_NOT_FOUND, matches = 0, near = NAME_NOT_FOUND, near_d = SIZE_MAX;
    char all[400] = "";
    for (size_t k = 0; name(set, k); k++) {
        const char *s = name(set, k);
        if (n && strcmp(s, word) == 0)
            return k;
        if (n && strncmp(s, word, n) == 0) {
            const size_t used = strlen(all);
            snprintf(all + used, sizeof all - used, "%s%s%s", matches ? ", " : "", dash, s);
            found = k;
            matches++;
        }
        const size_t d = distance(word, s);
        if (d < near_d && *s) {
            near_d = d;
            near = k;
        }
    }
    if (matches == 1)
        return found;
    if (matches > 1)
        message_say("%s '%s%s' could be any of %s", what, dash, word, all);
    else {
        message_say("unknown %s '%s%s'", what, dash, word);
        if (n && near_d <= 1 + n / 3)
            message_hint("did you mean '%s%s'?", dash, name(set, near));
    }
    return NAME_NOT_FOUND;
}
