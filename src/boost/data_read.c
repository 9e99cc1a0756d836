/* data_read.c -- trl_boost_read and the cache.
 *
 * A cache is a container of kind "boostdat":
 *
 *     rowend   u64[n]           id       u32[rowend[n-1]], ascending in every row
 *     class    u32[n]           value    f64[n]
 *     binary   u64              featpool, featend4, featslot   names of features, id = feature
 *     clas...  names of classes
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "boost/data.h"
#include "boost/model.h"
#include "model/strtab_io.h"

#define KIND "boostdat"
#define DEFAULT_MEMORY ((size_t)2 << 30)

trl_boost_read_options trl_boost_read_options_default(void)
{
    return (trl_boost_read_options){.memory = DEFAULT_MEMORY};
}

/* ---- text ------------------------------------------------------------------------------------ */

static trl_status start(trl_boost_text *t, trl_error *err)
{
    const trl_boost_read_options *o = t->o;
    if (o->like) {
        t->names = trl_strtab_view(&o->like->names);
        t->classes = trl_strtab_view(&o->like->classes);
    } else if (o->model) {
        t->names = o->model->names;
        t->classes = o->model->classes;
    }
    t->fixed = o->like || o->model;
    t->d = trl_zalloc(1, sizeof *t->d);
    if (!t->d)
        return trl_fail_mem(err);
    t->d->named = !t->fixed;
    t->d->model = o->model;
    t->d->like = o->like;
    t->d->binary = !o->classes;
    t->d->class_of = trl_alloc(1, sizeof *t->d->class_of);
    t->d->value = trl_alloc(1, sizeof *t->d->value);
    if (!t->d->class_of || !t->d->value)
        return trl_fail_mem(err);
    t->class_cap = t->value_cap = 1;
    return trl_store_new(o->memory, &t->raw.store, err);
}

