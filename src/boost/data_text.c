/* data_text.c -- examples as text: lines of libsvm and of Vowpal Wabbit. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "boost/data.h"
#include "text/number.h"

#define MAX_INDEX 2147483647u /* of libsvm */

typedef struct line {
    trl_boost_text *t;
    trl_input *in;
    trl_str text;
    const char *at, *end;
    bool vw;
    trl_str space;  /* namespace of VW */
    trl_buf joined; /* names with a namespace: SPACE^FEATURE */
} line;

static trl_status fail_at(const line *l, const char *at, trl_status st, trl_error *err)
{
    return trl_input_fail(l->in, err, st, (uint64_t)(at - l->text.p) + 1);
}

#define FAIL(l, at, err, ...) fail_at((l), (at), trl_fail((err), TRL_EPARSE, __VA_ARGS__), (err))

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word, ending at a blank or, in VW, at a '|'; empty at the end. */
static trl_str next_word(line *l)
{
    while (l->at < l->end && blank(*l->at))
        l->at++;
    const char *p = l->at;
    while (l->at < l->end && !blank(*l->at) && !(l->vw && *l->at == '|'))
        l->at++;
    return (trl_str){p, (size_t)(l->at - p)};
}

static int shown(size_t n)
{
    return (int)(n < 60 ? n : 60);
}

/* ---- answers and values ---------------------------------------------------------------------- */

static trl_status parse_value(const line *l, trl_str s, double *value, trl_error *err)
{
    const trl_number read = trl_number_parse(s.p, s.n, value);
    const char *what = read == TRL_NUMBER_BAD          ? "is not a number"
                       : read == TRL_NUMBER_NOT_FINITE ? "is not finite"
                       : *value < 0.0                  ? "is negative"
                                                       : NULL;
    if (!what)
        return TRL_OK;
    const trl_status st = FAIL(l, s.p, err, "the value '%.*s' %s", shown(s.n), s.p, what);
    return trl_fail_hint(err, st, "a value says how much an example counts: 0 or more");
}

static trl_status parse_class(const line *l, trl_str s, uint32_t *id, trl_error *err)
{
    trl_boost_text *t = l->t;
    if (t->fixed) {
        *id = trl_strview_find(&t->classes, s.p, s.n, trl_str_hash(s.p, s.n));
        if (*id == TRL_NO_ID && !t->o->unanswered)
            return FAIL(l, s.p, err, "no training example is of class '%.*s'", shown(s.n), s.p);
        return TRL_OK;
    }
    *id = trl_strtab_add(&t->d->classes, s.p, s.n);
    return *id == TRL_NO_ID ? trl_fail_mem(err) : TRL_OK;
}

static trl_status parse_answer(const line *l, trl_str s, uint32_t *id, trl_error *err)
{
    double y = 0.0;
    if (l->t->o->unanswered) {
        *id = TRL_NO_ID;
        return TRL_OK;
    }
    if (l->t->o->classes)
        return parse_class(l, s, id, err);
    if (trl_number_parse(s.p, s.n, &y) != TRL_NUMBER_OK || (y != 1.0 && y != -1.0 && y != 0.0)) {
        const trl_status st =
            FAIL(l, s.p, err, "the answer '%.*s' is not +1 or -1", shown(s.n), s.p);
        return trl_fail_hint(err, st, "0 stands for -1; 'classes' takes names of classes");
    }
    *id = y > 0.0;
    return TRL_OK;
}

trl_status trl_boost_text_answer(trl_boost_text *t, uint32_t id, double value, trl_error *err)
{
    trl_boost_data *d = t->d;
    const size_t i = t->raw.n;
    uint32_t *c = trl_reserve(d->class_of, &t->class_cap, i + 1, sizeof *c);
    if (c)
        d->class_of = c;
    double *v = trl_reserve(d->value, &t->value_cap, i + 1, sizeof *v);
    if (v)
        d->value = v;
    if (!c || !v)
        return trl_fail_mem(err);
    c[i] = id;
    v[i] = value;
    return TRL_OK;
}

/* ---- features -------------------------------------------------------------------------------- */

