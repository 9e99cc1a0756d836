/* parser.h -- trees for sentences.
 *
 * A model is read-only and may be shared by threads; each thread needs its own parser.  There is
 * always a tree: when the grammar has none, or a limit is exceeded, a simpler one is made and
 * trl_parse.warning says so.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_PARSER_H
#define TRELLIS_PARSER_H

#include "trellis/model.h"
#include "trellis/options.h"
#include "trellis/shrink.h"
#include "trellis/trees.h"

TRL_BEGIN_DECLS

/* ---- sentences ------------------------------------------------------------------------------- */

typedef enum trl_sentence_format {
    TRL_SENTENCE_WORDS,          /* one sentence a line, words separated by blanks */
    TRL_SENTENCE_TAGGED,         /* the same with word_TAG */
    TRL_SENTENCE_COLUMNS,        /* one word a line, in the first column; an empty line after each
                                    sentence */
    TRL_SENTENCE_TAGGED_COLUMNS, /* the same with the tag in the second column */
} trl_sentence_format;

typedef struct trl_sentence {
    size_t n;                  /* 0: an empty line */
    const trl_str *word;       /* a word ( or ) as treebanks write it: -LRB-, -RRB- */
    const trl_str *tag;        /* of the tagged formats; else NULL */
    uint64_t row;              /* in columns of its first word */
    uint64_t odd_row, odd_col; /* the first byte that is not UTF-8; 0: none */
} trl_sentence;

/* Belongs to one thread at a time. */
typedef struct trl_sentence_reader trl_sentence_reader;

/* "-": standard input; gzip and zstd are unpacked.  TRL_EIO, TRL_ENOMEM. */
TRL_API trl_status trl_sentence_reader_open(const char *path, trl_sentence_format format,
                                            trl_sentence_reader **out, trl_error *err);
/* Borrows `bytes` until freed; `name` (copied) appears in messages. */
TRL_API trl_status trl_sentence_reader_memory(const char *name, const void *bytes, size_t n,
                                              trl_sentence_format format, trl_sentence_reader **out,
                                              trl_error *err);
TRL_API void trl_sentence_reader_free(trl_sentence_reader *r); /* accepts NULL */

/* The next sentence, borrowed until the next call; *more is false at the end.  Empty lines are
 * sentences of 0 words, except in columns.  TRL_EPARSE with path:row:col for a word without a tag
 * or a NUL byte; TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_sentence_reader_next(trl_sentence_reader *r, trl_sentence *s, bool *more,
                                            trl_error *err);

/* Whether the next sentence (or the end) can be read without waiting: always true for memory and
 * regular files; for a pipe or terminal when its whole line has arrived (columns: the empty line
 * after it), for a compressed one when any bytes have.  Invalidates the sentence that _next
 * returned. */
TRL_API bool trl_sentence_reader_ready(trl_sentence_reader *r);

/* ---- models ---------------------------------------------------------------------------------- */

typedef struct trl_parse_model trl_parse_model;

/* Reads and checks a model file of kind "tree"; _map maps it instead, with the
 * conditions of trl_model_map.  TRL_EIO, TRL_EMODEL, TRL_EINVAL for NULL, TRL_ENOMEM. */
TRL_API trl_status trl_parse_model_open(const char *path, trl_parse_model **out, trl_error *err);
TRL_API trl_status trl_parse_model_map(const char *path, trl_parse_model **out, trl_error *err);
TRL_API trl_status trl_parse_model_from_memory(const void *bytes, size_t n, trl_parse_model **out,
                                               trl_error *err);

/* Of a trl_model of kind "tree", which is borrowed, without a copy.  TRL_EINVAL for another kind.
 */
TRL_API trl_status trl_parse_model_of(const trl_model *m, trl_parse_model **out, trl_error *err);
TRL_API void trl_parse_model_free(trl_parse_model *m); /* accepts NULL */

