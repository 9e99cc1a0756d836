/* reader.c -- the public reader: a format guessed or given, and the reader that fits it. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "text/columns.h"
#include "text/conllu.h"
#include "text/grmm.h"
#include "text/items.h"
#include "text/jsonl.h"
#include "text/looks.h"
#include "text/mallet.h"

struct trl_reader {
    trl_input *in;
    trl_format format;
    trl_columns *columns; /* one of these */
    trl_item_reader *items;
    trl_conllu *conllu;
    trl_mallet *mallet;
    trl_jsonl *jsonl;
    trl_grmm *grmm;
    uint64_t first_row; /* of the last sequence */
};

/* ---- guessing -------------------------------------------------------------------------------- */

/* Columns may be separated by tabs, attributes always are.  What tells them apart, on lines with
 * tabs: a token's attributes vary in number (at sentence ends at least), its columns do not; and
 * attributes mostly look like `name=value`, `name[0]...` or `name:1`, after a label that does not.
 * One odd line among many is an error in columns, which their reader reports. */

#define GUESS_LINES 1000 /* looked at */
#define GUESS_FIELDS 64  /* counts told apart; more are attributes anyway */

typedef struct tally {
    size_t lines, with_count[GUESS_FIELDS + 1]; /* lines with tabs, by number of fields */
    size_t labels, labels_like; /* first fields, and how many look like attributes */
    size_t rest, rest_like;     /* the other fields */
} tally;

static void tally_line(tally *n, trl_str line)
{
    size_t fields = 0;
    if (line.n == 0 || !memchr(line.p, '\t', line.n))
        return;
    for (const char *p = line.p, *end = line.p + line.n; p <= end; fields++) {
        const char *tab = p < end ? memchr(p, '\t', (size_t)(end - p)) : NULL;
        const trl_str f = {p, (size_t)((tab ? tab : end) - p)};
        n->labels += fields == 0;
        n->rest += fields > 0;
        if (trl_looks_like_attribute(f))
            ++*(fields == 0 ? &n->labels_like : &n->rest_like);
        p += f.n + 1;
    }
    n->lines++;
    n->with_count[fields < GUESS_FIELDS ? fields : GUESS_FIELDS]++;
}

static trl_format guess(trl_str head)
{
    static const char weight[] = "@weight:";
    tally n = {0};
    const char *p = head.p, *end = head.p + head.n;
    for (size_t k = 0; k < GUESS_LINES && p < end; k++) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        if (!lf && k > 0)
            break; /* perhaps half a line */
        size_t len = (size_t)((lf ? lf : end) - p);
        if (len >= sizeof weight && memcmp(p, weight, sizeof weight - 1) == 0)
            return TRL_FORMAT_CRFSUITE;
        if (len && p[len - 1] == '\r')
            len--;
        tally_line(&n, (trl_str){p, len});
        p = lf ? lf + 1 : end;
    }
    size_t usual = 0;
    for (size_t i = 0; i < GUESS_FIELDS; i++)
        usual = n.with_count[i] > usual ? n.with_count[i] : usual;
    const bool varies = (n.lines - usual) * 10 >= n.lines && n.lines > 0;
    const bool named = n.rest_like * 2 > n.rest && n.labels_like * 2 <= n.labels;
    return varies || named ? TRL_FORMAT_CRFSUITE : TRL_FORMAT_COLUMNS;
}

/* ---- the reader ------------------------------------------------------------------------------ */

static trl_status open_format(trl_reader *r, trl_error *err)
{
    switch (r->format) {
    case TRL_FORMAT_CRFSUITE:
        return trl_item_reader_new(r->in, &r->items, err);
    case TRL_FORMAT_CONLLU:
        return trl_conllu_new(r->in, &r->conllu, err);
    case TRL_FORMAT_MALLET:
        return trl_mallet_new(r->in, &r->mallet, err);
    case TRL_FORMAT_JSONL:
        return trl_jsonl_new(r->in, &r->jsonl, err);
    case TRL_FORMAT_GRMM:
        return trl_grmm_new(r->in, &r->grmm, err);
    case TRL_FORMAT_GUESS:
    case TRL_FORMAT_COLUMNS:
    default:
        return trl_columns_new(r->in, &r->columns, err);
    }
}

