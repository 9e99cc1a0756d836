/* tree_template.h -- the feature families of a tree model, as text.
 *
 * One feature family a line: a class of tree parts, then what it is conjoined with.  '#' starts a
 * comment.
 *
 *     base-parent first.form after.form      label of a constituent, its first word, the next word
 *     base-rule split.word                   a rule without annotation, the word after the split
 *     tag here.word                          a tag, its word
 *
 * classes    of words:         tag  base-tag  tag-parent
 *            of binary rules:  rule  base-rule  pp-rule (right child a PP)  verb-rule (a child is a
 *                              verb's tag)  parent  base-parent
 *            of unary rules:   unary base-unary unary-parent base-unary-parent; with -1 added
 *                              (unary-1 ...) only over one word
 * places     here (words); first last before after (of the span), split left (the words right
 *            and left of the split: binary rules only), inside (every word of the span, the
 *            family's sum); with an offset: here-1, first+1, inside+1
 * observed   .word .lower .class .form .tag .suffix2 .suffix3 .cluster .cluster4 .cluster6
 * of spans   length  heavy  shape  short (the length of one or two words, else nothing)
 *
 * rule, base-rule, unary and base-unary alone are always included.  A line @features (@paper,
 * @discriminative, @local) stands for that built-in set, so that a file need only list additions; a
 * model keeps the text with such lines replaced.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_TEMPLATE_H
#define TRL_TREE_TEMPLATE_H

#include "trellis/buf.h"
#include "trellis/sequence.h"
#include "trellis/status.h"

enum trl_part { /* the classes above, in order */
                TRL_PART_TAG,
                TRL_PART_BASE_TAG,
                TRL_PART_TAG_PARENT,
                TRL_PART_RULE,
                TRL_PART_BASE_RULE,
                TRL_PART_PP_RULE,
                TRL_PART_VERB_RULE,
                TRL_PART_PARENT,
                TRL_PART_BASE_PARENT,
                TRL_PART_UNARY,
                TRL_PART_BASE_UNARY,
                TRL_PART_UNARY_PARENT,
                TRL_PART_BASE_UNARY_PARENT,
                TRL_PARTS
};

enum trl_place {                  /* the place of an observation */
                 TRL_PLACE_FIRST, /* relative to i, the first word of the span (or the word itself)
                                   */
                 TRL_PLACE_SPLIT, /* to k */
                 TRL_PLACE_END,   /* to j, after the last word */
                 TRL_PLACE_INSIDE,
                 TRL_PLACE_SPAN, /* the span as a whole */
};

typedef struct trl_observation {
    uint8_t place;
    int8_t offset;
    uint8_t type; /* trl_seen_type */
} trl_observation;

#define TRL_OBSERVATIONS 3

/* What a family's score is attached to, which decides how it is gathered. */
enum trl_attachment {
    TRL_ATTACH_WORD,   /* (tag, i) */
    TRL_ATTACH_ITEM,   /* (parent, i, j) one by one */
    TRL_ATTACH_FIRST,  /* (base parent, i): once per i */
    TRL_ATTACH_END,    /* (base parent, j) */
    TRL_ATTACH_INSIDE, /* (base parent, p): summed over p */
    TRL_ATTACH_EDGE,   /* (rule class, i or k or j): `anchor` says which */
    TRL_ATTACH_UNARY,  /* (unary edge) */
    TRL_ATTACHS
};

typedef struct trl_tree_family {
    uint8_t part, attachment, anchor; /* anchor: TRL_EDGE_FIRST, ... of TRL_ATTACH_EDGE */
    bool one_word;                    /* unary rules over one word only */
    uint8_t n, width;                 /* observations; width: words that `inside` needs */
    trl_observation observation[TRL_OBSERVATIONS];
} trl_tree_family;

#define TRL_TREE_FAMILIES 128

typedef struct trl_tree_template {
    size_t n;
    trl_tree_family family[TRL_TREE_FAMILIES];
    bool annotated_edges; /* some edge family needs whole rules, not base rules */
    bool clusters;        /* some family looks at clusters */
} trl_tree_template;

/* Appends the families of the text.  TRL_EPARSE with name:row:col: an unknown word, a place that
 * does not fit the class, observations of one edge family at different anchors, too many
 * observations. */
trl_status trl_tree_template_parse(trl_tree_template *t, const char *name, const char *text,
                                   size_t size, trl_error *err);

/* True when no family depends on the split, so that rules can be normalised over a span. */
bool trl_tree_template_splitless(const trl_tree_template *t);

/* The text with lines @NAME replaced, appended to out.  Unknown names stay, for _parse to refuse.
 * TRL_ENOMEM. */
trl_status trl_tree_template_expand(const char *text, size_t size, trl_buf *out, trl_error *err);

/* The built-in ones: "discriminative" (rules and lexicon), "paper" ([FKM08] table 1), "features"
 * (the default: the paper's and spans'), "local" (the span's first and last word [SM05b]); NULL for
 * another name. */
const char *trl_tree_template_text(const char *name);

#endif
