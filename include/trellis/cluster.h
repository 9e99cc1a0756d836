/* cluster.h -- word clusters: read from a file, or made from raw text.
 *
 * Two file formats are read (plain, gzip or zstd):
 *
 *     Brown    bits <TAB> word [<TAB> count]       bits: a path of 0 and 1 in the merge tree
 *     Clark    word cluster [probability]          separated by blanks
 *
 * trl_cluster makes a Brown file from raw text: words that occur next to similar words are
 * clustered, so that the average mutual information of adjacent clusters stays as large as a greedy
 * search can keep it [Bro92].  docs/clusters.md has the equations.
 *
 * [Bro92] Brown, Della Pietra, deSouza, Lai, Mercer. Class-based n-gram models of natural
 * language. Computational Linguistics 18(4), 1992.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_CLUSTER_H
#define TRELLIS_CLUSTER_H

#include "trellis/sequence.h"

TRL_BEGIN_DECLS

/* ---- a map from words to clusters ------------------------------------------------------------ */

typedef struct trl_clusters trl_clusters; /* read-only once open; may be shared by threads */

typedef enum trl_cluster_format {
    TRL_CLUSTERS_GUESS = 0, /* by the first line: Brown when it has 0s and 1s, a TAB, a word,
                               and no third field or a TAB and a whole number */
    TRL_CLUSTERS_BROWN,
    TRL_CLUSTERS_CLARK,
} trl_cluster_format;

/* `prefix`: only this many bits of a Brown path distinguish clusters; 0: all of it.  TRL_EPARSE
 * with path:row:col for a malformed line, a word in two clusters, or an empty file; TRL_EINVAL for
 * a prefix with a Clark file; TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_clusters_open(const char *path, trl_cluster_format format, size_t prefix,
                                     trl_clusters **out, trl_error *err);
TRL_API void trl_clusters_free(trl_clusters *c); /* accepts NULL */

/* The cluster of a word: 1 .. trl_clusters_count, or 0 when the word is not listed. */
TRL_API uint32_t trl_clusters_find(const trl_clusters *c, const char *word, size_t n);
TRL_API size_t trl_clusters_count(const trl_clusters *c);
TRL_API size_t trl_clusters_words(const trl_clusters *c);

/* The name of the cluster in the file (the path, cut to the prefix); empty for 0.  Clusters are
 * numbered in the order in which the file names them.  Borrowed. */
TRL_API trl_str trl_clusters_name(const trl_clusters *c, uint32_t cluster);

/* The i-th word of the file, i < trl_clusters_words, and its cluster.  Borrowed. */
TRL_API trl_str trl_clusters_word(const trl_clusters *c, size_t i, uint32_t *cluster);

/* ---- making clusters ------------------------------------------------------------------------- */

typedef struct trl_cluster_progress {
    const char *stage;                       /* "read" (once), "words", "tree" (many times) */
    uint64_t done, total;                    /* words in the window, or merges of the tree */
    uint64_t tokens, words, pairs, left_out; /* of the text, as in the result below */
    double seconds, seconds_left;            /* since the start; NaN when not known */
} trl_cluster_progress;

/* Return true to stop: nothing is written, trl_cluster returns TRL_ECANCEL. */
typedef bool (*trl_cluster_progress_fn)(void *ctx, const trl_cluster_progress *p);

typedef struct trl_cluster_options {
    const char *const *text; /* paths; "-" is standard input */
    size_t n_text;
    bool columns;                     /* one word a line, a blank line after every sentence; */
    size_t column;                    /* its column, 1 the first.  Else one sentence a line */
    size_t clusters;                  /* 1000 */
    uint64_t min_count;               /* words that occur less often are left out: 1 */
    size_t threads;                   /* 0: one per processor; changes nothing but the time */
    const char *output;               /* where to write; replaced atomically */
    trl_cluster_progress_fn progress; /* or NULL */
    void *progress_ctx;
} trl_cluster_options;

TRL_API trl_cluster_options trl_cluster_options_default(void);

typedef struct trl_cluster_result {
    uint64_t sentences, tokens;
    uint64_t words, left_out; /* clustered; too rare, or only next to such words */
    uint64_t pairs;           /* of adjacent words, the edges of sentences counted as words */
    size_t clusters;          /* fewer than requested when there are fewer words */
    double information, word_information; /* average mutual information of adjacent clusters,
                                             and of adjacent words: its upper bound; in bits */
    double seconds;
} trl_cluster_result;

/* Reads, clusters, writes: clusters in the order of their paths, words by falling count.  The
 * same sentences in another order give the same file.  TRL_EINVAL for an option out of range,
 * or a text without two adjacent words; TRL_EPARSE with path:row:col; TRL_EIO; TRL_ENOMEM
 * (about 13 C^2 bytes, and 40 for each distinct pair of words); TRL_ECANCEL. */
TRL_API trl_status trl_cluster(const trl_cluster_options *o, trl_cluster_result *result,
                               trl_error *err);

TRL_END_DECLS

#endif
