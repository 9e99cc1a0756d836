/* search_parser.c -- words in, trees out: tags, then best-first search. */
/* SPDX-License-Identifier: MIT */
#include "search/search_parser.h"
#include "treebank/transform.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"

/* ---- models ---------------------------------------------------------------------------------- */

bool trl_is_boosted(const trl_container *c)
{
    const void *p;
    size_t n;
    return trl_container_find(c, "boost", &p, &n);
}

static trl_status show_labels(trl_boosted_model *m, trl_error *err)
{
    const trl_strtab *from = &m->m.names.labels;
    const trl_str root = {m->m.root.label, strlen(m->m.root.label)};
    const bool own = trl_strtab_find(from, root.p, root.n) == TRL_NO_ID;
    for (uint32_t k = 0; k < from->n; k++) {
        const trl_str s = k == TRL_SEARCH_TOP && own ? root : trl_strtab_get(from, k);
        if (trl_strtab_add(&m->labels, s.p, s.n) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

trl_status trl_boosted_model_from(trl_container *c, trl_boosted_model **out, trl_error *err)
{
    const void *text = "";
    size_t n = 0;
    trl_container_find(c, "settings", &text, &n);
    trl_boosted_model *m = trl_zalloc(1, sizeof *m);
    if (!m) {
        trl_container_free(c);
        return trl_fail_mem(err);
    }
    m->file = c;
    m->settings = trl_strndup(text, n);
    trl_status st = m->settings ? trl_search_model_load(&m->m, c, err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = show_labels(m, err);
    if (st == TRL_OK)
        *out = m;
    else
        trl_boosted_model_free(m);
    return st;
}

void trl_boosted_model_free(trl_boosted_model *m)
{
    if (!m)
        return;
    trl_search_model_fini(&m->m);
    trl_strtab_fini(&m->labels);
    trl_container_free(m->file);
    trl_free(m->settings);
    trl_free(m);
}

static uint64_t n_compound(const trl_boosted_model *m)
{
    uint64_t n = 0;
    for (size_t k = 0; k < m->m.boost->n; k++) {
        const trl_boost_part *p = &m->m.boost->part[k];
        n += p->n_points ? p->point[p->best].compound : 0;
    }
    return n;
}

trl_parse_info trl_boosted_model_info(const trl_boosted_model *m)
{
    return (trl_parse_info){.grade = "boosted",
                            .settings = m->settings,
                            .n_states = m->m.names.n_phrases,
                            .n_words = m->m.names.words.n,
                            .n_features = n_compound(m),
                            .is_probability = false};
}

/* Text of a dump up to a number of lines. */
typedef struct first_lines {
    trl_buf *out;
    size_t left;
} first_lines;

static trl_status take_lines(void *ctx, const char *text, size_t n, trl_error *err)
{
    first_lines *f = ctx;
    for (size_t k = 0; k < n && f->left; k++) {
        trl_buf_ch(f->out, text[k]);
        f->left -= text[k] == '\n';
    }
    return f->out->failed ? trl_fail_mem(err) : TRL_OK;
}

trl_status trl_boosted_model_describe(const trl_boosted_model *m, size_t top, trl_buf *out,
                                      trl_error *err)
{
    const trl_boost_model *b = m->m.boost;
    trl_status st = TRL_OK;
    if (top == 0)
        trl_buf_fmt(out,
                    "phrase labels      %zu\ntags               %zu\nwords              %zu\n"
                    "trees              %zu\natomic features    %zu\n",
                    m->m.names.n_phrases, m->m.names.labels.n - m->m.names.n_phrases,
                    m->m.names.words.n, m->m.n_trees, b->names.n);
    for (size_t k = 0; st == TRL_OK && top && k < b->n; k++) {
        first_lines lines = {out, top};
        trl_buf_fmt(out, "%s%s\n", k ? "\n" : "", b->part[k].name);
        st = trl_boost_dump(b, k, take_lines, &lines, err);
    }
    return st == TRL_OK && out->failed ? trl_fail_mem(err) : st;
}

/* ---- parsers --------------------------------------------------------------------------------- */

/* Taggings of a sentence that are tried. */
#define TAGGINGS 4

struct trl_boosted_parser {
    const trl_boosted_model *model;
    trl_parse_options o;
    trl_searcher search;
    trl_tag_words tag_words;
    trl_tagger *tagger; /* NULL: none */
    uint32_t *tag;      /* [taggings][n] */
    double cost[TAGGINGS];
    size_t tag_cap, n_taggings;
    trl_parsed *parsed;
    size_t parsed_cap;
    uint64_t states; /* looked at so far */
    trl_search_known *known;
    size_t known_cap, n_known;
    trl_search_explainer why;
};

trl_status trl_boosted_parser_new(const trl_boosted_model *m, const trl_parse_options *o,
                                  trl_boosted_parser **out, trl_error *err)
{
    if (o->probability || o->spans)
        return trl_fail(err, TRL_EINVAL,
                        "the costs of boosted classifiers are not probabilities of trees: a "
                        "boosted parser has none to give");
    trl_boosted_parser *p = trl_zalloc(1, sizeof *p);
    if (!p)
        return trl_fail_mem(err);
    p->model = m;
    p->o = *o;
    p->search.model = &m->m;
    p->tag_words.names = &m->m.names;
    p->why.model = &m->m;
    const trl_status st = m->m.tagger ? trl_tagger_new(m->m.tagger, &p->tagger, err) : TRL_OK;
    if (st == TRL_OK)
        *out = p;
    else
        trl_boosted_parser_free(p);
    return st;
}

void trl_boosted_parser_free(trl_boosted_parser *p)
{
    if (!p)
        return;
    trl_searcher_fini(&p->search);
    trl_tag_words_fini(&p->tag_words);
    trl_tagger_free(p->tagger);
    trl_free(p->tag);
    trl_free(p->parsed);
    trl_free(p->known);
    trl_search_explainer_fini(&p->why);
    trl_free(p);
}

uint64_t trl_boosted_parser_states(const trl_boosted_parser *p)
{
    return p->states;
}

/* Tags that are not known come from the tagger: its best taggings, each at what it is less likely
 * than the best. */
static trl_status find_tags(trl_boosted_parser *p, const trl_parse_input *in, trl_error *err)
{
    trl_rows seq;
    if (!p->tagger)
        return trl_fail(err, TRL_EINVAL, "the model has no tagger: words must come with tags");
    trl_status st = trl_tag_words_make(&p->tag_words, in->word, NULL, in->n, &seq, err);
    if (st == TRL_OK)
        st = trl_tagger_set_rows(p->tagger, &seq, err);
    if (st == TRL_OK)
        st = trl_tagger_nbest(p->tagger, TAGGINGS, p->tag, p->cost, &p->n_taggings, err);
    for (size_t k = p->n_taggings; st == TRL_OK && k-- > 0;)
        p->cost[k] = p->cost[0] - p->cost[k];
    for (size_t k = 0; st == TRL_OK && k < p->n_taggings * in->n; k++) {
        const trl_str name = trl_model_label(p->model->m.tagger, p->tag[k]);
        p->tag[k] = trl_strtab_find(&p->model->m.names.labels, name.p, name.n);
        if (p->tag[k] == TRL_NO_ID)
            st = trl_fail(err, TRL_EMODEL, "damaged model: its tagger has other tags");
    }
    return st;
}

static trl_status set_known(trl_boosted_parser *p, const trl_parse_input *in, trl_error *err)
{
    const size_t n = p->n_taggings * in->n;
    for (size_t k = 0; k < in->n_known; k++) {
        const trl_known *x = &in->known[k];
        if (x->type != TRL_KNOWN_TAG)
            continue;
        if (x->from >= in->n)
            return trl_fail(err, TRL_EINVAL, "word %zu is not in a sentence of %zu words",
                            x->from + 1, in->n);
        const uint32_t tag = trl_strtab_find(&p->model->m.names.labels, x->label.p, x->label.n);
        for (size_t at = x->from; at < n; at += in->n)
            p->tag[at] = tag;
        if (tag == TRL_NO_ID)
            return trl_fail(err, TRL_EINVAL, "the model has no label '%.*s'", (int)x->label.n,
                            x->label.p);
    }
    return TRL_OK;
}

/* Where tags are known, taggings may have become the same. */
static void drop_twins(trl_boosted_parser *p, size_t n)
{
    size_t kept = 0;
    for (size_t k = 0; k < p->n_taggings; k++) {
        size_t same = 0;
        while (same < kept && memcmp(p->tag + same * n, p->tag + k * n, n * sizeof *p->tag) != 0)
            same++;
        if (same < kept)
            continue;
        memmove(p->tag + kept * n, p->tag + k * n, n * sizeof *p->tag);
        p->cost[kept++] = p->cost[k];
    }
    p->n_taggings = kept;
}

static trl_status choose_tags(trl_boosted_parser *p, const trl_parse_input *in, trl_error *err)
{
    uint32_t *tag = trl_reserve(p->tag, &p->tag_cap, TAGGINGS * in->n, sizeof *tag);
    if (!tag)
        return trl_fail_mem(err);
    p->tag = tag;
    for (size_t k = 0; k < in->n; k++)
        tag[k] = TRL_NO_ID;
    p->n_taggings = 1;
    p->cost[0] = 0.0;
    trl_status st = set_known(p, in, err);
    bool all = true;
    for (size_t k = 0; k < in->n; k++)
        all = all && tag[k] != TRL_NO_ID;
    if (st != TRL_OK || all)
        return st;
    st = find_tags(p, in, err);
    if (st == TRL_OK)
        st = set_known(p, in, err);
    drop_twins(p, in->n);
    return st;
}

/* What is known of constituents.  Labels by the names that are shown. */
static trl_status set_constituents(trl_boosted_parser *p, const trl_parse_input *in, trl_error *err)
{
    trl_search_known *known = trl_reserve(p->known, &p->known_cap, in->n_known + 1, sizeof *known);
    if (!known)
        return trl_fail_mem(err);
    p->known = known;
    p->n_known = 0;
    for (size_t k = 0; k < in->n_known; k++) {
        const trl_known *x = &in->known[k];
        if (x->type == TRL_KNOWN_TAG)
            continue;
        if (x->from >= x->to || x->to > in->n)
            return trl_fail(err, TRL_EINVAL, "words %zu to %zu are not in a sentence of %zu words",
                            x->from + 1, x->to, in->n);
        const uint32_t label =
            x->label.n ? trl_strtab_find(&p->model->labels, x->label.p, x->label.n) : TRL_NO_ID;
        if (x->label.n && label >= p->model->m.names.n_phrases)
            return trl_fail(err, TRL_EINVAL, "the model has no label '%.*s'", (int)x->label.n,
                            x->label.p);
        known[p->n_known++] =
            (trl_search_known){x->from, x->to, label, x->type == TRL_KNOWN_NO_CONSTITUENT};
    }
    return TRL_OK;
}

/* Tags, then the search. */
static trl_status search(trl_boosted_parser *p, const trl_parse_input *in, trl_search_input *to,
                         size_t nbest, trl_error *err)
{
    if (in->n == 0)
        return trl_fail(err, TRL_EINVAL, "a sentence without words has no tree");
    const trl_search_options o = {.nbest = nbest,
                                  .beam = p->o.beam,
                                  .max_work = p->o.max_work,
                                  .deadline =
                                      p->o.max_seconds > 0.0 ? trl_clock() + p->o.max_seconds : 0};
    p->search.arena.limit = p->o.max_bytes;
    trl_status st = choose_tags(p, in, err);
    *to = (trl_search_input){in->word, in->n, p->tag, p->cost, p->n_taggings, p->known, p->n_known};
    if (st == TRL_OK)
        st = trl_best_first(&p->search, to, &o, err);
    p->states += st == TRL_OK ? p->search.n_expanded : 0;
    return st;
}

static trl_status show_trees(trl_boosted_parser *p, const trl_parse_input *in, trl_parse *out,
                             trl_error *err)
{
    const size_t n = p->search.n_found;
    trl_parsed *parsed = trl_reserve(p->parsed, &p->parsed_cap, n + 1, sizeof *parsed);
    if (!parsed)
        return trl_fail_mem(err);
    p->parsed = parsed;
    for (size_t k = 0; k < n; k++) {
        trl_found_tree *t = &p->search.found[k];
        if (p->model->m.root.bare)
            trl_drop_root(&t->node, &t->n_nodes);
        parsed[k] = (trl_parsed){.tree = {.n_nodes = t->n_nodes,
                                          .n_words = in->n,
                                          .node = t->node,
                                          .word = in->word,
                                          .labels = &p->model->labels},
                                 .log_probability = (double)NAN};
    }
    *out = (trl_parse){
        .n_trees = n,
        .trees = parsed,
        .sure = p->search.exact,
        .warning = p->search.exact ? NULL : "the search met its limit: there may be a better tree"};
    return TRL_OK;
}

trl_status trl_boosted_parser_parse(trl_boosted_parser *p, const trl_parse_input *in,
                                    trl_parse *out, trl_error *err)
{
    trl_search_input to;
    for (size_t k = 0; k < in->n_known; k++)
        if (in->known[k].type != TRL_KNOWN_TAG)
            return trl_fail(err, TRL_EINVAL,
                            "of a sentence for a boosted parser only tags can be known, not "
                            "constituents");
    p->n_known = 0;
    const trl_status st = search(p, in, &to, p->o.nbest, err);
    return st == TRL_OK ? show_trees(p, in, out, err) : st;
}

trl_status trl_boosted_parser_derive(trl_boosted_parser *p, const trl_parse_input *in,
                                     trl_parse *tree, trl_derived *out, trl_error *err)
{
    trl_search_input to;
    *out = (trl_derived){0};
    trl_status st = set_constituents(p, in, err);
    if (st == TRL_OK)
        st = search(p, in, &to, 1, err);
    if (st == TRL_OK && p->search.n_found && p->search.exact) {
        st = trl_search_explain(&p->why, &p->search, &to, err);
        *out = (trl_derived){p->why.part, p->why.n, -p->search.found[0].cost};
    }
    return st == TRL_OK ? show_trees(p, in, tree, err) : st;
}
