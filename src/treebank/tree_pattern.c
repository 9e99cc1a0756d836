/* tree_pattern.c -- searching trees: a pattern is compiled to nodes with relations.  For each,
 * operands first, the set of items (nodes and words) that it fits is computed.
 *
 * Every relation is one pass over the items, so that a tree costs O(items x relations),
 * however deep the tree or the pattern.  Items 0 .. n_nodes-1 are nodes, the words follow; a
 * word is the only child of its tag.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "treebank/brackets.h"
#include "treebank/tregex.h"

#define DEEPEST 100 /* brackets inside each other */

typedef enum relation_type {
    CHILD,      /* <   */
    BELOW,      /* <<  */
    PARENT,     /* >   */
    ABOVE,      /* >>  */
    SISTER,     /* $   */
    NEXT,       /* .   */
    BEFORE,     /* ..  */
    PREVIOUS,   /* ,   */
    AFTER,      /* ,,  */
    ONLY_CHILD, /* <:  */
    NTH_CHILD,  /* <N  */
    LAST_CHILD, /* <-  */
} relation_type;

typedef struct relation {
    relation_type type;
    bool negated;
    uint32_t owner, operand; /* pattern nodes, owner < operand */
    uint32_t nth;            /* NTH_CHILD, from 1 */
} relation;

typedef struct alternative {
    uint32_t owner; /* pattern node */
    size_t text, n; /* in `names` */
    bool literal;   /* from quotes: '*' and "__" mean themselves */
} alternative;

struct trl_tree_pattern {
    size_t n_nodes;
    relation *rel;
    size_t n_rels, cap_rels;
    alternative *alt;
    size_t n_alts, cap_alts;
    trl_buf names;

    bool *fits; /* [n_nodes][items] */
    bool *mark; /* [items + words + 1], scratch */
    size_t cap_fits, cap_mark;
};

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct scanner {
    trl_tree_pattern *p;
    const char *text;
    size_t at;
    trl_error *err;
} scanner;

static trl_status bad(scanner *s, const char *what)
{
    trl_fail(s->err, TRL_EPARSE, "%s", what);
    trl_fail_hint(s->err, TRL_EPARSE,
                  "for instance 'NP < PP', 'S << (VBD|VBZ . RB) !< SBAR', '\"$\" , NP*'");
    return trl_fail_where(s->err, TRL_EPARSE, "pattern", 1, s->at + 1);
}

/* Refuses syntax that only tregex has at this place; TRL_OK: there is none. */
static trl_status check_tregex(scanner *s)
{
    const char *instead, *sign = trl_tregex_sign(s->text + s->at, &instead);
    if (!sign)
        return TRL_OK;
    trl_fail(s->err, TRL_EPARSE, "'%s' is tregex's: patterns have no such sign", sign);
    trl_fail_hint(s->err, TRL_EPARSE, "%s", instead);
    return trl_fail_where(s->err, TRL_EPARSE, "pattern", 1, s->at + 1);
}

/* The same for an unquoted name of n bytes. */
static trl_status check_name(scanner *s, const char *name, size_t n)
{
    const char *instead = trl_tregex_name(name, n);
    if (!instead)
        return TRL_OK;
    trl_fail(s->err, TRL_EPARSE, "'%.*s' is tregex's: a name is a label or word as it stands",
             n < 40 ? (int)n : 40, name);
    trl_fail_hint(s->err, TRL_EPARSE, "%s", instead);
    return trl_fail_where(s->err, TRL_EPARSE, "pattern", 1, (size_t)(name - s->text) + 1);
}

static void skip_blanks(scanner *s)
{
    while (s->text[s->at] == ' ' || (s->text[s->at] >= '\t' && s->text[s->at] <= '\r'))
        s->at++;
}

static bool ends_name(char c)
{
    return c == '\0' || c == ' ' || (c >= '\t' && c <= '\r') || strchr("()<>!|\"", c);
}

