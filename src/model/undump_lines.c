/* undump_lines.c -- the lines of a dump: fields, their places, the first one. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/dump_text.h"
#include "model/undump.h"

/* ---- faults ---------------------------------------------------------------------------------- */

trl_status trl_undump_at(trl_undump *u, size_t k, trl_status st)
{
    return trl_input_fail(u->in, u->err, st, k < u->n_fields ? u->col[k] : 0);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Splits and unescapes a line. */
static trl_status split(trl_undump *u, trl_str s)
{
    char *line = trl_reserve(u->line, &u->line_cap, s.n + 1, 1);
    if (!line)
        return trl_fail_mem(u->err);
    u->line = line;
    if (s.n)
        memcpy(line, s.p, s.n);
    u->n_fields = 0;
    for (size_t from = 0; from <= s.n;) {
        const char *tab = from < s.n ? memchr(line + from, '\t', s.n - from) : NULL;
        const size_t end = tab ? (size_t)(tab - line) : s.n;
        size_t n = end - from;
        if (u->n_fields == TRL_UNDUMP_FIELDS) {
            const trl_status st = trl_fail(u->err, TRL_EPARSE, "too many fields");
            return trl_input_fail(u->in, u->err, st, from + 1);
        }
        if (!trl_unescape_field(line + from, &n)) {
            const trl_status st = trl_fail(u->err, TRL_EPARSE, "a bad escape");
            trl_fail_hint(u->err, st,
                          "write '\\\\' for a backslash; \\t, \\n, \\r, \\xHH are known");
            return trl_input_fail(u->in, u->err, st, from + n + 1);
        }
        u->col[u->n_fields] = from + 1;
        u->field[u->n_fields++] = (trl_str){line + from, n};
        from = end + 1;
    }
    return TRL_OK;
}

trl_status trl_undump_next(trl_undump *u, bool *more)
{
    trl_str s;
    for (;;) {
        const trl_status st = trl_input_line(u->in, &s, more, u->err);
        if (st != TRL_OK || !*more)
            return st;
        if (s.n && s.p[0] != '#')
            return u->ended ? FAIL_AT(u, 0, "a line after 'end'") : split(u, s);
    }
}

trl_status trl_undump_end(trl_undump *u)
{
    u->ended = u->n_fields == 1;
    return u->ended ? TRL_OK : FAIL_AT(u, 0, "nothing expected after 'end'");
}

trl_status trl_undump_check_end(trl_undump *u)
{
    if (u->ended || !u->must_end)
        return TRL_OK;
    trl_status st = trl_fail(u->err, TRL_EPARSE, "the dump is cut off: there is no line 'end'");
    st = trl_input_fail(u->in, u->err, st, 0);
    return trl_fail_hint(u->err, st, "make it again; one made by hand ends with this line, too");
}

static bool is(trl_str s, const char *word)
{
    return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

trl_status trl_undump_version(trl_undump *u)
{
    bool more;
    const trl_status st = trl_undump_next(u, &more);
    if (st != TRL_OK)
        return st;
    if (!more || u->n_fields != 2 || !is(u->field[0], "trellis-model"))
        return FAIL_AT(u, 0, "this is not a dump of a model: 'trellis-model' expected");
    if (!is(u->field[1], "1"))
        return FAIL_AT(u, 1, "version '%.*s' of dumps is not known", trl_shown(u->field[1]),
                       u->field[1].p);
    return TRL_OK;
}
