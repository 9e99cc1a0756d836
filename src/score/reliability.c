/* reliability.c -- probabilities and how often they were right: counts, and of tagged files. */
/* SPDX-License-Identifier: MIT */
#include "score/reliability.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "text/number.h"
#include "trellis/scheme.h"

/* ---- counts ---------------------------------------------------------------------------------- */

void trl_reliability_add(trl_reliability *r, double p, bool right)
{
    if (!r || r->n_bins == 0 || r->n_bins > TRL_RELIABILITY_BINS)
        return;
    p = p > 0.0 ? (p < 1.0 ? p : 1.0) : 0.0;
    size_t k = (size_t)(p * (double)r->n_bins);
    k = k < r->n_bins ? k : r->n_bins - 1;
    r->bin[k].n++;
    r->bin[k].right += right;
    r->bin[k].sum += p;
    const double miss = p - (right ? 1.0 : 0.0);
    r->squares += miss * miss;
}

trl_reliability_totals trl_reliability_get(const trl_reliability *r)
{
    trl_reliability_totals t = {0};
    double sum = 0.0, gap = 0.0;
    for (size_t k = 0; r && k < r->n_bins; k++) {
        const trl_reliability_bin *b = &r->bin[k];
        const double off = fabs(b->sum - (double)b->right);
        t.n += b->n;
        t.right += b->right;
        sum += b->sum;
        gap += off;
        if (b->n && off / (double)b->n > t.largest)
            t.largest = off / (double)b->n;
    }
    if (t.n == 0)
        return t;
    const double n = (double)t.n;
    t.accuracy = (double)t.right / n;
    t.confidence = sum / n;
    t.brier = r->squares / n;
    t.ece = gap / n;
    return t;
}

/* ---- a tagged file --------------------------------------------------------------------------- */

/* One sequence: cells lie in `text`, which moves, so they are kept as offsets. */
typedef struct token {
    size_t gold, gold_n, label, label_n;
    double p, span, boundaries; /* NaN: none */
} token;

typedef struct tagged {
    trl_input *in;
    trl_reliability *r;
    size_t n_columns; /* of the first token; 0: none yet */
    bool sure;        /* columns of --confidence, else LABEL:P */
    double sequence;  /* its probability; NaN: not said */
    trl_buf text;
    token *token;
    size_t n, cap;
    trl_str *name; /* [2 n] */
    trl_chunk *chunk;
    size_t name_cap, chunk_cap;
} tagged;

#define CELLS 6 /* the last ones of a line: GOLD LABEL P ENTROPY SPAN BOUNDARIES */

/* The first cell, how many there are, and the last CELLS of them: cell[CELLS - 1] is the last. */
static size_t cut(trl_str line, trl_str *first, trl_str *cell)
{
    size_t n = 0;
    for (size_t i = 0; i < line.n;) {
        while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
            i++;
        const size_t from = i;
        while (i < line.n && line.p[i] != ' ' && line.p[i] != '\t')
            i++;
        if (i == from)
            break;
        memmove(cell, cell + 1, (CELLS - 1) * sizeof *cell);
        cell[CELLS - 1] = (trl_str){line.p + from, i - from};
        if (n++ == 0)
            *first = cell[CELLS - 1];
    }
    return n;
}

static bool probability(trl_str s, double *p)
{
    return trl_number_parse(s.p, s.n, p) == TRL_NUMBER_OK && *p >= 0.0 && *p <= 1.0;
}

static bool dash_or_probability(trl_str s, double *p)
{
    *p = NAN;
    return (s.n == 1 && *s.p == '-') || probability(s, p);
}

