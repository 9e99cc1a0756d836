/* label_text.h -- what is known of a label, as text: unknown, a set, a distribution, a weight.
 *
 *     ?                 any label
 *     A                 the label A
 *     A|B|C             one of these
 *     A:0.7|B:0.3       A with probability 0.7, B with 0.3
 *     ...@2             any of these, and the token counts twice
 *
 * A ':' is one of these only when a number follows up to the end of the part, an '@' when one
 * follows up to the end of the text, a '?' when it is all there is: other names need no care.  A
 * backslash before \ | : @ or ? takes the meaning from it; before anything else it is itself.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LABEL_TEXT_H
#define TRL_LABEL_TEXT_H

#include "base/buf.h"
#include "trellis/sequence.h"
#include "trellis/status.h"

typedef enum trl_label_kind {
    TRL_LABEL_ONE,  /* the label is known */
    TRL_LABEL_ANY,  /* nothing is known */
    TRL_LABEL_SET,  /* one of two or more */
    TRL_LABEL_SOFT, /* one of two or more, with probabilities */
} trl_label_kind;

typedef struct trl_label_part {
    size_t at, n; /* the name: bytes of trl_label_text.names */
    double p;     /* SOFT: sum to 1; else 1 */
    size_t col;   /* where it begins in the text, from 0 */
} trl_label_part;

/* Zero it before the first use; used again and again it keeps its memory. */
typedef struct trl_label_text {
    trl_label_kind kind;
    double weight;        /* finite, not negative */
    trl_label_part *part; /* [n]; of ANY none */
    size_t n, cap;
    trl_buf names;
} trl_label_text;

static inline trl_str trl_label_part_name(const trl_label_text *x, size_t k)
{
    return (trl_str){x->names.data + x->part[k].at, x->part[k].n};
}

/* Probabilities may miss 1 by 0.01 (three thirds written as 0.33) and are divided by their sum;
 * parts of probability 0 are left out.  TRL_EPARSE with a sentence and a hint, and in *col where in
 * the text (bytes, from 0) it is: an empty name, probabilities of some parts only, out of [0, 1] or
 * of another sum, a weight that is negative or not finite.  That no name is there twice is not
 * checked.  TRL_ENOMEM. */
trl_status trl_label_text_parse(trl_label_text *x, trl_str text, size_t *col, trl_error *err);
void trl_label_text_fini(trl_label_text *x);

#endif
