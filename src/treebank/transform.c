/* transform.c -- cleaning trees: what stays is decided bottom-up, then copied in preorder. */
/* SPDX-License-Identifier: MIT */
#include "treebank/transform.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "treebank/label.h"

/* What is decided about a node of the input. */
typedef struct plan {
    uint32_t words; /* that stay, below it */
    uint32_t kids;  /* children that stay */
    uint32_t label; /* of the result */
    uint32_t only;  /* the label of its last child that stays, before dropping */
    uint32_t up;    /* the node of the result that stands for it */
    bool dropped;   /* its only child stands for it */
} plan;

/* What is known about a label of the table. */
typedef struct known_label {
    uint32_t clean; /* TRL_NO_ID: not looked up yet */
    bool empty, root;
} known_label;

struct trl_transformer {
    trl_transform how;
    char *root; /* owned; NULL as in `how` */
    trl_strtab *labels;
    uint32_t root_id;
    known_label *label; /* [n_labels] */
    size_t n_labels, cap_labels;
    plan *plan; /* [nodes of the input] */
    size_t cap_plan;
    trl_node *node;        /* the result */
    uint32_t *from, *last; /* [cap_nodes]: node of the input; last child so far */
    size_t n_nodes, cap_node, cap_from, cap_last;
    trl_str *word;
    uint32_t *word_from;
    size_t n_words, cap_word, cap_word_from;
    trl_buf text; /* words unescaped */
};

trl_transform trl_transform_clean(void)
{
    return (trl_transform){.drop_empty = true, .drop_functions = true};
}

trl_status trl_transformer_new(const trl_transform *how, trl_strtab *labels, trl_transformer **out,
                               trl_error *err)
{
    trl_transformer *x = trl_zalloc(1, sizeof *x);
    if (!x)
        return trl_fail_mem(err);
    x->how = *how;
    x->labels = labels;
    if (how->root) {
        x->root = trl_strndup(how->root, strlen(how->root));
        x->root_id = x->root ? trl_strtab_add(labels, x->root, strlen(x->root)) : TRL_NO_ID;
        if (x->root_id == TRL_NO_ID) {
            trl_transformer_free(x);
            return trl_fail_mem(err);
        }
    }
    *out = x;
    return TRL_OK;
}

void trl_transformer_free(trl_transformer *x)
{
    if (!x)
        return;
    trl_free(x->root);
    trl_free(x->label);
    trl_free(x->plan);
    trl_free(x->node);
    trl_free(x->from);
    trl_free(x->last);
    trl_free(x->word);
    trl_free(x->word_from);
    trl_buf_fini(&x->text);
    trl_free(x);
}

const uint32_t *trl_transformer_nodes(const trl_transformer *x)
{
    return x->from;
}

