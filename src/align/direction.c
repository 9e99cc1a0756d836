/* direction.c -- a direction in memory and in a container.
 *
 * Sections, each with the letter of the direction first:
 *
 *     fend    u64[source words] ends of rows      ftarget u32 target words, ascending in a row
 *     ft      f32 t                               fjump   f64[TRL_JUMPS]
 *     fplace  f64, fplaceat u32: IBM 2            fkind   u64 model; f64 null
 */
/* SPDX-License-Identifier: MIT */
#include "align/direction.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

enum { LENGTHS = (TRL_ALIGN_LEARNT + 1) * (TRL_ALIGN_LEARNT + 1) };

void trl_direction_fini(trl_direction *d)
{
    trl_free(d->own_end);
    trl_free(d->own_target);
    trl_free(d->own_t);
    trl_free(d->places.place_at);
    trl_free(d->places.place);
    trl_free(d->places.jump);
    *d = (trl_direction){0};
}

float trl_direction_t(const trl_direction *d, uint32_t e, uint32_t f)
{
    if (e >= d->n_source)
        return TRL_ALIGN_FLOOR;
    uint64_t low = e ? d->row_end[e - 1] : 0, high = d->row_end[e];
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        if (d->target[mid] < f)
            low = mid + 1;
        else
            high = mid;
    }
    return low < d->row_end[e] && d->target[low] == f ? d->t[low] : TRL_ALIGN_FLOOR;
}

typedef struct model_section {
    uint64_t model;
    double null;
} model_section;

static void name(char *out, char tag, const char *rest)
{
    out[0] = tag;
    memcpy(out + 1, rest, strlen(rest) + 1);
}

trl_status trl_direction_save(const trl_direction *d, char tag, trl_container_builder *b,
                              trl_error *err)
{
    char s[8];
    const size_t n = d->n_source ? d->row_end[d->n_source - 1] : 0;
    model_section *k = trl_alloc(1, sizeof *k);
    if (!k)
        return trl_fail_mem(err);
    *k = (model_section){(uint64_t)d->places.model, d->places.null};
    name(s, tag, "kind");
    trl_container_builder_give(b, s, k, sizeof *k);
    name(s, tag, "end");
    trl_container_builder_add(b, s, d->row_end, d->n_source * sizeof *d->row_end);
    name(s, tag, "target");
    trl_container_builder_add(b, s, d->target, n * sizeof *d->target);
    name(s, tag, "t");
    trl_container_builder_add(b, s, d->t, n * sizeof *d->t);
    name(s, tag, "jump");
    trl_container_builder_add(b, s, d->places.jump, TRL_JUMPS * sizeof *d->places.jump);
    name(s, tag, "place");
    trl_container_builder_add(b, s, d->places.place, d->places.n_places * sizeof *d->places.place);
    name(s, tag, "pat");
    trl_container_builder_add(b, s, d->places.place_at, LENGTHS * sizeof *d->places.place_at);
    return TRL_OK;
}

/* A section of an array: the first letter and the rest of its name, bytes an item. */
typedef struct section {
    char tag;
    const char *rest;
    size_t width;
} section;

/* ---- loading -------------------------------------------------------------------------------- */

static trl_status find(const trl_container *c, const section *q, const void **items, size_t *n,
                       trl_error *err)
{
    char s[8];
    name(s, q->tag, q->rest);
    return trl_container_array(c, s, q->width, items, n, err);
}

static bool positive(const double *x, size_t n, bool zero)
{
    for (size_t k = 0; k < n; k++)
        if (!(zero ? x[k] >= 0.0 : x[k] > 0.0) || !isfinite(x[k]))
            return false;
    return true;
}

static bool sound_rows(const trl_direction *d, size_t n, size_t n_target)
{
    uint64_t at = 0;
    for (size_t e = 0; e < d->n_source; e++) {
        if (d->row_end[e] < at || d->row_end[e] > n)
            return false;
        for (const uint64_t first = at; at < d->row_end[e]; at++)
            if (d->target[at] >= n_target || (at > first && d->target[at] <= d->target[at - 1]) ||
                !(d->t[at] > 0.0f && d->t[at] <= 1.0f))
                return false;
    }
    return at == n;
}

static bool sound_places(const trl_places *p)
{
    for (size_t l = 0; l <= TRL_ALIGN_LEARNT; l++)
        for (size_t m = 0; m <= TRL_ALIGN_LEARNT; m++) {
            const uint32_t at = p->place_at[l * (TRL_ALIGN_LEARNT + 1) + m];
            if (at != UINT32_MAX && (at > p->n_places || (l + 1) * m > p->n_places - at))
                return false;
        }
    return positive(p->place, p->n_places, true) && positive(p->jump, TRL_JUMPS, false) &&
           p->null > 0.0 && p->null < 1.0;
}

static void *copy(const void *from, size_t bytes)
{
    void *p = trl_alloc(bytes + 1, 1);
    if (p && bytes)
        memcpy(p, from, bytes);
    return p;
}

trl_status trl_direction_load(trl_direction *d, char tag, const trl_container *c, size_t n_source,
                              size_t n_target, trl_error *err)
{
    const void *end, *target, *t, *jump, *place, *at, *model;
    size_t n_end, n_words, n_t, n_jump, n_place, n_at, n_model;
    trl_status st = find(c, &(section){tag, "end", 8}, &end, &n_end, err);
    if (st == TRL_OK)
        st = find(c, &(section){tag, "target", 4}, &target, &n_words, err);
    if (st == TRL_OK)
        st = find(c, &(section){tag, "t", 4}, &t, &n_t, err);
    if (st == TRL_OK)
        st = find(c, &(section){tag, "jump", 8}, &jump, &n_jump, err);
    if (st == TRL_OK)
        st = find(c, &(section){tag, "place", 8}, &place, &n_place, err);
    if (st == TRL_OK)
        st = find(c, &(section){tag, "pat", 4}, &at, &n_at, err);
    if (st == TRL_OK)
        st = find(c, &(section){tag, "kind", sizeof(model_section)}, &model, &n_model, err);
    if (st != TRL_OK)
        return st;
    if (n_end != n_source || n_t != n_words || n_jump != TRL_JUMPS || n_at != LENGTHS ||
        n_model != 1)
        return trl_container_damaged(c, err, "sections of an aligner are of the wrong length");
    const model_section *k = model;
    d->n_source = n_end;
    d->row_end = end;
    d->target = target;
    d->t = t;
    d->places = (trl_places){
        .model = (trl_align_model)(k->model % 3), .null = k->null, .n_places = n_place};
    d->places.jump = copy(jump, n_jump * 8);
    d->places.place = copy(place, n_place * 8);
    d->places.place_at = copy(at, n_at * 4);
    if (!d->places.jump || !d->places.place || !d->places.place_at)
        return trl_fail_mem(err);
    if (k->model > TRL_ALIGN_HMM || !sound_rows(d, n_words, n_target) || !sound_places(&d->places))
        return trl_container_damaged(c, err, "a direction of the aligner is not sound");
    return TRL_OK;
}
