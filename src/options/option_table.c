/* option_table.c -- from text to members of a struct and back. */
/* SPDX-License-Identifier: MIT */
#include "options/option_table.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/format.h"
#include "text/number.h"

/* ---- names ----------------------------------------------------------------------------------- */

/* Members of the struct are called max_iter, options max-iter: both are understood. */
static bool same_name(const char *given, const char *name)
{
    while (*given && (*given == *name || (*given == '_' && *name == '-'))) {
        given++;
        name++;
    }
    return !*given && !*name;
}

const trl_option *trl_options_at(const trl_option_table *t, size_t k)
{
    return t && k < t->n ? &t->row[k] : NULL;
}

const trl_option *trl_options_find(const trl_option_table *t, const char *name)
{
    for (size_t k = 0; t && name && k < t->n; k++)
        if (same_name(name, t->row[k].name))
            return &t->row[k];
    return NULL;
}

/* "a, b or c" */
static const char *list(const char *const *choices, char out[200])
{
    size_t n = 0;
    out[0] = '\0';
    for (size_t k = 0; choices[k] && n < 200; k++)
        n += (size_t)trl_snprintf(out + n, 200 - n, "%s%s",
                                  k == 0           ? ""
                                  : choices[k + 1] ? ", "
                                                   : " or ",
                                  choices[k]);
    return out;
}

static trl_status fail_choice(const trl_option *o, const char *value, trl_error *err)
{
    char names[200];
    return trl_fail(err, TRL_EINVAL, "%s '%.60s' is not known: use %s", o->name, value,
                    list(o->choices, names));
}

/* ---- members --------------------------------------------------------------------------------- */

static void store(const trl_option *o, void *options, uint64_t x)
{
    char *at = (char *)options + o->at;
    if (o->size == sizeof(uint64_t))
        memcpy(at, &x, sizeof x);
    else if (o->size == sizeof(int)) {
        const int i = (int)x;
        memcpy(at, &i, sizeof i);
    } else
        *(bool *)at = x != 0;
}

static uint64_t fetch(const trl_option *o, const void *options)
{
    const char *at = (const char *)options + o->at;
    if (o->size == sizeof(uint64_t)) {
        uint64_t x;
        memcpy(&x, at, sizeof x);
        return x;
    }
    if (o->size == sizeof(int)) {
        int i;
        memcpy(&i, at, sizeof i);
        return (uint64_t)i;
    }
    return *(const bool *)at;
}

static const char *fetch_string(const trl_option *o, const void *options)
{
    const char *s;
    memcpy(&s, (const char *)options + o->at, sizeof s);
    return s;
}

static double fetch_real(const trl_option *o, const void *options)
{
    double x;
    memcpy(&x, (const char *)options + o->at, sizeof x);
    return x;
}

/* ---- setting --------------------------------------------------------------------------------- */

/* above_0 alone is in_range's with `least` 0. */
static bool in_range(const trl_option *o, double x)
{
    if (o->above_0 && !(x > 0.0))
        return false;
    return !(o->least < o->most) || (x >= o->least && (o->below ? x < o->most : x <= o->most));
}

static trl_status fail_range(const trl_option *o, const char *value, double x, trl_error *err)
{
    const bool upper = o->least < o->most && !isinf(o->most);
    if (o->above_0 && !(x > 0.0)) {
        trl_fail(err, TRL_EINVAL, "%s %.60s: a number above 0 is needed", o->name, value);
        return o->preset
                   ? trl_fail_hint(err, TRL_EINVAL, "without '%s' it is: %s", o->name, o->preset)
                   : TRL_EINVAL;
    }
    if (!upper)
        return trl_fail(err, TRL_EINVAL, "%s %.60s is out of range: at least %g", o->name, value,
                        o->least);
    if (isinf(o->least))
        return trl_fail(err, TRL_EINVAL, "%s %.60s is out of range: %s %g", o->name, value,
                        o->below ? "below" : "at most", o->most);
    const bool above = o->above_0 && o->least == 0.0;
    if (above || o->below)
        return trl_fail(err, TRL_EINVAL, "%s %.60s is out of range: %s %g and %s %g", o->name,
                        value, above ? "above" : "at least", o->least,
                        o->below ? "below" : "at most", o->most);
    return trl_fail(err, TRL_EINVAL, "%s %.60s is out of range: %g to %g", o->name, value, o->least,
                    o->most);
}

static trl_status check_value(const trl_option *o, const char *value, double x, const void *options,
                              trl_error *err)
{
    if (!in_range(o, x))
        return fail_range(o, value, x, err);
    return o->check ? o->check(options, value, err) : TRL_OK;
}

