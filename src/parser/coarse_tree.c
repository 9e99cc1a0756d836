/* coarse_tree.c -- coarse chart -> its likely items -> brackets -> tree. */
/* SPDX-License-Identifier: MIT */
#include "parser/coarse_tree.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chart/mbr.h"

#define LIKELY 1e-7 /* items of the coarse chart below it are left out */

/* log p(word | tag) of the tag items; everything else 0. */
static trl_status word_scores(const trl_tree_model *m, const trl_str *word, const trl_skeleton *s,
                              double *item, trl_arena *arena, trl_error *err)
{
    const trl_grammar *g = &m->coarse;
    const trl_lexicon *x = &m->coarse_lexicon;
    uint32_t *tags = trl_arena_get(arena, g->n_states, sizeof *tags);
    double *logp = trl_arena_get(arena, g->n_states, sizeof *logp);
    if (!tags || !logp)
        return trl_fail_mem(err);
    memset(item, 0, s->first[trl_chart_cells(s->n)] * sizeof *item);
    for (size_t i = 0; i < s->n; i++) {
        const size_t k = trl_lexicon_tags(x, g, trl_lexicon_word(x, word[i]),
                                          trl_lexicon_class(x, word[i], i), tags, logp);
        for (size_t t = 0; t < k; t++) {
            const uint32_t at = trl_skeleton_find(s, i, i + 1, tags[t]);
            if (at != TRL_NO_ID)
                item[at] = logp[t];
        }
    }
    return TRL_OK;
}

/* The items of the coarse chart that are likely, for the coarse grammar itself. */
static trl_status likely_items(const trl_tree_model *m, const trl_coarse_chart *chart,
                               trl_skeleton *s, trl_arena *arena, trl_error *err)
{
    trl_coarse_map self = {0};
    trl_status st = trl_coarse_map_init(&self, &m->coarse, &m->coarse, err);
    if (st == TRL_OK)
        st = trl_coarse_prune(chart, &self, LIKELY, s, arena, err);
    trl_coarse_map_fini(&self);
    return st;
}

/* Both grammars are read from the same trees, but each numbers labels in its own order. */
void trl_coarse_rename(const trl_tree_model *m, trl_node *node, size_t n)
{
    const trl_strtab *from = &m->coarse.labels, *to = &m->fine.labels;
    for (size_t k = 0; k < n; k++) {
        const trl_str s = trl_strtab_get(from, node[k].label);
        const uint32_t id = trl_strtab_find(to, s.p, s.n);
        node[k].label = id == TRL_NO_ID ? m->fine.state[m->fine.root].base : id;
    }
}

trl_status trl_coarse_tree(const trl_tree_model *m, const trl_words *x,
                           const trl_coarse_limits *limits, trl_nodes *out, trl_arena *arena,
                           trl_error *err)
{
    trl_coarse_chart chart;
    trl_skeleton s;
    trl_chart c;
    trl_brackets b;
    double *logp = NULL;
    out->n = 0;
    trl_status st =
        trl_coarse_run(&m->pruner, &(trl_words){x->word, x->n},
                       &(trl_coarse_how){.deadline = limits->deadline}, &chart, arena, err);
    if (st != TRL_OK || !isfinite(chart.log_z))
        return st;
    st = likely_items(m, &chart, &s, arena, err);
    if (st == TRL_OK) {
        logp = trl_arena_get(arena, s.first[trl_chart_cells(x->n)], sizeof *logp);
        st = logp ? word_scores(m, x->word, &s, logp, arena, err) : trl_fail_mem(err);
    }
    if (st == TRL_OK)
        st = trl_pcfg_chart(&m->coarse_pcfg, &s, logp, &c, arena, err);
    if (st != TRL_OK || !isfinite(c.log_z))
        return st == TRL_ENUMERIC ? TRL_OK : st;
    st = trl_chart_brackets(&c, &b, arena, err);
    if (st == TRL_OK)
        st =
            trl_mbr_tree(&b, m->coarse.state[m->coarse.root].base, limits->lambda, out, arena, err);
    if (st == TRL_OK)
        trl_coarse_rename(m, out->node, out->n);
    return st;
}
