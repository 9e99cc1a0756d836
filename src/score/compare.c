/* compare.c -- two taggings against the truth, sentence by sentence; see compare.h. */
/* SPDX-License-Identifier: MIT */
#include "trellis/compare.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "score/rules.h"
#include "score/compare.h"
#include "score/resample.h"
#include "text/columns.h"
#include "trellis/score.h"

/* What is counted for a sentence; the counts of system s start at s * PER_SYSTEM. They are whole
 * numbers, so sums are exact.  For trees a bracket is a chunk. */
enum {
    SENTENCES,
    TOKENS,
    CHUNKS,
    RIGHT, /* tokens */
    WHOLE, /* 1: the whole sentence is right */
    PREDICTED,
    CORRECT,
    PER_SYSTEM = 6,
    COUNTS = TOKENS + 2 * PER_SYSTEM
};

struct trl_compare {
    trl_score *score[2];
    trl_score_totals before[2][TRL_N_RULES];
    double *units[TRL_N_RULES]; /* [n][COUNTS] each */
    double *errors[2];
    size_t n, units_cap[TRL_N_RULES], errors_cap[2];
    bool all_chunk_tags;
    size_t column[2]; /* of tags in files: of gold, of the systems; both 0: the last */

    /* One sentence of a file: tags as C strings. */
    char *pool;
    const char **tag;
    size_t pool_cap, tag_cap;
};

trl_status trl_compare_new(trl_compare **out, trl_error *err)
{
    if (!out)
        return trl_fail_null(err);
    trl_compare *c = trl_zalloc(1, sizeof *c);
    if (!c)
        return trl_fail_mem(err);
    const trl_score_options plain = trl_score_options_default();
    c->all_chunk_tags = true;
    for (int s = 0; s < 2; s++) {
        const trl_status st = trl_score_new(&plain, &c->score[s], err);
        if (st != TRL_OK) {
            trl_compare_free(c);
            return st;
        }
    }
    *out = c;
    return TRL_OK;
}

void trl_compare_free(trl_compare *c)
{
    if (!c)
        return;
    for (int s = 0; s < 2; s++) {
        trl_score_free(c->score[s]);
        trl_free(c->errors[s]);
    }
    for (int rule = 0; rule < TRL_N_RULES; rule++)
        trl_free(c->units[rule]);
    trl_free(c->pool);
    trl_free(c->tag);
    trl_free(c);
}

/* ---- counting -------------------------------------------------------------------------------- */

static bool is_chunk_tag(const char *tag)
{
    trl_str prefix, type;
    trl_tag_split((trl_str){tag, strlen(tag)}, &prefix, &type);
    if (type.n == 0)
        return strcmp(tag, "O") == 0;
    return prefix.n == 1 && strchr("BIESLUM", prefix.p[0]);
}

static bool reserve_sentence(trl_compare *c)
{
    if (c->n >= SIZE_MAX / COUNTS - 1)
        return false;
    for (int rule = 0; rule < TRL_N_RULES; rule++) {
        double *units =
            trl_reserve(c->units[rule], &c->units_cap[rule], (c->n + 1) * COUNTS, sizeof *units);
        if (!units)
            return false;
        c->units[rule] = units;
    }
    for (int s = 0; s < 2; s++) {
        double *errors = trl_reserve(c->errors[s], &c->errors_cap[s], c->n + 1, sizeof *errors);
        if (!errors)
            return false;
        c->errors[s] = errors;
    }
    return true;
}

static void fill_unit(double *unit, const trl_compare_counts n[2])
{
    unit[SENTENCES] = 1.0;
    for (int s = 0; s < 2; s++) {
        double *count = unit + s * PER_SYSTEM;
        count[TOKENS] = n[s].tokens;
        count[CHUNKS] = n[s].gold;
        count[RIGHT] = n[s].right;
        count[WHOLE] = n[s].whole;
        count[PREDICTED] = n[s].predicted;
        count[CORRECT] = n[s].correct;
    }
}

