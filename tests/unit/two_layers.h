/* two_layers.h -- graphs of two layers of labels over some words.
 *
 * Words say tags, and tags chunks; chunks come in runs.  The templates are both layers' priors, the
 * edges along them, and the edges between them.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TWO_LAYERS_H
#define TRL_TEST_TWO_LAYERS_H

#include "support.h"

#include "base/rng.h"
#include "train_graph/graph_corpus.h"

enum { EXAMPLES = 40, MOST = 7, TAGS = 3, CHUNKS = 2, WORDS = 5 };

static const char *const word[WORDS] = {"ape", "bee", "cow", "doe", "elk"};

typedef struct sentence {
    size_t n;
    uint32_t word[MOST], y[2 * MOST]; /* labels of token t: y[2 * t], y[2 * t + 1] */
} sentence;

static sentence random_sentence(trl_rng *rng)
{
    sentence s = {.n = 1 + trl_rng_below(rng, MOST)};
    for (size_t t = 0; t < s.n; t++) {
        s.word[t] = (uint32_t)trl_rng_below(rng, WORDS);
        s.y[2 * t] = trl_rng_below(rng, 8) ? s.word[t] % TAGS : (uint32_t)trl_rng_below(rng, TAGS);
        s.y[2 * t + 1] = trl_rng_below(rng, 6) ? s.y[2 * t] == 1 : t > 0 ? s.y[2 * t - 1] : 0;
    }
    return s;
}

typedef struct builder {
    trl_graph *g;
    uint32_t family[5 * MOST], n;
    size_t begin[5 * MOST + 1];
    trl_attr attr[4 * MOST];
} builder;

static void add(builder *b, uint32_t family, size_t n, const uint32_t *v, const char *text)
{
    trl_error err;
    const trl_graph_view g = trl_graph_look(b->g);
    size_t cells = 1, at = b->begin[b->n];
    for (size_t k = 0; k < n; k++)
        cells *= g.labels[v[k]];
    assert_ok(trl_graph_add_table(b->g, cells, NULL, &err));
    assert_ok(trl_graph_add_factor(b->g, n, v, b->n, &err));
    if (text)
        b->attr[at++] = (trl_attr){{text, strlen(text)}, 1.0};
    b->family[b->n++] = family;
    b->begin[b->n] = at;
}

static void unroll(const sentence *s, builder *b)
{
    trl_error err;
    *b = (builder){0};
    assert_ok(trl_graph_new(&b->g, &err));
    for (uint32_t t = 0; t < s->n; t++) {
        assert_ok(trl_graph_add_variable(b->g, TAGS, &err));
        assert_ok(trl_graph_add_variable(b->g, CHUNKS, &err));
        add(b, 0, 1, (uint32_t[]){2 * t}, word[s->word[t]]);
        add(b, 1, 1, (uint32_t[]){2 * t + 1}, word[s->word[t]]);
        add(b, 2, 2, (uint32_t[]){2 * t, 2 * t + 1}, NULL);
        if (t > 0) {
            add(b, 3, 2, (uint32_t[]){2 * t - 2, 2 * t}, NULL);
            add(b, 4, 2, (uint32_t[]){2 * t - 1, 2 * t + 1}, word[s->word[t]]);
        }
    }
}

/* `weighted`: examples count 1, 2, 3, 1, ... times. */
static void make_corpus(trl_graph_corpus *c, uint64_t seed, bool weighted)
{
    static const size_t width[] = {TAGS, CHUNKS, TAGS * CHUNKS, TAGS * TAGS, CHUNKS * CHUNKS};
    trl_error err;
    trl_rng rng = trl_rng_seed(seed);
    assert_ok(trl_graph_corpus_init(c, width, 5, &err));
    for (size_t f = 2; f < 5; f++)
        assert_ok(trl_corpus_set_constant(&c->corpus, f, &err));
    for (size_t e = 0; e < EXAMPLES; e++) {
        const sentence s = random_sentence(&rng);
        const double weight = weighted ? (double)(1 + e % 3) : 1.0;
        builder b;
        unroll(&s, &b);
        assert_ok(trl_graph_corpus_add(c,
                                       &(trl_graph_case){.graph = b.g,
                                                         .family = b.family,
                                                         .begin = b.begin,
                                                         .attr = b.attr,
                                                         .y = s.y,
                                                         .weight = weight},
                                       &err));
    }
}

#endif
