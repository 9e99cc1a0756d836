/* scheme.c -- chunks from labels and labels from chunks. */
/* SPDX-License-Identifier: MIT */
#include "trellis/scheme.h"

#include <string.h>

#include "base/fail.h"
#include "text/scheme_tag.h"

typedef trl_scheme_tag tag;

trl_scheme_tag trl_scheme_tag_of(trl_str label)
{
    if (label.n == 1 && *label.p == 'O')
        return (tag){.prefix = 'O'};
    if (label.n > 2 && label.p[1] == '-' && memchr("BIESLU", label.p[0], 6))
        return (tag){label.p[0], {label.p + 2, label.n - 2}};
    return (tag){.type = label};
}

static bool same(trl_str a, trl_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool trl_scheme_same_type(trl_scheme_tag a, trl_scheme_tag b)
{
    return same(a.type, b.type);
}

static bool is_in(char c, const char *set)
{
    return c && strchr(set, c);
}

/* The last label of a chunk: may it go on?  The next one: does it not start another? */
static bool joins(tag p, tag c)
{
    return is_in(p.prefix, "BI") && is_in(c.prefix, "IEL") && same(p.type, c.type);
}

bool trl_chunk_continues(trl_str before, trl_str label)
{
    return joins(trl_scheme_tag_of(before), trl_scheme_tag_of(label));
}

size_t trl_chunks_of(const trl_str *label, size_t n, trl_chunk *chunk)
{
    size_t found = 0;
    tag before = {.prefix = 'O'};
    for (size_t t = 0; t < n; t++) {
        const tag c = trl_scheme_tag_of(label[t]);
        if (c.prefix != 'O') {
            if (!joins(before, c))
                chunk[found++] = (trl_chunk){.begin = t, .type = c.type};
            chunk[found - 1].end = t + 1;
        }
        before = c;
    }
    return found;
}

/* ---- labels of chunks ------------------------------------------------------------------------ */

static bool touch(const trl_chunk *a, const trl_chunk *b)
{
    return a->end == b->begin && same(a->type, b->type);
}

void trl_scheme_prefixes(trl_scheme scheme, const trl_chunk *chunk, size_t n_chunks, char *prefix,
                         size_t n)
{
    const bool bilou = scheme == TRL_SCHEME_BILOU, whole = bilou || scheme == TRL_SCHEME_IOBES;
    if (n)
        memset(prefix, 'O', n);
    for (size_t k = 0; k < n_chunks; k++) {
        const trl_chunk *c = &chunk[k];
        char *first = &prefix[c->begin], *last = &prefix[c->end - 1];
        memset(first, 'I', c->end - c->begin);
        if (scheme == TRL_SCHEME_IOB2 || whole ||
            (scheme == TRL_SCHEME_IOB1 && k > 0 && touch(c - 1, c)))
            *first = 'B';
        if (scheme == TRL_SCHEME_IOE2 || whole ||
            (scheme == TRL_SCHEME_IOE1 && k + 1 < n_chunks && touch(c, c + 1)))
            *last = bilou ? 'L' : 'E';
        if (whole && first == last)
            *first = bilou ? 'U' : 'S';
    }
}

/* ---- well-formed? ---------------------------------------------------------------------------- */

static const char *const prefixes[] = {
    [TRL_SCHEME_NONE] = "",       [TRL_SCHEME_IOB1] = "OIB", [TRL_SCHEME_IOB2] = "OIB",
    [TRL_SCHEME_IOE1] = "OIE",    [TRL_SCHEME_IOE2] = "OIE", [TRL_SCHEME_IOBES] = "OBIES",
    [TRL_SCHEME_BILOU] = "OBILU",
};

static const char *const names[] = {
    [TRL_SCHEME_NONE] = "none",   [TRL_SCHEME_IOB1] = "iob1", [TRL_SCHEME_IOB2] = "iob2",
    [TRL_SCHEME_IOE1] = "ioe1",   [TRL_SCHEME_IOE2] = "ioe2", [TRL_SCHEME_IOBES] = "iobes",
    [TRL_SCHEME_BILOU] = "bilou",
};

const char *trl_scheme_name(trl_scheme scheme)
{
    return scheme <= TRL_SCHEME_BILOU ? names[scheme] : "none";
}

bool trl_scheme_has(trl_scheme scheme, trl_scheme_tag c)
{
    return is_in(c.prefix, prefixes[scheme]);
}

bool trl_scheme_follows(trl_scheme scheme, trl_scheme_tag p, trl_scheme_tag c)
{
    const bool joined = p.prefix != 'O' && c.prefix != 'O' && same(p.type, c.type);
    switch (scheme) {
    case TRL_SCHEME_IOB1:
        return c.prefix != 'B' || joined;
    case TRL_SCHEME_IOB2:
        return c.prefix != 'I' || joined;
    case TRL_SCHEME_IOE1:
        return p.prefix != 'E' || joined;
    case TRL_SCHEME_IOE2:
        return p.prefix != 'I' || joined;
    case TRL_SCHEME_IOBES:
    case TRL_SCHEME_BILOU: {
        const bool open = is_in(p.prefix, "BI"), goes_on = is_in(c.prefix, "IEL");
        return open == goes_on && (!open || joined);
    }
    case TRL_SCHEME_NONE:
    default:
        return true;
    }
}

static trl_status refuse(trl_scheme scheme, const trl_str *label, size_t n, size_t t,
                         trl_error *err)
{
    const trl_str a = t > 0 ? label[t - 1] : (trl_str){"", 0};
    const int n_a = (int)(a.n < 60 ? a.n : 60);
    if (t == n)
        return trl_fail(err, TRL_EPARSE, "'%.*s' does not end a sequence in %s", n_a, a.p,
                        trl_scheme_name(scheme));
    const trl_str b = label[t];
    const int n_b = (int)(b.n < 60 ? b.n : 60);
    if (t == 0)
        return trl_fail(err, TRL_EPARSE, "'%.*s' does not start a sequence in %s", n_b, b.p,
                        trl_scheme_name(scheme));
    return trl_fail(err, TRL_EPARSE, "'%.*s' does not follow '%.*s' in %s", n_b, b.p, n_a, a.p,
                    trl_scheme_name(scheme));
}

trl_status trl_scheme_check_next(trl_scheme scheme, const trl_str *label, size_t n, size_t *next,
                                 size_t *at, trl_error *err)
{
    if ((!label && n) || !next || !at)
        return trl_fail_null(err);
    if (scheme <= TRL_SCHEME_NONE || scheme > TRL_SCHEME_BILOU)
        return TRL_OK;
    tag before = {.prefix = 'O'};
    if (*next > 0 && *next <= n)
        before = trl_scheme_tag_of(label[*next - 1]);
    for (size_t t = *next; t <= n; t++) {
        const tag c = t < n ? trl_scheme_tag_of(label[t]) : (tag){.prefix = 'O'};
        *next = t + 1;
        *at = t < n ? t : n - (n > 0);
        if (!trl_scheme_has(scheme, c))
            return trl_fail(err, TRL_EPARSE, "'%.*s' is not a label of %s",
                            (int)(label[t].n < 60 ? label[t].n : 60), label[t].p,
                            trl_scheme_name(scheme));
        if (!trl_scheme_follows(scheme, before, c) && trl_scheme_has(scheme, before))
            return refuse(scheme, label, n, t, err);
        before = c;
    }
    return TRL_OK;
}

trl_status trl_scheme_check(trl_scheme scheme, const trl_str *label, size_t n, size_t *at,
                            trl_error *err)
{
    size_t next = 0;
    return trl_scheme_check_next(scheme, label, n, &next, at, err);
}
