/* content_heads.c -- the content word that stands for a phrase, and which sister hangs on which. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "treebank/dependencies.h"
#include "treebank/label.h"

const char trl_forms_of_be[] = " be is are was were been being am 's 're 'm ai ";
const char trl_auxiliary_forms[] =
    " be is are was were been being am 's 're 'm ai have has had having 've 'd do does did get "
    "gets got getting ";

#define VERBS " VB VBD VBZ VBP VBG VBN "
#define NOUNS " NN NNS NNP NNPS NX NML "

/* ---- small questions ------------------------------------------------------------------------- */

/* Is `s` one of the words of a list with a blank before and after each? */
static bool is_listed(trl_str s, const char *list)
{
    for (const char *p = list; (p = strchr(p, ' ')) && p[1]; p++)
        if (strncmp(p + 1, s.p, s.n) == 0 && p[1 + s.n] == ' ')
            return s.n > 0;
    return false;
}

bool trl_word_in(trl_str word, const char *list)
{
    char lower[16];
    if (word.n >= sizeof lower)
        return false;
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == 0 || word.p[i] == ' ')
            return false;
        lower[i] = word.p[i] >= 'A' && word.p[i] <= 'Z' ? (char)(word.p[i] + 32) : word.p[i];
    }
    return is_listed((trl_str){lower, word.n}, list);
}

trl_str trl_headed_category(const trl_headed *h, uint32_t node)
{
    return trl_label_category(trl_tree_label(h->tree, node));
}

bool trl_headed_is(const trl_headed *h, uint32_t node, const char *category)
{
    return trl_label_is(trl_headed_category(h, node), category, strlen(category));
}

bool trl_headed_in(const trl_headed *h, uint32_t node, const char *list)
{
    const trl_str s = trl_headed_category(h, node);
    return !memchr(s.p, 0, s.n) && is_listed(s, list);
}

bool trl_headed_function(const trl_headed *h, uint32_t node, const char *function)
{
    const trl_str s = trl_tree_label(h->tree, node);
    const size_t n = strlen(function);
    for (size_t i = trl_label_category(s).n; i + n < s.n; i++)
        if (s.p[i] == '-' && memcmp(s.p + i + 1, function, n) == 0 &&
            (i + 1 + n == s.n || s.p[i + 1 + n] == '-' || s.p[i + 1 + n] == '='))
            return true;
    return false;
}

static uint32_t skip_empty(const trl_headed *h, uint32_t node)
{
    while (node != TRL_NO_NODE && h->at[node].word == TRL_NO_NODE)
        node = h->tree->node[node].next;
    return node;
}

uint32_t trl_headed_next(const trl_headed *h, uint32_t node)
{
    return skip_empty(h, h->tree->node[node].next);
}

uint32_t trl_headed_first(const trl_headed *h, uint32_t node)
{
    return skip_empty(h, h->tree->node[node].child);
}

bool trl_headed_punctuation(const trl_headed *h, uint32_t node)
{
    return trl_headed_in(h, node, " `` '' , . : -LRB- -RRB- HYPH NFP -LSB- -RSB- \" ");
}

/* ---- the head among sisters ------------------------------------------------------------------ */

/* Lists are tried in order: the first ('<') or last ('>') sister with one of the labels. */
typedef struct rule {
    const char *parents;
    struct {
        char side;
        const char *labels;
    } list[5];
} rule;

