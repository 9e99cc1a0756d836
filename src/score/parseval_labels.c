/* parseval_labels.c -- what the parameters say about a label, looked up once. */
/* SPDX-License-Identifier: MIT */
#include "score/parseval_labels.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

static bool has(const trl_name_list *list, uint32_t id)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->id[i] == id)
            return true;
    return false;
}

static bool has_pair(const trl_name_list *list, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i + 1 < list->n; i += 2)
        if ((list->id[i] == a && list->id[i + 1] == b) ||
            (list->id[i] == b && list->id[i + 1] == a))
            return true;
    return false;
}

bool trl_label_equal(const trl_label_table *t, uint32_t a, uint32_t b)
{
    return a == b || has_pair(&t->params->eq_label, a, b);
}

bool trl_word_equal(const trl_label_table *t, trl_str a, trl_str b)
{
    if (a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0))
        return true;
    if (t->params->eq_word.n == 0)
        return false;
    const uint32_t x = trl_strtab_find(&t->params->names, a.p, a.n);
    const uint32_t y = trl_strtab_find(&t->params->names, b.p, b.n);
    return x != TRL_NO_ID && y != TRL_NO_ID && has_pair(&t->params->eq_word, x, y);
}

/* Phrases are compared by their bare labels, with EQ_LABEL; words by their whole tags, without. */
static bool bracket_deleted(const trl_label_table *t, uint32_t bare)
{
    const trl_name_list *list = &t->params->delete_label;
    for (size_t i = 0; i < list->n; i++)
        if (trl_label_equal(t, bare, list->id[i]))
            return true;
    return false;
}

static bool add_info(trl_label_table *t)
{
    const uint32_t id = (uint32_t)t->n_info;
    trl_label_info *info = trl_reserve(t->info, &t->cap_info, t->n_info + 1, sizeof *info);
    if (!info)
        return false;
    t->info = info;
    const trl_str name = trl_strtab_get(&t->names, id);
    size_t n = 0;
    while (n < name.n && name.p[n] != '-' && name.p[n] != '=')
        n++;
    uint32_t bare = id;
    if (n < name.n) {
        char *copy = trl_strndup(name.p, n); /* the table moves while it grows */
        bare = copy ? trl_strtab_add(&t->names, copy, n) : TRL_NO_ID;
        trl_free(copy);
        if (bare == TRL_NO_ID)
            return false;
    }
    info[id] = (trl_label_info){
        .bare = bare,
        .word_deleted = has(&t->params->delete_label, id),
        .bracket_deleted = bracket_deleted(t, bare),
        .no_length = has(&t->params->delete_for_length, id),
        .quote = has(&t->params->quote_label, id),
    };
    t->n_info++;
    return true;
}

uint32_t trl_label_id(trl_label_table *t, trl_str label)
{
    const uint32_t id = trl_strtab_add(&t->names, label.n ? label.p : "", label.n);
    while (t->n_info < t->names.n)
        if (!add_info(t))
            return TRL_NO_ID;
    return id;
}

trl_status trl_label_table_init(trl_label_table *t, const trl_parseval_params *params,
                                trl_error *err)
{
    *t = (trl_label_table){.params = params};
    for (uint32_t i = 0; i < params->names.n; i++) {
        const trl_str name = trl_strtab_get(&params->names, i);
        if (trl_strtab_add(&t->names, name.p, name.n) != i)
            return trl_fail_mem(err);
    }
    while (t->n_info < t->names.n)
        if (!add_info(t))
            return trl_fail_mem(err);
    return TRL_OK;
}

void trl_label_table_fini(trl_label_table *t)
{
    trl_strtab_fini(&t->names);
    trl_free(t->info);
    *t = (trl_label_table){0};
}
