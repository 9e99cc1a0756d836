/* temperature_fit.c -- fitting a temperature on held-out data.
 *
 * With b = 1 / T the negative log-likelihood F(b) = sum log Z(b s) - b s(gold) is convex: log Z is
 * a log-sum-exp of functions linear in b.  So it has one minimum, which is found on a logarithmic
 * scale: steps by factors of 4 from b = 1 until it is bracketed, then Brent's method, a parabola
 * through three points where that helps, else the golden section [Bre73, ch. 5].
 */
/* SPDX-License-Identifier: MIT */
#include "trellis/calibrate.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/tagger_parts.h"
#include "feature/sequence_source.h"

/* ---- the likelihood of the data -------------------------------------------------------------- */

typedef struct held_out {
    const trl_model *m;
    const trl_held_out *data;
    trl_tagger *tagger;
    uint32_t *gold;
    size_t cap;
    trl_temperature_fit *fit; /* counts, filled by every pass */
    double weight;            /* tokens, as they count */
} held_out;

/* The gold labels of a sequence, `step` apart, and how often it counts. */
typedef struct gold {
    const trl_str *label;
    size_t n, step;
    double weight;
} gold;

/* Their numbers; *known: the model has all of them. */
static trl_status find_gold(held_out *h, const gold *g, bool *known, trl_error *err)
{
    uint32_t *number = trl_reserve(h->gold, &h->cap, g->n, sizeof *number);
    if (!number)
        return trl_fail_mem(err);
    h->gold = number;
    *known = true;
    for (size_t t = 0; t < g->n && *known; t++) {
        number[t] = trl_model_find_label(h->m, g->label[t * g->step]);
        *known = number[t] != UINT32_MAX;
    }
    return TRL_OK;
}

/* After the tagger has the sequence. */
static trl_status add_sequence(held_out *h, const gold *g, double *F, trl_error *err)
{
    bool known = false;
    double score = 0.0, log_z = 0.0;
    trl_status st = find_gold(h, g, &known, err);
    if (st != TRL_OK)
        return st;
    if (!known) {
        h->fit->left_out++;
        return TRL_OK;
    }
    st = trl_tagger_score(h->tagger, h->gold, &score, err);
    if (st == TRL_OK)
        st = trl_tagger_log_z(h->tagger, &log_z, err);
    if (st == TRL_OK) {
        *F += g->weight * (log_z - score);
        h->weight += g->weight * (double)g->n;
        h->fit->sequences++;
        h->fit->tokens += g->n;
    }
    return st;
}

static trl_status add_rows(held_out *h, const trl_rows *seq, double weight, double *F,
                           trl_error *err)
{
    const size_t C = trl_model_get_info(h->m).n_columns;
    if (seq->n_columns != C) {
        const trl_status st = trl_fail(
            err, TRL_EPARSE, "%zu columns here, but the model was trained with %zu, the label last",
            seq->n_columns, C);
        return trl_fail_where(err, st, seq->path, seq->first_row, 0);
    }
    const gold g = {seq->cell + C - 1, seq->n_tokens, C, weight};
    const trl_status st = trl_tagger_set_rows(h->tagger, seq, err);
    return st == TRL_OK ? add_sequence(h, &g, F, err) : st;
}

static trl_status add_items(held_out *h, const trl_items *seq, double *F, trl_error *err)
{
    if (!seq->label) {
        const trl_status st = trl_fail(err, TRL_EPARSE, "no labels: a temperature needs them");
        return trl_fail_where(err, st, seq->path, seq->first_row, 0);
    }
    const gold g = {seq->label, seq->n_tokens, 1, seq->weight};
    const trl_status st = trl_tagger_set_items(h->tagger, seq, err);
    return st == TRL_OK ? add_sequence(h, &g, F, err) : st;
}

/* F(b), one pass. */
static trl_status evaluate(held_out *h, double b, double *F, trl_error *err)
{
    const bool rows = trl_format_is_rows(trl_model_get_info(h->m).format);
    trl_sequence_source s;
    *F = 0.0;
    h->weight = 0.0;
    h->fit->sequences = h->fit->tokens = h->fit->left_out = 0;
    trl_status st = trl_tagger_set_temperature(h->tagger, 1.0 / b, err);
    if (st != TRL_OK)
        return st;
    const trl_format format = h->data->format ? h->data->format : trl_model_get_info(h->m).format;
    st = h->data->set ? trl_sequence_source_open(&s, h->data->set, "the held-out data", err)
                      : trl_sequence_source_file(&s, h->data->path, format, err);
    if (st != TRL_OK)
        return st;
    for (bool more = true; st == TRL_OK && more;) {
        trl_rows r;
        trl_items x;
        double weight = 1.0;
        st = rows ? trl_sequence_source_rows(&s, &r, &weight, &more, err)
                  : trl_sequence_source_items(&s, &x, &more, err);
        if (st == TRL_OK && more)
            st = rows ? add_rows(h, &r, weight, F, err) : add_items(h, &x, F, err);
    }
    trl_sequence_source_fini(&s);
    if (st == TRL_OK && !isfinite(*F))
        st = trl_fail(err, TRL_ENUMERIC, "the likelihood of the held-out data is not finite");
    return st;
}

/* ---- the minimum ----------------------------------------------------------------------------- */

