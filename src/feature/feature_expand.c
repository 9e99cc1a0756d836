/* feature_expand.c -- properties of a sequence, and attributes made of them. */
/* SPDX-License-Identifier: MIT */
#include "feature/feature_expand.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "text/number.h"
#include "text/word_forms.h"

/* The values of a property at the tokens of the sequence, in the arena. */
typedef struct column {
    trl_str *one;   /* [n_tokens]; p is NULL where there is none */
    size_t *count;  /* [n_tokens] of many */
    trl_str **many; /* [n_tokens] */
    double *dense;  /* [n_tokens][width] */
    bool *there;    /* [n_tokens] of dense */
} column;

struct trl_feature_expander {
    const trl_feature_list *list;
    trl_property_work work;
    column *column; /* [n_properties] */
    const trl_rows *seq;
    trl_buf name; /* being assembled */
};

void trl_names_clear(trl_names *x)
{
    x->text.len = 0;
    x->n = 0;
}

void trl_names_fini(trl_names *x)
{
    trl_buf_fini(&x->text);
    trl_free(x->name);
    *x = (trl_names){0};
}

trl_status trl_feature_expander_new(const trl_feature_list *l, trl_feature_expander **out,
                                    trl_error *err)
{
    trl_feature_expander *x = trl_zalloc(1, sizeof *x);
    if (!x)
        return trl_fail_mem(err);
    x->list = l;
    x->column = trl_zalloc(l->n_properties + 1, sizeof *x->column);
    x->work.scratch = trl_alloc(l->n_scratch + 1, sizeof *x->work.scratch);
    if (!x->column || !x->work.scratch) {
        trl_feature_expander_free(x);
        return trl_fail_mem(err);
    }
    *out = x;
    return TRL_OK;
}

void trl_feature_expander_free(trl_feature_expander *x)
{
    if (!x)
        return;
    trl_arena_fini(&x->work.arena);
    trl_free(x->work.scratch);
    trl_buf_fini(&x->work.key);
    trl_buf_fini(&x->name);
    trl_free(x->column);
    trl_free(x);
}

/* ---- properties ------------------------------------------------------------------------------ */

static bool fill_one(trl_feature_expander *x, const trl_property *p, column *c)
{
    const size_t n = x->seq->n_tokens;
    const trl_str *of = p->of == TRL_NO_PROPERTY ? NULL : x->column[p->of].one;
    c->one = trl_arena_get(&x->work.arena, n, sizeof *c->one);
    if (!c->one)
        return false;
    for (size_t t = 0; t < n; t++) {
        if (p->fn == TRL_FN_COLUMN) {
            const trl_str s = x->seq->cell[t * x->seq->n_columns + p->arg];
            c->one[t] = s.p ? s : (trl_str){"", 0};
        } else if (p->fn == TRL_FN_FIRST || p->fn == TRL_FN_LAST) {
            c->one[t] = (trl_str){t == (p->fn == TRL_FN_FIRST ? 0 : n - 1) ? "" : NULL, 0};
        } else {
            c->one[t] = (trl_str){0};
            if (of[t].p && !trl_property_one(x->list, p, of[t], &x->work, &c->one[t]))
                return false;
        }
    }
    return true;
}

/* A phrase's place is added to the token's list unless it is there. */
typedef struct sink_state {
    column *c;
    trl_arena *arena;
} sink_state;

static bool add_value(void *ctx, size_t t, trl_str value)
{
    sink_state *s = ctx;
    column *c = s->c;
    const size_t n = c->count[t];
    for (size_t i = 0; i < n; i++)
        if (c->many[t][i].n == value.n && memcmp(c->many[t][i].p, value.p, value.n) == 0)
            return true;
    if ((n & (n - 1)) == 0) { /* 0, 1, 2, 4, ...: full */
        trl_str *more = trl_arena_get(s->arena, n ? 2 * n : 1, sizeof *more);
        if (!more)
            return false;
        if (n)
            memcpy(more, c->many[t], n * sizeof *more);
        c->many[t] = more;
    }
    c->many[t][c->count[t]++] = value;
    return true;
}

