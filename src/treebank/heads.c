/* heads.c -- reading head rules and finding heads. */
/* SPDX-License-Identifier: MIT */
#include "treebank/heads.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "treebank/label.h"

typedef struct head_list {
    bool from_right;
    bool by_child;     /* first, last */
    uint32_t label, n; /* rules->label[label .. label + n); n = 0: any child */
} head_list;

typedef struct head_parent {
    uint32_t list, n; /* rules->list[list .. list + n), n >= 1 */
} head_parent;

struct trl_head_rules {
    trl_strtab name;     /* of parents */
    head_parent *parent; /* [name.n] */
    head_list *list;
    uint32_t *label; /* ids in `labels` */
    size_t cap_parents, n_lists, cap_lists, n_labels, cap_labels;
    trl_strtab labels;                             /* of children */
    bool *coordination, *punctuation;              /* [labels.n], made last */
    uint32_t coord_at, n_coord, punct_at, n_punct; /* in `label` */
    bool default_right, has_default, has_coord, has_punct;
    trl_buf text;
};

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct line_reader {
    const trl_input *in;
    trl_str line;
    size_t at;
    trl_str word; /* the last one read, with its backslash */
} line_reader;

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next word of the line; false at its end or at a comment. */
static bool next_word(line_reader *r)
{
    while (r->at < r->line.n && is_blank(r->line.p[r->at]))
        r->at++;
    r->word = (trl_str){r->line.p + r->at, 0};
    if (r->at == r->line.n || r->line.p[r->at] == '#')
        return false;
    const size_t from = r->at++;
    if (r->line.p[from] == '\\' && r->at < r->line.n && !is_blank(r->line.p[r->at]))
        r->at++;
    if (r->line.p[from] != ';')
        while (r->at < r->line.n && !is_blank(r->line.p[r->at]) && r->line.p[r->at] != ';')
            r->at++;
    r->word.n = r->at - from;
    return true;
}

/* Ends an error with the place of the last word. */
static trl_status bad_word(const line_reader *r, trl_error *err)
{
    const size_t col = r->word.p ? (size_t)(r->word.p - r->line.p) : r->line.n;
    return trl_input_fail(r->in, err, TRL_EPARSE, (uint64_t)col + 1);
}

static bool word_is(trl_str w, const char *s)
{
    return trl_label_is(w, s, strlen(s));
}

static int shown(trl_str w)
{
    return w.n < 40 ? (int)w.n : 40;
}

static trl_str unescaped(trl_str w)
{
    return w.n > 1 && w.p[0] == '\\' ? (trl_str){w.p + 1, w.n - 1} : w;
}

static bool read_direction(trl_str w, head_list *list)
{
    const bool right = word_is(w, "right"), last = word_is(w, "last");
    const bool left = word_is(w, "left"), first = word_is(w, "first");
    if (!right && !last && !left && !first)
        return false;
    list->from_right = right || last;
    list->by_child = first || last;
    return true;
}

static trl_status add_label(trl_head_rules *h, trl_str word, trl_error *err)
{
    const trl_str s = unescaped(word);
    uint32_t *label = trl_reserve(h->label, &h->cap_labels, h->n_labels + 1, sizeof *label);
    if (!label)
        return trl_fail_mem(err);
    h->label = label;
    label[h->n_labels] = trl_strtab_add(&h->labels, s.p, s.n);
    if (label[h->n_labels] == TRL_NO_ID)
        return trl_fail_mem(err);
    h->n_labels++;
    return TRL_OK;
}

static trl_status no_direction(const line_reader *r, trl_error *err)
{
    if (r->word.n)
        trl_fail(err, TRL_EPARSE, "'%.*s' is not a direction", shown(r->word), r->word.p);
    else
        trl_fail(err, TRL_EPARSE, "a direction is missing");
    trl_fail_hint(err, TRL_EPARSE, "PARENT left|right|first|last CHILD CHILD ... ; ...");
    return bad_word(r, err);
}

/* One list: [DIRECTION] LABEL...; on entry *list has the direction of the list before.  *more: a
 * ';' follows. */
static trl_status read_list(trl_head_rules *h, line_reader *r, head_list *list, bool first,
                            bool *more, trl_error *err)
{
    bool any = next_word(r);
    bool directed = any && read_direction(r->word, list);
    if (first && !directed)
        return no_direction(r, err);
    if (directed)
        any = next_word(r);
    list->label = (uint32_t)h->n_labels;
    *more = false;
    while (any && !(*more = word_is(r->word, ";"))) {
        const trl_status st = add_label(h, r->word, err);
        if (st != TRL_OK)
            return st;
        any = next_word(r);
    }
    list->n = (uint32_t)h->n_labels - list->label;
    if (list->n == 0 && (*more || !directed)) {
        trl_fail(err, TRL_EPARSE,
                 directed ? "lists after one without labels are never reached"
                          : "a list without labels");
        return bad_word(r, err);
    }
    return TRL_OK;
}

