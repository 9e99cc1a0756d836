/* style.c -- colours and width of a terminal. */
/* SPDX-License-Identifier: MIT */
#include "style.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool style_is_terminal(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

bool style_colour(int fd)
{
    const char *none = getenv("NO_COLOR");
    return style_is_terminal(fd) && !(none && none[0]);
}

size_t style_width(int fd, size_t otherwise)
{
    struct winsize w;
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col : otherwise;
}

void style_add(text *t, bool colour, const char *style, const char *s)
{
    if (colour)
        text_str(t, style);
    text_str(t, s);
    if (colour)
        text_str(t, STYLE_END);
}

static void add_styled(text *out, const char *style, const char *s, size_t n)
{
    text_str(out, style);
    text_add(out, s, n);
    text_str(out, STYLE_END);
}

/* A heading starts at the margin and ends in a colon; a name comes after blanks, and two blanks
 * or the end of the line after it. */
static void add_help_line(text *out, const char *s, size_t n)
{
    size_t indent = 0, end = 0;
    while (indent < n && s[indent] == ' ')
        indent++;
    for (end = indent; end < n && !(s[end] == ' ' && end + 1 < n && s[end + 1] == ' '); end++)
        ;
    const bool option = indent < n && s[indent] == '-';
    if (indent == 0 && n > 6 && memcmp(s, "usage:", 6) == 0) {
        add_styled(out, STYLE_BOLD, s, 6);
        text_add(out, s + 6, n - 6);
    } else if (indent == 0 && n && s[n - 1] == ':')
        add_styled(out, STYLE_BOLD, s, n);
    else if (indent && indent <= 6 && indent < n && (option || end < n)) {
        text_add(out, s, indent);
        add_styled(out, STYLE_NAME, s + indent, end - indent);
        text_add(out, s + end, n - end);
    } else
        text_add(out, s, n);
}

static bool starts_with(const char *s, size_t n, const char *const *heads)
{
    for (; *heads; heads++)
        if (n >= strlen(*heads) && memcmp(s, *heads, strlen(*heads)) == 0)
            return true;
    return false;
}

/* heads NULL: help. */
static void restyle(text *t, const char *const *heads)
{
    text out = {0};
    for (size_t i = 0; i < t->n;) {
        const char *lf = memchr(t->p + i, '\n', t->n - i);
        const size_t n = lf ? (size_t)(lf - t->p) - i : t->n - i;
        if (!heads)
            add_help_line(&out, t->p + i, n);
        else if (starts_with(t->p + i, n, heads))
            add_styled(&out, STYLE_BOLD, t->p + i, n);
        else
            text_add(&out, t->p + i, n);
        if (lf)
            text_char(&out, '\n');
        i += n + (lf != NULL);
    }
    out.failed = out.failed || t->failed;
    text_fini(t);
    *t = out;
}

void style_help(text *t)
{
    restyle(t, NULL);
}

void style_report(text *t, const char *const *heads)
{
    restyle(t, heads);
}
