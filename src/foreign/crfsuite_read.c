/* crfsuite_read.c -- CRFsuite's model files.
 *
 * Little-endian; offsets count from the start of the file, those of a string table from its own:
 *
 *     0   header: "lCRF", u32 size, "FOMC", u32 100, u32 0, u32 labels L, u32 attributes A,
 *         u32 offsets of features, labels, attributes, label references, attribute references
 *     features    "FEAT", u32 size, u32 n, then n times u32 type (0 state, 1 transition),
 *                 u32 source (attribute or label), u32 label, double weight
 *     labels,     string table: "CQDB", u32 size, u32 flags, u32 0x62445371, u32 n, u32 offset of
 *     attributes  the n backward links; 256 hash tables; strings; a link is the offset of
 *                 u32 number, u32 size with the NUL, the string
 *     references  "LFRF" or "AFRF", u32 size, u32 n, u32[n] offsets of lists: u32 k, u32[k]
 * features
 *
 * CRFsuite adds a state weight for each reference and sets a transition; it never writes two for
 * the same labels, and two are refused here.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "foreign/foreign.h"

#define HEADER 48
#define FEATURE 20
#define TABLE_HEADER (24 + 256 * 8)

#define DAMAGED(m, at, ...) TRL_DAMAGED((m), "CRFsuite", (at), __VA_ARGS__)

typedef struct header {
    uint32_t n_labels, n_attrs;
    uint32_t features, labels, attrs, label_refs, attr_refs; /* offsets */
    uint32_t n_features;
} header;

static uint32_t u32(const trl_foreign *m, size_t at)
{
    return trl_get_u32(m->file.p + at);
}

/* Is there a chunk of this name, with so many bytes at least? */
static trl_status need_chunk(trl_foreign *m, uint32_t at, const char *name, size_t n)
{
    if (at < HEADER || !trl_has(m->file, at, n) || memcmp(m->file.p + at, name, 4) != 0)
        return DAMAGED(m, at, "there is no chunk %s", name);
    return TRL_OK;
}

