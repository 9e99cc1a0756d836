/* tagger.c -- labelling with a chain model: names to score tables, then inference. */
/* SPDX-License-Identifier: MIT */
#include "trellis/tagger.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/calibrate.h"
#include "chain/chain.h"
#include "chain/local.h"
#include "chain/objective.h"
#include "chain/tag_expand.h"
#include "chain/tag_kernel.h"
#include "model/model.h"

/* Templates are expanded line by line over so many positions: names of one line are alike,
 * which spares branch misses all the way down (3 % of the time); the rows stay in L1. */
#define WINDOW 64

struct trl_tagger {
    const trl_chain_model *m;
    trl_chain chain;   /* of the constant attributes */
    trl_tables tables; /* of the current sequence; n = 0: there is none */
    bool is_local;
    trl_chain rows;           /* for tables made from those of the sequence: `own`, in the */
    trl_tables own;           /* arena, locally normalised or calibrated */
    size_t cap[TRL_FAMILIES]; /* doubles in tables.row */
    bool has_rows[TRL_FAMILIES];
    trl_arena arena;              /* scratch of one answer */
    size_t *line[TRL_FAMILIES];   /* template lines that make attributes of it ... */
    size_t n_lines[TRL_FAMILIES]; /* ... other than the constant one */
    trl_expander *expander;       /* of the template; NULL for items */
    trl_buf text;                 /* names of the block, from the template */
    trl_tag_key key[TRL_TAG_BLOCK];
    size_t n_keys;
    uint64_t attributes, unknown;
    uint32_t *value; /* q0's values of the sequence; masked cells */
    trl_str *cell;
    size_t value_cap, cell_cap;
};

/* ---- lifetime ----------------------------------------------------------------------- */

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
        x[trl_model_cell(f, row, at)] += (double)f->weight[at];
    *out = x;
    return TRL_OK;
}

/* The template's lines by family. */
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
                (f == TRL_NODE || !trl_template_is_constant(tpl, k)))
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
        t->has_rows[f] = f == TRL_NODE || mf->names.n > (mf->constant != TRL_NO_ID) ||
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
    if (st == TRL_OK && m->tpl)
        st = trl_expander_new(m->tpl, &t->expander, err);
    return st;
}

trl_status trl_tagger_new(const trl_model *m, trl_tagger **out, trl_error *err)
{
    const trl_chain_model *chain = trl_model_chain(m);
    if (!chain)
        return trl_fail(err, TRL_EINVAL, "a tagger needs a chain model, this is one of kind '%s'",
                        trl_model_get_info(m).kind);
    trl_tagger *t = trl_zalloc(1, sizeof *t);
    if (!t)
        return trl_fail_mem(err);
    t->m = chain;
    trl_status st = prepare(t, err);
    if (st == TRL_OK)
        st = trl_tagger_set_decoding(t, TRL_DECODE_MODEL, err);
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
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        trl_free(t->tables.row[f]);
        trl_free(t->tables.shared[f]);
        trl_free(t->line[f]);
    }
    trl_arena_fini(&t->arena);
    trl_expander_free(t->expander);
    trl_buf_fini(&t->text);
    trl_free(t->value);
    trl_free(t->cell);
    trl_free(t);
}

trl_status trl_tagger_set_decoding(trl_tagger *t, trl_decoding how, trl_error *err)
{
    const bool local = how == TRL_DECODE_MODEL ? t->m->is_local : how == TRL_DECODE_LOCAL;
    trl_status st = TRL_OK;
    if ((local || t->m->calibration) && !t->rows.L)
        st = trl_rows_chain_init(&t->rows, t->m->L, t->m->order, err);
    if (st == TRL_OK)
        t->is_local = local;
    return st;
}

uint64_t trl_tagger_unknown(const trl_tagger *t)
{
    return t->unknown;
}

uint64_t trl_tagger_attributes(const trl_tagger *t)
{
    return t->attributes;
}

/* ---- score tables ------------------------------------------------------------------- */

