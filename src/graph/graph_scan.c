/* graph_scan.c -- words, numbers, and which format a file has. */
/* SPDX-License-Identifier: MIT */
#include "graph/graph_scan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/format.h"
#include "text/number.h"

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

trl_status trl_scan_fail(const trl_graph_scan *s, trl_status code, trl_error *err)
{
    return trl_fail_where(err, code, trl_input_name(s->in), s->row, s->col);
}

trl_status trl_scan_word(trl_graph_scan *s, bool *more, trl_error *err)
{
    for (;;) {
        while (s->at < s->line.n && is_blank(s->line.p[s->at]))
            s->at++;
        if (s->at < s->line.n && !(s->comments && s->line.p[s->at] == '#'))
            break;
        trl_status st = trl_input_line(s->in, &s->line, more, err);
        if (st == TRL_OK && *more)
            st = trl_input_check_text(s->in, s->line, err);
        if (st != TRL_OK || !*more) {
            s->line = (trl_str){0};
            s->at = 0;
            return st;
        }
        s->at = 0;
    }
    const size_t from = s->at;
    while (s->at < s->line.n && !is_blank(s->line.p[s->at]))
        s->at++;
    s->word = (trl_str){s->line.p + from, s->at - from};
    s->row = trl_input_row(s->in);
    s->col = from + 1;
    *more = true;
    return TRL_OK;
}

static trl_status need_word(trl_graph_scan *s, const char *what, trl_error *err)
{
    bool more;
    const trl_status st = trl_scan_word(s, &more, err);
    if (st != TRL_OK || more)
        return st;
    trl_fail(err, TRL_EPARSE, "the file ends where %s is expected", what);
    return trl_scan_fail(s, TRL_EPARSE, err);
}

trl_status trl_scan_count(trl_graph_scan *s, const char *what, uint64_t max, uint64_t *out,
                          trl_error *err)
{
    const trl_status st = need_word(s, what, err);
    if (st != TRL_OK)
        return st;
    uint64_t x = 0;
    bool good = s->word.n > 0, small = true;
    for (size_t i = 0; i < s->word.n && good; i++) {
        const unsigned digit = (unsigned)(s->word.p[i] - '0');
        good = digit < 10;
        small = small && x <= (UINT64_MAX - digit) / 10;
        x = small ? 10 * x + digit : x;
    }
    if (good && small && x <= max) {
        *out = x;
        return TRL_OK;
    }
    if (!good)
        trl_fail(err, TRL_EPARSE, "'%.*s' is not %s", (int)(s->word.n < 40 ? s->word.n : 40),
                 s->word.p, what);
    else
        trl_fail(err, TRL_EPARSE, "%.*s is too large: %s can be at most %" PRIu64,
                 (int)(s->word.n < 40 ? s->word.n : 40), s->word.p, what, max);
    return trl_scan_fail(s, TRL_EPARSE, err);
}

trl_status trl_scan_potential(trl_graph_scan *s, double *theta, trl_error *err)
{
    const trl_status st = need_word(s, "a potential", err);
    if (st != TRL_OK)
        return st;
    double x;
    const trl_number result = trl_number_parse(s->word.p, s->word.n, &x);
    if (result == TRL_NUMBER_OK && x >= 0.0) {
        *theta = log(x);
        return TRL_OK;
    }
    const char *wrong = result == TRL_NUMBER_BAD          ? "not a number"
                        : result == TRL_NUMBER_NOT_FINITE ? "not finite"
                                                          : "negative";
    trl_fail(err, TRL_EPARSE, "the potential '%.*s' is %s", (int)(s->word.n < 40 ? s->word.n : 40),
             s->word.p, wrong);
    return trl_scan_fail(s, TRL_EPARSE, err);
}

trl_status trl_scan_end(trl_graph_scan *s, trl_error *err)
{
    bool more;
    const trl_status st = trl_scan_word(s, &more, err);
    if (st != TRL_OK || !more)
        return st;
    trl_fail(err, TRL_EPARSE, "something follows the end: '%.*s'",
             (int)(s->word.n < 40 ? s->word.n : 40), s->word.p);
    return trl_scan_fail(s, TRL_EPARSE, err);
}