static const rule rules[] = {
    {" NP NX NML NAC ",
     {{'>', NOUNS},
      {'<', " NP "},
      {'>', " $ "},
      {'>', " CD QP PRP "},
      {'>', " JJ JJS JJR ADJP DT "}}},
    {" WHNP ", {{'>', NOUNS " NP "}, {'<', " WHNP "}, {'>', " WP WDT WP$ CD "}}},
    {" PP WHPP ",
     {{'>', " NP WHNP NML NX QP "},
      {'>', " S SBAR VP SBARQ "},
      {'>', " ADJP PP ADVP UCP "},
      {'<', " IN TO "}}},
    {" VP ", {{'<', VERBS}, {'<', " VP "}, {'<', " MD TO "}, {'<', " ADJP NP PP "}}},
    {" S ", {{'>', " VP "}, {'<', " S SINV SQ SBAR SBARQ "}, {'>', " ADJP NP PP UCP ADVP "}}},
    {" SQ SINV ", {{'<', " VP "}, {'<', VERBS}, {'<', " MD "}, {'<', " S SQ SINV SBAR NP ADJP "}}},
    {" SBAR SBARQ ", {{'<', " S SQ SINV "}, {'<', " SBAR SBARQ VP FRAG NP "}}},
    {" ADJP WHADJP ",
     {{'>', " JJ JJR JJS VBN VBG "},
      {'<', " ADJP "},
      {'>', " NN NNS NNP CD $ QP "},
      {'>', " RB RBR IN DT "}}},
    {" ADVP WHADVP ",
     {{'>', " RB RBR RBS "}, {'<', " ADVP "}, {'>', " WRB "}, {'>', " IN JJ JJR RP "}}},
    {" QP ", {{'<', " $ "}, {'>', " CD QP "}, {'>', " NN NNS "}}},
    {" PRT ", {{'>', " RP "}}},
    {" FRAG PRN X UCP RRC ",
     {{'<', " S SINV SQ VP "}, {'<', " NP NN NNS NNP ADJP "}, {'<', " PP SBAR ADVP "}}},
    {" TOP ROOT S1 VROOT ", {{'<', " S SINV SQ SBARQ SBAR VP "}, {'<', " NP FRAG "}}},
};

static uint32_t search(const trl_headed *h, uint32_t from, uint32_t stop, char side,
                       const char *labels)
{
    uint32_t found = TRL_NO_NODE;
    for (uint32_t c = from; c != stop && c != TRL_NO_NODE; c = trl_headed_next(h, c)) {
        if (!trl_headed_in(h, c, labels))
            continue;
        found = c;
        if (side == '<')
            break;
    }
    return found;
}

/* A noun phrase of time after a verb: not what is said of a subject. */
static bool is_time(const trl_headed *h, uint32_t node)
{
    return trl_headed_function(h, node, "TMP");
}

/* "There is a bus": no predicate but "is" itself.  Sisters before the phrase have no heads yet. */
static bool subject_is_there(const trl_headed *h, uint32_t phrase)
{
    const trl_node *node = h->tree->node;
    while (phrase != 0 && trl_headed_is(h, node[phrase].parent, "VP"))
        phrase = node[phrase].parent;
    if (phrase == 0)
        return false;
    for (uint32_t c = node[node[phrase].parent].child; c != phrase; c = node[c].next)
        if (node[c].child != TRL_NO_NODE && trl_headed_is(h, node[c].child, "EX"))
            return true;
    return false;
}

/* Of "(is) (it) good": the predicate after a form of "be"; TRL_NO_NODE: none.  In a question the
 * first noun phrase is the subject. */
static uint32_t predicate(const trl_headed *h, uint32_t parent, uint32_t from, uint32_t stop)
{
    bool be = false, subject = trl_headed_is(h, parent, "VP");
    uint32_t adverb = TRL_NO_NODE;
    if (!trl_headed_in(h, parent, " VP SQ SINV ") || (subject && subject_is_there(h, parent)))
        return TRL_NO_NODE;
    for (uint32_t c = from; c != stop && c != TRL_NO_NODE; c = trl_headed_next(h, c)) {
        if (trl_headed_in(h, c, " VP "))
            return TRL_NO_NODE;
        if (trl_headed_in(h, c, VERBS)) {
            if (be || !trl_word_in(h->tree->word[h->at[c].word], trl_forms_of_be))
                return TRL_NO_NODE;
            be = true;
        } else if (be && !subject && trl_headed_is(h, c, "NP")) {
            subject = true;
            if (trl_label_is(trl_headed_category(h, trl_headed_first(h, c)), "EX", 2))
                return TRL_NO_NODE;
        } else if (be && trl_headed_in(h, c, " NP ADJP PP UCP JJ NN NNS QP ") && !is_time(h, c))
            return c;
        else if (be && adverb == TRL_NO_NODE && trl_headed_in(h, c, " ADVP PRT "))
            adverb = c; /* "you are in" */
    }
    return adverb;
}

