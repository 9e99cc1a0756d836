/* relation.c -- how a phrase hangs on its sister, in the relations of Universal Dependencies, as
 * far as they follow from categories, order, function tags and a few function words. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "treebank/dependencies.h"
#include "treebank/label.h"

#define NOMINAL " NP NX NML NAC WHNP QP NN NNS NNP NNPS PRP CD $ DT EX WP WDT "
#define CLAUSE " S SINV SQ SBAR SBARQ "
#define VERBS " VB VBD VBZ VBP VBG VBN "

static trl_str head_word(const trl_headed *h, uint32_t node)
{
    return h->tree->word[h->at[node].word];
}

static bool comes_before(const trl_headed *h, uint32_t a, uint32_t b)
{
    return h->tree->node[a].from < h->tree->node[b].from;
}

static bool is_time(const trl_headed *h, uint32_t node)
{
    return trl_headed_function(h, node, "TMP") ||
           trl_word_in(head_word(h, node),
                       " monday tuesday wednesday thursday friday saturday sunday today tomorrow "
                       "yesterday tonight day days week weeks month months year years morning "
                       "afternoon evening night time times hour hours minute minutes ");
}

/* The child of a clause or phrase that is one of `labels`; TRL_NO_NODE: none. */
static uint32_t child_in(const trl_headed *h, uint32_t node, const char *labels)
{
    uint32_t c = trl_headed_first(h, node);
    while (c != TRL_NO_NODE && !trl_headed_in(h, c, labels))
        c = trl_headed_next(h, c);
    return c;
}

/* Has the clause a subject of its own?  "(him) (to go)" has, "to go" has not. */
static bool has_subject(const trl_headed *h, uint32_t clause)
{
    const uint32_t inner = child_in(h, clause, " S SQ SINV VP ");
    if (trl_headed_in(h, clause, " SBAR SBARQ ") && inner != TRL_NO_NODE)
        return has_subject(h, inner);
    const uint32_t np = child_in(h, clause, " NP ");
    return np != TRL_NO_NODE && np != h->at[clause].child;
}

static bool has_wh(const trl_headed *h, uint32_t clause)
{
    return child_in(h, clause, " WHNP WHPP WHADVP WHADJP ") != TRL_NO_NODE;
}

/* "because he left", "when he left", but not "that he left", "whether he left". */
static bool is_adverbial(const trl_headed *h, uint32_t clause)
{
    if (trl_headed_function(h, clause, "ADV") || trl_headed_function(h, clause, "TMP") ||
        trl_headed_function(h, clause, "PRP"))
        return true;
    const uint32_t mark = child_in(h, clause, " IN WHADVP ");
    if (!trl_headed_is(h, clause, "SBAR") || mark == TRL_NO_NODE)
        return false;
    if (trl_headed_is(h, mark, "IN"))
        return !trl_word_in(head_word(h, mark), " that whether if for ");
    return trl_word_in(head_word(h, mark), " when whenever while where ");
}

/* ---- children of clauses and verb phrases ---------------------------------------------------- */

static const char *auxiliary(const trl_headed *h, uint32_t child)
{
    const uint32_t governor = h->at[child].governor;
    if (!trl_headed_is(h, governor, "VP"))
        return trl_word_in(head_word(h, child), trl_forms_of_be) ? "cop" : "aux";
    uint32_t verb = governor;
    while (h->tree->node[verb].child != TRL_NO_NODE)
        verb = trl_headed_first(h, verb);
    const bool be = trl_word_in(
        head_word(h, child), " be is are was were been being am 's 're 'm get gets got getting ");
    return be && trl_headed_in(h, verb, " VBN VBD ") ? "aux:pass" : "aux";
}

/* Is there another noun phrase, not one of time, between this one and the end of the phrase? */
static bool another_follows(const trl_headed *h, uint32_t child)
{
    for (uint32_t c = trl_headed_next(h, child); c != TRL_NO_NODE; c = trl_headed_next(h, c))
        if (trl_headed_is(h, c, "NP") && !is_time(h, c))
            return true;
    return false;
}

static bool subject_follows(const trl_headed *h, uint32_t child)
{
    for (uint32_t c = trl_headed_next(h, child); c != TRL_NO_NODE; c = trl_headed_next(h, c)) {
        if (c == h->at[child].governor)
            return false;
        if (trl_headed_is(h, c, "NP") && !is_time(h, c))
            return true;
    }
    return false;
}

static const char *nominal_of_clause(const trl_headed *h, uint32_t parent, uint32_t child)
{
    const uint32_t governor = h->at[child].governor;
    const bool clause = trl_headed_in(h, parent, " S SQ SINV "), time = is_time(h, child);
    if (trl_label_is(trl_headed_category(h, trl_headed_first(h, child) != TRL_NO_NODE
                                                ? trl_headed_first(h, child)
                                                : child),
                     "EX", 2))
        return "expl";
    if (clause && (trl_headed_function(h, child, "SBJ") ||
                   (!trl_headed_function(h, child, "TMP") && !subject_follows(h, child) &&
                    (comes_before(h, child, governor) || !trl_headed_is(h, parent, "S")))))
        return h->at[parent].passive ? "nsubj:pass" : "nsubj";
    if (time || clause)
        return "obl:unmarked";
    if (trl_word_in(head_word(h, governor), trl_forms_of_be))
        return "nsubj"; /* "there is a bus" */
    return another_follows(h, child) ? "iobj" : "obj";
}

