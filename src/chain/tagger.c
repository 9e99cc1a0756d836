/* tagger.c -- labelling with a chain model: names to score tables.  Inference: tagger_answers.c. */
/* SPDX-License-Identifier: MIT */
#include "trellis/tagger.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/constrained.h"
#include "chain/local.h"
#include "chain/objective.h"
#include "chain/tagger_parts.h"

/* Templates are expanded line by line over this many positions: names of one line are similar,
 * which avoids branch misses in all stages (3 % of the time); the rows stay in L1. */
#define WINDOW 64
#define NAMES_KEPT 16384 /* bytes of names of features in words; then the block is added */

/* ---- lifetime -------------------------------------------------------------------------------- */

/* The scores of the constant attribute; NULL (and TRL_OK) when there is none. */
static trl_status constant_scores(const trl_model_family *f, double **out, trl_error *err)
{
    *out = NULL;
    if (f->constant == TRL_NO_ID)
        return TRL_OK;
    double *x = trl_zalloc(f->width, sizeof *x);
    if (!x)
        return trl_fail_mem(err);
    const trl_weight_row row = trl_model_row(f, f->constant);
    for (uint64_t at = row.at; at < row.at + row.k; at++)
        x[trl_model_cell(f, row, at)] += trl_model_weight(f, at);
    *out = x;
    return TRL_OK;
}

/* The template's lines by family.  Where no constant attribute stands for the lines without a macro
 * (imported models) they are looked up like all others. */
static trl_status sort_lines(trl_tagger *t, trl_error *err)
{
    const trl_template *tpl = t->m->tpl;
    const size_t n = trl_template_count(tpl);
    for (size_t f = 0; f <= (size_t)t->m->order; f++) {
        t->line[f] = trl_alloc(n, sizeof *t->line[f]);
        if (!t->line[f])
            return trl_fail_mem(err);
        for (size_t k = 0; k < n; k++)
            if ((trl_template_cliques(tpl, k) >> f & 1) &&
                (f == TRL_NODE || !trl_template_is_constant(tpl, k) ||
                 t->m->family[f].constant == TRL_NO_ID))
                t->line[f][t->n_lines[f]++] = k;
    }
    return TRL_OK;
}

/* q0's share of the shared scores. */
static trl_status add_q0_shared(const trl_chain_model *m, trl_tables *s, trl_error *err)
{
    const size_t f = trl_hmm_shared_family(&m->q0);
    if (!s->shared[f])
        s->shared[f] = trl_zalloc(m->family[f].width, sizeof *s->shared[f]);
    if (!s->shared[f])
        return trl_fail_mem(err);
    trl_hmm_add_shared(&m->q0, TRL_HMM_FLOOR, s->shared);
    return TRL_OK;
}

static trl_status prepare(trl_tagger *t, trl_error *err)
{
    const trl_chain_model *m = t->m;
    trl_tables s = {0};
    double some_row = 0.0; /* only says that there are rows */
    trl_status st = trl_chain_init(&t->chain, m->L, m->order, err);
    for (size_t f = 0; st == TRL_OK && f <= (size_t)m->order; f++) {
        const trl_model_family *mf = &m->family[f];
        t->has_rows[f] = f == TRL_NODE || mf->n_attrs > (mf->constant != TRL_NO_ID) ||
                         (m->has_q0 && trl_hmm_has_rows(&m->q0, f));
        t->tables.step[f] = mf->step;
        s.row[f] = t->has_rows[f] ? &some_row : NULL;
        if (f != TRL_NODE)
            st = constant_scores(mf, &s.shared[f], err);
    }
    if (st == TRL_OK && m->has_q0)
        st = add_q0_shared(m, &s, err);
    if (st == TRL_OK)
        st = trl_chain_prepare(&t->chain, &s, err);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        t->tables.shared[f] = s.shared[f]; /* for tables that are made of these */
    if (st == TRL_OK && m->tpl)
        st = sort_lines(t, err);
    const trl_feature_list *list = m->tpl ? trl_template_list(m->tpl) : NULL;
    if (st == TRL_OK && list)
        st = trl_feature_expander_new(list, &t->words, err);
    else if (st == TRL_OK && m->tpl)
        st = trl_expander_new(m->tpl, &t->expander, err);
    return st;
}

