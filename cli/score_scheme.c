/* score_scheme.c -- labels of a scheme are rewritten as IOBES, in which chunks are never in doubt,
 * and scored. */
/* SPDX-License-Identifier: MIT */
#include "score_scheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tag_print.h"
#include "text.h"

/* One side: true or predicted labels. */
typedef struct side {
    trl_str *label;
    trl_chunk *chunk;
    char *prefix;
    const char **written; /* [tokens] into text */
    size_t cap;
    text text;
} side;

static void side_fini(side *s)
{
    free(s->label);
    free(s->chunk);
    free(s->prefix);
    free(s->written);
    text_fini(&s->text);
}

static bool side_room(side *s, size_t n)
{
    if (n <= s->cap)
        return true;
    side_fini(s);
    *s = (side){.label = calloc(n, 2 * sizeof *s->label),
                .chunk = calloc(n, 2 * sizeof *s->chunk),
                .prefix = calloc(n, 2),
                .written = calloc(n, 2 * sizeof *s->written),
                .cap = 2 * n};
    return s->label && s->chunk && s->prefix && s->written;
}

/* Keeps the chunks whose labels are those that the scheme has for them. */
static size_t keep_strict(side *s, trl_scheme scheme, size_t n_chunks, size_t n)
{
    size_t kept = 0;
    trl_scheme_prefixes(scheme, s->chunk, n_chunks, s->prefix, n);
    for (size_t k = 0; k < n_chunks; k++) {
        const trl_chunk c = s->chunk[k];
        bool good = true;
        for (size_t t = c.begin; t < c.end; t++)
            good &= s->label[t].n == c.type.n + 2 && s->label[t].p[0] == s->prefix[t];
        if (good)
            s->chunk[kept++] = c;
    }
    return kept;
}

static bool rewrite(side *s, trl_scheme scheme, bool strict, size_t n)
{
    size_t n_chunks = trl_chunks_of(s->label, n, s->chunk);
    if (strict)
        n_chunks = keep_strict(s, scheme, n_chunks, n);
    trl_scheme_prefixes(TRL_SCHEME_IOBES, s->chunk, n_chunks, s->prefix, n);
    s->text.n = 0;
    for (size_t t = 0, k = 0; t < n; t++) {
        while (k < n_chunks && s->chunk[k].end <= t)
            k++;
        text_char(&s->text, s->prefix[t]);
        if (s->prefix[t] != 'O') {
            text_char(&s->text, '-');
            text_add(&s->text, s->chunk[k].type.p, s->chunk[k].type.n);
        }
        text_char(&s->text, '\0');
    }
    if (s->text.failed)
        return false;
    const char *p = s->text.p;
    for (size_t t = 0; t < n; t++, p += strlen(p) + 1)
        s->written[t] = p;
    return true;
}

static trl_status add_rows(trl_score *score, trl_scheme scheme, bool strict, const trl_rows *rows,
                           side *both, trl_error *err)
{
    const size_t n = rows->n_tokens, C = rows->n_columns;
    if (C < 2) {
        *err = (trl_error){.code = TRL_EPARSE, .row = rows->first_row, .col = 1};
        snprintf(err->path, sizeof err->path, "%s", rows->path);
        snprintf(err->msg, sizeof err->msg, "one column: no true and predicted label");
        return TRL_EPARSE;
    }
    for (size_t k = 0; k < 2; k++) {
        if (!side_room(&both[k], n))
            return tag_no_memory(err);
        for (size_t t = 0; t < n; t++)
            both[k].label[t] = rows->cell[t * C + C - 2 + k];
        if (!rewrite(&both[k], scheme, strict, n))
            return tag_no_memory(err);
    }
    return trl_score_add(score, n, both[0].written, both[1].written, err);
}

trl_status score_scheme_file(trl_score *score, trl_scheme scheme, bool strict, const char *path,
                             trl_error *err)
{
    side both[2] = {0};
    trl_reader *r = NULL;
    trl_status st = trl_reader_open(path, TRL_FORMAT_COLUMNS, &r, err);
    for (bool more = true; st == TRL_OK && more;) {
        trl_rows rows;
        st = trl_reader_rows(r, &rows, &more, err);
        if (st == TRL_OK && more)
            st = add_rows(score, scheme, strict, &rows, both, err);
    }
    trl_reader_free(r);
    side_fini(&both[0]);
    side_fini(&both[1]);
    return st;
}
