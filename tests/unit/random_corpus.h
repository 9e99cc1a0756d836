/* random_corpus.h -- random corpora, and the feature matrix written out the slow way: the
 * oracle of test_design, test_gradient and test_optimizers.
 *
 * The oracle keeps its own copy of who is on where, decides by itself which cells are
 * features, and takes from the design only where a feature's weight lies.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_RANDOM_CORPUS_H
#define TRL_TEST_RANDOM_CORPUS_H

#include "base/mem.h"
#include "base/rng.h"
#include "feature/design.h"

typedef struct corpus_shape {
    size_t sequences, max_tokens, L;
    size_t attrs[TRL_FAMILIES];     /* different attributes; low numbers are frequent */
    size_t per_token[TRL_FAMILIES]; /* occurrences a token, at most */
    bool constant[TRL_FAMILIES];    /* families 1 and 2 */
    bool values, weights;
    bool zeros;       /* values are 0 now and then, and else 1 unless there are `values` */
    bool implied;     /* family 0: some kinds of attributes follow from others (implied_rows.h) */
    bool few;         /* with implied: of the labels a token has one of two, by what implies */
    size_t new_names; /* numbers from here on get other names: a held-out corpus */
} corpus_shape;

/* Low numbers far more often than high ones. */
static inline size_t skewed(trl_rng *rng, size_t n)
{
    const double u = trl_rng_unit(rng);
    return (size_t)(u * u * u * u * (double)n);
}

static inline void add_attr(trl_rng *rng, const corpus_shape *h, trl_occurrences *o,
                            const char *name)
{
    o->id = trl_reserve(o->id, &o->cap, o->n + 1, sizeof *o->id);
    assert_non_null(o->id);
    o->id[o->n] = trl_strtab_add(&o->names, name, strlen(name));
    assert_true(o->id[o->n] != TRL_NO_ID);
    if (h->values || h->zeros) {
        const double value = h->values ? 4.0 * trl_rng_unit(rng) - 2.0 : 1.0;
        const bool zero = h->zeros && trl_rng_below(rng, 3) == 0;
        assert_true(trl_value_list_add(&o->values, o->n, zero ? 0.0 : value));
    }
    o->n++;
}

/* One number in ever coarser forms, as words, tags and word classes are; the middle one is
 * left out now and then, and another kind depends on nothing. */
static inline size_t add_implied(trl_rng *rng, const corpus_shape *h, trl_occurrences *o)
{
    const size_t x = trl_rng_below(rng, 8);
    char name[32];
    for (size_t k = 0; k < 5; k++) {
        snprintf(name, sizeof name, "s%zu%c%zu", k, k % 2 ? ':' : '=',
                 k == 4 ? skewed(rng, 4) : x >> k);
        if (k != 2 || trl_rng_below(rng, 3))
            add_attr(rng, h, o, name);
    }
    return x;
}

static inline void random_token(trl_rng *rng, const corpus_shape *h, size_t t, trl_corpus *c)
{
    size_t x = 0;
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        trl_occurrences *o = &c->family[f];
        const size_t n = t >= f && h->attrs[f] ? trl_rng_below(rng, h->per_token[f] + 1) : 0;
        for (size_t k = 0; k < n; k++) {
            char name[32];
            const size_t a = skewed(rng, h->attrs[f]);
            const bool fresh = h->new_names && a >= h->new_names;
            snprintf(name, sizeof name, "%s%zu", fresh ? "new" : "a", a);
            add_attr(rng, h, o, name);
        }
        if (f == TRL_NODE && h->implied)
            x = add_implied(rng, h, o);
        o->begin = trl_reserve(o->begin, &o->begin_cap, c->n_tokens + 2, sizeof *o->begin);
        assert_non_null(o->begin);
        o->begin[c->n_tokens + 1] = o->n;
    }
    c->label = trl_reserve(c->label, &c->label_cap, c->n_tokens + 1, sizeof *c->label);
    assert_non_null(c->label);
    c->label[c->n_tokens++] =
        (uint32_t)(h->few ? (5 * x + trl_rng_below(rng, 2)) % h->L : skewed(rng, h->L));
}

static inline void random_corpus(trl_rng *rng, const corpus_shape *h, trl_corpus *c)
{
    trl_error err;
    assert_ok(trl_corpus_init(c, &err));
    for (size_t y = 0; y < h->L; y++) {
        char name[16];
        const int n = snprintf(name, sizeof name, "L%zu", y);
        assert_int_equal(trl_strtab_add(&c->labels, name, (size_t)n), y);
    }
    for (size_t f = 1; f < TRL_FAMILIES; f++)
        if (h->constant[f])
            assert_ok(trl_corpus_set_constant(c, f, &err));
    c->first = trl_reserve(c->first, &c->first_cap, h->sequences + 1, sizeof *c->first);
    c->weight = trl_reserve(c->weight, &c->weight_cap, h->sequences, sizeof *c->weight);
    assert_true(c->first && c->weight);
    for (size_t s = 0; s < h->sequences; s++) {
        const size_t n = 1 + trl_rng_below(rng, h->max_tokens);
        for (size_t t = 0; t < n; t++)
            random_token(rng, h, t, c);
        c->weight[s] = h->weights ? 0.25 * (double)trl_rng_below(rng, 9) : 1.0;
        c->first[++c->n_sequences] = c->n_tokens;
    }
}

/* ---- the oracle ------------------------------------------------------------------------ */

typedef struct naive_family {
    uint64_t *begin;
    uint32_t *id;
    double *value;
    size_t n, n_names, width;
    uint32_t constant;
    bool *live; /* [n_names][width] */
} naive_family;

typedef struct naive {
    size_t n_tokens, L;
    int order;
    uint32_t *position; /* [n_tokens] in its sequence */
    naive_family family[TRL_FAMILIES];
} naive;

