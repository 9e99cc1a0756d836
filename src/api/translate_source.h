/* translate_source.h -- parallel text with links and trees from files, aligned and parsed where
 * they are not given.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRANSLATE_SOURCE_H
#define TRL_TRANSLATE_SOURCE_H

#include "train_translate/journal.h"
#include "train_translate/translate_corpus.h"
#include "trellis/parser.h"
#include "trellis/translate.h"

typedef struct trl_translate_source {
    trl_bitext *text;
    trl_links links;
    trl_treebank *trees;
    trl_buf parses;     /* the trees, where they were made here */
} trl_translate_source; /* zero-initialise; release with _fini */

/* Who is told what has been done. */
typedef struct trl_translate_notes {
    trl_translate_note_fn note; /* or NULL */
    void *ctx;
} trl_translate_notes;

/* How: `parser` (or NULL) parses where data->trees is NULL; the journal (or NULL) has what an
 * earlier run has made.  As trl_translate_train. */
typedef struct trl_translate_reading {
    const trl_parse_model *parser;
    trl_pool *pool;
    trl_journal *journal;
    trl_translate_notes notes;
} trl_translate_reading;

/* The text alone; then its links and trees. */
trl_status trl_translate_source_open(trl_translate_source *s, const trl_translate_data *data,
                                     const trl_translate_notes *notes, trl_error *err);
trl_status trl_translate_source_read(trl_translate_source *s, const trl_translate_data *data,
                                     const trl_translate_reading *how, trl_error *err);
void trl_translate_source_fini(trl_translate_source *s);

/* Words as treebanks write them, ( as -LRB-, and back. */
trl_str trl_word_escape(trl_str word);
trl_str trl_word_unescape(trl_str word);

void trl_translate_note(const trl_translate_notes *notes, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
