/* shrink.h -- smaller models: fewer weights, fewer bits a weight, no names.
 *
 * Of a chain's file names and their index are most, then weights.  What can be done:
 *
 *     prune          weights near 0 are left out, and attributes that have none left
 *     16 bits        multiples of max |w| / 32767, for each kind of factor
 *     8 bits         the nearest of 256 values for each kind of factor, closer to each other near 0
 *     fingerprints   32 bits of a hash in place of a name.  An attribute that the model does not
 *                    have is taken for one of its own with a chance of about 2e-9; the model cannot
 *                    be dumped, explained or exported any more
 *
 * Plain transitions are never pruned, and keep their precision where they are few.  A shrunk model
 * is a model file as any other: opened, mapped, tagged and used as --init in the same way.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_SHRINK_H
#define TRELLIS_SHRINK_H

#include "trellis/model.h"
#include "trellis/options.h"

TRL_BEGIN_DECLS

/* Begin with trl_shrink_options_default(), which leaves the model as it is: later versions have
 * more members. */
typedef struct trl_shrink_options {
    size_t size;  /* of the struct, as the program was compiled */
    double prune; /* weights below it in absolute value are left out; 0: none */
    double keep;  /* or: the share of weights that is kept, the largest ones; 0: all */
    int bits;     /* of a weight: 32, 16, 8; 0: as they are */
    bool fingerprints;
} trl_shrink_options;

TRL_API void trl_shrink_options_init(trl_shrink_options *o, size_t size); /* sizeof *o */

static inline trl_shrink_options trl_shrink_options_default(void)
{
    trl_shrink_options o;
    trl_shrink_options_init(&o, sizeof o);
    return o;
}

/* The options that have a name. */
TRL_API const trl_option_table *trl_shrink_option_table(void);

typedef struct trl_shrink_report {
    uint64_t bytes, attributes, weights; /* of the shrunk model */
    double threshold;                    /* weights below it were left out */
} trl_shrink_report;

/* The bytes of the shrunk model in place of what `out` held; kept on failure.  `report` may be
 * NULL. TRL_EINVAL for a model of another kind than a chain, or one that has fingerprints already;
 * for options that are none: a threshold below 0 or not finite, a share beyond 0 to 1, both, other
 * bits; TRL_ENUMERIC for a weight beyond a float's range; TRL_ENOMEM. */
TRL_API trl_status trl_model_shrink(const trl_model *m, const trl_shrink_options *options,
                                    trl_buf *out, trl_shrink_report *report, trl_error *err);

/* The same into a file, which is replaced atomically.  TRL_EIO. */
TRL_API trl_status trl_model_shrink_file(const trl_model *m, const trl_shrink_options *options,
                                         const char *path, trl_shrink_report *report,
                                         trl_error *err);

TRL_END_DECLS

#endif
