/* options.c -- from argv to settings.
 *
 *     --name VALUE  --name=VALUE  -n VALUE  -nVALUE  -abc (flags)  --  -
 *
 * A long name may be shortened as long as it stays unambiguous.  Options and operands may be mixed;
 * after "--" all are operands; "-" is an operand (standard input).
 */
/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library_options.h"
#include "message.h"
#include "names.h"

#define LONGEST_NAME 40 /* what is longer is cut, and unknown */

/* ---- names ----------------------------------------------------------------------------------- */

static const char *verb_name(const void *set, size_t k)
{
    (void)set;
    return verbs[k] ? verbs[k]->name : NULL;
}

const verb *verb_find(const char *name)
{
    for (size_t k = 0; verbs[k]; k++)
        if (verbs[k]->alias && strcmp(verbs[k]->alias, name) == 0)
            return verbs[k];
    const size_t k = name_lookup("command", "", name, verb_name, NULL);
    return k == NAME_NOT_FOUND ? NULL : verbs[k];
}

/* Names of a verb's options; a heading has none that matches. */
static const char *option_name(const void *set, size_t k)
{
    const option *o = (const option *)set + k;
    if (option_is_last(o))
        return NULL;
    return o->name ? o->name : "";
}

static const char *choice_name(const void *set, size_t k)
{
    return ((const char *const *)set)[k];
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool list_add(string_list *list, const char *s)
{
    if (list->n == list->cap) {
        const size_t cap = list->cap ? 2 * list->cap : 8;
        const char **grown = realloc(list->item, cap * sizeof *grown);
        if (!grown)
            return false;
        list->item = grown;
        list->cap = cap;
    }
    list->item[list->n++] = s;
    return true;
}

static void store(const option *o, void *settings, uint64_t x)
{
    char *at = (char *)settings + o->at;
    if (o->size == sizeof(uint64_t))
        memcpy(at, &x, sizeof x);
    else if (o->size == sizeof(int)) {
        const int i = (int)x;
        memcpy(at, &i, sizeof i);
    } else
        *(bool *)at = x != 0;
}

static uint64_t fetch(const option *o, const void *settings)
{
    const char *at = (const char *)settings + o->at;
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

static const char *fetch_string(const option *o, const void *settings)
{
    const char *s;
    memcpy(&s, (const char *)settings + o->at, sizeof s);
    return s;
}

static double fetch_real(const option *o, const void *settings)
{
    double x;
    memcpy(&x, (const char *)settings + o->at, sizeof x);
    return x;
}

static bool say_above_0(const option *o, const char *shown, const char *value)
{
    message_say("%s %s: a number above 0 is needed", shown, value);
    if (o->fallback)
        message_hint("without %s it is: %s", shown, o->fallback);
    return false;
}

static bool set_integer(const option *o, const char *shown, const char *value, void *settings)
{
    const uint64_t most = o->size == sizeof(int) ? INT_MAX : UINT64_MAX;
    uint64_t x = 0;
    size_t i = 0;
    for (; value[i] >= '0' && value[i] <= '9'; i++) {
        const uint64_t digit = (uint64_t)(value[i] - '0');
        if (x > (most - digit) / 10) {
            message_say("%s: %s is too large", shown, value);
            return false;
        }
        x = 10 * x + digit;
    }
    if (i == 0 || value[i]) {
        message_say("%s: '%s' is not a whole number", shown, value);
        return false;
    }
    if (x == 0 && o->above_0)
        return say_above_0(o, shown, value);
    store(o, settings, x);
    return true;
}

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

/* [+-] digits [. digits] [e [+-] digits], and nothing else that strtod might take. */
static bool is_real(const char *s)
{
    s += *s == '+' || *s == '-';
    size_t n = digits(s);
    s += n;
    if (*s == '.') {
        const size_t k = digits(s + 1);
        s += 1 + k;
        n += k;
    }
    if (n && (*s == 'e' || *s == 'E')) {
        s += 1 + (s[1] == '+' || s[1] == '-');
        n = digits(s);
        s += n;
    }
    return n && *s == '\0';
}

static bool set_real(const option *o, const char *shown, const char *value, void *settings)
{
    if (!is_real(value)) {
        message_say("%s: '%s' is not a number", shown, value);
        return false;
    }
    const double x = strtod(value, NULL);
    if (!isfinite(x)) {
        message_say("%s: %s is too large", shown, value);
        return false;
    }
    if (!(x > 0.0) && o->above_0)
        return say_above_0(o, shown, value);
    memcpy((char *)settings + o->at, &x, sizeof x);
    return true;
}

static void hint_choices(const option *o, const char *shown)
{
    char all[200] = "";
    for (size_t i = 0; o->choices[i]; i++) {
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", o->choices[i]);
    }
    message_hint("%s takes one of %s", shown, all);
}

static bool set_choice(const option *o, const char *shown, const char *value, void *settings)
{
    char what[80];
    snprintf(what, sizeof what, "value for %s:", shown);
    const size_t k = name_lookup(what, "", value, choice_name, o->choices);
    if (k == NAME_NOT_FOUND) {
        hint_choices(o, shown);
        return false;
    }
    store(o, settings, k);
    return true;
}

/* value: NULL for a flag. */
static bool set_option(const option *o, const char *shown, const char *value, void *settings)
{
    if (o->library)
        return library_option_set(o, shown, value ? value : "true", settings);
    switch (o->type) {
    case OPTION_FLAG:
        *(bool *)((char *)settings + o->at) = true;
        return true;
    case OPTION_STRING:
        memcpy((char *)settings + o->at, &value, sizeof value);
        return true;
    case OPTION_INTEGER:
        return set_integer(o, shown, value, settings);
    case OPTION_REAL:
        return set_real(o, shown, value, settings);
    case OPTION_CHOICE:
        return set_choice(o, shown, value, settings);
    case OPTION_LIST:
        break;
    }
    string_list *list = (string_list *)(void *)((char *)settings + o->at);
    if (list_add(list, value))
        return true;
    message_memory();
    return false;
}

bool options_set(const verb *v, const char *name, const char *shown, const char *value,
                 void *settings)
{
    for (const option *o = v->options; !option_is_last(o); o++)
        if (o->name && strcmp(o->name, name) == 0)
            return set_option(o, shown, value, settings);
    message_say("unknown option '%s'", shown);
    return false;
}

/* ---- the command line ------------------------------------------------------------------------ */

typedef struct parser {
    const verb *v;
    int argc, at; /* at: the argument being read */
    char **argv;
    void *settings;
    operands *args;
    bool *given; /* [options] */
    bool help;
    const option *asked; /* for its table */
} parser;

/* An option with a value takes it from `inline_value`, when not NULL, or the next argument. */
static bool take(parser *p, const option *o, const char *shown, const char *inline_value)
{
    const char *value = inline_value;
    p->given[o - p->v->options] = true;
    if (o->type == OPTION_FLAG) {
        if (value) {
            message_say("%s takes no value", shown);
            return false;
        }
    } else if (!value) {
        if (p->at + 1 >= p->argc) {
            message_say("%s needs a value", shown);
            if (o->choices)
                hint_choices(o, shown);
            else
                message_hint("%s %s: %s", shown, o->value, o->help);
            return false;
        }
        value = p->argv[++p->at];
    }
    if (o->table && strcmp(value, "help") == 0) {
        p->asked = o;
        p->help = true;
        return true;
    }
    return set_option(o, shown, value, p->settings);
}

static bool long_option(parser *p, const char *word)
{
    char name[LONGEST_NAME + 1], shown[LONGEST_NAME + 4];
    const char *equals = strchr(word, '=');
    const size_t n = equals ? (size_t)(equals - word) : strlen(word);
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), word);
    if (strcmp(name, "help") == 0) {
        p->help = true;
        return true;
    }
    const size_t k = name_lookup("option", "--", name, option_name, p->v->options);
    if (k == NAME_NOT_FOUND)
        return false;
    snprintf(shown, sizeof shown, "--%s", p->v->options[k].name);
    return take(p, &p->v->options[k], shown, equals ? equals + 1 : NULL);
}

