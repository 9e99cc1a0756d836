/* treebank_counts.c -- what is in a treebank: sizes, labels, rules, lengths, depths. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "treebank/brackets.h"
#include "text/utf8.h"
#include "treebank/label.h"

/* Names and how often each was seen. */
typedef struct tally {
    trl_strtab name;
    uint64_t *count; /* [name.n] */
    size_t cap;
    uint64_t total;
} tally;

/* How many trees have the value 0, 1, 2, ... */
typedef struct histogram {
    uint64_t *trees; /* [n] */
    size_t n, cap;
    uint64_t sum;
} histogram;

struct trl_tree_counts {
    uint64_t trees, empty, unary;
    tally word, label, tag, rule;
    histogram length, depth;
    trl_buf key;
};

trl_status trl_tree_counts_new(trl_tree_counts **out, trl_error *err)
{
    if (!out)
        return trl_fail_null(err);
    *out = trl_zalloc(1, sizeof **out);
    return *out ? TRL_OK : trl_fail_mem(err);
}

static void tally_fini(tally *t)
{
    trl_strtab_fini(&t->name);
    trl_free(t->count);
}

void trl_tree_counts_free(trl_tree_counts *c)
{
    if (!c)
        return;
    tally_fini(&c->word);
    tally_fini(&c->label);
    tally_fini(&c->tag);
    tally_fini(&c->rule);
    trl_free(c->length.trees);
    trl_free(c->depth.trees);
    trl_buf_fini(&c->key);
    trl_free(c);
}

/* ---- counting -------------------------------------------------------------------------------- */

static bool tally_add(tally *t, trl_str s)
{
    uint64_t *count = trl_reserve(t->count, &t->cap, t->name.n + 1, sizeof *count);
    if (!count)
        return false;
    t->count = count;
    const size_t known = t->name.n;
    const uint32_t id = trl_strtab_add(&t->name, s.p, s.n);
    if (id == TRL_NO_ID)
        return false;
    if (id == known)
        count[id] = 0;
    count[id]++;
    t->total++;
    return true;
}

static bool histogram_add(histogram *h, size_t value)
{
    uint64_t *trees = trl_reserve(h->trees, &h->cap, value + 1, sizeof *trees);
    if (!trees)
        return false;
    h->trees = trees;
    for (; h->n <= value; h->n++)
        trees[h->n] = 0;
    trees[value]++;
    h->sum += value;
    return true;
}

static bool add_rule(trl_tree_counts *c, const trl_tree *t, uint32_t i)
{
    trl_str s = trl_tree_label(t, i);
    c->key.len = 0;
    trl_buf_add(&c->key, s.p, s.n);
    trl_buf_str(&c->key, " ->");
    for (uint32_t k = t->node[i].child; k != TRL_NO_NODE; k = t->node[k].next) {
        s = trl_tree_label(t, k);
        trl_buf_ch(&c->key, ' ');
        trl_buf_add(&c->key, s.p, s.n);
    }
    c->unary += t->node[t->node[i].child].next == TRL_NO_NODE;
    return !c->key.failed && tally_add(&c->rule, (trl_str){c->key.data, c->key.len});
}

trl_status trl_tree_counts_add(trl_tree_counts *c, const trl_tree *t, trl_error *err)
{
    if (!c || !t)
        return trl_fail_null(err);
    bool good = histogram_add(&c->length, trl_tree_length(t)) &&
                histogram_add(&c->depth, trl_tree_depth(t));
    for (uint32_t i = 0; i < t->n_nodes && good; i++) {
        const trl_str label = trl_tree_label(t, i);
        if (t->node[i].child != TRL_NO_NODE)
            good = tally_add(&c->label, label) && add_rule(c, t, i);
        else if (trl_label_is_empty(label))
            c->empty++;
        else
            good = tally_add(&c->tag, label) && tally_add(&c->word, t->word[t->node[i].from]);
    }
    c->trees++;
    return good ? TRL_OK : trl_fail_mem(err);
}

/* ---- sorting --------------------------------------------------------------------------------- */

typedef struct entry {
    trl_str name;
    uint64_t count;
} entry;

/* Most frequent first, then by name. */
static int by_count(const void *a_, const void *b_)
{
    const entry *a = a_, *b = b_;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    const size_t n = a->name.n < b->name.n ? a->name.n : b->name.n;
    const int order = n ? memcmp(a->name.p, b->name.p, n) : 0;
    return order ? order : (a->name.n > b->name.n) - (a->name.n < b->name.n);
}

static entry *sorted(const tally *t)
{
    entry *e = trl_alloc(t->name.n, sizeof *e);
    for (uint32_t i = 0; e && i < t->name.n; i++)
        e[i] = (entry){trl_strtab_get(&t->name, i), t->count[i]};
    if (e)
        qsort(e, t->name.n, sizeof *e, by_count);
    return e;
}

static size_t seen_once(const tally *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->name.n; i++)
        n += t->count[i] == 1;
    return n;
}

static size_t least(const histogram *h)
{
    size_t i = 0;
    while (i < h->n && !h->trees[i])
        i++;
    return i < h->n ? i : 0;
}

/* ---- the report ------------------------------------------------------------------------------ */

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static double mean(const trl_tree_counts *c, const histogram *h)
{
    return c->trees ? (double)h->sum / (double)c->trees : 0.0;
}

