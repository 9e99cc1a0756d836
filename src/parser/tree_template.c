/* tree_template.c -- reading feature families of tree models. */
/* SPDX-License-Identifier: MIT */
#include "parser/tree_template.h"

#include <string.h>

#include "base/fail.h"
#include "chart/chart.h"
#include "grammar/observation.h"

static const char *const parts[TRL_PARTS] = {
    "tag",        "base-tag",     "tag-parent",       "rule",        "base-rule",
    "pp-rule",    "verb-rule",    "parent",           "base-parent", "unary",
    "base-unary", "unary-parent", "base-unary-parent"};

static const struct {
    const char *name;
    uint8_t place;
    int8_t offset;
} places[] = {{"here", TRL_PLACE_FIRST, 0},    {"first", TRL_PLACE_FIRST, 0},
              {"before", TRL_PLACE_FIRST, -1}, {"last", TRL_PLACE_END, -1},
              {"after", TRL_PLACE_END, 0},     {"split", TRL_PLACE_SPLIT, 0},
              {"left", TRL_PLACE_SPLIT, -1},   {"inside", TRL_PLACE_INSIDE, 0}};

static const char *const types[TRL_SEEN_TYPES] = {"word",     "lower",   "class",   "form",
                                                  "tag",      "suffix2", "suffix3", "cluster",
                                                  "cluster4", "cluster6"};
static const char *const spans[] = {"length", "heavy", "shape", "short"};

#define CLASSES                                                                                    \
    "tag, base-tag, tag-parent, rule, base-rule, pp-rule, verb-rule, parent, "                     \
    "base-parent, unary, base-unary, unary-parent, base-unary-parent"

typedef struct parser {
    const char *name;
    uint64_t row;
    const char *line;
    trl_error *err;
} parser;

#define FAIL(p, at, ...)                                                                           \
    trl_fail_where((p)->err, trl_fail((p)->err, TRL_EPARSE, __VA_ARGS__), (p)->name, (p)->row,     \
                   (uint64_t)((at) - (p)->line) + 1)

static bool same(trl_str s, const char *name)
{
    return s.n == strlen(name) && memcmp(s.p, name, s.n) == 0;
}

static trl_status parse_part(parser *p, trl_str w, trl_tree_family *f)
{
    trl_str name = w;
    if (w.n > 2 && memcmp(w.p + w.n - 2, "-1", 2) == 0) {
        f->one_word = true;
        name.n -= 2;
    }
    for (uint8_t k = 0; k < TRL_PARTS; k++)
        if (same(name, parts[k])) {
            f->part = k;
            if (f->one_word && k < TRL_PART_UNARY)
                return FAIL(p, w.p, "-1 (over one word) is for unary rules");
            return TRL_OK;
        }
    const trl_status st = FAIL(p, w.p, "'%.*s' is not a class of tree parts", (int)w.n, w.p);
    return trl_fail_hint(p->err, st, "classes are " CLASSES);
}

static bool parse_offset(trl_str *place, int *offset)
{
    *offset = 0;
    if (place->n < 3 || (place->p[place->n - 2] != '+' && place->p[place->n - 2] != '-'))
        return true;
    const char digit = place->p[place->n - 1];
    if (digit < '0' || digit > '9')
        return false;
    *offset = (digit - '0') * (place->p[place->n - 2] == '-' ? -1 : 1);
    place->n -= 2;
    return true;
}

static trl_status parse_observation(parser *p, trl_str w, trl_observation *s)
{
    for (uint8_t k = 0; k < sizeof spans / sizeof *spans; k++)
        if (same(w, spans[k])) {
            *s = (trl_observation){TRL_PLACE_SPAN, 0, (uint8_t)(TRL_SEEN_LENGTH + k)};
            return TRL_OK;
        }
    const char *dot = memchr(w.p, '.', w.n);
    if (!dot) {
        const trl_status st =
            FAIL(p, w.p, "'%.*s' is not an observation: PLACE.KIND, length, short, heavy or shape",
                 (int)w.n, w.p);
        return trl_fail_hint(p->err, st, "for example first.word or after.tag");
    }
    trl_str place = {w.p, (size_t)(dot - w.p)};
    const trl_str type = {dot + 1, w.n - place.n - 1};
    int offset;
    bool known = parse_offset(&place, &offset);
    size_t at = 0, k = 0;
    while (at < sizeof places / sizeof *places && !same(place, places[at].name))
        at++;
    if (!known || at == sizeof places / sizeof *places) {
        const trl_status st = FAIL(p, w.p, "'%.*s' is not a place", (int)place.n, place.p);
        return trl_fail_hint(p->err, st,
                             "places are here, first, last, before, after, split, left, inside, "
                             "with an offset such as +1");
    }
    while (k < TRL_SEEN_TYPES && !same(type, types[k]))
        k++;
    if (k == TRL_SEEN_TYPES) {
        const trl_status st =
            FAIL(p, type.p, "'%.*s' cannot be seen of a word", (int)type.n, type.p);
        return trl_fail_hint(p->err, st,
                             "word, lower, class, form, tag, suffix2, suffix3, cluster, cluster4, "
                             "cluster6 can");
    }
    offset += places[at].offset;
    if (offset < -TRL_SEEN_MARGIN || offset >= TRL_SEEN_MARGIN)
        return FAIL(p, w.p, "the place is more than 2 words away");
    if (places[at].place == TRL_PLACE_INSIDE && offset < 0)
        return FAIL(p, w.p, "inside takes no negative offset");
    *s = (trl_observation){places[at].place, (int8_t)offset, (uint8_t)k};
    return TRL_OK;
}

/* ---- attachment ------------------------------------------------------------------------------ */

