/* model.h -- private: the content of trl_model. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MODEL_PRIVATE_H
#define TRL_MODEL_PRIVATE_H

#include "model/chain_model.h"
#include "text/input.h"
#include "trellis/model.h"

/* The chain model inside, or NULL when it is of another kind; lives as long as m. */
const trl_chain_model *trl_model_chain(const trl_model *m);

/* TRL_EINVAL, with the path, when it is of another kind. */
trl_status trl_model_need_chain(const trl_model *m, trl_error *err);

/* Reads a dump into a model file in memory, 64-byte aligned, to be released with trl_free.
 * `name` is for messages.  As trl_model_undump. */
trl_status trl_model_undump_memory(const char *name, const void *bytes, size_t n,
                                   unsigned char **out, size_t *size, trl_error *err);

/* As trl_model_dump and trl_model_dump_top, of chains. */
trl_status trl_chain_dump(const trl_model *m, trl_write_fn write, void *ctx, trl_error *err);
trl_status trl_chain_dump_top(const trl_model *m, size_t top, trl_write_fn write, void *ctx,
                              trl_error *err);

/* Reads the dump of a chain model from `in`, which is freed here, and writes to the path, or to
 * memory when it is NULL. */
trl_status trl_chain_undump(trl_input *in, const char *path, unsigned char **out, size_t *size,
                            trl_error *err);

/* The model, made from these bytes by trl_model_from_memory, owns them from now on. */
void trl_model_own(trl_model *m, trl_buf *bytes);

#endif