static inline size_t naive_cell(const trl_corpus *c, size_t f, size_t token)
{
    size_t cell = 0;
    for (size_t k = f + 1; k-- > 0;)
        cell = cell * c->labels.n + c->label[token - k];
    return cell;
}

/* The sum of the values, weighted by sequence, that attribute a has where its cell is gold. */
static inline double naive_frequency(const naive_family *n, size_t f, const naive *all,
                                     const trl_corpus *c, size_t a, size_t cell)
{
    double sum = 0.0;
    for (size_t s = 0; s < c->n_sequences; s++)
        for (uint64_t t = c->first[s]; t < c->first[s + 1]; t++) {
            if (all->position[t] < f || naive_cell(c, f, t) != cell)
                continue;
            for (uint64_t i = n->begin[t]; i < n->begin[t + 1]; i++)
                sum += n->id[i] == a ? c->weight[s] * n->value[i] : 0.0;
            sum += a == n->constant ? c->weight[s] : 0.0;
        }
    return sum;
}

static inline void naive_live(naive_family *n, size_t f, const naive *all, const trl_corpus *c,
                              const trl_design_options *o)
{
    size_t *count = calloc(n->n_names + 1, sizeof *count);
    n->live = calloc(n->n_names * n->width + 1, sizeof *n->live);
    assert_true(count && n->live);
    for (size_t t = 0; t < c->n_tokens; t++) {
        for (uint64_t i = n->begin[t]; i < n->begin[t + 1]; i++) {
            count[n->id[i]]++;
            n->live[n->id[i] * n->width + naive_cell(c, f, t)] = true;
        }
        if (n->constant != TRL_NO_ID && all->position[t] >= f)
            n->live[n->constant * n->width + naive_cell(c, f, t)] = true;
    }
    for (size_t a = 0; a < n->n_names; a++)
        for (size_t k = 0; k < n->width; k++) {
            bool *live = &n->live[a * n->width + k];
            const bool often = a == n->constant || count[a] >= o->min_count;
            if (o->min_freq > 0.0)
                *live = *live && often && naive_frequency(n, f, all, c, a, k) >= o->min_freq;
            else if (a == n->constant)
                *live = *live || o->all_transitions;
            else
                *live = count[a] >= (o->min_count ? o->min_count : 1) && (*live || o->all_pairs);
        }
    free(count);
}

/* Before the design is built: that frees the corpus' lists. */
static inline void naive_init(naive *all, const trl_corpus *c, const trl_design_options *o)
{
    *all = (naive){.n_tokens = c->n_tokens, .L = c->labels.n, .order = o->order};
    all->position = malloc((c->n_tokens + 1) * sizeof *all->position);
    assert_non_null(all->position);
    for (size_t s = 0; s < c->n_sequences; s++)
        for (uint64_t t = c->first[s]; t < c->first[s + 1]; t++)
            all->position[t] = (uint32_t)(t - c->first[s]);
    size_t width = c->labels.n;
    for (size_t f = 0; f <= (size_t)o->order; f++, width *= c->labels.n) {
        const trl_occurrences *from = &c->family[f];
        naive_family *n = &all->family[f];
        *n = (naive_family){
            .n = from->n, .n_names = from->names.n, .width = width, .constant = from->constant};
        n->begin = malloc((c->n_tokens + 1) * sizeof *n->begin);
        n->id = malloc((from->n + 1) * sizeof *n->id);
        n->value = malloc((from->n + 1) * sizeof *n->value);
        assert_true(n->begin && n->id && n->value);
        memcpy(n->begin, from->begin, (c->n_tokens + 1) * sizeof *n->begin);
        for (size_t i = 0; i < from->n; i++) {
            n->id[i] = from->id[i];
            n->value[i] = trl_value_list_at(&from->values, i);
        }
        naive_live(n, f, all, c, o);
    }
}

static inline void naive_fini(naive *all)
{
    free(all->position);
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        free(all->family[f].begin);
        free(all->family[f].id);
        free(all->family[f].value);
        free(all->family[f].live);
    }
}

/* Where the design keeps the weight of (attribute, cell); UINT64_MAX when it is not a feature. */
static inline uint64_t weight_of(const trl_design *d, const naive *all, size_t f, uint32_t a,
                                 size_t cell)
{
    const trl_family *p = &d->family[f];
    if (!all->family[f].live[a * all->family[f].width + cell])
        return UINT64_MAX;
    if (a == all->family[f].constant) {
        for (size_t i = 0; i < p->n_constant; i++)
            if (p->constant_cell[i] == cell)
                return p->constant_at + i;
        fail_msg("a cell of the constant attribute has no weight");
    }
    size_t k = 0;
    while (k < p->n_attrs && p->name[k] != a)
        k++;
    assert_true(k < p->n_attrs);
    if (k < p->n_dense)
        return trl_dense_at(p, k) + cell;
    for (uint64_t e = p->entry_first[k - p->n_dense]; e < p->entry_first[k - p->n_dense + 1]; e++)
        if (p->entry_cell[e] == cell)
            return trl_entry_at(p, e);
    fail_msg("a feature has no weight");
    return UINT64_MAX;
}

/* All weights by (family, attribute, cell): map[f][a * width + cell]. */
static inline void naive_map(const trl_design *d, const naive *all, uint64_t *map[TRL_FAMILIES])
{
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        const naive_family *n = &all->family[f];
        map[f] =
            f <= (size_t)all->order ? malloc((n->n_names * n->width + 1) * sizeof **map) : NULL;
        for (size_t i = 0; map[f] && i < n->n_names * n->width; i++)
            map[f][i] = weight_of(d, all, f, (uint32_t)(i / n->width), i % n->width);
    }
}

#endif
