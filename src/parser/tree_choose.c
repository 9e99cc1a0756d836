/* tree_choose.c -- sums over the rules of a state, and their derivatives. */
/* SPDX-License-Identifier: MIT */
#include "parser/tree_choose.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/vexp.h"

#define ONE_BY_ONE 1e-3 /* of S(A): below this the difference has lost too many digits */

/* ---- what sentences share -------------------------------------------------------------------- */

trl_status trl_chooser_shared_init(trl_chooser_shared *s, const trl_tree_features *f,
                                   const trl_expansions *x, const trl_rule_index *lists,
                                   trl_error *err)
{
    *s = (trl_chooser_shared){.f = f, .x = x, .lists = lists};
    s->state_sum = trl_zalloc(f->g->n_states, sizeof *s->state_sum);
    return s->state_sum ? TRL_OK : trl_fail_mem(err);
}

void trl_chooser_shared_fini(trl_chooser_shared *s)
{
    trl_free(s->state_sum);
    *s = (trl_chooser_shared){0};
}

void trl_chooser_shared_prepare(trl_chooser_shared *s, const double *binary_exp)
{
    const trl_expansions *x = s->x;
    for (size_t a = 0; a < s->f->g->n_states; a++) {
        double sum = 0.0;
        for (uint32_t k = x->binary_first[a]; k < x->binary_first[a + 1]; k++)
            sum += binary_exp[x->binary[k]];
        s->state_sum[a] = sum;
    }
}

/* ---- a sentence ------------------------------------------------------------------------------ */

void trl_chooser_fini(trl_chooser *c)
{
    trl_free(c->memo[0]);
    trl_free(c->memo[1]);
    trl_free(c->row);
    trl_free(c->rule);
    trl_free(c->factor);
    trl_free(c->found);
    trl_free(c->merged);
    trl_free(c->mass);
    trl_free(c->state);
    trl_free(c->score);
    trl_free(c->slot);
    *c = (trl_chooser){0};
}

/* Clears what the last sentence left. */
static void clear(trl_chooser *c)
{
    for (size_t k = 0; k < c->n_rows; k++)
        c->memo[c->row[k].anchor][c->row[k].place] = 0;
    for (size_t k = 0; k < c->n_state; k++)
        c->mass[c->state[k]] = 0.0;
    c->n_rows = c->n_rules = c->n_state = 0;
}

static bool make_room(trl_chooser *c, size_t n_states, size_t places)
{
    if (!c->mass) {
        c->mass = trl_zalloc(n_states, sizeof *c->mass);
        c->state = trl_alloc(n_states, sizeof *c->state);
    }
    if (places > c->cap_memo) {
        trl_free(c->memo[0]);
        trl_free(c->memo[1]);
        c->memo[0] = trl_zalloc(places, sizeof *c->memo[0]);
        c->memo[1] = trl_zalloc(places, sizeof *c->memo[1]);
        c->cap_memo = c->memo[0] && c->memo[1] ? places : 0;
    }
    return c->mass && c->state && c->memo[0] && c->memo[1];
}

trl_status trl_chooser_begin(trl_chooser *c, const trl_chooser_shared *s, trl_tree_gather *ga,
                             trl_error *err)
{
    const size_t n_states = s->f->g->n_states;
    clear(c);
    if (!make_room(c, n_states, (ga->c->n + 1) * n_states))
        return trl_fail_mem(err);
    c->s = s;
    c->ga = ga;
    return TRL_OK;
}

void trl_chooser_end(trl_chooser *c)
{
    const trl_expansions *x = c->s->x;
    for (size_t k = 0; k < c->n_state; k++) {
        const uint32_t a = c->state[k];
        for (uint32_t r = x->binary_first[a]; r < x->binary_first[a + 1]; r++)
            c->ga->a.binary[x->binary[r]] += c->mass[a] * c->ga->t.binary_exp[x->binary[r]];
    }
}

/* ---- features -------------------------------------------------------------------------------- */

/* Merges a list into `found`, n entries by rule; returns their number, SIZE_MAX: out of memory.
 */
static size_t merge(trl_chooser *c, size_t n, const trl_listed *list, size_t m)
{
    trl_listed *to = trl_reserve(c->merged, &c->cap_merged, n + m, sizeof *to);
    if (!to)
        return SIZE_MAX;
    c->merged = to;
    size_t a = 0, b = 0, k = 0;
    while (a < n || b < m)
        to[k++] = b == m || (a < n && c->found[a].rule <= list[b].rule) ? c->found[a++] : list[b++];
    c->merged = c->found;
    c->found = to;
    const size_t cap = c->cap_merged;
    c->cap_merged = c->cap_found;
    c->cap_found = cap;
    return k;
}

