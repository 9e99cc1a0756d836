/* corpus.c -- collecting labelled sequences as attribute ids. */
/* SPDX-License-Identifier: MIT */
#include "feature/corpus.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

static const char *const constant_name[TRL_FAMILIES] = {"B", "B", "T"};

static trl_status init(trl_corpus *c, size_t n_families, trl_error *err)
{
    *c = (trl_corpus){.n_families = n_families};
    c->first = trl_reserve(NULL, &c->first_cap, 1, sizeof *c->first);
    bool good = c->first != NULL;
    if (good)
        c->first[0] = 0;
    for (size_t f = 0; f < c->n_families; f++) {
        trl_occurrences *o = &c->family[f];
        o->constant = TRL_NO_ID;
        o->begin = trl_reserve(NULL, &o->begin_cap, 1, sizeof *o->begin);
        good = good && o->begin;
        if (good)
            o->begin[0] = 0;
    }
    if (!good) {
        trl_corpus_fini(c);
        return trl_fail_mem(err);
    }
    return TRL_OK;
}

trl_status trl_corpus_init(trl_corpus *c, trl_error *err)
{
    return init(c, TRL_FAMILIES, err);
}

trl_status trl_corpus_init_families(trl_corpus *c, const size_t *width, size_t n, trl_error *err)
{
    if (n == 0 || n > TRL_FAMILIES_MAX)
        return trl_fail(err, TRL_EINVAL, "%zu kinds of factors are not 1 to %d", n,
                        TRL_FAMILIES_MAX);
    const trl_status st = init(c, n, err);
    for (size_t f = 0; st == TRL_OK && f < n; f++)
        c->family[f].width = width[f];
    return st;
}

void trl_occurrences_fini(trl_occurrences *o)
{
    trl_free(o->begin);
    trl_free(o->id);
    trl_value_list_fini(&o->values);
    o->begin = NULL;
    o->id = NULL;
    o->n = o->cap = o->begin_cap = 0;
}

void trl_corpus_fini(trl_corpus *c)
{
    trl_free(c->first);
    trl_free(c->label);
    trl_free(c->weight);
    trl_label_notes_free(c->notes);
    trl_strtab_fini(&c->labels);
    trl_strtab_fini(&c->zeros);
    for (size_t f = 0; f < c->n_families; f++) {
        trl_strtab_fini(&c->family[f].names);
        trl_free(c->family[f].gold);
        trl_free(c->family[f].cell);
        trl_free(c->family[f].place);
        trl_occurrences_fini(&c->family[f]);
    }
    trl_buf_fini(&c->scratch);
    trl_feature_expander_free(c->expander);
    trl_names_fini(&c->made);
    *c = (trl_corpus){0};
}

trl_status trl_corpus_set_constant(trl_corpus *c, size_t family, trl_error *err)
{
    trl_occurrences *o = &c->family[family];
    if (o->constant == TRL_NO_ID)
        o->constant =
            trl_strtab_add(&o->names, constant_name[family < TRL_FAMILIES ? family : TRL_EDGE], 1);
    return o->constant == TRL_NO_ID ? trl_fail_mem(err) : TRL_OK;
}

/* ---- growing --------------------------------------------------------------------------------- */

static bool reserve_tokens(trl_corpus *c, size_t n)
{
    uint32_t *label = trl_reserve(c->label, &c->label_cap, c->n_tokens + n, sizeof *label);
    if (!label)
        return false;
    c->label = label;
    for (size_t f = 0; f < c->n_families; f++) {
        trl_occurrences *o = &c->family[f];
        uint64_t *begin = trl_reserve(o->begin, &o->begin_cap, c->n_tokens + n + 1, sizeof *begin);
        if (!begin)
            return false;
        o->begin = begin;
    }
    return true;
}

bool trl_occurrences_add(trl_occurrences *o, const char *p, size_t n, double value)
{
    const uint32_t id = trl_strtab_add(&o->names, p, n);
    uint32_t *list = trl_reserve(o->id, &o->cap, o->n + 1, sizeof *list);
    if (list)
        o->id = list;
    if (id == TRL_NO_ID || !list || !trl_value_list_add(&o->values, o->n, value))
        return false;
    list[o->n++] = id;
    return true;
}

/* An attribute with the value 0 adds nothing to any score.  It says one thing: that attribute and
 * label occur together, so that they have a feature (as CRFsuite has it); once is enough. */
static bool is_surplus(trl_corpus *c, uint32_t id, double value, bool *surplus)
{
    *surplus = false;
    if (value != 0.0 || !c || c->keep_zeros ||
        (c->notes && !trl_label_notes_plain(c->notes, c->n_tokens, 1)))
        return true;
    const uint32_t pair[2] = {id, c->label[c->n_tokens]};
    const size_t before = c->zeros.n;
    if (trl_strtab_add(&c->zeros, (const char *)pair, sizeof pair) == TRL_NO_ID)
        return false;
    *surplus = c->zeros.n == before;
    return true;
}

