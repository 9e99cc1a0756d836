/* score.c -- counting: tags to numbers, tokens, chunks, confusions. */
/* SPDX-License-Identifier: MIT */
#include "trellis/score.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "score/rules.h"
#include "score/score_columns.h"
#include "text/input.h"

typedef struct counts {
    uint64_t gold, predicted, correct;
} counts;

/* Named counts; ids are dense, in order of appearance. */
typedef struct tally {
    char *name;
    counts by[TRL_N_RULES]; /* tokens: by[0] only */
} tally;

typedef struct tallies {
    trl_strtab names;
    tally *row;      /* [names.n] */
    uint32_t *order; /* [names.n] ids sorted by name */
    size_t row_cap, order_cap;
} tallies;

/* What a label means for chunks.  Two labels are the same tag for conlleval when prefix and
 * type agree. */
typedef struct meaning {
    trl_tag tag;
    uint32_t prefix; /* in trl_score.prefixes */
} meaning;

typedef struct pair {
    uint32_t gold, predicted; /* labels */
    uint64_t count;
} pair;

struct trl_score {
    trl_score_options opt;
    char *outside;    /* opt.outside, owned */
    size_t column[2]; /* of files: gold and predicted; both 0: the last two */

    tallies labels, types; /* type 0 is "" */
    meaning *meanings;     /* [labels.names.n] */
    size_t meaning_cap;
    trl_strtab prefixes;
    trl_strtab pair_ids; /* keys: gold and predicted label, 4 bytes each */
    pair *pairs;         /* [pair_ids.n] */
    size_t pair_cap;
    uint32_t *todo; /* pairs of the sequence being added */
    size_t todo_cap;

    trl_score_totals total; /* tokens and sequences; ratios are computed on demand */
    counts chunks[TRL_N_RULES];
    bool in_sequence, all_right;

    trl_tag last_gold, last_predicted;
    bool in_correct[TRL_N_RULES]; /* both taggings opened the same chunk and agree so far;
                                     then the two tags above have the same type */
    bool any_single;              /* gold has S-TYPE */
    bool not_iobes;               /* gold has tags that IOBES cannot have */
};

static const trl_tag outside_tag = {TRL_TAG_O, 0};

/* ---- memory ---------------------------------------------------------------------------------- */

