/* boost_scenario.h -- boosted trees from text to probabilities, for test_alloc.c. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_BOOST_SCENARIO_H
#define TRL_TEST_BOOST_SCENARIO_H

#include "trellis/boost.h"

static const char boost_text[] = "+1 |w a b |t x\n-1 0.5 |w a |t x y\n+1 |w b c\n-1 |w d |t y\n"
                                 "+1 |w b |t y\n-1 2 |w a d\n";

typedef struct boost_arg {
    size_t sample, memory;
    bool resume, cached; /* what the one before has left */
} boost_arg;

static const boost_arg boost_args[] = {
    {.memory = (size_t)1 << 30},
    {.memory = (size_t)1 << 30, .resume = true},
    {.sample = 3, .cached = true},
};

static trl_status boost_nowhere(void *ctx, const char *text, size_t n, trl_error *err)
{
    (void)ctx, (void)text, (void)n, (void)err;
    return TRL_OK;
}

static trl_status boost_use(const char *model, const char *text, trl_error *err)
{
    trl_boost_model *m = NULL;
    trl_boost_data *d = NULL;
    trl_boost_read_options r = trl_boost_read_options_default();
    double h[6];
    trl_status st = trl_boost_model_open(model, &m, err);
    r.model = m;
    r.unanswered = true;
    if (st == TRL_OK)
        st = trl_boost_read(&text, 1, &r, &d, err);
    if (st == TRL_OK)
        st = trl_boost_predict(m, 0, d, h, err);
    if (st == TRL_OK)
        st = trl_boost_dump(m, 0, boost_nowhere, NULL, err);
    trl_boost_data_free(d);
    trl_boost_model_free(m);
    return st;
}

static trl_status do_boost(const void *p, trl_error *err)
{
    const boost_arg *a = p;
    char text[512], model[512], checkpoint[512], cache[512];
    snprintf(text, sizeof text, "%s/boost", folder);
    snprintf(model, sizeof model, "%s/model", folder);
    snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    const char *train = a->cached ? cache : text, *dev = train;
    trl_boost_read_options r = trl_boost_read_options_default();
    trl_boost_options o = trl_boost_options_default();
    trl_boost_data *d = NULL, *held_out = NULL;
    trl_boost_model *m = NULL;
    r.memory = a->memory;
    o.sample = a->sample;
    o.lambda_end = 0.1;
    o.threads = 2;
    o.checkpoint = checkpoint;
    o.checkpoint_every = 2;
    o.resume = a->resume;
    trl_status st = trl_boost_read(&train, 1, &r, &d, err);
    r.like = d;
    if (st == TRL_OK && !a->cached)
        st = trl_boost_data_save(d, cache, err);
    if (st == TRL_OK)
        st = trl_boost_read(&dev, 1, &r, &held_out, err);
    if (st == TRL_OK)
        st = trl_boost_train(d, held_out, &o, &m, err);
    if (st == TRL_OK)
        st = trl_boost_model_save(m, model, err);
    if (st == TRL_OK)
        st = boost_use(model, dev, err);
    trl_boost_model_free(m);
    trl_boost_data_free(held_out);
    trl_boost_data_free(d);
    return st;
}

#endif
