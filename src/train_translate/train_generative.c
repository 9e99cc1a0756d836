/* train_generative.c -- a model of the generative transducer. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_translate/train_translate.h"

/* A target word of the text as the model numbers it; NULL and the root stay. */
static uint32_t number(const trl_translate_model *m, const trl_bitext *text, uint32_t word)
{
    if (word >= TRL_ROOT_HEAD)
        return word;
    const trl_str s = trl_strtab_get(&text->side[1].words, word);
    return trl_strtab_find(&m->targets, s.p, s.n);
}

/* The counts with the model's numbers. */
static trl_status take_counts(trl_translate_model *m, const trl_generative *g,
                              const trl_bitext *text, trl_error *err)
{
    for (size_t k = 0; k < g->triple.index.n; k++) {
        const uint64_t context = g->context.key[g->triple.key[k] >> 32];
        const uint32_t pair[2] = {number(m, text, (uint32_t)context),
                                  number(m, text, (uint32_t)g->triple.key[k])};
        if (!trl_generative_add_word(&m->generative, (uint32_t)(context >> 32), pair,
                                     g->triple.count[k]))
            return trl_fail_mem(err);
    }
    for (size_t k = 0; k < g->order.index.n; k++)
        if (!trl_counts_add(&m->generative.order, g->order.key[k], g->order.count[k]))
            return trl_fail_mem(err);
    return TRL_OK;
}

trl_status trl_train_generative(trl_translate_model *m, const trl_em_text *t, size_t iterations,
                                trl_train_translate_result *result, trl_error *err)
{
    const trl_candidate_filter all = {1, 0.0};
    trl_generative g = {0};
    *result = (trl_train_translate_result){.held_loss = NAN, .held_f = {NAN, NAN}};
    m->is_generative = true;
    m->boost = trl_zalloc(1, sizeof *m->boost);
    trl_status st =
        m->boost ? trl_lexicon_make(m, t->corpus, t->text, &all, err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_translate_model_base(m, err);
    if (st == TRL_OK)
        st = trl_em_start(&g, t, err);
    if (st == TRL_OK)
        st = trl_viterbi_em(&g, t, iterations, NULL, err);
    if (st == TRL_OK)
        st = take_counts(m, &g, t->text, err);
    if (st == TRL_OK)
        result->candidates = m->names.words.n ? m->candidate_end[m->names.words.n - 1] : 0;
    trl_generative_fini(&g);
    return st;
}
