/* latent.c -- where a grammar with substates of states has its numbers. */
/* SPDX-License-Identifier: MIT */
#include "chart/latent.h"

#include "base/fail.h"
#include "base/mem.h"

#define SEEN 1.0 /* the count of a rule that trees have */

/* ---- layout ---------------------------------------------------------------------------------- */

static size_t *places(size_t n)
{
    return trl_zalloc(n + 1, sizeof(size_t));
}

static void place_rules(trl_latent_layout *at, const trl_grammar *g)
{
    const uint8_t *k = at->k;
    for (size_t r = 0; r < g->n_binary; r++) {
        const trl_binary *b = &g->binary[r];
        at->binary[r] = at->n;
        at->n += g->binary_count[r] >= SEEN ? (size_t)k[b->parent] * k[b->left] * k[b->right] : 0;
    }
    at->binary[g->n_binary] = at->n;
    for (size_t u = 0; u < g->n_unary; u++) {
        const trl_unary *r = &g->unary[u];
        at->unary[u] = at->n;
        at->n += g->unary_count[u] >= SEEN ? (size_t)k[r->parent] * k[r->child] : 0;
    }
    at->unary[g->n_unary] = at->n;
}

static void place_words(trl_latent_layout *at, const trl_lexicon *x)
{
    const size_t words = x->words.n, classes = x->classes.n;
    for (size_t w = 0; w < words; w++)
        for (uint32_t e = x->word_first[w]; e < x->word_first[w + 1]; e++) {
            at->word[e] = at->n;
            at->n += x->word_count[w] > x->rare ? at->k[x->word_tag[e]] : 0;
        }
    at->word[x->word_first[words]] = at->n;
    for (uint32_t e = 0; e < x->class_first[classes]; e++) {
        at->class_[e] = at->n;
        at->n += at->k[x->class_tag[e]];
    }
    at->class_[x->class_first[classes]] = at->n;
}

trl_status trl_latent_layout_init(trl_latent_layout *at, const trl_grammar *g, const trl_lexicon *x,
                                  uint8_t *k, trl_error *err)
{
    *at = (trl_latent_layout){.k = k,
                              .binary = places(g->n_binary),
                              .unary = places(g->n_unary),
                              .word = places(x->word_first[x->words.n]),
                              .class_ = places(x->class_first[x->classes.n])};
    if (!k || !at->binary || !at->unary || !at->word || !at->class_) {
        trl_latent_layout_fini(at);
        return trl_fail_mem(err);
    }
    place_rules(at, g);
    place_words(at, x);
    return TRL_OK;
}

void trl_latent_layout_fini(trl_latent_layout *at)
{
    trl_free(at->k);
    trl_free(at->binary);
    trl_free(at->unary);
    trl_free(at->word);
    trl_free(at->class_);
    *at = (trl_latent_layout){0};
}

void trl_latent_fini(trl_latent *l)
{
    trl_latent_layout_fini(&l->at);
    trl_free(l->p);
    l->p = NULL;
    trl_latent_rows_fini(&l->rows);
}

static size_t find(const uint32_t *tags, const size_t *at, uint32_t from, uint32_t to, uint32_t tag)
{
    for (uint32_t e = from; e < to; e++)
        if (tags[e] == tag && at[e + 1] > at[e])
            return at[e];
    return SIZE_MAX;
}

size_t trl_latent_word(const trl_latent_layout *at, const trl_lexicon *x, uint32_t word,
                       uint32_t cls, uint32_t tag)
{
    if (word != TRL_NO_ID && x->word_count[word] > x->rare)
        return find(x->word_tag, at->word, x->word_first[word], x->word_first[word + 1], tag);
    return find(x->class_tag, at->class_, x->class_first[cls], x->class_first[cls + 1], tag);
}