static trl_status add_counts(trl_compare *c, trl_compare_counts n[TRL_N_RULES][2], trl_error *err)
{
    if (!reserve_sentence(c))
        return trl_fail_mem(err);
    for (int rule = 0; rule < TRL_N_RULES; rule++)
        fill_unit(c->units[rule] + c->n * COUNTS, n[rule]);
    for (int s = 0; s < 2; s++)
        c->errors[s][c->n] = n[0][s].errors;
    c->n++;
    return TRL_OK;
}

trl_status trl_compare_add_counts(trl_compare *c, const trl_compare_counts n[2], trl_error *err)
{
    trl_compare_counts same[TRL_N_RULES][2] = {{n[0], n[1]}, {n[0], n[1]}};
    return add_counts(c, same, err);
}

/* The scorer decides about a sentence's last chunk when the next sentence starts; with ill-formed
 * tags it may then withdraw a correct chunk.  Differences of totals count that for the next
 * sentence, so that sums always agree with the scorer's. */
static trl_compare_counts count_system(trl_compare *c, int s, trl_chunk_rule rule, size_t n)
{
    const trl_score_totals now = trl_score_get_by(c->score[s], rule);
    const trl_score_totals old = c->before[s][rule];
    const double right = (double)now.correct_tokens - (double)old.correct_tokens;
    c->before[s][rule] = now;
    return (trl_compare_counts){
        .tokens = (double)n,
        .gold = (double)now.gold - (double)old.gold,
        .right = right,
        .whole = (double)now.correct_sequences - (double)old.correct_sequences,
        .predicted = (double)now.predicted - (double)old.predicted,
        .correct = (double)now.correct - (double)old.correct,
        .errors = (double)n - right,
    };
}

trl_status trl_compare_add(trl_compare *c, size_t n, const char *const *gold, const char *const *a,
                           const char *const *b, trl_error *err)
{
    if (!c || (n && (!gold || !a || !b)))
        return trl_fail_null(err);
    trl_compare_counts counts[TRL_N_RULES][2];
    for (int s = 0; s < 2; s++) {
        const trl_status st = trl_score_add(c->score[s], n, gold, s == 0 ? a : b, err);
        if (st != TRL_OK)
            return st;
        for (int rule = 0; rule < TRL_N_RULES; rule++)
            counts[rule][s] = count_system(c, s, (trl_chunk_rule)rule, n);
    }
    for (size_t t = 0; t < n && c->all_chunk_tags; t++)
        c->all_chunk_tags = is_chunk_tag(gold[t]);
    return add_counts(c, counts, err);
}

size_t trl_compare_sentences(const trl_compare *c)
{
    if (!c)
        return 0;
    return c->n;
}

