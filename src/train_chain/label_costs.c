/* label_costs.c -- costs of wrong labels from text. */
/* SPDX-License-Identifier: MIT */
#include "train_chain/label_costs.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/simd.h"
#include "text/input.h"
#include "text/number.h"

typedef struct cost_table {
    const trl_strtab *labels;
    double *cost; /* [L][L] of gold and wrong label */
    trl_buf name;
    trl_input *in;
} cost_table;

/* One label, or every one. */
typedef struct which {
    bool every;
    uint32_t label;
} which;

static trl_status refuse(const cost_table *c, trl_str line, const char *at, trl_error *err)
{
    const trl_status st =
        trl_fail(err, TRL_EPARSE, "a cost is written GOLD:WRONG=COST or GOLD=COST");
    trl_fail_hint(err, st, "as in O:PER=5, or *:O=2 for any label that is taken for O");
    return trl_input_fail(c->in, err, st, (uint64_t)(at - line.p) + 1);
}

/* The name at p up to an unescaped ':' or '=', or the end of the item; *end is where it stops. */
static trl_status take_label(cost_table *c, trl_str line, const char *p, const char **end,
                             which *out, trl_error *err)
{
    const char *from = p, *stop = line.p + line.n;
    bool escaped = false;
    c->name.len = 0;
    for (; p < stop && !memchr(":=, \t", *p, 5); p++) {
        if (*p == '\\' && p + 1 < stop) {
            p++;
            escaped = true;
        }
        if (!trl_buf_ch(&c->name, *p))
            return trl_fail_mem(err);
    }
    *end = p;
    if (c->name.len == 0)
        return refuse(c, line, from, err);
    *out = (which){.every = c->name.len == 1 && c->name.data[0] == '*' && !escaped};
    out->label = out->every ? 0 : trl_strtab_find(c->labels, c->name.data, c->name.len);
    if (out->label != TRL_NO_ID)
        return TRL_OK;
    const trl_status st = trl_fail(err, TRL_EPARSE, "label '%.*s' is not in the training data",
                                   (int)(c->name.len < 100 ? c->name.len : 100), c->name.data);
    return trl_input_fail(c->in, err, st, (uint64_t)(from - line.p) + 1);
}

static trl_status take_number(const cost_table *c, trl_str line, const char *p, const char **end,
                              double *cost, trl_error *err)
{
    const char *from = p, *stop = line.p + line.n;
    while (p < stop && !memchr(", \t", *p, 3))
        p++;
    *end = p;
    if (trl_number_parse(from, (size_t)(p - from), cost) == TRL_NUMBER_OK && *cost >= 0.0)
        return TRL_OK;
    const trl_status st =
        trl_fail(err, TRL_EPARSE, "a cost must be a finite number and not negative: '%.*s'",
                 (int)(p - from < 40 ? p - from : 40), from);
    return trl_input_fail(c->in, err, st, (uint64_t)(from - line.p) + 1);
}

static void set(cost_table *c, const which *gold, const which *wrong, double cost)
{
    const size_t L = c->labels->n;
    for (size_t i = 0; i < L; i++)
        for (size_t j = 0; j < L; j++)
            if (i != j && (gold->every || gold->label == i) && (wrong->every || wrong->label == j))
                c->cost[i * L + j] = cost;
}

/* The item at p. */
static trl_status take_item(cost_table *c, trl_str line, const char *p, const char **end,
                            trl_error *err)
{
    const char *stop = line.p + line.n, *first = p;
    which gold, wrong = {.every = true};
    double cost;
    trl_status st = take_label(c, line, p, &p, &gold, err);
    if (st == TRL_OK && p < stop && *p == ':') {
        st = take_label(c, line, p + 1, &p, &wrong, err);
        if (st == TRL_OK && !gold.every && !wrong.every && gold.label == wrong.label) {
            st = trl_fail(err, TRL_EPARSE, "the right label has no cost");
            return trl_input_fail(c->in, err, st, (uint64_t)(first - line.p) + 1);
        }
    }
    if (st != TRL_OK)
        return st;
    if (p == stop || *p != '=')
        return refuse(c, line, first, err);
    st = take_number(c, line, p + 1, end, &cost, err);
    if (st == TRL_OK)
        set(c, &gold, &wrong, cost);
    return st;
}

static trl_status read_all(cost_table *c, trl_error *err)
{
    trl_status st = TRL_OK;
    for (bool more = true; st == TRL_OK && more;) {
        trl_str line = {"", 0};
        st = trl_input_line(c->in, &line, &more, err);
        const char *p = line.p, *stop = line.p + line.n;
        while (st == TRL_OK && more && p < stop)
            if (memchr(", \t", *p, 3))
                p++;
            else
                st = take_item(c, line, p, &p, err);
    }
    return st;
}

/* The costs of a token of that note. */
static void note_row(const cost_table *c, const trl_label_note *note, double *row)
{
    const size_t L = c->labels->n;
    for (size_t j = 0; j < L; j++) {
        double least = HUGE_VAL, mean = 0.0;
        for (size_t k = 0; k < note->n; k++) {
            const double x = c->cost[note->label[k] * L + j];
            least = x < least ? x : least;
            mean += note->p ? note->p[k] * x : 0.0;
        }
        row[j] = note->kind == TRL_LABEL_ANY ? 0.0 : note->p ? mean : least;
    }
}

static trl_status make_rows(const cost_table *c, const trl_corpus *corpus, trl_chain_costs *costs,
                            trl_error *err)
{
    const trl_label_notes *notes = corpus->notes;
    const size_t L = c->labels->n, S = trl_padded(L), n = notes ? notes->texts.n : L;
    *costs = (trl_chain_costs){trl_zalloc(n * S, sizeof *costs->row), notes != NULL};
    if (!costs->row)
        return trl_fail_mem(err);
    for (size_t k = 0; k < n; k++) {
        const uint32_t label = (uint32_t)k;
        const trl_label_note one = {.kind = TRL_LABEL_ONE, .n = 1, .label = &label};
        const trl_label_note note = notes ? trl_label_note_of(notes, (uint32_t)k) : one;
        note_row(c, &note, costs->row + k * S);
    }
    return TRL_OK;
}

trl_status trl_label_costs_read(trl_chain_costs *costs, const char *from, const trl_corpus *corpus,
                                trl_error *err)
{
    const size_t L = corpus->labels.n;
    cost_table c = {.labels = &corpus->labels, .cost = trl_zalloc(L * L, sizeof *c.cost)};
    trl_status st = c.cost ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK)
        st = strchr(from, '=') ? trl_input_memory("<cost>", from, strlen(from), &c.in, err)
                               : trl_input_open(from, &c.in, err);
    if (st == TRL_OK)
        st = read_all(&c, err);
    if (st == TRL_OK)
        st = make_rows(&c, corpus, costs, err);
    trl_input_free(c.in);
    trl_buf_fini(&c.name);
    trl_free(c.cost);
    return st;
}
