/* clusters.c -- reading files of clusters, and looking words up. */
/* SPDX-License-Identifier: MIT */
#include "cluster/clusters.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "text/number.h"

/* ---- the map --------------------------------------------------------------------------------- */

trl_status trl_clusters_new(trl_clusters **out, trl_error *err)
{
    *out = trl_zalloc(1, sizeof **out);
    return *out ? TRL_OK : trl_fail_mem(err);
}

void trl_clusters_free(trl_clusters *c)
{
    if (!c)
        return;
    trl_strtab_fini(&c->word);
    trl_strtab_fini(&c->name);
    trl_free(c->id);
    trl_free(c);
}

trl_status trl_clusters_add(trl_clusters *c, trl_str word, trl_str cluster, bool *twice,
                            trl_error *err)
{
    const size_t known = c->word.n;
    uint32_t *id = trl_reserve(c->id, &c->id_cap, known + 1, sizeof *id);
    if (!id)
        return trl_fail_mem(err);
    c->id = id;
    const uint32_t w = trl_strtab_add(&c->word, word.p, word.n);
    *twice = w != TRL_NO_ID && w != known;
    if (*twice)
        return TRL_OK;
    const uint32_t name = w == TRL_NO_ID ? w : trl_strtab_add(&c->name, cluster.p, cluster.n);
    if (name == TRL_NO_ID)
        return trl_fail_mem(err);
    id[w] = name + 1;
    return TRL_OK;
}

uint32_t trl_clusters_find(const trl_clusters *c, const char *word, size_t n)
{
    if (!c || (!word && n))
        return 0;
    const uint32_t w = trl_strtab_find(&c->word, word, n);
    return w == TRL_NO_ID ? 0 : c->id[w];
}

uint32_t trl_cluster_view_find(const trl_cluster_view *v, const char *word, size_t n)
{
    const uint32_t w = trl_strview_find(&v->word, word, n, trl_str_hash(word, n));
    return w == TRL_NO_ID ? 0 : v->id[w];
}

size_t trl_clusters_count(const trl_clusters *c)
{
    if (!c)
        return 0;
    return c->name.n;
}

size_t trl_clusters_words(const trl_clusters *c)
{
    if (!c)
        return 0;
    return c->word.n;
}

trl_str trl_clusters_name(const trl_clusters *c, uint32_t cluster)
{
    if (!c)
        return (trl_str){"", 0};
    return cluster && cluster <= c->name.n ? trl_strtab_get(&c->name, cluster - 1)
                                           : (trl_str){"", 0};
}

trl_str trl_clusters_word(const trl_clusters *c, size_t i, uint32_t *cluster)
{
    if (!c || !cluster || i >= c->word.n)
        return (trl_str){"", 0};
    *cluster = c->id[i];
    return trl_strtab_get(&c->word, (uint32_t)i);
}

trl_cluster_view trl_clusters_view(const trl_clusters *c)
{
    return (trl_cluster_view){trl_strtab_view(&c->word), c->id, trl_strtab_view(&c->name)};
}

/* ---- lines ----------------------------------------------------------------------------------- */

#define MAX_FIELDS 4 /* one more than any format has */

typedef struct fields {
    trl_str item[MAX_FIELDS];
    size_t n; /* MAX_FIELDS: that many or more */
} fields;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* At single tabs: fields may be empty and hold blanks. */
static fields split_tabs(trl_str line)
{
    fields f = {.n = 0};
    size_t from = 0;
    for (size_t i = 0; i <= line.n && f.n < MAX_FIELDS; i++)
        if (i == line.n || line.p[i] == '\t') {
            f.item[f.n++] = (trl_str){line.p + from, i - from};
            from = i + 1;
        }
    return f;
}

/* At runs of blanks: fields are never empty. */
static fields split_blanks(trl_str line)
{
    fields f = {.n = 0};
    for (size_t i = 0; i < line.n && f.n < MAX_FIELDS;) {
        const size_t from = i;
        while (i < line.n && !is_blank(line.p[i]))
            i++;
        if (i > from)
            f.item[f.n++] = (trl_str){line.p + from, i - from};
        while (i < line.n && is_blank(line.p[i]))
            i++;
    }
    return f;
}

/* The number of leading characters of s that are in `set`. */
static size_t span(trl_str s, const char *set)
{
    size_t i = 0;
    while (i < s.n && s.p[i] && strchr(set, s.p[i]))
        i++;
    return i;
}

static bool all_of(trl_str s, const char *set)
{
    return s.n && span(s, set) == s.n;
}

static bool looks_brown(trl_str line)
{
    const fields f = split_tabs(line);
    return (f.n == 2 || f.n == 3) && all_of(f.item[0], "01") && f.item[1].n &&
           (f.n == 2 || all_of(f.item[2], "0123456789"));
}

