/* abbreviation.c -- is the full stop after a word part of it? */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/tokens.h"

/* Written with a capital: so, or in capitals throughout; in small letters: in any case.  Each is
 * followed by a blank. */
static const char titles[] =
    "Mr Mrs Ms Messrs Dr Drs Prof Profs Rev Hon Gov Sen Rep Gen Col Lt Sgt Capt Cmdr Maj "
    "Pres Supt Mt St Ste Ft Fr Msgr Sr Sra Srta Dra Mme Mlle Hr Fra Sig Dott "
    "\xd0\xb8\xd0\xbc \xd1\x83\xd0\xbb \xd0\xbf\xd1\x80\xd0\xbe\xd1\x84 "; /* им ул проф */
static const char others[] =
    "etc vs al e.g i.e cf ca viz approx dept univ Inc Ltd Co Corp Bros Jr Esq Ave Blvd Rd Hwy "
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri "
    "bzw usw evtl ggf vgl inkl zzgl Str resp Ud Uds Vd "
    "\xd1\x82\xd1\x8b\xd1\x81 \xd0\xbc\xd0\xbb\xd0\xbd \xd1\x80\xd1\x83\xd0\xb1 "; /* тыс млн руб */
/* Only before a number (or a capital, as in "Sec. B"). */
static const char numbered[] =
    "no nr num p pp vol vols fig figs sec ch chap art eq eqs ext rm tel pag c v "
    "p\xc3\xa1g n\xc3\xbam ";

static bool same(const char *entry, trl_str word)
{
    const bool capital = entry[0] >= 'A' && entry[0] <= 'Z';
    size_t capitals = 0;
    for (size_t i = 0; i < word.n; i++) {
        const bool is_capital = word.p[i] >= 'A' && word.p[i] <= 'Z';
        capitals += is_capital;
        if ((is_capital ? word.p[i] | 32 : word.p[i]) !=
            (entry[i] >= 'A' && entry[i] <= 'Z' ? entry[i] | 32 : entry[i]))
            return false;
    }
    return !capital || capitals == word.n || (capitals == 1 && word.p[0] == entry[0]);
}

static bool is_in(const char *list, trl_str word)
{
    for (const char *p = list; *p; p += strcspn(p, " ") + 1)
        if (strcspn(p, " ") == word.n && same(p, word))
            return true;
    return false;
}

/* Single letters with full stops between them: U.S p.m z.B */
static bool is_dotted(trl_str word)
{
    size_t letters = 0;
    for (size_t at = 0; at < word.n;) {
        const trl_char c = trl_char_at(word, at);
        if (!trl_char_is_letter(c.class))
            return false;
        letters++;
        at += c.n;
        if (at < word.n && word.p[at++] != '.')
            return false;
    }
    return letters > 1;
}

static trl_char first_of(trl_str rest)
{
    for (size_t at = 0;;) {
        const trl_char c = trl_char_at(rest, at);
        if (c.class != TRL_CHAR_BLANK || c.code == '\n')
            return c;
        at += c.n;
    }
}

trl_abbreviation trl_abbreviation_of(trl_str word, trl_str rest)
{
    const trl_char next = first_of(rest), first = trl_char_at(word, 0);
    if (word.n > 32 || word.n == 0)
        return TRL_ABBREVIATION_NONE;
    if (is_in(titles, word))
        return TRL_ABBREVIATION_TITLE;
    if (is_dotted(word) || is_in(others, word))
        return TRL_ABBREVIATION_OTHER;
    if (is_in(numbered, word) && (next.class == TRL_CHAR_DIGIT || next.class == TRL_CHAR_UPPER))
        return next.class == TRL_CHAR_DIGIT ? TRL_ABBREVIATION_TITLE : TRL_ABBREVIATION_NONE;
    if (first.n == word.n && first.class == TRL_CHAR_UPPER && next.class == TRL_CHAR_UPPER)
        return TRL_ABBREVIATION_TITLE; /* an initial */
    return TRL_ABBREVIATION_NONE;
}
