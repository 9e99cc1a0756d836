/* parseval.c -- the scorer of trees: sentences, errors, totals. */
/* SPDX-License-Identifier: MIT */
#include "score/parseval.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/mem.h"
#include "score/parseval_functions.h"

struct trl_parseval {
    trl_parseval_params params;
    trl_label_table labels;
    bool gold_tags, functions;
    trl_function_counts function; /* when `functions` */

    trl_side gold, test;
    trl_matcher matcher;

    trl_parseval_sentence *sentence;
    size_t n, cap;
    trl_buf details;     /* of all sentences, back to back */
    size_t *details_end; /* [n] */
    size_t cap_details;
    trl_buf errors; /* "" or NUL-terminated, see add_error */
    uint64_t n_errors;
    bool stopped;
};

trl_parseval_options trl_parseval_options_default(void)
{
    return (trl_parseval_options){
        .params = "collins", .max_length = TRL_AS_PARAMS, .max_errors = TRL_AS_PARAMS};
}

trl_status trl_parseval_new(const trl_parseval_options *o, trl_parseval **out, trl_error *err)
{
    if (!o || !o->params || !out)
        return trl_fail_null(err);
    if (o->max_length < TRL_AS_PARAMS || o->max_errors < TRL_AS_PARAMS)
        return trl_fail(err, TRL_EINVAL, "a length or a number of errors below 0");
    trl_parseval *p = trl_zalloc(1, sizeof *p);
    if (!p)
        return trl_fail_mem(err);
    trl_status st = trl_parseval_params_load(&p->params, o->params, err);
    if (st == TRL_OK)
        st = trl_label_table_init(&p->labels, &p->params, err);
    if (st != TRL_OK) {
        trl_parseval_free(p);
        return st;
    }
    if (o->max_length != TRL_AS_PARAMS)
        p->params.max_length = o->max_length;
    if (o->max_errors != TRL_AS_PARAMS)
        p->params.max_errors = o->max_errors;
    if (o->unlabelled)
        p->params.labelled = 0;
    if (o->details)
        p->params.debug = 1;
    p->gold_tags = o->gold_tags;
    p->functions = o->functions;
    *out = p;
    return TRL_OK;
}

void trl_parseval_free(trl_parseval *p)
{
    if (!p)
        return;
    trl_parseval_params_fini(&p->params);
    trl_label_table_fini(&p->labels);
    trl_side_fini(&p->gold);
    trl_side_fini(&p->test);
    trl_matcher_fini(&p->matcher);
    trl_function_counts_fini(&p->function);
    trl_free(p->sentence);
    trl_free(p->details_end);
    trl_buf_fini(&p->details);
    trl_buf_fini(&p->errors);
    trl_free(p);
}

void trl_parseval_reset(trl_parseval *p)
{
    if (!p)
        return;
    p->n = 0;
    trl_function_counts_reset(&p->function);
    p->details.len = 0;
    p->errors.len = 0;
    p->n_errors = 0;
    p->stopped = false;
}

/* ---- one sentence ---------------------------------------------------------------------------- */

/* What became of a sentence before it is counted.  Errors are noted here first, so that
 * running out of memory leaves the scorer as it was. */
typedef struct draft {
    trl_parseval_sentence sentence;
    trl_buf errors;
    uint64_t n_errors;
} draft;

static void draft_error(const trl_parseval *p, draft *d)
{
    d->sentence.state = TRL_PARSEVAL_ERROR;
    d->n_errors++;
    trl_buf_fmt(&d->errors, "%zu : ", p->n + 1);
}

/* A line that is not a tree. */
static void draft_bad_line(const trl_parseval *p, draft *d, const trl_error *why, const char *name)
{
    draft_error(p, d);
    trl_buf_fmt(&d->errors, "%s:%zu:%" PRIu64 ": %s\n", name, p->n + 1, why->col, why->msg);
}

/* EVALB stops at error number max_errors + 2; that sentence is then not counted. */
static bool too_many(const trl_parseval *p, const draft *d)
{
    return d->n_errors && p->n_errors + d->n_errors > (uint64_t)p->params.max_errors + 1;
}

static trl_status commit(trl_parseval *p, draft *d, bool is_sentence, trl_error *err)
{
    trl_parseval_sentence *sentence = trl_reserve(p->sentence, &p->cap, p->n + 1, sizeof *sentence);
    if (sentence)
        p->sentence = sentence;
    const size_t len = p->errors.len;
    if (len && d->errors.len)
        p->errors.len--; /* its NUL */
    const bool ok =
        sentence && !d->errors.failed &&
        (d->errors.len == 0 ||
         (trl_buf_add(&p->errors, d->errors.data, d->errors.len) && trl_buf_ch(&p->errors, '\0')));
    trl_buf_fini(&d->errors);
    if (!ok) {
        if (len)
            p->errors.data[len - 1] = '\0';
        p->errors.len = len;
        p->errors.failed = false;
        return trl_fail_mem(err);
    }
    p->stopped = too_many(p, d);
    p->n_errors += d->n_errors;
    if (is_sentence && !p->stopped) {
        p->details_end[p->n] = p->details.len;
        p->sentence[p->n++] = d->sentence;
    }
    return TRL_OK;
}

