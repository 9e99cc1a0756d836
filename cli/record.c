/* record.c -- collecting the curve, writing the file. */
/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "output.h"

/* A key after '{', or after a value and then with a comma. */
static void key(text *t, const char *name)
{
    if (t->n && t->p[t->n - 1] != '{')
        text_char(t, ',');
    text_json_str(t, name);
    text_char(t, ':');
}

static void key_real(text *t, const char *name, double x)
{
    key(t, name);
    text_json_real(t, x);
}

static void key_count(text *t, const char *name, uint64_t x)
{
    key(t, name);
    text_fmt(t, "%" PRIu64, x);
}

void record_add(record *r, const trl_progress *now)
{
    if (strcmp(now->stage, "warning") == 0)
        return;
    r->last = *now;
    if (strcmp(now->stage, "iteration") != 0)
        return;
    text *t = &r->curve;
    text_str(t, t->n ? ",\n{" : "\n{");
    key_count(t, "iteration", now->iteration);
    key_real(t, "seconds", now->seconds);
    key_real(t, "processor", (double)clock() / CLOCKS_PER_SEC);
    key_real(t, "objective", now->objective);
    key_real(t, "gradient", now->gradient);
    key_real(t, "dev", now->dev_score);
    text_char(t, '}');
}

void record_fini(record *r)
{
    text_fini(&r->curve);
    text_fini(&r->more);
}

static void add_data(const trl_progress *p, text *t)
{
    key(t, "data");
    text_char(t, '{');
    key_count(t, "sequences", p->n_sequences);
    key_count(t, "tokens", p->n_tokens);
    key_count(t, "labels", p->n_labels);
    key_count(t, "attributes", p->n_attributes);
    key_count(t, "features", p->n_features);
    text_char(t, '}');
}

static void add_result(const trl_train_result *r, uint64_t model_bytes, const text *more, text *t)
{
    key(t, "result");
    text_char(t, '{');
    key_count(t, "iterations", r->iterations);
    key_count(t, "saved_iteration", r->saved_iteration);
    key_count(t, "features", r->n_features);
    key_count(t, "active", r->n_active);
    key_real(t, "objective", r->objective);
    if (r->estimated) {
        key(t, "estimated");
        text_str(t, "true");
    }
    key_real(t, "dev", r->dev_score);
    key(t, "dev_measure");
    if (r->dev_measure)
        text_json_str(t, r->dev_measure);
    else
        text_str(t, "null");
    key_real(t, "seconds", r->seconds);
    if (model_bytes)
        key_count(t, "model_bytes", model_bytes);
    else
        key_real(t, "model_bytes", (double)NAN);
    key(t, "stopped");
    text_str(t, r->stopped ? "true" : "false");
    key(t, "ending");
    text_json_str(t, r->ending);
    text_str(t, more->n ? "," : "");
    text_add(t, more->p, more->n);
    text_char(t, '}');
}

bool record_save(const record *r, const char *path, const record_run *run)
{
    text t = {0};
    text_char(&t, '{');
    key(&t, "program");
    text_json_str(&t, "trellis " TRL_VERSION);
    key(&t, "command");
    text_json_str(&t, run->v->name);
    key(&t, "options");
    options_json(run->v, run->settings, &t);
    key(&t, "train");
    for (size_t i = 0; i < run->train->n; i++) {
        text_char(&t, i ? ',' : '[');
        text_json_str(&t, run->train->item[i]);
    }
    text_char(&t, ']');
    add_data(&r->last, &t);
    key(&t, "curve");
    text_char(&t, '[');
    text_add(&t, r->curve.p, r->curve.n);
    text_char(&t, ']');
    add_result(run->result, run->model_bytes, &r->more, &t);
    text_str(&t, "}\n");
    t.failed = t.failed || r->curve.failed || r->more.failed;

    output o;
    const bool ok = output_open(&o, path) && output_text(&o, &t);
    text_fini(&t);
    return output_close(&o) && ok;
}
