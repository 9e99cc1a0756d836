/* held_score.h -- a model's answers on labelled data that it was not trained on. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_HELD_SCORE_H
#define TRL_HELD_SCORE_H

#include "trellis/model.h"
#include "trellis/sequence.h"

/* Files, of which some sequences (graphs, trees) count. */
typedef struct trl_held_data {
    const char *const *paths;
    size_t n_paths;
    trl_format format;    /* of chains; TRL_FORMAT_GUESS: the model's */
    uint64_t every;       /* number N, 2N, ... of all files together; 1: all */
    const uint8_t *which; /* [n_which] or NULL; else number k, from 0, when which[k] is not 0 */
    size_t n_which;
} trl_held_data;

#define TRL_ALL_LAYERS SIZE_MAX

/* One sequence, or one tree.  Everything is borrowed for the call. */
typedef struct trl_held_answer {
    uint64_t number;   /* of the sequence or tree in all files, from 0 */
    size_t n;          /* tokens */
    size_t n_layers;   /* labels of a token: 1 for chains, 0 for trees */
    size_t scored;     /* the layer that counts, or TRL_ALL_LAYERS */
    const char **gold; /* [n_layers][n] labels, NUL-terminated */
    const char **predicted;
    trl_str gold_tree, predicted_tree; /* a line each, without its end */
    size_t right_tags;                 /* of the n words of a tree */
} trl_held_answer;

/* A status other than TRL_OK ends the run with it. */
typedef trl_status (*trl_held_fn)(void *ctx, const trl_held_answer *a, trl_error *err);

/* Is number k, from 0, among them? */
static inline bool trl_held_wanted(const trl_held_data *d, uint64_t k)
{
    return d->which ? k < d->n_which && d->which[k] : (k + 1) % d->every == 0;
}

/* Tags with the model's own decoder and calls fn, in order.  TRL_EPARSE when no sequence is wanted
 * or one has no label, and what reading and tagging return. */
trl_status trl_held_score(const trl_model *m, const trl_held_data *data, trl_held_fn fn, void *ctx,
                          trl_error *err);

#endif
