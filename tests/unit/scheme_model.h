/* scheme_model.h -- small random models whose labels are of a tag scheme, or look like it. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_SCHEME_MODEL_H
#define TRL_TEST_SCHEME_MODEL_H

#include "base/mem.h"
#include "base/rng.h"
#include "feature/design.h"
#include "model/model.h"
#include "trellis/constraint.h"

typedef struct scheme_model {
    size_t L, T;
    trl_str label[8];
    trl_corpus c;
    trl_design d;
    double *w;
    unsigned char *bytes;
    size_t size;
    trl_model *m;
    trl_str name[64];
    trl_attr attr[64];
    size_t begin[65];
    trl_items seq; /* to be tagged: every token has attributes of its own */
} scheme_model;

static const char *const scheme_label_names[] = {"O",   "B-X", "I-X", "B-Y", "I-Y",
                                                 "E-X", "S-X", "Z",   "L-X", "Y"};

static inline void scheme_model_labels(trl_rng *rng, scheme_model *y)
{
    const size_t names = sizeof scheme_label_names / sizeof *scheme_label_names;
    bool used[16] = {false};
    y->L = 0;
    for (size_t k = 0; k < names && y->L < 5; k++) {
        const size_t pick = trl_rng_below(rng, 3) ? k % names : trl_rng_below(rng, names);
        if (used[pick])
            continue;
        used[pick] = true;
        y->label[y->L++] = (trl_str){scheme_label_names[pick], strlen(scheme_label_names[pick])};
    }
}

static inline void scheme_model_make(trl_rng *rng, int order, double scale, bool local,
                                     const char *settings, scheme_model *y)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    trl_error err;
    *y = (scheme_model){.T = 1 + trl_rng_below(rng, 5)};
    scheme_model_labels(rng, y);
    assert_ok(trl_corpus_init(&y->c, &err));
    for (size_t f = 1; f <= (size_t)order; f++)
        assert_ok(trl_corpus_set_constant(&y->c, f, &err));
    trl_str label[64]; /* every label with every attribute */
    for (size_t k = 0; k < 8 * y->L; k++) {
        label[k] = y->label[k % y->L];
        y->attr[k] = (trl_attr){{names[k / y->L], 1}, 1.0};
    }
    for (size_t k = 0; k < 65; k++)
        y->begin[k] = k;
    const trl_items all = {
        .n_tokens = 8 * y->L, .label = label, .begin = y->begin, .attr = y->attr, .weight = 1.0};
    assert_ok(trl_corpus_add_items(&y->c, &all, &err));
    const trl_design_options o = {.order = order, .all_pairs = true, .all_transitions = true};
    assert_ok(trl_design_build(&y->d, &y->c, &o, &err));
    y->w = calloc(trl_design_alloc(&y->d), sizeof *y->w);
    assert_non_null(y->w);
    for (size_t i = 0; i < y->d.n_weights; i++)
        y->w[i] = (double)(float)(scale * (trl_rng_unit(rng) - 0.5));
    trl_clear_dead(&y->d, y->w);
    const trl_chain_model_spec spec = {.corpus = &y->c,
                                       .design = &y->d,
                                       .w = y->w,
                                       .objective = local ? "memm" : "likelihood",
                                       .settings = settings,
                                       .is_probability = true,
                                       .is_local = local};
    assert_ok(trl_chain_model_to_buffer(&spec, &y->bytes, &y->size, &err));
    assert_ok(trl_model_from_memory(y->bytes, y->size, &y->m, &err));
    for (size_t t = 0; t < y->T; t++)
        y->attr[t] = (trl_attr){{names[trl_rng_below(rng, 8)], 1}, 1.0};
    y->seq = (trl_items){.n_tokens = y->T, .begin = y->begin, .attr = y->attr, .weight = 1.0};
    for (size_t k = 0; k < y->L; k++) /* in the order of the model */
        y->label[k] = trl_model_label(y->m, k);
}

static inline void scheme_model_free(scheme_model *y)
{
    trl_model_free(y->m);
    trl_free(y->bytes);
    free(y->w);
    trl_design_fini(&y->d);
    trl_corpus_fini(&y->c);
}

#endif
