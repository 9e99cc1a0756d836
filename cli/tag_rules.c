/* tag_rules.c -- the constraints of 'trellis tag'. */
/* SPDX-License-Identifier: MIT */
#include "tag_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "tag_print.h"

enum { SCHEME_MODEL, SCHEME_NONE }; /* the first of the names */
const char *const tag_scheme_names[] = {"model", "none", "iob1",  "iob2",  "ioe",
                                        "ioe1",  "ioe2", "iobes", "bilou", NULL};
const char *const tag_unsatisfiable_names[] = {"stop", "free", NULL};

bool tag_rules_given(const tag_rule_options *o)
{
    return o->scheme || o->forbid.n || o->follow.n || o->require.n || o->pattern.n ||
           o->max_spans.n || o->one_span || o->seen || o->rules || o->constraints || o->column ||
           o->max_states || o->unsatisfiable;
}

/* ---- from options ---------------------------------------------------------------------------- */

/* The rule "NAME VALUE"; what is wrong is said with the option's name. */
static bool add_rule(trl_constraint *c, const char *name, const char *value)
{
    text rule = {0};
    trl_error err = {0};
    text_str(&rule, name);
    text_char(&rule, ' ');
    const size_t before = rule.n;
    text_str(&rule, value);
    trl_status st =
        rule.failed ? tag_no_memory(&err) : trl_constraint_rule(c, (trl_str){rule.p, rule.n}, &err);
    if (st != TRL_OK) {
        char msg[sizeof err.msg];
        const uint64_t col = err.col > before ? err.col - before : 0;
        if (col)
            snprintf(msg, sizeof msg, "--%s '%.80s', column %" PRIu64 ": %.180s", name, value, col,
                     err.msg);
        else
            snprintf(msg, sizeof msg, "--%s '%.80s': %.200s", name, value, err.msg);
        memcpy(err.msg, msg, sizeof msg);
        err.col = 0;
        message_error(&err);
    }
    text_fini(&rule);
    return st == TRL_OK;
}

static bool add_rules(trl_constraint *c, const char *name, const string_list *values)
{
    for (size_t k = 0; k < values->n; k++)
        if (!add_rule(c, name, values->item[k]))
            return false;
    return true;
}

/* The lines of a file, one rule each. */
static bool read_rules(trl_constraint *c, const char *path)
{
    trl_error err = {0};
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    bool ok = f != NULL;
    if (!ok)
        message_say("%s: cannot be opened", path);
    for (uint64_t row = 1; ok; row++) {
        const ssize_t n = getline(&line, &cap, f);
        if (n < 0)
            break;
        const trl_status st = trl_constraint_rule(
            c, (trl_str){line, (size_t)n - (n > 0 && line[n - 1] == '\n')}, &err);
        if (st != TRL_OK) {
            snprintf(err.path, sizeof err.path, "%s", path);
            err.row = row;
            message_error(&err);
            ok = false;
        }
    }
    if (f && ok && ferror(f)) {
        message_say("%s: cannot be read", path);
        ok = false;
    }
    free(line);
    if (f)
        fclose(f);
    return ok;
}

static bool succeed(trl_status st, const trl_error *err)
{
    if (st != TRL_OK)
        message_error(err);
    return st == TRL_OK;
}

static bool add_all(trl_constraint *c, const tag_rule_options *o, const trl_model *m,
                    trl_format format)
{
    trl_error err = {0};
    if (o->max_states && !succeed(trl_constraint_max_states(c, o->max_states, &err), &err))
        return false;
    if (o->scheme == SCHEME_MODEL && !succeed(trl_constraint_kept(c, m, &err), &err))
        return false;
    if (o->scheme > SCHEME_NONE && !add_rule(c, "scheme", tag_scheme_names[o->scheme]))
        return false;
    return (!o->seen || succeed(trl_constraint_seen(c, o->seen, format, &err), &err)) &&
           add_rules(c, "forbid", &o->forbid) && add_rules(c, "follow", &o->follow) &&
           add_rules(c, "require", &o->require) && add_rules(c, "pattern", &o->pattern) &&
           add_rules(c, "max-spans", &o->max_spans) &&
           (!o->one_span || add_rule(c, "one-span", "")) && (!o->rules || read_rules(c, o->rules));
}

bool tag_rules_init(tag_rules *r, const tag_rule_options *o, const trl_model *m, trl_format format)
{
    trl_error err = {0};
    *r = (tag_rules){.column = o->column, .lenient = o->unsatisfiable != 0};
    if (o->column && !trl_format_is_rows(format)) {
        message_say("--allowed-column is for columns; what is known of items is in a file, "
                    "--constraints");
        return false;
    }
    if (!succeed(trl_constraint_new(m, &r->constraint, &err), &err) ||
        !add_all(r->constraint, o, m, format))
        return false;
    return !o->constraints ||
           succeed(trl_allowed_list_read(o->constraints, m, &r->allowed, &err), &err);
}

void tag_rules_fini(tag_rules *r)
{
    trl_constraint_free(r->constraint);
    trl_allowed_list_free(r->allowed);
    *r = (tag_rules){0};
}

/* ---- for taggers ----------------------------------------------------------------------------- */

trl_status tag_rules_use(const tag_rules *r, trl_tagger *t, trl_error *err)
{
    return trl_tagger_constrain(t, r->constraint, err);
}

trl_status tag_rules_place(const tag_sequence *seq, trl_error *err)
{
    const char *path = seq->rows ? seq->rows->path : seq->items->path;
    snprintf(err->path, sizeof err->path, "%s", path ? path : "");
    err->row = path ? (seq->rows ? seq->rows->first_row : seq->items->first_row) : 0;
    return err->code;
}

static trl_status no_column(const tag_rules *r, const trl_rows *rows, trl_error *err)
{
    *err = (trl_error){.code = TRL_EPARSE};
    snprintf(err->msg, sizeof err->msg,
             "there is no column %zu for --allowed-column: the line has "
             "%zu",
             r->column, rows->n_columns);
    return TRL_EPARSE;
}

trl_status tag_rules_about(const tag_rules *r, const tag_sequence *seq, trl_tagger *t,
                           trl_error *err)
{
    const trl_rows *rows = seq->rows;
    trl_status st = TRL_OK;
    if (r->column && rows && r->column > rows->n_columns) {
        no_column(r, rows, err);
        return tag_rules_place(seq, err);
    }
    for (size_t k = 0; r->column && rows && k < rows->n_tokens && st == TRL_OK; k++) {
        st = trl_tagger_allow_text(t, k, rows->cell[k * rows->n_columns + r->column - 1], err);
        if (st != TRL_OK) {
            tag_rules_place(seq, err);
            err->row += err->row ? k : 0;
        }
    }
    return st == TRL_OK && r->allowed ? trl_allowed_list_apply(r->allowed, seq->number, t, err)
                                      : st;
}

void tag_rules_end(const tag_rules *r, const tag_rule_options *o, uint64_t n_sequences,
                   uint64_t n_free)
{
    uint64_t row = 0;
    const uint64_t last = trl_allowed_list_last(r->allowed, &row);
    if (last > n_sequences)
        message_warn("%s:%" PRIu64 ": sequence %" PRIu64 " is not in the input, which has %" PRIu64,
                     o->constraints, row, last, n_sequences);
    if (n_free)
        message_warn("%" PRIu64 " sequence%s labelled without constraints, which no labelling of "
                     "%s obeys",
                     n_free, n_free == 1 ? " was" : "s were", n_free == 1 ? "it" : "them");
}