/* Makes room for n positions and sets all scores to 0. */
static bool clear_tables(trl_tagger *t, size_t n)
{
    t->tables.n = 0;
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

/* Sends the block through. */
static void flush(trl_tagger *t, size_t family)
{
    t->attributes += t->n_keys;
    t->unknown += trl_tag_add(&t->m->family[family], t->key, t->n_keys, t->tables.row[family]);
    t->n_keys = 0;
}

trl_status trl_tagger_set_items(trl_tagger *t, const trl_items *seq, trl_error *err)
{
    t->tables.n = 0;
    if (t->m->n_columns)
        return trl_fail(err, TRL_EINVAL, "the model reads columns, not attribute lists");
    if (seq->n_tokens == 0)
        return trl_fail(err, TRL_EINVAL, "an empty sequence cannot be labelled");
    if (!clear_tables(t, seq->n_tokens))
        return trl_fail_mem(err);
    t->n_keys = 0;
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
    t->tables.n = seq->n_tokens;
    if (t->m->has_q0)
        trl_hmm_add_rows(&t->m->q0, TRL_HMM_FLOOR, NULL, &t->tables);
    return TRL_OK;
}

/* The names of a block lie in `text`, which may have moved: `at` has their offsets. */
static void flush_text(trl_tagger *t, size_t family)
{
    for (size_t i = 0; i < t->n_keys; i++)
        t->key[i].p = t->text.data + t->key[i].at;
    flush(t, family);
    t->text.len = 0;
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
    for (size_t from = family; from < n; from += WINDOW)
        for (size_t i = 0; i < t->n_lines[family]; i++)
            if (!add_line(t, family, t->line[family][i], from,
                          n - from < WINDOW ? n : from + WINDOW))
                return false;
    flush_text(t, family);
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
    trl_str *cell = t->cell;
    if (t->m->masked)
        cell = trl_reserve(t->cell, &t->cell_cap, seq->n_tokens * seq->n_columns, sizeof *cell);
    if (cell)
        t->cell = cell;
    if (!value || (t->m->masked && !cell))
        return trl_fail_mem(err);
    const trl_status st = trl_hmm_number_rows(h, seq, value, err);
    if (st == TRL_OK && t->m->masked)
        *seq = trl_hmm_mask_rows(h, seq, cell);
    return st;
}

trl_status trl_tagger_set_rows(trl_tagger *t, const trl_rows *sequence, trl_error *err)
{
    trl_rows masked = *sequence;
    const trl_rows *seq = &masked;
    t->tables.n = 0;
    if (!t->m->tpl)
        return trl_fail(err, TRL_EINVAL, "the model reads attribute lists, not columns");
    if (seq->n_tokens == 0)
        return trl_fail(err, TRL_EINVAL, "an empty sequence cannot be labelled");
    if (seq->n_columns < trl_template_columns(t->m->tpl))
        return missing_column(t, seq, err);
    const trl_status st = t->m->has_q0 ? number_q0(t, &masked, err) : TRL_OK;
    if (st != TRL_OK)
        return st;
    if (!clear_tables(t, seq->n_tokens) || !trl_expander_set(t->expander, seq))
        return trl_fail_mem(err);
    for (size_t f = 0; f <= (size_t)t->m->order; f++)
        if (!add_family(t, seq->n_tokens, f))
            return trl_fail_mem(err);
    t->tables.n = seq->n_tokens;
    if (t->m->has_q0)
        trl_hmm_add_rows(&t->m->q0, TRL_HMM_FLOOR, t->value, &t->tables);
    return TRL_OK;
}

/* ---- answers ------------------------------------------------------------------------ */

static trl_status need_sequence(const trl_tagger *t, trl_error *err)
{
    return t->tables.n ? TRL_OK : trl_fail(err, TRL_EINVAL, "no sequence has been set");
}

/* What to decode: the scores as they are, or tables made of them in the arena: those of the
 * locally normalised distribution, or the factors times their multipliers. */
static trl_status need_view(trl_tagger *t, const trl_chain **chain, const trl_tables **tables,
                            trl_error *err)
{
    const trl_status st = need_sequence(t, err);
    const bool made = t->is_local || t->m->calibration;
    *chain = made ? &t->rows : &t->chain;
    *tables = made ? &t->own : &t->tables;
    if (st != TRL_OK || !made)
        return st;
    if (t->is_local)
        return trl_local_tables(&t->chain, &t->tables, &t->arena, &t->own, err);
    return trl_calibrate_tables(&t->chain, &t->tables, t->m->calibration, &t->arena, &t->own, err);
}

static trl_status need_probability(const trl_tagger *t, trl_error *err)
{
    if (t->m->is_probability)
        return need_sequence(t, err);
    const trl_status st =
        trl_fail(err, TRL_EINVAL, "the scores of a %s model are no probabilities", t->m->objective);
    return trl_fail_hint(err, st, "train with the objective 'likelihood' to get them");
}

trl_status trl_tagger_viterbi(trl_tagger *t, uint32_t *labels, double *score, trl_error *err)
{
    const trl_chain *chain;
    const trl_tables *tables;
    trl_status st = need_view(t, &chain, &tables, err);
    if (st == TRL_OK)
        st = trl_chain_viterbi(chain, tables, &t->arena, labels, score, err);
    trl_arena_reset(&t->arena);
    return st;
}

trl_status trl_tagger_nbest(trl_tagger *t, size_t n, uint32_t *labels, double *scores,
                            size_t *found, trl_error *err)
{
    const trl_chain *chain;
    const trl_tables *tables;
    trl_status st = need_view(t, &chain, &tables, err);
    *found = 0;
    if (st == TRL_OK && n > 0)
        st = trl_chain_nbest(chain, tables, &t->arena, n, labels, scores, found, err);
    trl_arena_reset(&t->arena);
    return st;
}

/* Forward-backward, or forward alone; out lives in the arena. */
static trl_status infer(trl_tagger *t, int want, trl_chain_marginals *out, trl_error *err)
{
    const trl_chain *chain;
    const trl_tables *tables;
    trl_status st = need_probability(t, err);
    if (st == TRL_OK)
        st = need_view(t, &chain, &tables, err);
    return st == TRL_OK ? trl_chain_infer(chain, tables, &t->arena, want, 1.0, out, NULL, err) : st;
}

trl_status trl_tagger_posterior(trl_tagger *t, uint32_t *labels, trl_error *err)
{
    trl_chain_marginals out;
    const trl_status st = infer(t, 0, &out, err);
    for (size_t pos = 0; st == TRL_OK && pos < t->tables.n; pos++) {
        const double *p = out.node + pos * t->chain.stride;
        labels[pos] = 0;
        for (uint32_t y = 1; y < t->m->L; y++)
            if (p[y] > p[labels[pos]])
                labels[pos] = y;
    }
    trl_arena_reset(&t->arena);
    return st;
}

trl_status trl_tagger_marginals(trl_tagger *t, double *p, trl_error *err)
{
    trl_chain_marginals out;
    const trl_status st = infer(t, 0, &out, err);
    for (size_t pos = 0; st == TRL_OK && pos < t->tables.n; pos++)
        memcpy(p + pos * t->m->L, out.node + pos * t->chain.stride, t->m->L * sizeof *p);
    trl_arena_reset(&t->arena);
    return st;
}

trl_status trl_tagger_log_z(trl_tagger *t, double *log_z, trl_error *err)
{
    trl_chain_marginals out;
    const trl_status st = infer(t, TRL_WANT_LOG_Z_ONLY, &out, err);
    if (st == TRL_OK)
        *log_z = out.log_z;
    trl_arena_reset(&t->arena);
    return st;
}

trl_status trl_tagger_score(trl_tagger *t, const uint32_t *labels, double *score, trl_error *err)
{
    const trl_chain *chain;
    const trl_tables *tables;
    const trl_status st = need_view(t, &chain, &tables, err);
    if (st != TRL_OK)
        return st;
    for (size_t pos = 0; pos < t->tables.n; pos++)
        if (labels[pos] >= t->m->L)
            return trl_fail(err, TRL_EINVAL, "label %u at token %zu: the model has %zu",
                            (unsigned)labels[pos], pos + 1, t->m->L);
    *score = trl_chain_score(chain, tables, labels);
    trl_arena_reset(&t->arena);
    return TRL_OK;
}
