/* options.c -- from argv to settings.
 *
 *     --name VALUE  --name=VALUE  -n VALUE  -nVALUE  -abc (flags)  --  -
 *
 * A long name may be shortened as long as it stays unambiguous.  Options and operands may be mixed;
 * after "--" all are operands; "-" is an operand (standard input).
 */
/* SPDX-License-Identifier: MIT */
#include "options.h"

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

static void hint_choices(const option *o, const char *shown)
{
    char all[200] = "";
    for (size_t i = 0; o->choices[i]; i++) {
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", o->choices[i]);
    }
    message_hint("%s takes one of %s", shown, all);
}

/* value: NULL for a flag. */
static bool set_option(const option *o, const char *shown, const char *value, void *settings)
{
    if (o->type != OPTION_LIST)
        return library_option_set(o, shown, value ? value : "true", settings);
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
    size_t k = 0;
    while (!option_is_last(&p->v->options[k]) &&
           (!p->v->options[k].also || strcmp(p->v->options[k].also, name) != 0))
        k++;
    if (option_is_last(&p->v->options[k]))
        k = name_lookup("option", "--", name, option_name, p->v->options);
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

/* Nothing of a string that is not given, and of a list. */
static void add_value(const option *o, const void *settings, text *out)
{
    trl_buf b = {0};
    const trl_option x = library_row(o);
    if (o->type != OPTION_LIST) {
        out->failed = trl_option_get(&x, settings, &b, NULL) != TRL_OK || out->failed;
        text_add(out, b.data, b.len);
    }
    trl_buf_fini(&b);
}

void option_default(const option *o, const void *settings, text *out)
{
    if (o->fallback)
        text_str(out, o->fallback);
    else if (o->type != OPTION_FLAG)
        add_value(o, settings, out);
}

static void json_list(const string_list *list, text *out)
{
    text_char(out, '[');
    for (size_t i = 0; i < list->n; i++) {
        text_str(out, i ? "," : "");
        text_json_str(out, list->item[i]);
    }
    text_char(out, ']');
}

static void json_value(const option *o, const void *settings, text *out)
{
    const char *at = (const char *)settings + o->at;
    text value = {0};
    if (o->type == OPTION_LIST) {
        json_list((const string_list *)(const void *)at, out);
        return;
    }
    add_value(o, settings, &value);
    const bool words = o->type == OPTION_STRING || o->type == OPTION_CHOICE;
    const bool unset = o->above_0 && value.n == 1 && value.p[0] == '0';
    const bool number = value.n && strspn(value.p, "+-.e0123456789") >= value.n && !unset;
    const char *const *string = (const char *const *)(const void *)at;
    if (words && (value.n || (o->type == OPTION_STRING && *string)))
        text_json_bytes(out, value.n ? value.p : "", value.n);
    else if (number || (value.n && o->type == OPTION_FLAG))
        text_add(out, value.p, value.n);
    else
        text_str(out, "null");
    out->failed = out->failed || value.failed;
    text_fini(&value);
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