typedef struct trl_parse_info {
    const char *grade;    /* "generative", "discriminative", "features", "boosted" */
    const char *settings; /* how it was trained: one `name value` pair a line */
    bool is_probability;  /* scores give probabilities; false for the perceptron */
    size_t n_states, n_binary, n_unary, n_words;
    size_t n_features; /* weights that are not 0; of a generative model its rules */
    uint64_t file_size;
} trl_parse_info;

TRL_API trl_parse_info trl_parse_model_info(const trl_parse_model *m);

/* Whether trees of the model may have this label or tag. */
TRL_API bool trl_parse_model_has(const trl_parse_model *m, trl_str label);

/* Whether words may have it: NP has trees, but no words.  Of a boosted parser as above. */
TRL_API bool trl_parse_model_has_tag(const trl_parse_model *m, trl_str tag);

/* Appends, for people, how large grammar and lexicon are; or, when top is not 0, the `top` largest
 * and smallest weights of rules and of each feature family (nothing for a generative model, which
 * has none).  TRL_ENOMEM. */
TRL_API trl_status trl_parse_model_describe(const trl_parse_model *m, size_t top, trl_buf *out,
                                            trl_error *err);

/* The whole model as text, from which trl_model_undump makes the same file again: grammar, lexicon
 * and weights, a row each, with what it stands for after a '#' (docs/formats.md).  What `write`
 * returns; TRL_ENOMEM. */
TRL_API trl_status trl_parse_model_dump(const trl_parse_model *m, trl_write_fn write, void *ctx,
                                        trl_error *err);

/* The bytes of a smaller model in place of what `out` held; kept on failure.  Features with small
 * weights are left out (`prune`, `keep`), weights of features have 16 or 8 bits, and fingerprints
 * take the place of features: as in trellis/shrink.h, but that rules are never left out and keep
 * floats, and that `attributes` of the report are features.  TRL_EINVAL for a boosted parser, one
 * without features or with fingerprints already, for fingerprints of a MECFG or PT-CFG, and for
 * options that are none; TRL_ENOMEM. */
TRL_API trl_status trl_parse_model_shrink(const trl_parse_model *m,
                                          const trl_shrink_options *options, trl_buf *out,
                                          trl_shrink_report *report, trl_error *err);

/* Which tree of a sentence. */
typedef enum trl_parse_decode {
    TRL_PARSE_BRACKETS, /* with the best expected brackets: best by F1; the grammar need not be able
                           to make it, and it may differ from the most probable one */
    TRL_PARSE_TREE,     /* the most probable tree: the first of the n-best list */
    TRL_PARSE_VITERBI,  /* that of the most probable derivation: the fastest */
} trl_parse_decode;

/* Begin with trl_parse_options_default(): later versions have more members. */
typedef struct trl_parse_options {
    size_t size;             /* of the struct, as the program was compiled */
    trl_parse_decode decode; /* TRL_PARSE_BRACKETS */
    double lambda;           /* of brackets: up for precision, down for recall; 0.44 */
    double mix;              /* of brackets: share of the span pruner's posteriors; 0.25 */
    size_t nbest;            /* this many of the most probable trees, 10000 at most; 0, 1: one */
    bool probability; /* also compute the tree's, which costs a pass; n-best trees always have it */
    bool spans;       /* also posteriors of labelled spans */
    bool no_functions;  /* labels without function tags, also of a model that has learnt them */
    bool first_stage;   /* leaves the second stage out, where the model has one (train --rerank) */
    double max_work;    /* of one sentence, millions of steps: counted before they are made, so that
                           the result does not depend on the machine; 0: no limit; 1000 */
    double max_seconds; /* of one sentence; 0: no limit; 0 */
    size_t max_bytes;   /* of one sentence; 0: no limit; 2 GiB */
    double prune;       /* as in training; negative: the model's */
    size_t beam;        /* boosted: states looked at after each number of inferences; 0: no limit */
    double latent; /* of brackets: share of the grammars with substates, where the model has any;
                      0.5 */
} trl_parse_options;

