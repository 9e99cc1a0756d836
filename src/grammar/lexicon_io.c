/* lexicon_io.c -- lexicons as sections of a container.
 *
 * With the prefix "x0":
 *
 *     x0wd..., x0cl...   words, classes (model/strtab_io.h)
 *     x0info    u64[2]: rare, n_states
 *     x0wn      u32[n_words]: word_count
 *     x0wf, x0wt, x0wc   word_first, word_tag, word_tag_count
 *     x0cf, x0ct, x0cc   class_first, class_tag, class_tag_count
 *     x0sn, x0sr         double[n_states]: state_count, state_rare
 */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/strtab_io.h"
#include "grammar/lexicon_parts.h"

#define N_INFO 2

typedef char tag[9];

static const char *make_tag(const char *prefix, const char *what, tag out)
{
    snprintf(out, sizeof(tag), "%.2s%s", prefix, what);
    return out;
}

static trl_status check_prefix(const char *prefix, trl_error *err)
{
    if (strnlen(prefix, 3) != 2)
        return trl_fail(err, TRL_EINVAL, "'%s' is not a two-letter prefix", prefix);
    return TRL_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void add(const char *prefix, const char *what, const void *p, size_t n, size_t width,
                trl_container_builder *b)
{
    tag t;
    trl_container_builder_add(b, make_tag(prefix, what, t), p, n * width);
}

/* Counts by row. */
typedef struct row_lists {
    const uint32_t *first;
    const uint32_t *column;
    const double *count;
    size_t n_rows;
} row_lists;

static void add_rows(const char *prefix, const char *const what[3], const row_lists *x,
                     trl_container_builder *b)
{
    add(prefix, what[0], x->first, x->n_rows + 1, sizeof *x->first, b);
    add(prefix, what[1], x->column, x->first[x->n_rows], sizeof *x->column, b);
    add(prefix, what[2], x->count, x->first[x->n_rows], sizeof *x->count, b);
}

static const char *const word_rows[3] = {"wf", "wt", "wc"};
static const char *const class_rows[3] = {"cf", "ct", "cc"};

trl_status trl_lexicon_save(const trl_lexicon *x, const char *prefix, trl_container_builder *b,
                            trl_error *err)
{
    tag t;
    trl_status st = check_prefix(prefix, err);
    if (st != TRL_OK)
        return st;
    uint64_t *info = trl_alloc(N_INFO, sizeof *info);
    if (!info)
        return trl_fail_mem(err);
    info[0] = x->rare;
    info[1] = x->n_states;
    trl_container_builder_give(b, make_tag(prefix, "info", t), info, N_INFO * sizeof *info);
    add(prefix, "wn", x->word_count, x->words.n, sizeof *x->word_count, b);
    add_rows(prefix, word_rows,
             &(row_lists){.first = x->word_first,
                          .column = x->word_tag,
                          .count = x->word_tag_count,
                          .n_rows = x->words.n},
             b);
    add_rows(prefix, class_rows,
             &(row_lists){.first = x->class_first,
                          .column = x->class_tag,
                          .count = x->class_tag_count,
                          .n_rows = x->classes.n},
             b);
    add(prefix, "sn", x->state_count, x->n_states, sizeof *x->state_count, b);
    add(prefix, "sr", x->state_rare, x->n_states, sizeof *x->state_rare, b);
    st = trl_strtab_save(&x->words, make_tag(prefix, "wd", t), b, err);
    return st == TRL_OK ? trl_strtab_save(&x->classes, make_tag(prefix, "cl", t), b, err) : st;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct source {
    const trl_container *c;
    const char *prefix;
    trl_error *err;
} source;

static trl_status damaged(const source *s)
{
    return trl_container_damaged(s->c, s->err, "impossible counts of its lexicon");
}

/* A copy of `want` items (any number when SIZE_MAX). */
static trl_status copy(const source *s, const char *what, size_t width, size_t want, void *out,
                       size_t *count)
{
    tag t;
    const void *p;
    size_t n;
    const trl_status st =
        trl_container_array(s->c, make_tag(s->prefix, what, t), width, &p, &n, s->err);
    if (st != TRL_OK)
        return st;
    if (n >= UINT32_MAX || (want != SIZE_MAX && n != want))
        return damaged(s);
    void *mine = trl_alloc(n, width);
    if (!mine)
        return trl_fail_mem(s->err);
    if (n)
        memcpy(mine, p, n * width);
    memcpy(out, &mine, sizeof mine);
    if (count)
        *count = n;
    return TRL_OK;
}

static trl_status copy_strings(const source *s, const char *what, trl_strtab *out)
{
    tag t;
    trl_strview v;
    const trl_status st = trl_strview_load(s->c, make_tag(s->prefix, what, t), &v, s->err);
    if (st != TRL_OK)
        return st;
    for (size_t i = 0; i < v.n; i++) {
        const trl_str x = trl_strview_get(&v, (uint32_t)i);
        const uint32_t id = trl_strtab_add(out, x.p, x.n);
        if (id == TRL_NO_ID)
            return trl_fail_mem(s->err);
        if (id != i)
            return trl_container_damaged(s->c, s->err, "its lexicon has a word twice");
    }
    return v.n ? TRL_OK : damaged(s);
}

static trl_status load_info(const source *s, trl_lexicon *x, const trl_grammar *g)
{
    tag t;
    const void *p;
    size_t n;
    const trl_status st =
        trl_container_array(s->c, make_tag(s->prefix, "info", t), sizeof(uint64_t), &p, &n, s->err);
    if (st != TRL_OK)
        return st;
    const uint64_t *info = p;
    if (n != N_INFO || info[0] > UINT32_MAX || info[1] != g->n_states)
        return damaged(s);
    x->rare = (uint32_t)info[0];
    x->n_states = g->n_states;
    return TRL_OK;
}

/* Ratios of such numbers, and their logs, are finite. */
static bool is_count(double c)
{
    return c >= 1e-6 && c <= 1e15;
}

/* Tokens only where there are tags, and at least one token. */
static trl_status load_states(const source *s, trl_lexicon *x, const trl_grammar *g)
{
    trl_status st = copy(s, "sn", sizeof(double), g->n_states, &x->state_count, NULL);
    if (st == TRL_OK)
        st = copy(s, "sr", sizeof(double), g->n_states, &x->state_rare, NULL);
    if (st != TRL_OK)
        return st;
    for (size_t k = 0; k < g->n_states; k++) {
        const double all = x->state_count[k], rare = x->state_rare[k];
        const bool sane = all == 0.0 || (is_count(all) && g->state[k].type == TRL_STATE_TAG);
        if (!sane || !(rare == 0.0 || (is_count(rare) && rare <= all)))
            return damaged(s);
        x->n_tokens += all;
    }
    return TRL_OK;
}

/* Where the counts by row go. */
typedef struct row_places {
    uint32_t **first;
    uint32_t **column;
    double **count;
} row_places;

/* Rows of ascending tags that have tokens. */
static trl_status load_rows(const source *s, const trl_lexicon *x, const char *const what[3],
                            size_t n_rows, const row_places *into)
{
    size_t n;
    trl_status st = copy(s, what[0], sizeof **into->first, n_rows + 1, into->first, NULL);
    if (st == TRL_OK)
        st = copy(s, what[1], sizeof **into->column, SIZE_MAX, into->column, &n);
    if (st == TRL_OK)
        st = copy(s, what[2], sizeof **into->count, n, into->count, NULL);
    if (st != TRL_OK)
        return st;
    if ((*into->first)[0] != 0 || (*into->first)[n_rows] != n)
        return damaged(s);
    for (size_t r = 0; r < n_rows; r++) {
        const uint32_t from = (*into->first)[r], to = (*into->first)[r + 1];
        if (from > to || to > n)
            return damaged(s);
        for (uint32_t i = from; i < to; i++) {
            const uint32_t t = (*into->column)[i];
            if (t >= x->n_states || x->state_count[t] == 0.0 || !is_count((*into->count)[i]) ||
                (i > from && (*into->column)[i - 1] >= t))
                return damaged(s);
        }
    }
    return TRL_OK;
}

/* Every word and class 0 have tags: then trl_lexicon_tags always finds one. */
static trl_status check_rows(const source *s, const trl_lexicon *x)
{
    for (size_t w = 0; w < x->words.n; w++)
        if (x->word_count[w] == 0 || x->word_first[w] == x->word_first[w + 1])
            return damaged(s);
    return x->class_first[1] ? TRL_OK : damaged(s);
}

static trl_status load(const source *s, trl_lexicon *x, const trl_grammar *g)
{
    trl_status st = load_info(s, x, g);
    if (st == TRL_OK)
        st = copy_strings(s, "wd", &x->words);
    if (st == TRL_OK)
        st = copy_strings(s, "cl", &x->classes);
    if (st == TRL_OK)
        st = copy(s, "wn", sizeof *x->word_count, x->words.n, &x->word_count, NULL);
    if (st == TRL_OK)
        st = load_states(s, x, g);
    if (st == TRL_OK)
        st = load_rows(s, x, word_rows, x->words.n,
                       &(row_places){&x->word_first, &x->word_tag, &x->word_tag_count});
    if (st == TRL_OK)
        st = load_rows(s, x, class_rows, x->classes.n,
                       &(row_places){&x->class_first, &x->class_tag, &x->class_tag_count});
    if (st == TRL_OK)
        st = check_rows(s, x);
    return st == TRL_OK ? trl_lexicon_make_bases(x, g, s->err) : st;
}

trl_status trl_lexicon_load(trl_lexicon *x, const char *prefix, const trl_grammar *g,
                            const trl_container *c, trl_error *err)
{
    const source s = {c, prefix, err};
    *x = (trl_lexicon){0};
    trl_status st = check_prefix(prefix, err);
    if (st == TRL_OK)
        st = load(&s, x, g);
    if (st != TRL_OK)
        trl_lexicon_fini(x);
    return st;
}
