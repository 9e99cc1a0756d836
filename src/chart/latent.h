/* latent.h -- a PCFG whose states have hidden substates, found by themselves [MMT05, PBTK06].
 *
 * Every state A of a grammar without annotation is divided into K(A) substates A_0, A_1, ...; a
 * rule has a probability for every combination of substates,
 *
 *     p(A_x -> B_y C_z),      p(A_x -> B_y),      p(w | T_x) = p(w | T) p(x | T, w) / p(x | T),
 *
 * and a tree's probability is the sum over all substates of its nodes.  Learnt by splitting
 * substates in two and EM (train_tree/latent_em.h).  The parser asks such a grammar for the
 * posteriors of constituents, which are averaged with those of its CRF: it errs differently
 * (docs/parser.md).  Several that began with other noise are averaged, too [Pet10].
 *
 * Rules never seen have no table: their probability is the same for all substates.  Words seen
 * seldom have the substates of their class.
 *
 * [MMT05] Matsuzaki, Miyao, Tsujii. Probabilistic CFG with latent annotations. ACL 2005.
 * [PBTK06] Petrov, Barrett, Thibaux, Klein. Learning accurate, compact, and interpretable tree
 *          annotation. ACL 2006.
 * [Pet10] Petrov. Products of random latent variable grammars. NAACL 2010.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LATENT_H
#define TRL_LATENT_H

#include "chart/coarse.h"

#define TRL_LATENT_GRAMMARS 8 /* of a model at most */
#define TRL_LATENT_MOST 16    /* substates of a state: a power of two */

/* Where things are: tables have K(A) K(B) K(C) numbers, those of words K(T), the last index
 * fastest; without one: at[x + 1] == at[x]. */
typedef struct trl_latent_layout {
    uint8_t *k;             /* [n_states]: a power of two; NULL: no such grammar */
    size_t *binary, *unary; /* [n_binary + 1], [n_unary + 1]; counted from the first number */
    size_t *word, *class_;  /* [entries of the lexicon + 1] */
    size_t n;               /* all numbers */
} trl_latent_layout;

/* Packed rows have room for 8 or 16 numbers. */
static inline unsigned trl_latent_row_stride(unsigned k)
{
    return k <= 8 ? 8 : 16;
}

/* Tables of binary rules without the rows [x][y] that are all 0: most are. */
typedef struct trl_latent_rows {
    size_t *first;  /* [n_binary + 1]: rows of a rule; NULL: nothing is packed */
    size_t *number; /* [n_binary + 1]: the first number of these rows, in p: a multiple of 16 */
    uint8_t *xy;    /* [rows][2] */
    float *p;       /* rows of trl_latent_row_stride(K(C)) numbers, 0 from K(C) on */
} trl_latent_rows;

typedef struct trl_latent {
    const trl_grammar *g; /* these are borrowed */
    const trl_lexicon *x;
    const trl_pcfg *pcfg; /* of rules without a table */
    trl_latent_layout at;
    float *p; /* [at.n]: of rules; of words p(x | T, w) / p(x | T); owned.  Packed: from unary on */
    trl_latent_rows rows;
} trl_latent;

/* The numbers from this place on, of a unary rule or a word; while not packed, of any. */
static inline float *trl_latent_at(const trl_latent *l, size_t place)
{
    return l->p + (l->rows.first ? place - l->at.unary[0] : place);
}

/* The layout for the substates k, which it takes over, also on failure.  TRL_ENOMEM. */
trl_status trl_latent_layout_init(trl_latent_layout *at, const trl_grammar *g, const trl_lexicon *x,
                                  uint8_t *k, trl_error *err);
void trl_latent_layout_fini(trl_latent_layout *at);
void trl_latent_fini(trl_latent *l);

/* Rounds p to what a file has of it, powers of the eighth root of two in a byte each, and packs the
 * tables of binary rules, of which only numbers of at least 1e-6 stay.  TRL_ENOMEM: l is as before,
 * but rounded. */
trl_status trl_latent_pack(trl_latent *l, trl_error *err);

/* Room for the rows of which bits say that they are there, in the order of the file.  TRL_ENOMEM.
 */
trl_status trl_latent_rows_init(trl_latent *l, const uint8_t *bits, trl_error *err);
void trl_latent_rows_fini(trl_latent_rows *rows);
size_t trl_latent_count_rows(const trl_latent *l); /* of all tables of binary rules */
size_t trl_latent_rows_size(const trl_latent *l);  /* numbers of rows.p */

/* Numbers as files have them: all, from dense or packed p, rows first; and what a byte means. */
uint8_t trl_latent_code(float p);
void trl_latent_decode(float value[256]);

/* The place of the numbers of a word with this tag, or SIZE_MAX.  word, cls: of the lexicon. */
size_t trl_latent_word(const trl_latent_layout *at, const trl_lexicon *x, uint32_t word,
                       uint32_t cls, uint32_t tag);

/* Sections "latent1", "latentr1" and "latentp1" of the first grammar, and so on, number counting
 * from 0: the substates of every state, u8[n_states]; a bit for each row of the tables of binary
 * rules, whether it is there, the lowest first; numbers of these rows and of all else, a byte each:
 * q stands for 2^(4 - (q - 1) / 8), 0 for 0.  l is packed.  TRL_EMODEL, TRL_ENOMEM. */
bool trl_latent_stored(size_t number, const trl_container *c);
trl_status trl_latent_save(const trl_latent *l, size_t number, trl_container_builder *b,
                           trl_error *err);
trl_status trl_latent_load(trl_latent *l, size_t number, const trl_container *c, trl_error *err);

/* A sentence, and what is known of it. */
typedef struct trl_latent_sentence {
    const trl_words *words;
    const trl_tag_scores *tags; /* as in trl_coarse_how */
    const uint8_t *dead;        /* [items of the chart]: those that are left out; NULL: none */
} trl_latent_sentence;

/* Posteriors of the items and unary edges of a chart over l->g, made by trl_chart_init: the chart
 * then looks as after trl_chart_outside, as far as trl_chart_brackets looks at it.  l is packed.
 * c->log_z is -inf where there is no tree, or where floats cannot hold its numbers. Scratch in the
 * arena.  TRL_ENOMEM. */
trl_status trl_latent_chart(const trl_latent *l, const trl_latent_sentence *x, trl_chart *c,
                            trl_arena *arena, trl_error *err);

#endif
