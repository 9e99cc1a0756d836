/* tree_chunks.c -- base chunks from constituency trees.
 *
 * Nodes are visited in preorder; each phrase that no chunk has swallowed yet cuts chunks out
 * of its own children.  To a phrase, a child is one of
 *
 *     CORE   a word the chunk is made of; the last one is its head
 *     LEAD   joins when a CORE follows without a BREAK between
 *     GLUE   joins only between two COREs: punctuation, coordinators
 *     BREAK  ends the chunk; makes its own
 *
 *   phrase            chunk  CORE                     LEAD                 GLUE
 *   NP WHNP NX NML    NP     any word, flat QP NX     flat ADJP ADVP UCP   CC, punctuation
 *     NAC QP                   NML NAC                  CONJP
 *   VP                VP     verb, modal, to          RB, flat ADVP        CC, punctuation
 *   PP WHPP           PP     IN TO RP VBG VBN         other words          CC
 *   SBAR              SBAR   IN DT WDT VBG VBN        other words          CC
 *   ADJP ADVP WHADJP  as     any word, flat QP NX     as in NP             CC, punctuation
 *     WHADVP PRT INTJ   named  NML NAC
 *     CONJP LST UCP                                                        (CONJP: CC is CORE)
 *   S SQ SINV, rest   VP     verb, when no VP is      --                   --
 *                              among the children
 *
 * "Flat" means without NP, PP, VP, clause, parenthesis or possessive inside.  Further:
 *   - a possessive ending starts an NP, which the possessed words right after it continue:
 *     [Kim] ['s new book]
 *   - in an NP that contains NPs, and in a UCP, own words make a chunk only if one of them
 *     can head it: "all" in (NP (DT all) (NP the men)) stays outside
 *   - an NP whose own words are only determiners, adverbs and the like takes a final ADJP as
 *     its head: [the most important]
 *   - verb groups run on into a VP that follows with nothing but adverbs between, and into a
 *     subjectless clause right after the verb: [has also been expected to begin trading];
 *     commas and coordinators end them: [will buy] and [sell]
 *   - a PP, SBAR or VP without CORE (a wrong part of speech, mostly) takes its own words
 * All that remains is O: punctuation, coordinators, a "not" after the last verb of its group, the
 * inverted auxiliary of a question.  The shared task's corpus sometimes starts a chunk with a comma
 * or a quote, or leaves words outside whose head is out of reach: we do not.
 */
/* SPDX-License-Identifier: MIT */
#include "treebank/tree_chunks.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "treebank/tree_labels.h"

typedef enum part { CORE, LEAD, GLUE, BREAK } part;

enum { TAKEN = 1, JOINS = 2, FLAT = 4, HIDDEN = 8 }; /* node flags; HIDDEN: only -NONE- */

typedef struct node_info {
    unsigned char cat, flags;
} node_info;

typedef struct tag {
    unsigned char chunk; /* a phrase category, or UNKNOWN for O */
    bool begins;
} tag;

struct trl_chunker {
    const trl_strtab *labels;
    unsigned char *leaf_cat, *phrase_cat; /* [cap_cat] by label id */
    size_t cap_cat;
    node_info *info; /* [tree->n_nodes] */
    size_t cap_info;
    tag *tags; /* [tree->n_words] */
    size_t cap_tags;
    unsigned char *word_cat; /* [tree->n_words] */
    size_t cap_word_cat;
    trl_str *cell; /* [3 n_words] */
    size_t cap_cell;
    char *text; /* words that had to be rewritten */
    size_t cap_text;
    const trl_tree *tree;
};

trl_status trl_chunker_new(const trl_strtab *labels, trl_chunker **out, trl_error *err)
{
    trl_chunker *c = trl_zalloc(1, sizeof *c);
    if (!c)
        return trl_fail_mem(err);
    c->labels = labels;
    *out = c;
    return TRL_OK;
}

void trl_chunker_free(trl_chunker *c)
{
    if (!c)
        return;
    trl_free(c->leaf_cat);
    trl_free(c->phrase_cat);
    trl_free(c->info);
    trl_free(c->tags);
    trl_free(c->word_cat);
    trl_free(c->cell);
    trl_free(c->text);
    trl_free(c);
}

