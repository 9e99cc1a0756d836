/* tree_decode.h -- one sentence to trees, with scratch memory that is reused from sentence to
 * sentence. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_DECODE_H
#define TRL_TREE_DECODE_H

#include "chart/mbr.h"
#include "parser/tree_model.h"

/* lambda of expected brackets: half of the expected F1 is best for F1. */
#define TRL_LAMBDA 0.44
#define TRL_LATENT_SHARE 0.5 /* chosen on folds of the training trees (docs/parser.md) */
#define TRL_MIX 0.25         /* chosen on the dev sections of the corpora (docs/parser.md) */

/* About 12 s: inside and outside of a PCFG make 80 million steps a second on one core.
 */
#define TRL_MAX_WORK 1000.0

/* Where grammars with substates are asked, pruning leaves more for them to tell apart: half the
 * model's threshold, and twice instead of four times as much in the coarse chart. */
#define TRL_GENTLE_THRESHOLD 0.5
#define TRL_GENTLE_COARSE 2.0

/* Changes a skeleton before it is charted. */
typedef trl_status (*trl_edit_fn)(void *ctx, trl_skeleton *s, bool *complete, trl_arena *arena,
                                  trl_error *err);

typedef struct trl_decode_options {
    const double *binary_exp, *unary; /* of trl_tree_model_shared; not used by a PCFG */
    trl_edit_fn edit;                 /* NULL: none */
    void *ctx;                        /* of edit */
    double threshold;                 /* of posteriors, in the fine chart of the PCFG */
    double coarse;                    /* times as much in the coarse one; 0: 4 times */
    double deadline;                  /* on trl_clock(); 0: none */
    double max_work;  /* millions of steps (trl_chart_work) of one chart; 0: no limit */
    size_t max_bytes; /* of a sentence's charts; 0: no limit */
    double mix; /* share of the pruner's posteriors in expected brackets; 0 without a span pruner */
    double latent;              /* share of the posteriors of grammars with substates, likewise */
    int tries;                  /* of trl_decode_relax so far: 0 */
    const trl_given_tags *tags; /* or NULL */
    bool no_tagger;             /* words without tags given may have any */
} trl_decode_options;

/* Scratch of one thread; zero-initialise. */
typedef struct trl_decoder {
    trl_arena arena;
    trl_tree_gather gather;
    trl_skeleton s;
    trl_seen seen;
    trl_chart chart;
    trl_tree_tables tables; /* of the sentence: the gather's, or the PCFG's */
    trl_btree tree;
    trl_nodes result;
    trl_brackets pruner_posteriors; /* of the pruner; n is 0 when not requested */
    trl_brackets latent;            /* of grammars with substates; n is 0 when there are none */
    trl_tag_finder finder;
    trl_given_tags found; /* tags given and those of the model's tagger */
    double mix, latent_share;
    double max_work;  /* of the options */
    size_t max_bytes; /* of the options */
    bool has_chart;
    bool complete;       /* the skeleton has a tree */
    bool hopeless;       /* even the coarse grammar has no tree */
    const char *failure; /* why there is no chart, or NULL */
} trl_decoder;
extern const char trl_time_ran_out[];
extern const char trl_no_tree[]; /* the failure for sentences that the grammar has no tree for */
void trl_decoder_fini(trl_decoder *d);

/* Lays the pruned chart of a sentence out and fills its scores: d->chart, d->tables.  Sets
 * d->failure, and makes no chart, when the sentence has no tree or is over a limit.  TRL_ENOMEM,
 * TRL_ENUMERIC. */
trl_status trl_decode_prepare(trl_decoder *d, const trl_tree_model *m, const trl_str *word,
                              size_t n, const trl_decode_options *o, trl_error *err);

/* The best tree, or the one with the best expected brackets, in d->result; its n is 0 when there
 * is none. */
trl_status trl_decode_best(trl_decoder *d, const trl_tree_model *m, trl_error *err);
trl_status trl_decode_mbr(trl_decoder *d, const trl_tree_model *m, double lambda, trl_error *err);

/* Posteriors of brackets, the pruner's share of them mixed in, in the decoder's arena; where there
 * are none d->failure says why.  Without a failure so far. */
trl_status trl_decode_brackets(trl_decoder *d, trl_brackets *b, trl_error *err);

/* Mixes the share of the grammars with substates in, where the model has any. */
void trl_decode_mix_latent(const trl_decoder *d, trl_brackets *b);

/* The same for brackets of the chart alone: with grammars with substates, and only then, the
 * pruner's share and theirs. */
void trl_decode_mix_all(const trl_decoder *d, trl_brackets *b);

/* Says in d->failure why the chart has no tree. */
void trl_decode_note_failure(trl_decoder *d);

/* After an attempt that left no tree: whether to try again, with the threshold (and deadline) that
 * it puts into *o: first a thousandth of the threshold, then, for short sentences, none. */
bool trl_decode_relax(const trl_decoder *d, size_t n, trl_decode_options *o);

/* Failures caused by the sentence (limits, numbers) become d->failure and TRL_OK; others are
 * returned.  Call it with what any of the above returned. */
trl_status trl_decode_settle(trl_decoder *d, trl_status st);

/* Always gives a tree: the coarse grammar's where it has one and there is time before the deadline
 * (0: none); else pieces of the chart (chart/fallback.h), or trees of the coarse grammar for pieces
 * of the sentence.  `whole` false: the coarse grammar, which ignores constraints, is not used.
 * TRL_ENOMEM. */
trl_status trl_decode_fallback(trl_decoder *d, const trl_tree_model *m, const trl_words *x,
                               double deadline, bool whole, trl_error *err);

#endif