/* A NUL would end the text. */
static void draft_word(draft *d, trl_str word)
{
    for (size_t i = 0; i < word.n; i++)
        trl_buf_ch(&d->errors, (char)(word.p[i] ? word.p[i] : '?'));
}

static void draft_differing(const trl_parseval *p, draft *d, size_t a, size_t b)
{
    draft_error(p, d);
    trl_buf_str(&d->errors, "Words unmatch (");
    draft_word(d, p->gold.leaf[a].word);
    trl_buf_ch(&d->errors, '|');
    draft_word(d, p->test.leaf[b].word);
    trl_buf_str(&d->errors, ")\n");
}

static uint32_t gold_length(const trl_parseval *p)
{
    uint32_t n = 0;
    for (size_t i = 0; i < p->gold.n_leaves; i++)
        n += !p->labels.info[p->gold.leaf[i].tag].no_length;
    return n;
}

/* Room for the end of the details; what a failed call left is dropped. */
static trl_status reserve_details(trl_parseval *p, trl_error *err)
{
    size_t *end = trl_reserve(p->details_end, &p->cap_details, p->n + 1, sizeof *end);
    if (!end)
        return trl_fail_mem(err);
    p->details_end = end;
    p->details.len = p->n ? end[p->n - 1] : 0;
    p->details.failed = false;
    return TRL_OK;
}

/* Appended to those of the sentences before; commit makes them count. */
static trl_status draft_details(trl_parseval *p, bool scored, trl_error *err)
{
    uint32_t n_live;
    trl_status st = TRL_OK;
    if (!scored && (st = trl_side_settle(&p->gold, &p->labels, &n_live, err)) == TRL_OK)
        st = trl_side_settle(&p->test, &p->labels, &n_live, err);
    if (st != TRL_OK)
        return st;
    trl_side_details(&p->gold, &p->test, &p->labels, scored, &p->details);
    return p->details.failed ? trl_fail_mem(err) : TRL_OK;
}

/* The two sides are filled. */
static trl_status score_sides(trl_parseval *p, draft *d, trl_error *err)
{
    trl_alignment how;
    size_t a, b;
    if (p->gold_tags)
        trl_side_copy_tags(&p->gold, &p->test, &p->labels);
    trl_status st = trl_side_align(&p->matcher, &(trl_side_pair){&p->gold, &p->test, &p->labels},
                                   &how, &a, &b, err);
    if (st != TRL_OK)
        return st;
    trl_parseval_sentence *s = &d->sentence;
    if (how == TRL_NO_WORDS) {
        s->state = TRL_PARSEVAL_SKIPPED;
    } else if (how == TRL_LENGTHS) {
        draft_error(p, d);
        trl_buf_fmt(&d->errors, "Length unmatch (%zu|%zu)\n", a, b);
    } else if (how == TRL_WORDS_DIFFER) {
        draft_differing(p, d, a, b);
    } else {
        st = trl_side_match(&p->matcher, &(trl_side_pair){&p->gold, &p->test, &p->labels},
                            p->params.labelled != 0, s, err);
        s->exact = s->state == TRL_PARSEVAL_VALID && s->gold == s->test && s->gold == s->match;
    }
    if (st == TRL_OK && p->params.debug)
        st = draft_details(p, how == TRL_ALIGNED, err);
    return st;
}

/* A line and the file it is from. */
typedef struct input_line {
    trl_str line;
    const char *name;
} input_line;

/* Reads one line; *whole is false when there is nothing to score. */
static trl_status read_side(trl_parseval *p, trl_side *side, const input_line *in, draft *d,
                            bool *whole, trl_error *err)
{
    trl_error why = {0};
    bool ok = false;
    const trl_status st = trl_side_line(side, &p->labels, in->line, &ok, whole, &why);
    if (st != TRL_OK) {
        if (err)
            *err = why;
        return st;
    }
    if (!ok)
        draft_bad_line(p, d, &why, in->name);
    return TRL_OK;
}

static trl_status add_lines(trl_parseval *p, trl_str gold, const char *gold_name, trl_str test,
                            const char *test_name, trl_error *err)
{
    draft d = {0};
    bool gold_whole = true, test_whole = true;
    if (p->stopped)
        return TRL_OK;
    trl_status st = reserve_details(p, err);
    if (st == TRL_OK)
        st = read_side(p, &p->gold, &(input_line){gold, gold_name}, &d, &gold_whole, err);
    if (st == TRL_OK && !too_many(p, &d))
        st = read_side(p, &p->test, &(input_line){test, test_name}, &d, &test_whole, err);
    if (st == TRL_OK && !too_many(p, &d)) {
        d.sentence.length = gold_length(p);
        if (gold_whole && test_whole)
            st = score_sides(p, &d, err);
    }
    const trl_side_pair pair = {&p->gold, &p->test, &p->labels};
    if (st == TRL_OK && p->functions)
        st = trl_function_counts_room(&p->function, &pair, err);
    if (st != TRL_OK) {
        trl_buf_fini(&d.errors);
        return st;
    }
    st = commit(p, &d, true, err);
    if (st == TRL_OK && p->functions && !p->stopped && d.sentence.state == TRL_PARSEVAL_VALID)
        trl_function_counts_add(&p->function, &pair);
    return st;
}

