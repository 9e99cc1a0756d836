/* train_notes.h -- runs of trl_train and what they say; what a tagger says then. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TRAIN_NOTES_H
#define TRL_TEST_TRAIN_NOTES_H

#include "train_setup.h"

/* Notes of the run, one a line; stops at an iteration. */
typedef struct notes {
    char text[2000];
    uint64_t stop_at;
    bool stop_at_q0;
} notes;

static inline bool note(void *ctx, const trl_progress *p)
{
    notes *n = ctx;
    if (p->note)
        snprintf(n->text + strlen(n->text), sizeof n->text - strlen(n->text), "%s\n", p->note);
    return (strcmp(p->stage, "iteration") == 0 && p->iteration == n->stop_at) ||
           (strcmp(p->stage, "q0") == 0 && n->stop_at_q0);
}

static inline void train(setup *s, notes *n)
{
    trl_error err;
    *n = (notes){.stop_at = n->stop_at, .stop_at_q0 = n->stop_at_q0};
    s->o.progress = note;
    s->o.progress_ctx = n;
    assert_ok(trl_train(&s->o, &s->result, &err));
}

static inline void use_template(setup *s, const char *text)
{
    s->o.template_text = text;
    s->o.template_size = text ? strlen(text) : 0;
}

/* Everything a tagger says of the first sequence of a file. */
typedef struct answers {
    size_t n, L;
    double log_z, best, p[1024];
    uint32_t y[64];
} answers;

static inline void ask(const char *model, const char *path, trl_decoding how, answers *a)
{
    trl_error err;
    trl_model *m = NULL;
    trl_tagger *t = NULL;
    trl_reader *r = NULL;
    trl_rows seq;
    bool more;
    assert_ok(trl_model_open(model, &m, &err));
    assert_ok(trl_tagger_new(m, &t, &err));
    assert_ok(trl_tagger_set_decoding(t, how, &err));
    assert_ok(trl_reader_open(path, TRL_FORMAT_COLUMNS, &r, &err));
    assert_ok(trl_reader_rows(r, &seq, &more, &err));
    a->n = seq.n_tokens;
    a->L = trl_model_get_info(m).n_labels;
    assert_true(a->n <= 64 && a->n * a->L <= 1024);
    assert_ok(trl_tagger_set_rows(t, &seq, &err));
    assert_ok(trl_tagger_viterbi(t, a->y, &a->best, &err));
    assert_ok(trl_tagger_log_z(t, &a->log_z, &err));
    assert_ok(trl_tagger_marginals(t, a->p, &err));
    trl_reader_free(r);
    trl_tagger_free(t);
    trl_model_free(m);
}

#endif
