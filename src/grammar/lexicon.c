/* lexicon.c -- counting words and tags. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "grammar/lexicon_parts.h"

static const char any_class[] = "UNK-OTHER"; /* class 0 */

typedef struct building {
    trl_strtab seen; /* keys uint32_t[3]: word, class, state */
    double *count;
    size_t cap;
} building;

/* ---- begin and end --------------------------------------------------------------------------- */

static void free_building(trl_lexicon *x)
{
    building *b = x->building;
    if (!b)
        return;
    trl_strtab_fini(&b->seen);
    trl_free(b->count);
    trl_free(b);
    x->building = NULL;
}

void trl_lexicon_fini(trl_lexicon *x)
{
    free_building(x);
    trl_lexicon_free_bases(x->bases);
    trl_strtab_fini(&x->words);
    trl_strtab_fini(&x->classes);
    trl_free(x->word_count);
    trl_free(x->word_first);
    trl_free(x->word_tag);
    trl_free(x->word_tag_count);
    trl_free(x->class_first);
    trl_free(x->class_tag);
    trl_free(x->class_tag_count);
    trl_free(x->state_count);
    trl_free(x->state_rare);
    *x = (trl_lexicon){0};
}

trl_status trl_lexicon_init(trl_lexicon *x, uint32_t rare, trl_error *err)
{
    *x = (trl_lexicon){.rare = rare};
    x->building = trl_zalloc(1, sizeof(building));
    if (x->building && trl_strtab_add(&x->classes, any_class, sizeof any_class - 1) != TRL_NO_ID)
        return TRL_OK;
    trl_lexicon_fini(x);
    return trl_fail_mem(err);
}

/* ---- counting -------------------------------------------------------------------------------- */

static bool add_token(trl_lexicon *x, trl_str word, size_t at, uint32_t state)
{
    building *b = x->building;
    char class[64];
    trl_word_class(word, at, class);
    const uint32_t key[3] = {trl_strtab_add(&x->words, word.p, word.n),
                             trl_strtab_add(&x->classes, class, strlen(class)), state};
    if (key[0] == TRL_NO_ID || key[1] == TRL_NO_ID)
        return false;
    const size_t n = b->seen.n;
    double *count = trl_reserve(b->count, &b->cap, n + 1, sizeof *count);
    if (!count)
        return false;
    b->count = count;
    const uint32_t id = trl_strtab_add(&b->seen, (const char *)key, sizeof key);
    if (id == TRL_NO_ID)
        return false;
    count[id] = id == n ? 1.0 : count[id] + 1.0;
    return true;
}

