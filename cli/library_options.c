/* library_options.c -- the library's options on the command line. */
/* SPDX-License-Identifier: MIT */
#include "library_options.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"

static bool has_option(const option *rows, const char *name, size_t n)
{
    for (const option *o = rows; !option_is_last(o); o++)
        if (o->name && strlen(o->name) == n && memcmp(o->name, name, n) == 0)
            return true;
    return false;
}

void library_words(const option *rows, const char *s, text *out)
{
    while (*s) {
        const size_t n = *s == '\'' ? strcspn(s + 1, "'") : 0;
        if (n && s[1 + n] && has_option(rows, s + 1, n)) {
            text_str(out, "--");
            text_add(out, s + 1, n);
            s += n + 2;
        } else
            text_char(out, *s++);
    }
}

/* Kept to the end of the program, as the tables are. */
static const char *in_words(const option *rows, const char *s)
{
    text t = {0};
    if (!s || !strchr(s, '\''))
        return s;
    library_words(rows, s, &t);
    text_char(&t, '\0');
    return t.failed ? s : t.p;
}

static const char *help_of(const option *rows, const option *o, const char *help)
{
    text t = {0};
    if (!o->table)
        return in_words(rows, help);
    text_fmt(&t, "%s; '--%s help' says what there is and when to use it", help, o->name);
    return t.failed ? help : t.p;
}

static const trl_option_type types[] = {
    [OPTION_FLAG] = TRL_OPTION_FLAG,     [OPTION_INTEGER] = TRL_OPTION_INTEGER,
    [OPTION_REAL] = TRL_OPTION_REAL,     [OPTION_STRING] = TRL_OPTION_STRING,
    [OPTION_CHOICE] = TRL_OPTION_CHOICE,
};

static option_type type_of(trl_option_type t)
{
    option_type k = OPTION_FLAG;
    while (types[k] != t)
        k++;
    return k;
}

void library_options_complete(option *rows)
{
    for (option *o = rows; !option_is_last(o); o++) {
        const trl_option *x = o->library ? trl_options_find(o->library(), o->name) : NULL;
        if (!x)
            continue;
        o->type = type_of(x->type);
        o->above_0 = x->above_0;
        o->at = o->base + x->at;
        o->size = x->size;
        o->file = o->file ? o->file : (option_file)x->file;
        o->value = o->value ? o->value : x->value;
        o->choices = x->type == TRL_OPTION_CHOICE ? x->choices : NULL;
        o->fallback = o->fallback ? o->fallback : in_words(rows, x->preset);
        o->help = o->help ? o->help : help_of(rows, o, x->help);
    }
}

trl_option library_row(const option *o)
{
    const trl_option *x = o->library ? trl_options_find(o->library(), o->name) : NULL;
    trl_option row = x ? *x
                       : (trl_option){.name = o->name,
                                      .type = types[o->type],
                                      .choices = o->choices,
                                      .above_0 = o->above_0,
                                      .preset = o->fallback};
    row.at = o->at;
    row.size = o->size;
    return row;
}

/* The library's sentence begins with the name of the option. */
bool library_option_set(const option *o, const char *shown, const char *value, void *settings)
{
    trl_error err = {0};
    const size_t n = strlen(o->name);
    trl_option row = library_row(o);
    row.at -= o->base; /* what checks look at is the library's struct */
    if (trl_option_set(&row, (char *)settings + o->base, value, &err) == TRL_OK)
        return true;
    if (strncmp(err.msg, o->name, n) != 0)
        message_error(&err);
    else {
        message_say("%s%s", shown, err.msg + n);
        if (err.hint[0])
            message_hint_words(err.hint);
    }
    return false;
}
