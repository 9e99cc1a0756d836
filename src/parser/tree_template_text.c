/* tree_template_text.c -- the built-in feature sets of tree models.
 *
 * [FKM08] Finkel, Kleeman, Manning. Efficient, feature-based, conditional random field parsing.
 * ACL 2008, table 1.   [HDK14] Hall, Durrett, Klein. Less grammar, more features. ACL 2014.
 *
 * [SM05b] Sutton, McCallum. Fast, piecewise training for discriminative finite-state and parsing
 * models. CIIR report IR-403, 2005.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "parser/tree_template.h"

#define LEXICON                                                                                    \
    "tag\n"                                                                                        \
    "base-tag\n"                                                                                   \
    "tag here.word\n"                                                                              \
    "tag here.lower\n"                                                                             \
    "base-tag here.word\n"                                                                         \
    "base-tag here.lower\n"                                                                        \
    "tag-parent here.word\n"                                                                       \
    "tag here.cluster\n"                                                                           \
    "tag here-1.cluster\n"                                                                         \
    "tag here+1.cluster\n"                                                                         \
    "base-tag here.cluster\n"                                                                      \
    "base-tag here-1.cluster\n"                                                                    \
    "base-tag here+1.cluster\n"                                                                    \
    "tag here.class\n"                                                                             \
    "base-tag here.class\n"

#define PAPER                                                                                      \
    LEXICON                                                                                        \
    "base-parent inside.cluster inside+1.cluster\n"                                                \
    "base-parent inside.cluster inside+1.cluster inside+2.cluster\n"                               \
    "base-parent heavy\n"                                                                          \
    "verb-rule first.word\n"                                                                       \
    "verb-rule last.word\n"                                                                        \
    "base-parent split.cluster\n"                                                                  \
    "base-parent last.cluster\n"                                                                   \
    "base-parent left.cluster split.cluster\n"                                                     \
    "pp-rule split.word\n"                                                                         \
    "unary-1 first.word\n"                                                                         \
    "unary-1 first.cluster\n"                                                                      \
    "base-unary-parent-1 first.word\n"                                                             \
    "base-unary-parent-1 first.cluster\n"

/* The span features of [HDK14], and words around a tag. */
#define SURFACE                                                                                    \
    "base-tag here.suffix3\n"                                                                      \
    "base-tag here.suffix2\n"                                                                      \
    "base-tag here-1.form\n"                                                                       \
    "base-tag here+1.form\n"                                                                       \
    "base-tag here-1.tag here+1.tag\n"                                                             \
    "base-tag here-1.tag\n"                                                                        \
    "base-tag here+1.tag\n"                                                                        \
    "base-parent first.form\n"                                                                     \
    "base-parent last.form\n"                                                                      \
    "base-parent before.form\n"                                                                    \
    "base-parent after.form\n"                                                                     \
    "base-parent first.tag\n"                                                                      \
    "base-parent last.tag\n"                                                                       \
    "base-parent before.tag\n"                                                                     \
    "base-parent after.tag\n"                                                                      \
    "base-parent before.tag first.tag\n"                                                           \
    "base-parent last.tag after.tag\n"                                                             \
    "base-parent before.form first.form\n"                                                         \
    "base-parent last.form after.form\n"                                                           \
    "base-parent before.tag after.tag\n"                                                           \
    "base-parent first.tag last.tag\n"                                                             \
    "base-parent length\n"                                                                         \
    "base-parent shape\n"                                                                          \
    "base-parent length first.form\n"                                                              \
    "base-parent length after.form\n"                                                              \
    "base-rule split.form\n"                                                                       \
    "base-rule left.form\n"                                                                        \
    "base-rule split.tag\n"                                                                        \
    "base-rule left.tag\n"                                                                         \
    "base-rule left.tag split.tag\n"                                                               \
    "base-rule first.form\n"                                                                       \
    "base-rule last.form\n"                                                                        \
    "base-rule first.tag\n"                                                                        \
    "base-rule last.tag\n"                                                                         \
    "base-unary first.form\n"                                                                      \
    "base-unary last.form\n"                                                                       \
    "base-unary before.form\n"                                                                     \
    "base-unary after.form\n"                                                                      \
    "base-unary first.tag\n"                                                                       \
    "base-unary last.tag\n"                                                                        \
    "base-unary before.tag\n"                                                                      \
    "base-unary after.tag\n"                                                                       \
    "base-parent first.cluster\n"                                                                  \
    "base-parent last.cluster\n"                                                                   \
    "base-parent before.cluster\n"                                                                 \
    "base-parent after.cluster\n"                                                                  \
    "base-parent before.cluster6 first.cluster6\n"                                                 \
    "base-parent last.cluster6 after.cluster6\n"                                                   \
    "base-rule split.cluster\n"                                                                    \
    "base-rule left.cluster\n"                                                                     \
    "base-rule left.cluster6 split.cluster6\n"                                                     \
    "base-unary first.cluster\n"                                                                   \
    "base-unary after.cluster\n"                                                                   \
    "base-rule before.tag\n"                                                                       \
    "base-rule after.tag\n"                                                                        \
    "base-rule last.tag after.tag\n"                                                               \
    "base-rule before.tag first.tag\n"                                                             \
    "parent length\n"                                                                              \
    "parent after.tag\n"                                                                           \
    "parent before.tag\n"                                                                          \
    "parent first.tag\n"                                                                           \
    "parent last.tag\n"                                                                            \
    "base-tag here.cluster6\n"                                                                     \
    "base-tag here-1.cluster6 here+1.cluster6\n"                                                   \
    "base-tag here-2.tag here-1.tag\n"                                                             \
    "base-tag here+1.tag here+2.tag\n"                                                             \
    "base-tag here-1.form here.form\n"                                                             \
    "base-tag here.form here+1.form\n"                                                             \
    "base-unary length\n"                                                                          \
    "base-unary shape\n"