/* ---- categories ------------------------------------------------------------------------------ */

static bool learn_categories(trl_chunker *c)
{
    const size_t n = c->labels->n;
    if (n <= c->cap_cat)
        return true;
    size_t cap_leaf = c->cap_cat, cap_phrase = c->cap_cat;
    unsigned char *p = trl_reserve(c->leaf_cat, &cap_leaf, n, 1);
    if (!p)
        return false;
    c->leaf_cat = p;
    p = trl_reserve(c->phrase_cat, &cap_phrase, n, 1);
    if (!p)
        return false;
    c->phrase_cat = p;
    memset(c->leaf_cat + c->cap_cat, TRL_UNKNOWN, cap_leaf - c->cap_cat);
    memset(c->phrase_cat + c->cap_cat, TRL_UNKNOWN, cap_leaf - c->cap_cat);
    c->cap_cat = cap_leaf;
    return true;
}

static trl_category categorise(trl_chunker *c, const trl_node *node)
{
    const bool leaf = node->child == TRL_NO_NODE;
    unsigned char *cat = (leaf ? c->leaf_cat : c->phrase_cat) + node->label;
    if (*cat == TRL_UNKNOWN) {
        const trl_str s = trl_strtab_get(c->labels, node->label);
        *cat = (unsigned char)(leaf ? trl_category_of_leaf(s) : trl_category_of_phrase(s));
    }
    return *cat;
}

/* Categories top-down; FLAT and HIDDEN bottom-up: children come after their parents. */
static void survey(trl_chunker *c)
{
    const trl_tree *t = c->tree;
    for (size_t i = 0; i < t->n_nodes; i++) {
        const trl_category cat = categorise(c, &t->node[i]);
        const bool ends_flat = cat == TRL_CLAUSE || cat == TRL_S || cat == TRL_NP ||
                               cat == TRL_VP || cat == TRL_PP || cat == TRL_SBAR ||
                               cat == TRL_POSSESSIVE;
        const bool leaf = t->node[i].child == TRL_NO_NODE;
        c->info[i].cat = (unsigned char)cat;
        if (leaf)
            c->word_cat[t->node[i].from] = (unsigned char)cat;
        c->info[i].flags =
            (unsigned char)((ends_flat ? 0 : FLAT) | (!leaf || cat == TRL_EMPTY ? HIDDEN : 0));
    }
    for (size_t i = t->n_nodes; i-- > 1;) {
        node_info *up = &c->info[t->node[i].parent];
        if (c->info[i].flags & HIDDEN)
            continue;
        up->flags &= (unsigned char)~HIDDEN;
        if (!(c->info[i].flags & FLAT))
            up->flags &= (unsigned char)~FLAT;
    }
}

/* ---- children as parts of a chunk ------------------------------------------------------------ */

/* NP, ADJP and the like: all own words count. */
static part part_in_nominal(trl_category cat, bool flat, trl_category phrase)
{
    if (cat == TRL_COORD)
        return phrase == TRL_CONJP ? CORE : GLUE;
    if (cat == TRL_PUNCT || cat == TRL_QUOTE)
        return GLUE;
    if (trl_is_leaf(cat))
        return CORE;
    if (!flat)
        return BREAK;
    if (cat == TRL_NX)
        return CORE;
    return cat == TRL_ADJP || cat == TRL_ADVP || cat == TRL_UCP || cat == TRL_CONJP ? LEAD : BREAK;
}

static part part_in_verbal(trl_category cat, bool flat, bool any)
{
    if (cat == TRL_VERB || cat == TRL_VERBAL || cat == TRL_INF || (any && cat == TRL_WORD))
        return CORE;
    if (cat == TRL_ADVERB || (cat == TRL_ADVP && flat))
        return LEAD;
    return cat == TRL_COORD || cat == TRL_PUNCT || cat == TRL_QUOTE ? GLUE : BREAK;
}

/* PP and SBAR: `any` when no child would be CORE otherwise. */
static part part_in_marker(trl_category cat, trl_category phrase, bool any)
{
    if (cat == TRL_COORD)
        return GLUE;
    if (!trl_is_leaf(cat) || cat == TRL_PUNCT || cat == TRL_QUOTE)
        return BREAK;
    if (any || cat == TRL_PREP || cat == TRL_VERBAL ||
        cat == (phrase == TRL_PP ? TRL_INF : TRL_DET))
        return CORE;
    return LEAD;
}

