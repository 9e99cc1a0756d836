/* simd.h -- the vector type of all kernels, and how one source serves several machines.
 *
 * Kernels are written with gcc's vector extensions on rows of eight doubles.  A function
 * marked TRL_CLONES is compiled for baseline x86-64, AVX2 + FMA and AVX-512, and the loader
 * picks one; elsewhere (clang, musl, whose loader cannot pick) it is compiled once for the target.
 * Sums are taken in the same order in every clone, but fused multiply-adds differ in the last bit:
 * the same machine gives the same bits, whatever the number of threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SIMD_H
#define TRL_SIMD_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(TRL_NO_CLONES)
#define TRL_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define TRL_CLONES
#endif

#define TRL_INLINE static inline __attribute__((always_inline))
#define TRL_LANES 8

/* Loads and stores through these need no alignment beyond a double's. */
typedef double trl_v8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef int64_t trl_v8i __attribute__((vector_size(64), aligned(8), may_alias));

/* n rounded up to whole vectors: the stride of padded rows. */
static inline size_t trl_padded(size_t n)
{
    return (n + TRL_LANES - 1) & ~(size_t)(TRL_LANES - 1);
}

TRL_INLINE double trl_v8_sum(const trl_v8 *v)
{
    return (((*v)[0] + (*v)[4]) + ((*v)[2] + (*v)[6])) +
           (((*v)[1] + (*v)[5]) + ((*v)[3] + (*v)[7]));
}

#endif
