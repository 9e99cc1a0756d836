/* expect_oracle.h -- expectations as sums over all sequences.
 *
 * The oracle expands the template on every sequence, as training does on data, and knows
 * nothing of windows.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_EXPECT_ORACLE_H
#define TRL_TEST_EXPECT_ORACLE_H

#include "tiny_q0.h"

typedef struct option { /* one value that a column can have */
    trl_str text;
    uint32_t value; /* of the HMM */
    double share;
} option;

typedef struct oracle {
    const tiny *t;
    const trl_hmm *h;
    size_t longest;
    option option[2][12];
    size_t n_options[2];
    double *sum[TRL_FAMILIES]; /* [names + 1][width]; the constant attribute has its own name */
    trl_str cell[64];
    uint32_t y[16];
    double p_seen; /* probability of all sequences visited */
    trl_buf name;
} oracle;

static inline void list_options(oracle *o)
{
    for (size_t c = 0; c < 2; c++) {
        const trl_strtab *values = &o->t->columns.values[c];
        size_t rare = 0;
        for (uint32_t v = 0; v < values->n; v++)
            rare += trl_hmm_value(o->h, c, trl_strtab_get(values, v)) == 0;
        for (uint32_t v = 0; v < values->n; v++) {
            const trl_str s = trl_strtab_get(values, v);
            const uint32_t value = trl_hmm_value(o->h, c, s);
            const bool oov = s.n == 5 && memcmp(s.p, "<OOV>", 5) == 0;
            if (o->t->columns.masked && value == 0 && !oov)
                continue; /* does not occur any more */
            const double share = value || o->t->columns.masked ? 1.0 : 1.0 / (double)(rare + 1);
            o->option[c][o->n_options[c]++] = (option){s, value, share};
        }
        if (!o->t->columns.masked) /* what nobody has seen */
            o->option[c][o->n_options[c]++] = (option){{"<OOV>", 5}, 0, 1.0 / (double)(rare + 1)};
        assert_true(o->n_options[c] <= 12);
    }
}

static inline void oracle_init(oracle *o, const tiny *t, const trl_hmm *h, size_t longest)
{
    *o = (oracle){.t = t, .h = h, .longest = longest};
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        o->sum[f] = calloc((t->corpus.family[f].names.n + 1) * (t->design.family[f].width + 1),
                           sizeof *o->sum[f]);
        assert_non_null(o->sum[f]);
    }
    list_options(o);
}

static inline void oracle_fini(oracle *o)
{
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        free(o->sum[f]);
    trl_buf_fini(&o->name);
}

static inline void add(oracle *o, size_t f, uint32_t name, size_t t, double p)
{
    const size_t L = o->h->L;
    size_t cell = 0;
    for (size_t k = t - f; k <= t; k++)
        cell = cell * L + o->y[k];
    o->sum[f][name * o->t->design.family[f].width + cell] += p;
}

/* The features of one sequence, with probability p. */
static inline void visit(oracle *o, const trl_rows *seq, double p)
{
    const trl_template *tpl = o->t->tpl;
    const size_t order = (size_t)o->t->design.order;
    for (size_t t = 0; t < seq->n_tokens; t++) {
        for (size_t k = 0; k < trl_template_count(tpl); k++) {
            o->name.len = 0;
            assert_true(trl_template_expand(tpl, k, seq, t, &o->name));
            for (size_t f = 0; f <= order && f <= t; f++) {
                const uint32_t id =
                    trl_strtab_find(&o->t->corpus.family[f].names, o->name.data, o->name.len);
                if ((trl_template_cliques(tpl, k) >> f & 1) && id != TRL_NO_ID &&
                    !(trl_template_is_constant(tpl, k) && f > 0))
                    add(o, f, id, t, p);
            }
        }
        for (size_t f = 1; f <= order && f <= t; f++)
            if (o->t->corpus.family[f].constant != TRL_NO_ID)
                add(o, f, o->t->corpus.family[f].constant, t, p);
    }
}

/* All continuations of the first n tokens, which have probability p. */
static inline void extend(oracle *o, size_t n, double p)
{
    const trl_hmm *h = o->h;
    const size_t L = h->L, columns = o->t->columns.n_columns;
    if (n > 0) {
        const double stop = trl_hmm_next(h, n >= 2 ? o->y[n - 2] : L, o->y[n - 1], L);
        const trl_rows seq = {.n_tokens = n, .n_columns = columns, .cell = o->cell};
        if (stop > 0.0)
            visit(o, &seq, p * stop);
        o->p_seen += p * stop;
    }
    for (uint32_t y = 0; n < o->longest && y < L; y++) {
        const double q =
            n == 0 ? h->start[y] : trl_hmm_next(h, n >= 2 ? o->y[n - 2] : L, o->y[n - 1], y);
        if (q == 0.0)
            continue;
        o->y[n] = y;
        for (size_t a = 0; a < o->n_options[0]; a++)
            for (size_t b = 0; b < o->n_options[1]; b++) {
                const option *w = &o->option[0][a], *v = &o->option[1][b];
                o->cell[n * columns] = w->text;
                o->cell[n * columns + 1] = v->text;
                o->cell[n * columns + 2] = (trl_str){"", 0};
                extend(o, n + 1,
                       p * q * w->share * h->column[0].p[w->value * L + y] * v->share *
                           h->column[1].p[v->value * L + y]);
            }
    }
}

/* ---- comparing ---------------------------------------------------------------------- */

/* got is within [want - low, want + high]. */
static inline void compare(double got, double want, double low, double high, const char *what)
{
    if (!(got >= want - low && got <= want + high)) {
        print_error("%s: %.17g is not %.17g\n", what, got, want);
        fail();
    }
}

/* Every weight of the design against the oracle; returns how many were not 0. */
static inline size_t check_all(const tiny *t, const oracle *o, const double *E, double low,
                               double high)
{
    size_t positive = 0;
    uint64_t live = 0;
    for (size_t k = 0; k <= (size_t)t->design.order; k++) {
        const trl_family *f = &t->design.family[k];
        for (size_t i = 0; i < f->n_constant; i++, live++) {
            const uint32_t name = t->corpus.family[k].constant;
            compare(E[f->constant_at + i], o->sum[k][name * f->width + f->constant_cell[i]], low,
                    high, "constant");
            positive += E[f->constant_at + i] > 0.0;
        }
        for (size_t a = 0; a < f->n_attrs; a++) {
            const double *want = o->sum[k] + f->name[a] * f->width;
            const trl_str s = trl_strtab_get(&t->corpus.family[k].names, f->name[a]);
            char what[64];
            snprintf(what, sizeof what, "%.*s", (int)s.n, s.p);
            for (size_t c = 0; a < f->n_dense && c < f->width; c++) {
                if (f->live && !(f->live[a * f->words + c / 64] >> (c % 64) & 1)) {
                    assert_true(E[trl_dense_at(f, a) + c] == 0.0);
                    continue;
                }
                compare(E[trl_dense_at(f, a) + c], want[c], low, high, what);
                positive += want[c] > 0.0;
                live++;
            }
            for (uint64_t e = a < f->n_dense ? 0 : f->entry_first[a - f->n_dense];
                 a >= f->n_dense && e < f->entry_first[a - f->n_dense + 1]; e++, live++) {
                compare(E[trl_entry_at(f, e)], want[f->entry_cell[e]], low, high, what);
                positive += want[f->entry_cell[e]] > 0.0;
            }
        }
    }
    assert_true(live == t->design.n_live);
    return positive;
}

#endif
