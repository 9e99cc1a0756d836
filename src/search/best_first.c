/* best_first.c -- best-first search over states. */
/* SPDX-License-Identifier: MIT */
#include "search/best_first.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"

/* Costs above this are not queued even while no tree is known: e^-50. */
#define HOPELESS 50.0

/* The first descent may take as much work as so many searches: sentences of 100 words. */
#define DESCENT 4.0

/* An inference that may be made; its label TRL_NO_ID: a tagging that may be begun with. */
struct trl_search_node {
    double cost; /* of the whole derivation up to here */
    uint32_t state;
    trl_inference x;
};

struct trl_search_state {
    trl_partial_parse s;
    double cost;
    uint32_t depth; /* inferences */
};

void trl_searcher_fini(trl_searcher *x)
{
    trl_forest_fini(&x->forest);
    trl_item_ids_fini(&x->ids);
    trl_boost_present_fini(&x->present);
    trl_free(x->word);
    trl_free(x->path);
    trl_arena_fini(&x->arena);
    trl_free(x->node);
    trl_free(x->state);
    trl_free(x->heap);
    trl_free(x->expanded);
    trl_free(x->cost);
    trl_free(x->found);
    *x = (trl_searcher){0};
}

/* ---- costs ----------------------------------------------------------------------------------- */

static trl_span_view view_of(const trl_searcher *x)
{
    const trl_search_model *m = x->model;
    return (trl_span_view){&m->groups, &m->names, &x->forest, x->word,
                           (const uint32_t(*)[TRL_PATHS])x->path};
}

/* ln(1 + exp(-h)) without overflow. */
static double cost_of(double h)
{
    return h > 0.0 ? log1p(exp(-h)) : log1p(exp(h)) - h;
}

trl_status trl_search_features(trl_searcher *x, const trl_partial_parse *s, size_t first,
                               size_t last, trl_error *err)
{
    const trl_span_view v = view_of(x);
    return trl_span_ids(&v, s, first, last, &x->ids) ? TRL_OK : trl_fail_mem(err);
}

/* h of all classifiers for roots [first .. last] into h[classifiers]; -INFINITY: not allowed. */
static trl_status find_scores(trl_searcher *x, const trl_partial_parse *s, size_t first,
                              size_t last, double *h, trl_error *err)
{
    const trl_search_model *m = x->model;
    const trl_status st = trl_search_features(x, s, first, last, err);
    if (st != TRL_OK)
        return st;
    trl_boost_scores(&m->terms, &x->present, x->ids.span, x->ids.n_span, h);
    const bool whole = first == 0 && last + 1 == s->n;
    for (size_t k = 0; k < m->boost->n; k++)
        if ((m->label_of[k] == TRL_SEARCH_TOP && !whole) ||
            (first == last && !trl_unary_allowed(&x->forest, s->root[first], m->label_of[k])))
            h[k] = -(double)INFINITY;
    return TRL_OK;
}

static size_t n_spans(const trl_partial_parse *s)
{
    return (s->newest + 1) * s->n - s->newest * (s->newest + 1) / 2;
}

/* Scores of a state, `top` the largest, to costs: minus the logarithm of a score's share among all
 * of them and no inference. */
static void to_shares(double *h, size_t n, double top)
{
    const double most = top > 0.0 ? top : 0.0, least = top - TRL_SEARCH_UNLIKELY;
    double sum = TRL_SEARCH_NONE * exp(-most);
    for (size_t k = 0; k < n; k++)
        sum += h[k] >= least ? exp(h[k] - most) : 0.0;
    const double log_sum = log(sum) + most;
    for (size_t k = 0; k < n; k++)
        h[k] = h[k] >= least ? log_sum - h[k] : (double)INFINITY;
}