/* Of an input, which the reader takes over; st: how opening it ended. */
static trl_status open_input(trl_input *in, trl_status st, trl_format format, trl_reader **out,
                             trl_error *err)
{
    trl_reader *r = st == TRL_OK ? trl_zalloc(1, sizeof *r) : NULL;
    if (!r) {
        trl_input_free(in);
        return st == TRL_OK ? trl_fail_mem(err) : st;
    }
    trl_str head;
    r->in = in;
    r->format = format;
    if (st == TRL_OK && format == TRL_FORMAT_GUESS) {
        st = trl_input_peek(r->in, &head, err);
        if (st == TRL_OK)
            r->format = guess(head);
    }
    if (st == TRL_OK)
        st = open_format(r, err);
    if (st != TRL_OK) {
        trl_reader_free(r);
        return st;
    }
    *out = r;
    return TRL_OK;
}

trl_status trl_reader_open(const char *path, trl_format format, trl_reader **out, trl_error *err)
{
    trl_input *in = NULL;
    if (!path || !out)
        return trl_fail_null(err);
    const trl_status st = trl_input_open(path, &in, err);
    return open_input(in, st, format, out, err);
}

trl_status trl_reader_memory(const char *name, trl_str bytes, trl_format format, trl_reader **out,
                             trl_error *err)
{
    trl_input *in = NULL;
    if (!name || !out || (!bytes.p && bytes.n))
        return trl_fail_null(err);
    const trl_status st = trl_input_memory(name, bytes.p, bytes.n, &in, err);
    return open_input(in, st, format, out, err);
}

void trl_reader_free(trl_reader *r)
{
    if (!r)
        return;
    trl_columns_free(r->columns);
    trl_item_reader_free(r->items);
    trl_conllu_free(r->conllu);
    trl_mallet_free(r->mallet);
    trl_jsonl_free(r->jsonl);
    trl_grmm_free(r->grmm);
    trl_input_free(r->in);
    trl_free(r);
}

trl_format trl_reader_format(const trl_reader *r)
{
    if (!r)
        return TRL_FORMAT_GUESS;
    return r->format;
}

trl_status trl_reader_rows(trl_reader *r, trl_rows *seq, bool *more, trl_error *err)
{
    if (!r || !seq || !more)
        return trl_fail_null(err);
    if (!trl_format_is_rows(r->format)) {
        const trl_status st = trl_fail(err, TRL_EINVAL, "rows asked for, but the input is items");
        return trl_fail_where(err, st, trl_input_name(r->in), 0, 0);
    }
    const trl_status st = r->conllu  ? trl_conllu_next(r->conllu, seq, more, err)
                          : r->jsonl ? trl_jsonl_next(r->jsonl, seq, more, err)
                          : r->grmm  ? trl_grmm_next(r->grmm, seq, more, err)
                                     : trl_columns_next(r->columns, seq, more, err);
    r->first_row = st == TRL_OK ? seq->first_row : 0;
    return st;
}

trl_status trl_reader_items(trl_reader *r, trl_items *seq, bool *more, trl_error *err)
{
    if (!r || !seq || !more)
        return trl_fail_null(err);
    if (trl_format_is_rows(r->format)) {
        const trl_status st =
            trl_fail(err, TRL_EINVAL, "items asked for, but the input is columns");
        return trl_fail_where(err, st, trl_input_name(r->in), 0, 0);
    }
    const trl_status st = r->mallet ? trl_mallet_next(r->mallet, seq, more, err)
                                    : trl_items_next(r->items, seq, more, err);
    r->first_row = st == TRL_OK ? seq->first_row : 0;
    return st;
}

double trl_reader_weight(const trl_reader *r)
{
    return r && r->columns ? trl_columns_weight(r->columns)
           : r && r->jsonl ? trl_jsonl_weight(r->jsonl)
                           : 1.0;
}

void trl_reader_attributes(const trl_reader *r, const size_t **begin, const trl_attr **attr)
{
    if (!begin || !attr)
        return;
    *begin = NULL;
    *attr = NULL;
    if (r && r->grmm)
        trl_grmm_attributes(r->grmm, begin, attr);
}

trl_str trl_reader_source(const trl_reader *r)
{
    return r && r->conllu ? trl_conllu_source(r->conllu) : (trl_str){"", 0};
}

uint64_t trl_reader_row(const trl_reader *r, size_t t)
{
    if (!r)
        return 0;
    return r->conllu ? trl_conllu_row(r->conllu, t) : r->jsonl ? r->first_row : r->first_row + t;
}
