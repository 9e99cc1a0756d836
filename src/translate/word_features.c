/* word_features.c -- features of words and nodes of a source sentence. */
/* SPDX-License-Identifier: MIT */
#include "translate/word_features.h"

#include <string.h>

#include "base/mem.h"

enum { SPAN = 2 * TRL_WINDOW + 1 };
enum {
    WORD,
    TAG = WORD + SPAN,
    ANY_WORD = TAG + SPAN,
    ANY_TAG,
    RELATION,
    NODE = RELATION + TRL_RELATIONS,
    LEFT,
    RIGHT,
    KINDS
};

/* Where a key comes from. */
enum { SELF, LEFT_CHILD, RIGHT_CHILD, SIDES };

#define END (TRL_NO_ID - 1) /* the value of a place outside of the sentence */

static const char *const kind_name[KINDS] = {
    "word-2",    "word-1",       "word",        "word+1",          "word+2",         "tag-2",
    "tag-1",     "tag",          "tag+1",       "tag+2",           "any.word",       "any.tag",
    "top.label", "parent.label", "parent.word", "dependent.label", "dependent.word", "head.label",
    "node",      "left",         "right"};
static const char *const side_name[SIDES] = {"", "left.", "right."};

static bool has_word(unsigned kind)
{
    return kind < TAG || kind == ANY_WORD || kind == RELATION + TRL_PARENT_HEAD ||
           kind == RELATION + TRL_DEPENDENT_HEAD;
}

/* ---- features -------------------------------------------------------------------------------- */

/* Room has been made. */
static void put(trl_feature_keys *out, unsigned kind, unsigned side, uint32_t value)
{
    if (value != TRL_NO_ID)
        out->key[out->n++] = (uint64_t)(kind * SIDES + side) << 32 | value;
}

static bool get_room(trl_feature_keys *out, size_t more)
{
    uint64_t *grown = trl_reserve(out->key, &out->cap, out->n + more, sizeof *grown);
    if (!grown)
        return false;
    out->key = grown;
    return true;
}

static bool add_focus(const trl_source *s, size_t word, unsigned side, trl_feature_keys *out)
{
    const uint32_t begin = trl_dependency_begin(s, word), end = s->dependency_end[word];
    if (!get_room(out, 2 * SPAN + (end - begin)))
        return false;
    for (unsigned k = 0; k < SPAN; k++) {
        const size_t at = word + k - TRL_WINDOW; /* wraps around before the first word */
        put(out, WORD + k, side, at < s->n_words ? s->word[at] : END);
        put(out, TAG + k, side, at < s->n_words ? s->node[at].label : TRL_NO_ID);
    }
    for (uint32_t k = begin; k < end; k++)
        put(out, RELATION + s->dependency[k].relation, side, s->dependency[k].value);
    return true;
}

static bool add_sentence(const trl_source *s, trl_feature_keys *out)
{
    if (!get_room(out, 2 * s->n_words))
        return false;
    for (size_t w = 0; w < s->n_words; w++) {
        put(out, ANY_WORD, SELF, s->word[w]);
        put(out, ANY_TAG, SELF, s->node[w].label);
    }
    return true;
}

bool trl_word_features(const trl_source *s, size_t word, trl_feature_keys *out)
{
    out->n = 0;
    return add_focus(s, word, SELF, out) && add_sentence(s, out);
}

bool trl_node_features(const trl_source *s, size_t node, trl_feature_keys *out)
{
    const trl_source_node *v = &s->node[node];
    const trl_source_node *left = &s->node[v->left], *right = &s->node[v->right];
    out->n = 0;
    if (!get_room(out, 3))
        return false;
    put(out, NODE, SELF, v->label);
    put(out, LEFT, SELF, left->label);
    put(out, RIGHT, SELF, right->label);
    return add_focus(s, left->head, LEFT_CHILD, out) &&
           add_focus(s, right->head, RIGHT_CHILD, out) && add_sentence(s, out);
}

/* ---- names ----------------------------------------------------------------------------------- */

bool trl_word_key_sound(const trl_source_names *names, uint64_t key)
{
    const unsigned kind = (unsigned)(key >> 32) / SIDES;
    const uint32_t value = (uint32_t)key;
    if (kind >= KINDS)
        return false;
    return (value == END && kind < TAG) ||
           value < (has_word(kind) ? names->words.n : names->labels.n);
}

bool trl_word_key_name(const trl_source_names *names, uint64_t key, trl_buf *out)
{
    const unsigned kind = (unsigned)(key >> 32) / SIDES, side = (unsigned)(key >> 32) % SIDES;
    const uint32_t value = (uint32_t)key;
    const trl_strtab *t = has_word(kind) ? &names->words : &names->labels;
    const trl_str s = value == END ? (trl_str){"", 0} : trl_strtab_get(t, value);
    trl_buf_str(out, side_name[side]);
    trl_buf_str(out, kind_name[kind]);
    trl_buf_str(out, "=");
    return trl_buf_add(out, s.p, s.n) && !out->failed;
}

static bool begins_with(trl_str s, const char *with)
{
    const size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

/* "left.word=x" has a side, "left=DT" has none. */
static unsigned take_side(trl_str *name)
{
    for (unsigned side = 1; side < SIDES; side++)
        if (begins_with(*name, side_name[side])) {
            const size_t n = strlen(side_name[side]);
            *name = (trl_str){name->p + n, name->n - n};
            return side;
        }
    return SELF;
}

bool trl_word_key_of(const trl_source_names *names, trl_str name, uint64_t *key)
{
    const unsigned side = take_side(&name);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const size_t n = strlen(kind_name[kind]);
        if (!begins_with(name, kind_name[kind]) || name.n == n || name.p[n] != '=')
            continue;
        const trl_strtab *t = has_word(kind) ? &names->words : &names->labels;
        const bool end = name.n == n + 1 && kind < TAG;
        const uint32_t value = end ? END : trl_strtab_find(t, name.p + n + 1, name.n - n - 1);
        *key = (uint64_t)(kind * SIDES + side) << 32 | value;
        return value != TRL_NO_ID;
    }
    return false;
}
