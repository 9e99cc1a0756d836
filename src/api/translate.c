/* translate.c -- the public translator: a parser, then a transducer of its trees. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "api/translate_source.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "options/option_table.h"
#include "translate/translator.h"

struct trl_translator {
    const trl_translate_model *m;
    trl_translate_limits limits;
    trl_parse_model *parse_model;
    trl_parser *parser;
    trl_tree_translator tree;
    trl_buf text; /* the translations, back to back */
    trl_buf explanation;
    trl_translated *best;
    size_t best_cap;
    trl_str *word; /* the same words for the parser and for the translator */
    size_t word_cap;
};

/* ---- models ---------------------------------------------------------------------------------- */

static trl_status from_container(trl_container *c, trl_translate_model **out, trl_error *err)
{
    trl_translate_model *m = trl_zalloc(1, sizeof *m);
    if (!m) {
        trl_container_free(c);
        return trl_fail_mem(err);
    }
    const trl_status st = trl_translate_model_load(m, c, err);
    if (st == TRL_OK)
        *out = m;
    else
        trl_translate_model_free(m);
    return st;
}

trl_status trl_translate_model_open(const char *path, trl_translate_model **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_open(path, TRL_TRANSLATE_KIND, &c, err);
    return st == TRL_OK ? from_container(c, out, err) : st;
}

