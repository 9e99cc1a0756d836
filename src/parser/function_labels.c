/* function_labels.c -- choosing function labels, and their sections of a model file. */
/* SPDX-License-Identifier: MIT */
#include "parser/function_labels.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/strtab_io.h"

void trl_function_labels_fini(trl_function_labels *f)
{
    trl_head_rules_free(f->heads);
    trl_strtab_fini(&f->own_class);
    trl_strtab_fini(&f->own_feature);
    trl_free(f->own_first);
    trl_free(f->own_of);
    trl_free(f->own_weight);
    *f = (trl_function_labels){0};
}

/* ---- choosing -------------------------------------------------------------------------------- */

void trl_function_score(const trl_function_labels *f, const uint32_t *id, size_t n,
                        trl_function_scores *s)
{
    s->n = 0;
    if (id[0] == TRL_NO_ID)
        return;
    s->class = f->of + f->first[id[0]];
    s->n = f->first[id[0] + 1] - f->first[id[0]];
    memset(s->score, 0, f->class.n * sizeof *s->score);
    for (size_t k = 0; k < n; k++)
        for (uint32_t x = id[k] == TRL_NO_ID ? 0 : f->first[id[k]],
                      end = id[k] == TRL_NO_ID ? 0 : f->first[id[k] + 1];
             x < end; x++)
            s->score[f->of[x]] += f->exact ? f->exact[x] : (double)f->weight[x];
}

void trl_function_chooser_fini(trl_function_chooser *c)
{
    trl_function_reader_fini(&c->reader);
    trl_free(c->score);
    trl_free(c->class);
    *c = (trl_function_chooser){0};
}

static uint32_t best_of(const trl_function_scores *s)
{
    uint32_t best = s->n ? s->class[0] : 0;
    for (size_t k = 1; k < s->n; k++)
        if (s->score[s->class[k]] > s->score[best])
            best = s->class[k];
    return best;
}

/* Only what the category may have is looked for. */
static trl_status choose_one(const trl_function_labels *f, uint32_t v, trl_function_chooser *c,
                             trl_error *err)
{
    uint32_t id[TRL_FUNCTION_FEATURES];
    trl_function_scores s = {.score = c->score};
    const trl_status st = trl_function_read(&c->reader, v, err);
    if (st != TRL_OK)
        return st;
    for (size_t k = 0; k < c->reader.n; k++) {
        const trl_str x = trl_function_feature(&c->reader, k);
        id[k] = trl_strview_find(&f->feature, x.p, x.n, trl_str_hash(x.p, x.n));
    }
    trl_function_score(f, id, c->reader.n, &s);
    c->class[v] = best_of(&s);
    return TRL_OK;
}

trl_status trl_function_choose(const trl_function_labels *f, const trl_tree *tree,
                               trl_function_chooser *c, trl_error *err)
{
    double *score = trl_reserve(c->score, &c->cap_score, f->class.n, sizeof *score);
    c->score = score ? score : c->score;
    uint32_t *class = trl_reserve(c->class, &c->cap_class, tree->n_nodes, sizeof *class);
    c->class = class ? class : c->class;
    if (!score || !class)
        return trl_fail_mem(err);
    c->reader.heads = f->heads;
    c->reader.observer = f->observer;
    trl_status st = trl_function_reader_begin(&c->reader, tree, err);
    for (uint32_t v = 0; st == TRL_OK && v < tree->n_nodes; v++) {
        class[v] = 0;
        if (v > 0 && tree->node[v].child != TRL_NO_NODE)
            st = choose_one(f, v, c, err);
    }
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

trl_status trl_function_labels_save(const trl_function_labels *f, trl_container_builder *b,
                                    trl_error *err)
{
    if (!trl_has_functions(f))
        return TRL_OK;
    const size_t n = f->feature.n, weights = f->first[n];
    const trl_str heads = trl_head_rules_text(f->heads);
    trl_status st = trl_strtab_save(&f->own_class, "fncl", b, err);
    if (st == TRL_OK)
        st = trl_strtab_save(&f->own_feature, "fnft", b, err);
    trl_container_builder_add(b, "fnfirst", f->first, (n + 1) * sizeof *f->first);
    trl_container_builder_add(b, "fnclass", f->of, weights * sizeof *f->of);
    trl_container_builder_add(b, "fnweight", f->weight, weights * sizeof *f->weight);
    trl_container_builder_add(b, "fnheads", heads.p, heads.n);
    return st;
}

static bool sane(const trl_function_labels *f, size_t n_first, size_t n_of, size_t n_weights)
{
    if (n_first != f->feature.n + 1 || n_of != n_weights || f->first[0] != 0 ||
        f->first[f->feature.n] != n_of || f->class.n == 0 || trl_strview_get(&f->class, 0).n != 0)
        return false;
    for (size_t k = 0; k < f->feature.n; k++)
        if (f->first[k] > f->first[k + 1])
            return false;
    for (size_t k = 0; k < n_of; k++)
        if (f->of[k] >= f->class.n || !isfinite(f->weight[k]))
            return false;
    return true;
}

trl_status trl_function_labels_load(trl_function_labels *f, const trl_container *c, trl_error *err)
{
    const void *first, *of, *weight, *heads;
    size_t n_first, n_of, n_weights, n_heads;
    if (!trl_container_find(c, "fnheads", &heads, &n_heads))
        return TRL_OK;
    trl_status st = trl_strview_load(c, "fncl", &f->class, err);
    if (st == TRL_OK)
        st = trl_strview_load(c, "fnft", &f->feature, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "fnfirst", sizeof *f->first, &first, &n_first, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "fnclass", sizeof *f->of, &of, &n_of, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "fnweight", sizeof *f->weight, &weight, &n_weights, err);
    if (st != TRL_OK)
        return st;
    f->first = first;
    f->of = of;
    f->weight = weight;
    if (!sane(f, n_first, n_of, n_weights))
        return trl_container_damaged(c, err, "its function labels make no sense");
    st = trl_head_rules_parse("<head rules>", heads, n_heads, &f->heads, err);
    return st == TRL_EPARSE ? trl_container_damaged(c, err, "its head rules cannot be read") : st;
}
