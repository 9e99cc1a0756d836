/* crfsuite_write.c -- a chain model as CRFsuite's model file (layout: crfsuite_read.c).
 *
 * Strings are found by Jenkins' hash of the string and its NUL [Jen06]: its lowest byte chooses one
 * of 256 open hash tables, twice as large as the number of strings in it, the other bits the place.
 *
 * [Jen06] Jenkins. lookup3.c, for hash table lookup. 2006.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "foreign/crfsuite_hash.h"
#include "model/model.h"
#include "trellis/file.h"
#include "trellis/foreign.h"

#define HEADER 48
#define TABLES 256
#define TABLE_HEADER (24 + TABLES * 8)

typedef struct writer {
    const trl_chain_model *m;
    trl_buf out;
    uint32_t *first_feature; /* [A + 1] of state features; transitions come before them */
    trl_error *err;
} writer;

static void put_u32(trl_buf *b, uint64_t x)
{
    const unsigned char bytes[] = {(unsigned char)x, (unsigned char)(x >> 8),
                                   (unsigned char)(x >> 16), (unsigned char)(x >> 24)};
    trl_buf_add(b, bytes, 4);
}

/* Over four bytes that are there. */
static void set_u32(trl_buf *b, size_t at, uint64_t x)
{
    for (size_t k = 0; k < 4 && !b->failed; k++)
        b->data[at + k] = (char)(unsigned char)(x >> (8 * k));
}

static void put_double(trl_buf *b, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    put_u32(b, bits);
    put_u32(b, bits >> 32);
}

static void put_zeros(trl_buf *b, size_t n)
{
    static const char zeros[TABLE_HEADER] = {0};
    for (; n > sizeof zeros; n -= sizeof zeros)
        trl_buf_add(b, zeros, sizeof zeros);
    trl_buf_add(b, zeros, n);
}

/* ---- string tables --------------------------------------------------------------------------- */

/* The hash table of the n strings with hash h[] at offset at[]. */
static bool put_hash_table(trl_buf *b, const uint32_t *h, const uint32_t *at, size_t n)
{
    const size_t size = 2 * n;
    uint32_t *place = trl_zalloc(size, 2 * sizeof *place); /* pairs of hash and offset */
    if (!place)
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t k = (h[i] >> 8) % size;
        while (place[2 * k + 1])
            k = (k + 1) % size;
        place[2 * k] = h[i];
        place[2 * k + 1] = at[i];
    }
    for (size_t k = 0; k < 2 * size; k++)
        put_u32(b, place[k]);
    trl_free(place);
    return true;
}

/* Strings grouped by hash table: table t has those from first[t] to first[t + 1] - 1. */
typedef struct strings {
    size_t n;
    uint32_t *hash, *at; /* in the order of the tables */
    size_t first[TABLES + 1];
} strings;

static bool group_strings(strings *s, const uint32_t *hash, const uint32_t *at)
{
    s->hash = trl_alloc(s->n, sizeof *s->hash);
    s->at = trl_alloc(s->n, sizeof *s->at);
    if (!s->hash || !s->at)
        return false;
    size_t next[TABLES + 1] = {0};
    for (size_t i = 0; i < s->n; i++)
        next[hash[i] % TABLES + 1]++;
    for (size_t t = 0; t < TABLES; t++)
        next[t + 1] += next[t];
    memcpy(s->first, next, sizeof next);
    for (size_t i = 0; i < s->n; i++) {
        const size_t k = next[hash[i] % TABLES]++;
        s->hash[k] = hash[i];
        s->at[k] = at[i];
    }
    return true;
}

static bool put_tables(trl_buf *b, size_t base, const strings *s)
{
    for (unsigned t = 0; t < TABLES; t++) {
        const size_t from = s->first[t], n = s->first[t + 1] - from;
        set_u32(b, base + 24 + 8 * (size_t)t, n ? b->len - base : 0);
        set_u32(b, base + 28 + 8 * (size_t)t, 2 * n);
        if (n && !put_hash_table(b, s->hash + from, s->at + from, n))
            return false;
    }
    return true;
}