/* NAME or "NAME". */
static trl_status read_name(scanner *s, uint32_t owner)
{
    const bool quoted = s->text[s->at] == '"';
    if (!quoted && (ends_name(s->text[s->at]) || strchr("$.,", s->text[s->at])))
        return bad(s, "a label or word is expected here");
    const size_t from = s->at += quoted;
    if (quoted)
        s->at += strcspn(s->text + s->at, "\"");
    else
        while (!ends_name(s->text[s->at]))
            s->at++;
    if (quoted && !s->text[s->at])
        return bad(s, "a quote is not closed");
    const trl_status st = quoted ? TRL_OK : check_name(s, s->text + from, s->at - from);
    if (st != TRL_OK)
        return st;
    trl_tree_pattern *p = s->p;
    alternative *alt = trl_reserve(p->alt, &p->cap_alts, p->n_alts + 1, sizeof *alt);
    if (!alt)
        return trl_fail_mem(s->err);
    p->alt = alt;
    alt[p->n_alts++] = (alternative){owner, p->names.len, s->at - from, quoted};
    s->at += quoted;
    return trl_buf_add(&p->names, s->text + from, alt[p->n_alts - 1].n) ? TRL_OK
                                                                        : trl_fail_mem(s->err);
}

/* NAME|NAME...; *node is the pattern node made. */
static trl_status read_node(scanner *s, uint32_t *node)
{
    *node = (uint32_t)s->p->n_nodes++;
    for (;;) {
        skip_blanks(s);
        const trl_status st = read_name(s, *node);
        if (st != TRL_OK)
            return st;
        skip_blanks(s);
        if (s->text[s->at] != '|')
            return TRL_OK;
        s->at++;
    }
}

static bool take(scanner *s, const char *what)
{
    const size_t n = strlen(what);
    if (strncmp(s->text + s->at, what, n) != 0)
        return false;
    s->at += n;
    return true;
}

/* The sign of a relation; false: there is none here. */
static bool read_sign(scanner *s, relation *r)
{
    static const struct {
        const char *sign;
        relation_type type;
    } signs[] = {{"<<", BELOW}, {"<:", ONLY_CHILD}, {"<-", LAST_CHILD}, {"<", CHILD},
                 {">>", ABOVE}, {">", PARENT},      {"$", SISTER},      {"..", BEFORE},
                 {".", NEXT},   {",,", AFTER},      {",", PREVIOUS}};
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
        if (take(s, signs[k].sign)) {
            r->type = signs[k].type;
            while (r->type == CHILD && s->text[s->at] >= '0' && s->text[s->at] <= '9' &&
                   r->nth < 100000)
                r->nth = 10 * r->nth + (uint32_t)(s->text[s->at++] - '0');
            if (r->nth)
                r->type = NTH_CHILD;
            return true;
        }
    return false;
}

static trl_status add_relation(scanner *s, relation r)
{
    trl_tree_pattern *p = s->p;
    relation *rel = trl_reserve(p->rel, &p->cap_rels, p->n_rels + 1, sizeof *rel);
    if (!rel)
        return trl_fail_mem(s->err);
    p->rel = rel;
    rel[p->n_rels++] = r;
    return TRL_OK;
}

/* NODE { [!] SIGN (NODE | '(' PATTERN ')') }, a stack of owners instead of recursion. */
static trl_status read_pattern(scanner *s)
{
    uint32_t owner[DEEPEST + 1], depth = 0;
    trl_status st = read_node(s, &owner[0]);
    while (st == TRL_OK) {
        relation r = {.owner = owner[depth]};
        skip_blanks(s);
        if (!s->text[s->at] && depth == 0)
            return TRL_OK;
        if (depth > 0 && take(s, ")")) {
            depth--;
            continue;
        }
        r.negated = take(s, "!");
        st = check_tregex(s);
        if (st != TRL_OK)
            return st;
        if (!read_sign(s, &r))
            return bad(s, s->text[s->at] ? "a relation (< << > >> $ . .. , ,,) is expected here"
                                         : "a ')' is missing");
        skip_blanks(s);
        const bool inside = take(s, "(");
        if (inside && depth == DEEPEST)
            return bad(s, "too many brackets inside each other");
        st = read_node(s, &r.operand);
        if (inside)
            owner[++depth] = r.operand;
        if (st == TRL_OK)
            st = add_relation(s, r);
    }
    return st;
}

trl_status trl_tree_pattern_parse(const char *text, trl_tree_pattern **out, trl_error *err)
{
    if (!text || !out)
        return trl_fail_null(err);
    trl_tree_pattern *p = trl_zalloc(1, sizeof *p);
    if (!p)
        return trl_fail_mem(err);
    scanner s = {.p = p, .text = text, .err = err};
    const trl_status st = read_pattern(&s);
    if (st == TRL_OK)
        *out = p;
    else
        trl_tree_pattern_free(p);
    return st;
}

