/* chain_parts.h -- private to src/model: the parts that a chain model file is assembled from. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHAIN_PARTS_H
#define TRL_CHAIN_PARTS_H

#include "base/buf.h"
#include "model/chain_model.h"

#define TRL_Q0_PREFIX "q0" /* of the HMM's sections */

typedef struct trl_chain_parts {
    int order;
    bool is_probability, is_local, masked;
    bool single;               /* as in trl_model_family */
    const trl_hmm *q0;         /* NULL: none */
    const double *calibration; /* [labels]; NULL: none */
    double temperature;        /* 0: none */
    uint64_t n_columns;
    const char *objective;
    trl_str settings, template_text;  /* written with an LF at the end of a last line */
    const trl_feature_list *features; /* of a template in words; NULL: another template, none */
    const char *rescue;               /* as in trl_chain_model_spec */
    const trl_strtab *labels;
    trl_weight_rows rows[TRL_FAMILIES];
    trl_strtab sorted[TRL_FAMILIES]; /* names as stored, made when saving */
} trl_chain_parts;

/* Releases rows and sorted. */
void trl_chain_parts_fini(trl_chain_parts *p);

/* Writes the model; to memory when `path` is NULL (*out, *size; release with trl_free).
 * TRL_EINVAL for a bad number of labels, TRL_EIO, TRL_ENOMEM. */
trl_status trl_chain_parts_write(trl_chain_parts *p, const char *path, unsigned char **out,
                                 size_t *size, trl_error *err);

/* L^(family + 1), or 0 when that is more than 2^32. */
uint64_t trl_family_width(size_t L, size_t family);

/* "info" */
typedef struct trl_chain_info {
    uint32_t order, flags;
    uint64_t n_columns;
    uint32_t constant[TRL_FAMILIES], zero;
} trl_chain_info;

enum { /* flags */
       TRL_CHAIN_PROBABILITY = 1,
       TRL_CHAIN_LOCAL = 2,
       TRL_CHAIN_MASKED = 4,
       TRL_CHAIN_SINGLE = 8
};

/* Four letters that start the tags of a family's sections. */
extern const char *const trl_family_prefix[TRL_FAMILIES];

#endif
