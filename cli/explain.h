/* explain.h -- why a token has its label: what differs between two labellings, and as text.
 *
 * The best labelling is compared with another: with itself but for one label, or with any.  What
 * differs between the scores of the two is what the attributes of the tokens with another label
 * add, and the pairs and triples that they are part of.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "tag_print.h"

#define NO_LABEL UINT32_MAX

/* An attribute at the token or at one of the next, and what it adds to the two scores. */
typedef struct explain_part {
    trl_contribution on;
    size_t at; /* the last token that it scores */
    double own, other;
} explain_part;

typedef struct explainer {
    const trl_model *model;
    trl_model_info info;
    trl_tagger *tagger;
    double *w; /* [n_labels^(order + 1)] of one attribute */

    /* The sequence. */
    const tag_sequence *seq;
    size_t n_tokens;
    uint32_t *path;       /* [n_tokens] the best labelling */
    uint32_t *other;      /* [n_tokens] the one that it is compared with */
    double score;         /* of it */
    size_t *begin;        /* [n_tokens + 1] into on; of tokens that are not asked for, empty */
    trl_contribution *on; /* [n_on] */
    size_t cap, on_cap;   /* of path and begin; of on */
    size_t n_on;

    /* The token. */
    explain_part *part; /* [n_parts], the largest first */
    size_t n_parts, part_cap;
} explainer;

/* Borrows the model, a chain.  What trl_tagger_new returns, TRL_ENOMEM; to be followed by fini in
 * any case. */
trl_status explainer_init(explainer *x, const trl_model *m, trl_error *err);
void explainer_fini(explainer *x);

/* Labels a sequence, borrowed until the next, of whose tokens [from, end) will be asked.  As
 * trl_tagger_explain_rows and trl_tagger_viterbi. */
trl_status explainer_set(explainer *x, const tag_sequence *seq, size_t from, size_t end,
                         trl_error *err);

/* Token t with its own label and with another; NO_LABEL: with the runner-up. */
typedef struct explanation {
    size_t t;
    uint32_t other; /* the runner-up is filled in; NO_LABEL: there is no other */
    double by;      /* the difference of the scores; infinite where the other is forbidden */
} explanation;

/* Fills in the explanation, and the parts that its difference is the sum of: none where the labels
 * are the same or the difference is infinite. */
trl_status explainer_compare(explainer *x, explanation *e, trl_error *err);

/* Which labelling the best one is compared with as a whole. */
typedef enum explain_rival {
    EXPLAIN_TOKENS, /* none: token by token */
    EXPLAIN_SECOND, /* the second best */
    EXPLAIN_INPUT,  /* that of the input */
} explain_rival;

/* The whole labelling of the sequence that was set (of which all tokens are asked for) against
 * another.  Fills in e->by, and the parts that it is the sum of; e->other is NO_LABEL where there
 * is no second labelling, and e->t the first token with another label, n_tokens where there is
 * none. TRL_EINVAL, with the place, for a label of the input that the model does not have, or where
 * it has none. */
trl_status explainer_compare_whole(explainer *x, explain_rival rival, explanation *e,
                                   trl_error *err);

/* The same as explain_text and explain_json, of whole labellings. */
void explain_whole_text(const explainer *x, const explanation *e, size_t top, text *out);
void explain_whole_json(const explainer *x, const explanation *e, text *out);

/* explain_print.c: a table of `top` rows (0: all), or a line of JSON. */
void explain_text(const explainer *x, const explanation *e, size_t top, text *out);
void explain_json(const explainer *x, const explanation *e, text *out);

double explain_adds(const explain_part *p);       /* to the difference */
bool explain_is_attribute(const explain_part *p); /* or what the model adds beside them */

#endif