trl_status trl_search_costs(trl_searcher *x, const trl_partial_parse *s, trl_error *err)
{
    const trl_search_model *m = x->model;
    const size_t n = n_spans(s) * m->boost->n;
    const trl_span_view v = view_of(x);
    double *h = trl_reserve(x->cost, &x->cost_cap, n, sizeof *h);
    if (!h || !trl_item_ids_extend(&x->ids, &v, &m->index))
        return trl_fail_mem(err);
    x->cost = h;
    double top = -(double)INFINITY;
    for (size_t first = 0; first <= s->newest; first++)
        for (size_t last = first; last < s->n; last++, h += m->boost->n) {
            const trl_status st = find_scores(x, s, first, last, h, err);
            if (st != TRL_OK)
                return st;
            for (size_t k = 0; k < m->boost->n; k++)
                top = h[k] > top ? h[k] : top;
        }
    if (m->shares)
        to_shares(x->cost, n, top);
    else
        for (size_t k = 0; k < n; k++)
            x->cost[k] = cost_of(x->cost[k]);
    return TRL_OK;
}

/* ---- queue ----------------------------------------------------------------------------------- */

static bool before(const trl_searcher *x, uint32_t a, uint32_t b)
{
    const double ca = x->node[a].cost, cb = x->node[b].cost;
    return ca != cb ? ca < cb : a < b;
}

static void sift_up(trl_searcher *x, size_t at)
{
    const uint32_t v = x->heap[at];
    for (; at && before(x, v, x->heap[(at - 1) / 2]); at = (at - 1) / 2)
        x->heap[at] = x->heap[(at - 1) / 2];
    x->heap[at] = v;
}

static uint32_t pop(trl_searcher *x)
{
    const uint32_t top = x->heap[0], v = x->heap[--x->n_heap];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= x->n_heap)
            break;
        if (child + 1 < x->n_heap && before(x, x->heap[child + 1], x->heap[child]))
            child++;
        if (!before(x, x->heap[child], v))
            break;
        x->heap[at] = x->heap[child];
        at = child;
    }
    x->heap[at] = v;
    return top;
}

