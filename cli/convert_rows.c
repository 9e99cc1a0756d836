/* convert_rows.c -- choosing columns, changing schemes. */
/* SPDX-License-Identifier: MIT */
#include "convert_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tag_print.h"

void convert_plan_fini(convert_plan *p)
{
    free(p->pick);
    free(p->place);
    free(p->made);
    trl_buf_fini(&p->cells);
    free(p->list);
    free(p->cell);
    free(p->label);
    free(p->prefix);
    convert_memory_fini(&p->memory);
}

static trl_status refuse(trl_error *err, const trl_rows *rows, const char *what, const char *name,
                         const char *hint)
{
    *err = (trl_error){.code = TRL_EINVAL};
    snprintf(err->msg, sizeof err->msg, "%s%s", what, name);
    snprintf(err->hint, sizeof err->hint, "%s", hint);
    snprintf(err->path, sizeof err->path, "%s", rows->path ? rows->path : "");
    return TRL_EINVAL;
}

/* ---- columns --------------------------------------------------------------------------------- */

static const char *conllu_name(const char *name)
{
    for (const char *const *n = trl_conllu_columns(); *n; n++)
        if (strcmp(*n, name) == 0)
            return *n;
    return NULL;
}

static bool is_number(const char *s, size_t *x)
{
    char *end;
    const unsigned long n = strtoul(s, &end, 10);
    *x = n;
    return *s >= '0' && *s <= '9' && !*end;
}

/* Column `name` of the input: a number from 0, or a name of CoNLL-U. */
static trl_status pick_column(convert_plan *p, const trl_rows *rows, const char *name,
                              trl_error *err)
{
    size_t k = 0;
    const bool conllu = p->from == CONVERT_CONLLU;
    if (conllu) {
        while (k < TRL_CONLLU_COLUMNS && strcmp(trl_conllu_columns()[k], name) != 0)
            k++;
    } else if (p->to == CONVERT_CONLLU) { /* what the columns of the input are, in order */
        if (!conllu_name(name))
            return refuse(err, rows, "CoNLL-U has no column ", name,
                          "form, lemma, upos, xpos, feats, head, deprel, deps, misc");
        k = p->n;
    } else if (strcmp(name, "word") == 0 || strcmp(name, "lower") == 0 ||
               strcmp(name, "shape") == 0 || strcmp(name, "case") == 0) {
        p->made[p->n] = name;
    } else if (!is_number(name, &k)) {
        return refuse(err, rows, "not a column: ", name,
                      "columns are numbered from 0, as in templates; word, lower, shape and case "
                      "are made of the first");
    }
    if (k >= rows->n_columns)
        return refuse(err, rows, "there is no column ", name,
                      conllu ? "form, lemma, upos, xpos, feats, head, deprel, deps, misc, id"
                             : "columns are numbered from 0, as in templates");
    p->place[p->n] = conllu_name(name);
    p->pick[p->n++] = k;
    return TRL_OK;
}

/* Without a list: CoNLL-U gives form, upos, xpos; others all they have. */
static const char *usual_columns(const convert_plan *p, const trl_rows *rows)
{
    if (p->from == CONVERT_CONLLU)
        return "form,upos,xpos";
    if (p->to == CONVERT_CONLLU && rows->n_columns <= 3)
        return rows->n_columns == 1   ? "form"
               : rows->n_columns == 2 ? "form,upos"
                                      : "form,upos,xpos";
    return NULL;
}

