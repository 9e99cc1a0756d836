/* observation.c -- observations of words and spans.
 *
 * [HDK14] Hall, Durrett, Klein. Less grammar, more features. ACL 2014: surface features of spans,
 * among them the shape.
 */
/* SPDX-License-Identifier: MIT */
#include "grammar/observation.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define LOWER_MAX 64 /* longer words have no lower-case form and no suffix */

static size_t lower_case(trl_str w, char *out)
{
    for (size_t k = 0; k < w.n; k++)
        out[k] = w.p[k] >= 'A' && w.p[k] <= 'Z' ? (char)(w.p[k] + ('a' - 'A')) : w.p[k];
    return w.n;
}

static bool keep_word(trl_observer *o, uint32_t word)
{
    char text[LOWER_MAX];
    const trl_str w = trl_strtab_get(&o->x->words, word);
    o->lower_of[word] = 0;
    if (w.n > LOWER_MAX)
        return true;
    const size_t n = lower_case(w, text);
    const uint32_t id = trl_strtab_add(&o->lower, text, n);
    if (id == TRL_NO_ID)
        return false;
    o->lower_of[word] = id + TRL_SEEN_FIRST;
    if (n >= 2 && trl_strtab_add(&o->suffix2, text + n - 2, 2) == TRL_NO_ID)
        return false;
    return n < 3 || trl_strtab_add(&o->suffix3, text + n - 3, 3) != TRL_NO_ID;
}

/* The base tag with the largest count among tag[from .. to). */
static uint32_t usual_tag(const trl_grammar *g, const uint32_t *tag, const double *count,
                          uint32_t from, uint32_t to)
{
    double best = 0.0;
    uint32_t at = 0;
    for (uint32_t a = from; a < to; a++) {
        double sum = 0.0;
        for (uint32_t b = from; b < to; b++)
            if (g->state[tag[b]].base == g->state[tag[a]].base)
                sum += count[b];
        if (sum > best) {
            best = sum;
            at = g->state[tag[a]].base + TRL_SEEN_FIRST;
        }
    }
    return at;
}

trl_status trl_observer_init(trl_observer *o, const trl_grammar *g, const trl_lexicon *x,
                             uint32_t frequent, trl_error *err)
{
    *o = (trl_observer){.g = g, .x = x, .frequent = frequent};
    const size_t words = x->words.n, classes = x->classes.n;
    o->lower_of = trl_alloc(words, sizeof *o->lower_of);
    o->tag_of_word = trl_alloc(words, sizeof *o->tag_of_word);
    o->tag_of_class = trl_alloc(classes, sizeof *o->tag_of_class);
    bool ok = o->lower_of && o->tag_of_word && o->tag_of_class;
    for (uint32_t w = 0; ok && w < words; w++) {
        ok = keep_word(o, w);
        o->tag_of_word[w] =
            usual_tag(g, x->word_tag, x->word_tag_count, x->word_first[w], x->word_first[w + 1]);
    }
    for (uint32_t k = 0; ok && k < classes; k++)
        o->tag_of_class[k] = usual_tag(g, x->class_tag, x->class_tag_count, x->class_first[k],
                                       x->class_first[k + 1]);
    if (ok)
        return TRL_OK;
    trl_observer_fini(o);
    return trl_fail_mem(err);
}

void trl_observer_fini(trl_observer *o)
{
    trl_strtab_fini(&o->lower);
    trl_strtab_fini(&o->suffix2);
    trl_strtab_fini(&o->suffix3);
    trl_free(o->lower_of);
    trl_free(o->tag_of_word);
    trl_free(o->tag_of_class);
    *o = (trl_observer){0};
}

/* ---- a sentence ------------------------------------------------------------------------------ */

size_t trl_seen_size(size_t n)
{
    return TRL_SEEN_TYPES * trl_seen_stride(n) * sizeof(uint32_t) + n;
}

static uint32_t found(const trl_strtab *t, const char *p, size_t n)
{
    const uint32_t id = trl_strtab_find(t, p, n);
    return id == TRL_NO_ID ? 0 : id + TRL_SEEN_FIRST;
}

/* x, d, or the byte itself: letters by case, digits, the rest as it is. */
static uint8_t shape_of(trl_str w)
{
    const unsigned char c = w.n ? (unsigned char)w.p[0] : 0;
    if (c >= 'A' && c <= 'Z')
        return 'X';
    if ((c >= 'a' && c <= 'z') || c >= 0x80)
        return 'x';
    return c >= '0' && c <= '9' ? 'd' : c;
}