/* The features of a state's rules on a part, of all families of a group, into `found`. */
static size_t find_features(trl_chooser *c, size_t group, const trl_tree_part *p)
{
    const trl_tree_features *f = c->s->f;
    size_t n = 0;
    for (size_t k = 0; k < f->n_family[group] && n != SIZE_MAX; k++) {
        size_t m;
        const trl_listed *list =
            trl_rule_index_find(c->s->lists, f, f->family[group][k], p, c->ga->seen, &m);
        if (m)
            n = merge(c, n, list, m);
    }
    return n;
}

/* The slot of the features found[k] ... of one rule; *k moves past them. */
static uint32_t take_slot(trl_chooser *c, size_t *k, size_t n)
{
    const uint32_t rule = c->found[*k].rule;
    const size_t from = *k;
    while (*k < n && c->found[*k].rule == rule)
        ++*k;
    return trl_tree_gather_listed(c->ga, c->found + from, *k - from);
}

static bool fill_row(trl_chooser *c, size_t n, trl_chooser_row *row)
{
    uint32_t *rule = trl_reserve(c->rule, &c->cap_rules, c->n_rules + n, sizeof *rule);
    c->rule = rule ? rule : c->rule;
    double *factor = trl_reserve(c->factor, &c->cap_factors, c->n_rules + n, sizeof *factor);
    c->factor = factor ? factor : c->factor;
    if (n && (!rule || !factor))
        return false;
    for (size_t k = 0; k < n;) {
        const uint32_t r = c->found[k].rule;
        const uint32_t slot = take_slot(c, &k, n);
        if (slot == TRL_NO_ID)
            return false;
        row->slot = row->n ? row->slot : slot;
        rule[row->first + row->n] = r;
        factor[row->first + row->n++] = c->ga->slot[slot].score;
    }
    if (row->n)
        trl_vexp(row->n, factor + row->first, 0.0, factor + row->first);
    c->n_rules += row->n;
    return true;
}

/* The row of state a at position `at`; NULL: out of memory. */
static const trl_chooser_row *row_at(trl_chooser *c, uint32_t anchor, uint32_t a, size_t at)
{
    const size_t place = at * c->s->f->g->n_states + a;
    if (c->memo[anchor][place])
        return &c->row[c->memo[anchor][place] - 1];
    const trl_tree_part p = {.state = a, .i = at, .k = at, .j = at};
    const size_t n = find_features(c, TRL_ATTACHS + (anchor ? TRL_EDGE_END : TRL_EDGE_FIRST), &p);
    trl_chooser_row *row = trl_reserve(c->row, &c->cap_rows, c->n_rows + 1, sizeof *row);
    c->row = row ? row : c->row;
    if (!row || n == SIZE_MAX)
        return NULL;
    row += c->n_rows;
    *row = (trl_chooser_row){.place = place, .first = c->n_rules, .anchor = anchor};
    if (!fill_row(c, n, row))
        return NULL;
    c->memo[anchor][place] = (uint32_t)++c->n_rows;
    return row;
}

/* ---- binary rules ---------------------------------------------------------------------------- */

typedef struct pair { /* rows of both ends, walked through together */
    const trl_chooser *c;
    trl_chooser_row first, last;
    uint32_t k, l; /* after the last one returned */
    uint32_t rule; /* last returned: exp of its edges' scores, its slots or TRL_NO_ID */
    double factor;
    uint32_t slot[2];
} pair;

static bool next(pair *p)
{
    const uint32_t *rule = p->c->rule;
    const uint32_t r = p->k < p->first.n ? rule[p->first.first + p->k] : TRL_NO_ID;
    const uint32_t s = p->l < p->last.n ? rule[p->last.first + p->l] : TRL_NO_ID;
    p->rule = r < s ? r : s;
    p->factor = 1.0;
    p->slot[0] = p->slot[1] = TRL_NO_ID;
    if (p->rule == TRL_NO_ID)
        return false;
    if (r == p->rule) {
        p->slot[0] = p->first.slot + p->k;
        p->factor *= p->c->factor[p->first.first + p->k++];
    }
    if (s == p->rule) {
        p->slot[1] = p->last.slot + p->l;
        p->factor *= p->c->factor[p->last.first + p->l++];
    }
    return true;
}

static pair start(const pair *p)
{
    return (pair){.c = p->c, .first = p->first, .last = p->last};
}

