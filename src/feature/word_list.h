/* word_list.h -- the lists that a template looks words up in: gazetteers, clusters, vectors.
 *
 * Files (lines; gzip and zstd are recognised; blank lines are skipped):
 *
 *     gazetteer   PHRASE [<TAB> TYPE]     words separated by blanks; a phrase may have many types
 *     clusters    as `trellis cluster` writes them, or Clark's (docs/formats.md)
 *     vectors     WORD NUMBER ...         as many numbers on every line (GloVe), perhaps after a
 *                                         line with the counts of words and numbers (word2vec)
 *
 * In memory a list is a table of keys, laid out so that a model file can be used in place.  A
 * gazetteer's keys are its phrases and all their beginnings, a blank between words.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_WORD_LIST_H
#define TRL_WORD_LIST_H

#include "base/strtab.h"
#include "text/input.h"

typedef enum trl_word_list_kind { TRL_GAZETTEER, TRL_CLUSTERS, TRL_VECTORS } trl_word_list_kind;

/* A borrowed, read-only list. */
typedef struct trl_word_list_view {
    trl_strview key;
    const uint32_t *id;  /* [key.n] 1 + number of its name; 0: a beginning.  NULL for vectors */
    trl_strview name;    /* types (separated by '|' where a phrase has several), or clusters */
    const float *vector; /* [key.n][width]; NULL for others */
    size_t width;
} trl_word_list_view;

/* A list in memory that owns everything. */
typedef struct trl_word_list {
    trl_strtab key, name;
    uint32_t *id;
    float *vector;
    size_t width, id_cap, vector_cap;
} trl_word_list; /* zero-initialise */

void trl_word_list_fini(trl_word_list *l);
trl_word_list_view trl_word_list_get(const trl_word_list *l); /* valid until l changes */

/* Reads a file of the kind.  `folded`: keys in small letters.  TRL_EPARSE with path:row:col for a
 * line that is none, vectors of different widths, invalid UTF-8; TRL_EIO, TRL_ENOMEM; the list is
 * then only good for fini. */
trl_status trl_word_list_read(trl_word_list *l, trl_word_list_kind kind, bool folded, trl_input *in,
                              trl_error *err);

/* One entry at a time, for dumps: `name` for gazetteers (a beginning: its p is NULL) and clusters,
 * `vector` (l->width numbers) for vectors.  False: no memory. */
bool trl_word_list_add(trl_word_list *l, trl_str key, trl_str name, const float *vector);

#endif
