/* latent_count.c -- how often rules and words have which substates in a tree: inside and outside
 * over the nodes it has, all numbers of a node times a factor of its own. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "chart/latent_kernel.h"
#include "train_tree/latent_em.h"

#define MOST TRL_LATENT_MOST
#define UNKNOWN 1e-5f /* p(word | tag) of a word that has no numbers, and of such a rule */

#define LEAST 1e-30f /* sums of smaller numbers are not told from 0 */

static trl_latent_rule rule_of(const trl_latent *l, const trl_btree *t, const trl_bnode *v,
                               size_t *place)
{
    const trl_latent_layout *at = &l->at;
    const bool binary = v->right != TRL_NO_NODE;
    *place = binary ? at->binary[v->rule] : at->unary[v->rule];
    const size_t end = binary ? at->binary[v->rule + 1] : at->unary[v->rule + 1];
    return (trl_latent_rule){end > *place ? l->p + *place : NULL, at->k[v->state],
                             binary ? at->k[t->node[v->left].state] : 1,
                             at->k[t->node[binary ? v->right : v->left].state]};
}

/* The children's vectors, in or out; a unary rule's is the right one. */
typedef struct two {
    float *left, *right;
} two;

static two children(const trl_bnode *v, float (*of)[MOST], float *none)
{
    return v->right != TRL_NO_NODE ? (two){of[v->left], of[v->right]} : (two){none, of[v->left]};
}

/* Rules that have no numbers: the same for all substates. */
static void up_alike(const trl_latent_rule *r, const float *left, const float *right, float *up)
{
    float a = 0.0f, b = 0.0f;
    for (unsigned y = 0; y < r->ny; y++)
        a += left[y];
    for (unsigned z = 0; z < r->nz; z++)
        b += right[z];
    for (unsigned x = 0; x < r->nx; x++)
        up[x] = UNKNOWN * a * b / (float)(r->ny * r->nz);
}

static void down_alike(const trl_latent_rule *r, float *out_left, float *out_right)
{
    for (unsigned y = 0; y < r->ny; y++)
        out_left[y] = 1.0f;
    for (unsigned z = 0; z < r->nz; z++)
        out_right[z] = 1.0f;
}

static size_t place_of_word(const trl_latent *l, const trl_latent_tree *x, const trl_bnode *v)
{
    return trl_latent_word(&l->at, l->x, x->word[v->from], x->class_[v->from], v->state);
}

/* The largest of the numbers becomes 1; returns what it was. */
static float normalise(float *v)
{
    float top = 0.0f;
    for (unsigned x = 0; x < MOST; x++)
        top = v[x] > top ? v[x] : top;
    for (unsigned x = 0; top > 0.0f && x < MOST; x++)
        v[x] /= top;
    return top;
}

static double inside(const trl_latent *l, const trl_latent_tree *x, trl_latent_scratch *a)
{
    const trl_btree *t = &x->tree;
    double sum = 0.0;
    for (size_t k = t->n; k-- > 0;) {
        const trl_bnode *v = &t->node[k];
        float *in = a->in[k];
        size_t place;
        memset(in, 0, sizeof a->in[k]);
        if (v->left == TRL_NO_NODE) {
            place = place_of_word(l, x, v);
            for (unsigned y = 0; y < l->at.k[v->state]; y++)
                in[y] = place == SIZE_MAX ? UNKNOWN : l->p[place + y];
        } else {
            const trl_latent_rule r = rule_of(l, t, v, &place);
            float one[MOST] = {1.0f};
            const two c = children(v, a->in, one);
            if (r.table)
                trl_latent_up(&r, c.left, c.right, 1.0f, in);
            else
                up_alike(&r, c.left, c.right, in);
        }
        sum += log(normalise(in));
    }
    return sum;
}

static float dot(const float *a, const float *b)
{
    float sum = 0.0f;
    for (unsigned x = 0; x < MOST; x++)
        sum += a[x] * b[x];
    return sum;
}

static void outside(const trl_latent *l, const trl_latent_tree *x, trl_latent_scratch *a,
                    float *count)
{
    const trl_btree *t = &x->tree;
    memset(a->out, 0, t->n * sizeof *a->out);
    a->out[0][0] = 1.0f;
    for (size_t k = 0; k < t->n; k++) {
        const trl_bnode *v = &t->node[k];
        size_t place;
        normalise(a->out[k]);
        const float here = dot(a->in[k], a->out[k]);
        if (!(here > LEAST))
            return;
        if (v->left == TRL_NO_NODE) {
            place = place_of_word(l, x, v);
            for (unsigned y = 0; place != SIZE_MAX && y < l->at.k[v->state]; y++)
                count[place + y] += a->in[k][y] * a->out[k][y] / here;
            continue;
        }
        const trl_latent_rule r = rule_of(l, t, v, &place);
        float one[MOST] = {1.0f}, unused[MOST] = {0};
        const two in = children(v, a->in, one), out = children(v, a->out, unused);
        if (!r.table) {
            down_alike(&r, out.left, out.right);
            continue;
        }
        trl_latent_down(&r, a->out[k], in.left, in.right, out.left, out.right);
        /* `in` of the node was divided by its largest: uses of its rule do not sum to `here` */
        float up[MOST] = {0};
        trl_latent_up(&r, in.left, in.right, 1.0f, up);
        const float all = dot(up, a->out[k]);
        if (all > LEAST)
            trl_latent_uses(&r, a->out[k], in.left, in.right, 1.0f / all, count + place);
    }
}

double trl_latent_count(const trl_latent *l, const trl_latent_tree *x, trl_latent_scratch *a,
                        float *count)
{
    const double p = inside(l, x, a);
    if (isfinite(p))
        outside(l, x, a, count);
    return p;
}
