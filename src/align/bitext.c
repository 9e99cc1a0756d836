/* bitext.c -- reading parallel text. */
/* SPDX-License-Identifier: MIT */
#include "align/bitext.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Adds the words of s[0 .. n) as a sentence. */
static trl_status add_sentence(trl_side *side, trl_str s, trl_error *err)
{
    const char *p = s.p, *end = s.p + s.n;
    for (;;) {
        while (p < end && blank(*p))
            p++;
        const char *word = p;
        while (p < end && !blank(*p))
            p++;
        if (p == word)
            break;
        uint32_t *id = trl_reserve(side->id, &side->id_cap, side->n_ids + 1, sizeof *id);
        if (id)
            side->id = id;
        const uint32_t w = trl_strtab_add(&side->words, word, (size_t)(p - word));
        if (!id || w == TRL_NO_ID)
            return trl_fail_mem(err);
        side->id[side->n_ids++] = w;
    }
    uint64_t *ends = trl_reserve(side->end, &side->end_cap, side->n + 1, sizeof *ends);
    if (!ends)
        return trl_fail_mem(err);
    side->end = ends;
    side->end[side->n++] = side->n_ids;
    return TRL_OK;
}

static trl_status read_side(trl_side *side, const char *path, trl_error *err)
{
    trl_input *in = NULL;
    trl_str line;
    bool more = true;
    trl_status st = trl_input_open(path, &in, err);
    while (st == TRL_OK) {
        st = trl_input_line(in, &line, &more, err);
        if (st != TRL_OK || !more)
            break;
        st = trl_input_check_text(in, line, err);
        if (st == TRL_OK)
            st = add_sentence(side, line, err);
    }
    trl_input_free(in);
    return st;
}

/* The first " ||| " from k on (or one at an end of the line); NULL: there is none. */
static const char *find_bars(trl_str s, size_t k)
{
    for (; k + 3 <= s.n; k++)
        if (memcmp(s.p + k, "|||", 3) == 0 && (k == 0 || blank(s.p[k - 1])) &&
            (k + 3 == s.n || blank(s.p[k + 3])))
            return s.p + k;
    return NULL;
}

static bool all_blank(trl_str s)
{
    size_t k = 0;
    while (k < s.n && blank(s.p[k]))
        k++;
    return k == s.n;
}

/* The line `source ||| target`; an empty line is a pair without words. */
static trl_status add_joined(trl_bitext *b, trl_input *in, trl_str line, trl_error *err)
{
    trl_str source = line, target = {line.p + line.n, 0};
    if (!all_blank(line)) {
        const char *bars = find_bars(line, 0), *second;
        if (!bars) {
            trl_fail(err, TRL_EPARSE, "a line without '|||'");
            trl_input_fail(in, err, TRL_EPARSE, line.n + 1);
            return trl_fail_hint(err, TRL_EPARSE,
                                 "a line is SOURCE ||| TARGET, with blanks around the bars; "
                                 "'trellis align SOURCE TARGET' reads two files");
        }
        source.n = (size_t)(bars - line.p);
        target = (trl_str){bars + 3, line.n - source.n - 3};
        if ((second = find_bars(line, source.n + 3))) {
            trl_fail(err, TRL_EPARSE, "a second '|||' in a line");
            trl_input_fail(in, err, TRL_EPARSE, (size_t)(second - line.p) + 1);
            return trl_fail_hint(err, TRL_EPARSE, "a line is SOURCE ||| TARGET");
        }
    }
    const trl_status st = add_sentence(&b->side[0], source, err);
    return st == TRL_OK ? add_sentence(&b->side[1], target, err) : st;
}

trl_status trl_bitext_joined(trl_bitext *b, trl_input *in, trl_error *err)
{
    trl_str line;
    bool more = true;
    trl_status st = TRL_OK;
    while (st == TRL_OK) {
        st = trl_input_line(in, &line, &more, err);
        if (st != TRL_OK || !more)
            break;
        st = trl_input_check_text(in, line, err);
        if (st == TRL_OK)
            st = add_joined(b, in, line, err);
    }
    return st;
}

static trl_status read_joined(trl_bitext *b, const char *path, trl_error *err)
{
    trl_input *in = NULL;
    trl_status st = trl_input_open(path, &in, err);
    if (st == TRL_OK)
        st = trl_bitext_joined(b, in, err);
    trl_input_free(in);
    return st;
}

static trl_status check_sides(const trl_bitext *b, const char *source, const char *target,
                              trl_error *err)
{
    const size_t n = b->side[0].n, m = b->side[1].n;
    if (n != m) {
        const char *longer = n > m ? source : target;
        trl_fail(err, TRL_EPARSE, "%s has %zu lines, %s has %zu", source, n, target, m);
        trl_fail_where(err, TRL_EPARSE, longer, (n < m ? n : m) + 1, 1);
        return trl_fail_hint(err, TRL_EPARSE,
                             "line k of one must be the translation of line k of the other");
    }
    if (n == 0)
        return trl_fail_where(err, trl_fail(err, TRL_EINVAL, "there is no text"), source, 0, 0);
    return TRL_OK;
}

trl_status trl_bitext_read(const char *source, const char *target, trl_bitext **out, trl_error *err)
{
    if (!source || !out)
        return trl_fail_null(err);
    trl_bitext *b = trl_zalloc(1, sizeof *b);
    if (!b)
        return trl_fail_mem(err);
    trl_status st = target ? read_side(&b->side[0], source, err) : read_joined(b, source, err);
    if (st == TRL_OK && target)
        st = read_side(&b->side[1], target, err);
    if (st == TRL_OK)
        st = check_sides(b, source, target ? target : source, err);
    if (st != TRL_OK) {
        trl_bitext_free(b);
        return st;
    }
    *out = b;
    return TRL_OK;
}

void trl_bitext_free(trl_bitext *b)
{
    if (!b)
        return;
    for (int k = 0; k < 2; k++) {
        trl_strtab_fini(&b->side[k].words);
        trl_free(b->side[k].id);
        trl_free(b->side[k].end);
    }
    trl_free(b);
}

trl_bitext_info trl_bitext_get_info(const trl_bitext *b)
{
    if (!b)
        return (trl_bitext_info){0};
    trl_bitext_info i = {
        .pairs = b->side[0].n, .source_words = b->side[0].n_ids, .target_words = b->side[1].n_ids};
    for (size_t k = 0; k < i.pairs; k++) {
        const size_t l = trl_side_length(&b->side[0], k), m = trl_side_length(&b->side[1], k);
        i.empty += l == 0 || m == 0;
        i.longer += l > TRL_ALIGN_LONGEST || m > TRL_ALIGN_LONGEST;
    }
    return i;
}

size_t trl_bitext_unaligned(const trl_bitext *b)
{
    size_t n = 0;
    for (size_t k = 0; b && k < b->side[0].n; k++)
        n += trl_side_length(&b->side[0], k) && trl_side_length(&b->side[1], k) &&
             !trl_sides_fit(&b->side[0], &b->side[1], k);
    return n;
}