static part part_of(const trl_chunker *c, uint32_t child, trl_category phrase, bool any)
{
    const trl_category cat = c->info[child].cat;
    const bool flat = c->info[child].flags & FLAT;
    switch (phrase) {
    case TRL_VP:
        return part_in_verbal(cat, flat, any);
    case TRL_PP:
    case TRL_SBAR:
        return part_in_marker(cat, phrase, any);
    default:
        return part_in_nominal(cat, flat, phrase);
    }
}

/* ---- cutting chunks -------------------------------------------------------------------------- */

/* The run of children being looked at; children are named by node. */
typedef struct run {
    uint32_t first; /* first node that will be in the chunk, or TRL_NO_NODE */
    uint32_t last;  /* last CORE so far, or TRL_NO_NODE: nothing to cut yet */
    uint32_t tail;  /* an ADJP after `last`, or TRL_NO_NODE */
    bool joins;     /* continues the chunk before it */
    bool heads;     /* holds a word that can head an NP */
    bool nouns;     /* ... which is neither numeral nor determiner */
} run;

static const run no_run = {.first = TRL_NO_NODE, .last = TRL_NO_NODE, .tail = TRL_NO_NODE};

/* Gives words and nodes of the sibling range first .. last to a chunk. */
static void cut(trl_chunker *c, uint32_t first, uint32_t last, trl_category chunk, bool joins)
{
    const trl_node *node = c->tree->node;
    for (uint32_t i = first;; i = node[i].next) {
        c->info[i].flags |= TAKEN;
        if (i == last)
            break;
    }
    for (uint32_t w = node[first].from; w < node[last].to; w++)
        c->tags[w] = (tag){(unsigned char)chunk, w == node[first].from && !joins};
}

/* The next visible sibling from i on, i included. */
static uint32_t visible(const trl_chunker *c, uint32_t i)
{
    while (i != TRL_NO_NODE && (c->info[i].flags & HIDDEN))
        i = c->tree->node[i].next;
    return i;
}

static uint32_t first_child(const trl_chunker *c, uint32_t i)
{
    return visible(c, c->tree->node[i].child);
}

static uint32_t next_child(const trl_chunker *c, uint32_t i)
{
    return visible(c, c->tree->node[i].next);
}

static bool has_child(const trl_chunker *c, uint32_t parent, trl_category cat)
{
    uint32_t i = first_child(c, parent);
    while (i != TRL_NO_NODE && c->info[i].cat != cat)
        i = next_child(c, i);
    return i != TRL_NO_NODE;
}

/* No child is CORE, and none is a phrase of the same category that could hold it. */
static bool lacks_core(const trl_chunker *c, uint32_t parent, trl_category phrase)
{
    uint32_t i = first_child(c, parent);
    while (i != TRL_NO_NODE && c->info[i].cat != phrase && part_of(c, i, phrase, false) != CORE)
        i = next_child(c, i);
    return i == TRL_NO_NODE;
}

/* Cuts out what the run holds.  `strict`: an NP or UCP must hold a word that can head it. */
static void end_run(trl_chunker *c, run *r, trl_category phrase, bool strict)
{
    const trl_category chunk = phrase == TRL_NX ? TRL_NP : phrase;
    if (chunk == TRL_NP && !r->nouns && r->last != TRL_NO_NODE && r->tail != TRL_NO_NODE) {
        r->last = r->tail;
        r->heads = true;
    }
    if (r->last != TRL_NO_NODE && (r->heads || !strict || (chunk != TRL_NP && chunk != TRL_UCP)))
        cut(c, r->first, r->last, chunk, r->joins);
    *r = no_run;
}

static void extend_run(const trl_chunker *c, run *r, uint32_t child, part p)
{
    const trl_category cat = c->info[child].cat;
    if (r->first == TRL_NO_NODE)
        r->first = child;
    if (p == CORE) {
        r->last = child;
        r->tail = TRL_NO_NODE;
        r->heads |= cat == TRL_WORD || cat == TRL_VERBAL || cat == TRL_NX || cat == TRL_POSSESSIVE;
        r->nouns |= cat == TRL_WORD;
    } else if (cat == TRL_ADJP) {
        r->tail = child;
    }
}

