/* allowed_list.c -- a file of what is known of tokens. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/mem.h"
#include "chain/label_rules.h"
#include "text/input.h"
#include "text/place_cursor.h"
#include "trellis/constraint.h"

typedef struct place {
    uint64_t sequence, row, from, to; /* tokens from 1, `to` included */
    trl_str what;                     /* =LABELS, !LABELS or a type */
} place;

struct trl_allowed_list {
    char *name; /* of the file */
    place *place;
    size_t n, cap;
    trl_arena text;
};

/* ---- one line -------------------------------------------------------------------------------- */

/* NULL, or what was expected at c->p. */
static const char *take_line(trl_place_cursor *c, place *out)
{
    const char *at = c->p;
    if (!trl_place_number(c, &out->sequence)) {
        c->p = at;
        return "the number of a sequence is expected";
    }
    trl_place_skip_blanks(c);
    at = c->p;
    bool good = trl_place_number(c, &out->from);
    out->to = out->from;
    if (good && c->p < c->end && *c->p == '-') {
        c->p++;
        good = trl_place_number(c, &out->to) && out->to >= out->from;
    }
    if (!good || trl_place_word(c).n) {
        c->p = at;
        return "the number of a token, or FROM-TO, is expected";
    }
    trl_place_skip_blanks(c);
    out->what = trl_place_word(c);
    trl_place_skip_blanks(c);
    if (c->p < c->end)
        return "there is more on the line than three fields";
    return out->what.n == 0 ? "=LABELS, !LABELS or the type of a span is expected" : NULL;
}

/* Is it about labels, and which? */
static bool is_labels(trl_str what, trl_str *labels)
{
    *labels = what;
    if (what.p[0] == '=')
        *labels = (trl_str){what.p + 1, what.n - 1};
    return what.p[0] == '=' || what.p[0] == '!';
}

/* ---- the file -------------------------------------------------------------------------------- */

typedef struct reading {
    trl_allowed_list *list;
    trl_constraint *c; /* the labels */
    bool *set;
    const trl_input *in;
    trl_error *err;
} reading;

/* Labels and types must be the model's. */
static trl_status check_names(const reading *r, const place *x, uint64_t col)
{
    trl_str labels, bad = x->what;
    bool good = false;
    if (is_labels(x->what, &labels))
        good = trl_labels_of_text(r->c, labels, r->set, &bad);
    else
        for (size_t y = 0; y < r->c->set.L; y++)
            good |= trl_label_is_of(&r->c->set, y, x->what);
    if (good)
        return TRL_OK;
    const trl_status st = trl_fail(r->err, TRL_EPARSE, "the model has no %s '%.*s'",
                                   is_labels(x->what, &labels) ? "label" : "spans of type",
                                   (int)(bad.n < 60 ? bad.n : 60), bad.p);
    trl_input_fail(r->in, r->err, st, col);
    return trl_fail_hint(r->err, st, "'3 4 =A|B' are labels, '3 4-6 PER' is a span");
}