/* First and last word of the span, with its length if below 3 [SM05b, 5]: by rule, and with the
 * length by the parent of binary rules, as a binary rule over tags says its length itself. */
#define LOCAL                                                                                      \
    "rule first.word\n"                                                                            \
    "rule last.word\n"                                                                             \
    "parent first.word short\n"                                                                    \
    "parent last.word short\n"                                                                     \
    "unary first.word\n"                                                                           \
    "unary last.word\n"                                                                            \
    "unary first.word short\n"                                                                     \
    "unary last.word short\n"

const char *trl_tree_template_text(const char *name)
{
    static const struct {
        const char *name, *text;
    } known[] = {{"discriminative", LEXICON},
                 {"paper", PAPER},
                 {"features", LEXICON SURFACE},
                 {"local", LOCAL}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(name, known[k].name) == 0)
            return known[k].text;
    return NULL;
}

/* The built-in set that a line names, NULL when it names none. */
static const char *included(const char *line, size_t n)
{
    char name[32];
    while (n && (line[n - 1] == ' ' || line[n - 1] == '\t' || line[n - 1] == '\r'))
        n--;
    if (n < 2 || line[0] != '@' || n > sizeof name)
        return NULL;
    memcpy(name, line + 1, n - 1);
    name[n - 1] = 0;
    return trl_tree_template_text(name);
}

trl_status trl_tree_template_expand(const char *text, size_t size, trl_buf *out, trl_error *err)
{
    for (const char *line = text, *end = text + size; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const size_t n = (size_t)((stop ? stop : end) - line);
        const char *set = included(line, n);
        if (set)
            trl_buf_str(out, set);
        else if (trl_buf_add(out, line, n))
            trl_buf_ch(out, '\n');
        line += n + (stop != NULL);
    }
    return out->failed ? trl_fail_mem(err) : TRL_OK;
}