trl_status trl_tagger_new(const trl_model *m, trl_tagger **out, trl_error *err)
{
    if (!m || !out)
        return trl_fail_null(err);
    const trl_chain_model *chain = trl_model_chain(m);
    if (!chain)
        return trl_model_need_chain(m, err);
    trl_tagger *t = trl_zalloc(1, sizeof *t);
    if (!t)
        return trl_fail_mem(err);
    t->m = chain;
    t->cool = 1.0;
    trl_status st = prepare(t, err);
    if (st == TRL_OK && chain->has_temperature)
        st = trl_tagger_set_temperature(t, chain->temperature, err);
    if (st == TRL_OK)
        st = trl_tagger_set_decoding(t, TRL_DECODE_MODEL, err);
    if (st == TRL_OK)
        st = trl_constrained_by_model(t, err);
    if (st != TRL_OK) {
        trl_tagger_free(t);
        return st;
    }
    *out = t;
    return TRL_OK;
}

void trl_tagger_free(trl_tagger *t)
{
    if (!t)
        return;
    trl_chain_fini(&t->chain);
    trl_chain_fini(&t->rows);
    trl_chain_fini(&t->cooled);
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        trl_free(t->tables.row[f]);
        trl_free(t->tables.shared[f]);
        trl_free(t->line[f]);
    }
    trl_arena_fini(&t->arena);
    trl_expander_free(t->expander);
    trl_feature_expander_free(t->words);
    trl_names_fini(&t->made);
    trl_buf_fini(&t->text);
    trl_free(t->value);
    trl_free(t->masked);
    trl_free(t->contribution);
    trl_chunking_fini(&t->chunking);
    trl_free(t->span);
    trl_constrained_free(t->constrained);
    trl_free(t);
}

trl_status trl_tagger_set_decoding(trl_tagger *t, trl_decoding how, trl_error *err)
{
    if (!t)
        return trl_fail_null(err);
    if (how != TRL_DECODE_MODEL && how != TRL_DECODE_LOCAL && how != TRL_DECODE_GLOBAL &&
        how != TRL_DECODE_SCORES)
        return trl_fail(err, TRL_EINVAL, "%d is not a way of decoding", (int)how);
    const bool local = how == TRL_DECODE_MODEL ? t->m->is_local : how == TRL_DECODE_LOCAL;
    trl_status st = TRL_OK;
    if ((local || t->m->calibration) && !t->rows.L)
        st = trl_rows_chain_init(&t->rows, t->m->L, t->m->order, err);
    if (st == TRL_OK) {
        t->is_local = local;
        t->any_scores = how == TRL_DECODE_SCORES;
    }
    return st;
}

uint64_t trl_tagger_unknown(const trl_tagger *t)
{
    if (!t)
        return 0;
    return t->unknown;
}

uint64_t trl_tagger_attributes(const trl_tagger *t)
{
    if (!t)
        return 0;
    return t->attributes;
}

/* ---- score tables ---------------------------------------------------------------------------- */

/* Makes room for n positions and sets all scores to 0. */
static bool clear_tables(trl_tagger *t, size_t n)
{
    t->tables.n = 0;
    trl_constrained_reset(t);
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        size_t need;
        if (!t->has_rows[f])
            continue;
        if (__builtin_mul_overflow(n, t->tables.step[f], &need))
            return false;
        if (need > t->cap[f]) {
            const size_t cap = need < SIZE_MAX / 4 ? need + need / 2 : need;
            double *row = trl_alloc64(cap, sizeof *row);
            if (!row)
                return false;
            trl_free(t->tables.row[f]);
            t->tables.row[f] = row;
            t->cap[f] = cap;
        }
        memset(t->tables.row[f], 0, need * sizeof(double));
    }
    return true;
}

/* Looks up the block and adds its weights. */
static void flush(trl_tagger *t, size_t family)
{
    t->attributes += t->n_keys;
    t->unknown += trl_tag_add(&t->m->family[family], t->key, t->n_keys, t->tables.row[family]);
    t->n_keys = 0;
}

/* Attribute lists for n tokens may come. */
static trl_status begin_items(trl_tagger *t, size_t n, trl_error *err)
{
    t->tables.n = 0;
    t->n_keys = 0;
    if (t->m->n_columns)
        return trl_fail(err, TRL_EINVAL, "the model reads columns, not attribute lists");
    if (n == 0)
        return trl_fail(err, TRL_EINVAL, "an empty sequence cannot be labelled");
    return clear_tables(t, n) ? TRL_OK : trl_fail_mem(err);
}

static trl_status end_items(trl_tagger *t, size_t n)
{
    t->tables.n = n;
    if (t->m->has_q0)
        trl_hmm_add_rows(&t->m->q0, TRL_HMM_FLOOR, NULL, &t->tables);
    return TRL_OK;
}