const double *trl_compare_errors(const trl_compare *c, int system)
{
    if (!c || system < 0 || system > 1)
        return NULL;
    return c->errors[system];
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct source {
    trl_reader *reader;
    const char *path;
    trl_rows rows;
    bool more;
    size_t column; /* of the tag; 0: the last */
} source;

static trl_str token(const source *f, size_t t)
{
    return f->rows.cell[t * f->rows.n_columns];
}

static bool equal(trl_str a, trl_str b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static int shown(trl_str s)
{
    return (int)(s.n < 40 ? s.n : 40);
}

static trl_status fail_at(const source *f, uint64_t row, uint64_t col, trl_error *err)
{
    trl_fail_where(err, TRL_EPARSE, f->path, row, col);
    return trl_fail_hint(err, TRL_EPARSE,
                         "all files must hold the same sentences in the same order");
}

/* Does `f` continue with the same tokens as `gold`? */
static trl_status check_sentence(const source *gold, const source *f, trl_error *err)
{
    const trl_rows *g = &gold->rows, *r = &f->rows;
    const trl_status st = TRL_EPARSE;
    if (!gold->more && !f->more)
        return TRL_OK;
    if (!f->more) {
        trl_fail(err, st, "the file ends, but %s goes on with a sentence in line %llu", gold->path,
                 (unsigned long long)g->first_row);
        return fail_at(f, 0, 0, err);
    }
    if (!gold->more) {
        trl_fail(err, st, "a sentence more than %s has", gold->path);
        return fail_at(f, r->first_row, 1, err);
    }
    const size_t n = g->n_tokens < r->n_tokens ? g->n_tokens : r->n_tokens;
    const bool tokens = g->n_columns > 1 && r->n_columns > 1;
    for (size_t t = 0; t < n && tokens; t++) {
        const trl_str x = token(f, t), y = token(gold, t);
        if (equal(x, y))
            continue;
        trl_fail(err, st, "the token is '%.*s', but '%.*s' in line %llu of %s", shown(x), x.p,
                 shown(y), y.p, (unsigned long long)(g->first_row + t), gold->path);
        return fail_at(f, r->first_row + t, trl_rows_col(r, t, 0), err);
    }
    if (g->n_tokens == r->n_tokens)
        return TRL_OK;
    trl_fail(err, st,
             r->n_tokens > n ? "the sentence goes on, but ends before line %llu of %s"
                             : "the sentence ends, but goes on in line %llu of %s",
             (unsigned long long)(g->first_row + n), gold->path);
    return fail_at(f, r->first_row + n, 1, err);
}

static trl_str tag_of(const source *f, size_t t)
{
    return f->rows.cell[t * f->rows.n_columns + (f->column ? f->column : f->rows.n_columns - 1)];
}

static trl_status check_column(const source *f, trl_error *err)
{
    if (!f->more || f->column < f->rows.n_columns)
        return TRL_OK;
    const trl_status st = trl_fail(err, TRL_EPARSE, "%zu columns, where column %zu is asked for",
                                   f->rows.n_columns, f->column);
    trl_fail_where(err, st, f->path, f->rows.first_row, 0);
    return trl_fail_hint(err, st, "columns are counted from 0");
}

/* The tags of all rows as C strings, from *at in the pool on. */
static void copy_tags(const source *f, char **at, const char **tag)
{
    for (size_t t = 0; t < f->rows.n_tokens; t++) {
        const trl_str x = tag_of(f, t);
        tag[t] = *at;
        memcpy(*at, x.p, x.n);
        (*at)[x.n] = '\0';
        *at += x.n + 1;
    }
}

static trl_status add_rows(trl_compare *c, const source f[3], trl_error *err)
{
    const size_t n = f[0].rows.n_tokens;
    size_t bytes = 0;
    for (int k = 0; k < 3; k++)
        for (size_t t = 0; t < n; t++)
            bytes += tag_of(&f[k], t).n + 1;
    char *pool = trl_reserve(c->pool, &c->pool_cap, bytes, 1);
    if (pool)
        c->pool = pool;
    const char **tag = trl_reserve(c->tag, &c->tag_cap, 3 * n, sizeof *tag);
    if (tag)
        c->tag = tag;
    if (!pool || !tag)
        return trl_fail_mem(err);
    for (int k = 0; k < 3; k++)
        copy_tags(&f[k], &pool, tag + (size_t)k * n);
    return trl_compare_add(c, n, tag, tag + n, tag + 2 * n, err);
}

static trl_status read_all(trl_compare *c, source f[3], trl_error *err)
{
    for (;;) {
        trl_status st = TRL_OK;
        for (int k = 0; k < 3 && st == TRL_OK; k++)
            st = trl_reader_rows(f[k].reader, &f[k].rows, &f[k].more, err);
        for (int k = 0; k < 3 && st == TRL_OK; k++)
            st = check_column(&f[k], err);
        for (int k = 1; k < 3 && st == TRL_OK; k++)
            st = check_sentence(&f[0], &f[k], err);
        if (st == TRL_OK && f[0].more)
            st = add_rows(c, f, err);
        if (st != TRL_OK || !f[0].more)
            return st;
    }
}

void trl_compare_set_columns(trl_compare *c, size_t gold, size_t systems)
{
    if (!c)
        return;
    c->column[0] = gold;
    c->column[1] = systems;
}

trl_status trl_compare_files(trl_compare *c, const trl_compare_paths *path, trl_error *err)
{
    if (!c || !path || !path->gold || !path->a || !path->b)
        return trl_fail_null(err);
    source f[3] = {{.path = path->gold, .column = c->column[0]},
                   {.path = path->a, .column = c->column[1]},
                   {.path = path->b, .column = c->column[1]}};
    trl_status st = TRL_OK;
    for (int k = 0; k < 3 && st == TRL_OK; k++)
        st = trl_reader_open(f[k].path, TRL_FORMAT_COLUMNS, &f[k].reader, err);
    if (st == TRL_OK)
        st = read_all(c, f, err);
    for (int k = 0; k < 3; k++)
        trl_reader_free(f[k].reader);
    return st;
}

/* ---- results --------------------------------------------------------------------------------- */

static double percent(double part, double whole)
{
    return whole > 0.0 ? 100.0 * part / whole : 0.0;
}

static void measures(const double *sums, int s, double out[TRL_MEASURES])
{
    const double *count = sums + s * PER_SYSTEM;
    out[TRL_ACCURACY] = percent(count[RIGHT], count[TOKENS]);
    out[TRL_SENTENCES] = percent(count[WHOLE], sums[SENTENCES]);
    out[TRL_PRECISION] = percent(count[CORRECT], count[PREDICTED]);
    out[TRL_RECALL] = percent(count[CORRECT], count[CHUNKS]);
    out[TRL_F1] = percent(2.0 * count[CORRECT], count[CHUNKS] + count[PREDICTED]);
}

static void differences(const double *sums, double *out)
{
    double a[TRL_MEASURES];
    measures(sums, 0, a);
    measures(sums, 1, out);
    for (int k = 0; k < TRL_MEASURES; k++)
        out[k] -= a[k];
}

static void fill_scores(const trl_compare *c, const double *units, trl_comparison *r)
{
    double sums[COUNTS] = {0};
    for (size_t i = 0; i < c->n; i++) {
        const double *unit = units + i * COUNTS;
        for (size_t k = 0; k < COUNTS; k++)
            sums[k] += unit[k];
        const bool a = unit[WHOLE] > 0.0, b = unit[WHOLE + PER_SYSTEM] > 0.0;
        r->only_a += a && !b;
        r->only_b += b && !a;
    }
    r->sentences = c->n;
    r->tokens = (uint64_t)sums[TOKENS];
    r->chunks = (uint64_t)sums[CHUNKS];
    r->chunk_tags = c->all_chunk_tags && r->chunks > 0;
    for (int s = 0; s < 2; s++) {
        double errors = 0.0;
        for (size_t i = 0; i < c->n; i++)
            errors += c->errors[s][i];
        measures(sums, s, r->score[s]);
        r->errors[s] = errors / (double)c->n;
    }
}

trl_status trl_compare_run(const trl_compare *c, const trl_bootstrap_options *options,
                           trl_comparison *out, trl_error *err)
{
    if (!c || !options || !out)
        return trl_fail_null(err);
    trl_comparison r = {0};
    const double *units = c->units[trl_score_rule(c->score[0])];
    trl_status st = trl_resample(&(trl_resampled){.n = c->n,
                                                  .n_sums = COUNTS,
                                                  .units = units,
                                                  .n_out = TRL_MEASURES,
                                                  .difference = differences},
                                 options, r.difference, err);
    if (st != TRL_OK)
        return st;
    st = trl_wilcoxon(c->n, c->errors[0], c->errors[1], &r.wilcoxon, err);
    if (st != TRL_OK)
        return st;
    fill_scores(c, units, &r);
    r.broken_iobes = r.chunk_tags && trl_score_get(c->score[0]).broken_iobes;
    r.mcnemar = trl_mcnemar(r.only_a, r.only_b);
    r.t = trl_paired_t(c->n, c->errors[0], c->errors[1]);
    *out = r;
    return TRL_OK;
}