static trl_status add_parent(trl_head_rules *h, line_reader *r, trl_error *err)
{
    const trl_str name = unescaped(r->word);
    if (word_is(r->word, ";")) {
        trl_fail(err, TRL_EPARSE, "a parent is expected, not ';'");
        return bad_word(r, err);
    }
    if (trl_strtab_find(&h->name, name.p, name.n) != TRL_NO_ID) {
        trl_fail(err, TRL_EPARSE, "a second line for '%.*s'", shown(name), name.p);
        return bad_word(r, err);
    }
    head_parent *parent = trl_reserve(h->parent, &h->cap_parents, h->name.n + 1, sizeof *parent);
    if (!parent)
        return trl_fail_mem(err);
    h->parent = parent;
    head_parent p = {.list = (uint32_t)h->n_lists};
    head_list now = {0};
    for (bool more = true; more;) {
        const trl_status st = read_list(h, r, &now, p.n == 0, &more, err);
        if (st != TRL_OK)
            return st;
        head_list *list = trl_reserve(h->list, &h->cap_lists, h->n_lists + 1, sizeof *list);
        if (!list)
            return trl_fail_mem(err);
        h->list = list;
        list[h->n_lists++] = now;
        p.n++;
    }
    if (trl_strtab_add(&h->name, name.p, name.n) == TRL_NO_ID)
        return trl_fail_mem(err);
    parent[h->name.n - 1] = p;
    return TRL_OK;
}

/* @coordination LABEL..., @punctuation LABEL..., @default left|right */
static trl_status add_directive(trl_head_rules *h, line_reader *r, trl_error *err)
{
    const trl_str name = r->word;
    const bool coord = word_is(name, "@coordination"), punct = word_is(name, "@punctuation");
    bool *has = coord ? &h->has_coord : punct ? &h->has_punct : &h->has_default;
    if (!coord && !punct && !word_is(name, "@default")) {
        trl_fail(err, TRL_EPARSE, "unknown directive '%.*s'", shown(name), name.p);
        trl_fail_hint(err, TRL_EPARSE,
                      "there are @coordination, @punctuation and @default; "
                      "a label that starts with @ is written \\@");
        return bad_word(r, err);
    }
    if (*has) {
        trl_fail(err, TRL_EPARSE, "a second line of %.*s", shown(name), name.p);
        return bad_word(r, err);
    }
    *has = true;
    const uint32_t from = (uint32_t)h->n_labels;
    head_list d = {0};
    if (!coord && !punct) {
        if (!next_word(r) || !read_direction(r->word, &d) || d.by_child)
            return no_direction(r, err);
        h->default_right = d.from_right;
        if (!next_word(r))
            return TRL_OK;
        trl_fail(err, TRL_EPARSE, "'%.*s' after the direction", shown(r->word), r->word.p);
        return bad_word(r, err);
    }
    while (next_word(r)) {
        if (word_is(r->word, ";")) {
            trl_fail(err, TRL_EPARSE, "';' in a list of labels");
            return bad_word(r, err);
        }
        const trl_status st = add_label(h, r->word, err);
        if (st != TRL_OK)
            return st;
    }
    *(coord ? &h->coord_at : &h->punct_at) = from;
    *(coord ? &h->n_coord : &h->n_punct) = (uint32_t)h->n_labels - from;
    return TRL_OK;
}

/* Sets of labels as flags by id. */
static trl_status mark_sets(trl_head_rules *h, trl_error *err)
{
    h->coordination = trl_zalloc(h->labels.n, sizeof *h->coordination);
    h->punctuation = trl_zalloc(h->labels.n, sizeof *h->punctuation);
    if (!h->coordination || !h->punctuation)
        return trl_fail_mem(err);
    for (uint32_t i = 0; i < h->n_coord; i++)
        h->coordination[h->label[h->coord_at + i]] = true;
    for (uint32_t i = 0; i < h->n_punct; i++)
        h->punctuation[h->label[h->punct_at + i]] = true;
    return TRL_OK;
}

static trl_status read_lines(trl_head_rules *h, trl_input *in, trl_error *err)
{
    for (;;) {
        line_reader r = {.in = in};
        bool more;
        trl_status st = trl_input_line(in, &r.line, &more, err);
        if (st != TRL_OK)
            return st;
        if (!more)
            return mark_sets(h, err);
        trl_buf_add(&h->text, r.line.p, r.line.n);
        if (!trl_buf_ch(&h->text, '\n') || h->text.failed)
            return trl_fail_mem(err);
        if (h->text.len > UINT32_MAX) {
            trl_fail(err, TRL_EPARSE, "a table of head rules of more than 4 GiB");
            return trl_input_fail(in, err, TRL_EPARSE, 0);
        }
        if (!next_word(&r))
            continue;
        st = r.word.p[0] == '@' ? add_directive(h, &r, err) : add_parent(h, &r, err);
        if (st != TRL_OK)
            return st;
    }
}