/* The names of a view as a string table. */
static trl_status put_strings(writer *w, const trl_strview *names)
{
    trl_buf *b = &w->out;
    const size_t base = b->len;
    strings s = {.n = names->n};
    uint32_t *hash = trl_alloc(s.n, sizeof *hash), *at = trl_alloc(s.n, sizeof *at);
    bool good = hash && at;
    put_zeros(b, TABLE_HEADER);
    for (size_t i = 0; good && i < s.n; i++) {
        const trl_str name = trl_strview_get(names, (uint32_t)i);
        at[i] = (uint32_t)(b->len - base);
        put_u32(b, i);
        put_u32(b, name.n + 1);
        trl_buf_add(b, name.p, name.n);
        trl_buf_ch(b, '\0');
        good = !b->failed;
        if (good)
            hash[i] = trl_crfsuite_hash(b->data + b->len - name.n - 1, name.n + 1);
    }
    good = good && group_strings(&s, hash, at) && put_tables(b, base, &s);
    const size_t links = b->len - base;
    for (size_t i = 0; good && i < s.n; i++)
        put_u32(b, at[i]);
    if (good && !b->failed) {
        memcpy(b->data + base, "CQDB", 4);
        set_u32(b, base + 4, b->len - base);
        set_u32(b, base + 12, 0x62445371);
        set_u32(b, base + 16, s.n);
        set_u32(b, base + 20, s.n ? links : 0);
    }
    trl_free(hash);
    trl_free(at);
    trl_free(s.hash);
    trl_free(s.at);
    return good && !b->failed ? TRL_OK : trl_fail_mem(w->err);
}

/* ---- features -------------------------------------------------------------------------------- */

static void put_feature(trl_buf *b, uint32_t type, uint32_t source, uint32_t y, double weight)
{
    put_u32(b, type);
    put_u32(b, source);
    put_u32(b, y);
    put_double(b, weight);
}

static trl_weight_row transitions(const trl_model_family *f)
{
    return f->constant == TRL_NO_ID ? (trl_weight_row){0, 0} : trl_model_row(f, f->constant);
}

static void put_features(writer *w)
{
    const trl_model_family *node = &w->m->family[TRL_NODE], *edge = &w->m->family[TRL_EDGE];
    trl_buf *b = &w->out;
    const size_t base = b->len, L = w->m->L;
    const trl_weight_row row = transitions(edge);
    trl_buf_str(b, "FEAT");
    put_zeros(b, 8);
    for (uint64_t at = row.at; at < row.at + row.k; at++) {
        const uint32_t cell = trl_model_cell(edge, row, at);
        put_feature(b, 1, cell / (uint32_t)L, cell % (uint32_t)L, trl_model_weight(edge, at));
    }
    uint32_t n = row.k;
    for (size_t a = 0; a < node->names.n; a++) {
        const trl_weight_row state = trl_model_row(node, (uint32_t)a);
        w->first_feature[a] = n;
        n += state.k;
        for (uint64_t at = state.at; at < state.at + state.k; at++)
            put_feature(b, 0, (uint32_t)a, trl_model_cell(node, state, at),
                        trl_model_weight(node, at));
    }
    w->first_feature[node->names.n] = n;
    set_u32(b, base + 4, b->len - base);
    set_u32(b, base + 8, n);
}

/* The lists of features, `n` of them; list k has numbers from[k] .. from[k + 1] - 1.  CRFsuite has
 * two more labels, of no features and with no list. */
static void put_references(trl_buf *b, const char *name, const uint32_t *from, size_t n,
                           size_t more)
{
    put_zeros(b, (4 - b->len % 4) % 4);
    const size_t base = b->len;
    trl_buf_str(b, name);
    put_u32(b, 0);
    put_u32(b, n + more);
    put_zeros(b, 4 * (n + more));
    for (size_t k = 0; k < n; k++) {
        set_u32(b, base + 12 + 4 * k, b->len);
        put_u32(b, from[k + 1] - from[k]);
        for (uint32_t i = from[k]; i < from[k + 1]; i++)
            put_u32(b, i);
    }
    set_u32(b, base + 4, b->len - base);
}

/* Transitions by the label they leave: they are in the order of their cells. */
static uint32_t *transition_lists(const writer *w)
{
    const trl_model_family *edge = &w->m->family[TRL_EDGE];
    const trl_weight_row row = transitions(edge);
    uint32_t *from = trl_zalloc(w->m->L + 1, sizeof *from);
    for (uint64_t at = row.at; from && at < row.at + row.k; at++)
        from[trl_model_cell(edge, row, at) / w->m->L + 1]++;
    for (size_t k = 0; from && k < w->m->L; k++)
        from[k + 1] += from[k];
    return from;
}

/* ---- what CRFsuite cannot hold --------------------------------------------------------------- */

static trl_status check_names(const trl_strview *names, const char *what, trl_error *err)
{
    for (size_t k = 0; k < names->n; k++) {
        const trl_str s = trl_strview_get(names, (uint32_t)k);
        if (s.n && memchr(s.p, '\0', s.n))
            return trl_fail(err, TRL_EINVAL,
                            "%s %zu has a NUL byte in its name: CRFsuite ends there", what, k);
    }
    return TRL_OK;
}

