/* graph_unit.c -- sentences one after the other.
 *
 * Until the unit is closed its strings are offsets: the bytes may still move.
 */
/* SPDX-License-Identifier: MIT */
#include "graph_model/graph_unit.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "text/columns.h"

void trl_graph_unit_clear(trl_graph_unit *u)
{
    u->n_tokens = u->n_columns = u->n_sentences = 0;
    u->bytes.len = 0;
    u->weight = 1.0;
    trl_free(u->path);
    u->path = NULL;
}

void trl_graph_unit_fini(trl_graph_unit *u)
{
    trl_free(u->cell);
    trl_free(u->first);
    trl_free(u->sentence);
    trl_free(u->row);
    trl_free(u->col);
    trl_free(u->attr_begin);
    trl_free(u->attr);
    trl_free(u->path);
    trl_buf_fini(&u->bytes);
    *u = (trl_graph_unit){0};
}

#define GROW(array, cap, n)                                                                        \
    do {                                                                                           \
        void *grown_ = trl_reserve(u->array, &u->cap, (n), sizeof *u->array);                      \
        if (!grown_)                                                                               \
            return false;                                                                          \
        u->array = grown_;                                                                         \
    } while (0)

static bool reserve(trl_graph_unit *u, size_t n_tokens)
{
    const size_t n = u->n_tokens + n_tokens;
    GROW(cell, cell_cap, (uint64_t)n * u->n_columns);
    GROW(first, first_cap, u->n_sentences + 2);
    GROW(sentence, sentence_cap, n);
    GROW(row, row_cap, n);
    GROW(col, col_cap, (uint64_t)n * u->n_columns);
    GROW(attr_begin, begin_cap, n + 1);
    if (u->n_tokens == 0)
        u->first[0] = u->attr_begin[0] = 0;
    return true;
}

/* An offset in place of a pointer, until the unit is closed. */
static bool keep(trl_graph_unit *u, trl_str s, trl_str *out)
{
    *out = (trl_str){(const char *)(uintptr_t)u->bytes.len, s.n};
    return s.n == 0 || trl_buf_add(&u->bytes, s.p, s.n);
}

static trl_status same_columns(trl_graph_unit *u, const trl_rows *seq, trl_error *err)
{
    if (u->n_tokens == 0)
        u->n_columns = seq->n_columns;
    if (u->n_columns == seq->n_columns)
        return TRL_OK;
    const trl_status st = trl_fail(err, TRL_EPARSE, "%zu columns where %zu were found before",
                                   seq->n_columns, u->n_columns);
    return trl_fail_where(err, st, seq->path, seq->first_row, 0);
}

trl_status trl_graph_unit_add(trl_graph_unit *u, const trl_rows *seq, trl_error *err)
{
    const trl_status st = same_columns(u, seq, err);
    if (st != TRL_OK)
        return st;
    if (u->n_tokens == 0 && seq->path && !u->path)
        u->path = trl_strndup(seq->path, strlen(seq->path));
    bool good = (!seq->path || u->path) && reserve(u, seq->n_tokens);
    for (size_t t = 0; good && t < seq->n_tokens; t++) {
        const size_t at = u->n_tokens + t;
        for (size_t c = 0; good && c < u->n_columns; c++) {
            const uint64_t col = trl_rows_col(seq, t, c);
            u->col[at * u->n_columns + c] = col <= UINT32_MAX ? (uint32_t)col : 0;
            good = keep(u, seq->cell[t * u->n_columns + c], &u->cell[at * u->n_columns + c]);
        }
        u->sentence[at] = (uint32_t)u->n_sentences;
        u->row[at] = seq->path ? seq->first_row + t : 0;
        u->attr_begin[at + 1] = u->attr_begin[at];
    }
    if (!good)
        return trl_fail_mem(err);
    u->n_tokens += seq->n_tokens;
    u->first[++u->n_sentences] = u->n_tokens;
    return TRL_OK;
}

trl_status trl_graph_unit_attributes(trl_graph_unit *u, size_t t, const trl_attr *attr, size_t n,
                                     trl_error *err)
{
    const size_t at = u->first[u->n_sentences - 1] + t, old = u->attr_begin[at];
    trl_attr *all = trl_reserve(u->attr, &u->attr_cap, old + n, sizeof *all);
    bool good = all != NULL;
    if (all)
        u->attr = all;
    for (size_t k = 0; good && k < n; k++) {
        all[old + k].value = attr[k].value;
        good = keep(u, attr[k].name, &all[old + k].name);
    }
    for (size_t k = at + 1; good && k <= u->n_tokens; k++)
        u->attr_begin[k] = old + n;
    return good ? TRL_OK : trl_fail_mem(err);
}

static void point(const trl_graph_unit *u, trl_str *s)
{
    s->p = s->n ? u->bytes.data + (uintptr_t)s->p : "";
}

void trl_graph_unit_close(trl_graph_unit *u)
{
    for (size_t k = 0; k < u->n_tokens * u->n_columns; k++)
        point(u, &u->cell[k]);
    for (size_t k = 0; u->n_tokens && k < u->attr_begin[u->n_tokens]; k++)
        point(u, &u->attr[k].name);
}

trl_rows trl_graph_unit_rows(const trl_graph_unit *u, size_t k)
{
    return (trl_rows){.n_tokens = u->first[k + 1] - u->first[k],
                      .n_columns = u->n_columns,
                      .cell = u->cell + u->first[k] * u->n_columns,
                      .path = u->path,
                      .first_row = u->row[u->first[k]]};
}

trl_status trl_graph_unit_where(const trl_graph_unit *u, trl_status st, size_t token,
                                trl_error *err)
{
    return u->path ? trl_fail_where(err, st, u->path, u->row[token], 0) : st;
}

trl_status trl_graph_unit_where_cell(const trl_graph_unit *u, trl_status st, size_t token,
                                     size_t column, trl_error *err)
{
    const uint32_t col = u->col[token * u->n_columns + column];
    return u->path ? trl_fail_where(err, st, u->path, u->row[token], col) : st;
}