/* The sum over rules without features here, one by one. */
static double sum_rest(const trl_chooser *c, uint32_t a, const pair *rows)
{
    const trl_expansions *x = c->s->x;
    double sum = 0.0;
    pair p = start(rows);
    bool more = next(&p);
    for (uint32_t k = x->binary_first[a]; k < x->binary_first[a + 1]; k++) { /* rules ascend */
        if (more && p.rule == x->binary[k])
            more = next(&p);
        else
            sum += c->ga->t.binary_exp[x->binary[k]];
    }
    return sum;
}

/* The sum over a's binary rules, the item's score left out; *alone: one by one. */
static double sum_binaries(const trl_chooser *c, uint32_t a, const pair *rows, bool *alone)
{
    const double all = c->s->state_sum[a];
    double gone = 0.0, here = 0.0;
    for (pair p = start(rows); next(&p);) {
        const double v = c->ga->t.binary_exp[p.rule];
        gone += v;
        here += v * p.factor;
    }
    *alone = !(all - gone + here >= ONE_BY_ONE * all);
    return *alone ? sum_rest(c, a, rows) + here : all - gone + here;
}

/* Adds the part that all of a's binary rules share in proportion, at the end of the sentence. */
static void count_later(trl_chooser *c, uint32_t a, double scale)
{
    if (c->mass[a] == 0.0 && scale > 0.0)
        c->state[c->n_state++] = a;
    c->mass[a] += scale;
}

/* The same for rules without features here. */
static void count_rest(trl_chooser *c, uint32_t a, const pair *rows, double scale)
{
    const trl_expansions *x = c->s->x;
    pair p = start(rows);
    bool more = next(&p);
    for (uint32_t k = x->binary_first[a]; k < x->binary_first[a + 1]; k++) {
        if (more && p.rule == x->binary[k])
            more = next(&p);
        else
            c->ga->a.binary[x->binary[k]] += scale * c->ga->t.binary_exp[x->binary[k]];
    }
}

static void count_binaries(trl_chooser *c, uint32_t a, const pair *rows, bool alone, double scale)
{
    trl_tree_gather *ga = c->ga;
    if (alone)
        count_rest(c, a, rows, scale);
    else
        count_later(c, a, scale);
    for (pair p = start(rows); next(&p);) {
        const double plain = ga->t.binary_exp[p.rule] * scale, v = plain * p.factor;
        ga->a.binary[p.rule] += alone ? v : v - plain;
        for (int end = 0; end < 2; end++)
            if (p.slot[end] != TRL_NO_ID)
                ga->slot[p.slot[end]].adjoint += v;
    }
}

/* The score of the chosen rule; subtracts 1 from its adjoint. */
static double chosen_binary(trl_chooser *c, const trl_choice *x, const pair *rows)
{
    trl_tree_gather *ga = c->ga;
    pair p = start(rows);
    while (next(&p) && p.rule < x->rule)
        ;
    const bool on = p.rule == x->rule;
    if (ga->a.binary) {
        ga->a.binary[x->rule] -= 1.0;
        ga->a.item[x->item] -= 1.0;
    }
    for (int end = 0; on && ga->a.binary && end < 2; end++)
        if (p.slot[end] != TRL_NO_ID)
            ga->slot[p.slot[end]].adjoint -= 1.0;
    return ga->t.item[x->item] + log(ga->t.binary_exp[x->rule]) + (on ? log(p.factor) : 0.0);
}

/* ---- unary rules ----------------------------------------------------------------------------- */

/* Scores and slots of a's unary rules over (i, j); their number, SIZE_MAX: out of memory. */
static size_t score_unaries(trl_chooser *c, uint32_t a, size_t i, size_t j)
{
    const trl_expansions *x = c->s->x;
    const uint32_t *unary = x->unary + x->unary_first[a];
    const size_t n = x->unary_first[a + 1] - x->unary_first[a];
    if (n == 0)
        return 0;
    const trl_tree_part p = {.state = a, .i = i, .k = i, .j = j};
    const size_t m = find_features(c, TRL_ATTACH_UNARY, &p);
    double *score = trl_reserve(c->score, &c->cap_score, n, sizeof *score);
    c->score = score ? score : c->score;
    uint32_t *slot = trl_reserve(c->slot, &c->cap_slot, n, sizeof *slot);
    c->slot = slot ? slot : c->slot;
    if (m == SIZE_MAX || !score || !slot)
        return SIZE_MAX;
    size_t at = 0;
    for (size_t k = 0; k < n; k++) { /* rules ascend */
        score[k] = c->ga->t.unary[unary[k]];
        slot[k] = TRL_NO_ID;
        while (at < m && c->found[at].rule < unary[k])
            at++;
        if (at == m || c->found[at].rule != unary[k])
            continue;
        slot[k] = take_slot(c, &at, m);
        if (slot[k] == TRL_NO_ID)
            return SIZE_MAX;
        score[k] += c->ga->slot[slot[k]].score;
    }
    return n;
}