static bool fill_many(trl_feature_expander *x, const trl_property *p, column *c)
{
    const size_t n = x->seq->n_tokens;
    const trl_str *of = x->column[p->of].one;
    c->count = trl_arena_get(&x->work.arena, n, sizeof *c->count);
    c->many = trl_arena_get(&x->work.arena, n, sizeof *c->many);
    if (!c->count || !c->many)
        return false;
    memset(c->count, 0, n * sizeof *c->count);
    if (p->fn == TRL_FN_LIST)
        return trl_gazetteer_find(&x->list->list[p->list], of, n, &x->work,
                                  &(trl_phrase_sink){add_value, &(sink_state){c, &x->work.arena}});
    for (size_t t = 0; t < n; t++)
        if (of[t].p && !trl_property_ngrams(p, of[t], &x->work, &c->many[t], &c->count[t]))
            return false;
    return true;
}

/* ---- real values ----------------------------------------------------------------------------- */

static trl_status fail_cell(const trl_rows *seq, size_t t, size_t col, trl_error *err)
{
    return trl_fail_where(err, TRL_EPARSE, seq->path, seq->first_row ? seq->first_row + t : 0,
                          seq->first_row ? trl_rows_col(seq, t, col) : 0);
}

/* Numbers separated by commas; *n is how many.  `to` (NULL: only count) has room for all. */
static bool read_cell(trl_str s, double *to, size_t *n)
{
    *n = 0;
    for (size_t at = 0; at <= s.n;) {
        const char *comma = memchr(s.p + at, ',', s.n - at);
        const size_t len = comma ? (size_t)(comma - s.p) - at : s.n - at;
        double v;
        if (trl_number_parse(s.p + at, len, &v) != TRL_NUMBER_OK)
            return false;
        if (to)
            to[*n] = v;
        ++*n;
        at += len + 1;
    }
    return true;
}

static bool is_missing(trl_str s)
{
    return s.n == 0 || (s.n == 1 && *s.p == '_');
}

/* The width that the data have: the first cell's. */
static size_t width_of_column(const trl_feature_expander *x, const trl_property *p)
{
    const trl_str *of = x->column[p->of].one;
    size_t n = 0;
    for (size_t t = 0; t < x->seq->n_tokens && n == 0; t++)
        if (!is_missing(of[t]) && !read_cell(of[t], NULL, &n))
            n = 1; /* an error, said later */
    return n;
}

static trl_status fill_values(trl_feature_expander *x, const trl_property *p, size_t width,
                              column *c, trl_error *err)
{
    const trl_str *of = x->column[p->of].one;
    trl_status st = TRL_OK;
    for (size_t t = 0; st == TRL_OK && t < x->seq->n_tokens; t++) {
        size_t n;
        c->there[t] = !is_missing(of[t]);
        if (!c->there[t])
            continue;
        if (!read_cell(of[t], NULL, &n)) {
            st = trl_fail(err, TRL_EPARSE, "'%.*s' is not a number, nor several with commas",
                          (int)(of[t].n < 40 ? of[t].n : 40), of[t].p);
            trl_fail_hint(err, st, "'values' of column %zu are asked for; '_' is no value",
                          p->column);
        } else if (n != width) {
            st = trl_fail(err, TRL_EPARSE, "%zu numbers where the data before have %zu", n, width);
        } else {
            read_cell(of[t], c->dense + t * width, &n);
        }
        if (st != TRL_OK)
            fail_cell(x->seq, t, p->column, err);
    }
    return st;
}

static bool fill_vectors(trl_feature_expander *x, const trl_property *p, column *c)
{
    const trl_named_list *list = &x->list->list[p->list];
    const size_t width = list->view.width;
    for (size_t t = 0; t < x->seq->n_tokens; t++) {
        trl_str s = x->column[p->of].one[t];
        c->there[t] = false;
        if (!s.p || !list->view.key.n)
            continue;
        if (list->folded && !trl_word_lower(s, &x->work.arena, &s))
            return false;
        const uint32_t k = trl_strview_find(&list->view.key, s.p, s.n, trl_str_hash(s.p, s.n));
        if (k == TRL_NO_ID)
            continue;
        c->there[t] = true;
        for (size_t d = 0; d < width; d++)
            c->dense[t * width + d] = (double)list->view.vector[(size_t)k * width + d];
    }
    return true;
}

