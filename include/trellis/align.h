/* align.h -- word alignment of parallel text: IBM models 1 and 2, and the hidden Markov model.
 *
 * A direction explains every target word f_i by one source word e_j or by NULL (j = 0):
 *
 *     IBM 1   p(f | e) = prod_i sum_j 1 / (l + 1) t(f_i | e_j)                          [BDDM93]
 *     IBM 2   p(f | e) = prod_i sum_j a(j | i, l, m) t(f_i | e_j)
 *     HMM     p(f, a | e) = prod_i p(a_i | a_{i-1}, l) t(f_i | e_{a_i})                  [VNT96]
 *
 * l and m are the lengths of source and target.  HMM: with probability `null` a word comes from
 * NULL and the place is remembered [ON03]; else the jump from the last place has a weight by its
 * width alone, normalised over the sentence.  Both directions are trained by EM and combined.
 *
 * [BDDM93] Brown, Della Pietra, Della Pietra, Mercer. The mathematics of statistical machine
 * translation. Computational Linguistics 19(2), 1993.
 * [VNT96] Vogel, Ney, Tillmann. HMM-based word alignment in statistical translation. COLING 1996.
 * [ON03] Och, Ney. A systematic comparison of various statistical alignment models. CL 29(1), 2003.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_ALIGN_H
#define TRELLIS_ALIGN_H

#include "trellis/buf.h"
#include "trellis/model.h"
#include "trellis/options.h"
#include "trellis/sequence.h"

TRL_BEGIN_DECLS

typedef struct trl_bitext trl_bitext;
typedef struct trl_aligner trl_aligner;

#define TRL_ALIGN_LONGEST                                                                          \
    512 /* words of a side; in longer pairs places do not matter, as in IBM 1 */
#define TRL_ALIGN_MOST                                                                             \
    4096 /* words of a side; longer pairs are not learnt from and have no links */

/* Reads parallel text: line k of `source` belongs to line k of `target`; with target NULL a line is
 * `source ||| target`, or empty.  Words are separated by blanks; a side may be empty.  Plain, gzip,
 * zstd; "-" is standard input.  TRL_EPARSE with path:row:col: files of different length, a line
 * without ||| or with two of them, a NUL byte; TRL_EINVAL: no lines; TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_bitext_read(const char *source, const char *target, trl_bitext **out,
                                   trl_error *err);
TRL_API void trl_bitext_free(trl_bitext *b); /* accepts NULL */

typedef struct trl_bitext_info {
    size_t pairs, source_words, target_words; /* words: running */
    size_t empty,
        longer; /* pairs with an empty side; with one of more than TRL_ALIGN_LONGEST words */
} trl_bitext_info;
TRL_API trl_bitext_info trl_bitext_get_info(const trl_bitext *b);
/* Pairs with words on both sides, and more than TRL_ALIGN_MOST on one. */
TRL_API size_t trl_bitext_unaligned(const trl_bitext *b);

typedef enum trl_align_model { TRL_ALIGN_IBM1, TRL_ALIGN_IBM2, TRL_ALIGN_HMM } trl_align_model;

typedef struct trl_align_progress {
    const char *direction; /* "forward" or "reverse" */
    const char *model;     /* "IBM 1", ... */
    size_t iteration;      /* 1 the first */
    double log_likelihood; /* natural, of the target words before this iteration's new parameters */
    double perplexity;     /* of a target word */
    double seconds;        /* of this iteration */
} trl_align_progress;
typedef bool (*trl_align_progress_fn)(void *ctx, const trl_align_progress *p); /* true: stop */

/* Begin with trl_align_options_default(): later versions have more members. */
typedef struct trl_align_options {
    size_t size;            /* of the struct, as the program was compiled */
    trl_align_model model;  /* TRL_ALIGN_HMM */
    size_t ibm1, ibm2, hmm; /* iterations of each: 5; models beyond `model` are not trained, and IBM
                               2 only when it is `model` */
    double null;            /* 0 < null < 1, of the HMM: 0.2 */
    bool forward_only;      /* no reverse direction */
    size_t threads;         /* 0: one per processor; changes nothing but the time */
    trl_align_progress_fn progress; /* or NULL */
    void *progress_ctx;
} trl_align_options;
TRL_API void trl_align_options_init(trl_align_options *o, size_t size); /* sizeof *o */

static inline trl_align_options trl_align_options_default(void)
{
    trl_align_options o;
    trl_align_options_init(&o, sizeof o);
    return o;
}

/* The options that have a name. */
TRL_API const trl_option_table *trl_align_option_table(void);

/* TRL_EINVAL for options out of range or text without a pair of two sides; TRL_ENOMEM; TRL_ECANCEL.
 */
TRL_API trl_status trl_aligner_train(const trl_bitext *b, const trl_align_options *o,
                                     trl_aligner **out, trl_error *err);
TRL_API trl_status trl_aligner_save(const trl_aligner *a, const char *path, trl_error *err);
TRL_API trl_status trl_aligner_open(const char *path, trl_aligner **out, trl_error *err);
/* The n bytes of a model file, borrowed as by trl_model_from_memory; a trl_model of kind "align",
 * borrowed. */
TRL_API trl_status trl_aligner_from_memory(const void *bytes, size_t n, trl_aligner **out,
                                           trl_error *err);
TRL_API trl_status trl_aligner_of(const trl_model *m, trl_aligner **out, trl_error *err);
TRL_API void trl_aligner_free(trl_aligner *a); /* accepts NULL */

typedef enum trl_symmetry {
    TRL_GROW_DIAG_FINAL_AND,
    TRL_GROW_DIAG,
    TRL_INTERSECTION,
    TRL_UNION,
    TRL_FORWARD, /* target words choose */
    TRL_REVERSE, /* source words choose */
} trl_symmetry;

/* Appends a line for every pair to out: Pharaoh's "j-i j-i ...\n", source-target, from 0,
 * ascending. TRL_EINVAL for a symmetry that needs a direction the aligner lacks; TRL_ENOMEM. */
TRL_API trl_status trl_align(const trl_aligner *a, const trl_bitext *b, trl_symmetry s,
                             size_t threads, trl_buf *out, trl_error *err);

TRL_END_DECLS

#endif