static uint32_t tallies_id(tallies *t, trl_str name)
{
    const uint32_t known = trl_strtab_find(&t->names, name.p, name.n);
    if (known != TRL_NO_ID)
        return known;
    const size_t n = t->names.n;
    tally *row = trl_reserve(t->row, &t->row_cap, n + 1, sizeof *row);
    if (row)
        t->row = row;
    uint32_t *order = trl_reserve(t->order, &t->order_cap, n + 1, sizeof *order);
    if (order)
        t->order = order;
    char *copy = trl_strndup(name.p, name.n);
    const uint32_t id =
        row && order && copy ? trl_strtab_add(&t->names, name.p, name.n) : TRL_NO_ID;
    if (id == TRL_NO_ID) {
        trl_free(copy);
        return id;
    }
    row[id] = (tally){.name = copy};
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (strcmp(row[order[mid]].name, copy) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    memmove(order + lo + 1, order + lo, (n - lo) * sizeof *order);
    order[lo] = id;
    return id;
}

static void tallies_fini(tallies *t)
{
    for (size_t i = 0; i < t->names.n; i++)
        trl_free(t->row[i].name);
    trl_free(t->row);
    trl_free(t->order);
    trl_strtab_fini(&t->names);
}

trl_score_options trl_score_options_default(void)
{
    return (trl_score_options){.delimiter = ' ', .outside = "O", .raw = false};
}

trl_status trl_score_new(const trl_score_options *options, trl_score **out, trl_error *err)
{
    if (!options || !out)
        return trl_fail_null(err);
    if (!options->outside)
        return trl_fail(err, TRL_EINVAL, "no tag is given for the outside of chunks");
    const char d = options->delimiter;
    if (d == '\n' || d == '\r' || d == '\0')
        return trl_fail(err, TRL_EINVAL, "a line end or NUL cannot separate columns");
    trl_score *s = trl_zalloc(1, sizeof *s);
    if (!s)
        return trl_fail_mem(err);
    s->opt = *options;
    s->opt.outside = s->outside = trl_strndup(options->outside, strlen(options->outside));
    s->last_gold = s->last_predicted = outside_tag;
    if (!s->outside || tallies_id(&s->types, (trl_str){"", 0}) == TRL_NO_ID) {
        trl_score_free(s);
        return trl_fail_mem(err);
    }
    *out = s;
    return TRL_OK;
}

void trl_score_free(trl_score *s)
{
    if (!s)
        return;
    tallies_fini(&s->labels);
    tallies_fini(&s->types);
    trl_free(s->meanings);
    trl_strtab_fini(&s->prefixes);
    trl_strtab_fini(&s->pair_ids);
    trl_free(s->pairs);
    trl_free(s->todo);
    trl_free(s->outside);
    trl_free(s);
}

/* ---- tags to numbers: may run out of memory, counts nothing ---------------------------------- */

static bool is_text(trl_str s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

static bool find_meaning(trl_score *s, trl_str label, meaning *m)
{
    trl_str prefix, type;
    if (!s->opt.raw) {
        trl_tag_split(label, &prefix, &type);
    } else if (is_text(label, s->opt.outside) || is_text(label, "O")) {
        prefix = (trl_str){"O", 1};
        type = (trl_str){"", 0};
    } else {
        prefix = (trl_str){"B", 1};
        type = is_text(label, "0") ? (trl_str){"", 0} : label; /* as in trl_tag_split */
    }
    m->tag.prefix = trl_tag_prefix_of(prefix);
    m->tag.type = tallies_id(&s->types, type);
    m->prefix = trl_strtab_add(&s->prefixes, prefix.p, prefix.n);
    return m->tag.type != TRL_NO_ID && m->prefix != TRL_NO_ID;
}

static uint32_t label_id(trl_score *s, trl_str label)
{
    const uint32_t known = trl_strtab_find(&s->labels.names, label.p, label.n);
    if (known != TRL_NO_ID)
        return known;
    meaning m, *meanings = trl_reserve(s->meanings, &s->meaning_cap, s->labels.names.n + 1,
                                       sizeof *meanings);
    if (!meanings)
        return TRL_NO_ID;
    s->meanings = meanings;
    if (!find_meaning(s, label, &m))
        return TRL_NO_ID;
    const uint32_t id = tallies_id(&s->labels, label);
    if (id != TRL_NO_ID)
        meanings[id] = m;
    return id;
}

static uint32_t pair_id(trl_score *s, trl_str gold, trl_str predicted)
{
    const uint32_t key[2] = {label_id(s, gold), label_id(s, predicted)};
    if (key[0] == TRL_NO_ID || key[1] == TRL_NO_ID)
        return TRL_NO_ID;
    const size_t n = s->pair_ids.n;
    pair *pairs = trl_reserve(s->pairs, &s->pair_cap, n + 1, sizeof *pairs);
    if (!pairs)
        return TRL_NO_ID;
    s->pairs = pairs;
    const uint32_t id = trl_strtab_add(&s->pair_ids, (const char *)key, sizeof key);
    if (id == n)
        pairs[id] = (pair){key[0], key[1], 0};
    return id;
}

/* ---- counting: cannot fail ------------------------------------------------------------------- */

/* One step of conlleval's automaton.  A common chunk is counted where it ends. */
static void step(trl_score *s, trl_chunk_rule rule, trl_tag gold, trl_tag predicted)
{
    tally *type = s->types.row;
    counts *all = &s->chunks[rule];
    bool *in_correct = &s->in_correct[rule];
    const bool gold_ends = trl_chunk_ends(rule, s->last_gold, gold);
    const bool predicted_ends = trl_chunk_ends(rule, s->last_predicted, predicted);
    const bool gold_starts = trl_chunk_starts(rule, s->last_gold, gold);
    const bool predicted_starts = trl_chunk_starts(rule, s->last_predicted, predicted);

    if (*in_correct && gold_ends && predicted_ends) {
        *in_correct = false;
        all->correct++;
        type[s->last_gold.type].by[rule].correct++;
    } else if (gold_ends != predicted_ends || gold.type != predicted.type) {
        *in_correct = false;
    }
    if (gold_starts && predicted_starts && gold.type == predicted.type)
        *in_correct = true;
    if (gold_starts) {
        all->gold++;
        type[gold.type].by[rule].gold++;
    }
    if (predicted_starts) {
        all->predicted++;
        type[predicted.type].by[rule].predicted++;
    }
}

/* Which rule holds is known only when all of gold has been seen. */
static void count_chunks(trl_score *s, trl_tag gold, trl_tag predicted)
{
    for (int rule = 0; rule < TRL_N_RULES; rule++)
        step(s, (trl_chunk_rule)rule, gold, predicted);
    s->not_iobes = s->not_iobes || !trl_iobes_follows(s->last_gold, gold);
    s->any_single = s->any_single || gold.prefix == TRL_TAG_S;
    s->last_gold = gold;
    s->last_predicted = predicted;
}

static void count_boundary(trl_score *s)
{
    count_chunks(s, outside_tag, outside_tag);
    s->in_sequence = false;
}

static void count_token(trl_score *s, uint32_t id)
{
    pair *p = &s->pairs[id];
    const meaning gold = s->meanings[p->gold], predicted = s->meanings[p->predicted];
    p->count++;
    s->labels.row[p->gold].by[0].gold++;
    s->labels.row[p->predicted].by[0].predicted++;
    s->labels.row[p->gold].by[0].correct += p->gold == p->predicted;

    if (!s->in_sequence) {
        s->in_sequence = s->all_right = true;
        s->total.sequences++;
        s->total.correct_sequences++; /* taken back at the first error */
    }
    s->total.tokens++;
    if (gold.prefix == predicted.prefix && gold.tag.type == predicted.tag.type) {
        s->total.correct_tokens++;
    } else if (s->all_right) {
        s->all_right = false;
        s->total.correct_sequences--;
    }
    count_chunks(s, gold.tag, predicted.tag);
}

trl_status trl_score_add(trl_score *s, size_t n, const char *const *gold,
                         const char *const *predicted, trl_error *err)
{
    if (!s || (n && (!gold || !predicted)))
        return trl_fail_null(err);
    uint32_t *todo = trl_reserve(s->todo, &s->todo_cap, n, sizeof *todo);
    if (!todo && n)
        return trl_fail_mem(err);
    s->todo = todo;
    for (size_t i = 0; i < n; i++) {
        todo[i] = pair_id(s, (trl_str){gold[i], strlen(gold[i])},
                          (trl_str){predicted[i], strlen(predicted[i])});
        if (todo[i] == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    if (n && s->in_sequence) /* left open by the sequence before, see trl_score_get */
        count_boundary(s);
    for (size_t i = 0; i < n; i++)
        count_token(s, todo[i]);
    return TRL_OK;
}

/* ---- column files ---------------------------------------------------------------------------- */

/* Several labellings of one sequence cannot be scored. */
static trl_status fail_nbest(const trl_input *in, trl_error *err)
{
    const trl_status st =
        trl_fail(err, TRL_EPARSE, "several labellings of a sequence cannot be scored at once");
    trl_fail_hint(err, st, "tag without n-best lists");
    return trl_input_fail(in, err, st, 1);
}

static trl_status read_lines(trl_score *s, trl_input *in, trl_error *err)
{
    trl_score_columns shape = {0};
    trl_str line;
    bool more;
    trl_status st;
    while ((st = trl_input_line(in, &line, &more, err)) == TRL_OK && more) {
        const trl_score_columns c = trl_score_split(line, s->opt.delimiter, shape.n, s->column);
        const trl_score_line type = trl_score_line_type(&c, !s->in_sequence);
        if (type == TRL_SCORE_NBEST)
            return fail_nbest(in, err);
        if (type == TRL_SCORE_BOUNDARY)
            count_boundary(s);
        if (type != TRL_SCORE_TOKEN)
            continue;
        st = trl_score_check_columns(in, line, &c, &shape, s->column, err);
        if (st != TRL_OK)
            return st;
        if (shape.n == 0)
            shape = c;
        const uint32_t id = pair_id(s, c.pair[0], c.pair[1]);
        if (id == TRL_NO_ID)
            return trl_fail_mem(err);
        count_token(s, id);
    }
    return st;
}

void trl_score_set_columns(trl_score *s, size_t gold, size_t predicted)
{
    if (!s)
        return;
    s->column[0] = gold;
    s->column[1] = predicted;
}

trl_status trl_score_file(trl_score *s, const char *path, trl_error *err)
{
    if (!s || !path)
        return trl_fail_null(err);
    trl_input *in = NULL;
    trl_status st = trl_input_open(path, &in, err);
    if (st != TRL_OK)
        return st;
    if (s->in_sequence)
        count_boundary(s);
    st = read_lines(s, in, err);
    trl_input_free(in);
    return st;
}

/* ---- results --------------------------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static double f1_of(double precision, double recall)
{
    return precision + recall > 0.0 ? 2.0 * precision * recall / (precision + recall) : 0.0;
}

/* A last sequence that no boundary has ended yet leaves its last chunk open.  conlleval then counts
 * it as correct when it was so far; we do the same, since it makes a difference for ill-formed
 * tags. */
trl_score_totals trl_score_get_by(const trl_score *s, trl_chunk_rule rule)
{
    trl_score_totals t = s->total;
    t.gold = s->chunks[rule].gold;
    t.predicted = s->chunks[rule].predicted;
    t.correct = s->chunks[rule].correct + s->in_correct[rule];
    t.iobes = rule == TRL_RULE_IOBES;
    t.broken_iobes = s->any_single && trl_score_rule(s) != TRL_RULE_IOBES;
    t.accuracy = percent(t.correct_tokens, t.tokens);
    t.sequence_accuracy = percent(t.correct_sequences, t.sequences);
    t.precision = percent(t.correct, t.predicted);
    t.recall = percent(t.correct, t.gold);
    t.f1 = f1_of(t.precision, t.recall);
    return t;
}

trl_chunk_rule trl_score_rule(const trl_score *s)
{
    const bool iobes = !s->not_iobes && trl_iobes_follows(s->last_gold, outside_tag);
    return iobes ? TRL_RULE_IOBES : TRL_RULE_CONLLEVAL;
}

trl_score_totals trl_score_get(const trl_score *s)
{
    if (!s)
        return (trl_score_totals){0};
    return trl_score_get_by(s, trl_score_rule(s));
}

/* `open`: the id with one more correct than counted, or TRL_NO_ID. */
static size_t list(const tallies *t, int rule, uint32_t open, trl_score_row *rows, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < t->names.n; i++) {
        const uint32_t id = t->order[i];
        const counts *k = &t->row[id].by[rule];
        if (k->gold + k->predicted == 0)
            continue;
        if (n < cap) {
            trl_score_row r = {.name = t->row[id].name,
                               .correct = k->correct + (id == open),
                               .gold = k->gold,
                               .predicted = k->predicted};
            r.precision = percent(r.correct, r.predicted);
            r.recall = percent(r.correct, r.gold);
            r.f1 = f1_of(r.precision, r.recall);
            rows[n] = r;
        }
        n++;
    }
    return n;
}

size_t trl_score_chunks(const trl_score *s, trl_score_row *rows, size_t cap)
{
    if (!s || (cap && !rows))
        return 0;
    const trl_chunk_rule rule = trl_score_rule(s);
    const uint32_t open = s->in_correct[rule] ? s->last_gold.type : TRL_NO_ID;
    return list(&s->types, (int)rule, open, rows, cap);
}

size_t trl_score_labels(const trl_score *s, trl_score_row *rows, size_t cap)
{
    if (!s || (cap && !rows))
        return 0;
    return list(&s->labels, 0, TRL_NO_ID, rows, cap);
}

static int by_count(const void *va, const void *vb)
{
    const trl_score_confusion *a = va, *b = vb;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    const int c = strcmp(a->gold, b->gold);
    return c ? c : strcmp(a->predicted, b->predicted);
}

size_t trl_score_confusions(const trl_score *s, trl_score_confusion *rows, size_t cap)
{
    if (!s || (cap && !rows))
        return 0;
    size_t n = 0;
    for (size_t i = 0; i < s->pair_ids.n; i++) {
        const pair *p = &s->pairs[i];
        if (p->gold == p->predicted || p->count == 0)
            continue;
        const trl_score_confusion c = {s->labels.row[p->gold].name,
                                       s->labels.row[p->predicted].name, p->count};
        if (n < cap) {
            rows[n] = c;
        } else if (cap && by_count(&c, &rows[cap - 1]) < 0) { /* rows are sorted by now */
            size_t k = cap - 1;
            for (; k > 0 && by_count(&c, &rows[k - 1]) < 0; k--)
                rows[k] = rows[k - 1];
            rows[k] = c;
        }
        n++;
        if (n == cap)
            qsort(rows, n, sizeof *rows, by_count);
    }
    if (n && n < cap)
        qsort(rows, n, sizeof *rows, by_count);
    return n;
}
