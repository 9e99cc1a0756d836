/* chain_rules.c -- rules about labels that the model keeps: read, checked, written. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "chain/label_rules.h"
#include "text/columns.h"
#include "text/input.h"
#include "train_chain/chain_training.h"

/* ---- the options ----------------------------------------------------------------------------- */

static trl_status add_scheme(trl_chain_training *j, trl_error *err)
{
    const trl_scheme scheme = trl_scheme_named((trl_str){j->o->scheme, strlen(j->o->scheme)});
    if (scheme == TRL_SCHEME_NONE)
        return trl_fail(err, TRL_EINVAL,
                        "scheme '%.60s' is not known: use iob1, iob2, ioe1, ioe2, iobes or bilou",
                        j->o->scheme);
    j->schemes |= 1u << scheme;
    return TRL_OK;
}

trl_status trl_chain_training_read_rules(trl_chain_training *j, trl_error *err)
{
    trl_input *in = NULL;
    trl_status st = j->o->scheme ? add_scheme(j, err) : TRL_OK;
    if (st == TRL_OK && j->o->rules)
        st = trl_input_open(j->o->rules, &in, err);
    for (bool more = in != NULL; st == TRL_OK && more;) {
        trl_str line = {"", 0};
        st = trl_input_line(in, &line, &more, err);
        if (st != TRL_OK || !more)
            break;
        st = trl_input_check_text(in, line, err);
        j->schemes |= 1u << trl_scheme_of_rule(line);
        trl_buf_add(&j->rules, line.p, line.n);
        if (st == TRL_OK && !trl_buf_ch(&j->rules, '\n'))
            st = trl_fail_mem(err);
    }
    trl_input_free(in);
    j->schemes &= ~(1u << TRL_SCHEME_NONE);
    return st;
}

/* The line at p without its end; the next one begins right after that. */
static trl_str line_at(const trl_buf *text, size_t p)
{
    const char *from = text->data + p, *lf = memchr(from, '\n', text->len - p);
    return (trl_str){from, (size_t)(lf - from)};
}

trl_status trl_chain_training_take_rules(const trl_chain_training *j, trl_error *err)
{
    const trl_strview labels = trl_strtab_view(&j->corpus.labels);
    trl_constraint *c = NULL;
    if (!j->o->scheme && !j->o->rules)
        return TRL_OK;
    trl_status st = trl_constraint_of_labels(&labels, j->corpus.labels.n, &c, err);
    if (st == TRL_OK && j->o->scheme)
        st = trl_constraint_scheme(
            c, trl_scheme_named((trl_str){j->o->scheme, strlen(j->o->scheme)}), err);
    uint64_t row = 1;
    for (size_t p = 0; st == TRL_OK && p < j->rules.len; row++) {
        const trl_str rule = line_at(&j->rules, p);
        st = trl_constraint_rule(c, rule, err);
        if (st == TRL_EPARSE || st == TRL_EINVAL)
            trl_fail_where(err, st, j->o->rules, row, err ? err->col : 0);
        p += rule.n + 1;
    }
    trl_constraint_free(c);
    return st;
}

void trl_chain_training_put_rules(const trl_chain_training *j, trl_buf *settings)
{
    if (j->o->scheme)
        trl_buf_fmt(settings, "rule scheme %s\n", j->o->scheme);
    for (size_t p = 0; p < j->rules.len;) {
        trl_str rule = line_at(&j->rules, p);
        p += rule.n + 1;
        while (rule.n && (*rule.p == ' ' || *rule.p == '\t' || *rule.p == '\r'))
            rule = (trl_str){rule.p + 1, rule.n - 1};
        if (rule.n == 0 || *rule.p == '#')
            continue;
        trl_buf_fmt(settings, "rule ");
        trl_buf_add(settings, rule.p, rule.n);
        trl_buf_ch(settings, '\n');
    }
}

/* ---- the data -------------------------------------------------------------------------------- */

/* The number of the sequence that is being read, from 1. */
static uint64_t number(const trl_chain_training *j)
{
    return j->n_read;
}

/* In every scheme asked for; *at is the token that is wrong.  `in_lines`: it has a line of its own,
 * else the message numbers it. */
static trl_status check(const trl_chain_training *j, const trl_str *label, size_t n, bool in_lines,
                        size_t *at, trl_error *err)
{
    trl_status st = TRL_OK;
    for (int k = TRL_SCHEME_IOB1; k <= TRL_SCHEME_BILOU && st == TRL_OK; k++)
        if (j->schemes & 1u << k)
            st = trl_scheme_check((trl_scheme)k, label, n, at, err);
    if (st == TRL_EPARSE && err && !in_lines) {
        char what[sizeof err->msg];
        memcpy(what, err->msg, sizeof what);
        snprintf(err->msg, sizeof err->msg, "sequence %llu, token %zu: %.250s",
                 (unsigned long long)number(j), *at + 1, what);
    }
    return st == TRL_OK
               ? st
               : trl_fail_hint(err, st, "give the scheme that the labels have, or correct them");
}

trl_status trl_chain_training_check_items(const trl_chain_training *j, const trl_items *seq,
                                          trl_error *err)
{
    const bool in_lines = seq->first_row > 0;
    size_t at;
    if (!trl_chain_training_checks_labels(j) || !seq->label)
        return TRL_OK;
    const trl_status st = check(j, seq->label, seq->n_tokens, in_lines, &at, err);
    return st == TRL_OK
               ? st
               : trl_fail_where(err, st, seq->path, in_lines ? seq->first_row + at : 0, in_lines);
}

trl_status trl_chain_training_check_rows(const trl_chain_training *j, const trl_rows *seq,
                                         trl_error *err)
{
    const size_t n = seq->n_tokens, last = seq->n_columns - 1;
    const bool in_lines = seq->line != NULL;
    size_t at;
    if (!trl_chain_training_checks_labels(j))
        return TRL_OK;
    trl_str *label = trl_alloc(n, sizeof *label);
    if (!label)
        return trl_fail_mem(err);
    for (size_t t = 0; t < n; t++)
        label[t] = seq->cell[t * seq->n_columns + last];
    const trl_status st = check(j, label, n, in_lines, &at, err);
    trl_free(label);
    return st == TRL_OK ? st
                        : trl_fail_where(err, st, seq->path, seq->first_row + (in_lines ? at : 0),
                                         trl_rows_col(seq, at, last));
}