trl_status trl_parseval_add(trl_parseval *p, const char *gold, size_t gold_n, const char *test,
                            size_t test_n, trl_error *err)
{
    if (!p || (!gold && gold_n) || (!test && test_n))
        return trl_fail_null(err);
    return add_lines(p, (trl_str){gold, gold_n}, "gold", (trl_str){test, test_n}, "test", err);
}

/* ---- files ----------------------------------------------------------------------------------- */

static trl_status lines_left(trl_parseval *p, const char *where, trl_error *err)
{
    draft d = {0};
    draft_error(p, &d);
    trl_buf_fmt(&d.errors, "Number of lines unmatch (too many lines in %s file)\n", where);
    return commit(p, &d, false, err);
}

static trl_status read_files(trl_parseval *p, trl_input *gold, trl_input *test, trl_error *err)
{
    while (!p->stopped) {
        trl_str x, y;
        bool more_gold = false, more_test = false;
        trl_status st = trl_input_line(gold, &x, &more_gold, err);
        if (st == TRL_OK)
            st = trl_input_line(test, &y, &more_test, err);
        if (st == TRL_OK && more_gold != more_test)
            return lines_left(p, more_gold ? "gold" : "test", err);
        if (st == TRL_OK && more_gold)
            st = add_lines(p, x, trl_input_name(gold), y, trl_input_name(test), err);
        if (st != TRL_OK || !more_gold)
            return st;
    }
    return TRL_OK;
}

trl_status trl_parseval_files(trl_parseval *p, const char *gold, const char *test, trl_error *err)
{
    if (!p || !gold || !test)
        return trl_fail_null(err);
    trl_input *in[2] = {NULL, NULL};
    trl_status st = trl_input_open(gold, &in[0], err);
    if (st == TRL_OK)
        st = trl_input_open(test, &in[1], err);
    if (st == TRL_OK)
        st = read_files(p, in[0], in[1], err);
    trl_input_free(in[0]);
    trl_input_free(in[1]);
    return st;
}

bool trl_parseval_function_at(const trl_parseval *p, size_t k, trl_parseval_function *out)
{
    return p && out && p->functions && trl_function_counts_get(&p->function, k, out);
}

/* ---- results --------------------------------------------------------------------------------- */

const trl_parseval_sentence *trl_parseval_sentences(const trl_parseval *p, size_t *n)
{
    if (n)
        *n = p ? p->n : 0;
    return p ? p->sentence : NULL;
}

const char *trl_parseval_errors(const trl_parseval *p)
{
    if (!p)
        return "";
    return p->errors.len ? p->errors.data : "";
}

bool trl_parseval_stopped(const trl_parseval *p)
{
    if (!p)
        return false;
    return p->stopped;
}

trl_str trl_parseval_details(const trl_parseval *p, size_t i)
{
    const size_t from = i ? p->details_end[i - 1] : 0, n = p->details_end[i] - from;
    return n ? (trl_str){p->details.data + from, n} : (trl_str){"", 0};
}

uint64_t trl_parseval_max_length(const trl_parseval *p)
{
    return (uint64_t)p->params.max_length;
}

static double ratio(double scale, uint64_t part, uint64_t whole)
{
    return whole ? scale * (double)part / (double)whole : 0.0;
}

static void add_sentence(trl_parseval_totals *t, const trl_parseval_sentence *s)
{
    t->sentences++;
    t->errors += s->state == TRL_PARSEVAL_ERROR;
    t->skipped += s->state == TRL_PARSEVAL_SKIPPED;
    if (s->state != TRL_PARSEVAL_VALID)
        return;
    t->valid++;
    t->match += s->match;
    t->gold += s->gold;
    t->test += s->test;
    t->crossing += s->crossing;
    t->words += s->words;
    t->tags += s->tags;
    t->exact_sentences += s->exact;
    t->uncrossed += s->crossing == 0;
    t->few_crossed += s->crossing <= 2;
}

trl_parseval_totals trl_parseval_get(const trl_parseval *p, uint64_t max_length)
{
    if (!p)
        return (trl_parseval_totals){0};
    trl_parseval_totals t = {0};
    for (size_t i = 0; i < p->n; i++)
        if (p->sentence[i].length <= max_length)
            add_sentence(&t, &p->sentence[i]);
    t.recall = ratio(100.0, t.match, t.gold);
    t.precision = ratio(100.0, t.match, t.test);
    const double sum = t.precision + t.recall;
    t.f1 = sum > 0.0 ? 2 * t.precision * t.recall / sum : 0.0;
    t.exact = ratio(100.0, t.exact_sentences, t.valid);
    t.mean_crossing = ratio(1.0, t.crossing, t.valid);
    t.no_crossing = ratio(100.0, t.uncrossed, t.valid);
    t.few_crossing = ratio(100.0, t.few_crossed, t.valid);
    t.tagging = ratio(100.0, t.tags, t.words);
    return t;
}
