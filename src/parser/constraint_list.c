/* constraint_list.c -- reading constraints. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/mem.h"
#include "text/input.h"
#include "text/place_cursor.h"
#include "trellis/known.h"

typedef struct place {
    uint64_t sentence, row;
    trl_known what;
} place;

struct trl_known_list {
    place *place;    /* by sentence and row */
    trl_known *item; /* the same, for the parser */
    size_t n, cap;
    trl_arena labels;
};

/* ---- one line -------------------------------------------------------------------------------- */

/* Parses the third field; its label is borrowed from the line. */
static bool take_label(trl_place_cursor *c, bool span, trl_known *x)
{
    const trl_str w = trl_place_word(c);
    x->type = TRL_KNOWN_CONSTITUENT;
    x->label = w;
    if (w.n > 1 && w.p[0] == '=' && !span) {
        x->type = TRL_KNOWN_TAG;
        x->label = (trl_str){w.p + 1, w.n - 1};
    } else if (w.n == 0 || w.p[0] == '=') {
        return false;
    } else if (w.n == 1 && (w.p[0] == '!' || w.p[0] == '*')) {
        x->type = w.p[0] == '!' ? TRL_KNOWN_NO_CONSTITUENT : TRL_KNOWN_CONSTITUENT;
        x->label.n = 0;
    }
    return true;
}

static const char *expected(trl_place_cursor *c, trl_place_cursor at, const char *what)
{
    *c = at;
    return what;
}

/* A line that is not empty; returns NULL, or what was expected at c->p. */
static const char *take_line(trl_place_cursor *c, place *out)
{
    uint64_t from, to;
    trl_place_cursor at = *c;
    if (!trl_place_number(c, &out->sentence))
        return expected(c, at, "a sentence number is expected");
    trl_place_skip_blanks(c);
    at = *c;
    if (!trl_place_number(c, &from))
        return expected(c, at, "FROM-TO or a word number is expected");
    to = from;
    const bool span = c->p < c->end && *c->p == '-';
    if (span) {
        at = *c;
        c->p++;
        if (!trl_place_number(c, &to) || to < from)
            return expected(c, at, "the end of the span is expected after '-'");
    }
    trl_place_skip_blanks(c);
    at = *c;
    out->what = (trl_known){.from = (size_t)from - 1, .to = (size_t)to};
    if (!take_label(c, span, &out->what))
        return expected(c, at, "a label, '*' or '!' is expected, or =TAG after a single word");
    trl_place_skip_blanks(c);
    return c->p < c->end ? "there is more on the line than three fields" : NULL;
}

/* ---- the file -------------------------------------------------------------------------------- */

static trl_status add_line(trl_known_list *k, const trl_input *in, trl_str line, trl_error *err)
{
    trl_place_cursor c = {line.p, line.p + line.n};
    trl_status st = trl_input_check_text(in, line, err);
    trl_place_skip_blanks(&c);
    if (st != TRL_OK || c.p == c.end || *c.p == '#')
        return st;
    place *all = trl_reserve(k->place, &k->cap, k->n + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(err);
    k->place = all;
    place *x = &all[k->n];
    const char *wrong = take_line(&c, x);
    if (wrong) {
        st = trl_fail(err, TRL_EPARSE, "%s", wrong);
        trl_input_fail(in, err, st, (uint64_t)(c.p - line.p) + 1);
        return trl_fail_hint(err, st, "for example '3 2-5 NP' or '3 4 =NN'");
    }
    char *label = trl_arena_get(&k->labels, x->what.label.n + 1, 1);
    if (!label)
        return trl_fail_mem(err);
    memcpy(label, x->what.label.p, x->what.label.n);
    x->what.label.p = label;
    x->row = trl_input_row(in);
    k->n++;
    return TRL_OK;
}

static int by_sentence(const void *pa, const void *pb)
{
    const place *a = pa, *b = pb;
    if (a->sentence != b->sentence)
        return a->sentence < b->sentence ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static trl_status finish(trl_known_list *k, trl_error *err)
{
    if (k->n)
        qsort(k->place, k->n, sizeof *k->place, by_sentence);
    k->item = trl_alloc(k->n, sizeof *k->item);
    if (!k->item)
        return trl_fail_mem(err);
    for (size_t i = 0; i < k->n; i++)
        k->item[i] = k->place[i].what;
    return TRL_OK;
}

/* Frees `in`. */
static trl_status read_all(trl_input *in, trl_known_list **out, trl_error *err)
{
    trl_known_list *k = trl_zalloc(1, sizeof *k);
    trl_status st = k ? TRL_OK : trl_fail_mem(err);
    for (bool more = true; st == TRL_OK;) {
        trl_str line;
        st = trl_input_line(in, &line, &more, err);
        if (st != TRL_OK || !more)
            break;
        st = add_line(k, in, line, err);
    }
    if (st == TRL_OK)
        st = finish(k, err);
    trl_input_free(in);
    if (st == TRL_OK)
        *out = k;
    else
        trl_known_list_free(k);
    return st;
}

trl_status trl_known_list_read(const char *path, trl_known_list **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_input *in = NULL;
    const trl_status st = trl_input_open(path, &in, err);
    return st == TRL_OK ? read_all(in, out, err) : st;
}

trl_status trl_known_list_memory(const char *name, const void *bytes, size_t n,
                                 trl_known_list **out, trl_error *err)
{
    if (!name || (!bytes && n) || !out)
        return trl_fail_null(err);
    trl_input *in = NULL;
    const trl_status st = trl_input_memory(name, bytes, n, &in, err);
    return st == TRL_OK ? read_all(in, out, err) : st;
}

void trl_known_list_free(trl_known_list *k)
{
    if (!k)
        return;
    trl_free(k->place);
    trl_free(k->item);
    trl_arena_fini(&k->labels);
    trl_free(k);
}

/* ---- looking up ------------------------------------------------------------------------------ */

const trl_known *trl_known_list_of(const trl_known_list *k, uint64_t sentence, size_t *n)
{
    size_t lo = 0, hi = k ? k->n : 0;
    if (!n)
        return NULL;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (k->place[mid].sentence < sentence)
            lo = mid + 1;
        else
            hi = mid;
    }
    *n = 0;
    while (k && lo + *n < k->n && k->place[lo + *n].sentence == sentence)
        ++*n;
    return *n ? k->item + lo : NULL;
}

bool trl_known_list_item(const trl_known_list *list, size_t k, uint64_t *sentence, uint64_t *row)
{
    if (!list || k >= list->n || !sentence || !row)
        return false;
    *sentence = list->place[k].sentence;
    *row = list->place[k].row;
    return true;
}