/* Cuts ":1" off; *absent for ":0". */
static trl_status cut_weight(const line *l, trl_str *s, bool *absent, trl_error *err)
{
    const char *colon = NULL;
    *absent = false;
    if (s->n >= 2 && s->p[s->n - 2] == ':' && s->p[s->n - 1] == '1') {
        s->n -= 2;
        return TRL_OK;
    }
    for (size_t k = 0; k < s->n; k++)
        if (s->p[k] == ':')
            colon = s->p + k;
    if (!colon)
        return TRL_OK;
    double x = 0.0;
    const trl_str v = {colon + 1, s->n - (size_t)(colon + 1 - s->p)};
    if (trl_number_parse(v.p, v.n, &x) != TRL_NUMBER_OK || (x != 0.0 && x != 1.0)) {
        const trl_status st = FAIL(
            l, v.p, err, "the feature has '%.*s', but is there (1) or not (0)", shown(v.n), v.p);
        return trl_fail_hint(err, st, "the learner takes binary features: cut numbers into ranges");
    }
    s->n = (size_t)(colon - s->p);
    *absent = x == 0.0;
    return TRL_OK;
}

static trl_status check_index(const line *l, trl_str s, trl_error *err)
{
    uint64_t x = 0;
    for (size_t k = 0; k < s.n && x <= MAX_INDEX; k++) {
        if (s.p[k] < '0' || s.p[k] > '9')
            return FAIL(l, s.p, err, "'%.*s' is not the number of a feature", shown(s.n), s.p);
        x = 10 * x + (uint64_t)(s.p[k] - '0');
    }
    if (s.n == 0)
        return FAIL(l, s.p, err, "a feature without a number");
    if (x > MAX_INDEX) {
        const trl_status st = FAIL(l, s.p, err, "feature %.*s is out of range: at most %u",
                                   shown(s.n), s.p, MAX_INDEX);
        return trl_fail_hint(err, st, "after a '|' features may have any names");
    }
    if (s.n > 1 && s.p[0] == '0')
        return FAIL(l, s.p, err, "the number '%.*s' starts with 0", shown(s.n), s.p);
    return TRL_OK;
}

