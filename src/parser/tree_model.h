/* tree_model.h -- all that parsing needs: grammars, lexicons, features, weights.
 *
 *     sentence -> coarse chart -> skeleton -> gather -> fine chart -> tree
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_MODEL_H
#define TRL_TREE_MODEL_H

#include "chart/coarse.h"
#include "chart/corner_filter.h"
#include "chart/latent.h"
#include "chart/mbr.h"
#include "parser/function_labels.h"
#include "parser/given_tags.h"
#include "parser/rerank_model.h"
#include "parser/tree_clusters.h"
#include "parser/span_calibration.h"
#include "parser/tree_gather.h"
#include "parser/tree_choose.h"
#include "parser/word_tagger.h"
#include "grammar/tree_set.h"

typedef enum trl_grade {                           /* [FKM08, 5] */
                         TRL_GRADE_GENERATIVE,     /* the PCFG */
                         TRL_GRADE_DISCRIMINATIVE, /* rules and lexicon, conditional */
                         TRL_GRADE_FEATURES,
} trl_grade;

typedef enum trl_tree_scoring { /* what the weights stand for; the numbers are those of files */
                                TRL_SCORING_GLOBAL =
                                    0, /* scores as they are: CRF-CFG, perceptron */
                                TRL_SCORING_OLD =
                                    1, /* local models that had no lexicon: no longer read */
                                TRL_SCORING_PCFG =
                                    2, /* on top of the PCFG's log probabilities: M-estimation */
                                TRL_SCORING_LOCAL =
                                    3, /* normalised at every edge (tree_local.h), and the lexicon's
                                          log p(word | tag): MECFG, PT-CFG */
                                TRL_SCORING_PIECES =
                                    4, /* the same, not normalised: decoded globally */
} trl_tree_scoring;

typedef struct trl_tree_model {
    trl_grade grade;
    trl_tree_scoring scoring;
    trl_grammar fine, coarse;
    trl_lexicon lexicon, coarse_lexicon;
    trl_pcfg pcfg, coarse_pcfg;
    trl_coarse pruner;
    trl_span_pruner span_pruner; /* its gains; without weights unless trained */
    uint32_t *coarse_of;         /* [fine states]: the coarse state, or TRL_NO_ID */
    trl_coarse_map map;
    trl_corners corners; /* of the fine grammar */
    trl_tree_clusters clusters;
    trl_observer observer;
    trl_tree_template tpl;
    trl_tree_features features;
    trl_expansions expansions;         /* of the fine grammar */
    trl_rule_index lists;              /* of TRL_SCORING_LOCAL: the inverted index of features */
    trl_span_calibration spans, trees; /* of the probabilities that are told */
    double threshold;                  /* of coarse posteriors */
    uint32_t frequent;                 /* of the observer */
    trl_function_labels functions;
    trl_tree_root root;         /* the root of a parser's trees; in the grammars it is TOP */
    double *binary_exp, *unary; /* of the weights, when they are final */
    trl_reranker reranker;      /* the second stage, if there is one */
    trl_word_tagger tagger;     /* of clusters.view; or none */
    trl_latent latent[TRL_LATENT_GRAMMARS]; /* of the coarse grammar */
    size_t n_latent;
    uint32_t *latent_label; /* [labels of the coarse grammar]: the fine one's */
} trl_tree_model;

typedef struct trl_tree_model_options {
    trl_grade grade;
    trl_tree_scoring scoring;
    trl_annotation annotation;
    trl_licence licence;
    uint32_t rare;     /* of the lexicon */
    uint32_t frequent; /* of the observer */
    double threshold;
    const char *clusters;                      /* file; "auto": made of the trees; "none" or NULL */
    const char *raw_text;                      /* file of more text for "auto", or NULL */
    const trl_tree_clusters *shared_clusters;  /* in place of those, when not NULL */
    trl_pool *pool;                            /* for making them, or NULL */
    const char *template_name, *template_text; /* families */
    size_t template_size;
} trl_tree_model_options;

/* Reads grammars and lexicons from the trees and prepares features (none indexed yet).  `heads` may
 * be NULL without head tags.  The model must not move afterwards.  TRL_ENOMEM, TRL_EPARSE
 * (template). */
trl_status trl_tree_model_build(trl_tree_model *m, const trl_tree_model_options *o,
                                const trl_head_rules *heads, const trl_tree_set *trees,
                                trl_error *err);
void trl_tree_model_fini(trl_tree_model *m);