static trl_status make_plan(convert_plan *p, const trl_rows *rows, trl_error *err)
{
    const char *list = p->columns ? p->columns : usual_columns(p, rows);
    const size_t most = list ? strlen(list) + 1 : rows->n_columns;
    trl_status st = TRL_OK;
    p->n_input = rows->n_columns;
    p->pick = calloc(most + 1, sizeof *p->pick);
    p->place = calloc(most + 1, sizeof *p->place);
    p->made = calloc(most + 1, sizeof *p->made);
    p->list = list ? strdup(list) : NULL;
    if (!p->pick || !p->place || !p->made || (list && !p->list))
        return tag_no_memory(err);
    for (; !list && p->n < most; p->n++)
        p->pick[p->n] = p->n;
    char *next = p->list;
    while (next && st == TRL_OK) {
        char *name = next, *comma = strchr(next, ',');
        next = comma ? comma + 1 : NULL;
        if (comma)
            *comma = '\0';
        st = pick_column(p, rows, name, err);
    }
    if (st == TRL_OK && p->to == CONVERT_CONLLU && !list && p->from != CONVERT_CONLLU)
        st = refuse(err, rows, "more than three columns, and no word on what they are", "",
                    "name them with --columns, as in form,lemma,upos,xpos");
    return st;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static bool room(void **p, size_t *cap, size_t n, size_t size)
{
    if (n <= *cap)
        return true;
    void *grown = realloc(*p, 2 * n * size);
    if (!grown)
        return false;
    *p = grown;
    *cap = 2 * n;
    return true;
}

/* The last cell of every token becomes PREFIX-TYPE of the plan's scheme. */
static bool relabel(convert_plan *p, const convert_sequence *s)
{
    const size_t n = s->rows->n_tokens, C = s->rows->n_columns;
    size_t bytes = n;
    for (size_t k = 0; k < s->n_chunks; k++)
        bytes += (s->chunk[k].end - s->chunk[k].begin) * (s->chunk[k].type.n + 2);
    if (!room((void **)&p->prefix, &p->prefix_cap, n, 1) ||
        !room((void **)&p->label, &p->label_cap, bytes, 1))
        return false;
    trl_scheme_prefixes(p->scheme, s->chunk, s->n_chunks, p->prefix, n);
    char *to = p->label;
    for (size_t t = 0, k = 0; t < n; t++) {
        while (k < s->n_chunks && s->chunk[k].end <= t)
            k++;
        char *start = to;
        *to++ = p->prefix[t];
        if (p->prefix[t] != 'O') {
            *to++ = '-';
            memcpy(to, s->chunk[k].type.p, s->chunk[k].type.n);
            to += s->chunk[k].type.n;
        }
        p->cell[t * C + C - 1] = (trl_str){start, (size_t)(to - start)};
    }
    return true;
}

/* Column c of the plan, made of the first of the input; pointers are set when all is written. */
static trl_status make_column(convert_plan *p, const trl_rows *rows, size_t c, trl_error *err)
{
    for (size_t t = 0; t < rows->n_tokens; t++) {
        const size_t start = p->cells.len;
        const trl_status st =
            trl_text_column_of(p->made[c], rows->cell[t * rows->n_columns], &p->cells, err);
        if (st != TRL_OK)
            return st;
        p->cell[t * p->n + c].n = p->cells.len - start;
    }
    return TRL_OK;
}

static trl_status make_columns(convert_plan *p, const trl_rows *rows, trl_error *err)
{
    trl_status st = TRL_OK;
    size_t at = 0;
    p->cells.len = 0;
    for (size_t c = 0; c < p->n && st == TRL_OK; c++)
        if (p->made[c])
            st = make_column(p, rows, c, err);
    for (size_t c = 0; c < p->n && st == TRL_OK; c++)
        for (size_t t = 0; t < rows->n_tokens && p->made[c]; t++) {
            p->cell[t * p->n + c].p = p->cells.data + at;
            at += p->cell[t * p->n + c].n;
        }
    return st;
}

trl_status convert_apply(convert_plan *p, const trl_rows *rows, trl_rows *changed,
                         convert_sequence *out, trl_error *err)
{
    const bool same = p->from == CONVERT_CONLLU && p->to == CONVERT_CONLLU;
    trl_status st = p->pick ? TRL_OK : make_plan(p, rows, err);
    if (st != TRL_OK)
        return st;
    *changed = *rows;
    if (!same) {
        if (!room((void **)&p->cell, &p->cell_cap, rows->n_tokens * p->n, sizeof *p->cell))
            return tag_no_memory(err);
        for (size_t t = 0; t < rows->n_tokens; t++)
            for (size_t c = 0; c < p->n; c++)
                p->cell[t * p->n + c] = rows->cell[t * rows->n_columns + p->pick[c]];
        st = make_columns(p, rows, err);
        if (st != TRL_OK)
            return st;
        changed->cell = p->cell;
        changed->n_columns = p->n;
    }
    *out = (convert_sequence){
        .rows = changed, .labelled = !p->unlabelled && p->n > 1 && !same, .place = p->place};
    if (!convert_chunks(&p->memory, out) || (p->scheme && out->labelled && !relabel(p, out)))
        return tag_no_memory(err);
    return TRL_OK;
}

void convert_place(const trl_rows *rows, uint64_t row, size_t t, trl_error *err)
{
    const trl_str cell = rows->cell[(t + 1) * rows->n_columns - 1];
    snprintf(err->path, sizeof err->path, "%s", rows->path ? rows->path : "");
    err->row = row;
    err->col = rows->line ? (uint64_t)(cell.p - rows->line[t]) + 1 : 0;
}
