/* parseval.h -- how good predicted trees are: labelled brackets as EVALB counts them.
 *
 *     recall = matched / gold brackets     precision = matched / test brackets
 *     F1 = 2 precision recall / (precision + recall)
 *
 * all in percent [BAG+91].  A bracket is the span and the label of a node above the parts of
 * speech; n equal ones in one tree match at most n in the other.  A test bracket is crossing when
 * it overlaps a gold bracket and neither contains the other.  Parameters (docs/formats.md) say what
 * is deleted first and which labels and words are equal: EVALB's COLLINS.prm and new.prm are built
 * in, other .prm files are read.
 *
 * A sentence is an error when its words are not the same in both trees and it is skipped when the
 * test tree has no words; both are left out of the scores.  Text is EVALB's: one sentence a line,
 * and a blank line is a tree without words.  Only memory limits the size: scoring takes O(n log n)
 * for n brackets, and, at worst, the product of the two lengths of chains of one-child nodes above
 * one span.  A scorer belongs to one thread at a time.
 *
 * [BAG+91] Black, Abney, Flickenger, Gdaniec, et al. A procedure for quantitatively comparing
 *          the syntactic coverage of English grammars. Speech and Natural Language, 1991.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_PARSEVAL_H
#define TRELLIS_PARSEVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trellis/sequence.h"

TRL_BEGIN_DECLS

#define TRL_AS_PARAMS (-1) /* as the parameters say */

typedef struct trl_parseval_options {
    const char *params; /* "collins", "new", "none" (nothing deleted) or a path */
    int64_t max_length; /* of the second block of the report; TRL_AS_PARAMS */
    int64_t max_errors; /* scoring stops at the second error beyond; TRL_AS_PARAMS */
    bool unlabelled;    /* spans alone */
    bool gold_tags;     /* the test words get the parts of speech of the gold ones first */
    bool details;       /* the report lists the words and brackets of every sentence */
    bool functions;     /* function labels, too: trl_parseval_function_at */
} trl_parseval_options;

/* "collins", both limits as it says, and all switches off. */
TRL_API trl_parseval_options trl_parseval_options_default(void);

typedef struct trl_parseval trl_parseval;

/* Reads the parameters; the options are not kept.  TRL_EPARSE with path:row:col for a bad line
 * of the parameter file, TRL_EINVAL for a limit below TRL_AS_PARAMS; TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_parseval_new(const trl_parseval_options *options, trl_parseval **out,
                                    trl_error *err);
TRL_API void trl_parseval_free(trl_parseval *p); /* accepts NULL */

/* Removes all sentences and errors. */
TRL_API void trl_parseval_reset(trl_parseval *p);

/* One sentence, a line each, without line ends; borrowed during the call.  A line that is not a
 * tree makes the sentence an error.  TRL_ENOMEM: nothing was counted. */
TRL_API trl_status trl_parseval_add(trl_parseval *p, const char *gold, size_t gold_n,
                                    const char *test, size_t test_n, trl_error *err);

/* Line by line ("-": standard input; gzip and zstd are unpacked).  Lines left over in one file
 * are an error that belongs to no sentence.  TRL_EIO, TRL_ENOMEM. */
TRL_API trl_status trl_parseval_files(trl_parseval *p, const char *gold, const char *test,
                                      trl_error *err);

typedef enum trl_parseval_state { /* EVALB's Stat. */
                                  TRL_PARSEVAL_VALID,
                                  TRL_PARSEVAL_ERROR,
                                  TRL_PARSEVAL_SKIPPED
} trl_parseval_state;

/* Counts are 0 unless the sentence is valid, except that a line which lacks closing brackets is
 * an error with counts. */
typedef struct trl_parseval_sentence {
    trl_parseval_state state;
    bool exact;                           /* valid, and all brackets match */
    uint32_t length;                      /* gold words, all but those deleted for length */
    uint32_t match, gold, test, crossing; /* brackets; crossing: of the test tree */
    uint32_t words, tags;                 /* words not deleted, and those with the right tag */
} trl_parseval_sentence;

/* In order; borrowed until p changes. */
TRL_API const trl_parseval_sentence *trl_parseval_sentences(const trl_parseval *p, size_t *n);

typedef struct trl_parseval_totals {
    uint64_t sentences, errors, skipped, valid;
    uint64_t match, gold, test, crossing, words, tags; /* sums over valid sentences */
    uint64_t exact_sentences, uncrossed, few_crossed;  /* few: at most 2 crossing brackets */
    double recall, precision, f1, exact, mean_crossing, no_crossing, few_crossing, tagging;
} trl_parseval_totals; /* percent, except mean_crossing; 0 for divisions by zero */

/* Of the sentences of at most max_length words; UINT64_MAX: of all. */
TRL_API trl_parseval_totals trl_parseval_get(const trl_parseval *p, uint64_t max_length);

/* Function labels (SBJ and TMP of NP-SBJ-TMP-1) of the brackets that match in valid sentences, each
 * counted once in a bracket. */
typedef struct trl_parseval_function {
    trl_str label;                /* borrowed until p changes; "": all together */
    uint64_t gold, test, match;   /* matched brackets with the label: in gold, test, both trees */
    uint64_t brackets, exact;     /* all matched brackets; those with the same function labels */
    double recall, precision, f1; /* percent; 0 for divisions by zero */
} trl_parseval_function;

/* k = 0: all labels together; then the labels, the most frequent in the gold trees first.  False:
 * there are no more, or the option `functions` was not set. */
TRL_API bool trl_parseval_function_at(const trl_parseval *p, size_t k, trl_parseval_function *out);

/* One line for every error, in EVALB's words: "12 : Words unmatch (a|b)\n"; where a line is not a
 * tree, "12 : FILE:12:7: what is wrong\n".  NUL-terminated, borrowed until p changes. */
TRL_API const char *trl_parseval_errors(const trl_parseval *p);

/* Were there more errors than allowed? Sentences from the first one over the limit on are not
 * counted. */
TRL_API bool trl_parseval_stopped(const trl_parseval *p);

/* Whole reports, NUL-terminated, to be freed with trl_text_free (score.h); TRL_ENOMEM: *text is
 * untouched.
 * `report`: EVALB's standard output to the byte: a line for every sentence (and, with details, or
 * DEBUG in the parameters, what its option -d adds) and, unless stopped, the totals of all
 * sentences and of those up to the length limit; with `functions` a table of them after that.  An
 * F1 of 0/0 is "-nan", as EVALB prints it on x86. `json`: the same as one JSON object on one line.
 */
TRL_API trl_status trl_parseval_report(const trl_parseval *p, char **text, trl_error *err);
TRL_API trl_status trl_parseval_report_json(const trl_parseval *p, char **text, trl_error *err);

TRL_END_DECLS

#endif
