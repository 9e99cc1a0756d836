/* model.c -- models in memory and in a container. */
/* SPDX-License-Identifier: MIT */
#include "boost/model.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/strtab_io.h"

#define KIND "boost"

/* ---- ensembles ------------------------------------------------------------------------------- */

bool trl_boost_ensemble_node(trl_boost_ensemble *e, trl_boost_node node)
{
    trl_boost_node *grown = trl_reserve(e->node, &e->node_cap, e->n_nodes + 1, sizeof *grown);
    if (!grown)
        return false;
    e->node = grown;
    e->node[e->n_nodes++] = node;
    return true;
}

bool trl_boost_ensemble_tree(trl_boost_ensemble *e)
{
    uint64_t *grown = trl_reserve(e->tree_end, &e->tree_cap, e->n_trees + 1, sizeof *grown);
    if (!grown)
        return false;
    e->tree_end = grown;
    e->tree_end[e->n_trees++] = e->n_nodes;
    return true;
}

void trl_boost_ensemble_fini(trl_boost_ensemble *e)
{
    trl_free(e->node);
    trl_free(e->tree_end);
    *e = (trl_boost_ensemble){0};
}

void trl_boost_part_fini(trl_boost_part *p)
{
    trl_free(p->name);
    trl_free(p->own_point);
    trl_boost_ensemble_fini(&p->own);
}

void trl_boost_model_free(trl_boost_model *m)
{
    if (!m)
        return;
    for (size_t k = 0; k < m->n; k++)
        trl_boost_part_fini(&m->part[k]);
    trl_free(m->part);
    trl_strtab_fini(&m->own_names);
    trl_strtab_fini(&m->own_classes);
    trl_container_free(m->file);
    trl_free(m);
}

/* ---- a trained model ------------------------------------------------------------------------- */

static trl_status name_features(trl_boost_model *m, const trl_boost_data *d, trl_boost_part *part,
                                size_t n, trl_error *err)
{
    uint32_t *number = trl_alloc(d->n_features + 1, sizeof *number);
    char scratch[24];
    if (!number)
        return trl_fail_mem(err);
    memset(number, 0xff, (d->n_features + 1) * sizeof *number); /* TRL_NO_ID */
    trl_status st = TRL_OK;
    for (size_t k = 0; k < n; k++)
        for (size_t x = 0; x < part[k].own.n_nodes; x++)
            if (part[k].own.node[x].feature != TRL_NO_ID)
                number[part[k].own.node[x].feature] = 0;
    for (uint32_t a = 0; st == TRL_OK && a < d->n_features; a++) { /* as there: by falling count */
        if (number[a] == TRL_NO_ID)
            continue;
        const trl_str s = trl_boost_feature_name(d, a, scratch);
        if ((number[a] = trl_strtab_add(&m->own_names, s.p, s.n)) == TRL_NO_ID)
            st = trl_fail_mem(err);
    }
    for (size_t k = 0; st == TRL_OK && k < n; k++) /* nothing fails from here on */
        for (size_t x = 0; x < part[k].own.n_nodes; x++)
            if (part[k].own.node[x].feature != TRL_NO_ID)
                part[k].own.node[x].feature = number[part[k].own.node[x].feature];
    trl_free(number);
    return st;
}

