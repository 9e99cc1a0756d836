/* style.h -- what a terminal allows: colours and its width.
 *
 * Colours only on a terminal that is not TERM=dumb, and never when NO_COLOR is set and not empty.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_STYLE_H
#define CLI_STYLE_H

#include "text.h"

bool style_is_terminal(int fd); /* one that can do more than print lines */
bool style_colour(int fd);

/* Characters in a line; `otherwise` where there is no terminal. */
size_t style_width(int fd, size_t otherwise);

#define STYLE_BOLD "\033[1m"
#define STYLE_NAME "\033[36m" /* commands and options */
#define STYLE_GOOD "\033[32m"
#define STYLE_BAD "\033[31m"
#define STYLE_END "\033[0m"

/* `s` between a style and its end, or plain. */
void style_add(text *t, bool colour, const char *style, const char *s);

/* Replaces t by the same with styles.  Help: headings, and the names that stand before an
 * explanation.  Report: lines that start with one of `heads` (up to a NULL). */
void style_help(text *t);
void style_report(text *t, const char *const *heads);

#endif