static trl_status add_line(const reading *r, trl_str line)
{
    trl_allowed_list *a = r->list;
    trl_place_cursor c = {line.p, line.p + line.n};
    trl_status st = trl_input_check_text(r->in, line, r->err);
    trl_place_skip_blanks(&c);
    if (st != TRL_OK || c.p == c.end || *c.p == '#')
        return st;
    place *all = trl_reserve(a->place, &a->cap, a->n + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(r->err);
    a->place = all;
    place *x = &all[a->n];
    const char *wrong = take_line(&c, x);
    if (wrong) {
        st = trl_fail(r->err, TRL_EPARSE, "%s", wrong);
        trl_input_fail(r->in, r->err, st, (uint64_t)(c.p - line.p) + 1);
        return trl_fail_hint(r->err, st, "for example '3 4 =A|B', '3 4 !A' or '3 4-6 PER'");
    }
    st = check_names(r, x, (uint64_t)(x->what.p - line.p) + 1);
    if (st != TRL_OK)
        return st;
    char *copy = trl_arena_get(&a->text, x->what.n + 1, 1);
    if (!copy)
        return trl_fail_mem(r->err);
    memcpy(copy, x->what.p, x->what.n);
    x->what.p = copy;
    x->row = trl_input_row(r->in);
    a->n++;
    return TRL_OK;
}

static int by_sequence(const void *pa, const void *pb)
{
    const place *a = pa, *b = pb;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static trl_status read_lines(const reading *r, trl_input *in)
{
    trl_status st = TRL_OK;
    for (bool more = true; st == TRL_OK;) {
        trl_str line;
        st = trl_input_line(in, &line, &more, r->err);
        if (st != TRL_OK || !more)
            break;
        st = add_line(r, line);
    }
    if (st == TRL_OK && r->list->n)
        qsort(r->list->place, r->list->n, sizeof *r->list->place, by_sequence);
    return st;
}

/* Frees `in`. */
static trl_status read_all(trl_input *in, const trl_model *m, trl_allowed_list **out,
                           trl_error *err)
{
    reading r = {.in = in, .err = err};
    trl_status st = trl_constraint_new(m, &r.c, err);
    if (st == TRL_OK) {
        r.list = trl_zalloc(1, sizeof *r.list);
        r.set = trl_alloc(r.c->set.L, sizeof *r.set);
        if (r.list)
            r.list->name = trl_strndup(trl_input_name(in), strlen(trl_input_name(in)));
        st = r.list && r.list->name && r.set ? read_lines(&r, in) : trl_fail_mem(err);
    }
    if (st == TRL_OK)
        *out = r.list;
    else
        trl_allowed_list_free(r.list);
    trl_constraint_free(r.c);
    trl_free(r.set);
    trl_input_free(in);
    return st;
}

trl_status trl_allowed_list_read(const char *path, const trl_model *m, trl_allowed_list **out,
                                 trl_error *err)
{
    trl_input *in = NULL;
    if (!path || !m || !out)
        return trl_fail_null(err);
    const trl_status st = trl_input_open(path, &in, err);
    return st == TRL_OK ? read_all(in, m, out, err) : st;
}

trl_status trl_allowed_list_memory(const char *name, const void *bytes, size_t n,
                                   const trl_model *m, trl_allowed_list **out, trl_error *err)
{
    trl_input *in = NULL;
    if (!name || (!bytes && n) || !m || !out)
        return trl_fail_null(err);
    const trl_status st = trl_input_memory(name, bytes, n, &in, err);
    return st == TRL_OK ? read_all(in, m, out, err) : st;
}

void trl_allowed_list_free(trl_allowed_list *a)
{
    if (!a)
        return;
    trl_free(a->name);
    trl_free(a->place);
    trl_arena_fini(&a->text);
    trl_free(a);
}

/* ---- using it -------------------------------------------------------------------------------- */

static trl_status apply(const place *x, trl_tagger *t, trl_error *err)
{
    trl_str labels;
    trl_status st = TRL_OK;
    if (!is_labels(x->what, &labels))
        return trl_tagger_fix_span(t, (size_t)x->from - 1, (size_t)x->to, x->what, err);
    for (uint64_t k = x->from; k <= x->to && st == TRL_OK; k++)
        st = trl_tagger_allow_text(t, (size_t)k - 1, labels, err);
    return st;
}

trl_status trl_allowed_list_apply(const trl_allowed_list *a, uint64_t k, trl_tagger *t,
                                  trl_error *err)
{
    if (!a || !t)
        return trl_fail_null(err);
    size_t lo = 0, hi = a->n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (a->place[mid].sequence < k)
            lo = mid + 1;
        else
            hi = mid;
    }
    trl_status st = TRL_OK;
    for (; lo < a->n && a->place[lo].sequence == k && st == TRL_OK; lo++) {
        st = apply(&a->place[lo], t, err);
        if (st == TRL_EINVAL && err) {
            err->code = TRL_EPARSE;
            st = trl_fail_where(err, TRL_EPARSE, a->name, a->place[lo].row, 0);
        }
    }
    return st;
}

uint64_t trl_allowed_list_last(const trl_allowed_list *a, uint64_t *row)
{
    if (!a || a->n == 0)
        return 0;
    if (row)
        *row = a->place[a->n - 1].row;
    return a->place[a->n - 1].sequence;
}