static trl_status name_classes(trl_boost_model *m, const trl_boost_data *d, trl_error *err)
{
    for (uint32_t k = 0; k < d->classes.n; k++) {
        const trl_str s = trl_strtab_get(&d->classes, k);
        if (trl_strtab_add(&m->own_classes, s.p, s.n) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

trl_status trl_boost_model_make(const trl_boost_data *d, trl_boost_part *part, size_t n,
                                trl_boost_model **out, trl_error *err)
{
    trl_boost_model *m = trl_zalloc(1, sizeof *m);
    trl_boost_part *own = trl_alloc(n, sizeof *own);
    trl_status st = m && own ? name_classes(m, d, err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = name_features(m, d, part, n, err);
    if (st != TRL_OK) {
        trl_free(own);
        trl_boost_model_free(m);
        return st;
    }
    memcpy(own, part, n * sizeof *own);
    memset(part, 0, n * sizeof *part);
    for (size_t k = 0; k < n; k++) {
        trl_boost_part *p = &own[k];
        p->node = p->own.node;
        p->tree_end = p->own.tree_end;
        p->point = p->own_point;
        p->n_trees = p->n_points ? p->point[p->best].trees : 0;
    }
    m->part = own;
    m->n = n;
    m->names = trl_strtab_view(&m->own_names);
    m->classes = trl_strtab_view(&m->own_classes);
    *out = m;
    return TRL_OK;
}

size_t trl_boost_model_classifiers(const trl_boost_model *m)
{
    return m ? m->n : 0;
}

trl_boost_classifier trl_boost_model_classifier(const trl_boost_model *m, size_t k)
{
    if (!m || k >= m->n)
        return (trl_boost_classifier){0};
    const trl_boost_part *p = &m->part[k];
    return (trl_boost_classifier){p->name, p->n_trees, p->point, p->n_points, p->best};
}

/* ---- saving ---------------------------------------------------------------------------------- */

enum { PART_TREES, PART_POINTS, PART_BEST, PART_NAME, PART_FIELDS };

static bool add_part(const trl_boost_part *p, trl_buf *nodes, trl_buf *ends, trl_buf *points,
                     trl_buf *names, trl_buf *parts)
{
    const uint64_t n_nodes = p->n_trees ? p->tree_end[p->n_trees - 1] : 0;
    const uint64_t field[PART_FIELDS] = {p->n_trees, p->n_points, p->best, strlen(p->name)};
    trl_buf_add(nodes, p->node, n_nodes * sizeof *p->node);
    trl_buf_add(ends, p->tree_end, p->n_trees * sizeof *p->tree_end);
    for (size_t k = 0; k < p->n_points; k++) { /* the same run gives the same file */
        trl_boost_point x = p->point[k];
        x.seconds = 0.0;
        trl_buf_add(points, &x, sizeof x);
    }
    trl_buf_str(names, p->name);
    trl_buf_add(parts, field, sizeof field);
    return !(nodes->failed || ends->failed || points->failed || names->failed || parts->failed);
}

/* A copy of a mapped table, which can be saved again. */
static trl_status copy_table(const trl_strview *v, trl_strtab *t, trl_error *err)
{
    for (uint32_t k = 0; k < v->n; k++) {
        const trl_str s = trl_strview_get(v, k);
        if (trl_strtab_add(t, s.p, s.n) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

/* Into the file, or, where path is NULL, into memory. */
static trl_status save(const trl_boost_model *m, const char *path, unsigned char **bytes, size_t *n,
                       trl_error *err)
{
    trl_buf nodes = {0}, ends = {0}, points = {0}, names = {0}, parts = {0};
    trl_strtab features = {0}, classes = {0};
    trl_container_builder b = {0};
    trl_status st = copy_table(&m->names, &features, err);
    if (st == TRL_OK)
        st = copy_table(&m->classes, &classes, err);
    for (size_t k = 0; st == TRL_OK && k < m->n; k++)
        if (!add_part(&m->part[k], &nodes, &ends, &points, &names, &parts))
            st = trl_fail_mem(err);
    trl_container_builder_add(&b, "nodes", nodes.data, nodes.len);
    trl_container_builder_add(&b, "treeend", ends.data, ends.len);
    trl_container_builder_add(&b, "points", points.data, points.len);
    trl_container_builder_add(&b, "partname", names.data, names.len);
    trl_container_builder_add(&b, "part", parts.data, parts.len);
    if (st == TRL_OK)
        st = trl_strtab_save(&features, "feat", &b, err);
    if (st == TRL_OK)
        st = trl_strtab_save(&classes, "clas", &b, err);
    if (st == TRL_OK)
        st = path ? trl_container_write(&b, KIND, path, err)
                  : trl_container_to_buffer(&b, KIND, bytes, n, err);
    trl_container_builder_fini(&b);
    trl_buf_fini(&nodes);
    trl_buf_fini(&ends);
    trl_buf_fini(&points);
    trl_buf_fini(&names);
    trl_buf_fini(&parts);
    trl_strtab_fini(&features);
    trl_strtab_fini(&classes);
    return st;
}

trl_status trl_boost_model_save(const trl_boost_model *m, const char *path, trl_error *err)
{
    return m && path ? save(m, path, NULL, NULL, err) : trl_fail_null(err);
}

trl_status trl_boost_model_bytes(const trl_boost_model *m, unsigned char **bytes, size_t *n,
                                 trl_error *err)
{
    return save(m, NULL, bytes, n, err);
}

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct sections {
    const trl_boost_node *node;
    const uint64_t *tree_end, *part;
    const trl_boost_point *point;
    const char *name;
    size_t n_nodes, n_trees, n_parts, n_points, n_name;
} sections;

static trl_status find_sections(const trl_container *c, sections *s, trl_error *err)
{
    const void *node, *end, *part, *point, *name;
    trl_status st = trl_container_array(c, "nodes", sizeof *s->node, &node, &s->n_nodes, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "treeend", 8, &end, &s->n_trees, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "part", PART_FIELDS * 8, &part, &s->n_parts, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "points", sizeof *s->point, &point, &s->n_points, err);
    if (st == TRL_OK)
        st = trl_container_array(c, "partname", 1, &name, &s->n_name, err);
    if (st != TRL_OK)
        return st;
    s->node = node;
    s->tree_end = end;
    s->part = part;
    s->point = point;
    s->name = name;
    return TRL_OK;
}

/* Nodes in preorder and nothing else: every `off` is where the subtree before it ends.  size: [n].
 */
static bool sound_tree(const trl_boost_node *node, size_t n, size_t n_features, uint32_t *size)
{
    for (size_t k = n; k-- > 0;) {
        size[k] = 1;
        if (node[k].feature == TRL_NO_ID)
            continue;
        if (node[k].feature >= n_features || k + 1 >= n || node[k].off != k + 1 + size[k + 1] ||
            node[k].off >= n)
            return false;
        size[k] += size[k + 1] + size[node[k].off];
    }
    return n > 0 && n < UINT32_MAX && size[0] == n;
}

trl_status trl_boost_check_trees(const trl_boost_run *e, size_t n_features, bool *sound,
                                 trl_error *err)
{
    uint32_t *size = trl_alloc(e->n_nodes + 1, sizeof *size);
    *sound = size != NULL;
    for (size_t k = 0; *sound && k < e->n_trees; k++) {
        const uint64_t at = trl_boost_begin(e->tree_end, k), end = e->tree_end[k];
        *sound = at <= end && end <= e->n_nodes &&
                 sound_tree(e->node + at, (size_t)(end - at), n_features, size);
    }
    const trl_status st = size ? TRL_OK : trl_fail_mem(err);
    trl_free(size);
    return st;
}

static trl_status load_part(trl_boost_part *p, sections *s, size_t n_features,
                            const trl_container *c, trl_error *err)
{
    const uint64_t *field = s->part;
    if (field[PART_TREES] > s->n_trees || field[PART_POINTS] > s->n_points ||
        field[PART_NAME] > s->n_name ||
        (field[PART_POINTS] ? field[PART_BEST] >= field[PART_POINTS] : field[PART_BEST] != 0))
        return trl_container_damaged(c, err, "a classifier is cut off");
    p->n_trees = field[PART_TREES];
    p->n_points = field[PART_POINTS];
    p->best = field[PART_BEST];
    p->node = s->node;
    p->tree_end = s->tree_end;
    p->point = s->point;
    const trl_boost_run run = {p->node, s->n_nodes, p->tree_end, p->n_trees};
    bool sound;
    const trl_status st = trl_boost_check_trees(&run, n_features, &sound, err);
    if (st != TRL_OK)
        return st;
    if (!sound)
        return trl_container_damaged(c, err, "a tree is not one");
    const uint64_t at = trl_boost_begin(p->tree_end, p->n_trees);
    if (!(p->name = trl_strndup(s->name, field[PART_NAME])))
        return trl_fail_mem(err);
    s->node += at;
    s->n_nodes -= at;
    s->tree_end += p->n_trees;
    s->n_trees -= p->n_trees;
    s->point += p->n_points;
    s->n_points -= p->n_points;
    s->name += field[PART_NAME];
    s->n_name -= field[PART_NAME];
    s->part += PART_FIELDS;
    return TRL_OK;
}

static trl_status load(trl_boost_model *m, const trl_container *c, trl_error *err)
{
    sections s = {0};
    trl_status st = trl_strview_load(c, "feat", &m->names, err);
    if (st == TRL_OK)
        st = trl_strview_load(c, "clas", &m->classes, err);
    if (st == TRL_OK)
        st = find_sections(c, &s, err);
    if (st != TRL_OK)
        return st;
    if (s.n_parts == 0)
        return trl_container_damaged(c, err, "there is no classifier");
    if (!(m->part = trl_zalloc(s.n_parts, sizeof *m->part)))
        return trl_fail_mem(err);
    m->n = s.n_parts;
    for (size_t k = 0; st == TRL_OK && k < m->n; k++)
        st = load_part(&m->part[k], &s, m->names.n, c, err);
    return st;
}

static trl_status finish_open(trl_boost_model *m, trl_status st, trl_boost_model **out,
                              trl_error *err)
{
    if (st == TRL_OK)
        st = load(m, m->file, err);
    if (st != TRL_OK) {
        trl_boost_model_free(m);
        return st;
    }
    *out = m;
    return TRL_OK;
}

trl_status trl_boost_model_open(const char *path, trl_boost_model **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_boost_model *m = trl_zalloc(1, sizeof *m);
    if (!m)
        return trl_fail_mem(err);
    return finish_open(m, trl_container_open(path, KIND, &m->file, err), out, err);
}

trl_status trl_boost_model_from_memory(const void *bytes, size_t n, trl_boost_model **out,
                                       trl_error *err)
{
    if ((!bytes && n) || !out)
        return trl_fail_null(err);
    trl_boost_model *m = trl_zalloc(1, sizeof *m);
    if (!m)
        return trl_fail_mem(err);
    return finish_open(m, trl_container_from_memory(bytes, n, KIND, &m->file, err), out, err);
}

trl_status trl_boost_model_of(const trl_model *m, trl_boost_model **out, trl_error *err)
{
    if (!m || !out)
        return trl_fail_null(err);
    size_t n;
    const void *bytes = trl_model_bytes(m, &n);
    const char *kind = trl_model_get_info(m).kind;
    if (strcmp(kind, KIND) != 0)
        return trl_fail(err, TRL_EINVAL, "the model is of kind '%s', not of boosted trees", kind);
    return trl_boost_model_from_memory(bytes, n, out, err);
}
