/* transducer.h -- the cheapest transductions of a source tree: bottom-up over its nodes.
 *
 * Every word becomes one of its options, every inner node keeps or swaps its children.  The cost of
 * a transduction is the sum of the costs of its words, its nodes and, where `join` is given, of the
 * pairs of head words that nodes put together:
 *
 *     sum_words option + sum_nodes order + sum_nodes join(head of the head child, head of the
 * other)
 *         + join at the root
 *
 * Where a child has no words, both orders give the same, and the cheaper one is paid.
 *
 * A cell of the chart is a node of the tree.  Items of a cell with the same head word (without
 * `join`: all of them), and either both with words or both without, go on in the same ways: for one
 * answer the cheapest of them is kept.  For several answers items are told apart by their words.
 * Pruning [WTM06]: an item that costs more than `ratio` times the cheapest of its cell is dropped,
 * and all but the `most` cheapest.  Without it the answers are exact.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRANSDUCER_H
#define TRL_TRANSDUCER_H

#include "base/arena.h"
#include "translate/generative.h"

/* A target word for a source word. */
typedef struct trl_word_option {
    uint32_t target; /* TRL_NO_ID: NULL */
    double cost;     /* >= 0 */
} trl_word_option;

/* What is paid for the target head `other` of a child, where `head` is that of its parent and
 * `word` the source word (its place) that became `other`; of the root, with head = TRL_ROOT_HEAD.
 */
typedef double (*trl_join_fn)(const void *ctx, uint32_t word, uint32_t head, uint32_t other);

typedef struct trl_transducer {
    const trl_source *s;
    const trl_word_option *option; /* of word i: option[end[i-1] .. end[i]), at least one */
    const uint32_t *option_end;    /* [n_words] */
    const double (*order)[2]; /* [n_nodes] cost of keeping, of swapping; of words' nodes unused */
    trl_join_fn join;         /* or NULL */
    const void *join_ctx;
    double ratio; /* 0: no limit */
    size_t most;  /* 0: no limit */
    size_t nbest; /* at least 1 */
} trl_transducer;

typedef struct trl_transduced {
    double cost;
    uint32_t *choice;     /* [n_words] the option of a word, from its first */
    unsigned char *order; /* [n_nodes] 1: swapped */
    uint32_t *word;       /* [n] the target words */
    size_t n;
} trl_transduced;

/* The cheapest, best first, none with the words of another; *out is in the arena, which is not
 * reset.  TRL_ENOMEM. */
trl_status trl_transduce(const trl_transducer *t, trl_arena *arena, trl_transduced **out, size_t *n,
                         trl_error *err);

#endif
