/* feature_groups.c -- reads tables of feature groups. */
/* SPDX-License-Identifier: MIT */
#include "search/feature_groups.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static const char *const source_name[TRL_GROUP_SOURCES] = {"children",  "grandchildren", "left",
                                                           "right",     "passed",        "words",
                                                           "modifiers", "before",        "after"};

static const char *const question_name[TRL_ASK_QUESTIONS] = {"label", "word",    "tag",
                                                             "class", "cluster", "count"};

const char *trl_group_question_name(trl_group_question q)
{
    return question_name[q];
}

static const char builtin[] = "# children of the new item\n"
                              "children[*] label word tag class count\n"
                              "children[1] label word tag class cluster\n"
                              "children[2] label word tag class cluster\n"
                              "children[-1] label word tag class cluster\n"
                              "children[-2] label word tag class cluster\n"
                              "grandchildren[*] label\n"
                              "# the other roots\n"
                              "left[1] label word tag class cluster\n"
                              "left[2] label word tag class cluster\n"
                              "left[3] label tag class\n"
                              "left[..3] label word tag class\n"
                              "left[*] label tag class count\n"
                              "right[1] label word tag class cluster\n"
                              "right[2] label word tag class cluster\n"
                              "right[3] label tag class\n"
                              "right[..3] label word tag class\n"
                              "right[*] label tag class count\n"
                              "passed[*] label tag count\n"
                              "passed[1] label word tag\n"
                              "passed[-1] label tag\n"
                              "# words\n"
                              "words[1] word tag cluster\n"
                              "words[-1] word tag cluster\n"
                              "words[*] word tag class count\n"
                              "modifiers[*] word tag class\n"
                              "before[1] word tag cluster\n"
                              "after[1] word tag cluster\n";

const char *trl_feature_groups_builtin(void)
{
    return builtin;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct line {
    const char *name;
    uint64_t row;
    const char *begin, *end; /* of the line */
    const char *at;
} line;

static trl_status complain(const line *l, const char *at, const char *what, trl_error *err)
{
    size_t n = 0;
    while (at + n < l->end && at[n] != ' ' && at[n] != '\t' && n < 60)
        n++;
    trl_fail(err, TRL_EPARSE, "'%.*s' %s", (int)n, at, what);
    return trl_fail_where(err, TRL_EPARSE, l->name, l->row, (uint64_t)(at - l->begin) + 1);
}

static trl_str next_token(line *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\t' || *l->at == '\r'))
        l->at++;
    const char *begin = l->at;
    while (l->at < l->end && *l->at != ' ' && *l->at != '\t' && *l->at != '\r')
        l->at++;
    return (trl_str){begin, (size_t)(l->at - begin)};
}

static bool read_number(const char **p, const char *end, int *out)
{
    int sign = 1, value = 0, digits = 0;
    if (*p < end && **p == '-') {
        sign = -1;
        ++*p;
    }
    for (; *p < end && **p >= '0' && **p <= '9' && digits < 3; ++*p, digits++)
        value = 10 * value + (**p - '0');
    *out = sign * value;
    return digits > 0 && value > 0;
}

/* [*] [K] [-K] [..K] [-K..] */
static bool read_range(trl_feature_group *g, const char *p, const char *end)
{
    if (end - p < 3 || p[0] != '[' || end[-1] != ']')
        return false;
    p++;
    end--;
    if (end - p == 1 && *p == '*')
        return true;
    if (end - p > 2 && p[0] == '.' && p[1] == '.') {
        p += 2;
        g->from = 1;
        return read_number(&p, end, &g->to) && g->to > 0 && p == end;
    }
    if (!read_number(&p, end, &g->from))
        return false;
    if (end - p == 2 && p[0] == '.' && p[1] == '.') {
        g->to = -1;
        return g->from < 0;
    }
    g->to = g->from;
    g->numbered = true;
    return p == end;
}

static bool read_selector(trl_feature_group *g, trl_str s)
{
    const char *bracket = memchr(s.p, '[', s.n);
    if (!bracket || s.n >= sizeof g->name)
        return false;
    const size_t n = (size_t)(bracket - s.p);
    for (int k = 0; k < TRL_GROUP_SOURCES; k++)
        if (strlen(source_name[k]) == n && memcmp(source_name[k], s.p, n) == 0) {
            g->source = (trl_group_source)k;
            memcpy(g->name, s.p, s.n);
            return read_range(g, bracket, s.p + s.n);
        }
    return false;
}

static trl_status read_questions(line *l, trl_feature_group *g, trl_error *err)
{
    for (trl_str s = next_token(l); s.n; s = next_token(l)) {
        int q = 0;
        while (q < TRL_ASK_QUESTIONS &&
               (strlen(question_name[q]) != s.n || memcmp(question_name[q], s.p, s.n) != 0))
            q++;
        if (q == TRL_ASK_QUESTIONS)
            return complain(
                l, s.p, "is not a question: use label, word, tag, class, cluster or count", err);
        if (q == TRL_ASK_COUNT && g->to != 0)
            return complain(l, s.p, "is asked of whole groups only, as in children[*]", err);
        g->questions |= 1u << q;
    }
    return g->questions ? TRL_OK : complain(l, l->begin, "is asked nothing: add label, ...", err);
}

static trl_status read_line(line *l, trl_feature_groups *out, trl_error *err)
{
    const trl_str s = next_token(l);
    if (s.n == 0 || s.p[0] == '#')
        return TRL_OK;
    if (out->n == TRL_GROUPS_MAX)
        return complain(l, s.p, "is one group too many: 64 are possible", err);
    trl_feature_group *g = &out->group[out->n];
    *g = (trl_feature_group){0};
    if (!read_selector(g, s))
        return complain(l, s.p,
                        "is not a group: use children, grandchildren, left, right, passed, words, "
                        "modifiers, before or after with [*], [K], [-K], [..K] or [-K..]",
                        err);
    for (size_t k = 0; k < out->n; k++)
        if (strcmp(out->group[k].name, g->name) == 0)
            return complain(l, s.p, "is there twice", err);
    out->n++;
    return read_questions(l, g, err);
}

trl_status trl_feature_groups_parse(const char *name, trl_str text, trl_feature_groups *out,
                                    trl_error *err)
{
    *out = (trl_feature_groups){0};
    trl_status st = TRL_OK;
    line l = {.name = name};
    const char *p = text.p, *end = text.p + text.n;
    while (st == TRL_OK && p < end) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        l.begin = l.at = p;
        l.end = eol ? eol : end;
        l.row++;
        st = read_line(&l, out, err);
        p = eol ? eol + 1 : end;
    }
    if (st == TRL_OK && out->n == 0) {
        trl_fail(err, TRL_EPARSE, "there is no group of features in it");
        st = trl_fail_where(err, TRL_EPARSE, name, 0, 0);
    }
    return st;
}
