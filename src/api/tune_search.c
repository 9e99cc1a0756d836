/* tune_search.c -- the settings of a search, and one run of each. */
/* SPDX-License-Identifier: MIT */
#include "api/tune_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/objectives.h"
#include "train/optimizers.h"

/* ---- the settings ---------------------------------------------------------------------------- */

static int ascending(const void *va, const void *vb)
{
    const double a = *(const double *)va, b = *(const double *)vb;
    return (a > b) - (a < b);
}

/* The lists, sorted where they are numbers. */
typedef struct lists {
    double *c, *c1;
    size_t n_c, n_c1;
} lists;

static bool lists_init(lists *x, const trl_tune_search *s)
{
    const trl_tune_options *o = &s->o;
    x->n_c = o->grid ? o->n_grid : TRL_TUNE_DEFAULT;
    x->n_c1 = o->c1 ? o->n_c1 : 1;
    x->c = trl_alloc(x->n_c, sizeof *x->c);
    x->c1 = trl_alloc(x->n_c1, sizeof *x->c1);
    if (!x->c || !x->c1)
        return false;
    if (o->grid)
        memcpy(x->c, o->grid, x->n_c * sizeof *x->c);
    else
        trl_tune_default_grid(x->c);
    if (o->c1)
        memcpy(x->c1, o->c1, x->n_c1 * sizeof *x->c1);
    else
        x->c1[0] = s->train.c1;
    qsort(x->c, x->n_c, sizeof *x->c, ascending);
    qsort(x->c1, x->n_c1, sizeof *x->c1, ascending);
    return true;
}

static void lists_fini(lists *x)
{
    trl_free(x->c);
    trl_free(x->c1);
}

/* Setting number k of the product; c changes fastest, variants change most slowly. */
static void set_trial(const trl_tune_search *s, const lists *x, size_t k, trl_tune_trial *t)
{
    const trl_tune_options *o = &s->o;
    trl_tune_run *r = &t->run;
    const size_t variant = k / (s->n / (o->variants ? o->n_variants : 1));
    const trl_train_options *train = t->variant = o->variants ? &s->variant[variant] : &s->train;
    r->variant = o->variants ? o->variants[variant] : NULL;
    k %= s->n / (o->variants ? o->n_variants : 1);
    t->first = k % x->n_c == 0;
    r->c = x->c[k % x->n_c];
    r->c2 = isinf(r->c) ? 0.0 : 0.5 / r->c;
    r->c1 = x->c1[(k /= x->n_c) % x->n_c1];
    k /= x->n_c1;
    r->passes = o->passes ? o->passes[k % o->n_passes] : train->max_iter;
    k /= o->passes ? o->n_passes : 1;
    r->objective = o->objectives ? o->objectives[k % o->n_objectives] : train->objective;
    k /= o->objectives ? o->n_objectives : 1;
    t->tpl = o->templates ? &o->templates[k] : NULL;
    r->template_name = t->tpl ? t->tpl->name : train->template_name;
}

/* Options "NAME=VALUE NAME ..." in `text`, which they borrow and which is cut into pieces. */
static trl_status set_options(char *text, trl_train_options *o, trl_error *err)
{
    for (char *at = text; *at;) {
        const size_t n = strcspn(at, " \t");
        char *const next = at[n] ? at + n + 1 : at + n;
        at[n] = '\0';
        char *const value = strchr(at, '=');
        if (value)
            *value = '\0';
        if (n && (strcmp(at, "c2") == 0 || strcmp(at, "kind") == 0))
            return trl_fail(err, TRL_EINVAL, "'%s' cannot be part of a variant", at);
        const trl_status st =
            n ? trl_train_options_set(o, at, value ? value + 1 : "true", err) : TRL_OK;
        if (st != TRL_OK)
            return st;
        at = next;
    }
    return TRL_OK;
}

static trl_status make_variants(trl_tune_search *s, trl_error *err)
{
    const size_t n = s->o.variants ? s->o.n_variants : 0;
    if (n == 0)
        return TRL_OK;
    s->variant = trl_zalloc(n, sizeof *s->variant);
    s->text = trl_zalloc(n, sizeof *s->text);
    trl_status st = s->variant && s->text ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        s->variant[k] = s->train;
        s->text[k] = trl_strndup(s->o.variants[k], strlen(s->o.variants[k]));
        st = s->text[k] ? set_options(s->text[k], &s->variant[k], err) : trl_fail_mem(err);
    }
    return st;
}

