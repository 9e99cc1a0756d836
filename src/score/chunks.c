/* chunks.c -- chunk boundaries between neighbouring tags. */
/* SPDX-License-Identifier: MIT */
#include "score/chunks.h"

#include <string.h>

#define SET(prefix) (1u << (prefix))

void trl_tag_split(trl_str tag, trl_str *prefix, trl_str *type)
{
    const char *hyphen = tag.n ? memchr(tag.p, '-', tag.n) : NULL;
    if (!hyphen) {
        *prefix = tag;
        *type = (trl_str){"", 0};
        return;
    }
    *prefix = (trl_str){tag.p, (size_t)(hyphen - tag.p)};
    *type = (trl_str){hyphen + 1, tag.n - prefix->n - 1};
    if (type->n == 1 && type->p[0] == '0')
        type->n = 0;
}

trl_tag_prefix trl_tag_prefix_of(trl_str prefix)
{
    if (prefix.n != 1)
        return TRL_TAG_OTHER;
    switch (prefix.p[0]) {
    case 'O':
        return TRL_TAG_O;
    case 'B':
        return TRL_TAG_B;
    case 'I':
        return TRL_TAG_I;
    case 'E':
        return TRL_TAG_E;
    case 'S':
        return TRL_TAG_S;
    case '.':
        return TRL_TAG_DOT;
    case '[':
    case ']':
        return TRL_TAG_BRACKET;
    default:
        return TRL_TAG_OTHER;
    }
}

static bool inside(trl_tag tag)
{
    return tag.prefix != TRL_TAG_O && tag.prefix != TRL_TAG_DOT;
}

/* True when `tag` is inside a chunk and its type differs from its neighbour's. */
static bool type_breaks(trl_tag tag, trl_tag neighbour)
{
    return inside(tag) && tag.type != neighbour.type;
}

static bool is_last(trl_tag tag)
{
    return tag.prefix == TRL_TAG_E || tag.prefix == TRL_TAG_S;
}

bool trl_chunk_ends(trl_chunk_rule rule, trl_tag prev, trl_tag cur)
{
    if (rule == TRL_RULE_IOBES && (is_last(prev) || (cur.prefix == TRL_TAG_S && inside(prev))))
        return true;
    /* [p]: the prefixes c before which p ends its chunk, whatever the types. */
    static const unsigned ends[] = {
        [TRL_TAG_B] = SET(TRL_TAG_B) | SET(TRL_TAG_O),
        [TRL_TAG_I] = SET(TRL_TAG_B) | SET(TRL_TAG_O),
        [TRL_TAG_E] = SET(TRL_TAG_E) | SET(TRL_TAG_I) | SET(TRL_TAG_O),
        [TRL_TAG_BRACKET] = ~0u,
        [TRL_TAG_OTHER] = 0,
    };
    return (ends[prev.prefix] & SET(cur.prefix)) || type_breaks(prev, cur);
}

bool trl_chunk_starts(trl_chunk_rule rule, trl_tag prev, trl_tag cur)
{
    if (rule == TRL_RULE_IOBES && (cur.prefix == TRL_TAG_S || (is_last(prev) && inside(cur))))
        return true;
    /* [c]: the prefixes p after which c starts a chunk, whatever the types. */
    static const unsigned starts[] = {
        [TRL_TAG_B] = SET(TRL_TAG_B) | SET(TRL_TAG_I) | SET(TRL_TAG_O),
        [TRL_TAG_I] = SET(TRL_TAG_E) | SET(TRL_TAG_O),
        [TRL_TAG_E] = SET(TRL_TAG_E) | SET(TRL_TAG_O),
        [TRL_TAG_BRACKET] = ~0u,
        [TRL_TAG_OTHER] = 0,
    };
    return (starts[cur.prefix] & SET(prev.prefix)) || type_breaks(cur, prev);
}

bool trl_iobes_follows(trl_tag prev, trl_tag cur)
{
    if (prev.prefix == TRL_TAG_B || prev.prefix == TRL_TAG_I)
        return (cur.prefix == TRL_TAG_I || cur.prefix == TRL_TAG_E) && cur.type == prev.type;
    return (prev.prefix == TRL_TAG_O || is_last(prev)) &&
           (cur.prefix == TRL_TAG_O || cur.prefix == TRL_TAG_B || cur.prefix == TRL_TAG_S);
}