/* Of "will have (gone)" the verb phrase; TRL_NO_NODE where another verb comes first: "let go". */
static uint32_t below_auxiliaries(const trl_headed *h, uint32_t from, uint32_t stop)
{
    for (uint32_t c = from; c != stop && c != TRL_NO_NODE; c = trl_headed_next(h, c)) {
        if (trl_headed_is(h, c, "VP"))
            return c;
        if (trl_headed_in(h, c, VERBS) &&
            !trl_word_in(h->tree->word[h->at[c].word], trl_auxiliary_forms))
            return TRL_NO_NODE;
    }
    return TRL_NO_NODE;
}

/* The head of the sisters [from, stop). */
static uint32_t pick(const trl_headed *h, uint32_t parent, uint32_t from, uint32_t stop)
{
    uint32_t found = predicate(h, parent, from, stop);
    if (found != TRL_NO_NODE)
        return found;
    found = trl_headed_is(h, parent, "VP") ? below_auxiliaries(h, from, stop) : TRL_NO_NODE;
    if (found != TRL_NO_NODE)
        return found;
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (size_t k = 0; k < 5 && trl_headed_in(h, parent, rules[r].parents); k++)
            if (rules[r].list[k].labels && (found = search(h, from, stop, rules[r].list[k].side,
                                                           rules[r].list[k].labels)) != TRL_NO_NODE)
                return found;
    for (uint32_t c = from; c != stop && c != TRL_NO_NODE; c = trl_headed_next(h, c))
        if (!trl_headed_punctuation(h, c) && !trl_headed_in(h, c, " CC POS "))
            return c;
    return from;
}

/* ---- coordination ---------------------------------------------------------------------------- */

static bool is_conjunction(const trl_headed *h, uint32_t node)
{
    return trl_headed_in(h, node, " CC CONJP ");
}

/* Nouns, verbs and phrases of either are alike, whatever their form; else the category counts. */
static bool are_alike(const trl_headed *h, uint32_t a, uint32_t b)
{
    static const char *const group[] = {NOUNS " NP PRP QP CD ", VERBS " VP ",
                                        " S SINV SQ SBAR ",     " JJ JJR JJS ADJP VBN VBG ",
                                        " RB RBR ADVP ",        " PP "};
    for (size_t g = 0; g < sizeof group / sizeof *group; g++)
        if (trl_headed_in(h, a, group[g]) && trl_headed_in(h, b, group[g]))
            return true;
    return false;
}

/* The end of the conjunct that begins at `from`: the next conjunction, or a comma with something
 * like `model` on both of its sides. */
static uint32_t conjunct_end(const trl_headed *h, uint32_t from, uint32_t model)
{
    bool seen = false;
    for (uint32_t c = from; c != TRL_NO_NODE; c = trl_headed_next(h, c)) {
        if (is_conjunction(h, c))
            return c;
        if (seen && trl_headed_in(h, c, " , : ")) {
            uint32_t d = trl_headed_next(h, c);
            for (; d != TRL_NO_NODE && !is_conjunction(h, d) && !trl_headed_in(h, d, " , : ");
                 d = trl_headed_next(h, d))
                if (are_alike(h, d, model))
                    return c;
            if (d != TRL_NO_NODE && is_conjunction(h, d) && d == trl_headed_next(h, c))
                return c;
        }
        seen |= are_alike(h, c, model);
    }
    return TRL_NO_NODE;
}

/* The last conjunction that has words on both sides; TRL_NO_NODE: no coordination. */
static uint32_t last_conjunction(const trl_headed *h, uint32_t parent)
{
    uint32_t last = TRL_NO_NODE;
    bool before = false;
    for (uint32_t c = trl_headed_first(h, parent); c != TRL_NO_NODE; c = trl_headed_next(h, c)) {
        if (before && is_conjunction(h, c) && trl_headed_next(h, c) != TRL_NO_NODE &&
            !trl_headed_punctuation(h, trl_headed_next(h, c)))
            last = c;
        before |= !trl_headed_punctuation(h, c) && !is_conjunction(h, c);
    }
    return last;
}

/* "fresh and cold water": the conjunction joins two modifiers of one head, the sisters around it.
 * The second of them hangs on the first. */
static bool join_modifiers(trl_headed *h, uint32_t parent, uint32_t conjunction, uint32_t head)
{
    uint32_t left = TRL_NO_NODE;
    const uint32_t right = trl_headed_next(h, conjunction);
    for (uint32_t c = trl_headed_first(h, parent); c != conjunction; c = trl_headed_next(h, c)) {
        if (c == head)
            return false;
        left = c;
    }
    if (right == head || !trl_headed_in(h, parent, " NP NX NML ADJP QP ") || left == TRL_NO_NODE ||
        !are_alike(h, left, right))
        return false;
    h->at[right].governor = left;
    h->at[right].conjunct = TRL_CONJUNCT;
    h->at[conjunction].governor = right;
    h->at[conjunction].conjunct = TRL_CONJUNCTION;
    return true;
}