static trl_status set_integer(const trl_option *o, const char *value, void *options, trl_error *err)
{
    const uint64_t most = o->size == sizeof(int) ? INT_MAX : UINT64_MAX;
    uint64_t x = 0;
    size_t i = 0;
    for (; value[i] >= '0' && value[i] <= '9'; i++) {
        const uint64_t digit = (uint64_t)(value[i] - '0');
        if (x > (most - digit) / 10)
            return trl_fail(err, TRL_EINVAL, "%s: %.60s is too large", o->name, value);
        x = 10 * x + digit;
    }
    if (i == 0 || value[i])
        return trl_fail(err, TRL_EINVAL, "%s: '%.60s' is not a whole number", o->name, value);
    const trl_status st = check_value(o, value, (double)x, options, err);
    if (st == TRL_OK)
        store(o, options, x);
    return st;
}

static trl_status set_real(const trl_option *o, const char *value, void *options, trl_error *err)
{
    double x = 0.0;
    const trl_number is = trl_number_parse(value, strlen(value), &x);
    if (is == TRL_NUMBER_NOT_FINITE && strpbrk(value, "0123456789"))
        return trl_fail(err, TRL_EINVAL, "%s: %.60s is too large", o->name, value);
    if (is != TRL_NUMBER_OK)
        return trl_fail(err, TRL_EINVAL, "%s: '%.60s' is not a number", o->name, value);
    const trl_status st = check_value(o, value, x, options, err);
    if (st == TRL_OK)
        memcpy((char *)options + o->at, &x, sizeof x);
    return st;
}

/* Choices may be shortened as long as they stay unambiguous. */
static trl_status set_choice(const trl_option *o, const char *value, void *options, trl_error *err)
{
    const size_t n = strlen(value);
    size_t found = 0, matches = 0;
    for (size_t k = 0; o->choices[k]; k++) {
        if (strcmp(o->choices[k], value) == 0) {
            store(o, options, k);
            return TRL_OK;
        }
        if (n && strncmp(o->choices[k], value, n) == 0) {
            found = k;
            matches++;
        }
    }
    if (matches != 1)
        return fail_choice(o, value, err);
    store(o, options, found);
    return TRL_OK;
}

static trl_status set_flag(const trl_option *o, const char *value, void *options, trl_error *err)
{
    const bool on = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    if (!on && strcmp(value, "false") != 0 && strcmp(value, "0") != 0)
        return trl_fail(err, TRL_EINVAL, "%s '%.60s' is not known: use true or false", o->name,
                        value);
    store(o, options, on);
    return TRL_OK;
}

static trl_status set_string(const trl_option *o, const char *value, void *options, trl_error *err)
{
    size_t k = 0;
    while (o->choices && o->choices[k] && strcmp(o->choices[k], value) != 0)
        k++;
    if (o->choices && !o->choices[k])
        return fail_choice(o, value, err);
    const trl_status st = o->check ? o->check(options, value, err) : TRL_OK;
    if (st == TRL_OK)
        memcpy((char *)options + o->at, &value, sizeof value);
    return st;
}