trl_status trl_tune_search_init(trl_tune_search *s, trl_error *err)
{
    lists x = {0};
    s->n = trl_tune_settings(&s->o);
    const trl_status made = make_variants(s, err);
    if (made != TRL_OK)
        return made;
    s->splits = s->folds.k ? (size_t)s->folds.k : 1;
    s->trial = trl_zalloc(s->n, sizeof *s->trial);
    s->held = trl_alloc(s->folds.n + 1, 1);
    bool ok = s->trial && s->held && lists_init(&x, s);
    for (size_t k = 0; ok && k < s->n; k++) {
        set_trial(s, &x, k, &s->trial[k]);
        s->trial[k].model = trl_zalloc(s->splits, sizeof *s->trial[k].model);
        ok = s->trial[k].model != NULL;
    }
    lists_fini(&x);
    return ok ? TRL_OK : trl_fail_mem(err);
}

void trl_tune_trial_forget(const trl_tune_search *s, trl_tune_trial *t)
{
    for (size_t f = 0; t->model && f < s->splits; f++)
        trl_buf_fini(&t->model[f]);
}

void trl_tune_search_fini(trl_tune_search *s)
{
    for (size_t k = 0; s->trial && k < s->n; k++) {
        trl_tune_trial_forget(s, &s->trial[k]);
        trl_free(s->trial[k].model);
    }
    for (size_t k = 0; s->text && k < s->o.n_variants; k++)
        trl_free(s->text[k]);
    trl_free(s->text);
    trl_free(s->variant);
    trl_free(s->trial);
    trl_free(s->held);
    trl_folds_fini(&s->folds);
}

trl_train_options trl_tune_search_options(const trl_tune_search *s, const trl_tune_trial *t)
{
    trl_train_options o = *t->variant;
    (void)s;
    o.dev = o.model = o.rescue = NULL;
    o.c1 = t->run.c1;
    o.c2 = t->run.c2;
    o.objective = t->run.objective;
    o.max_iter = t->run.passes;
    if (t->tpl) {
        o.template_name = t->tpl->name;
        o.template_text = t->tpl->text;
        o.template_size = t->tpl->size;
    }
    return o;
}