/* Derives PCFGs, projection, observer and features from grammars, lexicons and template. */
trl_status trl_tree_model_connect(trl_tree_model *m, trl_error *err);

/* Makes m->lists, for models that need it, when all features are indexed.  TRL_ENOMEM, TRL_EINVAL
 * (rule_index.h). */
trl_status trl_tree_model_index_rules(trl_tree_model *m, trl_error *err);

/* Rules of a generative model; else the weights that a file keeps, those of rules that are not 0
 * and those of other features of at least 1e-4, below which no score changes visibly.  w: of
 * m->features, or NULL for a model that was read from a file. */
size_t trl_tree_model_active(const trl_tree_model *m, const double *w);

/* Weights of rules that are not 0, of a model that was read from a file and has weights. */
size_t trl_tree_model_rules(const trl_tree_model *m);

#define TRL_TREE_BITS "feat" /* sections of weights in 16 or 8 bits begin with it */

/* Sections of a file, with the weights w of m->features.  Borrows from m and template_text until
 * the container is written.  TRL_ENOMEM. */
trl_status trl_tree_model_save(const trl_tree_model *m, const double *w, trl_str template_text,
                               trl_container_builder *b, trl_error *err);

/* Weights and keys stay in the container, which must outlive the model, as must `lender`, whose
 * clusters it has when the file has none (NULL: then none).  TRL_EMODEL, TRL_ENOMEM. */
trl_status trl_tree_model_load(trl_tree_model *m, const trl_container *c,
                               const trl_tree_clusters *lender, trl_error *err);

#define TRL_LONG_SENTENCE 150 /* words; above, spans inside the sentence have at most ... */
#define TRL_LONG_SPAN 60      /* ... this many words, unless they lie between two borders: */
#define TRL_CLAUSE_BORDER 2   /* semicolons, colons, dashes, ends (borders.h) */

typedef struct trl_pruning {
    double threshold;                /* of posteriors */
    double coarse;                   /* of the coarse grammar's; 0: the same */
    double deadline;                 /* on trl_clock(); 0: none */
    double max_work;                 /* of the fine PCFG's chart (chart.h); 0: no limit */
    const trl_btree *gold;           /* its items are kept; or NULL */
    bool filter;                     /* drop what is part of no complete tree */
    trl_brackets *pruner_posteriors; /* gets the pruner's own posteriors of brackets, if it has any
                              (else n is 0), in the arena; or NULL */
    const trl_given_tags *tags;      /* given with the sentence; or NULL */
} trl_pruning;

/* A sentence and how it is pruned. */
typedef struct trl_pruned_sentence {
    const trl_str *word;
    size_t n;
    const trl_pruning *p;
} trl_pruned_sentence;

/* The skeleton of a sentence, in the arena.  *complete: some tree is left; false also after the
 * deadline, and when the coarse grammar has no tree. */
trl_status trl_tree_skeleton(const trl_tree_model *m, const trl_pruned_sentence *x, trl_skeleton *s,
                             bool *complete, trl_arena *arena, trl_error *err);

/* What items are chosen by: the words, their coarse chart, what the span pruner adds (or NULL),
 * thresholds. */
typedef struct trl_skeleton_source {
    const trl_str *word;
    const trl_coarse_chart *coarse;
    const trl_gains *gains;
    const trl_pruning *p;
} trl_skeleton_source;

/* The same from an existing coarse chart with a finite log_z; `gains` (or NULL) are those it was
 * run with. */
trl_status trl_tree_skeleton_of(const trl_tree_model *m, const trl_skeleton_source *from,
                                trl_skeleton *s, bool *complete, trl_arena *arena, trl_error *err);

/* Fills the PCFG's scores of a chart over the fine grammar: item of tags, 0 elsewhere. */
trl_status trl_tree_pcfg_tables(const trl_tree_model *m, const trl_str *word, const trl_chart *c,
                                trl_tree_tables *t, trl_arena *arena, trl_error *err);

/* exp(score) of binary rules and score of unary rules by the weights of m->features, as m->scoring
 * requires. */
void trl_tree_model_shared(const trl_tree_model *m, double *binary_exp, double *unary);

/* Fills the scores of a chart over the fine grammar by the weights: ga->t.  x->f: m->features;
 * binary_exp, unary: of trl_tree_model_shared.  TRL_ENOMEM, TRL_ENUMERIC. */
trl_status trl_tree_model_tables(const trl_tree_model *m, const trl_str *word,
                                 const trl_gather_source *x, trl_tree_gather *ga, trl_arena *arena,
                                 trl_error *err);

#endif