static void count_unary(trl_chooser *c, uint32_t u, uint32_t slot, double p)
{
    c->ga->a.unary[u] += p;
    if (slot != TRL_NO_ID)
        c->ga->slot[slot].adjoint += p;
}

static double chosen_unary(trl_chooser *c, const trl_choice *x, uint32_t a, size_t n)
{
    const uint32_t *unary = c->s->x->unary + c->s->x->unary_first[a];
    for (size_t k = 0; k < n; k++)
        if (unary[k] == x->rule) {
            if (c->ga->a.unary)
                count_unary(c, unary[k], c->slot[k], -1.0);
            return c->score[k];
        }
    return -(double)INFINITY;
}

/* ---- one choice ------------------------------------------------------------------------------ */

/* log of exp(binary) + sum of exp(score) + (nota ? 1 : 0). */
static double log_sum(double binary, const double *score, size_t n, bool nota)
{
    double most = nota && binary < 0.0 ? 0.0 : binary, sum = 0.0;
    for (size_t k = 0; k < n; k++)
        most = score[k] > most ? score[k] : most;
    for (size_t k = 0; k < n; k++)
        sum += exp(score[k] - most);
    return most + log(sum + exp(binary - most) + (nota ? exp(-most) : 0.0));
}

/* What there is to choose from at an item: the rows of both ends, the unary rules (n of them, in
 * c->score) and the log sum of the binary ones. */
typedef struct choices {
    pair rows;
    size_t n;
    double binary;
    bool alone;
} choices;

static void count_choices(trl_chooser *c, const trl_choice *x, uint32_t a, const choices *o,
                          double log_z)
{
    const uint32_t *unary = c->s->x->unary + c->s->x->unary_first[a];
    c->ga->a.item[x->item] += exp(o->binary - log_z);
    count_binaries(c, a, &o->rows, o->alone, exp(c->ga->t.item[x->item] - log_z));
    for (size_t k = 0; k < o->n; k++)
        count_unary(c, unary[k], c->slot[k], exp(c->score[k] - log_z));
}

static trl_status look_up(trl_chooser *c, const trl_choose_at *at, choices *o, trl_error *err)
{
    o->rows = (pair){.c = c};
    const trl_chooser_row *row = row_at(c, 0, at->a, at->i);
    if (row) {
        o->rows.first = *row;
        row = row_at(c, 1, at->a, at->j);
    }
    o->n = row ? score_unaries(c, at->a, at->i, at->j) : SIZE_MAX;
    if (o->n == SIZE_MAX)
        return trl_fail_mem(err);
    o->rows.last = *row;
    o->binary = at->item + log(sum_binaries(c, at->a, &o->rows, &o->alone));
    return TRL_OK;
}

trl_status trl_chooser_sum(trl_chooser *c, const trl_choose_at *at, double *log_z, trl_error *err)
{
    choices o;
    const trl_status st = look_up(c, at, &o, err);
    if (st == TRL_OK)
        *log_z = log_sum(o.binary, c->score, o.n, false);
    return st;
}

trl_status trl_tree_choose(trl_chooser *c, const trl_choice *x, double *loss, trl_error *err)
{
    const uint32_t a = c->ga->c->s->item[x->item] & TRL_STATE_MASK;
    choices o;
    const trl_status st =
        look_up(c, &(trl_choose_at){a, c->ga->t.item[x->item], x->i, x->j}, &o, err);
    if (st != TRL_OK)
        return st;
    const double log_z = log_sum(o.binary, c->score, o.n, x->nota);
    const double score = x->what == TRL_CHOOSE_NOTA    ? 0.0
                         : x->what == TRL_CHOOSE_UNARY ? chosen_unary(c, x, a, o.n)
                                                       : chosen_binary(c, x, &o.rows);
    *loss += log_z - score;
    if (!isfinite(log_z - score))
        return trl_fail(err, TRL_ENUMERIC, "the probability of a rule is not a number");
    if (c->ga->a.binary)
        count_choices(c, x, a, &o, log_z);
    return TRL_OK;
}
