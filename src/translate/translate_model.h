/* translate_model.h -- what a translator has learnt, and its file.
 *
 * Every source word has candidates, target words or NULL, and an inner node keeps or swaps its
 * children.  A classifier of boosted trees gives h of a candidate (of swapping); without one h is
 * the log odds of the counts,
 *
 *     h = ln((c + 1/2) / (C - c + 1/2)),   c times out of C,   cost = ln(1 + exp(-h)).
 *
 * A container of kind "mt":
 *
 *     settings  text                        heads    the rules for heads
 *     word...   source words (strtab_io.h)  labl...  labels of source trees
 *     targ...   target words                candend  u64[words] candidates up to the end of a
 * word's cand      trl_candidate of all        order    trl_order of every label boost     a model
 * of boosted trees    parser   a parser's model, or nothing
 *               or nothing
 *     total     u32[words] times in training   null   trl_null_cost; both may be missing
 *     bilex     trl_bilexical: of a generative model (generative.h), whose c0 are the candidates'
 *               counts; gorder, u64[2]: keys and counts of orders
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRANSLATE_MODEL_H
#define TRL_TRANSLATE_MODEL_H

#include "boost/model.h"
#include "translate/generative.h"
#include "translate/word_features.h"
#include "trellis/translate.h"

#define TRL_TRANSLATE_KIND "mt"

typedef struct trl_candidate {
    uint32_t target; /* TRL_NO_ID: NULL */
    uint32_t count;
    uint32_t classifier; /* TRL_NO_ID: none */
} trl_candidate;

/* What it costs to leave a word out: min(c + add, most), c by the model; `most` alone where NULL is
 * not a candidate.  Chosen by tuning; zeros: as the model says. */
typedef struct trl_null_cost {
    double add;  /* >= 0 */
    double most; /* 0: no limit */
} trl_null_cost;

/* c(w, v', v). */
typedef struct trl_bilexical {
    uint32_t word, head, target, count;
} trl_bilexical;

typedef struct trl_order {
    uint32_t kept, swapped; /* counts */
    uint32_t classifier;    /* of swapping; TRL_NO_ID: none */
} trl_order;

struct trl_translate_model {
    trl_source_names names;
    trl_strtab targets;
    trl_head_rules *heads;
    trl_candidate
        *candidate;          /* of word w: candidate[end[w-1] .. end[w]), the most frequent first */
    uint64_t *candidate_end; /* [words] */
    uint32_t *total;         /* [words] times in training, of words with classifiers those of their
                                candidates alone; NULL: not known */
    trl_null_cost null;
    trl_order *order;       /* [labels] */
    trl_boost_model *boost; /* classifiers of candidates and orders */
    trl_key_index index;    /* keys to features of boost */
    trl_generative generative;
    bool is_generative; /* then it has no classifiers */
    trl_str parser;     /* the bytes of a parser's model; n = 0: none */
    const char *settings;
    trl_container *file; /* NULL: made by training */
};                       /* zero-initialise; release with _fini */

void trl_translate_model_fini(trl_translate_model *m);

static inline uint64_t trl_candidates_begin(const trl_translate_model *m, uint32_t word)
{
    return word ? m->candidate_end[word - 1] : 0;
}

/* Fills c0 of the generative model from the candidates.  TRL_ENOMEM. */
trl_status trl_translate_model_base(trl_translate_model *m, trl_error *err);

/* Makes `index` of the names of boost.  TRL_ENOMEM. */
trl_status trl_translate_model_index(trl_translate_model *m, trl_error *err);

/* Writes the model: into `path`, atomically.  TRL_EIO, TRL_ENOMEM. */
trl_status trl_translate_model_save(const trl_translate_model *m, const char *path, trl_error *err);

/* Reads and checks one; `c` then belongs to the model, also on failure.  TRL_EMODEL, TRL_ENOMEM. */
trl_status trl_translate_model_load(trl_translate_model *m, trl_container *c, trl_error *err);

/* ln(1 + exp(-h)) */
double trl_inference_cost(double h);

/* The cost of NULL, `c` by the model. */
double trl_null_cost_of(const trl_null_cost *x, double c);

#endif
