/* chart_known.c -- what is known of a sentence before it is parsed: tags with weights, tags,
 * constituents. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "base/mem.h"
#include "parser/chart_parsing.h"

static trl_status translate(trl_chart_parser *p, const trl_known *known, size_t n_known, size_t n,
                            trl_error *err)
{
    trl_constraint *list = trl_reserve(p->known, &p->cap_known, n_known, sizeof *list);
    if (!list)
        return trl_fail_mem(err);
    p->known = list;
    p->n_known = n_known;
    for (size_t k = 0; k < n_known; k++) {
        const trl_known *x = &known[k];
        const size_t to = x->type == TRL_KNOWN_TAG ? x->from + 1 : x->to;
        if (x->from >= to || to > n)
            return trl_fail(err, TRL_EINVAL, "words %zu to %zu are not in a sentence of %zu words",
                            x->from + 1, to, n);
        list[k] = (trl_constraint){TRL_CONSTRAIN_SPAN, x->from, to, TRL_NO_ID};
        if (x->type == TRL_KNOWN_NO_CONSTITUENT)
            list[k].type = TRL_CONSTRAIN_NOT;
        else if (x->type == TRL_KNOWN_TAG || x->label.n)
            list[k].type = x->type == TRL_KNOWN_TAG ? TRL_CONSTRAIN_TAG : TRL_CONSTRAIN_LABEL;
        if (list[k].type == TRL_CONSTRAIN_TAG || list[k].type == TRL_CONSTRAIN_LABEL) {
            list[k].label = trl_chart_model_label(p->model, x->label);
            if (list[k].label == TRL_NO_ID)
                return trl_fail(err, TRL_EINVAL, "the model has no label '%.*s'", (int)x->label.n,
                                x->label.p);
        }
        if (list[k].type == TRL_CONSTRAIN_TAG && !trl_chart_model_has_tag(p->model, x->label))
            return trl_fail(err, TRL_EINVAL, "'%.*s' is not a tag of the model", (int)x->label.n,
                            x->label.p);
    }
    return TRL_OK;
}

trl_status trl_chart_parser_tags(trl_chart_parser *p, size_t n, const trl_weighted_tag *tags,
                                 size_t n_tags, trl_error *err)
{
    const trl_tree_model *m = &p->model->m;
    p->tags.n = 0;
    if (n_tags == 0)
        return TRL_OK;
    trl_given_tag *list = trl_alloc(n_tags, sizeof *list);
    trl_status st = list ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < n_tags; k++) {
        const trl_weighted_tag *x = &tags[k];
        list[k] = (trl_given_tag){x->word, trl_chart_model_label(p->model, x->tag), log(x->weight)};
        if (x->word >= n)
            st = trl_fail(err, TRL_EINVAL, "word %zu is not in a sentence of %zu words",
                          x->word + 1, n);
        else if (list[k].label == TRL_NO_ID)
            st = trl_fail(err, TRL_EINVAL, "the model has no tag '%.*s'", (int)x->tag.n, x->tag.p);
        else if (!(x->weight > 0.0) || !isfinite(x->weight))
            st = trl_fail(err, TRL_EINVAL, "the weight of a tag is above 0, not %g", x->weight);
    }
    if (st == TRL_OK)
        st = trl_given_tags_set(&p->tags, &(trl_given_grammars){&m->fine, &m->coarse}, n,
                                &(trl_given_list){list, n_tags}, err);
    trl_free(list);
    for (size_t k = 0; st == TRL_OK && k < p->n_more; k++) {
        st = trl_chart_parser_tags(p->more[k], n, tags, n_tags, err);
        if (st == TRL_EINVAL) { /* a tag that this grammar does not have */
            p->more[k]->tags.n = 0;
            st = TRL_OK;
        }
    }
    return st;
}

#define LONGEST_GIVEN 2000 /* words: a table has room for all tags of each */

/* When tags are all that is known, one a word in order, pruning may know them, too: they are given
 * tags. */
static trl_status give_known(trl_chart_parser *p, size_t n, bool *given, trl_error *err)
{
    const trl_tree_model *m = &p->model->m;
    *given = p->tags.n == 0 && p->n_known > 0 && n <= LONGEST_GIVEN;
    for (size_t k = 0; *given && k < p->n_known; k++)
        *given = p->known[k].type == TRL_CONSTRAIN_TAG &&
                 (k == 0 || p->known[k - 1].i < p->known[k].i) &&
                 trl_grammar_has_tag(&m->fine, p->known[k].label);
    trl_given_tag *list = *given ? trl_alloc(p->n_known, sizeof *list) : NULL;
    if (!*given || !list)
        return *given ? trl_fail_mem(err) : TRL_OK;
    for (size_t k = 0; k < p->n_known; k++)
        list[k] = (trl_given_tag){p->known[k].i, p->known[k].label, 0.0};
    const trl_status st = trl_given_tags_set(&p->tags, &(trl_given_grammars){&m->fine, &m->coarse},
                                             n, &(trl_given_list){list, p->n_known}, err);
    trl_free(list);
    return st;
}

/* Is the tag of some word among what is known? */
static bool knows_tags(const trl_chart_parser *p)
{
    for (size_t k = 0; k < p->n_known; k++)
        if (p->known[k].type == TRL_CONSTRAIN_TAG)
            return true;
    return false;
}

static trl_status apply_known(void *ctx, trl_skeleton *s, bool *complete, trl_arena *arena,
                              trl_error *err)
{
    const trl_chart_parser *p = ctx;
    return trl_constrain(&p->model->m.fine, &(trl_constraints){p->known, p->n_known}, s, complete,
                         arena, err);
}

/* How the sentence is decoded, by what is known of it; *given: known tags have become given ones.
 */
trl_status trl_chart_set_up(trl_chart_parser *p, const trl_parse_input *in, trl_decode_options *o,
                            bool *given, trl_error *err)
{
    const trl_tree_model *m = &p->model->m;
    const bool two_stages = trl_chart_has_second_stage(p);
    const bool brackets = (p->o.decode == TRL_PARSE_BRACKETS && p->o.nbest <= 1) || two_stages;
    const bool gentle = brackets && !two_stages && p->o.latent > 0.0 && m->n_latent > 0;
    const double threshold = gentle ? TRL_GENTLE_THRESHOLD * m->threshold : m->threshold;
    const bool mixed = brackets || (p->o.spans && m->n_latent > 0);
    *given = false;
    *o = (trl_decode_options){.binary_exp = m->binary_exp,
                              .unary = m->unary,
                              .ctx = p,
                              .mix = mixed ? p->o.mix : 0.0,
                              .latent = mixed ? p->o.latent : 0.0,
                              .threshold = p->o.prune >= 0.0 ? p->o.prune : threshold,
                              .coarse = gentle ? TRL_GENTLE_COARSE : 0.0,
                              .deadline = p->deadline,
                              .max_work = p->o.max_work,
                              .max_bytes = p->o.max_bytes};
    p->n_known = 0;
    trl_status st = in->n_known ? translate(p, in->known, in->n_known, in->n, err) : TRL_OK;
    if (st == TRL_OK && in->n_known)
        st = give_known(p, in->n, given, err);
    o->edit = in->n_known && !*given ? apply_known : NULL;
    o->tags = p->tags.n == in->n ? &p->tags : NULL;
    o->no_tagger = o->edit && knows_tags(p);
    return st;
}
