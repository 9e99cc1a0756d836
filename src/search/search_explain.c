/* search_explain.c -- the derivation of a tree is gone through again, its scores taken apart. */
/* SPDX-License-Identifier: MIT */
#include "search/search_explain.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

void trl_search_explainer_fini(trl_search_explainer *e)
{
    for (size_t k = 0; e->terms && k < e->model->boost->n; k++)
        trl_boost_terms_fini(&e->terms[k]);
    trl_free(e->terms);
    trl_free(e->has_terms);
    trl_free(e->holds);
    trl_free(e->order);
    trl_free(e->item);
    trl_free(e->root);
    trl_free(e->part);
    trl_buf_fini(&e->names);
    *e = (trl_search_explainer){0};
}

static bool make_room(trl_search_explainer *e, const trl_found_tree *t, size_t n_words)
{
    const trl_boost_model *b = e->model->boost;
    if (!e->holds) {
        e->terms = trl_zalloc(b->n + 1, sizeof *e->terms);
        e->has_terms = trl_zalloc(b->n + 1, sizeof *e->has_terms);
        e->holds = e->terms && e->has_terms ? trl_alloc(2 * b->names.n + 1, 1) : NULL;
        for (size_t k = 0; e->holds && k < 2 * b->names.n; k++)
            e->holds[k] = k & 1;
    }
    uint32_t *order = trl_reserve(e->order, &e->order_cap, t->n_nodes, sizeof *order);
    e->order = order ? order : e->order;
    uint32_t *item = trl_reserve(e->item, &e->item_cap, t->n_nodes, sizeof *item);
    e->item = item ? item : e->item;
    uint32_t *root = trl_reserve(e->root, &e->root_cap, n_words, sizeof *root);
    e->root = root ? root : e->root;
    return e->holds && order && item && root;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Where a part is: words, and the label of the inference. */
typedef struct place {
    size_t from, to;
    trl_str label;
} place;

/* A part whose name has been appended since `begin`; names are pointers only at the end. */
static trl_status add_part(trl_search_explainer *e, trl_parse_part_kind kind, const place *p,
                           size_t begin, double score, trl_error *err)
{
    trl_parse_part *part = trl_reserve(e->part, &e->cap, e->n + 1, sizeof *part);
    e->part = part ? part : e->part;
    if (!part || e->names.failed)
        return trl_fail_mem(err);
    part[e->n++] = (trl_parse_part){kind, {NULL, e->names.len - begin}, p->from, p->to, score};
    return TRL_OK;
}

/* Literals in words: what is there, then what is not. */
static void name_term(trl_search_explainer *e, const trl_boost_terms *terms,
                      const trl_boost_term *t, trl_str label)
{
    const uint32_t *literal = terms->literal + t->begin;
    trl_buf_add(&e->names, label.p, label.n);
    trl_buf_str(&e->names, t->n ? ": " : ": always");
    const char *between = "";
    for (uint32_t negated = 0; negated < 2; negated++)
        for (size_t q = 0; q < t->n; q++) {
            if ((literal[q] & 1) != negated)
                continue;
            const trl_str s = trl_strview_get(&e->model->boost->names, literal[q] / 2);
            trl_buf_fmt(&e->names, "%s%s", between, negated ? "!" : "");
            trl_buf_add(&e->names, s.p, s.n);
            between = " & ";
        }
}

static bool holds(const trl_search_explainer *e, const trl_boost_terms *terms,
                  const trl_boost_term *t)
{
    const uint32_t *literal = terms->literal + t->begin;
    for (size_t q = 0; q < t->n; q++)
        if (!e->holds[literal[q]])
            return false;
    return true;
}

/* The compound features of classifier k that hold; their sum into *h. */
static trl_status add_terms(trl_search_explainer *e, size_t k, const place *p, double *h,
                            trl_error *err)
{
    trl_boost_terms *terms = &e->terms[k];
    trl_status st = TRL_OK;
    if (!e->has_terms[k]) {
        trl_boost_terms_fini(terms);
        st = trl_boost_part_terms(&e->model->boost->part[k], terms, err);
        e->has_terms[k] = st == TRL_OK;
    }
    *h = 0.0;
    for (size_t q = 0; st == TRL_OK && q < terms->n; q++) {
        const trl_boost_term *t = &terms->term[q];
        if (t->theta == 0.0 || !holds(e, terms, t))
            continue;
        const size_t begin = e->names.len;
        name_term(e, terms, t, p->label);
        st = add_part(e, TRL_PARSE_PART_FEATURES, p, begin, t->theta, err);
        *h += t->theta;
    }
    return st;
}

/* ---- inferences ------------------------------------------------------------------------------ */

static void set_features(trl_search_explainer *e, const trl_item_ids *ids, bool there)
{
    for (size_t k = 0; k < ids->n_span; k++) {
        e->holds[2 * (size_t)ids->span[k]] = there;
        e->holds[2 * (size_t)ids->span[k] + 1] = !there;
    }
}

static trl_status add_inference(trl_search_explainer *e, trl_searcher *x,
                                const trl_partial_parse *s, trl_inference to, trl_error *err)
{
    const trl_search_model *m = e->model;
    const place p = {x->forest.item[s->root[to.first]].from, x->forest.item[s->root[to.last]].to,
                     trl_strtab_get(&m->names.labels, to.label)};
    size_t k = 0;
    while (m->label_of[k] != to.label)
        k++;
    trl_status st = trl_search_costs(x, s, err);
    if (st != TRL_OK)
        return st;
    /* roots before `first` have spans up to the last one each */
    const size_t before = to.first * s->n - to.first * (to.first - (to.first > 0)) / 2;
    const double cost = x->cost[(before + to.last - to.first) * m->boost->n + k];
    double h = 0.0;
    st = trl_search_features(x, s, to.first, to.last, err);
    if (st != TRL_OK)
        return st;
    set_features(e, &x->ids, true);
    st = add_terms(e, k, &p, &h, err);
    set_features(e, &x->ids, false);
    const size_t begin = e->names.len;
    trl_buf_add(&e->names, p.label.p, p.label.n);
    return st == TRL_OK ? add_part(e, TRL_PARSE_PART_OTHERS, &p, begin, -cost - h, err) : st;
}

/* The tagging that the tree has. */
static size_t tagging_of(const trl_found_tree *t, const trl_search_input *in)
{
    for (size_t k = 0; k < in->n_taggings; k++) {
        bool same = true;
        for (size_t v = 0; same && v < t->n_nodes; v++)
            same = t->node[v].child != TRL_NO_NODE ||
                   in->tag[k * in->n + t->node[v].from] == t->node[v].label;
        if (same)
            return k;
    }
    return 0;
}

static trl_status add_tags(trl_search_explainer *e, const trl_search_input *in, size_t tagging,
                           trl_error *err)
{
    const double cost = in->cost ? in->cost[tagging] : 0.0;
    const size_t begin = e->names.len;
    for (size_t k = 0; k < in->n; k++) {
        const trl_str tag = trl_strtab_get(&e->model->names.labels, in->tag[tagging * in->n + k]);
        trl_buf_str(&e->names, k ? " " : "");
        trl_buf_add(&e->names, tag.p, tag.n);
    }
    return add_part(e, TRL_PARSE_PART_TAGS, &(place){0, in->n, {0}}, begin, -cost, err);
}

trl_status trl_search_explain(trl_search_explainer *e, trl_searcher *x, const trl_search_input *in,
                              trl_error *err)
{
    const trl_search_model *m = e->model;
    const trl_found_tree *found = &x->found[0];
    e->n = 0;
    e->names.len = 0;
    if (!make_room(e, found, in->n))
        return trl_fail_mem(err);
    const size_t tagging = tagging_of(found, in);
    const trl_tree t = {.n_nodes = found->n_nodes,
                        .n_words = in->n,
                        .node = found->node,
                        .word = in->word,
                        .labels = &m->names.labels};
    const trl_partial_parse first = trl_search_begin(x, tagging);
    memcpy(e->root, first.root, in->n * sizeof *e->root);
    trl_partial_parse s = first;
    s.root = e->root;
    for (size_t v = 0; v < t.n_nodes; v++)
        if (t.node[v].child == TRL_NO_NODE)
            e->item[v] = first.root[t.node[v].from];
    trl_status st = add_tags(e, in, tagging, err);
    const size_t n = trl_derivation(&t, e->order);
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        const trl_inference to = trl_inference_of(&t, e->order[k], e->item, &s);
        st = add_inference(e, x, &s, to, err);
        const uint32_t item = trl_forest_add(&x->forest, &s, to, m->heads, &m->names.labels);
        if (st == TRL_OK && item == TRL_NO_ID)
            st = trl_fail_mem(err);
        if (st != TRL_OK)
            break;
        e->item[e->order[k]] = item;
        s = trl_partial_after(&s, to.first, to.last, item, e->root);
    }
    const char *name = e->names.data;
    for (size_t k = 0; st == TRL_OK && k < e->n; name += e->part[k++].name.n)
        e->part[k].name.p = name;
    return st;
}