bool trl_tune_search_is_warm(const trl_tune_search *s, const trl_tune_trial *t)
{
    const char *optimizer = t->variant->optimizer;
    const trl_optimizer *p = optimizer ? trl_optimizer_find(optimizer) : NULL;
    const trl_objective *x = trl_objective_find(t->run.objective);
    return !s->o.cold && (!p || p->starts) && !(x && x->counted) &&
           strcmp(s->train.kind, "tree") != 0;
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* What the answers of one split, and of all, are worth. */
typedef struct scored {
    trl_held_counts one, all;
} scored;

static trl_status count(void *ctx, const trl_held_answer *a, trl_error *err)
{
    scored *x = ctx;
    const trl_status st = trl_held_counts_add(&x->one, a, err);
    return st == TRL_OK ? trl_held_counts_add(&x->all, a, err) : st;
}

/* What split f holds out. */
static trl_held_data held_data(const trl_tune_search *s)
{
    const trl_train_options *o = &s->train;
    if (s->folds.k)
        return (trl_held_data){.paths = o->train,
                               .n_paths = o->n_train,
                               .format = o->format,
                               .which = s->held,
                               .n_which = s->folds.n};
    if (o->dev)
        return (trl_held_data){.paths = &o->dev, .n_paths = 1, .format = o->format, .every = 1};
    return (trl_held_data){
        .paths = o->train, .n_paths = o->n_train, .format = o->format, .every = s->o.hold_out};
}

static trl_status score(const trl_tune_search *s, const trl_train_options *o, const trl_buf *model,
                        scored *x, trl_error *err)
{
    const trl_held_data data = held_data(s);
    trl_model *m = NULL;
    trl_status st = trl_model_from_memory(model->data, model->len, &m, err);
    if (st == TRL_OK)
        st = trl_held_counts_init(&x->one, o, err);
    if (st == TRL_OK)
        st = trl_held_out_run(o, m, &data, count, x, err);
    trl_model_free(m);
    return st;
}

/* By the name of a measure; what chunks are worth where labels are none is what they are worth. */
static double chosen(const trl_tune_search *s, const trl_held_counts *c)
{
    const trl_held_measures m = trl_held_counts_measures(c);
    const trl_score_totals t = trl_held_counts_totals(c);
    if (c->trees) /* precision, recall, f1, exact, tags */
        return s->o.measure == TRL_TUNE_PRECISION  ? m.value[0]
               : s->o.measure == TRL_TUNE_RECALL   ? m.value[1]
               : s->o.measure == TRL_TUNE_ACCURACY ? m.value[4]
                                                   : m.value[2];
    switch (s->o.measure) {
    case TRL_TUNE_GUESS:
        return trl_held_counts_chunks(c) ? t.f1 : t.accuracy;
    case TRL_TUNE_F1:
        return t.f1;
    case TRL_TUNE_PRECISION:
        return t.precision;
    case TRL_TUNE_RECALL:
        return t.recall;
    case TRL_TUNE_ACCURACY:
        break;
    }
    return t.accuracy;
}

/* Trains split f into t->model[f]. */
static trl_status train(trl_tune_search *s, trl_tune_trial *t, const trl_buf *before, size_t f,
                        const trl_train_options *how, trl_error *err)
{
    trl_train_options o = *how;
    trl_buf model = {0};
    trl_model *start = NULL;
    trl_status st = TRL_OK;
    if (before && before->len) {
        st = trl_model_from_memory(before->data, before->len, &start, err);
        o.init = NULL;
        o.init_model = start;
    }
    for (size_t k = 0; k < s->folds.n; k++)
        s->held[k] = s->folds.fold[k] == f;
    o.leave_out = s->folds.k ? s->held : NULL;
    o.n_leave_out = s->folds.n;
    o.hold_out = s->folds.k || s->train.dev ? 0 : s->o.hold_out;
    o.model_out = &model;
    if (st == TRL_OK)
        st = trl_train(&o, &t->run.result, err);
    trl_model_free(start);
    trl_buf_fini(&t->model[f]);
    t->model[f] = model;
    return st;
}

/* Mean and deviation of the measures and of the score over splits. */
static void summarise(const trl_tune_search *s, trl_tune_run *r, const trl_held_counts *all,
                      const double *value, const double *score_of)
{
    const trl_held_measures m = trl_held_counts_measures(all);
    trl_spread(score_of, s->splits, 1, &r->score, &r->deviation);
    r->held_out = trl_held_counts_totals(all);
    r->chunks = all->trees ? false : trl_held_counts_chunks(all);
    r->n_measures = m.n;
    for (size_t k = 0; k < m.n; k++) {
        trl_cv_measure *to = &r->measure[k];
        to->name = m.name[k];
        to->all = m.value[k];
        trl_spread(value + k, s->splits, TRL_CV_MEASURES, &to->mean, &to->deviation);
    }
    r->result.dev_score = r->score;
}

/* The run has no score, the others continue without it. */
static void failed(const trl_tune_search *s, trl_tune_trial *t, const trl_error *err)
{
    snprintf(t->run.result.ending, sizeof t->run.result.ending, "%.79s", err->msg);
    t->run.score = t->run.deviation = (double)NAN;
    trl_tune_trial_forget(s, t);
}

trl_status trl_tune_search_run(trl_tune_search *s, trl_tune_trial *t, trl_tune_trial *before,
                               uint64_t max_iter, trl_error *err)
{
    trl_train_options o = trl_tune_search_options(s, t);
    scored x = {0};
    double *value = trl_alloc(s->splits, (TRL_CV_MEASURES + 1) * sizeof *value);
    double *score_of = value ? value + s->splits * TRL_CV_MEASURES : NULL, seconds = 0.0;
    trl_error why = {0};
    trl_status st = value ? trl_held_counts_init(&x.all, &o, &why) : trl_fail_mem(&why);
    if (max_iter)
        o.max_iter = max_iter;
    for (size_t f = 0; st == TRL_OK && f < s->splits; f++) {
        st = train(s, t, before ? &before->model[f] : NULL, f, &o, &why);
        if (st == TRL_OK && s->folds.k && t->run.result.stopped)
            st = trl_fail(&why, TRL_ECANCEL, "stopped: no model was written");
        if (st == TRL_OK)
            st = score(s, &o, &t->model[f], &x, &why);
        if (st == TRL_OK) {
            const trl_held_measures m = trl_held_counts_measures(&x.one);
            memcpy(value + f * TRL_CV_MEASURES, m.value, sizeof m.value);
            score_of[f] = chosen(s, &x.one);
            seconds += t->run.result.seconds;
        }
        trl_held_counts_fini(&x.one);
    }
    if (st == TRL_OK) {
        summarise(s, &t->run, &x.all, value, score_of);
        t->run.result.seconds = seconds;
    } else if (st == TRL_ENUMERIC) {
        failed(s, t, &why);
        st = TRL_OK;
    } else if (err) {
        *err = why;
    }
    trl_held_counts_fini(&x.all);
    trl_free(value);
    return st;
}