static trl_status copy_classes(trl_boost_text *t, trl_error *err)
{
    for (uint32_t k = 0; t->fixed && k < t->classes.n; k++) {
        const trl_str s = trl_strview_get(&t->classes, k);
        if (trl_strtab_add(&t->d->classes, s.p, s.n) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

static trl_status finish(trl_boost_text *t, const char *path, trl_error *err)
{
    if (t->raw.n == 0)
        return trl_fail_where(err, trl_fail(err, TRL_EINVAL, "there is no example"), path, 0, 0);
    trl_status st = copy_classes(t, err);
    if (st != TRL_OK)
        return st;
    trl_free(t->seen); /* release what is not needed before the largest arrays are made */
    t->seen = NULL;
    const size_t F = t->fixed ? t->names.n : t->d->names.n;
    const trl_boost_rows rows = {
        .raw = &t->raw, .n = 1, .n_features = F, .renumber = !t->fixed, .memory = t->o->memory};
    return trl_boost_build(t->d, &rows, err);
}

/* ---- the cache ------------------------------------------------------------------------------- */

/* Whether the file starts like a container. */
static bool is_cache(const char *path)
{
    char head[8] = {0};
    struct stat s;
    if (strcmp(path, "-") == 0 || stat(path, &s) != 0 || !S_ISREG(s.st_mode))
        return false; /* the first bytes of a pipe can be read only once */
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    const size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    return n == sizeof head && memcmp(head, "TRELLIS\x1a", sizeof head) == 0;
}

trl_status trl_boost_data_save(const trl_boost_data *d, const char *path, trl_error *err)
{
    if (!d || !path)
        return trl_fail_null(err);
    if (!d->class_of || !d->named)
        return trl_fail(err, TRL_EINVAL, "only examples read from text for training can be cached");
    const uint64_t binary = d->binary, total = trl_boost_active(d);
    trl_container_builder b = {0};
    trl_container_builder_add(&b, "rowend", d->row_end, d->n * sizeof *d->row_end);
    trl_container_builder_add(&b, "id", d->id, total * sizeof *d->id);
    trl_container_builder_add(&b, "class", d->class_of, d->n * sizeof *d->class_of);
    trl_container_builder_add(&b, "value", d->value, d->n * sizeof *d->value);
    trl_container_builder_add(&b, "binary", &binary, sizeof binary);
    trl_status st = trl_strtab_save(&d->names, "feat", &b, err);
    if (st == TRL_OK)
        st = trl_strtab_save(&d->classes, "clas", &b, err);
    if (st == TRL_OK)
        st = trl_container_write(&b, KIND, path, err);
    trl_container_builder_fini(&b);
    return st;
}

static trl_status copy_names(const trl_container *c, const char *prefix, trl_strtab *t,
                             trl_error *err)
{
    trl_strview v;
    const trl_status st = trl_strview_load(c, prefix, &v, err);
    if (st != TRL_OK)
        return st;
    for (uint32_t k = 0; k < v.n; k++) {
        const trl_str s = trl_strview_get(&v, k);
        const uint32_t id = trl_strtab_add(t, s.p, s.n);
        if (id == TRL_NO_ID)
            return trl_fail_mem(err);
        if (id != k)
            return trl_container_damaged(c, err, "a name is there twice");
    }
    return TRL_OK;
}

static trl_status check_rows(const trl_container *c, const trl_boost_data *d, uint64_t total,
                             trl_error *err)
{
    uint64_t at = 0;
    for (size_t i = 0; i < d->n; i++) {
        if (d->row_end[i] < at || d->row_end[i] > total)
            return trl_container_damaged(c, err, "the ends of rows are out of order");
        for (const uint64_t first = at; at < d->row_end[i]; at++)
            if (d->id[at] >= d->n_features || (at > first && d->id[at] <= d->id[at - 1]))
                return trl_container_damaged(c, err, "the features of a row are out of order");
        if (!(d->value[i] >= 0.0 && isfinite(d->value[i])))
            return trl_container_damaged(c, err, "a value is negative or not finite");
        if (d->class_of[i] != TRL_NO_ID && d->class_of[i] >= (d->binary ? 2 : d->classes.n))
            return trl_container_damaged(c, err, "a class is out of range");
    }
    return at == total ? TRL_OK : trl_container_damaged(c, err, "rows and features do not match");
}

static trl_status load(trl_boost_data *d, const trl_container *c, trl_error *err)
{
    const void *rows, *ids, *classes, *values, *binary;
    size_t n_classes, n_values, n_ids, n_binary;
    trl_status st = trl_container_array(c, "rowend", 8, &rows, &d->n, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "id", 4, &ids, &n_ids, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "class", 4, &classes, &n_classes, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "value", 8, &values, &n_values, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "binary", 8, &binary, &n_binary, err);
    if (st == TRL_OK)
        st = copy_names(c, "feat", &d->names, err);
    if (st == TRL_OK)
        st = copy_names(c, "clas", &d->classes, err);
    if (st != TRL_OK)
        return st;
    if (d->n == 0 || d->n >= UINT32_MAX || n_classes != d->n || n_values != d->n || n_binary != 1 ||
        d->names.n >= TRL_BOOST_MAX_FEATURES)
        return trl_container_damaged(c, err, "sections of different length");
    d->named = true;
    d->binary = *(const uint64_t *)binary != 0;
    d->n_features = d->names.n;
    d->row_end = rows;
    d->id = ids;
    d->class_of = trl_alloc(d->n, sizeof *d->class_of);
    d->value = trl_alloc(d->n, sizeof *d->value);
    if (!d->class_of || !d->value)
        return trl_fail_mem(err);
    memcpy(d->class_of, classes, d->n * sizeof *d->class_of);
    memcpy(d->value, values, d->n * sizeof *d->value);
    return check_rows(c, d, n_ids, err);
}

/* Answers must be of the kind that is asked for. */
static trl_status check_answers(const trl_boost_data *d, const char *path,
                                const trl_boost_read_options *o, trl_error *err)
{
    if (d->binary != o->classes || o->unanswered)
        return TRL_OK;
    trl_fail(err, TRL_EINVAL,
             d->binary ? "the cache holds answers +1 and -1, not classes"
                       : "the cache holds classes");
    trl_fail_where(err, TRL_EINVAL, path, 0, 0);
    return trl_fail_hint(err, TRL_EINVAL, d->binary ? "leave 'classes' out" : "add 'classes'");
}

/* Rows alone, without columns. */
static trl_status open_cache(const char *path, const trl_boost_read_options *o,
                             trl_boost_data **out, trl_error *err)
{
    trl_boost_data *d = trl_zalloc(1, sizeof *d);
    if (!d)
        return trl_fail_mem(err);
    trl_status st = trl_container_open(path, KIND, &d->cache, err);
    if (st == TRL_OK)
        st = trl_store_new(o->memory, &d->store, err);
    if (st == TRL_OK)
        st = load(d, d->cache, err);
    if (st == TRL_OK)
        st = check_answers(d, path, o, err);
    if (st != TRL_OK) {
        trl_boost_data_free(d);
        return st;
    }
    *out = d;
    return TRL_OK;
}

/* ---- a cache in other numbers ---------------------------------------------------------------- */

/* What a cache's features and classes are called where names are fixed. */
typedef struct renaming {
    const char *path;
    uint32_t *feature, *class; /* TRL_NO_ID: not among them */
} renaming;

static trl_status rename_all(const trl_strtab *from, const trl_strview *to, uint32_t **number,
                             trl_error *err)
{
    *number = trl_alloc(from->n + 1, sizeof **number);
    if (!*number)
        return trl_fail_mem(err);
    for (uint32_t k = 0; k < from->n; k++) {
        const trl_str s = trl_strtab_get(from, k);
        (*number)[k] = trl_strview_find(to, s.p, s.n, trl_str_hash(s.p, s.n));
    }
    return TRL_OK;
}

static trl_status class_of(const trl_boost_text *t, const trl_boost_data *c, const renaming *r,
                           size_t i, uint32_t *id, trl_error *err)
{
    *id = TRL_NO_ID;
    if (t->o->unanswered || c->class_of[i] == TRL_NO_ID)
        return TRL_OK;
    *id = c->binary ? c->class_of[i] : r->class[c->class_of[i]];
    if (*id != TRL_NO_ID)
        return TRL_OK;
    const trl_str s = trl_strtab_get(&c->classes, c->class_of[i]);
    trl_fail(err, TRL_EINVAL, "no training example is of class '%.*s'", s.n < 80 ? (int)s.n : 80,
             s.p);
    return trl_fail_where(err, TRL_EINVAL, r->path, 0, 0);
}

static trl_status copy_row(trl_boost_text *t, const trl_boost_data *c, const renaming *r, size_t i,
                           trl_error *err)
{
    uint32_t id;
    trl_status st = class_of(t, c, r, i, &id, err);
    if (st == TRL_OK && t->raw.n >= UINT32_MAX - 1)
        st = trl_fail(err, TRL_EINVAL, "more than 2^32 - 2 examples");
    if (st == TRL_OK)
        st = trl_boost_text_answer(t, id, c->value[i], err);
    for (uint64_t k = trl_boost_begin(c->row_end, i); st == TRL_OK && k < c->row_end[i]; k++) {
        const uint32_t a = r->feature[c->id[k]];
        if (a != TRL_NO_ID && !trl_boost_raw_id(&t->raw, a))
            st = trl_boost_no_room(t->raw.store, err);
    }
    if (st == TRL_OK && !trl_boost_raw_row(&t->raw))
        st = trl_fail_mem(err);
    return st;
}

static trl_status add_cache(trl_boost_text *t, const char *path, trl_error *err)
{
    trl_boost_data *c = NULL;
    renaming r = {.path = path};
    trl_status st = open_cache(path, t->o, &c, err);
    if (st == TRL_OK)
        st = rename_all(&c->names, &t->names, &r.feature, err);
    if (st == TRL_OK)
        st = rename_all(&c->classes, &t->classes, &r.class, err);
    for (size_t i = 0; st == TRL_OK && i < c->n; i++)
        st = copy_row(t, c, &r, i, err);
    trl_free(r.feature);
    trl_free(r.class);
    trl_boost_data_free(c);
    return st;
}

/* ---- text, and caches where names are fixed -------------------------------------------------- */

static trl_status add_text(trl_boost_text *t, const char *path, trl_error *err)
{
    trl_input *in = NULL;
    trl_status st = trl_input_open(path, &in, err);
    if (st == TRL_OK)
        st = trl_boost_text_read(t, in, err);
    trl_input_free(in);
    return st;
}

static bool may_be_cache(const trl_boost_read_options *o, const char *path)
{
    return o->format == TRL_BOOST_GUESS && is_cache(path);
}

static trl_status read_text(const char *const *path, size_t n_paths,
                            const trl_boost_read_options *o, trl_boost_data **out, trl_error *err)
{
    trl_boost_text t = {.o = o};
    trl_status st = start(&t, err);
    for (size_t k = 0; st == TRL_OK && k < n_paths; k++)
        st = t.fixed && may_be_cache(o, path[k]) ? add_cache(&t, path[k], err)
                                                 : add_text(&t, path[k], err);
    if (st == TRL_OK)
        st = finish(&t, strcmp(path[0], "-") == 0 ? "<stdin>" : path[0], err);
    trl_boost_text_fini(&t);
    if (st != TRL_OK) {
        trl_boost_data_free(t.d);
        return st;
    }
    *out = t.d;
    return TRL_OK;
}

/* ---- text or cache --------------------------------------------------------------------------- */

trl_status trl_boost_read(const char *const *path, size_t n_paths, const trl_boost_read_options *o,
                          trl_boost_data **out, trl_error *err)
{
    if (!path || !o || !out)
        return trl_fail_null(err);
    if (n_paths == 0)
        return trl_fail(err, TRL_EINVAL, "no file of examples");
    for (size_t k = 0; k < n_paths; k++)
        if (!path[k])
            return trl_fail(err, TRL_EINVAL, "the path of file %zu is NULL", k + 1);
    if (o->like || o->model || !may_be_cache(o, path[0]))
        return read_text(path, n_paths, o, out, err);
    if (n_paths > 1) {
        const trl_status st = trl_fail(err, TRL_EINVAL, "for training a cache is read alone");
        return trl_fail_where(err, st, path[0], 0, 0);
    }
    trl_boost_data *d = NULL;
    trl_status st = open_cache(path[0], o, &d, err);
    if (st == TRL_OK)
        st = trl_boost_build_columns(d, NULL, err);
    if (st != TRL_OK) {
        trl_boost_data_free(d);
        return st;
    }
    *out = d;
    return TRL_OK;
}