trl_status trl_option_set(const trl_option *o, void *options, const char *value, trl_error *err)
{
    if (!o || !options || !value)
        return trl_fail_null(err);
    switch (o->type) {
    case TRL_OPTION_FLAG:
        return set_flag(o, value, options, err);
    case TRL_OPTION_INTEGER:
        return set_integer(o, value, options, err);
    case TRL_OPTION_REAL:
        return set_real(o, value, options, err);
    case TRL_OPTION_CHOICE:
        return set_choice(o, value, options, err);
    case TRL_OPTION_STRING:
        break;
    }
    return set_string(o, value, options, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void add_real(double x, trl_buf *out)
{
    char s[40];
    double back = 0.0;
    for (int digits = 15; digits <= 17; digits++) { /* the fewest that suffice */
        trl_snprintf(s, sizeof s, "%.*g", digits, x);
        if (trl_number_parse(s, strlen(s), &back) == TRL_NUMBER_OK && back == x)
            break;
    }
    trl_buf_str(out, s);
}

/* A choice that is out of its range has been put there by hand, and has no name. */
static void add_choice(const trl_option *o, uint64_t x, trl_buf *out)
{
    for (uint64_t k = 0; o->choices[k]; k++)
        if (k == x)
            trl_buf_str(out, o->choices[k]);
}

bool trl_option_is_set(const trl_option_table *t, const trl_option *o, const void *options)
{
    if (o->type == TRL_OPTION_STRING) {
        const char *a = fetch_string(o, options), *b = fetch_string(o, t->defaults);
        return (a == NULL) != (b == NULL) || (a && strcmp(a, b) != 0);
    }
    if (o->type == TRL_OPTION_REAL)
        return fetch_real(o, options) != fetch_real(o, t->defaults);
    return fetch(o, options) != fetch(o, t->defaults);
}

trl_status trl_option_get(const trl_option *o, const void *options, trl_buf *out, trl_error *err)
{
    if (!o || !options || !out)
        return trl_fail_null(err);
    if (o->type == TRL_OPTION_FLAG)
        trl_buf_str(out, fetch(o, options) ? "true" : "false");
    else if (o->type == TRL_OPTION_INTEGER)
        trl_buf_fmt(out, "%" PRIu64, fetch(o, options));
    else if (o->type == TRL_OPTION_REAL)
        add_real(fetch_real(o, options), out);
    else if (o->type == TRL_OPTION_CHOICE)
        add_choice(o, fetch(o, options), out);
    else if (fetch_string(o, options))
        trl_buf_str(out, fetch_string(o, options));
    return out->failed ? trl_fail_mem(err) : TRL_OK;
}

/* ---- structs --------------------------------------------------------------------------------- */

static size_t size_of(const void *options)
{
    size_t size;
    memcpy(&size, options, sizeof size);
    return size;
}

/* Members end at `size`; those after it have their defaults. */
static trl_status check_struct(const trl_option_table *t, const void *options, trl_error *err)
{
    const size_t size = size_of(options);
    if (size <= sizeof size)
        return trl_fail(err, TRL_EINVAL, "the options have no size: begin with %s_default()",
                        t->type);
    return size > t->size ? trl_fail(err, TRL_EINVAL,
                                     "the options are of a newer version: %zu bytes, %zu are known",
                                     size, t->size)
                          : TRL_OK;
}

void trl_options_init(const trl_option_table *t, void *options, size_t size)
{
    if (!options || size < sizeof size)
        return;
    memcpy(options, t->defaults, size < t->size ? size : t->size);
    if (size > t->size)
        memset((char *)options + t->size, 0, size - t->size);
    memcpy(options, &size, sizeof size);
}

trl_status trl_options_copy(const trl_option_table *t, const void *options, void *out,
                            trl_error *err)
{
    const trl_status st = check_struct(t, options, err);
    if (st != TRL_OK)
        return st;
    memcpy(out, t->defaults, t->size);
    memcpy(out, options, size_of(options));
    memcpy(out, &t->size, sizeof t->size);
    return TRL_OK;
}

/* What is as by default may stand for something else than a number. */
static trl_status check_member(const trl_option_table *t, const trl_option *o, const void *options,
                               trl_error *err)
{
    char text[40];
    if (!trl_option_is_set(t, o, options))
        return TRL_OK;
    if (o->type == TRL_OPTION_CHOICE) {
        const uint64_t x = fetch(o, options);
        uint64_t k = 0;
        while (o->choices[k] && k < x)
            k++;
        trl_snprintf(text, sizeof text, "%" PRIu64, x);
        return o->choices[k] ? TRL_OK : fail_choice(o, text, err);
    }
    if (o->type != TRL_OPTION_INTEGER && o->type != TRL_OPTION_REAL)
        return TRL_OK;
    const bool real = o->type == TRL_OPTION_REAL;
    const double x = real ? fetch_real(o, options) : (double)fetch(o, options);
    trl_snprintf(text, sizeof text, "%g", x);
    return isfinite(x) && in_range(o, x) ? TRL_OK : fail_range(o, text, x, err);
}

trl_status trl_options_take(const trl_option_table *t, const void *options, void *out,
                            trl_error *err)
{
    trl_status st = trl_options_copy(t, options, out, err);
    for (size_t k = 0; st == TRL_OK && k < t->n; k++)
        st = check_member(t, &t->row[k], out, err);
    return st;
}

/* ---- by name --------------------------------------------------------------------------------- */

static trl_status find(const trl_option_table *t, const void *options, const char *name,
                       const trl_option **o, trl_error *err)
{
    if (!t || !options || !name)
        return trl_fail_null(err);
    const trl_status st = check_struct(t, options, err);
    if (st != TRL_OK)
        return st;
    *o = trl_options_find(t, name);
    return *o ? TRL_OK : trl_fail(err, TRL_EINVAL, "%.60s: there is no such option", name);
}

static bool has_member(const trl_option *o, const void *options)
{
    return o->at + o->size <= size_of(options);
}

trl_status trl_options_set(const trl_option_table *t, void *options, const char *name,
                           const char *value, trl_error *err)
{
    const trl_option *o = NULL;
    const trl_status st = find(t, options, name, &o, err);
    if (st != TRL_OK)
        return st;
    if (!has_member(o, options))
        return trl_fail(err, TRL_EINVAL, "%s: these options are of an older version, without it",
                        o->name);
    if (value)
        return trl_option_set(o, options, value, err);
    memcpy((char *)options + o->at, (const char *)t->defaults + o->at, o->size);
    return TRL_OK;
}

trl_status trl_options_get(const trl_option_table *t, const void *options, const char *name,
                           trl_buf *out, trl_error *err)
{
    const trl_option *o = NULL;
    const trl_status st = find(t, options, name, &o, err);
    if (st != TRL_OK || !out)
        return st != TRL_OK ? st : trl_fail_null(err);
    const void *from = has_member(o, options) ? options : t->defaults;
    const bool number = o->type == TRL_OPTION_INTEGER || o->type == TRL_OPTION_REAL;
    if (number && o->preset && !trl_option_is_set(t, o, from))
        return TRL_OK;
    return trl_option_get(o, from, out, err);
}
