/* lexicon_tags.c -- p(word | tag); the equations are in lexicon.h. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "base/mem.h"
#include "grammar/lexicon_parts.h"

#define CLASS_TOKENS 1.0   /* weight of p(b | class), in tokens of a rare word */
#define VARIANT_TOKENS 2.0 /* weight of q(t | b), in tokens of a word */
#define SHARE_TOKENS 5.0   /* weight of c(t) / c(b), in tokens of a class */
#define USUAL 0.05         /* share of a class that makes a base tag usual in it */

/* ---- counts by base tag ---------------------------------------------------------------------- */

void trl_lexicon_free_bases(trl_lexicon_bases *b)
{
    if (!b)
        return;
    trl_free(b->tag);
    trl_free(b->base_of);
    trl_free(b->total);
    trl_free(b->unseen);
    trl_free(b->word_first);
    trl_free(b->word_base);
    trl_free(b->word_count);
    trl_free(b->class_first);
    trl_free(b->class_base);
    trl_free(b->class_count);
    trl_free(b);
}

static bool find_bases(const trl_lexicon *x, const trl_grammar *g, trl_lexicon_bases *b)
{
    uint32_t *of_class = trl_alloc(g->n_plain, sizeof *of_class);
    b->tag = trl_alloc(x->n_states, sizeof *b->tag);
    b->base_of = trl_alloc(x->n_states, sizeof *b->base_of);
    b->total = trl_zalloc(g->n_plain, sizeof *b->total);
    b->unseen = trl_zalloc(g->n_plain, sizeof *b->unseen);
    const bool ok = of_class && b->tag && b->base_of && b->total && b->unseen;
    for (size_t k = 0; ok && k < g->n_plain; k++)
        of_class[k] = TRL_NO_ID;
    for (size_t s = 0; ok && s < x->n_states; s++) {
        b->base_of[s] = TRL_NO_ID;
        if (g->state[s].type != TRL_STATE_TAG || x->state_count[s] == 0.0)
            continue;
        uint32_t *base = &of_class[g->state[s].plain];
        if (*base == TRL_NO_ID)
            *base = (uint32_t)b->n_bases++;
        b->tag[b->n_tags++] = (uint32_t)s;
        b->base_of[s] = *base;
        b->total[*base] += x->state_count[s];
        b->unseen[*base] += x->state_count[s] < 1.0 ? x->state_count[s] : 0.0;
    }
    trl_free(of_class);
    return ok;
}

/* Counts of tags by row. */
typedef struct tag_rows {
    const uint32_t *first;
    const uint32_t *tag;
    const double *count;
    size_t n_rows;
} tag_rows;

/* Where the counts of base tags go. */
typedef struct base_rows {
    uint32_t **base_first;
    uint32_t **base;
    double **base_count;
} base_rows;

/* The rows `tag` with base tags in place of tags. */
static bool rows_by_base(const trl_lexicon_bases *b, const tag_rows *from, const base_rows *to)
{
    trl_row_entry *entry = trl_alloc(from->first[from->n_rows], sizeof *entry);
    if (!entry)
        return false;
    for (size_t r = 0; r < from->n_rows; r++)
        for (uint32_t i = from->first[r]; i < from->first[r + 1]; i++)
            entry[i] = (trl_row_entry){(uint32_t)r, b->base_of[from->tag[i]], from->count[i]};
    const bool ok = trl_make_rows(entry, from->first[from->n_rows], from->n_rows, to->base_first,
                                  to->base, to->base_count);
    trl_free(entry);
    return ok;
}

trl_status trl_lexicon_make_bases(trl_lexicon *x, const trl_grammar *g, trl_error *err)
{
    trl_lexicon_bases *b = x->bases = trl_zalloc(1, sizeof *b);
    if (!b || !find_bases(x, g, b) ||
        !rows_by_base(b,
                      &(tag_rows){.first = x->word_first,
                                  .tag = x->word_tag,
                                  .count = x->word_tag_count,
                                  .n_rows = x->words.n},
                      &(base_rows){&b->word_first, &b->word_base, &b->word_count}) ||
        !rows_by_base(b,
                      &(tag_rows){.first = x->class_first,
                                  .tag = x->class_tag,
                                  .count = x->class_tag_count,
                                  .n_rows = x->classes.n},
                      &(base_rows){&b->class_first, &b->class_base, &b->class_count}))
        return trl_fail_mem(err);
    return TRL_OK;
}

/* ---- one word -------------------------------------------------------------------------------- */

/* A row of counts whose columns are looked up in ascending order, or in any. */
typedef struct row {
    const uint32_t *column;
    const double *count;
    uint32_t n, at;
} row;

static row row_of(const uint32_t *first, const uint32_t *column, const double *count, uint32_t r)
{
    return (row){column + first[r], count + first[r], first[r + 1] - first[r], 0};
}