static bool short_options(parser *p, const char *letters)
{
    for (; *letters; letters++) {
        const char shown[] = {'-', *letters, '\0'};
        if (*letters == 'h') {
            p->help = true;
            return true;
        }
        const option *o = p->v->options;
        while (!option_is_last(o) && o->letter != *letters)
            o++;
        if (option_is_last(o)) {
            message_say("unknown option '%s'", shown);
            return false;
        }
        if (o->type != OPTION_FLAG)
            return take(p, o, shown, letters[1] ? letters + 1 : NULL);
        if (!take(p, o, shown, NULL))
            return false;
    }
    return true;
}

static bool parse_all(parser *p)
{
    bool only_operands = false;
    for (p->at = 0; p->at < p->argc && !p->help; p->at++) {
        const char *s = p->argv[p->at];
        if (!only_operands && strcmp(s, "--") == 0)
            only_operands = true;
        else if (!only_operands && s[0] == '-' && s[1] == '-') {
            if (!long_option(p, s + 2))
                return false;
        } else if (!only_operands && s[0] == '-' && s[1]) {
            if (!short_options(p, s + 1))
                return false;
        } else if (!list_add(p->args, s)) {
            message_memory();
            return false;
        }
    }
    return true;
}

static bool check_complete(const parser *p)
{
    for (const option *o = p->v->options; !option_is_last(o); o++)
        if (o->required && !p->given[o - p->v->options]) {
            message_say("%s needs -%c %s", p->v->name, o->letter, o->value);
            return false;
        }
    if (p->args->n < p->v->min_operands) {
        message_say("%s needs %s", p->v->name, p->v->operand);
        return false;
    }
    if (p->args->n > p->v->max_operands) {
        message_say("%s: unexpected argument '%s'", p->v->name, p->args->item[p->v->max_operands]);
        return false;
    }
    return true;
}

