/* corpus_features.c -- the attributes that templates in words make, in a corpus. */
/* SPDX-License-Identifier: MIT */
#include "feature/corpus.h"

bool trl_corpus_expand_features(trl_corpus *c, const trl_feature_list *l, size_t t)
{
    for (size_t k = 0; k < l->n_features; k++) {
        const trl_feature *x = &l->feature[k];
        trl_names_clear(&c->made);
        if (!trl_feature_expander_put(c->expander, k, t, &c->made))
            return false;
        for (size_t f = 0; f < c->n_families; f++)
            for (size_t i = 0; (x->cliques >> f & 1) && t >= f && (x->n || f == 0) && i < c->made.n;
                 i++)
                if (!trl_occurrences_add(&c->family[f], c->made.text.data + c->made.name[i].at,
                                         c->made.name[i].n, c->made.name[i].value))
                    return false;
    }
    return true;
}

static trl_status need_expander(trl_corpus *c, const trl_feature_list *l, trl_error *err)
{
    return c->expander ? TRL_OK : trl_feature_expander_new(l, &c->expander, err);
}

trl_status trl_corpus_learn_rows(trl_corpus *c, const trl_template *tpl, const trl_rows *seq,
                                 trl_error *err)
{
    trl_feature_list *l = trl_template_list(tpl);
    const trl_status st = need_expander(c, l, err);
    return st == TRL_OK ? trl_feature_learn(l, c->expander, seq, err) : st;
}

trl_status trl_corpus_set_features(trl_corpus *c, const trl_feature_list *l, const trl_rows *seq,
                                   trl_error *err)
{
    const trl_status st = need_expander(c, l, err);
    return st == TRL_OK ? trl_feature_expander_set(c->expander, seq, err) : st;
}
