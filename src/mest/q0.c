/* q0.c -- base distributions: training, expectations, the cache of expectations. */
/* SPDX-License-Identifier: MIT */
#include "mest/q0.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"

#define KIND_CACHE "eq0"

static const char *const names[] = {[TRL_Q0_HMM] = "hmm", [TRL_Q0_LU] = "lu", [TRL_Q0_EMP] = "emp"};

bool trl_q0_find(const char *name, trl_q0_base *base)
{
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(name, names[k]) == 0) {
            *base = (trl_q0_base)k;
            return true;
        }
    return false;
}

const char *trl_q0_name(trl_q0_base base)
{
    return names[base];
}

trl_status trl_q0_train(trl_hmm *h, trl_q0_base base, int order, const trl_q0_data *data,
                        trl_error *err)
{
    const bool uniform = base == TRL_Q0_LU;
    const trl_hmm_options o = {.order = uniform ? 1 : order, .lambda = 1.0, .uniform = uniform};
    return trl_hmm_train(h, data->columns, data->label, data->L, &o, err);
}

/* ---- expectations ---------------------------------------------------------------------------- */

trl_sample_options trl_sample_options_default(void)
{
    return (trl_sample_options){.n = 100000, .lambda = 0.1, .seed = 1};
}

static trl_status expect_generated(const trl_hmm *h, const trl_expect_data *x,
                                   const trl_sample_options *sample, double *E, size_t *n_sampled,
                                   trl_error *err)
{
    const size_t lines = x->tpl ? trl_template_count(x->tpl) : 0;
    bool *left_over = trl_zalloc(lines, sizeof *left_over);
    if (!left_over)
        return trl_fail_mem(err);
    trl_status st = trl_expect_exact(x, h, E, left_over, err);
    for (size_t k = 0; k < lines; k++)
        *n_sampled += left_over[k];
    if (st == TRL_OK && *n_sampled)
        st = trl_expect_sampled(x, h, left_over, sample, E, err);
    trl_free(left_over);
    return st;
}

trl_status trl_q0_expect(const trl_q0_model *q0, const trl_expect_data *x,
                         const trl_sample_options *sample, double *E, size_t *n_sampled,
                         trl_error *err)
{
    size_t n = 0;
    uint32_t *value = NULL;
    memset(E, 0, trl_design_alloc(x->design) * sizeof *E);
    trl_status st = TRL_OK;
    if (q0->base == TRL_Q0_EMP) {
        st = trl_hmm_number(q0->h, x->columns, &value, err);
        if (st == TRL_OK)
            st = trl_expect_empirical(x, q0->h, value, E, err);
        trl_free(value);
    } else {
        st = expect_generated(q0->h, x, sample, E, &n, err);
    }
    if (n_sampled)
        *n_sampled = n;
    return st;
}

/* ---- cache ----------------------------------------------------------------------------------- */

static void mix(uint64_t *h, const void *bytes, size_t n)
{
    const uint64_t both[2] = {*h, trl_str_hash(n ? bytes : "", n)};
    *h = trl_str_hash((const char *)both, sizeof both);
}

/* Attributes, by name and in the order of their weights, and where they are on: all that is known
 * about items, which have no columns. */
static void mix_family(uint64_t *h, const trl_family *f, const trl_strtab *attrs, size_t n_tokens)
{
    const size_t rows = (size_t)f->dense_begin[n_tokens], n = (size_t)f->entry_begin[n_tokens];
    mix(h, attrs->pool, attrs->pool_len);
    mix(h, attrs->end, attrs->n * sizeof *attrs->end);
    mix(h, f->name, f->n_attrs * sizeof *f->name);
    mix(h, f->dense_begin, (n_tokens + 1) * sizeof *f->dense_begin);
    mix(h, f->dense_row, rows * sizeof *f->dense_row);
    mix(h, f->dense_value, f->dense_value ? rows * sizeof *f->dense_value : 0);
    mix(h, f->entry_begin, (n_tokens + 1) * sizeof *f->entry_begin);
    mix(h, f->entry, n * sizeof *f->entry);
    mix(h, f->entry_value, f->entry_value ? n * sizeof *f->entry_value : 0);
}