#define FARTHEST 16.0           /* of log b: exp(16) is 9e6 */
#define STEP 1.3862943611198906 /* log 4 */
#define GOLDEN 0.3819660112501051
#define TOLERANCE 1e-5
#define NOTHING 1e-12 /* of a token: all is right, and sure to be */

typedef struct point {
    double x, F; /* x = log b */
} point;

static trl_status at(held_out *h, double x, point *p, trl_error *err)
{
    *p = (point){.x = x};
    return evaluate(h, exp(x), &p->F, err);
}

static trl_status no_minimum(bool sharper, trl_error *err)
{
    const trl_status st = trl_fail(err, TRL_EINVAL,
                                   sharper ? "every label of the held-out data is right: the "
                                             "sharper the probabilities the better"
                                           : "the model knows nothing of the held-out data: the "
                                             "flatter the probabilities the better");
    return trl_fail_hint(err, st,
                         sharper ? "a temperature is fitted on data that the model was not trained "
                                   "on, and enough of them for some errors"
                                 : "are they of the same kind, with the same labels?");
}

/* Three points with the least F in the middle; from[1] is given. */
static trl_status bracket(held_out *h, point *p, trl_error *err)
{
    trl_status st = at(h, -STEP, &p[0], err);
    if (st == TRL_OK)
        st = at(h, STEP, &p[2], err);
    while (st == TRL_OK && p[0].F < p[1].F) {
        if (p[0].x < -FARTHEST)
            return no_minimum(false, err);
        p[2] = p[1];
        p[1] = p[0];
        st = at(h, p[1].x - STEP, &p[0], err);
    }
    while (st == TRL_OK && p[2].F < p[1].F) {
        if (p[2].x > FARTHEST)
            return no_minimum(true, err);
        p[0] = p[1];
        p[1] = p[2];
        st = at(h, p[1].x + STEP, &p[2], err);
    }
    return st;
}

/* The vertex of the parabola through three points; NaN where there is none. */
static double vertex(point a, point b, point c)
{
    const double ab = (b.x - a.x) * (b.F - c.F), cb = (b.x - c.x) * (b.F - a.F);
    return b.x - 0.5 * ((b.x - a.x) * ab - (b.x - c.x) * cb) / (ab - cb);
}

/* Where to look next inside the bracket: the vertex, if it is in there and the bracket has been
 * getting small, else the golden section of the larger part. */
static double next_place(const point *p, bool slow)
{
    const double left = p[1].x - p[0].x, right = p[2].x - p[1].x;
    double x = vertex(p[0], p[1], p[2]);
    if (slow || !(x > p[0].x && x < p[2].x))
        x = left > right ? p[1].x - GOLDEN * left : p[1].x + GOLDEN * right;
    if (fabs(x - p[1].x) < TOLERANCE) /* not the same place again */
        x = p[1].x + (left > right ? -TOLERANCE : TOLERANCE);
    return x;
}

static trl_status minimise(held_out *h, point *p, trl_error *err)
{
    trl_status st = TRL_OK;
    double width = p[2].x - p[0].x;
    bool slow = false;
    for (int k = 0; st == TRL_OK && k < 60 && p[2].x - p[0].x > 4.0 * TOLERANCE; k++) {
        point q;
        st = at(h, next_place(p, slow), &q, err);
        if (st != TRL_OK)
            break;
        const bool left = q.x < p[1].x;
        if (q.F <= p[1].F) {
            p[left ? 2 : 0] = p[1];
            p[1] = q;
        } else {
            p[left ? 0 : 2] = q;
        }
        slow = p[2].x - p[0].x > 0.5 * width;
        width = p[2].x - p[0].x;
    }
    return st;
}

trl_status trl_temperature_find(const trl_model *m, const trl_held_out *data,
                                trl_temperature_fit *out, trl_error *err)
{
    if (!m || !data || !out || (!data->path && !data->set))
        return trl_fail_null(err);
    if (!data->set && strcmp(data->path, "-") == 0)
        return trl_fail(err, TRL_EINVAL,
                        "held-out data are read more than once: give a file, not standard input");
    if (!data->set && data->format == TRL_FORMAT_GRMM)
        return trl_fail(err, TRL_EINVAL, "GRMM's data are for graphs, not for chains");
    *out = (trl_temperature_fit){0};
    held_out h = {.m = m, .data = data, .fit = out};
    point p[3] = {{0}};
    trl_status st = trl_tagger_new(m, &h.tagger, err);
    if (st == TRL_OK)
        st = at(&h, 0.0, &p[1], err);
    if (st == TRL_OK && !out->sequences)
        st = trl_fail(err, TRL_EINVAL,
                      out->left_out ? "%s: no sequence has only labels that the model knows"
                                    : "%s: no sequences",
                      data->set ? "the held-out data" : data->path);
    const double one = p[1].F;
    if (st == TRL_OK)
        st = bracket(&h, p, err);
    if (st == TRL_OK && p[1].F <= NOTHING * h.weight)
        st = no_minimum(true, err);
    if (st == TRL_OK)
        st = minimise(&h, p, err);
    if (st == TRL_OK) {
        out->temperature = exp(-p[1].x);
        out->before = -one / (h.weight > 0.0 ? h.weight : 1.0);
        out->after = -p[1].F / (h.weight > 0.0 ? h.weight : 1.0);
    }
    trl_tagger_free(h.tagger);
    trl_free(h.gold);
    return st;
}
