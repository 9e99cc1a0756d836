/* translate_corpus.c -- from text, links and trees to transductions. */
/* SPDX-License-Identifier: MIT */
#include "train_translate/translate_corpus.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define PIECE 64 /* pairs of a job */

void trl_translate_corpus_fini(trl_translate_corpus *c)
{
    for (size_t k = 0; c->pair && k < c->n; k++) {
        trl_source_fini(&c->pair[k].source);
        trl_free(c->pair[k].target);
    }
    trl_free(c->pair);
    *c = (trl_translate_corpus){0};
}

/* ---- prints ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    return h * 0x9e3779b97f4a7c15u + trl_str_hash(p, n);
}

uint64_t trl_bitext_print(const trl_bitext *b)
{
    uint64_t h = 0;
    for (int k = 0; k < 2; k++) {
        const trl_side *s = &b->side[k];
        h = mix(h, s->id, s->n_ids * sizeof *s->id);
        h = mix(h, s->end, s->n * sizeof *s->end);
        h = mix(h, s->words.pool, s->words.pool_len);
        h = mix(h, s->words.end, s->words.n * sizeof *s->words.end);
    }
    return h;
}

uint64_t trl_translate_corpus_print(const trl_translate_corpus *c)
{
    uint64_t h = c->n;
    for (size_t k = 0; k < c->n; k++) {
        const trl_translate_pair *p = &c->pair[k];
        const trl_source *s = &p->source;
        h = h * 31 + p->held;
        if (!s->n_words)
            continue;
        h = mix(h, s->word, s->n_words * sizeof *s->word);
        h = mix(h, s->node, s->n_nodes * sizeof *s->node);
        h = mix(h, s->dependency, s->dependency_end[s->n_words - 1] * sizeof *s->dependency);
        h = mix(h, p->target, s->n_words * sizeof *p->target);
        h = mix(h, p->order, s->n_nodes);
    }
    return h;
}

/* ---- links ----------------------------------------------------------------------------------- */

static trl_status read_links(trl_links *l, trl_input *in, const trl_bitext *b, trl_error *err)
{
    trl_str line;
    bool more = true;
    trl_status st = TRL_OK;
    for (;;) {
        st = trl_input_line(in, &line, &more, err);
        if (st != TRL_OK || !more)
            break;
        if (l->n == b->side[0].n) {
            trl_fail(err, TRL_EPARSE, "there are %zu pairs of sentences, but more lines of links",
                     l->n);
            return trl_input_fail(in, err, TRL_EPARSE, 1);
        }
        st = trl_links_add(l, in, line, trl_side_length(&b->side[0], l->n),
                           trl_side_length(&b->side[1], l->n), err);
        if (st != TRL_OK)
            return st;
    }
    if (st == TRL_OK && l->n < b->side[0].n) {
        trl_fail(err, TRL_EPARSE, "%zu lines of links for %zu pairs of sentences", l->n,
                 b->side[0].n);
        st = trl_input_fail(in, err, TRL_EPARSE, 1);
    }
    return st;
}

trl_status trl_links_read(trl_links *l, const char *path, const trl_bitext *b, trl_error *err)
{
    trl_input *in = NULL;
    trl_status st = trl_input_open(path, &in, err);
    if (st == TRL_OK)
        st = read_links(l, in, b, err);
    trl_input_free(in);
    return st;
}

trl_status trl_links_memory(trl_links *l, const trl_text *text, const trl_bitext *b, trl_error *err)
{
    trl_input *in = NULL;
    trl_status st = trl_input_memory(text->name, text->p, text->n, &in, err);
    if (st == TRL_OK)
        st = read_links(l, in, b, err);
    trl_input_free(in);
    return st;
}

/* ---- trees ----------------------------------------------------------------------------------- */