static bool is(trl_str s, const char *word)
{
    return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

/* "# P", "# P entropy H", or @probability and @entropy: sets the probability. */
static bool is_heading(tagged *f, size_t n, trl_str first, const trl_str *cell)
{
    double H;
    if (is(first, "#") && n == 4 && is(cell[CELLS - 2], "entropy"))
        return probability(cell[CELLS - 3], &f->sequence);
    if (n == 2 && is(first, "@entropy"))
        return trl_number_parse(cell[CELLS - 1].p, cell[CELLS - 1].n, &H) == TRL_NUMBER_OK;
    return n == 2 && (is(first, "#") || is(first, "@probability")) &&
           probability(cell[CELLS - 1], &f->sequence);
}

/* Columns of --confidence: GOLD LABEL P H SPAN BOUNDARIES. */
static bool read_sure(const trl_str *cell, token *t)
{
    double H;
    return probability(cell[2], &t->p) &&
           trl_number_parse(cell[3].p, cell[3].n, &H) == TRL_NUMBER_OK &&
           dash_or_probability(cell[4], &t->span) && dash_or_probability(cell[5], &t->boundaries);
}

/* LABEL:P; the label is cut. */
static bool read_marginal(trl_str *label, token *t)
{
    size_t at = label->n;
    while (at > 0 && label->p[at - 1] != ':')
        at--;
    if (at < 2 || !probability((trl_str){label->p + at, label->n - at}, &t->p))
        return false;
    label->n = at - 1;
    return true;
}

static trl_status bad_line(const tagged *f, size_t n, trl_error *err)
{
    trl_status st;
    if (f->n_columns && n != f->n_columns) {
        st = trl_fail(err, TRL_EPARSE, "%zu columns here, where lines before have %zu", n,
                      f->n_columns);
    } else {
        st = trl_fail(err, TRL_EPARSE, "no probabilities after a true and a predicted label");
        trl_fail_hint(err, st, "data with their labels are needed, tagged with probabilities");
    }
    return trl_input_fail(f->in, err, st, 0);
}

/* As --all-marginals prints. */
static trl_status many_labels(const tagged *f, trl_error *err)
{
    const trl_status st =
        trl_fail(err, TRL_EPARSE, "several labels with probabilities, where one is expected");
    trl_fail_hint(
        err, st, "marginals of the predicted label are read, or its confidence, not all marginals");
    return trl_input_fail(f->in, err, st, 0);
}

static trl_status add_token(tagged *f, size_t n, const trl_str *cell, trl_error *err)
{
    token t = {.span = NAN, .boundaries = NAN};
    trl_str gold = cell[0], label = cell[1];
    const bool sure = n >= CELLS && read_sure(cell, &t);
    if (!sure) {
        t = (token){.span = NAN, .boundaries = NAN};
        gold = cell[CELLS - 2];
        label = cell[CELLS - 1];
    }
    if (n < 2 || (!sure && !read_marginal(&label, &t)) || (f->n_columns && n != f->n_columns))
        return bad_line(f, n, err);
    trl_str before = gold;
    if (!sure && read_marginal(&before, &(token){0}) &&
        memchr(gold.p + before.n, '.', gold.n - before.n)) /* X:1 may be a label */
        return many_labels(f, err);
    f->n_columns = n;
    f->sure = f->sure || sure;
    token *all = trl_reserve(f->token, &f->cap, f->n + 1, sizeof *all);
    if (!all)
        return trl_fail_mem(err);
    f->token = all;
    t.gold = f->text.len;
    t.gold_n = gold.n;
    t.label = t.gold + gold.n;
    t.label_n = label.n;
    if (!trl_buf_add(&f->text, gold.p, gold.n) || !trl_buf_add(&f->text, label.p, label.n))
        return trl_fail_mem(err);
    all[f->n++] = t;
    return TRL_OK;
}

static bool same(trl_str a, trl_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Chunks found against true ones: both are in order. */
static void add_spans(tagged *f, size_t n_gold, size_t n_found)
{
    const trl_chunk *gold = f->chunk, *found = f->chunk + f->n;
    for (size_t i = 0, g = 0; i < n_found; i++) {
        while (g < n_gold && gold[g].begin < found[i].begin)
            g++;
        const token *t = &f->token[found[i].begin];
        const bool there =
            g < n_gold && gold[g].begin == found[i].begin && gold[g].end == found[i].end;
        if (!isnan(t->span))
            trl_reliability_add(&f->r[TRL_RELIABLE_SPANS], t->span,
                                there && same(gold[g].type, found[i].type));
        if (!isnan(t->boundaries))
            trl_reliability_add(&f->r[TRL_RELIABLE_BOUNDARIES], t->boundaries, there);
    }
}

static trl_status end_sequence(tagged *f, trl_error *err)
{
    trl_str *name = trl_reserve(f->name, &f->name_cap, 2 * f->n, sizeof *name);
    f->name = name ? name : f->name;
    trl_chunk *chunk = trl_reserve(f->chunk, &f->chunk_cap, 2 * f->n, sizeof *chunk);
    f->chunk = chunk ? chunk : f->chunk;
    if (!name || !chunk)
        return trl_fail_mem(err);
    bool right = true;
    for (size_t t = 0; t < f->n; t++) {
        const token *x = &f->token[t];
        name[t] = (trl_str){f->text.data + x->gold, x->gold_n};
        name[f->n + t] = (trl_str){f->text.data + x->label, x->label_n};
        const bool ok = same(name[t], name[f->n + t]);
        trl_reliability_add(&f->r[TRL_RELIABLE_TOKENS], x->p, ok);
        right = right && ok;
    }
    if (f->n && !isnan(f->sequence))
        trl_reliability_add(&f->r[TRL_RELIABLE_SEQUENCES], f->sequence, right);
    if (f->n && f->sure) {
        const size_t n_gold = trl_chunks_of(name, f->n, chunk);
        add_spans(f, n_gold, trl_chunks_of(name + f->n, f->n, chunk + f->n));
    }
    f->n = 0;
    f->text.len = 0;
    f->sequence = NAN;
    return TRL_OK;
}

static trl_status read_line(tagged *f, trl_str line, trl_error *err)
{
    trl_str first = {"", 0}, cell[CELLS] = {{"", 0}};
    const size_t n = cut(line, &first, cell);
    if (n == 0 || is(first, "-DOCSTART-") || is(first, "-X-"))
        return end_sequence(f, err);
    if (f->n == 0 && is_heading(f, n, first, cell))
        return TRL_OK;
    return add_token(f, n, cell, err);
}

trl_status trl_reliability_read(trl_input *in, trl_reliability *r, trl_error *err)
{
    tagged f = {.in = in, .r = r, .sequence = NAN};
    trl_status st = TRL_OK;
    for (bool more = true; st == TRL_OK && more;) {
        trl_str line;
        st = trl_input_line(in, &line, &more, err);
        if (st == TRL_OK)
            st = more ? read_line(&f, line, err) : end_sequence(&f, err);
    }
    trl_buf_fini(&f.text);
    trl_free(f.token);
    trl_free(f.name);
    trl_free(f.chunk);
    return st;
}

trl_status trl_reliability_file(const char *path, trl_reliability *r, trl_error *err)
{
    if (!path || !r)
        return trl_fail_null(err);
    trl_input *in = NULL;
    trl_status st = trl_input_open(path, &in, err);
    if (st == TRL_OK)
        st = trl_reliability_read(in, r, err);
    trl_input_free(in);
    return st;
}