static trl_status push(trl_searcher *x, trl_search_node n, trl_error *err)
{
    trl_search_node *node = trl_reserve(x->node, &x->node_cap, x->n_nodes + 1, sizeof *node);
    if (node)
        x->node = node;
    uint32_t *heap = trl_reserve(x->heap, &x->heap_cap, x->n_heap + 1, sizeof *heap);
    if (heap)
        x->heap = heap;
    if (!node || !heap || x->n_nodes >= TRL_NO_ID - 1)
        return trl_fail_mem(err);
    node[x->n_nodes] = n;
    if (n.x.label == TRL_SEARCH_TOP && (x->leaf == TRL_NO_ID || n.cost < node[x->leaf].cost))
        x->leaf = (uint32_t)x->n_nodes;
    heap[x->n_heap] = (uint32_t)x->n_nodes++;
    sift_up(x, x->n_heap++);
    return TRL_OK;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* The state after a node's inference; TRL_NO_ID: out of memory. */
static uint32_t make_state(trl_searcher *x, const trl_search_node *n)
{
    const trl_search_state *from = &x->state[n->state];
    const trl_partial_parse old = from->s;
    const uint32_t depth = from->depth + 1;
    trl_search_state *state = trl_reserve(x->state, &x->state_cap, x->n_states + 1, sizeof *state);
    uint32_t *root = trl_arena_get(&x->arena, old.n, sizeof *root);
    if (state)
        x->state = state;
    const trl_search_model *m = x->model;
    const uint32_t item = state && root
                              ? trl_forest_add(&x->forest, &old, n->x, m->heads, &m->names.labels)
                              : TRL_NO_ID;
    if (item == TRL_NO_ID)
        return TRL_NO_ID;
    state[x->n_states] = (trl_search_state){
        trl_partial_after(&old, n->x.first, n->x.last, item, root), n->cost, depth};
    return (uint32_t)x->n_states++;
}

/* The work of looking at a state, in millions of trees; the features of a span take as long as
 * FEATURES of them. */
#define FEATURES 100

static double work_of(const trl_searcher *x, const trl_partial_parse *s)
{
    return 1e-6 * (double)((s->newest + 1) * s->n) * (double)(x->model->n_trees + FEATURES);
}

static bool is_over(const trl_searcher *x, const trl_search_options *o)
{
    return (o->max_work > 0.0 && x->work > o->max_work) ||
           (o->deadline > 0.0 && trl_clock() > o->deadline);
}

/* ---- what is known --------------------------------------------------------------------------- */

/* Is there an item with the label over these words at the top of the root, or in its chain of
 * single children; or was it asked for when a larger root was made? */
static bool has_item(const trl_forest *f, const trl_search_known *k, uint32_t root)
{
    const trl_item *v = &f->item[root];
    if (v->from > k->from || v->to < k->to)
        return false;
    if (v->from < k->from || v->to > k->to)
        return true;
    for (; v->n == 1; v = &f->item[f->child[v->child]])
        if (k->label == TRL_NO_ID || v->label == k->label)
            return true;
    return v->n > 1 && (k->label == TRL_NO_ID || v->label == k->label);
}

static bool obeys(const trl_searcher *x, const trl_search_known *k, const trl_partial_parse *s,
                  trl_inference to)
{
    const size_t from = x->forest.item[s->root[to.first]].from;
    const size_t end = x->forest.item[s->root[to.last]].to;
    const bool exact = from == k->from && end == k->to, top = to.label == TRL_SEARCH_TOP;
    if (k->forbidden)
        return !exact || top || (k->label != TRL_NO_ID && k->label != to.label);
    if (end <= k->from || from >= k->to || (exact && !top))
        return true;
    if (from > k->from || end < k->to) /* inside, or crossing */
        return from >= k->from && end <= k->to;
    for (size_t r = to.first; r <= to.last; r++)
        if (has_item(&x->forest, k, s->root[r]))
            return true;
    return false;
}

static bool is_allowed(const trl_searcher *x, const trl_partial_parse *s, trl_inference to)
{
    for (size_t k = 0; k < x->n_known; k++)
        if (!obeys(x, &x->known[k], s, to))
            return false;
    return true;
}

/* Looks at a state: queues all inferences that may be part of the cheapest tree.  With `best` the
 * cheapest of all is not queued, but written there, whatever it costs. */
static trl_status expand(trl_searcher *x, uint32_t state, trl_search_node *best, trl_error *err)
{
    const trl_search_model *m = x->model;
    const trl_partial_parse s = x->state[state].s;
    const double so_far = x->state[state].cost;
    trl_search_node least = {(double)INFINITY, state, {0}};
    x->n_expanded++;
    x->work += work_of(x, &s);
    trl_status st = trl_search_costs(x, &s, err);
    const double *cost = x->cost;
    trl_inference to = {0};
    for (; st == TRL_OK && to.first <= s.newest; to.first++)
        for (to.last = to.first; st == TRL_OK && to.last < s.n; to.last++)
            for (size_t k = 0; st == TRL_OK && k < m->boost->n; k++, cost++) {
                to.label = m->label_of[k];
                trl_search_node n = {so_far + *cost, state, to};
                if (x->n_known && !is_allowed(x, &s, to))
                    continue;
                if (best && n.cost < least.cost) {
                    const trl_search_node dearer = least;
                    least = n;
                    n = dearer;
                }
                if (n.cost < x->bound)
                    st = push(x, n, err);
            }
    if (x->want == 1 && x->leaf != TRL_NO_ID && x->node[x->leaf].cost < x->bound)
        x->bound = x->node[x->leaf].cost;
    if (best)
        *best = least;
    return st;
}

/* ---- search ---------------------------------------------------------------------------------- */

static trl_status keep_tree(trl_searcher *x, const trl_search_node *n, trl_error *err)
{
    const uint32_t state = make_state(x, n);
    trl_found_tree *found = trl_reserve(x->found, &x->found_cap, x->n_found + 1, sizeof *found);
    if (found)
        x->found = found;
    if (state == TRL_NO_ID || !found)
        return trl_fail_mem(err);
    const size_t nodes = x->forest.n_words + x->state[state].depth;
    trl_node *node = trl_arena_get(&x->arena, nodes, sizeof *node);
    uint32_t *stack = trl_arena_get(&x->arena, 2 * nodes, sizeof *stack);
    if (!node || !stack)
        return trl_fail_mem(err);
    found[x->n_found] = (trl_found_tree){n->cost, node, 0};
    found[x->n_found++].n_nodes =
        trl_forest_tree(&x->forest, x->state[state].s.root[0], node, stack);
    return TRL_OK;
}

/* Always the cheapest inference, until a tree is there, which is queued as all others are; or until
 * nothing that is known allows another.  False: until the work of DESCENT searches was done. Then
 * the roots that are left get one parent, and the tree, whose cost is INFINITY, is x->leaf. */
static trl_status descend(trl_searcher *x, const trl_search_options *o, bool *ended, trl_error *err)
{
    trl_search_options limit = *o;
    limit.max_work *= DESCENT;
    *ended = true;
    for (uint32_t state = 0;;) {
        const size_t n = x->state[state].s.n;
        trl_search_node best = {(double)INFINITY, state, {0, (uint32_t)n - 1, TRL_SEARCH_TOP}};
        if (is_over(x, &limit)) {
            *ended = false;
            x->leaf = (uint32_t)x->n_nodes; /* even if a tree is known: it is a flat one */
            return push(x, best, err);
        }
        const trl_status st = expand(x, state, &best, err);
        if (st == TRL_OK && isinf(best.cost))
            return x->n_known
                       ? TRL_OK
                       : trl_fail(err, TRL_EMODEL, "damaged model: it has no label for the root");
        if (st == TRL_OK && best.x.label == TRL_SEARCH_TOP)
            return push(x, best, err);
        state = st == TRL_OK ? make_state(x, &best) : TRL_NO_ID;
        if (state == TRL_NO_ID)
            return st == TRL_OK ? trl_fail_mem(err) : st;
    }
}

static bool in_beam(trl_searcher *x, const trl_search_options *o, uint32_t depth, trl_status *st,
                    trl_error *err)
{
    if (!o->beam)
        return true;
    const size_t had = x->expanded_cap;
    uint32_t *n = trl_reserve(x->expanded, &x->expanded_cap, depth + 1, sizeof *n);
    if (!n) {
        *st = trl_fail_mem(err);
        return false;
    }
    x->expanded = n;
    if (x->expanded_cap > had)
        memset(n + had, 0, (x->expanded_cap - had) * sizeof *n);
    if (n[depth] < o->beam)
        n[depth]++;
    else
        return x->exact = false;
    return true;
}

/* Takes states from the queue until the trees are there or a limit is met. */
static trl_status run_queue(trl_searcher *x, const trl_search_options *o, trl_error *err)
{
    trl_status st = TRL_OK;
    while (st == TRL_OK && x->n_heap && x->n_found < x->want) {
        if (is_over(x, o)) {
            x->exact = false;
            break;
        }
        const trl_search_node n = x->node[pop(x)];
        if (n.x.label == TRL_SEARCH_TOP) {
            st = keep_tree(x, &n, err);
            continue;
        }
        if (n.x.label == TRL_NO_ID) {
            st = expand(x, n.state, NULL, err);
            continue;
        }
        if (!in_beam(x, o, x->state[n.state].depth + 1, &st, err))
            continue;
        const uint32_t state = make_state(x, &n);
        if (state == TRL_NO_ID)
            return trl_fail_mem(err);
        st = expand(x, state, NULL, err);
    }
    return st;
}

static void reset(trl_searcher *x)
{
    trl_arena_reset(&x->arena);
    x->n_nodes = x->n_states = x->n_heap = x->n_found = 0;
    x->n_expanded = 0;
    x->work = 0.0;
    x->leaf = TRL_NO_ID;
    x->exact = true;
    x->bound = HOPELESS;
    if (x->expanded)
        memset(x->expanded, 0, x->expanded_cap * sizeof *x->expanded);
}

/* Looks up the words. */
static trl_status read_words(trl_searcher *x, const trl_search_input *in, trl_error *err)
{
    const trl_search_model *m = x->model;
    uint32_t *own = trl_reserve(x->word, &x->word_cap, in->n, sizeof *own);
    if (own)
        x->word = own;
    uint32_t(*path)[TRL_PATHS] = trl_reserve(x->path, &x->path_cap, in->n, sizeof *path);
    if (path)
        x->path = path;
    const trl_span_view v = view_of(x);
    if (!own || !path || (!x->present.holds && !trl_boost_present_init(&x->present, &m->terms)) ||
        (!x->ids.id && !trl_item_ids_init(&x->ids, &v, &m->index)))
        return trl_fail_mem(err);
    trl_item_ids_reset(&x->ids);
    for (size_t k = 0; k < in->n; k++) {
        own[k] = trl_strtab_find(&m->names.words, in->word[k].p, in->word[k].n);
        trl_search_paths(&m->names, in->word[k], path[k]);
    }
    return TRL_OK;
}

/* States 0 .. n_taggings-1: the words with their tags. */
static trl_status start(trl_searcher *x, const trl_search_input *in, trl_error *err)
{
    trl_search_state *state = trl_reserve(x->state, &x->state_cap, in->n_taggings, sizeof *state);
    if (!state)
        return trl_fail_mem(err);
    x->state = state;
    x->forest.n_words = in->n;
    x->forest.n_items = x->forest.n_children = 0;
    for (size_t k = 0; k < in->n_taggings; k++) {
        const uint32_t base = trl_forest_tag(&x->forest, in->tag + k * in->n);
        uint32_t *root = trl_arena_get(&x->arena, in->n, sizeof *root);
        if (base == TRL_NO_ID || !root)
            return trl_fail_mem(err);
        state[x->n_states++] = (trl_search_state){trl_partial_start(&x->forest, base, root),
                                                  in->cost ? in->cost[k] : 0.0, 0};
    }
    return TRL_OK;
}

trl_partial_parse trl_search_begin(const trl_searcher *x, size_t k)
{
    return x->state[k].s;
}

/* The other taggings wait in the queue. */
static trl_status queue_taggings(trl_searcher *x, size_t n, trl_error *err)
{
    trl_status st = TRL_OK;
    for (uint32_t k = 1; st == TRL_OK && k < n; k++)
        if (x->state[k].cost < x->bound)
            st = push(x, (trl_search_node){x->state[k].cost, k, {0, 0, TRL_NO_ID}}, err);
    return st;
}

trl_status trl_best_first(trl_searcher *x, const trl_search_input *in, const trl_search_options *o,
                          trl_error *err)
{
    bool ended = false;
    x->want = o->nbest > 1 ? o->nbest : 1;
    x->known = in->known;
    x->n_known = in->n_known;
    reset(x);
    trl_status st = read_words(x, in, err);
    if (st == TRL_OK)
        st = start(x, in, err);
    if (st == TRL_OK)
        st = descend(x, o, &ended, err);
    if (st != TRL_OK)
        return st;
    const double known = x->leaf == TRL_NO_ID ? (double)INFINITY : x->node[x->leaf].cost;
    x->exact = ended && (known < HOPELESS || x->n_known);
    if (x->want == 1 && known < x->bound)
        x->bound = known;
    x->work = 0.0;
    if (ended)
        st = queue_taggings(x, in->n_taggings, err);
    if (st == TRL_OK && ended)
        st = run_queue(x, o, err);
    if (st == TRL_OK && x->n_found == 0 && x->leaf != TRL_NO_ID && (ended || !x->n_known)) {
        const trl_search_node best = x->node[x->leaf];
        st = keep_tree(x, &best, err);
    }
    return st;
}
