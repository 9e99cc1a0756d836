/* tree_self_training.c -- raw text is learnt from: a first parser, learnt from the treebank alone,
 * parses it, and its trees are learnt from like the treebank's [MCJ06]; of small treebanks [RR07].
 *
 * Nothing of this is in checkpoints: a run that is resumed does it again, to the same bits.
 */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_tree/tree_training.h"
#include "trellis/parser.h"

#define MOST_WORDS 40 /* of a sentence, where --max-length sets no other limit */
#define LEAST_WORDS 2
#define BATCH 256 /* sentences that are parsed at once, in parallel */

typedef struct raw_sentence {
    trl_str *word; /* [n], one block with their bytes */
    size_t n;
    trl_buf tree; /* its line of the treebank; empty: there is none */
} raw_sentence;

typedef struct self_training {
    trl_tree_training *j;
    const trl_tree_model *m;          /* the first parser */
    const double *binary_exp, *unary; /* its shared scores */
    bool best;                        /* its scores are no probabilities: the best derivation */
    trl_decoder *decoder;             /* [threads] */
    raw_sentence batch[BATCH];
    size_t n_batch;
    size_t most; /* words of a sentence */
    uint64_t words, most_words, n_sentences, n_trees;
    trl_buf trees; /* all of them, one a line */
} self_training;

/* ---- parsing --------------------------------------------------------------------------------- */

static trl_status decode(const self_training *s, trl_decoder *d, const raw_sentence *x,
                         trl_error *err)
{
    const trl_decode_options o = {.binary_exp = s->binary_exp,
                                  .unary = s->unary,
                                  .mix = TRL_MIX,
                                  .max_work = TRL_MAX_WORK,
                                  .threshold = s->m->threshold};
    trl_status st = trl_decode_prepare(d, s->m, x->word, x->n, &o, err);
    if (st == TRL_OK)
        st = s->best ? trl_decode_best(d, s->m, err) : trl_decode_mbr(d, s->m, TRL_LAMBDA, err);
    return trl_decode_settle(d, st);
}

/* A sentence that the parser has no tree for teaches nothing. */
static trl_status parse_one(void *ctx, size_t job, size_t worker, trl_error *err)
{
    self_training *s = ctx;
    trl_decoder *d = &s->decoder[worker];
    raw_sentence *x = &s->batch[job];
    const trl_status st = decode(s, d, x, err);
    if (st != TRL_OK || d->failure || d->result.n == 0)
        return st;
    const trl_tree parsed = {.n_nodes = d->result.n,
                             .n_words = x->n,
                             .node = d->result.node,
                             .word = x->word,
                             .labels = &s->m->fine.labels};
    return trl_tree_write(&parsed, &s->m->fine.labels, &x->tree) && trl_buf_ch(&x->tree, '\n')
               ? TRL_OK
               : trl_fail_mem(err);
}