static uint32_t hang_conjuncts(trl_headed *h, uint32_t parent, uint32_t conjunction)
{
    const uint32_t model = pick(h, parent, trl_headed_next(h, conjunction), TRL_NO_NODE);
    uint32_t first = TRL_NO_NODE, from = trl_headed_first(h, parent), separator = from;
    while (from != TRL_NO_NODE) {
        uint32_t stop = conjunct_end(h, from, model);
        const uint32_t head = stop == from ? TRL_NO_NODE : pick(h, parent, from, stop);
        for (uint32_t c = from; head != TRL_NO_NODE && c != stop; c = trl_headed_next(h, c))
            h->at[c].governor = head;
        if (head != TRL_NO_NODE) { /* what stands between this conjunct and the one before it */
            for (uint32_t c = separator; c != from; c = trl_headed_next(h, c)) {
                h->at[c].governor = head;
                h->at[c].conjunct = is_conjunction(h, c) ? TRL_CONJUNCTION : TRL_NO_CONJUNCT;
            }
            h->at[head].governor = first;
            h->at[head].conjunct = first == TRL_NO_NODE ? TRL_NO_CONJUNCT : TRL_CONJUNCT;
            first = first == TRL_NO_NODE ? head : first;
            separator = stop;
        }
        from = stop == TRL_NO_NODE ? stop : trl_headed_next(h, stop);
    }
    for (uint32_t c = separator; c != TRL_NO_NODE; c = trl_headed_next(h, c))
        if (c != first && h->at[c].governor == TRL_NO_NODE)
            h->at[c].governor = first;
    return first;
}

/* ---- all nodes ------------------------------------------------------------------------------- */

static bool is_passive(const trl_headed *h, uint32_t node)
{
    const uint32_t head = h->at[node].child;
    if (h->at[head].passive)
        return true;
    if (!trl_headed_in(h, node, " VP SQ SINV ") || !trl_headed_is(h, head, "VP"))
        return false;
    uint32_t verb = head;
    while (h->tree->node[verb].child != TRL_NO_NODE)
        verb = trl_headed_first(h, verb);
    if (!trl_headed_in(h, verb, " VBN VBD "))
        return false;
    for (uint32_t c = trl_headed_first(h, node); c != head; c = trl_headed_next(h, c))
        if (trl_headed_in(h, c, VERBS) &&
            trl_word_in(h->tree->word[h->at[c].word],
                        " be is are was were been being am 's 're 'm get gets got getting "))
            return true;
    return false;
}

void trl_find_heads(trl_headed *h)
{
    const trl_tree *t = h->tree;
    for (uint32_t i = 0; i < t->n_nodes; i++)
        h->at[i] = (trl_headed_node){TRL_NO_NODE, TRL_NO_NODE, TRL_NO_NODE, TRL_NO_CONJUNCT, false};
    for (uint32_t i = (uint32_t)t->n_nodes; i-- > 0;) {
        trl_headed_node *at = &h->at[i];
        if (t->node[i].child == TRL_NO_NODE) {
            if (!trl_label_is_empty(trl_tree_label(t, i)))
                at->word = t->node[i].from;
            continue;
        }
        const uint32_t first = trl_headed_first(h, i);
        if (first == TRL_NO_NODE)
            continue;
        const uint32_t conjunction = last_conjunction(h, i);
        at->child = pick(h, i, first, TRL_NO_NODE);
        const bool joined =
            conjunction != TRL_NO_NODE && join_modifiers(h, i, conjunction, at->child);
        if (conjunction != TRL_NO_NODE && !joined)
            at->child = hang_conjuncts(h, i, conjunction);
        for (uint32_t c = first; c != TRL_NO_NODE; c = trl_headed_next(h, c))
            if (c != at->child && h->at[c].governor == TRL_NO_NODE)
                h->at[c].governor = at->child;
        at->word = h->at[at->child].word;
        at->passive = is_passive(h, i);
    }
}