static trl_status add_token(trl_boost_text *t, trl_str s, trl_error *err)
{
    trl_str *grown = trl_reserve(t->token, &t->token_cap, t->n_tokens + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    t->token = grown;
    t->token[t->n_tokens++] = s;
    return TRL_OK;
}

static trl_status mark_seen(const line *l, trl_str name, uint32_t id, trl_error *err)
{
    trl_boost_text *t = l->t;
    const size_t cap = t->seen_cap;
    if (id >= cap) {
        uint64_t *grown = trl_reserve(t->seen, &t->seen_cap, (size_t)id + 1, sizeof *grown);
        if (!grown)
            return trl_fail_mem(err);
        t->seen = grown;
        memset(grown + cap, 0, (t->seen_cap - cap) * sizeof *grown);
    }
    if (t->seen[id] == t->raw.n + 1) {
        const trl_status st =
            FAIL(l, name.p, err, "feature '%.*s' is there twice", shown(name.n), name.p);
        return trl_fail_hint(err, st, "a feature is there or not: name it once in a line");
    }
    t->seen[id] = t->raw.n + 1;
    return trl_boost_raw_id(&t->raw, id) ? TRL_OK : trl_boost_no_room(t->raw.store, err);
}

/* In a namespace names are joined into one buffer, whose bytes move as it grows: tokens keep their
 * place in the line for messages, names are looked up one by one. */
static trl_status number_tokens(line *l, size_t first, trl_error *err)
{
    trl_boost_text *t = l->t;
    for (size_t k = first; k < t->n_tokens; k++) {
        trl_str s = t->token[k];
        if (l->space.n) {
            l->joined.len = 0;
            trl_buf_add(&l->joined, l->space.p, l->space.n);
            trl_buf_ch(&l->joined, '^');
            trl_buf_add(&l->joined, s.p, s.n);
            if (l->joined.failed)
                return trl_fail_mem(err);
            s = (trl_str){l->joined.data, l->joined.len};
        }
        t->token_id[k] = t->fixed ? trl_strview_find(&t->names, s.p, s.n, trl_str_hash(s.p, s.n))
                                  : trl_strtab_add(&t->d->names, s.p, s.n);
        if (t->token_id[k] == TRL_NO_ID && !t->fixed)
            return t->d->names.n >= TRL_BOOST_MAX_FEATURES
                       ? FAIL(l, t->token[k].p, err, "more than 2^31 features")
                       : trl_fail_mem(err);
    }
    return TRL_OK;
}

/* Gives the tokens from `first` on numbers; those of unknown names are dropped where names are
 * fixed. */
static trl_status add_features(line *l, size_t first, trl_error *err)
{
    trl_boost_text *t = l->t;
    uint32_t *grown = trl_reserve(t->token_id, &t->token_id_cap, t->n_tokens + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    t->token_id = grown;
    trl_status st = TRL_OK;
    if (l->space.n || t->fixed)
        st = number_tokens(l, first, err);
    else
        for (size_t k = first; k < t->n_tokens; k += TRL_STRTAB_MANY) {
            const size_t left = t->n_tokens - k;
            if (!trl_strtab_add_many(&t->d->names, t->token + k,
                                     left < TRL_STRTAB_MANY ? left : TRL_STRTAB_MANY,
                                     t->token_id + k))
                return trl_fail_mem(err);
        }
    for (size_t k = first; st == TRL_OK && k < t->n_tokens; k++)
        if (t->token_id[k] != TRL_NO_ID)
            st = mark_seen(l, t->token[k], t->token_id[k], err);
    return st;
}

/* ---- features of libsvm that are small numbers ----------------------------------------------- */

#define NUMBERED 4194304u /* looked up in a table, by name only once */

/* A word NUMBER or NUMBER:1 at l->at, which moves on; false: it is another one. */
static bool plain_number(line *l, trl_str *name, uint32_t *number)
{
    const char *p = l->at;
    uint32_t x = 0;
    while (p < l->end && *p >= '0' && *p <= '9' && x < NUMBERED)
        x = 10 * x + (uint32_t)(*p++ - '0');
    *name = (trl_str){l->at, (size_t)(p - l->at)};
    *number = x;
    if (name->n == 0 || x >= NUMBERED || (name->p[0] == '0' && name->n > 1))
        return false;
    if (l->end - p >= 2 && p[0] == ':' && p[1] == '1')
        p += 2;
    if (p < l->end && !blank(*p))
        return false;
    l->at = p;
    return true;
}

/* Its number among the names, + 2; 1: it is not among them.  0: out of memory. */
static uint32_t look_up(trl_boost_text *t, trl_str name, uint32_t number)
{
    const size_t cap = t->numbered_cap;
    if (number >= cap) {
        uint32_t *grown =
            trl_reserve(t->numbered, &t->numbered_cap, (size_t)number + 1, sizeof *grown);
        if (!grown)
            return 0;
        t->numbered = grown;
        memset(grown + cap, 0, (t->numbered_cap - cap) * sizeof *grown);
    }
    if (t->numbered[number] == 0) {
        const uint32_t id =
            t->fixed ? trl_strview_find(&t->names, name.p, name.n, trl_str_hash(name.p, name.n))
                     : trl_strtab_add(&t->d->names, name.p, name.n);
        if (id == TRL_NO_ID && !t->fixed)
            return 0;
        t->numbered[number] = id == TRL_NO_ID ? 1 : id + 2;
    }
    return t->numbered[number];
}

/* The features from l->at on, up to one that is written in another way. */
static trl_status add_numbered(line *l, trl_error *err)
{
    trl_boost_text *t = l->t;
    trl_str name;
    uint32_t number;
    for (;;) {
        while (l->at < l->end && blank(*l->at))
            l->at++;
        if (l->at == l->end || !plain_number(l, &name, &number))
            return TRL_OK;
        const uint32_t id = number < t->numbered_cap && t->numbered[number]
                                ? t->numbered[number]
                                : look_up(t, name, number);
        const trl_status st = id == 0   ? trl_fail_mem(err)
                              : id == 1 ? TRL_OK
                                        : mark_seen(l, name, id - 2, err);
        if (st != TRL_OK)
            return st;
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static trl_status no_answer(const line *l, trl_error *err)
{
    const trl_status st = FAIL(l, l->text.p, err, "a line without an answer");
    return trl_fail_hint(err, st,
                         l->vw ? "every line is an example: ANSWER [VALUE] | NAME ..."
                               : "every line is an example, ANSWER[:VALUE] NUMBER ..., or "
                                 "a comment after '#'");
}

static trl_status end_row(line *l, uint32_t class_id, double value, trl_error *err)
{
    if (l->t->raw.n >= UINT32_MAX - 1)
        return FAIL(l, l->text.p, err, "more than 2^32 - 2 examples");
    const trl_status st = trl_boost_text_answer(l->t, class_id, value, err);
    if (st != TRL_OK)
        return st;
    return trl_boost_raw_row(&l->t->raw) ? TRL_OK : trl_fail_mem(err);
}

static trl_status libsvm_line(line *l, trl_error *err)
{
    const char *hash = memchr(l->at, '#', (size_t)(l->end - l->at));
    if (hash)
        l->end = hash;
    trl_str s = next_word(l), answer = s;
    double value = 1.0;
    uint32_t class_id = TRL_NO_ID;
    if (s.n == 0)
        return hash ? TRL_OK : no_answer(l, err);
    for (size_t k = s.n; k-- > 1;)
        if (s.p[k] == ':') {
            answer.n = k;
            break;
        }
    trl_status st = parse_answer(l, answer, &class_id, err);
    if (st == TRL_OK && answer.n < s.n)
        st = parse_value(l, (trl_str){s.p + answer.n + 1, s.n - answer.n - 1}, &value, err);
    while (st == TRL_OK && (st = add_numbered(l, err)) == TRL_OK && (s = next_word(l)).n) {
        bool absent;
        st = cut_weight(l, &s, &absent, err);
        if (st == TRL_OK)
            st = check_index(l, s, err);
        if (st == TRL_OK && !absent)
            st = add_token(l->t, s, err);
    }
    if (st == TRL_OK)
        st = add_features(l, 0, err);
    return st == TRL_OK ? end_row(l, class_id, value, err) : st;
}

/* The part before the first '|': [ANSWER [VALUE]] [TAG].  A tag starts with ' or touches the
 * '|'. */
static trl_status vw_head(line *l, uint32_t *class_id, double *value, trl_error *err)
{
    trl_str word[3];
    size_t n = 0;
    for (trl_str s; (s = next_word(l)).n;) {
        const bool touches = n > 0 && l->at < l->end && *l->at == '|';
        if (s.p[0] == '\'' || touches)
            continue;
        if (n == 2)
            return FAIL(l, s.p, err,
                        "'%.*s' before the '|': an answer, a value and a tag are all there is",
                        shown(s.n), s.p);
        word[n++] = s;
    }
    if (n == 0 && !l->t->o->unanswered)
        return no_answer(l, err);
    trl_status st = n ? parse_answer(l, word[0], class_id, err) : TRL_OK;
    if (st == TRL_OK && n > 1)
        st = parse_value(l, word[1], value, err);
    return st;
}

static trl_status vw_line(line *l, trl_error *err)
{
    uint32_t class_id = TRL_NO_ID;
    double value = 1.0;
    bool absent;
    trl_status st = vw_head(l, &class_id, &value, err);
    if (st == TRL_OK && l->at == l->end)
        return FAIL(l, l->end, err, "a line without a '|'");
    while (st == TRL_OK && l->at < l->end) { /* at a '|' */
        const size_t first = l->t->n_tokens;
        l->at++;
        l->space.n = 0;
        if (l->at < l->end && !blank(*l->at) && *l->at != '|') {
            l->space = next_word(l);
            st = cut_weight(l, &l->space, &absent, err);
        }
        for (trl_str s; st == TRL_OK && (s = next_word(l)).n;) {
            st = cut_weight(l, &s, &absent, err);
            if (st == TRL_OK && s.n == 0)
                st = FAIL(l, s.p, err, "a feature without a name");
            if (st == TRL_OK && !absent)
                st = add_token(l->t, s, err);
        }
        if (st == TRL_OK)
            st = add_features(l, first, err);
    }
    return st == TRL_OK ? end_row(l, class_id, value, err) : st;
}

static trl_status guess_format(trl_input *in, bool *vw, trl_error *err)
{
    trl_str head;
    const trl_status st = trl_input_peek(in, &head, err);
    if (st != TRL_OK)
        return st;
    const char *lf = head.n ? memchr(head.p, '\n', head.n) : NULL;
    const size_t n = lf ? (size_t)(lf - head.p) : head.n;
    *vw = n && head.p[0] != '#' && memchr(head.p, '|', n);
    return TRL_OK;
}

trl_status trl_boost_text_read(trl_boost_text *t, trl_input *in, trl_error *err)
{
    line l = {.t = t, .in = in, .vw = t->o->format == TRL_BOOST_VW};
    trl_status st = t->o->format == TRL_BOOST_GUESS ? guess_format(in, &l.vw, err) : TRL_OK;
    for (bool more = true; st == TRL_OK;) {
        st = trl_input_line(in, &l.text, &more, err);
        if (st != TRL_OK || !more)
            break;
        st = trl_input_check_text(in, l.text, err);
        l.at = l.text.p;
        l.end = l.at + l.text.n;
        l.space.n = 0;
        t->n_tokens = 0;
        if (st == TRL_OK)
            st = l.vw ? vw_line(&l, err) : libsvm_line(&l, err);
    }
    trl_buf_fini(&l.joined);
    return st;
}

void trl_boost_text_fini(trl_boost_text *t)
{
    trl_boost_raw_fini(&t->raw);
    trl_free(t->seen);
    trl_free(t->token);
    trl_free(t->token_id);
    trl_free(t->numbered);
}
