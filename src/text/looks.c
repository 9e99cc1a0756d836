/* looks.c -- telling items from columns by what fields look like. */
/* SPDX-License-Identifier: MIT */
#include "text/looks.h"

#include <string.h>

bool trl_looks_like_attribute(trl_str f)
{
    const char *eq = f.n > 1 ? memchr(f.p + 1, '=', f.n - 1) : NULL;
    if (eq)
        return true;
    const char *open = f.n > 1 ? memchr(f.p + 1, '[', f.n - 1) : NULL;
    if (open && memchr(open, ']', (size_t)(f.p + f.n - open)))
        return true;
    const char *colon = f.n > 2 ? memchr(f.p + 1, ':', f.n - 2) : NULL;
    return colon && colon[-1] != '\\' && strchr("+-.0123456789", colon[1]);
}

static bool has_tab(const trl_rows *seq, size_t t)
{
    const trl_str last = seq->cell[(t + 1) * seq->n_columns - 1];
    return memchr(seq->line[t], '\t', (size_t)(last.p - seq->line[t])) != NULL;
}

trl_look trl_rows_look(const trl_rows *seq)
{
    size_t first = 0, rest = 0, last = 0;
    if (!seq || !seq->line || seq->n_columns < 2 || seq->n_tokens == 0)
        return TRL_LOOK_RIGHT;
    for (size_t t = 0; t < seq->n_tokens; t++) {
        const trl_str *cell = seq->cell + t * seq->n_columns;
        if (!has_tab(seq, t))
            return TRL_LOOK_RIGHT;
        first += trl_looks_like_attribute(cell[0]);
        for (size_t c = 1; c < seq->n_columns; c++)
            rest += trl_looks_like_attribute(cell[c]);
        last += trl_looks_like_attribute(cell[seq->n_columns - 1]);
    }
    if (rest * 2 <= seq->n_tokens * (seq->n_columns - 1) || last * 2 <= seq->n_tokens)
        return TRL_LOOK_RIGHT;
    return first * 2 > seq->n_tokens ? TRL_LOOK_UNLABELLED : TRL_LOOK_ITEMS;
}

trl_look trl_items_look(const trl_items *seq)
{
    size_t blanks = 0, labels = 0, attrs = 0;
    if (!seq || !seq->label || seq->n_tokens == 0)
        return TRL_LOOK_RIGHT;
    for (size_t t = 0; t < seq->n_tokens; t++) {
        blanks += memchr(seq->label[t].p, ' ', seq->label[t].n) != NULL;
        labels += trl_looks_like_attribute(seq->label[t]);
    }
    const size_t n = seq->begin[seq->n_tokens];
    for (size_t a = 0; a < n; a++) /* a value other than 1 followed a ':' */
        attrs += seq->attr[a].value != 1.0 || trl_looks_like_attribute(seq->attr[a].name);
    if (n == 0 && blanks == seq->n_tokens)
        return TRL_LOOK_COLUMNS;
    return labels == seq->n_tokens && attrs * 2 >= n ? TRL_LOOK_UNLABELLED : TRL_LOOK_RIGHT;
}