static trl_status read_header(trl_foreign *m, header *h)
{
    if (m->file.n < HEADER)
        return DAMAGED(m, m->file.n, "the file ends in its header");
    if (u32(m, 4) > m->file.n)
        return DAMAGED(m, 4, "the file should have %lu bytes", (unsigned long)u32(m, 4));
    if (memcmp(m->file.p + 8, "FOMC", 4) != 0 || u32(m, 12) != 100)
        return DAMAGED(m, 8, "neither a first-order model nor version 100");
    *h = (header){u32(m, 20), u32(m, 24), u32(m, 28), u32(m, 32),
                  u32(m, 36), u32(m, 40), u32(m, 44), 0};
    trl_status st = need_chunk(m, h->features, "FEAT", 12);
    if (st != TRL_OK)
        return st;
    h->n_features = u32(m, h->features + 8);
    if (!trl_has(m->file, (uint64_t)h->features + 12, (uint64_t)h->n_features * FEATURE))
        return DAMAGED(m, h->features + 8, "%lu features do not fit the file",
                       (unsigned long)h->n_features);
    if (h->n_labels == 0)
        return DAMAGED(m, 20, "it has no labels");
    return TRL_OK;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* String number k of the table at `base`. */
static trl_status read_string(trl_foreign *m, uint32_t base, uint32_t k, trl_str *out)
{
    const uint64_t links = (uint64_t)base + u32(m, base + 20) + (uint64_t)k * 4;
    if (!trl_has(m->file, links, 4))
        return DAMAGED(m, base + 20, "the links of a string table leave the file");
    const uint32_t offset = u32(m, (size_t)links);
    const uint64_t at = (uint64_t)base + offset;
    if (offset < TABLE_HEADER || !trl_has(m->file, at, 8))
        return DAMAGED(m, (size_t)links, "string %lu is not in the file", (unsigned long)k);
    const uint32_t size = u32(m, (size_t)at + 4);
    if (u32(m, (size_t)at) != k || size == 0 || !trl_has(m->file, at + 8, size) ||
        memchr(m->file.p + at + 8, '\0', size) != m->file.p + at + 8 + size - 1)
        return DAMAGED(m, (size_t)at, "string %lu does not end where it says", (unsigned long)k);
    *out = (trl_str){m->file.p + at + 8, size - 1};
    return TRL_OK;
}

/* Is there a table with n strings? */
static trl_status need_table(trl_foreign *m, uint32_t at, uint32_t n)
{
    const trl_status st = need_chunk(m, at, "CQDB", TABLE_HEADER);
    if (st != TRL_OK)
        return st;
    if (u32(m, at + 12) != 0x62445371)
        return DAMAGED(m, at + 12, "a string table of another byte order");
    if (n > u32(m, at + 16) || (n > 0 && u32(m, at + 20) < TABLE_HEADER))
        return DAMAGED(m, at + 16, "%lu strings, but %lu are expected",
                       (unsigned long)u32(m, at + 16), (unsigned long)n);
    return TRL_OK;
}

static trl_status read_labels(trl_foreign *m, const header *h)
{
    trl_status st = need_table(m, h->labels, h->n_labels);
    for (uint32_t k = 0; st == TRL_OK && k < h->n_labels; k++) {
        trl_str name;
        st = read_string(m, h->labels, k, &name);
        if (st != TRL_OK)
            return st;
        st = trl_foreign_label(m, name);
        if (st == TRL_EMODEL)
            st = trl_foreign_damaged(m, "CRFsuite", h->labels, st);
    }
    return st;
}

/* ---- features -------------------------------------------------------------------------------- */

typedef struct references {
    uint32_t at, n; /* of the offsets */
    size_t family;
} references;

static trl_status need_references(trl_foreign *m, uint32_t at, const char *name, uint32_t n)
{
    const trl_status st = need_chunk(m, at, name, 12);
    if (st != TRL_OK)
        return st;
    if (u32(m, at + 8) < n || !trl_has(m->file, (uint64_t)at + 12, (uint64_t)n * 4))
        return DAMAGED(m, at + 8, "%lu lists of references, but %lu are expected",
                       (unsigned long)u32(m, at + 8), (unsigned long)n);
    return TRL_OK;
}

/* Feature number `id` of a source, into the row begun last. */
static trl_status read_feature(trl_foreign *m, const header *h, const uint32_t id[3])
{
    const uint32_t feature = id[0], source = id[1], family = id[2];
    if (feature >= h->n_features)
        return DAMAGED(m, h->features + 8, "feature %lu does not exist", (unsigned long)feature);
    const size_t at = (size_t)h->features + 12 + (size_t)feature * FEATURE;
    const uint32_t y = u32(m, at + 8);
    const double w = trl_get_double(m->file.p + at + 12);
    if (u32(m, at) != family || u32(m, at + 4) != source || y >= h->n_labels)
        return DAMAGED(m, at, "feature %lu is not of the source that refers to it",
                       (unsigned long)feature);
    if (!isfinite(w))
        return DAMAGED(m, at + 12, "a weight is not finite");
    if (w == 0.0)
        return TRL_OK;
    bool again;
    const uint32_t cell = family == TRL_NODE ? y : source * h->n_labels + y;
    if (!trl_rows_insert(&m->parts.rows[family], cell, w, &again))
        return trl_fail_mem(m->err);
    return again ? DAMAGED(m, at, "a second weight for the same labels") : TRL_OK;
}

/* The features that list number k refers to. */
static trl_status read_list(trl_foreign *m, const header *h, size_t family, uint32_t k)
{
    const uint32_t refs = family == TRL_NODE ? h->attr_refs : h->label_refs;
    const uint32_t at = u32(m, refs + 12 + (size_t)k * 4);
    if (!trl_has(m->file, at, 4) || !trl_has(m->file, (uint64_t)at + 4, (uint64_t)u32(m, at) * 4))
        return DAMAGED(m, refs + 12 + (size_t)k * 4, "a list of references leaves the file");
    const uint32_t n = u32(m, at);
    trl_status st = n <= h->n_labels ? TRL_OK : DAMAGED(m, at, "more references than labels");
    for (uint32_t i = 0; st == TRL_OK && i < n; i++)
        st = read_feature(m, h, (uint32_t[]){u32(m, at + 4 + (size_t)i * 4), k, (uint32_t)family});
    return st;
}

static trl_status read_transitions(trl_foreign *m, const header *h)
{
    trl_status st = need_references(m, h->label_refs, "LFRF", h->n_labels);
    if (st != TRL_OK)
        return st;
    const uint32_t name = trl_strtab_add(&m->names[TRL_EDGE], "B", 1);
    m->parts.rows[TRL_EDGE].constant = 0;
    if (name == TRL_NO_ID || !trl_rows_begin(&m->parts.rows[TRL_EDGE], name))
        return trl_fail_mem(m->err);
    for (uint32_t k = 0; st == TRL_OK && k < h->n_labels; k++)
        st = read_list(m, h, TRL_EDGE, k);
    return st;
}

static trl_status read_attributes(trl_foreign *m, const header *h)
{
    trl_status st = need_table(m, h->attrs, h->n_attrs);
    if (st == TRL_OK)
        st = need_references(m, h->attr_refs, "AFRF", h->n_attrs);
    for (uint32_t k = 0; st == TRL_OK && k < h->n_attrs; k++) {
        trl_str name;
        st = read_string(m, h->attrs, k, &name);
        if (st != TRL_OK)
            return st;
        const size_t known = m->names[TRL_NODE].n;
        const uint32_t id = trl_strtab_add(&m->names[TRL_NODE], name.p, name.n);
        if (id == TRL_NO_ID || !trl_rows_begin(&m->parts.rows[TRL_NODE], id))
            return trl_fail_mem(m->err);
        if (id < known)
            return DAMAGED(m, h->attrs, "attribute '%.*s' again", name.n < 60 ? (int)name.n : 60,
                           name.p);
        st = read_list(m, h, TRL_NODE, k);
    }
    return st;
}

trl_status trl_read_crfsuite(trl_foreign *m)
{
    header h;
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        m->parts.rows[f].type = TRL_WEIGHT_DOUBLE;
    trl_status st = read_header(m, &h);
    if (st == TRL_OK)
        st = read_labels(m, &h);
    if (st == TRL_OK)
        st = read_transitions(m, &h);
    if (st == TRL_OK)
        st = read_attributes(m, &h);
    return st;
}
