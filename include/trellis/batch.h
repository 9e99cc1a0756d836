/* batch.h -- many sequences tagged in one call, over threads.
 *
 * What comes out is what a trl_tagger says of one sequence after the other, bit for bit, with any
 * number of threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_BATCH_H
#define TRELLIS_BATCH_H

#include "trellis/dataset.h"
#include "trellis/tagger.h"

TRL_BEGIN_DECLS

/* What is wanted of each sequence, and where it goes: NULL is not wanted.  `tokens` are those of
 * all sequences together, one sequence after the other; first(k) is the first of sequence k. */
typedef struct trl_tag_batch {
    size_t size;           /* of the struct, as the program was compiled */
    size_t threads;        /* 0 (default): one per processor; changes nothing but the time */
    trl_decoding decoding; /* TRL_DECODE_MODEL */
    bool posterior;        /* labels of largest marginal instead of the best labelling */
    size_t nbest;          /* 1: labellings of a sequence */

    uint32_t *labels;  /* [nbest * tokens] nbest * first(k) + rank * n_tokens + position; UINT32_MAX
                          where there are fewer labellings */
    double *scores;    /* [nbest * sequences] k * nbest + rank; -INFINITY where there are fewer */
    size_t *found;     /* [sequences] labellings, at most nbest */
    double *log_z;     /* [sequences] */
    double *marginals; /* [tokens * n_labels] (first(k) + position) * n_labels + label */

    uint64_t *attributes, *unknown; /* looked up, of which the model did not know */
} trl_tag_batch;

TRL_API void trl_tag_batch_init(trl_tag_batch *b, size_t size); /* sizeof *b */

static inline trl_tag_batch trl_tag_batch_default(void)
{
    trl_tag_batch b;
    trl_tag_batch_init(&b, sizeof b);
    return b;
}

/* Tags n sequences.  TRL_EINVAL, TRL_EPARSE, TRL_ENUMERIC and TRL_ENOMEM as the functions of
 * tagger.h, of the first sequence that fails; its number, from 1, is in the message when it has no
 * path.  Answers of the others are then not complete. */
TRL_API trl_status trl_tag_rows(const trl_model *m, const trl_rows *seq, size_t n,
                                const trl_tag_batch *b, trl_error *err);
TRL_API trl_status trl_tag_items(const trl_model *m, const trl_items *seq, size_t n,
                                 const trl_tag_batch *b, trl_error *err);

/* The same for items whose attributes are numbers of the model (trl_model_find_attribute of
 * TRL_SCOPE_LABEL): names are not looked up at all.  UINT32_MAX is an attribute that the model does
 * not know.  Labels and weights are not looked at. */
TRL_API trl_status trl_tag_numbered(const trl_model *m, const trl_numbered_items *seq,
                                    const trl_tag_batch *b, trl_error *err);

TRL_END_DECLS

#endif