TRL_API void trl_parse_options_init(trl_parse_options *o, size_t size); /* sizeof *o */

static inline trl_parse_options trl_parse_options_default(void)
{
    trl_parse_options o;
    trl_parse_options_init(&o, sizeof o);
    return o;
}

/* The options that have a name. */
TRL_API const trl_option_table *trl_parse_option_table(void);

/* What is known about a sentence beforehand. */
typedef enum trl_known_type {
    TRL_KNOWN_TAG,         /* word `from` has the tag `label` */
    TRL_KNOWN_CONSTITUENT, /* words from .. to-1 are one, with that label, or any ("") */
    TRL_KNOWN_NO_CONSTITUENT,
} trl_known_type;

typedef struct trl_known {
    trl_known_type type;
    size_t from, to;
    trl_str label;
} trl_known;

typedef struct trl_parsed {
    trl_tree tree;
    double log_probability; /* of all its derivations, as calibrated (trellis/calibrate.h); -inf:
                               the chart does not have it.  NaN when not requested, for a simpler
                               tree, and for a perceptron */
} trl_parsed;

/* The probability that the tree has at least one constituent with this label over the words from ..
 * to-1. */
typedef struct trl_span {
    trl_str label;
    size_t from, to;
    double probability;
} trl_span;

/* Borrowed from the parser until its next sentence. */
typedef struct trl_parse {
    size_t n_trees;          /* at least 1 */
    const trl_parsed *trees; /* best first */
    size_t n_spans;
    const trl_span *spans; /* at least 0.01, none twice: probability descending (to nine digits),
                              then from ascending, to descending, labels by their bytes */
    bool sure; /* n-best: no missing tree is more probable than one of these. False when there were
                  more derivations than are examined (10 per tree and 100 more); of a boosted
                  parser, when its search met a limit */
    const char *warning; /* NULL: no problem */
} trl_parse;

typedef struct trl_parser trl_parser;

/* The options are copied.  TRL_EINVAL for one out of its range, and for `probability` or `spans` of
 * a model whose scores are not probabilities.  TRL_ENOMEM. */
TRL_API trl_status trl_parser_new(const trl_parse_model *m, const trl_parse_options *o,
                                  trl_parser **out, trl_error *err);
TRL_API void trl_parser_free(trl_parser *p); /* accepts NULL */

/* Boosted: the states that were looked at for all sentences so far; else 0.  Accepts NULL. */
TRL_API uint64_t trl_parser_states(const trl_parser *p);

/* A tag that a word may have, and how likely: a factor of the probability of every tree that has
 * it. */
typedef struct trl_weighted_tag {
    size_t word; /* from 0 */
    trl_str tag;
    double weight; /* above 0; the weights of a word need not add up to 1 */
} trl_weighted_tag;

/* A sentence, and what is known about it: begin with all zero, or name the members. */
typedef struct trl_parse_input {
    const trl_str *word; /* [n] */
    size_t n;
    const trl_known *known; /* [n_known]; NULL: nothing */
    size_t n_known;
    const trl_weighted_tag *tags; /* [n_tags] as trl_parser_parse_tags takes them; NULL: none */
    size_t n_tags;
} trl_parse_input;

/* Parses a sentence.  TRL_EINVAL when it has no words or an empty one, for knowledge about words
 * that are not there, a label that the model does not know or a tag that is none; TRL_ENOMEM. */
TRL_API trl_status trl_parser_parse(trl_parser *p, const trl_parse_input *in, trl_parse *out,
                                    trl_error *err);

/* The same with tags, in any order: words that have some get one of these, others any tag.
 * TRL_EINVAL also for a word that is not there, a tag that the model does not know or that the word
 * has twice, a weight that is not above 0, and for a boosted parser. */
TRL_API trl_status trl_parser_parse_tags(trl_parser *p, const trl_parse_input *in,
                                         const trl_weighted_tag *tags, size_t n_tags,
                                         trl_parse *out, trl_error *err);

