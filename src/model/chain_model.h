/* chain_model.h -- chain models: what is in a container of kind "chain"; writing, loading.
 *
 * Sections (little-endian; F is "node", "edge" or "trip", for families 0 .. order):
 *
 *     info      u32 order, u32 flags (1: scores are log-probabilities up to a constant; 2: the
 *               model is normalised locally; 4: values that q0 does not know are masked;
 *               8: scores are sums of floats, rounded after every addition, as in CRF++),
 *               u64 columns of the training data (0: items),
 *               u32[3] number of each family's constant attribute (2^32 - 1: none), u32 zero
 *     objectiv  name of the objective, NUL-terminated
 *     settings  how it was trained, `name value` lines, NUL-terminated
 *     template  text of the template; empty for items
 *     labl....  labels (strtab_io.h)
 *     F....     attribute names (strtab_io.h)
 *     Ftag1     u8[slots + 8]: per slot of the name table 0 (empty) or a byte of the name's
 *               hash, so that nearly all probes skip the name itself; at the end the first
 *               8 again
 *     F....     or fingerprints in place of the names and Ftag1 (fingerprints.h)
 *     Fclas     classes of attributes with the same number of weights, by falling number:
 *               {u32 k, u32 first attribute, u64 first weight}
 *     Fwght     float[weights], attribute by attribute; or
 *     Fwgt8     double[weights], of imported models; or
 *     Fwgt2     i16[weights], multiples of the one number in Fvals; or
 *     Fwgt1     u8[weights], numbers of values in Fvals
 *     Fvals     float[1 or 256]: what weights of 16 and 8 bits stand for
 *     Fcell     u8, u16 or u32[weights that need one]: which cell a weight is for
 *     w.... ,   lists of words and scales that a template in words needs (features_io.h)
 *     scales
 *     q0....    the HMM whose log-probability is added to the scores (hmm.h), if there is one
 *     calibrat  double[L]: the multiplier of each source label's factors when the
 *               model is decoded globally, if it was calibrated
 *     temperat  double: the temperature T > 0; probabilities are those of exp(score / T), if it
 *               was fitted on held-out data
 *
 * Attributes are numbered so that k falls; inside a class the order is the writer's (frequent
 * ones first).  So three numbers per class replace an offset per attribute: the weights of
 * attribute a in class c start at first_weight[c] + (a - first_attr[c]) k[c].  Rows with a
 * weight for every cell (k = width) come first and need no cells.  A cell is as wide as the
 * width of the family (L, L^2, L^3) demands: u8 up to 256, u16 up to 65536.  Weights that
 * round to 0 as float, and attributes left without any, are not stored.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHAIN_MODEL_H
#define TRL_CHAIN_MODEL_H

#include "feature/design.h"
#include "feature/template.h"
#include "model/container.h"
#include "model/hmm.h"
#include "model/model_family.h"

#define TRL_CHAIN_KIND "chain"
#define TRL_TEMPERATURE_TAG "temperat"
#define TRL_TEMPERATURE_MAX 1e9 /* and at least one over that */

/* ---- loading --------------------------------------------------------------------------------- */

typedef struct trl_chain_model {
    int order;
    size_t L, n_columns;
    bool is_probability;
    bool is_local; /* decoded as p(y_t | source), unless asked otherwise */
    bool has_q0;
    bool masked; /* features see TRL_OOV where q0 knows no value */
    trl_hmm q0;
    const double *calibration; /* [L], finite; NULL: none */
    double temperature;        /* scores are divided by it; 1: none was fitted */
    bool has_temperature;      /* probabilities are those of scores divided by it */
    const char *objective, *settings;
    trl_str template_text;
    trl_template *tpl; /* owned; NULL for items */
    trl_strview labels;
    trl_model_family family[TRL_FAMILIES]; /* those above `order` are empty */
} trl_chain_model;

/* A checked view of the container, which must outlive it.  Everything that is later used as an
 * index is in range afterwards, whatever the bytes; weights are finite.  One pass over the
 * weights.  TRL_EMODEL, TRL_ENOMEM; *m is then not to be used. */
trl_status trl_chain_model_load(trl_chain_model *m, const trl_container *c, trl_error *err);
void trl_chain_model_fini(trl_chain_model *m);

/* TRL_EINVAL where the model has fingerprints in place of names. */
trl_status trl_chain_need_names(const trl_chain_model *m, trl_error *err);

/* Sets the weights of `w` (trl_design_alloc doubles) whose attribute and labels the model has,
 * by name; the others stay.  For warm starts.  TRL_ENOMEM. */
trl_status trl_chain_model_read_weights(const trl_chain_model *m, const trl_corpus *corpus,
                                        const trl_design *d, double *w, trl_error *err);

/* ---- writing --------------------------------------------------------------------------------- */

/* All pointers are borrowed for the call. */
typedef struct trl_chain_model_spec {
    const trl_corpus *corpus; /* names, labels, number of columns */
    const trl_design *design;
    const double *w;         /* of the design */
    const trl_template *tpl; /* NULL for items */
    const char *objective;   /* its long name */
    const char *settings;    /* one `name value` pair a line; NULL: none */
    bool is_probability, is_local, masked;
    const trl_hmm *q0;         /* trained here; NULL: none */
    const double *calibration; /* [L]; NULL: none */
    const char *rescue;        /* where to write when the path cannot be written; NULL: nowhere */
} trl_chain_model_spec;

/* Replaces the file atomically.  TRL_EIO, TRL_ENOMEM; TRL_ENUMERIC for a weight beyond a
 * float's range; TRL_EINVAL for more than 65,535 labels or 2^32 cells. */
trl_status trl_chain_model_write(const trl_chain_model_spec *spec, const char *path,
                                 trl_error *err);

/* The same bytes in memory, 64-byte aligned; release with trl_free. */
trl_status trl_chain_model_to_buffer(const trl_chain_model_spec *spec, unsigned char **out,
                                     size_t *size, trl_error *err);

#endif
