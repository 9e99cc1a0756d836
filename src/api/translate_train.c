/* translate_train.c -- from parallel text to a translator. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "api/translate_source.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/format.h"
#include "base/mem.h"
#include "options/option_table.h"
#include "train_translate/train_translate.h"
#include "translate/translator.h"

/* ---- one run --------------------------------------------------------------------------------- */

typedef struct run {
    const trl_translate_data *data;
    const trl_translate_options *o;
    trl_translate_notes notes;
    trl_pool *pool;
    trl_journal *journal;
    trl_container *parser_file;
    trl_parse_model *parser;
    trl_translate_source source;
    trl_translate_corpus corpus;
    trl_translate_model m;
    trl_translate_model *like; /* of o->features_of */
    trl_train_translate_result learnt;
    char settings[600];
} run;

static void run_fini(run *r)
{
    trl_translate_corpus_fini(&r->corpus);
    trl_translate_source_fini(&r->source);
    trl_translate_model_fini(&r->m);
    trl_translate_model_free(r->like);
    trl_parse_model_free(r->parser);
    trl_container_free(r->parser_file);
    trl_journal_free(r->journal);
    trl_pool_free(r->pool);
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* Of the text, the parser and the options that the result depends on. */
static uint64_t print_of(const run *r)
{
    const trl_translate_options *o = r->o;
    const uint64_t number[] = {
        (uint64_t)o->words,     o->min_count,   o->tune, o->sample, o->features,
        o->iterations,          o->drop_lost,   o->beam, o->seed,   r->data->links != NULL,
        r->data->trees != NULL, o->no_intercept};
    const double real[] = {o->min_share, o->lambda, o->decay, o->rate, o->c2};
    uint64_t h = trl_bitext_print(r->source.text);
    h = h * 31 + trl_str_hash((const char *)number, sizeof number);
    h = h * 31 + trl_str_hash((const char *)real, sizeof real);
    return h * 31 + trl_str_hash(r->m.parser.p, r->m.parser.n);
}

static trl_status open_journal(run *r, trl_error *err)
{
    const trl_translate_options *o = r->o;
    return o->checkpoint ? trl_journal_open(o->checkpoint, print_of(r), o->resume, &r->journal, err)
                         : TRL_OK;
}

/* Links, trees and rules for heads are files too: what was made of them must be the same. */
static trl_status check_corpus(run *r, trl_error *err)
{
    const uint64_t now = r->journal ? trl_translate_corpus_print(&r->corpus) : 0;
    size_t n = 0;
    const void *kept = trl_journal_find(r->journal, TRL_RECORD_CORPUS, 0, &n);
    if (!kept)
        trl_journal_add(r->journal, TRL_RECORD_CORPUS, 0, &now, sizeof now);
    if (!kept || (n == sizeof now && memcmp(kept, &now, sizeof now) == 0))
        return TRL_OK;
    const trl_status st =
        trl_fail(err, TRL_EMODEL, "this checkpoint is of a run with other links or trees");
    trl_fail_where(err, st, r->o->checkpoint, 0, 0);
    return trl_fail_hint(err, st,
                         "resume with the same files, or leave out 'resume' to start anew");
}

/* The bytes go into the model, and a parser is made of them. */
static trl_status open_parser(run *r, trl_error *err)
{
    if (!r->data->parser)
        return TRL_OK;
    trl_status st = trl_container_open(r->data->parser, "tree", &r->parser_file, err);
    if (st != TRL_OK)
        return st;
    r->m.parser =
        (trl_str){trl_container_bytes(r->parser_file), trl_container_size(r->parser_file)};
    return trl_parse_model_from_memory(r->m.parser.p, r->m.parser.n, &r->parser, err);
}

static trl_status read_source(run *r, trl_error *err)
{
    const trl_translate_reading how = {r->parser, r->pool, r->journal, r->notes};
    return trl_translate_source_read(&r->source, r->data, &how, err);
}

static trl_status make_corpus(run *r, trl_error *err)
{
    const size_t n = r->source.text->side[0].n;
    const size_t tenth = n / 10 < 1000 ? n / 10 : 1000;
    const trl_translate_text t = {.text = r->source.text,
                                  .trees = r->source.trees,
                                  .trees_path = r->data->trees,
                                  .links = &r->source.links,
                                  .heads = r->m.heads,
                                  .names = &r->m.names,
                                  .held = r->o->tune == SIZE_MAX ? tenth : r->o->tune,
                                  .drop_lost = r->o->drop_lost,
                                  .beam = r->o->beam,
                                  .pool = r->pool};
    if (t.held >= n)
        return trl_fail(err, TRL_EINVAL, "%zu pairs for tuning of %zu leave none for training",
                        t.held, n);
    const trl_status st = trl_translate_corpus_make(&r->corpus, &t, err);
    const trl_translate_counts *c = &r->corpus.counts;
    if (st == TRL_OK)
        trl_translate_note(&r->notes,
                           "%" PRIu64 " links of %" PRIu64 " source words with links (%" PRIu64
                           " links): the trees keep %.1f %%",
                           c->kept, c->linked, c->links,
                           c->linked ? 100.0 * (double)c->kept / (double)c->linked : 0.0);
    return st;
}

static trl_status learn(run *r, trl_error *err)
{
    const trl_translate_options *o = r->o;
    const bool tune = o->tune_null && r->corpus.n_held >= o->tune_null;
    if (o->words == TRL_WORDS_GENERATIVE) {
        const trl_em_text t = {.corpus = &r->corpus,
                               .text = r->source.text,
                               .links = &r->source.links,
                               .beam = o->beam,
                               .pool = r->pool,
                               .journal = r->journal};
        const trl_tune_text held = {&r->corpus, r->source.text, NULL};
        const trl_status st = trl_train_generative(&r->m, &t, o->iterations, &r->learnt, err);
        return st == TRL_OK && tune ? trl_tune_null(&r->m, &held, r->pool, &r->learnt, err) : st;
    }
    trl_train_translate_options x = {.filter = {o->min_count, o->min_share},
                                     .features = o->features,
                                     .like = r->like ? r->like->boost : NULL,
                                     .tune_null = tune,
                                     .pool = r->pool,
                                     .journal = r->journal};
    x.words = (trl_learn_options){.learner = (trl_word_learner)o->words,
                                  .boost = trl_boost_options_default(),
                                  .lambda_end = o->lambda,
                                  .c2 = o->c2,
                                  .no_intercept = o->no_intercept,
                                  .memory = o->memory};
    x.words.boost.decay = o->decay;
    x.words.boost.rate = o->rate;
    x.words.boost.sample = o->sample;
    x.words.boost.seed = o->seed;
    return trl_train_translate(&r->m, &r->corpus, r->source.text, &x, &r->learnt, err);
}

static void describe(run *r)
{
    static const char *const words[] = {"boosted", "l2", "frequent", "generative"};
    const trl_translate_options *o = r->o;
    trl_snprintf(r->settings, sizeof r->settings,
                 "words %s\npairs %zu\ntuned %zu\nmin-count %" PRIu32
                 "\nmin-share %g\nlambda %g %g\nnull %g %g\nsample %zu\nc2 %g\nseed %" PRIu64
                 "\nclassifiers %zu\nfeatures %" PRIu64 "\n",
                 words[o->words], r->corpus.n, r->corpus.n_held, o->min_count, o->min_share,
                 r->learnt.lambda[0], r->learnt.lambda[1], r->m.null.add, r->m.null.most, o->sample,
                 o->c2, o->seed, r->learnt.word_classifiers, r->learnt.compound);
    r->m.settings = r->settings;
}

static void summarise(const run *r, trl_translate_result *out)
{
    const trl_translate_counts *c = &r->corpus.counts;
    const trl_train_translate_result *l = &r->learnt;
    *out = (trl_translate_result){.pairs = r->corpus.n,
                                  .tuned = r->corpus.n_held,
                                  .words = c->words,
                                  .linked = c->linked,
                                  .links = c->links,
                                  .kept = c->kept,
                                  .orders = {c->orders[0], c->orders[1], c->orders[2]},
                                  .candidates = l->candidates,
                                  .classifiers = l->word_classifiers,
                                  .inferences = l->inferences,
                                  .node_classifiers = l->orders,
                                  .node_examples = l->node_examples,
                                  .features = l->compound,
                                  .node_features = l->order_compound,
                                  .lambda = l->lambda[0],
                                  .tune_loss = l->held_loss,
                                  .lambda_most = l->lambda[1],
                                  .null_add = r->m.null.add,
                                  .null_most = r->m.null.most,
                                  .tune_f = {l->held_f[0], l->held_f[1]}};
}

trl_status trl_translate_train(const trl_translate_data *data, const trl_translate_options *options,
                               const char *model, trl_translate_result *result, trl_error *err)
{
    trl_translate_options o;
    if (!data || !data->source || !options || !model || !result)
        return trl_fail_null(err);
    const double started = trl_clock();
    trl_status st = trl_options_take(trl_translate_option_table(), options, &o, err);
    if (st == TRL_OK && o.beam == 1)
        st = trl_fail(err, TRL_EINVAL, "a beam of 1 keeps no link");
    if (st != TRL_OK)
        return st;
    run r = {.data = data, .o = &o, .notes = {o.note, o.note_ctx}};
    if (!(r.pool = trl_pool_new(trl_pool_count(o.threads))))
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_head_rules_read(data->heads, &r.m.heads, err);
    if (st == TRL_OK)
        st = open_parser(&r, err);
    if (st == TRL_OK && o.words == TRL_WORDS_L2 && o.features_of)
        st = trl_translate_model_open(o.features_of, &r.like, err);
    if (st == TRL_OK)
        st = trl_translate_source_open(&r.source, data, &r.notes, err);
    if (st == TRL_OK)
        st = open_journal(&r, err);
    if (st == TRL_OK)
        st = read_source(&r, err);
    if (st == TRL_OK)
        st = make_corpus(&r, err);
    if (st == TRL_OK)
        st = check_corpus(&r, err);
    if (st == TRL_OK)
        st = learn(&r, err);
    if (trl_journal_warning(r.journal))
        trl_translate_note(&r.notes, "%s: %s", o.checkpoint, trl_journal_warning(r.journal));
    if (st == TRL_OK) {
        describe(&r);
        st = trl_translate_model_save(&r.m, model, err);
    }
    if (st == TRL_OK) {
        summarise(&r, result);
        result->seconds = trl_clock() - started;
    }
    run_fini(&r);
    return st;
}

/* ---- words on their own ---------------------------------------------------------------------- */

/* The candidate of the largest h; the target word, TRL_NO_ID for NULL; *several: there was a
 * choice, and the right one among them. */
static uint32_t best_candidate(const trl_tree_translator *t, uint32_t w, uint32_t truth,
                               bool *several)
{
    const trl_translate_model *m = t->m;
    const uint64_t begin = trl_candidates_begin(m, w), end = m->candidate_end[w];
    uint64_t total = 0, best = begin;
    double most = -HUGE_VAL;
    *several = false;
    for (uint64_t k = begin; k < end; k++)
        total += m->candidate[k].count;
    for (uint64_t k = begin; k < end; k++) {
        const double h = trl_translator_h(t, &m->candidate[k], total);
        if (h > most) {
            most = h;
            best = k;
        }
        *several |= end - begin > 1 && m->candidate[k].target == truth;
    }
    return m->candidate[best].target;
}

static trl_status score_pair(trl_tree_translator *t, const trl_translate_pair *p,
                             const trl_bitext *text, trl_word_accuracy *out, trl_error *err)
{
    for (size_t i = 0; i < p->source.n_words; i++) {
        const uint32_t w = p->source.word[i];
        uint32_t truth = TRL_NO_ID;
        if (p->target[i] != TRL_NO_ID) {
            const trl_str s = trl_strtab_get(&text->side[1].words, p->target[i]);
            truth = trl_strtab_find(&t->m->targets, s.p, s.n);
            truth = truth == TRL_NO_ID ? TRL_NO_ID - 1 : truth; /* no candidate has it */
        }
        out->words++;
        if (w == TRL_NO_ID || trl_candidates_begin(t->m, w) == t->m->candidate_end[w])
            continue;
        bool several;
        if (!trl_translator_mark_word(t, &p->source, i))
            return trl_fail_mem(err);
        const bool right = best_candidate(t, w, truth, &several) == truth;
        out->right += right;
        out->known += several;
        out->known_right += several && right;
    }
    return TRL_OK;
}

trl_status trl_translate_score_words(const trl_translate_model *m, const trl_translate_data *data,
                                     size_t threads, trl_word_accuracy *out, trl_error *err)
{
    if (!m || !data || !data->source || !out)
        return trl_fail_null(err);
    trl_translate_source source = {0};
    trl_translate_corpus corpus = {0};
    trl_tree_translator t = {0};
    trl_parse_model *parser = NULL;
    *out = (trl_word_accuracy){0};
    trl_pool *pool = trl_pool_new(trl_pool_count(threads));
    trl_status st = pool ? trl_tree_translator_init(&t, m, err) : trl_fail_mem(err);
    if (st == TRL_OK && m->parser.n && !data->trees)
        st = trl_parse_model_from_memory(m->parser.p, m->parser.n, &parser, err);
    const trl_translate_reading how = {.parser = parser, .pool = pool};
    if (st == TRL_OK)
        st = trl_translate_source_open(&source, data, &how.notes, err);
    if (st == TRL_OK)
        st = trl_translate_source_read(&source, data, &how, err);
    const trl_translate_text text = {.text = source.text,
                                     .trees = source.trees,
                                     .trees_path = data->trees,
                                     .links = &source.links,
                                     .heads = m->heads,
                                     .names = (trl_source_names *)(uintptr_t)&m->names,
                                     .fixed = true,
                                     .beam = 40,
                                     .pool = pool};
    if (st == TRL_OK)
        st = trl_translate_corpus_make(&corpus, &text, err);
    for (size_t k = 0; st == TRL_OK && k < corpus.n; k++)
        st = score_pair(&t, &corpus.pair[k], source.text, out, err);
    trl_translate_corpus_fini(&corpus);
    trl_translate_source_fini(&source);
    trl_parse_model_free(parser);
    trl_tree_translator_fini(&t);
    trl_pool_free(pool);
    return st;
}