typedef struct reading {
    trl_input *in;
    trl_str line;
    size_t prefix;
    trl_clusters *c;
} reading;

static trl_status bad(const reading *r, const char *at, const char *what, trl_error *err)
{
    trl_fail(err, TRL_EPARSE, "%s", what);
    return trl_input_fail(r->in, err, TRL_EPARSE, (uint64_t)(at - r->line.p) + 1);
}

static trl_status add(reading *r, trl_str word, trl_str cluster, trl_error *err)
{
    bool twice;
    const trl_status st = trl_clusters_add(r->c, word, cluster, &twice, err);
    if (st != TRL_OK || !twice)
        return st;
    const uint32_t have = trl_clusters_find(r->c, word.p, word.n);
    const trl_str name = trl_clusters_name(r->c, have);
    if (name.n == cluster.n && memcmp(name.p, cluster.p, name.n) == 0)
        return TRL_OK;
    trl_fail(err, TRL_EPARSE, "'%.*s' is already in cluster '%.*s'",
             (int)(word.n < 80 ? word.n : 80), word.p, (int)(name.n < 80 ? name.n : 80), name.p);
    return trl_input_fail(r->in, err, TRL_EPARSE, (uint64_t)(word.p - r->line.p) + 1);
}

static trl_status brown_line(reading *r, trl_error *err)
{
    const fields f = split_tabs(r->line);
    const char *end = r->line.p + r->line.n;
    trl_str path = f.item[0];
    const size_t good = span(path, "01");
    if (good < path.n || path.n == 0)
        return bad(r, path.p + good, "a path of 0 and 1 is expected", err);
    if (f.n < 2 || f.item[1].n == 0)
        return bad(r, f.n < 2 ? end : f.item[1].p, "a TAB and a word are expected", err);
    if (f.n == MAX_FIELDS)
        return bad(r, f.item[3].p, "nothing is expected after the count", err);
    const size_t digits = f.n == 3 ? span(f.item[2], "0123456789") : 0;
    if (f.n == 3 && (digits == 0 || digits < f.item[2].n))
        return bad(r, f.item[2].p + digits, "a count is expected", err);
    if (r->prefix && path.n > r->prefix)
        path.n = r->prefix;
    return add(r, f.item[1], path, err);
}

static trl_status clark_line(reading *r, trl_error *err)
{
    const fields f = split_blanks(r->line);
    double p;
    if (f.n < 2)
        return bad(r, r->line.p + r->line.n, "a word and its cluster are expected", err);
    if (f.n == MAX_FIELDS)
        return bad(r, f.item[3].p, "nothing is expected after the probability", err);
    if (f.n == 3 && trl_number_parse(f.item[2].p, f.item[2].n, &p) != TRL_NUMBER_OK)
        return bad(r, f.item[2].p, "a probability is expected", err);
    return add(r, f.item[0], f.item[1], err);
}

/* ---- files ----------------------------------------------------------------------------------- */

static trl_status read_lines(reading *r, trl_cluster_format format, trl_error *err)
{
    for (;;) {
        bool more;
        trl_status st = trl_input_line(r->in, &r->line, &more, err);
        if (st != TRL_OK || !more)
            return st;
        if (span(r->line, " \t") == r->line.n)
            continue;
        if (format == TRL_CLUSTERS_GUESS)
            format = looks_brown(r->line) ? TRL_CLUSTERS_BROWN : TRL_CLUSTERS_CLARK;
        if (format == TRL_CLUSTERS_CLARK && r->prefix) {
            trl_fail(err, TRL_EINVAL, "only the paths of Brown clusters have prefixes");
            return trl_input_fail(r->in, err, TRL_EINVAL, 0);
        }
        st = format == TRL_CLUSTERS_BROWN ? brown_line(r, err) : clark_line(r, err);
        if (st != TRL_OK)
            return st;
    }
}

trl_status trl_clusters_read(trl_input *in, trl_cluster_format format, size_t prefix,
                             trl_clusters **out, trl_error *err)
{
    reading r = {.in = in, .prefix = prefix};
    trl_status st = trl_clusters_new(&r.c, err);
    if (st == TRL_OK)
        st = read_lines(&r, format, err);
    if (st == TRL_OK && r.c->word.n == 0) {
        trl_fail(err, TRL_EPARSE, "no clusters: the file is empty");
        st = trl_input_fail(in, err, TRL_EPARSE, 0);
    }
    if (st != TRL_OK) {
        trl_clusters_free(r.c);
        return st;
    }
    *out = r.c;
    return TRL_OK;
}

trl_status trl_clusters_open(const char *path, trl_cluster_format format, size_t prefix,
                             trl_clusters **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_input *in = NULL;
    trl_status st = trl_input_open(path, &in, err);
    if (st == TRL_OK)
        st = trl_clusters_read(in, format, prefix, out, err);
    trl_input_free(in);
    return st;
}
