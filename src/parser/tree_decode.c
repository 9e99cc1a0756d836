/* tree_decode.c -- sentence -> coarse chart -> skeleton -> scores -> fine chart -> tree. */
/* SPDX-License-Identifier: MIT */
#include "parser/tree_decode.h"

#include <math.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "parser/coarse_tree.h"
#include "parser/latent_posteriors.h"
#include "chart/fallback.h"

#define LAMBDA 0.5 /* of the coarse grammar's tree */
#define COARSE 4.0 /* the threshold of the coarse posteriors, against that of the fine ones */

const char trl_no_tree[] = "the grammar has no tree for it";
const char trl_time_ran_out[] = "time ran out";
static const char too_much_work[] = "it needs more work than is allowed";
static const char too_large[] = "scores of its trees are too large to add up";

void trl_decoder_fini(trl_decoder *d)
{
    trl_arena_fini(&d->arena);
    trl_tree_gather_fini(&d->gather);
    trl_btree_fini(&d->tree);
    trl_free(d->result.node);
    trl_tag_finder_fini(&d->finder);
    trl_given_tags_fini(&d->found);
    *d = (trl_decoder){0};
}

/* ---- charts ---------------------------------------------------------------------------------- */

static trl_status fill_tables(trl_decoder *d, const trl_tree_model *m, const trl_str *word,
                              size_t n, const trl_decode_options *o, trl_error *err)
{
    if (m->grade == TRL_GRADE_GENERATIVE)
        return trl_tree_pcfg_tables(m, word, &d->chart, &d->tables, &d->arena, err);
    void *memory = trl_arena_get(&d->arena, trl_seen_size(n), 1);
    if (!memory)
        return trl_fail_mem(err);
    trl_observe(&m->observer, word, n, memory, &d->seen);
    if (m->tagger.model && o->tags)
        trl_given_tags_observe(o->tags, &d->seen);
    const trl_gather_source x = {&m->features, &d->seen, &d->chart, o->binary_exp, o->unary, false};
    const trl_status st = trl_tree_model_tables(m, word, &x, &d->gather, &d->arena, err);
    d->tables = d->gather.t;
    return st;
}

/* Bytes of the coarse chart and what belongs to it, and of the fine one's fixed part. */
static size_t coarse_bytes(const trl_tree_model *m, size_t n)
{
    const size_t cell = 16 * m->coarse.n_states + 8 * m->pruner.n_left + 8 * m->pruner.stride + 16;
    return trl_chart_cells(n) * cell + n * m->fine.n_states * 4 + 3 * n * m->features.n_classes * 8;
}

/* The cost of the coarse chart, in the unit of trl_chart_work. */
static double coarse_work(const trl_tree_model *m, size_t n)
{
    const double words = (double)n, longest = TRL_LONG_SPAN;
    const double splits = n <= TRL_LONG_SENTENCE ? words * words * words / 6.0
                                                 : words * longest * (longest / 2.0 + 2.0);
    return 1e-6 * splits * (double)(m->pruner.n_left * m->pruner.stride) / 32.0;
}

/* One try with a threshold; d->complete is false when it leaves no tree. */
static trl_status lay_out(trl_decoder *d, const trl_tree_model *m, const trl_str *word, size_t n,
                          const trl_decode_options *o, trl_error *err)
{
    const double coarse = o->coarse > 0.0 ? o->coarse : COARSE;
    const trl_pruning p = {.threshold = o->threshold,
                           .coarse = m->span_pruner.span ? coarse * o->threshold : 0.0,
                           .deadline = o->deadline,
                           .max_work = o->max_work,
                           .tags = o->tags,
                           .pruner_posteriors = o->mix > 0.0 && m->span_pruner.span && !o->edit
                                                    ? &d->pruner_posteriors
                                                    : NULL};
    trl_arena_reset(&d->arena);
    d->has_chart = false;
    d->pruner_posteriors.n = d->latent.n = 0;
    d->mix = o->mix;
    d->latent_share = o->latent;
    trl_status st = trl_tree_skeleton(m, &(trl_pruned_sentence){word, n, &p}, &d->s, &d->complete,
                                      &d->arena, err);
    d->hopeless = st == TRL_OK && !d->complete && !o->tags; /* the words may have other tags */
    if (st == TRL_OK && d->complete && o->edit)
        st = o->edit(o->ctx, &d->s, &d->complete, &d->arena, err);
    if (st != TRL_OK || !d->complete)
        return st;
    st = trl_chart_init(&d->chart, &m->fine, &d->s, &d->arena, err);
    d->chart.deadline = o->deadline;
    d->chart.max_work = o->max_work;
    d->has_chart = st == TRL_OK;
    d->complete = d->chart.root_item != TRL_NO_ID;
    return st;
}

static bool over(double deadline)
{
    return deadline > 0.0 && trl_clock() > deadline;
}

