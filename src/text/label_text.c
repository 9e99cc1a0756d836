/* label_text.c -- labels as sets, distributions and weights. */
/* SPDX-License-Identifier: MIT */
#include "text/label_text.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "text/number.h"

#define MOST_OFF 0.01 /* of a sum of probabilities from 1 */

void trl_label_text_fini(trl_label_text *x)
{
    trl_free(x->part);
    trl_buf_fini(&x->names);
    *x = (trl_label_text){0};
}

static bool is_special(char c)
{
    return c == '\\' || c == '|' || c == ':' || c == '@' || c == '?';
}

/* The last c in p[from, to) that no backslash stands before; `to` when there is none. */
static size_t last_plain(trl_str s, size_t from, size_t to, char c)
{
    size_t found = to;
    for (size_t i = from; i < to; i++)
        if (s.p[i] == '\\' && i + 1 < to && is_special(s.p[i + 1]))
            i++;
        else if (s.p[i] == c)
            found = i;
    return found;
}

/* The first one. */
static size_t first_plain(trl_str s, size_t from, size_t to, char c)
{
    for (size_t i = from; i < to; i++)
        if (s.p[i] == '\\' && i + 1 < to && is_special(s.p[i + 1]))
            i++;
        else if (s.p[i] == c)
            return i;
    return to;
}

/* What stands from `at` to `to`, after the sign c, when it is a number: then the sign's place, and
 * NaN as *value for one that is not finite; else `to`. */
static size_t number_after(trl_str s, size_t from, size_t to, char c, double *value)
{
    const size_t at = last_plain(s, from, to, c);
    if (at == to)
        return to;
    const trl_number what = trl_number_parse(s.p + at + 1, to - at - 1, value);
    if (what == TRL_NUMBER_NOT_FINITE)
        *value = NAN;
    return what == TRL_NUMBER_BAD ? to : at;
}

static bool add_name(trl_label_text *x, trl_str s, size_t from, size_t to, trl_label_part *part)
{
    part->at = x->names.len;
    part->col = from;
    for (size_t i = from; i < to; i++) {
        if (s.p[i] == '\\' && i + 1 < to && is_special(s.p[i + 1]))
            i++;
        if (!trl_buf_ch(&x->names, s.p[i]))
            return false;
    }
    part->n = x->names.len - part->at;
    return true;
}

/* The part s[from, to); *soft: whether it has a probability. */
static trl_status add_part(trl_label_text *x, trl_str s, size_t from, size_t to, bool *soft,
                           trl_error *err)
{
    trl_label_part *part = trl_reserve(x->part, &x->cap, x->n + 1, sizeof *part);
    if (!part)
        return trl_fail_mem(err);
    x->part = part;
    part += x->n++;
    part->p = 1.0;
    const size_t end = number_after(s, from, to, ':', &part->p);
    *soft = end < to;
    if (!add_name(x, s, from, end, part))
        return trl_fail_mem(err);
    if (part->n == 0) {
        const trl_status st = trl_fail(err, TRL_EPARSE, "a label is empty in '%.*s'",
                                       (int)(s.n < 100 ? s.n : 100), s.p);
        return trl_fail_hint(err, st, "write A|B for a set of labels, ? where nothing is known");
    }
    if (!(part->p >= 0.0 && part->p <= 1.0))
        return trl_fail(err, TRL_EPARSE, "the probability of a label must be from 0 to 1, not %.*s",
                        (int)(to - end - 1 < 40 ? to - end - 1 : 40), s.p + end + 1);
    return TRL_OK;
}

/* Probabilities to a sum of 1, without the parts that have none. */
static trl_status normalise(trl_label_text *x, trl_error *err)
{
    double sum = 0.0;
    size_t n = 0;
    for (size_t k = 0; k < x->n; k++)
        sum += x->part[k].p;
    if (!(fabs(sum - 1.0) <= MOST_OFF)) {
        const trl_status st =
            trl_fail(err, TRL_EPARSE, "the probabilities of the labels sum to %.6g, not to 1", sum);
        return trl_fail_hint(
            err, st,
            "a colon that belongs to the name of a label is written with a backslash: \\:");
    }
    for (size_t k = 0; k < x->n; k++)
        if (x->part[k].p > 0.0) {
            x->part[n] = x->part[k];
            x->part[n++].p /= sum;
        }
    x->n = n;
    x->kind = n > 1 ? TRL_LABEL_SOFT : TRL_LABEL_ONE;
    if (n == 1)
        x->part[0].p = 1.0;
    return TRL_OK;
}

static trl_status parse_parts(trl_label_text *x, trl_str s, size_t *col, trl_error *err)
{
    size_t n_soft = 0;
    for (size_t from = 0;; from++) {
        const size_t to = first_plain(s, from, s.n, '|');
        bool soft = false;
        const trl_status st = add_part(x, s, from, to, &soft, err);
        *col = from;
        if (st != TRL_OK)
            return st;
        n_soft += soft;
        if (n_soft && n_soft != x->n)
            return trl_fail(err, TRL_EPARSE,
                            "some labels of '%.*s' have a probability and some have none",
                            (int)(s.n < 100 ? s.n : 100), s.p);
        from = to;
        if (to == s.n)
            break;
    }
    *col = 0;
    if (n_soft)
        return normalise(x, err);
    x->kind = x->n > 1 ? TRL_LABEL_SET : TRL_LABEL_ONE;
    return TRL_OK;
}

trl_status trl_label_text_parse(trl_label_text *x, trl_str text, size_t *col, trl_error *err)
{
    x->n = x->names.len = 0;
    x->weight = 1.0;
    const size_t end = number_after(text, 0, text.n, '@', &x->weight);
    *col = end < text.n ? end + 1 : 0;
    if (!(x->weight >= 0.0))
        return trl_fail(err, TRL_EPARSE,
                        "the weight of a token must be finite and not negative: %.*s",
                        (int)(text.n - *col < 40 ? text.n - *col : 40), text.p + *col);
    *col = 0;
    if (end == 1 && text.p[0] == '?') {
        x->kind = TRL_LABEL_ANY;
        return TRL_OK;
    }
    return parse_parts(x, (trl_str){text.p, end}, col, err);
}