static unsigned places_of(const trl_tree_family *f)
{
    unsigned set = 0;
    for (size_t k = 0; k < f->n; k++)
        set |= 1u << f->observation[k].place;
    return set;
}

static trl_status attach_edge(parser *p, const char *at, unsigned set, trl_tree_template *t,
                              trl_tree_family *f)
{
    static const unsigned only[TRL_EDGE_ANCHORS] = {1u << TRL_PLACE_FIRST, 1u << TRL_PLACE_SPLIT,
                                                    1u << TRL_PLACE_END};
    f->attachment = TRL_ATTACH_EDGE;
    for (uint8_t k = 0; k < TRL_EDGE_ANCHORS; k++)
        if (set == only[k]) {
            f->anchor = k;
            if (f->part != TRL_PART_BASE_RULE && f->part != TRL_PART_BASE_PARENT)
                t->annotated_edges = true;
            return TRL_OK;
        }
    const trl_status st = FAIL(
        p, at, "a family of rules looks at one place: first, split or last with its neighbours");
    return trl_fail_hint(p->err, st, "for whole spans use parent or base-parent");
}

static trl_status attach_item(parser *p, const char *at, unsigned set, trl_tree_template *t,
                              trl_tree_family *f)
{
    if (set & (1u << TRL_PLACE_SPLIT))
        return attach_edge(p, at, set, t, f);
    if (set & (1u << TRL_PLACE_INSIDE)) {
        if (set != 1u << TRL_PLACE_INSIDE || f->part != TRL_PART_BASE_PARENT)
            return FAIL(p, at, "inside goes with base-parent, and with no other place");
        for (size_t k = 0; k < f->n; k++)
            f->width =
                (uint8_t)(f->observation[k].offset + 1 > f->width ? f->observation[k].offset + 1
                                                                  : f->width);
        f->attachment = TRL_ATTACH_INSIDE;
        return TRL_OK;
    }
    const bool base = f->part == TRL_PART_BASE_PARENT;
    f->attachment = base && set == 1u << TRL_PLACE_FIRST ? TRL_ATTACH_FIRST
                    : base && set == 1u << TRL_PLACE_END ? TRL_ATTACH_END
                                                         : TRL_ATTACH_ITEM;
    return TRL_OK;
}

static trl_status attachment(parser *p, const char *at, trl_tree_template *t, trl_tree_family *f)
{
    const unsigned set = places_of(f), inner = 1u << TRL_PLACE_SPLIT | 1u << TRL_PLACE_INSIDE;
    if (f->part <= TRL_PART_TAG_PARENT) {
        f->attachment = TRL_ATTACH_WORD;
        if (set & ~(1u << TRL_PLACE_FIRST))
            return FAIL(p, at, "a tag's families look at the word only: here, with an offset");
        return TRL_OK;
    }
    if (f->part >= TRL_PART_UNARY) {
        f->attachment = TRL_ATTACH_UNARY;
        if (set & inner)
            return FAIL(p, at, "unary rules have no split, and inside is for base-parent");
        return TRL_OK;
    }
    if (f->n == 0)
        return FAIL(p, at, "binary rules alone are always features: say what they see");
    if (f->part == TRL_PART_PARENT || f->part == TRL_PART_BASE_PARENT)
        return attach_item(p, at, set, t, f);
    return attach_edge(p, at, set, t, f);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static trl_str next_word(const char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
        (*at)++;
    const char *from = *at;
    while (*at < end && **at != ' ' && **at != '\t' && **at != '\r' && **at != '#')
        (*at)++;
    if (*at < end && **at == '#')
        *at = *at == from ? end : *at;
    return (trl_str){from, *at > from && *from != '#' ? (size_t)(*at - from) : 0};
}

static trl_status parse_line(parser *p, const char *end, trl_tree_template *t)
{
    trl_tree_family f = {0};
    const char *at = p->line;
    trl_str w = next_word(&at, end);
    if (w.n == 0)
        return TRL_OK;
    const char *start = w.p;
    trl_status st = parse_part(p, w, &f);
    while (st == TRL_OK && (w = next_word(&at, end)).n) {
        if (f.n == TRL_OBSERVATIONS)
            return FAIL(p, w.p, "a family has at most %d sights", TRL_OBSERVATIONS);
        st = parse_observation(p, w, &f.observation[f.n++]);
    }
    if (st == TRL_OK)
        st = attachment(p, start, t, &f);
    if (st != TRL_OK)
        return st;
    if (t->n == TRL_TREE_FAMILIES)
        return FAIL(p, start, "more than %d families", TRL_TREE_FAMILIES);
    for (size_t k = 0; k < f.n; k++)
        t->clusters = t->clusters || (f.observation[k].type >= TRL_SEEN_CLUSTER &&
                                      f.observation[k].type < TRL_SEEN_TYPES);
    t->family[t->n++] = f;
    return TRL_OK;
}

trl_status trl_tree_template_parse(trl_tree_template *t, const char *name, const char *text,
                                   size_t size, trl_error *err)
{
    parser p = {name, 1, text, err};
    trl_status st = TRL_OK;
    for (const char *end = text + size; st == TRL_OK && p.line < end; p.row++) {
        const char *stop = memchr(p.line, '\n', (size_t)(end - p.line));
        stop = stop ? stop : end;
        st = parse_line(&p, stop, t);
        p.line = stop < end ? stop + 1 : end;
    }
    return st;
}

bool trl_tree_template_splitless(const trl_tree_template *t)
{
    for (size_t k = 0; k < t->n; k++)
        for (size_t s = 0; s < t->family[k].n; s++)
            if (t->family[k].observation[s].place == TRL_PLACE_SPLIT)
                return false;
    return true;
}
