/* toy_model.h -- small random models, with the sequences they were made from.
 *
 * The oracle of the tests is the design: what trl_gather says about a sequence of the corpus
 * is what a tagger that has only the model file must say about it too.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TOY_MODEL_H
#define TRL_TEST_TOY_MODEL_H

#include "base/mem.h"
#include "base/rng.h"
#include "feature/design.h"
#include "model/model.h"

typedef struct toy_shape {
    size_t L, A, n_sequences, max_T; /* A: attributes, or words per column */
    int order;
    const char *template_text; /* NULL: items */
    bool all_pairs, values;
    double zero; /* share of weights that are 0 */
} toy_shape;

typedef struct toy {
    toy_shape shape;
    trl_corpus c;
    trl_design d;
    trl_template *tpl;
    double *w; /* exact as floats */
    trl_items *items;
    trl_rows *rows;
    unsigned char *bytes; /* the model file */
    size_t size;
    trl_model *m;
} toy;

/* Names with all that may trouble a text format, and plain ones after them. */
static inline trl_str toy_name(char prefix, size_t k)
{
    static const trl_str odd[] = {{"\\", 1},
                                  {"a\tb\nc\r", 6},
                                  {"\xff\xc3", 2},
                                  {"\xc3\xa4\xe2\x82\xac", 5},
                                  {"#\0x", 3},
                                  {"", 0},
                                  {"\xc2\x85\x7f", 3},
                                  {"\\x41:=", 6},
                                  {"\xf0\x9f\x99\x82 \xed\xa0\x80", 8}};
    static char names[128][2][8];
    if (k % 2 && k / 2 < sizeof odd / sizeof *odd)
        return odd[k / 2];
    assert_true(k < 128);
    char *s = names[k][prefix == 'L'];
    const int n = snprintf(s, sizeof names[0][0], "%c%zu", prefix, k);
    return (trl_str){s, (size_t)n};
}

static inline void *toy_alloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    assert_non_null(p);
    return p;
}

static inline trl_items toy_items(trl_rng *rng, const toy_shape *h)
{
    const size_t T = 1 + trl_rng_below(rng, h->max_T);
    trl_str *label = toy_alloc(T, sizeof *label);
    size_t *begin = toy_alloc(T + 1, sizeof *begin);
    trl_attr *attr = toy_alloc(T * 4, sizeof *attr);
    for (size_t t = 0; t < T; t++) {
        label[t] = toy_name('L', trl_rng_below(rng, h->L));
        begin[t + 1] = begin[t] + trl_rng_below(rng, 5);
        for (size_t i = begin[t]; i < begin[t + 1]; i++) {
            attr[i].name = toy_name('a', trl_rng_below(rng, h->A));
            attr[i].value = h->values ? 4.0 * trl_rng_unit(rng) - 2.0 : 1.0;
        }
    }
    return (trl_items){.n_tokens = T, .label = label, .begin = begin, .attr = attr, .weight = 1.0};
}

/* Two columns of words, then the label. */
static inline trl_rows toy_rows(trl_rng *rng, const toy_shape *h)
{
    const size_t T = 1 + trl_rng_below(rng, h->max_T);
    trl_str *cell = toy_alloc(T * 3, sizeof *cell);
    for (size_t t = 0; t < T; t++) {
        cell[3 * t] = toy_name('a', trl_rng_below(rng, h->A));
        cell[3 * t + 1] = toy_name('a', trl_rng_below(rng, h->A));
        cell[3 * t + 2] = toy_name('L', trl_rng_below(rng, h->L));
    }
    return (trl_rows){.n_tokens = T, .n_columns = 3, .cell = cell};
}

