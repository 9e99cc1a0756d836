/* tagger_parts.h -- private: the tagger object. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TAGGER_PARTS_H
#define TRL_TAGGER_PARTS_H

#include "chain/chain.h"
#include "chain/posterior.h"
#include "chain/tag_expand.h"
#include "chain/tag_kernel.h"
#include "feature/feature_expand.h"
#include "model/model.h"
#include "trellis/batch.h"

struct trl_tagger {
    const trl_chain_model *m;
    trl_chain chain;   /* of the constant attributes */
    trl_tables tables; /* of the current sequence; n = 0: there is none */
    bool is_local;
    bool any_scores;          /* probabilities of scores that are not log-probabilities, too */
    trl_chain rows;           /* for tables made from those of the sequence: `own`, in the */
    trl_tables own;           /* arena, locally normalised or calibrated */
    double cool;              /* scores are multiplied by it, 1 / temperature; 1: as they are */
    bool has_temperature;     /* which makes probabilities of any scores */
    trl_chain cooled;         /* as `chain`, its shared scores times `cool`; unless that is 1 */
    size_t cap[TRL_FAMILIES]; /* doubles in tables.row */
    bool has_rows[TRL_FAMILIES];
    trl_arena arena;              /* scratch of one answer */
    size_t *line[TRL_FAMILIES];   /* template lines that make attributes of it ... */
    size_t n_lines[TRL_FAMILIES]; /* ... other than the constant one */
    trl_expander *expander;       /* of the template; NULL for items and templates in words */
    trl_feature_expander *words;  /* of a template in words */
    trl_names made;               /* its attributes at one position */
    trl_rows sequence;            /* of the expander */
    trl_buf text;                 /* names of the block, from the template */
    trl_tag_key key[TRL_TAG_BLOCK];
    size_t n_keys;
    uint64_t attributes, unknown;
    uint32_t *value; /* q0's values of the sequence */
    trl_str *masked; /* its cells, those that q0 does not know masked */
    size_t value_cap, masked_cap;
    struct trl_constrained *constrained; /* constrained.h; NULL: nothing was ever asked for */
    trl_contribution *contribution;      /* of the token that was asked for */
    size_t n_contributions, contribution_cap;
    trl_chunking chunking; /* of the labels; made when spans are first asked for */
    trl_tag_span *span;    /* of the last answer */
    size_t n_spans, span_cap;
};

/* From the next answer on scores are divided by the temperature, and give probabilities. TRL_EINVAL
 * for one that is none, TRL_ENOMEM. */
trl_status trl_tagger_set_temperature(trl_tagger *t, double temperature, trl_error *err);

/* Sequence k of the batch, its attributes by the model's numbers. */
trl_status trl_tagger_set_numbered(trl_tagger *t, const trl_numbered_items *x, size_t k,
                                   trl_error *err);

/* What to decode, without constraints: the scores as they are, or tables made of them in the arena:
 * those of the locally normalised distribution, or the factors times their multipliers. */
trl_status trl_tagger_view(trl_tagger *t, const trl_chain **chain, const trl_tables **tables,
                           trl_error *err);

/* Forward-backward, under the constraints, of scores that are probabilities; `want` as in
 * trl_chain_ask, *out lives in the arena, which the caller resets.  *chain (may be NULL): of the
 * same tables.  With TRL_WANT_LOG_Z_ONLY scores need digits (trl_tagger_log_z). */
trl_status trl_tagger_infer(trl_tagger *t, int want, const trl_chain **chain,
                            trl_chain_marginals *out, trl_error *err);

#endif