bool trl_scan_print(double theta, trl_buf *out)
{
    const double x = exp(theta);
    if (!(x < HUGE_VAL) || (x == 0.0 && theta > -HUGE_VAL))
        return false;
    char text[40];
    static const int digits[] = {10, 15, 17};
    for (size_t k = 0; k < 3; k++) {
        trl_snprintf(text, sizeof text, "%.*g", digits[k], x);
        double again;
        if (trl_number_parse(text, strlen(text), &again) == TRL_NUMBER_OK && log(again) == theta)
            break;
    }
    trl_buf_str(out, text);
    return true;
}

/* ---- either format --------------------------------------------------------------------------- */

static trl_status guess(trl_input *in, trl_graph_format *format, trl_error *err)
{
    trl_str head;
    const trl_status st = trl_input_peek(in, &head, err);
    if (st != TRL_OK)
        return st;
    size_t i = 0;
    if (head.n >= 3 && memcmp(head.p, "\xef\xbb\xbf", 3) == 0)
        i = 3;
    while (i < head.n && is_blank(head.p[i]))
        i++;
    if (i < head.n && (head.p[i] == 'M' || head.p[i] == 'B'))
        *format = TRL_GRAPH_UAI;
    else if (i < head.n && (head.p[i] == '#' || (head.p[i] >= '0' && head.p[i] <= '9')))
        *format = TRL_GRAPH_FG;
    else {
        trl_fail(err, TRL_EPARSE,
                 "this is not a factor graph: it starts neither with MARKOV or BAYES "
                 "(.uai) nor with a number of factors (.fg)");
        return trl_fail_where(err, TRL_EPARSE, trl_input_name(in), 1, 1);
    }
    return TRL_OK;
}

static trl_status read_graph(trl_input *in, trl_graph_format format, size_t max_cells,
                             trl_graph **out, trl_error *err)
{
    trl_graph *g = NULL;
    trl_graph_scan s = {.in = in, .row = 1, .col = 1};
    trl_status st = format == TRL_GRAPH_GUESS ? guess(in, &format, err) : TRL_OK;
    if (st == TRL_OK)
        st = trl_graph_new(&g, err);
    const size_t limit = max_cells ? max_cells : TRL_GRAPH_MAX_CELLS;
    if (st == TRL_OK && format == TRL_GRAPH_FG) {
        s.comments = true;
        st = trl_fg_read(&s, limit, g, err);
    } else if (st == TRL_OK)
        st = trl_uai_read(&s, limit, g, err);
    if (st == TRL_OK)
        *out = g;
    else
        trl_graph_free(g);
    return st;
}

trl_status trl_graph_read(const char *path, trl_graph_format format, size_t max_cells,
                          trl_graph **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_input *in = NULL;
    trl_status st = trl_input_open(path, &in, err);
    if (st == TRL_OK)
        st = read_graph(in, format, max_cells, out, err);
    trl_input_free(in);
    return st;
}

trl_status trl_graph_read_memory(const trl_text *text, trl_graph_format format, size_t max_cells,
                                 trl_graph **out, trl_error *err)
{
    if (!text || !text->name || (!text->p && text->n) || !out)
        return trl_fail_null(err);
    trl_input *in = NULL;
    trl_status st = trl_input_memory(text->name, text->p, text->n, &in, err);
    if (st == TRL_OK)
        st = read_graph(in, format, max_cells, out, err);
    trl_input_free(in);
    return st;
}

trl_status trl_graph_write(const trl_graph *g, trl_graph_format format, trl_buf *out,
                           trl_error *err)
{
    if (!g || !out)
        return trl_fail_null(err);
    for (size_t t = 0; t < g->n_tables; t++)
        if (!g->table[t])
            return trl_fail(err, TRL_EINVAL, "the table %zu has no values", t);
    const trl_status st =
        format == TRL_GRAPH_FG ? trl_fg_write(g, out, err) : trl_uai_write(g, out, err);
    return st == TRL_OK && out->failed ? trl_fail_mem(err) : st;
}
