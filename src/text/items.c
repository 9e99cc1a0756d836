/* items.c -- reading attribute lists. */
/* SPDX-License-Identifier: MIT */
#include "text/items.h"

#include <assert.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/arena.h"
#include "base/fail.h"
#include "base/mem.h"
#include "text/number.h"

/* Lines are copied into `text`, each followed by an LF: no line contains one, so it ends every scan
 * without a bounds check.  Names point into these copies and are unescaped in place. */
struct trl_item_reader {
    trl_input *in; /* borrowed */
    trl_arena text;
    const char *line; /* the copy being read */

    trl_str *label;
    size_t *begin; /* room for one more than label */
    trl_attr *attr;
    size_t n_tokens, label_cap, begin_cap, n_attrs, attr_cap;
    double weight;
};

typedef struct field {
    char *at;
    trl_str name;
    const char *value; /* NULL: no ':' */
    size_t value_n;
} field;

trl_status trl_item_reader_new(trl_input *in, trl_item_reader **out, trl_error *err)
{
    trl_item_reader *r = trl_zalloc(1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    r->in = in;
    *out = r;
    return TRL_OK;
}

void trl_item_reader_free(trl_item_reader *r)
{
    if (!r)
        return;
    trl_arena_fini(&r->text);
    trl_free(r->label);
    trl_free(r->begin);
    trl_free(r->attr);
    trl_free(r);
}

static trl_status fail_here(const trl_item_reader *r, trl_status st, const char *at, trl_error *err)
{
    return trl_input_fail(r->in, err, st, (uint64_t)(at - r->line) + 1);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Continues a name at its first backslash, moving the bytes after escapes down.  *end becomes the
 * end of the name; returns the byte that ended it. */
static char *unescape(char *p, char **end)
{
    char *to = p;
    while (*p != ':' && *p != '\t' && *p != '\n') {
        if (*p == '\\' && (p[1] == '\\' || p[1] == ':'))
            p++;
        *to++ = *p++;
    }
    *end = to;
    return p;
}

/* In the bytes from p on a bit, or a group of eight, is set for the first that is a tab, LF, colon,
 * backslash or another control character; 0: there is none.  Bits above it may be wrong. */
#if defined(__SSE2__)
#define BLOCK 32
#define BITS_OF_A_BYTE 1
static inline uint64_t special_in_16(const char *p)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(31)), x);
    const __m128i colon = _mm_cmpeq_epi8(x, _mm_set1_epi8(':'));
    const __m128i slash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
    return (uint64_t)_mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(colon, slash)));
}

static inline uint64_t special_in_block(const char *p)
{
    return special_in_16(p) | special_in_16(p + 16) << 16;
}
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* A byte is below 32 or equal to c where the top bit of (byte - 32) & ~byte or of (x - 1) & ~x, x =
 * byte ^ c, is set; the lowest such bit is right, those above it may come of a borrow. */
#define BLOCK 8
#define BITS_OF_A_BYTE 8
static inline uint64_t special_in_block(const char *p)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t x;
    memcpy(&x, p, sizeof x);
    const uint64_t colon = x ^ ones * ':', slash = x ^ ones * '\\';
    return (((x - ones * ' ') & ~x) | ((colon - ones) & ~colon) | ((slash - ones) & ~slash)) & tops;
}
#endif

/* The first tab, LF, colon or backslash from p on, block by block: lines end with as many LFs. */
static inline char *find_special(char *p)
{
    static const bool special[256] = {['\t'] = true, ['\n'] = true, [':'] = true, ['\\'] = true};
#ifdef BLOCK
    static_assert(BLOCK <= TRL_LINE_ENDS, "a block may begin at the end of a line");
    for (;; p += BLOCK) {
        const uint64_t found = special_in_block(p);
        if (found) {
            p += __builtin_ctzll(found) / BITS_OF_A_BYTE;
            break;
        }
    }
#endif
    while (!special[(unsigned char)*p]) /* another control character */
        p++;
    return p;
}

/* Reads the field at p and returns the tab or LF after it. */
static inline char *scan_field(char *p, field *f)
{
    f->at = p;
    p = find_special(p);
    char *end = p;
    if (*p == '\\')
        p = unescape(p, &end);
    f->name = (trl_str){f->at, (size_t)(end - f->at)};
    f->value = NULL;
    f->value_n = 0;
    if (*p == ':') {
        f->value = ++p;
        while (*p != '\t' && *p != '\n')
            p++;
        f->value_n = (size_t)(p - f->value);
    }
    return p;
}

static trl_status bad_value(const trl_item_reader *r, trl_str value, trl_number result,
                            trl_error *err)
{
    const int n = value.n < 60 ? (int)value.n : 60;
    const trl_status st = trl_fail(err, TRL_EPARSE, "the value '%.*s' is %s", n, value.p,
                                   result == TRL_NUMBER_BAD ? "not a number" : "not finite");
    if (result == TRL_NUMBER_BAD)
        trl_fail_hint(err, st, "write '\\:' for a colon in a name");
    return fail_here(r, st, value.p, err);
}

/* ---- what fields mean ------------------------------------------------------------------------ */

static trl_status set_weight(trl_item_reader *r, const field *f, trl_error *err)
{
    if (f->value_n == 0) {
        const trl_status st = trl_fail(err, TRL_EPARSE, "@weight without a number");
        return fail_here(r, st, f->at, err);
    }
    double w;
    const trl_number result = trl_number_parse(f->value, f->value_n, &w);
    if (result != TRL_NUMBER_OK)
        return bad_value(r, (trl_str){f->value, f->value_n}, result, err);
    if (w < 0.0) {
        const trl_status st = trl_fail(err, TRL_EPARSE, "the weight %g is negative", w);
        return fail_here(r, st, f->value, err);
    }
    r->weight = w;
    return TRL_OK;
}