/* Words whose tags are not given have those of the model's tagger.  A second try does without. */
static trl_status find_tags(trl_decoder *d, const trl_tree_model *m, const trl_words *x,
                            const trl_decode_options *o, trl_error *err)
{
    const trl_given_grammars g = {&m->fine, &m->coarse};
    const trl_status st = trl_tag_find(&d->finder, &m->tagger, x, err);
    return st == TRL_OK
               ? trl_given_tags_join(&d->found, &g, o->tags,
                                     &(trl_given_words){x->n, {d->finder.tag, d->finder.n}}, err)
               : st;
}

/* What the grammars with substates expect, where there is memory for it. */
static trl_status ask_latent(trl_decoder *d, const trl_tree_model *m, const trl_words *x,
                             const trl_decode_options *o, trl_error *err)
{
    const trl_status st = trl_latent_posteriors(
        m, &(trl_latent_question){x, o->tags, &d->s, o->max_work}, &d->latent, &d->arena, err);
    if (st != TRL_ENOMEM || !d->arena.limited)
        return st;
    d->latent.n = 0;
    d->arena.limited = false;
    return TRL_OK;
}

/* With what tags are known: lay_out and the tables. */
static trl_status prepare(trl_decoder *d, const trl_tree_model *m, const trl_words *x,
                          const trl_decode_options *o, trl_error *err)
{
    trl_status st = lay_out(d, m, x->word, x->n, o, err);
    if (st == TRL_OK && !d->complete)
        d->failure = over(o->deadline) ? trl_time_ran_out : trl_no_tree;
    if (st != TRL_OK || !d->has_chart)
        return st;
    st = fill_tables(d, m, x->word, x->n, o, err);
    if (st == TRL_OK && o->tags)
        trl_given_tags_add(o->tags, &m->fine, d->chart.s, d->tables.item);
    return st == TRL_OK && o->latent > 0.0 && !o->edit ? ask_latent(d, m, x, o, err) : st;
}

trl_status trl_decode_prepare(trl_decoder *d, const trl_tree_model *m, const trl_str *word,
                              size_t n, const trl_decode_options *o, trl_error *err)
{
    d->failure = NULL;
    d->result.n = 0;
    d->has_chart = d->complete = false;
    d->arena.limit = d->max_bytes = o->max_bytes;
    d->max_work = o->max_work;
    d->arena.limited = false;
    if (o->max_bytes && coarse_bytes(m, n) > o->max_bytes) {
        d->failure = "it is too long for the memory allowed";
        return TRL_OK;
    }
    if (o->max_work > 0.0 && coarse_work(m, n) > o->max_work) {
        d->failure = too_much_work;
        return TRL_OK;
    }
    const trl_words words = {word, n};
    trl_decode_options with = *o;
    trl_status st = TRL_OK;
    if (m->tagger.model && !o->no_tagger && o->tries == 0) {
        st = find_tags(d, m, &words, o, err);
        with.tags = &d->found;
    }
    return st == TRL_OK ? prepare(d, m, &words, &with, err) : st;
}

#define RELAXED 1e-3    /* the threshold of the second try, against that of the first */
#define SHORT_ENOUGH 40 /* words of a sentence that may be tried without pruning */

bool trl_decode_relax(const trl_decoder *d, size_t n, trl_decode_options *o)
{
    const bool again = d->failure == trl_no_tree && !d->hopeless && o->threshold > 0.0 &&
                       (o->tries == 0 || (o->tries == 1 && n <= SHORT_ENOUGH));
    if (!again)
        return false;
    o->threshold = o->tries == 0 ? o->threshold * RELAXED : 0.0;
    if (o->tries++ && o->deadline > 0.0) /* leave time for the fallback tree */
        o->deadline = trl_clock() + (o->deadline - trl_clock()) / 2;
    return true;
}

trl_status trl_decode_settle(trl_decoder *d, trl_status st)
{
    if (st == TRL_ENOMEM && d->arena.limited)
        d->failure = "it needs more memory than is allowed";
    else if (st == TRL_ENUMERIC)
        d->failure = too_large;
    else
        return st;
    d->has_chart = false;
    return TRL_OK;
}

void trl_decode_note_failure(trl_decoder *d)
{
    d->failure = d->chart.heavy ? too_much_work : d->chart.late ? trl_time_ran_out : trl_no_tree;
}

trl_status trl_decode_best(trl_decoder *d, const trl_tree_model *m, trl_error *err)
{
    if (d->failure)
        return TRL_OK;
    trl_status st = trl_chart_best(&d->chart, &d->tables, &d->arena, err);
    if (st != TRL_OK || !isfinite(d->chart.log_z)) {
        trl_decode_note_failure(d);
        return st;
    }
    st = trl_chart_tree(&d->chart, &d->tree, err);
    return st == TRL_OK ? trl_grammar_decode(&m->fine, &d->tree, &d->result.node, &d->result.n,
                                             &d->result.cap, err)
                        : st;
}

