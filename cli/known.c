/* known.c -- reading constraints. */
/* SPDX-License-Identifier: MIT */
#include "known.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "text.h"

void known_fini(known_list *k)
{
    free(k->text);
    free(k->item);
    free(k->sentence);
    free(k->row);
    *k = (known_list){0};
}

static bool number(const char **p, uint64_t *x)
{
    char *end;
    if (**p < '1' || **p > '9')
        return false;
    errno = 0;
    *x = strtoull(*p, &end, 10);
    *p = end;
    return errno == 0;
}

static void blanks(const char **p)
{
    while (**p == ' ' || **p == '\t' || **p == '\r')
        (*p)++;
}

/* One line, NUL-terminated; *used is false when there is nothing in it. */
static const char *parse_line(const char *p, uint64_t *sentence, trl_known *x, bool *used)
{
    uint64_t from, to;
    blanks(&p);
    *used = *p != 0 && *p != '#';
    if (!*used)
        return NULL;
    if (!number(&p, sentence))
        return "a sentence number is expected";
    blanks(&p);
    if (!number(&p, &from))
        return "FROM-TO or a word number is expected";
    to = from;
    const bool span = *p == '-';
    if (span && (p++, !number(&p, &to) || to < from))
        return "the end of the span is expected behind '-'";
    blanks(&p);
    const char *label = p;
    while (*p && *p != ' ' && *p != '\t' && *p != '\r')
        p++;
    const size_t n = (size_t)(p - label);
    blanks(&p);
    if (*p)
        return "there is more on the line than three fields";
    *x = (trl_known){TRL_KNOWN_CONSTITUENT, (size_t)from - 1, (size_t)to, {label, n}};
    if (n > 1 && label[0] == '=' && !span) {
        x->kind = TRL_KNOWN_TAG;
        x->label = (trl_str){label + 1, n - 1};
    } else if (n == 0 || label[0] == '=') {
        return "a label, '*' or '!' is expected, or =TAG behind a single word";
    } else if (n == 1 && label[0] == '!') {
        x->kind = TRL_KNOWN_NO_CONSTITUENT;
        x->label.n = 0;
    } else if (n == 1 && label[0] == '*') {
        x->label.n = 0;
    }
    return NULL;
}

/* Insertion keeps items by sentence; files are mostly in order. */
static bool insert(known_list *k, uint64_t sentence, uint64_t row, const trl_known *x)
{
    if (k->n == k->cap) {
        const size_t cap = k->cap ? 2 * k->cap : 64;
        trl_known *item = realloc(k->item, cap * sizeof *item);
        if (item)
            k->item = item;
        uint64_t *s = realloc(k->sentence, cap * sizeof *s);
        if (s)
            k->sentence = s;
        uint64_t *r = realloc(k->row, cap * sizeof *r);
        if (r)
            k->row = r;
        if (!item || !s || !r)
            return false;
        k->cap = cap;
    }
    size_t at = k->n++;
    for (; at > 0 && k->sentence[at - 1] > sentence; at--) {
        k->item[at] = k->item[at - 1];
        k->sentence[at] = k->sentence[at - 1];
        k->row[at] = k->row[at - 1];
    }
    k->item[at] = *x;
    k->sentence[at] = sentence;
    k->row[at] = row;
    return true;
}

static bool slurp(const char *path, text *t)
{
    FILE *f = fopen(path, "rb");
    char block[4096];
    size_t n;
    while (f && (n = fread(block, 1, sizeof block, f)) > 0)
        text_add(t, block, n);
    const bool ok = f && !ferror(f) && !t->failed;
    text_char(t, 0);
    if (!ok)
        message_say("%s: cannot read: %s", path, t->failed ? "out of memory" : strerror(errno));
    if (f)
        fclose(f);
    return ok && !t->failed;
}

bool known_read(known_list *k, const char *path)
{
    text t = {0};
    if (!slurp(path, &t)) {
        text_fini(&t);
        return false;
    }
    k->text = t.p;
    uint64_t row = 0;
    for (char *line = t.p; line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        uint64_t sentence = 0;
        trl_known x;
        bool used;
        row++;
        const char *wrong = parse_line(line, &sentence, &x, &used);
        if (wrong) {
            message_say("%s:%" PRIu64 ": %s", path, row, wrong);
            message_hint("for example '3 2-5 NP' or '3 4 =NN'");
            known_fini(k);
            return false;
        }
        if (used && !insert(k, sentence, row, &x)) {
            message_memory();
            known_fini(k);
            return false;
        }
        line = end ? end + 1 : NULL;
    }
    return true;
}

const trl_known *known_of(const known_list *k, uint64_t sentence, size_t *n)
{
    size_t lo = 0, hi = k->n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (k->sentence[mid] < sentence)
            lo = mid + 1;
        else
            hi = mid;
    }
    *n = 0;
    while (lo + *n < k->n && k->sentence[lo + *n] == sentence)
        ++*n;
    return k->item ? k->item + lo : NULL;
}

#define MOST_NAMED 10

void known_check(const known_list *k, const char *path, uint64_t sentences)
{
    size_t at = k->n;
    while (at > 0 && k->sentence[at - 1] > sentences)
        at--;
    for (size_t named = 0; at < k->n; at++, named++) {
        if (named == MOST_NAMED) {
            message_warn("%s: and so on: %zu more", path, k->n - at);
            return;
        }
        message_warn("%s:%" PRIu64 ": there is no sentence %" PRIu64 " in the input, which has %" PRIu64,
                     path, k->row[at], k->sentence[at], sentences);
    }
}
