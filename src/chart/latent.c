/* latent.c -- where a grammar with substates of states has its numbers; its file. */
/* SPDX-License-Identifier: MIT */
#include "chart/latent.h"

#include <math.h>
#include <string.h>

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

/* ---- files ----------------------------------------------------------------------------------- */

static const char *const substates_tag[TRL_LATENT_GRAMMARS] = {
    "latent1", "latent2", "latent3", "latent4", "latent5", "latent6", "latent7", "latent8"};
static const char *const numbers_tag[TRL_LATENT_GRAMMARS] = {
    "latentp1", "latentp2", "latentp3", "latentp4", "latentp5", "latentp6", "latentp7", "latentp8"};

bool trl_latent_stored(size_t number, const trl_container *c)
{
    const void *unused;
    size_t n;
    return trl_container_find(c, substates_tag[number], &unused, &n);
}

#define STEPS 8   /* of a factor of two */
#define LARGEST 4 /* 2^4 is the largest number: a word that always has one of 16 substates */

static uint8_t code_of(float p)
{
    const double q = p > 0.0f ? 1.0 + STEPS * (LARGEST - log2((double)p)) : 0.0;
    return q < 1.0 ? p > 0.0f : q > 255.0 ? 0 : (uint8_t)(q + 0.5);
}

static void decode(float value[256])
{
    value[0] = 0.0f;
    for (int q = 1; q < 256; q++)
        value[q] = (float)exp2(LARGEST - (q - 1) / (double)STEPS);
}

void trl_latent_round(trl_latent *l)
{
    float value[256];
    decode(value);
    for (size_t x = 0; x < l->at.n; x++)
        l->p[x] = value[code_of(l->p[x])];
}

trl_status trl_latent_save(const trl_latent *l, size_t number, trl_container_builder *b,
                           trl_error *err)
{
    uint8_t *code = trl_alloc(l->at.n, 1);
    if (!code)
        return trl_fail_mem(err);
    for (size_t x = 0; x < l->at.n; x++)
        code[x] = code_of(l->p[x]);
    trl_container_builder_add(b, substates_tag[number], l->at.k, l->g->n_states);
    trl_container_builder_give(b, numbers_tag[number], code, l->at.n);
    return TRL_OK;
}

static bool sane_substates(const uint8_t *k, const trl_grammar *g)
{
    bool sane = k[g->root] == 1;
    for (size_t s = 0; s < g->n_states; s++)
        sane = sane && k[s] > 0 && k[s] <= TRL_LATENT_MOST && (k[s] & (k[s] - 1)) == 0;
    return sane;
}

trl_status trl_latent_load(trl_latent *l, size_t number, const trl_container *c, trl_error *err)
{
    const void *substates, *codes;
    size_t n, size;
    if (!trl_container_find(c, substates_tag[number], &substates, &n) || n != l->g->n_states ||
        !sane_substates(substates, l->g))
        return trl_container_damaged(c, err, "the substates of its grammar make no sense");
    uint8_t *k = trl_alloc(n, 1);
    if (k)
        memcpy(k, substates, n);
    const trl_status st = trl_latent_layout_init(&l->at, l->g, l->x, k, err);
    if (st != TRL_OK)
        return st;
    if (!trl_container_find(c, numbers_tag[number], &codes, &size) || size != l->at.n)
        return trl_container_damaged(c, err, "its grammar with substates is incomplete");
    float value[256];
    decode(value);
    l->p = trl_alloc(size, sizeof *l->p);
    for (size_t x = 0; l->p && x < size; x++)
        l->p[x] = value[((const uint8_t *)codes)[x]];
    return l->p ? TRL_OK : trl_fail_mem(err);
}
