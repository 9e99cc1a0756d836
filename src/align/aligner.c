/* aligner.c -- both directions: training, files, alignments of text. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "align/direction.h"
#include "align/symmetry.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "options/option_table.h"
#include "model/strtab_io.h"

#define KIND "align"
#define PIECE 64 /* pairs of a job */

struct trl_aligner {
    trl_strview words[2];
    trl_strtab own[2];
    trl_direction way[2]; /* forward, reverse */
    bool has_reverse;
    trl_container *file;
};

void trl_aligner_free(trl_aligner *a)
{
    if (!a)
        return;
    for (int k = 0; k < 2; k++) {
        trl_direction_fini(&a->way[k]);
        trl_strtab_fini(&a->own[k]);
    }
    trl_container_free(a->file);
    trl_free(a);
}

static trl_status start_pool(size_t threads, trl_pool **pool, trl_error *err)
{
    threads = trl_pool_count(threads);
    if (threads > 1 && !(*pool = trl_pool_new(threads)))
        return trl_fail(err, TRL_ENOMEM, "cannot start %zu threads", threads);
    return TRL_OK;
}

/* ---- training and files --------------------------------------------------------------------- */

static trl_status copy_words(trl_aligner *a, const trl_bitext *b, trl_error *err)
{
    for (int k = 0; k < 2; k++) {
        for (uint32_t w = 0; w < b->side[k].words.n; w++) {
            const trl_str s = trl_strtab_get(&b->side[k].words, w);
            if (trl_strtab_add(&a->own[k], s.p, s.n) == TRL_NO_ID)
                return trl_fail_mem(err);
        }
        a->words[k] = trl_strtab_view(&a->own[k]);
    }
    return TRL_OK;
}

