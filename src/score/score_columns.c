/* score_columns.c -- cutting lines of a file to be scored. */
/* SPDX-License-Identifier: MIT */
#include "score/score_columns.h"

#include <string.h>

#include "base/fail.h"
#include "text/number.h"

static bool separates(char c, char delimiter)
{
    return c == delimiter || (delimiter == ' ' && c == '\t');
}

trl_score_columns trl_score_split(trl_str line, char delimiter, size_t want, const size_t pick[2])
{
    trl_score_columns c = {0};
    size_t end = line.n;
    while (end > 0 && separates(line.p[end - 1], delimiter))
        end--;
    c.n_single = end > 0;
    for (size_t i = 0, from = 0; end > 0 && i <= end; i++) {
        if (i < end && !separates(line.p[i], delimiter))
            continue;
        if (i > from || delimiter != ' ') {
            c.gold = c.predicted;
            c.predicted = (trl_str){line.p + from, i - from};
            if (c.n == 0)
                c.first = c.predicted;
            if (c.n == want)
                c.surplus = from + 1;
            for (int k = 0; k < 2; k++)
                if (c.n == pick[k])
                    c.pair[k] = c.predicted;
            c.n++;
        }
        c.n_single += i < end;
        from = i + 1;
    }
    if (!pick[0] && !pick[1]) {
        c.pair[0] = c.gold;
        c.pair[1] = c.predicted;
    }
    return c;
}

static bool is_text(trl_str s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

static bool is_number(trl_str s)
{
    double x;
    return trl_number_parse(s.p, s.n, &x) == TRL_NUMBER_OK;
}

trl_score_line trl_score_line_type(const trl_score_columns *c, bool first)
{
    if (c->n == 0 || is_text(c->first, "-X-") || is_text(c->first, "-DOCSTART-"))
        return TRL_SCORE_BOUNDARY;
    if (first && c->n == 3 && is_text(c->first, "#") && is_number(c->gold) &&
        is_text(c->predicted, "estimate"))
        return TRL_SCORE_HEADING;
    if (first && c->n == 4 && is_text(c->first, "#") && is_text(c->gold, "entropy") &&
        is_number(c->predicted))
        return TRL_SCORE_HEADING;
    if (!first || c->n > 3 || !is_number(c->predicted))
        return TRL_SCORE_TOKEN;
    if (c->n == 2 && (is_text(c->first, "@probability") || is_text(c->first, "@entropy") ||
                      is_text(c->first, "#")))
        return TRL_SCORE_HEADING;
    return c->n == 3 && is_text(c->first, "#") && is_number(c->gold) ? TRL_SCORE_NBEST
                                                                     : TRL_SCORE_TOKEN;
}

trl_status trl_score_check_columns(const trl_input *in, trl_str line, const trl_score_columns *c,
                                   const trl_score_columns *shape, const size_t pick[2],
                                   trl_error *err)
{
    const trl_status st = TRL_EPARSE;
    const char *nul = c->n < 2 ? NULL
                      : pick[0] || pick[1]
                          ? memchr(line.p, '\0', line.n)
                          : memchr(c->gold.p, '\0', (size_t)(line.p + line.n - c->gold.p));
    const bool right_single =
        c->n_single == shape->n_single && c->n >= 2 && c->predicted.p == c->gold.p + c->gold.n + 1;
    uint64_t col = line.n + 1;
    if (c->n < 2) {
        trl_fail(err, st, "only one column, where a gold and a predicted tag are needed");
        trl_fail_hint(err, st, "check that the delimiter is the one between the columns");
    } else if (c->n <= pick[0] || c->n <= pick[1]) {
        trl_fail(err, st, "%zu columns, where column %zu is asked for", c->n,
                 pick[0] > pick[1] ? pick[0] : pick[1]);
        trl_fail_hint(err, st, "columns are counted from 0");
    } else if (shape->n && c->n != shape->n && (!right_single || pick[0] || pick[1])) {
        trl_fail(err, st, "%zu columns, where the lines before have %zu", c->n, shape->n);
        if (c->n > shape->n)
            col = c->surplus;
    } else if (nul) {
        trl_fail(err, st, "a tag holds a NUL byte");
        col = (uint64_t)(nul - line.p) + 1;
    } else {
        return TRL_OK;
    }
    return trl_input_fail(in, err, st, col);
}
