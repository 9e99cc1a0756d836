/* train_translate.c -- one job for every word that has several candidates and for every label. */
/* SPDX-License-Identifier: MIT */
#include "train_translate/train_translate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* The classifiers of a word, or of a label. */
typedef struct task {
    uint32_t id;
    bool is_label;
    size_t n; /* places */
} task;

typedef struct training {
    trl_translate_model *m;
    const trl_translate_corpus *c;
    const trl_bitext *text;
    const trl_train_translate_options *o;
    trl_places words, labels;
    task *task;          /* [n] words, then labels */
    size_t *order;       /* [n] tasks, the longest first */
    trl_learnt *learnt;  /* [n] */
    trl_buf *name;       /* [n] */
    unsigned char *size; /* [classifiers] */
    size_t n, n_words;
} training;

/* ---- examples -------------------------------------------------------------------------------- */

/* Target ids of the bitext to those of the model. */
static uint32_t target_of(const training *t, uint32_t word)
{
    if (word == TRL_NO_ID)
        return TRL_NO_ID;
    const trl_str s = trl_strtab_get(&t->text->side[1].words, word);
    const uint32_t id = trl_strtab_find(&t->m->targets, s.p, s.n);
    return id == TRL_NO_ID ? TRL_NO_ID - 1 : id; /* a word that is no candidate of anything */
}

static const trl_place *places_of(const trl_places *p, uint32_t id)
{
    return p->place + (id ? p->end[id - 1] : 0);
}

/* Rows of all places of a word; right[i]: which candidate is its translation there, the number of
 * candidates where none is. */
static trl_status word_rows(const training *t, const task *x, trl_example_rows *r,
                            trl_feature_keys *keys, uint32_t *right, trl_error *err)
{
    const trl_place *place = places_of(&t->words, x->id);
    const uint64_t begin = trl_candidates_begin(t->m, x->id), end = t->m->candidate_end[x->id];
    trl_status st = TRL_OK;
    for (size_t i = 0; st == TRL_OK && i < x->n; i++) {
        const trl_translate_pair *p = &t->c->pair[place[i].pair];
        const uint32_t target = target_of(t, p->target[place[i].at]);
        uint64_t k = begin;
        while (k < end && t->m->candidate[k].target != target)
            k++;
        right[r->n] = (uint32_t)(k - begin);
        st = trl_word_features(&p->source, place[i].at, keys) ? trl_example_rows_add(r, keys, err)
                                                              : trl_fail_mem(err);
    }
    return st;
}

static trl_status label_rows(const training *t, const task *x, trl_example_rows *r,
                             trl_feature_keys *keys, uint32_t *right, trl_error *err)
{
    const trl_place *place = places_of(&t->labels, x->id);
    trl_status st = TRL_OK;
    for (size_t i = 0; st == TRL_OK && i < x->n; i++) {
        const trl_translate_pair *p = &t->c->pair[place[i].pair];
        right[r->n] = p->order[place[i].at] != TRL_ORDER_SWAPPED; /* 0: swapped */
        st = trl_node_features(&p->source, place[i].at, keys) ? trl_example_rows_add(r, keys, err)
                                                              : trl_fail_mem(err);
    }
    return st;
}

static bool name_parts(training *t, const task *x, trl_buf *out)
{
    const trl_translate_model *m = t->m;
    const trl_str s = trl_strtab_get(x->is_label ? &m->names.labels : &m->names.words, x->id);
    if (x->is_label) {
        trl_buf_fmt(out, "order %.*s", (int)s.n, s.p);
        return trl_buf_ch(out, '\0') && !out->failed;
    }
    for (uint64_t k = trl_candidates_begin(m, x->id); k < m->candidate_end[x->id]; k++) {
        const uint32_t target = m->candidate[k].target;
        const trl_str v =
            target == TRL_NO_ID ? (trl_str){"NULL", 4} : trl_strtab_get(&m->targets, target);
        trl_buf_fmt(out, "%.*s -> %.*s", (int)s.n, s.p, (int)v.n, v.p);
        trl_buf_ch(out, '\0');
    }
    return !out->failed;
}

static size_t classifiers_of(const training *t, const task *x)
{
    return x->is_label ? 1 : t->m->candidate_end[x->id] - trl_candidates_begin(t->m, x->id);
}