/* The attributes of one item, or of a factor of another structure (c is NULL). */
static bool add_attrs(trl_corpus *c, trl_occurrences *o, const trl_attr *attr, size_t n)
{
    uint32_t *list = trl_reserve(o->id, &o->cap, o->n + n, sizeof *list);
    if (!list)
        return false;
    o->id = list;
    for (size_t at = 0; at < n; at += TRL_STRTAB_MANY) {
        trl_str name[TRL_STRTAB_MANY];
        uint32_t id[TRL_STRTAB_MANY];
        const size_t some = n - at < TRL_STRTAB_MANY ? n - at : TRL_STRTAB_MANY;
        for (size_t k = 0; k < some; k++)
            name[k] = attr[at + k].name;
        if (!trl_strtab_add_many(&o->names, name, some, id))
            return false;
        for (size_t k = 0; k < some; k++) {
            bool surplus;
            if (!is_surplus(c, id[k], attr[at + k].value, &surplus))
                return false;
            if (surplus)
                continue;
            list[o->n] = id[k];
            if (!trl_value_list_add(&o->values, o->n, attr[at + k].value))
                return false;
            o->n++;
        }
    }
    return true;
}

static void end_token(trl_corpus *c)
{
    c->n_tokens++;
    for (size_t f = 0; f < c->n_families; f++)
        c->family[f].begin[c->n_tokens] = c->family[f].n;
}

trl_status trl_corpus_use_notes(trl_corpus *c, trl_error *err)
{
    return trl_label_notes_new(&c->notes, err);
}

/* The next token has that note. */
static trl_status set_note(trl_corpus *c, uint32_t number, trl_error *err)
{
    if (!trl_label_notes_set(c->notes, c->n_tokens, number))
        return trl_fail_mem(err);
    c->label[c->n_tokens] = trl_label_notes_stand_in(c->notes, number);
    return TRL_OK;
}

/* The label of the next token; *number is the label's or, in a corpus of notes, the note's. After
 * TRL_EPARSE *col is where in the text, from 0. */
static trl_status add_label(trl_corpus *c, trl_str label, uint32_t *number, size_t *col,
                            trl_error *err)
{
    *col = 0;
    if (c->notes) {
        const trl_status st = trl_label_notes_add(c->notes, &c->labels, label, number, col, err);
        if (st != TRL_OK)
            return st;
        return c->known_only && c->notes->kind[*number] != TRL_LABEL_ONE
                   ? trl_fail(err, TRL_EPARSE,
                              "held-out data are scored by their labels: '%.*s' is not one label",
                              (int)(label.n < 100 ? label.n : 100), label.p)
                   : set_note(c, *number, err);
    }
    *number = c->frozen_labels ? trl_strtab_find(&c->labels, label.p, label.n)
                               : trl_strtab_add(&c->labels, label.p, label.n);
    if (*number == TRL_NO_ID && c->frozen_labels)
        return trl_fail(err, TRL_EPARSE, "label '%.*s' is not in the model",
                        (int)(label.n < 100 ? label.n : 100), label.p);
    if (*number == TRL_NO_ID)
        return trl_fail_mem(err);
    c->label[c->n_tokens] = *number;
    return TRL_OK;
}