static void add_totals(const trl_tree_counts *c, trl_buf *b)
{
    trl_buf_fmt(b, "trees           %9" PRIu64 "\n", c->trees);
    trl_buf_fmt(b, "words           %9" PRIu64 "  %zu different, %zu of them once\n", c->word.total,
                c->word.name.n, seen_once(&c->word));
    if (c->empty)
        trl_buf_fmt(b, "empty elements  %9" PRIu64 "\n", c->empty);
    trl_buf_fmt(b, "phrases         %9" PRIu64 "  %zu labels, %zu tags\n", c->label.total,
                c->label.name.n, c->tag.name.n);
    trl_buf_fmt(b, "rules           %9zu  %zu of them used once; %.1f%% of all uses unary\n",
                c->rule.name.n, seen_once(&c->rule), percent(c->unary, c->rule.total));
    trl_buf_fmt(b, "words a tree    %9.1f  %zu to %zu\n", mean(c, &c->length), least(&c->length),
                c->length.n ? c->length.n - 1 : 0);
    trl_buf_fmt(b, "depth           %9.1f  %zu to %zu\n", mean(c, &c->depth), least(&c->depth),
                c->depth.n ? c->depth.n - 1 : 0);
}

#define BAR 40

/* Rows of `step` values; those from `last` on share one. */
static void add_histogram(const trl_tree_counts *c, const histogram *h, const char *name,
                          size_t step, size_t last, trl_buf *b)
{
    uint64_t most = 1, so_far = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass)
            trl_buf_fmt(b, "\n%-9s %9s %7s %7s\n", name, "trees", "%", "up to");
        for (size_t from = step > 1; from < h->n;) {
            const size_t to = from >= last ? h->n : from + step < h->n ? from + step : h->n;
            uint64_t n = 0;
            char range[48];
            for (size_t i = from; i < to; i++)
                n += h->trees[i];
            most = n > most ? n : most;
            so_far += pass ? n : 0;
            if (step == 1 && from < last)
                snprintf(range, sizeof range, "%zu", from);
            else if (from >= last)
                snprintf(range, sizeof range, "%zu-", from);
            else
                snprintf(range, sizeof range, "%zu-%zu", from, from + step - 1);
            if (pass && (n || so_far)) {
                trl_buf_fmt(b, "%-9s %9" PRIu64 " %7.1f %7.1f", range, n, percent(n, c->trees),
                            percent(so_far, c->trees));
                const size_t bar = (size_t)((BAR * n + most - 1) / most);
                trl_buf_fmt(b, "%s%.*s\n", bar ? "  " : "", (int)bar,
                            "########################################");
            }
            from = to;
        }
    }
}

static bool add_table(const tally *t, const char *name, size_t top, trl_buf *b)
{
    entry *e = sorted(t);
    if (!e)
        return false;
    const size_t n = top && top < t->name.n ? top : t->name.n;
    trl_buf_fmt(b, "\n%9s %7s  %s\n", "count", "%", name);
    for (size_t i = 0; i < n; i++) {
        trl_buf_fmt(b, "%9" PRIu64 " %7.2f  ", e[i].count, percent(e[i].count, t->total));
        trl_buf_shown(b, e[i].name);
        trl_buf_ch(b, '\n');
    }
    if (n < t->name.n)
        trl_buf_fmt(b, "%9s %7s  %zu more\n", "", "", t->name.n - n);
    trl_free(e);
    return true;
}

trl_status trl_tree_counts_report(const trl_tree_counts *c, size_t top, trl_buf *out,
                                  trl_error *err)
{
    if (!c || !out)
        return trl_fail_null(err);
    add_totals(c, out);
    add_histogram(c, &c->length, "words", 5, 61, out);
    add_histogram(c, &c->depth, "depth", 1, 40, out);
    const bool good = add_table(&c->label, "label", top, out) &&
                      add_table(&c->tag, "tag", top, out) && add_table(&c->rule, "rule", top, out);
    return good && !out->failed ? TRL_OK : trl_fail_mem(err);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static bool json_tally(const tally *t, const char *name, trl_buf *b)
{
    entry *e = sorted(t);
    if (!e)
        return false;
    trl_buf_fmt(b, ",\"%s\":{", name);
    for (size_t i = 0; i < t->name.n; i++) {
        if (i)
            trl_buf_ch(b, ',');
        trl_buf_json(b, e[i].name);
        trl_buf_fmt(b, ":%" PRIu64, e[i].count);
    }
    trl_buf_ch(b, '}');
    trl_free(e);
    return true;
}

static void json_histogram(const histogram *h, const char *name, trl_buf *b)
{
    const char *comma = "";
    trl_buf_fmt(b, ",\"%s\":{", name);
    for (size_t i = 0; i < h->n; i++)
        if (h->trees[i]) {
            trl_buf_fmt(b, "%s\"%zu\":%" PRIu64, comma, i, h->trees[i]);
            comma = ",";
        }
    trl_buf_ch(b, '}');
}

trl_status trl_tree_counts_json(const trl_tree_counts *c, trl_buf *out, trl_error *err)
{
    if (!c || !out)
        return trl_fail_null(err);
    trl_buf_fmt(out, "{\"trees\":%" PRIu64 ",\"words\":%" PRIu64 ",\"different_words\":%zu",
                c->trees, c->word.total, c->word.name.n);
    trl_buf_fmt(out, ",\"empty\":%" PRIu64 ",\"phrases\":%" PRIu64, c->empty, c->label.total);
    trl_buf_fmt(out, ",\"different_rules\":%zu,\"unary_uses\":%" PRIu64, c->rule.name.n, c->unary);
    json_histogram(&c->length, "lengths", out);
    json_histogram(&c->depth, "depths", out);
    const bool good = json_tally(&c->label, "labels", out) && json_tally(&c->tag, "tags", out) &&
                      json_tally(&c->rule, "rules", out);
    trl_buf_str(out, "}\n");
    return good && !out->failed ? TRL_OK : trl_fail_mem(err);
}