static const char *clause_of_clause(const trl_headed *h, uint32_t parent, uint32_t child)
{
    const uint32_t governor = h->at[child].governor;
    if (trl_headed_in(h, parent, " S SQ SINV SBARQ ")) {
        if (trl_headed_in(h, governor, " S SINV SQ "))
            return "parataxis";
        if (!comes_before(h, child, governor) || trl_headed_is(h, parent, "SINV"))
            return trl_headed_is(h, parent, "SINV") ? "ccomp" : "advcl";
        if (trl_headed_function(h, child, "TPC") || trl_headed_function(h, child, "CLF"))
            return "ccomp";
        if (subject_follows(h, child))
            return is_adverbial(h, child) || !has_subject(h, child) ? "advcl" : "ccomp";
        return trl_headed_is(h, child, "SBAR") && is_adverbial(h, child) ? "advcl" : "csubj";
    }
    if (is_adverbial(h, child))
        return "advcl";
    return trl_headed_is(h, child, "SBAR") || has_subject(h, child) ? "ccomp" : "xcomp";
}

/* "(was) seen by them" */
static const char *prepositional(const trl_headed *h, uint32_t parent, uint32_t child)
{
    const bool by = trl_word_in(h->tree->word[h->tree->node[child].from], " by ");
    uint32_t up = parent;
    while (up != 0 && !h->at[up].passive && trl_headed_is(h, h->tree->node[up].parent, "VP"))
        up = h->tree->node[up].parent;
    if (trl_headed_in(h, child, " PP ") && trl_headed_in(h, h->at[child].child, " S SBAR VP "))
        return "advcl";
    return by && h->at[up].passive ? "obl:agent" : "obl";
}

static const char *of_clause(const trl_headed *h, uint32_t parent, uint32_t child)
{
    if (trl_headed_in(h, child, VERBS " MD AUX "))
        return auxiliary(h, child);
    if (trl_headed_is(h, child, "TO"))
        return "mark";
    if (trl_headed_in(h, child, " IN DT "))
        return "mark";
    if (trl_headed_in(h, child, NOMINAL))
        return nominal_of_clause(h, parent, child);
    if (trl_headed_in(h, child, CLAUSE))
        return clause_of_clause(h, parent, child);
    if (trl_headed_in(h, child, " PP WHPP "))
        return prepositional(h, parent, child);
    if (trl_headed_in(h, child, " PRT RP "))
        return "compound:prt";
    if (trl_headed_in(h, child, " ADJP JJ VP "))
        return trl_headed_is(h, child, "VP") || comes_before(h, child, h->at[child].governor)
                   ? "advcl"
                   : "xcomp";
    return "advmod";
}

/* ---- children of noun phrases and the rest --------------------------------------------------- */

static bool is_possessive(const trl_headed *h, uint32_t node)
{
    return child_in(h, node, " POS ") != TRL_NO_NODE;
}

static const char *of_nominal(const trl_headed *h, uint32_t child)
{
    const uint32_t governor = h->at[child].governor;
    const bool before = comes_before(h, child, governor);
    if (trl_headed_in(h, child, " DT WDT "))
        return "det";
    if (trl_headed_is(h, child, "PDT"))
        return "det:predet";
    if (trl_headed_in(h, child, " PRP$ WP$ ") || is_possessive(h, child))
        return "nmod:poss";
    if (trl_headed_is(h, child, "POS"))
        return "case";
    if (trl_headed_in(h, child, " CD QP ") && before)
        return "nummod";
    if (trl_headed_in(h, child, " NN NNS NNP NNPS NML NX NAC FW "))
        return "compound";
    if (trl_headed_in(h, child, " NP NX QP CD $ "))
        return before ? "compound" : is_time(h, child) ? "nmod:unmarked" : "appos";
    if (trl_headed_in(h, child, " JJ JJR JJS ADJP VBN VBG WHADJP "))
        return "amod";
    if (trl_headed_in(h, child, " PP WHPP "))
        return "nmod";
    if (trl_headed_in(h, child, " SBAR SBARQ "))
        return has_wh(h, child) || child_in(h, child, " IN ") == TRL_NO_NODE ? "acl:relcl" : "acl";
    if (trl_headed_in(h, child, " S VP RRC SINV "))
        return "acl";
    return trl_headed_in(h, child, " IN TO ") ? "case" : "advmod";
}

static const char *of_preposition(const trl_headed *h, uint32_t child)
{
    const uint32_t governor = h->at[child].governor;
    if (trl_headed_in(h, child, " IN TO VBG VBN RP JJ CC "))
        return trl_headed_in(h, governor, CLAUSE " VP ") ? "mark" : "case";
    if (trl_headed_in(h, child, " PP "))
        return "nmod";
    return trl_headed_in(h, child, NOMINAL) ? "obl:unmarked" : "advmod";
}