static trl_status end_sequence(trl_corpus *c, double weight, trl_error *err)
{
    uint64_t *first = trl_reserve(c->first, &c->first_cap, c->n_sequences + 2, sizeof *first);
    if (first)
        c->first = first;
    double *w = trl_reserve(c->weight, &c->weight_cap, c->n_sequences + 1, sizeof *w);
    if (w)
        c->weight = w;
    if (!first || !w)
        return trl_fail_mem(err);
    w[c->n_sequences++] = weight;
    first[c->n_sequences] = c->n_tokens;
    return TRL_OK;
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* The attributes that the template makes at position t. */
static bool expand_token(trl_corpus *c, const trl_template *tpl, const trl_rows *seq, size_t t)
{
    trl_buf *b = &c->scratch;
    for (size_t k = 0; k < trl_template_count(tpl); k++) {
        const int on = trl_template_cliques(tpl, k);
        const bool constant = trl_template_is_constant(tpl, k);
        b->len = 0;
        if (!trl_template_expand(tpl, k, seq, t, b))
            return false;
        for (size_t f = 0; f < c->n_families; f++)
            if ((on >> f & 1) && t >= f && !(constant && f > 0) &&
                !trl_occurrences_add(&c->family[f], b->data, b->len, 1.0))
                return false;
    }
    return true;
}

trl_status trl_corpus_use_template(trl_corpus *c, const trl_template *tpl, trl_error *err)
{
    for (size_t k = 0; k < trl_template_count(tpl); k++)
        for (size_t f = 1; f < c->n_families; f++)
            if ((trl_template_cliques(tpl, k) >> f & 1) && trl_template_is_constant(tpl, k)) {
                const trl_status st = trl_corpus_set_constant(c, f, err);
                if (st != TRL_OK)
                    return st;
            }
    return TRL_OK;
}

/* The place of what is wrong with a label; of sequences that are not lines, the token's number. */
static trl_status bad_label(const trl_rows *seq, size_t t, size_t col, trl_status st,
                            trl_error *err)
{
    if (seq->line)
        return trl_fail_where(err, st, seq->path, seq->first_row + t,
                              trl_rows_col(seq, t, seq->n_columns - 1) + col);
    if (err && st == TRL_EPARSE) {
        char what[sizeof err->msg];
        memcpy(what, err->msg, sizeof what);
        snprintf(err->msg, sizeof err->msg, "token %zu: %.280s", t + 1, what);
    }
    return trl_fail_where(err, st, seq->path, seq->first_row, 0);
}

trl_status trl_corpus_add_rows(trl_corpus *c, const trl_template *tpl, const trl_rows *seq,
                               trl_error *err)
{
    const size_t label_at = seq->n_columns - 1;
    if (c->n_columns == 0)
        c->n_columns = seq->n_columns;
    if (seq->n_columns != c->n_columns) {
        trl_fail(err, TRL_EPARSE, "%zu columns where %zu were found before", seq->n_columns,
                 c->n_columns);
        return trl_fail_where(err, TRL_EPARSE, seq->path, seq->first_row, 0);
    }
    if (!reserve_tokens(c, seq->n_tokens))
        return trl_fail_mem(err);
    const trl_feature_list *list = trl_template_list(tpl);
    const trl_status set = list ? trl_corpus_set_features(c, list, seq, err) : TRL_OK;
    if (set != TRL_OK)
        return set;
    for (size_t t = 0; t < seq->n_tokens; t++) {
        uint32_t number;
        size_t col;
        const trl_status st =
            add_label(c, seq->cell[t * seq->n_columns + label_at], &number, &col, err);
        if (st != TRL_OK)
            return bad_label(seq, t, col, st, err);
        if (!(list ? trl_corpus_expand_features(c, list, t) : expand_token(c, tpl, seq, t)))
            return trl_fail_mem(err);
        end_token(c);
    }
    return end_sequence(c, 1.0, err);
}

trl_status trl_corpus_add_items(trl_corpus *c, const trl_items *seq, trl_error *err)
{
    if (!reserve_tokens(c, seq->n_tokens))
        return trl_fail_mem(err);
    for (size_t t = 0; t < seq->n_tokens; t++) {
        uint32_t number;
        size_t col;
        const trl_status st = add_label(c, seq->label[t], &number, &col, err);
        if (st != TRL_OK)
            return trl_fail_where(err, st, seq->path, seq->first_row + t, 1 + col);
        const size_t at = seq->begin[t], n = seq->begin[t + 1] - at;
        if (!add_attrs(c, &c->family[TRL_NODE], seq->attr + at, n))
            return trl_fail_mem(err);
        end_token(c);
    }
    return end_sequence(c, seq->weight, err);
}

/* ---- numbers --------------------------------------------------------------------------------- */

bool trl_renumbering_init(trl_renumbering *r, const trl_corpus *from)
{
    const size_t labels = from->labels.n, attrs = from->family[TRL_NODE].names.n;
    r->label = trl_alloc(labels + 1, sizeof *r->label);
    r->attr = trl_alloc(attrs + 1, sizeof *r->attr);
    if (!r->label || !r->attr) {
        trl_renumbering_fini(r);
        return false;
    }
    memset(r->label, 0xff, (labels + 1) * sizeof *r->label); /* TRL_NO_ID */
    memset(r->attr, 0xff, (attrs + 1) * sizeof *r->attr);
    return true;
}

void trl_renumbering_fini(trl_renumbering *r)
{
    trl_free(r->label);
    trl_free(r->attr);
    *r = (trl_renumbering){0};
}

static bool renumber(trl_corpus *c, const trl_occurrences *from, uint32_t *number, size_t at)
{
    trl_occurrences *o = &c->family[TRL_NODE];
    const uint32_t old = from->id[at];
    const double value = trl_value_list_at(&from->values, at);
    bool surplus;
    if (number[old] == TRL_NO_ID) {
        const trl_str name = trl_strtab_get(&from->names, old);
        number[old] = trl_strtab_add(&o->names, name.p, name.n);
    }
    if (number[old] == TRL_NO_ID || !is_surplus(c, number[old], value, &surplus))
        return false;
    if (surplus)
        return true;
    if (!trl_value_list_add(&o->values, o->n, value))
        return false;
    o->id[o->n++] = number[old];
    return true;
}

/* The label of token t of the other corpus, looked up the first time. */
static trl_status renumber_label(trl_corpus *c, const trl_corpus *from, size_t t,
                                 trl_renumbering *r, trl_error *err)
{
    uint32_t *known = &r->label[from->label[t]];
    size_t col;
    if (*known == TRL_NO_ID)
        return add_label(c, trl_strtab_get(&from->labels, from->label[t]), known, &col, err);
    if (c->notes)
        return set_note(c, *known, err);
    c->label[c->n_tokens] = *known;
    return TRL_OK;
}

trl_status trl_corpus_add_from(trl_corpus *c, const trl_corpus *from, size_t k, trl_renumbering *r,
                               trl_error *err)
{
    const size_t first = (size_t)from->first[k], n = (size_t)from->first[k + 1] - first;
    const trl_occurrences *x = &from->family[TRL_NODE];
    trl_occurrences *o = &c->family[TRL_NODE];
    uint32_t *list =
        trl_reserve(o->id, &o->cap, o->n + (x->begin[first + n] - x->begin[first]), sizeof *list);
    if (list)
        o->id = list;
    if (!list || !reserve_tokens(c, n))
        return trl_fail_mem(err);
    for (size_t t = first; t < first + n; t++) {
        const trl_status st = renumber_label(c, from, t, r, err);
        if (st != TRL_OK)
            return st;
        for (size_t at = (size_t)x->begin[t]; at < x->begin[t + 1]; at++)
            if (!renumber(c, x, r->attr, at))
                return trl_fail_mem(err);
        end_token(c);
    }
    return end_sequence(c, from->weight[k], err);
}

trl_status trl_corpus_add_numbered(trl_corpus *c, const trl_numbered *seq, trl_error *err)
{
    const size_t at = seq->begin[0], m = seq->begin[seq->n_tokens] - at;
    trl_occurrences *o = &c->family[TRL_NODE];
    uint32_t *list = trl_reserve(o->id, &o->cap, o->n + m, sizeof *list);
    if (list)
        o->id = list;
    if (!list || !reserve_tokens(c, seq->n_tokens))
        return trl_fail_mem(err);
    for (size_t t = 0; t < seq->n_tokens; t++) {
        c->label[c->n_tokens] = seq->label[t];
        for (size_t k = seq->begin[t]; k < seq->begin[t + 1]; k++) {
            if (!trl_value_list_add(&o->values, o->n, seq->value ? seq->value[k] : 1.0))
                return trl_fail_mem(err);
            o->id[o->n++] = seq->attr[k];
        }
        end_token(c);
    }
    return end_sequence(c, seq->weight, err);
}

/* ---- factors --------------------------------------------------------------------------------- */

static bool reserve_gold(trl_corpus *c, size_t n)
{
    for (size_t f = 0; f < c->n_families; f++) {
        trl_occurrences *o = &c->family[f];
        uint32_t *gold = trl_reserve(o->gold, &o->gold_cap, c->n_tokens + n, sizeof *gold);
        if (!gold)
            return false;
        o->gold = gold;
    }
    return true;
}

static trl_status check_factors(const trl_corpus *c, const trl_factors *x, trl_error *err)
{
    for (size_t f = 0; f < c->n_families; f++)
        for (size_t r = 0; r < x[f].n; r++)
            if (x[f].gold[r] >= c->family[f].width)
                return trl_fail(err, TRL_EINVAL, "cell %lu of a factor with %zu",
                                (unsigned long)x[f].gold[r], c->family[f].width);
    return TRL_OK;
}

trl_status trl_corpus_add_factors(trl_corpus *c, const trl_factors *x, double weight,
                                  trl_error *err)
{
    size_t n = 1;
    for (size_t f = 0; f < c->n_families; f++)
        n = x[f].n > n ? x[f].n : n;
    const trl_status st = check_factors(c, x, err);
    if (st != TRL_OK)
        return st;
    if (!reserve_tokens(c, n) || !reserve_gold(c, n))
        return trl_fail_mem(err);
    for (size_t r = 0; r < n; r++) {
        for (size_t f = 0; f < c->n_families; f++) {
            const bool used = r < x[f].n;
            const size_t from = used ? x[f].begin[r] : 0, to = used ? x[f].begin[r + 1] : 0;
            c->family[f].gold[c->n_tokens] = used ? x[f].gold[r] : TRL_NO_ID;
            if (from < to && !add_attrs(NULL, &c->family[f], x[f].attr + from, to - from))
                return trl_fail_mem(err);
        }
        c->label[c->n_tokens] = 0;
        end_token(c);
    }
    return end_sequence(c, weight, err);
}