trl_status trl_lexicon_add(trl_lexicon *x, const trl_btree *t, const trl_str *word, trl_error *err)
{
    for (size_t v = 0; v < t->n; v++) {
        const trl_bnode *b = &t->node[v];
        if (b->left == TRL_NO_NODE && !add_token(x, word[b->from], b->from, b->state))
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int by_row_column(const void *p, const void *q)
{
    const trl_row_entry *a = p, *b = q;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->column < b->column ? -1 : a->column > b->column;
}

bool trl_make_rows(trl_row_entry *entry, size_t n, size_t n_rows, uint32_t **first,
                   uint32_t **column, double **count)
{
    size_t kept = 0;
    qsort(entry, n, sizeof *entry, by_row_column);
    for (size_t i = 0; i < n; i++) {
        if (kept && by_row_column(&entry[kept - 1], &entry[i]) == 0)
            entry[kept - 1].count += entry[i].count;
        else
            entry[kept++] = entry[i];
    }
    uint32_t *f = trl_zalloc(n_rows + 1, sizeof *f);
    uint32_t *col = trl_alloc(kept, sizeof *col);
    double *c = trl_alloc(kept, sizeof *c);
    if (!f || !col || !c) {
        trl_free(f);
        trl_free(col);
        trl_free(c);
        return false;
    }
    for (size_t i = 0; i < kept; i++) {
        f[entry[i].row + 1]++;
        col[i] = entry[i].column;
        c[i] = entry[i].count;
    }
    for (size_t r = 0; r < n_rows; r++)
        f[r + 1] += f[r];
    *first = f;
    *column = col;
    *count = c;
    return true;
}

/* ---- freezing -------------------------------------------------------------------------------- */

typedef struct seen {
    uint32_t word, class, state;
} seen;

static seen seen_at(const building *b, size_t i)
{
    seen s;
    memcpy(&s, trl_strtab_get(&b->seen, (uint32_t)i).p, sizeof s);
    return s;
}

/* The most occurrences of words that class counts are made of. */
static double rare_limit(const trl_lexicon *x)
{
    const uint32_t limit = x->rare ? x->rare : 1;
    for (size_t w = 0; w < x->words.n; w++)
        if (x->word_count[w] <= limit)
            return limit;
    return (double)UINT32_MAX;
}

static bool count_states(trl_lexicon *x, const trl_grammar *g)
{
    const building *b = x->building;
    x->n_states = g->n_states;
    x->word_count = trl_zalloc(x->words.n, sizeof *x->word_count);
    x->state_count = trl_zalloc(x->n_states, sizeof *x->state_count);
    x->state_rare = trl_zalloc(x->n_states, sizeof *x->state_rare);
    if (!x->word_count || !x->state_count || !x->state_rare)
        return false;
    for (size_t i = 0; i < b->seen.n; i++) {
        const seen s = seen_at(b, i);
        x->word_count[s.word] += (uint32_t)b->count[i];
        x->state_count[s.state] += b->count[i];
        x->n_tokens += b->count[i];
    }
    for (size_t s = 0; s < g->n_states; s++)
        if (g->state[s].type == TRL_STATE_TAG && x->state_count[s] == 0.0)
            x->state_count[s] = TRL_LEXICON_UNSEEN;
    const double limit = rare_limit(x);
    for (size_t i = 0; i < b->seen.n; i++) {
        const seen s = seen_at(b, i);
        if (x->word_count[s.word] <= limit)
            x->state_rare[s.state] += b->count[i];
    }
    return true;
}

static bool make_rows(trl_lexicon *x)
{
    const building *b = x->building;
    const double limit = rare_limit(x);
    trl_row_entry *entry = trl_alloc(b->seen.n, 2 * sizeof *entry);
    if (!entry)
        return false;
    for (size_t i = 0; i < b->seen.n; i++)
        entry[i] = (trl_row_entry){seen_at(b, i).word, seen_at(b, i).state, b->count[i]};
    bool ok = trl_make_rows(entry, b->seen.n, x->words.n, &x->word_first, &x->word_tag,
                            &x->word_tag_count);
    size_t n = 0;
    for (size_t i = 0; ok && i < b->seen.n; i++) {
        const seen s = seen_at(b, i);
        if (x->word_count[s.word] > limit)
            continue;
        entry[n++] = (trl_row_entry){s.class, s.state, b->count[i]};
        entry[n++] = (trl_row_entry){0, s.state, b->count[i]};
    }
    ok = ok &&
         trl_make_rows(entry, n, x->classes.n, &x->class_first, &x->class_tag, &x->class_tag_count);
    trl_free(entry);
    return ok;
}

trl_status trl_lexicon_finish(trl_lexicon *x, const trl_grammar *g, trl_error *err)
{
    if (x->words.n == 0)
        return trl_fail(err, TRL_EINVAL, "a lexicon needs at least one word");
    if (!count_states(x, g) || !make_rows(x))
        return trl_fail_mem(err);
    free_building(x);
    return trl_lexicon_make_bases(x, g, err);
}

/* ---- looking up ------------------------------------------------------------------------------ */

uint32_t trl_lexicon_word(const trl_lexicon *x, trl_str word)
{
    return trl_strtab_find(&x->words, word.p, word.n);
}

uint32_t trl_lexicon_class(const trl_lexicon *x, trl_str word, size_t at)
{
    char name[64];
    trl_word_class(word, at, name);
    const uint32_t id = trl_strtab_find(&x->classes, name, strlen(name));
    return id == TRL_NO_ID ? 0 : id;
}
