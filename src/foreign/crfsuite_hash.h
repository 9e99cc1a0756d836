/* crfsuite_hash.h -- private: the hash of CRFsuite's string tables. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CRFSUITE_HASH_H
#define TRL_CRFSUITE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Jenkins' lookup3 hash of n bytes, seed 0, the same on every machine. */
uint32_t trl_crfsuite_hash(const char *p, size_t n);

#endif