const uint32_t *trl_transformer_words(const trl_transformer *x)
{
    return x->word_from;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static bool is_one_of(trl_str s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (trl_label_is(s, names[i], strlen(names[i])))
            return true;
    return false;
}

static const char *const roots[] = {"", "TOP", "ROOT", "S1", "VROOT"};

static bool look_up(trl_transformer *x, uint32_t id)
{
    static const char *const empties[] = {"-NONE-", "SU", "CODE"};
    const trl_str s = trl_strtab_get(x->labels, id), category = trl_label_category(s);
    known_label *k = &x->label[id];
    k->empty = is_one_of(s, empties, sizeof empties / sizeof *empties);
    k->root = is_one_of(s, roots, sizeof roots / sizeof *roots);
    k->clean = id;
    if (x->how.drop_functions && category.n < s.n) {
        uint32_t clean = trl_strtab_find(x->labels, category.p, category.n);
        if (clean == TRL_NO_ID) { /* a copy: the table must not be passed its own bytes */
            char *copy = trl_strndup(category.p, category.n);
            clean = copy ? trl_strtab_add(x->labels, copy, category.n) : TRL_NO_ID;
            trl_free(copy);
        }
        k->clean = clean;
    }
    return k->clean != TRL_NO_ID;
}

/* NULL: out of memory. */
static const known_label *label_of(trl_transformer *x, uint32_t id)
{
    if (id >= x->n_labels) {
        known_label *grown = trl_reserve(x->label, &x->cap_labels, (size_t)id + 1, sizeof *grown);
        if (!grown)
            return NULL;
        x->label = grown;
        for (; x->n_labels <= id; x->n_labels++)
            grown[x->n_labels].clean = TRL_NO_ID;
    }
    return x->label[id].clean != TRL_NO_ID || look_up(x, id) ? &x->label[id] : NULL;
}

/* ---- what stays ------------------------------------------------------------------------------ */

static bool make_plan(trl_transformer *x, const trl_tree *in)
{
    plan *p = trl_reserve(x->plan, &x->cap_plan, in->n_nodes, sizeof *p);
    if (!p)
        return false;
    x->plan = p;
    for (size_t i = 0; i < in->n_nodes; i++)
        p[i] = (plan){.only = TRL_NO_ID};
    for (size_t i = in->n_nodes; i-- > 0;) {
        const trl_node *node = &in->node[i];
        const known_label *k = label_of(x, node->label);
        if (!k)
            return false;
        p[i].label = k->clean;
        if (node->child == TRL_NO_NODE)
            p[i].words = !(x->how.drop_empty && k->empty);
        p[i].dropped = x->how.drop_duplicates && p[i].kids == 1 && p[i].only == p[i].label;
        if (i > 0 && p[i].words) {
            plan *up = &p[node->parent];
            up->words += p[i].words;
            up->kids++;
            up->only = p[i].label;
        }
    }
    if (x->root && !x->root[0] && p[0].kids == 1 && x->label[in->node[0].label].root)
        p[0].dropped = true;
    return true;
}

/* ---- copying --------------------------------------------------------------------------------- */

static bool reserve_all(trl_transformer *x, size_t nodes, size_t words)
{
    trl_node *node = trl_reserve(x->node, &x->cap_node, nodes, sizeof *node);
    x->node = node ? node : x->node;
    uint32_t *from = trl_reserve(x->from, &x->cap_from, nodes, sizeof *from);
    x->from = from ? from : x->from;
    uint32_t *last = trl_reserve(x->last, &x->cap_last, nodes, sizeof *last);
    x->last = last ? last : x->last;
    trl_str *word = trl_reserve(x->word, &x->cap_word, words, sizeof *word);
    x->word = word ? word : x->word;
    uint32_t *w = trl_reserve(x->word_from, &x->cap_word_from, words, sizeof *w);
    x->word_from = w ? w : x->word_from;
    return node && from && last && word && w;
}

static uint32_t add_node(trl_transformer *x, uint32_t parent, uint32_t label, uint32_t from,
                         uint32_t words)
{
    const uint32_t id = (uint32_t)x->n_nodes++;
    x->node[id] = (trl_node){.label = label,
                             .parent = parent,
                             .child = TRL_NO_NODE,
                             .next = TRL_NO_NODE,
                             .from = (uint32_t)x->n_words,
                             .to = (uint32_t)x->n_words + words};
    x->from[id] = from;
    x->last[id] = TRL_NO_NODE;
    if (parent != TRL_NO_NODE) {
        if (x->last[parent] == TRL_NO_NODE)
            x->node[parent].child = id;
        else
            x->node[x->last[parent]].next = id;
        x->last[parent] = id;
    }
    return id;
}

static void add_word(trl_transformer *x, const trl_tree *in, uint32_t at)
{
    x->word[x->n_words] = in->word[at];
    x->word_from[x->n_words++] = at;
}

static void copy_tree(trl_transformer *x, const trl_tree *in)
{
    const bool rooted = x->label[in->node[0].label].root;
    uint32_t root = TRL_NO_NODE;
    x->n_nodes = x->n_words = 0;
    if (x->root && x->root[0] && !rooted)
        root = add_node(x, TRL_NO_NODE, x->root_id, TRL_NO_NODE, x->plan[0].words);
    for (uint32_t i = 0; i < in->n_nodes; i++) {
        plan *p = &x->plan[i];
        const trl_node *node = &in->node[i];
        const uint32_t parent = i ? x->plan[node->parent].up : root;
        p->up = parent;
        if (p->words == 0 || p->dropped)
            continue;
        const bool renamed = i == 0 && rooted && x->root && x->root[0];
        p->up = add_node(x, parent, renamed ? x->root_id : p->label, i, p->words);
        if (node->child == TRL_NO_NODE)
            add_word(x, in, node->from);
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

static const struct {
    char word[6], text;
} brackets[] = {{"-LRB-", '('}, {"-RRB-", ')'}, {"-LSB-", '['},
                {"-RSB-", ']'}, {"-LCB-", '{'}, {"-RCB-", '}'}};
#define N_BRACKETS (sizeof brackets / sizeof *brackets)

/* Appends the word as text has it: ( for -LRB-, / for \/ ...  False: out of memory. */
static bool unescape(trl_str w, trl_buf *out)
{
    for (size_t k = 0; k < N_BRACKETS; k++)
        if (trl_label_is(w, brackets[k].word, 5))
            return trl_buf_ch(out, brackets[k].text);
    for (size_t i = 0; i < w.n; i++) {
        if (w.p[i] == '\\' && i + 1 < w.n && (w.p[i + 1] == '/' || w.p[i + 1] == '*'))
            i++;
        trl_buf_ch(out, w.p[i]);
    }
    return !out->failed;
}

/* Words with an escape in them get bytes of their own. */
static bool unescape_words(trl_transformer *x)
{
    x->text.len = 0;
    x->text.failed = false;
    for (size_t pass = 0; pass < 2; pass++) { /* in the second the text does not move any more */
        size_t at = 0;
        for (size_t i = 0; i < x->n_words; i++) {
            const trl_str w = x->word[i];
            if (pass == 0 && !unescape(w, &x->text))
                return false;
            if (pass == 0)
                x->word[i].n = x->text.len;
            else {
                x->word[i] = (trl_str){x->text.data + at, w.n - at};
                at = w.n;
            }
        }
    }
    return true;
}

trl_status trl_transformer_run(trl_transformer *x, const trl_tree *in, trl_tree *out, bool *any,
                               trl_error *err)
{
    if (!make_plan(x, in))
        return trl_fail_mem(err);
    *any = x->plan[0].words > 0;
    if (!*any)
        return TRL_OK;
    if (!reserve_all(x, in->n_nodes + 1, in->n_words))
        return trl_fail_mem(err);
    copy_tree(x, in);
    if (x->how.unescape && !unescape_words(x))
        return trl_fail_mem(err);
    *out = *in;
    out->n_nodes = x->n_nodes;
    out->n_words = x->n_words;
    out->node = x->node;
    out->word = x->word;
    out->labels = x->labels;
    out->raw = in;
    return TRL_OK;
}

void trl_drop_root(trl_node **node, size_t *n_nodes)
{
    if ((*node)[0].child != 1 || (*node)[1].next != TRL_NO_NODE)
        return;
    ++*node;
    --*n_nodes;
    for (size_t k = 0; k < *n_nodes; k++) {
        trl_node *v = &(*node)[k];
        v->parent = k ? v->parent - 1 : TRL_NO_NODE;
        v->child -= v->child != TRL_NO_NODE;
        v->next -= v->next != TRL_NO_NODE;
    }
}

/* The first node below a root. */
static uint32_t below_root(const trl_tree *t)
{
    return t->n_nodes > 1 && t->node[1].to == t->node[0].to &&
                   is_one_of(trl_tree_label(t, 0), roots, sizeof roots / sizeof *roots)
               ? 1
               : 0;
}

bool trl_trees_equal(const trl_tree *a, const trl_tree *b)
{
    const uint32_t i = below_root(a), j = below_root(b);
    bool same = a->n_words == b->n_words && a->n_nodes - i == b->n_nodes - j;
    for (uint32_t k = 0; same && k < a->n_nodes - i; k++) {
        const trl_node *x = &a->node[i + k], *y = &b->node[j + k];
        const trl_str p = trl_tree_label(a, i + k), q = trl_tree_label(b, j + k);
        same = x->from == y->from && x->to == y->to &&
               (x->child == TRL_NO_NODE) == (y->child == TRL_NO_NODE) && trl_label_is(p, q.p, q.n);
    }
    return same;
}