static trl_status read_tree(trl_translate_pair *p, const trl_translate_text *t, size_t k,
                            trl_error *err)
{
    const size_t n = trl_side_length(&t->text->side[0], k);
    trl_tree tree;
    bool more;
    trl_status st = trl_treebank_next(t->trees, &tree, &more, err);
    if (st != TRL_OK)
        return st;
    if (!more) {
        st = trl_fail(err, TRL_EPARSE, "there is no tree for sentence %zu", k + 1);
        trl_fail_where(err, st, t->trees_path ? t->trees_path : "", 0, 0);
        return trl_fail_hint(err, st, "every source sentence that is not empty has one tree");
    }
    if (tree.n_words != n) {
        trl_fail(err, TRL_EPARSE, "a tree of %zu words, but sentence %zu has %zu", tree.n_words,
                 k + 1, n);
        return trl_fail_where(err, TRL_EPARSE, tree.path, tree.row, tree.col);
    }
    st = trl_source_make(&p->source, &tree, t->heads, t->names, !t->fixed, err);
    if (st != TRL_OK)
        return st;
    const size_t n_nodes = p->source.n_nodes;
    if (!(p->target = trl_alloc(n * sizeof *p->target + n_nodes, 1)))
        return trl_fail_mem(err);
    p->order = (unsigned char *)(p->target + n);
    return TRL_OK;
}

static trl_status check_end(const trl_translate_text *t, trl_error *err)
{
    trl_tree tree;
    bool more;
    trl_status st = trl_treebank_next(t->trees, &tree, &more, err);
    if (st != TRL_OK || !more)
        return st;
    st = trl_fail(err, TRL_EPARSE, "a tree more than there are sentences");
    trl_fail_hint(err, st, "every source sentence that is not empty has one tree");
    return trl_fail_where(err, st, tree.path, tree.row, tree.col);
}

/* ---- transductions --------------------------------------------------------------------------- */

typedef struct worker {
    trl_arena arena;
    double *like;
    size_t cap;
} worker;

typedef struct job {
    trl_translate_corpus *c;
    const trl_translate_text *t;
    trl_key_index pairs; /* source word << 32 | target word */
    uint32_t *together;  /* [pairs] how often they are linked */
    uint32_t *alone;     /* [source words] links */
    worker *worker;
    trl_translate_counts *counts; /* [jobs] */
} job;

static const uint32_t *words_of(const trl_bitext *b, int side, size_t k)
{
    return b->side[side].id + trl_side_begin(&b->side[side], k);
}

static uint64_t pair_key(const trl_bitext *b, size_t k, trl_link x)
{
    return (uint64_t)words_of(b, 0, k)[x.source] << 32 | words_of(b, 1, k)[x.target];
}

static trl_status count_links(job *j, trl_error *err)
{
    const trl_links *l = j->t->links;
    const trl_bitext *b = j->t->text;
    size_t cap = 0;
    if (!(j->alone = trl_zalloc(b->side[0].words.n + 1, sizeof *j->alone)))
        return trl_fail_mem(err);
    for (size_t k = 0; k < b->side[0].n; k++)
        for (uint64_t q = trl_links_begin(l, k); q < l->end[k]; q++) {
            const uint64_t key = pair_key(b, k, l->link[q]);
            const uint32_t n = (uint32_t)j->pairs.n;
            uint32_t *grown = trl_reserve(j->together, &cap, n + (size_t)1, sizeof *grown);
            j->together = grown ? grown : j->together;
            const uint32_t at = trl_key_index_add(&j->pairs, key, n);
            if (!grown || at == TRL_NO_ID)
                return trl_fail_mem(err);
            grown[at] = at == n ? 1 : grown[at] + 1;
            j->alone[key >> 32]++;
        }
    return TRL_OK;
}

/* Words that lost all their links take the word that is most often linked to them. */
static void fill_words(const job *j, size_t k, const worker *w)
{
    const trl_links *l = j->t->links;
    const uint32_t *target = words_of(j->t->text, 1, k);
    trl_translate_pair *p = &j->c->pair[k];
    const uint64_t begin = trl_links_begin(l, k), end = l->end[k];
    for (size_t i = 0; i < p->source.n_words; i++)
        p->target[i] = p->target[i] == TRL_NO_ID ? TRL_NO_ID : target[p->target[i]];
    for (uint64_t q = begin, next; q < end; q = next) {
        const uint32_t i = l->link[q].source;
        uint64_t best = q;
        for (next = q; next < end && l->link[next].source == i; next++)
            if (w->like[next - begin] > w->like[best - begin])
                best = next;
        if (p->target[i] == TRL_NO_ID && !j->t->drop_lost)
            p->target[i] = target[l->link[best].target];
    }
}