parse_result options_parse(const verb *v, int argc, char **argv, void *settings, operands *args,
                           const option **asked)
{
    size_t n = 0;
    while (!option_is_last(&v->options[n]))
        n++;
    parser p = {.v = v, .argc = argc, .argv = argv, .settings = settings, .args = args};
    p.given = calloc(n + 1, sizeof *p.given);
    if (!p.given) {
        message_memory();
        return PARSE_BAD;
    }
    const bool ok = parse_all(&p) && (p.help || check_complete(&p));
    free(p.given);
    if (!ok)
        message_hint("'trellis %s --help' lists the options", v->name);
    *asked = p.asked;
    return !ok ? PARSE_BAD : p.asked ? PARSE_TABLE : p.help ? PARSE_HELP : PARSE_RUN;
}

void options_fini(const verb *v, void *settings, operands *args)
{
    for (const option *o = v->options; !option_is_last(o); o++)
        if (o->name && o->type == OPTION_LIST)
            free(((string_list *)(void *)((char *)settings + o->at))->item);
    free(args->item);
}

/* ---- settings as text ------------------------------------------------------------------------ */

void option_default(const option *o, const void *settings, text *out)
{
    if (o->fallback) {
        text_str(out, o->fallback);
        return;
    }
    switch (o->type) {
    case OPTION_STRING:
        if (fetch_string(o, settings))
            text_str(out, fetch_string(o, settings));
        break;
    case OPTION_INTEGER:
        text_fmt(out, "%" PRIu64, fetch(o, settings));
        break;
    case OPTION_REAL:
        text_fmt(out, "%g", fetch_real(o, settings));
        break;
    case OPTION_CHOICE:
        text_str(out, o->choices[fetch(o, settings)]);
        break;
    case OPTION_FLAG:
    case OPTION_LIST:
        break;
    }
}

static void json_value(const option *o, const void *settings, text *out)
{
    const char *at = (const char *)settings + o->at;
    switch (o->type) {
    case OPTION_FLAG:
        text_str(out, *(const bool *)at ? "true" : "false");
        break;
    case OPTION_STRING:
        text_json_str(out, fetch_string(o, settings));
        break;
    case OPTION_INTEGER:
        text_fmt(out, "%" PRIu64, fetch(o, settings));
        break;
    case OPTION_REAL:
        text_json_real(out, fetch_real(o, settings));
        break;
    case OPTION_CHOICE:
        text_json_str(out, o->choices[fetch(o, settings)]);
        break;
    case OPTION_LIST: {
        const string_list *list = (const string_list *)(const void *)at;
        text_char(out, '[');
        for (size_t i = 0; i < list->n; i++) {
            text_str(out, i ? "," : "");
            text_json_str(out, list->item[i]);
        }
        text_char(out, ']');
    }
    }
}

void options_json(const verb *v, const void *settings, text *out)
{
    const char *before = "{";
    for (const option *o = v->options; !option_is_last(o); o++) {
        if (option_is_heading(o))
            continue;
        text_str(out, before);
        text_json_str(out, o->name);
        text_char(out, ':');
        json_value(o, settings, out);
        before = ",";
    }
    text_str(out, *before == '{' ? "{}" : "}");
}
