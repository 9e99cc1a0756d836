/* attr_map.h -- from attribute names and cells to weights of a design. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ATTR_MAP_H
#define TRL_ATTR_MAP_H

#include "feature/design.h"

#define TRL_NO_WEIGHT UINT64_MAX

typedef struct trl_attr_map {
    const trl_corpus *corpus;
    const trl_design *d;
    uint32_t *of_name[TRL_FAMILIES_MAX]; /* [names] attribute number, or TRL_NO_ID */
} trl_attr_map;

/* `corpus` is the one d was built from.  Both are borrowed.  TRL_ENOMEM. */
trl_status trl_attr_map_init(trl_attr_map *m, const trl_corpus *corpus, const trl_design *d,
                             trl_error *err);
void trl_attr_map_fini(trl_attr_map *m);

/* The attribute of that name in a family, or TRL_NO_ID. */
uint32_t trl_attr_find(const trl_attr_map *m, size_t family, const char *name, size_t n);

/* The weight of a cell of an attribute, and of the constant attribute; TRL_NO_WEIGHT when that pair
 * is not a feature. */
uint64_t trl_attr_weight(const trl_family *f, uint32_t attr, size_t cell);
uint64_t trl_constant_weight(const trl_family *f, size_t cell);

/* g += cell [width], for the features of an attribute and of the constant one. */
void trl_attr_add(const trl_family *f, uint32_t attr, const double *cell, double *g);
void trl_constant_add(const trl_family *f, const double *cell, double *g);

#endif