static void observe_word(const trl_observer *o, trl_str w, size_t at, uint32_t *v, size_t stride)
{
    char text[LOWER_MAX];
    const uint32_t word = trl_lexicon_word(o->x, w), cls = trl_lexicon_class(o->x, w, at);
    const bool known = word != TRL_NO_ID;
    const bool frequent = known && o->x->word_count[word] >= o->frequent;
    v[TRL_SEEN_WORD * stride] = known ? word + TRL_SEEN_FIRST : 0;
    v[TRL_SEEN_CLASS * stride] = cls + TRL_SEEN_FIRST;
    v[TRL_SEEN_FORM * stride] =
        frequent ? word + TRL_SEEN_FIRST + (uint32_t)o->x->classes.n : cls + TRL_SEEN_FIRST;
    v[TRL_SEEN_TAG * stride] = known ? o->tag_of_word[word] : o->tag_of_class[cls];
    const size_t n = w.n <= LOWER_MAX ? lower_case(w, text) : 0;
    v[TRL_SEEN_LOWER * stride] = known ? o->lower_of[word] : n ? found(&o->lower, text, n) : 0;
    v[TRL_SEEN_SUFFIX2 * stride] = n >= 2 ? found(&o->suffix2, text + n - 2, 2) : 0;
    v[TRL_SEEN_SUFFIX3 * stride] = n >= 3 ? found(&o->suffix3, text + n - 3, 3) : 0;
    uint32_t c[3] = {0, 0, 0};
    if (o->cluster)
        o->cluster(o->clusters, w, c);
    for (size_t k = 0; k < 3; k++)
        v[(TRL_SEEN_CLUSTER + k) * stride] = c[k] ? c[k] - 1 + TRL_SEEN_FIRST : 0;
}

void trl_observe(const trl_observer *o, const trl_str *word, size_t n, void *memory, trl_seen *s)
{
    const size_t stride = trl_seen_stride(n);
    *s = (trl_seen){n, memory, (uint8_t *)memory + TRL_SEEN_TYPES * stride * sizeof *s->at};
    for (size_t type = 0; type < TRL_SEEN_TYPES; type++)
        for (size_t m = 0; m < TRL_SEEN_MARGIN; m++) {
            s->at[type * stride + m] = TRL_SEEN_START;
            s->at[type * stride + TRL_SEEN_MARGIN + n + m] = TRL_SEEN_END;
        }
    for (size_t p = 0; p < n; p++) {
        observe_word(o, word[p], p, s->at + TRL_SEEN_MARGIN + p, stride);
        s->shape[p] = shape_of(word[p]);
    }
}

/* ---- a span ---------------------------------------------------------------------------------- */

static uint32_t length_class(size_t n)
{
    static const uint8_t small[21] = {0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 7,
                                      8, 8, 8, 8, 8, 9, 9, 9, 9, 9};
    return n <= 20 ? small[n] : 10;
}

/* The shapes of up to five words; of a longer span those of its first two and last two. */
static uint32_t span_shape(const trl_seen *s, size_t i, size_t j)
{
    uint64_t h = j - i <= 5 ? j - i : 6;
    for (size_t p = i; p < j; p++) {
        if (j - i > 5 && p == i + 2)
            p = j - 2;
        h = h * 0x9e3779b97f4a7c15u + s->shape[p];
        h ^= h >> 29;
    }
    return (uint32_t)((h * 0xbf58476d1ce4e5b9u) >> 32) | TRL_SEEN_FIRST;
}

uint32_t trl_seen_span(const trl_seen *s, int type, size_t i, size_t j)
{
    if (type == TRL_SEEN_SHAPE)
        return span_shape(s, i, j);
    if (type == TRL_SEEN_SHORT)
        return j - i < 3 ? TRL_SEEN_FIRST + (uint32_t)(j - i) : 0;
    const uint32_t n = length_class(j - i) + TRL_SEEN_FIRST;
    if (type == TRL_SEEN_LENGTH)
        return n;
    const size_t rest = s->n - j;
    return n * 8 + (rest < 3 ? (uint32_t)rest : rest < 6 ? 3 : 4);
}