static double ascending(row *r, uint32_t column)
{
    while (r->at < r->n && r->column[r->at] < column)
        r->at++;
    return r->at < r->n && r->column[r->at] == column ? r->count[r->at] : 0.0;
}

static double any(const row *r, uint32_t column)
{
    uint32_t from = 0, to = r->n;
    while (from < to) {
        const uint32_t mid = from + (to - from) / 2;
        if (r->column[mid] < column)
            from = mid + 1;
        else
            to = mid;
    }
    return from < r->n && r->column[from] == column ? r->count[from] : 0.0;
}

/* The sum of the counts of at least `least`. */
static double total(const row *r, double least)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < r->n; i++)
        sum += r->count[i] >= least ? r->count[i] : 0.0;
    return sum;
}

#define BASES 256

/* The counts of a word and its class: rows by tag and by base tag. */
typedef struct evidence {
    row word_tag, word_base, class_tag, class_base;
    double word, class;            /* tokens */
    double least;                  /* tokens of the class that make a base tag count */
    uint64_t possible[BASES / 64]; /* bits: base tags that the rows have, as far as they fit in */
} evidence;

static void note_bases(evidence *e, const row *r, double least)
{
    for (uint32_t i = 0; i < r->n && r->column[i] < BASES; i++)
        if (r->count[i] >= least)
            e->possible[r->column[i] / 64] |= (uint64_t)1 << r->column[i] % 64;
}

/* False: neither the word nor its class has the base tag. */
static bool possible(const evidence *e, uint32_t base)
{
    return base >= BASES || (e->possible[base / 64] >> base % 64 & 1);
}

static evidence gather(const trl_lexicon *x, const trl_grammar *g, uint32_t word, uint32_t cls)
{
    const trl_lexicon_bases *b = x->bases;
    evidence e = {0};
    if (word != TRL_NO_ID) {
        e.word_tag = row_of(x->word_first, x->word_tag, x->word_tag_count, word);
        e.word_base = row_of(b->word_first, b->word_base, b->word_count, word);
        e.word = x->word_count[word];
    }
    const bool rare = word == TRL_NO_ID || x->word_count[word] <= x->rare;
    if (rare || g->smoothed) {
        if (x->class_first[cls] == x->class_first[cls + 1])
            cls = 0; /* seen with frequent words only */
        e.class_tag = row_of(x->class_first, x->class_tag, x->class_tag_count, cls);
        e.class_base = row_of(b->class_first, b->class_base, b->class_count, cls);
        e.least = rare ? 0.0 : USUAL * total(&e.class_base, 0.0);
        e.class = total(&e.class_base, e.least);
    }
    note_bases(&e, &e.word_base, 0.0);
    note_bases(&e, &e.class_base, e.least);
    return e;
}

/* p(t | w); 0 when w cannot be a t. */
static double tag_given_word(const trl_lexicon *x, evidence *e, uint32_t tag)
{
    const uint32_t base = x->bases->base_of[tag];
    const double of_word = any(&e->word_base, base);
    double of_class = any(&e->class_base, base), of_tag = ascending(&e->class_tag, tag);
    if (of_class < e->least)
        of_class = of_tag = 0.0;
    if (of_word + of_class == 0.0)
        return 0.0;
    double p_base = of_word / e->word, share = x->state_count[tag] / x->bases->total[base];
    double unseen = x->bases->unseen[base] / x->bases->total[base];
    if (e->class > 0.0) {
        p_base = (of_word + CLASS_TOKENS * of_class / e->class) / (e->word + CLASS_TOKENS);
        share = (of_tag + SHARE_TOKENS * share) / (of_class + SHARE_TOKENS);
        unseen = SHARE_TOKENS * unseen / (of_class + SHARE_TOKENS);
    }
    if (x->state_count[tag] < 1.0)
        return p_base * share;
    return p_base * ((1.0 - unseen) * ascending(&e->word_tag, tag) + VARIANT_TOKENS * share) /
           (of_word + VARIANT_TOKENS);
}

size_t trl_lexicon_tags(const trl_lexicon *x, const trl_grammar *g, uint32_t word, uint32_t cls,
                        uint32_t *tags, double *logp)
{
    evidence e = gather(x, g, word, cls);
    size_t n = 0;
    for (size_t i = 0; i < x->bases->n_tags; i++) {
        const uint32_t tag = x->bases->tag[i];
        const double p = possible(&e, x->bases->base_of[tag]) ? tag_given_word(x, &e, tag) : 0.0;
        if (p == 0.0)
            continue;
        tags[n] = tag;
        logp[n++] = log(p * (e.word > 0.0 ? e.word : 1.0) / x->state_count[tag]);
    }
    return n;
}