/* A colon alone is a label of that name, though it should be written '\:': treebanks have this tag,
 * and CRFsuite's tagger and its examples write it this way. */
static bool is_colon(const field *f)
{
    return f->name.n == 0 && f->value && f->value_n == 0;
}

static trl_status add_label(trl_item_reader *r, field *f, trl_error *err)
{
    if (is_colon(f)) {
        f->name = (trl_str){f->at, 1};
        f->value = NULL;
    }
    if (f->name.n == 0 && f->value) {
        const trl_status st = trl_fail(err, TRL_EPARSE, "no label before the colon");
        trl_fail_hint(err, st, "write '\\:' for a colon in a label");
        return fail_here(r, st, f->at, err);
    }
    if (f->name.n == 0)
        return fail_here(r, trl_fail(err, TRL_EPARSE, "no label"), f->at, err);
    if (f->value) {
        const trl_status st = trl_fail(err, TRL_EPARSE, "a label has no value");
        trl_fail_hint(err, st, "write '\\:' for a colon in a label");
        return fail_here(r, st, f->value - 1, err);
    }
    trl_str *label = trl_reserve(r->label, &r->label_cap, r->n_tokens + 1, sizeof *label);
    if (label)
        r->label = label;
    size_t *begin = trl_reserve(r->begin, &r->begin_cap, r->n_tokens + 2, sizeof *begin);
    if (begin)
        r->begin = begin;
    if (!label || !begin)
        return trl_fail_mem(err);
    label[r->n_tokens] = f->name;
    begin[r->n_tokens++] = r->n_attrs;
    return TRL_OK;
}

/* The value of an attribute that has one. */
static trl_status read_value(const trl_item_reader *r, trl_str text, double *value, trl_error *err)
{
    const trl_number result = trl_number_parse(text.p, text.n, value);
    return result == TRL_NUMBER_OK ? TRL_OK : bad_value(r, text, result, err);
}

/* Reads the attribute at *p, which becomes the tab or LF after it.  No pointer to the field leaves
 * this function: it stays in registers. */
static inline trl_status add_attr(trl_item_reader *r, char **p, trl_error *err)
{
    field f;
    double value = 1.0;
    *p = scan_field(*p, &f);
    if (f.value_n) {
        double given;
        const trl_status st = read_value(r, (trl_str){f.value, f.value_n}, &given, err);
        if (st != TRL_OK)
            return st;
        value = given;
    }
    if (r->n_attrs == r->attr_cap) {
        trl_attr *grown = trl_reserve(r->attr, &r->attr_cap, r->n_attrs + 1, sizeof *grown);
        if (!grown)
            return trl_fail_mem(err);
        r->attr = grown;
    }
    r->attr[r->n_attrs++] = (trl_attr){f.name, value};
    return TRL_OK;
}

static bool is_weight(const field *f)
{
    return f->name.n == 7 && memcmp(f->name.p, "@weight", 7) == 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Reads a weight or the label at *p, which becomes the tab or LF after it. */
static trl_status read_head(trl_item_reader *r, char **p, bool *labelled, trl_error *err)
{
    field f;
    *p = scan_field(*p, &f);
    if (is_weight(&f))
        return set_weight(r, &f, err);
    *labelled = true;
    return add_label(r, &f, err);
}

/* Adds the token on the line `p`; a line of weights alone adds none. */
static trl_status read_token(trl_item_reader *r, char *p, trl_error *err)
{
    bool labelled = false;
    for (;; p++) { /* p: the first byte of a field */
        if (labelled && *p == '\t')
            continue;
        if (*p == '\n' || (!labelled && trl_line_is_blank(p)))
            return TRL_OK;
        const trl_status st = labelled ? add_attr(r, &p, err) : read_head(r, &p, &labelled, err);
        if (st != TRL_OK || *p == '\n')
            return st;
    }
}

trl_status trl_items_next(trl_item_reader *r, trl_items *seq, bool *more, trl_error *err)
{
    uint64_t first_row = 0;
    trl_arena_reset(&r->text);
    r->n_tokens = r->n_attrs = 0;
    r->weight = 1.0;
    for (;;) {
        char *line;
        size_t n;
        trl_status st = trl_input_line_copy(r->in, &r->text, &line, &n, err);
        if (st == TRL_OK && line)
            st = trl_input_check_text(r->in, (trl_str){line, n}, err);
        if (st != TRL_OK)
            return st;
        if (!line)
            break;
        r->line = line;
        if (trl_line_is_blank(line)) {
            if (r->n_tokens > 0)
                break;
            r->weight = 1.0;
            trl_arena_reset(&r->text);
            continue;
        }
        st = read_token(r, line, err);
        if (st != TRL_OK)
            return st;
        if (r->n_tokens == 1 && first_row == 0)
            first_row = trl_input_row(r->in);
    }
    *more = r->n_tokens > 0;
    if (*more)
        r->begin[r->n_tokens] = r->n_attrs;
    *seq = (trl_items){.n_tokens = r->n_tokens,
                       .label = r->label,
                       .begin = r->begin,
                       .attr = r->attr,
                       .weight = r->weight,
                       .path = trl_input_name(r->in),
                       .first_row = first_row};
    return TRL_OK;
}