static void flush_numbers(trl_tagger *t)
{
    t->attributes += t->n_keys;
    t->unknown +=
        trl_tag_add_numbers(&t->m->family[TRL_NODE], t->key, t->n_keys, t->tables.row[TRL_NODE]);
    t->n_keys = 0;
}

trl_status trl_tagger_set_numbered(trl_tagger *t, const trl_numbered_items *x, size_t k,
                                   trl_error *err)
{
    const size_t first = x->first[k], n = x->first[k + 1] - first;
    const uint32_t known = (uint32_t)t->m->family[TRL_NODE].n_attrs;
    const trl_status st = begin_items(t, n, err);
    if (st != TRL_OK)
        return st;
    for (size_t pos = 0; pos < n; pos++)
        for (size_t i = x->begin[first + pos]; i < x->begin[first + pos + 1]; i++) {
            const double value = x->value ? x->value[i] : 1.0;
            if (!x->attr || (x->attr[i] >= known && x->attr[i] != TRL_NO_ID))
                return trl_fail(err, TRL_EINVAL,
                                "token %zu: the model has no attribute of that number", pos + 1);
            if (!isfinite(value))
                return trl_fail(err, TRL_EINVAL, "token %zu: a value is not finite", pos + 1);
            if (t->n_keys == TRL_TAG_BLOCK)
                flush_numbers(t);
            trl_tag_key *key = &t->key[t->n_keys++];
            key->id = x->attr[i];
            key->value = value;
            key->row = pos;
        }
    flush_numbers(t);
    return end_items(t, n);
}

trl_status trl_tagger_set_items(trl_tagger *t, const trl_items *seq, trl_error *err)
{
    if (!t || !seq || (seq->n_tokens && !seq->begin))
        return trl_fail_null(err);
    const trl_status begun = begin_items(t, seq->n_tokens, err);
    if (begun != TRL_OK)
        return begun;
    if (!seq->attr && seq->begin[0] < seq->begin[seq->n_tokens])
        return trl_fail_null(err);
    for (size_t pos = 0; pos < seq->n_tokens; pos++)
        for (size_t i = seq->begin[pos]; i < seq->begin[pos + 1]; i++) {
            const trl_attr *a = &seq->attr[i];
            if (!isfinite(a->value)) {
                const trl_status st = trl_fail(err, TRL_EINVAL, "a value is not finite");
                return trl_fail_where(err, st, seq->path, seq->first_row ? seq->first_row + pos : 0,
                                      0);
            }
            if (t->n_keys == TRL_TAG_BLOCK)
                flush(t, TRL_NODE);
            trl_tag_key *key = &t->key[t->n_keys++];
            key->p = a->name.p;
            key->n = a->name.n;
            key->value = a->value;
            key->row = pos;
        }
    flush(t, TRL_NODE);
    return end_items(t, seq->n_tokens);
}

/* The names of a block lie in a text, which may have moved: `at` has their offsets. */
static void flush_in(trl_tagger *t, size_t family, const char *text)
{
    for (size_t i = 0; i < t->n_keys; i++)
        t->key[i].p = text + t->key[i].at;
    flush(t, family);
}

static void flush_text(trl_tagger *t, size_t family)
{
    flush_in(t, family, t->text.data);
    t->text.len = 0;
}

static void flush_made(trl_tagger *t, size_t family)
{
    flush_in(t, family, t->made.text.data);
}

/* The attributes of one template line at the positions from .. to-1. */
static bool add_line(trl_tagger *t, size_t family, size_t line, size_t from, size_t to)
{
    for (size_t pos = from; pos < to; pos++) {
        if (t->n_keys == TRL_TAG_BLOCK)
            flush_text(t, family);
        trl_tag_key *key = &t->key[t->n_keys++];
        key->at = t->text.len;
        if (!trl_expander_put(t->expander, line, pos, &t->text))
            return false;
        key->n = t->text.len - key->at;
        key->value = 1.0;
        key->row = pos;
    }
    return true;
}