/* ---- many sentences --------------------------------------------------------------------------
 *
 * What comes out is what one parser says of one sentence after the other, bit for bit, with any
 * number of threads. */

/* A parser for every thread; borrows the model. */
typedef struct trl_parsers trl_parsers;

/* threads 0: one per processor.  As trl_parser_new. */
TRL_API trl_status trl_parsers_new(const trl_parse_model *m, const trl_parse_options *o,
                                   size_t threads, trl_parsers **out, trl_error *err);
TRL_API void trl_parsers_free(trl_parsers *p);             /* accepts NULL */
TRL_API uint64_t trl_parsers_states(const trl_parsers *p); /* trl_parser_states of all */

/* Sentence k has been parsed: `found` is borrowed during the call; NULL: it failed, and err, whose
 * code is the status, says why.  Called once for each k, in any order, by the thread that parsed
 * it, for several sentences at the same time: it shall write to what belongs to k alone.  TRL_OK
 * goes on, also after a failure; another status ends the call with it and with err. */
typedef trl_status (*trl_parsed_fn)(void *ctx, size_t k, const trl_parse *found, trl_error *err);

/* Parses n sentences.  The first one for which `found` gives a status other than TRL_OK ends it;
 * its number, from 1, is in the message when that has no path.  Those before it have been given to
 * `found`, of those after it some.  One call at a time. */
TRL_API trl_status trl_parsers_run(trl_parsers *p, const trl_parse_input *in, size_t n,
                                   trl_parsed_fn found, void *ctx, trl_error *err);

/* ---- why this tree ---------------------------------------------------------------------------
 *
 * The score of a derivation is a sum over its nodes: of the rule, of the features of its state over
 * its words (of a part of speech: with its word), and of those of the rule with the words at its
 * ends and between its children.  exp of the difference of two scores is how many times as probable
 * the one derivation is as the other.
 *
 * Of a boosted parser it is minus the cost of the tree: of every inference, that is, of every
 * constituent, the parameters of the compound features that hold, and what the other inferences
 * from the same state take away; and of the tags.
 */
typedef enum trl_parse_part_kind {
    TRL_PARSE_PART_RULE,  /* name: S^TOP -> NP^S @S */
    TRL_PARSE_PART_STATE, /* name: NP^S; of unary rules the rule: its features */
    TRL_PARSE_PART_WORD,  /* name: NN^NP -> cat */
    TRL_PARSE_PART_FIRST, /* the rest: a binary rule, with the first words of the span */
    TRL_PARSE_PART_SPLIT, /* where its second child begins */
    TRL_PARSE_PART_END,   /* at its end */
    /* boosted parsers: */
    TRL_PARSE_PART_FEATURES, /* name: NP: children[1].tag=DT & !left[1].tag=IN; one that holds */
    TRL_PARSE_PART_OTHERS,   /* name: NP; the other inferences from the state before it */
    TRL_PARSE_PART_TAGS,     /* name: DT NN; what they cost */
} trl_parse_part_kind;

typedef struct trl_parse_part {
    trl_parse_part_kind kind;
    trl_str name;
    size_t from, to; /* words from .. to-1 */
    double score;
} trl_parse_part;

typedef struct trl_derived {
    const trl_parse_part *part;
    size_t n;     /* 0: the grammar has no tree */
    double score; /* the sum of the parts, to rounding */
} trl_derived;

/* The best derivation under what is known, its tree in *tree, and its parts; borrowed until the
 * next sentence.  The parser's options decide about limits alone.  Here a boosted parser takes
 * known constituents, too.  TRL_EINVAL as trl_parser_parse; TRL_ENOMEM. */
TRL_API trl_status trl_parser_derive(trl_parser *p, const trl_parse_input *in, trl_parse *tree,
                                     trl_derived *out, trl_error *err);

TRL_END_DECLS

#endif