static void count_pair(const trl_translate_pair *p, const trl_link *link, size_t n, size_t kept,
                       trl_translate_counts *counts)
{
    counts->words += p->source.n_words;
    counts->links += n;
    counts->kept += kept;
    for (size_t q = 0; q < n; q++)
        counts->linked += q == 0 || link[q].source != link[q - 1].source;
    for (size_t v = p->source.n_words; v < p->source.n_nodes; v++)
        counts->orders[p->order[v]]++;
}

static trl_status align_pair(job *j, size_t k, worker *w, trl_translate_counts *counts,
                             trl_error *err)
{
    const trl_links *l = j->t->links;
    const uint64_t begin = trl_links_begin(l, k);
    const size_t n = l->end[k] - begin;
    trl_translate_pair *p = &j->c->pair[k];
    double *like = trl_reserve(w->like, &w->cap, n + 1, sizeof *like);
    if (!like)
        return trl_fail_mem(err);
    w->like = like;
    for (size_t q = 0; q < n; q++) {
        const uint64_t key = pair_key(j->t->text, k, l->link[begin + q]);
        like[q] = (double)j->together[trl_key_index_find(&j->pairs, key)] / j->alone[key >> 32];
    }
    const trl_tree_links links = {l->link + begin, n, like, j->t->beam};
    trl_transduction out = {p->target, p->order, 0};
    const trl_status st = trl_tree_align(&p->source, &links, &w->arena, &out, err);
    if (st == TRL_OK) {
        fill_words(j, k, w);
        count_pair(p, l->link + begin, n, out.kept, counts);
    }
    return st;
}

static trl_status align_piece(void *ctx, size_t piece, size_t who, trl_error *err)
{
    job *j = ctx;
    trl_status st = TRL_OK;
    for (size_t k = piece * PIECE; st == TRL_OK && k < j->c->n && k < (piece + 1) * PIECE; k++)
        if (j->c->pair[k].source.n_words)
            st = align_pair(j, k, &j->worker[who], &j->counts[piece], err);
    return st;
}

static void add_counts(trl_translate_counts *to, const trl_translate_counts *x)
{
    to->words += x->words;
    to->linked += x->linked;
    to->links += x->links;
    to->kept += x->kept;
    for (int k = 0; k < 3; k++)
        to->orders[k] += x->orders[k];
}

static trl_status align_all(trl_translate_corpus *c, const trl_translate_text *t, trl_error *err)
{
    const size_t jobs = (c->n + PIECE - 1) / PIECE, threads = trl_pool_threads(t->pool);
    job j = {.c = c,
             .t = t,
             .worker = trl_zalloc(threads, sizeof *j.worker),
             .counts = trl_zalloc(jobs, sizeof *j.counts)};
    trl_status st = j.worker && j.counts ? count_links(&j, err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_pool_run(t->pool, jobs, align_piece, &j, err);
    for (size_t k = 0; st == TRL_OK && k < jobs; k++)
        add_counts(&c->counts, &j.counts[k]);
    for (size_t k = 0; j.worker && k < threads; k++) {
        trl_arena_fini(&j.worker[k].arena);
        trl_free(j.worker[k].like);
    }
    trl_free(j.worker);
    trl_free(j.counts);
    trl_free(j.together);
    trl_free(j.alone);
    trl_key_index_fini(&j.pairs);
    return st;
}

/* A source sentence whose other side is empty, or which was too long to align, says nothing about
 * the translation of its words, not that they become NULL. */
static bool is_translated(const trl_translate_text *t, size_t k)
{
    const trl_side *side = t->text->side;
    return trl_side_length(&side[1], k) > 0 && (trl_sides_fit(&side[0], &side[1], k) ||
                                                t->links->end[k] > trl_links_begin(t->links, k));
}

trl_status trl_translate_corpus_make(trl_translate_corpus *c, const trl_translate_text *t,
                                     trl_error *err)
{
    const size_t n = t->text->side[0].n;
    if (!(c->pair = trl_zalloc(n, sizeof *c->pair)))
        return trl_fail_mem(err);
    c->n = n;
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        if (trl_side_length(&t->text->side[0], k) > 0)
            st = read_tree(&c->pair[k], t, k, err);
        if (st == TRL_OK && !is_translated(t, k))
            trl_source_fini(&c->pair[k].source);
        c->pair[k].held = (k + 1) * t->held / n != k * t->held / n;
        c->n_held += c->pair[k].held;
    }
    if (st == TRL_OK)
        st = check_end(t, err);
    return st == TRL_OK ? align_all(c, t, err) : st;
}