static trl_status parse_batch(self_training *s, trl_pool *pool, trl_error *err)
{
    const trl_status st = trl_pool_run(pool, s->n_batch, parse_one, s, err);
    for (size_t k = 0; k < s->n_batch; k++) {
        raw_sentence *x = &s->batch[k];
        if (st == TRL_OK && x->tree.len) {
            trl_buf_add(&s->trees, x->tree.data, x->tree.len);
            s->n_trees++;
        }
        trl_buf_fini(&x->tree);
        trl_free(x->word);
        *x = (raw_sentence){0};
    }
    s->n_batch = 0;
    return st == TRL_OK && s->trees.failed ? trl_fail_mem(err) : st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static trl_status keep_sentence(self_training *s, const trl_sentence *from, trl_error *err)
{
    size_t bytes = 0;
    for (size_t k = 0; k < from->n; k++)
        bytes += from->word[k].n;
    raw_sentence *x = &s->batch[s->n_batch];
    x->word = trl_alloc(from->n * sizeof *x->word + bytes, 1);
    if (!x->word)
        return trl_fail_mem(err);
    char *text = (char *)(x->word + from->n);
    for (size_t k = 0; k < from->n; k++) {
        memcpy(text, from->word[k].p, from->word[k].n);
        x->word[k] = (trl_str){text, from->word[k].n};
        text += from->word[k].n;
    }
    x->n = from->n;
    s->n_batch++;
    s->n_sentences++;
    s->words += from->n;
    return TRL_OK;
}

/* Sentences of the raw text, up to as many words as the treebank has: what people annotated is to
 * remain half of what is learnt from. */
static trl_status parse_text(self_training *s, trl_sentence_reader *in, trl_pool *pool,
                             trl_error *err)
{
    trl_status st = TRL_OK;
    for (bool more = true; st == TRL_OK && more && s->words < s->most_words;) {
        trl_sentence x;
        st = trl_sentence_reader_next(in, &x, &more, err);
        if (st == TRL_OK && more && x.n >= LEAST_WORDS && x.n <= s->most)
            st = keep_sentence(s, &x, err);
        if (st == TRL_OK && s->n_batch == BATCH)
            st = parse_batch(s, pool, err);
    }
    const trl_status last = parse_batch(s, pool, st == TRL_OK ? err : NULL);
    return st == TRL_OK ? last : st;
}

static trl_status with_decoders(self_training *s, trl_pool *pool, trl_error *err)
{
    const size_t threads = trl_pool_threads(pool);
    trl_sentence_reader *in = NULL;
    s->decoder = trl_zalloc(threads, sizeof *s->decoder);
    if (!s->decoder)
        return trl_fail_mem(err);
    trl_status st = trl_sentence_reader_open(s->j->o->raw_text, TRL_SENTENCE_WORDS, &in, err);
    if (st == TRL_OK)
        st = parse_text(s, in, pool, err);
    trl_sentence_reader_free(in);
    for (size_t k = 0; k < threads; k++)
        trl_decoder_fini(&s->decoder[k]);
    trl_free(s->decoder);
    return st;
}

/* The first parser has been trained. */
static trl_status first_trained(void *ctx, trl_tree_training *part, trl_error *err)
{
    self_training *s = ctx;
    trl_tree_model *m = &part->model;
    double *binary_exp = trl_alloc64(m->fine.n_binary, sizeof *binary_exp);
    double *unary = trl_alloc64(m->fine.n_unary, sizeof *unary);
    trl_status st = binary_exp && unary ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK) {
        m->features.w = part->w;
        if (m->grade != TRL_GRADE_GENERATIVE)
            trl_tree_model_shared(m, binary_exp, unary);
        s->m = m;
        s->binary_exp = binary_exp;
        s->unary = unary;
        s->best = !part->objective->probabilistic;
        st = with_decoders(s, part->pool, err);
    }
    trl_free(binary_exp);
    trl_free(unary);
    return st;
}

/* ---- the stage ------------------------------------------------------------------------------- */

trl_status trl_tree_training_check_self(const trl_tree_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    if (!o->self_train)
        return TRL_OK;
    if (!o->raw_text)
        return trl_fail(err, TRL_EINVAL,
                        "self-training learns from raw text: 'raw-text' does not name any");
    return trl_tree_training_reads_again(j, "self-training", err);
}

static trl_status add_trees(self_training *s, trl_error *err)
{
    trl_tree_training *j = s->j;
    char note[160];
    snprintf(note, sizeof note,
             "self-training: trees of %llu of %llu sentences of raw text, %llu words",
             (unsigned long long)s->n_trees, (unsigned long long)s->n_sentences,
             (unsigned long long)s->words);
    trl_tree_training_report(j, "self-training", note);
    if (s->trees.len == 0)
        return TRL_OK;
    const size_t before = j->trees.n;
    const trl_status st =
        trl_tree_set_memory(&j->trees, "<trees of raw text>",
                            (trl_str){s->trees.data, s->trees.len}, (size_t)j->o->max_length, err);
    j->trees.n_raw = j->trees.n - before;
    return st;
}

trl_status trl_tree_training_self(trl_tree_training *j, trl_error *err)
{
    if (!j->o->self_train)
        return TRL_OK;
    if (trl_tree_training_report(j, "self-training",
                                 "self-training: a first parser, learnt from the treebank alone"))
        return trl_fail(err, TRL_ECANCEL, "stopped");
    self_training *s = trl_zalloc(1, sizeof *s);
    if (!s)
        return trl_fail_mem(err);
    s->j = j;
    s->most =
        j->o->max_length && j->o->max_length < MOST_WORDS ? (size_t)j->o->max_length : MOST_WORDS;
    s->most_words = j->trees.n_words;
    trl_buf nowhere = {0};
    trl_train_result result = {0};
    trl_train_options o = trl_tree_training_part_options(j, &nowhere);
    o.self_train = false;
    if (strcmp(o.clusters, "auto") != 0)
        o.raw_text = NULL; /* it is for clusters there */
    trl_status st = trl_train_tree_part(
        &o, &(trl_tree_part_run){.ctx = s, .trained = first_trained}, &result, err);
    if (st == TRL_OK)
        st = add_trees(s, err);
    trl_buf_fini(&nowhere);
    trl_buf_fini(&s->trees);
    trl_free(s);
    return st;
}
