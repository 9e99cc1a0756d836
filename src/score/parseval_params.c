/* parseval_params.c -- reading EVALB's parameter files, and the two that are in common use. */
/* SPDX-License-Identifier: MIT */
#include "score/parseval_params.h"

#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* The content of the published files, in their format. */
#define COMMON                                                                                     \
    "DELETE_LABEL TOP\nDELETE_LABEL -NONE-\nDELETE_LABEL ,\nDELETE_LABEL :\n"                      \
    "DELETE_LABEL ``\nDELETE_LABEL ''\nDELETE_LABEL .\n"                                           \
    "DELETE_LABEL_FOR_LENGTH -NONE-\nEQ_LABEL ADVP PRT\n"

static const struct {
    const char *name, *text;
} built_in[] = {
    {"none", ""},
    {"collins", COMMON},
    {"new", COMMON "DELETE_LABEL S1\nDELETE_LABEL ?\nDELETE_LABEL !\n"
                   "QUOTE_LABEL ``\nQUOTE_LABEL ''\nQUOTE_LABEL POS\nQUOTE_LABEL NN\n"
                   "QUOTE_LABEL CD\nQUOTE_LABEL VBZ\nQUOTE_LABEL :\n"},
};

static const trl_parseval_params plain = {.labelled = 1, .max_length = 40, .max_errors = 10};

typedef struct keyword {
    const char *name;
    size_t at;      /* of the field */
    size_t n_names; /* 0: a number */
} keyword;

#define FIELD(member) offsetof(trl_parseval_params, member)
static const keyword keywords[] = {
    {"DELETE_LABEL", FIELD(delete_label), 1},
    {"DELETE_LABEL_FOR_LENGTH", FIELD(delete_for_length), 1},
    {"QUOTE_LABEL", FIELD(quote_label), 1},
    {"EQ_LABEL", FIELD(eq_label), 2},
    {"EQ_WORD", FIELD(eq_word), 2},
    {"LABELED", FIELD(labelled), 0},
    {"CUTOFF_LEN", FIELD(max_length), 0},
    {"MAX_ERROR", FIELD(max_errors), 0},
    {"DEBUG", FIELD(debug), 0},
};

void trl_parseval_params_fini(trl_parseval_params *p)
{
    trl_name_list *const lists[] = {&p->delete_label, &p->delete_for_length, &p->quote_label,
                                    &p->eq_label, &p->eq_word};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        trl_free(lists[i]->id);
    trl_strtab_fini(&p->names);
    *p = (trl_parseval_params){0};
}

/* ---- one line -------------------------------------------------------------------------------- */

static bool is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next word of the line from *at on; empty at its end. */
static trl_str next_word(trl_str line, size_t *at)
{
    while (*at < line.n && is_white(line.p[*at]))
        ++*at;
    const size_t from = *at;
    while (*at < line.n && !is_white(line.p[*at]))
        ++*at;
    return (trl_str){line.p + from, *at - from};
}

static trl_status fail_at(const trl_input *in, trl_str line, trl_str word, trl_error *err)
{
    return trl_input_fail(in, err, TRL_EPARSE, (uint64_t)(word.p - line.p) + 1);
}

static const keyword *find_keyword(trl_str word)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strlen(keywords[i].name) == word.n && memcmp(keywords[i].name, word.p, word.n) == 0)
            return &keywords[i];
    return NULL;
}

static int shown(trl_str s)
{
    return (int)(s.n < 40 ? s.n : 40);
}

/* A whole number that fits, or false. */
static bool read_number(trl_str s, int64_t *out)
{
    int64_t x = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || x > (INT64_MAX - 9) / 10)
            return false;
        x = 10 * x + (s.p[i] - '0');
    }
    *out = x;
    return s.n > 0;
}

static trl_status add_name(trl_parseval_params *p, trl_name_list *list, trl_str name,
                           trl_error *err)
{
    uint32_t *id = trl_reserve(list->id, &list->cap, list->n + 1, sizeof *id);
    if (!id)
        return trl_fail_mem(err);
    list->id = id;
    id[list->n] = trl_strtab_add(&p->names, name.p, name.n);
    if (id[list->n] == TRL_NO_ID)
        return trl_fail_mem(err);
    list->n++;
    return TRL_OK;
}

static trl_status read_values(trl_parseval_params *p, const trl_input *in, trl_str line, size_t at,
                              const keyword *key, trl_error *err)
{
    void *field = (char *)p + key->at;
    const size_t n = key->n_names ? key->n_names : 1;
    for (size_t i = 0; i < n; i++) {
        const trl_str value = next_word(line, &at);
        if (value.n == 0) {
            trl_fail(err, TRL_EPARSE, "%s needs %s", key->name,
                     n == 2              ? "two values"
                     : key->n_names == 0 ? "a whole number"
                                         : "a label");
            return fail_at(in, line, value, err);
        }
        if (key->n_names) {
            const trl_status st = add_name(p, field, value, err);
            if (st != TRL_OK)
                return st;
        } else if (!read_number(value, field)) {
            trl_fail(err, TRL_EPARSE, "%s: '%.*s' is not a whole number", key->name, shown(value),
                     value.p);
            return fail_at(in, line, value, err);
        }
    }
    const trl_str more = next_word(line, &at);
    if (more.n == 0)
        return TRL_OK;
    trl_fail(err, TRL_EPARSE, "%s takes %s, and '%.*s' is one too many", key->name,
             n == 2 ? "two values" : "one value", shown(more), more.p);
    return fail_at(in, line, more, err);
}

static trl_status read_line(trl_parseval_params *p, const trl_input *in, trl_str line,
                            trl_error *err)
{
    size_t at = 0;
    const trl_str word = next_word(line, &at);
    if (word.n == 0 || word.p[0] == '#')
        return TRL_OK;
    const keyword *key = find_keyword(word);
    if (key)
        return read_values(p, in, line, at, key, err);
    trl_fail(err, TRL_EPARSE, "'%.*s' is not a parameter", shown(word), word.p);
    fail_at(in, line, word, err);
    return trl_fail_hint(err, TRL_EPARSE,
                         "there are DELETE_LABEL, DELETE_LABEL_FOR_LENGTH, EQ_LABEL, EQ_WORD, "
                         "QUOTE_LABEL, LABELED, CUTOFF_LEN, MAX_ERROR and DEBUG");
}

trl_status trl_parseval_params_read(trl_parseval_params *p, trl_input *in, trl_error *err)
{
    *p = plain;
    trl_str line;
    bool more;
    trl_status st;
    while ((st = trl_input_line(in, &line, &more, err)) == TRL_OK && more)
        if ((st = read_line(p, in, line, err)) != TRL_OK)
            break;
    return st;
}

trl_status trl_parseval_params_load(trl_parseval_params *p, const char *name, trl_error *err)
{
    trl_input *in = NULL;
    trl_status st = TRL_EINVAL;
    *p = plain;
    for (size_t i = 0; i < sizeof built_in / sizeof *built_in && !in; i++)
        if (strcmp(built_in[i].name, name) == 0) {
            const char *text = built_in[i].text;
            st = trl_input_memory(name, text, strlen(text), &in, err);
            if (st != TRL_OK)
                return st;
        }
    if (!in)
        st = trl_input_open(name, &in, err);
    if (st == TRL_OK)
        st = trl_parseval_params_read(p, in, err);
    trl_input_free(in);
    return st;
}