trl_status trl_decode_brackets(trl_decoder *d, trl_brackets *b, trl_error *err)
{
    trl_status st = trl_chart_inside(&d->chart, &d->tables, err);
    if (st != TRL_OK || !isfinite(d->chart.log_z)) {
        trl_decode_note_failure(d);
        return st;
    }
    trl_chart_outside(&d->chart, &d->tables, NULL);
    if (d->chart.late) {
        trl_decode_note_failure(d);
        return TRL_OK;
    }
    st = trl_chart_brackets(&d->chart, b, &d->arena, err);
    if (st == TRL_OK && d->pruner_posteriors.n)
        trl_brackets_mix(b, &d->pruner_posteriors, d->mix);
    return st;
}

void trl_decode_mix_latent(const trl_decoder *d, trl_brackets *b)
{
    if (d->latent.n)
        trl_brackets_mix(b, &d->latent, d->latent_share);
}

void trl_decode_mix_all(const trl_decoder *d, trl_brackets *b)
{
    if (d->latent.n && d->pruner_posteriors.n)
        trl_brackets_mix(b, &d->pruner_posteriors, d->mix);
    trl_decode_mix_latent(d, b);
}

trl_status trl_decode_mbr(trl_decoder *d, const trl_tree_model *m, double lambda, trl_error *err)
{
    trl_brackets b;
    if (d->failure)
        return TRL_OK;
    const trl_status st = trl_decode_brackets(d, &b, err);
    if (st != TRL_OK || d->failure)
        return st;
    trl_decode_mix_latent(d, &b);
    return trl_mbr_tree(&b, m->fine.state[m->fine.root].base, lambda, &d->result, &d->arena, err);
}

/* ---- the last resort ------------------------------------------------------------------------- */

#define SHORT_PIECE 30 /* words that the coarse grammar parses in a few milliseconds */
#define LONG_PIECE 80  /* words of a piece for the parser itself */

/* One piece of a sentence, parsed as a sentence is. */
typedef struct piece_run {
    trl_decoder d;
    const trl_tree_model *m;
    trl_decode_options o;
} piece_run;

static trl_status parse_piece(void *self, const trl_words *x, trl_nodes *out, trl_error *err)
{
    piece_run *r = self;
    trl_status st = trl_decode_prepare(&r->d, r->m, x->word, x->n, &r->o, err);
    if (st == TRL_OK && !r->d.failure)
        st = trl_decode_mbr(&r->d, r->m, TRL_LAMBDA, err);
    st = trl_decode_settle(&r->d, st);
    if (st != TRL_OK || r->d.failure || r->d.result.n == 0)
        return st;
    const trl_nodes other = *out;
    *out = r->d.result;
    r->d.result = other;
    return TRL_OK;
}

/* A sentence that is too long, or has no tree, in pieces: those of the parser, where there is time
 * and work enough for it, else those of the coarse grammar. */
static trl_status split(trl_decoder *d, const trl_tree_model *m, const trl_words *x,
                        double deadline, trl_error *err)
{
    const bool long_ones = x->n > LONG_PIECE && !(deadline > 0.0) && m->binary_exp &&
                           (d->max_work <= 0.0 || 4.0 * coarse_work(m, LONG_PIECE) < d->max_work);
    piece_run r = {.m = m,
                   .o = {.binary_exp = m->binary_exp,
                         .unary = m->unary,
                         .threshold = m->threshold,
                         .mix = TRL_MIX,
                         .latent = TRL_LATENT_SHARE,
                         .max_work = d->max_work,
                         .max_bytes = d->max_bytes}};
    const trl_piece_parser p = {long_ones ? LONG_PIECE : SHORT_PIECE, LAMBDA,
                                long_ones ? parse_piece : NULL, &r};
    const trl_status st =
        trl_coarse_pieces(m, &(trl_words){x->word, x->n}, &p, &d->result, &d->arena, err);
    trl_decoder_fini(&r.d);
    return st;
}

trl_status trl_decode_fallback(trl_decoder *d, const trl_tree_model *m, const trl_words *x,
                               double deadline, bool whole, trl_error *err)
{
    d->result.n = 0;
    const bool light = d->failure == trl_no_tree || d->failure == too_large ||
                       (d->failure == too_much_work && d->has_chart);
    if (whole && !d->hopeless && light && !over(deadline)) {
        if (!d->has_chart)
            trl_arena_reset(&d->arena);
        const trl_status st =
            trl_coarse_tree(m, &(trl_words){x->word, x->n}, &(trl_coarse_limits){LAMBDA, deadline},
                            &d->result, &d->arena, err);
        if (st == TRL_OK && d->result.n)
            return TRL_OK;
        if (st != TRL_OK && !(st == TRL_ENOMEM && d->arena.limited))
            return st;
    }
    trl_chart *c = d->has_chart && !d->chart.late ? &d->chart : NULL;
    d->arena.limit = 0;
    if (!c && whole)
        return split(d, m, x, deadline, err);
    if (!c)
        trl_arena_reset(&d->arena);
    return trl_fallback_tree(&(trl_fallback){&m->fine, &m->lexicon, x->word, x->n, c, &d->tables},
                             &d->result, &d->arena, err);
}
