/* columns.c -- splitting lines into cells, sequence by sequence. */
/* SPDX-License-Identifier: MIT */
#include "text/columns.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "text/looks.h"
#include "text/number.h"

/* Lines are copied into `text`, each followed by an LF: no line contains one, so it ends the scan
 * without a bounds check.  The cells point into these copies. */
struct trl_columns {
    trl_input *in; /* borrowed */
    trl_arena text;
    size_t n_columns;   /* of the first token of the input; 0 before it */
    uint64_t model_row; /* the line of that token, for messages */

    trl_str *cell;
    size_t n_cells, cell_cap;
    const char **line; /* [n_tokens] */
    size_t n_tokens, line_cap;

    double weight;
    const char *weight_line; /* @weight:.. before the first token, in `text`; NULL: none */
    uint64_t weight_row;     /* its line */

    trl_buf heading, next_heading; /* of this sequence; of the one that its last line announced */
};

trl_status trl_columns_new(trl_input *in, trl_columns **out, trl_error *err)
{
    trl_columns *r = trl_zalloc(1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    r->in = in;
    *out = r;
    return TRL_OK;
}

void trl_columns_free(trl_columns *r)
{
    if (!r)
        return;
    trl_arena_fini(&r->text);
    trl_free(r->cell);
    trl_free(r->line);
    trl_buf_fini(&r->heading);
    trl_buf_fini(&r->next_heading);
    trl_free(r);
}

/* LABEL, a tab, an attribute? */
static bool like_items(const char *line)
{
    const size_t label = strcspn(line, "\t\n");
    if (line[label] != '\t')
        return false;
    const char *field = line + label + 1;
    return trl_looks_like_attribute((trl_str){field, strcspn(field, "\t\n")});
}

static trl_status ragged(const trl_columns *r, const char *line, size_t n, uint64_t col,
                         trl_error *err)
{
    const trl_status st = trl_fail(err, TRL_EPARSE, "%zu column%s here, but %zu on line %" PRIu64,
                                   n, n == 1 ? "" : "s", r->n_columns, r->model_row);
    if (line[0] == '#')
        trl_fail_hint(err, st,
                      "a line that starts with '#' is a token like any other (CoNLL-U, which has "
                      "comments, is the format conllu); "
                      "remove comments, and tag without probabilities and n-best lists");
    else if (like_items(line))
        trl_fail_hint(err, st,
                      "lines of a label and attributes NAME=VALUE are CRFsuite items: "
                      "the format crfsuite");
    else if (line[0] == '(' && line[1] != ' ' && line[1] != '\t' && line[1] != '\n')
        trl_fail_hint(err, st, "trees in brackets are for models of the kind tree");
    return trl_input_fail(r->in, err, st, col);
}

/* The end of the cell at p: a blank or the end of the line.  NULL: a NUL byte, at *bad. */
static const char *cell_end(const char *p, const char **bad)
{
    for (;; p++) {
        while ((unsigned char)*p > ' ')
            p++;
        if (*p == ' ' || *p == '\t' || *p == '\n')
            return p;
        if (*p == '\0') {
            *bad = p;
            return NULL;
        }
    }
}

/* Adds the cells of one line.  Counts them all, even past n_columns, for the message. */
static trl_status split(trl_columns *r, const char *line, trl_error *err)
{
    size_t n = 0;
    const char *surplus = NULL, *p = line;
    for (;;) {
        while (*p == ' ' || *p == '\t')
            p++;
        if (*p == '\n')
            break;
        const char *bad = NULL, *end = cell_end(p, &bad);
        if (!end) {
            return trl_input_check_text(r->in, (trl_str){line, (size_t)(bad - line) + 1}, err);
        }
        if (r->n_cells == r->cell_cap) {
            trl_str *grown = trl_reserve(r->cell, &r->cell_cap, r->n_cells + 1, sizeof *grown);
            if (!grown)
                return trl_fail_mem(err);
            r->cell = grown;
        }
        if (n == r->n_columns)
            surplus = p;
        r->cell[r->n_cells++] = (trl_str){p, (size_t)(end - p)};
        n++;
        p = end;
    }
    if (r->n_columns == 0) {
        r->n_columns = n;
        r->model_row = trl_input_row(r->in);
    } else if (n != r->n_columns) {
        const char *at = n > r->n_columns ? surplus : p;
        return ragged(r, line, n, (uint64_t)(at - line) + 1, err);
    }
    return TRL_OK;
}

static trl_status add_token(trl_columns *r, const char *copy, trl_error *err)
{
    const char **line = trl_reserve(r->line, &r->line_cap, r->n_tokens + 1, sizeof *line);
    if (!line)
        return trl_fail_mem(err);
    r->line = line;
    r->line[r->n_tokens++] = copy;
    return split(r, copy, err);
}

#define DOCUMENT "-DOCSTART-"

/* Is it the line that starts a document? */
static bool is_document(trl_str s)
{
    const size_t n = sizeof DOCUMENT - 1;
    while (s.n && (*s.p == ' ' || *s.p == '\t'))
        s = (trl_str){s.p + 1, s.n - 1};
    return s.n >= n && memcmp(s.p, DOCUMENT, n) == 0 &&
           (s.n == n || s.p[n] == ' ' || s.p[n] == '\t');
}

static trl_status add_heading(trl_columns *r, trl_str s, trl_error *err)
{
    trl_buf *to = r->n_tokens ? &r->next_heading : &r->heading;
    const trl_status st = trl_input_check_text(r->in, s, err);
    if (st != TRL_OK)
        return st;
    trl_buf_add(to, s.p, s.n);
    trl_buf_add(to, "\n", 1);
    return to->failed ? trl_fail_mem(err) : TRL_OK;
}

/* Takes over what reading the previous sequence has already read of this one. */
static void take_heading(trl_columns *r)
{
    const trl_buf old = r->heading;
    r->heading = r->next_heading;
    r->next_heading = old;
    r->next_heading.len = 0;
}

/* ---- weights --------------------------------------------------------------------------------- */

#define WEIGHT "@weight:"

/* Is the line one cell that begins so? */
static bool is_weight(const trl_columns *r, const char *line)
{
    return r->n_tokens == 0 && r->n_columns != 1 && !r->weight_line &&
           strncmp(line, WEIGHT, sizeof WEIGHT - 1) == 0 && line[strcspn(line, " \t\n")] == '\n';
}

static bool is_one_cell(const char *line)
{
    line += strspn(line, " \t");
    line += strcspn(line, " \t\n");
    return line[strspn(line, " \t")] == '\n';
}

/* The line after @weight:..; of a file of one column, that was a token. */
static trl_status take_weight(trl_columns *r, const char *next, uint64_t *first_row, trl_error *err)
{
    const char *line = r->weight_line, *number = line + sizeof WEIGHT - 1;
    r->weight_line = NULL;
    if (r->n_columns == 0 && is_one_cell(next)) {
        *first_row = r->weight_row;
        return add_token(r, line, err);
    }
    const size_t n = strcspn(number, "\n");
    if (trl_number_parse(number, n, &r->weight) == TRL_NUMBER_OK && r->weight >= 0.0)
        return TRL_OK;
    const trl_status st = trl_fail(
        err, TRL_EPARSE, "the weight of a sequence must be finite and not negative: '%.*s'",
        (int)(n < 40 ? n : 40), number);
    return trl_fail_where(err, st, trl_input_name(r->in), r->weight_row, sizeof WEIGHT);
}

double trl_columns_weight(const trl_columns *r)
{
    return r->weight;
}

trl_status trl_columns_next(trl_columns *r, trl_rows *seq, bool *more, trl_error *err)
{
    uint64_t first_row = 0;
    trl_arena_reset(&r->text);
    r->n_cells = r->n_tokens = 0;
    r->weight = 1.0;
    r->weight_line = NULL;
    take_heading(r);
    for (;;) {
        char *line;
        size_t n;
        trl_status st = trl_input_line_copy(r->in, &r->text, &line, &n, err);
        if (st != TRL_OK)
            return st;
        const bool heading = line && is_document((trl_str){line, n});
        if (heading)
            st = add_heading(r, (trl_str){line, n}, err);
        if (st != TRL_OK)
            return st;
        if (line && !heading && is_weight(r, line)) {
            r->weight_line = line;
            r->weight_row = trl_input_row(r->in);
            continue;
        }
        if (r->weight_line) {
            st = take_weight(r, line ? line : "\n", &first_row, err);
            if (st != TRL_OK)
                return st;
        }
        if (!line || heading || trl_line_is_blank(line)) {
            if (!line || r->n_tokens > 0)
                break;
            trl_arena_reset(&r->text);
            continue;
        }
        if (r->n_tokens == 0)
            first_row = trl_input_row(r->in);
        st = add_token(r, line, err);
        if (st != TRL_OK)
            return st;
    }
    *more = r->n_tokens > 0;
    *seq = (trl_rows){.n_tokens = r->n_tokens,
                      .n_columns = r->n_columns,
                      .cell = r->cell,
                      .path = trl_input_name(r->in),
                      .first_row = first_row,
                      .line = r->line,
                      .heading = {r->heading.data, r->heading.len}};
    return TRL_OK;
}

uint64_t trl_rows_col(const trl_rows *seq, size_t t, size_t column)
{
    if (!seq->line)
        return 0;
    return (uint64_t)(seq->cell[t * seq->n_columns + column].p - seq->line[t]) + 1;
}
