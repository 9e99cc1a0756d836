/* tune_lists.c -- lists of values and names on the command line. */
/* SPDX-License-Identifier: MIT */
#include "tune_lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

/* What a list may hold. */
typedef struct kind_of_list {
    const char *option, *what; /* for messages */
    bool none;                 /* the word 'none' stands for infinity */
    bool zero;                 /* 0 is a value */
    bool whole;
} kind_of_list;

/* One value, up to a comma or the end.  False: said. */
static bool read_value(const kind_of_list *k, const char *s, size_t n, double *v)
{
    char word[40];
    char *end = word;
    *v = 0.0;
    if (n < sizeof word) {
        memcpy(word, s, n);
        word[n] = '\0';
        const bool none = k->none && strcmp(word, "none") == 0;
        if (!word[strspn(word, k->whole ? "0123456789" : "0123456789.eE+-")] && n)
            *v = strtod(word, &end);
        const bool fits = *v > 0.0 || (k->zero && *v == 0.0 && end != word);
        if (none || (n && *end == '\0' && fits && *v < 1e15)) {
            *v = none ? (double)INFINITY : *v;
            return true;
        }
    }
    message_say("--%s: '%.*s' is %s", k->option, (int)n, s, k->what);
    return false;
}

/* value[TUNE_MOST_VALUES].  0: said. */
static size_t read_values(const kind_of_list *kind, const char *s, double *value)
{
    for (size_t n = 0;; n++) {
        const size_t k = strcspn(s, ",");
        if (n == TUNE_MOST_VALUES) {
            message_say("--%s: more than %d values", kind->option, TUNE_MOST_VALUES);
            return 0;
        }
        if (!read_value(kind, s, k, &value[n]))
            return 0;
        if (s[k] == '\0')
            return n + 1;
        s += k + 1;
    }
}

static size_t read_passes(const char *s, uint64_t *passes)
{
    static const kind_of_list kind = {"passes", "no whole number above 0", false, false, true};
    double value[TUNE_MOST_VALUES];
    const size_t n = read_values(&kind, s, value);
    for (size_t k = 0; k < n; k++)
        passes[k] = (uint64_t)value[k];
    return n;
}

/* Whether they are objectives is checked by the library. */
static bool read_names(tune_lists *x, const char *s)
{
    if (strlen(s) >= sizeof x->words) {
        message_say("--objectives: the list is too long");
        return false;
    }
    memcpy(x->words, s, strlen(s) + 1);
    for (char *p = x->words;; p++) {
        const size_t n = strcspn(p, ",");
        const bool last = p[n] == '\0';
        if (n == 0 || x->n_objectives == TUNE_MOST_NAMES) {
            message_say(n ? "--objectives: too many names" : "--objectives: a name is missing");
            return false;
        }
        x->objective[x->n_objectives++] = p;
        p[n] = '\0';
        p += n;
        if (last)
            return true;
    }
}

bool tune_lists_read(tune_lists *x, const tune_given *given)
{
    static const kind_of_list grid = {"grid", "neither a number above 0 nor 'none'", true, false,
                                      false};
    static const kind_of_list c1 = {"c1-grid", "no number of 0 or more", false, true, false};
    return (!given->grid || (x->n_grid = read_values(&grid, given->grid, x->grid)) > 0) &&
           (!given->c1 || (x->n_c1 = read_values(&c1, given->c1, x->c1)) > 0) &&
           (!given->passes || (x->n_passes = read_passes(given->passes, x->passes)) > 0) &&
           (!given->objectives || read_names(x, given->objectives));
}

bool tune_lists_templates(tune_lists *x, const string_list *paths, train_settings *s)
{
    if (paths->n > TUNE_MOST_NAMES) {
        message_say("--template: more than %d of them", TUNE_MOST_NAMES);
        return false;
    }
    for (size_t k = 0; k < paths->n; k++) {
        s->template_path = paths->item[k];
        if (!train_read_template(s, &x->text[k]))
            return false;
        x->tpl[k] = (trl_tune_template){s->train.template_name, s->train.template_text,
                                        s->train.template_size};
    }
    x->n_templates = paths->n;
    return true;
}

void tune_lists_set(const tune_lists *x, trl_tune_options *o)
{
    o->grid = x->n_grid ? x->grid : NULL;
    o->n_grid = x->n_grid;
    o->c1 = x->n_c1 ? x->c1 : NULL;
    o->n_c1 = x->n_c1;
    o->passes = x->n_passes ? x->passes : NULL;
    o->n_passes = x->n_passes;
    o->objectives = x->n_objectives ? x->objective : NULL;
    o->n_objectives = x->n_objectives;
    o->templates = x->n_templates > 1 ? x->tpl : NULL;
    o->n_templates = x->n_templates > 1 ? x->n_templates : 0;
}

void tune_lists_fini(tune_lists *x)
{
    for (size_t k = 0; k < TUNE_MOST_NAMES; k++)
        text_fini(&x->text[k]);
}
