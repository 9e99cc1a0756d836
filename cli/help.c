/* help.c -- help as plain text. */
/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library_options.h"
#include "style.h"
#include "trellis/methods.h"
#include "verbs.h"

#define WIDTH 79          /* of a line, unless the terminal is narrower */
#define CHOICES_INDENT 10 /* of the second line of an option's choices */
#define HELP_COLUMN 26    /* where the explanation of an option starts */
#define NARROW 60         /* below, it starts on a line of its own, at ... */
#define NARROW_COLUMN 8

/* Lines and columns for the terminal at hand; 79 where there is none. */
typedef struct layout {
    size_t width, column;
} layout;

static layout layout_here(void)
{
    const size_t room = style_width(STDOUT_FILENO, WIDTH + 1) - 1;
    const size_t width = room > WIDTH ? WIDTH : room < 30 ? 30 : room;
    return (layout){width, width < NARROW ? NARROW_COLUMN : HELP_COLUMN};
}

/* Adds the words of s[0 .. n) from column `at` on, broken at the width, later lines indented. */
static void wrap(const char *s, size_t n, size_t at, size_t indent, text *out)
{
    const char *end = s + n;
    bool first = true;
    while (s < end) {
        while (s < end && (*s == ' ' || *s == '\n'))
            s++;
        size_t k = 0;
        while (s + k < end && s[k] != ' ' && s[k] != '\n')
            k++;
        if (k == 0)
            break;
        if (!first && at + 1 + k > layout_here().width) {
            text_fmt(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            text_char(out, ' ');
            at++;
        }
        text_add(out, s, k);
        at += k;
        s += k;
        first = false;
    }
    text_char(out, '\n');
}

/* A line that starts with a blank.  It stays as it is unless it is too long and no command: then
 * what follows a term and two blanks is wrapped where it starts. */
static void set_line(const char *s, size_t n, text *out)
{
    const size_t width = layout_here().width;
    size_t column = strspn(s, " ");
    for (size_t k = column; k + 2 < n; k++)
        if (s[k] == ' ' && s[k + 1] == ' ') {
            column = k + strspn(s + k, " ");
            break;
        }
    if (n <= width || column + 20 > width || strncmp(s, "  trellis ", 10) == 0) {
        text_add(out, s, n);
        text_char(out, '\n');
        return;
    }
    text_add(out, s, column);
    wrap(s + column, n - column, column, column, out);
}

/* Paragraphs are separated by an empty line; lines that start with a blank are set as they are. */
static void paragraphs(const char *s, text *out)
{
    while (*s) {
        const char *end = s;
        if (*s == ' ' || *s == '\n') {
            end += strcspn(s, "\n");
            set_line(s, (size_t)(end - s), out);
            end += *end == '\n';
        } else {
            while (*end && !(end[0] == '\n' && (end[1] == '\n' || end[1] == ' ')))
                end++;
            wrap(s, (size_t)(end - s), 0, 0, out);
            end += *end == '\n';
        }
        s = end;
    }
    if (out->n && out->p[out->n - 1] != '\n')
        text_char(out, '\n');
}

/* *line: where the line begins in `out`.  A long list of choices goes on in the next one. */
static void add_value_name(const option *o, size_t *line, text *out)
{
    if (o->value) {
        text_str(out, o->value);
        return;
    }
    for (size_t k = 0; o->choices && o->choices[k]; k++) {
        text_str(out, k ? "|" : "");
        if (k && out->n - *line + strlen(o->choices[k]) + 1 > layout_here().width) {
            text_char(out, '\n');
            *line = out->n;
            text_fmt(out, "%*s", CHOICES_INDENT, "");
        }
        text_str(out, o->choices[k]);
    }
}

static void help_option(const option *o, const void *settings, text *out)
{
    size_t line = out->n;
    if (o->letter)
        text_fmt(out, "  -%c, --%s", o->letter, o->name);
    else
        text_fmt(out, "      --%s", o->name);
    if (o->type != OPTION_FLAG) {
        text_char(out, ' ');
        add_value_name(o, &line, out);
    }
    const size_t column = layout_here().column;
    size_t at = out->n - line;
    if (at + 2 > column) {
        text_char(out, '\n');
        at = 0;
    }
    text_fmt(out, "%*s", (int)(column - at), "");
    text what = {0};
    text_str(&what, o->help);
    const size_t n = what.n;
    text_str(&what, " (default ");
    const size_t k = what.n;
    option_default(o, settings, &what);
    if (what.n > k)
        text_char(&what, ')');
    else
        what.n = n;
    wrap(what.p, what.n, column, column, out);
    out->failed = out->failed || what.failed;
    text_fini(&what);
}

void help_about(const verb *v, text *out)
{
    void *settings = calloc(1, v->settings_size + 1);
    if (!settings) {
        out->failed = true;
        return;
    }
    if (v->defaults)
        v->defaults(settings);
    text_fmt(out, "usage: trellis %s %s\n\n", v->name, v->usage);
    paragraphs(v->description, out);
    if (v->alias)
        text_fmt(out, "\n'trellis %s' is the same.\n", v->alias);
    if (option_is_last(v->options) || !option_is_heading(v->options))
        text_str(out, "\nOptions:\n");
    for (const option *o = v->options; !option_is_last(o); o++)
        if (option_is_heading(o))
            text_fmt(out, "\n%s:\n", o->help);
        else
            help_option(o, settings, out);
    const size_t column = layout_here().column;
    text_fmt(out, column > 14 ? "  -h, --help%*sprint this\n" : "  -h, --help\n%*sprint this\n",
             (int)(column > 14 ? column - 12 : column), "");
    if (v->examples) {
        text_str(out, "\nExamples:\n");
        paragraphs(v->examples, out);
    }
    free(settings);
}

void help_overview(text *out)
{
    text_str(out, "usage: trellis COMMAND [OPTION]... [FILE]...\n\n");
    for (size_t k = 0; verbs[k]; k++)
        text_fmt(out, "  %-9s %s\n", verbs[k]->name, verbs[k]->summary);
    paragraphs("\n'trellis help COMMAND' explains a command.  Commands and long options may be "
               "abbreviated as long as they are unambiguous.  The file '-' is standard input.  "
               "Exit status: 0 done, 1 failed, 2 wrong usage, 130 or 143 a training that SIGINT or "
               "SIGTERM stopped.\n",
               out);
}

/* ---- tables of methods ----------------------------------------------------------------------- */

static void method(const trl_method *m, text *out)
{
    const size_t indent = 6;
    text_fmt(out, "  %s", m->name);
    if (m->alias && strcmp(m->alias, m->name) != 0)
        text_fmt(out, ", %s", m->alias);
    text_str(out, "  (");
    bool first = true;
    for (unsigned k = TRL_KIND_CHAIN; k <= TRL_KIND_GRAPH; k *= 2)
        if (m->kinds & k) {
            text_fmt(out, "%s%s", first ? "" : ", ", trl_kind_plural((trl_kind)k));
            first = false;
        }
    text_fmt(out, ")\n%*s", (int)indent, "");
    text what = {0};
    library_words(verb_train.options, m->what, &what);
    wrap(what.p, what.n, indent, indent, out);
    out->failed = out->failed || what.failed;
    text_fini(&what);
    text_fmt(out, "%*sUse: ", (int)indent, "");
    wrap(m->when, strlen(m->when), indent + 5, indent + 5, out);
}

static void methods(const char *heading, bool (*info)(size_t k, trl_method *m), text *out)
{
    trl_method m;
    text_fmt(out, "%s by name, another name for it, and the structures that have it:\n\n", heading);
    for (size_t k = 0; info(k, &m); k++)
        method(&m, out);
}

void help_objectives(text *out)
{
    methods("Objectives", trl_objective_info, out);
}

void help_optimizers(text *out)
{
    methods("Optimizers", trl_optimizer_info, out);
}
