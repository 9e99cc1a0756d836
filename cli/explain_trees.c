/* explain_trees.c -- two derivations of a sentence, and what differs. */
/* SPDX-License-Identifier: MIT */
#include "explain_trees.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "tag_print.h"

/* A part that only one of the two has: of the best its score, of the other minus its score. */
typedef struct difference {
    const trl_parse_part *part;
    double adds;
} difference;

typedef struct job {
    const explain_trees_options *o;
    const trl_parse_model *model;
    trl_parser *best, *rival; /* each keeps its own derivation */
    difference *row;
    size_t n_rows, cap;
    bool *used; /* [parts of the rival] have their like in the best */
    size_t used_cap;
    text pending;
    output *out;
    uint64_t number; /* of the sentence */
    size_t explained;
} job;

/* What is asked of one sentence. */
typedef struct question {
    const trl_sentence *s;
    size_t from, to;
    trl_str label;   /* of the best tree there; empty: it has no constituent there */
    trl_str against; /* of the rival; empty: none, or, where the best has none, any */
} question;

static const char *const kind_names[] = {"rule", "state",    "word",   "first", "split",
                                         "end",  "features", "others", "tags"};

#define NAME_MOST ((size_t)120) /* bytes of a part's name in a table */

static bool same(trl_str a, trl_str b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static bool same_part(const trl_parse_part *a, const trl_parse_part *b)
{
    return a->kind == b->kind && a->from == b->from && a->to == b->to && a->score == b->score &&
           same(a->name, b->name);
}

static int by_size(const void *a_, const void *b_)
{
    const difference *a = a_, *b = b_;
    const double x = fabs(a->adds), y = fabs(b->adds);
    if (x != y)
        return x < y ? 1 : -1;
    if (a->part->from != b->part->from)
        return a->part->from < b->part->from ? -1 : 1;
    if (a->part->to != b->part->to)
        return a->part->to < b->part->to ? -1 : 1;
    return (a->part->kind > b->part->kind) - (a->part->kind < b->part->kind);
}

static bool make_room(job *j, size_t rows, size_t used)
{
    if (rows > j->cap) {
        free(j->row);
        j->row = malloc(2 * rows * sizeof *j->row);
        j->cap = j->row ? 2 * rows : 0;
    }
    if (used > j->used_cap) {
        free(j->used);
        j->used = malloc(2 * used * sizeof *j->used);
        j->used_cap = j->used ? 2 * used : 0;
    }
    return j->cap && j->used_cap;
}

/* The parts that are not in both. */
static bool subtract(job *j, const trl_derived *a, const trl_derived *b)
{
    if (!make_room(j, a->n + b->n + 1, b->n + 1))
        return false;
    memset(j->used, 0, b->n * sizeof *j->used);
    j->n_rows = 0;
    for (size_t i = 0; i < a->n; i++) {
        size_t k = 0;
        while (k < b->n && (j->used[k] || !same_part(&a->part[i], &b->part[k])))
            k++;
        if (k < b->n)
            j->used[k] = true;
        else if (a->part[i].score != 0.0)
            j->row[j->n_rows++] = (difference){&a->part[i], a->part[i].score};
    }
    for (size_t k = 0; k < b->n; k++)
        if (!j->used[k] && b->part[k].score != 0.0)
            j->row[j->n_rows++] = (difference){&b->part[k], -b->part[k].score};
    if (j->n_rows)
        qsort(j->row, j->n_rows, sizeof *j->row, by_size);
    return true;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void add_words(const question *q, text *out)
{
    for (size_t t = q->from; t < q->to; t++) {
        text_str(out, t > q->from ? " " : "");
        text_add(out, q->s->word[t].p, q->s->word[t].n);
    }
}

static void add_name(const trl_parse_part *p, text *out)
{
    static const char *const before[] = {
        "", "features of ",     "",     "first words of ", "words between in ", "last words of ",
        "", "alternatives of ", "tags "};
    text_str(out, before[p->kind]);
    size_t n = p->name.n;
    if (n > NAME_MOST) { /* a long conjunction: at most its first literals */
        n = NAME_MOST;
        while (n > NAME_MOST / 2 && p->name.p[n - 1] != ' ')
            n--;
    }
    text_add(out, p->name.p, n);
    if (n < p->name.n)
        text_str(out, "...");
}

static void add_text(const job *j, const question *q, const double *by, text *out)
{
    const size_t shown = j->o->top && j->n_rows > j->o->top ? j->o->top : j->n_rows;
    text_fmt(out, "sentence %" PRIu64 ", words %zu-%zu, ", j->number, q->from + 1, q->to);
    add_words(q, out);
    text_str(out, ": ");
    text_add(out, q->label.n ? q->label.p : "no constituent", q->label.n ? q->label.n : 14);
    if (!by) {
        const bool without = q->label.n && !q->against.n;
        text_str(out, without ? ", no tree of the grammar is without it"
                              : ", no tree of the grammar has ");
        if (!without)
            text_add(out, q->against.n ? q->against.p : "one", q->against.n ? q->against.n : 3);
        text_str(out, without ? "\n\n" : " there\n\n");
        return;
    }
    text_str(out, " over ");
    if (q->against.n)
        text_add(out, q->against.p, q->against.n);
    else
        text_str(out, q->label.n ? "none" : "any");
    text_fmt(out, " by %.4f\n        adds   words  tree   part\n", *by);
    double rest = 0.0;
    for (size_t i = 0; i < j->n_rows; i++) {
        const difference *d = &j->row[i];
        if (i >= shown) {
            rest += d->adds;
            continue;
        }
        char words[40];
        snprintf(words, sizeof words, "%zu-%zu", d->part->from + 1, d->part->to);
        text_fmt(out, "  %+10.4f  %6s  %-5s  ", d->adds, words,
                 d->adds == d->part->score ? "best" : "other");
        add_name(d->part, out);
        text_char(out, '\n');
    }
    if (shown < j->n_rows)
        text_fmt(out, "  %+10.4f  %zu more\n", rest, j->n_rows - shown);
    text_char(out, '\n');
}

static void json_label(text *out, trl_str s)
{
    if (s.n)
        text_json_bytes(out, s.p, s.n);
    else
        text_str(out, "null");
}

static void add_json(const job *j, const question *q, const double *by, text *out)
{
    text_fmt(out, "{\"sentence\":%" PRIu64 ",\"from\":%zu,\"to\":%zu,\"label\":", j->number,
             q->from + 1, q->to);
    json_label(out, q->label);
    text_str(out, ",\"against\":");
    json_label(out, q->against);
    text_str(out, ",\"difference\":");
    text_json_real(out, by ? *by : (double)NAN);
    text_str(out, ",\"contributions\":[");
    for (size_t i = 0; by && i < j->n_rows; i++) {
        const trl_parse_part *p = j->row[i].part;
        text_fmt(out, "%s{\"part\":\"%s\",\"name\":", i ? "," : "", kind_names[p->kind]);
        text_json_bytes(out, p->name.p, p->name.n);
        text_fmt(out, ",\"from\":%zu,\"to\":%zu,\"tree\":\"%s\",\"contribution\":", p->from + 1,
                 p->to, j->row[i].adds == p->score ? "best" : "other");
        text_json_real(out, j->row[i].adds);
        text_char(out, '}');
    }
    text_str(out, "]}\n");
}

/* ---- sentences ------------------------------------------------------------------------------- */

/* The best derivation against the best one that answers the question otherwise. */
static trl_status answer(job *j, const trl_derived *best, question *q, trl_error *err)
{
    const bool forbid = q->label.n && !q->against.n;
    const trl_known known = {forbid ? TRL_KNOWN_NO_CONSTITUENT : TRL_KNOWN_CONSTITUENT, q->from,
                             q->to, q->against};
    trl_parse tree;
    trl_derived other;
    const trl_status st = trl_parser_derive(
        j->rival,
        &(trl_parse_input){.word = q->s->word, .n = q->s->n, .known = &known, .n_known = 1}, &tree,
        &other, err);
    if (st != TRL_OK)
        return st;
    const double by = best->score - other.score;
    if (!subtract(j, best, &other))
        return tag_no_memory(err);
    if (other.n == 0)
        j->n_rows = 0;
    (j->o->json ? add_json : add_text)(j, q, other.n ? &by : NULL, &j->pending);
    j->explained++;
    return TRL_OK;
}

/* The topmost phrase of the tree over these words; TRL_NO_NODE: there is none. */
static uint32_t find_node(const trl_tree *t, size_t from, size_t to)
{
    for (uint32_t i = 0; i < t->n_nodes; i++)
        if (t->node[i].child != TRL_NO_NODE && t->node[i].from == from && t->node[i].to == to)
            return i;
    return TRL_NO_NODE;
}

static trl_status explain_sentence(job *j, const trl_sentence *s, trl_error *err)
{
    const explain_trees_options *o = j->o;
    const trl_str against = {o->against, o->against ? strlen(o->against) : 0};
    trl_parse parse;
    trl_derived best;
    trl_status st = trl_parser_derive(j->best, &(trl_parse_input){.word = s->word, .n = s->n},
                                      &parse, &best, err);
    if (st != TRL_OK)
        return st;
    if (best.n == 0) {
        message_warn("sentence %" PRIu64 ": the grammar has no tree for it", j->number);
        return TRL_OK;
    }
    const trl_tree *t = &parse.trees[0].tree;
    if (o->span[1]) {
        const uint32_t i = find_node(t, o->span[0] - 1, o->span[1]);
        question q = {s, o->span[0] - 1, o->span[1],
                      i == TRL_NO_NODE ? (trl_str){0} : trl_tree_label(t, i), against};
        return o->span[1] > s->n ? TRL_OK : answer(j, &best, &q, err);
    }
    for (uint32_t i = 0; i < t->n_nodes && st == TRL_OK; i++) {
        const trl_node *node = &t->node[i];
        if (node->child == TRL_NO_NODE || node->to - node->from == s->n ||
            find_node(t, node->from, node->to) != i)
            continue;
        question q = {s, node->from, node->to, trl_tree_label(t, i), against};
        st = answer(j, &best, &q, err);
    }
    return st;
}

static bool explain_file(job *j, const char *path)
{
    trl_sentence_reader *r = NULL;
    trl_error err = {0};
    trl_status st = trl_sentence_reader_open(path, TRL_SENTENCE_WORDS, &r, &err);
    bool ok = true;
    for (bool more = true; st == TRL_OK && ok;) {
        trl_sentence s;
        st = trl_sentence_reader_next(r, &s, &more, &err);
        if (st != TRL_OK || !more)
            break;
        j->number++;
        if (s.n && (!j->o->sentence || j->o->sentence == j->number))
            st = explain_sentence(j, &s, &err);
        ok = output_text(j->out, &j->pending);
        j->pending.n = 0;
    }
    if (st != TRL_OK && output_flush(j->out))
        message_error(&err);
    trl_sentence_reader_free(r);
    return ok && st == TRL_OK;
}

static bool start(job *j, const trl_model *m, trl_parse_model **model)
{
    trl_error err = {0};
    const trl_parse_options o = trl_parse_options_default();
    trl_status st = trl_parse_model_of(m, model, &err);
    if (st == TRL_OK)
        st = trl_parser_new(*model, &o, &j->best, &err);
    if (st == TRL_OK)
        st = trl_parser_new(*model, &o, &j->rival, &err);
    if (st != TRL_OK)
        message_error(&err);
    const char *label = j->o->against;
    if (st == TRL_OK && label && !trl_parse_model_has(*model, (trl_str){label, strlen(label)})) {
        message_say("%s: the model has no label '%s'", j->o->model, label);
        return false;
    }
    return st == TRL_OK;
}

bool explain_trees(const explain_trees_options *o, const trl_model *m, const operands *files,
                   output *out)
{
    job j = {.o = o, .out = out};
    trl_parse_model *model = NULL;
    bool ok = start(&j, m, &model);
    for (size_t k = 0; ok && k < (files->n ? files->n : 1); k++)
        ok = explain_file(&j, files->n ? files->item[k] : "-");
    if (ok && !j.explained) {
        if (o->sentence || o->span[1])
            message_say("there are no such words of such a sentence in the input");
        else
            message_warn("no constituents to explain in the input");
        ok = !o->sentence && !o->span[1];
    }
    trl_parser_free(j.best);
    trl_parser_free(j.rival);
    trl_parse_model_free(model);
    text_fini(&j.pending);
    free(j.row);
    free(j.used);
    return ok;
}