/* `learning`: the numbers as they are, and a width that is not known is found. */
static trl_status fill_dense(trl_feature_expander *x, size_t k, trl_scale *learning, trl_error *err)
{
    const trl_property *p = &x->list->property[k];
    const trl_scale *scale = learning ? learning : &x->list->scale[k];
    column *c = &x->column[k];
    const size_t n = x->seq->n_tokens;
    const bool vectors = p->fn == TRL_FN_LIST;
    const size_t width = scale->width ? scale->width
                         : vectors    ? x->list->list[p->list].view.width
                                      : width_of_column(x, p);
    if (learning && width && !learning->width && !trl_scale_init(learning, width))
        return trl_fail_mem(err);
    c->there = trl_arena_get(&x->work.arena, n, sizeof *c->there);
    c->dense = trl_arena_get(&x->work.arena, (uint64_t)n * (width + 1), sizeof *c->dense);
    if (!c->there || !c->dense)
        return trl_fail_mem(err);
    trl_status st = TRL_OK;
    if (!vectors)
        st = fill_values(x, p, width, c, err);
    else if (!fill_vectors(x, p, c))
        st = trl_fail_mem(err);
    for (size_t t = 0; st == TRL_OK && !learning && t < n; t++) {
        c->there[t] = c->there[t] && scale->width;
        for (size_t d = 0; c->there[t] && d < width; d++) {
            double *v = &c->dense[t * width + d];
            *v = (*v - scale->mean[d]) * scale->factor[d];
        }
    }
    return st;
}

static trl_status fill(trl_feature_expander *x, const trl_rows *seq, trl_scale *learning,
                       trl_error *err)
{
    trl_arena_reset(&x->work.arena);
    x->seq = seq;
    for (size_t k = 0; k < x->list->n_properties; k++) {
        const trl_property *p = &x->list->property[k];
        trl_status st = TRL_OK;
        if (p->dense)
            st = fill_dense(x, k, learning ? &learning[k] : NULL, err);
        else if (!(p->many ? fill_many(x, p, &x->column[k]) : fill_one(x, p, &x->column[k])))
            st = trl_fail_mem(err);
        if (st != TRL_OK)
            return st;
    }
    return TRL_OK;
}

trl_status trl_feature_expander_set(trl_feature_expander *x, const trl_rows *seq, trl_error *err)
{
    return fill(x, seq, NULL, err);
}

