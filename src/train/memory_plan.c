/* memory_plan.c -- sizes of what a run allocates. */
/* SPDX-License-Identifier: MIT */
#include "train/memory_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/gradient.h"
#include "train/stored_adjoints.h"

/* ---- the design ------------------------------------------------------------------------------ */

/* Rows and entries of the tokens, and where they begin. */
static uint64_t token_lists(const trl_family *f, size_t n_tokens)
{
    if (!f->dense_begin)
        return 0;
    const uint64_t rows = f->dense_begin[n_tokens];
    const uint64_t entries = f->entry_begin ? f->entry_begin[n_tokens] : 0;
    const uint64_t sparse = f->sparse_begin ? f->sparse_begin[n_tokens] * sizeof *f->sparse +
                                                  ((uint64_t)n_tokens + 1) * sizeof *f->sparse_begin
                                            : 0;
    return sparse + rows * sizeof *f->dense_row + entries * sizeof *f->entry +
           (f->dense_value ? rows * sizeof *f->dense_value : 0) +
           (f->entry_value ? entries * sizeof *f->entry_value : 0) +
           2 * ((uint64_t)n_tokens + 1) * sizeof *f->dense_begin;
}

static uint64_t attribute_lists(const trl_family *f)
{
    uint64_t bytes = f->n_attrs * sizeof *f->name;
    if (f->entry_first) {
        const size_t sparse = f->n_attrs - f->n_dense;
        bytes +=
            (sparse + 1) * sizeof *f->entry_first + f->entry_first[sparse] * sizeof *f->entry_cell;
    }
    if (f->live)
        bytes += f->n_dense * f->words * sizeof *f->live;
    if (f->token_begin) {
        const uint64_t tokens = f->token_begin[f->n_cold];
        bytes += (f->n_cold + 1) * sizeof *f->token_begin + tokens * sizeof *f->token +
                 (f->token_high ? tokens : 0) +
                 (f->token_value ? tokens * sizeof *f->token_value : 0);
    }
    return bytes;
}

static uint64_t name_bytes(const trl_strtab *t)
{
    return t->pool_cap + t->cap * sizeof *t->end + t->n_slots * (sizeof *t->slot + sizeof *t->tag);
}

/* ---- what training adds ---------------------------------------------------------------------- */

/* Lists once more, where rows imply others, with entries packed into 4 bytes, and the adjoints of
 * tokens with cold attributes (gradient.c). */
static uint64_t of_gradient(const trl_design *d)
{
    const trl_family *f = &d->family[TRL_NODE];
    const uint64_t cold = f->n_cold ? f->token_begin[f->n_cold] : 0;
    const uint64_t adjoints = (cold < d->n_tokens ? cold : d->n_tokens) * f->step * sizeof(float);
    const uint64_t entries = f->entry_begin ? f->entry_begin[d->n_tokens] : 0;
    return token_lists(f, d->n_tokens) - entries * (sizeof *f->entry - sizeof(uint32_t)) + adjoints;
}

/* Adjoints that are kept from pass to pass (stored_adjoints.c), as optimisers over single examples
 * with a dual or an average do. */
static uint64_t of_examples(const trl_design *d)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < d->n_families; k++) {
        const trl_family *f = &d->family[k];
        bytes += (f->has_rows ? d->n_tokens * f->step : 0) * sizeof(float);
        if (!trl_shared_is_row(d, k))
            bytes += d->n_sequences * f->n_constant * sizeof(float);
    }
    return bytes;
}

static uint64_t lanes(const trl_design *d)
{
    const uint64_t bytes = (d->n_hot_weights + 64) * sizeof(double);
    const uint64_t fit = ((uint64_t)1 << 28) / bytes;
    return (fit < 1 ? 1 : fit > TRL_LANES_MAX ? TRL_LANES_MAX : fit) * bytes;
}

#define OTHER_VECTORS 6 /* of L-BFGS: points, gradients, the direction */
#define FEW_VECTORS 4   /* of optimisers over single examples */

/* Whether it has the gradient of the whole corpus, if only in its second half. */
static bool is_whole(const trl_optimizer *o)
{
    const trl_optimizer *last = o->then ? trl_optimizer_find(o->then) : o;
    return last->whole_corpus || last->way == TRL_BY_WHOLE;
}

trl_memory_plan trl_memory_plan_of(const trl_design *d, const trl_corpus *c,
                                   const trl_optimizer *optimizer, const trl_train_options *o)
{
    trl_memory_plan p = {0};
    const uint64_t vector = d->n_weights * sizeof(double);
    for (size_t k = 0; k < d->n_families; k++) {
        p.lists += token_lists(&d->family[k], d->n_tokens) + attribute_lists(&d->family[k]);
        p.names += name_bytes(&c->family[k].names);
    }
    p.lists += d->n_dead * sizeof *d->dead + d->n_tokens * sizeof *c->label +
               d->n_sequences * (sizeof *c->first + sizeof *c->weight);
    p.weights = vector;
    if (optimizer && is_whole(optimizer)) {
        p.copies = of_gradient(d);
        p.weights = vector * (2 * o->memory + OTHER_VECTORS) + lanes(d);
    } else if (optimizer) {
        p.copies = optimizer->keeps_examples ? of_examples(d) : 0;
        p.weights = vector * FEW_VECTORS;
    }
    return p;
}

/* ---- words ----------------------------------------------------------------------------------- */

void trl_size_text(uint64_t bytes, char out[24])
{
    const double x = (double)bytes;
    if (x < 1e6)
        snprintf(out, 24, "less than 1 MB");
    else if (x < 9.95e6)
        snprintf(out, 24, "%.1f MB", x / 1e6);
    else if (x < 9.995e8)
        snprintf(out, 24, "%.0f MB", x / 1e6);
    else
        snprintf(out, 24, "%.2f GB", x / 1e9);
}

void trl_memory_plan_say(const trl_memory_plan *p, uint64_t in_files, char *text, size_t size)
{
    char all[24], data[24], weights[24], names[24], files[24];
    const uint64_t total = trl_memory_plan_total(p);
    trl_size_text(total > in_files ? total - in_files : 0, all);
    trl_size_text(p->lists + p->copies, data);
    trl_size_text(p->weights, weights);
    trl_size_text(p->names, names);
    trl_size_text(in_files, files);
    if (total < 1000000) {
        snprintf(text, size, "memory: %s", all);
        return;
    }
    const int n = snprintf(text, size, "memory: about %s: data %s, weights %s, names %s", all, data,
                           weights, names);
    if (in_files && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, "; %s of the data are in temporary files", files);
}

bool trl_size_read(const char *text, uint64_t *bytes)
{
    static const char units[] = "kMGT";
    char *end;
    if (strspn(text, "0123456789.") == 0)
        return false;
    double x = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        x *= 1e3;
    end += unit != NULL;
    end += unit && *end == 'B';
    if (*end || !(x >= 1.0) || x > 1e18)
        return false;
    *bytes = (uint64_t)x;
    return true;
}
