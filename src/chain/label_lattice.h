/* label_lattice.h -- the labellings of one sequence that obey a constraint, as a lattice.
 *
 * A node of layer t is a label, in order 2 with the one before it, and a state of the product of
 * the automata after reading it.  Automata are deterministic: every labelling that obeys is exactly
 * one path, and every path is such a labelling.  Only nodes on a path are kept.  The product is
 * made while it is needed, and kept for the sequences to come.
 *
 * An automaton that is not tracked accepts everything.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LABEL_LATTICE_H
#define TRL_LABEL_LATTICE_H

#include "chain/chain.h"
#include "chain/label_rules.h"
#include "chain/label_tuples.h"

/* States of the product met so far. */
typedef struct trl_product {
    trl_tuples state; /* states of the automata; TRL_DEAD: it is not tracked */
    uint32_t *next;   /* [state.n][L] */
    size_t next_cap;
    uint32_t *work;
    size_t work_cap;
    uint64_t round; /* counts how often all states were forgotten */
} trl_product;

void trl_product_fini(trl_product *p);

/* What the neighbours t - 1 and t have to do with each other. */
enum { TRL_JOINT_ANY = 0, TRL_JOINT_GOES_ON, TRL_JOINT_BREAKS };

/* Whose labellings, and which. */
typedef struct trl_lattice_ask {
    const trl_constraint *c;
    const bool *tracked; /* [c->n_automata] */
    const bool *allowed; /* [T][L]; NULL: all labels */
    const char *joint;   /* [T]; NULL: anything */
    const trl_chain *chain;
    const trl_tables *tables;
} trl_lattice_ask;

/* May token t be y? */
static inline bool trl_lattice_may_be(const trl_lattice_ask *a, size_t t, uint32_t y)
{
    return (!a->allowed || a->allowed[t * a->c->set.L + y]) && (t > 0 || a->c->first[y]) &&
           (t + 1 < a->tables->n || a->c->last[y]);
}

/* May it be y after i, for all that neighbours have to do with it? */
static inline bool trl_lattice_may_follow(const trl_lattice_ask *a, size_t t, uint32_t i,
                                          uint32_t y)
{
    const char joint = a->joint ? a->joint[t] : TRL_JOINT_ANY;
    return a->c->pair[i * a->c->set.L + y] &&
           (joint == TRL_JOINT_ANY ||
            trl_label_continues(&a->c->set, i, y) == (joint == TRL_JOINT_GOES_ON));
}

typedef struct trl_lattice_slot trl_lattice_slot;

/* Reused from sequence to sequence; zero-initialise. */
typedef struct trl_lattice {
    size_t T, n, n_arcs;
    size_t *first;   /* [T + 1] nodes of layer t: first[t] .. first[t + 1] - 1 */
    uint32_t *label; /* [n] */
    size_t *arc;     /* [n + 1] its arcs from the layer before: arc[x] .. arc[x + 1] - 1 */
    uint32_t *from;  /* [n_arcs] nodes */
    double *score;   /* [n_arcs] of the arc and of the node it ends in */
    double *enter;   /* [n] of nodes of layer 0 */
    trl_product product;

    /* while it is made */
    uint32_t *q, *before;
    uint32_t *arc_from, *arc_to;
    double *arc_score;
    trl_lattice_slot *slot;
    size_t n_slots;
    uint32_t stamp;
    bool *live;
    size_t first_cap, label_cap, arc_cap, from_cap, score_cap, enter_cap, q_cap, before_cap,
        arc_from_cap, arc_to_cap, arc_score_cap, live_cap;
} trl_lattice;

/* TRL_ECONFLICT, naming the token, when there is no path; TRL_EINVAL, with the number, when there
 * are more than c->max_states nodes; TRL_ENUMERIC for NaN or +inf; TRL_ENOMEM. */
trl_status trl_lattice_make(trl_lattice *g, const trl_lattice_ask *ask, trl_error *err);
void trl_lattice_fini(trl_lattice *g);

/* Internal, but for label_product.c. */
trl_status trl_product_start(trl_product *p, const trl_lattice_ask *ask, uint32_t *q,
                             trl_error *err);
trl_status trl_product_next(trl_product *p, const trl_constraint *c, uint32_t q, uint32_t y,
                            uint32_t *to, trl_error *err);
bool trl_product_final(const trl_product *p, const trl_constraint *c, uint32_t q);

/* ---- questions ------------------------------------------------------------------------------- */

/* The best path. */
trl_status trl_lattice_viterbi(const trl_lattice *g, trl_arena *arena, uint32_t *y, double *score,
                               trl_error *err);

/* The list->n best paths, as trl_chain_nbest. */
trl_status trl_lattice_nbest(const trl_lattice *g, trl_arena *arena, const trl_chain_list *list,
                             trl_error *err);

/* Sums over all paths: log Z, and unless out->node and ->edge are NULL the marginals of labels and
 * pairs as trl_chain_marginals has them, whose cells must be 0.  On exponentials, scaled layer by
 * layer; in logarithms where that loses what matters. */
typedef struct trl_lattice_sums {
    double log_z;
    double *node, *edge;
    size_t node_step, edge_step, L;
    double *arc; /* [n_arcs] their probabilities, with `edge`; NULL: not wanted */
} trl_lattice_sums;

trl_status trl_lattice_infer(const trl_lattice *g, trl_arena *arena, trl_lattice_sums *out,
                             trl_error *err);

/* The same, always in logarithms: for tests. */
trl_status trl_lattice_infer_log(const trl_lattice *g, trl_arena *arena, trl_lattice_sums *out,
                                 trl_error *err);

#endif