void trl_tree_pattern_free(trl_tree_pattern *p)
{
    if (!p)
        return;
    trl_free(p->rel);
    trl_free(p->alt);
    trl_free(p->fits);
    trl_free(p->mark);
    trl_buf_fini(&p->names);
    trl_free(p);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* '*' stands for any bytes; when what follows does not match, the last '*' is extended.
 */
static bool glob(const char *p, size_t n, trl_str s)
{
    size_t i = 0, k = 0, star = SIZE_MAX, from = 0;
    while (k < s.n) {
        if (i < n && p[i] == '*') {
            star = i++;
            from = k;
        } else if (i < n && p[i] == s.p[k]) {
            i++;
            k++;
        } else if (star != SIZE_MAX) {
            i = star + 1;
            k = ++from;
        } else
            return false;
    }
    while (i < n && p[i] == '*')
        i++;
    return i == n;
}

static bool name_fits(const trl_tree_pattern *p, const alternative *a, trl_str s)
{
    const char *name = p->names.data + a->text;
    if (!a->literal)
        return (a->n == 2 && memcmp(name, "__", 2) == 0) || glob(name, a->n, s);
    return a->n == s.n && memcmp(name, s.p, s.n) == 0;
}

/* ---- relations ------------------------------------------------------------------------------- */

/* An item of the tree; words are items after the nodes. */
typedef struct items {
    const trl_tree *t;
    uint32_t *tag; /* [n_words]: the node of each word */
    size_t n;
} items;

static uint32_t parent_of(const items *x, size_t i)
{
    return i < x->t->n_nodes ? x->t->node[i].parent : x->tag[i - x->t->n_nodes];
}

static size_t from_of(const items *x, size_t i)
{
    return i < x->t->n_nodes ? x->t->node[i].from : i - x->t->n_nodes;
}

static size_t to_of(const items *x, size_t i)
{
    return i < x->t->n_nodes ? x->t->node[i].to : i - x->t->n_nodes + 1;
}

static bool is_last(const items *x, size_t i)
{
    return i >= x->t->n_nodes || x->t->node[i].next == TRL_NO_NODE;
}

static bool is_first(const items *x, size_t i)
{
    return i >= x->t->n_nodes || (i && x->t->node[parent_of(x, i)].child == i);
}

/* Is item i, which has a parent, its nth child? */
static bool is_nth(const items *x, size_t i, uint32_t nth)
{
    if (i >= x->t->n_nodes)
        return nth == 1;
    uint32_t c = x->t->node[parent_of(x, i)].child;
    while (--nth && c != TRL_NO_NODE)
        c = x->t->node[c].next;
    return c == i;
}

/* mark[i]: some item that fits is a child of i, of the right kind. */
static void mark_parents(const items *x, const relation *r, const bool *fits, bool *mark)
{
    for (size_t i = 1; i < x->n; i++) {
        const uint32_t up = parent_of(x, i);
        if (!fits[i])
            continue;
        if (r->type == CHILD || (r->type == LAST_CHILD && is_last(x, i)) ||
            (r->type == ONLY_CHILD && is_first(x, i) && is_last(x, i)) ||
            (r->type == NTH_CHILD && is_nth(x, i, r->nth)))
            mark[up] = true;
    }
}

static void mark_ancestors(const items *x, const bool *fits, bool *mark)
{
    for (size_t i = x->n; i-- > 1;) /* words, then nodes from the last: children first */
        if (fits[i] || (i < x->t->n_nodes && mark[i]))
            mark[parent_of(x, i)] = true;
}

static void mark_below(const items *x, const relation *r, const bool *fits, bool *mark)
{
    for (size_t i = 1; i < x->n; i++) {
        const uint32_t up = parent_of(x, i);
        mark[i] = fits[up] || (r->type == ABOVE && mark[up]);
    }
}

static void mark_sisters(const items *x, const bool *fits, bool *mark)
{
    for (uint32_t i = 0; i < x->t->n_nodes; i++) {
        size_t n = 0;
        for (uint32_t c = x->t->node[i].child; c != TRL_NO_NODE; c = x->t->node[c].next)
            n += fits[c];
        for (uint32_t c = x->t->node[i].child; c != TRL_NO_NODE; c = x->t->node[c].next)
            mark[c] = n > (size_t)fits[c];
    }
}

/* The order of spans.  `place` ([n_words + 1]) says where fitting items begin or end. */
static void mark_order(const items *x, const relation *r, const bool *fits, bool *mark, bool *place)
{
    const bool forward = r->type == NEXT || r->type == BEFORE;
    size_t first_end = SIZE_MAX, last_begin = 0;
    bool any = false;
    memset(place, 0, x->t->n_words + 1);
    for (size_t i = 0; i < x->n; i++) {
        if (!fits[i])
            continue;
        any = true;
        place[forward ? from_of(x, i) : to_of(x, i)] = true;
        first_end = to_of(x, i) < first_end ? to_of(x, i) : first_end;
        last_begin = from_of(x, i) > last_begin ? from_of(x, i) : last_begin;
    }
    for (size_t i = 0; i < x->n; i++)
        mark[i] = r->type == NEXT       ? place[to_of(x, i)]
                  : r->type == PREVIOUS ? place[from_of(x, i)]
                  : r->type == BEFORE   ? any && last_begin >= to_of(x, i)
                                        : any && first_end <= from_of(x, i);
}

static void apply(trl_tree_pattern *p, const items *x, const relation *r)
{
    const bool *fits = p->fits + r->operand * x->n;
    bool *of = p->fits + r->owner * x->n, *mark = p->mark;
    memset(mark, 0, x->n);
    switch (r->type) {
    case CHILD:
    case ONLY_CHILD:
    case NTH_CHILD:
    case LAST_CHILD:
        mark_parents(x, r, fits, mark);
        break;
    case BELOW:
        mark_ancestors(x, fits, mark);
        break;
    case PARENT:
    case ABOVE:
        mark_below(x, r, fits, mark);
        break;
    case SISTER:
        mark_sisters(x, fits, mark);
        break;
    case NEXT:
    case BEFORE:
    case PREVIOUS:
    case AFTER:
        mark_order(x, r, fits, mark, mark + x->n);
        break;
    }
    for (size_t i = 0; i < x->n; i++)
        of[i] = of[i] && mark[i] != r->negated;
}

/* ---- matching -------------------------------------------------------------------------------- */

static bool reserve(trl_tree_pattern *p, const trl_tree *t, items *x)
{
    x->t = t;
    x->n = t->n_nodes + t->n_words;
    bool *fits = x->n <= SIZE_MAX / p->n_nodes
                     ? trl_reserve(p->fits, &p->cap_fits, x->n * p->n_nodes, 1)
                     : NULL;
    p->fits = fits ? fits : p->fits;
    bool *mark = trl_reserve(p->mark, &p->cap_mark, x->n + t->n_words + 1, 1);
    p->mark = mark ? mark : p->mark;
    x->tag = fits && mark ? trl_alloc(t->n_words, sizeof *x->tag) : NULL;
    for (uint32_t i = 0; x->tag && i < t->n_nodes; i++)
        if (t->node[i].child == TRL_NO_NODE)
            x->tag[t->node[i].from] = i;
    return x->tag != NULL;
}

/* `marked` may be NULL. */
static trl_status find(trl_tree_pattern *p, const trl_tree *t, size_t *n, uint32_t *first,
                       bool *marked, trl_error *err)
{
    items x;
    if (!reserve(p, t, &x))
        return trl_fail_mem(err);
    memset(p->fits, 0, x.n * p->n_nodes);
    for (size_t k = 0; k < p->n_alts; k++)
        for (size_t i = 0; i < x.n; i++) {
            const trl_str s =
                i < t->n_nodes ? trl_tree_label(t, (uint32_t)i) : t->word[i - t->n_nodes];
            p->fits[p->alt[k].owner * x.n + i] |= name_fits(p, &p->alt[k], s);
        }
    for (size_t node = p->n_nodes; node-- > 0;) /* operands have higher numbers */
        for (size_t k = 0; k < p->n_rels; k++)
            if (p->rel[k].owner == node)
                apply(p, &x, &p->rel[k]);
    *n = 0;
    *first = TRL_NO_NODE;
    for (size_t i = 0; i < x.n; i++)
        if (p->fits[i]) {
            const uint32_t node = i < t->n_nodes ? (uint32_t)i : x.tag[i - t->n_nodes];
            if ((*n)++ == 0)
                *first = node;
            if (marked)
                marked[node] = true;
        }
    trl_free(x.tag);
    return TRL_OK;
}

trl_status trl_tree_pattern_match(trl_tree_pattern *p, const trl_tree *t, size_t *n,
                                  uint32_t *first, trl_error *err)
{
    return p && t && n && first ? find(p, t, n, first, NULL, err) : trl_fail_null(err);
}

trl_status trl_tree_pattern_nodes(trl_tree_pattern *p, const trl_tree *t, bool *marked, size_t *n,
                                  trl_error *err)
{
    uint32_t first;
    if (!p || !t || !n || !marked)
        return trl_fail_null(err);
    memset(marked, 0, t->n_nodes * sizeof *marked);
    return find(p, t, n, &first, marked, err);
}