/* All phrases but VP and clauses. */
static void cut_phrase(trl_chunker *c, uint32_t parent, trl_category phrase)
{
    const trl_node *node = c->tree->node;
    const bool nominal = phrase == TRL_NP || phrase == TRL_NX;
    const bool strict = phrase == TRL_UCP || has_child(c, parent, TRL_NP);
    const bool any = (phrase == TRL_PP || phrase == TRL_SBAR) && lacks_core(c, parent, phrase);
    run r = no_run;
    for (uint32_t i = first_child(c, parent); i != TRL_NO_NODE; i = next_child(c, i)) {
        const part p = part_of(c, i, phrase, any);
        if (p == BREAK || (nominal && c->info[i].cat == TRL_POSSESSIVE))
            end_run(c, &r, phrase, strict);
        if (p == BREAK || p == GLUE)
            continue;
        if (nominal && r.first == TRL_NO_NODE && node[i].from > node[parent].from)
            r.joins = c->word_cat[node[i].from - 1] == TRL_POSSESSIVE;
        extend_run(c, &r, i, p);
    }
    end_run(c, &r, phrase, strict);
}

/* A clause without a subject, which may continue a verb group. */
static bool subjectless(const trl_chunker *c, uint32_t i)
{
    if (c->info[i].cat != TRL_S)
        return false;
    const uint32_t first = first_child(c, i);
    return first != TRL_NO_NODE && (c->info[first].cat == TRL_VP || c->info[first].cat == TRL_S);
}

/* r->joins on entry: the chunk before continues in this VP. */
static void cut_verb_group(trl_chunker *c, uint32_t parent, run r)
{
    const bool any = lacks_core(c, parent, TRL_VP);
    uint32_t prev = TRL_NO_NODE;
    bool glued = false; /* a comma or coordinator follows the last CORE */
    for (uint32_t i = first_child(c, parent); i != TRL_NO_NODE; i = next_child(c, i)) {
        const trl_category cat = c->info[i].cat;
        const part p = part_of(c, i, TRL_VP, any);
        if ((cat == TRL_VP && !glued) ||
            (subjectless(c, i) && prev != TRL_NO_NODE && r.last == prev)) {
            if (r.first != TRL_NO_NODE)
                cut(c, r.first, prev, TRL_VP, r.joins);
            if (r.first != TRL_NO_NODE || r.joins)
                c->info[i].flags |= JOINS;
            r = no_run;
        } else if (p == BREAK) {
            end_run(c, &r, TRL_VP, false);
        } else if (p == GLUE && cat != TRL_QUOTE && r.last == TRL_NO_NODE) {
            r = no_run;
        } else if (p != GLUE || (r.first == TRL_NO_NODE && r.joins)) {
            extend_run(c, &r, i, p);
        }
        glued = p == GLUE ? glued || cat != TRL_QUOTE : glued && p == LEAD;
        prev = i;
    }
    end_run(c, &r, TRL_VP, false);
}

static void cut_clause(trl_chunker *c, uint32_t parent, bool joins)
{
    const uint32_t first = first_child(c, parent);
    if (joins && subjectless(c, parent))
        c->info[first].flags |= JOINS;
    if (has_child(c, parent, TRL_VP))
        return;
    for (uint32_t i = first, prev = TRL_NO_NODE; i != TRL_NO_NODE; i = next_child(c, i)) {
        const bool verb = c->info[i].cat == TRL_VERB || c->info[i].cat == TRL_VERBAL;
        if (verb)
            cut(c, i, i, TRL_VP, prev != TRL_NO_NODE);
        prev = verb ? i : TRL_NO_NODE;
    }
}

static void cut_all(trl_chunker *c)
{
    const trl_tree *t = c->tree;
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const trl_category cat = c->info[i].cat;
        const bool joins = c->info[i].flags & JOINS;
        if (i > 0)
            c->info[i].flags |= c->info[t->node[i].parent].flags & TAKEN;
        if (trl_is_leaf(cat) || (c->info[i].flags & (TAKEN | HIDDEN)))
            continue;
        run r = no_run;
        r.joins = joins;
        if (cat == TRL_CLAUSE || cat == TRL_S)
            cut_clause(c, i, joins);
        else if (cat == TRL_VP)
            cut_verb_group(c, i, r);
        else
            cut_phrase(c, i, cat);
    }
}