/* The same of a feature in words, which makes any number of attributes. */
static bool add_feature(trl_tagger *t, size_t family, size_t k, size_t from, size_t to)
{
    for (size_t pos = from; pos < to; pos++) {
        t->made.n = 0;
        if (t->made.text.len > NAMES_KEPT) {
            flush_made(t, family);
            trl_names_clear(&t->made);
        }
        if (!trl_feature_expander_put(t->words, k, pos, &t->made))
            return false;
        for (size_t i = 0; i < t->made.n; i++) {
            const trl_named *a = &t->made.name[i];
            if (t->n_keys == TRL_TAG_BLOCK)
                flush_made(t, family);
            trl_tag_key *key = &t->key[t->n_keys++];
            key->at = a->at;
            key->n = a->n;
            key->value = a->value;
            key->row = pos;
        }
    }
    return true;
}

static bool add_family(trl_tagger *t, size_t n, size_t family)
{
    if (!t->has_rows[family]) { /* the model knows none */
        const uint64_t more = n > family ? (n - family) * t->n_lines[family] : 0;
        t->attributes += more;
        t->unknown += more;
        return true;
    }
    t->n_keys = 0;
    t->text.len = 0;
    trl_names_clear(&t->made);
    for (size_t from = family; from < n; from += WINDOW)
        for (size_t i = 0; i < t->n_lines[family]; i++)
            if (!(t->words ? add_feature : add_line)(t, family, t->line[family][i], from,
                                                     n - from < WINDOW ? n : from + WINDOW))
                return false;
    (t->words ? flush_made : flush_text)(t, family);
    return true;
}

static trl_status missing_column(const trl_tagger *t, const trl_rows *seq, trl_error *err)
{
    uint64_t row, col;
    trl_template_place(t->m->tpl, seq->n_columns, &row, &col);
    const trl_status st =
        trl_fail(err, TRL_EPARSE, "%zu column%s here, but the template of the model uses %zu",
                 seq->n_columns, seq->n_columns == 1 ? "" : "s", trl_template_columns(t->m->tpl));
    trl_fail_hint(err, st,
                  "the training data had %zu columns, the label included; line %llu of the "
                  "template asks for the missing one",
                  t->m->n_columns, (unsigned long long)row);
    return trl_fail_where(err, st, seq->path, seq->first_row, 0);
}

/* q0's values of the sequence into t->value; when the model is a masked one, *seq is too. */
static trl_status number_q0(trl_tagger *t, trl_rows *seq, trl_error *err)
{
    const trl_hmm *h = &t->m->q0;
    uint32_t *value =
        trl_reserve(t->value, &t->value_cap, seq->n_tokens, (h->n_columns + 1) * sizeof *value);
    if (value)
        t->value = value;
    trl_str *masked = t->masked;
    if (t->m->masked)
        masked =
            trl_reserve(t->masked, &t->masked_cap, seq->n_tokens * seq->n_columns, sizeof *masked);
    if (masked)
        t->masked = masked;
    if (!value || (t->m->masked && !masked))
        return trl_fail_mem(err);
    const trl_status st = trl_hmm_number_rows(h, seq, value, err);
    if (st == TRL_OK && t->m->masked)
        *seq = trl_hmm_mask_rows(h, seq, masked);
    return st;
}

trl_status trl_tagger_set_rows(trl_tagger *t, const trl_rows *sequence, trl_error *err)
{
    if (!t || !sequence)
        return trl_fail_null(err);
    t->sequence = *sequence; /* the cells are the caller's, and only looked at while it waits */
    const trl_rows *seq = &t->sequence;
    t->tables.n = 0;
    if (!t->m->tpl)
        return trl_fail(err, TRL_EINVAL, "the model reads attribute lists, not columns");
    if (seq->n_tokens == 0)
        return trl_fail(err, TRL_EINVAL, "an empty sequence cannot be labelled");
    if (!seq->cell && seq->n_columns)
        return trl_fail_null(err);
    if (seq->n_columns < trl_template_columns(t->m->tpl))
        return missing_column(t, seq, err);
    const trl_status st = t->m->has_q0 ? number_q0(t, &t->sequence, err) : TRL_OK;
    if (st != TRL_OK)
        return st;
    if (!clear_tables(t, seq->n_tokens) || (t->expander && !trl_expander_set(t->expander, seq)))
        return trl_fail_mem(err);
    if (t->words) {
        const trl_status set = trl_feature_expander_set(t->words, seq, err);
        if (set != TRL_OK)
            return set;
    }
    for (size_t f = 0; f <= (size_t)t->m->order; f++)
        if (!add_family(t, seq->n_tokens, f))
            return trl_fail_mem(err);
    t->tables.n = seq->n_tokens;
    if (t->m->has_q0)
        trl_hmm_add_rows(&t->m->q0, TRL_HMM_FLOOR, t->value, &t->tables);
    return TRL_OK;
}
