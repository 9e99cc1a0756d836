/* bitext.h -- parallel text as word ids. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BITEXT_H
#define TRL_BITEXT_H

#include "base/strtab.h"
#include "text/input.h"
#include "trellis/align.h"

typedef struct trl_side {
    trl_strtab words;
    uint32_t *id;  /* all sentences back to back */
    uint64_t *end; /* [pairs] */
    size_t n_ids, id_cap, n, end_cap;
} trl_side;

struct trl_bitext {
    trl_side side[2]; /* source, target */
};

/* Adds the lines `source ||| target` of an input.  TRL_EPARSE, TRL_EIO, TRL_ENOMEM. */
trl_status trl_bitext_joined(trl_bitext *b, trl_input *in, trl_error *err);

static inline uint64_t trl_side_begin(const trl_side *s, size_t k)
{
    return k ? s->end[k - 1] : 0;
}

static inline size_t trl_side_length(const trl_side *s, size_t k)
{
    return s->end[k] - trl_side_begin(s, k);
}

/* Whether pair k can have links: words on both sides, no more than TRL_ALIGN_MOST. */
static inline bool trl_sides_fit(const trl_side *s, const trl_side *t, size_t k)
{
    const size_t l = trl_side_length(s, k), m = trl_side_length(t, k);
    return l && m && l <= TRL_ALIGN_MOST && m <= TRL_ALIGN_MOST;
}

#endif