trl_status trl_translate_model_from_memory(const void *bytes, size_t n, trl_translate_model **out,
                                           trl_error *err)
{
    if ((!bytes && n) || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_from_memory(bytes, n, TRL_TRANSLATE_KIND, &c, err);
    return st == TRL_OK ? from_container(c, out, err) : st;
}

trl_status trl_translate_model_of(const trl_model *m, trl_translate_model **out, trl_error *err)
{
    if (!m || !out)
        return trl_fail_null(err);
    size_t n;
    const void *bytes = trl_model_bytes(m, &n);
    const char *kind = trl_model_get_info(m).kind;
    if (strcmp(kind, TRL_TRANSLATE_KIND) != 0)
        return trl_fail(err, TRL_EINVAL, "the model is of kind '%s', not a translator's", kind);
    return trl_translate_model_from_memory(bytes, n, out, err);
}

void trl_translate_model_free(trl_translate_model *m)
{
    if (!m)
        return;
    trl_translate_model_fini(m);
    trl_free(m);
}

trl_translate_info trl_translate_model_info(const trl_translate_model *m)
{
    if (!m)
        return (trl_translate_info){.settings = ""};
    const size_t n = m->names.words.n;
    return (trl_translate_info){.settings = m->settings,
                                .has_parser = m->parser.n > 0,
                                .source_words = n,
                                .target_words = m->targets.n,
                                .candidates = n ? m->candidate_end[n - 1] : 0,
                                .classifiers = m->boost->n};
}

/* ---- translators ----------------------------------------------------------------------------- */

void trl_translator_free(trl_translator *t)
{
    if (!t)
        return;
    trl_parser_free(t->parser);
    trl_parse_model_free(t->parse_model);
    trl_tree_translator_fini(&t->tree);
    trl_buf_fini(&t->text);
    trl_buf_fini(&t->explanation);
    trl_free(t->best);
    trl_free(t->word);
    trl_free(t);
}

static trl_status make_parser(trl_translator *t, trl_error *err)
{
    const trl_parse_options o = trl_parse_options_default();
    if (!t->m->parser.n)
        return TRL_OK;
    const trl_status st =
        trl_parse_model_from_memory(t->m->parser.p, t->m->parser.n, &t->parse_model, err);
    return st == TRL_OK ? trl_parser_new(t->parse_model, &o, &t->parser, err) : st;
}

trl_status trl_translator_new(const trl_translate_model *m, const trl_translate_limits *limits,
                              trl_translator **out, trl_error *err)
{
    trl_translate_limits l;
    if (!m || !limits || !out)
        return trl_fail_null(err);
    trl_status st = trl_options_take(trl_translate_limit_table(), limits, &l, err);
    if (st != TRL_OK)
        return st;
    if (l.ratio > 0.0 && l.ratio < 1.0)
        return trl_fail(err, TRL_EINVAL, "the ratio of costs must be 0 or at least 1, not %g",
                        l.ratio);
    trl_translator *t = trl_zalloc(1, sizeof *t);
    if (!t)
        return trl_fail_mem(err);
    t->m = m;
    t->limits = l;
    st = trl_tree_translator_init(&t->tree, m, err);
    if (st == TRL_OK)
        st = make_parser(t, err);
    if (st == TRL_OK)
        *out = t;
    else
        trl_translator_free(t);
    return st;
}

/* ---- answers --------------------------------------------------------------------------------- */

static trl_str target_text(const trl_translator *t, const trl_tree *tree, uint32_t target)
{
    if (target == TRL_NO_ID)
        return (trl_str){"NULL", 4};
    return target < t->m->targets.n ? trl_strtab_get(&t->m->targets, target)
                                    : tree->word[target - t->m->targets.n];
}

static trl_status spell(trl_translator *t, const trl_tree *tree, const trl_tree_translation *x,
                        trl_error *err)
{
    trl_translated *best = trl_reserve(t->best, &t->best_cap, x->n, sizeof *best);
    if (!best)
        return trl_fail_mem(err);
    t->best = best;
    t->text.len = 0;
    for (size_t k = 0; k < x->n; k++) {
        const size_t begin = t->text.len;
        for (size_t i = 0; i < x->best[k].n; i++) {
            const trl_str s = target_text(t, tree, x->best[k].word[i]);
            if (i)
                trl_buf_ch(&t->text, ' ');
            trl_buf_add(&t->text, s.p, s.n);
        }
        best[k] = (trl_translated){{NULL, t->text.len - begin}, 0.0 - x->best[k].cost};
    }
    if (t->text.failed)
        return trl_fail_mem(err);
    size_t at = 0;
    for (size_t k = 0; k < x->n; k++) {
        best[k].text.p = t->text.data ? t->text.data + at : "";
        at += best[k].text.n;
    }
    return TRL_OK;
}

/* The words under a node, in brackets. */
static void add_span(trl_buf *out, const trl_tree *tree, const trl_source *s, uint32_t v)
{
    uint32_t first = v, last = v;
    while (first >= s->n_words)
        first = s->node[first].left;
    while (last >= s->n_words)
        last = s->node[last].right;
    for (uint32_t i = first; i <= last; i++)
        trl_buf_fmt(out, "%s%.*s", i == first ? "[" : " ", (int)tree->word[i].n, tree->word[i].p);
    trl_buf_str(out, "]");
}

/* The tree, a line for every word with its candidates, the chosen one first, and one for every node
 * whose order was chosen. */
static trl_status explain(trl_translator *t, const trl_tree *tree, const trl_source *s,
                          const trl_tree_translation *x, trl_error *err)
{
    trl_buf *out = &t->explanation;
    const trl_transduced *best = &x->best[0];
    out->len = 0;
    const trl_status st = trl_tree_print(tree, TRL_TREE_LINE, 0, out, err);
    if (st != TRL_OK)
        return st;
    for (uint32_t w = 0; w < s->n_words; w++) {
        const uint32_t begin = w ? x->option_end[w - 1] : 0, chosen = begin + best->choice[w];
        const trl_str s1 = target_text(t, tree, x->option[chosen].target);
        trl_buf_fmt(out, "word %.*s -> %.*s %.4f", (int)tree->word[w].n, tree->word[w].p, (int)s1.n,
                    s1.p, x->option[chosen].cost);
        for (uint32_t k = begin; k < x->option_end[w]; k++) {
            const trl_str s2 = target_text(t, tree, x->option[k].target);
            if (k != chosen)
                trl_buf_fmt(out, ", %.*s %.4f", (int)s2.n, s2.p, x->option[k].cost);
        }
        trl_buf_str(out, "\n");
    }
    for (uint32_t v = (uint32_t)s->n_words; v < s->n_nodes; v++) {
        const bool swapped = best->order[v];
        trl_buf_str(out, "node ");
        add_span(out, tree, s, s->node[v].left);
        trl_buf_str(out, " ");
        add_span(out, tree, s, s->node[v].right);
        trl_buf_fmt(out, " %s %.4f, %s %.4f\n", swapped ? "swapped" : "kept", x->order[v][swapped],
                    swapped ? "kept" : "swapped", x->order[v][!swapped]);
    }
    return out->failed ? trl_fail_mem(err) : TRL_OK;
}

trl_status trl_translate_tree(trl_translator *t, const trl_tree *tree, trl_translations *out,
                              trl_error *err)
{
    if (!t || !tree || !out)
        return trl_fail_null(err);
    trl_source s = {0};
    trl_tree_translation x;
    trl_source_names *names = (trl_source_names *)(uintptr_t)&t->m->names; /* nothing is added */
    trl_status st = trl_source_make(&s, tree, t->m->heads, names, false, err);
    if (st == TRL_OK)
        st = trl_tree_translate(&t->tree, &s, &t->limits, &x, err);
    if (st == TRL_OK)
        st = spell(t, tree, &x, err);
    if (st == TRL_OK && t->limits.explain)
        st = explain(t, tree, &s, &x, err);
    trl_source_fini(&s);
    if (st == TRL_OK)
        *out = (trl_translations){
            .best = t->best, .n = x.n, .explanation = {t->explanation.data, t->explanation.len}};
    return st;
}

trl_status trl_translate_sentence(trl_translator *t, const trl_str *word, size_t n,
                                  trl_translations *out, trl_error *err)
{
    static const trl_translated nothing = {{"", 0}, 0.0};
    if (!t || (n && !word) || !out)
        return trl_fail_null(err);
    if (!t->parser) {
        const trl_status st = trl_fail(err, TRL_EINVAL, "the model has no parser");
        return trl_fail_hint(err, st, "it translates trees only: its training had no 'parser'");
    }
    if (n == 0) {
        *out = (trl_translations){.best = &nothing, .n = 1};
        return TRL_OK;
    }
    trl_str *words = trl_reserve(t->word, &t->word_cap, 2 * n, sizeof *words);
    if (!words)
        return trl_fail_mem(err);
    t->word = words;
    for (size_t k = 0; k < n; k++) {
        words[k] = trl_word_escape(word[k]);
        words[n + k] = trl_word_unescape(word[k]);
    }
    trl_parse parse;
    trl_status st =
        trl_parser_parse(t->parser, &(trl_parse_input){.word = words, .n = n}, &parse, err);
    if (st != TRL_OK)
        return st;
    trl_tree tree = parse.trees[0].tree;
    tree.word = words + n;
    st = trl_translate_tree(t, &tree, out, err);
    if (st == TRL_OK)
        out->warning = parse.warning;
    return st;
}