static trl_status learn_task(training *t, size_t at, const trl_example_rows *r,
                             const uint32_t *right, trl_error *err)
{
    const task *x = &t->task[at];
    trl_learn_options o = t->o->words;
    const size_t n = classifiers_of(t, x);
    signed char *y = trl_alloc(n * r->n + 1, 1);
    if (!y)
        return trl_fail_mem(err);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < r->n; i++)
            y[k * r->n + i] = right[i] == k ? 1 : -1;
    if (x->is_label)
        o.learner = TRL_LEARN_BOOSTED;
    trl_status st = trl_learn(&t->learnt[at], r, y, n, &o, err);
    trl_free(y);
    return st;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* From the journal, where an earlier run has left it. */
static trl_status take_task(training *t, size_t at, const void *bytes, size_t n, trl_error *err)
{
    trl_learnt *l = &t->learnt[at];
    trl_status st = trl_learnt_load(l, bytes, n, err);
    bool sound = st == TRL_OK && l->n == classifiers_of(t, &t->task[at]);
    for (size_t k = 0; sound && k < l->n_keys; k++)
        sound = trl_word_key_sound(&t->m->names, l->key[k]);
    if (st == TRL_OK && !sound)
        st = trl_fail(err, TRL_EMODEL, "a record of the checkpoint belongs to another run");
    return st;
}

static trl_status keep_task(const training *t, size_t at, trl_error *err)
{
    trl_buf bytes = {0};
    if (!t->o->journal)
        return TRL_OK;
    const bool room = trl_learnt_save(&t->learnt[at], &bytes);
    if (room)
        trl_journal_add(t->o->journal, TRL_RECORD_TASK, at, bytes.data, bytes.len);
    trl_buf_fini(&bytes);
    return room ? TRL_OK : trl_fail_mem(err);
}

static trl_status make_task(training *t, size_t at, trl_error *err)
{
    const task *x = &t->task[at];
    trl_example_rows r = {0};
    trl_feature_keys keys = {0};
    uint32_t *right = trl_alloc(x->n + 1, sizeof *right);
    trl_status st = right ? (x->is_label ? label_rows : word_rows)(t, x, &r, &keys, right, err)
                          : trl_fail_mem(err);
    if (st == TRL_OK)
        st = learn_task(t, at, &r, right, err);
    trl_example_rows_fini(&r);
    trl_free(keys.key);
    trl_free(right);
    return st == TRL_OK ? keep_task(t, at, err) : st;
}