static trl_status from_input(trl_input *in, trl_head_rules **out, trl_error *err)
{
    trl_head_rules *h = trl_zalloc(1, sizeof *h);
    const trl_status st = h ? read_lines(h, in, err) : trl_fail_mem(err);
    trl_input_free(in);
    if (st == TRL_OK)
        *out = h;
    else
        trl_head_rules_free(h);
    return st;
}

trl_status trl_head_rules_parse(const char *name, const char *text, size_t n, trl_head_rules **out,
                                trl_error *err)
{
    trl_input *in;
    const trl_status st = trl_input_memory(name, text, n, &in, err);
    return st == TRL_OK ? from_input(in, out, err) : st;
}

trl_status trl_head_rules_read(const char *path, trl_head_rules **out, trl_error *err)
{
    trl_input *in;
    const char *text = trl_head_rules_builtin();
    if (!path)
        return trl_head_rules_parse("head rules", text, strlen(text), out, err);
    const trl_status st = trl_input_open(path, &in, err);
    return st == TRL_OK ? from_input(in, out, err) : st;
}

void trl_head_rules_free(trl_head_rules *h)
{
    if (!h)
        return;
    trl_strtab_fini(&h->name);
    trl_strtab_fini(&h->labels);
    trl_free(h->parent);
    trl_free(h->list);
    trl_free(h->label);
    trl_free(h->coordination);
    trl_free(h->punctuation);
    trl_buf_fini(&h->text);
    trl_free(h);
}

trl_str trl_head_rules_text(const trl_head_rules *h)
{
    return (trl_str){h->text.data ? h->text.data : "", h->text.len};
}

/* ---- finding --------------------------------------------------------------------------------- */

#define NONE SIZE_MAX

static uint32_t id_of(const trl_head_rules *h, trl_str label)
{
    const trl_str s = trl_label_category(label);
    return trl_strtab_find(&h->labels, s.p, s.n);
}

static bool is_punctuation(const trl_head_rules *h, trl_str label)
{
    const uint32_t id = id_of(h, label);
    return trl_label_is_empty(label) || (id != TRL_NO_ID && h->punctuation[id]);
}

/* The rank of the label in the list: 0 is the best, list->n: not in it. */
static size_t rank_in(const trl_head_rules *h, const head_list *list, trl_str label)
{
    const uint32_t id = id_of(h, label);
    size_t k = 0;
    while (k < list->n && (id == TRL_NO_ID || h->label[list->label + k] != id))
        k++;
    return k;
}

static size_t search(const trl_head_rules *h, const head_list *list, const trl_str *child, size_t n)
{
    size_t found = NONE, best = list->n;
    for (size_t i = 0; i < n; i++) {
        const size_t at = list->from_right ? n - 1 - i : i;
        const size_t rank = rank_in(h, list, child[at]);
        if (rank < best) {
            best = rank;
            found = at;
            if (rank == 0 || list->by_child)
                break;
        }
    }
    return found;
}

/* The outermost child on a side that is not punctuation, or else the outermost. */
static size_t outermost(const trl_head_rules *h, bool right, const trl_str *child, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t at = right ? n - 1 - i : i;
        if (!is_punctuation(h, child[at]))
            return at;
    }
    return right ? n - 1 : 0;
}

/* The nearest child before `at` that is not punctuation. */
static size_t before(const trl_head_rules *h, const trl_str *child, size_t at)
{
    while (at-- > 0)
        if (!is_punctuation(h, child[at]))
            return at;
    return NONE;
}

static size_t first_conjunct(const trl_head_rules *h, const trl_str *child, size_t head)
{
    const size_t c = before(h, child, head);
    const uint32_t id = c == NONE ? TRL_NO_ID : id_of(h, child[c]);
    if (id == TRL_NO_ID || !h->coordination[id])
        return head;
    const size_t first = before(h, child, c);
    return first == NONE ? head : first;
}

size_t trl_head_child(const trl_head_rules *h, trl_str parent, const trl_str *child, size_t n)
{
    const trl_str s = trl_label_category(parent);
    const uint32_t id = trl_strtab_find(&h->name, s.p, s.n);
    bool right = h->default_right;
    size_t head = NONE;
    if (n < 2)
        return 0;
    if (id != TRL_NO_ID) {
        const head_parent *p = &h->parent[id];
        for (uint32_t i = 0; i < p->n && head == NONE; i++)
            head = search(h, &h->list[p->list + i], child, n);
        right = h->list[p->list + p->n - 1].from_right;
    }
    if (head == NONE)
        head = outermost(h, right, child, n);
    return first_conjunct(h, child, head);
}