static inline void toy_corpus(trl_rng *rng, toy *y)
{
    trl_error err;
    const toy_shape *h = &y->shape;
    assert_ok(trl_corpus_init(&y->c, &err));
    y->items = toy_alloc(h->n_sequences, sizeof *y->items);
    y->rows = toy_alloc(h->n_sequences, sizeof *y->rows);
    if (h->template_text) {
        assert_ok(
            trl_template_parse("toy", h->template_text, strlen(h->template_text), &y->tpl, &err));
        assert_ok(trl_corpus_use_template(&y->c, y->tpl, &err));
    } else {
        for (size_t f = 1; f <= (size_t)h->order; f++)
            assert_ok(trl_corpus_set_constant(&y->c, f, &err));
    }
    for (size_t s = 0; s < h->n_sequences; s++) {
        if (y->tpl) {
            y->rows[s] = toy_rows(rng, h);
            assert_ok(trl_corpus_add_rows(&y->c, y->tpl, &y->rows[s], &err));
        } else {
            y->items[s] = toy_items(rng, h);
            assert_ok(trl_corpus_add_items(&y->c, &y->items[s], &err));
        }
    }
}

static inline trl_chain_model_spec toy_spec(const toy *y)
{
    return (trl_chain_model_spec){.corpus = &y->c,
                                  .design = &y->d,
                                  .w = y->w,
                                  .tpl = y->tpl,
                                  .objective = "likelihood",
                                  .settings = "c2 1\nseed 7",
                                  .is_probability = true};
}

static inline void toy_make(trl_rng *rng, toy_shape h, toy *y)
{
    trl_error err;
    *y = (toy){.shape = h};
    toy_corpus(rng, y);
    const trl_design_options o = {
        .order = h.order, .all_pairs = h.all_pairs, .all_transitions = h.all_pairs};
    assert_ok(trl_design_build(&y->d, &y->c, &o, &err));
    y->w = toy_alloc(trl_design_alloc(&y->d), sizeof *y->w);
    for (size_t i = 0; i < y->d.n_weights; i++) {
        const float x = (float)(4.0 * trl_rng_unit(rng) - 2.0);
        y->w[i] = trl_rng_unit(rng) < h.zero ? 0.0 : (double)x;
    }
    trl_clear_dead(&y->d, y->w);
    const trl_chain_model_spec spec = toy_spec(y);
    assert_ok(trl_chain_model_to_buffer(&spec, &y->bytes, &y->size, &err));
    assert_ok(trl_model_from_memory(y->bytes, y->size, &y->m, &err));
}

/* Any of the shapes that matter, small. */
static inline toy_shape toy_random_shape(trl_rng *rng, size_t max_T)
{
    static const char *const templates[] = {
        NULL,
        "U0:%x[0,0]\nU1:%x[-1,1]/%x[1,0]\nB\n",
        "U0:%x[0,0]\nB1:%x[0,1]\nB\n",
        "U0:%x[0,1]\nB1:%x[0,0]/%x[-1,0]", /* no constant, no LF at the end */
        "U0:%x[0,0]\nB\nT\n",
        "U0:%x[0,0]\nB\nB1:%x[0,0]\nT1:%x[0,1]\n",
        "u:%x[0,0]\n*:%m[0,1,\"a*\"]\n*\nt\n",
        "B\n",
        "U%x[0,1]\nB%x[0,0]\nB\n", /* an empty cell makes the constant attribute's name */
    };
    const char *text = templates[trl_rng_below(rng, sizeof templates / sizeof *templates)];
    return (toy_shape){.L = 1 + trl_rng_below(rng, 4),
                       .A = 1 + trl_rng_below(rng, 20),
                       .n_sequences = 1 + trl_rng_below(rng, 8),
                       .max_T = max_T,
                       .order = 1 + (int)trl_rng_below(rng, 2),
                       .template_text = text,
                       .all_pairs = trl_rng_below(rng, 2) != 0,
                       .values = trl_rng_below(rng, 2) != 0,
                       .zero = trl_rng_below(rng, 3) ? 0.0 : 0.5};
}

static inline void toy_free(toy *y)
{
    union { /* drops const: the arrays are ours */
        const void *c;
        void *v;
    } p;
    trl_model_free(y->m);
    trl_free(y->bytes);
    for (size_t s = 0; s < y->shape.n_sequences; s++) {
        const void *const ours[] = {y->items[s].label, y->items[s].begin, y->items[s].attr,
                                    y->rows[s].cell};
        for (size_t i = 0; i < 4; i++) {
            p.c = ours[i];
            free(p.v);
        }
    }
    free(y->items);
    free(y->rows);
    free(y->w);
    trl_design_fini(&y->d);
    trl_corpus_fini(&y->c);
    trl_template_free(y->tpl);
}

#endif