trl_status trl_aligner_train(const trl_bitext *b, const trl_align_options *options,
                             trl_aligner **out, trl_error *err)
{
    trl_align_options o;
    if (!b || !options || !out)
        return trl_fail_null(err);
    const trl_bitext_info i = trl_bitext_get_info(b);
    trl_status st = trl_options_take(trl_align_option_table(), options, &o, err);
    if (st != TRL_OK)
        return st;
    if (i.empty == i.pairs)
        return trl_fail(err, TRL_EINVAL, "no pair has words on both sides");
    if (i.empty + trl_bitext_unaligned(b) == i.pairs)
        return trl_fail(err, TRL_EINVAL, "no pair has at most %d words on both sides",
                        TRL_ALIGN_MOST);
    trl_aligner *a = trl_zalloc(1, sizeof *a);
    trl_pool *pool = NULL;
    st = a ? copy_words(a, b, err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = start_pool(o.threads, &pool, err);
    trl_direction_options d = {&o, "forward", pool};
    if (st == TRL_OK)
        st = trl_direction_train(&a->way[0], b, 0, &d, err);
    d.name = "reverse";
    if (st == TRL_OK && !o.forward_only) {
        a->has_reverse = true;
        st = trl_direction_train(&a->way[1], b, 1, &d, err);
    }
    trl_pool_free(pool);
    if (st != TRL_OK) {
        trl_aligner_free(a);
        return st;
    }
    *out = a;
    return TRL_OK;
}

static trl_status copy_table(const trl_strview *v, trl_strtab *t, trl_error *err)
{
    for (uint32_t k = 0; k < v->n; k++) {
        const trl_str s = trl_strview_get(v, k);
        if (trl_strtab_add(t, s.p, s.n) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

trl_status trl_aligner_save(const trl_aligner *a, const char *path, trl_error *err)
{
    if (!a || !path)
        return trl_fail_null(err);
    trl_container_builder b = {0};
    trl_strtab words[2] = {{0}, {0}};
    trl_status st = TRL_OK;
    for (int k = 0; st == TRL_OK && k < 2; k++) {
        st = copy_table(&a->words[k], &words[k], err);
        if (st == TRL_OK)
            st = trl_strtab_save(&words[k], k ? "tgtw" : "srcw", &b, err);
        if (st == TRL_OK && (k == 0 || a->has_reverse))
            st = trl_direction_save(&a->way[k], k ? 'r' : 'f', &b, err);
    }
    if (st == TRL_OK)
        st = trl_container_write(&b, KIND, path, err);
    trl_container_builder_fini(&b);
    trl_strtab_fini(&words[0]);
    trl_strtab_fini(&words[1]);
    return st;
}

static trl_status load(trl_aligner *a, trl_error *err)
{
    const void *bytes;
    size_t n;
    const trl_container *c = a->file;
    trl_status st = trl_strview_load(c, "srcw", &a->words[0], err);
    if (st == TRL_OK)
        st = trl_strview_load(c, "tgtw", &a->words[1], err);
    if (st == TRL_OK)
        st = trl_direction_load(&a->way[0], 'f', c, a->words[0].n + 1, a->words[1].n, err);
    a->has_reverse = st == TRL_OK && trl_container_find(c, "rend", &bytes, &n);
    if (a->has_reverse)
        st = trl_direction_load(&a->way[1], 'r', c, a->words[1].n + 1, a->words[0].n, err);
    return st;
}

/* Takes the container, NULL after a failure `st`. */
static trl_status finish_open(trl_container *c, trl_status st, trl_aligner **out, trl_error *err)
{
    trl_aligner *a = st == TRL_OK ? trl_zalloc(1, sizeof *a) : NULL;
    if (!a) {
        trl_container_free(c);
        return st == TRL_OK ? trl_fail_mem(err) : st;
    }
    a->file = c;
    st = load(a, err);
    if (st == TRL_OK)
        *out = a;
    else
        trl_aligner_free(a);
    return st;
}

trl_status trl_aligner_open(const char *path, trl_aligner **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_open(path, KIND, &c, err);
    return finish_open(c, st, out, err);
}

trl_status trl_aligner_from_memory(const void *bytes, size_t n, trl_aligner **out, trl_error *err)
{
    if ((!bytes && n) || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_from_memory(bytes, n, KIND, &c, err);
    return finish_open(c, st, out, err);
}

trl_status trl_aligner_of(const trl_model *m, trl_aligner **out, trl_error *err)
{
    if (!m || !out)
        return trl_fail_null(err);
    size_t n;
    const void *bytes = trl_model_bytes(m, &n);
    const char *kind = trl_model_get_info(m).kind;
    if (strcmp(kind, KIND) != 0)
        return trl_fail(err, TRL_EINVAL, "the model is of kind '%s', not an aligner's", kind);
    return trl_aligner_from_memory(bytes, n, out, err);
}

/* ---- alignments ----------------------------------------------------------------------------- */

typedef struct work {
    double *t;
    size_t t_cap;
    uint32_t *best[2];
    size_t best_cap[2];
    bool *link;
    size_t link_cap;
    bool *used;
    size_t used_cap;
    trl_place_scratch scratch;
} work;

typedef struct aligning {
    const trl_aligner *a;
    const trl_bitext *b;
    uint32_t *number[2]; /* the aligner's ids of the text's words; TRL_NO_ID: unknown */
    trl_symmetry symmetry;
    trl_buf *line; /* [pieces] */
    work *work;    /* [threads] */
} aligning;

/* The most probable alignment of pair k in direction `way`, into w->best[way]. */
static bool best_of(const aligning *g, size_t k, int way, work *w)
{
    const trl_direction *d = &g->a->way[way];
    const trl_side *s = &g->b->side[way], *u = &g->b->side[1 - way];
    const size_t l = trl_side_length(s, k), m = trl_side_length(u, k);
    const uint32_t *e = s->id + trl_side_begin(s, k), *f = u->id + trl_side_begin(u, k);
    double *t = trl_reserve(w->t, &w->t_cap, (l + 1) * m, sizeof *t);
    if (t)
        w->t = t;
    uint32_t *best = trl_reserve(w->best[way], &w->best_cap[way], m, sizeof *best);
    if (best)
        w->best[way] = best;
    if (!t || !best)
        return false;
    for (size_t i = 0; i < m; i++) {
        const uint32_t target = g->number[1 - way][f[i]];
        for (size_t j = 0; j <= l; j++) {
            const uint32_t known = j ? g->number[way][e[j - 1]] : 0;
            const uint32_t source = j && known == TRL_NO_ID ? TRL_NO_ID : j ? known + 1 : 0;
            t[i * (l + 1) + j] = (double)trl_direction_t(d, source, target);
        }
    }
    return trl_places_best(&d->places, l, m, t, best, &w->scratch);
}

static bool align_pair(const aligning *g, size_t k, work *w, trl_buf *out)
{
    const size_t l = trl_side_length(&g->b->side[0], k), m = trl_side_length(&g->b->side[1], k);
    if (!trl_sides_fit(&g->b->side[0], &g->b->side[1], k))
        return trl_buf_ch(out, '\n');
    bool *link = trl_reserve(w->link, &w->link_cap, l * m, sizeof *link);
    if (link)
        w->link = link;
    bool *used = trl_reserve(w->used, &w->used_cap, l + m, sizeof *used);
    if (used)
        w->used = used;
    if (!link || !used || (g->symmetry != TRL_REVERSE && !best_of(g, k, 0, w)) ||
        (g->symmetry != TRL_FORWARD && !best_of(g, k, 1, w)))
        return false;
    const trl_two_ways two = {l, m, w->best[0], w->best[1]};
    const char *before = "";
    trl_symmetrise(&two, g->symmetry, link, used);
    for (size_t j = 0; j < l; j++)
        for (size_t i = 0; i < m; i++)
            if (link[j * m + i]) {
                trl_buf_fmt(out, "%s%zu-%zu", before, j, i);
                before = " ";
            }
    trl_buf_ch(out, '\n');
    return !out->failed;
}

static trl_status run_piece(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    const aligning *g = ctx;
    const size_t n = g->b->side[0].n, end = (piece + 1) * PIECE < n ? (piece + 1) * PIECE : n;
    for (size_t k = piece * PIECE; k < end; k++)
        if (!align_pair(g, k, &g->work[worker], &g->line[piece]))
            return trl_fail_mem(err);
    return TRL_OK;
}

static trl_status number_words(aligning *g, trl_error *err)
{
    for (int k = 0; k < 2; k++) {
        const trl_strtab *words = &g->b->side[k].words;
        if (!(g->number[k] = trl_alloc(words->n + 1, sizeof *g->number[k])))
            return trl_fail_mem(err);
        for (uint32_t w = 0; w < words->n; w++) {
            const trl_str s = trl_strtab_get(words, w);
            g->number[k][w] = trl_strview_find(&g->a->words[k], s.p, s.n, trl_str_hash(s.p, s.n));
        }
    }
    return TRL_OK;
}

static void work_fini(work *w)
{
    trl_free(w->t);
    trl_free(w->best[0]);
    trl_free(w->best[1]);
    trl_free(w->link);
    trl_free(w->used);
    trl_place_scratch_fini(&w->scratch);
}

trl_status trl_align(const trl_aligner *a, const trl_bitext *b, trl_symmetry s, size_t threads,
                     trl_buf *out, trl_error *err)
{
    if (!a || !b || !out)
        return trl_fail_null(err);
    aligning g = {.a = a, .b = b, .symmetry = s};
    const size_t pieces = (b->side[0].n + PIECE - 1) / PIECE;
    trl_pool *pool = NULL;
    if (s != TRL_FORWARD && !a->has_reverse)
        return trl_fail(err, TRL_EINVAL, "the aligner was trained in one direction only");
    trl_status st = start_pool(threads, &pool, err);
    const size_t workers = pool ? trl_pool_threads(pool) : 1;
    g.line = trl_zalloc(pieces, sizeof *g.line);
    g.work = trl_zalloc(workers, sizeof *g.work);
    if (st == TRL_OK && (!g.line || !g.work))
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        st = number_words(&g, err);
    if (st == TRL_OK && pool)
        st = trl_pool_run(pool, pieces, run_piece, &g, err);
    for (size_t k = 0; st == TRL_OK && !pool && k < pieces; k++)
        st = run_piece(&g, k, 0, err);
    for (size_t k = 0; st == TRL_OK && k < pieces; k++)
        if (!trl_buf_add(out, g.line[k].data, g.line[k].len))
            st = trl_fail_mem(err);
    for (size_t k = 0; g.line && k < pieces; k++)
        trl_buf_fini(&g.line[k]);
    for (size_t k = 0; g.work && k < workers; k++)
        work_fini(&g.work[k]);
    trl_free(g.line);
    trl_free(g.work);
    trl_free(g.number[0]);
    trl_free(g.number[1]);
    trl_pool_free(pool);
    return st;
}