trl_status trl_feature_learn(trl_feature_list *l, trl_feature_expander *x, const trl_rows *seq,
                             trl_error *err)
{
    const trl_status st = fill(x, seq, l->scale, err);
    for (size_t k = 0; st == TRL_OK && k < l->n_properties; k++) {
        trl_scale *s = &l->scale[k];
        for (size_t t = 0; l->property[k].dense && t < seq->n_tokens; t++) {
            if (!x->column[k].there[t])
                continue;
            s->n++;
            for (size_t d = 0; d < s->width; d++) { /* Welford's sums */
                const double v = x->column[k].dense[t * s->width + d], off = v - s->mean[d];
                s->mean[d] += off / (double)s->n;
                s->factor[d] += off * (v - s->mean[d]);
            }
        }
    }
    return st;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* A call of memcpy costs more than most of these: by overlapping words. */
static inline void copy_short(char *to, const char *p, size_t n)
{
    if (n > 16) {
        memcpy(to, p, n);
    } else if (n >= 8) {
        uint64_t head, tail;
        memcpy(&head, p, 8);
        memcpy(&tail, p + n - 8, 8);
        memcpy(to, &head, 8);
        memcpy(to + n - 8, &tail, 8);
    } else if (n >= 4) {
        uint32_t head, tail;
        memcpy(&head, p, 4);
        memcpy(&tail, p + n - 4, 4);
        memcpy(to, &head, 4);
        memcpy(to + n - 4, &tail, 4);
    } else if (n) {
        to[0] = p[0];
        to[n / 2] = p[n / 2];
        to[n - 1] = p[n - 1];
    }
}

static bool make_room(trl_buf *b, size_t n)
{
    char *data = n < SIZE_MAX - b->len ? trl_reserve(b->data, &b->cap, b->len + n + 1, 1) : NULL;
    b->failed |= !data;
    b->data = data ? data : b->data;
    return data != NULL;
}

static inline bool append(trl_buf *b, const char *p, size_t n)
{
    if (n >= b->cap - b->len && !make_room(b, n))
        return false;
    copy_short(b->data + b->len, p, n);
    b->len += n;
    return true;
}

/* One more attribute, whose name is in the text. */
static inline bool add_name(trl_names *out, size_t at, size_t n, double value)
{
    if (out->n == out->cap) {
        trl_named *all = trl_reserve(out->name, &out->cap, out->n + 1, sizeof *all);
        if (!all)
            return false;
        out->name = all;
    }
    out->name[out->n++] = (trl_named){at, n, value};
    return true;
}

static bool end_name(trl_names *out, trl_str name, double value)
{
    const size_t at = out->text.len;
    return append(&out->text, name.p, name.n) && add_name(out, at, name.n, value);
}

typedef struct making {
    trl_feature_expander *x;
    const trl_feature *f;
    size_t pos;
    trl_names *out;
} making;

static bool put_from(const making *m, size_t i, double value);

/* The value s of term i, then the terms after it. */
static bool put_value(const making *m, size_t i, trl_str s, double value)
{
    trl_buf *b = &m->x->name;
    const size_t len = b->len;
    const bool good = append(b, s.p, s.n) && put_from(m, i + 1, value);
    b->len = len;
    return good;
}

static trl_str number_text(size_t v, char scratch[24])
{
    char *p = scratch + 24;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    return (trl_str){p, (size_t)(scratch + 24 - p)};
}

/* What stands for a token outside of the sequence, at 1, 2, ... before or after it. */
static bool put_outside(const making *m, size_t i, int64_t at, double value)
{
    const int64_t n = (int64_t)m->x->seq->n_tokens;
    char scratch[24], text[32];
    const trl_str v = number_text((size_t)(at < 0 ? -at : at - n + 1), scratch);
    text[0] = '<';
    text[1] = at < 0 ? '-' : '+';
    memcpy(text + 2, v.p, v.n);
    text[2 + v.n] = '>';
    return put_value(m, i, (trl_str){text, v.n + 3}, value);
}

static bool put_inside(const making *m, size_t i, const trl_property *p, size_t t, double value)
{
    const column *c = &m->x->column[m->x->list->term[m->f->first + i].property];
    bool good = true;
    if (p->dense) {
        const size_t width = m->x->list->scale[p - m->x->list->property].width;
        char scratch[24];
        for (size_t d = 0; good && c->there[t] && d < width; d++) {
            const double v = c->dense[t * width + d];
            if (v != 0.0)
                good = put_value(m, i, number_text(d, scratch), value * v);
        }
    } else if (p->many) {
        for (size_t k = 0; good && k < c->count[t]; k++)
            good = put_value(m, i, c->many[t][k], value);
    } else if (c->one[t].p) {
        good = put_value(m, i, c->one[t], value);
    }
    return good;
}

/* Terms i, i + 1, ...: the name so far is in x->name. */
static bool put_from(const making *m, size_t i, double value)
{
    trl_buf *b = &m->x->name;
    if (i == m->f->n)
        return end_name(m->out, (trl_str){b->data, b->len}, value);
    const trl_feature_list *l = m->x->list;
    const trl_feature_term *term = &l->term[m->f->first + i];
    const trl_property *p = &l->property[term->property];
    const int64_t at = (int64_t)m->pos + term->offset;
    const bool inside = at >= 0 && at < (int64_t)m->x->seq->n_tokens;
    if (!inside && !p->padded)
        return true;
    const size_t len = b->len;
    if (!append(b, l->text.data + term->text, term->text_len))
        return false;
    const bool good =
        inside ? put_inside(m, i, p, (size_t)at, value) : put_outside(m, i, at, value);
    b->len = len;
    return good;
}

/* A feature all of whose terms have one value, or none: its name is put together in its place.
 * *whole: it is of this kind. */
static bool put_single(const making *m, bool *whole)
{
    const trl_feature_list *l = m->x->list;
    trl_buf *b = &m->out->text;
    const size_t from = b->len;
    *whole = true;
    for (size_t i = 0; i < m->f->n; i++) {
        const trl_feature_term *term = &l->term[m->f->first + i];
        const trl_property *p = &l->property[term->property];
        const int64_t at = (int64_t)m->pos + term->offset;
        const bool inside = at >= 0 && at < (int64_t)m->x->seq->n_tokens;
        if (p->many || p->dense || (!inside && p->padded)) {
            b->len = from;
            *whole = false;
            return true;
        }
        const trl_str s = inside ? m->x->column[term->property].one[at] : (trl_str){0};
        if (!s.p) {
            b->len = from;
            return true;
        }
        if (!append(b, l->text.data + term->text, term->text_len) || !append(b, s.p, s.n))
            return false;
    }
    return add_name(m->out, from, b->len - from, 1.0);
}

bool trl_feature_expander_put(trl_feature_expander *x, size_t k, size_t pos, trl_names *out)
{
    const trl_feature *f = &x->list->feature[k];
    const making m = {x, f, pos, out};
    x->name.len = 0;
    if (f->n == 0)
        return end_name(out, TRL_STR("label"), 1.0);
    bool whole;
    return put_single(&m, &whole) && (whole || put_from(&m, 0, 1.0));
}