static const char *of_wh_clause(const trl_headed *h, uint32_t child)
{
    const uint32_t clause = h->at[child].governor;
    if (trl_headed_in(h, child, " IN DT TO "))
        return "mark";
    if (trl_headed_is(h, child, "WHNP"))
        return has_subject(h, clause) ? "obj" : h->at[clause].passive ? "nsubj:pass" : "nsubj";
    if (trl_headed_in(h, child, " WHPP PP "))
        return "obl";
    return trl_headed_in(h, child, CLAUSE) ? "advcl" : "advmod";
}

static const char *of_modifier(const trl_headed *h, uint32_t child)
{
    if (trl_headed_in(h, child, " PP WHPP "))
        return "obl";
    if (trl_headed_in(h, child, " NP NN NNS QP CD "))
        return "obl:unmarked";
    if (trl_headed_in(h, child, " S "))
        return has_subject(h, child) ? "ccomp" : "xcomp";
    if (trl_headed_in(h, child, " SBAR "))
        return is_adverbial(h, child) ? "advcl" : "ccomp";
    if (trl_headed_in(h, child, " JJ "))
        return "amod";
    return trl_headed_in(h, child, " IN TO ") ? "case" : "advmod";
}

/* ---- any ------------------------------------------------------------------------------------- */

const char *trl_relation(const trl_headed *h, uint32_t child)
{
    const uint32_t parent = h->tree->node[child].parent;
    if (h->at[child].conjunct != TRL_NO_CONJUNCT)
        return h->at[child].conjunct == TRL_CONJUNCT ? "conj" : "cc";
    if (trl_headed_punctuation(h, child))
        return "punct";
    if (trl_headed_in(h, child, " CC CONJP "))
        return "cc";
    if (trl_headed_in(h, child, " INTJ UH "))
        return "discourse";
    if (trl_headed_in(h, child, " PRN "))
        return "parataxis";
    if (trl_headed_in(h, child, " LST LS "))
        return "list";
    if (trl_headed_in(h, parent, " SBAR SBARQ "))
        return of_wh_clause(h, child);
    if (trl_headed_in(h, parent, " S SQ SINV VP "))
        return of_clause(h, parent, child);
    if (trl_headed_in(h, parent, " NP NX NML NAC WHNP "))
        return of_nominal(h, child);
    if (trl_headed_in(h, parent, " PP WHPP "))
        return of_preposition(h, child);
    if (trl_headed_in(h, parent, " ADJP ADVP WHADJP WHADVP "))
        return of_modifier(h, child);
    if (trl_headed_is(h, parent, "QP"))
        return trl_headed_in(h, child, " CD ") ? "compound" : "advmod";
    if (trl_headed_is(h, parent, "CONJP"))
        return "fixed";
    return trl_headed_in(h, child, CLAUSE " VP FRAG NP ") ? "parataxis" : "dep";
}

const char *trl_universal_tag(trl_str word, trl_str tag, const char *relation)
{
    static const struct {
        const char *tags, *universal;
    } table[] = {
        {" NN NNS ", "NOUN"},
        {" NNP NNPS ", "PROPN"},
        {" JJ JJR JJS AFX ", "ADJ"},
        {" RB RBR RBS WRB ", "ADV"},
        {" VB VBD VBZ VBP VBG VBN ", "VERB"},
        {" MD ", "AUX"},
        {" PRP PRP$ EX WP WP$ ", "PRON"},
        {" DT PDT WDT ", "DET"},
        {" IN RP ", "ADP"},
        {" TO POS ", "PART"},
        {" CD ", "NUM"},
        {" CC ", "CCONJ"},
        {" UH ", "INTJ"},
        {" $ # SYM ", "SYM"},
        {" `` '' , . : -LRB- -RRB- HYPH NFP -LSB- -RSB- \" ", "PUNCT"},
    };
    const char *found = "X";
    char padded[16];
    if (tag.n == 0 || tag.n > 10 || memchr(tag.p, 0, tag.n) || memchr(tag.p, ' ', tag.n))
        return found;
    padded[0] = ' ';
    memcpy(padded + 1, tag.p, tag.n);
    memcpy(padded + 1 + tag.n, " ", 2);
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (strstr(table[k].tags, padded))
            found = table[k].universal;
    const bool verb = !strcmp(found, "VERB"), det = !strcmp(found, "DET");
    if (verb && (!strncmp(relation, "aux", 3) || !strcmp(relation, "cop")))
        return "AUX";
    if (det && strncmp(relation, "det", 3) != 0)
        return "PRON";
    if (!strcmp(relation, "mark") && !strcmp(found, "ADP"))
        return "SCONJ";
    if (trl_label_is(tag, "TO", 2) && strcmp(relation, "mark") != 0)
        return "ADP";
    return trl_word_in(word, " not n't ") ? "PART" : found;
}