uint64_t trl_q0_fingerprint(trl_q0_base base, const trl_hmm *h, const trl_expect_data *x,
                            const trl_sample_options *sample)
{
    const trl_column_values *c = x->columns;
    const trl_design *d = x->design;
    uint64_t hash = 0;
    const uint64_t numbers[] = {(uint64_t)base,     (uint64_t)h->order, h->L,
                                h->n_columns,       c->n_columns,       c->masked,
                                (uint64_t)d->order, d->n_weights,       d->n_hot_weights,
                                d->n_live,          sample->n,          sample->seed};
    mix(&hash, numbers, sizeof numbers);
    mix(&hash, &sample->lambda, sizeof sample->lambda);
    if (x->tpl) {
        const trl_str text = trl_template_text(x->tpl);
        mix(&hash, text.p, text.n);
    }
    mix(&hash, c->id, c->n_tokens * c->n_columns * sizeof *c->id);
    mix(&hash, c->first, (c->n_sequences + 1) * sizeof *c->first);
    for (size_t k = 0; k < c->n_columns; k++) {
        mix(&hash, c->values[k].pool, c->values[k].pool_len);
        mix(&hash, c->values[k].end, c->values[k].n * sizeof *c->values[k].end);
    }
    mix(&hash, x->corpus->label, x->corpus->n_tokens * sizeof *x->corpus->label);
    mix(&hash, h->start, h->L * sizeof *h->start);
    mix(&hash, h->next, trl_hmm_contexts(h->L, h->order) * (h->L + 1) * sizeof *h->next);
    for (size_t k = 0; k < h->n_columns; k++)
        mix(&hash, h->column[k].p, h->column[k].n * h->L * sizeof *h->column[k].p);
    mix(&hash, x->corpus->weight, x->corpus->n_sequences * sizeof *x->corpus->weight);
    for (size_t f = 0; f <= (size_t)d->order; f++)
        mix_family(&hash, &d->family[f], &x->corpus->family[f].names, d->n_tokens);
    return hash;
}

trl_status trl_expect_write(const char *path, uint64_t fingerprint, const double *E, size_t n,
                            trl_error *err)
{
    const uint64_t key[2] = {fingerprint, n};
    trl_container_builder b = {0};
    trl_container_builder_add(&b, "key", key, sizeof key);
    trl_container_builder_add(&b, "expect", E, n * sizeof *E);
    const trl_status st = trl_container_write(&b, KIND_CACHE, path, err);
    trl_container_builder_fini(&b);
    return st;
}

trl_status trl_expect_read(const char *path, uint64_t fingerprint, double *E, size_t n, bool *found,
                           trl_error *err)
{
    struct stat info;
    *found = false;
    if (stat(path, &info) != 0 && errno == ENOENT)
        return TRL_OK;
    trl_container *c = NULL;
    const void *key = NULL, *expect = NULL;
    size_t n_key = 0, n_expect = 0;
    trl_status st = trl_container_open(path, KIND_CACHE, &c, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "key", sizeof(uint64_t), &key, &n_key, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "expect", sizeof *E, &expect, &n_expect, err);
    if (st == TRL_OK && n_key != 2)
        st = trl_container_damaged(c, err, "a key of a wrong size");
    if (st == TRL_OK) {
        const uint64_t *k = key;
        *found = k[0] == fingerprint && k[1] == n && n_expect == n;
        if (*found && n)
            memcpy(E, expect, n * sizeof *E);
        for (size_t i = 0; *found && i < n && st == TRL_OK; i++)
            if (!isfinite(E[i]))
                st = trl_container_damaged(c, err, "an expectation is not finite");
    }
    trl_container_free(c);
    return st;
}
