/* memory_plan.h -- how much memory a run will take, from the design on, before it takes it. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MEMORY_PLAN_H
#define TRL_MEMORY_PLAN_H

#include "train/optimizers.h"

/* Bytes, all estimated but `lists`. */
typedef struct trl_memory_plan {
    uint64_t lists;   /* of the design */
    uint64_t copies;  /* lists in another order, adjoints of all tokens: as large as the data */
    uint64_t weights; /* vectors of weights and gradients */
    uint64_t names;   /* of attributes */
} trl_memory_plan;

/* Of a run over tables; optimizer NULL: counted, without weights. */
trl_memory_plan trl_memory_plan_of(const trl_design *d, const trl_corpus *c,
                                   const trl_optimizer *optimizer, const trl_train_options *o);

static inline uint64_t trl_memory_plan_total(const trl_memory_plan *p)
{
    return p->lists + p->copies + p->weights + p->names;
}

/* "memory: about 120 MB: data 60 MB, weights 40 MB, names 20 MB"; in_files: bytes of the data that
 * are in files. */
void trl_memory_plan_say(const trl_memory_plan *p, uint64_t in_files, char *text, size_t size);

/* "120 MB", "1.20 GB", "less than 1 MB". */
void trl_size_text(uint64_t bytes, char out[24]);

/* "500M", "4G", "1.5GB", "2000000": bytes.  False: not a size. */
bool trl_size_read(const char *text, uint64_t *bytes);

#endif