static trl_status check_model(const trl_chain_model *m, trl_error *err)
{
    const trl_model_family *edge = &m->family[TRL_EDGE];
    const char *why = m->order != 1                                   ? "order 2"
                      : edge->n_attrs > (edge->constant != TRL_NO_ID) ? "attributes of label pairs"
                      : m->is_local                                   ? "local normalisation"
                      : m->calibration                                ? "calibration"
                      : m->has_q0                                     ? "a generative part"
                      : m->family[TRL_NODE].single                    ? "sums in single precision"
                                                                      : NULL;
    if (why) {
        const trl_status st =
            trl_fail(err, TRL_EINVAL, "the model has %s, which CRFsuite does not know", why);
        return trl_fail_hint(err, st,
                             "CRFsuite's models are chains of order 1 with attributes of "
                             "single labels");
    }
    trl_status st = trl_chain_need_names(m, err);
    if (st == TRL_OK)
        st = check_names(&m->labels, "label", err);
    return st == TRL_OK ? check_names(&m->family[TRL_NODE].names, "attribute", err) : st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static trl_status put_all(writer *w)
{
    const trl_chain_model *m = w->m;
    const trl_model_family *node = &m->family[TRL_NODE];
    trl_buf *b = &w->out;
    uint32_t *from = transition_lists(w);
    w->first_feature = trl_alloc(node->names.n + 1, sizeof *w->first_feature);
    trl_status st = from && w->first_feature ? TRL_OK : trl_fail_mem(w->err);
    if (st == TRL_OK) {
        put_zeros(b, HEADER);
        put_features(w);
        set_u32(b, 32, b->len);
        st = put_strings(w, &m->labels);
    }
    if (st == TRL_OK) {
        set_u32(b, 36, b->len);
        st = put_strings(w, &node->names);
    }
    if (st == TRL_OK) {
        set_u32(b, 40, (b->len + 3) / 4 * 4);
        put_references(b, "LFRF", from, m->L, 2);
        set_u32(b, 44, (b->len + 3) / 4 * 4);
        put_references(b, "AFRF", w->first_feature, node->names.n, 0);
        st = b->failed ? trl_fail_mem(w->err) : TRL_OK;
    }
    if (st == TRL_OK) {
        memcpy(b->data, "lCRF", 4);
        set_u32(b, 4, b->len);
        memcpy(b->data + 8, "FOMC", 4);
        set_u32(b, 12, 100);
        set_u32(b, 20, m->L);
        set_u32(b, 24, node->names.n);
        set_u32(b, 28, HEADER);
    }
    trl_free(from);
    trl_free(w->first_feature);
    return st;
}

/* An upper bound of what is written. */
static uint64_t size_of(const trl_chain_model *m)
{
    uint64_t n = HEADER + 2 * (TABLE_HEADER + 40);
    const trl_strview *views[] = {&m->labels, &m->family[TRL_NODE].names};
    for (size_t v = 0; v < 2; v++) {
        n += views[v]->n * (9 + 16 + 4 + 12);
        if (views[v]->n)
            n += views[v]->end32 ? views[v]->end32[views[v]->n - 1]
                                 : views[v]->end64[views[v]->n - 1];
    }
    return n + 24 * (m->family[TRL_NODE].n_weights + m->family[TRL_EDGE].n_weights);
}

trl_status trl_model_export_buf(const trl_model *m, trl_buf *out, trl_error *err)
{
    if (!m || !out)
        return trl_fail_null(err);
    writer w = {.m = trl_model_chain(m), .err = err};
    trl_status st = trl_model_need_chain(m, err);
    if (st == TRL_OK)
        st = check_model(w.m, err);
    if (st == TRL_OK && size_of(w.m) > UINT32_MAX)
        st = trl_fail(err, TRL_EINVAL,
                      "the model is too large for CRFsuite, whose files end at 4 GB");
    if (st == TRL_OK)
        st = put_all(&w);
    if (st != TRL_OK) {
        trl_buf_fini(&w.out);
        return st;
    }
    trl_buf_fini(out);
    *out = w.out;
    return TRL_OK;
}

trl_status trl_model_export(const trl_model *m, const char *path, trl_error *err)
{
    if (!m || !path)
        return trl_fail_null(err);
    trl_buf b = {0};
    trl_writer *to = NULL;
    trl_status st = trl_model_export_buf(m, &b, err);
    if (st == TRL_OK)
        st = trl_writer_open(path, &to, err);
    if (st == TRL_OK) {
        st = trl_writer_put(to, b.data, b.len, err);
        if (st == TRL_OK)
            st = trl_writer_commit(to, err);
        else
            trl_writer_abort(to);
    }
    trl_buf_fini(&b);
    return st;
}
