/* tree_text.c -- a parser's model as text: its sections, with rules and features in words. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/section_text.h"
#include "parser/chart_model.h"
#include "parser/tree_dump.h"

/* Of the grammars (f0, c0), their lexicons (l0, k0) and the rest; others are bytes. */
static const trl_section_type types[] = {
    {"settings", 't', 1}, {"template", 't', 1}, {"root", 't', 1},    {"fnheads", 't', 1},
    {"heads", 't', 1},    {"groups", 't', 1},   {"weights", 'f', 1}, {"keys", 'w', 1},
    {"clid", 'u', 1},     {"fnfirst", 'u', 1},  {"fnclass", 'u', 1}, {"fnweight", 'f', 1},
    {"f0info", 'w', 1},   {"f0keys", 'u', 6},   {"f0bin", 'u', 3},   {"f0bcnt", 'd', 1},
    {"f0una", 'u', 4},    {"f0ucnt", 'd', 1},   {"f0chain", 'u', 1}, {"c0info", 'w', 1},
    {"c0keys", 'u', 6},   {"c0bin", 'u', 3},    {"c0bcnt", 'd', 1},  {"c0una", 'u', 4},
    {"c0ucnt", 'd', 1},   {"c0chain", 'u', 1},  {"l0info", 'w', 1},  {"l0wn", 'u', 1},
    {"l0wf", 'u', 1},     {"l0wt", 'u', 1},     {"l0wc", 'd', 1},    {"l0cf", 'u', 1},
    {"l0ct", 'u', 1},     {"l0cc", 'd', 1},     {"l0sn", 'd', 1},    {"l0sr", 'd', 1},
    {"k0info", 'w', 1},   {"k0wn", 'u', 1},     {"k0wf", 'u', 1},    {"k0wt", 'u', 1},
    {"k0wc", 'd', 1},     {"k0cf", 'u', 1},     {"k0ct", 'u', 1},    {"k0cc", 'd', 1},
    {"k0sn", 'd', 1},     {"k0sr", 'd', 1},     {"rheads", 't', 1},  {"rkeys", 'w', 1},
    {"rweights", 'f', 1}, {"prints", 'u', 1},   {"printby", 'w', 1}, {"featvals", 'f', 1}};

/* The model, and the names of classes of features found so far: finding one takes a while. */
typedef struct namer {
    const trl_tree_model *m;
    trl_strtab known; /* part and class, eight bytes */
    size_t *end;      /* [known]: of its name */
    size_t cap;
    trl_buf names;
} namer;

static void put_class(namer *x, size_t family, uint32_t cls, trl_buf *out)
{
    const uint32_t key[2] = {(uint32_t)x->m->tpl.family[family].part, cls};
    const size_t n = x->known.n;
    const uint32_t id = trl_strtab_add(&x->known, (const char *)key, sizeof key);
    size_t *end = trl_reserve(x->end, &x->cap, n + 1, sizeof *end);
    x->end = end ? end : x->end;
    if (id == TRL_NO_ID || !end) {
        out->failed = true;
        return;
    }
    if (id == n) {
        trl_tree_name_class(x->m, family, cls, &x->names);
        end[n] = x->names.len;
    }
    const size_t from = id ? end[id - 1] : 0;
    trl_buf_add(out, x->names.data + from, end[id] - from);
    out->failed |= x->names.failed;
}

static void put_key(namer *x, size_t slot, trl_buf *out)
{
    const trl_tree_index *index = &x->m->features.index;
    const uint64_t key = slot < index->n_slots && index->key ? index->key[slot] : 0;
    const size_t family = (size_t)(key >> 56);
    if (!family || family > x->m->tpl.n)
        return;
    put_class(x, family - 1, (uint32_t)(key >> 36) & 0xfffff, out);
    trl_tree_name_seen(x->m, family - 1, key & ((UINT64_C(1) << 36) - 1), out);
}

/* Rules with and without annotation, then the features of `keys`. */
static void name_weight(namer *x, size_t k, trl_buf *out)
{
    const trl_grammar *g = &x->m->fine;
    if (k < g->n_binary) {
        trl_tree_name_binary(g, (uint32_t)k, false, out);
        return;
    }
    k -= g->n_binary;
    if (k < g->n_plain_binary)
        return;
    k -= g->n_plain_binary;
    if (k < g->n_unary)
        trl_tree_name_unary(g, (uint32_t)k, false, out);
    else if (k >= g->n_unary + g->n_plain_unary)
        put_key(x, k - g->n_unary - g->n_plain_unary, out);
}

static bool is_tag(const char *tag, const char *a, const char *b)
{
    return strcmp(tag, a) == 0 || strcmp(tag, b) == 0;
}

static void name_row(void *ctx, const char *tag, size_t k, trl_buf *out)
{
    namer *x = ctx;
    const trl_tree_model *m = x->m;
    const trl_grammar *g = tag[0] == 'c' ? &m->coarse : &m->fine;
    if (strcmp(tag, "weights") == 0) {
        name_weight(x, k, out);
    } else if (strcmp(tag, "keys") == 0) {
        put_key(x, k, out);
    } else if (is_tag(tag, "f0keys", "c0keys")) {
        const trl_str s = k < g->n_states ? trl_strtab_get(&g->names, (uint32_t)k) : (trl_str){0};
        trl_buf_add(out, s.p, s.n);
    } else if ((is_tag(tag, "f0bin", "c0bin") || is_tag(tag, "f0bcnt", "c0bcnt")) &&
               k < g->n_binary) {
        trl_tree_name_binary(g, (uint32_t)k, false, out);
    } else if ((is_tag(tag, "f0una", "c0una") || is_tag(tag, "f0ucnt", "c0ucnt")) &&
               k < g->n_unary) {
        trl_tree_name_unary(g, (uint32_t)k, false, out);
    }
}

trl_status trl_tree_text(const trl_container *c, const trl_tree_model *m, trl_printer *p,
                         trl_error *err)
{
    namer x = {.m = m};
    const trl_section_types t = {types, sizeof types / sizeof *types, m ? name_row : NULL, &x};
    const trl_status st = trl_sections_dump(c, &t, p, err);
    trl_strtab_fini(&x.known);
    trl_free(x.end);
    trl_buf_fini(&x.names);
    return st;
}