static trl_status run_task(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    training *t = ctx;
    const size_t at = t->order[job];
    size_t n = 0;
    const void *kept = trl_journal_find(t->o->journal, TRL_RECORD_TASK, at, &n);
    const trl_status st = kept ? take_task(t, at, kept, n, err) : make_task(t, at, err);
    return st == TRL_OK && !name_parts(t, &t->task[at], &t->name[at]) ? trl_fail_mem(err) : st;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* Classifiers say themselves how likely it is that no candidate is right. */
static void count_candidates(trl_translate_model *m, uint32_t word)
{
    m->total[word] = 0;
    for (uint64_t k = trl_candidates_begin(m, word); k < m->candidate_end[word]; k++)
        m->total[word] += m->candidate[k].count;
}

static trl_status list_tasks(training *t, trl_error *err)
{
    const trl_translate_model *m = t->m;
    const size_t most = m->names.words.n + m->names.labels.n;
    if (!(t->task = trl_alloc(most + 1, sizeof *t->task)))
        return trl_fail_mem(err);
    for (uint32_t w = 0; t->o->words.learner != TRL_LEARN_NOTHING && w < m->names.words.n; w++)
        if (m->candidate_end[w] - trl_candidates_begin(m, w) > 1)
            t->task[t->n++] = (task){w, false, t->words.end[w] - (w ? t->words.end[w - 1] : 0)};
    t->n_words = t->n;
    for (size_t k = 0; k < t->n_words; k++)
        count_candidates(t->m, t->task[k].id);
    for (uint32_t k = 0; k < m->names.labels.n; k++)
        if (m->order[k].kept && m->order[k].swapped)
            t->task[t->n++] = (task){k, true, m->order[k].kept + m->order[k].swapped};
    t->learnt = trl_zalloc(t->n + 1, sizeof *t->learnt);
    t->name = trl_zalloc(t->n + 1, sizeof *t->name);
    t->order = trl_alloc(t->n + 1, sizeof *t->order);
    return t->learnt && t->name && t->order ? TRL_OK : trl_fail_mem(err);
}

/* The longest first, so that the last ones are short: by the power of two of their inferences. */
static void order_tasks(training *t)
{
    size_t n = 0;
    for (int bit = 63; bit >= 0; bit--)
        for (size_t k = 0; k < t->n; k++)
            if ((uint64_t)t->task[k].n * classifiers_of(t, &t->task[k]) >> bit == 1)
                t->order[n++] = k;
}

static unsigned char size_class(size_t n)
{
    unsigned char k = 0;
    while (n >>= 1)
        k++;
    return k;
}

/* Classifiers are numbered task by task. */
static trl_status number_classifiers(training *t, trl_train_translate_result *result,
                                     trl_error *err)
{
    uint32_t next = 0;
    if (!(t->size = trl_zalloc(t->m->boost->n + 1, 1)))
        return trl_fail_mem(err);
    for (size_t k = 0; k < t->n; k++) {
        const task *x = &t->task[k];
        const uint32_t first = next;
        if (x->is_label) {
            t->m->order[x->id].classifier = next++;
            result->node_examples += t->learnt[k].examples;
            result->orders++;
        } else {
            for (uint64_t q = trl_candidates_begin(t->m, x->id); q < t->m->candidate_end[x->id];
                 q++)
                t->m->candidate[q].classifier = next++;
            result->inferences += t->learnt[k].examples;
        }
        memset(t->size + first, size_class(x->n), next - first);
    }
    result->word_classifiers = next - result->orders;
    return TRL_OK;
}

static void training_fini(training *t)
{
    for (size_t k = 0; k < t->n && t->learnt && t->name; k++) {
        trl_learnt_fini(&t->learnt[k]);
        trl_buf_fini(&t->name[k]);
    }
    trl_free(t->learnt);
    trl_free(t->name);
    trl_free(t->size);
    trl_free(t->order);
    trl_free(t->task);
    trl_places_fini(&t->words);
    trl_places_fini(&t->labels);
}

static void count_compound(const training *t, trl_train_translate_result *result)
{
    for (size_t k = 0; k < t->m->boost->n; k++) {
        const trl_boost_part *p = &t->m->boost->part[k];
        const uint64_t n = p->n_points ? p->point[p->best].compound : 0;
        *(k < result->word_classifiers ? &result->compound : &result->order_compound) += n;
    }
}

trl_status trl_train_translate(trl_translate_model *m, const trl_translate_corpus *c,
                               const trl_bitext *text, const trl_train_translate_options *o,
                               trl_train_translate_result *result, trl_error *err)
{
    training t = {.m = m, .c = c, .text = text, .o = o};
    *result = (trl_train_translate_result){.held_loss = NAN, .held_f = {NAN, NAN}};
    trl_status st = trl_lexicon_make(m, c, text, &o->filter, err);
    if (st == TRL_OK)
        st = trl_places_of_words(&t.words, c, m->names.words.n, err);
    if (st == TRL_OK)
        st = trl_places_of_labels(&t.labels, c, m->names.labels.n, err);
    if (st == TRL_OK)
        st = list_tasks(&t, err);
    if (st == TRL_OK) {
        order_tasks(&t);
        st = trl_pool_run(o->pool, t.n, run_task, &t, err);
    }
    trl_learnt_parts parts = {t.learnt, t.n, t.name};
    if (st == TRL_OK)
        st = trl_learnt_merge(m, &parts, err);
    if (st == TRL_OK) {
        result->candidates = m->names.words.n ? m->candidate_end[m->names.words.n - 1] : 0;
        st = number_classifiers(&t, result, err);
        if (st == TRL_OK && o->words.learner == TRL_LEARN_L2 && o->features)
            st = trl_keep_heaviest(m, result->word_classifiers, o->features, err);
        if (st == TRL_OK && o->words.learner == TRL_LEARN_L2 && o->like)
            st = trl_keep_as_many(m, result->word_classifiers, o->like, err);
    }
    if (st == TRL_OK)
        st = trl_translate_model_index(m, err);
    const trl_tune_text tune = {c, text, t.size};
    if (st == TRL_OK)
        st = trl_tune_lambda(m, &tune, result, err);
    if (st == TRL_OK && o->tune_null)
        st = trl_tune_null(m, &tune, o->pool, result, err);
    if (st == TRL_OK) {
        count_compound(&t, result);
        for (int k = 0; k < 2; k++)
            if (result->lambda[k] > 0.0) /* paths end there */
                result->lambda[k] = fmax(result->lambda[k], o->words.lambda_end);
    }
    training_fini(&t);
    return st;
}
