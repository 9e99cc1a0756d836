/* foreign.h -- models of other tools: CRFsuite, CRF++ and Wapiti.
 *
 * An imported model labels as its own tool does: the same tags, ties and padding included, and the
 * same scores to rounding.  Weights keep their precision: doubles of CRFsuite and Wapiti, floats,
 * added up as floats, of CRF++.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_FOREIGN_H
#define TRELLIS_FOREIGN_H

#include "trellis/model.h"

TRL_BEGIN_DECLS

/* Reads a model ("-": standard input; gzip and zstd are unpacked) of CRFsuite (model file, or what
 * 'crfsuite dump' printed), CRF++ (binary or text) or Wapiti 1.5, told apart by its first bytes,
 * and writes it as a Trellis model, atomically.  TRL_EMODEL or TRL_EPARSE, with path, reason and
 * hint, when it is none of these or damaged; TRL_EINVAL for models that cannot be had here,
 * TRL_EIO, TRL_ENOMEM. */
TRL_API trl_status trl_model_import(const char *from, const char *to, trl_error *err);

/* The same from memory into a buffer, in place of what it held; kept on failure.  `name` is for
 * messages. */
TRL_API trl_status trl_model_import_buf(const char *name, const void *bytes, size_t n, trl_buf *out,
                                        trl_error *err);

/* Writes the model as CRFsuite's model file, atomically.  Of a model that reads columns the
 * attributes are the expanded template lines.  TRL_EINVAL for what CRFsuite cannot hold: graphs and
 * trees, order 2, attributes of label pairs, local decoding, calibration, a generative part, sums
 * in single precision, names with a NUL, 4 GB.  TRL_EIO, TRL_ENOMEM. */
TRL_API trl_status trl_model_export(const trl_model *m, const char *path, trl_error *err);

/* The same into a buffer, in place of what it held; kept on failure. */
TRL_API trl_status trl_model_export_buf(const trl_model *m, trl_buf *out, trl_error *err);

TRL_END_DECLS

#endif