/* ---- the columns ----------------------------------------------------------------------------- */

static trl_str tag_name(trl_category chunk, bool begins)
{
    static const char *const names[][2] = {
        [TRL_NP] = {"I-NP", "B-NP"},       [TRL_VP] = {"I-VP", "B-VP"},
        [TRL_PP] = {"I-PP", "B-PP"},       [TRL_SBAR] = {"I-SBAR", "B-SBAR"},
        [TRL_ADJP] = {"I-ADJP", "B-ADJP"}, [TRL_ADVP] = {"I-ADVP", "B-ADVP"},
        [TRL_PRT] = {"I-PRT", "B-PRT"},    [TRL_CONJP] = {"I-CONJP", "B-CONJP"},
        [TRL_INTJ] = {"I-INTJ", "B-INTJ"}, [TRL_LST] = {"I-LST", "B-LST"},
        [TRL_UCP] = {"I-UCP", "B-UCP"},
    };
    const char *s = chunk == TRL_UNKNOWN ? "O" : names[chunk][begins];
    return (trl_str){s, strlen(s)};
}

/* The word as a cell: blanks, which separate columns, become '_'. */
static trl_str as_cell(trl_str word, char **text)
{
    if (!memchr(word.p, ' ', word.n))
        return word;
    char *to = *text;
    for (size_t i = 0; i < word.n; i++)
        to[i] = word.p[i] == ' ' ? '_' : word.p[i];
    *text += word.n;
    return (trl_str){to, word.n};
}

/* Visible words only; a chunk always begins with B, even when its first word is hidden. */
static size_t fill_cells(trl_chunker *c)
{
    const trl_tree *t = c->tree;
    size_t n = 0;
    char *text = c->text;
    tag before = {0};
    bool begins = false; /* on a hidden word */
    for (size_t i = 0; i < t->n_nodes; i++) {
        const trl_node *node = &t->node[i];
        if (node->child != TRL_NO_NODE)
            continue;
        tag now = c->tags[node->from];
        begins |= now.begins;
        if (c->info[i].cat == TRL_EMPTY)
            continue;
        trl_str *cell = c->cell + 3 * n++;
        cell[0] = as_cell(t->word[node->from], &text);
        cell[1] = trl_strtab_get(c->labels, node->label);
        cell[2] = tag_name(now.chunk, begins || now.chunk != before.chunk);
        before = now;
        begins = false;
    }
    return n;
}

static bool make_room(trl_chunker *c, const trl_tree *t)
{
    if (!learn_categories(c))
        return false;
    node_info *info = trl_reserve(c->info, &c->cap_info, t->n_nodes, sizeof *info);
    if (info)
        c->info = info;
    tag *tags = trl_reserve(c->tags, &c->cap_tags, t->n_words, sizeof *tags);
    if (tags)
        c->tags = tags;
    unsigned char *cats = trl_reserve(c->word_cat, &c->cap_word_cat, t->n_words, 1);
    if (cats)
        c->word_cat = cats;
    trl_str *cell = trl_reserve(c->cell, &c->cap_cell, 3 * t->n_words, sizeof *cell);
    if (cell)
        c->cell = cell;
    size_t bytes = 0;
    for (size_t i = 0; i < t->n_words; i++)
        bytes += t->word[i].n;
    char *text = trl_reserve(c->text, &c->cap_text, bytes, 1);
    if (text)
        c->text = text;
    return info && tags && cats && cell && text;
}

trl_status trl_chunker_run(trl_chunker *c, const trl_tree *tree, trl_rows *out, trl_error *err)
{
    if (!make_room(c, tree))
        return trl_fail_mem(err);
    c->tree = tree;
    memset(c->tags, 0, tree->n_words * sizeof *c->tags);
    survey(c);
    cut_all(c);
    const size_t n = fill_cells(c);
    c->tree = NULL;
    *out = (trl_rows){
        .n_tokens = n, .n_columns = 3, .cell = c->cell, .path = tree->path, .first_row = tree->row};
    return TRL_OK;
}
